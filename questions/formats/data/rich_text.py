"""Joins texts that data has in parts, each with its kind: `[{type: "text", value: …}, {type: "code", value: …}]`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from questions.formats.data.field_names import spelled

if TYPE_CHECKING:
    from collections.abc import Sequence

_TEXTS = ("value", "text", "content", "code")
"""Names of the field with the text of a part."""
_NO_SPACE = ",.;:?!)"
"""Signs that stand right behind the text before them."""


def joined_parts(value: Any) -> str | None:
    """Returns a text whose parts are mappings of a kind and a text; None for any other value."""
    if not isinstance(value, list) or not value or not all(isinstance(one, dict) for one in value):
        return None
    parts: list[tuple[str, str]] = []
    for one in value:
        named = {spelled(name): text for name, text in one.items()}
        texts = [named[name] for name in _TEXTS if isinstance(named.get(name), str)]
        if not isinstance(named.get("type"), str) or len(texts) != 1:
            return None
        parts.append((named["type"], texts[0]))
    return joined(parts)


def joined(parts: Sequence[tuple[str, str]]) -> str:
    """Returns one text of parts with their kinds, such as `TEXT`, `INLINE_CODE` and `code`."""
    blocks = [""]
    for kind, text in parts:
        shown = _shown(spelled(kind), text)
        if not text.strip():
            # A break ends a paragraph.
            blocks += [""] * ("\n" in text)
        elif shown.startswith("```"):
            blocks += [shown, ""]
        else:
            space = "" if shown.lstrip()[:1] in _NO_SPACE else " "
            blocks[-1] = f"{blocks[-1].rstrip()}{space}{shown.lstrip()}"
    return "\n\n".join(text.strip() for text in blocks if text.strip())


def _shown(kind: str, text: str) -> str:
    if "code" not in kind and "snippet" not in kind:
        return text
    if "inline" in kind or ("\n" not in text and "block" not in kind and len(text) <= _SHORT):
        return f"`{text.strip()}`" if "`" not in text else text
    return f"```\n{text.strip(chr(10))}\n```"


_SHORT = 40
"""Maximum length of a program that stands in the line of the text before it, characters."""
