"""Parses Slack's payloads as quiz events. Pure, so that it cannot delay an acknowledgement."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from typing import Any

from slack_bolt.async_app import AsyncBoltContext, AsyncBoltRequest

from bot.core.events import Added, Command, Press, Sent, Submit, Visited
from bot.slack.manifest import ANSWER_WITH_THIS
from bot.slack.render import LINK
from bot.slack.route import FileRef, IncomingEvent, Route, read_metadata, write_files
from bot.slack.views import SUBMIT
from service.wire import Where, Who

Payload = dict[str, Any]
_NAME_LENGTH = 80
"""Longest name of a member, characters."""
_MAX_EVENT_AGE = timedelta(hours=1)
"""Largest plausible age of an event; Slack retries a delivery for some minutes."""
_MESSAGE_SUBTYPES = (None, "file_share", "thread_broadcast")
_CONTROL = re.compile(r"<([^<>\n]*)>")


def parse_payload(request: AsyncBoltRequest, now: datetime) -> IncomingEvent | None:
    """Returns the event in a payload with the way to answer it; None where there is nothing to answer.

    The sender is known by id and by the name the payload gives. It does not say whether they are an admin.
    """
    body = request.body
    if "command" in body:
        return _slash_command(request, now)
    match body.get("type"):
        case "block_actions":
            return _block_actions(request, now)
        case "message_action":
            return _shortcut(request, now)
        case "view_submission":
            return _view_submission(request, now)
        case "event_callback":
            return _event_callback(request, now)
        case _:
            return None


def removal_time(body: Payload, now: datetime) -> datetime | None:
    """Returns when the app was removed or its token revoked; None if the payload says something else.

    Slack may say so hours late.
    """
    event = body.get("event") or {}
    tokens = event.get("tokens") or {}
    if event.get("type") != "app_uninstalled" and not (event.get("type") == "tokens_revoked" and tokens.get("bot")):
        return None
    try:
        # Slack leaves out the fraction of the second.
        return min(now, datetime.fromtimestamp(float(str(body.get("event_time"))) + 1, UTC))
    except (ValueError, OverflowError, OSError):
        return now


def opened_channel(body: Payload) -> str:
    """Returns the channel in which the bot may post now: it was added there, or the channel was unarchived.

    Empty for any other payload.
    """
    event = body.get("event") or {}
    joined = event.get("type") == "member_joined_channel" and event.get("user") == _bot_user(body)
    unarchived = event.get("type") in ("channel_unarchive", "group_unarchive")
    return str(event["channel"]) if joined or unarchived else ""


def renamed_channel(body: Payload) -> tuple[str, str]:
    """Returns the id and the new name of a channel that the payload says was renamed; empty for any other payload."""
    event = body.get("event") or {}
    channel = event.get("channel")
    if event.get("type") not in ("channel_rename", "group_rename") or not isinstance(channel, dict):
        return "", ""
    return str(channel["id"]), f"#{channel['name']}"


def changed_member(body: Payload) -> Payload | None:
    """Returns what the payload says of a member who changed or joined; None for any other payload."""
    event = body.get("event") or {}
    user = event.get("user")
    return user if event.get("type") in ("user_change", "team_join") and isinstance(user, dict) else None


def installed_in(context: AsyncBoltContext, body: Payload) -> tuple[str, str]:
    """Returns the workspace the app is installed in, and its enterprise; a shared channel's author may have others."""
    return str(context.team_id or body.get("team_id") or ""), str(context.enterprise_id or "")


def _slash_command(request: AsyncBoltRequest, now: datetime) -> IncomingEvent:
    body = request.body
    route = _route(request, channel=body["channel_id"], channel_name=_channel_name(body.get("channel_name")))
    name = body["command"].removeprefix("/")
    # `/quiz` works in a direct message too; an admin command needs to know the channel.
    where = _where(route) if name == "quiz" else Where(channel=route.channel, name=route.channel_name)
    text = unescape(body.get("text") or "")
    who = _who(route, body.get("user_name"))
    return IncomingEvent(Command(_event_id(body["trigger_id"]), now, who, where, name, text), route)


