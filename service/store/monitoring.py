"""Rows for metrics, the operations page and the doctor: queues, slots, failures, devices and the server itself.

With a workspace id, queries cover that workspace; with None, all of them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any, Final

from psycopg import Connection
from sqlalchemy import ColumnElement, Select, and_, case, delete, exists, false, func, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.markings import select_waiting
from service.store.retention import list_done
from service.store.review_tables import ReportRow, SuggestionRow
from service.store.tables import (
    UNSENT,
    BankRow,
    Channel,
    Chat,
    CurrentAnswer,
    Outbox,
    QuestionRow,
    QuestionVersion,
    Round,
    SandboxDevice,
    Schedule,
    Trouble,
)

LEADER_LOCK: Final = 0x_DA117_0002
"""Key of the advisory lock that the leading process holds."""


@dataclass(frozen=True, slots=True)
class QueueMeasure:
    """The number of waiting items of one kind."""

    name: str
    count: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class JobMeasure:
    """The number of jobs of one task in one state."""

    task: str
    status: str
    count: int
    oldest: datetime | None


@dataclass(frozen=True, slots=True)
class Measures:
    """Everything the metrics need, counted at one instant."""

    outbox: Sequence[QueueMeasure]
    """By platform."""
    overdue: QueueMeasure
    """Questions not posted although due for longer than the grace period."""
    answers: QueueMeasure
    """Code answers without a verdict."""
    jobs: Sequence[JobMeasure]
    schedules: int
    open_rounds: int
    unclosed: int
    """Rounds past their closing time that are not closed yet."""
    troubles: Sequence[tuple[str, int]]
    led: bool
    """Whether a worker holds the leader lock."""
    maintained: Mapping[str, datetime] = field(default_factory=dict)
    """When each task of maintenance was last done."""
    archived: datetime | None = None
    """When the server last archived WAL, or its start if it has not yet; None where it archives none."""


@dataclass(frozen=True, slots=True)
class Posting:
    """A round with one message that posts its question to a channel, or with none if it was skipped."""

    round: Round
    schedule: Schedule
    row: Outbox | None
    channel: Channel
    chat: Chat


@dataclass(frozen=True, slots=True)
class FailedJob:
    """A job that failed for good."""

    task: str
    attempts: int
    at: datetime | None


@dataclass(frozen=True, slots=True)
class Undelivered:
    """The undelivered messages of a workspace."""

    count: int
    oldest: datetime | None
    """Due time of the oldest message."""
    error: str
    """Latest error of the oldest message."""


async def collect_measures(session: AsyncSession, now: datetime, grace: timedelta, leader: int) -> Measures:
    """Counts everything as of `now`. `leader` is the key of the leader lock."""
    open_rounds, unclosed = await _rounds(session, now)
    return Measures(
        outbox=await count_undelivered(session, None),
        overdue=await _overdue(session, now - grace),
        answers=await count_waiting_answers(session),
        jobs=await count_jobs(session),
        schedules=await _schedules(session),
        open_rounds=open_rounds,
        unclosed=unclosed,
        troubles=await _troubles(session),
        led=await has_leader(session, leader),
        maintained=await list_done(session),
        archived=await session.scalar(text(_ARCHIVED)),
    )


async def count_waiting_answers(session: AsyncSession, workspace_id: int | None = None) -> QueueMeasure:
    """Counts code answers without a verdict."""
    values = {} if workspace_id is None else {"workspace": workspace_id}
    query = _ANSWERS if workspace_id is None else f"{_ANSWERS} and {_OF_ONE}"
    return QueueMeasure("code", *(await session.execute(text(query), values)).one())


async def count_jobs(session: AsyncSession) -> Sequence[JobMeasure]:
    """Counts jobs that are waiting, running or failed for good."""
    return [JobMeasure(*row) for row in await session.execute(text(_JOBS))]


async def has_leader(session: AsyncSession, leader: int) -> bool:
    """Returns whether a process holds the leader lock of this database."""
    return bool(await session.scalar(text(_LED), {"high": leader >> 32, "low": leader & 0xFFFFFFFF}))


async def list_postings(
    session: AsyncSession, workspace_id: int | None, since: datetime, limit: int
) -> Sequence[Posting]:
    """Returns the slots since then, newest first."""
    mine = [] if workspace_id is None else [Schedule.workspace_id == workspace_id]
    query = (
        select(Round, Schedule, Outbox, Channel, Chat)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .outerjoin(Outbox, and_(Outbox.round_id == Round.id, Outbox.kind == "question"))
        .join(Channel, Channel.id == func.coalesce(Outbox.channel_id, Schedule.channel_id))
        .join(Chat, Chat.id == Channel.chat_id)
        .where(*mine, Round.opens_at >= since)
        .order_by(Round.opens_at.desc(), Round.id.desc(), Outbox.id)
        .limit(limit)
    )
    return [Posting(*row) for row in await session.execute(query)]


async def count_undelivered(session: AsyncSession, workspace_id: int | None) -> Sequence[QueueMeasure]:
    """Counts undelivered messages by platform."""
    query = (
        select(Chat.platform, func.count(), func.min(Outbox.due_at))
        .join(Chat, Chat.id == Outbox.chat_id)
        .where(*_mine(workspace_id), Outbox.state.in_(UNSENT))
        .group_by(Chat.platform)
        .order_by(Chat.platform)
    )
    return [QueueMeasure(*row) for row in await session.execute(query)]


async def list_failed_messages(
    session: AsyncSession, workspace_id: int | None, since: datetime, limit: int
) -> Sequence[tuple[Outbox, Chat, Channel | None]]:
    """Returns messages due since then that were given up or whose last attempt failed, newest first."""
    failed = Outbox.state.in_((*UNSENT, "skipped", "lost"))
    return await _messages(session, workspace_id, since, limit, and_(failed, Outbox.error.is_not(None)))


async def list_unjudged_verdicts(
    session: AsyncSession, workspace_id: int | None, since: datetime, limit: int
) -> Sequence[tuple[Outbox, Chat, Channel | None]]:
    """Returns messages since then that tell a member their code could not be judged, newest first."""
    ours = Outbox.body["verdict"]["verdict"].astext == "system error"
    return await _messages(session, workspace_id, since, limit, and_(Outbox.kind == "verdict", ours))


async def list_failed_jobs(
    session: AsyncSession, workspace_id: int | None, since: datetime, limit: int
) -> Sequence[FailedJob]:
    """Returns jobs that failed for good since then, newest first. For one workspace: jobs that judge its answers."""
    query = _FAILED_OF_ONE if workspace_id is not None else _FAILED
    values = {"since": since, "most": limit, "workspace": workspace_id}
    return [FailedJob(*row) for row in await session.execute(text(query), values)]


async def summarize_undelivered(session: AsyncSession, workspace_id: int, now: datetime) -> Undelivered:
    """Counts messages that are due but not delivered."""
    mine = (Outbox.workspace_id == workspace_id, Outbox.state.in_(UNSENT), Outbox.due_at <= now)
    count = await session.scalar(select(func.count()).select_from(Outbox).where(*mine))
    oldest = await session.scalar(select(Outbox).where(*mine).order_by(Outbox.due_at, Outbox.id).limit(1))
    if oldest is None:
        return Undelivered(0, None, "")
    return Undelivered(int(count or 0), oldest.due_at, oldest.error or "")


async def record_devices(session: AsyncSession, devices: Collection[str], now: datetime, oldest: datetime) -> None:
    """Records the devices that sandboxes have now, and deletes those not seen since `oldest`."""
    if devices:
        rows = [{"device": device, "seen_at": now} for device in sorted(devices)]
        new = insert(SandboxDevice).values(rows)
        # Another worker may have recorded a later time.
        latest = func.greatest(SandboxDevice.seen_at, new.excluded.seen_at)
        await session.execute(new.on_conflict_do_update(index_elements=["device"], set_={"seen_at": latest}))
    await session.execute(delete(SandboxDevice).where(SandboxDevice.seen_at < oldest))


async def check_gpu(session: AsyncSession) -> bool:
    """Returns whether a sandbox has a GPU."""
    return bool(await session.scalar(select(has_gpu())))


def lacks_gpu() -> ColumnElement[bool]:
    """Tests whether `QuestionVersion` needs a GPU and no sandbox has one."""
    return ~has_gpu() & needs_gpu()


def needs_gpu() -> ColumnElement[bool]:
    """Tests whether `QuestionVersion` needs a GPU."""
    # `case` keeps the database from reading the bodies of other kinds, which may be long.
    device = QuestionVersion.body["task"]["device"].astext
    return case((QuestionVersion.kind == "code", func.coalesce(device == "cuda", false())), else_=false())


def has_gpu() -> ColumnElement[bool]:
    """Tests whether a sandbox has a GPU."""
    return exists().where(SandboxDevice.device == "cuda")


async def server_version_and_clock(session: AsyncSession) -> tuple[str, datetime]:
    """Returns PostgreSQL's version and its clock now."""
    row = (await session.execute(text("select current_setting('server_version'), clock_timestamp()"))).one()
    return str(row[0]), row[1]


