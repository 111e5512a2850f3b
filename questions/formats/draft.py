"""Builds questions from the parts that an import format contains, choosing the nearest supported kind."""

from __future__ import annotations

import ast
import dataclasses
import math
import re
import unicodedata
import warnings
from dataclasses import dataclass, field
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from questions.blocks import plain, split_blocks
from questions.formats.markdown import code_span
from questions.ids import VALID_ID, nth_letter
from questions.keypoints import key_points_of
from questions.model import LEVELS, CodeBlock, Option, Question, SourceLocation
from questions.source import Finding, Source, Span
from questions.wording.labels import stands_for_nothing

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.model import Kind, Level
    from questions.source import Severity


# The result of an import reader: questions and findings of one source

INVALID_ID = "this is not a valid id"
"""Message of the finding for an id that cannot be kept."""
MOST_QUESTIONS = 20_000
"""Maximum number of questions per document; a finding names the rest."""
_MOST_LINES = 20
"""Most lines that a finding names."""
LONGEST = 200_000
"""Maximum length of a question with its markup, characters; a chat takes a hundredth of it."""


@dataclass(slots=True)
class ImportDraft:
    """The result of reading one document."""

    source: Source
    dialect: str
    title: str = ""
    name: str = ""
    """The bank's name in the document, if any."""
    license: str = ""
    recipe: str = ""
    """The recipe that an export carries."""
    questions: list[Question] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    _overflowed: bool = False

    @property
    def stem(self) -> str:
        """The document's name without folder and suffix."""
        return Path(self.source.name).stem or "bank"

    def place(self, first: int, last: int) -> SourceLocation:
        """Returns a question's place, limited to the document."""
        count = max(len(self.source.lines), 1)
        first = min(max(first, 1), count)
        return SourceLocation(self.source.name, first, self.source.last_filled(first, min(max(last, first), count)))

    def add(
        self,
        code: str,
        message: str,
        cure: str,
        lines: tuple[int, int],
        *,
        severity: Severity = "warning",
        note: str = "",
    ) -> None:
        """Adds a finding about lines `first` to `last`."""
        self.findings.append(Finding(code, severity, message, self._span(lines), note=note, help=cure))

    def _span(self, lines: tuple[int, int]) -> Span:
        place = self.place(*lines)
        return self.source.span(place.line, place.end_line)

    def unreadable(self, message: str, cure: str, line: int = 1) -> ImportDraft:
        """Adds an error that the document cannot be read, and returns this draft."""
        self.add("Q601", message, cure, (line, line), severity="error")
        return self

    def refused(self, message: str, cure: str, line: int = 1) -> ImportDraft:
        """Adds an error that the document is refused for safety, and returns this draft."""
        self.add("Q602", message, cure, (line, line), severity="error", note="nothing was imported")
        return self

    def add_skipped(self, message: str, cure: str, lines: tuple[int, int]) -> None:
        """Adds a finding that a question could not be converted."""
        note = "it was left out"
        finding = Finding("Q603", "warning", message, self._span(lines), note=note, help=cure, skipped=True)
        self.findings.append(finding)

    def merge(self, message: str) -> None:
        """Leaves the first finding with a message, and names in it the lines of the others."""
        same = [one for one in self.findings if one.message == message]
        if len(same) <= 1:
            return
        first, *others = same
        shown = ", ".join(str(one.span.line) for one in others[:_MOST_LINES])
        more = f" and {len(others) - _MOST_LINES} more" if len(others) > _MOST_LINES else ""
        merged = dataclasses.replace(
            first, note=f"{first.note}; the same in line{'s' * (len(others) > 1)} {shown}{more}"
        )
        kept = [merged if one is first else one for one in self.findings if one is first or one.message != message]
        self.findings[:] = kept

    def accepts(self, first: int, last: int, size: int) -> bool:
        """Returns whether another question with `size` characters is within the limits; otherwise adds a finding."""
        if size > LONGEST:
            self.add_skipped(f"the question is longer than {LONGEST:,} characters", "shorten it", (first, last))
            return False
        if len(self.questions) < MOST_QUESTIONS:
            return True
        if not self._overflowed:
            self._overflowed = True
            message = f"the document has more than {MOST_QUESTIONS:,} questions"
            self.add_skipped(message, "split it into several documents", (first, len(self.source.lines)))
        return False


# Questions of each kind

LONGEST_TEXT = 20_000
"""Maximum length of a prompt or answer, characters; longer ones do not fit into a chat."""
MOST_OPTIONS = 26
_MAX_OPTIONS_READ = 200
"""Maximum number of options parsed."""
_NUMBER = re.compile(r"[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d{1,3})?")


