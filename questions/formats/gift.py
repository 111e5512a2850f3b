"""Reads Moodle GIFT: questions in plain text with the answers in braces."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.formats.cloze import add_gaps, has_gaps
from questions.formats.draft import (
    ImportDraft,
    Item,
    OptionDraft,
    add_choice,
    add_number,
    add_open,
    add_pairs,
    add_short,
    add_unanswered,
    topic_of,
)
from questions.formats.markdown import markdown_converter
from questions.recipes import valid_recipe
from questions.wording.stems import reads_as_question

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from questions.source import Source

NAME = "gift"
RECIPE = "// recipe: "
"""Start of a comment with a line of the recipe that an export carries."""

_CATEGORY = re.compile(r"\s*\$CATEGORY:\s*(?P<path>.*)")
_NOTE = re.compile(r"\[(?P<name>id|tag):(?P<value>(?:[^\]\[\\]|\\.){0,200})\]")
_NOTE_ESCAPE = re.compile(r"\\(\W)")
_TITLE = re.compile(r"\s*::(?P<title>(?:[^:\\]|\\.|:(?!:))*)::", re.DOTALL)
_FORMAT = re.compile(r"\s*\[(?P<format>html|markdown|plain|moodle)\]")
_ROOTS = re.compile(r"^(?:\$(?:course|system|cat1|module)\$/)?(?:top(?:/|$))?", re.IGNORECASE)
_ANSWER = re.compile(r"(?<!\\)\{\s*(?:[=~]|#[ ]*(?:[-+.=\d]|$)|(?:T|TRUE|F|FALSE)\s*[#}])")
_ESSAY = re.compile(r"(?P<prompt>.*?)(?<!\\)\{\s*\}")
_MARKDOWN = re.compile(
    r"#{1,6} |```|~~~|---\s*$|[ \t]*\\(?:documentclass\b|begin\{|(?:sub){0,2}section\*?\{|item\b|usepackage\b)"
)
"""What GIFT does not have: Markdown, and the start of LaTeX, whose braces are not answers."""


@dataclass(slots=True)
class _Chunk:
    """The lines of one question, without comments."""

    first: int
    lines: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    last: int = 0


def sniff(source: Source) -> bool:
    """Returns whether there are answers in braces or a category, and no Markdown headings or fences."""
    if any(_MARKDOWN.match(line) for line in source.lines):
        return False
    if any(_CATEGORY.match(line) for line in source.lines):
        return True
    return any(
        ((line.startswith("::") or line.rstrip().endswith(("}", "?"))) and _has_answer(line))
        or (line.rstrip().endswith("{") and below.lstrip().startswith(("=", "~")))
        for line, below in pairwise((*source.lines, ""))
    )


def _has_answer(line: str) -> bool:
    """Returns whether a line has an answer in braces, or empty braces behind what asks: those of a program are none."""
    essay = _ESSAY.match(line)
    asks = essay is not None and (line.startswith("::") or reads_as_question(essay["prompt"].strip()))
    return asks or _ANSWER.search(line) is not None


_ITEM = re.compile(r"[ ]{0,4}(?:(?P<number>\d{1,4})[.)][ ]+|-[ ]+)?(?P<text>\S.*)")
_OPENS = re.compile(r"(?<!\\)\{\s*[=~]")
_BOLD = re.compile(r"\*\*(?P<text>[^*\n]+)\*\*")
_FEWEST_IN_WORD = 3
_MOSTLY = 0.8
"""Share of the numbered paragraphs of a Word document that must have such answers."""


def plain_word(markdown: str) -> str | None:
    """Returns the text of a Word document as GIFT if nearly all of its numbered paragraphs have answers in braces; None
    for any other. Numbers are taken off, and each question begins with an empty title, which ends an open brace."""
    if sum(1 for _ in _OPENS.finditer(markdown)) < _FEWEST_IN_WORD:
        return None
    prompt: list[str] = []
    found: list[str] = []
    numbered, depth = 0, 0
    for line in _BOLD.sub(r"\g<text>", markdown).replace("\\<", "<").split("\n"):
        item = _ITEM.fullmatch(line)
        if item is None:
            continue
        starts = item["number"] is not None
        numbered += starts
        if depth and not starts:
            found.append(line)
            depth = max(0, depth + _braces(line))
            continue
        opens = _OPENS.search(line)
        prompt = [item["text"]] if starts or not prompt else [*prompt, item["text"]]
        depth = max(0, _braces(line)) if opens else 0
        if opens:
            found += ["", f"::::{prompt[0]}", *prompt[1:]]
            prompt = []
    asked = sum(line.startswith("::::") for line in found)
    return "\n".join(found) if asked >= max(_FEWEST_IN_WORD, numbered * _MOSTLY) else None


def read(source: Source) -> ImportDraft:
    """Reads all questions of a document."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    lines = draft.source.lines
    draft.recipe = valid_recipe("\n".join(line.removeprefix(RECIPE) for line in lines if line.startswith(RECIPE)))
    category = ""
    for chunk in _chunks(draft):
        text = "\n".join(chunk.lines)
        found = _CATEGORY.fullmatch(text.split("\n", 1)[0])
        if found:
            category = _ROOTS.sub("", found["path"].strip())
            text = text.partition("\n")[2]
        if text.strip():
            _question(draft, chunk, text, category)
    if not draft.questions and not draft.findings:
        cure = "write `::name:: Question? { =right ~wrong }`, with a blank line between questions"
        draft.unreadable("no questions found", cure)
    return draft


