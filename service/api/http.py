"""What every route shares: dependencies, limits of bodies and calls, correlation ids in logs, and error responses."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from asyncio import Event
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, TypeVar, cast

import structlog
from fastapi import Body, Depends, FastAPI, Header, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from pydantic import ValidationError
from sqlalchemy.exc import DataError
from sqlalchemy.ext.asyncio import AsyncSession
from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from service import tracing
from service.api.rate_limit import CallLimiter
from service.concurrency import RETRY_HEADER
from service.credentials import BotTokens, ServiceTokens, TokenCipher
from service.errors import Refused
from service.ops.gauges import GaugeCollector
from service.process import Clock
from service.rounds.fast_path import FastPath
from service.rounds.grading import Examples
from service.rounds.jobs import Jobs
from service.rounds.sandbox_turns import FairSandbox
from service.store.change_signal import ChangeSignal
from service.store.session import Sessions
from service.tracing import correlate
from service.wire import (
    APPLICATION_HEADER,
    CALLER_HEADER,
    TIME_HEADER,
    AdminsOnly,
    CallRejected,
    CallTooLarge,
    EventId,
    EventReused,
    Failure,
    InvalidInput,
    NoOpenRound,
    NoSandbox,
    NotFound,
    Platform,
    QuestionGone,
    Ref,
    Refusal,
    SandboxBusy,
    TooManyCalls,
    Where,
    Who,
    invalid_input,
)

T = TypeVar("T")

_LOG = logging.getLogger(__name__)

MOST_CALLER = 10_000
"""Longest header with the caller, characters: the longest names and ids with every character escaped, and more."""


@dataclass(frozen=True)
class ServiceParts:
    """The parts of the service that routes use."""

    sessions: Sessions
    changes: ChangeSignal
    clock: Clock
    tokens: ServiceTokens
    bots: BotTokens
    fast_path: FastPath
    sandbox: FairSandbox | None
    examples: Examples
    jobs: Jobs
    gauges: GaugeCollector
    newest_revision: str
    cipher: TokenCipher
    stopping: Event
    """Set before the process exits, so that long polls return."""
    limiter: CallLimiter


class Unauthorized(HTTPException):
    """The service token is missing or wrong; set the bot's to the service's DAILYGRAD_SERVICE_TOKEN."""

    def __init__(self) -> None:
        super().__init__(401)


class OutOfScope(HTTPException):
    """The token belongs to the bots of another platform; give each bot the token that DAILYGRAD_BOT_TOKENS has for its
    own."""

    def __init__(self) -> None:
        super().__init__(403)


@dataclass(frozen=True)
class Call:
    """One request: the service's parts and the instant of arrival."""

    parts: ServiceParts
    now: datetime

    @asynccontextmanager
    async def transaction(self) -> AsyncIterator[AsyncSession]:
        """Yields the call's only transaction, committed when the block exits, before the response is sent."""
        async with self.parts.sessions.begin() as session:
            yield session


def parts_of(request: Request) -> ServiceParts:
    return cast(ServiceParts, request.app.state.parts)


async def call_of(request: Request) -> Call:
    parts = parts_of(request)
    return Call(parts, parts.clock())


EDITOR_CALLS = ("/v1/ask", "/v1/answer", "/v1/try-code")
"""Calls that the web bot makes for members of other platforms, who open its editor by a signed link."""


def authorized(request: Request) -> None:
    """Raises Unauthorized unless the request has a valid token, and OutOfScope if the token is not for its caller.

    A service token is for every call. A bot's token is for members of its platform and for calls about its platform:
    see `own_platform`.
    """
    header = request.headers.get("authorization", "")
    if parts_of(request).tokens.accepts(header):
        return
    platform = parts_of(request).bots.platform_of(header)
    if platform is None:
        raise Unauthorized
    request.state.platform = platform
    path = request.scope["path"]
    if platform != "web" and path.startswith(WEB_PREFIX):
        raise OutOfScope
    given = request.headers.get(CALLER_HEADER)
    if given is None:
        return
    caller = caller_of(given)
    editor = platform == "web" and path in EDITOR_CALLS and not caller.admin
    if caller.platform != platform and not editor:
        raise OutOfScope


WEB_PREFIX = "/v1/web/"
"""Prefix of the calls that only the bots of the web chat make, about its people and messages."""


def scope_of(request: Request) -> Platform | None:
    """Returns the only platform that the token of an authorized request is valid for; None if it is for all."""
    return cast(Platform | None, getattr(request.state, "platform", None))


async def service_only(request: Request) -> None:
    """Raises OutOfScope for a bot's token: the route shows what concerns every platform."""
    if scope_of(request) is not None:
        raise OutOfScope


def own_platform(request: Request, platform: Platform) -> Platform:
    """Returns the platform. Raises OutOfScope if the request's token belongs to the bots of another one."""
    if scope_of(request) not in (None, platform):
        raise OutOfScope
    return platform


