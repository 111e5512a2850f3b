"""Rows of question variants generated from families: stored with the family's version and asked in its place."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import Select, and_, column, exists, func, select, table
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased

from questions.model import Question, as_data
from service.store.banks import has_variants
from service.store.members import Caller, merged_ids
from service.store.sprint_tables import SprintQuestion
from service.store.tables import AnswerRow, QuestionVersion, Round, Schedule
from service.store.tables import QuestionRow as QuestionRow

_JOBS = table("procrastinate_jobs", column("task_name"), column("args", JSONB))
Variant = aliased(QuestionVersion, name="drawn")


async def list_families_without_variants(session: AsyncSession, task: str) -> list[int]:
    """Returns current families that have no variants and no job with this task name, failed jobs included."""
    job = exists().where(_JOBS.c.task_name == task, _JOBS.c.args["version_id"].as_integer() == QuestionVersion.id)
    query = (
        select(QuestionVersion.id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .where(
            QuestionVersion.family.is_(True),
            QuestionVersion.drawing == 0,
            QuestionVersion.version == QuestionRow.current,
            QuestionRow.retired_at.is_(None),
            ~has_variants(),
            ~job,
        )
    )
    return list(await session.scalars(query.order_by(QuestionVersion.id)))


async def add(
    session: AsyncSession, family: QuestionVersion, drawn: Iterable[tuple[Question, str]], now: datetime
) -> None:
    """Stores the variants of a family, each with its digest. Keeps variants that a concurrent call stored."""
    rows = [
        {
            "question_id": family.question_id,
            "version": family.version,
            "drawing": number,
            "kind": question.kind,
            "level": question.level,
            "topic": question.topic,
            "answered": True,
            "digest": digest,
            "body": as_data(question),
            "created_at": now,
        }
        for number, (question, digest) in enumerate(drawn, 1)
    ]
    if rows:
        await session.execute(insert(QuestionVersion).values(rows).on_conflict_do_nothing())


async def pick_for_round(session: AsyncSession, workspace_id: int, version_id: int) -> int:
    """Returns the version to ask in a round: for a family, a variant new to the workspace or the one asked longest
    ago."""
    last_asked = (
        select(func.max(Round.id))
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Schedule.workspace_id == workspace_id, Round.version_id == Variant.id)
        .scalar_subquery()
    )
    return await _first(session, version_id, last_asked.asc().nulls_first(), Variant.drawing)


async def pick_for_practice(session: AsyncSession, member_id: int, version_id: int) -> int:
    """Returns the version to practice: for a family, a variant new to the member or the one answered longest ago.

    Practice starts with the last variants, rounds with the first.
    """
    answered = (
        select(func.max(AnswerRow.id))
        .where(AnswerRow.member_id.in_(merged_ids(member_id)), AnswerRow.version_id == Variant.id)
        .scalar_subquery()
    )
    return await _first(session, version_id, answered.asc().nulls_first(), Variant.drawing.desc())


async def pick_to_explain(session: AsyncSession, caller: Caller, version_id: int, wanted: str) -> int:
    """Returns the version to explain: for a family, the variant with that id, or else the one the caller or workspace
    met last.

    Explains only variants that the caller answered, or that a closed round or a sprint of the workspace asked.
    """
    family = await session.get_one(QuestionVersion, version_id)
    if not family.family:
        return version_id
    closed = (
        select(Round.version_id, Round.closes_at.label("at"))
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Schedule.workspace_id == caller.workspace_id, Round.closed_at.is_not(None))
    )
    answered = select(AnswerRow.version_id, AnswerRow.at).where(AnswerRow.member_id.in_(merged_ids(caller.member_id)))
    revealed = select(SprintQuestion.version_id, SprintQuestion.settled_at.label("at")).where(
        SprintQuestion.workspace_id == caller.workspace_id, SprintQuestion.settled_at.is_not(None)
    )
    known = closed.union_all(answered, revealed).subquery()
    query = (
        select(QuestionVersion.id)
        .join(known, known.c.version_id == QuestionVersion.id)
        .where(QuestionVersion.question_id == family.question_id)
        .order_by((QuestionVersion.body["id"].as_string() == wanted.strip().lower()).desc(), known.c.at.desc())
        .limit(1)
    )
    return await session.scalar(query) or version_id


async def pick_named(session: AsyncSession, version_id: int, wanted: str) -> int:
    """Returns the version that a member means: for a family, the variant with that id, or else the first one."""
    named = (Variant.body["id"].as_string() == wanted.strip().lower()).desc()
    return await _first(session, version_id, named, Variant.drawing)


async def _first(session: AsyncSession, version_id: int, *order: Any) -> int:
    query: Select[int] = (
        select(Variant.id)
        .join(
            QuestionVersion,
            and_(
                QuestionVersion.question_id == Variant.question_id,
                QuestionVersion.version == Variant.version,
                QuestionVersion.family.is_(True),
            ),
        )
        .where(QuestionVersion.id == version_id, Variant.drawing > 0)
        .order_by(*order)
        .limit(1)
    )
    return await session.scalar(query) or version_id
