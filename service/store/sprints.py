"""Rows of sprints. Every time in them is PostgreSQL's `now()`, the start of the transaction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import (
    BigInteger,
    ColumnElement,
    Double,
    Select,
    and_,
    case,
    cast,
    column,
    delete,
    exists,
    extract,
    func,
    literal,
    or_,
    select,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import aliased
from sqlalchemy.types import TypeEngine

from service.domain.sprints import SprintScore
from service.store.competition_tables import Sprint, SprintAnswer, SprintQuestion, SprintVariant
from service.store.members import Caller, merged_ids
from service.store.tables import Channel, Member, QuestionRow, QuestionVersion
from service.store.variants import Variant, select_drawing


@dataclass(frozen=True, slots=True)
class Asked:
    """A question of a sprint, at the database's time."""

    sprint: Sprint
    question: SprintQuestion
    now: datetime

    @property
    def is_open(self) -> bool:
        """Whether it can be answered now."""
        closes_at = self.question.closes_at
        running = self.sprint.phase == "asking" and self.sprint.number == self.question.number
        return running and self.sprint.stopped_at is None and closes_at is not None and self.now < closes_at

    @property
    def left_s(self) -> float:
        """Seconds until the deadline."""
        assert self.question.closes_at is not None, "a question that is asked has a deadline"
        return (self.question.closes_at - self.now).total_seconds()


@dataclass(frozen=True, slots=True)
class Entry:
    """An answer with its author."""

    answer: SprintAnswer
    member: Member
    ms: int
    """Milliseconds from the start of the question."""


_RUNNING = (Sprint.ended_at.is_(None), Sprint.phase != "planned")


async def add(
    session: AsyncSession, caller: Caller, channel_id: int, *, total: int, seconds: int, topic: str
) -> Sprint | None:
    """Adds a sprint in a channel. Returns None if one is running there."""
    values = {
        "workspace_id": caller.workspace_id,
        "channel_id": channel_id,
        "started_by": caller.member_id,
        "topic": topic,
        "seconds": seconds,
        "total": total,
        "number": 0,
        "phase": "posting",
        "started_at": func.now(),
    }
    return await session.scalar(insert(Sprint).values(values).on_conflict_do_nothing().returning(Sprint))


async def add_planned(
    session: AsyncSession, caller: Caller, channel_id: int, begins_in: timedelta, **values: Any
) -> Sprint:
    """Adds a sprint that begins later. `values` are its other columns."""
    sprint = Sprint(
        workspace_id=caller.workspace_id,
        channel_id=channel_id,
        started_by=caller.member_id,
        number=0,
        phase="planned",
        until=func.now() + begins_in,
        started_at=func.now(),
        **values,
    )
    session.add(sprint)
    await session.flush()
    return sprint


def add_question(
    session: AsyncSession, sprint: Sprint, number: int, version_id: int, *, own_variants: bool = False
) -> None:
    """Adds a question that the sprint will ask."""
    session.add(
        SprintQuestion(
            workspace_id=sprint.workspace_id,
            sprint_id=sprint.id,
            number=number,
            version_id=version_id,
            own_variants=own_variants,
        )
    )


async def lock_running(session: AsyncSession, workspace_id: int, channel_id: int) -> Sprint | None:
    """Returns the sprint running in a channel, locked until the transaction ends."""
    here = (Sprint.workspace_id == workspace_id, Sprint.channel_id == channel_id, *_RUNNING)
    return await session.scalar(select(Sprint).where(*here).with_for_update(key_share=True))


async def lock_planned(
    session: AsyncSession, workspace_id: int, channel_id: int | None, sprint_id: int = 0
) -> Sprint | None:
    """Returns a planned sprint of the workspace, locked until the transaction ends; without an id, the channel's next
    one."""
    mine = Sprint.id == sprint_id if sprint_id else Sprint.channel_id == channel_id
    query = select(Sprint).where(Sprint.workspace_id == workspace_id, Sprint.phase == "planned", mine)
    return await session.scalar(query.order_by(Sprint.until, Sprint.id).limit(1).with_for_update(key_share=True))