def _block_actions(request: AsyncBoltRequest, now: datetime) -> IncomingEvent | None:
    body = request.body
    pressed = body["actions"][0]
    action = pressed.get("value")
    if not action or str(pressed.get("action_id", "")).startswith(LINK):
        return None
    route = _route(request, **_place(body))
    at = _event_time(pressed.get("action_ts"), now)
    who, event_id = _who(route, _id(body, "user", "username")), _event_id(body["trigger_id"])
    if str(pressed.get("action_id", "")).startswith(SUBMIT):
        return IncomingEvent(Submit(event_id, at, who, _where(route), action, _values(body)), route)
    if route.window == "form":
        return IncomingEvent(Submit(event_id, at, who, _where(route), action, _values(body["view"])), route)
    return IncomingEvent(Press(event_id, at, who, _where(route), action), route)


def _view_submission(request: AsyncBoltRequest, now: datetime) -> IncomingEvent:
    body = request.body
    route = _route(request, **_place(body))
    action, _ = read_metadata(body["view"].get("private_metadata", ""))
    who = _who(route, _id(body, "user", "username"))
    values = _values(body["view"])
    route = dataclasses.replace(route, files=write_files(_uploaded(body["view"])))
    return IncomingEvent(Submit(_event_id(body["trigger_id"]), now, who, _where(route), action, values), route)


def _shortcut(request: AsyncBoltRequest, now: datetime) -> IncomingEvent | None:
    """Parses the shortcut of a message, which answers with the code in it."""
    body = request.body
    message = body.get("message") or {}
    if body.get("callback_id") != ANSWER_WITH_THIS:
        return None
    place = {"channel": _id(body, "channel"), "channel_name": _channel_name(_id(body, "channel", "name"))}
    files = write_files(_python_files(message.get("files") or ()))
    route = _route(request, **place, thread=str(message.get("thread_ts") or ""), files=files)
    at = _event_time(body.get("action_ts"), now)
    who = _who(route, _id(body, "user", "name"))
    return IncomingEvent(Sent(_event_id(body["trigger_id"]), at, who, _where(route), message_text(message)), route)


def _place(body: Payload) -> dict[str, str]:
    """Returns where a click or submission came from: a message, or a view with the route it was opened from."""
    view = body.get("view")
    if view:
        _, carried = read_metadata(view.get("private_metadata", ""))
        window = "home" if view.get("type") == "home" else str(view.get("callback_id") or "form")
        return {**carried, "view": str(view["id"]), "window": window}
    box, message = body.get("container") or {}, body.get("message") or {}
    return {
        "channel": _id(body, "channel") or str(box.get("channel_id", "")),
        "channel_name": _channel_name(_id(body, "channel", "name")),
        "thread": str(box.get("thread_ts") or message.get("thread_ts") or ""),
        "own": "1" if box.get("is_ephemeral") else "",
    }


def _event_callback(request: AsyncBoltRequest, now: datetime) -> IncomingEvent | None:
    body = request.body
    event = body["event"]
    at = _event_time(event.get("event_ts") or body.get("event_time"), now)
    match event.get("type"):
        case "message" | "app_mention":
            return _message(request, event, at)
        case "app_home_opened" if event.get("tab", "home") == "home":
            route = _route(request, user=event["user"])
            return IncomingEvent(Visited(_event_id(body["event_id"]), at, _who(route), Where(channel="")), route)
        case "member_joined_channel" if event.get("user") == _bot_user(body) and event.get("inviter"):
            route = _route(request, user=event["inviter"], channel=event["channel"])
            return IncomingEvent(Added(_event_id(body["event_id"]), at, _who(route), _where(route)), route)
        case _:
            return None


def _message(request: AsyncBoltRequest, event: Payload, at: datetime) -> IncomingEvent | None:
    """Parses a message to the bot: a direct message or a mention. The app is sent no other message."""
    if event.get("bot_id") or event.get("subtype") not in _MESSAGE_SUBTYPES or not event.get("user"):
        return None
    bot = _bot_user(request.body)
    text, files = message_text(event, bot), _python_files(event.get("files") or ())
    direct = event.get("channel_type") == "im"
    if not direct and event["type"] == "message":
        return None
    route = _route(
        request,
        user=event["user"],
        channel=event["channel"],
        thread=str(event.get("thread_ts") or ""),
        direct="1" if direct else "",
        files=write_files(files),
    )
    # A message that mentions the bot arrives as two events; both get the same id.
    event_id = _event_id(f"{event['channel']}:{event['ts']}")
    return IncomingEvent(Sent(event_id, at, _who(route), _where(route), text), route)


