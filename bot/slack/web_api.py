"""Slack's Web API: a client per token over one connection pool, and the URLs Slack gives for files and replies.

A call is not retried, because a repeated one might post twice. The exception is a rate-limited call, which Slack has
not carried out: replies to a member repeat it (`RateLimitRetry`).
"""

from __future__ import annotations

import asyncio
import math
from types import TracebackType
from typing import Any, Self

from aiohttp import ClientConnectorError, ClientError, ClientSession, ClientTimeout, TCPConnector, TraceConfig
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.dispatcher import DeliveryDelayed, DeliveryRefused
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


# What Slack's errors mean for us: never, later, or nobody knows; with the cause and the cure in words.


_CURES = {
    "not_in_channel": "the bot is not in the channel; invite it with /invite @Dailygrad",
    "channel_not_found": "the channel does not exist, or is private and the bot is not in it; invite it with "
    "/invite @Dailygrad",
    "is_archived": "the channel is archived; unarchive it or move the schedule to another",
    "restricted_action": "the workspace's settings keep the bot from posting there; an admin can allow it in the "
    "channel's posting permissions",
    "restricted_action_read_only_channel": "the channel is read-only; an admin can let the bot post in it",
    "restricted_action_thread_only_channel": "the channel takes replies in threads alone; choose another",
    "restricted_action_non_threadable_channel": "the channel has no threads; choose another",
    "team_access_not_granted": "the app is not granted access to this workspace; an organisation's admin can grant it",
    "user_not_found": "the member is not in this workspace",
    "user_disabled": "the member's account is deactivated",
    "cannot_dm_bot": "a bot takes no messages of its own kind",
    "messages_tab_disabled": "the app's Messages tab is off; turn it on under App Home",
    "msg_too_long": "the message is longer than Slack takes",
    "msg_blocks_too_long": "the message is longer than Slack takes",
    "invalid_blocks": "Slack does not take the message's layout, which is our fault",
    "no_text": "the message is empty, which is our fault",
    "ekm_access_denied": "the organisation's key management keeps the bot out",
    "two_factor_setup_required": "the workspace asks for two-factor authentication; the app's owner sets it up",
}
# The token is of no use any more; the app must be installed anew.
DEAD_TOKEN = frozenset(
    {"account_inactive", "invalid_auth", "not_authed", "token_revoked", "token_expired", "org_login_required"}
)
_LATER_S = 5.0


class NotInstalled(Exception):
    """The app is not installed in the workspace, or its token is of no use any more."""

    def __init__(self, team: str) -> None:
        super().__init__(
            f"the app is not installed in the workspace {team}, or its token was revoked; install it again"
        )


def code_of(error: SlackApiError) -> str:
    """Slack's own word for what went wrong, empty where it gave none."""
    data = getattr(error.response, "data", error.response)
    return str(data.get("error") or "") if isinstance(data, dict) else ""


def retry_after(error: SlackApiError) -> float | None:
    """For how many seconds Slack wants to be left alone; None where that is not what is wrong."""
    if getattr(error.response, "status_code", 200) != 429 and code_of(error) not in ("ratelimited", "rate_limited"):
        return None
    headers = getattr(error.response, "headers", None) or {}
    try:
        return max(0.0, float(headers.get("Retry-After") or headers.get("retry-after") or 1))
    except ValueError:
        return 1.0


def verdict_on(error: Exception) -> Exception:
    """The error as the courier understands it: Refused, Later, or itself where nobody knows what became of the call."""
    match error:
        case SlackApiError():
            if (seconds := retry_after(error)) is not None:
                return DeliveryDelayed(seconds)
            return _refusal(error) or error
        case ClientConnectorError():
            # It never reached Slack.
            return DeliveryDelayed(_LATER_S)
        case NotInstalled():
            return DeliveryRefused(str(error))
        case _:
            return error


def _refusal(error: SlackApiError) -> DeliveryRefused | None:
    code = code_of(error)
    if code == "missing_scope":
        needed = getattr(error.response, "data", {}).get("needed", "")
        return DeliveryRefused(
            f"missing_scope: the app lacks the scope {needed}; add it under OAuth & Permissions and reinstall"
        )
    if code in DEAD_TOKEN:
        return DeliveryRefused(f"{code}: the app's token is of no use any more; install the app again")
    return DeliveryRefused(f"{code}: {_CURES[code]}") if code in _CURES else None
