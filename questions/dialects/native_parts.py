"""Reading the parts under the `###` headings of the native dialect: fences, literals, lists. One function each."""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from questions.blocks import Block, plain
from questions.diagnostics import Finding
from questions.dialects.shape import content_column, dedent
from questions.model import DEVICES, CodeTask, Device, Option, Tolerance

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.document import Document, Draft

_BOX = re.compile(r"\[(?P<mark>[ xX])\](?:[ ]+|$)")
_ID = re.compile(r"\{(?P<id>[A-Za-z0-9][A-Za-z0-9_-]*)\}(?:[ ]+|$)")
_LITERAL = re.compile(r"(?<!`)(`++)(?P<text>.+?)(?<!`)\1(?!`)", re.DOTALL)
_DEVICE = re.compile(rf"device[ ]*:[ ]*(?P<value>{'|'.join(DEVICES)})")
_LIMIT = re.compile(r"(?P<name>[a-z_]+)[ ]*:[ ]*(?P<value>[0-9][0-9_.eE+-]*)")
_URL = re.compile(r"https?://[^\s<>)\]]+")
_DASH = " — "


@dataclass(frozen=True, slots=True)
class Part:
    """A `###` heading and what stands below it."""

    name: str
    heading: Block
    body: tuple[Block, ...]

    @property
    def last(self) -> int:
        """Its last line that is not blank."""
        return self.body[-1].last if self.body else self.heading.last


def prose(document: Document, part: Part | None) -> str:
    """The Markdown of a part; empty where there is no such part."""
    return document.source.text(part.heading.last + 1, part.last) if part else ""


def program(document: Document, draft: Draft, part: Part | None) -> str:
    """The text of the one fence a part consists of; a finding for anything else."""
    if part is None:
        return ""
    fences = [block for block in part.body if block.kind == "fence"]
    others = [block for block in part.body if block.kind != "fence"]
    if len(fences) != 1:
        draft.findings.append(
            Finding(
                "Q115",
                "error",
                f"`{part.name}` needs exactly one fenced block, it has {len(fences)}",
                document.source.span(part.heading.first),
                help="put the program between ```python and ``` below the heading",
            )
        )
    draft.findings += [_stray(document, block, f"a fence is all that belongs in `{part.name}`") for block in others]
    return fences[0].text if fences else ""


def literal(document: Document, draft: Draft, part: Part | None) -> str | None:
    """The value of an `Answer` part, in backticks or in a fence; empty, with a finding, where it is neither."""
    if part is None:
        return None
    if len(part.body) == 1 and part.body[0].kind == "fence":
        return part.body[0].text
    found = _LITERAL.fullmatch(prose(document, part))
    if found:
        return found["text"].strip()
    draft.findings.append(
        Finding(
            "Q116",
            "error",
            "the answer of a `value` question is one Python literal",
            document.source.span(part.heading.first, part.last),
            help="write it in backticks, such as `(1, 4)`, and the reason under `### Why`",
        )
    )
    return ""


def bullets(document: Document, draft: Draft, part: Part | None) -> tuple[tuple[str, int], ...]:
    """The items of the one list a part consists of, each with its line."""
    if part is None:
        return ()
    lists = [block for block in part.body if block.kind == "list"]
    others = [block for block in part.body if block.kind != "list"]
    draft.findings += [_stray(document, block, f"a list is all that belongs in `{part.name}`") for block in others]
    return tuple((item_text(document, item), item.first) for block in lists for item in block.children)


def links(document: Document, draft: Draft, part: Part | None) -> tuple[str, ...]:
    """The addresses in a list of links."""
    return tuple(_links(document, draft, part))


def _links(document: Document, draft: Draft, part: Part | None) -> Iterator[str]:
    for text, line in bullets(document, draft, part):
        found = _URL.search(text)
        if found:
            yield found[0]
        else:
            draft.findings.append(
                Finding(
                    "Q120",
                    "error",
                    "this link has no address",
                    document.source.span(line),
                    help="write the address in full, beginning with https://",
                )
            )


def tags(document: Document, part: Part | None) -> tuple[str, ...]:
    """The words of a comma-separated line."""
    return tuple(word for raw in prose(document, part).split(",") if (word := plain(raw)))


def with_limits(document: Document, draft: Draft, part: Part | None, task: CodeTask) -> CodeTask:
    """The task with the limits a part names."""
    values: dict[str, float] = {
        "rtol": task.tolerance.rtol,
        "atol": task.tolerance.atol,
        "wall_ms": task.wall_ms,
        "memory_mb": task.memory_mb,
    }
    device = task.device
    for text, line in bullets(document, draft, part):
        if named := _DEVICE.fullmatch(plain(text)):
            device = cast(Device, named["value"])
            continue
        found = _LIMIT.fullmatch(plain(text))
        number = _number(found["value"]) if found else None
        if found is None or number is None or found["name"] not in values:
            draft.findings.append(_bad_limit(document, line, tuple(values)))
        else:
            values[found["name"]] = number
    return dataclasses.replace(
        task,
        tolerance=Tolerance(values["rtol"], values["atol"]),
        wall_ms=int(values["wall_ms"]),
        memory_mb=int(values["memory_mb"]),
        device=device,
    )


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _bad_limit(document: Document, line: int, names: tuple[str, ...]) -> Finding:
    return Finding(
        "Q117",
        "error",
        "this is no limit",
        document.source.span(line),
        help=f"write a name and a number, such as `rtol: 1e-4`; the names are {', '.join(names)}; "
        f"or `device:` and one of {', '.join(DEVICES)}",
    )


def is_options(block: Block) -> bool:
    """Whether a list is one of options: every item begins with a box."""
    return block.kind == "list" and all(
        item.children and _BOX.match(item.children[0].text) is not None for item in block.children
    )


def options(document: Document, block: Block) -> tuple[Option, ...]:
    """The options of a list of boxes, with ids by letter where the author gave none."""
    return tuple(_option(item_text(document, item), index) for index, item in enumerate(block.children))


def _option(text: str, index: int) -> Option:
    box = _BOX.match(text)
    rest = text[box.end() :] if box else text
    named = _ID.match(rest)
    rest = rest[named.end() :] if named else rest
    said, reason = split_reason(rest)
    letter = chr(ord("a") + index) if index < 26 else f"o{index + 1}"
    return Option(named["id"] if named else letter, said, box is not None and box["mark"] in "xX", reason)


def split_reason(text: str) -> tuple[str, str]:
    """An option's text and its reason, parted by the first spaced long dash outside code."""
    start = 0
    for code in _LITERAL.finditer(text):
        at = text.find(_DASH, start, code.start())
        if at >= 0:
            return text[:at].strip(), text[at + len(_DASH) :].strip()
        start = code.end()
    at = text.find(_DASH, start)
    return (text.strip(), "") if at < 0 else (text[:at].strip(), text[at + len(_DASH) :].strip())


def item_text(document: Document, item: Block) -> str:
    """The Markdown of a list item, without its marker and its indentation."""
    line = document.source.line(item.first)
    column = content_column(line)
    below = [dedent(document.source.line(number), column) for number in range(item.first + 1, item.last + 1)]
    return "\n".join((line[column:], *below)).strip()


def _stray(document: Document, block: Block, why: str) -> Finding:
    return Finding(
        "Q118",
        "error",
        "this text belongs to nothing",
        document.source.span(block.first, block.last),
        note=why,
        help="move it under `### Why`, or into the prompt",
    )
