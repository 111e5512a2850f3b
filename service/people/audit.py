"""The one gate admins' calls go through: refused to others, done once per event, and put on record."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime
from typing import Any, TypeVar

from pydantic import TypeAdapter
from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import AdminsOnly
from service.rounds.idempotency import run_once
from service.store import audits, members
from service.store.members import Caller
from service.wire import AuditView

T = TypeVar("T")


def admins_only(caller: Caller) -> None:
    """Refused to whoever the platform does not call an admin of the workspace."""
    if not caller.admin:
        raise AdminsOnly


async def administer(
    session: AsyncSession,
    caller: Caller,
    event_id: str,
    action: str,
    detail: dict[str, Any],
    work: Callable[[], Awaitable[T]],
    reply: type[T] | TypeAdapter[T],
    now: datetime,
) -> T:
    """What `work` returns, done once for this event and noted as `action` with `detail`; refused to non-admins.

    `detail` is JSON-ready; under `member` it holds the number of a member's row, which `trail` shows as a name.
    """
    admins_only(caller)

    async def noted() -> T:
        done = await work()
        audits.add(session, caller, action, detail, now)
        return done

    return await run_once(session, caller, event_id, action, now, noted(), reply)


async def trail(session: AsyncSession, caller: Caller, limit: int = 20) -> tuple[AuditView, ...]:
    """What the workspace's admins did last, the newest first; refused to non-admins."""
    admins_only(caller)
    rows = await audits.list_latest(session, caller.workspace_id, limit)
    names = await members.get_names(session, caller.workspace_id, [_member_in(audit.detail) for audit, _ in rows])
    return tuple(
        AuditView(at=audit.at, by=by, action=audit.action, detail=_said(audit.detail, names)) for audit, by in rows
    )


def _member_in(detail: dict[str, Any]) -> int:
    return int(detail.get("member", 0))


def _said(detail: dict[str, Any], names: dict[int, str]) -> str:
    """`member Ada, points 5, reason typo` and so on, in the order of the alphabet: JSONB keeps none."""
    said = {**detail, "member": names.get(_member_in(detail), "someone")} if "member" in detail else detail
    return ", ".join(f"{name} {value}" for name, value in sorted(said.items()) if value not in ("", None))
