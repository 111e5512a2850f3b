"""Renders cards as HTML. Pure: the same card always gives the same page. Styles are in static/chat.css."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from jinja2 import Environment, FileSystemLoader, StrictUndefined, select_autoescape
from markupsafe import Markup
from wcwidth import iter_graphemes, wcswidth

from bot.core.cards import Card, Form, TextField
from bot.core.charts import LEVELS, MARK_SIZES, HeatmapChart
from bot.core.markup import highlight_css, parse, to_html, to_html_inline
from bot.core.markup.html import highlighted
from bot.core.rendering import as_typed, line_of, reachable
from bot.core.text.my_page import Cell
from bot.core.text.words import brief_markdown
from bot.web.chat import is_editor
from bot.web.store import Message
from service.wire import PACKED, WEB_BOT_NAME

HERE = Path(__file__).parent


@cache
def environment() -> Environment:
    """Returns the template environment, which escapes everything except Markup."""
    found = Environment(
        loader=FileSystemLoader(HERE / "templates"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    found.filters.update(
        markdown=_markdown,
        kind=_kind,
        highlighted=highlighted,
        inline=_inline,
        brief=_brief,
        lettered_option=_lettered_option,
        announcement=announcement,
        is_editor=is_editor,
        takes_file=_takes_file,
        pairs=_pairs,
        typed=as_typed,
    )
    found.filters.update(reachable=reachable, png_url=_png_url, png_size=_png_size)
    found.tests.update(packed=_is_packed)
    found.filters.update(heat_cells=_heat_cells, cut_cells=_cut_cells)
    found.globals.update(event_id=_event_id, mark_sizes=MARK_SIZES, levels=LEVELS)
    return found


def compile_templates() -> None:
    """Compiles every page, so that its first reader does not wait for it."""
    for name in environment().list_templates(extensions=["html"]):
        environment().get_template(name)


def page(template: str, **values: Any) -> str:
    """Renders a page or a fragment."""
    return environment().get_template(template).render(**values)


def message_html(message: Message, base: str, token: str, editor: int = 0) -> str:
    """Renders a message whose forms post to URLs under `base`.

    `token` is the reader's CSRF token, `editor` the editor's page it is shown on.
    """
    return page("message.html", message=message, base=base, token=token, editor=editor)


def _takes_file(form: Form) -> bool:
    return any(isinstance(field, TextField) and field.upload for field in form.fields)


def _is_packed(part: object) -> bool:
    """Returns whether a field holds an uploaded file that is not text."""
    return isinstance(part, TextField) and part.upload and part.value.startswith(PACKED)


def announcement(content: Card | Form) -> str:
    """Returns a plain sentence that announces a message of the bot to screen readers. What a member wrote is announced
    as it is."""
    summary = content.summary if isinstance(content, Card) else ""
    return f"{WEB_BOT_NAME}: {summary or content.title}"


@cache
def code_colors() -> str:
    """Returns the stylesheet of highlighted code for light and dark themes."""
    dark = highlight_css("dark")
    return f"{highlight_css('light')}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"


def _markdown(text: str) -> Markup:
    return to_html(parse(text))


def _inline(text: str) -> Markup:
    """Renders Markdown inline, for example for a label."""
    return to_html_inline(parse(text))


def _lettered_option(label: str) -> Markup:
    """Renders an option's label, which begins with its letter in bold: the letter in a box, then the text."""
    letter, _, text = label.partition(" ")
    return Markup("<b>{}</b> <span>{}</span>").format(letter.strip("*"), _inline(text))


def _brief(text: str) -> Markup:
    """Renders the beginning of a Markdown text inline, on one line."""
    return _inline(brief_markdown(text, 160))


def _kind(part: object) -> str:
    return type(part).__name__


def _pairs(values: Iterable[str]) -> list[tuple[str, str]]:
    """Returns options whose values are their own labels."""
    return [(value, value) for value in values]


def _heat_cells(chart: HeatmapChart) -> list[Cell]:
    """Returns the cells of a heatmap, without titles."""
    return [
        Cell(week, weekday, level, "")
        for week, found in enumerate(chart.weeks)
        for weekday, level in enumerate(found.days)
    ]


def _cut_cells(text: str, cells: int) -> str:
    """Returns plain text of at most this width: most letters are one cell wide, those of Chinese two."""
    kept, used = "", 0
    for character in iter_graphemes(line_of(text, 200)):
        used += max(0, wcswidth(character))
        if used > cells:
            return f"{kept.rstrip()}…"
        kept += character
    return kept


def _png_url(png: bytes) -> str:
    """Returns a picture as a data URL: pictures are not stored elsewhere."""
    return f"data:image/png;base64,{b64encode(png).decode()}"


def _png_size(png: bytes) -> tuple[int, int]:
    """Returns a picture's size on the page; pictures have two pixels per CSS pixel."""
    width, height = (int.from_bytes(png[at : at + 4]) for at in (16, 20))
    return -(-width // 2), -(-height // 2)


def _event_id() -> str:
    return uuid4().hex
