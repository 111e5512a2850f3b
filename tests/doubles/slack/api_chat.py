"""The methods chat.* and conversations.*."""

from __future__ import annotations

from typing import Any

from tests.doubles.slack.calls import Call, method
from tests.doubles.slack.limits import TIER_2, TIER_3
from tests.doubles.slack.rules import wrong_in_message
from tests.doubles.slack.surfaces import Body, Ephemeral, Message, walk, with_ids
from tests.doubles.slack.world import ApiError, Channel, World

# These have their own limits: one message a second per channel, and one limit per workspace.
SPECIAL = 0


def checked(world: World, team: str, what: str, body: Body) -> list[Body]:
    """Returns the blocks of a valid body. Otherwise records a violation and raises Slack's error."""
    world.bodies += 1
    error, reasons = wrong_in_message(body, second=world.bodies % world.check_every == 0)
    if error:
        world.log.add("violation", what=what, error=error, reasons=reasons)
        raise ApiError(error, errors=reasons, response_metadata={"messages": reasons})
    blocks = body.get("blocks") or []
    for part in walk(blocks):
        if part.get("type") == "image" and "slack_file" in part:
            _file_is_there(world, team, part["slack_file"])
    return with_ids(blocks)


def _file_is_there(world: World, team: str, named: Body) -> None:
    file = world.files.get(str(named.get("id", "")))
    if file is None or file["team"] != team or not file["complete"]:
        raise ApiError("invalid_blocks", errors=["invalid slack file"])


def posted(world: World, channel: Channel, message: Message) -> Message:
    """Adds a message to its channel."""
    channel.messages[message.ts] = message
    facts = {"team": channel.team, "channel": channel.id, "ts": message.ts, "thread": message.thread_ts}
    world.log.add("posted", bot=bool(message.bot_id), key=message.key, files=len(message.files), **facts)
    return message


@method("chat.postMessage", "chat:write", tier=SPECIAL)
def post_message(call: Call) -> Body:
    channel = _where_to_post(call)
    blocks = checked(call.world, call.team.id, "chat.postMessage", call.args)
    message = Message(str(call.args.get("text") or ""), blocks, call.team.id, channel.id, call.world.new_ts())
    message.user, message.bot_id = call.team.bot.id, call.team.bot_id
    message.metadata = call.args.get("metadata") or {}
    if thread := str(call.args.get("thread_ts") or ""):
        message.thread_ts = _thread(channel, thread)
        message.broadcast = call.args.get("reply_broadcast") is True
    posted(call.world, channel, message)
    return {"channel": channel.id, "ts": message.ts, "message": message.body()}


def _thread(channel: Channel, ts: str) -> str:
    parent = channel.messages.get(ts)
    if parent is None or parent.deleted:
        raise ApiError("thread_not_found")
    return parent.thread_ts or parent.ts


def _where_to_post(call: Call) -> Channel:
    target = call.text("channel")
    if target in call.team.users:
        return call.world.im(call.team.users[target])
    channel = call.channel()
    _may_post(call, channel)
    return channel


def _may_post(call: Call, channel: Channel) -> None:
    assert call.token is not None
    if channel.archived:
        raise ApiError("is_archived")
    if call.team.bot.id not in channel.members and "chat:write.public" not in call.token.scopes:
        raise ApiError("not_in_channel")


@method("chat.update", "chat:write", tier=TIER_3)
def update(call: Call) -> Body:
    message = _own(call)
    blocks = checked(call.world, call.team.id, "chat.update", call.args | {"text": call.args.get("text", "-")})
    if "blocks" in call.args:
        message.blocks = blocks
    message.text = str(call.args.get("text", message.text))
    message.metadata = call.args.get("metadata") or message.metadata
    message.edited += 1
    call.world.log.add("edited", channel=message.channel, ts=message.ts, by="chat.update")
    return {"channel": message.channel, "ts": message.ts, "text": message.text, "message": message.body()}


@method("chat.delete", "chat:write", tier=TIER_3)
def delete(call: Call) -> Body:
    message = _own(call)
    message.deleted = True
    call.world.log.add("edited", channel=message.channel, ts=message.ts, by="chat.delete")
    return {"channel": message.channel, "ts": message.ts}


def _own(call: Call) -> Message:
    message = _message(call.channel(), call.text("ts"))
    if message.bot_id != call.team.bot_id:
        raise ApiError("cant_update_message" if call.method == "chat.update" else "cant_delete_message")
    return message


def _message(channel: Channel, ts: str) -> Message:
    message = channel.messages.get(ts)
    if message is None or message.deleted:
        raise ApiError("message_not_found")
    return message


