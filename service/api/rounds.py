"""The member's calls about questions: today's, one of them, an answer, a trial of code."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import AwareDatetime

from service import answering, grading, inbox
from service.api.dependencies import EventBody, RefBody, TheCall, WhereBody, WhoBody
from service.metrics import answered
from service.store import members
from service.tracing import note
from service.waiting import with_wait
from service.wire import AskForm, Code, Given, Receipt, RunResult, Today, VerdictView

router = APIRouter()

CodeBody = Annotated[Code, Body(embed=True)]


@router.post("/join")
async def join(call: TheCall, who: WhoBody, where: WhereBody) -> None:
    async with call.transaction() as session:
        await members.known(session, who, where, call.now)


@router.post("/today")
async def today(call: TheCall, who: WhoBody, where: WhereBody) -> Today:
    async with call.transaction() as session:
        # A chat's own page and a private message lie in no channel.
        caller = await members.known(session, who, where if where.channel else None, call.now)
        return await answering.today(session, caller, call.now)


@router.post("/ask")
async def ask(call: TheCall, who: WhoBody, where: WhereBody, ref: RefBody) -> AskForm:
    async with call.transaction() as session:
        caller = await members.known(session, who, where, call.now)
        return await answering.ask(session, caller, ref)


@router.post("/answer")
async def answer(
    call: TheCall,
    who: WhoBody,
    where: WhereBody,
    event_id: EventBody,
    ref: RefBody,
    given: Annotated[Given, Body(embed=True)],
    at: Annotated[AwareDatetime, Body(embed=True)],
) -> Receipt:
    async with call.transaction() as session:
        caller = await members.known(session, who, where, call.now)
        submitted = answering.Submitted(event_id, ref, given, at)
        work = answering.answer(session, caller, submitted, call.now, call.parts.jobs)
        receipt = await inbox.once(session, caller, event_id, "answer", call.now, work, Receipt)
    answered(who.platform, receipt.status, at, call.now)
    note(status=receipt.status)
    return await with_wait(receipt, call.parts.sandbox)


@router.post("/try-code")
async def try_code(call: TheCall, who: WhoBody, ref: RefBody, code: CodeBody) -> VerdictView:
    sandbox = grading.connected(call.parts.sandbox)
    async with call.transaction() as session:
        caller = await members.known(session, who, None, call.now)
        task = await answering.code_question(session, caller, ref)
    # Between transactions: nobody's rows wait for a member's loop.
    async with sandbox.turn(caller.member_id, "free") as turn:
        return await grading.try_code(turn, task, code)


@router.post("/run")
async def run(call: TheCall, who: WhoBody, code: CodeBody) -> RunResult:
    sandbox = grading.connected(call.parts.sandbox)
    async with call.transaction() as session:
        caller = await members.known(session, who, None, call.now)
    async with sandbox.turn(caller.member_id, "free") as turn:
        return await grading.run_snippet(turn, code)
