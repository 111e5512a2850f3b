"""Rows of rounds, created once per slot, and of attendance for streaks. Slot times are in `service.domain.calendar`."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from sqlalchemy import BigInteger, ColumnElement, Select, and_, func, literal, or_, select, text, tuple_
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.standings import Attendance
from service.store.banks import is_asked_now
from service.store.members import Caller
from service.store.schedules import is_slot, posts_to
from service.store.statements import built_once
from service.store.tables import (
    AnswerRow,
    Channel,
    Chat,
    CurrentAnswer,
    QuestionRow,
    QuestionVersion,
    Round,
    Schedule,
    ScheduleChannel,
)

Histories = dict[tuple[int, int], list[Attendance]]


async def create(
    session: AsyncSession,
    schedule_id: int,
    day: date,
    opens_at: datetime,
    closes_at: datetime,
    *,
    version_id: int | None = None,
    own_variants: bool = False,
    skipped: str | None = None,
    number: int = 0,
) -> Round | None:
    """Creates the round of a slot, or with `number` an extra one. Returns None if there already is one."""
    values = {
        "schedule_id": schedule_id,
        "day": day,
        "number": number,
        "version_id": version_id,
        "own_variants": own_variants,
        "opens_at": opens_at,
        "closes_at": closes_at,
        "skipped": skipped,
    }
    made = await session.scalar(insert(Round).values(values).on_conflict_do_nothing().returning(Round.id))
    return None if made is None else await session.get(Round, made)


@dataclass(frozen=True, slots=True)
class NewRound:
    """The round of a slot with its question."""

    schedule_id: int
    day: date
    opens_at: datetime
    closes_at: datetime
    version_id: int
    own_variants: bool = False
    """Whether each member gets a variant of their own."""


async def create_many(session: AsyncSession, new: Sequence[NewRound]) -> dict[int, Round]:
    """Creates the rounds of slots, at most one of each schedule. Returns them by schedule, without those that there
    already were."""
    if not new:
        return {}
    made = await session.scalars(
        insert(Round).on_conflict_do_nothing().returning(Round), [dataclasses.asdict(one) for one in new]
    )
    return {round_.schedule_id: round_ for round_ in made}


async def next_extra_number(session: AsyncSession, schedule_id: int, day: date) -> int:
    """Returns the number of the day's next extra round. The schedule must be locked."""
    query = select(func.max(Round.number)).where(Round.schedule_id == schedule_id, Round.day == day)
    return int(await session.scalar(query) or 0) + 1


async def reopen(session: AsyncSession, new: NewRound) -> Round | None:
    """Puts a question to the slot's round that was skipped. Returns None if it was not."""
    skipped = select(Round).where(is_slot(new.schedule_id, new.day), Round.skipped.is_not(None))
    round_ = await session.scalar(skipped.with_for_update(key_share=True))
    if round_ is not None:
        round_.version_id, round_.skipped = new.version_id, None
        round_.opens_at, round_.closes_at = new.opens_at, new.closes_at
        round_.own_variants = new.own_variants
        await session.flush()
    return round_


async def find_in_workspace(
    session: AsyncSession, workspace_id: int, round_id: int, *, lock: bool = False
) -> tuple[Round, Schedule] | None:
    """Returns a posted round of this workspace and its schedule. With `lock` it cannot close until the transaction
    ends."""
    query = _asked().where(Round.id == round_id, Schedule.workspace_id == workspace_id)
    if lock:
        query = query.with_for_update(of=Round, read=True)
    row = (await session.execute(query.execution_options(populate_existing=True))).one_or_none()
    return None if row is None else (row[0], row[1])


async def find_asked(session: AsyncSession, round_id: int) -> tuple[Round, Schedule] | None:
    """Returns a posted round of any workspace and its schedule."""
    row = (await session.execute(_asked().where(Round.id == round_id))).one_or_none()
    return None if row is None else (row[0], row[1])


