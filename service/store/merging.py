"""Two members who are one person, as rows: what is re-pointed, what is booked over. The rules are `merging`'s."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store import people
from service.store.tables import (
    Answer,
    Card,
    Identity,
    Ledger,
    LinkCode,
    Member,
    Outbox,
    Report,
    Round,
    Schedule,
    Standing,
    StreakGrace,
)


@dataclass(frozen=True, slots=True)
class Booked:
    """What a member has of one round, or one booking that belongs to none."""

    place: str
    """Which: `round:7`, or `row:12`."""
    round_id: int | None
    at: datetime
    points: int
    credit: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class Stands:
    """A member's answer that counts in a round."""

    round_id: int
    answer_id: int
    at: datetime


async def hold(session: AsyncSession, member_ids: Sequence[int]) -> dict[int, Member]:
    """These members by number, of whose answers only this transaction writes any more, and whose rounds neither
    close nor are judged meanwhile."""
    query = select(Member).where(Member.id.in_(member_ids)).order_by(Member.id).with_for_update(key_share=True)
    found = {member.id: member for member in await session.scalars(query.execution_options(populate_existing=True))}
    theirs = select(Standing.round_id).where(Standing.member_id.in_(member_ids))
    await session.execute(select(Round.id).where(Round.id.in_(theirs)).order_by(Round.id).with_for_update())
    return found


async def chats_of(session: AsyncSession, member_id: int) -> set[int]:
    """The chats a member is known in."""
    return set(await session.scalars(select(Identity.chat_id).where(Identity.member_id == member_id)))


async def booked(session: AsyncSession, member_id: int) -> dict[str, Booked]:
    """All a member's bookings, those of one round added up."""
    rounds = await session.execute(
        select(
            Ledger.round_id,
            func.min(Ledger.at),
            func.sum(Ledger.points),
            func.sum(Ledger.credit),
            func.sum(Ledger.seconds),
        )
        .where(Ledger.member_id == member_id, Ledger.round_id.is_not(None))
        .group_by(Ledger.round_id)
    )
    found = [Booked(f"round:{row[0]}", row[0], row[1], int(row[2]), row[3], row[4]) for row in rounds]
    single = await session.scalars(select(Ledger).where(Ledger.member_id == member_id, Ledger.round_id.is_(None)))
    found += [Booked(f"row:{row.id}", None, row.at, row.points, row.credit, row.seconds) for row in single]
    return {each.place: each for each in found}


async def book(session: AsyncSession, workspace_id: int, rows: Sequence[tuple[str, int, Booked]]) -> None:
    """Book each of these (key, member, what), once."""
    values: list[dict[str, Any]] = [
        {
            "key": key,
            "workspace_id": workspace_id,
            "member_id": member_id,
            "round_id": what.round_id,
            "points": what.points,
            "credit": what.credit,
            "seconds": what.seconds,
            "reason": "link",
            "at": what.at,
        }
        for key, member_id, what in rows
    ]
    if values:
        await session.execute(insert(Ledger).values(values).on_conflict_do_nothing())


async def stands(session: AsyncSession, member_id: int) -> dict[int, Stands]:
    """Every answer of a member that counts, by round."""
    rows = await session.execute(
        select(Standing.round_id, Answer.id, Answer.at)
        .join(Answer, Answer.id == Standing.answer_id)
        .where(Standing.member_id == member_id)
    )
    return {round_id: Stands(round_id, answer_id, at) for round_id, answer_id, at in rows}


async def let_stand(session: AsyncSession, kept: int, gone: int, theirs: Sequence[int]) -> None:
    """Have the answers of `gone` count for `kept`: in the rounds `theirs` in place of any other, else where it has
    none."""
    mine = select(Standing.round_id).where(Standing.member_id == kept)
    await session.execute(delete(Standing).where(Standing.member_id == kept, Standing.round_id.in_(theirs)))
    leaving = Standing.member_id == gone
    await session.execute(delete(Standing).where(leaving, Standing.round_id.in_(mine)))
    await session.execute(update(Standing).where(leaving).values(member_id=kept))


async def cards(session: AsyncSession, kept: int, gone: int) -> int:
    """Unite two members' cards: of a question both have, the state reviewed last stays, and all reviews count.
    Returns how many came to `kept`."""
    have = {card.question_id: card for card in await session.scalars(select(Card).where(Card.member_id == kept))}
    moved = 0
    for card in list(await session.scalars(select(Card).where(Card.member_id == gone))):
        other = have.get(card.question_id)
        if other is None:
            other = Card(member_id=kept, question_id=card.question_id, state=card.state, due=card.due, reviews=0)
            session.add(other)
            moved += 1
        elif _reviewed(card) > _reviewed(other):
            other.state, other.due = card.state, card.due
        other.reviews += card.reviews
        await session.delete(card)
    await session.flush()
    return moved


async def repoint(session: AsyncSession, kept: int, gone: int) -> None:
    """Have all that may change of `gone` be that of `kept`; what they answered and did stays on the record."""
    for table in (Report, Outbox, Identity):
        await session.execute(update(table).where(table.member_id == gone).values(member_id=kept))
    await session.execute(update(Schedule).where(Schedule.made_by == gone).values(made_by=kept))
    await session.execute(update(Member).where(Member.merged_into == gone).values(merged_into=kept))
    await session.execute(delete(LinkCode).where(LinkCode.member_id.in_((kept, gone))))
    excused = await session.scalars(select(StreakGrace.round_id).where(StreakGrace.member_id == gone))
    await people.excuse(session, kept, list(excused))
    await session.execute(delete(StreakGrace).where(StreakGrace.member_id == gone))


def _reviewed(card: Card) -> str:
    return str(card.state.get("reviewed_at") or "")
