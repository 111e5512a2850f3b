"""Chats linked to one workspace: an admin makes a code in one chat, and an admin of another types it there.

What the joining chat's workspace has comes along, all of it:
- its chats, channels and schedules go on as they were, and its rounds, answers, streaks and cards with them;
- its members stay who they are, until each links their own two accounts with `/quiz link`;
- its points stay on the days they were won, so they count on the shared boards of those days from now on;
- its own banks are asked from by everybody then, and what either side retired stays retired; a bank or a season
  whose name is taken gets a number;
- its running season ends, with its board kept; the other one's goes on.
Nothing that was logged changes but the workspace it is filed under. A round that is open here would change its
rivals half-way, so until its close nothing is joined.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from service import codes, seasons
from service.errors import NotPossible
from service.store import audits, chats, linkcodes
from service.store import seasons as season_rows
from service.store.chats import Holdings
from service.store.members import Caller
from service.wire import ChatLinked

WHAT = "chat"
BAD_CODE = (
    "That code is wrong, was used, or is older than 15 minutes. Make a new one in the other chat with "
    "/quiz-admin link, and type it here."
)
TOO_OFTEN = "Too many codes were tried here. Wait 15 minutes, then make a new code and type that one."


async def note_guess(session: AsyncSession, caller: Caller, now: datetime) -> None:
    """Note that the caller tries a code; refused where that was done too often. Commit it before the code is tried:
    what a wrong code undoes must not be this."""
    if not await linkcodes.may_guess(session, caller.workspace_id, now, codes.GOOD_FOR, codes.GUESSES):
        raise NotPossible(cause=TOO_OFTEN)


def making(
    session: AsyncSession, caller: Caller, what: str, digest: str, now: datetime
) -> Callable[[], Awaitable[datetime]]:
    """Work that keeps a code's digest; returns until when the code is good."""

    async def work() -> datetime:
        await linkcodes.put(session, caller, what, digest, now, now + codes.GOOD_FOR)
        return now + codes.GOOD_FOR

    return work


async def join(
    session: AsyncSession, caller: Caller, digests: Sequence[str], now: datetime, *, sure: bool
) -> ChatLinked:
    """Join the caller's workspace to the one that made the code; unless `sure`, only say what that would bring along
    where it brings anything. Refused, with nothing changed, for a bad code and while a round is open here."""
    code = await linkcodes.held(session, WHAT, digests, now)
    if code is None:
        raise NotPossible(cause=BAD_CODE)
    old, new = caller.workspace_id, code.workspace_id
    if old == new:
        raise NotPossible(cause="These two chats are linked already: they share one board.")
    await chats.hold(session, [old, new])
    if found := await chats.open_round(session, old):
        round_, channel = found
        raise NotPossible(
            cause=f"A question is open in {channel} until {round_.closes_at:%H:%M} UTC: chats are linked between "
            "rounds. Close it there with /quiz-admin close-now, or wait; then type the code again."
        )
    has = await chats.holdings(session, old)
    running = await season_rows.running(session, old)
    view = ChatLinked(
        done=sure or not has.is_history,
        platforms=tuple(await chats.platforms(session, [new, old])),
        schedules=has.schedules,
        members=has.members,
        points=has.points,
        banks=has.banks,
        seasons=has.seasons,
        ending=running.name if running else "",
    )
    if view.done:
        await linkcodes.use(session, code)
        await _bring(session, caller, new, has, now)
    return view


async def _bring(session: AsyncSession, caller: Caller, new: int, has: Holdings, now: datetime) -> None:
    if await season_rows.running(session, caller.workspace_id):
        await seasons.end(session, caller, now)
    joining = "+".join(await chats.platforms(session, [caller.workspace_id]))
    await chats.move(session, caller.workspace_id, new)
    detail = {"chat": joining, "schedules": has.schedules, "members": has.members, "points": has.points}
    audits.add(session, dataclasses.replace(caller, workspace_id=new), "chat join", detail, now)
