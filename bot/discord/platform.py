"""Discord for the courier: makes each message once, finds it again, starts a round's thread once. It answers nothing.

References are `<channel>/<message>` of a card's first message. A thread bears the id of the message it was started from
(docs, resources/channel, start thread from message), so a thread is found without being remembered.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime, timedelta
from typing import Any, Final

import discord
from discord.http import Route

from bot.core.cards import Card
from bot.core.dispatcher import DeliveryDelayed, DeliveryRefused, Target
from bot.core.rendering import line_of
from bot.discord.render import Body, Marks, attached, instant_ms, keyed, multipart, part_keys, parts_of_card, renumbered
from service.wire import Platform as PlatformName

# What Discord's errors mean for a message: refused for good with a cure, later, or nobody knows. Pure.
#
# The codes are Discord's own: docs, topics/opcodes-and-status-codes, JSON error codes.


THREAD_EXISTS: Final = 160004
NO_THREAD_HERE: Final = frozenset({10008, 50001, 50013, 50024, 160005, 160006, 50083})
"""No thread starts from that message: it is gone, not allowed, of another kind or locked, or too many are open."""
GONE: Final = frozenset({10003, 10008, 10004, 50001})
EXPIRED: Final = frozenset({10015, 50027, 10008})
"""The interaction's token is too old, or the message it made is gone."""

_ROLE = "open Server Settings → Roles, or the channel's own Permissions, and allow the bot"
_CURES: Final[dict[int, str]] = {
    10003: "there is no such channel any more: set the schedule to another with `/quiz-admin schedule add` there",
    10004: "the bot is no longer in that server: add it again by its install link",
    10008: "the message it belongs to was deleted",
    10013: "there is no such member any more",
    20028: "the channel is in slow mode",
    30007: "the server has too many webhooks",
    40067: "the channel wants a tag on every post: the quiz needs a text channel",
    50001: f"the bot cannot see that channel: {_ROLE} View Channel and Send Messages",
    50007: "the member takes no direct messages from this server, or has blocked the bot: `/quiz today` and "
    "`/quiz practice` say the same in the server",
    50008: "that channel holds no messages: the quiz needs a text channel",
    50013: f"the bot may not write there: {_ROLE} View Channel, Send Messages, Send Messages in Threads, Embed Links "
    "and Attach Files",
    50024: "that channel is of a kind that takes no such message: the quiz needs a text channel",
    50035: "Discord finds the message malformed; that is our fault: please report it",
    50083: "the thread is archived and locked: unlock it",
    50278: "the member shares no server with the bot any more",
}
_BUSY_S: Final = 10.0


def verdict_on(error: Exception) -> Exception:
    """Refused or Later where Discord's answer leaves no doubt that nothing was posted; else the error itself."""
    if isinstance(error, discord.RateLimited):
        return DeliveryDelayed(error.retry_after)
    if not isinstance(error, discord.HTTPException):
        return error
    if error.status == 429 or error.code == 20028:
        return DeliveryDelayed(retry_after(error))
    if error.status == 401 or (error.status in (403, 404) and not error.code):
        # The token is being changed, or something before Discord answers in its place.
        return DeliveryDelayed(_BUSY_S * 6)
    if error.status in (400, 403, 404):
        said = error.text.splitlines()[0][:200] if error.text else error.response.reason
        cure = _CURES.get(error.code, "see `/quiz-admin doctor`")
        return DeliveryRefused(f"Discord says “{said}” ({error.code or error.status}): {cure}")
    return error


def retry_after(error: discord.HTTPException) -> float:
    """How long Discord asks to wait, which its library reads from neither."""
    given = error.response.headers.get("Retry-After", "")
    try:
        return min(max(float(given), 0.5), 3600.0)
    except ValueError:
        return _BUSY_S


_LOG = logging.getLogger(__name__)

# How far back a message is looked for: longer than any is tried.
LOOK_BACK: Final = timedelta(hours=26)
_PAGE: Final = 100
_PAGES: Final = 20
_DAY_MINUTES: Final = 1440
_PARTIAL: Final = 256

Found = dict[int, str]
"""The messages of a card that are there already, by their place."""


class PartlyMade(Exception):
    """Some of a card's messages are there and some are not: look before the next attempt."""