def _chunks(draft: ImportDraft) -> Iterator[_Chunk]:
    """Yields groups of lines between blank lines; a blank line inside braces does not separate."""
    chunk = _Chunk(0)
    depth = 0
    for number, line in enumerate((*draft.source.lines, ""), 1):
        comment = line.lstrip().startswith("//")
        if comment and not line.startswith(RECIPE):
            chunk.notes += [(found["name"], _NOTE_ESCAPE.sub(r"\1", found["value"])) for found in _NOTE.finditer(line)]
        starts = line.startswith("::") or _CATEGORY.match(line) is not None
        if depth and starts and chunk.lines and not chunk.lines[-1].strip():
            # The brace above was never closed: do not let it swallow the following text.
            yield chunk
            chunk, depth = _Chunk(0), 0
        if comment:
            continue
        if (not line.strip() and not depth) or _CATEGORY.match(line):
            if chunk.lines:
                yield chunk
                chunk, depth = _Chunk(0), 0
            if not line.strip():
                continue
        chunk.first = chunk.first or number
        chunk.last = number if line.strip() else chunk.last
        chunk.lines.append(line)
        depth = max(0, depth + _braces(line))
        if _CATEGORY.match(line):
            notes, chunk.notes = chunk.notes, []
            yield chunk
            # A comment belongs to the next question.
            chunk, depth = _Chunk(0, notes=notes), 0
    if chunk.lines:
        yield chunk


def _braces(line: str) -> int:
    bare = re.sub(r"\\.", "", line)
    return bare.count("{") - bare.count("}")


def _question(draft: ImportDraft, chunk: _Chunk, text: str, category: str) -> None:
    lines = (chunk.first, chunk.last)
    if not draft.accepts(*lines, len(text)):
        return
    opens = unescaped_at(text, "{")
    if opens < 0:
        note = "it was read as study text"
        draft.add("Q608", "this text has no answer in braces", _EMPTY, lines, severity="note", note=note)
        return
    closes = unescaped_at(text, "}", opens)
    if closes < 0:
        draft.add_skipped("the brace of the answer is never closed", "add `}` after the last answer", lines)
        return
    text = _with_named_gaps(text)
    title, style, before = _head(text if has_gaps(text) else text[:opens])
    read_words = markdown_converter(style)
    prompt = before if has_gaps(text) else _joined(unescape(before), unescape(text[closes + 1 :]))
    name = " ".join(unescape(title).split())
    if not prompt and reads_as_question(name):
        # Without a text, a title that asks is the question.
        prompt, name = name, ""
    item = Item(*lines, read_words(prompt), title=name, topic=topic_of(category))
    item.section = tuple(part.strip() for part in category.split("/") if part.strip())
    item.tag([value for name, value in chunk.notes if name == "tag"])
    item.id = next((value for name, value in chunk.notes if name == "id"), "")
    if has_gaps(text):
        add_gaps(draft, item, before, lambda words: read_words(unescape(words)))
    else:
        add_answers(draft, item, text[opens + 1 : closes], style)


_SEVERAL = re.compile(r"(?<!\\)\{(?P<answers>[=~](?:[^{}\\]|\\.)*)\}", re.DOTALL)