async def list_planned(session: AsyncSession, workspace_id: int) -> list[tuple[Sprint, str]]:
    """Returns the planned sprints of the workspace with their channels' names, next first."""
    query = (
        select(Sprint, func.coalesce(func.nullif(Channel.name, ""), Channel.external_id))
        .join(Channel, Channel.id == Sprint.channel_id)
        .where(Sprint.workspace_id == workspace_id, Sprint.phase == "planned")
        .order_by(Sprint.until, Sprint.id)
    )
    return [(sprint, name) for sprint, name in await session.execute(query)]


async def find_latest(session: AsyncSession, workspace_id: int) -> Sprint | None:
    """Returns the sprint of the workspace that runs, or else the last one that asked a question."""
    begun = or_(Sprint.ended_at.is_(None), Sprint.number > 0)
    query = select(Sprint).where(Sprint.workspace_id == workspace_id, Sprint.phase != "planned", begun)
    return await session.scalar(query.order_by(Sprint.ended_at.desc().nulls_first(), Sprint.id.desc()).limit(1))


async def lateness(session: AsyncSession, sprint: Sprint) -> timedelta:
    """Returns how long ago the sprint's phase was over."""
    late = extract("epoch", func.now() - Sprint.until)
    return timedelta(seconds=float(await session.scalar(select(late).where(Sprint.id == sprint.id)) or 0))


async def left_s(session: AsyncSession, sprint: Sprint) -> float | None:
    """Returns the seconds until the sprint's phase is over; None if it waits for a message or has ended."""
    return None if sprint.until is None else -(await lateness(session, sprint)).total_seconds()


async def find_running(session: AsyncSession, workspace_id: int) -> Sprint | None:
    """Returns a sprint running in the workspace."""
    running = select(Sprint).where(Sprint.workspace_id == workspace_id, *_RUNNING)
    return await session.scalar(running.order_by(Sprint.id).limit(1))


async def list_running(session: AsyncSession) -> list[int]:
    """Returns the ids of all running and planned sprints."""
    return list(await session.scalars(select(Sprint.id).where(Sprint.ended_at.is_(None)).order_by(Sprint.id)))


async def lock_due(session: AsyncSession, sprint_id: int) -> Sprint | None:
    """Returns the sprint if its phase waits for a message or is over, locked until the transaction ends.

    Waits for the answers that are being saved. Of concurrent callers, only the first gets a phase that is over.
    """
    over = or_(Sprint.until <= func.now(), Sprint.phase == "posting", Sprint.stopped_at.is_not(None))
    query = select(Sprint).where(Sprint.id == sprint_id, Sprint.ended_at.is_(None), over)
    return await session.scalar(query.with_for_update(key_share=True).execution_options(populate_existing=True))


async def share_asked(session: AsyncSession, sprint_id: int) -> Asked | None:
    """Returns the question that the sprint is asking. It is not settled before the transaction ends."""
    same = (SprintQuestion.sprint_id == Sprint.id) & (SprintQuestion.number == Sprint.number)
    asking = (Sprint.id == sprint_id, Sprint.phase == "asking", Sprint.until > func.now())
    return await _find_asked(session, select(Sprint, SprintQuestion, func.now()).join(SprintQuestion, same), *asking)


async def share_question(session: AsyncSession, workspace_id: int, question_id: int) -> Asked | None:
    """Returns a question of a sprint of the workspace. It is not settled before the transaction ends."""
    joined = select(Sprint, SprintQuestion, func.now()).join(SprintQuestion, SprintQuestion.sprint_id == Sprint.id)
    here = (SprintQuestion.id == question_id, SprintQuestion.workspace_id == workspace_id)
    return await _find_asked(session, joined, *here)


