"""Rows of practice cards, and queries for new questions to practice. FSRS computes due dates in
`service.rounds.practice`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from sqlalchemy import (
    BigInteger,
    CompoundSelect,
    DateTime,
    ForeignKey,
    Index,
    Select,
    any_,
    func,
    literal,
    select,
    type_coerce,
    union,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from questions.model import Level
from service.domain.selection import PastRound
from service.store.banks import is_asked_now, restrict_to_askable
from service.store.duels import is_asked_in_duel, list_asked_in_duels
from service.store.ledger import is_within_topic
from service.store.members import Caller, merged_ids
from service.store.statements import built_once
from service.store.tables import AnswerRow, Base, QuestionRow, QuestionVersion
from service.wire import MANY_DUE


class CardRow(Base):
    """A member's practice card of a question, in FSRS's terms."""

    __tablename__ = "card"
    __table_args__ = (Index("ix_card_due", "member_id", "due", "question_id"),)
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), primary_key=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("question.id"), primary_key=True, index=True)
    state: Mapped[dict[str, Any]]
    due: Mapped[datetime]
    reviews: Mapped[int] = mapped_column(server_default="0")


LATEST: Final = 12
"""Number of latest practiced questions that the next one is balanced against."""


async def find_due(
    session: AsyncSession, caller: Caller, now: datetime, topic: str = "", level: str = "", kind: str = ""
) -> tuple[int, int] | None:
    """Returns the question version whose card is overdue longest, and how many others are due, at most `MANY_DUE`.
    Leaves out those open in a round or in a duel of the caller."""
    wanted = []
    if topic:
        wanted.append(is_within_topic(topic))
    if level:
        wanted.append(QuestionVersion.level == level)
    if kind:
        wanted.append(QuestionVersion.kind == kind)
    # A member can have thousands of due cards. The first ones are nearly always enough.
    for limit in (4 * MANY_DUE, None):
        ids = (await session.scalars(*_select_due(caller.member_id, now, limit))).all()
        if not ids:
            return None
        query, values = _select_askable(caller.workspace_id, caller.member_id, ids)
        rows = await session.execute(query.where(*wanted) if wanted else query, values)
        askable = {row[0]: row[1] for row in rows}
        due = [askable[id_] for id_ in ids if id_ in askable]
        if len(due) > MANY_DUE or limit is None or len(ids) < limit:
            break
    return (due[0], min(len(due) - 1, MANY_DUE)) if due else None


@built_once
def _select_due(member_id: int, now: datetime, most: int | None) -> Select[int]:
    cards = select(CardRow.question_id).where(CardRow.member_id == member_id, CardRow.due <= now)
    return cards.order_by(CardRow.due, CardRow.question_id).limit(most)


@built_once
def _select_askable(workspace_id: int, member_id: int, ids: Sequence[int]) -> Select[*tuple[Any, ...]]:
    query = restrict_to_askable(select(QuestionRow.id, QuestionVersion.id), workspace_id)
    query = query.where(~is_asked_now(workspace_id), ~is_asked_in_duel(member_id))
    return query.where(QuestionRow.id == any_(type_coerce(ids, ARRAY(BigInteger))))


async def list_met(session: AsyncSession, caller: Caller) -> set[int]:
    """Returns the ids of the questions that are not new to the member: answered, with a card, or asked in a duel that
    they are playing."""
    return set(await session.scalars(*_select_met(caller.member_id)))


@built_once
def _select_met(member_id: int) -> CompoundSelect[int]:
    answered = (
        select(QuestionVersion.question_id)
        .join(AnswerRow, AnswerRow.version_id == QuestionVersion.id)
        .where(AnswerRow.member_id.in_(merged_ids(member_id)))
    )
    with_card = select(CardRow.question_id).where(CardRow.member_id == member_id)
    return union(answered, with_card, list_asked_in_duels(member_id))


async def list_latest(session: AsyncSession, member_id: int) -> list[PastRound]:
    """Returns the questions the member practiced last, oldest first."""
    rows = await session.execute(*_select_latest(member_id))
    latest = [PastRound(str(id_), at.date(), topic, cast(Level | None, level)) for at, id_, topic, level in rows]
    return latest[::-1]


@built_once
def _select_latest(member_id: int) -> Select[datetime, int, str, str | None]:
    return (
        select(AnswerRow.at, QuestionVersion.id, QuestionVersion.topic, QuestionVersion.level)
        .join(QuestionVersion, QuestionVersion.id == AnswerRow.version_id)
        .where(AnswerRow.member_id.in_(merged_ids(member_id)), AnswerRow.round_id.is_(None))
        .order_by(AnswerRow.id.desc())
        .limit(LATEST)
    )


@dataclass(frozen=True, slots=True)
class Practiced:
    """A question that a member practiced, with their latest answer to it."""

    answer_id: int
    version_id: int
    secret: bool
    """Whether a round, a sprint or a duel of the member asks the question now."""
    due: datetime | None


async def list_practiced(session: AsyncSession, caller: Caller, since: datetime, limit: int) -> list[Practiced]:
    """Returns the questions that the caller answered in practice since then, in the order of the first answers."""
    query, values = _select_practiced(caller.workspace_id, caller.member_id, since, limit)
    return [Practiced(*row) for row in await session.execute(query, values)]


@built_once
def _select_practiced(
    workspace_id: int, member_id: int, since: datetime, most: int
) -> Select[int, int, bool, datetime | None]:
    mine = (AnswerRow.member_id.in_(merged_ids(member_id)), AnswerRow.round_id.is_(None), AnswerRow.at >= since)
    answered = (
        select(
            QuestionVersion.question_id,
            func.min(AnswerRow.id).label("first"),
            func.max(AnswerRow.id).label("latest"),
        )
        .join(QuestionVersion, QuestionVersion.id == AnswerRow.version_id)
        .where(*mine)
        .group_by(QuestionVersion.question_id)
        .order_by(func.min(AnswerRow.id))
        .limit(most)
        .subquery()
    )
    secret = is_asked_now(workspace_id) | is_asked_in_duel(member_id)
    return (
        select(AnswerRow.id, AnswerRow.version_id, secret, CardRow.due)
        .join(answered, answered.c.latest == AnswerRow.id)
        .join(QuestionRow, QuestionRow.id == answered.c.question_id)
        .outerjoin(CardRow, (CardRow.question_id == QuestionRow.id) & (CardRow.member_id == member_id))
        .order_by(answered.c.first)
    )


async def find_card(session: AsyncSession, member_id: int, question_id: int) -> CardRow | None:
    """Returns the member's card of a question."""
    return await session.get(CardRow, (member_id, question_id))


