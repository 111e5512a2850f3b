"""What the closed rounds of a workspace say about its questions, summed up by the database.

Every function takes the same number of statements for any number of questions and answers.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import CTE, ColumnElement, Select, String, Subquery, and_, case, exists, func, literal, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.item_statistics import MIN_OTHER_ANSWERS, Picks
from service.store.banks import is_asked_now, restrict_to_askable
from service.store.competition_tables import Sprint, SprintQuestion
from service.store.ledger import answers_in
from service.store.review_tables import QuestionFeedback, ReportRow
from service.store.statements import json_array
from service.store.tables import (
    AnswerRow,
    BankRow,
    CurrentAnswer,
    Member,
    QuestionRow,
    QuestionVersion,
    Retirement,
    Round,
    Schedule,
)


@dataclass(frozen=True, slots=True)
class ItemSums:
    """What the closed rounds say about one question."""

    question_id: int
    key: str
    bank: str
    """Title of its bank."""
    retired: bool
    rounds: int
    answers: int
    judged: int
    right: float | None
    """Mean credit of the judged answers."""
    discrimination: float | None
    compared: int
    """Answers that the discrimination is over."""
    seconds: float | None
    """Median of the seconds from the post to the answer."""
    reports: int
    rated: int
    """Members who said whether they found it good."""
    liked: int


@dataclass(frozen=True, slots=True)
class OptionPicks:
    """How often one option was chosen."""

    text: str
    right: bool
    picks: Picks


async def list_items(
    session: AsyncSession, workspace_id: int, since: datetime, question_id: int | None = None
) -> Sequence[ItemSums]:
    """Returns the sums of every question of a round that closed since then, or of one question. Only rounds with its
    current version count.

    Leaves out questions that the workspace is asking now.
    """
    closed = _closed(workspace_id, since).subquery()
    asked: Any = select(closed.c.question_id, func.count().label("rounds")).where(closed.c.is_current)
    asked = asked.group_by(closed.c.question_id).subquery()
    sums, reports, feedback = _sums(workspace_id, since), _reports(workspace_id), _feedback(workspace_id)
    here = exists().where(Retirement.question_id == QuestionRow.id, Retirement.workspace_id == workspace_id)
    query = (
        select(
            QuestionRow.id,
            QuestionRow.key,
            BankRow.title,
            or_(QuestionRow.retired_at.is_not(None), here),
            asked.c.rounds,
            func.coalesce(sums.c.answers, 0),
            func.coalesce(sums.c.judged, 0),
            sums.c.right,
            sums.c.discrimination,
            func.coalesce(sums.c.compared, 0),
            sums.c.seconds,
            func.coalesce(reports.c.reports, 0),
            func.coalesce(feedback.c.rated, 0),
            func.coalesce(feedback.c.liked, 0),
        )
        .join(asked, asked.c.question_id == QuestionRow.id)
        .join(BankRow, BankRow.id == QuestionRow.bank_id)
        .outerjoin(sums, sums.c.question_id == QuestionRow.id)
        .outerjoin(reports, reports.c.question_id == QuestionRow.id)
        .outerjoin(feedback, feedback.c.question_id == QuestionRow.id)
        .where(~is_asked_now(workspace_id), *_only(QuestionRow.id, question_id))
        .order_by(QuestionRow.key, QuestionRow.id)
    )
    return [ItemSums(*row) for row in await session.execute(query)]


async def list_options(
    session: AsyncSession, workspace_id: int, since: datetime, question_id: int | None = None
) -> dict[int, list[OptionPicks]]:
    """Returns the options chosen in the rounds that closed since then, most often chosen first, by question id.

    Only rounds with a question's current version count. Families are left out: each variant has options of its own.
    """
    rest = _rest(_answered(workspace_id, since))
    mean = _mean_of_others(rest)
    closed = _closed(workspace_id, since).subquery()
    asked = QuestionVersion.__table__.alias("asked")
    chosen = func.jsonb_array_elements_text(json_array(AnswerRow.given["options"])).table_valued("value", name="chosen")
    shown = func.jsonb_array_elements(json_array(asked.c.body["options"])).table_valued("value", name="shown")
    text, right = _field(shown, "text"), _field(shown, "right") == "true"
    query = (
        select(
            closed.c.question_id,
            text,
            right,
            func.count(),
            func.count(mean),
            func.coalesce(func.sum(mean), 0.0),
            func.coalesce(func.sum(mean * mean), 0.0),
        )
        .select_from(closed)
        .join(CurrentAnswer, CurrentAnswer.round_id == closed.c.id)
        .join(Member, (Member.id == CurrentAnswer.member_id) & Member.forgotten_at.is_(None))
        .join(AnswerRow, AnswerRow.id == CurrentAnswer.answer_id)
        .join(asked, asked.c.id == closed.c.version_id)
        .join(chosen, literal(True))
        .join(shown, _field(shown, "id") == chosen.c.value)
        .outerjoin(rest, _same(rest, CurrentAnswer.member_id, closed.c.question_id))
        .where(closed.c.is_current, asked.c.kind == "choice", asked.c.drawing == 0)
        .where(*_only(closed.c.question_id, question_id))
        .group_by(closed.c.question_id, text, right)
        .order_by(closed.c.question_id, func.count().desc(), text)
    )
    found: dict[int, list[OptionPicks]] = {}
    for id_, option, is_right, *picks in await session.execute(query):
        found.setdefault(id_, []).append(OptionPicks(option, is_right, Picks(*picks)))
    return found


async def list_never_asked(session: AsyncSession, workspace_id: int, limit: int) -> tuple[list[str], int]:
    """Returns the first ids of questions that could be asked but never were, and how many there are in all."""
    then = QuestionVersion.__table__.alias("then")
    same = then.c.question_id == QuestionRow.id
    in_round = (
        select(Round.id)
        .join(then, then.c.id == Round.version_id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Schedule.workspace_id == workspace_id, same)
    )
    in_sprint = (
        select(SprintQuestion.id)
        .join(then, then.c.id == SprintQuestion.version_id)
        .join(Sprint, Sprint.id == SprintQuestion.sprint_id)
        .where(Sprint.workspace_id == workspace_id, same)
    )
    query = restrict_to_askable(select(QuestionRow.key, func.count().over()).select_from(QuestionVersion), workspace_id)
    query = query.where(~in_round.exists(), ~in_sprint.exists()).order_by(QuestionRow.key, QuestionRow.id)
    rows = (await session.execute(query.limit(limit))).all()
    return [key for key, _ in rows], rows[0][1] if rows else 0


def _closed(workspace_id: int, since: datetime) -> Select[*tuple[Any, ...]]:
    """Selects the rounds of the workspace that closed since then, and whether their question is still the same."""
    is_current = QuestionVersion.version == QuestionRow.current
    return (
        select(Round.id, Round.version_id, QuestionVersion.question_id, is_current.label("is_current"))
        .join(Schedule, Schedule.id == Round.schedule_id)
        .join(QuestionVersion, QuestionVersion.id == Round.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .where(Schedule.workspace_id == workspace_id, Round.closed_at >= since)
    )


def _answered(workspace_id: int, since: datetime) -> CTE:
    """Selects each member's answer in those rounds."""
    return answers_in(_closed(workspace_id, since).subquery()).cte("answered")


