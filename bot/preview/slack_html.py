"""Slack's blocks as HTML that resembles them, drawn from the blocks alone: what is wrong in them is seen here."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from markupsafe import Markup

from bot.core.markup.highlight import highlighted
from bot.platforms.slack.render import pictured
from bot.preview.discord_html import picture_html

_TAGS = {"bold": "b", "italic": "i", "strike": "s", "code": "code"}
_TYPES = {"radio_buttons": "radio", "checkboxes": "checkbox", "static_select": "radio"}


def message_html(body: dict[str, Any], pngs: Sequence[bytes] = ()) -> Markup:
    """One message; `pngs` are all the pictures of its card."""
    shown = iter([pngs[number] for number in pictured(body)])
    return _join(
        picture_html(next(shown), block["alt_text"]) if block["type"] == "image" else _block(block)
        for block in body["blocks"]
    )


def view_html(body: dict[str, Any], name: str) -> Markup:
    """A view; `name` keeps its inputs apart from another's."""
    inner = _join(_block(block, name) for block in body["blocks"])
    submit = Markup(
        '<p class="sl-row"><button type="button">{}</button><button type="button" class="primary">{}</button></p>'
    )
    ends = submit.format(body["close"]["text"], body["submit"]["text"])
    title = body["title"]["text"]
    return Markup('<div class="sl-view"><p class="sl-view-title">{}</p>{}{}</div>').format(title, inner, ends)


def _join(parts: Iterable[Markup], between: str = "\n") -> Markup:
    return Markup(between).join(parts)  # noqa: S704 - ours, never a text's


def _block(block: dict[str, Any], name: str = "") -> Markup:
    match block["type"]:
        case "header":
            return Markup('<p class="sl-header">{}</p>').format(block["text"]["text"])
        case "context":
            return _join(Markup('<p class="sl-context">{}</p>').format(one["text"]) for one in block["elements"])
        case "rich_text":
            return Markup('<div class="sl-rich">{}</div>').format(_join(map(_element, block["elements"]), ""))
        case "table":
            aligns = [column["align"] for column in block["column_settings"]]
            rows = _join(_row(row, aligns) for row in block["rows"])
            return Markup('<table class="sl-table">{}</table>').format(rows)
        case "actions":
            return Markup('<p class="sl-row">{}</p>').format(_join(map(_button, block["elements"])))
        case _:
            return _input(block, f"{name}-{block['block_id']}")


def _element(element: dict[str, Any]) -> Markup:
    match element["type"]:
        case "rich_text_preformatted":
            source = "".join(run["text"] for run in element["elements"])
            code = highlighted(source, element.get("language", ""))
            return Markup('<pre class="code"><code>{}</code></pre>').format(code)
        case "rich_text_list":
            tag = Markup("ol") if element["style"] == "ordered" else Markup("ul")
            items = _join(Markup("<li>{}</li>").format(_runs(item)) for item in element["elements"])
            return Markup('<{0} class="sl-indent-{1}">{2}</{0}>').format(tag, element["indent"], items)
        case "rich_text_quote":
            return Markup('<blockquote class="sl-section">{}</blockquote>').format(_runs(element))
        case _:
            return Markup('<div class="sl-section">{}</div>').format(_runs(element))


def _runs(element: dict[str, Any]) -> Markup:
    return _join(map(_run, element["elements"]), "")


def _run(run: dict[str, Any]) -> Markup:
    shown = Markup("{}").format(run.get("text", run.get("url", "")))
    for name, tag in _TAGS.items():
        if run.get("style", {}).get(name):
            shown = Markup("<{0}>{1}</{0}>").format(Markup(tag), shown)  # noqa: S704 - tags are ours
    return Markup('<a href="{}">{}</a>').format(run["url"], shown) if run["type"] == "link" else shown


def _row(cells: list[dict[str, Any]], aligns: list[str]) -> Markup:
    cell = Markup('<td class="sl-{}">{}</td>')
    return Markup("<tr>{}</tr>").format(
        _join(cell.format(align, one["text"]) for one, align in zip(cells, aligns, strict=True))
    )


def _button(button: dict[str, Any]) -> Markup:
    label = button["text"]["text"]
    shown = f"{label} ↗" if "url" in button else label
    return Markup('<button type="button" class="{}">{}</button>').format(button.get("style", "plain"), shown)


def _input(block: dict[str, Any], id: str) -> Markup:
    element, label = block["element"], block["label"]["text"]
    hint = Markup('<span class="sl-hint">{}</span>').format(block["hint"]["text"]) if "hint" in block else ""
    if "options" in element:
        rows = _join(_option(option, element, id) for option in element["options"])
        return Markup('<fieldset class="sl-input"><legend>{}</legend>{}{}</fieldset>').format(label, rows, hint)
    value = element.get("initial_value", "")
    if element["multiline"]:
        typed = Markup('<textarea id="{}" readonly rows="6">\n{}</textarea>').format(id, value)
    else:
        typed = Markup('<input id="{}" readonly value="{}">').format(id, value)
    return Markup('<div class="sl-input"><label for="{}">{}</label>{}{}</div>').format(id, label, typed, hint)


def _option(option: dict[str, Any], element: dict[str, Any], name: str) -> Markup:
    picked = option in element.get("initial_options", [element.get("initial_option")])
    row = Markup('<label class="sl-option"><input type="{}" name="{}"{}> {}</label>')
    kind = _TYPES.get(element["type"], "checkbox")
    return row.format(kind, name, Markup(" checked") if picked else "", option["text"]["text"])
