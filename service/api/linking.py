"""Calls about several chats of one workspace: hello, codes that link members and chats, shared schedules."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import TypeAdapter
from sqlalchemy.ext.asyncio import AsyncSession

from service import codes, joining, merging, schedules
from service.api.admin import Id, changing, channel_of
from service.api.dependencies import Call, EventBody, TheCall, WhereBody, WhoBody
from service.auditing import administer, admins_only
from service.inbox import once
from service.store import chats, linkcodes
from service.store.members import Caller, known
from service.wire import ChatLinked, LinkCode, MemberLinked, ScheduleView, Where, Who

router = APIRouter()

CodeBody = Annotated[str, Body(embed=True, max_length=40)]
INSTANT: TypeAdapter[datetime] = TypeAdapter(datetime)


@router.post("/hello")
async def hello(call: TheCall, who: WhoBody, event_id: EventBody, where: WhereBody) -> bool:
    async with call.transaction() as session:
        caller = await known(session, who, where, call.now)
        greeting = chats.greet(session, caller.chat_id, call.now)
        return await once(session, caller, event_id, "hello", call.now, greeting, bool)


@router.post("/link")
async def link(call: TheCall, who: WhoBody, event_id: EventBody) -> LinkCode:
    async with call.transaction() as session:
        caller = await known(session, who, None, call.now)
        made = codes.made(call.parts.tokens.all, merging.WHAT, caller.chat_id, event_id)
        work = joining.making(session, caller, merging.WHAT, next(iter(made)), call.now)
        expires = await once(session, caller, event_id, "link", call.now, work(), INSTANT)
        return LinkCode(code=await _made_first(session, made), expires_at=expires)


@router.post("/link-with")
async def link_with(call: TheCall, who: WhoBody, event_id: EventBody, code: CodeBody) -> MemberLinked:
    await _note_guess(call, who)
    digests = codes.digests_of(call.parts.tokens.all, merging.WHAT, code)
    async with call.transaction() as session:
        caller = await known(session, who, None, call.now)
        work = merging.link(session, caller, digests, call.now)
        return await once(session, caller, event_id, "link-with", call.now, work, MemberLinked)


@router.post("/admin/chat/link")
async def chat_link(call: TheCall, who: WhoBody, event_id: EventBody) -> LinkCode:
    async with call.transaction() as session:
        caller = await known(session, who, None, call.now)
        made = codes.made(call.parts.tokens.all, joining.WHAT, caller.chat_id, event_id)
        work = joining.making(session, caller, joining.WHAT, next(iter(made)), call.now)
        expires = await administer(session, caller, event_id, "chat link", {}, work, INSTANT, call.now)
        return LinkCode(code=await _made_first(session, made), expires_at=expires)


@router.post("/admin/chat/join")
async def chat_join(
    call: TheCall, who: WhoBody, event_id: EventBody, code: CodeBody, sure: Annotated[bool, Body(embed=True)]
) -> ChatLinked:
    await _note_guess(call, who, admins=True)
    digests = codes.digests_of(call.parts.tokens.all, joining.WHAT, code)
    async with call.transaction() as session:
        caller = await known(session, who, None, call.now)
        admins_only(caller)
        work = joining.join(session, caller, digests, call.now, sure=sure)
        return await once(session, caller, event_id, "chat join", call.now, work, ChatLinked)


@router.post("/admin/schedule/share")
async def schedule_share(
    call: TheCall, who: WhoBody, event_id: EventBody, where: WhereBody, schedule: Id
) -> ScheduleView:
    return await _with_channel(call, who, event_id, where, schedule, shared=True)


@router.post("/admin/schedule/unshare")
async def schedule_unshare(
    call: TheCall, who: WhoBody, event_id: EventBody, where: WhereBody, schedule: Id
) -> ScheduleView:
    return await _with_channel(call, who, event_id, where, schedule, shared=False)


async def _with_channel(
    call: Call, who: Who, event_id: str, where: Where, schedule: int, *, shared: bool
) -> ScheduleView:
    change, action = (schedules.share, "schedule share") if shared else (schedules.unshare, "schedule unshare")

    async def work(session: AsyncSession, caller: Caller) -> ScheduleView:
        return await change(session, caller, schedule, channel_of(caller), call.now)

    detail = {"schedule": schedule, "channel": where.channel}
    return await changing(call, who, event_id, action, work, ScheduleView, detail, where)


async def _made_first(session: AsyncSession, made: Mapping[str, str]) -> str:
    """The code that was made when the event came first. It is kept nowhere: the event makes it again, with the token
    that was the newest then."""
    digest = await linkcodes.kept(session, list(made))
    return made[digest] if digest is not None else next(iter(made.values()))


async def _note_guess(call: Call, who: Who, *, admins: bool = False) -> None:
    """In a transaction of its own: a wrong code undoes everything but this."""
    async with call.transaction() as session:
        caller = await known(session, who, None, call.now)
        if admins:
            admins_only(caller)
        await joining.note_guess(session, caller, call.now)
