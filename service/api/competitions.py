"""Routes for live competitions."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from fastapi import APIRouter, Body
from sqlalchemy.ext.asyncio import AsyncSession

from service.api.admin import AdminChange, NameBody, TextBody, TheChange, looking
from service.api.http import EventBody, RefBody, TheCall, TheCaller, WhereBody
from service.competitions import similarity, sprints, tournament_views, tournaments
from service.rounds import measuring
from service.rounds.idempotency import EventCall, run_once
from service.store.members import Caller, resolve_caller
from service.wire import (
    MeasuredBy,
    MeasurementBoard,
    SimilarAnswers,
    SprintLength,
    SprintSeconds,
    SprintView,
    TournamentPlan,
    TournamentView,
    Where,
)
from service.wire.base import Ref

router = APIRouter()


@router.post("/admin/sprint/start")
async def sprint_start(
    change: TheChange,
    where: WhereBody,
    questions: Annotated[SprintLength, Body(embed=True)],
    seconds: Annotated[SprintSeconds, Body(embed=True)],
    topic: TextBody = "",
) -> SprintView:
    work = partial(sprints.start, plan=sprints.SprintPlan(questions, seconds, topic), now=change.now)
    detail = {"channel": where.channel, "questions": questions, "seconds": seconds, "topic": topic}
    return await change.run("sprint start", work, SprintView, detail, where)


@router.post("/admin/sprint/stop")
async def sprint_stop(change: TheChange, where: WhereBody) -> SprintView:
    async def work(session: AsyncSession, caller: Caller) -> SprintView:
        return await sprints.stop(session, caller)

    return await change.run("sprint stop", work, SprintView, {"channel": where.channel}, where)


# Tournaments. Names of members never go into stored replies: a forgotten member is erased from all others'.


@router.post("/admin/tournament/plan")
async def tournament_plan(
    change: TheChange, where: WhereBody, plan: Annotated[TournamentPlan, Body(embed=True)]
) -> TournamentView:
    work = partial(tournaments.plan, wanted=plan, now=change.now)
    detail = {"channel": where.channel, **plan.model_dump(mode="json", exclude_defaults=True)}
    return await _shown(change, await change.run("tournament plan", work, int, detail, where))


@router.post("/admin/tournament/captain")
async def tournament_captain(change: TheChange, member: NameBody) -> TournamentView:
    work = partial(tournaments.name_captain, name=member, now=change.now)
    tournament, _ = await change.run("tournament captain", work, tuple[int, int], lambda done: {"member": done[1]})
    return await _shown(change, tournament)


@router.post("/admin/tournament/cancel")
async def tournament_cancel(change: TheChange) -> TournamentView:
    work = partial(tournaments.cancel, now=change.now)
    return await _shown(change, await change.run("tournament cancel", work, int, lambda done: {"tournament": done}))


async def _shown(change: AdminChange, tournament: int) -> TournamentView:
    async with looking(change.call, change.who) as (session, caller):
        return await tournament_views.show_by_id(session, caller, tournament, change.now)


@router.post("/measurements")
async def measurements(
    call: TheCall,
    who: TheCaller,
    where: Annotated[Where | None, Body(embed=True)] = None,
    ref: Annotated[Literal[""] | Ref, Body(embed=True)] = "",
    by: Annotated[MeasuredBy, Body(embed=True)] = "time",
) -> MeasurementBoard:
    async with call.transaction() as session:
        return await measuring.view_board(session, await resolve_caller(session, who, where, call.now), ref, by)


@router.post("/share-solution")
async def share_solution(
    call: TheCall, who: TheCaller, event_id: EventBody, ref: RefBody, on: Annotated[bool, Body(embed=True)]
) -> MeasurementBoard:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = measuring.share_solution(session, caller, ref, shown=on)
        await run_once(session, caller, EventCall(event_id, "share solution", call.now), work, type(None))
        return await measuring.view_board(session, caller, ref, "time")


@router.post("/tournament")
async def tournament(call: TheCall, who: TheCaller, title: TextBody = "") -> TournamentView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        return await tournament_views.show(session, caller, title, call.now)


@router.post("/tournament/join")
async def tournament_join(
    call: TheCall, who: TheCaller, event_id: EventBody, tournament: Annotated[int, Body(embed=True, ge=0, lt=2**63)] = 0
) -> TournamentView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = tournaments.join(session, caller, tournament, call.now)
        found = await run_once(session, caller, EventCall(event_id, "tournament join", call.now), work, int)
        return await tournament_views.show_by_id(session, caller, found, call.now)


@router.post("/tournament/leave")
async def tournament_leave(call: TheCall, who: TheCaller, event_id: EventBody) -> TournamentView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = tournaments.leave(session, caller, call.now)
        found = await run_once(session, caller, EventCall(event_id, "tournament leave", call.now), work, int)
        return await tournament_views.show_by_id(session, caller, found, call.now)


@router.post("/tournament/pick")
async def tournament_pick(call: TheCall, who: TheCaller, event_id: EventBody, member: NameBody) -> TournamentView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = tournaments.pick(session, caller, member)
        found = await run_once(session, caller, EventCall(event_id, "tournament pick", call.now), work, int)
        return await tournament_views.show_by_id(session, caller, found, call.now)


@router.post("/admin/review/similarity")
async def review_similarity(call: TheCall, who: TheCaller) -> SimilarAnswers:
    async with looking(call, who) as (session, caller):
        return await similarity.view_similarity(session, caller, call.now)
