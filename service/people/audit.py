"""The audit log, and the gate for admin calls: admins only, once per event, always logged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from pydantic import TypeAdapter
from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import Refused
from service.rounds.idempotency import EventCall, run_once
from service.store import audits, members
from service.store.audits import NEWEST, AuditFilter
from service.store.members import Caller
from service.wire import AdminsOnly, AuditFact, AuditView

T = TypeVar("T")


def admins_only(caller: Caller) -> None:
    """Refuses callers who are not admins according to the platform."""
    if not caller.admin:
        raise Refused(AdminsOnly())


async def administer(
    session: AsyncSession,
    caller: Caller,
    call: EventCall,
    detail: dict[str, Any] | Callable[[T], dict[str, Any]],
    work: Callable[[], Awaitable[T]],
    reply: type[T] | TypeAdapter[T],
) -> T:
    """Runs `work` once, logs the call's name and `detail`, and returns the result of `work`. Admins only.

    `detail` is JSON-ready, or computed from the result. Its `member` is a member's row id, which `trail` shows as a
    name.
    """
    admins_only(caller)

    async def noted() -> T:
        done = await work()
        audits.add(session, caller, call.name, detail(done) if callable(detail) else detail, call.now)
        return done

    return await run_once(session, caller, call, noted(), reply)


async def trail(
    session: AsyncSession, caller: Caller, limit: int = 20, wanted: AuditFilter = NEWEST
) -> tuple[AuditView, ...]:
    """Returns the latest admin actions, newest first. Admins only."""
    admins_only(caller)
    rows = await audits.list_latest(session, caller.workspace_id, limit, wanted)
    names = await members.get_names(session, caller.workspace_id, [_member_in(audit.detail) for audit, _ in rows])
    return tuple(
        AuditView(id=audit.id, at=audit.at, by=by, action=audit.action, facts=_facts(audit.detail, names))
        for audit, by in rows
    )


def _member_in(detail: dict[str, Any]) -> int:
    return int(detail.get("member", 0))


def _facts(detail: dict[str, Any], names: dict[int, str]) -> dict[str, AuditFact]:
    """Returns the details that are set, sorted because JSONB keeps no order."""
    named = {**detail, "member": names.get(_member_in(detail), "")} if "member" in detail else detail
    return {name: _fact(value) for name, value in sorted(named.items()) if name == "member" or value not in _UNSET}


_UNSET: tuple[object, ...] = ("", None, [], {})


def _fact(value: Any) -> AuditFact:
    if isinstance(value, bool):
        return value
    if isinstance(value, dict):
        return tuple(f"{name} {inner}" for name, inner in sorted(value.items()) if inner not in _UNSET)
    return tuple(map(str, value)) if isinstance(value, list) else str(value)