async def find_question(session: AsyncSession, workspace_id: int, question_id: int) -> Asked | None:
    """Returns a question of a sprint of the workspace."""
    joined = select(Sprint, SprintQuestion, func.now()).join(SprintQuestion, SprintQuestion.sprint_id == Sprint.id)
    here = (SprintQuestion.id == question_id, SprintQuestion.workspace_id == workspace_id)
    return await _find_asked(session, joined, *here, share=False)


async def _find_asked(
    session: AsyncSession,
    query: Select[Sprint, SprintQuestion, datetime],
    *where: ColumnElement[bool],
    share: bool = True,
) -> Asked | None:
    query = query.where(*where)
    # Both rows, so that neither is older than the other after waiting for a lock.
    locked = query.with_for_update(read=True, of=[Sprint, SprintQuestion]) if share else query
    row = (await session.execute(locked.execution_options(populate_existing=True))).one_or_none()
    return None if row is None else Asked(*row)


async def get_current_question(session: AsyncSession, sprint: Sprint) -> SprintQuestion:
    """Returns the current question of a sprint that has begun."""
    here = (SprintQuestion.sprint_id == sprint.id, SprintQuestion.number == sprint.number)
    query = select(SprintQuestion).where(*here).execution_options(populate_existing=True)
    return (await session.scalars(query)).one()


async def correct_question(session: AsyncSession, question: SprintQuestion, version_id: int) -> None:
    """Makes a sprint ask a question in its corrected version. Answers keep the version that they were given to."""
    question.version_id = version_id
    await session.flush()


async def find_settled_question(session: AsyncSession, sprint: Sprint) -> SprintQuestion | None:
    """Returns the latest question that is settled."""
    query = select(SprintQuestion).where(SprintQuestion.sprint_id == sprint.id, SprintQuestion.settled_at.is_not(None))
    return await session.scalar(query.order_by(SprintQuestion.number.desc()).limit(1))


# Phases. The caller holds the sprint's lock.


async def open_question(session: AsyncSession, sprint: Sprint) -> None:
    """Starts the time of the current question."""
    closes_at = func.now() + timedelta(seconds=sprint.seconds)
    here = (SprintQuestion.sprint_id == sprint.id, SprintQuestion.number == sprint.number)
    opened = {"opened_at": func.now(), "closes_at": closes_at}
    await session.execute(update(SprintQuestion).where(*here).values(opened))
    await _enter(session, sprint, "asking", until=closes_at)


async def pause(session: AsyncSession, sprint: Sprint, length: timedelta) -> None:
    """Pauses the sprint before the next question."""
    await _enter(session, sprint, "pausing", until=func.now() + length)


async def next_question(session: AsyncSession, sprint: Sprint) -> None:
    """Goes on to the next question, which waits for its message."""
    await _enter(session, sprint, "posting", number=sprint.number + 1)


async def begin(session: AsyncSession, sprint: Sprint) -> None:
    """Begins a planned sprint, which waits for its announcement."""
    await _enter(session, sprint, "posting", started_at=func.now())


async def end(session: AsyncSession, sprint: Sprint) -> None:
    """Ends the sprint."""
    await _enter(session, sprint, "ended", ended_at=func.now())


async def stop(session: AsyncSession, sprint: Sprint) -> None:
    """Marks the sprint as stopped: from now on, nothing in it is answered."""
    await session.execute(update(Sprint).where(Sprint.id == sprint.id).values(stopped_at=func.now()))


async def _enter(session: AsyncSession, sprint: Sprint, phase: str, **values: Any) -> None:
    change = update(Sprint).where(Sprint.id == sprint.id).values({"phase": phase, "until": None, **values})
    await session.execute(change)
    await session.refresh(sprint)


# Answers


