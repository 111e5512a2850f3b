"""Calls a member makes about themselves, about topics and rules, and about questions that are wrong."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body

from service import disputes, members, topics
from service.api.dependencies import EventBody, TheCall, WhoBody
from service.inbox import once
from service.store import keeping
from service.store.members import known
from service.wire import Me, PrivacyView, ReportView, Rules, Short, TopicCount

router = APIRouter()

QuestionBody = Annotated[Short, Body(embed=True, min_length=1)]


@router.post("/me")
async def me(call: TheCall, who: WhoBody) -> Me:
    async with call.transaction() as session:
        return await members.me(session, await known(session, who, None, call.now), call.now)


@router.post("/topics")
async def topic_list(call: TheCall, who: WhoBody) -> tuple[TopicCount, ...]:
    async with call.transaction() as session:
        caller = await known(session, who, None, call.now)
        return await topics.counted(session, caller.workspace_id)


@router.post("/rules")
async def rules(call: TheCall, who: WhoBody) -> Rules:
    return members.rules()


@router.post("/privacy")
async def privacy(
    call: TheCall, who: WhoBody, event_id: EventBody, action: Annotated[Short, Body(embed=True)] = "see"
) -> PrivacyView:
    async with call.transaction() as session:
        # Whoever was forgotten must not be made known again by the same event, sent twice.
        if forgotten := await keeping.forgetting_reply(session, who, event_id):
            return PrivacyView.model_validate(forgotten)
        caller = await known(session, who, None, call.now)
        work = members.privacy(session, caller, action, call.now)
        if action in ("hide", "show", keeping.FORGET):
            return await once(session, caller, event_id, action, call.now, work, PrivacyView)
        return await work


@router.post("/report")
async def report(
    call: TheCall,
    who: WhoBody,
    event_id: EventBody,
    question: QuestionBody,
    text: Annotated[str, Body(embed=True, max_length=2000)],
) -> ReportView:
    async with call.transaction() as session:
        caller = await known(session, who, None, call.now)
        work = disputes.report(session, caller, question, text, call.now)
        return await once(session, caller, event_id, "report", call.now, work, ReportView)