@dataclass(frozen=True, slots=True)
class Answered:
    """A round that a member answers."""

    round: Round
    schedule: Schedule
    digest: str
    """Digest of the content of the round's question version."""
    before: AnswerRow | None
    """The member's current answer."""


async def lock_to_answer(session: AsyncSession, caller: Caller, round_id: int) -> Answered | None:
    """Returns a posted round of the caller's workspace, which cannot close until the transaction ends. Call with the
    caller's member row locked."""
    row = (await session.execute(*_select_to_answer(round_id, caller.workspace_id, caller.member_id))).one_or_none()
    return None if row is None else Answered(*row)


@built_once
def _select_to_answer(
    round_id: int, workspace_id: int, member_id: int
) -> Select[Round, Schedule, bytes, AnswerRow | None]:
    mine = (CurrentAnswer.round_id == Round.id) & (CurrentAnswer.member_id == member_id)
    return (
        _asked()
        .add_columns(QuestionVersion.digest, AnswerRow)
        .join(QuestionVersion, QuestionVersion.id == Round.version_id)
        .outerjoin(CurrentAnswer, mine)
        .outerjoin(AnswerRow, AnswerRow.id == CurrentAnswer.answer_id)
        .where(Round.id == round_id, Schedule.workspace_id == workspace_id)
        .with_for_update(of=Round, read=True)
        .execution_options(populate_existing=True)
    )


async def lock_shared(session: AsyncSession, round_id: int) -> tuple[Round, Schedule] | None:
    """Returns the round and its schedule. It cannot close until the transaction ends."""
    query = _asked().where(Round.id == round_id).with_for_update(of=Round, read=True)
    row = (await session.execute(query.execution_options(populate_existing=True))).one_or_none()
    return None if row is None else (row[0], row[1])


async def lock_open(session: AsyncSession, round_id: int) -> tuple[Round, Schedule] | None:
    """Returns the round, locked against new answers. Returns None if it is closed.

    Not against rows that refer to it (`key_share`): a bot that claims messages of the round would wait for it, and the
    close for those messages.
    """
    query = _asked().where(Round.id == round_id, Round.closed_at.is_(None))
    query = query.with_for_update(of=Round, key_share=True).execution_options(populate_existing=True)
    row = (await session.execute(query)).one_or_none()
    return None if row is None else (row[0], row[1])


async def list_open_in_channel(
    session: AsyncSession, channel_id: int, now: datetime
) -> Sequence[tuple[Round, Schedule]]:
    """Returns the channel's rounds that accept answers now, oldest first."""
    return [(row[0], row[1]) for row in await session.execute(*_select_open(channel_id, now))]


@built_once
def _select_open(channel_id: int, now: datetime) -> Select[Round, Schedule]:
    query = _asked().where(
        posts_to(channel_id), Round.closed_at.is_(None), Round.opens_at <= now, Round.closes_at > now
    )
    return query.order_by(Round.opens_at, Round.id)


async def list_open_in_workspace(
    session: AsyncSession, workspace_id: int, now: datetime
) -> Sequence[tuple[Round, Schedule]]:
    """Returns the workspace's rounds that accept answers now, oldest first."""
    query = _asked().where(
        Schedule.workspace_id == workspace_id, Round.closed_at.is_(None), Round.opens_at <= now, Round.closes_at > now
    )
    return [(row[0], row[1]) for row in await session.execute(query.order_by(Round.opens_at, Round.id))]


async def list_closed_with_question(session: AsyncSession, question_id: int) -> Sequence[tuple[Round, Schedule]]:
    """Returns all closed rounds that asked any version of the question, in all workspaces, oldest first."""
    query = (
        _asked()
        .join(QuestionVersion, QuestionVersion.id == Round.version_id)
        .where(QuestionVersion.question_id == question_id, Round.closed_at.is_not(None))
        .order_by(Round.opens_at, Round.id)
    )
    return [(row[0], row[1]) for row in await session.execute(query)]


