"""Slack's Web API: a client per token over one connection pool, and the URLs Slack gives for files and replies.

A call is not retried, because a repeated one might post twice. The exception is a rate-limited call, which Slack has
not carried out: replies to a member repeat it (`RateLimitRetry`).
"""

from __future__ import annotations

import asyncio
import math
from types import TracebackType
from typing import Any, Self

from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector, TraceConfig
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.metrics import count_responses

_CONNECTIONS = 100
_CALL_S = 15
_DOWNLOAD_S = 10.0
_RATE_LIMIT_RETRIES = 2
_LONGEST_RETRY_AFTER_S = 30.0


class RespondFailed(Exception):
    """A `response_url` did not take the reply: used up, too old, or away."""


class RateLimitRetry(AsyncRateLimitErrorRetryHandler):
    """Repeats a rate-limited call when Slack asks for a short wait; a longer one is an error, for a member is waiting.

    The base class waits however long it is asked to, and raises ValueError for anything but whole seconds.
    """

    def __init__(self) -> None:
        super().__init__(max_retry_count=_RATE_LIMIT_RETRIES)

    async def _can_retry_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> bool:
        limited = await super()._can_retry_async(state=state, request=request, response=response, error=error)
        return limited and _retry_after(response) <= _LONGEST_RETRY_AFTER_S

    async def prepare_for_next_attempt_async(
        self,
        *,
        state: RetryState,
        request: HttpRequest,
        response: HttpResponse | None = None,
        error: Exception | None = None,
    ) -> None:
        await asyncio.sleep(_retry_after(response))
        state.next_attempt_requested = True
        state.increment_current_attempt()


def _retry_after(response: HttpResponse | None) -> float:
    """Returns the seconds Slack asks to wait: one where it gives no number."""
    headers = response.headers if response is not None else {}
    said = next((values[0] for name, values in headers.items() if name.lower() == "retry-after" and values), "")
    try:
        seconds = float(said)
    except ValueError:
        return 1.0
    return max(0.0, seconds) if math.isfinite(seconds) else 1.0


class SlackWeb:
    """Use it as a context; the connections end with it."""

    def __init__(self, api_url: str) -> None:
        self.api_url = api_url
        self._session: ClientSession | None = None

    async def __aenter__(self) -> Self:
        counted = count_responses(TraceConfig(), "slack")
        connector = TCPConnector(limit=_CONNECTIONS)
        self._session = ClientSession(connector=connector, trust_env=True, trace_configs=[counted])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.session.close()

    @property
    def session(self) -> ClientSession:
        assert self._session is not None, "entered as a context first"
        return self._session

    def client(self, token: str | None = None, *, retries: bool = False) -> AsyncWebClient:
        """Returns a client for that token; with `retries` it repeats rate-limited calls.

        It replaces the library's default retry after a dropped connection, which posts twice.
        """
        handlers: list[AsyncRetryHandler] = [RateLimitRetry()] if retries else []
        return AsyncWebClient(
            token=token, base_url=self.api_url, timeout=_CALL_S, session=self.session, retry_handlers=handlers
        )

    async def respond(self, url: str, body: dict[str, Any]) -> None:
        """Say something by a payload's `response_url`. Raises RespondFailed."""
        try:
            async with self.session.post(url, json=body, timeout=ClientTimeout(_CALL_S)) as answer:
                said = await answer.text()
        except (ClientError, TimeoutError) as error:
            raise RespondFailed(str(error) or type(error).__name__) from error
        # Some failures come with status 200 and say so in their body.
        if answer.status >= 400 or '"ok":false' in said.replace(" ", ""):
            raise RespondFailed(f"{answer.status} {said[:200]}")

    async def upload(self, url: str, content: bytes) -> None:
        """Hand a file's bytes to the address Slack gave for it. Raises ClientError."""
        async with self.session.post(url, data=content, timeout=ClientTimeout(_CALL_S)) as answer:
            answer.raise_for_status()

    async def download(self, url: str, token: str, most: int) -> bytes | None:
        """A file of the workspace; None where it is longer than `most`. Raises ClientError, TimeoutError."""
        headers = {"Authorization": f"Bearer {token}"}
        timeout = ClientTimeout(_DOWNLOAD_S)
        # A redirect could carry the token elsewhere.
        async with self.session.get(url, headers=headers, timeout=timeout, allow_redirects=False) as answer:
            answer.raise_for_status()
            content = b""
            async for part in answer.content.iter_chunked(16_384):
                content += part
                if len(content) > most:
                    return None
            return content
