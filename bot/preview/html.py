"""Renders the request bodies for Discord and Slack as HTML that resembles the chats, to make errors in them visible."""

from __future__ import annotations

import re
from base64 import b64encode
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from itertools import groupby
from types import MappingProxyType
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from bot.core.markup.html import highlighted
from bot.slack.render import picture_numbers

_BUTTONS = {1: "primary", 2: "plain", 3: "pressed", 4: "danger", 5: "plain"}
_SMALL = "-# "


def discord_message_html(body: dict[str, Any], pngs: Sequence[bytes] = ()) -> Markup:
    """Returns one message. `pngs` are all pictures of its card."""
    shown = {one["filename"]: pngs[int(one["id"])] for one in body.get("attachments", ())}
    return _join(_component(component, pngs=shown) for component in body["components"])


def modal_html(body: dict[str, Any], name: str) -> Markup:
    """Returns a modal. `name` distinguishes its inputs from those of other forms."""
    inner = _join(_component(component, name) for component in body["components"])
    submit = Markup('<p class="dc-row"><button type="button" class="primary">Submit</button></p>')
    return Markup('<div class="dc-modal"><p class="dc-modal-title">{}</p>{}{}</div>').format(
        body["title"], inner, submit
    )


def _join(parts: Any) -> Markup:
    return Markup("\n").join(parts)


def _component(component: dict[str, Any], name: str = "", pngs: Mapping[str, bytes] = MappingProxyType({})) -> Markup:
    match component["type"]:
        case 17:
            inner = _join(_component(child, pngs=pngs) for child in component["components"])
            return Markup('<div class="dc-container">{}</div>').format(inner)
        case 10:
            return Markup('<div class="dc-text">{}</div>').format(_text(component["content"]))
        case 1:
            return Markup('<p class="dc-row">{}</p>').format(_join(map(_button, component["components"])))
        case 12:
            return _join(_picture(item, pngs) for item in component["items"])
        case 18:
            return _label(component, name)
    raise ValueError(f"no picture of a component of type {component['type']}")


def _picture(item: dict[str, Any], pngs: Mapping[str, bytes]) -> Markup:
    png = pngs[item["media"]["url"].removeprefix("attachment://")]
    return picture_html(png, item["description"])


def picture_html(png: bytes, alt: str) -> Markup:
    """Returns an embedded picture."""
    source = f"data:image/png;base64,{b64encode(png).decode()}"
    return Markup('<img class="picture" src="{}" alt="{}">').format(source, alt)


def _button(button: dict[str, Any]) -> Markup:
    kind = _BUTTONS[button["style"]]
    label = f"{button['label']} ↗" if "url" in button else button["label"]
    return Markup('<button type="button" class="{}">{}</button>').format(kind, label)


_MENUS = {5: "Choose a member", 6: "Choose a role", 8: "Choose a channel"}
"""Menus of what Discord knows, by type of component."""


def _label(label: dict[str, Any], name: str) -> Markup:
    inner = label["component"]
    id = f"{name}-{inner['custom_id']}"
    hint = Markup('<span class="dc-hint">{}</span>').format(label["description"]) if "description" in label else ""
    if "options" in inner:
        rows = _join(_option(option, inner["type"] == 22, id) for option in inner["options"])
        return Markup('<fieldset class="dc-label"><legend>{}</legend>{}{}</fieldset>').format(
            label["label"], hint, rows
        )
    if inner["type"] in _MENUS:
        typed = Markup('<select id="{}" disabled><option>{}</option></select>').format(id, _MENUS[inner["type"]])
    elif inner["type"] == 19:
        typed = Markup('<input id="{}" type="file" disabled>').format(id)
    elif inner["style"] == 1:
        typed = Markup('<input id="{}" readonly value="{}">').format(id, inner.get("value", ""))
    else:
        typed = Markup('<textarea id="{}" readonly rows="6">\n{}</textarea>').format(id, inner.get("value", ""))
    return Markup('<div class="dc-label"><label for="{}">{}</label>{}{}</div>').format(id, label["label"], hint, typed)


def _option(option: dict[str, Any], several: bool, name: str) -> Markup:
    checked = Markup(" checked") if option.get("default") else ""
    row = Markup('<label class="dc-option"><input type="{}" name="{}"{}> {}</label>')
    return row.format("checkbox" if several else "radio", name, checked, option["label"])


def _text(content: str) -> Markup:
    """Converts Discord's Markdown to HTML. Small print becomes an element of its own."""
    parts = []
    for small, lines in groupby(content.split("\n"), key=lambda line: line.startswith(_SMALL)):
        if small:
            parts += [f'<p class="dc-small">{_parser().renderInline(line.removeprefix(_SMALL))}</p>' for line in lines]
        else:
            parts.append(_parser().render("\n".join(lines)))
    return Markup(_TIMESTAMP.sub(_time, "".join(parts)))  # noqa: S704 - the parser escapes, and makes no tags of the text's own


_TIMESTAMP = re.compile(r"&lt;t:(\d{1,11}):([tTFR])&gt;")


def _time(found: re.Match[str]) -> str:
    """Returns a timestamp in UTC; Discord shows it in the reader's time zone."""
    at = datetime.fromtimestamp(int(found[1]), UTC)
    shown = {"t": f"{at:%H:%M}", "T": f"{at:%H:%M:%S}", "F": f"{at:%A, %d %B %Y %H:%M}", "R": "time left"}[found[2]]
    return f'<span class="dc-time">{shown}</span>'


@cache
def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": False, "breaks": True, "highlight": _fence})
    return parser.enable("strikethrough").disable(["image", "html_inline", "html_block", "lheading", "hr", "code"])