Application = Annotated[str, Header(alias=APPLICATION_HEADER, max_length=200)]
"""The bot's application; empty if it names none."""


def caller_of(caller: str, application: str = "") -> Who:
    """Returns the caller, who is in a header so that a call can be refused before its body is read."""
    try:
        who = Who.model_validate_json(caller)
    except ValidationError as error:
        refusal = invalid_input(error.errors())
        raise Refused(refusal.model_copy(update={"field": f"who {refusal.field}".strip()})) from error
    return who if who.application == application else who.model_copy(update={"application": application})


def header_of(request: Request, name: str, longest: int) -> str:
    """Returns a header, empty if there is none. Raises RequestValidationError if it is too long."""
    value = request.headers.get(name, "")
    if len(value) > longest:
        problem = {"type": "string_too_long", "loc": ("header", name), "msg": "", "ctx": {"max_length": longest}}
        raise RequestValidationError([problem])
    return value


async def while_connected(request: Request, work: Awaitable[T]) -> T:
    """Returns the result of `work`, which is cancelled if the caller disconnects."""
    working, left = asyncio.ensure_future(work), asyncio.create_task(disconnected(request))
    try:
        await asyncio.wait((working, left), return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise HTTPException(499, "the caller disconnected")
        return await working
    finally:
        left.cancel()
        working.cancel()


@contextmanager
def while_awaited(request: Request) -> Iterator[Callable[[], bool]]:
    """Yields whether a call that waits for something should stop: its caller disconnected, or the process stops."""
    left = asyncio.create_task(disconnected(request))
    try:
        yield lambda: parts_of(request).stopping.is_set() or left.done()
    finally:
        left.cancel()


async def disconnected(request: Request) -> None:
    """Returns when the caller disconnects. Call it after the body has been read."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


async def read_caller(
    caller: Annotated[str, Header(alias=CALLER_HEADER, max_length=MOST_CALLER)], application: Application = ""
) -> Who:
    return caller_of(caller, application)


# Dependencies are coroutines: FastAPI runs a plain function in a thread, which costs more than the function.
TheCall = Annotated[Call, Depends(call_of)]
TheCaller = Annotated[Who, Depends(read_caller)]
# The client posts one object whose fields are the call's other arguments.
WhereBody = Annotated[Where, Body(embed=True)]
EventBody = Annotated[EventId, Body(embed=True)]
RefBody = Annotated[Ref, Body(embed=True)]

# Body limit: no body is read without a token, beyond the limit, from a flood, or for an admin's call by anyone else.

ADMIN_PREFIX = "/v1/admin/"
"""Prefix of the calls for admins only."""

MOST = 10_500_000
"""Largest request body, bytes: the longest document with every character escaped, plus other fields."""


class BodyTooLarge(HTTPException):
    """The body is larger than the limit."""

    def __init__(self) -> None:
        super().__init__(413)


class CallerRefused(HTTPException):
    """The caller may not make the call. Raised before the body is read."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(STATUS.get(type(refusal), 400))
        self.refusal = refusal


class BodyLimit:
    """ASGI middleware that limits request bodies. It raises where the route reads the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await self._app(scope, _bounded(Request(scope), receive) if scope["type"] == "http" else receive, send)


def _bounded(request: Request, receive: Receive) -> Receive:
    left = MOST
    known = False

    async def bounded() -> Message:
        nonlocal left, known
        if not known:
            authorized(request)
            refuse_flood(request)
            if request.scope["path"].startswith(ADMIN_PREFIX):
                _admins_only(request)
            _refuse_declared(request.headers.get("content-length", "0"))
            known = True
        message = await receive()
        # A chunked body does not say its length.
        left -= len(message.get("body", b""))
        if left < 0:
            raise BodyTooLarge
        return message

    return bounded


def _admins_only(request: Request) -> None:
    try:
        caller = caller_of(request.headers.get(CALLER_HEADER, ""))
    except Refused as error:
        raise CallerRefused(error.refusal) from error
    if not caller.admin:
        raise CallerRefused(AdminsOnly())


def refuse_flood(request: Request) -> None:
    """Counts the caller's call once: before the body is read, or as a dependency of a route that reads none."""
    caller = request.headers.get(CALLER_HEADER)
    if caller is None or getattr(request.state, "counted", False):
        return  # without a caller it is a bot's own call
    request.state.counted = True
    try:
        who = caller_of(caller)
    except Refused as error:
        raise CallerRefused(error.refusal) from error
    if delay := parts_of(request).limiter.delay(who):
        raise CallerRefused(TooManyCalls(retry_s=math.ceil(delay)))


async def admitted(request: Request) -> None:
    """Refuses a request without a valid token, or from a flood. A dependency of every route behind the token."""
    authorized(request)
    refuse_flood(request)


def _refuse_declared(length: str) -> None:
    # More digits than any body has are too many, not none.
    if length.isascii() and length.isdecimal() and int(length[:18]) > MOST:
        raise BodyTooLarge


# Correlation: binds the chat event's id to the log context and logs one line per call.

PREFIX = "/v1/"
HUNG_UP = 0
"""Status logged for a call whose caller disconnected."""


class CorrelationId:
    """ASGI middleware for correlation ids. Calls without an event (mostly outbox polls) are logged if they fail."""

    def __init__(self, app: ASGIApp, seconds: Callable[[], float] = time.monotonic) -> None:
        self._app = app
        self._seconds = seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not scope["path"].startswith(PREFIX):
            await self._app(scope, receive, send)
            return
        status, begun = HUNG_UP, self._seconds()

        async def answered(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)[TIME_HEADER] = scope["app"].state.parts.clock().isoformat()
            await send(message)

        with tracing.correlate(event_of(scope)), tracing.collect_fields() as notes, tracing.span("call") as noted:
            try:
                await self._app(scope, receive, answered)
            except Exception:
                status = 500
                raise
            finally:
                noted |= {"route": getattr(scope.get("route"), "path", ""), "status": status}
                _tell(scope, status, round(1000 * (self._seconds() - begun), 1), notes)


def event_of(scope: Scope) -> str:
    """Returns the event id that a request names; empty if none."""
    return tracing.parse_event_header(Headers(scope=scope).get(tracing.EVENT_HEADER, ""))


def _tell(scope: Scope, status: int, ms: float, notes: dict[str, object]) -> None:
    # Unknown paths are not logged: they can contain anything.
    if "route" not in scope or (status < 400 and not tracing.current_event_id()):
        return
    level = logging.WARNING if status in (401, 500) else logging.INFO
    call = str(scope["path"]).removeprefix(PREFIX)
    tracing.log_event(_LOG, "call answered", level=level, call=call, http=status, ms=ms, **notes)


# Error responses: `wire.Failure` with a status from one table.

log = structlog.get_logger(__name__)

STATUS: dict[type[object], int] = {
    NotFound: 404,
    QuestionGone: 404,
    NoOpenRound: 404,
    AdminsOnly: 403,
    EventReused: 409,
    # Not a 5xx, so that clients do not retry.
    NoSandbox: 409,
    SandboxBusy: 409,
    InvalidInput: 422,
    TooManyCalls: 429,
}
"""Statuses of refusals. Every other is 400."""


def install(app: FastAPI) -> None:
    """Makes every error response of `app` a `wire.Failure`."""
    app.add_exception_handler(Refused, _refused)
    app.add_exception_handler(Unauthorized, _unauthorized)
    app.add_exception_handler(OutOfScope, _out_of_scope)
    app.add_exception_handler(CallerRefused, _caller_refused)
    app.add_exception_handler(BodyTooLarge, _too_large)
    app.add_exception_handler(RequestValidationError, _unreadable)
    app.add_exception_handler(DataError, _unkept)
    app.add_exception_handler(HTTPException, _other)
    app.add_exception_handler(Exception, _broken)


def _answer(status: int, refusal: Refusal) -> JSONResponse:
    return JSONResponse(Failure(refusal=refusal).model_dump(mode="json"), status)


def _reject(status: int, code: str, message: str) -> JSONResponse:
    return _answer(status, CallRejected(code=code, message=message))


def overloaded() -> JSONResponse:
    """Returns the response to a call that comes while too many are in progress."""
    response = _reject(503, "overloaded", "The service has too many calls in progress: try again in a second.")
    response.headers.update(RETRY_HEADER)
    return response


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)
    return _answer(STATUS.get(type(error.refusal), 400), error.refusal)


