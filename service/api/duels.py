"""Routes for duels. Names of members never go into stored replies: a forgotten member is erased from all others'."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import AwareDatetime
from sqlalchemy.ext.asyncio import AsyncSession

from service.api.http import EventBody, RefBody, TheCall, TheCaller, WhereBody
from service.competitions import duel_views, duels
from service.rounds.idempotency import EventCall, run_once
from service.store.members import Caller, resolve_caller
from service.wire import AnswerInput, DuelReview, DuelTurn, DuelView, Ladder, MyDuels, Short

router = APIRouter(prefix="/duel")

DuelBody = Annotated[int, Body(embed=True, ge=1, lt=2**63)]


@router.post("/challenge")
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
        return await _view(
            call, session, caller, await run_once(session, caller, EventCall(event_id, "duel", call.now), work, int)
        )


@router.post("/rematch")
async def rematch(call: TheCall, who: TheCaller, where: WhereBody, event_id: EventBody, duel: DuelBody) -> DuelView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, where, call.now)
        work = duels.rematch(session, caller, duel, call.now)
        found = await run_once(session, caller, EventCall(event_id, "duel rematch", call.now), work, int)
        return await _view(call, session, caller, found)


@router.post("/respond")
async def respond(
    call: TheCall, who: TheCaller, event_id: EventBody, duel: DuelBody, accept: Annotated[bool, Body(embed=True)]
) -> DuelView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = duels.respond(session, caller, duel, accept, call.now)
        found = await run_once(session, caller, EventCall(event_id, "duel respond", call.now), work, int)
        return await _view(call, session, caller, found)


@router.post("/ask")
async def ask(call: TheCall, who: TheCaller, ref: RefBody) -> DuelTurn:
    async with call.transaction() as session:
        return await duels.open_question(session, await resolve_caller(session, who, None, call.now), ref, call.now)


@router.post("/answer")
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


@router.post("/show")
async def show(call: TheCall, who: TheCaller, duel: DuelBody) -> DuelReview:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        return await duel_views.build_review(session, await duels.find_own(session, caller, duel), caller, call.now)


@router.post("/list")
async def own(call: TheCall, who: TheCaller) -> MyDuels:
    async with call.transaction() as session:
        return await duel_views.list_duels(session, await resolve_caller(session, who, None, call.now), call.now)


@router.post("/ladder")
async def ladder(call: TheCall, who: TheCaller, limit: Annotated[int, Body(embed=True, ge=1, le=100)] = 10) -> Ladder:
    async with call.transaction() as session:
        return await duel_views.build_ladder(session, await resolve_caller(session, who, None, call.now), limit)


async def _view(call: TheCall, session: AsyncSession, caller: Caller, duel_id: int) -> DuelView:
    duel = await duels.find_own(session, caller, duel_id)
    return await duel_views.build_view(session, duel, duel_views.side_of(duel, caller.member_id), call.now)
