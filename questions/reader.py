"""Reads a document into a bank: text → repairs → blocks → patterns → checks → Bank."""

from __future__ import annotations

import dataclasses
import re
from bisect import bisect_right
from collections import Counter
from dataclasses import dataclass
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import Block, plain
from questions.checks import check_bank
from questions.dialects import native
from questions.document import Document, Draft, merge_drafts, open_document, scalar
from questions.formats import IMPORT_FORMATS, MARKDOWN, MOST_BYTES, ImportDraft, read_import, text_of
from questions.formats import SUFFIXES as FOREIGN_SUFFIXES
from questions.formats.anki import MOST_PACKAGE
from questions.formats.data.front_matter import read_front_records
from questions.formats.data.records import NAME as RECORDS
from questions.formats.json import NAME as JSON
from questions.formats.pages.reader import read_page
from questions.formats.scripts import assigns_data
from questions.formats.tables.table import NAME as CSV
from questions.ids import with_ids
from questions.model import LONGEST_RECIPE, Bank, Question
from questions.passages import Passage, find_passages, mark_lines, marked_lines
from questions.patterns import Inferred, read_patterns
from questions.patterns.front_matter import FRONT_MATTER
from questions.patterns.options.key_lists import find_key_lists
from questions.recipes import InvalidRecipe, Recipe, parse_recipe, recipe_of
from questions.repairs import repaired
from questions.repairs.exam_dumps import Vote, vote_findings, with_plain_questions
from questions.repairs.layout import with_indented_questions
from questions.repairs.plain_starts import with_plain_starts
from questions.source import Finding, Source, Span, open_source
from questions.unread import unread_findings

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

SHIPPED = "pytorch-core"
"""Name of the bank shipped with Dailygrad. Must not change: imported questions are stored under it."""

SUFFIXES = (".md", ".mdx", ".txt", *FOREIGN_SUFFIXES)
"""Suffixes of the documents read from a directory."""
PREVIEW = ".preview.html"
"""Suffix of the page that `dailygrad bank preview` writes, which is no document."""
_OWN_SUFFIXES = (*MARKDOWN, ".txt", "")
"""Suffixes of documents that may be in Dailygrad's own format."""

_MUCH_UNUSED = 0.5
"""Share of a document's lines without a question from which that is said."""
_FRONT_LINES = 20
"""First lines of a document in which its bank is named."""


def _count_filled(lines: Sequence[str]) -> int:
    return sum(bool(line.strip()) for line in lines)


@dataclass(frozen=True, slots=True)
class Reading:
    """The result of reading one document.

    Every line that is not blank is in a question or in a list of keys, is named by a finding about what was left out,
    or else is in exactly one passage of `unused`.
    """

    bank: Bank
    findings: tuple[Finding, ...]
    """In line order."""
    unused: tuple[Passage, ...]
    """What belongs to no question: titles, study text, front matter."""
    source: Source
    explanation: tuple[str, ...] = ()
    """How the document was read, one line for each pattern found in it."""
    keys: tuple[tuple[int, int], ...] = ()
    """First and last lines of lists that answer questions elsewhere."""

    @property
    def study(self) -> tuple[tuple[int, int], ...]:
        """First and last lines of the passages that belong to no question."""
        return tuple((passage.first, passage.last) for passage in self.unused)

    @property
    def unused_share(self) -> float:
        """Share of the lines that are not blank in passages that say something and belong to no question, 0 to 1."""
        lines = self.source.lines
        filled = sum(_count_filled(lines[one.first - 1 : one.last]) for one in self.unused if not one.minor)
        return filled / max(_count_filled(lines), 1)

    @property
    def mostly_unused(self) -> bool:
        """Whether these passages are more than half of the document, so that questions may be missing."""
        return self.unused_share > _MUCH_UNUSED

    @property
    def answered(self) -> int:
        """Number of questions that can be asked."""
        return sum(question.answered for question in self.bank.questions)

    @property
    def unanswered(self) -> int:
        """Number of questions without an answer."""
        return len(self.bank.questions) - self.answered

    @property
    def has_errors(self) -> bool:
        """Whether the bank must not be imported."""
        return any(finding.severity == "error" for finding in self.findings)

    @property
    def takes_recipe(self) -> bool:
        """Whether the document can be read by a recipe: text, tables and data, but no format with fixed places."""
        fixed = {native.NAME, *(one.name for one in IMPORT_FORMATS)} - {CSV, RECORDS}
        return not fixed & set(self.bank.dialects)

    def unaccounted(self) -> tuple[int, ...]:
        """Returns the lines that are not blank, in no question, list of keys or passage, and not named by a finding
        about what was left out; always empty."""
        known = marked_lines(self.source, self.bank.questions)
        named = ((one.span.line, one.span.end_line) for one in self.findings if one.skipped)
        for first, last in (*self.study, *self.keys, *named):
            mark_lines(known, first, last)
        return tuple(number for number, line in enumerate(self.source.lines, 1) if not known[number] and line.strip())


