"""Posts messages from the outbox to Discord, once each, finds them again, and starts one thread per round.

A reference is `<channel>/<message>` of a card's first message. A thread has the id of the message it was started from
(docs: resources/channel, start thread from message), so it can be found without being remembered.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from io import BytesIO
from typing import Any, Final

import discord

from bot.core.cards import Award, Card, Link
from bot.core.dispatcher import DeliveryDelayed, DeliveryRefused, Target, part_keys
from bot.core.limits import DISCORD
from bot.core.rendering import line_of
from bot.discord.access import MODERATORS_RIGHTS
from bot.discord.library import Route
from bot.discord.mentions import CommandMentions
from bot.discord.render import (
    Body,
    KeyMatcher,
    created_ms,
    parts_of_card,
    with_key,
)
from service.process import Clock
from service.wire import Platform as PlatformName

_LOG = logging.getLogger(__name__)
Found = dict[int, str]
"""References of the messages of a card that exist already, by number."""
THREAD_EXISTS: Final = 160004
NO_THREAD_HERE: Final = frozenset({10008, 50001, 50013, 50024, 160005, 160006, 50083})
"""Error codes for a message that cannot have a thread: deleted, forbidden, of the wrong kind or locked."""
THREAD_LOCKED: Final = frozenset({50083, 160005})
"""Error codes for a thread that only moderators may write in."""
UNKNOWN_MESSAGE: Final = 10008
GONE: Final = frozenset({10003, UNKNOWN_MESSAGE, 10004, 50001})
LOOK_BACK: Final = timedelta(hours=26)
"""How far back to search for a message; no delivery is retried for that long."""
_NOT_EDITED: Final = ("nonce", "enforce_nonce")
"""Fields of a new message that an edit does not have."""
_PAGE: Final = 100
"""Messages that Discord returns at a time."""
_PAGES: Final = 20
"""Pages of a channel that are searched for a message."""
_DAY_MINUTES: Final = 1440
_POST_MINUTES: Final = 10_080
"""A post of a forum is archived after a week without messages, so that its question stays in sight."""
_PARTIAL: Final = 256
"""Messages whose posted parts are remembered."""
_CHANNELS: Final = 10_000
"""Channels whose server is remembered."""
_BUSY_S: Final = 10.0
"""Wait when Discord is busy and names no time, seconds."""
_ROLE = "open Server Settings → Roles, or the channel's own Permissions, and allow the bot"
_FIXES: Final[dict[int, str]] = {
    10003: "the channel was deleted: type `/quiz-admin schedule add` in another one",
    10004: "the bot is no longer in that server: add it again with its install link",
    10008: "the message it replies to was deleted",
    10013: "the member no longer exists",
    20028: "the channel is in slow mode",
    30007: "the server has too many webhooks",
    40067: "the channel requires a tag on every post: use a text channel",
    50001: f"the bot cannot see that channel: {_ROLE} View Channel and Send Messages",
    50007: "the member accepts no direct messages from this server, or has blocked the bot; `/quiz today` and "
    "`/quiz practice` show the same in the server",
    50008: "that channel cannot hold messages: use a text or forum channel",
    50013: f"the bot is not allowed to post there: {_ROLE} View Channel, Send Messages, Send Messages in Threads, "
    "Embed Links and Attach Files",
    50024: "that kind of channel does not accept the message: use a text channel",
    50035: "Discord rejects the message as malformed. This is a bug: please report it",
    50083: "the thread is archived and locked: unlock it",
    50278: "the member no longer shares a server with the bot",
}
_NOT_A_MEMBER: Final = frozenset({10007, 10013})
"""Error codes for somebody who has left the server."""
_MANAGE_ROLES: Final = (
    "the bot may not give that role: open Server Settings → Roles, allow the bot Manage Roles, and drag its role above "
    "the winner's role"
)
_ROLE_FIXES: Final[dict[int, str]] = {
    10011: "the winner's role was deleted: name another one, as with `/quiz-admin season role`",
    50001: _MANAGE_ROLES,
    50013: _MANAGE_ROLES,
}
"""What to do when a role cannot be given, by error code. Until then the announcement waits."""
_OTHER_SERVER: Final = "that channel is in another server: type `/quiz-admin schedule add` in a channel of this one"
_HAS_RIGHTS: Final = (
    "the winner's role has rights of a moderator, which the quiz gives to nobody: name a role without them, as with "
    "`/quiz-admin season role`"
)
_WAITS: Final = frozenset({10004, 50001, 50013, 50083})
"""Error codes of refusals whose cause an admin can remove while the message waits."""


class PartlyPosted(Exception):
    """Only some of a card's messages were posted, so the next attempt must search for them first."""


