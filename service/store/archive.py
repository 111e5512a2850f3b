"""Queries of the archive: closed rounds by what they asked and how a member did, and what was answered to one.

Each takes one statement.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, String, and_, cast, func, literal_column, or_, select, true
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.banks import is_asked_now
from service.store.duels import is_asked_in_duel
from service.store.ledger import FULL_CREDIT_TOLERANCE, answers_in, is_within_topic
from service.store.members import Caller
from service.store.statements import built_once, json_array
from service.store.tables import AnswerRow, CurrentAnswer, Ledger, QuestionRow, QuestionVersion, Round, Schedule
from service.wire import ArchiveSearch

MOST_WORDS = 8
"""Words of a search that are looked for."""


@dataclass(frozen=True, slots=True)
class ClosedRound:
    """A closed round as one member met it."""

    id: int
    day: date
    version_id: int
    answer_id: int | None


async def list_closed(
    session: AsyncSession, caller: Caller, wanted: ArchiveSearch, size: int
) -> tuple[list[ClosedRound], int]:
    """Returns a page of the workspace's closed rounds, newest first, and how many there are in all."""
    query, values = _select_closed(caller.workspace_id, caller.member_id, size, size * (wanted.page - 1))
    conditions = [*_matches(wanted), *_did(wanted, caller.member_id)]
    rows = (await session.execute(query.where(*conditions) if conditions else query, values)).all()
    return [ClosedRound(*row[:4]) for row in rows], int(rows[0][4]) if rows else 0


@built_once
def _select_closed(workspace_id: int, member_id: int, most: int, skipped: int) -> Select[*tuple[Any, ...]]:
    columns = (Round.id, Round.day, Round.version_id, CurrentAnswer.answer_id, func.count().over())
    query = _closed(workspace_id, member_id, *columns).order_by(Round.opens_at.desc(), Round.id.desc())
    return query.limit(most).offset(skipped)


async def list_topics(session: AsyncSession, caller: Caller) -> list[str]:
    """Returns the topics of the workspace's closed rounds, by name."""
    return list(await session.scalars(*_select_topics(caller.workspace_id, caller.member_id)))


@built_once
def _select_topics(workspace_id: int, member_id: int) -> Select[str]:
    query = _closed(workspace_id, member_id, QuestionVersion.topic).where(QuestionVersion.topic != "").distinct()
    return query.order_by(QuestionVersion.topic)


async def count_answers(session: AsyncSession, round_ids: Collection[int]) -> dict[int, tuple[int, int]]:
    """Returns how many members answered each round, and how many of them fully right."""
    if not round_ids:
        return {}
    found = await session.execute(*_count_answers(round_ids))
    return {row[0]: (int(row[1]), int(row[2])) for row in found}


@built_once
def _count_answers(round_ids: Collection[int]) -> Select[int, int, int]:
    each = (
        select(Ledger.round_id, Ledger.member_id)
        .where(Ledger.round_id.in_(round_ids))
        .group_by(Ledger.round_id, Ledger.member_id)
        .having(func.sum(Ledger.credit) > 1 - FULL_CREDIT_TOLERANCE)
        .subquery()
    )
    right = select(each.c.round_id, func.count().label("right")).group_by(each.c.round_id).subquery()
    return (
        select(CurrentAnswer.round_id, func.count(), func.coalesce(func.max(right.c.right), 0))
        .outerjoin(right, right.c.round_id == CurrentAnswer.round_id)
        .where(CurrentAnswer.round_id.in_(round_ids))
        .group_by(CurrentAnswer.round_id)
    )


async def count_options(session: AsyncSession, round_id: int) -> dict[str, int]:
    """Returns how often each option was chosen in a round, by its id."""
    chosen = func.jsonb_array_elements_text(json_array(AnswerRow.given["options"])).table_valued("value", name="chosen")
    query = (
        select(chosen.c.value, func.count())
        .select_from(CurrentAnswer)
        .join(AnswerRow, AnswerRow.id == CurrentAnswer.answer_id)
        .join(chosen, true())
        .where(CurrentAnswer.round_id == round_id)
        .group_by(chosen.c.value)
    )
    return {value: int(count) for value, count in await session.execute(query)}


async def count_wrong_texts(
    session: AsyncSession, round_id: int, most: int, longest: int
) -> tuple[tuple[str, int], ...]:
    """Returns the most frequent typed answers to a round that were not fully right."""
    credit = (
        select(func.sum(Ledger.credit))
        .where(Ledger.round_id == round_id, Ledger.member_id == CurrentAnswer.member_id)
        .scalar_subquery()
    )
    text = func.left(func.btrim(AnswerRow.given["text"].astext), longest)
    query = (
        select(text, func.count())
        .select_from(CurrentAnswer)
        .join(AnswerRow, AnswerRow.id == CurrentAnswer.answer_id)
        .where(CurrentAnswer.round_id == round_id, text != "", credit <= 1 - FULL_CREDIT_TOLERANCE)
        .group_by(text)
        .order_by(func.count().desc(), text)
        .limit(most)
    )
    return tuple((option, int(count)) for option, count in await session.execute(query))