def read_bank(text: str | bytes, *, name: str, recipe: str = "") -> Reading:
    """Reads one document, by its own pattern or by a recipe (see `questions.recipes`). `name` appears in findings and
    places.

    Never raises, for any text and recipe.
    """
    try:
        stated = parse_recipe(recipe) if recipe.strip() else None
    except InvalidRecipe as error:
        return _unread(name, error)
    opened = _open_own(text, name)
    if opened is None and (foreign := read_import(text, name, stated)) is not None:
        return _foreign_reading(foreign, stated)
    document, encoding, votes = opened or _open_foreign(text, name)
    document, read = _read_or_retry(document, stated)
    source = document.source
    questions, dialects, found, explanation, used = read
    license = scalar(document.front, "license") or scalar(document.front, "licence")
    if license:
        questions = tuple(dataclasses.replace(question, license=license) for question in questions)
    bank = Bank(
        name=scalar(document.front, "bank") or Path(name).stem or "bank",
        title=_title(document) or Path(name).stem or "bank",
        questions=questions,
        license=license,
        dialects=dialects,
        recipe=used.text if used else "",
    )
    findings = [*encoding, *text_findings(document), *found, *vote_findings(source, questions, votes)]
    findings = [*_told_of_fences(findings, dialects), *_without_consequences(check_bank(bank, source), findings, bank)]
    keys: list[tuple[int, int]] = []
    if "native" not in dialects:
        keys = [(one.first, one.last) for one in find_key_lists(document)]
        named = {one.span.line for one in findings if one.code == "Q006"}
        unread = unread_findings(document.without(questions).without_lists(keys), questions)
        findings += [one for one in unread if one.span.line not in named]
    findings.sort(key=lambda finding: (finding.span, finding.code))
    answering = tuple(keys) if questions else ()
    unused = find_passages(source, questions, findings, keys=answering)
    return Reading(bank, tuple(findings), unused, source, explanation, answering)


class _Opened(NamedTuple):
    """A document in Markdown, findings about its encoding, and the votes of readers in an exam dump."""

    document: Document
    encoding: tuple[Finding, ...]
    votes: tuple[Vote, ...]


def _open_own(text: str | bytes, name: str) -> _Opened | None:
    """Opens a document in Dailygrad's own format without changing a line; returns None for any other."""
    if Path(name).suffix.lower() not in _OWN_SUFFIXES or len(text) > MOST_BYTES or not native.declares_question(text):
        return None
    source, encoding = open_source(text, name)
    document = open_document(source)
    return _Opened(document, encoding, ()) if native.sniff(document) else None


def _open_foreign(text: str | bytes, name: str) -> _Opened:
    """Opens any other document, with what programs and languages write in their own way in the usual form."""
    source, encoding = open_source(text_of(text) if isinstance(text, bytes) else text, name)
    page = read_page("\n".join(source.lines), name)
    if page is not None:
        source, encoding = open_source(page, name)
    source, votes = with_plain_questions(source)
    document = open_document(repaired(source))
    outdented = with_indented_questions(document)
    if outdented is not document.source:
        document = open_document(outdented)
    return _Opened(document, encoding, votes)


def _told_of_fences(findings: list[Finding], dialects: tuple[str, ...]) -> list[Finding]:
    """Returns the findings; in the native format, whose parts are fences, an open one is an error."""
    severe = "native" in dialects
    return [
        dataclasses.replace(one, severity="error") if severe and one.code == "Q003" and one.label else one
        for one in findings
    ]


