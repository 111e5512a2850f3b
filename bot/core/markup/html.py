"""Renders a tree as semantic, escaped HTML without inline styles or scripts, so that a strict CSP applies."""

import re
from collections.abc import Iterable
from datetime import UTC, datetime
from functools import cache
from typing import Literal

from markupsafe import Markup, escape
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexer import Lexer
from pygments.lexers import get_lexer_by_name
from pygments.token import STANDARD_TYPES, Comment, Keyword, Name, Number, Operator, String, _TokenType

from bot.core.markup import tree
from bot.core.markup.math import to_mathml

# Highlighted code and its stylesheet. Pygments finds the tokens; the colors are our own.

Theme = Literal["light", "dark"]

# Anyone can name a language, so only these lexers are loaded.
_LANGUAGES = {
    **dict.fromkeys(("python", "py", "python3", "py3", "ipython", "pytorch"), "python"),
    **dict.fromkeys(("pycon", "doctest"), "pycon"),
    **dict.fromkeys(("bash", "sh", "shell", "zsh"), "bash"),
    **dict.fromkeys(("c", "cpp", "c++", "cuda", "cu"), "cpp"),
    **{name: name for name in ("console", "diff", "docker", "ini", "json", "pytb", "rust", "sql", "toml", "yaml")},
}
_MAX_SOURCE = 20_000
"""Longest program that is highlighted, characters."""

# Style and color of each kind of token on light and dark backgrounds, with a contrast of at least 4.5:1.
#
# Later rows override earlier ones for the kinds they contain.
_ROLES: tuple[tuple[_TokenType, str, str, str], ...] = (
    (Comment, "font-style: italic", "#57606a", "#9aa4b2"),
    (Keyword, "font-weight: 600", "#8a2252", "#ff9bce"),
    (Operator.Word, "font-weight: 600", "#8a2252", "#ff9bce"),
    (String, "", "#0a5c36", "#8fdca8"),
    (Number, "", "#9a3b00", "#ffbd80"),
    (Name.Function, "", "#0b4f9e", "#8ec5ff"),
    (Name.Class, "font-weight: 600", "#0b4f9e", "#8ec5ff"),
    (Name.Decorator, "", "#5b3aa6", "#cdb4ff"),
    (Name.Builtin, "", "#5b3aa6", "#cdb4ff"),
    (Name.Exception, "", "#5b3aa6", "#cdb4ff"),
    (Keyword.Constant, "font-weight: 600", "#9a3b00", "#ffbd80"),
)
_GROUND = {"light": ("#f6f8fa", "#1f2328"), "dark": ("#161b22", "#e6edf3")}


@cache
def _lexer(name: str) -> Lexer:
    return get_lexer_by_name(name, stripnl=False, ensurenl=False)


def highlighted(source: str, language: str) -> Markup:
    """Returns code as escaped HTML with a class per token; unhighlighted if the language is unknown."""
    name = _LANGUAGES.get(language)
    if name is None or len(source) > _MAX_SOURCE:
        return escape(source)
    # Some lexers drop a last line without a line feed, so it gets one that is taken away again.
    ended = source.endswith("\n")
    html = highlight(source if ended else source + "\n", _lexer(name), HtmlFormatter(nowrap=True))
    return Markup(html if ended else html.removesuffix("\n"))  # noqa: S704 - the formatter escapes what it is given


def highlight_css(theme: Theme, scope: str = ".code") -> str:
    """Returns the rules for one theme; each selector starts with `scope` (default: the class of code blocks in
    `to_html`)."""
    ground, ink = _GROUND[theme]
    rules = [f"{scope} {{ background: {ground}; color: {ink}; }}"]
    for kind, weight, light, dark in _ROLES:
        selector = ", ".join(f"{scope} .{name}" for name in _classes(kind))
        look = f"color: {light if theme == 'light' else dark};" + (f" {weight};" if weight else "")
        rules.append(f"{selector} {{ {look} }}")
    return "\n".join(rules) + "\n"


def _classes(kind: _TokenType) -> list[str]:
    return [name for token, name in STANDARD_TYPES.items() if token[: len(kind)] == kind]


_RIGHT_TO_LEFT = re.compile("[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]")
"""A letter of a script that is written from right to left, such as Hebrew and Arabic."""
_NOTHING = Markup("")
_LINE = Markup("\n")
_MARKS: dict[type[tree.Inline], str] = {tree.Strong: "strong", tree.Emphasis: "em", tree.Strike: "del"}


def to_html(document: tree.MarkdownDocument, *, top: int = 3) -> Markup:
    """Returns a safe fragment. A heading of level 1 becomes `<h{top}>`, because the page has headings too."""
    return _LINE.join(_block(block, top) for block in document.blocks)


def to_html_inline(document: tree.MarkdownDocument) -> Markup:
    """Returns safe phrasing content for labels, buttons and table cells: no blocks and no links."""
    text = Markup(" ").join(_phrase(block) for block in document.blocks)
    return _tag("bdi", text) if _RIGHT_TO_LEFT.search(text) else text


def _block(block: tree.Block, top: int) -> Markup:
    match block:
        case tree.Paragraph(children):
            return _directed("p", _inlines(children))
        case tree.Heading(level, children):
            return _directed(f"h{min(6, level + top - 1)}", _inlines(children))
        case tree.List():
            return _list(block, top)
        case tree.Quote(blocks):
            return _tag("blockquote", _LINE.join(_block(inner, top) for inner in blocks))
        case tree.CodeBlockNode():
            return _code(block)
        case tree.TableNode():
            return _table(block)
        case tree.Rule():
            return Markup("<hr>")