@dataclass(slots=True)
class Item:
    """The parts that all kinds share; texts are Markdown."""

    first: int
    last: int
    prompt: str
    why: str = ""
    id: str = ""
    title: str = ""
    topic: str = ""
    section: tuple[str, ...] = ()
    level: Level | None = None
    tags: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    license: str = ""
    number: str = ""
    program: str = ""

    @property
    def lines(self) -> tuple[int, int]:
        """First and last line."""
        return self.first, self.last

    def tag(self, words: Sequence[str]) -> None:
        """Adds tags; a tag that names a level sets the level."""
        for word in words:
            shown = " ".join(word.split())
            if shown in LEVELS:
                self.level = shown
            elif shown and shown not in self.tags:
                self.tags += (shown,)


@dataclass(frozen=True, slots=True)
class OptionDraft:
    """An option without its letter."""

    text: str
    right: bool
    reason: str = ""


def topic_of(*names: str) -> str:
    """Returns a path in the topic tree for names such as `Science: Computers` or `top/tensors`."""
    words = [word for name in names for word in re.split(r"[/:\x1f]+", name)]
    return "/".join(slug for word in words if (slug := _slug(word)))


def _slug(text: str) -> str:
    ascii_only = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return "-".join(re.findall(r"[a-z0-9]+", ascii_only.lower()))


def literal_of(text: str) -> str | None:
    """Returns a number, or a tuple or list of numbers, as a Python literal; None for other text."""
    shown = text.strip().strip("`").replace("\N{MINUS SIGN}", "-").strip()
    if _NUMBER.fullmatch(shown):
        shown = shown.removeprefix("+")
        # Nobody could type `1e999` again.
        return shown if _is_plain(shown) and math.isfinite(float(shown)) else None
    return shown if shown[:1] in ("(", "[") and _is_plain(shown) else None


def _is_plain(text: str) -> bool:
    if len(text) > 500:
        return False
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return _numeric(ast.literal_eval(text))
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        return False


def _numeric(value: object) -> bool:
    if isinstance(value, tuple | list):
        return all(_numeric(one) for one in value)
    return value is None or isinstance(value, bool | int | float | complex)


def add_choice(draft: ImportDraft, item: Item, offers: Sequence[OptionDraft]) -> None:
    """Adds a question with options, or the nearest kind that is possible."""
    kept = list(_distinct(draft, item, offers))
    right = [offer for offer in kept if offer.right]
    if not right:
        add_unanswered(draft, item, [offer.text for offer in kept])
    elif len(kept) == 1:
        draft.add(
            "Q606",
            "a choice needs more than one option",
            "add wrong options",
            item.lines,
            note="it was imported as an open question",
        )
        add_open(draft, item, right[0].text)
    else:
        options = tuple(
            Option(nth_letter(index), offer.text, offer.right, offer.reason) for index, offer in enumerate(kept)
        )
        _add(draft, item, "choice", options=options)


def _distinct(draft: ImportDraft, item: Item, offers: Sequence[OptionDraft]) -> Iterator[OptionDraft]:
    """Yields options with different texts; a finding names each repeated one."""
    if len(offers) > _MAX_OPTIONS_READ:
        note = f"only the first {_MAX_OPTIONS_READ} were imported"
        draft.add("Q607", "there are too many options", f"keep {MOST_OPTIONS} or fewer", item.lines, note=note)
        offers = offers[:_MAX_OPTIONS_READ]
    # A tag alone, such as `<b>`, is a text that Markdown would not show.
    offers = [
        dataclasses.replace(offer, text=code_span(offer.text))
        if offer.text.startswith("<") and not plain(offer.text)
        else offer
        for offer in offers
    ]
    right_texts = {plain(offer.text) for offer in offers if offer.right and len(offer.text) <= LONGEST_TEXT}
    seen: set[str] = set()
    for offer in offers:
        shown = plain(offer.text[:LONGEST_TEXT])
        if not offer.text.strip() or len(offer.text) > LONGEST_TEXT:
            draft.add("Q607", "an option is empty or too long", "write its text", item.lines, note="it was left out")
        elif shown in seen or (not offer.right and shown in right_texts):
            cure = "change or remove one"
            draft.add("Q607", "two options are the same", cure, item.lines, note=f"`{shown[:60]}` was imported once")
        elif len(seen) >= MOST_OPTIONS:
            cure = f"keep {MOST_OPTIONS} or fewer"
            draft.add("Q607", "there are too many options", cure, item.lines, note=f"`{shown[:60]}` was left out")
        else:
            seen.add(shown)
            yield offer


