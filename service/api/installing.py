"""Calls about installations and their consent pages. Tokens cross here and are never logged."""

from __future__ import annotations

import secrets
from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import SecretStr

from service import installing
from service.api.dependencies import TheCall
from service.store import installations
from service.wire import Installation, InstallationKey, Platform, Secret

router = APIRouter()

KeyBody = Annotated[InstallationKey, Body(embed=True)]
PlatformBody = Annotated[Platform, Body(embed=True)]


@router.post("/installation/keep")
async def installation_keep(call: TheCall, installation: Annotated[Installation, Body(embed=True)]) -> None:
    async with call.transaction() as session:
        await installing.keep(session, call.parts.vault, installation, call.now)


@router.post("/installation/find")
async def installation_find(call: TheCall, key: KeyBody) -> Installation | None:
    async with call.transaction() as session:
        return await installing.find(session, call.parts.vault, key)


@router.post("/installation/forget")
async def installation_forget(call: TheCall, key: KeyBody) -> None:
    async with call.transaction() as session:
        await installations.forget(session, key, call.now)


@router.post("/installation/due")
async def installation_due(call: TheCall, platform: PlatformBody) -> tuple[InstallationKey, ...]:
    async with call.transaction() as session:
        return await installing.due(session, platform, call.now)


@router.post("/installation/lease", response_model=Secret | None)
async def installation_lease(call: TheCall, key: KeyBody) -> SecretStr | None:
    async with call.transaction() as session:
        return await installing.lease(session, call.parts.vault, key, call.now)


@router.post("/oauth/issue")
async def oauth_issue(call: TheCall, platform: PlatformBody) -> str:
    state = secrets.token_urlsafe(32)
    async with call.transaction() as session:
        await installing.issue(session, platform, state, call.now)
    return state


@router.post("/oauth/consume")
async def oauth_consume(
    call: TheCall, platform: PlatformBody, state: Annotated[str, Body(embed=True, max_length=500)]
) -> bool:
    async with call.transaction() as session:
        return await installing.consume(session, platform, state, call.now)
