"""Declares calls of the service by their signatures, and makes them: over HTTP or straight into the ASGI app."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager
from datetime import datetime
from functools import cache, partial, wraps
from http import HTTPStatus
from types import TracebackType
from typing import Any, ParamSpec, Self, TypeAlias, TypeVar, get_type_hints

from pydantic import TypeAdapter

from service.client.transport import (
    AppTransport,
    ConnectionLost,
    HttpTransport,
    NotSent,
    Reply,
    Transport,
    TransportError,
)
from service.credentials import ServiceTokens
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


async def with_retries(send: Callable[[], Awaitable[Reply]], *, idempotent: bool) -> Reply:
    """Sends a request, and retries if the process behind it goes away, as in a rolling restart.

    Retries a request that may have taken effect only if it is `idempotent`. Raises the last attempt's TransportError.
    """
    reached = False
    for delay in RETRY_DELAYS:
        try:
            return await send()
        except NotSent:
            # Another process may be listening. If none ever was, fail fast.
            if delay and not reached:
                raise
        except ConnectionLost:
            if not idempotent:
                raise
            reached = True
        await asyncio.sleep(delay)
    return await send()


CALLS_AT_ONCE = 100
"""Calls of one process that are under way at a time."""
TURN_S = 10.0
"""Time that a call waits for others to end, seconds."""


class _NoTurn(TransportError):
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

    def __init__(self, transport: Transport, tokens: ServiceTokens, at_once: int | None = None) -> None:
        self._transport = transport
        self._tokens = tokens
        self._turns = None if at_once is None else asyncio.Semaphore(at_once)
        self.clock = ReferenceClock(now)
        """The time of the service, once it has answered a call."""
        self.application = ""
        """The application of the chat platform that the bot runs as, once it is known."""

    @classmethod
    def over_http(cls, url: str, token: str | ServiceTokens) -> Self:
        """Returns a client of the service at `url`."""
        # Calls wait here for their turn, so the transport opens as many connections as it is asked to.
        return cls(HttpTransport(url), _tokens(token), CALLS_AT_ONCE)

    @classmethod
    def inside(cls, app: Any, token: str | ServiceTokens) -> Self:
        """Returns a client that calls the ASGI app in this process, without a socket."""
        return cls(AppTransport(app), _tokens(token))

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    async def close(self) -> None:
        await self._transport.close()

    async def send(self, path: str, answer: TypeAdapter[T], *, repeatable: bool, **body: object) -> T:
        """Posts one call. A `repeatable` call may reach the service twice, with the effect of one."""
        who = body.pop("who", None)
        headers = event_header() | (caller_header(who) if isinstance(who, Who) else {})
        if self.application:
            headers[APPLICATION_HEADER] = self.application
        headers["Content-Type"] = "application/json"
        begun = self.clock.uptime()
        post = partial(self._post, f"/v1/{path}", _to_json(body), headers)
        try:
            async with self._turn():
                response = await with_retries(post, idempotent=repeatable)
        except TransportError as error:
            raise ServiceUnavailable(f"{path}: {error}") from error
        if (time := response.headers.get(TIME_HEADER)) is not None:
            self.clock.observe(datetime.fromisoformat(time), begun)
        if 200 <= response.status < 300:
            return answer.validate_json(response.body, extra="ignore")
        if response.status >= 500:
            raise ServiceUnavailable(f"{path}: the service failed ({response.status})")
        raise ServiceRefused(_refusal(response))

    async def _post(self, path: str, body: bytes, headers: dict[str, str]) -> Reply:
        """Posts with the newest token, and with the other ones in turn if the service refuses it."""
        refused: set[str] = set()
        token = self._tokens.newest()
        while True:
            reply = await self._transport.post(path, body, headers | {"Authorization": f"Bearer {token}"})
            if token is None or reply.status != HTTPStatus.UNAUTHORIZED:
                return reply
            refused.add(token)
            if (token := self._tokens.newest(refused)) is None:
                return reply

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


def _tokens(token: str | ServiceTokens) -> ServiceTokens:
    return ServiceTokens(token) if isinstance(token, str) else token


def _to_json(body: Mapping[str, object]) -> bytes:
    fields = {name: _ADAPTERS[type(value)].dump_python(value, mode="json") for name, value in body.items()}
    return json.dumps(fields, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def _refusal(response: Reply) -> Refusal:
    try:
        return Failure.model_validate_json(response.body, extra="ignore").refusal
    except ValueError:
        return CallRejected(code="http", message=f"the service refused the call ({response.status})")