def _tag(name: str, body: Markup, attributes: Markup = _NOTHING) -> Markup:
    return Markup("<{0}{1}>{2}</{0}>").format(Markup(name), attributes, body)  # noqa: S704 - names are ours


def _directed(name: str, body: Markup, attributes: Markup = _NOTHING) -> Markup:
    """Returns an element. If its text has letters written from right to left, its direction follows the text."""
    return _tag(name, body, attributes + (Markup(' dir="auto"') if _RIGHT_TO_LEFT.search(body) else _NOTHING))


def _list(block: tree.List, top: int) -> Markup:
    name = "ul" if block.start is None else "ol"
    start = _NOTHING if block.start in (None, 1) else Markup(' start="{}"').format(block.start)
    items = (_directed("li", _item(item, block.tight, top)) for item in block.items)
    return _tag(name, _LINE + _LINE.join(items) + _LINE, start)


def _item(blocks: tuple[tree.Block, ...], tight: bool, top: int) -> Markup:
    parts = (
        _inlines(block.children) if tight and isinstance(block, tree.Paragraph) else _block(block, top)
        for block in blocks
    )
    return _LINE.join(parts)


def _code(block: tree.CodeBlockNode) -> Markup:
    # Focusable, so that wide code can be scrolled with the keyboard.
    name = f"Code, {block.language}" if block.language else "Code"
    shown = Markup('<pre class="code" tabindex="0" role="group" aria-label="{}"><code>{}\n</code></pre>')
    return shown.format(name, highlighted(block.source, block.language))


def _table(table: tree.TableNode) -> Markup:
    head = _row("th", Markup(' scope="col"'), table, table.header)
    body = _LINE.join(_row("td", _NOTHING, table, row) for row in table.rows)
    inner = _tag("thead", head) + (_LINE + _tag("tbody", body) if table.rows else _NOTHING)
    scroll = Markup('<div class="table-scroll" tabindex="0" role="group" aria-label="Table">{}</div>')
    return scroll.format(_tag("table", inner))


def _row(name: str, scope: Markup, table: tree.TableNode, cells: Iterable[tree.Inlines]) -> Markup:
    return _tag(
        "tr",
        _NOTHING.join(
            _directed(name, _inlines(cell), scope + Markup(' class="align-{}"').format(align.value))
            for cell, align in zip(cells, table.aligns, strict=True)
        ),
    )


def _inlines(children: tree.Inlines) -> Markup:
    return _NOTHING.join(_inline(child) for child in children)


def _inline(inline: tree.Inline) -> Markup:
    match inline:
        case tree.TextNode(text):
            return escape(text)
        case tree.CodeSpan(text):
            return _tag("code", escape(text))
        case tree.Math():
            return _math(inline)
        case tree.Break():
            return Markup("<br>")
        case tree.Mention(text=text):
            return escape(text)
        case tree.Instant():
            return _tag("time", escape(inline.text), _attributes_of(inline))
        case tree.LinkNode(url, children):
            return _tag("a", _inlines(children), Markup(' href="{}" rel="noopener nofollow"').format(url))
        case tree.Strong(children) | tree.Emphasis(children) | tree.Strike(children):
            return _tag(_MARKS[type(inline)], _inlines(children))


def _attributes_of(instant: tree.Instant) -> Markup:
    """Returns what a script needs to show an instant in the reader's time zone."""
    machine = datetime.fromtimestamp(instant.seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    form = "dated" if instant.dated else "precise" if instant.precise else "time"
    return Markup(' datetime="{}" data-local="{}"').format(machine, form)


def _math(math: tree.Math) -> Markup:
    shown = to_mathml(math.source, display=math.display)
    return _tag("code", escape(math.source), Markup(' class="math-source"')) if shown is None else shown


def _phrase(block: tree.Block) -> Markup:
    match block:
        case tree.Paragraph(children) | tree.Heading(_, children):
            return _inlines(_without_links(children))
        case tree.CodeBlockNode(source):
            return _tag("code", escape(source))
        case tree.Quote(blocks):
            return to_html_inline(tree.MarkdownDocument(blocks))
        case tree.List(items):
            return Markup(" ").join(to_html_inline(tree.MarkdownDocument(item)) for item in items)
        case tree.TableNode(header, rows):
            cells = (_inlines(_without_links(cell)) for row in (header, *rows) for cell in row)
            return Markup(" ").join(cells)
        case tree.Rule():
            return _NOTHING


def _without_links(children: tree.Inlines) -> tree.Inlines:
    """Replaces links by their text: a link inside a button or a label cannot be followed."""
    kept: list[tree.Inline] = []
    for child in children:
        match child:
            case tree.LinkNode(_, inner):
                kept += _without_links(inner)
            case tree.Strong(inner) | tree.Emphasis(inner) | tree.Strike(inner):
                kept.append(type(child)(_without_links(inner)))
            case tree.Break():
                kept.append(tree.TextNode(" "))
            case tree.Math(source):
                kept.append(tree.Math(source))
            case _:
                kept.append(child)
    return tuple(kept)
