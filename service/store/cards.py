"""Rows of practice cards, and queries for new questions to practice. FSRS computes due dates in
`service.rounds.practice`."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from sqlalchemy import BigInteger, DateTime, ForeignKey, Index, Select, any_, bindparam, func, literal, select, union
from sqlalchemy.dialects.postgresql import ARRAY, JSONB, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from questions.model import Level
from service.domain.selection import PastRound
from service.store.banks import is_asked_now, restrict_to_askable
from service.store.duels import is_asked_in_duel, list_asked_in_duels
from service.store.ledger import is_within_topic
from service.store.members import Caller, merged_ids
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
    query = restrict_to_askable(select(QuestionRow.id, QuestionVersion.id), caller.workspace_id)
    query = query.where(~is_asked_now(caller.workspace_id), ~is_asked_in_duel(caller.member_id))
    if topic:
        query = query.where(is_within_topic(topic))
    if level:
        query = query.where(QuestionVersion.level == level)
    if kind:
        query = query.where(QuestionVersion.kind == kind)
    cards = select(CardRow.question_id).where(CardRow.member_id == caller.member_id, CardRow.due <= now)
    cards = cards.order_by(CardRow.due, CardRow.question_id)
    # A member can have thousands of due cards. The first ones are nearly always enough.
    for limit in (4 * MANY_DUE, None):
        ids = (await session.scalars(cards.limit(limit))).all()
        rows = await session.execute(query.where(QuestionRow.id == any_(bindparam("ids", ids, ARRAY(BigInteger)))))
        askable = {row[0]: row[1] for row in rows}
        due = [askable[id_] for id_ in ids if id_ in askable]
        if len(due) > MANY_DUE or limit is None or len(ids) < limit:
            break
    return (due[0], min(len(due) - 1, MANY_DUE)) if due else None


async def list_met(session: AsyncSession, caller: Caller) -> set[int]:
    """Returns the ids of the questions that are not new to the member: answered, with a card, or asked in a duel that
    they are playing."""
    answered = (
        select(QuestionVersion.question_id)
        .join(AnswerRow, AnswerRow.version_id == QuestionVersion.id)
        .where(AnswerRow.member_id.in_(merged_ids(caller.member_id)))
    )
    with_card = select(CardRow.question_id).where(CardRow.member_id == caller.member_id)
    return set(await session.scalars(union(answered, with_card, list_asked_in_duels(caller.member_id))))


async def list_latest(session: AsyncSession, member_id: int) -> list[PastRound]:
    """Returns the questions the member practiced last, oldest first."""
    rows = await session.execute(
        select(AnswerRow.at, QuestionVersion.id, QuestionVersion.topic, QuestionVersion.level)
        .join(QuestionVersion, QuestionVersion.id == AnswerRow.version_id)
        .where(AnswerRow.member_id.in_(merged_ids(member_id)), AnswerRow.round_id.is_(None))
        .order_by(AnswerRow.id.desc())
        .limit(LATEST)
    )
    latest = [PastRound(str(id_), at.date(), topic, cast(Level | None, level)) for at, id_, topic, level in rows]
    return latest[::-1]


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
    mine = (AnswerRow.member_id.in_(merged_ids(caller.member_id)), AnswerRow.round_id.is_(None), AnswerRow.at >= since)
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
        .limit(limit)
        .subquery()
    )
    secret = is_asked_now(caller.workspace_id) | is_asked_in_duel(caller.member_id)
    query = (
        select(AnswerRow.id, AnswerRow.version_id, secret, CardRow.due)
        .join(answered, answered.c.latest == AnswerRow.id)
        .join(QuestionRow, QuestionRow.id == answered.c.question_id)
        .outerjoin(CardRow, (CardRow.question_id == QuestionRow.id) & (CardRow.member_id == caller.member_id))
        .order_by(answered.c.first)
    )
    return [Practiced(*row) for row in await session.execute(query)]


async def find_card(session: AsyncSession, member_id: int, question_id: int) -> CardRow | None:
    """Returns the member's card of a question."""
    return await session.get(CardRow, (member_id, question_id))


async def lock_card(session: AsyncSession, member_id: int, question_id: int) -> CardRow | None:
    """Returns the member's card of a question, locked until the transaction ends."""
    query = select(CardRow).where(CardRow.member_id == member_id, CardRow.question_id == question_id)
    return await session.scalar(query.with_for_update().execution_options(populate_existing=True))


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


async def count_cards(session: AsyncSession, member_id: int, now: datetime) -> tuple[int, int]:
    """Returns how many cards the member has, and how many of them are due."""
    query = select(func.count(), func.count().filter(CardRow.due <= now)).where(CardRow.member_id == member_id)
    total, due_now = (await session.execute(query)).one()
    return int(total), int(due_now)
