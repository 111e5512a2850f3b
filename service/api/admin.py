"""Routes for admins. Each call goes through `people.audit`: admins only, once per event, always logged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from fastapi import Body, Depends, Request
from pydantic import AfterValidator
from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import LONGEST_RECIPE
from service.api.http import Call, EventBody, TheCall, TheCaller, WhereBody, while_connected
from service.api.routes import CallRouter
from service.banks import browser, import_history, imports, item_statistics, moderation
from service.banks.documents import DOCUMENTS
from service.errors import Refused
from service.ops import doctor as ops_doctor
from service.ops import overview as ops_overview
from service.ops import workspace_settings
from service.people import audit as people_audit
from service.people import members, web_chat
from service.people.audit import administer, admins_only
from service.reference_clock import skew_of
from service.rounds import digests, leaderboard, planning, posting, rounds, schedules
from service.rounds.idempotency import EventCall
from service.store import banks
from service.store.audits import AuditFilter
from service.store.boards import NewWinnerRole
from service.store.ledger import Adjustment
from service.store.members import Caller, lock_named_member, resolve_caller
from service.store.tables import Member
from service.wire import (
    AuditView,
    BankLog,
    BankPage,
    BankStatistics,
    BankView,
    ChannelNeeded,
    DigestView,
    ExtraRound,
    Generated,
    ImportView,
    ItemStatistics,
    LowView,
    MemberPage,
    Overview,
    QuestionDetails,
    QuestionFilter,
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

router = CallRouter("/admin")

T = TypeVar("T")
Work = Callable[[AsyncSession, Caller], Awaitable[T]]

LONGEST_SEASON_NAME = 80
"""Characters."""
LARGEST = 5_000_000
"""Longest document, characters."""

Id = Annotated[int, Body(embed=True, ge=1, lt=2**63)]
NameBody = Annotated[Short, Body(embed=True, min_length=1)]
SeasonName = Annotated[str, Body(embed=True, min_length=1, max_length=LONGEST_SEASON_NAME)]
SpecBody = Annotated[ScheduleSpec, Body(embed=True)]

FIRST_DAY, LAST_DAY = date(2000, 1, 1), date(2999, 12, 31)
"""Local dates that a call can name. Those at the ends of the calendar have no instant in some time zones."""


def _within_calendar(day: date) -> date:
    if not FIRST_DAY <= day <= LAST_DAY:
        raise ValueError(f"name a day from {FIRST_DAY} to {LAST_DAY}")
    return day


Day = Annotated[date, AfterValidator(_within_calendar)]
DayBody = Annotated[Day, Body(embed=True)]
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

    async def run_for_member(
        self, action: str, name: str, work: Callable[[AsyncSession, Caller, Member], Awaitable[None]], **detail: Any
    ) -> None:
        """Runs `work` on the member of that name or id, as `run` does. Refused if there is none."""
        async with looking(self.call, self.who) as (session, caller):
            member = await lock_named_member(session, caller, name)
            made = EventCall(self.event_id, action, self.now)
            noted = {"member": member.id, **detail}
            await administer(session, caller, made, noted, partial(work, session, caller, member), type(None))


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
    call: TheCall, who: TheCaller, schedule: Id, day: Annotated[Day | None, Body(embed=True)] = None
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
async def season_start(change: TheChange, name: SeasonName) -> SeasonView:
    work = partial(leaderboard.start_season, name=name, now=change.now)
    return await change.run("season start", work, SeasonView, {"name": name})


@router.post("/season/end")
async def season_end(change: TheChange) -> SeasonView:
    async def work(session: AsyncSession, caller: Caller) -> int:
        return (await leaderboard.end_season(session, caller, change.now)).id

    # The stored reply has no names: a member who is forgotten is erased from the season, not from others' replies.
    ended = await change.run("season end", work, int)
    async with looking(change.call, change.who) as (session, caller):
        return await leaderboard.view_season(session, caller, ended)


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


# Banks


@router.post("/bank/list")
async def bank_list(call: TheCall, who: TheCaller) -> tuple[BankView, ...]:
    async with looking(call, who) as (session, caller):
        return tuple(await banks.list_banks(session, caller.workspace_id))


@router.post("/bank/import")
async def bank_import(
    request: Request,
    change: TheChange,
    name: NameBody,
    text: Annotated[str, Body(embed=True, max_length=LARGEST)],
    apply: FlagBody,
    recipe: Annotated[str, Body(embed=True, max_length=LONGEST_RECIPE)] = "",
) -> ImportView:
    # Outside any transaction, so that a slow document does not hold a database connection.
    forgets = recipe.strip() == imports.FORGET
    reading = await while_connected(request, DOCUMENTS.read(text, name, "" if forgets else recipe))
    how: Literal["", "saved", "forgotten"] = "forgotten" if forgets else ""
    if not recipe.strip():
        async with looking(change.call, change.who) as (session, caller):
            saved = await imports.saved_recipe(session, caller.workspace_id, reading)
        if saved:
            how = "saved"
            reading = await while_connected(request, DOCUMENTS.read(text, name, saved))

    async def work(session: AsyncSession, caller: Caller) -> ImportView:
        policy = await banks.get_generated_policy(session, caller.workspace_id)
        options = imports.ImportOptions(policy, recipe=how)
        return await imports.import_bank(session, reading, caller.workspace_id, change.now, apply, options)

    if not apply:
        async with looking(change.call, change.who) as (session, caller):
            return await work(session, caller)

    def outcome(done: ImportView) -> dict[str, Any]:
        return {"name": name} if done.applied else {"name": name, "errors": done.errors}

    return await change.run("bank import", work, ImportView, outcome)


@router.post("/bank/log")
async def bank_log(call: TheCall, who: TheCaller, name: NameBody) -> BankLog:
    async with looking(call, who) as (session, caller):
        return await import_history.import_log(session, caller.workspace_id, name)


@router.post("/bank/undo")
async def bank_undo(
    change: TheChange,
    name: NameBody,
    number: Annotated[int | None, Body(embed=True, ge=1, lt=2**63)] = None,
) -> ImportView:
    async def work(session: AsyncSession, caller: Caller) -> ImportView:
        return await import_history.undo_import(session, caller.workspace_id, name, change.now, number)

    return await change.run("bank undo", work, ImportView, {"name": name})


@router.post("/bank/retire")
async def bank_retire(change: TheChange, question: NameBody, retired: FlagBody) -> None:
    work = partial(moderation.set_retired, question=question, retired=retired, now=change.now)
    action = "bank retire" if retired else "bank restore"
    await change.run(action, work, type(None), {"question": question})


@router.post("/bank/approve")
async def bank_approve(change: TheChange, question: NameBody) -> int:
    async def work(session: AsyncSession, caller: Caller) -> int:
        return await moderation.approve(session, caller.workspace_id, question)

    return await change.run("bank approve", work, int, {"question": question})


@router.post("/bank/generated")
async def bank_generated(change: TheChange, generated: Annotated[Generated, Body(embed=True)]) -> None:
    work = partial(moderation.set_generated, generated=generated)
    await change.run("bank generated", work, type(None), {"generated": generated})


@router.post("/bank/low")
async def bank_low(call: TheCall, who: TheCaller) -> tuple[LowView, ...]:
    async with looking(call, who) as (session, caller):
        return await planning.list_low(session, caller, call.now)


@router.post("/bank/questions")
async def bank_questions(
    call: TheCall, who: TheCaller, wanted: Annotated[QuestionFilter, Body(embed=True)]
) -> BankPage:
    async with looking(call, who) as (session, caller):
        return await browser.search(session, caller, wanted)


@router.post("/bank/question")
async def bank_question(call: TheCall, who: TheCaller, question: NameBody) -> QuestionDetails:
    async with looking(call, who) as (session, caller):
        return await browser.view(session, caller, question, call.now)


@router.post("/bank/stats")
async def bank_statistics(call: TheCall, who: TheCaller) -> BankStatistics:
    async with looking(call, who) as (session, caller):
        return await item_statistics.view_bank(session, caller, call.now)


@router.post("/bank/stats/question")
async def question_statistics(call: TheCall, who: TheCaller, question: NameBody) -> ItemStatistics:
    async with looking(call, who) as (session, caller):
        return await item_statistics.view_item(session, caller, question, call.now)


# Digests


@router.post("/digest")
async def digest_view(call: TheCall, who: TheCaller) -> DigestView:
    async with looking(call, who) as (session, caller):
        return await digests.view(session, caller, call.now)


@router.post("/digest/switch")
async def digest_switch(change: TheChange, on: Annotated[bool, Body(embed=True)]) -> DigestView:
    work = partial(digests.switch, on=on, now=change.now)
    return await change.run("digest", work, DigestView, {"digest": on})


# Members


@router.post("/member/restore")
async def member_restore(change: TheChange, member: NameBody, day: DayBody) -> None:
    work = partial(members.restore_streak, day=day)
    await change.run_for_member("member restore", member, work, day=day.isoformat())


@router.post("/member/adjust")
async def member_adjust(
    change: TheChange,
    member: NameBody,
    points: Annotated[int, Body(embed=True, ge=-(10**9), le=10**9)],
    reason: TextBody,
) -> None:
    work = partial(members.adjust_points, wanted=Adjustment(points, reason, change.event_id, change.now))
    await change.run_for_member("member adjust", member, work, points=points, reason=reason)


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
async def member_hide(change: TheChange, member: NameBody, hidden: FlagBody) -> None:
    work = partial(members.hide, hidden=hidden)
    await change.run_for_member("member hide" if hidden else "member show", member, work)


@router.post("/member/role")
async def member_role(change: TheChange, member: NameBody, admin: FlagBody) -> None:
    action = "member make-admin" if admin else "member end-admin"
    await change.run_for_member(action, member, partial(web_chat.set_role, admin=admin))


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
