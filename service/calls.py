"""Declares calls of the service by their signatures, and makes them: over HTTP or straight into the ASGI app."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cache, partial, wraps
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeAlias, TypeVar, get_type_hints

import httpx
from pydantic import TypeAdapter

from service.credentials import ServiceTokens, TokenAuth
from service.process import now
from service.reference_clock import ReferenceClock
from service.tracing import event_header
from service.wire import (
    APPLICATION_HEADER,
    CALLER_HEADER,
    TIME_HEADER,
    CallRejected,
    Failure,
    Refusal,
    Who,
    describe,
)

RETRY_DELAYS = (0.0, 0.1, 0.4, 1.0)
"""Delays before each retry, seconds: another process answers at once, and one that restarts needs a moment."""
NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout)
"""Errors of calls that never reached the service."""
CONNECTION_LOST = (httpx.ReadError, httpx.WriteError, httpx.CloseError, httpx.RemoteProtocolError)
"""Errors of calls that may have taken effect."""


async def with_retries(send: Callable[[], Awaitable[httpx.Response]], *, idempotent: bool) -> httpx.Response:
    """Sends a request, and retries if the process behind it goes away, as in a rolling restart.

    Retries a request that may have taken effect only if it is `idempotent`. Raises the last attempt's error.
    """
    reached = False
    for delay in RETRY_DELAYS:
        try:
            return await send()
        except NOT_SENT:
            # Another process may be listening. If none ever was, fail fast.
            if delay and not reached:
                raise
        except CONNECTION_LOST:
            if not idempotent:
                raise
            reached = True
        await asyncio.sleep(delay)
    return await send()


CALLS_AT_ONCE = 100
"""Calls of one process that are under way at a time."""
TURN_S = 10.0
"""Time that a call waits for others to end, seconds."""


class _NoTurn(Exception):
    """Too many calls are under way."""


T = TypeVar("T")
P = ParamSpec("P")
Method: TypeAlias = Callable[P, Coroutine[Any, Any, T]]


class _Adapters(dict[Any, TypeAdapter[Any]]):
    """Caches type adapters, which cost more to create than to use."""

    def __missing__(self, kind: Any) -> TypeAdapter[Any]:
        return self.setdefault(kind, TypeAdapter(kind))


_ADAPTERS = _Adapters()


class ServiceRefused(Exception):
    """The service refused the call. `refusal` has the reason as facts."""

    def __init__(self, refusal: Refusal) -> None:
        super().__init__(describe(refusal))
        self.refusal = refusal


class ServiceUnavailable(Exception):
    """The service could not be reached, or failed. The call may or may not have taken effect.

    Calls may be repeated: those that change something take effect once per event id.
    """


def call(path: str, *, repeatable: bool = False) -> Callable[[Method[P, T]], Method[P, T]]:
    """Implements a method of a `CallSender` from its signature: posts the arguments to `path` and parses the response.

    A call with an `event_id` takes effect once per event, so it can be retried. Any other call is retried only if it
    is `repeatable`: making it twice has the same effect as making it once.
    """

    def declare(method: Method[P, T]) -> Method[P, T]:
        signature = inspect.signature(method)
        retried = repeatable or "event_id" in signature.parameters

        @cache
        def answer() -> TypeAdapter[T]:
            return TypeAdapter(get_type_hints(method)["return"])

        @wraps(method)
        async def post(*args: P.args, **kwargs: P.kwargs) -> T:
            bound = signature.bind(*args, **kwargs)
            bound.apply_defaults()
            body = dict(bound.arguments)
            caller: CallSender = body.pop("self")
            return await caller.send(path, answer(), repeatable=retried, **body)

        return post

    return declare


class CallSender:
    """Calls the service. Every call raises ServiceRefused or ServiceUnavailable, nothing else."""

    def __init__(self, http: httpx.AsyncClient, at_once: int | None = None) -> None:
        self._http = http
        self._turns = None if at_once is None else asyncio.Semaphore(at_once)
        self.clock = ReferenceClock(now)
        """The time of the service, once it has answered a call."""
        self.application = ""
        """The application of the chat platform that the bot runs as, once it is known."""

    @classmethod
    def over_http(cls, url: str, token: str | ServiceTokens) -> Self:
        """Returns a client of the service at `url`."""
        # Calls wait here and not in the library's pool: a call that is cancelled as it gets a connection there takes it
        # along, and once all are gone, nothing reaches the service until the bot is restarted.
        limits = httpx.Limits(max_connections=None, max_keepalive_connections=20)
        http = httpx.AsyncClient(base_url=url, auth=_auth(token), timeout=httpx.Timeout(10, read=40), limits=limits)
        return cls(http, CALLS_AT_ONCE)

    @classmethod
    def inside(cls, app: Any, token: str | ServiceTokens) -> Self:
        """Returns a client that calls the ASGI app in this process, without a socket."""
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        return cls(httpx.AsyncClient(transport=transport, base_url="http://service", auth=_auth(token)))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._http.aclose()

    async def send(self, path: str, answer: TypeAdapter[T], *, repeatable: bool, **body: object) -> T:
        """Posts one call. A `repeatable` call may reach the service twice, with the effect of one."""
        who = body.pop("who", None)
        headers = event_header() | (caller_header(who) if isinstance(who, Who) else {})
        if self.application:
            headers[APPLICATION_HEADER] = self.application
        begun = self.clock.uptime()
        post = partial(self._http.post, f"/v1/{path}", json=_to_json(body), headers=headers)
        try:
            async with self._turn():
                response = await with_retries(post, idempotent=repeatable)
        except (httpx.HTTPError, _NoTurn) as error:
            raise ServiceUnavailable(f"{path}: {str(error) or type(error).__name__}") from error
        if (time := response.headers.get(TIME_HEADER)) is not None:
            self.clock.observe(datetime.fromisoformat(time), begun)
        if response.is_success:
            return answer.validate_json(response.content, extra="ignore")
        if response.status_code >= 500:
            raise ServiceUnavailable(f"{path}: the service failed ({response.status_code})")
        raise ServiceRefused(_refusal(response))

    @asynccontextmanager
    async def _turn(self) -> AsyncIterator[None]:
        """Waits until few enough calls are under way. Raises _NoTurn if that takes too long."""
        if self._turns is None:
            yield
            return
        try:
            async with asyncio.timeout(TURN_S):
                await self._turns.acquire()
        except TimeoutError:
            raise _NoTurn(f"{CALLS_AT_ONCE} calls have been under way for {TURN_S:g} s") from None
        try:
            yield
        finally:
            self._turns.release()


def caller_header(who: Who) -> dict[str, str]:
    """Returns the member who makes a call as an HTTP header."""
    return {CALLER_HEADER: json.dumps(who.model_dump(mode="json"))}


def _auth(token: str | ServiceTokens) -> TokenAuth:
    return TokenAuth(ServiceTokens(token) if isinstance(token, str) else token)


def _to_json(body: Mapping[str, object]) -> dict[str, object]:
    return {name: _ADAPTERS[type(value)].dump_python(value, mode="json") for name, value in body.items()}


def _refusal(response: httpx.Response) -> Refusal:
    try:
        return Failure.model_validate_json(response.content, extra="ignore").refusal
    except ValueError:
        return CallRejected(code="http", message=f"the service refused the call ({response.status_code})")