def _with_named_gaps(text: str) -> str:
    """Returns a text with several answers in braces, of which GIFT knows only one, with gaps as Moodle writes them."""
    if len(_SEVERAL.findall(text)) < 2 or len(re.findall(r"(?<!\\)\{", text)) != len(_SEVERAL.findall(text)):
        return text

    def gap(found: re.Match[str]) -> str:
        answers = _answers(found["answers"])
        kind = "SA" if all(answer.marked for answer in answers) else "MC"
        return f"{{1:{kind}:{'~'.join(('=' if answer.marked else '') + answer.text for answer in answers)}}}"

    return _SEVERAL.sub(gap, text)


_EMPTY = "add `{}` after it to ask for an essay"


def _head(text: str) -> tuple[str, str, str]:
    """Returns title, text format and prompt of the text before the brace."""
    title = style = ""
    if found := _TITLE.match(text):
        title, text = found["title"].strip(), text[found.end() :]
    if found := _FORMAT.match(text):
        style, text = found["format"], text[found.end() :]
    return title, style, text.strip()


def _joined(before: str, after: str) -> str:
    """Returns the prompt; if words follow the answer, a gap marks its place."""
    after = after.strip()
    return f"{before.rstrip()} _____ {after}".strip() if after else before.rstrip()


# Answers in braces

_ESCAPE = re.compile(r"\\([~=#{}:\\n])")
_TRUE_FALSE = re.compile(r"(?P<key>T|TRUE|F|FALSE)", re.IGNORECASE)
_WEIGHT = re.compile(r"\s*%(?P<weight>-?\d{1,3}(?:[.,]\d{1,9})?)%")


@dataclass(frozen=True, slots=True)
class _GiftAnswer:
    """An `=` or `~` answer."""

    text: str
    """Still escaped."""
    weight: float | None
    """Percent; None if not given."""
    marked: bool
    """Whether it follows `=`."""
    feedback: str


def unescape(text: str) -> str:
    """Returns the text without GIFT's backslash escapes."""
    return _ESCAPE.sub(lambda found: "\n" if found[1] == "n" else found[1], text)


def unescaped_at(text: str, mark: str, start: int = 0) -> int:
    """Returns the first position of `mark` without a backslash, or -1."""
    position = start
    while position < len(text):
        if text[position] == "\\":
            position += 2
        elif text.startswith(mark, position):
            return position
        else:
            position += 1
    return -1


def _parted(text: str, mark: str) -> tuple[str, str]:
    at = unescaped_at(text, mark)
    return (text, "") if at < 0 else (text[:at], text[at + len(mark) :])


def add_answers(draft: ImportDraft, item: Item, braces: str, style: str) -> None:
    """Adds the question with the answers in its braces."""
    read_words = markdown_converter(style)
    braces, general = _parted(braces, "####")
    item.why = read_words(unescape(general))
    kept = braces.strip()
    if not kept:
        _essay(draft, item)
        return
    key, *feedbacks = _split(kept, "#")
    if _TRUE_FALSE.fullmatch(key.strip()):
        _true_false(draft, item, key.strip(), [read_words(unescape(text.strip())) for text in feedbacks])
    elif kept.startswith("#"):
        _numbers(draft, item, kept[1:], read_words)
    else:
        _listed(draft, item, kept, read_words)


def _essay(draft: ImportDraft, item: Item) -> None:
    if not item.why:
        add_unanswered(draft, item)
        return
    note = "an essay has no other answer"
    cure = "check that it is an answer"
    draft.add("Q614", "the general feedback was used as the answer", cure, item.lines, severity="note", note=note)
    answer, item.why = item.why, ""
    add_open(draft, item, answer)


def true_false_options(item: Item, true: bool, wrong: str, right: str) -> list[OptionDraft]:
    """Returns the options True and False; feedback for a wrong answer becomes the option's reason, the rest the
    explanation."""
    item.why = "\n\n".join(text for text in (right, item.why) if text)
    return [OptionDraft("True", true, "" if true else wrong), OptionDraft("False", not true, wrong if true else "")]


def _true_false(draft: ImportDraft, item: Item, key: str, feedbacks: list[str]) -> None:
    """Adds a true/false question; the first feedback is for a wrong answer, the second for a right one."""
    wrong, right = [*feedbacks, "", ""][:2]
    add_choice(draft, item, true_false_options(item, key.upper().startswith("T"), wrong, right))


def _split(text: str, mark: str) -> list[str]:
    """Returns the parts between the marks that have no backslash before them."""
    pieces: list[str] = []
    start = 0
    while (at := unescaped_at(text, mark, start)) >= 0:
        pieces.append(text[start:at])
        start = at + len(mark)
    return [*pieces, text[start:]]


