"""Routes for admins. Each call goes through `people.audit`: admins only, once per event, always logged."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import date
from functools import partial
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Body, Request
from sqlalchemy.ext.asyncio import AsyncSession

from questions.recipes import LONGEST_RECIPE
from service.api.http import Call, EventBody, TheCall, TheCaller, WhereBody, while_connected
from service.banks import import_history, imports, moderation
from service.banks.documents import DOCUMENTS
from service.errors import Refused
from service.ops import doctor as ops_doctor
from service.people import audit as people_audit
from service.people import members
from service.people.audit import administer, admins_only
from service.rounds import leaderboard, marking, rounds, schedules
from service.store import banks
from service.store.members import Caller, resolve_caller
from service.wire import (
    AnswerCredit,
    AuditView,
    BankLog,
    BankView,
    ChannelNeeded,
    Generated,
    ImportView,
    LowView,
    ReportView,
    RoundView,
    ScheduleSpec,
    ScheduleView,
    SeasonView,
    Settled,
    Short,
    WaitingAnswers,
    Where,
    Who,
    WorkspaceCheck,
)

router = APIRouter(prefix="/admin")

T = TypeVar("T")
Work = Callable[[AsyncSession, Caller], Awaitable[T]]

LARGEST = 5_000_000
"""Longest document, characters."""

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


async def changing(
    call: Call,
    who: Who,
    event_id: str,
    action: str,
    work: Work[T],
    reply: Any,
    detail: dict[str, Any] | Callable[[T], dict[str, Any]] | None = None,
    where: Where | None = None,
) -> T:
    """Runs an admin call that changes something in one transaction: gate, event id, audit log and `work`."""
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, where, call.now)
        done: T = await administer(
            session, caller, event_id, action, detail or {}, partial(work, session, caller), reply, call.now
        )
        return done


def channel_of(caller: Caller) -> int:
    """Returns the caller's channel. Refused for a caller who is in no channel."""
    if caller.channel_id is None:
        raise Refused(ChannelNeeded())
    return caller.channel_id


# Schedules


@router.post("/schedule/add")
async def schedule_add(
    call: TheCall, who: TheCaller, event_id: EventBody, where: WhereBody, spec: SpecBody
) -> ScheduleView:
    async def work(session: AsyncSession, caller: Caller) -> ScheduleView:
        return await schedules.add(session, caller, channel_of(caller), spec, call.now)

    return await changing(
        call, who, event_id, "schedule add", work, ScheduleView, {"channel": where.channel, **_settings(spec)}, where
    )


@router.post("/schedule/edit")
async def schedule_edit(
    call: TheCall, who: TheCaller, event_id: EventBody, schedule: Id, spec: SpecBody
) -> ScheduleView:
    work = partial(schedules.edit, schedule_id=schedule, spec=spec, now=call.now)
    return await changing(
        call, who, event_id, "schedule edit", work, ScheduleView, {"schedule": schedule, **_settings(spec)}
    )


@router.post("/schedule/list")
async def schedule_list(call: TheCall, who: TheCaller) -> tuple[ScheduleView, ...]:
    async with looking(call, who) as (session, caller):
        return await schedules.list_schedules(session, caller, call.now)


@router.post("/schedule/pause")
async def schedule_pause(
    call: TheCall, who: TheCaller, event_id: EventBody, schedule: Id, paused: FlagBody
) -> ScheduleView:
    work = partial(schedules.pause, schedule_id=schedule, paused=paused, now=call.now)
    action = "schedule pause" if paused else "schedule resume"
    return await changing(call, who, event_id, action, work, ScheduleView, {"schedule": schedule})


@router.post("/schedule/skip")
async def schedule_skip(call: TheCall, who: TheCaller, event_id: EventBody, schedule: Id, day: DayBody) -> ScheduleView:
    work = partial(schedules.skip, schedule_id=schedule, day=day, now=call.now)
    return await changing(
        call, who, event_id, "schedule skip", work, ScheduleView, {"schedule": schedule, "day": day.isoformat()}
    )


