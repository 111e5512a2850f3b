"""Endpoints for messages, their history, threads and direct-message channels."""

from __future__ import annotations

from itertools import count
from time import monotonic
from typing import TYPE_CHECKING

from tests.doubles.discord import checks
from tests.doubles.discord.endpoint import (
    BAD_FORM,
    CLOSED,
    EMPTY,
    NO_ACCESS,
    NO_MESSAGES,
    NO_PERMISSION,
    NO_THREAD_THERE,
    NOT_YOURS,
    THREAD_LOCKED,
    THREAD_THERE,
    UNKNOWN_CHANNEL,
    UNKNOWN_MESSAGE,
    UNKNOWN_USER,
    Call,
    Endpoint,
)
from tests.doubles.discord.payloads import channel_json, message_json
from tests.doubles.discord.world import (
    ATTACH,
    EPHEMERAL,
    FORUM,
    HISTORY,
    LOADING,
    MAKE_THREADS,
    SEND,
    SEND_IN_THREADS,
    THREAD,
    V2,
    VIEW,
    Channel,
    Json,
    Message,
    nested,
)

if TYPE_CHECKING:
    from tests.doubles.discord.server import Server

NONCE_S = 180.0
"""Docs: resources/message, enforce_nonce: "checked for uniqueness in the past few minutes"."""
_KEPT = ("content", "embeds", "components", "flags", "allowed_mentions")


def made(
    server: Server, channel: Channel, body: Json, files: dict[str, bytes], *, interaction: int | None = None
) -> Message:
    """Checks and creates a message of the bot. The caller sets the viewer of an ephemeral one."""
    server.check(checks.wrong_in_message(body, files=files))
    kept = {name: body[name] for name in _KEPT if body.get(name)}
    kept["flags"] = int(body.get("flags") or 0) & ~EPHEMERAL
    kept["components"] = _numbered(body.get("components") or [])
    kept["attachments"] = _attached(server, body, files)
    message = Message(channel, server.world.bot_user(), kept, nonce=_nonce(body), interaction=interaction)
    if not (kept["components"] or kept.get("content") or kept.get("embeds") or kept["attachments"] or message.loading):
        raise EMPTY
    return message


def keep(server: Server, message: Message) -> Message:
    """Adds the message to its channel."""
    message.channel.messages[message.id] = message
    server.log.add(
        "message",
        ref=message.ref,
        channel=message.channel.id,
        viewer=message.viewer,
        text=message.text[:200],
        custom_ids=[part["custom_id"] for part in message.parts if "custom_id" in part],
        nonce=message.nonce,
        interaction=message.interaction,
        loading=message.loading,
    )
    return message


def edit(server: Server, message: Message, body: Json, files: dict[str, bytes]) -> Message:
    """Edits a message; ends its "thinking" state."""
    was_v2 = bool(message.flags & V2)
    server.check(checks.wrong_in_message(body, files=files, was_v2=was_v2))
    if was_v2 and "flags" in body and not int(body["flags"] or 0) & V2:
        server.violate("the flag of components V2 cannot be taken back")
        raise BAD_FORM
    for name in ("content", "embeds", "allowed_mentions"):
        if name in body:
            message.body[name] = body[name]
    if "components" in body:
        message.body["components"] = _numbered(body["components"] or [])
    if "attachments" in body or files:
        message.body["attachments"] = _attached(server, body, files)
    message.body["flags"] = (message.flags | int(body.get("flags") or 0)) & ~LOADING & ~EPHEMERAL
    message.edited = True
    server.log.add(
        "edited", ref=message.ref, viewer=message.viewer, text=message.text[:200], interaction=message.interaction
    )
    return message


def remove(server: Server, message: Message) -> None:
    """Deletes a message."""
    message.channel.messages.pop(message.id, None)
    server.log.add("deleted", ref=message.ref, viewer=message.viewer, interaction=message.interaction)


def _nonce(body: Json) -> str | None:
    nonce = body.get("nonce")
    return None if nonce is None else str(nonce)


def _numbered(components: list[Json]) -> list[Json]:
    """Returns the components. Those without an id get one, as in Discord."""
    copied = [_copied(component) for component in components]
    parts = [part for component in copied for part in nested(component)]
    taken = {part["id"] for part in parts if part.get("id")}
    free = (number for number in count(1) if number not in taken)
    for part in parts:
        part["id"] = part.get("id") or next(free)
    return copied


def _copied(component: Json) -> Json:
    inner: Json = {}
    if component.get("components"):
        inner["components"] = [_copied(child) for child in component["components"]]
    if "component" in component:
        inner["component"] = _copied(component["component"])
    return {**component, **inner}


def _attached(server: Server, body: Json, files: dict[str, bytes]) -> list[Json]:
    described = {str(item.get("filename")): item.get("description") for item in body.get("attachments") or ()}
    return [{**server.keep_file(name, content), "description": described.get(name)} for name, content in files.items()]


def _channel(server: Server, call: Call, needs: int = VIEW) -> Channel:
    """Returns the channel of the request. Raises Refusal if the bot lacks a permission."""
    channel = server.world.channel(call.number("channel_id"))
    if channel is None:
        raise UNKNOWN_CHANNEL
    allows = (channel.parent or channel).allows
    if not allows & VIEW:
        raise NO_ACCESS
    if allows & needs != needs:
        raise NO_PERMISSION
    return channel


def _message(channel: Channel, call: Call) -> Message:
    message = channel.messages.get(call.number("message_id"))
    if message is None or message.viewer is not None:
        raise UNKNOWN_MESSAGE
    return message


