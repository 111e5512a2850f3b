"""What Discord's errors mean for a message: refused for good with a cure, later, or nobody knows. Pure.

The codes are Discord's own: docs, topics/opcodes-and-status-codes, JSON error codes.
"""

from __future__ import annotations

from typing import Final

import discord

from bot.core.platform import Later, Refused

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
        return Later(error.retry_after)
    if not isinstance(error, discord.HTTPException):
        return error
    if error.status == 429 or error.code == 20028:
        return Later(retry_after(error))
    if error.status == 401 or (error.status in (403, 404) and not error.code):
        # The token is being changed, or something before Discord answers in its place.
        return Later(_BUSY_S * 6)
    if error.status in (400, 403, 404):
        said = error.text.splitlines()[0][:200] if error.text else error.response.reason
        cure = _CURES.get(error.code, "see `/quiz-admin doctor`")
        return Refused(f"Discord says “{said}” ({error.code or error.status}): {cure}")
    return error


def retry_after(error: discord.HTTPException) -> float:
    """How long Discord asks to wait, which its library reads from neither."""
    given = error.response.headers.get("Retry-After", "")
    try:
        return min(max(float(given), 0.5), 3600.0)
    except ValueError:
        return _BUSY_S
