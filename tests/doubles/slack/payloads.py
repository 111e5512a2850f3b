"""Builds the payloads of people's actions in Slack's format."""

from __future__ import annotations

import secrets
from typing import Any

from tests.doubles.slack.api_views import view_body
from tests.doubles.slack.surfaces import FEEDBACK, Body, Control, Ephemeral, Message, Shown, View
from tests.doubles.slack.world import Channel, ReplyUrl, Trigger, User, World

REPLY_URL_S = 1800.0
Value = str | list[str] | list[Body] | None


def base(world: World, user: User, *, view: bool = False) -> Body:
    """Returns what all payloads have. In those of a `view`, the workspace is a guest's own."""
    team = world.teams[user.team]
    named = {"id": user.home, "domain": "elsewhere"} if view and user.home else {"id": team.id, "domain": team.name}
    names = {"username": user.name.lower(), "name": user.name.lower()}
    return {
        "user": {"id": user.id, "team_id": user.home or team.id, **names},
        "team": named,
        "api_app_id": world.app.id,
        "token": world.app.verification,
        "enterprise": None,
        "is_enterprise_install": False,
    }


def trigger(world: World, user: User, view: str = "") -> str:
    """Creates a trigger, which allows to open a view for a while."""
    id_ = f"{secrets.token_hex(5)}.{user.team}.{secrets.token_hex(8)}"
    world.triggers[id_] = Trigger(user, world.clock.real() + world.deadline_s, view)
    return id_


def reply_url(
    world: World, base_url: str, user: User, channel: Channel, origin: Message | Ephemeral | None
) -> tuple[str, ReplyUrl]:
    """Creates a response_url, which is valid for half an hour."""
    id_ = secrets.token_hex(8)
    leave = world.reply_urls[id_] = ReplyUrl(user, channel, world.clock.slack() + REPLY_URL_S, origin)
    return f"{base_url}/response/{id_}", leave


def slash(world: World, user: User, channel: Channel, command: str, text: str, url: str) -> Body:
    team = world.teams[user.team]
    return {
        "token": world.app.verification,
        "team_id": team.id,
        "team_domain": team.name,
        "channel_id": channel.id,
        "channel_name": "privategroup" if channel.private else channel.name,
        "user_id": user.id,
        "user_name": user.name.lower(),
        "command": command,
        "text": text,
        "api_app_id": world.app.id,
        "is_enterprise_install": "false",
        "response_url": url,
        "trigger_id": trigger(world, user),
    }


def pressed(world: World, user: User, shown: Message | Ephemeral, control: Control, url: str, chosen: Value) -> Body:
    """Returns the payload of a button or menu of a message."""
    channel = world.teams[user.team].channels[shown.channel]
    private = isinstance(shown, Ephemeral)
    container = {"type": "message", "message_ts": shown.ts, "channel_id": channel.id, "is_ephemeral": private}
    if shown.thread_ts:
        container["thread_ts"] = shown.thread_ts
    body = base(world, user) | {
        "type": "block_actions",
        "container": container,
        "trigger_id": trigger(world, user),
        "channel": {"id": channel.id, "name": channel.name},
        "state": {"values": {}},
        "response_url": url,
        "actions": [action(control, chosen)],
    }
    return body if isinstance(shown, Ephemeral) else body | {"message": shown.body()}


def pressed_in_view(world: World, user: User, view: View, control: Control, chosen: Value, state: Body) -> Body:
    """Returns the payload of a button or menu of a modal or Home tab."""
    return base(world, user, view=True) | {
        "type": "block_actions",
        "container": {"type": "view", "view_id": view.id},
        "trigger_id": trigger(world, user, view.id),
        "view": view_body(world, view, state),
        "actions": [action(control, chosen)],
    }


def action(control: Control, chosen: Value) -> Body:
    element = control.element
    about: Body = {"type": element["type"], "action_id": control.action_id, "block_id": control.block_id}
    about["action_ts"] = f"{secrets.randbelow(10**9)}.000100"
    if element["type"] == "button":
        about |= {"text": element["text"]} | ({"value": element["value"]} if "value" in element else {})
        return about
    if element["type"] == FEEDBACK:
        return about | {"value": element["value"]}
    return about | value_of(element, chosen)


