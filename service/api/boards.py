"""Calls about boards and seasons that members make."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body

from service import leaderboard, seasons
from service.api.dependencies import TheCall, WhoBody
from service.store import members
from service.wire import Board, Contest, Period, SeasonView, Short, Where

router = APIRouter()


@router.post("/board")
async def board(
    call: TheCall,
    who: WhoBody,
    where: Annotated[Where | None, Body(embed=True)] = None,
    period: Annotated[Period, Body(embed=True)] = "week",
    topic: Annotated[Short, Body(embed=True)] = "",
    limit: Annotated[int, Body(embed=True, ge=1, le=100)] = 10,
    contest: Annotated[Contest, Body(embed=True)] = "points",
) -> Board:
    async with call.transaction() as session:
        caller = await members.known(session, who, where, call.now)
        return await leaderboard.board(
            session, caller, period=period, topic=topic, contest=contest, limit=limit, now=call.now
        )


@router.post("/seasons")
async def season_list(call: TheCall, who: WhoBody) -> tuple[SeasonView, ...]:
    async with call.transaction() as session:
        return await seasons.listed(session, await members.known(session, who, None, call.now))
