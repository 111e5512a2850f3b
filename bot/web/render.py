"""A card as HTML. Pure: the same card gives the same page. Looks are in static/chat.css, words in the card."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from bot.core.cards import Card
from bot.core.markup import highlight_css, parse, to_html, to_html_inline
from bot.core.markup.html import highlighted
from bot.core.rendering import reachable
from bot.web.chat import is_editor
from bot.web.store import BOT_NAME, Message

HERE = Path(__file__).parent


@cache
def environment() -> Environment:
    """The templates, with everything escaped that is not Markup."""
    found = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(
        markdown=_markdown, kind=_kind, highlighted=highlighted, inline=_inline, in_short=in_short, is_editor=is_editor
    )
    found.filters.update(reachable=reachable, png_url=_png_url, png_size=_png_size)
    found.globals.update(event_id=_event_id)
    return found


def page(template: str, **values: Any) -> str:
    """A whole page or a fragment."""
    return environment().get_template(template).render(**values)


def message_html(message: Message, base: str, token: str, editor: int = 0) -> str:
    """One message as its reader sees it, posting to the address `base`. `token` is the reader's CSRF token, `editor`
    the one it is shown beneath."""
    return page("message.html", message=message, base=base, token=token, editor=editor)


def in_short(message: Message) -> str:
    """The plain sentence that announces a message to those who do not see it come."""
    said = message.said
    if isinstance(said, str):
        return f"{message.author}: {said}"
    return f"{BOT_NAME}: {said.summary or said.title}" if isinstance(said, Card) else f"{BOT_NAME}: {said.title}"


@cache
def code_colours() -> str:
    """The stylesheet of highlighted code, for light and for dark."""
    dark = highlight_css("dark")
    return f"{highlight_css('light')}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _markdown(text: str) -> Markup:
    return to_html(parse(text))


def _inline(text: str) -> Markup:
    """Markdown for a place that takes no paragraph, such as a label."""
    return to_html_inline(parse(text))


def _kind(part: object) -> str:
    return type(part).__name__


def _png_url(png: bytes) -> str:
    """The picture as an address: it comes with its page, for there is no other place that keeps it."""
    return f"data:image/png;base64,{b64encode(png).decode()}"


def _png_size(png: bytes) -> tuple[int, int]:
    """Width and height on the page. Our pictures have two pixels for one of the page's."""
    width, height = (int.from_bytes(png[at : at + 4]) for at in (16, 20))
    return -(-width // 2), -(-height // 2)


def _event_id() -> str:
    return uuid4().hex
