"""Calls about practice: what to ask next, how well it was recalled, and the key of a question one has met."""

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import TypeAdapter

from service import answering, disputes, practice
from service.api.dependencies import EventBody, RefBody, TheCall, WhereBody, WhoBody
from service.inbox import once
from service.showing import key_of
from service.store.members import known
from service.wire import AskForm, Key, Rating, Short

router = APIRouter()

INSTANT: TypeAdapter[datetime] = TypeAdapter(datetime)


@router.post("/practice")
async def practice_next(
    call: TheCall,
    who: WhoBody,
    where: WhereBody,
    topic: Annotated[Short, Body(embed=True)] = "",
    level: Annotated[Short, Body(embed=True)] = "",
    kind: Annotated[Short, Body(embed=True)] = "",
) -> AskForm | None:
    async with call.transaction() as session:
        caller = await known(session, who, where, call.now)
        found = await practice.next_card(session, caller, call.now, topic, level, kind)
        if found is None:
            return None
        version_id, more = found
        return await answering.ask(session, caller, f"p{version_id}", due=more)


@router.post("/rate")
async def rate(
    call: TheCall, who: WhoBody, event_id: EventBody, ref: RefBody, rating: Annotated[Rating, Body(embed=True)]
) -> datetime:
    async with call.transaction() as session:
        caller = await known(session, who, None, call.now)
        work = practice.rate(session, caller, ref, rating, call.now)
        return await once(session, caller, event_id, "rate", call.now, work, INSTANT)


@router.post("/explain")
async def explain(call: TheCall, who: WhoBody, question: Annotated[Short, Body(embed=True, min_length=1)]) -> Key:
    async with call.transaction() as session:
        caller = await known(session, who, None, call.now)
        found = await disputes.may_see(session, caller, question)
        return key_of(found, f"p{found.id}")
