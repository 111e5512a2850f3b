"""Routes for admins. Each call goes through `people.audit`: admins only, once per event, always logged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any, TypeVar

from fastapi import Body, Depends
from sqlalchemy.ext.asyncio import AsyncSession

from service.api.http import Call, EventBody, TheCall, TheCaller, WhereBody, call_router
from service.errors import Refused
from service.ops import doctor as ops_doctor
from service.ops import overview as ops_overview
from service.ops import workspace_settings
from service.people import audit as people_audit
from service.people import members
from service.people.audit import administer, admins_only
from service.reference_clock import skew_of
from service.rounds import digests, leaderboard, planning, posting, rounds, schedules
from service.rounds.idempotency import EventCall
from service.store.audits import AuditFilter
from service.store.boards import NewWinnerRole
from service.store.ledger import Adjustment
from service.store.members import Caller, find_named_member, resolve_caller
from service.wire import (
    AuditView,
    ChannelNeeded,
    DigestView,
    ExtraRound,
    MemberPage,
    Overview,
    RoleId,
    RoundView,
    ScheduleChanges,
    ScheduleMonth,
    ScheduleSpec,
    ScheduleView,
    SeasonView,
    Short,
    Where,
    Who,
    WinnerOf,
    WinnerRoleView,
    WorkspaceCheck,
    WorkspaceSettings,
)

router = call_router("/admin")

T = TypeVar("T")
Work = Callable[[AsyncSession, Caller], Awaitable[T]]

Id = Annotated[int, Body(embed=True, ge=1, lt=2**63)]
NameBody = Annotated[Short, Body(embed=True, min_length=1)]
SpecBody = Annotated[ScheduleSpec, Body(embed=True)]
DayBody = Annotated[date, Body(embed=True)]
FlagBody = Annotated[bool, Body(embed=True)]
TextBody = Annotated[Short, Body(embed=True)]


@asynccontextmanager
async def looking(call: Call, who: Who) -> AsyncIterator[tuple[AsyncSession, Caller]]:
    """Yields the session and caller of a read-only admin call."""
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        admins_only(caller)
        yield session, caller


@dataclass(frozen=True)
class AdminChange:
    """An admin call that changes something."""

    call: Call
    who: Who
    event_id: str

    @property
    def now(self) -> datetime:
        return self.call.now

    async def run(
        self,
        action: str,
        work: Work[T],
        reply: Any,
        detail: dict[str, Any] | Callable[[T], dict[str, Any]] | None = None,
        where: Where | None = None,
    ) -> T:
        """Runs `work` in one transaction: admins only, once per event, and logged as `action`."""
        async with self.call.transaction() as session:
            caller = await resolve_caller(session, self.who, where, self.now)
            made = EventCall(self.event_id, action, self.now)
            done: T = await administer(session, caller, made, detail or {}, partial(work, session, caller), reply)
            return done


async def change_of(call: TheCall, who: TheCaller, event_id: EventBody) -> AdminChange:
    return AdminChange(call, who, event_id)


TheChange = Annotated[AdminChange, Depends(change_of)]


def channel_of(caller: Caller) -> int:
    """Returns the caller's channel. Refused for a caller who is in no channel."""
    if caller.channel_id is None:
        raise Refused(ChannelNeeded())
    return caller.channel_id


# Schedules


@router.post("/schedule/add")
async def schedule_add(change: TheChange, where: WhereBody, spec: SpecBody) -> ScheduleView:
    async def work(session: AsyncSession, caller: Caller) -> ScheduleView:
        return await schedules.add(session, caller, channel_of(caller), spec, change.now)

    return await change.run("schedule add", work, ScheduleView, {"channel": where.channel, **_settings(spec)}, where)


@router.post("/schedule/edit")
async def schedule_edit(
    change: TheChange,
    schedule: Id,
    changes: Annotated[ScheduleChanges, Body(embed=True)],
) -> ScheduleView:
    work = partial(schedules.edit, schedule_id=schedule, changes=changes, now=change.now)
    detail = {"schedule": schedule, **changes.model_dump(mode="json")}
    return await change.run("schedule edit", work, ScheduleView, detail)


@router.post("/schedule/list")
async def schedule_list(call: TheCall, who: TheCaller) -> tuple[ScheduleView, ...]:
    async with looking(call, who) as (session, caller):
        return await schedules.list_schedules(session, caller, call.now)