async def server_time(session: AsyncSession) -> datetime:
    """Returns PostgreSQL's clock now."""
    now: datetime = (await session.execute(text("select clock_timestamp()"))).scalar_one()
    return now


async def schema_revision(session: AsyncSession) -> str | None:
    """Returns the migration of the schema."""
    found: str | None = await session.scalar(text("select version_num from alembic_version"))
    return found


def database_size(connection: Connection) -> int:
    """Returns the size of the database on disk, bytes."""
    row = connection.execute("select pg_database_size(current_database())").fetchone()
    return int(row[0]) if row else 0


def server_clock(connection: Connection) -> datetime:
    """Returns the server's clock now."""
    row = connection.execute("select clock_timestamp()").fetchone()
    assert row is not None, "a select without a table gives one row"
    now: datetime = row[0]
    return now


def encrypted_secrets(connection: Connection) -> list[bytes]:
    """Returns every secret that is stored encrypted: tokens of installations, and secrets of web chats."""
    query = (
        "select token from installation where token is not null union all "
        "select refresh from installation where refresh is not null union all "
        "select secret from web_state where secret is not null and encrypted"
    )
    return [bytes(row[0]) for row in connection.execute(query)]


def has_leader_sync(connection: Connection, key: int) -> bool:
    """Returns whether a process holds the advisory lock with this key."""
    query = (
        "select exists (select from pg_locks where locktype = 'advisory' and granted and classid = %s and objid = %s "
        "and database = (select oid from pg_database where datname = current_database()))"
    )
    row = connection.execute(query, (key >> 32, key & 0xFFFFFFFF)).fetchone()
    return bool(row and row[0])