class DiscordPlatform:
    """Implements `core.dispatcher.Platform`. `client` must be logged in, not necessarily connected. Cards mention
    commands by `mentions`."""

    name: PlatformName = "discord"

    def __init__(self, client: discord.Client, clock: Clock, mentions: CommandMentions | None = None) -> None:
        self._mentions = mentions or CommandMentions()
        self._client = client
        self._clock = clock
        self._partial: dict[str, Found] = {}
        self._servers: dict[str, str] = {}
        """The server of each channel; a direct message has none."""

    async def post(self, target: Target, card: Card, key: str) -> str:
        """Posts a card, or the missing messages of a partly posted one. Raises as the protocol says."""
        if card.award is not None:
            await self._give_role(target.workspace, card.award)
        try:
            return await self._post(target, card, key)
        except DeliveryRefused as refused:
            if not target.for_admins:
                raise
            return await self._post_to_admins(target, card, key, refused)

    async def edit(self, target: Target, card: Card, ref: str, key: str) -> None:
        """Replaces a posted message. Raises as `post` does.

        A card of several messages is left as it is: their references are not stored, and its buttons still answer.
        """
        bodies = parts_of_card(card, channel=target.channel, rewrite=self._mentions.apply)
        if len(bodies) > 1:
            return
        channel, message = _parts(ref)
        route = Route("PATCH", "/channels/{channel_id}/messages/{message_id}", channel_id=channel, message_id=message)
        body = {name: part for name, part in with_key(bodies[0], key).items() if name not in _NOT_EDITED}
        with translate_errors():
            await self._request(route, card, body)

    async def find(self, target: Target, key: str) -> str | None:
        """Returns the reference of the first message if all messages of the card exist."""
        try:
            with translate_errors():
                for place in await self._search_channels(target):
                    found, count = await self._search(place, key)
                    if found and len(found) >= count:
                        return found[1]
                    if found:
                        # The next attempt posts the missing ones.
                        self._remember_partial(key, found)
                        return None
        except DeliveryRefused as refused:
            # Without permission to read there is nothing to find; posting reports what is missing.
            _LOG.warning("cannot search for the messages of %s: %s", key, refused)
        return None

    # Posting

    async def _give_role(self, guild: str, award: Award) -> None:
        """Gives a role to the winners, and takes it from those who had it before. Repeating it changes nothing."""
        if not award.winners and not award.former:
            return
        with translate_errors():
            roles = await self._client.http.request(Route("GET", "/guilds/{guild_id}/roles", guild_id=guild))
        if any(str(one["id"]) == award.role and int(one["permissions"]) & MODERATORS_RIGHTS for one in roles):
            raise DeliveryRefused(_HAS_RIGHTS, waits=True)
        for method, members in (("PUT", award.winners), ("DELETE", award.former)):
            for member in members:
                route = Route(
                    method,
                    "/guilds/{guild_id}/members/{user_id}/roles/{role_id}",
                    guild_id=guild,
                    user_id=member,
                    role_id=award.role,
                )
                try:
                    with translate_errors():
                        await self._client.http.request(route)
                except DeliveryRefused as refused:
                    error = refused.__cause__
                    code = error.code if isinstance(error, discord.HTTPException) else 0
                    if code not in _NOT_A_MEMBER:
                        raise DeliveryRefused(_ROLE_FIXES.get(code, str(refused)), waits=code in _ROLE_FIXES) from error

    async def _post(self, target: Target, card: Card, key: str) -> str:
        guild = target.workspace if target.member else ""
        card = await self._with_thread_link(target, card)
        bodies = parts_of_card(card, guild=guild, channel=target.channel, rewrite=self._mentions.apply)
        made = self._partial.pop(key, {})
        try:
            with translate_errors():
                place, quoted = await self._place(target, card)
                for number, (body, part) in enumerate(zip(bodies, part_keys(key, len(bodies)), strict=True), start=1):
                    if number not in made and number == 1 and self._is_forum(place):
                        made[1] = await self._start_post(place, card, with_key(body, part, len(bodies)))
                    elif number not in made:
                        keyed = with_key(body, part, len(bodies))
                        if number == 1 and not quoted and _is_beneath(place, target.reply_to):
                            made[1], place = await self._send_beneath(place, card, keyed, str(target.reply_to))
                            continue
                        quote = _quote(target.reply_to) if quoted and number == 1 else {}
                        made[number] = await self._send(place, card, {**keyed, **quote})
                    if self._is_forum(place):
                        # The rest belongs into the new post.
                        place = _parts(made[1])[0]
        except DeliveryDelayed as later:
            if not made:
                raise
            raise PartlyPosted(f"{len(made)} of {len(bodies)} messages were posted") from later
        finally:
            if 0 < len(made) < len(bodies):
                self._remember_partial(key, made)
        return made[1]

    async def _send(self, channel: str, card: Card, body: Body) -> str:
        made = await self._request(Route("POST", "/channels/{channel_id}/messages", channel_id=channel), card, body)
        return f"{channel}/{made['id']}"

    async def _send_beneath(self, thread: str, card: Card, body: Body, ref: str) -> tuple[str, str]:
        """Posts in the thread of a message, or in its channel with a quote if the thread is locked. Returns the
        reference, and where it is."""
        try:
            return await self._send(thread, card, body), thread
        except discord.HTTPException as error:
            if error.code not in THREAD_LOCKED:
                raise
            _LOG.info("cannot post in the thread of %s: %s", ref, error)
        channel = _parts(ref)[0]
        return await self._send(channel, card, {**body, **_quote(ref)}), channel

    async def _start_post(self, forum: str, card: Card, body: Body) -> str:
        """Starts a post in a forum channel, which is a thread with a first message of the same id."""
        # Docs: resources/channel, start thread in forum channel. Its message takes no nonce.
        message = {name: part for name, part in body.items() if name not in _NOT_EDITED}
        about = {"name": line_of(card.title, DISCORD.thread_name), "auto_archive_duration": _POST_MINUTES}
        found = self._client.get_channel(int(forum))
        if isinstance(found, discord.ForumChannel) and found.flags.require_tag and found.available_tags:
            about["applied_tags"] = [str(found.available_tags[0].id)]
        route = Route("POST", "/channels/{channel_id}/threads", channel_id=forum)
        files = attached(card, message)
        whole = {**about, "message": renumber_attachments(message)}
        if files:
            made = await self._client.http.request(route, files=files, form=multipart_form(whole, files))
        else:
            made = await self._client.http.request(route, json=whole)
        return f"{made['id']}/{made['message']['id']}"

    def _is_forum(self, channel: str) -> bool:
        """Returns whether the gateway has reported the channel as a forum."""
        found = self._client.get_channel(int(channel)) if channel.isdecimal() else None
        return isinstance(found, discord.ForumChannel)

    async def _request(self, route: Route, card: Card, body: Body) -> Any:
        """Sends the body of a message, with the pictures of its card."""
        files = attached(card, body)
        body = renumber_attachments(body)
        if files:
            return await self._client.http.request(route, files=files, form=multipart_form(body, files))
        return await self._client.http.request(route, json=body)

    async def _place(self, target: Target, card: Card) -> tuple[str, bool]:
        """Returns the channel to post in, and whether the post quotes what it replies to."""
        if target.member:
            return await self.direct_channel(target.member), False
        if target.reply_to and not target.broadcast:
            thread = await self._thread_of(target, card)
            return (thread, False) if thread else (_parts(target.reply_to)[0], True)
        if target.reply_to and self._is_forum(target.channel):
            return _parts(target.reply_to)[0], False
        if not target.channel.isdecimal():
            raise DeliveryRefused(f"{target.channel!r} is not a Discord channel id: it must be a number")
        if await self._server_of(target.channel) != target.workspace:
            raise DeliveryRefused(_OTHER_SERVER)
        return target.channel, False

    async def _server_of(self, channel: str) -> str:
        """Returns the server of a channel. The bot's token posts in every server, and admins name channels by their
        ids."""
        known = self._client.get_channel(int(channel))
        if isinstance(known, discord.abc.GuildChannel | discord.Thread):
            return str(known.guild.id)
        if channel not in self._servers:
            found = await self._client.http.request(Route("GET", "/channels/{channel_id}", channel_id=channel))
            self._servers[channel] = str(found.get("guild_id") or "")
            while len(self._servers) > _CHANNELS:
                self._servers.pop(next(iter(self._servers)))
        return self._servers[channel]

    async def direct_channel(self, member: str) -> str:
        """Returns the id of the direct-message channel with a member. Raises discord.HTTPException."""
        made = await self._client.http.start_private_message(int(member))
        return str(made["id"])

    async def _with_thread_link(self, target: Target, card: Card) -> Card:
        """Returns the card with a link to the thread, if it is for the channel and there is one."""
        if not target.broadcast or not target.reply_to:
            return card
        with translate_errors():
            thread = await self._thread_of(target, card)
        url = f"https://discord.com/channels/{target.workspace}/{thread}"
        return replace(card, links=(*card.links, Link("Explanation", url))) if thread else card

    async def _thread_of(self, target: Target, card: Card) -> str | None:
        assert target.reply_to is not None, "a thread belongs to a message"
        return await self._thread(target.reply_to, line_of(target.thread or card.title, DISCORD.thread_name))

    async def _thread(self, ref: str, name: str) -> str | None:
        """Returns the thread of a message, starting it if needed; None if the message cannot have one."""
        channel, message = _parts(ref)
        if channel == message:
            return message  # a post of a forum, which is a thread already
        route = Route(
            "POST", "/channels/{channel_id}/messages/{message_id}/threads", channel_id=channel, message_id=message
        )
        try:
            await self._client.http.request(route, json={"name": name, "auto_archive_duration": _DAY_MINUTES})
        except discord.HTTPException as error:
            if error.code == THREAD_EXISTS:
                return message
            if error.code in NO_THREAD_HERE:
                _LOG.info("cannot start a thread under %s: %s", ref, error)
                return None
            raise
        return message

    async def _post_to_admins(self, target: Target, card: Card, key: str, refused: DeliveryRefused) -> str:
        """Posts an admin notice elsewhere: in the server's system channel, or else to its owner."""
        for other in self._admin_targets(target):
            try:
                return await self._post(other, card, key)
            except DeliveryRefused:
                continue
        raise refused

    def _admin_targets(self, target: Target) -> Iterator[Target]:
        guild = self._client.get_guild(int(target.workspace)) if target.workspace.isdecimal() else None
        if guild is None:
            return
        system = guild.system_channel
        if system is not None and str(system.id) != target.channel and can_post(system, guild):
            yield Target(target.workspace, str(system.id))
        if str(guild.owner_id) != target.member:
            yield Target(target.workspace, target.channel, member=str(guild.owner_id))

    # Finding

    async def _search_channels(self, target: Target) -> list[str]:
        if target.reply_to:
            channel, message = _parts(target.reply_to)
            return [channel] if target.broadcast else [message, channel]
        places = [target.channel] if target.channel.isdecimal() else []
        if self._is_forum(target.channel):
            places = await self._posts_of(target)
        if target.member:
            places = await self._direct_channels(target.member)
        others = self._admin_targets(target) if target.for_admins else ()
        return [*places, *[place for other in others for place in await self._search_channels(other)]]

    async def _posts_of(self, target: Target) -> list[str]:
        """Returns the bot's open posts in a forum that are not older than a search goes back, newest first."""
        route = Route("GET", "/guilds/{guild_id}/threads/active", guild_id=target.workspace)
        found = (await self._client.http.request(route))["threads"]
        since = int((self._clock() - LOOK_BACK).timestamp() * 1000)
        posts = [one["id"] for one in found if one["parent_id"] == target.channel and created_ms(one["id"]) >= since]
        return sorted(map(str, posts), key=int, reverse=True)

    async def _direct_channels(self, member: str) -> list[str]:
        """Returns the direct-message channel with a member, if one can be opened."""
        with suppress(DeliveryRefused), translate_errors():
            return [await self.direct_channel(member)]
        return []

    async def _search(self, channel: str, key: str) -> tuple[Found, int]:
        """Searches a channel from its newest message back; returns the key's messages and how many there should be."""
        since = int((self._clock() - LOOK_BACK).timestamp() * 1000)
        before: str | None = None
        marks, found, count = KeyMatcher(key), Found(), 1
        for _ in range(_PAGES):
            page = await self._page(channel, before)
            for message in page:
                if (read := marks.read(message)) and self._is_ours(message):
                    found[read[0]], count = f"{channel}/{message['id']}", read[1]
            whole = 0 < count <= len(found)
            if whole or len(page) < _PAGE or created_ms(page[-1]["id"]) < since:
                break
            before = str(page[-1]["id"])
        return found, count

    def _is_ours(self, message: Mapping[str, Any]) -> bool:
        user = self._client.user
        return user is None or str((message.get("author") or {}).get("id")) == str(user.id)

    async def _page(self, channel: str, before: str | None) -> list[dict[str, Any]]:
        route = Route("GET", "/channels/{channel_id}/messages", channel_id=channel)
        params: dict[str, Any] = {"limit": _PAGE, **({"before": before} if before else {})}
        try:
            page: list[dict[str, Any]] = await self._client.http.request(route, params=params)
        except discord.HTTPException as error:
            if error.code in GONE:
                return []
            raise
        return page

    def _remember_partial(self, key: str, found: Found) -> None:
        self._partial[key] = found
        while len(self._partial) > _PARTIAL:
            self._partial.pop(next(iter(self._partial)))