@router.post("/schedule/remove")
async def schedule_remove(call: TheCall, who: TheCaller, event_id: EventBody, schedule: Id) -> None:
    work = partial(schedules.remove, schedule_id=schedule, now=call.now)
    await changing(call, who, event_id, "schedule remove", work, type(None), {"schedule": schedule})


@router.post("/schedule/preview")
async def schedule_preview(call: TheCall, who: TheCaller, schedule: Id) -> RoundView:
    async with looking(call, who) as (session, caller):
        return await schedules.preview(session, caller, schedule, call.now)


@router.post("/schedule/post-now")
async def post_now(call: TheCall, who: TheCaller, event_id: EventBody, schedule: Id) -> RoundView:
    work = partial(rounds.post_now, schedule_id=schedule, now=call.now)
    return await changing(call, who, event_id, "schedule post-now", work, RoundView, {"schedule": schedule})


@router.post("/close-now")
async def close_now(call: TheCall, who: TheCaller, event_id: EventBody, where: WhereBody) -> RoundView:
    work = partial(rounds.close_now, now=call.now)
    return await changing(call, who, event_id, "close-now", work, RoundView, {"channel": where.channel}, where)


# Seasons


@router.post("/season/start")
async def season_start(call: TheCall, who: TheCaller, event_id: EventBody, name: NameBody) -> SeasonView:
    work = partial(leaderboard.start_season, name=name, now=call.now)
    return await changing(call, who, event_id, "season start", work, SeasonView, {"name": name})


@router.post("/season/end")
async def season_end(call: TheCall, who: TheCaller, event_id: EventBody) -> SeasonView:
    return await changing(call, who, event_id, "season end", partial(leaderboard.end_season, now=call.now), SeasonView)


# Banks and reports


@router.post("/bank/list")
async def bank_list(call: TheCall, who: TheCaller) -> tuple[BankView, ...]:
    async with looking(call, who) as (session, caller):
        return tuple(await banks.list_banks(session, caller.workspace_id))