def _python_files(files: Iterable[Payload]) -> list[FileRef]:
    found = []
    for file in files:
        name, url = str(file.get("name") or ""), file.get("url_private_download") or file.get("url_private")
        if url and (name.endswith(".py") or file.get("filetype") == "python"):
            found.append(FileRef(name or "answer.py", str(url), int(file.get("size") or 0)))
    return found


def _values(view: Payload) -> dict[str, tuple[str, ...]]:
    """Returns the values by field name, joining fields that were split over several menus."""
    found: dict[str, tuple[str, ...]] = {}
    # A file is not text.
    for block_id, held in ((view.get("state") or {}).get("values") or {}).items():
        name = block_id.partition(":")[0]
        for element in held.values():
            found[name] = (*found.get(name, ()), *_picked(element))
    return found


def _uploaded(view: Payload) -> list[FileRef]:
    """Returns the files in the view's inputs for files."""
    states = ((view.get("state") or {}).get("values") or {}).values()
    return _python_files([file for held in states for one in held.values() for file in one.get("files") or ()])


def _picked(element: Payload) -> tuple[str, ...]:
    if element.get("selected_options") is not None:
        return tuple(str(option["value"]) for option in element["selected_options"])
    if element.get("selected_option") is not None:
        return (str(element["selected_option"]["value"]),)
    if element.get("selected_user") is not None:
        return (f"<@{element['selected_user']}>",)
    for picked in ("selected_time", "selected_conversation"):
        if element.get(picked) is not None:
            return (str(element[picked]),)
    value = element.get("value")
    return () if value is None else (str(value),)


def _route(request: AsyncBoltRequest, **fields: str) -> Route:
    context = request.context
    team, enterprise = installed_in(context, request.body)
    route = Route(
        team=team,
        enterprise=enterprise,
        user=str(context.user_id or ""),
        trigger=str(request.body.get("trigger_id") or ""),
        response_url=str(context.response_url or ""),
    )
    route = dataclasses.replace(route, **{name: value for name, value in fields.items() if value})
    return dataclasses.replace(route, direct="1") if route.channel.startswith("D") else route


def _who(route: Route, name: object = "") -> Who:
    named = str(name or route.user)[:_NAME_LENGTH]
    return Who(platform="slack", workspace=route.team, member=route.user, name=named)


def _where(route: Route) -> Where:
    """Returns the channel; none in a direct message, which stands for the whole workspace."""
    return Where(channel="") if route.direct else Where(channel=route.channel, name=route.channel_name)


def _channel_name(name: object) -> str:
    """Returns the channel's name; Slack sends a placeholder for private channels."""
    return "" if name in (None, "", "directmessage", "privategroup") else f"#{name}"


def _bot_user(body: Payload) -> str:
    return next((str(one["user_id"]) for one in body.get("authorizations") or () if one.get("is_bot")), "")


def _id(body: Payload, part: str, name: str = "id") -> str:
    held = body.get(part)
    return str(held.get(name) or "") if isinstance(held, dict) else ""


def _event_id(text: str) -> str:
    return f"slack:{text}"[:200]


def _event_time(stamp: object, now: datetime) -> datetime:
    """Returns Slack's timestamp if it is plausible: in the past, by less than an hour."""
    try:
        then = datetime.fromtimestamp(float(str(stamp)), UTC)
    except (ValueError, OverflowError, OSError):
        return now
    return then if now - _MAX_EVENT_AGE <= then <= now else now


# Text of messages


def message_text(message: dict[str, Any], bot_user: str = "") -> str:
    """Returns a message's text, with code in Markdown fences and without mentions of the bot."""
    rich = [block for block in message.get("blocks") or () if block.get("type") == "rich_text"]
    if rich:
        return "\n".join(_part(part, bot_user) for block in rich for part in block.get("elements", ())).strip()
    return unescape(_CONTROL.sub(lambda found: _control(found[1], bot_user), message.get("text") or "")).strip()


def unescape(text: str) -> str:
    """Undoes Slack's escaping of three characters."""
    return text.replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&")


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
            # Slack's clients turn code that looks like a URL into a link; the text is what was typed.
            return str(run.get("text") or run.get("url", ""))
        case "emoji":
            # `x[:100:2]` contains one.
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
    """Returns the text of a control sequence: a mention, a channel, or a link with or without a label."""
    target, _, label = inside.partition("|")
    if target.startswith("@"):
        return "" if target == f"@{bot_user}" else f"@{label or target[1:]}"
    if target.startswith("#"):
        return f"#{label or target[1:]}"
    if target.startswith("!"):
        return f"@{label or target[1:]}"
    return label or target
