"""Processes each event once: a duplicate, even a concurrent one, gets the reply of the first."""

from __future__ import annotations

from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar, cast

from pydantic import TypeAdapter
from sqlalchemy import Select, Table, Update, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.sql.dml import ReturningInsert

from service.errors import Refused
from service.store.members import Caller
from service.store.statements import built_once
from service.store.tables import InboxRow
from service.wire import EventReused

T = TypeVar("T")

INBOX = cast(Table, InboxRow.__table__)
"""The table itself: the ORM takes as long again as the statement."""


@dataclass(frozen=True, slots=True)
class EventCall:
    """A call that a chat event leads to, and that has its effect once."""

    event_id: str
    name: str
    now: datetime


async def run_once(
    session: AsyncSession, caller: Caller, call: EventCall, work: Awaitable[T], reply: type[T] | TypeAdapter[T]
) -> T:
    """Returns the result of `work`, or the stored result if the event was processed before; then `work` is closed, not
    run.

    A duplicate waits for the first one's transaction and does the work itself if that is rolled back. Refused
    if the event belongs to another member or another call.
    """
    adapter = reply if isinstance(reply, TypeAdapter) else TypeAdapter(reply)
    label = f"{call.name} {caller.identity_id}"
    try:
        if not await _claim_event(session, caller.chat_id, call, label):
            stored = (await session.scalars(*_select_event(caller.chat_id, call.event_id))).one()
            if stored.call != label:
                raise Refused(EventReused(event_id=call.event_id))
            return adapter.validate_python(stored.reply["reply"], strict=False, extra="ignore")
        done = await work
    finally:
        _close_awaitable(work)
    data = adapter.dump_python(done, mode="json")
    await session.execute(*_store_reply(caller.chat_id, call.event_id, {"reply": data}))
    return done


@built_once
def _select_event(chat: int, event: str) -> Select[InboxRow]:
    return select(InboxRow).where(InboxRow.chat_id == chat, InboxRow.event_id == event)


@built_once
def _store_reply(chat: int, event: str, answer: dict[str, Any]) -> Update:
    return update(INBOX).where(INBOX.c.chat_id == chat, INBOX.c.event_id == event).values(reply=answer)


async def _claim_event(session: AsyncSession, chat_id: int, call: EventCall, label: str) -> bool:
    return await session.scalar(*_insert_event(chat_id, call.event_id, call.now, label)) is not None


@built_once
def _insert_event(chat: int, event: str, now: datetime, label: str) -> ReturningInsert[Any]:
    row = {"chat_id": chat, "event_id": event, "at": now, "call": label, "reply": {}}
    return insert(INBOX).values(row).on_conflict_do_nothing().returning(INBOX.c.event_id)


def _close_awaitable(work: Awaitable[Any]) -> None:
    """Closes the awaitable; Python warns about coroutines that are never awaited."""
    close = getattr(work, "close", None)
    if close is not None:
        close()