async def save_answer(
    session: AsyncSession, caller: Caller, question: SprintQuestion, version_id: int, given: dict[str, Any]
) -> bool:
    """Saves a member's answer to what they were asked, in place of an earlier one. The same answer again keeps its
    time. Returns whether there was an earlier one."""
    before = await find_answer(session, question.id, caller.member_id)
    row = insert(SprintAnswer).values(
        question_id=question.id,
        member_id=caller.member_id,
        workspace_id=question.workspace_id,
        version_id=version_id,
        given=given,
        at=func.now(),
    )
    changed = SprintAnswer.given != row.excluded.given
    await session.execute(
        row.on_conflict_do_update(
            index_elements=["question_id", "member_id"],
            set_={"given": row.excluded.given, "at": row.excluded.at, "version_id": row.excluded.version_id},
            where=changed,
        )
    )
    return before is not None


async def find_answer(session: AsyncSession, question_id: int, member_id: int) -> SprintAnswer | None:
    """Returns the member's answer to a question."""
    return await session.get(SprintAnswer, (question_id, member_id), populate_existing=True)


async def find_settled_given(
    session: AsyncSession, member_id: int, question_id: int, version_id: int | None = None
) -> dict[str, Any] | None:
    """Returns the member's latest answer in a sprint to a question that is settled, or only to one of its versions."""
    query = (
        select(SprintAnswer.given)
        .join(QuestionVersion, QuestionVersion.id == SprintAnswer.version_id)
        .where(
            SprintAnswer.member_id == member_id,
            QuestionVersion.question_id == question_id,
            SprintAnswer.points.is_not(None),
        )
        .order_by(SprintAnswer.at.desc())
        .limit(1)
    )
    if version_id is not None:
        query = query.where(SprintAnswer.version_id == version_id)
    return await session.scalar(query)


async def count_answers(session: AsyncSession, question_id: int) -> int:
    """Returns how many members answered a question."""
    query = select(func.count()).select_from(SprintAnswer).where(SprintAnswer.question_id == question_id)
    return int(await session.scalar(query) or 0)


async def list_entries(session: AsyncSession, question: SprintQuestion) -> Sequence[Entry]:
    """Returns the answers to a question, first answers first."""
    ms = cast(func.round(1000 * extract("epoch", SprintAnswer.at - question.opened_at)), BigInteger)
    query = (
        select(SprintAnswer, Member, func.greatest(0, ms))
        .join(Member, Member.id == SprintAnswer.member_id)
        .where(SprintAnswer.question_id == question.id)
        .order_by(SprintAnswer.at, Member.id)
    )
    return [Entry(*row) for row in await session.execute(query)]


async def settle(
    session: AsyncSession, question: SprintQuestion, grades: Sequence[tuple[int, float, int, int]]
) -> None:
    """Stores the credit, points and time of each member's answer, and closes the question for good."""
    if grades:
        types: dict[str, TypeEngine[Any]] = {
            "member_id": BigInteger(),
            "credit": Double(),
            "points": BigInteger(),
            "ms": BigInteger(),
        }
        arrays = [
            literal([grade[place] for grade in grades], ARRAY(type_)) for place, type_ in enumerate(types.values())
        ]
        columns = [column(name, type_) for name, type_ in types.items()]
        given = func.unnest(*arrays).table_valued(*columns, name="given").render_derived()
        change = update(SprintAnswer).where(
            SprintAnswer.question_id == question.id, SprintAnswer.member_id == given.c.member_id
        )
        await session.execute(
            change.values(credit=given.c.credit, points=given.c.points, ms=given.c.ms),
            execution_options={"synchronize_session": False},
        )
    closed = {"settled_at": func.now(), "closes_at": func.least(SprintQuestion.closes_at, func.now())}
    await session.execute(update(SprintQuestion).where(SprintQuestion.id == question.id).values(closed))