async def hold_closed(session: AsyncSession, question_ids: Collection[int]) -> None:
    """Keeps the members of all closed rounds that asked these questions from being merged or forgotten until the
    transaction ends; waits for those that are on their way."""
    asked = QuestionVersion.question_id == func.any(literal(list(question_ids), ARRAY(BigInteger)))
    query = select(Round.id).join(QuestionVersion, QuestionVersion.id == Round.version_id)
    query = query.where(asked, Round.closed_at.is_not(None)).order_by(Round.id)
    await session.execute(query.with_for_update(of=Round, read=True))


async def list_due_to_close(session: AsyncSession, now: datetime) -> Sequence[int]:
    """Returns open rounds past their closing time, oldest first."""
    query = select(Round.id).where(Round.closed_at.is_(None), Round.skipped.is_(None), Round.closes_at <= now)
    return (await session.scalars(query.order_by(Round.closes_at, Round.id))).all()


async def list_due_to_close_of(session: AsyncSession, schedule_ids: Collection[int], now: datetime) -> dict[int, int]:
    """Returns the open rounds of these schedules that are past their closing time, with their schedules."""
    query = select(Round.id, Round.schedule_id).where(
        Round.schedule_id.in_(schedule_ids), Round.closed_at.is_(None), Round.skipped.is_(None), Round.closes_at <= now
    )
    return {row[0]: row[1] for row in await session.execute(query)}


async def list_judged_since(session: AsyncSession, first: date, last: Round) -> Sequence[int]:
    """Returns the ids of the schedule's posted rounds from a day up to a round, both included, except those with an
    open question."""
    query = (
        select(Round.id)
        .join(QuestionVersion, QuestionVersion.id == Round.version_id)
        .where(Round.schedule_id == last.schedule_id, Round.skipped.is_(None), QuestionVersion.kind != "open")
    )
    return (await session.scalars(query.where(Round.day >= first, _up_to(last)))).all()


@dataclass(frozen=True, slots=True)
class AskedRound:
    """A round as one member met it."""

    id: int
    schedule_id: int
    day: date
    closed: bool
    answer_id: int | None
    """The member's answer that counts."""
    secret: bool
    """Whether the question is asked again now, so that its key is secret."""


async def list_asked_since(session: AsyncSession, workspace_id: int, member_id: int, first: date) -> list[AskedRound]:
    """Returns the rounds that the workspace has asked from a day on, oldest first."""
    return [AskedRound(*row) for row in await session.execute(*_select_asked(workspace_id, member_id, first))]