def add_short(draft: ImportDraft, item: Item, answers: Sequence[str]) -> None:
    """Adds a question with a short answer: the first answer is shown, the others are accepted too.

    A number becomes a `value`. Any other answer becomes `open` with the first as key point, because only literals can
    be compared exactly.
    """
    given = list(dict.fromkeys(answer.strip() for answer in answers if answer.strip()))
    if not given:
        add_unanswered(draft, item)
        return
    shown, *others = given
    accepted = "Also accepted: " + "; ".join(others) if others else ""
    literal = literal_of(plain(shown))
    if literal is not None:
        item.why = "\n\n".join(text for text in (item.why, accepted) if text)
        _add(draft, item, "value", answer=literal)
    else:
        answer = f"{shown}\n\n{accepted}" if accepted else shown
        _add(draft, item, "open", answer=answer, key_points=(_key_point(shown),))


def _key_point(text: str) -> str:
    """Returns a short answer as a key point; text that looks like code is marked as code, so that it is matched
    exactly."""
    words = plain(text)
    code = len(words.split()) == 1 and re.search(r"[\w)][_.(=<>:/+-]|_|\d", words) and "`" not in text
    return code_span(words) if code else text


def add_open(draft: ImportDraft, item: Item, answer: str, key_points: Sequence[str] | None = None) -> None:
    """Adds a question with a prose answer."""
    if not answer.strip():
        add_unanswered(draft, item)
        return
    points = tuple(key_points) if key_points is not None else key_points_of(answer, item.prompt)
    _add(draft, item, "open", answer=answer, key_points=points)


def add_exact(draft: ImportDraft, item: Item, kind: Literal["value", "output"], answer: str) -> None:
    """Adds a question whose answer is compared exactly; the caller checked that this is possible."""
    _add(draft, item, kind, answer=answer)


def add_unanswered(draft: ImportDraft, item: Item, options: Sequence[str] = (), *, given: str = "") -> None:
    """Adds a question without a key, with its options in the prompt. It is never asked.

    `given`: what stands for an answer, such as `N/A`.
    """
    if not asks(draft, item, offers=bool(options)):
        return
    cure = "mark the right option" if options else "write the answer"
    message = f"`{given[:40]}` is not an answer" if given else "the question has no answer"
    draft.add("Q604", message, cure, item.lines, note="it is kept but never asked")
    if options:
        listed = "\n".join(f"- {' '.join(text.split())}" for text in options)
        item.prompt = f"{item.prompt}\n\n{listed}".strip()
    _add(draft, item, "open")


def _add(
    draft: ImportDraft,
    item: Item,
    kind: Kind,
    *,
    answer: str | None = None,
    options: tuple[Option, ...] = (),
    key_points: tuple[str, ...] = (),
) -> None:
    if not asks(draft, item, offers=bool(options)):
        return
    if max(len(item.prompt), len(answer or ""), len(item.why)) > LONGEST_TEXT:
        draft.add_skipped(f"a text is longer than {LONGEST_TEXT:,} characters", "shorten it", item.lines)
        return
    if item.id and not _fits(item.id):
        note = f"`{item.id[:60]}` was replaced by an id made from the prompt"
        cure = "use lower-case words and numbers joined by hyphens"
        draft.add("Q612", INVALID_ID, cure, item.lines, severity="note", note=note)
    question = Question(
        id=item.id if _fits(item.id) else "",
        kind=kind,
        prompt=item.prompt.strip(),
        place=draft.place(item.first, item.last),
        answer=answer,
        why=item.why.strip(),
        program=item.program,
        options=options,
        key_points=key_points,
        code_blocks=_code_blocks(item, answer or ""),
        level=item.level,
        topic=item.topic,
        section=item.section,
        number=item.number,
        title=item.title,
        links=item.links,
        license=item.license,
        tags=item.tags,
    )
    draft.questions.append(question)


def asks(draft: ImportDraft, item: Item, *, offers: bool) -> bool:
    """Returns whether an item has a question, and names it otherwise. Between options, marks alone may be one."""
    prompt = item.prompt.strip()
    if not prompt:
        draft.add_skipped("the question has no prompt", "write the question", item.lines)
    elif not offers and stands_for_nothing(prompt):
        message = f"this entry asks nothing: it says `{prompt[:40]}` instead of a question"
        draft.add_skipped(message, "write the question, or remove the entry", item.lines)
    else:
        return True
    return False