async def _caller_refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, CallerRefused)
    return _answer(error.status_code, error.refusal)


async def _unauthorized(request: Request, error: Exception) -> JSONResponse:
    response = _reject(401, "unauthorized", " ".join((Unauthorized.__doc__ or "").split()))
    response.headers["WWW-Authenticate"] = "Bearer"
    return response


async def _out_of_scope(request: Request, error: Exception) -> JSONResponse:
    return _reject(403, "out-of-scope", " ".join((OutOfScope.__doc__ or "").split()))


async def _too_large(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, BodyTooLarge)
    return _answer(error.status_code, CallTooLarge(most=MOST))


async def _unreadable(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    return _answer(422, invalid_input(error.errors(), skip=1))


async def _unkept(request: Request, error: Exception) -> JSONResponse:
    # PostgreSQL cannot store NUL, and user text must not cause a server error.
    log.warning("unkept value", path=request.url.path, error=str(getattr(error, "orig", error)))
    return _answer(422, InvalidInput(field="", problem="not storable"))


async def _other(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    return _reject(error.status_code, "http", f"{request.method} {request.url.path}: {error.detail}")


async def _broken(request: Request, error: Exception) -> JSONResponse:
    # Runs outside the correlation middleware.
    with correlate(event_of(request.scope)):
        log.error("call failed", path=request.url.path, exc_info=error)
    return _reject(500, "internal", "The service failed; its log says why. Nothing was changed: try again.")
