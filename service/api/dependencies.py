"""What a route is given: the parts of the service, the call's own instant, and the fields of the posted body."""

from __future__ import annotations

from asyncio import Event
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, cast

from fastapi import Body, Depends, Request
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.exceptions import HTTPException

from service.fairness import FairSandbox
from service.jobs import Jobs
from service.store.session import Sessions
from service.tokens import Tokens
from service.vault import Vault
from service.wire import EventId, Ref, Where, Who

Clock = Callable[[], datetime]


@dataclass(frozen=True)
class Parts:
    """What `app` puts together once and every route may use."""

    sessions: Sessions
    database_url: str
    clock: Clock
    tokens: Tokens
    sandbox: FairSandbox | None
    jobs: Jobs
    newest_revision: str
    vault: Vault
    stopping: Event
    """Set when the process is about to end, so that no call waits any longer."""


class Unauthorised(HTTPException):
    """The service token is missing or wrong; set the bot's to the service's DAILYGRAD_SERVICE_TOKEN."""

    def __init__(self) -> None:
        super().__init__(401)


@dataclass(frozen=True)
class Call:
    """One request: its parts and the instant it came in."""

    parts: Parts
    now: datetime

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """The call's one transaction: committed at the end of the block, so before anything is answered."""
        async with self.parts.sessions.begin() as session:
            yield session


def parts_of(request: Request) -> Parts:
    return cast(Parts, request.app.state.parts)


def call_of(request: Request) -> Call:
    parts = parts_of(request)
    return Call(parts, parts.clock())


def authorised(request: Request) -> None:
    """Raises Unauthorised unless the request carries one of the service's tokens."""
    if not parts_of(request).tokens.accepts(request.headers.get("authorization", "")):
        raise Unauthorised


TheCall = Annotated[Call, Depends(call_of)]
# The client posts one object whose fields are the call's arguments, whether there is one or many.
WhoBody = Annotated[Who, Body(embed=True)]
WhereBody = Annotated[Where, Body(embed=True)]
EventBody = Annotated[EventId, Body(embed=True)]
RefBody = Annotated[Ref, Body(embed=True)]
