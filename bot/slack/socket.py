"""Keeps a Socket Mode connection alive. Watches it, because it can go silent without breaking."""

from __future__ import annotations

import asyncio
import logging
import time
from typing import Any

from aiohttp import ClientError
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError

from bot.core.metrics import CONNECTIONS
from bot.slack.web_api import SlackWeb, retry_after

_LOG = logging.getLogger(__name__)
_CHECK_INTERVAL_S = 0.5
"""Interval at which the connection is checked, seconds."""
_GRACE_S = 1.0
"""Grace period, seconds: when Slack asks for a new connection, the library makes it."""
_CLOSE_S = 5.0
"""Longest wait for a connection to close, seconds."""
_CONNECT_S = 15.0
"""Longest wait for a connection, seconds."""
_MAX_PAUSE_S = 30.0
"""Longest pause before the next attempt to connect, seconds."""
_MAX_FAILURES = 40
"""Failed attempts, about twenty minutes' worth, after which the process exits to be restarted."""
_MAX_QUIET_FACTOR = 8
"""Largest factor by which the quiet period grows while no event arrives."""


class SocketFailed(Exception):
    """Slack could not be reached for a long time; a restart may help."""


class WatchedSocket:
    """A Socket Mode connection that is replaced when it is lost, answers no pings, or has been quiet for too long.

    Slack redelivers what it could not deliver, so replacing a connection loses nothing.
    """

    def __init__(
        self,
        app: AsyncApp,
        web: SlackWeb,
        app_token: str,
        *,
        quiet_s: float,
        ping_s: float,
    ) -> None:
        self._app = app
        self._web = web
        self._app_token = app_token
        self._quiet_s = quiet_s
        self._ping_s = ping_s
        self._handler: AsyncSocketModeHandler | None = None
        self._last_message_at = time.monotonic()
        self._lost_at: float | None = None
        self._quiet_factor = 1
        self.renewals = 0

    async def run(self) -> None:
        """Stays connected until cancelled. Raises SocketFailed after too many failed attempts."""
        try:
            await self._renew("at the start")
            while True:
                await asyncio.sleep(_CHECK_INTERVAL_S)
                if (reason := await self._renewal_reason()) is not None:
                    CONNECTIONS.labels("slack", "lost").inc()
                    await self._renew(reason)
        finally:
            await self._close()

    @property
    def quiet_for(self) -> float:
        """Seconds since Slack last sent anything."""
        return time.monotonic() - self._last_message_at

    async def connected(self) -> bool:
        """Returns whether the connection is open and answers pings."""
        return self._handler is not None and await self._handler.client.is_connected()

    async def _renewal_reason(self) -> str | None:
        if not await self.connected():
            self._lost_at = time.monotonic() if self._lost_at is None else self._lost_at
            return "the connection was lost" if time.monotonic() - self._lost_at >= _GRACE_S else None
        self._lost_at = None
        if self.quiet_for > self._quiet_s * self._quiet_factor:
            self._quiet_factor = min(_MAX_QUIET_FACTOR, 2 * self._quiet_factor)
            return f"nothing came for {self.quiet_for:.0f} s"
        return None

    async def _renew(self, reason: str) -> None:
        """Connects, retrying no more often than Slack allows."""
        _LOG.info("connecting to Slack: %s", reason)
        failures = 0
        while True:
            await self._close()
            pause = min(_MAX_PAUSE_S, 0.5 * 2**failures)
            try:
                async with asyncio.timeout(_CONNECT_S):
                    await self._connect()
                break
            except SlackApiError as error:
                pause = max(pause, retry_after(error) or 0.0)
                _LOG.warning("Slack gives no WebSocket URL; retrying in %g s: %s", pause, error)
            except (ClientError, TimeoutError, OSError) as error:
                _LOG.warning("cannot reach Slack; retrying in %g s: %s", pause, str(error) or type(error).__name__)
            failures += 1
            if failures >= _MAX_FAILURES:
                raise SocketFailed(f"Slack's Socket Mode could not be reached {failures} times in a row")
            await asyncio.sleep(pause)
        self._last_message_at, self._lost_at = time.monotonic(), None
        self.renewals += 1
        CONNECTIONS.labels("slack", "made").inc()

    async def _connect(self) -> None:
        # A WebSocket URL works once, so each attempt needs a new one; the library would reuse it.
        response = await self._web.client().apps_connections_open(app_token=self._app_token)
        handler = AsyncSocketModeHandler(
            self._app, self._app_token, web_client=self._web.client(), ping_interval=self._ping_s
        )
        self._handler = handler
        client = handler.client
        client.wss_uri = str(response["url"])
        # Only `_renew` reconnects: two reconnecting at once would use up Slack's limit.
        client.default_auto_reconnect_enabled = client.auto_reconnect_enabled = False
        client.message_listeners.append(self._on_message)
        await handler.connect_async()  # type: ignore[no-untyped-call]

    async def _on_message(self, client: Any, message: dict[str, Any], raw: str | None = None) -> None:
        self._last_message_at = time.monotonic()
        if "envelope_id" in message:
            self._quiet_factor = 1

    async def _close(self) -> None:
        """Closes the connection, abandoning one that hangs."""
        if self._handler is None:
            return
        handler, self._handler = self._handler, None
        try:
            async with asyncio.timeout(_CLOSE_S):
                await handler.close_async()  # type: ignore[no-untyped-call]
        except Exception as error:  # a broken connection may fail in any way
            _LOG.warning("an old connection to Slack did not close: %s", str(error) or type(error).__name__)