@router.post("/bank/import")
async def bank_import(
    call: TheCall,
    request: Request,
    who: TheCaller,
    event_id: EventBody,
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
        async with looking(call, who) as (session, caller):
            saved = await imports.saved_recipe(session, caller.workspace_id, reading)
        if saved:
            how = "saved"
            reading = await while_connected(request, DOCUMENTS.read(text, name, saved))

    async def work(session: AsyncSession, caller: Caller) -> ImportView:
        policy = await banks.get_generated_policy(session, caller.workspace_id)
        options = imports.ImportOptions(policy, recipe=how)
        return await imports.import_bank(session, reading, caller.workspace_id, call.now, apply, options)

    if not apply:
        async with looking(call, who) as (session, caller):
            return await work(session, caller)

    def outcome(done: ImportView) -> dict[str, Any]:
        return {"name": name} if done.applied else {"name": name, "errors": done.errors}

    return await changing(call, who, event_id, "bank import", work, ImportView, outcome)


@router.post("/bank/log")
async def bank_log(call: TheCall, who: TheCaller, name: NameBody) -> BankLog:
    async with looking(call, who) as (session, caller):
        return await import_history.import_log(session, caller.workspace_id, name)


@router.post("/bank/undo")
async def bank_undo(call: TheCall, who: TheCaller, event_id: EventBody, name: NameBody) -> ImportView:
    async def work(session: AsyncSession, caller: Caller) -> ImportView:
        return await import_history.undo_import(session, caller.workspace_id, name, call.now)

    return await changing(call, who, event_id, "bank undo", work, ImportView, {"name": name})


@router.post("/bank/retire")
async def bank_retire(
    call: TheCall, who: TheCaller, event_id: EventBody, question: NameBody, retired: FlagBody
) -> None:
    work = partial(moderation.set_retired, question=question, retired=retired, now=call.now)
    action = "bank retire" if retired else "bank put back"
    await changing(call, who, event_id, action, work, type(None), {"question": question})


@router.post("/bank/approve")
async def bank_approve(call: TheCall, who: TheCaller, event_id: EventBody, question: NameBody) -> int:
    async def work(session: AsyncSession, caller: Caller) -> int:
        return await moderation.approve(session, caller.workspace_id, question)

    return await changing(call, who, event_id, "bank approve", work, int, {"question": question})


@router.post("/bank/generated")
async def bank_generated(
    call: TheCall, who: TheCaller, event_id: EventBody, generated: Annotated[Generated, Body(embed=True)]
) -> None:
    work = partial(moderation.set_generated, generated=generated)
    await changing(call, who, event_id, "bank generated", work, type(None), {"generated": generated})


@router.post("/bank/low")
async def bank_low(call: TheCall, who: TheCaller) -> tuple[LowView, ...]:
    async with looking(call, who) as (session, caller):
        return await schedules.list_low(session, caller, call.now)


@router.post("/reports")
async def reports(call: TheCall, who: TheCaller) -> tuple[ReportView, ...]:
    async with looking(call, who) as (session, caller):
        return await moderation.list_reports(session, caller)


@router.post("/report/settle")
async def report_settle(
    call: TheCall, who: TheCaller, event_id: EventBody, report: Id, state: Annotated[Settled, Body(embed=True)]
) -> ReportView:
    work = partial(moderation.settle, report_id=report, state=state)
    return await changing(call, who, event_id, "report settle", work, ReportView, {"report": report, "state": state})


# Open answers


@router.post("/open-answers")
async def open_answers(call: TheCall, who: TheCaller) -> WaitingAnswers:
    async with looking(call, who) as (session, caller):
        return await marking.list_waiting(session, caller)


@router.post("/open-answers/credit")
async def open_answer_credit(
    call: TheCall,
    who: TheCaller,
    event_id: EventBody,
    number: Id,
    percent: Annotated[int, Body(embed=True, ge=0, le=100)],
) -> AnswerCredit:
    work = partial(marking.set_credit, answer_id=number, percent=percent, now=call.now)
    detail = {"answer": number, "percent": percent}
    return await changing(call, who, event_id, "answer credit", work, AnswerCredit, detail)


# Members


@router.post("/member/restore")
async def member_restore(call: TheCall, who: TheCaller, event_id: EventBody, member: NameBody, day: DayBody) -> None:
    async with looking(call, who) as (session, caller):
        found = await members.member_called(session, caller, member)
        work = partial(members.restore_streak, session, caller, found, day)
        detail = {"member": found.id, "day": day.isoformat()}
        await administer(session, caller, event_id, "member restore", detail, work, type(None), call.now)


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
        found = await members.member_called(session, caller, member)
        work = partial(members.adjust_points, session, caller, found, points, reason, event_id, call.now)
        detail = {"member": found.id, "points": points, "reason": reason}
        await administer(session, caller, event_id, "member adjust", detail, work, type(None), call.now)


# Audit log and health


@router.post("/audit")
async def audit(
    call: TheCall, who: TheCaller, limit: Annotated[int, Body(embed=True, ge=1, le=200)] = 20
) -> tuple[AuditView, ...]:
    async with looking(call, who) as (session, caller):
        return await people_audit.trail(session, caller, limit)


@router.post("/doctor")
async def doctor(call: TheCall, who: TheCaller) -> tuple[WorkspaceCheck, ...]:
    async with looking(call, who) as (session, caller):
        return await ops_doctor.examine(session, caller, call.parts.sandbox, call.parts.newest_revision, call.now)


def _settings(spec: ScheduleSpec) -> dict[str, Any]:
    """Returns a schedule's settings that differ from the defaults, for the audit log."""
    return spec.model_dump(mode="json", exclude_defaults=True)
