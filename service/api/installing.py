"""Calls about installations and their consent pages. Tokens cross here once and are never logged."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Body
from pydantic import SecretStr

from service.api.dependencies import TheCall
from service.errors import NotPossible
from service.wire import Installation, InstallationKey, Platform, Secret

router = APIRouter()

KeyBody = Annotated[InstallationKey, Body(embed=True)]
PlatformBody = Annotated[Platform, Body(embed=True)]
SOON = "This is not possible yet."


@router.post("/installation/keep")
async def installation_keep(call: TheCall, installation: Annotated[Installation, Body(embed=True)]) -> None:
    raise NotPossible(cause=SOON)


@router.post("/installation/find")
async def installation_find(call: TheCall, key: KeyBody) -> Installation | None:
    raise NotPossible(cause=SOON)


@router.post("/installation/forget")
async def installation_forget(call: TheCall, key: KeyBody) -> None:
    raise NotPossible(cause=SOON)


@router.post("/installation/due")
async def installation_due(call: TheCall, platform: PlatformBody) -> tuple[InstallationKey, ...]:
    raise NotPossible(cause=SOON)


@router.post("/installation/lease", response_model=Secret | None)
async def installation_lease(call: TheCall, key: KeyBody) -> SecretStr | None:
    raise NotPossible(cause=SOON)


@router.post("/oauth/issue")
async def oauth_issue(call: TheCall, platform: PlatformBody) -> str:
    raise NotPossible(cause=SOON)


@router.post("/oauth/consume")
async def oauth_consume(
    call: TheCall, platform: PlatformBody, state: Annotated[str, Body(embed=True, max_length=500)]
) -> bool:
    raise NotPossible(cause=SOON)
