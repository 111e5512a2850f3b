"""Routes for live competitions."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Literal

from fastapi import Body
from pydantic import AwareDatetime
from sqlalchemy.ext.asyncio import AsyncSession

from service.api.admin import AdminChange, NameBody, TextBody, TheChange, looking
from service.api.http import EventBody, RefBody, TheCall, TheCaller, WhereBody
from service.api.routes import CallRouter
from service.competitions import (
    duel_views,
    duels,
    similarity,
    sprint_views,
    sprints,
    tournament_views,
    tournaments,
)
from service.rounds import measuring
from service.rounds.idempotency import EventCall, run_once
from service.store.members import Caller, resolve_caller
from service.wire import (
    AnswerInput,
    DuelReview,
    DuelTurn,
    DuelView,
    Ladder,
    MeasuredBy,
    MeasurementBoard,
    MyDuels,
    PlannedSprint,
    Short,
    SimilarAnswers,
    SprintLength,
    SprintPulse,
    Sprints,
    SprintSeconds,
    SprintView,
    TournamentPlan,
    TournamentView,
    Where,
)
from service.wire.base import Ref

router = CallRouter()


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


@router.post("/admin/sprint/plan")
async def plan_sprint(
    change: TheChange,
    where: WhereBody,
    sprint_plan: Annotated[PlannedSprint, Body(embed=True)],
) -> SprintView:
    work = partial(sprints.plan_later, wanted=sprint_plan, now=change.now)
    detail = {"channel": where.channel, **sprint_plan.model_dump(mode="json", exclude_defaults=True)}
    return await change.run("sprint plan", work, SprintView, detail, where)


@router.post("/admin/sprint/cancel")
async def sprint_cancel(
    change: TheChange, where: WhereBody, sprint: Annotated[int, Body(embed=True, ge=0, lt=2**63)] = 0
) -> SprintView:
    work = partial(sprints.cancel, sprint_id=sprint, now=change.now)
    return await change.run("sprint cancel", work, SprintView, {"channel": where.channel, "sprint": sprint}, where)


@router.post("/sprints")
async def all_sprints(call: TheCall, who: TheCaller) -> Sprints:
    async with call.transaction() as session:
        return await sprint_views.show(session, await resolve_caller(session, who, None, call.now))


@router.post("/sprints/pulse")
async def sprint_pulse(call: TheCall, who: TheCaller) -> SprintPulse:
    async with call.transaction() as session:
        return await sprint_views.pulse(session, await resolve_caller(session, who, None, call.now))


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
async def tournament_cancel(
    change: TheChange, tournament: Annotated[int, Body(embed=True, ge=0, lt=2**63)] = 0
) -> TournamentView:
    work = partial(tournaments.cancel, now=change.now, tournament_id=tournament)
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


DuelBody = Annotated[int, Body(embed=True, ge=1, lt=2**63)]


@router.post("/duel/challenge")
async def challenge(
    call: TheCall,
    who: TheCaller,
    where: WhereBody,
    event_id: EventBody,
    member: Annotated[Short, Body(embed=True, min_length=1)],
    known_as: Annotated[str, Body(embed=True, max_length=80)] = "",
    topic: Annotated[Short, Body(embed=True)] = "",
) -> DuelView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, where, call.now)
        work = duels.challenge(session, caller, who, duels.Challenged(member, known_as), topic, call.now)
        found = await run_once(session, caller, EventCall(event_id, "duel", call.now), work, int)
        return await _view(call, session, caller, found)


@router.post("/duel/rematch")
async def rematch(call: TheCall, who: TheCaller, where: WhereBody, event_id: EventBody, duel: DuelBody) -> DuelView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, where, call.now)
        work = duels.rematch(session, caller, duel, call.now)
        found = await run_once(session, caller, EventCall(event_id, "duel rematch", call.now), work, int)
        return await _view(call, session, caller, found)


@router.post("/duel/respond")
async def respond(
    call: TheCall, who: TheCaller, event_id: EventBody, duel: DuelBody, accept: Annotated[bool, Body(embed=True)]
) -> DuelView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = duels.respond(session, caller, duel, accept, call.now)
        found = await run_once(session, caller, EventCall(event_id, "duel respond", call.now), work, int)
        return await _view(call, session, caller, found)


@router.post("/duel/ask")
async def ask(call: TheCall, who: TheCaller, ref: RefBody) -> DuelTurn:
    async with call.transaction() as session:
        return await duels.open_question(session, await resolve_caller(session, who, None, call.now), ref, call.now)


@router.post("/duel/answer")
async def answer(
    call: TheCall,
    who: TheCaller,
    event_id: EventBody,
    ref: RefBody,
    given: Annotated[AnswerInput, Body(embed=True)],
    at: Annotated[AwareDatetime, Body(embed=True)],
) -> DuelTurn:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = duels.answer_question(session, caller, ref, given, at, call.now)
        duel, in_time = await run_once(
            session, caller, EventCall(event_id, "duel answer", call.now), work, tuple[int, bool]
        )
        return DuelTurn(duel=await _view(call, session, caller, duel), late=not in_time)


@router.post("/duel/show")
async def show(call: TheCall, who: TheCaller, duel: DuelBody) -> DuelReview:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        found, _ = await duels.find_own(session, caller, duel)
        return await duel_views.build_review(session, found, caller, call.now)


@router.post("/duel/list")
async def own(call: TheCall, who: TheCaller) -> MyDuels:
    async with call.transaction() as session:
        return await duel_views.list_duels(session, await resolve_caller(session, who, None, call.now), call.now)


@router.post("/duel/ladder")
async def ladder(call: TheCall, who: TheCaller, limit: Annotated[int, Body(embed=True, ge=1, le=100)] = 10) -> Ladder:
    async with call.transaction() as session:
        return await duel_views.build_ladder(session, await resolve_caller(session, who, None, call.now), limit)


async def _view(call: TheCall, session: AsyncSession, caller: Caller, duel_id: int) -> DuelView:
    duel, side = await duels.find_own(session, caller, duel_id)
    return await duel_views.build_view(session, duel, side, call.now)
