"""Discord's bodies as HTML that resembles them, drawn from the bodies alone: what is wrong in them is seen here."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import groupby
from types import MappingProxyType
from typing import Any

from markdown_it import MarkdownIt
from markupsafe import Markup, escape

from bot.core.markup.highlight import highlighted

_BUTTONS = {1: "primary", 2: "plain", 3: "pressed", 4: "danger", 5: "plain"}
_SMALL = "-# "


def message_html(body: dict[str, Any], pngs: Sequence[bytes] = ()) -> Markup:
    """One message; `pngs` are all the pictures of its card."""
    shown = {one["filename"]: pngs[int(one["id"])] for one in body.get("attachments", ())}
    return _join(_component(component, pngs=shown) for component in body["components"])


def modal_html(body: dict[str, Any], name: str) -> Markup:
    """A modal; `name` keeps its inputs apart from another's."""
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
    """A picture that comes with the page."""
    source = f"data:image/png;base64,{b64encode(png).decode()}"
    return Markup('<img class="picture" src="{}" alt="{}">').format(source, alt)


def _button(button: dict[str, Any]) -> Markup:
    kind = _BUTTONS[button["style"]]
    label = f"{button['label']} ↗" if "url" in button else button["label"]
    return Markup('<button type="button" class="{}">{}</button>').format(kind, label)


def _label(label: dict[str, Any], name: str) -> Markup:
    inner = label["component"]
    id = f"{name}-{inner['custom_id']}"
    hint = Markup('<span class="dc-hint">{}</span>').format(label["description"]) if "description" in label else ""
    if "options" in inner:
        rows = _join(_option(option, inner["type"] == 22, id) for option in inner["options"])
        return Markup('<fieldset class="dc-label"><legend>{}</legend>{}{}</fieldset>').format(
            label["label"], hint, rows
        )
    if inner["type"] == 19:
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
    """Discord's Markdown as HTML; small lines are its own."""
    parts = []
    for small, lines in groupby(content.split("\n"), key=lambda line: line.startswith(_SMALL)):
        if small:
            parts += [f'<p class="dc-small">{_parser().renderInline(line.removeprefix(_SMALL))}</p>' for line in lines]
        else:
            parts.append(_parser().render("\n".join(lines)))
    return Markup("".join(parts))  # noqa: S704 - the parser escapes, and makes no tags of the text's own


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