@method("chat.postEphemeral", "chat:write")
def post_ephemeral(call: Call) -> Body:
    channel = call.channel()
    _may_post(call, channel)
    user = call.text("user")
    if user not in channel.members:
        raise ApiError("user_not_in_channel")
    blocks = checked(call.world, call.team.id, "chat.postEphemeral", call.args)
    shown = Ephemeral(str(call.args.get("text") or ""), blocks, call.team.id, channel.id, call.world.new_ts(), user)
    shown.thread_ts = str(call.args.get("thread_ts") or "")
    call.world.ephemerals.append(shown)
    call.world.log.add("ephemeral", user=user, channel=channel.id, ts=shown.ts, by="chat.postEphemeral")
    return {"message_ts": shown.ts}


@method("chat.getPermalink", tier=SPECIAL, takes_json=False)
def permalink(call: Call) -> Body:
    channel = call.channel()
    message = _message(channel, call.text("message_ts"))
    path = f"{channel.id}/p{message.ts.replace('.', '')}"
    return {"channel": channel.id, "permalink": f"https://{call.team.name}.slack.com/archives/{path}"}


@method("conversations.open", "im:write", tier=TIER_3)
def conversations_open(call: Call) -> Body:
    users = call.text("users").split(",")
    if len(users) != 1 or users[0] not in call.team.users:
        raise ApiError("user_not_found")
    channel = call.world.im(call.team.users[users[0]])
    return {"channel": {"id": channel.id} if not call.flag("return_im") else channel.body(call.team.bot.id)}


def _readable(call: Call, kind: str) -> Channel:
    channel = call.channel()
    call.need(f"{channel.scope}:{kind}")
    return channel


@method("conversations.info", tier=TIER_3, takes_json=False)
def info(call: Call) -> Body:
    return {"channel": _readable(call, "read").body(call.team.bot.id)}


@method("conversations.members", takes_json=False)
def members(call: Call) -> Body:
    return {"members": sorted(_readable(call, "read").members), "response_metadata": {"next_cursor": ""}}


@method("conversations.list", tier=TIER_2, takes_json=False)
def list_channels(call: Call) -> Body:
    types = str(call.args.get("types", "public_channel")).split(",")
    kinds = {"channels": "public_channel", "groups": "private_channel", "im": "im"}
    call.need(*(f"{scope}:read" for scope, kind in kinds.items() if kind in types))
    bot = call.team.bot.id
    known = [one for one in call.team.channels.values() if bot in one.members or one.scope == "channels"]
    found = [one.body(bot) for one in known if kinds[one.scope] in types]
    return {"channels": found, "response_metadata": {"next_cursor": ""}}


@method("conversations.join", "channels:join", tier=TIER_3)
def join(call: Call) -> Body:
    channel = call.channel()
    if channel.archived:
        raise ApiError("is_archived")
    if channel.scope != "channels":
        raise ApiError("method_not_supported_for_channel_type")
    channel.members.add(call.team.bot.id)
    return {"channel": channel.body(call.team.bot.id)}


@method("conversations.history", tier=TIER_3, takes_json=False)
def history(call: Call) -> Body:
    channel = _readable(call, "history")
    _is_member(call, channel)
    return _page(
        call, [one for one in channel.messages.values() if not one.thread_ts or one.broadcast], newest_first=True
    )


@method("conversations.replies", tier=TIER_3, takes_json=False)
def replies(call: Call) -> Body:
    channel = _readable(call, "history")
    _is_member(call, channel)
    root = _thread(channel, call.text("ts"))
    return _page(call, [one for one in channel.messages.values() if root in (one.ts, one.thread_ts)])


def _is_member(call: Call, channel: Channel) -> None:
    if call.team.bot.id not in channel.members:
        raise ApiError("not_in_channel")


def _page(call: Call, messages: list[Message], newest_first: bool = False) -> Body:
    """Returns the requested messages in pages of at most `limit`."""
    oldest, latest = float(call.args.get("oldest") or 0), float(call.args.get("latest") or "inf")
    inclusive = call.flag("inclusive")
    kept = [
        one
        for one in messages
        if not one.deleted and (oldest < float(one.ts) < latest or (inclusive and float(one.ts) in (oldest, latest)))
    ]
    kept.sort(key=lambda one: one.ts, reverse=newest_first)
    start, limit = int(call.args.get("cursor") or 0), min(int(call.args.get("limit") or 100), 999)
    more = start + limit < len(kept)
    metadata = call.flag("include_all_metadata")
    found: dict[str, Any] = {"messages": [one.body(metadata) for one in kept[start : start + limit]], "has_more": more}
    return found | {"response_metadata": {"next_cursor": str(start + limit) if more else ""}}