async def list_scores(session: AsyncSession, sprint_id: int) -> list[tuple[SprintScore, bool]]:
    """Returns the sums of each member who answered a settled question, and whether the member is hidden."""
    query = (
        select(
            Member.id,
            Member.name,
            func.coalesce(func.sum(SprintAnswer.points), 0),
            func.count().filter(SprintAnswer.credit == 1),
            func.coalesce(func.sum(SprintAnswer.ms), 0),
            Member.hidden,
        )
        .join(SprintAnswer, SprintAnswer.member_id == Member.id)
        .join(SprintQuestion, SprintQuestion.id == SprintAnswer.question_id)
        .where(SprintQuestion.sprint_id == sprint_id, SprintAnswer.points.is_not(None))
        .group_by(Member.id)
    )
    rows = await session.execute(query)
    return [(SprintScore(row[0], row[1], int(row[2] or 0), int(row[3] or 0), int(row[4] or 0)), row[5]) for row in rows]


def wrong_members(question: SprintQuestion) -> Select[int]:
    """Selects the members whose answer to a settled question is not fully right."""
    return (
        select(SprintAnswer.member_id)
        .join(Member, Member.id == SprintAnswer.member_id)
        .where(SprintAnswer.question_id == question.id, SprintAnswer.credit < 1, Member.forgotten_at.is_(None))
    )


# Choosing questions


async def count_times_asked(session: AsyncSession, channel_id: int) -> dict[str, int]:
    """Returns how often sprints of the channel asked each question, by the id of its current version."""
    then, current = aliased(QuestionVersion), aliased(QuestionVersion)
    same = (current.question_id == QuestionRow.id) & (current.version == QuestionRow.current) & (current.drawing == 0)
    query = (
        select(current.id, func.count())
        .select_from(SprintQuestion)
        .join(Sprint, Sprint.id == SprintQuestion.sprint_id)
        .join(then, then.id == SprintQuestion.version_id)
        .join(QuestionRow, QuestionRow.id == then.question_id)
        .join(current, same)
        .where(Sprint.channel_id == channel_id, SprintQuestion.opened_at.is_not(None))
        .group_by(current.id)
    )
    return {str(id_): int(count) for id_, count in await session.execute(query)}


# A member's own data


