"""Markdown as blocks with the lines they stand on; the only user of markdown-it. Judges nothing."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal

from markdown_it import MarkdownIt
from mdit_py_plugins.front_matter import front_matter_plugin

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from markdown_it.token import Token

    from questions.source import Source

BlockKind = Literal[
    "front_matter", "heading", "paragraph", "list", "item", "fence", "code", "table", "quote", "rule", "html"
]

_CONTAINERS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "list_item_open": "item",
    "blockquote_open": "quote",
    "table_open": "table",
}
_LEAVES: dict[str, BlockKind] = {
    "front_matter": "front_matter",
    "fence": "fence",
    "code_block": "code",
    "hr": "rule",
    "html_block": "html",
}


@dataclass(frozen=True, slots=True)
class Block:
    """A block of a document."""

    kind: BlockKind
    first: int
    """Its first line, from 1."""
    last: int
    """Its last line that is not blank, inclusive."""
    text: str = ""
    """Of a heading or paragraph its Markdown, of a fence the program, of a front matter the YAML."""
    level: int = 0
    """Of a heading its depth, 1 to 6."""
    info: str = ""
    """Of a fence its language, lower case; of an ordered item its number."""
    closed: bool = True
    """Of a fence: whether its end is marked."""
    children: tuple[Block, ...] = ()
    """Of a list its items; of an item or a quote its blocks."""

    def walk(self) -> Iterator[Block]:
        """The block and all blocks within it, in order."""
        yield self
        for child in self.children:
            yield from child.walk()


_NESTING = 60
"""Lists and quotes within one another; deeper ones are kept as lines of the innermost."""
_MARKS = re.compile(r"[\\`*_\[\]<>&!\n]|  |^\s|\s$")
"""Without any of these Markdown reads a line as its own words."""


@cache
def _parser() -> MarkdownIt:
    """Blocks only: what stands inside a line is parsed where it is wanted, by `plain`."""
    options = {"maxNesting": _NESTING}
    return MarkdownIt("commonmark", options).enable("table").disable("inline").use(front_matter_plugin)


@cache
def _inline_parser() -> MarkdownIt:
    return MarkdownIt("commonmark")


def split_blocks(source: Source) -> tuple[Block, ...]:
    """The outermost blocks of a document, in order."""
    tokens = _parser().parse("\n".join(source.lines))
    blocks, _ = _collect(tokens, 0, source)
    return blocks


@cache
def _renderer() -> MarkdownIt:
    return MarkdownIt("commonmark", {"html": False}).enable("table")


def html_of(markdown: str) -> str:
    """Markdown as HTML in which nothing of the text's own HTML is alive."""
    return str(_renderer().render(markdown))


def plain(markdown: str) -> str:
    """Inline Markdown as one line of plain text: the marks go, the words and the code stay."""
    return _plain(markdown) if _MARKS.search(markdown) else markdown


@lru_cache(maxsize=4096)
def _plain(markdown: str) -> str:
    words: list[str] = []
    for token in _inline_parser().parseInline(markdown)[0].children or ():
        if token.type in ("softbreak", "hardbreak"):
            words.append(" ")
        elif token.type != "html_inline":
            words.append(token.content)
    return " ".join("".join(words).split())


def _collect(tokens: Sequence[Token], index: int, source: Source) -> tuple[tuple[Block, ...], int]:
    """The blocks from `index` to the end of the enclosing container, and the index after it."""
    blocks: list[Block] = []
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token.nesting < 0:
            break
        if token.type in _LEAVES:
            blocks.append(_leaf(token, source))
        elif token.type == "table_open":
            index = _after(tokens, index, "table_close")
            blocks.append(_block("table", token, source))
        elif token.type in ("heading_open", "paragraph_open"):
            blocks.append(_worded(token, tokens[index], source))
            index += 2
        elif token.type in _CONTAINERS:
            children, index = _collect(tokens, index, source)
            blocks.append(_block(_CONTAINERS[token.type], token, source, children))
    return tuple(blocks), index


def _after(tokens: Sequence[Token], index: int, closing: str) -> int:
    while tokens[index].type != closing:
        index += 1
    return index + 1


def _lines(token: Token, source: Source) -> tuple[int, int]:
    first, end = token.map or (0, 1)
    return first + 1, source.last_filled(first + 1, end)


def _block(kind: BlockKind, token: Token, source: Source, children: tuple[Block, ...] = ()) -> Block:
    first, last = _lines(token, source)
    return Block(kind, first, last, info=token.info, children=children)


def _worded(token: Token, inline: Token, source: Source) -> Block:
    first, last = _lines(token, source)
    level = int(token.tag[1]) if token.type == "heading_open" else 0
    return Block(_CONTAINERS[token.type], first, last, text=inline.content, level=level)


def _leaf(token: Token, source: Source) -> Block:
    kind = _LEAVES[token.type]
    first, last = _lines(token, source)
    if kind == "front_matter":
        return Block(kind, first, last, text=token.content)
    if kind != "fence":
        return Block(kind, first, last, text=token.content.rstrip("\n"))
    end = token.map[1] if token.map else first
    mark = source.line(end).lstrip(" >\t")
    closed = end > first and mark.startswith(token.markup) and not mark.strip(token.markup[0] + " \t")
    language = token.info.split()[0].lower() if token.info.split() else ""
    return Block(kind, first, last, text=token.content.removesuffix("\n"), info=language, closed=closed)