def _without_consequences(checked: Iterable[Finding], causes: list[Finding], bank: Bank) -> Iterator[Finding]:
    """Yields the findings of checks, except those that a mistake in the form of the same question already explains: an
    open fence, or a part that cannot be read."""
    lines = sorted((cause.span.line, cause.code, cause.part) for cause in causes if cause.code == "Q003" or cause.part)
    if not lines:
        yield from checked
        return
    starts = [question.place.line for question in bank.questions]
    reported: dict[int, set[str]] = {}
    for line, code, part in lines:
        reported.setdefault(bisect_right(starts, line), set()).add(part or code)
    for finding in checked:
        known = reported.get(bisect_right(starts, finding.span.line), set())
        if not (finding.part and finding.part in known) and not ("Q003" in known and finding.code.startswith("Q2")):
            yield finding


def _unread(name: str, error: InvalidRecipe) -> Reading:
    """Returns the reading of a document whose recipe cannot be read."""
    stem = Path(name).stem or "bank"
    finding = _invalid_recipe(Source(name, ("",)), error)
    return Reading(Bank(stem, stem, ()), (finding,), (), Source(name, ("",)))


def _foreign_reading(sheet: ImportDraft, recipe: Recipe | None) -> Reading:
    questions = with_ids(
        dataclasses.replace(question, license=question.license or sheet.license) for question in sheet.questions
    )
    if sheet.dialect != JSON:
        # Parts of one question have numbers so that their ids differ; the document does not contain these numbers.
        questions = tuple(dataclasses.replace(question, number="") for question in questions)
    used = recipe.text if recipe else sheet.recipe
    bank = Bank(sheet.name or sheet.stem, sheet.title or sheet.stem, questions, sheet.license, (sheet.dialect,), used)
    findings = sorted(
        (*sheet.findings, *check_bank(bank, sheet.source)), key=lambda finding: (finding.span, finding.code)
    )
    explanation = (recipe.explain(len(questions)),) if recipe and questions else ()
    unused = find_passages(sheet.source, questions, findings, structured=True)
    return Reading(bank, tuple(findings), unused, sheet.source, explanation)


def read_path(path: Path, recipe: str = "") -> list[Reading]:
    """Reads a file, or all documents of a directory by name. Raises OSError.

    Without a recipe, that of a document is read from the file beside it: `terms.csv.recipe` for `terms.csv`.

    Symbolic links that lead out of the directory are skipped: the author of a document must not be able to read other
    files. So are the pages that `dailygrad bank preview` wrote there.
    """
    if not path.is_dir():
        return [_read_file(path, recipe)]
    inside = path.resolve()
    named = (one for one in path.iterdir() if one.suffix.lower() in SUFFIXES and one.is_file())
    files = sorted(one for one in named if one.resolve().is_relative_to(inside) and not one.name.endswith(PREVIEW))
    return _with_shared_names([_read_file(file, recipe) for file in files])


def _read_file(file: Path, recipe: str) -> Reading:
    return read_bank(_content(file), name=str(file), recipe=recipe or _recipe_beside(file))


_OWN_BANK = "give each document a `bank` of its own in its front matter, or put all questions into one"


def _with_shared_names(readings: list[Reading]) -> list[Reading]:
    """Returns the readings of one directory, with a finding in each whose bank another one names too: the import of
    either would retire the questions of the other."""
    found = []
    for reading in readings:
        name = reading.bank.name
        others = [
            Path(one.source.name).name
            for one in readings
            if one is not reading and one.bank.name == name and one.bank.questions
        ]
        if others and reading.bank.questions:
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            finding = Finding(
                "Q307",
                "error",
                f"the bank `{name}` is also that of {others[0]}{more}",
                reading.source.span_of(1, _FRONT_LINES, "bank:"),
                note="each import would retire the questions of the other document",
                help=_OWN_BANK if native.NAME in reading.bank.dialects else "give one of the files another name",
                word=name,
            )
            reading = dataclasses.replace(reading, findings=(finding, *reading.findings))
        found.append(reading)
    return found