async def list_member_answers(session: AsyncSession, member_id: int) -> Sequence[tuple[SprintAnswer, str]]:
    """Returns all answers of a member in sprints with the ids of their questions, oldest first."""
    rows = await session.execute(
        select(SprintAnswer, QuestionRow.key)
        .join(SprintQuestion, SprintQuestion.id == SprintAnswer.question_id)
        .join(QuestionVersion, QuestionVersion.id == SprintQuestion.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .where(SprintAnswer.member_id.in_(merged_ids(member_id)))
        .order_by(SprintAnswer.at, SprintAnswer.question_id)
    )
    return [(answer, key) for answer, key in rows]


async def forget_answers(session: AsyncSession, member_id: int) -> None:
    """Withdraws the member's answers to open questions, and erases what they typed and which variants they saw; numbers
    stay."""
    await forget_variants(session, member_id)
    mine = SprintAnswer.member_id == member_id
    await session.execute(delete(SprintAnswer).where(mine, SprintAnswer.points.is_(None)))
    kept: Any = func.jsonb_strip_nulls(func.jsonb_build_object("options", SprintAnswer.given["options"]))
    await session.execute(update(SprintAnswer).where(mine).values(given=kept))


async def share_running(session: AsyncSession, member_id: int) -> None:
    """Keeps the sprints of the member's workspace from taking a step until the transaction ends, after waiting for one
    that is being taken."""
    home = select(Member.workspace_id).where(Member.id == member_id).scalar_subquery()
    running = select(Sprint.id).where(Sprint.workspace_id == home, Sprint.ended_at.is_(None)).order_by(Sprint.id)
    await session.execute(running.with_for_update(read=True))


async def merge_answers(session: AsyncSession, kept: int, gone: int) -> None:
    """Moves the answers of `gone` to `kept`. Of two answers to one question, the one with more points stays, or else
    the earlier one. Call while no sprint takes a step: it stores grades by member."""
    theirs, mine = aliased(SprintAnswer), aliased(SprintAnswer)
    both = and_(theirs.question_id == mine.question_id, theirs.member_id == gone, mine.member_id == kept)
    more, less = func.coalesce(theirs.points, -1), func.coalesce(mine.points, -1)
    theirs_wins = or_(more > less, and_(more == less, theirs.at < mine.at))
    loser = case((theirs_wins, mine.member_id), else_=theirs.member_id)
    pairs = select(theirs.question_id, loser.label("member_id")).join(mine, both).subquery()
    lost = exists().where(pairs.c.question_id == SprintAnswer.question_id, pairs.c.member_id == SprintAnswer.member_id)
    unsynced = {"synchronize_session": False}
    await session.execute(delete(SprintAnswer).where(lost), execution_options=unsynced)
    moved = update(SprintAnswer).where(SprintAnswer.member_id == gone).values(member_id=kept)
    await session.execute(moved, execution_options=unsynced)
    await merge_variants(session, kept, gone)
    await session.execute(update(Sprint).where(Sprint.started_by == gone).values(started_by=kept))


async def get_for_member(session: AsyncSession, sprint: Sprint, question: SprintQuestion, member_id: int) -> int:
    """Returns the version that an open question of a sprint asks a member, always the same.

    With `own_variants`, draws and stores the member's variant at the first call.
    """
    if not question.own_variants:
        return question.version_id
    stored = await _find_stored(session, question.id, member_id)
    if stored is not None:
        return stored
    # One after the other, so that two members do not get the same variant while others are left.
    lock = func.hashtextextended(f"variants of sprint question {question.id}", 0)
    await session.execute(select(func.pg_advisory_xact_lock(lock)))
    earlier = aliased(Sprint)
    posted = exists(
        select(SprintQuestion.id)
        .join(earlier, earlier.id == SprintQuestion.sprint_id)
        .where(SprintQuestion.version_id == Variant.id, earlier.channel_id == sprint.channel_id)
    )
    having = select(func.count()).where(
        SprintVariant.question_id == question.id, SprintVariant.version_id == Variant.id
    )
    drawing = select_drawing(question.version_id, member_id, posted, having.scalar_subquery(), f"sprint:{question.id}")
    drawn = await session.scalar(drawing) or question.version_id
    values = {
        "question_id": question.id,
        "member_id": member_id,
        "workspace_id": question.workspace_id,
        "version_id": drawn,
    }
    await session.execute(insert(SprintVariant).values(values).on_conflict_do_nothing())
    return await _find_stored(session, question.id, member_id) or drawn


async def forget_variants(session: AsyncSession, member_id: int) -> None:
    """Deletes which variants the member saw. Their graded answers keep the variant that they were given to."""
    await session.execute(delete(SprintVariant).where(SprintVariant.member_id == member_id))


async def merge_variants(session: AsyncSession, kept: int, gone: int) -> None:
    """Moves the variants of the member `gone` to `kept`. Of two for one question, that of the answer that counts stays;
    without an answer, that of `kept`. Call when the answers have moved."""
    unsynced: Any = {"synchronize_session": False}
    mine, theirs = aliased(SprintVariant), SprintVariant
    both = exists().where(mine.question_id == theirs.question_id, mine.member_id == kept)
    await session.execute(delete(theirs).where(theirs.member_id == gone, both), execution_options=unsynced)
    moved = update(theirs).where(theirs.member_id == gone).values(member_id=kept)
    await session.execute(moved, execution_options=unsynced)
    answered = and_(SprintAnswer.question_id == theirs.question_id, SprintAnswer.member_id == theirs.member_id)
    await session.execute(
        update(theirs).where(theirs.member_id == kept, answered).values(version_id=SprintAnswer.version_id),
        execution_options=unsynced,
    )


async def _find_stored(session: AsyncSession, question_id: int, member_id: int) -> int | None:
    return await session.scalar(
        select(SprintVariant.version_id).where(
            SprintVariant.question_id == question_id, SprintVariant.member_id == member_id
        )
    )
