"""Reads questions in the attributes of tags in Markdown: shortcodes of Hugo, includes of Jekyll, components of MDX.

`{{< item question="…" choices="a,b" answer=2 >}}`, `{% include quiz.html question="…" %}`, `<Quiz question="…" />`.
"""

from __future__ import annotations

import ast
import json
import re
from typing import TYPE_CHECKING, Any

from questions.fences import fence_after, fence_in
from questions.formats.data import records
from questions.formats.data.roles import role_of
from questions.formats.draft import ImportDraft
from questions.formats.tables.option_cells import parts_of
from questions.wording.stems import ends_asking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "shortcodes"
_VALUE = r"(?:\"[^\"]{0,2000}\"|'[^']{0,2000}'|\{[^{}]{0,2000}\}|[^\s\"'{}<>%/]{1,200})"
_TAG = re.compile(
    rf"(?m)^[ \t]*(?:\{{\{{[<%]|\{{%-?|<(?=[A-Z])|\[(?=[a-z]))[ ]*[\w./-]{{1,60}}(?:\s+[\w.-]{{1,40}})?"
    rf"(?P<attributes>(?:\s+[\w-]{{1,40}}={_VALUE}){{1,20}})\s*(?:[%>]\}}\}}|-?%\}}|/?>|\])"
)
_ATTRIBUTE = re.compile(rf"(?P<name>[\w-]{{1,40}})=(?P<value>{_VALUE})")
_LOOSE_COMMA = re.compile(r",(?![ ])")
_FEWEST_WORDS = 3


def may_ask(text: str | bytes) -> bool:
    """Returns whether a search for tags that ask is worthwhile."""
    return any((one in text if isinstance(text, str) else one.encode() in text) for one in ("question=", "prompt="))


def sniff(source: Source) -> bool:
    """Returns whether a tag asks, and has options or an answer."""
    return any(map(may_ask, source.lines)) and bool(_found(source))


def read(source: Source) -> ImportDraft:
    """Reads all tags that ask; findings name other lines that look like questions."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    found = _found(source)
    read = records.read_data(draft, [fields for fields, _ in found], [(lines[0], lines[-1]) for _, lines in found])
    taken = {line for _, lines in found for line in lines}
    for number, line in enumerate(source.lines, 1):
        if number not in taken and ends_asking(line) and len(line.split()) >= _FEWEST_WORDS:
            message, cure = "this looks like a question but was not read as one", "write it as the tags around it"
            read.add("Q006", message, cure, (number, number), note="it was read as study text")
    return read


def _found(source: Source) -> list[tuple[dict[str, Any], range]]:
    """Returns the fields of each tag that asks, and its lines."""
    lines: list[str] = []
    fence = ""
    for line in source.lines:
        mark = fence_in(line)
        lines.append("" if fence or mark else line)
        fence = fence_after(fence, mark["mark"]) if mark else fence
    return list(_tags("\n".join(lines)))


def _tags(text: str) -> Iterator[tuple[dict[str, Any], range]]:
    for tag in _TAG.finditer(text):
        fields = {
            one["name"]: _value(one["value"], role_of(one["name"])) for one in _ATTRIBUTE.finditer(tag["attributes"])
        }
        roles = {role_of(name) for name in fields}
        if "question" in roles and roles & {"options", "option", "correct", "index"}:
            first = text.count("\n", 0, tag.start()) + 1
            yield fields, range(first, first + tag[0].count("\n") + 1)


def _value(written: str, role: str) -> Any:
    """Returns the value of an attribute; options in one text are split at bars, semicolons or commas."""
    inner = written[1:-1] if written[0] in "\"'{" else written
    if written[0] == "{":
        for load in (json.loads, ast.literal_eval):
            try:
                return load(inner.strip())
            except (ValueError, SyntaxError, RecursionError, MemoryError):
                continue
    if role != "options":
        return int(inner) if inner.isdecimal() and len(inner) < _LONGEST_NUMBER else inner
    loose = _LOOSE_COMMA.split(inner)
    only_commas = not re.search(r"[|;\n]", inner)
    # `one, two,three, four` has commas within its options.
    return [one.strip() for one in loose] if only_commas and ", " in inner and len(loose) > 1 else parts_of(inner)


_LONGEST_NUMBER = 6
