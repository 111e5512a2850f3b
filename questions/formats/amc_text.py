"""Reads AMC-TXT, the plain text of Auto Multiple Choice: `*` begins a question with one right option, `**` one with
several; right options begin with `+`, wrong ones with `-`.

    ** Which of these copy?
    + clone
    - view
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from questions.formats.draft import ImportDraft, Item, OptionDraft, add_choice, add_unanswered
from questions.formats.markdown import from_plain

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.source import Source

NAME = "amc-txt"

_QUESTION = re.compile(
    r"=?\*{1,2}(?P<notes>(?:\[[^\[\]]{0,200}\]|<[^<>]{0,200}>|\{[^{}]{0,200}\})*)[ \t]*(?P<text>[^\s*()].*)"
)
_OPTION = re.compile(r"(?P<sign>[+-])(?:\{[^{}]{0,80}\})?[ \t]*(?P<text>[^\s+-].*|[+-]\S.*)")
_LISTED = re.compile(r"(?P<sign>[+-])=[ \t]*(?P<list>\[.*\])")
"""Several options in a list."""
_GROUP = re.compile(r"\*[()].*")
_COMMENT = re.compile(r"[ \t]*#(?:[ \t].*)?")
_HEADER = re.compile(r"[A-Z][A-Za-z]{1,40}:.*")
_MARKDOWN = re.compile(r"#{2,6} |```|~~~|---|>|\||\*{2}.{1,300}\*\*")
"""What this format does not have."""
_CODE = re.compile(r"(?: {4}|\t)(?P<code>.*)")
_GROUPED = re.compile(r"\bgroup=(?P<name>\w{1,80})")
_FEWEST = 3
"""Fewest questions."""
_REGULAR = 0.9
"""Share of questions with right and wrong options."""


@dataclass(slots=True)
class _Asked:
    first: int
    prompt: list[str]
    group: str = ""
    options: list[tuple[bool, list[str]]] = field(default_factory=list)
    """Whether it is right, and its lines."""
    last: int = 0


def sniff(source: Source) -> bool:
    """Returns whether a text consists of questions that begin with stars, and right and wrong options."""
    if not any(line.startswith("+") for line in source.lines) or any(map(_MARKDOWN.match, source.lines)):
        return False
    asked = list(_questions(source))
    both = [one for one in asked if {right for right, _ in one.options} == {True, False}]
    return len(both) >= _FEWEST and len(both) >= _REGULAR * len(asked)


def read(source: Source) -> ImportDraft:
    """Reads all questions of such a text."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    for one in _questions(source):
        size = sum(map(len, (*one.prompt, *(line for _, lines in one.options for line in lines))))
        if not draft.accepts(one.first, one.last, size):
            continue
        item = Item(one.first, one.last, _text(one.prompt))
        if one.group:
            item.tag([one.group])
        if one.options:
            add_choice(draft, item, [OptionDraft(_text(lines), right) for right, lines in one.options])
        else:
            add_unanswered(draft, item)
    return draft


def _text(lines: Sequence[str]) -> str:
    """Returns lines as Markdown; those that are indented are a program."""
    parts: list[str] = []
    code: list[str] = []
    for line in lines:
        if found := _CODE.fullmatch(line):
            code.append(found["code"])
        elif code and not line.strip():
            code.append("")
        else:
            parts += _program(code)
            code = []
            parts.append(from_plain(line.strip()) if line.strip() else "")
    parts += _program(code)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(parts)).strip()


def _program(code: Sequence[str]) -> list[str]:
    text = "\n".join(code).strip("\n")
    return ["", "```", text, "```", ""] if text.strip() else []


def _texts_in(written: str) -> list[str]:
    """Returns the texts of a list; the list as it is where it is more than that, such as a loop of a program."""
    try:
        texts = json.loads(written)
    except (ValueError, RecursionError):
        return [written]
    return texts if all(isinstance(one, str) and one.strip() for one in texts) else [written]


def _questions(source: Source) -> Iterator[_Asked]:
    current: _Asked | None = None
    for number, line in enumerate(source.lines, 1):
        if _COMMENT.fullmatch(line) or _GROUP.fullmatch(line) or (current is None and _HEADER.fullmatch(line)):
            continue
        if found := _QUESTION.fullmatch(line.rstrip()):
            if current is not None:
                yield current
            group = _GROUPED.search(found["notes"])
            current = _Asked(number, [found["text"]], group["name"].replace("_", " ") if group else "")
        elif current is None:
            continue
        elif listed := _LISTED.fullmatch(line.rstrip()):
            current.options += [(listed["sign"] == "+", [text]) for text in _texts_in(listed["list"])]
        elif option := _OPTION.fullmatch(line.rstrip()):
            current.options.append((option["sign"] == "+", [option["text"]]))
        elif current.options and line.strip():
            current.options[-1][1].append(line.rstrip())
        elif not current.options:
            current.prompt.append(line.rstrip())
        if line.strip() and current is not None:
            current.last = number
    if current is not None:
        yield current
