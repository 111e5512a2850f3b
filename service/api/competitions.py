"""Routes for live competitions."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import APIRouter, Body
from sqlalchemy.ext.asyncio import AsyncSession

from service.api.admin import TextBody, TheChange
from service.api.http import WhereBody
from service.competitions import sprints
from service.store.members import Caller
from service.wire import SprintLength, SprintSeconds, SprintView

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
