"""What admins set right for one member: a streak broken by no fault of theirs, points booked by hand."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import NotFound, NotPossible
from service.store import ledger, people
from service.store.members import Caller
from service.store.tables import Member

MOST_POINTS = 1_000_000
"""Of one adjustment, either way."""


async def member_called(session: AsyncSession, caller: Caller, name: str) -> Member:
    """The one member of that name; refused where there is none or where there are several."""
    found = await people.called(session, caller.workspace_id, name)
    if not found:
        raise NotFound(what=f"member {name!r}", cure="Write the name as the board shows it.")
    if len(found) > 1:
        ids = ", ".join(await people.ids(session, [member.id for member in found]))
        raise NotPossible(cause=f"{len(found)} members are called {name!r}: name one by the platform's id, of {ids}.")
    return found[0]


async def restore(session: AsyncSession, caller: Caller, member: Member, day: date) -> None:
    """Let the rounds of `day` break no streak of the member; refused where that day had none."""
    rounds = await people.posted_rounds(session, caller.workspace_id, day)
    if not rounds:
        raise NotPossible(cause=f"No question was posted on {day}: there is no streak to restore.")
    await people.excuse(session, member.id, rounds)


async def adjust(
    session: AsyncSession, caller: Caller, member: Member, points: int, reason: str, event_id: str, now: datetime
) -> None:
    """Book points to the member, with a reason everybody may ask for."""
    reason = reason.strip()
    if not reason:
        raise NotPossible(cause="Points need a reason: say in a few words what they are for.")
    if not 0 < abs(points) <= MOST_POINTS:
        raise NotPossible(cause=f"{points} points cannot be booked: use a number from 1 to {MOST_POINTS}, or below 0.")
    ledger.adjust(session, caller, member.id, points, reason, event_id, now)
    await session.flush()