def _recipe_beside(file: Path) -> str:
    """Returns the recipe in the file beside a document; empty if there is none."""
    beside = file.with_name(f"{file.name}.recipe")
    if not beside.is_file() or not beside.resolve().is_relative_to(file.parent.resolve()):
        return ""
    with beside.open(encoding="utf-8", errors="replace") as stream:
        return stream.read(LONGEST_RECIPE + 1)


def _content(file: Path) -> bytes:
    """Returns the file's content; of a file that is too large, just enough to detect that."""
    with file.open("rb") as stream:
        return stream.read(MOST_PACKAGE + 1)


def shipped_bank() -> Bank:
    """Returns all questions shipped with Dailygrad as one bank.

    Raises ValueError if a document has an error, or if two questions have the same id.
    """
    folder = resources.files("questions") / "banks"
    readings = [
        read_bank(file.read_bytes(), name=file.name)
        for file in sorted(folder.iterdir(), key=lambda file: file.name)
        if file.name.endswith(".md")
    ]
    broken = [reading.source.name for reading in readings if reading.has_errors]
    if broken:
        raise ValueError(f"shipped bank {', '.join(broken)} has errors: run `dailygrad bank check` on it")
    questions = tuple(question for reading in readings for question in reading.bank.questions)
    twice = [id for id, count in Counter(question.id for question in questions).items() if count > 1]
    if twice:
        raise ValueError(f"shipped bank: duplicate ids: {', '.join(sorted(twice))}")
    return Bank(SHIPPED, "PyTorch", questions, license="MIT", dialects=("native",))


class _Read(NamedTuple):
    """What was read of a document in text."""

    questions: tuple[Question, ...]
    dialects: tuple[str, ...]
    findings: list[Finding]
    explanation: tuple[str, ...]
    recipe: Recipe | None


def _read_or_retry(document: Document, stated: Recipe | None) -> tuple[Document, _Read]:
    """Reads a document; if it has no questions, with plain starts in a usual form. Returns what was read in the end."""
    if stated is None and assigns_data(document.source):
        return document, _Read((), (), [], (), None)
    read = _read_questions(document, stated)
    if read.questions or stated is not None or native.NAME in read.dialects:
        return document, read
    source = with_plain_starts(document)
    again = document if source is document.source else open_document(source)
    retried = read if again is document else _read_questions(again, stated)
    return (again, retried) if retried.questions else (document, read)


def _read_questions(document: Document, stated: Recipe | None) -> _Read:
    """Reads by the stated recipe, or else by that of the front matter, or else by the document's own pattern."""
    used = stated
    try:
        used = stated or recipe_of(document.front)
        if not native.sniff(document):
            read = _read_foreign(document, used)
        else:
            read = Inferred(native.read(document), (native.NAME,), ())
            if stated is not None:
                problem = "this document is in Dailygrad's own format, which says itself where the questions are"
                line = min((question.place.line for question in read.draft.questions), default=1)
                error = InvalidRecipe(problem, "leave out the recipe")
                read.draft.findings.append(_invalid_recipe(document.source, error, line))
    except InvalidRecipe as error:
        read = Inferred(Draft([], [_invalid_recipe(document.source, error)]), (), ())
    questions = sorted(read.draft.questions, key=lambda question: (question.place.line, question.place.end_line))
    return _Read(with_ids(questions), read.names, read.draft.findings, read.explanation, used)


def _read_foreign(document: Document, recipe: Recipe | None) -> Inferred:
    """Reads the records of the front matter, then the document by its own pattern; with a recipe, only by that."""
    front = Draft() if recipe is not None else read_front_records(document)
    read = read_patterns(document.without(front.questions), recipe)
    if not front.questions:
        return read
    names = tuple(dict.fromkeys((FRONT_MATTER, *read.names)))
    words = f"{len(front.questions)} in the front matter: a list of records"
    return Inferred(merge_drafts([front, read.draft]), names, (words, *read.explanation))


_RECIPE_LINE = ("recipe:", "question:")


def _invalid_recipe(source: Source, error: InvalidRecipe, line: int = 0) -> Finding:
    stated = (n for n, text in enumerate(source.lines[:100], 1) if text.lstrip().startswith(_RECIPE_LINE))
    message = f"the recipe cannot be used: {error}"
    return Finding("Q009", "error", message, source.span(line or next(stated, 1)), help=error.cure)


