r"""Which formulas need a picture: those that Unicode on one line says badly, such as matrices and sums with limits."""

from __future__ import annotations

import re
from collections.abc import Iterator

from bot.core.markup.math import to_unicode
from bot.core.markup.tree import (
    Block,
    Blocks,
    Emphasis,
    Heading,
    Inlines,
    LinkNode,
    List,
    Math,
    Paragraph,
    Quote,
    Strike,
    Strong,
)

_GRID = re.compile(r"\\begin\s*\{|\\substack(?![A-Za-z])")
_LIMITS = re.compile(r"\\(?:sum|prod|coprod|int|iint|oint|bigcup|bigcap|bigoplus|bigotimes)(?![A-Za-z])")
_UNDER = re.compile(r"\\(?:lim|max|min|sup|inf|argmax|argmin|operatorname\*\{[^{}]*\})\s*(?:\\limits\s*)?_")
_FRACTION = re.compile(r"\\[dtc]?frac(?![A-Za-z])")
# What `to_unicode` leaves where there are no raised or lowered letters, and a fraction of more than a sign each.
_FLAT_SCRIPT = re.compile(r"[\^_]\(")
_FLAT_FRACTION = re.compile(r"\)/\(")


def reads_badly(math: Math) -> bool:
    """Whether the formula as Unicode is hard to read. On a line of its own less will do to deserve a picture."""
    source, said = math.source, to_unicode(math.source)
    if _GRID.search(source) or len(_FLAT_SCRIPT.findall(said)) > 1:
        return True
    limits = _LIMITS.search(source) or _UNDER.search(source)
    if math.display:
        return bool(limits or _FLAT_SCRIPT.search(said) or _FLAT_FRACTION.search(said) or _nested(source))
    return bool((limits and _FLAT_SCRIPT.search(said)) or _nested(source))


def _nested(source: str) -> bool:
    """Whether there are fractions enough that one is likely inside another, or beside one."""
    return len(_FRACTION.findall(source)) > 1


def formulas_in(blocks: Blocks) -> Iterator[Math]:
    """The formulas of a text, in order."""
    for block in blocks:
        yield from _in_block(block)


def _in_block(block: Block) -> Iterator[Math]:
    match block:
        case Paragraph(children) | Heading(_, children):
            yield from _in_inlines(children)
        case List(items):
            for item in items:
                yield from formulas_in(item)
        case Quote(inner):
            yield from formulas_in(inner)


def _in_inlines(inlines: Inlines) -> Iterator[Math]:
    for inline in inlines:
        match inline:
            case Math():
                yield inline
            case Strong(children) | Emphasis(children) | Strike(children) | LinkNode(_, children):
                yield from _in_inlines(children)
