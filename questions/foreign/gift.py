"""Moodle GIFT: chunks of text with an answer in braces. Finds them; gift_answers reads the braces."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from questions.foreign.gift_answers import add_answers, unescape, unescaped_at
from questions.foreign.making import Item, topic_of
from questions.foreign.sheet import Sheet
from questions.foreign.wording import words_reader

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "gift"

_CATEGORY = re.compile(r"\s*\$CATEGORY:\s*(?P<path>.*)")
_NOTE = re.compile(r"\[(?P<name>id|tag):(?P<value>(?:[^\]\[\\]|\\.){0,200})\]")
_TITLE = re.compile(r"\s*::(?P<title>(?:[^:\\]|\\.|:(?!:))*)::", re.DOTALL)
_FORMAT = re.compile(r"\s*\[(?P<format>html|markdown|plain|moodle)\]")
_ROOTS = re.compile(r"^(?:\$(?:course|system|cat1|module)\$/)?(?:top(?:/|$))?", re.IGNORECASE)
_ANSWER = re.compile(r"(?<!\\)\{\s*(?:[=~#}]|(?:T|TRUE|F|FALSE)\s*[#}])")
_MARKDOWN = re.compile(r"#{1,6} |```|~~~|---\s*$")


@dataclass(slots=True)
class _Chunk:
    """The lines of one question, comments taken out."""

    first: int
    lines: list[str] = field(default_factory=list)
    notes: list[tuple[str, str]] = field(default_factory=list)
    last: int = 0


def sniff(source: Source) -> bool:
    """Whether answers stand in braces, or a category is set, and nothing is a Markdown heading or fence."""
    if any(_MARKDOWN.match(line) for line in source.lines):
        return False
    if any(_CATEGORY.match(line) for line in source.lines):
        return True
    return any(
        (line.startswith("::") or line.rstrip().endswith(("}", "?", "{"))) and _ANSWER.search(line)
        for line in source.lines
    )


def read(source: Source) -> Sheet:
    """All questions of a document."""
    sheet = Sheet(source, NAME)
    sheet.title = sheet.stem
    category = ""
    for chunk in _chunks(sheet):
        text = "\n".join(chunk.lines)
        found = _CATEGORY.fullmatch(text.split("\n", 1)[0])
        if found:
            category = _ROOTS.sub("", found["path"].strip())
            text = text.partition("\n")[2]
        if text.strip():
            _question(sheet, chunk, text, category)
    if not sheet.questions and not sheet.findings:
        cure = "write `::name:: Question? { =right ~wrong }`, with a blank line between questions"
        sheet.unreadable("no question was found", cure)
    return sheet


def _chunks(sheet: Sheet) -> Iterator[_Chunk]:
    """Runs of lines between blank ones; a blank line inside braces parts nothing."""
    chunk = _Chunk(0)
    depth = 0
    for number, line in enumerate((*sheet.source.lines, ""), 1):
        comment = line.lstrip().startswith("//")
        if comment:
            chunk.notes += [(found["name"], unescape(found["value"])) for found in _NOTE.finditer(line)]
        starts = line.startswith("::") or _CATEGORY.match(line) is not None
        if depth and starts and chunk.lines and not chunk.lines[-1].strip():
            # The brace above was never closed: do not let it swallow what follows.
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
            # What a comment says is said of the next question.
            chunk, depth = _Chunk(0, notes=notes), 0
    if chunk.lines:
        yield chunk


def _braces(line: str) -> int:
    bare = re.sub(r"\\.", "", line)
    return bare.count("{") - bare.count("}")


def _question(sheet: Sheet, chunk: _Chunk, text: str, category: str) -> None:
    lines = (chunk.first, chunk.last)
    if not sheet.takes(*lines, len(text)):
        return
    opens = unescaped_at(text, "{")
    if opens < 0:
        note = "Moodle shows such a text between questions; here it is study text"
        sheet.say("Q608", "this text has no answer in braces", _EMPTY, lines, severity="note", note=note)
        return
    closes = unescaped_at(text, "}", opens)
    if closes < 0:
        sheet.left_out("the brace of the answer is never closed", "add `}` behind the last answer", lines)
        return
    title, style, before = _head(text[:opens])
    read_words = words_reader(style)
    prompt = _joined(unescape(before), unescape(text[closes + 1 :]))
    item = Item(*lines, read_words(prompt), title=" ".join(unescape(title).split()), topic=topic_of(category))
    item.section = tuple(part.strip() for part in category.split("/") if part.strip())
    item.tag([value for name, value in chunk.notes if name == "tag"])
    item.id = next((value for name, value in chunk.notes if name == "id"), "")
    add_answers(sheet, item, text[opens + 1 : closes], style)


_EMPTY = "write `{}` behind it to ask for an essay"


def _head(text: str) -> tuple[str, str, str]:
    """Title, name of the text format and the prompt of what stands before the brace."""
    title = style = ""
    if found := _TITLE.match(text):
        title, text = found["title"].strip(), text[found.end() :]
    if found := _FORMAT.match(text):
        style, text = found["format"], text[found.end() :]
    return title, style, text.strip()


def _joined(before: str, after: str) -> str:
    """The prompt; where words follow the answer, a gap stands for it."""
    after = after.strip()
    return f"{before.rstrip()} _____ {after}".strip() if after else before.rstrip()
