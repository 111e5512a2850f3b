"""Labels such as `**Q:**` and `Answer:`, in some languages: where they stand and what text is theirs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from questions.blocks import Block, plain
from questions.source import trim

if TYPE_CHECKING:
    from questions.source import Source

Role = Literal["question", "answer"]

_QUESTION = r"q(?:uestion)?|pregunta|pergunta|domanda|frage|вопрос|问题|問題|问|問|質問|질문"
_SHORT = (
    r"a|ans|answers?|(?:the[ ])?(?:correct|right)[ ](?:answer|option|choice)s?(?:[ ](?:is|are))?|key"
    r"|respuesta|resposta|risposta|réponse|antwort|ответ|答案|回答|答|答え|답변|답"
)
_ANSWER = (
    rf"{_SHORT}|(?:(?:sample|model|short|expected|suggested|example|good|ideal|detailed)[ ]+)answer"
    r"|discussion|solution|response|explanation"
)
_NUMBER = r"(?:[ ]?#?(?P<number>\d{1,4}))?"
_MARKED = rf"(?P<open>\*{{1,3}}|_{{1,3}})[ ]?(?P<word>%s){_NUMBER}[ ]?(?:[:：.)][ ]?(?P=open)|(?P=open)[ ]?[:：])[ ]*"
_AROUND = rf"(?P<open>\*{{1,3}}|_{{1,3}})(?P<word>%s){_NUMBER}[ ]?[:：][ ]*(?=[^\n]{{1,400}}(?P=open)[ ]*$)"
_BARE = rf"(?P<word>%s){_NUMBER}[ ]?(?::(?:[ ]+|$)|：[ ]*)"
_COUNTED = r"(?P<word>q(?:uestion)?)(?:[ ]?#?(?P<number>\d{1,4})[ ]?[.)]|[.)])[ ]+(?=\S)"
_CLIPPED = r"(?P<word>ans)(?:[ ]?#?(?P<number>\d{1,4}))?(?:[.][ ]*:?|[ ]?[-–—])[ ]+(?=\S)"
_ALONE = r"(?P<open>\*{1,3}|_{1,3})(?P<word>%s)(?P=open)[ ]*$"
_SHAPES: tuple[tuple[Role, str], ...] = (
    ("question", _MARKED % _QUESTION),
    ("question", _AROUND % _QUESTION),
    ("question", _BARE % _QUESTION),
    ("question", _COUNTED),
    ("answer", _MARKED % _ANSWER),
    ("answer", _AROUND % _ANSWER),
    # Without marks, `Solution: …` and the like are ordinary prose inside an answer.
    ("answer", _BARE % _SHORT),
    ("answer", _CLIPPED),
    ("answer", _ALONE % _ANSWER),
)
_ENCLOSING = (_AROUND % _QUESTION, _AROUND % _ANSWER)
_LABELS = tuple((role, re.compile(shape, re.IGNORECASE)) for role, shape in _SHAPES)
_MAYBE = re.compile(rf"(?:\*{{1,3}}|_{{1,3}})?[ ]?(?:{_QUESTION}|{_ANSWER})[ ]?[\d#:：.)*_–—-]", re.IGNORECASE)
_SYMBOL = re.compile(r"[^\w\s!-/:-@\[-`{-~]{1,4}[ ]{1,2}")
"""A picture before a label, such as a pointing hand."""
_ANSWER_HEADING = re.compile(
    rf"(?:(?:{_ANSWER})[ ]?(?:#?\d{{1,4}})?[ ]?[:：]?|(?:{_SHORT})[ ]?[:：–—-][ ]+(?P<rest>\S.*))", re.IGNORECASE
)
_MAY_ANSWER = re.compile(rf"(?:[^\w]|_){{0,20}}(?:{_ANSWER})(?![^\W_])", re.IGNORECASE)
_SUMMARY = re.compile(
    rf"(?:[\w'’]+[ ]){{0,4}}?(?:{_ANSWER}|answers?|solutions?)(?:[ ](?:here|below|\d{{1,4}}))?", re.IGNORECASE
)
_OPENS = re.compile(
    r"(?:(?:click|tap|press)(?:[ ]\w+){0,5}|(?:show|reveal|expand|spoiler|details|unfold)(?:[ ]\w+){0,2})",
    re.IGNORECASE,
)
_EDGES = re.compile(r"^[^\w]+|[^\w]+$")
_MARKERS = re.compile(r"\s*(?:(?:[*+-]|\d{1,9}[.)])[ \t]+)*")
_OPTION_B = re.compile(r"\s*(?:[-*+][ \t]+)?[*_(\[]{0,3}b[)\]]?[*_]{0,3}[:.)][ *_]", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Label:
    """A line that says a question or an answer begins here."""

    role: Role
    line: int
    start: int
    """Where in the line the label begins, from 0."""
    end: int
    """Where the text after it begins."""
    word: str = ""
    """Which one it is, in lower case."""
    number: str = ""
    closing: str = ""
    """Marks at the end of the line that were opened before the label."""


def label_of(line: str, number: int = 0) -> Label | None:
    """The label a line opens with, whatever list marker or indentation stands before it."""
    start = content_column(line)
    if symbol := _SYMBOL.match(line, start):
        start = symbol.end()
    if not _MAYBE.match(line, start):
        return None
    for role, pattern in _LABELS:
        if found := pattern.match(line, start):
            named = found.groupdict()
            closing = named["open"] if pattern.pattern in _ENCLOSING else ""
            return Label(role, number, start, found.end(), found["word"].lower(), named.get("number") or "", closing)
    return None


def labels_in(block: Block, source: Source) -> list[Label]:
    """The labels in the lines of a paragraph; none in any other block."""
    if block.kind != "paragraph":
        return []
    found = (label_of(source.line(number), number) for number in range(block.first, block.last + 1))
    return [label for label in found if label is not None and not _is_option(source, label)]


def _is_option(source: Source, label: Label) -> bool:
    """Whether an `A:` is the first of some options: the next line with text begins with `B:`."""
    if label.word != "a" or label.number:
        return False
    following = source.next_filled(label.line + 1)
    return _OPTION_B.match(source.line(following)) is not None


def content_column(line: str) -> int:
    """Where the text of a line begins after indentation and list markers, from 0."""
    found = _MARKERS.match(line)
    return found.end() if found else 0


def text_after(source: Source, label: Label, last: int) -> str:
    """The Markdown from a label to line `last`, moved left by the indentation of the label's own text."""
    rest = source.line(label.line)[label.end :]
    if label.closing:
        rest = rest.rstrip().removesuffix(label.closing)
    below = [dedent(source.line(number), label.start) for number in range(label.line + 1, last + 1)]
    return trim("\n".join((rest, *below)))


def dedent(line: str, columns: int) -> str:
    """The line without up to `columns` columns of indentation."""
    if "\t" in line[:columns]:
        line = line.expandtabs(4)
    return line[min(columns, len(line) - len(line.lstrip(" "))) :]


def is_answer_heading(block: Block) -> bool:
    """Whether a heading only says that the answer follows, or what it is: `Answer`, `Answer: D`."""
    return block.kind == "heading" and answer_in_heading(block.text) is not None


def answer_in_heading(heading: str) -> str | None:
    """What an answer heading says behind the word; empty where it says no more, None for any other heading."""
    if len(heading) > 200 or not _MAY_ANSWER.match(heading):
        return None
    if (found := _ANSWER_HEADING.fullmatch(_EDGES.sub("", plain(heading)))) is None:
        return None
    return found["rest"] or ""


def is_answer_summary(summary: str) -> bool:
    """Whether the words shown of a fold say that the answer lies in it: `Show answer`, `Click me`."""
    if len(summary) > 200 or "?" in summary:
        return False
    words = _EDGES.sub("", plain(summary))
    return _SUMMARY.fullmatch(words) is not None or _OPENS.fullmatch(words) is not None
