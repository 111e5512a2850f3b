"""Reads plain text whose options begin with `+` if they are right and with `-` if they are wrong.

    Which of these copy?
    + clone
    - view
    (it shares the memory)

A line of other text begins the next question. A remark in parentheses below an option is about that option.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from questions.formats.draft import ImportDraft, Item, OptionDraft, add_choice, add_short
from questions.formats.markdown import from_plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "plus-minus"

_OPTION = re.compile(r"(?P<sign>[+-])(?:[ \t]+|(?=[^\W\d_]))(?P<text>\S.*)")
_REMARK = re.compile(r"[ \t]*\((?P<text>.+)\)[.,;]?[ \t]*")
_MARKDOWN = re.compile(r"#{1,6} |```|~~~|---|\*\*|>|\|")
_FEWEST = 3
"""Fewest questions."""
_REGULAR = 0.8
"""Share of questions that must have a right option; half of those must have a wrong one too."""


@dataclass(slots=True)
class _Asked:
    first: int
    prompt: list[str]
    options: list[tuple[bool, str, str]] = field(default_factory=list)
    """Whether it is right, its text, and the remark below it."""
    last: int = 0


def sniff(source: Source) -> bool:
    """Returns whether a text consists of questions with right and wrong options, and has no Markdown."""
    if not any(line.startswith("+") for line in source.lines) or any(map(_MARKDOWN.match, source.lines)):
        return False
    asked = list(_questions(source))
    right = [one for one in asked if any(sign for sign, _, _ in one.options)]
    both = [one for one in right if not all(sign for sign, _, _ in one.options)]
    return len(both) >= _FEWEST and len(right) >= _REGULAR * len(asked) and len(both) * 2 >= len(right)


def read(source: Source) -> ImportDraft:
    """Reads all questions of such a text."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    for one in _questions(source):
        if not draft.accepts(one.first, one.last, sum(map(len, (*one.prompt, *(text for _, text, _ in one.options))))):
            continue
        item = Item(one.first, one.last, from_plain("\n".join(one.prompt)))
        if not one.options:
            cure = "write the options below it, the right ones after `+`, the others after `-`"
            draft.add_skipped("this is not a question: no options follow", cure, item.lines)
        elif len(one.options) == 1 and one.options[0][0]:
            add_short(draft, item, [from_plain(one.options[0][1])])
        else:
            offers = [OptionDraft(from_plain(text), right, from_plain(remarks)) for right, text, remarks in one.options]
            add_choice(draft, item, offers)
    return draft


def _questions(source: Source) -> Iterator[_Asked]:
    current = _Asked(0, [])
    for number, line in enumerate(source.lines, 1):
        if not line.strip():
            continue
        option = _OPTION.fullmatch(line.rstrip())
        if option and current.prompt:
            current.options.append((option["sign"] == "+", option["text"], ""))
        elif current.options and (remark := _REMARK.fullmatch(line)):
            right, text, remarks = current.options[-1]
            current.options[-1] = (right, text, f"{remarks} {remark['text']}".strip())
        elif current.options:
            yield current
            current = _Asked(number, [line.strip()])
        else:
            current.first = current.first or number
            current.prompt.append(line.strip())
        current.last = number
    if current.prompt:
        yield current
