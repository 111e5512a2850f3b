"""One person with an account in each of two chats becomes one member: a code made in one is typed in the other.

The member who made the code stays; the one who types it turns out to be them.
- Points are booked over: each round of the one leaves by a booking and arrives by another, on the day it was won, so
  that every sum over the two stays as it was. A round that both answered is one round and counts once, by the better
  of the two results; the lesser is what the sum loses. The log itself is never changed.
- Of a round that is open, the newer of two answers counts, as ever. Of a closed one, the better.
- Streaks run through the rounds of both. Cards are united: of a question both have, the state reviewed last.
- Whoever hid under either account is hidden. Whoever was forgotten has no account left to link, and comes back by
  none.
- Nobody else's bookings, answers or cards change.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import NotPossible
from service.joining import BAD_CODE
from service.store import audits, linkcodes
from service.store import members as member_rows
from service.store import merging as rows
from service.store.members import Caller
from service.store.merging import Booked, Stands
from service.store.tables import LinkCode
from service.wire import MemberLinked

WHAT = "member"


async def link(session: AsyncSession, caller: Caller, digests: Sequence[str], now: datetime) -> MemberLinked:
    """Join the caller to the member who made the code; refused, with nothing changed, where it cannot be."""
    code = await linkcodes.held(session, WHAT, digests, now)
    if code is None:
        raise NotPossible(cause=BAD_CODE.replace("/quiz-admin link", "/quiz link"))
    _refuse_strangers(caller, code)
    kept = (await member_rows.became(session, code.member_id)).id
    gone = (await member_rows.locked(session, caller)).member_id
    if kept == gone:
        raise NotPossible(cause="These two accounts are linked already.")
    if await rows.chats_of(session, kept) & await rows.chats_of(session, gone):
        raise NotPossible(cause="Both of you are known in the same chat already, so you cannot be one member.")
    await linkcodes.use(session, code)
    linked = await merge(session, kept, gone)
    audits.add(session, dataclasses.replace(caller, member_id=kept), "member link", {"member": kept}, now)
    return linked


async def merge(session: AsyncSession, kept: int, gone: int) -> MemberLinked:
    """Make `gone` turn out to be `kept`, both of one workspace."""
    people = await rows.hold(session, [kept, gone])
    stays, leaves = people[kept], people[gone]
    mine, theirs = await rows.booked(session, kept), await rows.booked(session, gone)
    bookings = [booking for each in theirs.values() for booking in _over(kept, gone, mine.get(each.place), each)]
    twice = await _unite_answers(session, kept, gone, mine, theirs)
    await rows.book(session, stays.workspace_id, bookings)
    cards = await rows.cards(session, kept, gone)
    await rows.repoint(session, kept, gone)
    stays.hidden = stays.hidden or leaves.hidden
    stays.joined_at = min(stays.joined_at, leaves.joined_at)
    leaves.merged_into = kept
    await session.flush()
    known = await member_rows.identities(session, kept)
    return MemberLinked(
        name=stays.name,
        platforms=tuple([chat.platform for _, chat in known]),
        points=sum(what.points for _, member, what in bookings if member == kept),
        twice=twice,
        cards=cards,
        hidden=stays.hidden,
    )


def _refuse_strangers(caller: Caller, code: LinkCode) -> None:
    if code.workspace_id != caller.workspace_id:
        raise NotPossible(
            cause="That code was made in a chat that is not linked with this one. First an admin links the two with "
            "/quiz-admin link; then type the code again, or a new one."
        )
    if code.chat_id == caller.chat_id:
        raise NotPossible(cause="That code was made in this very chat: type it in the other one.")


def _over(kept: int, gone: int, mine: Booked | None, theirs: Booked) -> list[tuple[str, int, Booked]]:
    """The bookings that take `theirs` from one member to the other, where it is better than what is there."""
    key = f"link:{gone}:{theirs.place}"
    out = [(f"{key}:out", gone, _difference(theirs, None))]
    if mine is None:
        return [*out, (f"{key}:in", kept, theirs)]
    if theirs.points <= mine.points:
        return out
    return [*out, (f"{key}:in", kept, _difference(mine, theirs))]


def _difference(before: Booked, after: Booked | None) -> Booked:
    """What turns one sum into the other, or into nothing."""
    return dataclasses.replace(
        before,
        points=(after.points if after else 0) - before.points,
        credit=None if before.credit is None else ((after and after.credit) or 0.0) - before.credit,
        seconds=None if before.seconds is None else ((after and after.seconds) or 0.0) - before.seconds,
    )


async def _unite_answers(
    session: AsyncSession, kept: int, gone: int, mine: dict[str, Booked], theirs: dict[str, Booked]
) -> int:
    """Have one answer count in each round; returns in how many rounds there were two."""
    have, come = await rows.stands(session, kept), await rows.stands(session, gone)
    both = have.keys() & come.keys()
    better = [
        round_id
        for round_id in both
        if _prevails(have[round_id], come[round_id], mine.get(f"round:{round_id}"), theirs.get(f"round:{round_id}"))
    ]
    await rows.let_stand(session, kept, gone, better)
    return len(both)


def _prevails(have: Stands, come: Stands, mine: Booked | None, theirs: Booked | None) -> bool:
    """Whether the answer that comes counts in place of the one that is there."""
    if mine is None and theirs is None:
        return (come.at, come.answer_id) > (have.at, have.answer_id)
    return mine is None or (theirs is not None and theirs.points > mine.points)