async def lock_card(session: AsyncSession, member_id: int, question_id: int) -> CardRow | None:
    """Returns the member's card of a question, locked until the transaction ends."""
    card: CardRow | None = await session.scalar(*_lock_card(member_id, question_id))
    return card


@built_once
def _lock_card(member_id: int, question_id: int) -> Select[CardRow]:
    query = select(CardRow).where(CardRow.member_id == member_id, CardRow.question_id == question_id)
    return query.with_for_update().execution_options(populate_existing=True)


async def create_cards(
    session: AsyncSession, member_ids: Select[int], question_id: int, state: dict[str, Any], due: datetime
) -> None:
    """Creates a card due at `due` for each selected member. An existing card becomes due then, unless it is due
    sooner."""
    chosen = member_ids.subquery()
    columns = (chosen.c[0], literal(question_id), literal(state, JSONB), literal(due, DateTime(timezone=True)))
    new = insert(CardRow).from_select(
        ["member_id", "question_id", "state", "due"],
        # Always in the same order, so that closes at the same moment cannot deadlock.
        select(*columns).order_by(chosen.c[0]),
    )
    earlier = {"due": func.least(CardRow.due, new.excluded.due)}
    await session.execute(new.on_conflict_do_update(index_elements=["member_id", "question_id"], set_=earlier))


async def count_cards(session: AsyncSession, caller: Caller, now: datetime) -> tuple[int, int]:
    """Returns how many cards the caller has, and how many of them are due. Leaves out due ones that `find_due` leaves
    out, such as those of retired questions."""
    total, due_now = (await session.execute(*_count_cards(caller.workspace_id, caller.member_id, now))).one()
    return int(total), int(due_now)


@built_once
def _count_cards(workspace_id: int, member_id: int, now: datetime) -> Select[int, int]:
    total = select(func.count()).select_from(CardRow).where(CardRow.member_id == member_id)
    overdue = select(CardRow.question_id).where(CardRow.member_id == member_id, CardRow.due <= now)
    due = restrict_to_askable(select(func.count()).select_from(QuestionVersion), workspace_id)
    due = due.where(QuestionRow.id.in_(overdue), ~is_asked_now(workspace_id), ~is_asked_in_duel(member_id))
    return select(total.scalar_subquery(), due.scalar_subquery())