@router.post("/schedule/pause")
async def schedule_pause(change: TheChange, schedule: Id, paused: FlagBody) -> ScheduleView:
    work = partial(schedules.pause, schedule_id=schedule, paused=paused, now=change.now)
    action = "schedule pause" if paused else "schedule resume"
    return await change.run(action, work, ScheduleView, {"schedule": schedule})


@router.post("/schedule/skip")
async def schedule_skip(change: TheChange, schedule: Id, day: DayBody) -> ScheduleView:
    work = partial(schedules.skip, schedule_id=schedule, day=day, now=change.now)
    return await change.run("schedule skip", work, ScheduleView, {"schedule": schedule, "day": day.isoformat()})


@router.post("/schedule/remove")
async def schedule_remove(change: TheChange, schedule: Id) -> None:
    work = partial(schedules.remove, schedule_id=schedule, now=change.now)
    await change.run("schedule remove", work, type(None), {"schedule": schedule})


@router.post("/schedule/unskip")
async def schedule_unskip(change: TheChange, schedule: Id, day: DayBody) -> ScheduleView:
    work = partial(schedules.unskip, schedule_id=schedule, day=day, now=change.now)
    return await change.run("schedule unskip", work, ScheduleView, {"schedule": schedule, "day": day.isoformat()})


@router.post("/schedule/preview")
async def schedule_preview(
    call: TheCall, who: TheCaller, schedule: Id, day: Annotated[date | None, Body(embed=True)] = None
) -> RoundView:
    async with looking(call, who) as (session, caller):
        return await planning.preview(session, caller, schedule, call.now, day)


@router.post("/schedule/month")
async def schedule_month(
    call: TheCall,
    who: TheCaller,
    schedule: Annotated[int | None, Body(embed=True, ge=1, lt=2**63)],
    month: DayBody,
    changes: Annotated[ScheduleChanges, Body(embed=True)],
) -> ScheduleMonth:
    async with looking(call, who) as (session, caller):
        return await planning.view_month(session, caller, schedule, month, changes, call.now)


@router.post("/schedule/post-now")
async def post_now(change: TheChange, schedule: Id) -> RoundView:
    work = partial(posting.post_now, schedule_id=schedule, now=change.now)
    return await change.run("schedule post-now", work, RoundView, {"schedule": schedule})


@router.post("/ask")
async def ask(
    change: TheChange,
    where: WhereBody,
    wanted: Annotated[ExtraRound, Body(embed=True)],
) -> RoundView:
    async def work(session: AsyncSession, caller: Caller) -> RoundView:
        return await posting.ask_extra_round(session, caller, channel_of(caller), wanted, change.now)

    detail = {"channel": where.channel, **wanted.model_dump(mode="json", exclude_defaults=True)}
    return await change.run("ask", work, RoundView, detail, where)


@router.post("/close-now")
async def close_now(change: TheChange, where: WhereBody) -> RoundView:
    work = partial(rounds.close_now, now=change.now)
    return await change.run("close-now", work, RoundView, {"channel": where.channel}, where)


# Seasons


@router.post("/season/start")
async def season_start(change: TheChange, name: NameBody) -> SeasonView:
    work = partial(leaderboard.start_season, name=name, now=change.now)
    return await change.run("season start", work, SeasonView, {"name": name})


@router.post("/season/end")
async def season_end(change: TheChange) -> SeasonView:
    return await change.run("season end", partial(leaderboard.end_season, now=change.now), SeasonView)


@router.post("/winner/role")
async def winner_role_set(
    change: TheChange, where: WhereBody, event: Annotated[WinnerOf, Body()], role: Annotated[RoleId, Body()]
) -> WinnerRoleView:
    async def work(session: AsyncSession, caller: Caller) -> WinnerRoleView:
        wanted = NewWinnerRole(caller.chat_id, event, channel_of(caller), role)
        return await leaderboard.set_winner_role(session, caller, wanted, change.now)

    return await change.run(f"{event} role", work, WinnerRoleView, {"role": role}, where)


@router.post("/winner/roles")
async def winner_roles(call: TheCall, who: TheCaller) -> tuple[WinnerRoleView, ...]:
    async with looking(call, who) as (session, caller):
        return await leaderboard.list_winner_roles(session, [caller.chat_id])


# Digests


@router.post("/digest")
async def digest_view(call: TheCall, who: TheCaller) -> DigestView:
    async with looking(call, who) as (session, caller):
        return await digests.view(session, caller, call.now)