def _title(document: Document) -> str:
    """Returns the front matter's title or the only heading of level 1; several are sections, not a title."""
    tops = [block for block in document.blocks if block.kind == "heading" and block.level == 1]
    return scalar(document.front, "title") or (plain(tops[0].text) if len(tops) == 1 else "")


# Broken markup

_ESCAPED = re.compile(r"\\`")
_TICKS = re.compile(r"`+")
_TEXT = re.compile(r"\\?\btext\{")
_FORMULA = 1000
"""Distance in characters from which a brace counts as not closed."""


def text_findings(document: Document) -> Iterator[Finding]:
    """Yields findings about fences, code spans and `\\text{` that are not closed, and about unreadable front matter."""
    if document.front is None and document.blocks and document.blocks[0].kind == "front_matter":
        yield _front_matter(document, document.blocks[0])
    for block in document.blocks:
        for inner in block.walk():
            if inner.kind == "fence" and not inner.closed:
                yield _open_fence(document, inner)
            if inner.kind in ("paragraph", "heading") and ("`" in inner.text or "text{" in inner.text):
                yield from _open_marks(document, inner)


def _front_matter(document: Document, block: Block) -> Finding:
    return Finding(
        "Q007",
        "warning",
        "the front matter is not valid YAML",
        document.source.span(block.first, block.last),
        note="it was ignored",
        help="quote values that contain a colon, and indent with spaces",
    )


def _open_fence(document: Document, fence: Block) -> Finding:
    end = document.source.line(fence.last).lstrip(" >\t")
    if fence.last > fence.first and end.startswith(("```", "~~~")):
        return Finding(
            "Q003",
            "warning",
            "text follows the closing marks of the fence",
            document.source.span(fence.last),
            note="it was read as closed, but other programs may read everything below as code",
            help="put the closing marks on a line of their own",
        )
    return Finding(
        "Q003",
        "warning",
        "the fence is never closed",
        document.source.span(fence.first),
        label="opened here",
        note=f"everything to line {fence.last} was read as code",
        help="add a line with the same marks to close it",
    )


def _open_marks(document: Document, block: Block) -> Iterator[Finding]:
    text = "\n".join(document.source.lines[block.first - 1 : block.last])
    at = _open_tick(text)
    if at is not None:
        opened = _mark_at(block, text, at)
        message, cure = "the backtick is never closed", "add the closing backtick"
        yield Finding("Q004", "warning", message, opened, label="opened here", help=cure)
    for found in _TEXT.finditer(text):
        if not _closed_brace(text, found.end()):
            opened = _mark_at(block, text, found.start())
            message, cure = f"the brace of `{found[0]}` is never closed", "close it, or use backticks"
            yield Finding("Q008", "warning", message, opened, label="opened here", help=cure)
            return


def _mark_at(block: Block, text: str, at: int) -> Span:
    """Returns the place of the character at an offset in a block's text."""
    line = block.first + text.count("\n", 0, at)
    column = at - text.rfind("\n", 0, at)
    return Span(line, column, line, column + 1)


def _open_tick(text: str) -> int | None:
    """Returns the position of a run of backticks without a closing run of the same length; None if all are closed."""
    if "``" not in text and "\\`" not in text:
        return text.rfind("`") if text.count("`") % 2 else None
    runs = [(found.start(), len(found[0])) for found in _TICKS.finditer(_ESCAPED.sub("  ", text))]
    later: dict[int, list[int]] = {}
    for index, (_, length) in enumerate(runs):
        later.setdefault(length, []).append(index)
    index = 0
    while index < len(runs):
        start, length = runs[index]
        places = later[length]
        following = places.index(index) + 1 if len(places) < 3 else _after(places, index)
        if following >= len(places):
            return start
        index = places[following] + 1
    return None


def _after(places: list[int], index: int) -> int:
    low, high = 0, len(places)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if places[middle] <= index else (low, middle)
    return low


def _closed_brace(text: str, start: int) -> bool:
    depth = 1
    for character in text[start : start + _FORMULA]:
        depth += (character == "{") - (character == "}")
        if depth == 0:
            return True
    return False
