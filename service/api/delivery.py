"""The courier's calls: what waits, what arrived, what did not."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body

from service import delivering
from service.api.dependencies import TheCall
from service.store.session import libpq_url
from service.wire import Delivery, Platform

router = APIRouter()

Id = Annotated[int, Body(embed=True, ge=1)]


@router.post("/outbox/claim")
async def outbox_claim(
    call: TheCall,
    platform: Annotated[Platform, Body(embed=True)],
    limit: Annotated[int, Body(embed=True, ge=1, le=100)] = 20,
    wait_s: Annotated[float, Body(embed=True, ge=0, le=30)] = 0,
) -> tuple[Delivery, ...]:
    parts = call.parts
    url = libpq_url(parts.database_url)
    return await delivering.claim_or_wait(
        parts.sessions, url, platform, parts.clock, limit=limit, wait_s=wait_s, stopping=parts.stopping.is_set
    )


@router.post("/outbox/sent")
async def outbox_sent(call: TheCall, delivery: Id, message_ref: Annotated[str, Body(embed=True, min_length=1)]) -> None:
    async with call.transaction() as session:
        await delivering.sent(session, delivery, message_ref, call.now)


@router.post("/outbox/failed")
async def outbox_failed(
    call: TheCall,
    delivery: Id,
    attempt: Id,
    error: Annotated[str, Body(embed=True)],
    uncertain: Annotated[bool, Body(embed=True)],
    final: Annotated[bool, Body(embed=True)] = False,
    retry_s: Annotated[float | None, Body(embed=True, ge=0)] = None,
) -> None:
    async with call.transaction() as session:
        await delivering.failed(
            session, delivery, attempt, error, call.now, uncertain=uncertain, final=final, retry_s=retry_s
        )
