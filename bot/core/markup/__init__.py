"""Parses Markdown into one tree and renders the tree for each platform. A new platform is one more renderer of `tree`.

`parse` accepts any text and never raises. `to_html` is for the web chat, `to_plain` and `to_ansi` for the console,
`to_summary` for a single line. `escape` returns Markdown that shows text exactly as typed.
"""

from bot.core.markup.html import highlight_css, to_html, to_html_inline
from bot.core.markup.parser import MAX_SOURCE, channel_markdown, escape, instant_markdown, member_markdown, parse
from bot.core.markup.plain import to_ansi, to_plain
from bot.core.markup.summary import to_summary
from bot.core.markup.tree import MarkdownDocument

__all__ = [
    "MAX_SOURCE",
    "MarkdownDocument",
    "channel_markdown",
    "escape",
    "highlight_css",
    "instant_markdown",
    "member_markdown",
    "parse",
    "to_ansi",
    "to_html",
    "to_html_inline",
    "to_plain",
    "to_summary",
]
