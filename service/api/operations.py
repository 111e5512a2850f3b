"""The operations page as data, for a workspace's admins."""

from __future__ import annotations

from fastapi import APIRouter

from service import operations
from service.api.admin import looking
from service.api.dependencies import TheCall, WhoBody
from service.wire import Operations

router = APIRouter(prefix="/admin")


@router.post("/operations")
async def overview(call: TheCall, who: WhoBody) -> Operations:
    # Asked before the transaction: nobody's rows wait for a sandbox that does not answer.
    sandbox = await operations.sandbox_view(call.parts.sandbox)
    async with looking(call, who) as (session, caller):
        return await operations.overview(session, caller.workspace_id, sandbox, call.now)
