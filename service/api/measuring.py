"""The metrics of this service, for whoever shows the token: the page that a port of its own shows without one."""

from __future__ import annotations

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from service.api.dependencies import authorised
from service.metrics import CONTENT_TYPE, exposition

router = APIRouter()


@router.get("/metrics", dependencies=[Depends(authorised)])
async def metrics(request: Request) -> Response:
    """Prometheus's text format."""
    return Response(await exposition(request.app.state.metrics.gather), media_type=CONTENT_TYPE)