@dataclass(frozen=True, slots=True)
class QuestionSums:
    """What the closed rounds say about one question, over its current version."""

    rounds: int
    answers: int
    judged: int
    right: float | None


async def sum_question(session: AsyncSession, workspace_id: int, since: datetime, question_id: int) -> QuestionSums:
    """Returns the sums of one question over the workspace's rounds that closed since then."""
    closed = (
        select(Round.id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .join(QuestionVersion, QuestionVersion.id == Round.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .where(
            Schedule.workspace_id == workspace_id,
            Round.closed_at >= since,
            QuestionRow.id == question_id,
            QuestionVersion.version == QuestionRow.current,
        )
        .subquery()
    )
    answered = answers_in(closed).subquery()
    rounds = select(func.count()).select_from(closed).scalar_subquery()
    query = select(rounds, func.count(), func.count(answered.c.credit), func.avg(answered.c.credit))
    row = (await session.execute(query.select_from(answered))).one()
    return QuestionSums(int(row[0]), int(row[1]), int(row[2]), None if row[3] is None else float(row[3]))


@dataclass(frozen=True, slots=True)
class OptionCount:
    """How often an option was chosen."""

    text: str
    right: bool
    count: int


async def count_picks(session: AsyncSession, workspace_id: int, since: datetime, question_id: int) -> list[OptionCount]:
    """Returns how often each option of a question's current version was chosen, in rounds that closed since then.

    Nothing for a family, whose variants have options of their own.
    """
    chosen = func.jsonb_array_elements_text(json_array(AnswerRow.given["options"])).table_valued("value", name="chosen")
    shown = func.jsonb_array_elements(json_array(QuestionVersion.body["options"])).table_valued("value", name="shown")
    id_, text, right = (
        func.jsonb_extract_path_text(shown.c.value, name, type_=String) for name in ("id", "text", "right")
    )
    query = (
        select(text, right == "true", func.count())
        .select_from(Round)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .join(QuestionVersion, QuestionVersion.id == Round.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .join(CurrentAnswer, CurrentAnswer.round_id == Round.id)
        .join(AnswerRow, AnswerRow.id == CurrentAnswer.answer_id)
        .join(chosen, true())
        .join(shown, id_ == chosen.c.value)
        .where(
            Schedule.workspace_id == workspace_id,
            Round.closed_at >= since,
            QuestionRow.id == question_id,
            QuestionVersion.version == QuestionRow.current,
            QuestionVersion.drawing == 0,
        )
        .group_by(text, right)
    )
    return [OptionCount(row[0], bool(row[1]), int(row[2])) for row in await session.execute(query)]


async def list_versions(session: AsyncSession, question_id: int, most: int) -> list[tuple[int, datetime]]:
    """Returns the newest versions of a question and when they were imported."""
    query = select(QuestionVersion.version, QuestionVersion.created_at).where(
        QuestionVersion.question_id == question_id, QuestionVersion.drawing == 0
    )
    rows = await session.execute(query.order_by(QuestionVersion.version.desc()).limit(most))
    return [(row[0], row[1]) for row in rows]


def _closed(workspace_id: int, member_id: int, *columns: Any) -> Select[*tuple[Any, ...]]:
    """Selects from the workspace's closed rounds, with the member's answer. Leaves out questions whose key is secret
    now, because they are asked again."""
    own = and_(CurrentAnswer.round_id == Round.id, CurrentAnswer.member_id == member_id)
    return (
        select(*columns)
        .select_from(Round)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .join(QuestionVersion, QuestionVersion.id == Round.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .outerjoin(CurrentAnswer, own)
        .where(
            Schedule.workspace_id == workspace_id,
            Round.closed_at.is_not(None),
            Round.skipped.is_(None),
            ~is_asked_now(workspace_id),
            ~is_asked_in_duel(member_id),
        )
    )


def _matches(wanted: ArchiveSearch) -> list[ColumnElement[bool]]:
    """Tests for the topic, the kind and every word of a search."""
    found: list[ColumnElement[bool]] = []
    if wanted.topic:
        found.append(is_within_topic(wanted.topic))
    if wanted.kind is not None:
        found.append(QuestionVersion.kind == wanted.kind)
    body = QuestionVersion.body
    texts = (
        body["prompt"].astext,
        body["program"].astext,
        cast(func.jsonb_path_query_array(body, literal_column("'$.options[*].text'")), String),
        QuestionVersion.topic,
        QuestionRow.key,
    )
    for word in wanted.text.split()[:MOST_WORDS]:
        found.append(or_(*(text.icontains(word, autoescape=True) for text in texts)))
    return found


def _did(wanted: ArchiveSearch, member_id: int) -> list[ColumnElement[bool]]:
    """Tests how the member did, by the points posted and corrected."""
    if wanted.own is None:
        return []
    if wanted.own == "missed":
        return [CurrentAnswer.answer_id.is_(None)]
    credit = (
        select(func.sum(Ledger.credit))
        .where(Ledger.round_id == Round.id, Ledger.member_id == member_id)
        .scalar_subquery()
    )
    full = 1 - FULL_CREDIT_TOLERANCE
    return [CurrentAnswer.answer_id.is_not(None), credit > full if wanted.own == "right" else credit <= full]
