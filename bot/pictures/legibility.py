r"""Decides which formulas need a picture: those that are hard to read as Unicode on one line, such as matrices."""

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
# Scripts and fractions that `to_unicode` could not raise, lower or stack.
_FLAT_SCRIPT = re.compile(r"[\^_]\(")
_FLAT_FRACTION = re.compile(r"\)/\(")


def reads_badly(math: Math) -> bool:
    """Returns whether a formula is hard to read as Unicode. Display math gets a picture sooner."""
    source, text = math.source, to_unicode(math.source)
    if _GRID.search(source) or len(_FLAT_SCRIPT.findall(text)) > 1:
        return True
    limits = _LIMITS.search(source) or _UNDER.search(source)
    if math.display:
        return bool(limits or _FLAT_SCRIPT.search(text) or _FLAT_FRACTION.search(text) or _nested(source))
    return bool((limits and _FLAT_SCRIPT.search(text)) or _nested(source))


def _nested(source: str) -> bool:
    """Returns whether the formula has enough fractions that they are probably nested or adjacent."""
    return len(_FRACTION.findall(source)) > 1


def formulas_in(blocks: Blocks) -> Iterator[Math]:
    """Returns the formulas of a text, in order."""
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
