"""Slack's Web API: a client per token over one connection pool, and the meaning of its errors.

A call is not retried, because a repeated one might post twice. The exception is a rate-limited call, which Slack has
not carried out: replies to a member repeat it (`RateLimitRetry`).
"""

from __future__ import annotations

import asyncio
import math
from http import HTTPStatus
from types import TracebackType
from typing import Any, Self

from aiohttp import (
    ClientConnectorError,
    ClientError,
    ClientResponseError,
    ClientSession,
    ClientTimeout,
    TCPConnector,
    TraceConfig,
)
from slack_sdk.errors import SlackApiError
from slack_sdk.http_retry.async_handler import AsyncRetryHandler
from slack_sdk.http_retry.builtin_async_handlers import AsyncRateLimitErrorRetryHandler
from slack_sdk.http_retry.request import HttpRequest
from slack_sdk.http_retry.response import HttpResponse
from slack_sdk.http_retry.state import RetryState
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.dispatcher import DeliveryDelayed, DeliveryRefused
from bot.core.metrics import count_responses
from service.client import ServiceRefused, ServiceUnavailable

_CONNECTIONS = 100
"""Connections at a time."""
_CALL_S = 15
"""Longest wait for the reply to a call, seconds."""
_DOWNLOAD_S = 10.0
"""Longest download of a file, seconds."""
_RATE_LIMIT_RETRIES = 2
"""Retries of a call that was rate limited."""
_LONGEST_RETRY_AFTER_S = 30.0
"""Longest wait that Slack may ask for before a retry, seconds."""
_LATER_S = 5.0
"""Wait before the next delivery if Slack names no time, seconds."""
DEAD_TOKEN_CODES = frozenset(
    {"account_inactive", "invalid_auth", "not_authed", "token_revoked", "token_expired", "org_login_required"}
)
"""Error codes of a dead token: the app must be installed again."""
_FIXES = {
    "not_in_channel": "the bot is not in the channel; type /invite @Dailygrad there",
    "channel_not_found": "the channel does not exist, or is private and the bot is not in it; type "
    "/invite @Dailygrad there",
    "is_archived": "the channel is archived; unarchive it or move the schedule to another channel",
    "restricted_action": "the workspace does not allow the bot to post there; an admin can change that in the "
    "channel's posting permissions",
    "restricted_action_read_only_channel": "the channel is read-only; an admin can allow the bot to post there",
    "restricted_action_thread_only_channel": "the channel allows only replies in threads; choose another",
    "restricted_action_non_threadable_channel": "the channel has no threads; choose another",
    "team_access_not_granted": "the app has no access to this workspace; an organization admin can grant it",
    "message_not_found": "the message was deleted",
    "cant_update_message": "the message cannot be edited any more",
    "edit_window_closed": "the workspace does not allow editing messages that old",
    "user_not_found": "the member is not in this workspace",
    "user_disabled": "the member's account is deactivated",
    "cannot_dm_bot": "a bot cannot receive direct messages from a bot",
    "messages_tab_disabled": "the app's Messages tab is off; turn it on under App Home",
    "msg_too_long": "the message is too long for Slack",
    "msg_blocks_too_long": "the message is too long for Slack",
    "invalid_blocks": "Slack rejects the message's layout. This is a bug: please report it",
    "no_text": "the message is empty. This is a bug: please report it",
    "ekm_access_denied": "the organization's key management denies the bot access",
    "two_factor_setup_required": "the workspace requires two-factor authentication; the app's owner must set it up",
}
_WAITS = frozenset(
    {
        "not_in_channel",
        "channel_not_found",
        "is_archived",
        "restricted_action",
        "restricted_action_read_only_channel",
        "team_access_not_granted",
        "ekm_access_denied",
        "two_factor_setup_required",
    }
)
"""Refusals that an admin can end while the message still waits."""


class RespondFailed(Exception):
    """A `response_url` rejected the reply: expired, used up or unreachable."""


