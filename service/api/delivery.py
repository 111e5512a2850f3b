"""The courier's calls: what waits, what arrived, what did not."""

from __future__ import annotations

import asyncio
from typing import Annotated

from fastapi import APIRouter, Body, Request

from service import delivering
from service.api.dependencies import TheCall
from service.store import schedules
from service.store.session import libpq_url
from service.wire import Delivery, Place, Platform

router = APIRouter()

Id = Annotated[int, Body(embed=True, ge=1, lt=2**63)]

LONGEST_WAIT_S = 30 * 86_400.0
LONGEST_ERROR = 20_000


@router.post("/outbox/claim")
async def outbox_claim(
    call: TheCall,
    request: Request,
    platform: Annotated[Platform, Body(embed=True)],
    limit: Annotated[int, Body(embed=True, ge=1, le=100)] = 20,
    wait_s: Annotated[float, Body(embed=True, ge=0, le=30)] = 0,
) -> tuple[Delivery, ...]:
    parts = call.parts
    url = libpq_url(parts.database_url)
    # What a courier that was killed had asked for would be kept from the next one for a whole lease.
    hung_up = asyncio.create_task(_hung_up(request))

    def stopping() -> bool:
        return parts.stopping.is_set() or hung_up.done()

    try:
        return await delivering.claim_or_wait(
            parts.sessions, url, platform, parts.clock, limit=limit, wait_s=wait_s, stopping=stopping
        )
    finally:
        hung_up.cancel()


async def _hung_up(request: Request) -> None:
    """Ends when whoever asked is gone."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


@router.post("/outbox/places")
async def outbox_places(call: TheCall, platform: Annotated[Platform, Body(embed=True)]) -> tuple[Place, ...]:
    async with call.transaction() as session:
        found = await schedules.places(session, platform)
        return tuple(Place(workspace=chat, channel=channel, name=name) for chat, channel, name in found)


@router.post("/outbox/sent")
async def outbox_sent(
    call: TheCall, delivery: Id, message_ref: Annotated[str, Body(embed=True, min_length=1, max_length=5_000)]
) -> None:
    async with call.transaction() as session:
        await delivering.sent(session, delivery, message_ref, call.now)


@router.post("/outbox/failed")
async def outbox_failed(
    call: TheCall,
    delivery: Id,
    attempt: Id,
    error: Annotated[str, Body(embed=True, max_length=LONGEST_ERROR)],
    uncertain: Annotated[bool, Body(embed=True)],
    final: Annotated[bool, Body(embed=True)] = False,
    retry_s: Annotated[float | None, Body(embed=True, ge=0, le=LONGEST_WAIT_S)] = None,
) -> None:
    async with call.transaction() as session:
        await delivering.failed(
            session, delivery, attempt, error, call.now, uncertain=uncertain, final=final, retry_s=retry_s
        )
