"""Deletes old rows in small batches, and remembers when maintenance was last done.

Nothing that earns points is deleted: answers, verdicts, the ledger and the messages of rounds stay. Of old answers, the
text and code are cleared if the settings say so.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from sqlalchemy import String, select, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from service.store.session import allow_forgetting
from service.store.tables import Base

Kind = Literal["inbox", "outbox", "audit", "failed_jobs", "answer_text", "web_messages"]
BATCH: Final = 2_000
"""Rows that one statement deletes or clears, at most."""
RETENTION: Final = "retention"
BACKUP: Final = "backup"

# ruff: noqa: S608 - only constant expressions are formatted into statements, never values

# The rows are chosen in a materialized WITH: PostgreSQL may execute a subquery once for each row of the table, and one
# that locks rows then chooses other rows each time, so that its limit does not hold.

# Duplicates of an event come within hours, from a chat that got no reply.
_INBOX = """
    with old as materialized (
        select chat_id, event_id from inbox where at < :before limit :most for update skip locked
    )
    delete from inbox using old where inbox.chat_id = old.chat_id and inbox.event_id = old.event_id
"""
# Private messages and notices. Those of rounds stay: their threads are corrected and looked up for years.
_OUTBOX = """
    with old as materialized (
        select id from outbox message
        where sent_at < :before and state = 'sent' and (round_id is null or member_id is not null)
        and not exists (select from outbox edit where edit.edits_id = message.id)
        limit :most for update skip locked
    )
    delete from outbox using old where outbox.id = old.id
"""
_AUDIT = """
    with old as materialized (select id from audit where at < :before order by id limit :most)
    delete from audit using old where audit.id = old.id
"""
_FAILED_JOBS = """
    with old as materialized (
        select job.id from procrastinate_jobs job join procrastinate_events event on event.job_id = job.id
        where job.status in ('failed', 'cancelled', 'aborted')
        group by job.id having max(event.at) < :before limit :most
    )
    delete from procrastinate_jobs using old where procrastinate_jobs.id = old.id
"""
_CLEARED = """ given - 'text' - 'code' || '{"text": null, "code": null, "cleared": true}' """
_WRITTEN = "coalesce(given ->> 'text', given ->> 'code') is not null"
# Answers that count in a round and have no verdict yet are needed for it. Verdicts repeat what was written and printed.
_ANSWERS = f"""
    with old as materialized (
        select id from answer
        where {_WRITTEN} and at < :before
        and not exists (select from round where round.id = answer.round_id and round.closed_at is null)
        and (not exists (select from standing where answer_id = answer.id)
             or exists (select from verdict where answer_id = answer.id))
        order by at limit :most for update skip locked
    ), judged as (
        update verdict set detail = detail || '{{"judged": "", "stdout": "", "message": ""}}' || jsonb_build_object(
            'cases', coalesce((
                select jsonb_agg(one || '{{"got": "", "difference": null}}' order by place)
                from jsonb_array_elements(detail -> 'cases') with ordinality each (one, place)
            ), '[]'))
        from old where verdict.answer_id = old.id and detail <> '{{}}'
    )
    update answer set given = {_CLEARED} from old where answer.id = old.id
"""
_SPRINTS = f"""
    with old as materialized (
        select question_id, member_id from sprint_answer
        where {_WRITTEN} and at < :before and credit is not null limit :most for update skip locked
    )
    update sprint_answer answer set given = {_CLEARED} from old
    where answer.question_id = old.question_id and answer.member_id = old.member_id
"""
_DUELS = f"""
    with old as materialized (
        select question_id, side from duel_turn where {_WRITTEN} and answered_at < :before
        limit :most for update skip locked
    )
    update duel_turn turn set given = {_CLEARED} from old
    where turn.question_id = old.question_id and turn.side = old.side
"""
_WEB_MESSAGES = """
    with old as materialized (select id from web_message where at < :before limit :most)
    delete from web_message using old where web_message.id = old.id
"""
_STATEMENTS: Final[dict[Kind, tuple[str, ...]]] = {
    "inbox": (_INBOX,),
    "outbox": (_OUTBOX,),
    "audit": (_AUDIT,),
    "failed_jobs": (_FAILED_JOBS,),
    "answer_text": (_ANSWERS, _SPRINTS, _DUELS),
    "web_messages": (_WEB_MESSAGES,),
}


class Maintenance(Base):
    """When a task of maintenance was last done."""

    __tablename__ = "maintenance"
    task: Mapped[str] = mapped_column(String(), primary_key=True)
    done_at: Mapped[datetime]


async def delete_old(session: AsyncSession, kind: Kind, before: datetime) -> int:
    """Deletes or clears a batch of rows of that kind from before then. Returns their number."""
    if kind == "audit":
        # Until the transaction ends; the table refuses every other change.
        await session.execute(text("select set_config('dailygrad.retiring', 'on', true)"))
    if kind == "answer_text":
        await allow_forgetting(session)
    deleted = 0
    for statement in _STATEMENTS[kind]:
        done = await session.execute(text(statement), {"before": before, "most": BATCH})
        deleted += int(getattr(done, "rowcount", 0))
    return deleted


async def record_done(session: AsyncSession, task: str, now: datetime) -> None:
    """Records that the task was done."""
    made = insert(Maintenance).values(task=task, done_at=now)
    await session.execute(made.on_conflict_do_update(index_elements=["task"], set_={"done_at": now}))


async def list_done(session: AsyncSession) -> dict[str, datetime]:
    """Returns when each task was last done."""
    rows = await session.execute(select(Maintenance.task, Maintenance.done_at))
    return {row.task: row.done_at for row in rows}