class SlackWeb:
    """Slack's Web API over one connection pool. An async context manager, which closes the pool."""

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
        assert self._session is not None, "SlackWeb must be entered first"
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
        """Replies through a payload's `response_url`. Raises RespondFailed."""
        try:
            async with self.session.post(url, json=body, timeout=ClientTimeout(_CALL_S)) as answer:
                text = await answer.text()
        except (ClientError, TimeoutError) as error:
            raise RespondFailed(str(error) or type(error).__name__) from error
        # Some failures have status 200 and an error in the body.
        if answer.status >= 400 or '"ok":false' in text.replace(" ", ""):
            raise RespondFailed(f"{answer.status} {text[:200]}")

    async def upload(self, url: str, content: bytes) -> None:
        """Uploads a file to the URL Slack gave for it. Raises ClientError."""
        async with self.session.post(url, data=content, timeout=ClientTimeout(_CALL_S)) as answer:
            answer.raise_for_status()

    async def download(self, url: str, token: str, most: int) -> bytes | None:
        """Downloads a file; None if it is larger than `most` bytes. Raises ClientError or TimeoutError."""
        headers = {"Authorization": f"Bearer {token}"}
        timeout = ClientTimeout(_DOWNLOAD_S)
        # A redirect could leak the token to another host.
        async with self.session.get(url, headers=headers, timeout=timeout, allow_redirects=False) as answer:
            answer.raise_for_status()
            if answer.status != HTTPStatus.OK:
                # A redirect is no error to aiohttp. Its body is not the file.
                reason = answer.reason or ""
                raise ClientResponseError(answer.request_info, answer.history, status=answer.status, message=reason)
            content = b""
            async for part in answer.content.iter_chunked(16_384):
                content += part
                if len(content) > most:
                    return None
            return content


class RateLimitRetry(AsyncRateLimitErrorRetryHandler):
    """Repeats a rate-limited call if Slack asks for a short wait; a longer one is an error, because a member waits.

    The base class waits for any time it is told, and raises ValueError unless that is a whole number of seconds.
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
    """Returns how many seconds Slack asks to wait; 1 if it gives no number."""
    headers = response.headers if response is not None else {}
    value = next((values[0] for name, values in headers.items() if name.lower() == "retry-after" and values), "")
    try:
        seconds = float(value)
    except ValueError:
        return 1.0
    return max(0.0, seconds) if math.isfinite(seconds) else 1.0


# Errors


class NotInstalled(Exception):
    """The app is not installed in the workspace, or its token was revoked."""

    def __init__(self, team: str) -> None:
        super().__init__(
            f"the app is not installed in the workspace {team}, or its token was revoked; install it again"
        )


CALL_ERRORS = (SlackApiError, ClientError, TimeoutError, NotInstalled, ServiceUnavailable, ServiceRefused)
"""What a call with a workspace's token may raise, whose installation the service may have to look up."""


def cause_of(error: Exception) -> str:
    """Returns why a call failed, for the log: Slack's error code, or else the message."""
    return error_code(error) if isinstance(error, SlackApiError) else str(error) or type(error).__name__


def error_code(error: SlackApiError) -> str:
    """Returns Slack's error code; empty if there is none."""
    data = getattr(error.response, "data", error.response)
    return str(data.get("error") or "") if isinstance(data, dict) else ""


def retry_after(error: SlackApiError) -> float | None:
    """Returns how many seconds Slack asks to wait; None if the error is not a rate limit."""
    if getattr(error.response, "status_code", 200) != 429 and error_code(error) not in ("ratelimited", "rate_limited"):
        return None
    headers = getattr(error.response, "headers", None) or {}
    try:
        return max(0.0, float(headers.get("Retry-After") or headers.get("retry-after") or 1))
    except ValueError:
        return 1.0


def classify_error(error: Exception) -> Exception:
    """Returns DeliveryRefused or DeliveryDelayed; or the error itself if the call may have succeeded."""
    match error:
        case SlackApiError():
            if (seconds := retry_after(error)) is not None:
                return DeliveryDelayed(seconds)
            return _refusal(error) or error
        case ClientConnectorError():
            # The call never reached Slack.
            return DeliveryDelayed(_LATER_S)
        case NotInstalled():
            return DeliveryRefused(str(error), waits=True)
        case _:
            return error


def _refusal(error: SlackApiError) -> DeliveryRefused | None:
    code = error_code(error)
    if code == "missing_scope":
        needed = getattr(error.response, "data", {}).get("needed", "")
        return DeliveryRefused(
            f"missing_scope: the app lacks the scope {needed}; add it under OAuth & Permissions and reinstall",
            waits=True,
        )
    if code in DEAD_TOKEN_CODES:
        return DeliveryRefused(f"{code}: the app's token no longer works; install the app again", waits=True)
    return DeliveryRefused(f"{code}: {_FIXES[code]}", waits=code in _WAITS) if code in _FIXES else None
