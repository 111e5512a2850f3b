"""What the Markdown dialects share: labels, numbers, levels and what reads as a question. Reads no document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from questions.blocks import Block, plain
from questions.source import trim

if TYPE_CHECKING:
    from questions.model import Level
    from questions.source import Source

Role = Literal["question", "answer"]

_QUESTION = r"q(?:uestion)?"
_ANSWER = (
    r"a|ans|(?:(?:sample|model|short|expected|suggested|correct|example|good|ideal)[ ]+)?answer"
    r"|discussion|solution|response|explanation"
)
_MARKED = r"(?P<open>\*{1,3}|_{1,3})[ ]?(?P<word>%s)(?:[ ]?#?\d+)?[ ]?(?:[:.)][ ]?(?P=open)|(?P=open)[ ]?:)[ ]*"
_BARE = r"(?P<word>%s)(?:[ ]?#?\d+)?[ ]?:(?:[ ]+|$)"
_ALONE = r"(?P<open>\*{1,3}|_{1,3})(?P<word>%s)(?P=open)[ ]*$"
_SHAPES: tuple[tuple[Role, str, str], ...] = (
    ("question", _MARKED, _QUESTION),
    ("question", _BARE, _QUESTION),
    ("answer", _MARKED, _ANSWER),
    # Without marks, `Solution: …` and the like are ordinary prose inside an answer.
    ("answer", _BARE, "a|ans|answer"),
    ("answer", _ALONE, _ANSWER),
)
_LABELS = tuple((role, re.compile(shape % words, re.IGNORECASE)) for role, shape, words in _SHAPES)
_ANSWER_HEADING = re.compile(rf"(?:{_ANSWER})[ ]?:?", re.IGNORECASE)
_NUMBERED = re.compile(
    r"(?P<mark>\*{2}|_{2})?(?:q(?:uestion)?[ ]?)?"
    r"(?:(?P<nested>\d{1,4}(?:\.\d{1,4})+)[.):]?[ ]+|(?P<number>\d{1,4})\\?[.):](?!\d)[ ]*)(?P<rest>\S.*)",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:what|why|how|when|where|which|who|whose|is|are|was|were|can|could|does|do|did|should|would|will|has|have"
    r"|explain|describe|discuss|compare|contrast|reflect|define|differentiate|distinguish|implement|design|derive"
    r"|prove|show|state|outline|summari[sz]e|name|list|give|write|compute|calculate|predict"
    r"|in|under|if|given|suppose|consider|you)\b",
    re.IGNORECASE,
)
_IMPERATIVE = 4
"""An asking word opens a title as well as a question; a title is rarely this many words long."""
_LEVELS: dict[str, Level] = {
    "mid": "mid",
    "middle": "mid",
    "medium": "mid",
    "intermediate": "mid",
    "senior": "senior",
    "hard": "senior",
    "advanced": "senior",
    "principal": "principal",
    "staff": "principal",
    "expert": "principal",
}
_LEVEL = re.compile(
    r"(?P<word>[a-z]+)(?:[ -](?:level|tier|engineer|developer|role))*(?:[ ](?:interview )?questions)?:?",
    re.IGNORECASE,
)
_WHOLE_BOLD = re.compile(r"(\*\*|__)(?P<text>(?:(?!\1).)+)\1[ ]*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Label:
    """A line that says a question or an answer begins here."""

    role: Role
    line: int
    start: int
    """Where in the line the label begins, from 0."""
    end: int
    """Where the text after it begins."""


def label_of(line: str, number: int = 0) -> Label | None:
    """The label a line opens with, whatever list marker or indentation stands before it."""
    start = content_column(line)
    for role, pattern in _LABELS:
        if found := pattern.match(line, start):
            return Label(role, number, start, found.end())
    return None


def labels_in(block: Block, source: Source) -> list[Label]:
    """The labels in the lines of a paragraph; none in any other block."""
    if block.kind != "paragraph":
        return []
    found = (label_of(source.line(number), number) for number in range(block.first, block.last + 1))
    return [label for label in found if label is not None]


_MARKERS = re.compile(r"\s*(?:(?:[*+-]|\d{1,9}[.)])[ \t]+)*")


def content_column(line: str) -> int:
    """Where the text of a line begins after indentation and list markers, from 0."""
    found = _MARKERS.match(line)
    return found.end() if found else 0


def text_after(source: Source, label: Label, last: int) -> str:
    """The Markdown from a label to line `last`, moved left by the indentation of the label's own text."""
    rest = source.line(label.line)[label.end :]
    below = [dedent(source.line(number), label.start) for number in range(label.line + 1, last + 1)]
    return trim("\n".join((rest, *below)))


def dedent(line: str, columns: int) -> str:
    """The line without up to `columns` columns of indentation."""
    if "\t" in line[:columns]:
        line = line.expandtabs(4)
    return line[min(columns, len(line) - len(line.lstrip(" "))) :]


def is_answer_heading(block: Block) -> bool:
    """Whether a heading only says that the answer follows."""
    return block.kind == "heading" and _ANSWER_HEADING.fullmatch(plain(block.text)) is not None


def numbered(heading: str) -> tuple[str, str]:
    """The number a heading begins with and the rest: `12. What …`, `Q3) …`, `**4. …**`. No number: empty."""
    found = _NUMBERED.fullmatch(heading.strip())
    if found is None:
        return "", heading.strip()
    rest = found["rest"].strip()
    mark = found["mark"]
    if mark and rest.startswith(mark):
        rest = rest.removeprefix(mark).strip()
    elif mark:
        rest = rest.removesuffix(mark) if rest.endswith(mark) else mark + rest
    return found["nested"] or found["number"], rest


def reads_as_question(markdown: str) -> bool:
    """Whether a line asks something: it holds a question mark or opens with an asking word."""
    text = plain(markdown)
    if re.search(r"\?(?=[\s\"'”’)\]*_]|$)", text):
        return True
    return len(text.split()) >= _IMPERATIVE and _ASKS.match(text.lstrip("\"'“‘(")) is not None


def unbold(markdown: str) -> str:
    """The text without the bold marks around all of it."""
    found = _WHOLE_BOLD.fullmatch(markdown.strip())
    return found["text"].strip() if found else markdown.strip()


def level_of(text: str) -> Level | None:
    """The level a heading or a key names, such as `Senior Level`; None where it names none."""
    found = _LEVEL.fullmatch(plain(text))
    return _LEVELS.get(found["word"].lower()) if found else None


def level_under(headings: tuple[str, ...]) -> Level | None:
    """The level named by the innermost of the headings that names one."""
    return next((level for heading in reversed(headings) if (level := level_of(heading))), None)