def count_waiting_work(connection: Connection) -> int:
    """Counts the schedules and jobs that need a worker."""
    query = (
        "select (select count(*) from schedule where removed_at is null and paused_at is null) + "
        "(select count(*) from procrastinate_jobs where status = 'todo' and coalesce(scheduled_at, now()) <= now())"
    )
    row = connection.execute(query).fetchone()
    return int(row[0]) if row else 0


async def _overdue(session: AsyncSession, before: datetime) -> QueueMeasure:
    query = select(func.count(), func.min(Outbox.due_at)).where(
        Outbox.state.in_(UNSENT), Outbox.kind == "question", Outbox.due_at < before
    )
    return QueueMeasure("question", *(await session.execute(query)).one())


async def _schedules(session: AsyncSession) -> int:
    query = select(func.count()).select_from(Schedule).where(Schedule.removed_at.is_(None))
    return await session.scalar(query) or 0


async def _rounds(session: AsyncSession, now: datetime) -> tuple[int, int]:
    query = select(func.count(), func.count().filter(Round.closes_at <= now)).where(
        Round.closed_at.is_(None), Round.skipped.is_(None)
    )
    taken, unclosed = (await session.execute(query)).one()
    return taken - unclosed, unclosed


async def _troubles(session: AsyncSession) -> Sequence[tuple[str, int]]:
    query = select(Trouble.what, func.count()).where(Trouble.over_at.is_(None)).group_by(Trouble.what)
    return [(what, count) for what, count in await session.execute(query)]