def _sums(workspace_id: int, since: datetime) -> Subquery:
    """Selects what was answered to each question in those rounds."""
    answered = _answered(workspace_id, since)
    rest = _rest(answered)
    mean = _mean_of_others(rest)
    return (
        select(
            answered.c.question_id,
            func.count().label("answers"),
            func.count(answered.c.credit).label("judged"),
            func.avg(answered.c.credit).label("right"),
            func.corr(answered.c.credit, mean).label("discrimination"),
            func.regr_count(answered.c.credit, mean).label("compared"),
            func.percentile_cont(0.5).within_group(answered.c.seconds).label("seconds"),
        )
        .outerjoin(rest, _same(rest, answered.c.member_id, answered.c.question_id))
        .where(answered.c.is_current)
        .group_by(answered.c.question_id)
        .subquery()
    )


def _reports(workspace_id: int) -> Subquery:
    """Selects how often each question's current version was reported."""
    return (
        select(QuestionVersion.question_id, func.count().label("reports"))
        .join(ReportRow, ReportRow.version_id == QuestionVersion.id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .where(ReportRow.workspace_id == workspace_id, QuestionVersion.version == QuestionRow.current)
        .group_by(QuestionVersion.question_id)
        .subquery()
    )


def _feedback(workspace_id: int) -> Subquery:
    """Selects how many of the workspace's members found each question's current version good."""
    return (
        select(
            QuestionFeedback.question_id,
            func.count().label("rated"),
            func.count().filter(QuestionFeedback.liked).label("liked"),
        )
        .join(Member, Member.id == QuestionFeedback.member_id)
        .join(QuestionRow, QuestionRow.id == QuestionFeedback.question_id)
        .where(Member.workspace_id == workspace_id, QuestionFeedback.version == QuestionRow.current)
        .group_by(QuestionFeedback.question_id)
        .subquery()
    )


def _rest(answered: CTE) -> CTE:
    """Selects what each member of `answered` scored on the other questions, for each question they answered."""
    own = (
        select(
            answered.c.member_id,
            answered.c.question_id,
            func.count(answered.c.credit).label("count"),
            func.coalesce(func.sum(answered.c.credit), 0.0).label("total"),
        )
        .group_by(answered.c.member_id, answered.c.question_id)
        .subquery()
    )
    return select(
        own.c.member_id,
        own.c.question_id,
        (func.sum(own.c.count).over(partition_by=own.c.member_id) - own.c.count).label("count"),
        (func.sum(own.c.total).over(partition_by=own.c.member_id) - own.c.total).label("total"),
    ).cte("rest")


def _mean_of_others(rest: CTE) -> ColumnElement[float]:
    """Returns the mean credit on the other questions; null if the member answered too few."""
    return case((rest.c["count"] >= MIN_OTHER_ANSWERS, rest.c.total / rest.c["count"]), else_=None)


def _same(rest: CTE, member_id: Any, question_id: Any) -> ColumnElement[bool]:
    return and_(rest.c.member_id == member_id, rest.c.question_id == question_id)


def _only(id_: Any, question_id: int | None) -> tuple[ColumnElement[bool], ...]:
    return () if question_id is None else (id_ == question_id,)


def _field(element: Any, name: str) -> ColumnElement[str]:
    return func.jsonb_extract_path_text(element.c.value, name, type_=String)