def can_post(channel: discord.TextChannel | discord.ForumChannel, guild: discord.Guild) -> bool:
    """Returns whether the cached permissions allow the bot to post in a channel."""
    allowed = channel.permissions_for(guild.me)
    return allowed.view_channel and allowed.send_messages


def _parts(ref: str) -> tuple[str, str]:
    channel, _, message = ref.partition("/")
    if not (channel.isdecimal() and message.isdecimal()):
        raise DeliveryRefused(f"{ref!r} is not a Discord message reference such as 123/456")
    return channel, message


def _is_beneath(place: str, ref: str | None) -> bool:
    """Returns whether a channel is the thread of a message. A post of a forum, which is one too, has no channel."""
    return ref is not None and place == _parts(ref)[1] != _parts(ref)[0]


def _quote(ref: str | None) -> dict[str, Any]:
    if not ref:
        return {}
    return {"message_reference": {"message_id": _parts(ref)[1], "fail_if_not_exists": False}}


# Errors. Docs: topics/opcodes-and-status-codes, JSON error codes


@contextmanager
def translate_errors() -> Iterator[None]:
    """Raises DeliveryRefused or DeliveryDelayed in place of a Discord error that means the same."""
    try:
        yield
    except Exception as error:
        verdict = classify_error(error)
        if verdict is error:
            raise
        raise verdict from error