def _answers(text: str) -> list[_GiftAnswer]:
    """Returns the answers after `=` and `~`; text before the first is ignored."""
    found: list[_GiftAnswer] = []
    position = 0
    marks: list[int] = []
    while position < len(text):
        if text[position] == "\\":
            position += 1
        elif text[position] in "=~":
            marks.append(position)
        position += 1
    for start, end in zip(marks, [*marks[1:], len(text)], strict=False):
        body = text[start + 1 : end]
        weight = _WEIGHT.match(body)
        body, feedback = _parted(body[weight.end() :] if weight else body, "#")
        number = float(weight["weight"].replace(",", ".")) if weight else None
        found.append(_GiftAnswer(body.strip(), number, text[start] == "=", feedback.strip()))
    return found


def _words(answer: _GiftAnswer, read_words: Callable[[str], str]) -> str:
    if found := _FORMAT.match(answer.text):
        return markdown_converter(found["format"])(unescape(answer.text[found.end() :]))
    return read_words(unescape(answer.text))


def _listed(draft: ImportDraft, item: Item, text: str, read_words: Callable[[str], str]) -> None:
    answers = _answers(text)
    if not answers:
        draft.add_skipped(
            "there is no answer in the braces", "write `=` before a right answer, `~` before a wrong one", item.lines
        )
    elif any(not answer.marked for answer in answers):
        _choice(draft, item, answers, read_words)
    elif all(unescaped_at(answer.text, "->") >= 0 for answer in answers):
        _matching(draft, item, answers, read_words)
    else:
        _short(draft, item, answers, read_words)


def _choice(draft: ImportDraft, item: Item, answers: list[_GiftAnswer], read_words: Callable[[str], str]) -> None:
    single = any(answer.marked for answer in answers)
    partial = [answer for answer in answers if _is_partial(answer, single)]
    if partial:
        note = "partial credit is not supported; these options count as wrong"
        cure = "write `=` before it if it is right"
        draft.add("Q606", "some options give partial credit", cure, item.lines, note=note)
    offers: list[OptionDraft] = []
    for answer in answers:
        right = answer.marked if single else (answer.weight or 0) > 0
        feedback = read_words(unescape(answer.feedback))
        offers.append(OptionDraft(_words(answer, read_words), right, feedback))
    add_choice(draft, item, offers)


def _is_partial(answer: _GiftAnswer, single: bool) -> bool:
    return single and not answer.marked and (answer.weight or 0) > 0


def _matching(draft: ImportDraft, item: Item, answers: list[_GiftAnswer], read_words: Callable[[str], str]) -> None:
    pairs: list[tuple[str, str]] = []
    for answer in answers:
        left, right = _parted(answer.text, "->")
        pairs.append((read_words(unescape(left.strip())), read_words(unescape(right.strip()))))
    add_pairs(draft, item, pairs)


def _short(draft: ImportDraft, item: Item, answers: list[_GiftAnswer], read_words: Callable[[str], str]) -> None:
    full = [answer for answer in answers if answer.weight is None or answer.weight >= 100]
    partial = [answer for answer in answers if answer not in full]
    if partial:
        listed = "; ".join(_words(answer, read_words) for answer in partial)[:200]
        cure = "remove them, or make them right"
        draft.add("Q606", "some answers give partial credit", cure, item.lines, note=f"not imported: {listed}")
    feedback = "\n\n".join(text for answer in full if (text := read_words(unescape(answer.feedback))))
    item.why = "\n\n".join(text for text in (feedback, item.why) if text)
    add_short(draft, item, [_words(answer, read_words) for answer in full])


def _numbers(draft: ImportDraft, item: Item, text: str, read_words: Callable[[str], str]) -> None:
    """Adds a numeric question: `5:2`, `1..5`, or several of these after `=`."""
    answers = _answers(text)
    if not answers:
        body, feedback = _parted(text, "#")
        answers = [_GiftAnswer(body.strip(), None, True, feedback.strip())]
    full = [answer for answer in answers if answer.marked and (answer.weight is None or answer.weight >= 100)]
    if len(full) < len(answers):
        note = "only answers with full credit were imported"
        draft.add("Q606", "some answers give partial credit", "remove them", item.lines, note=note)
    feedback = "\n\n".join(text for answer in answers if (text := read_words(unescape(answer.feedback))))
    item.why = "\n\n".join(text for text in (feedback, item.why) if text)
    add_number(draft, item, [unescape(answer.text) for answer in full])
