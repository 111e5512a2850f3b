"""Calls about several chats of one workspace: hello, codes that link members and chats, shared schedules."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body

from service.api.dependencies import EventBody, TheCall, WhereBody, WhoBody
from service.errors import NotPossible
from service.wire import ChatLinked, LinkCode, MemberLinked, ScheduleView

router = APIRouter()

CodeBody = Annotated[str, Body(embed=True, max_length=40)]
Id = Annotated[int, Body(embed=True, ge=1, lt=2**63)]
SOON = "This is not possible yet."


@router.post("/hello")
async def hello(call: TheCall, who: WhoBody, where: WhereBody) -> bool:
    raise NotPossible(cause=SOON)


@router.post("/link")
async def link(call: TheCall, who: WhoBody, event_id: EventBody) -> LinkCode:
    raise NotPossible(cause=SOON)


@router.post("/link-with")
async def link_with(call: TheCall, who: WhoBody, event_id: EventBody, code: CodeBody) -> MemberLinked:
    raise NotPossible(cause=SOON)


@router.post("/admin/chat/link")
async def chat_link(call: TheCall, who: WhoBody, event_id: EventBody) -> LinkCode:
    raise NotPossible(cause=SOON)


@router.post("/admin/chat/join")
async def chat_join(
    call: TheCall, who: WhoBody, event_id: EventBody, code: CodeBody, sure: Annotated[bool, Body(embed=True)]
) -> ChatLinked:
    raise NotPossible(cause=SOON)


@router.post("/admin/schedule/share")
async def schedule_share(
    call: TheCall, who: WhoBody, event_id: EventBody, where: WhereBody, schedule: Id
) -> ScheduleView:
    raise NotPossible(cause=SOON)


@router.post("/admin/schedule/unshare")
async def schedule_unshare(
    call: TheCall, who: WhoBody, event_id: EventBody, where: WhereBody, schedule: Id
) -> ScheduleView:
    raise NotPossible(cause=SOON)