def _fence(source: str, language: str, _: str) -> str:
    return str(
        Markup('<pre class="code"><code>{}</code></pre>').format(
            highlighted(source.rstrip("\n"), str(escape(language)))
        )
    )


# Slack

_TAGS = {"bold": "b", "italic": "i", "strike": "s", "code": "code"}
_TYPES = {"radio_buttons": "radio", "checkboxes": "checkbox", "static_select": "radio"}


def slack_message_html(body: dict[str, Any], pngs: Sequence[bytes] = ()) -> Markup:
    """Returns one message. `pngs` are all pictures of its card."""
    shown = iter([pngs[number] for number in picture_numbers(body)])
    return _join_slack(
        picture_html(next(shown), block["alt_text"]) if block["type"] == "image" else _block(block)
        for block in body["blocks"]
    )


def view_html(body: dict[str, Any], name: str) -> Markup:
    """Returns a view. `name` distinguishes its inputs from those of other forms."""
    inner = _join_slack(_block(block, name) for block in body["blocks"])
    submit = Markup(
        '<p class="sl-row"><button type="button">{}</button><button type="button" class="primary">{}</button></p>'
    )
    ends = submit.format(body["close"]["text"], body["submit"]["text"])
    title = body["title"]["text"]
    return Markup('<div class="sl-view"><p class="sl-view-title">{}</p>{}{}</div>').format(title, inner, ends)


def _join_slack(parts: Iterable[Markup], between: str = "\n") -> Markup:
    return Markup(between).join(parts)  # noqa: S704 - ours, never a text's


def _block(block: dict[str, Any], name: str = "") -> Markup:
    match block["type"]:
        case "header":
            return Markup('<p class="sl-header">{}</p>').format(block["text"]["text"])
        case "context":
            return _join_slack(Markup('<p class="sl-context">{}</p>').format(one["text"]) for one in block["elements"])
        case "rich_text":
            return Markup('<div class="sl-rich">{}</div>').format(_join_slack(map(_element, block["elements"]), ""))
        case "table":
            aligns = [column["align"] for column in block["column_settings"]]
            rows = _join_slack(_row(row, aligns) for row in block["rows"])
            return Markup('<table class="sl-table">{}</table>').format(rows)
        case "actions":
            return Markup('<p class="sl-row">{}</p>').format(_join_slack(map(_slack_button, block["elements"])))
        case "data_visualization":
            return Markup('<p class="sl-context">[Chart: {}]</p>').format(block["title"])
        case "context_actions":
            sides = (part[side] for part in block["elements"] for side in ("positive_button", "negative_button"))
            return Markup('<p class="sl-row">{}</p>').format(_join_slack(map(_slack_button, sides)))
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
            items = _join_slack(Markup("<li>{}</li>").format(_runs(item)) for item in element["elements"])
            return Markup('<{0} class="sl-indent-{1}">{2}</{0}>').format(tag, element["indent"], items)
        case "rich_text_quote":
            return Markup('<blockquote class="sl-section">{}</blockquote>').format(_runs(element))
        case _:
            return Markup('<div class="sl-section">{}</div>').format(_runs(element))


def _runs(element: dict[str, Any]) -> Markup:
    return _join_slack(map(_run, element["elements"]), "")


def _run(run: dict[str, Any]) -> Markup:
    shown = Markup("{}").format(run.get("text", run.get("fallback", run.get("url", ""))))
    for name, tag in _TAGS.items():
        if run.get("style", {}).get(name):
            shown = Markup("<{0}>{1}</{0}>").format(Markup(tag), shown)  # noqa: S704 - tags are ours
    return Markup('<a href="{}">{}</a>').format(run["url"], shown) if run["type"] == "link" else shown


def _row(cells: list[dict[str, Any]], aligns: list[str]) -> Markup:
    cell = Markup('<td class="sl-{}">{}</td>')
    return Markup("<tr>{}</tr>").format(
        _join_slack(cell.format(align, one["text"]) for one, align in zip(cells, aligns, strict=True))
    )


def _slack_button(button: dict[str, Any]) -> Markup:
    label = button["text"]["text"]
    shown = f"{label} ↗" if "url" in button else label
    return Markup('<button type="button" class="{}">{}</button>').format(button.get("style", "plain"), shown)


def _input(block: dict[str, Any], id: str) -> Markup:
    element, label = block["element"], block["label"]["text"]
    hint = Markup('<span class="sl-hint">{}</span>').format(block["hint"]["text"]) if "hint" in block else ""
    if "options" in element:
        rows = _join_slack(_slack_option(option, element, id) for option in element["options"])
        return Markup('<fieldset class="sl-input"><legend>{}</legend>{}{}</fieldset>').format(label, rows, hint)
    value = element.get("initial_value", "")
    if element["type"] == "file_input":
        typed = Markup('<input id="{}" type="file" disabled>').format(id)
    elif element.get("multiline"):
        typed = Markup('<textarea id="{}" readonly rows="6">\n{}</textarea>').format(id, value)
    else:
        typed = Markup('<input id="{}" readonly value="{}">').format(id, value)
    return Markup('<div class="sl-input"><label for="{}">{}</label>{}{}</div>').format(id, label, typed, hint)


def _slack_option(option: dict[str, Any], element: dict[str, Any], name: str) -> Markup:
    picked = option in element.get("initial_options", [element.get("initial_option")])
    row = Markup('<label class="sl-option"><input type="{}" name="{}"{}> {}</label>')
    kind = _TYPES.get(element["type"], "checkbox")
    return row.format(kind, name, Markup(" checked") if picked else "", option["text"]["text"])