async def create(server: Server, call: Call) -> Json:
    """Creates a message, or returns the one created with the same nonce a few minutes ago."""
    channel = _channel(server, call)
    if channel.type == FORUM:
        raise NO_MESSAGES
    needs = (SEND_IN_THREADS if channel.type == THREAD else SEND) | (ATTACH if call.files else 0)
    _channel(server, call, needs)
    if channel.recipient and channel.recipient.closed:
        raise CLOSED
    if channel.locked:
        raise THREAD_LOCKED
    nonce = _nonce(call.body)
    before = server.nonces.get(nonce or "")
    if call.body.get("enforce_nonce") and before and monotonic() - before.made < NONCE_S:
        server.log.add("same nonce", ref=before.ref, nonce=nonce)
        return message_json(before)
    message = keep(server, made(server, channel, call.body, call.files))
    if nonce:
        server.nonces[nonce] = message
    return message_json(message)


async def change(server: Server, call: Call) -> Json:
    """Edits one of the bot's messages."""
    message = _message(_channel(server, call), call)
    if message.author["id"] != str(server.world.application):
        raise NOT_YOURS
    return message_json(edit(server, message, call.body, call.files))


async def read(server: Server, call: Call) -> Json:
    """Returns a message."""
    channel = _channel(server, call, HISTORY)
    found = message_json(_message(channel, call))
    thread = server.world.channels.get(int(found["id"]))
    return {**found, "thread": channel_json(thread)} if thread else found


async def delete(server: Server, call: Call) -> None:
    """Deletes one of the bot's messages."""
    remove(server, _message(_channel(server, call), call))


async def history(server: Server, call: Call) -> list[Json]:
    """Returns messages, newest first; none without the permission to read the history."""
    channel = _channel(server, call)
    if not (channel.parent or channel).allows & HISTORY:
        return []
    limit = int(call.query.get("limit", 50))
    if not 1 <= limit <= 100:
        raise BAD_FORM
    found = sorted(channel.seen(), key=lambda message: message.id)
    if before := call.query.get("before"):
        found = [message for message in found if message.id < int(before)][-limit:]
    elif after := call.query.get("after"):
        found = [message for message in found if message.id > int(after)][:limit]
    return [message_json(message) for message in reversed(found[-limit:])]


async def start_thread(server: Server, call: Call) -> Json:
    """Starts the thread of a message. Its id is the message's id, so a message has at most one."""
    channel = _channel(server, call, MAKE_THREADS)
    message = _message(channel, call)
    if channel.type == THREAD:
        raise NO_THREAD_THERE
    if message.id in server.world.channels:
        raise THREAD_THERE
    thread = Channel(call.body["name"], id=message.id, guild=channel.guild, type=THREAD, parent=channel)
    thread.owner = server.world.application
    server.world.channels[thread.id] = thread
    server.log.add("thread", ref=message.ref, name=thread.name)
    assert channel.guild
    await server.gateway.dispatch("THREAD_CREATE", {**channel_json(thread), "newly_created": True}, channel.guild.id)
    return channel_json(thread)


async def start_post(server: Server, call: Call) -> Json:
    """Starts a post in a forum channel: a thread whose first message has its id."""
    channel = _channel(server, call, SEND)
    if channel.type != FORUM:
        raise BAD_FORM
    first = call.body["message"]
    if "nonce" in first or "enforce_nonce" in first:
        server.violate("the first message of a post takes no nonce")
        raise BAD_FORM
    thread = Channel(call.body["name"], guild=channel.guild, type=THREAD, parent=channel)
    thread.owner = server.world.application
    message = made(server, thread, first, call.files)
    message.id = thread.id
    server.world.channels[thread.id] = thread
    keep(server, message)
    server.log.add("thread", ref=message.ref, name=thread.name)
    assert channel.guild
    await server.gateway.dispatch("THREAD_CREATE", {**channel_json(thread), "newly_created": True}, channel.guild.id)
    return {**channel_json(thread), "message": message_json(message)}


async def active_threads(server: Server, call: Call) -> Json:
    """Returns the open threads and posts of a server."""
    guild = call.number("guild_id")
    threads = [one for one in server.world.channels.values() if one.parent and one.guild and one.guild.id == guild]
    return {"threads": [channel_json(one) for one in threads], "members": []}


async def read_channel(server: Server, call: Call) -> Json:
    """Returns a channel, thread or direct-message channel."""
    return channel_json(_channel(server, call))


async def open_direct(server: Server, call: Call) -> Json:
    """Returns the direct-message channel with a member."""
    member = server.world.member(int(call.body["recipient_id"]))
    if member is None:
        raise UNKNOWN_USER
    return channel_json(server.world.direct(member))


_MESSAGES = "/channels/{channel_id}/messages"
ENDPOINTS = (
    Endpoint("POST", _MESSAGES, create),
    Endpoint("GET", _MESSAGES, history),
    Endpoint("GET", _MESSAGES + "/{message_id}", read),
    Endpoint("PATCH", _MESSAGES + "/{message_id}", change),
    Endpoint("DELETE", _MESSAGES + "/{message_id}", delete),
    Endpoint("POST", _MESSAGES + "/{message_id}/threads", start_thread),
    Endpoint("POST", "/channels/{channel_id}/threads", start_post),
    Endpoint("GET", "/guilds/{guild_id}/threads/active", active_threads),
    Endpoint("GET", "/channels/{channel_id}", read_channel),
    Endpoint("POST", "/users/@me/channels", open_direct),
)