def picked_message(world: World, user: User, message: Message, callback: str, url: str) -> Body:
    """Returns the payload of a shortcut of a message."""
    channel = world.teams[user.team].channels[message.channel]
    return base(world, user) | {
        "type": "message_action",
        "callback_id": callback,
        "trigger_id": trigger(world, user),
        "response_url": url,
        "message_ts": message.ts,
        "action_ts": world.new_ts(),
        "channel": {"id": channel.id, "name": "privategroup" if channel.private else channel.name},
        "message": message.body(),
    }


def submitted(world: World, user: User, view: View, state: Body) -> Body:
    return base(world, user, view=True) | {
        "type": "view_submission",
        "trigger_id": trigger(world, user, view.id),
        "view": view_body(world, view, state),
        "response_urls": [],
    }


def closed(world: World, user: User, view: View, cleared: bool) -> Body:
    return base(world, user, view=True) | {"type": "view_closed", "view": view_body(world, view), "is_cleared": cleared}


def event(world: World, team: str, event_id: str, inner: Body) -> Body:
    """Returns the envelope of an event."""
    bot = world.teams[team].bot.id
    granted = {"enterprise_id": None, "team_id": team, "user_id": bot, "is_bot": True, "is_enterprise_install": False}
    return {
        "token": world.app.verification,
        "team_id": team,
        "context_team_id": team,
        "context_enterprise_id": None,
        "api_app_id": world.app.id,
        "event": inner,
        "type": "event_callback",
        "event_id": event_id,
        "event_time": int(world.clock.stamp()),
        "authorizations": [granted],
        "is_ext_shared_channel": False,
        "event_context": f"4-{event_id}",
    }


# Values of inputs


def state_of(view: Shown, given: dict[str, Value], whole: bool = True) -> Body:
    """Returns the state of the inputs of a view or message.

    With `whole`, required ones must be filled in, as a client demands.
    """
    unknown = set(given) - set(view.fields)
    assert not unknown, f"no field {sorted(unknown)} among {sorted(view.fields)}"
    required = {block["block_id"] for block in view.blocks if block["type"] == "input" and not block.get("optional")}
    state = {}
    for block_id, control in view.fields.items():
        value = given.get(block_id, _initial(control.element))
        assert value or not whole or block_id not in required, f"the client asks to fill in {block_id!r}"
        state[block_id] = {control.action_id: {"type": control.element["type"]} | value_of(control.element, value)}
    return state


def _initial(element: Body) -> Value:
    if "initial_options" in element:
        return [option["value"] for option in element["initial_options"]]
    if "initial_option" in element:
        return str(element["initial_option"]["value"])
    given = ("initial_value", "initial_time", "initial_conversation", "initial_user")
    return next((element[name] for name in given if element.get(name)), None)


def value_of(element: Body, chosen: Any) -> Body:
    """Returns the value of an element in a payload."""
    match element["type"]:
        case "plain_text_input" | "number_input":
            assert len(chosen or "") <= element.get("max_length", 3000), "the client lets nobody type that much"
            return {"value": chosen}
        case "checkboxes" | "multi_static_select":
            return {"selected_options": [_option(element, value) for value in chosen or []]}
        case "radio_buttons" | "static_select" | "overflow":
            value = chosen[0] if isinstance(chosen, list) and chosen else chosen
            return {"selected_option": _option(element, value) if value else None}
        case "timepicker":
            return {"selected_time": chosen}
        case "conversations_select":
            return {"selected_conversation": chosen}
        case "users_select":
            return {"selected_user": chosen}
        case "file_input":
            return {"files": chosen or []}
    raise AssertionError(f"the double knows no {element['type']} yet")


def _option(element: Body, value: str) -> Body:
    found = [option for option in element["options"] if value in (option["value"], option["text"]["text"])]
    assert found, f"no option {value!r} among {[option['value'] for option in element['options']]}"
    return {"text": found[0]["text"], "value": found[0]["value"]}
