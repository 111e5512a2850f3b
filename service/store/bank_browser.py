"""Finds the questions that a workspace can see, by text, topic, kind, level, state and bank."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, cast

from sqlalchemy import ColumnElement, Select, case, exists, func, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import Kind, Level
from service.store.banks import is_visible_to
from service.store.review_tables import ReportRow
from service.store.tables import BankRow, QuestionRow, QuestionVersion, Retirement, Round, Schedule
from service.wire import BankQuestion, BankVersion, QuestionFilter, QuestionState

PROMPT = 300
"""Characters of a prompt in a list."""


async def search(
    session: AsyncSession, workspace_id: int, wanted: QuestionFilter, size: int
) -> tuple[Sequence[BankQuestion], int]:
    """Returns a page of the questions that fit, by topic, and how many there are. Two statements."""
    found = _filtered(workspace_id, wanted)
    total = int(await session.scalar(select(func.count()).select_from(found.subquery())) or 0)
    page = found.order_by(QuestionVersion.topic, QuestionRow.key, QuestionRow.id)
    page = page.limit(size).offset(size * (wanted.page - 1))
    return [_read(row) for row in await session.execute(page)], total


async def get_listed(session: AsyncSession, workspace_id: int, question_id: int) -> BankQuestion:
    """Returns one question as it is listed. Raises NoResultFound if the workspace cannot see it."""
    query = _select(workspace_id).where(QuestionRow.id == question_id)
    return _read((await session.execute(query)).one())


async def list_versions(session: AsyncSession, workspace_id: int, question_id: int) -> tuple[BankVersion, ...]:
    """Returns the versions of a question with the rounds of the workspace that asked each, newest first."""
    rounds = (
        select(QuestionVersion.version, func.count().label("rounds"))
        .join(Round, Round.version_id == QuestionVersion.id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(QuestionVersion.question_id == question_id, Schedule.workspace_id == workspace_id)
        .group_by(QuestionVersion.version)
        .subquery()
    )
    query = (
        select(QuestionVersion.version, QuestionVersion.created_at, func.coalesce(rounds.c.rounds, 0))
        .outerjoin(rounds, rounds.c.version == QuestionVersion.version)
        .where(QuestionVersion.question_id == question_id, QuestionVersion.drawing == 0)
        .order_by(QuestionVersion.version.desc())
        .limit(20)
    )
    rows: Sequence[tuple[int, datetime, int]] = [tuple(row) for row in await session.execute(query)]
    return tuple(BankVersion(number=number, at=at, rounds=count) for number, at, count in rows)


async def count_open_reports(session: AsyncSession, workspace_id: int, question_id: int) -> int:
    """Returns how many reports on any version of the question wait."""
    query = (
        select(func.count())
        .select_from(ReportRow)
        .join(QuestionVersion, QuestionVersion.id == ReportRow.version_id)
        .where(ReportRow.workspace_id == workspace_id, ReportRow.state == "open")
    )
    return int(await session.scalar(query.where(QuestionVersion.question_id == question_id)) or 0)


def _state(workspace_id: int) -> ColumnElement[str]:
    retired = exists().where(Retirement.question_id == QuestionRow.id, Retirement.workspace_id == workspace_id)
    return case(
        (QuestionRow.retired_at.is_not(None), "gone"),
        (retired, "retired"),
        (QuestionVersion.answered.is_(False), "unanswered"),
        (QuestionRow.held, "waiting"),
        else_="asked",
    )


def _select(workspace_id: int) -> Select[*tuple[Any, ...]]:
    then = QuestionVersion.__table__.alias("asked_then")
    rounds = (
        select(func.count())
        .select_from(Round)
        .join(then, then.c.id == Round.version_id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(
            then.c.question_id == QuestionRow.id,
            Schedule.workspace_id == workspace_id,
            Round.closed_at.is_not(None),
        )
        .correlate(QuestionRow)
        .scalar_subquery()
    )
    prompt = func.left(QuestionVersion.body["prompt"].astext, PROMPT)
    version = QuestionVersion
    current = (version.question_id == QuestionRow.id, version.version == QuestionRow.current, version.drawing == 0)
    return (
        select(
            QuestionRow.key,
            BankRow.name,
            BankRow.workspace_id.is_not(None),
            version.kind,
            version.level,
            version.topic,
            prompt,
            _state(workspace_id),
            rounds,
        )
        .select_from(QuestionRow)
        .join(BankRow, BankRow.id == QuestionRow.bank_id)
        .join(version, current[0] & current[1] & current[2])
        .where(is_visible_to(workspace_id))
    )


def _filtered(workspace_id: int, wanted: QuestionFilter) -> Select[*tuple[Any, ...]]:
    query = _select(workspace_id)
    for word in wanted.text.split():
        within = QuestionVersion.body["prompt"].astext.icontains(word, autoescape=True)
        query = query.where(or_(within, QuestionRow.key.icontains(word, autoescape=True)))
    if topic := wanted.topic.strip("/ "):
        below = func.lower(QuestionVersion.topic).startswith(topic.lower() + "/", autoescape=True)
        query = query.where(or_(func.lower(QuestionVersion.topic) == topic.lower(), below))
    if wanted.kind:
        query = query.where(QuestionVersion.kind == wanted.kind)
    if wanted.level:
        query = query.where(QuestionVersion.level == wanted.level)
    if wanted.bank:
        query = query.where(BankRow.name == wanted.bank)
    # What a document no longer has is listed only when it is asked for.
    state = _state(workspace_id)
    return query.where(state == wanted.state if wanted.state else state != "gone")


def _read(row: Any) -> BankQuestion:
    key, bank, own, kind, level, topic, prompt, state, rounds = row
    return BankQuestion(
        id=key,
        bank=bank,
        own=own,
        kind=cast(Kind, kind),
        level=cast(Level | None, level),
        topic=topic,
        prompt=prompt,
        state=cast(QuestionState, state),
        rounds=rounds,
    )