@built_once
def _select_asked(workspace_id: int, member_id: int, first: date) -> Select[int, int, date, bool, int | None, bool]:
    answered = and_(CurrentAnswer.round_id == Round.id, CurrentAnswer.member_id == member_id)
    return (
        select(
            Round.id,
            Round.schedule_id,
            Round.day,
            Round.closed_at.is_not(None),
            CurrentAnswer.answer_id,
            is_asked_now(workspace_id),
        )
        .join(Schedule, Schedule.id == Round.schedule_id)
        .join(QuestionVersion, QuestionVersion.id == Round.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .outerjoin(CurrentAnswer, answered)
        .where(Schedule.workspace_id == workspace_id, Round.day >= first)
        .order_by(Round.opens_at, Round.id)
    )


async def count_posted_until(session: AsyncSession, last: Round) -> int:
    """Returns how many rounds the schedule has posted up to and including this one."""
    query = select(func.count()).where(Round.schedule_id == last.schedule_id, Round.skipped.is_(None), _up_to(last))
    return int(await session.scalar(query) or 0)


async def claim_due_schedules(
    session: AsyncSession, now: datetime, after: tuple[datetime, int] | None, most: int
) -> Sequence[Schedule]:
    """Returns up to `most` schedules that are to be looked at, in the order in which they are due, from `after` on;
    locked, without those that another process has locked."""
    due = [Schedule.next_at <= now]
    if after is not None:
        due.append(tuple_(Schedule.next_at, Schedule.id) > after)
    query = select(Schedule).where(*due).order_by(Schedule.next_at, Schedule.id).limit(most)
    query = query.with_for_update(skip_locked=True, key_share=True).execution_options(populate_existing=True)
    return (await session.scalars(query)).all()


async def list_posting(session: AsyncSession, schedule_ids: Collection[int]) -> set[int]:
    """Returns those of the schedules that make rounds, as `is_posting`."""
    return set(await session.scalars(select(Schedule.id).where(Schedule.id.in_(schedule_ids), *is_posting())))


async def list_overdue_schedules(session: AsyncSession, until: datetime, most: int) -> Sequence[Schedule]:
    """Returns up to `most` schedules that were to be looked at by that instant and were not; due longest first."""
    query = select(Schedule).where(Schedule.next_at <= until).order_by(Schedule.next_at, Schedule.id).limit(most)
    return (await session.scalars(query)).all()


async def load_histories(
    session: AsyncSession, schedule_ids: Collection[int], member_ids: Collection[int]
) -> Histories:
    """Returns the rounds of the schedule's slots that count, oldest first, for each (schedule, member).

    Those are left out that neither add nor break: skipped rounds, restored ones, and open ones without an answer.
    Rounds before the member's first answer are misses, which break nothing because no streak is running.
    """
    asked = {"schedules": list(schedule_ids), "people": list(member_ids)}
    return read_histories([tuple(row) for row in await session.execute(_ATTENDANCE, asked)], member_ids)


_ATTENDANCE = text("select * from list_attendance(:schedules, :people)")


def read_histories(rows: Iterable[Sequence[Any]], member_ids: Collection[int]) -> Histories:
    """Returns the histories in the rows of the database's `list_attendance`."""
    slots: list[tuple[int, Sequence[int], Sequence[int]]] = []
    answered: dict[int, set[int]] = {}
    excused: dict[int, set[int]] = {}
    for kind, owner, round_ids, running in rows:
        if kind == "asked":
            slots.append((owner, round_ids, running or ()))
        else:
            (answered if kind == "answered" else excused)[owner] = set(round_ids)
    found: Histories = {}
    for schedule_id, asked, running in slots:
        for member_id in member_ids:
            mine, left_out = answered.get(member_id, set()), excused.get(member_id, set()).union(running)
            found[schedule_id, member_id] = [
                "answered" if each in mine else "missed" for each in asked if each in mine or each not in left_out
            ]
    return found


async def list_streak_schedules(session: AsyncSession, workspace_id: int) -> list[int]:
    """Returns the active schedules of the workspace, whose streaks count."""
    return list(await session.scalars(*_select_streak_schedules(workspace_id)))


@built_once
def _select_streak_schedules(workspace_id: int) -> Select[int]:
    query = select(Schedule.id).where(Schedule.workspace_id == workspace_id, Schedule.removed_at.is_(None))
    return query.order_by(Schedule.id)


def is_posting() -> tuple[ColumnElement[bool], ...]:
    """Tests for active schedules with a channel in a chat that the bot is in.

    One without any makes no rounds. After the bot is back it catches up, as after an outage.
    """
    there = select(Channel.id).join(Chat, Chat.id == Channel.chat_id).where(Chat.left_at.is_(None))
    shared = there.join(ScheduleChannel, ScheduleChannel.channel_id == Channel.id)
    return (
        Schedule.removed_at.is_(None),
        Schedule.paused_at.is_(None),
        or_(
            there.where(Channel.id == Schedule.channel_id).exists(),
            shared.where(ScheduleChannel.schedule_id == Schedule.id).exists(),
        ),
    )


def _up_to(last: Round) -> ColumnElement[bool]:
    """Tests whether a round opened before `last`, or is that round."""
    return tuple_(Round.opens_at, Round.id) <= (last.opens_at, last.id)


def _asked() -> Select[Round, Schedule]:
    return select(Round, Schedule).join(Schedule, Schedule.id == Round.schedule_id).where(Round.skipped.is_(None))