def below_context(question: str, context: object) -> str:
    """Returns a question below the text that it is about, as in reading comprehension. A few words are no such text."""
    text = context.strip() if isinstance(context, str) else ""
    words = len(text.split()) if text.isascii() else max(len(text.split()), len(text) // 4)
    if words < _FEWEST_WORDS or not question.strip() or stands_for_nothing(question) or text in question:
        return question
    return f"{text}\n\n{question}"


_FEWEST_WORDS = 5
"""Fewest words of a text that questions are about; in scripts without spaces, four characters count as one."""


def _fits(text: str) -> bool:
    """Returns whether an author's id has a valid form."""
    return VALID_ID.fullmatch(text) is not None and len(text) <= 80


def _code_blocks(item: Item, answer: str) -> tuple[CodeBlock, ...]:
    return tuple(
        CodeBlock(inner.text, inner.info, item.first)
        for text in (item.prompt, answer)
        if "```" in text or "~~~" in text
        for block in split_blocks(Source("", tuple(text.split("\n"))))
        for inner in block.walk()
        if inner.kind == "fence"
    )


def points_of(text: str) -> float:
    """Returns the points or the share that a field gives an answer; 0 if it is no number."""
    try:
        return float(text)
    except ValueError:
        return 0.0


# Matching questions: one choice per item, because a chat has no two columns


def add_pairs(draft: ImportDraft, item: Item, pairs: Sequence[tuple[str, str]]) -> None:
    """Adds one choice among all right sides per pair with a left side; texts are Markdown."""
    asked = [(left, right) for left, right in pairs if left.strip() and right.strip()][:MOST_OPTIONS]
    rights = (right for _, right in (*asked, *pairs) if right.strip())
    offered = sorted([*dict.fromkeys(rights)][:MOST_OPTIONS], key=lambda text: text.casefold())
    if not asked:
        add_unanswered(draft, item, [left or right for left, right in pairs])
        return
    draft.add(
        "Q608",
        f"a matching question was split into {len(asked)} choices",
        "nothing to do; or ask for the whole assignment in one question",
        item.lines,
        severity="note",
    )
    if len(pairs) > MOST_OPTIONS:
        note = f"only the first {MOST_OPTIONS} were imported"
        draft.add("Q606", "there are too many pairs", "split the question", item.lines, note=note)
    for index, (left, right) in enumerate(asked, 1):
        part = dataclasses.replace(item, prompt=f"{item.prompt}\n\n{left}".strip(), number=f"{index}")
        part.id = f"{item.id}-{index}" if item.id else ""
        add_choice(draft, part, [OptionDraft(text, plain(text) == plain(right)) for text in offered])


# Numbers with a tolerance or a range, as in GIFT and Moodle

_RANGE = re.compile(r"(?P<low>[^.:\s]+(?:\.\d+)?)\s*\.\.\s*(?P<high>\S+)")


def add_number(draft: ImportDraft, item: Item, answers: Sequence[str]) -> None:
    """Adds a question answered with a number: `5`, `5:0.1` (5 ± 0.1) or `1..5`.

    The accepted range is added to the explanation, and a finding says that only the number itself is accepted.
    """
    read = [found for answer in answers if (found := _number(answer)) is not None]
    if not read:
        if any(answer.strip() for answer in answers):
            note = f"it says `{'; '.join(answers)[:100]}`"
            draft.add("Q606", "the answer is not a number", "write `#5`, `#5:0.1` or `#1..5`", item.lines, note=note)
        add_unanswered(draft, item)
        return
    shown, low, high = read[0]
    if low != high:
        accepted = f"Accepted: {_shown(low)} to {_shown(high)}."
        note = f"only {shown} is accepted"
        cure = "ask for an exact result"
        draft.add("Q606", "tolerances are not supported", cure, item.lines, note=f"{accepted} {note}")
        item.why = "\n\n".join(text for text in (accepted, item.why) if text)
    add_short(draft, item, [one[0] for one in read])


def _number(text: str) -> tuple[str, Decimal, Decimal] | None:
    """Returns the number as written, and the lowest and highest accepted values."""
    if found := _RANGE.fullmatch(text.strip()):
        low, high = _decimal(found["low"]), _decimal(found["high"])
        if low is None or high is None or low > high:
            return None
        return _shown((low + high) / 2), low, high
    body, _, margin = text.partition(":")
    number = _decimal(body)
    spread = _decimal(margin) if margin.strip() else Decimal(0)
    if number is None or spread is None:
        return None
    # `4.0` and `4` are different answers to a question about a dtype.
    return literal_of(body) or "", number - abs(spread), number + abs(spread)


def _decimal(text: str) -> Decimal | None:
    literal = literal_of(text)
    try:
        return Decimal(literal) if literal is not None else None
    except InvalidOperation:
        return None


def _shown(number: Decimal) -> str:
    """Returns the number as people type it: without an exponent if that is short."""
    if number == number.to_integral_value() and abs(number) < 10**15:
        return str(int(number))
    return format(number.normalize(), "f") if -15 < number.adjusted() < 15 else str(float(number))