class DiscordPlatform:
    """Fills `core.platform.Platform`. `client` is logged in; it need not be connected to the gateway."""

    name: PlatformName = "discord"

    def __init__(self, client: discord.Client, clock: Callable[[], datetime]) -> None:
        self._client = client
        self._clock = clock
        self._partial: dict[str, Found] = {}

    async def post(self, target: Target, card: Card, key: str) -> str:
        """Make the messages of a card, of one that was partly made the missing ones. Raises as the port says."""
        try:
            return await self._post(target, card, key)
        except DeliveryRefused as refused:
            if not target.for_admins:
                raise
            return await self._post_to_admins(target, card, key, refused)

    async def find(self, target: Target, key: str) -> str | None:
        """The reference of the first message, if all of the card's are there."""
        try:
            with judged():
                for place in await self._places(target):
                    found, count = await self._found_in(place, key)
                    if found and len(found) >= count:
                        return found[1]
                    if found:
                        # Some are there: the next attempt makes the others.
                        self._keep_partial(key, found)
                        return None
        except DeliveryRefused as refused:
            # What cannot be read cannot be found; posting says what is missing.
            _LOG.warning("what was posted as %s cannot be looked for: %s", key, refused)
        return None

    # Posting

    async def _post(self, target: Target, card: Card, key: str) -> str:
        guild = target.workspace if target.member else ""
        bodies = parts_of_card(card, guild=guild, channel=target.channel)
        made = self._partial.pop(key, {})
        try:
            with judged():
                place, quoted = await self._place(target, card)
                for number, (body, part) in enumerate(zip(bodies, part_keys(key, len(bodies)), strict=True), start=1):
                    if number not in made:
                        quote = _reference(target.reply_to) if quoted and number == 1 else {}
                        made[number] = await self._send(place, card, {**keyed(body, part, len(bodies)), **quote})
        except DeliveryDelayed as later:
            if not made:
                raise
            raise PartlyMade(f"{len(made)} of {len(bodies)} messages were made") from later
        finally:
            if 0 < len(made) < len(bodies):
                self._keep_partial(key, made)
        return made[1]

    async def _send(self, channel: str, card: Card, body: Body) -> str:
        route = Route("POST", "/channels/{channel_id}/messages", channel_id=channel)
        files = attached(card, body)
        body = renumbered(body)
        if files:
            made = await self._client.http.request(route, files=files, form=multipart(body, files))
        else:
            made = await self._client.http.request(route, json=body)
        return f"{channel}/{made['id']}"

    async def _place(self, target: Target, card: Card) -> tuple[str, bool]:
        """The channel to post in, and whether the post there quotes what it replies to."""
        if target.member:
            return await self.direct_channel(target.member), False
        if target.reply_to:
            thread = await self._thread(target.reply_to, line_of(card.title, 100))
            return (thread, False) if thread else (_parts(target.reply_to)[0], True)
        if not target.channel.isdecimal():
            raise DeliveryRefused(f"{target.channel!r} is no channel of Discord: its id is a number")
        return target.channel, False

    async def direct_channel(self, member: str) -> str:
        """The channel in which we write to a member alone. Raises discord.HTTPException."""
        made = await self._client.http.start_private_message(int(member))
        return str(made["id"])

    async def _thread(self, ref: str, name: str) -> str | None:
        """The thread of a message, started unless it is there; None where there can be none."""
        channel, message = _parts(ref)
        route = Route(
            "POST", "/channels/{channel_id}/messages/{message_id}/threads", channel_id=channel, message_id=message
        )
        try:
            await self._client.http.request(route, json={"name": name, "auto_archive_duration": _DAY_MINUTES})
        except discord.HTTPException as error:
            if error.code == THREAD_EXISTS:
                return message
            if error.code in NO_THREAD_HERE:
                _LOG.info("no thread beneath %s: %s", ref, error)
                return None
            raise
        return message

    async def _post_to_admins(self, target: Target, card: Card, key: str, refused: DeliveryRefused) -> str:
        """A notice that its channel or member does not take: where the server's own notices go, else to its owner."""
        for other in self._others(target):
            try:
                return await self._post(other, card, key)
            except DeliveryRefused:
                continue
        raise refused

    def _others(self, target: Target) -> Iterator[Target]:
        guild = self._client.get_guild(int(target.workspace)) if target.workspace.isdecimal() else None
        if guild is None:
            return
        system = guild.system_channel
        if system is not None and str(system.id) != target.channel and may_write(system, guild):
            yield Target(target.workspace, str(system.id))
        if str(guild.owner_id) != target.member:
            yield Target(target.workspace, target.channel, member=str(guild.owner_id))

    # Finding

    async def _places(self, target: Target) -> list[str]:
        if target.reply_to:
            channel, message = _parts(target.reply_to)
            return [message, channel]
        places = [target.channel] if target.channel.isdecimal() else []
        if target.member:
            places = await self._alone(target.member)
        others = self._others(target) if target.for_admins else ()
        return [*places, *[place for other in others for place in await self._places(other)]]

    async def _alone(self, member: str) -> list[str]:
        """The channel of one member, if there can be one."""
        with suppress(DeliveryRefused), judged():
            return [await self.direct_channel(member)]
        return []

    async def _found_in(self, channel: str, key: str) -> tuple[Found, int]:
        """The messages of the key in a channel and how many there should be, searched from its newest back."""
        since = int((self._clock() - LOOK_BACK).timestamp() * 1000)
        before: str | None = None
        marks, found, count = Marks(key), Found(), 1
        for _ in range(_PAGES):
            page = await self._page(channel, before)
            for message in page:
                if (read := marks.read(message)) and self._is_ours(message):
                    found[read[0]], count = f"{channel}/{message['id']}", read[1]
            whole = 0 < count <= len(found)
            if whole or len(page) < _PAGE or instant_ms(page[-1]["id"]) < since:
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

    def _keep_partial(self, key: str, found: Found) -> None:
        self._partial[key] = found
        while len(self._partial) > _PARTIAL:
            self._partial.pop(next(iter(self._partial)))


@contextmanager
def judged() -> Iterator[None]:
    """Raises Refused or Later in the place of an error of Discord's that means so."""
    try:
        yield
    except Exception as error:
        verdict = verdict_on(error)
        if verdict is error:
            raise
        raise verdict from error


def may_write(channel: discord.TextChannel, guild: discord.Guild) -> bool:
    """Whether the bot may post there, as far as is known without asking."""
    allowed = channel.permissions_for(guild.me)
    return allowed.view_channel and allowed.send_messages


def _parts(ref: str) -> tuple[str, str]:
    channel, _, message = ref.partition("/")
    if not (channel.isdecimal() and message.isdecimal()):
        raise DeliveryRefused(f"{ref!r} is no message of Discord: it should be like 123/456")
    return channel, message


def _reference(ref: str | None) -> dict[str, Any]:
    if not ref:
        return {}
    return {"message_reference": {"message_id": _parts(ref)[1], "fail_if_not_exists": False}}
