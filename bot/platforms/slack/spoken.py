"""What a member wrote in a Slack message, as they typed it: fences whole, and Slack's own escapes undone."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

_CONTROL = re.compile(r"<([^<>\n]*)>")


def unescaped(text: str) -> str:
    """Slack escapes three characters of what is typed, in this order."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


def spoken_text(message: dict[str, Any], bot_user: str = "") -> str:
    """The words of a message; code stands in Markdown fences, and a mention of the bot is left out."""
    rich = [block for block in message.get("blocks") or () if block.get("type") == "rich_text"]
    if rich:
        return "\n".join(_part(part, bot_user) for block in rich for part in block.get("elements", ())).strip()
    return unescaped(_CONTROL.sub(lambda found: _control(found[1], bot_user), message.get("text") or "")).strip()


def has_code(text: str) -> bool:
    """Whether the words hold a fenced block."""
    return "```" in text


def _part(part: dict[str, Any], bot_user: str) -> str:
    inner = part.get("elements", ())
    match part.get("type"):
        case "rich_text_preformatted":
            return f"```\n{_runs(inner, bot_user, code=True)}\n```"
        case "rich_text_list":
            return "\n".join(f"- {_part(item, bot_user)}" for item in inner)
        case "rich_text_quote":
            return "\n".join(f"> {line}" for line in _runs(inner, bot_user).splitlines())
        case _:
            return _runs(inner, bot_user)


def _runs(runs: Iterable[dict[str, Any]], bot_user: str, *, code: bool = False) -> str:
    return "".join(_run(run, bot_user, code) for run in runs)


def _run(run: dict[str, Any], bot_user: str, code: bool) -> str:
    match run.get("type"):
        case "text":
            text = str(run.get("text", ""))
            return f"`{text}`" if run.get("style", {}).get("code") and not code else text
        case "link":
            # In code a client makes links of what looks like one; what was typed is its text.
            return str(run.get("text") or run.get("url", ""))
        case "emoji":
            # `x[:100:2]` holds one too.
            return f":{run.get('name', '')}:"
        case "user":
            return "" if run.get("user_id") == bot_user else f"@{run.get('user_id', '')}"
        case "broadcast":
            return f"@{run.get('range', '')}"
        case "channel":
            return f"#{run.get('channel_id', '')}"
        case _:
            return ""


def _control(inside: str, bot_user: str) -> str:
    """What stands between Slack's angle brackets: a mention, a channel, a link with or without a label."""
    target, _, label = inside.partition("|")
    if target.startswith("@"):
        return "" if target == f"@{bot_user}" else f"@{label or target[1:]}"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return f"@{label or target[1:]}"
    return label or target