async def _messages(
    session: AsyncSession, workspace_id: int | None, since: datetime, limit: int, which: ColumnElement[bool]
) -> Sequence[tuple[Outbox, Chat, Channel | None]]:
    query = (
        select(Outbox, Chat, Channel)
        .join(Chat, Chat.id == Outbox.chat_id)
        .outerjoin(Channel, Channel.id == Outbox.channel_id)
        .where(*_mine(workspace_id), Outbox.due_at >= since, which)
        .order_by(Outbox.due_at.desc(), Outbox.id.desc())
        .limit(limit)
    )
    return [(row, chat, channel) for row, chat, channel in await session.execute(query)]


def _mine(workspace_id: int | None) -> list[ColumnElement[bool]]:
    return [] if workspace_id is None else [Outbox.workspace_id == workspace_id]


# procrastinate records the time of deferral as an event of the job.
_JOBS = """
    select job.task_name, job.status::text, count(*), min(event.at)
    from procrastinate_jobs job
    left join procrastinate_events event on event.job_id = job.id and event.type = 'deferred'
    where job.status in ('todo', 'doing', 'failed')
    group by 1, 2 order by 1, 2
"""
# A busy job is deferred again as a new one, so the waiting time is that of the answer.
_ANSWERS = """
    select count(distinct answer.id), min(answer.at)
    from procrastinate_jobs job join answer on answer.id = (job.args ->> 'answer_id')::bigint
    where job.task_name = 'judge_answer' and job.status in ('todo', 'doing')
"""
_ARCHIVED = """
    select coalesce(last_archived_time, pg_postmaster_start_time())
    from pg_stat_archiver where current_setting('archive_mode') <> 'off'
"""
_OF_ONE = "answer.member_id in (select id from member where workspace_id = :workspace)"
_LED = """
    select exists (
        select from pg_locks
        where locktype = 'advisory' and granted and classid::bigint = :high and objid::bigint = :low
        and database = (select oid from pg_database where datname = current_database())
    )
"""
_FAILED = """
    select job.task_name, job.attempts, max(event.at)
    from procrastinate_jobs job
    join procrastinate_events event on event.job_id = job.id and event.type = 'failed' and event.at >= :since
    where job.status = 'failed' and cast(:workspace as bigint) is null
    group by job.id order by 3 desc limit :most
"""
_FAILED_OF_ONE = """
    select job.task_name, job.attempts, max(event.at)
    from procrastinate_jobs job
    join procrastinate_events event on event.job_id = job.id and event.type = 'failed' and event.at >= :since
    join answer on answer.id = (job.args ->> 'answer_id')::bigint
    join member on member.id = answer.member_id
    where job.status = 'failed' and member.workspace_id = :workspace
    group by job.id order by 3 desc limit :most
"""


@dataclass(frozen=True, slots=True)
class Waiting:
    """How much waits, and how many members took part lately."""

    reports: int
    suggestions: int
    answers: int
    generated: int
    members: int


async def count_waiting(session: AsyncSession, workspace_id: int, since: datetime) -> Waiting:
    """Returns the counts, in one statement. `members` answered a round that opened since then."""
    reports = select(func.count()).where(ReportRow.workspace_id == workspace_id, ReportRow.state == "open")
    suggested = select(func.count()).where(SuggestionRow.workspace_id == workspace_id, SuggestionRow.state == "waiting")
    held = (
        select(func.count())
        .select_from(QuestionRow)
        .join(BankRow, BankRow.id == QuestionRow.bank_id)
        .where(QuestionRow.held, QuestionRow.retired_at.is_(None), BankRow.workspace_id == workspace_id)
    )
    members = (
        select(func.count(CurrentAnswer.member_id.distinct()))
        .join(Round, Round.id == CurrentAnswer.round_id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Schedule.workspace_id == workspace_id, Round.opens_at >= since)
    )
    counts: list[Select[Any]] = [reports, suggested, select_waiting(workspace_id), held, members]
    row = (await session.execute(select(*(each.scalar_subquery() for each in counts)))).one()
    return Waiting(*map(int, row))
