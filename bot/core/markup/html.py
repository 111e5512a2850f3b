"""A tree as HTML for the web chat: semantic, escaped, and without a style or a script, so a strict policy holds."""

from collections.abc import Iterable

from markupsafe import Markup, escape

from bot.core.markup.highlight import highlighted
from bot.core.markup.mathml import to_mathml
from bot.core.markup.tree import (
    Block,
    Break,
    Code,
    CodeBlock,
    Document,
    Emphasis,
    Heading,
    Inline,
    Inlines,
    Link,
    List,
    Math,
    Paragraph,
    Quote,
    Rule,
    Strike,
    Strong,
    Table,
    Text,
)

_NOTHING = Markup("")
_LINE = Markup("\n")
_MARKS: dict[type[Inline], str] = {Strong: "strong", Emphasis: "em", Strike: "del"}


def to_html(document: Document, *, top: int = 3) -> Markup:
    """Give a safe fragment. A heading of level 1 becomes `<h{top}>`, as the page has headings of its own."""
    return _LINE.join(_block(block, top) for block in document.blocks)


def to_html_inline(document: Document) -> Markup:
    """Give safe phrasing content for a label, a button or a table cell: no blocks and no links."""
    return Markup(" ").join(_phrase(block) for block in document.blocks)


def _block(block: Block, top: int) -> Markup:
    match block:
        case Paragraph(children):
            return _tag("p", _inlines(children))
        case Heading(level, children):
            return _tag(f"h{min(6, level + top - 1)}", _inlines(children))
        case List():
            return _list(block, top)
        case Quote(blocks):
            return _tag("blockquote", _LINE.join(_block(inner, top) for inner in blocks))
        case CodeBlock():
            return _code(block)
        case Table():
            return _table(block)
        case Rule():
            return Markup("<hr>")


def _tag(name: str, body: Markup, attributes: Markup = _NOTHING) -> Markup:
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), attributes, body)  # noqa: S704 - names are ours


def _list(block: List, top: int) -> Markup:
    name = "ul" if block.start is None else "ol"
    start = _NOTHING if block.start in (None, 1) else Markup(' start="{}"').format(block.start)
    items = (_tag("li", _item(item, block.tight, top)) for item in block.items)
    return _tag(name, _LINE + _LINE.join(items) + _LINE, start)


def _item(blocks: tuple[Block, ...], tight: bool, top: int) -> Markup:
    parts = (
        _inlines(block.children) if tight and isinstance(block, Paragraph) else _block(block, top) for block in blocks
    )
    return _LINE.join(parts)


def _code(block: CodeBlock) -> Markup:
    # Focusable, so that a line wider than the screen can be scrolled to with the keyboard.
    name = f"Code, {block.language}" if block.language else "Code"
    shown = Markup('<pre class="code" tabindex="0" role="group" aria-label="{}"><code>{}\n</code></pre>')
    return shown.format(name, highlighted(block.source, block.language))


def _table(table: Table) -> Markup:
    head = _row("th", Markup(' scope="col"'), table, table.header)
    body = _LINE.join(_row("td", _NOTHING, table, row) for row in table.rows)
    inner = _tag("thead", head) + (_LINE + _tag("tbody", body) if table.rows else _NOTHING)
    scroll = Markup('<div class="table-scroll" tabindex="0" role="group" aria-label="Table">{}</div>')
    return scroll.format(_tag("table", inner))


def _row(name: str, scope: Markup, table: Table, cells: Iterable[Inlines]) -> Markup:
    return _tag(
        "tr",
        _NOTHING.join(
            _tag(name, _inlines(cell), scope + Markup(' class="align-{}"').format(align.value))
            for cell, align in zip(cells, table.aligns, strict=True)
        ),
    )


def _inlines(children: Inlines) -> Markup:
    return _NOTHING.join(_inline(child) for child in children)


def _inline(inline: Inline) -> Markup:
    match inline:
        case Text(text):
            return escape(text)
        case Code(text):
            return _tag("code", escape(text))
        case Math():
            return _math(inline)
        case Break():
            return Markup("<br>")
        case Link(url, children):
            return _tag("a", _inlines(children), Markup(' href="{}" rel="noopener nofollow"').format(url))
        case Strong(children) | Emphasis(children) | Strike(children):
            return _tag(_MARKS[type(inline)], _inlines(children))


def _math(math: Math) -> Markup:
    shown = to_mathml(math.source, display=math.display)
    return _tag("code", escape(math.source), Markup(' class="math-source"')) if shown is None else shown


def _phrase(block: Block) -> Markup:
    match block:
        case Paragraph(children) | Heading(_, children):
            return _inlines(_without_links(children))
        case CodeBlock(source):
            return _tag("code", escape(source))
        case Quote(blocks):
            return to_html_inline(Document(blocks))
        case List(items):
            return Markup(" ").join(to_html_inline(Document(item)) for item in items)
        case Table(header, rows):
            cells = (_inlines(_without_links(cell)) for row in (header, *rows) for cell in row)
            return Markup(" ").join(cells)
        case Rule():
            return _NOTHING


def _without_links(children: Inlines) -> Inlines:
    """Keep what the links say; a link inside a button or a label could not be followed."""
    kept: list[Inline] = []
    for child in children:
        match child:
            case Link(_, inner):
                kept += _without_links(inner)
            case Strong(inner) | Emphasis(inner) | Strike(inner):
                kept.append(type(child)(_without_links(inner)))
            case Break():
                kept.append(Text(" "))
            case Math(source):
                kept.append(Math(source))
            case _:
                kept.append(child)
    return tuple(kept)