def classify_error(error: Exception) -> Exception:
    """Returns DeliveryRefused or DeliveryDelayed if Discord certainly posted nothing; otherwise the error itself."""
    if isinstance(error, discord.RateLimited):
        return DeliveryDelayed(error.retry_after)
    if not isinstance(error, discord.HTTPException):
        return error
    if error.status == 429 or error.code == 20028:
        return DeliveryDelayed(retry_after(error))
    if error.status == 401 or (error.status in (403, 404) and not error.code):
        # The token is being replaced, or a proxy answered instead of Discord.
        return DeliveryDelayed(_BUSY_S * 6)
    if error.status in (400, 403, 404):
        reason = error.text.splitlines()[0][:200] if error.text else error.response.reason
        cure = _FIXES.get(error.code, "see `/quiz-admin doctor`")
        return DeliveryRefused(
            f"Discord says “{reason}” ({error.code or error.status}): {cure}", waits=error.code in _WAITS
        )
    return error


def retry_after(error: discord.HTTPException) -> float:
    """Returns how long Discord asks to wait, seconds."""
    given = error.response.headers.get("Retry-After", "")
    try:
        return min(max(float(given), 0.5), 3600.0)
    except ValueError:
        return _BUSY_S


# Attachments


def attached(card: Card, body: Body) -> list[discord.File]:
    """Returns the files of the pictures in a body."""
    attachments = body.get("attachments") or ()
    shown: Sequence[bytes] = card.pictures if attachments else ()
    return [
        discord.File(BytesIO(shown[int(one["id"])]), filename=one["filename"], description=one["description"])
        for one in attachments
    ]


def renumber_attachments(body: Body) -> Body:
    """Returns the body with its attachments numbered from 0, like the files of its request."""
    if not body.get("attachments"):
        return body
    return {**body, "attachments": [{**one, "id": str(place)} for place, one in enumerate(body["attachments"])]}


def multipart_form(body: Body, files: Iterable[discord.File]) -> list[dict[str, Any]]:
    """Returns the multipart form of a request with files."""
    parts: list[dict[str, Any]] = [
        {"name": "payload_json", "value": json.dumps(body), "content_type": "application/json"}
    ]
    for place, file in enumerate(files):
        parts.append(
            {
                "name": f"files[{place}]",
                "value": file.fp,
                "filename": file.filename,
                "content_type": "image/png",
            }
        )
    return parts