@router.post("/digest/switch")
async def digest_switch(change: TheChange, on: Annotated[bool, Body(embed=True)]) -> DigestView:
    work = partial(digests.switch, on=on, now=change.now)
    return await change.run("digest", work, DigestView, {"on": on})


# Members


@router.post("/member/restore")
async def member_restore(call: TheCall, who: TheCaller, event_id: EventBody, member: NameBody, day: DayBody) -> None:
    async with looking(call, who) as (session, caller):
        found = await find_named_member(session, caller, member)
        work = partial(members.restore_streak, session, caller, found, day)
        detail = {"member": found.id, "day": day.isoformat()}
        await administer(session, caller, EventCall(event_id, "member restore", call.now), detail, work, type(None))


@router.post("/member/adjust")
async def member_adjust(
    call: TheCall,
    who: TheCaller,
    event_id: EventBody,
    member: NameBody,
    points: Annotated[int, Body(embed=True, ge=-(10**9), le=10**9)],
    reason: TextBody,
) -> None:
    async with looking(call, who) as (session, caller):
        found = await find_named_member(session, caller, member)
        adjustment = Adjustment(points, reason, event_id, call.now)
        work = partial(members.adjust_points, session, caller, found, adjustment)
        detail = {"member": found.id, "points": points, "reason": reason}
        await administer(session, caller, EventCall(event_id, "member adjust", call.now), detail, work, type(None))


@router.post("/members")
async def member_list(
    call: TheCall,
    who: TheCaller,
    text: TextBody = "",
    page: Annotated[int, Body(embed=True, ge=1, le=10_000)] = 1,
    member_id: Annotated[int | None, Body(embed=True, ge=1, lt=2**63)] = None,
) -> MemberPage:
    async with looking(call, who) as (session, caller):
        return await members.list_page(session, caller, text, page, member_id)


@router.post("/member/hide")
async def member_hide(call: TheCall, who: TheCaller, event_id: EventBody, member: NameBody, hidden: FlagBody) -> None:
    async with looking(call, who) as (session, caller):
        found = await find_named_member(session, caller, member)
        work = partial(members.hide, session, caller, found, hidden)
        name = "member hide" if hidden else "member show"
        await administer(session, caller, EventCall(event_id, name, call.now), {"member": found.id}, work, type(None))


@router.post("/member/role")
async def member_role(call: TheCall, who: TheCaller, event_id: EventBody, member: NameBody, admin: FlagBody) -> None:
    async with looking(call, who) as (session, caller):
        found = await find_named_member(session, caller, member)
        work = partial(members.note_role, session, caller, found)
        name = "member make-admin" if admin else "member end-admin"
        await administer(session, caller, EventCall(event_id, name, call.now), {"member": found.id}, work, type(None))


# Audit log and health


@router.post("/audit")
async def audit(
    call: TheCall,
    who: TheCaller,
    limit: Annotated[int, Body(embed=True, ge=1, le=200)] = 20,
    before: Annotated[int | None, Body(embed=True, ge=1, lt=2**63)] = None,
    action: TextBody = "",
    by: TextBody = "",
) -> tuple[AuditView, ...]:
    async with looking(call, who) as (session, caller):
        return await people_audit.trail(session, caller, limit, AuditFilter(before, action, by))


@router.post("/overview")
async def overview(call: TheCall, who: TheCaller) -> Overview:
    parts, skew = call.parts, skew_of(call.parts.clock)
    async with looking(call, who) as (session, caller):
        return await ops_overview.view(session, caller, parts.sandbox, parts.newest_revision, call.now, skew)


@router.post("/settings")
async def settings_view(call: TheCall, who: TheCaller) -> WorkspaceSettings:
    async with looking(call, who) as (session, caller):
        return await workspace_settings.view(session, caller)


@router.post("/doctor")
async def doctor(call: TheCall, who: TheCaller) -> tuple[WorkspaceCheck, ...]:
    parts, skew = call.parts, skew_of(call.parts.clock)
    async with looking(call, who) as (session, caller):
        return await ops_doctor.examine(session, caller, parts.sandbox, parts.newest_revision, call.now, skew)


def _settings(spec: ScheduleSpec) -> dict[str, Any]:
    """Returns a schedule's settings that differ from the defaults, for the audit log."""
    return spec.model_dump(mode="json", exclude_defaults=True)
