"""Socket Mode: one connection to Slack, watched, for it may fall deaf without breaking. What comes in goes to Bolt."""

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

_LOOK_S = 0.5
# When Slack asks for a fresh connection the library makes one itself; only one that stays away is replaced.
_GRACE_S = 1.0
_CLOSE_S = 5.0
_CONNECT_S = 15.0
_MOST_PAUSE_S = 30.0
# About twenty minutes; then it is left to whoever restarts the process.
_FAILURES = 40
# While nothing ever comes, a quiet connection is renewed ever more seldom.
_SELDOM = 8


class SocketFailed(Exception):
    """Slack could not be reached for a long time; a fresh process may."""


class WatchedSocket:
    """A Socket Mode connection that is made anew when it is lost, answers no ping, or has been quiet for too long.

    Slack sends what it could not hand over to another connection or again, so a renewal loses nothing.
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
        self._heard = time.monotonic()
        self._lost: float | None = None
        self._patience = 1
        self.renewals = 0

    async def run(self) -> None:
        """Stay connected until cancelled. Raises SocketFailed when that has become hopeless."""
        try:
            await self._renew("at the start")
            while True:
                await asyncio.sleep(_LOOK_S)
                if (reason := await self._why_renew()) is not None:
                    CONNECTIONS.labels("slack", "lost").inc()
                    await self._renew(reason)
        finally:
            await self._close()

    @property
    def quiet_for(self) -> float:
        """Seconds since Slack last sent a message of any kind."""
        return time.monotonic() - self._heard

    async def connected(self) -> bool:
        """Whether the connection stands and answers pings."""
        return self._handler is not None and await self._handler.client.is_connected()

    async def _why_renew(self) -> str | None:
        if not await self.connected():
            self._lost = time.monotonic() if self._lost is None else self._lost
            return "the connection was lost" if time.monotonic() - self._lost >= _GRACE_S else None
        self._lost = None
        if self.quiet_for > self._quiet_s * self._patience:
            self._patience = min(_SELDOM, 2 * self._patience)
            return f"nothing came for {self.quiet_for:.0f} s"
        return None

    async def _renew(self, reason: str) -> None:
        """Connect, however long that takes; never more often than Slack allows."""
        _LOG.info("connecting to Slack: %s", reason)
        failures = 0
        while True:
            await self._close()
            pause = min(_MOST_PAUSE_S, 0.5 * 2**failures)
            try:
                async with asyncio.timeout(_CONNECT_S):
                    await self._connect()
                break
            except SlackApiError as error:
                pause = max(pause, retry_after(error) or 0.0)
                _LOG.warning("Slack gives no address to connect to; next try in %g s: %s", pause, error)
            except (ClientError, TimeoutError, OSError) as error:
                _LOG.warning("Slack is not reached; next try in %g s: %s", pause, error or type(error).__name__)
            failures += 1
            if failures >= _FAILURES:
                raise SocketFailed(f"Slack's Socket Mode could not be reached {failures} times in a row")
            await asyncio.sleep(pause)
        self._heard, self._lost = time.monotonic(), None
        self.renewals += 1
        CONNECTIONS.labels("slack", "made").inc()

    async def _connect(self) -> None:
        # An address serves once, so each try has its own; the library would try a failed one again.
        said = await self._web.client().apps_connections_open(app_token=self._app_token)
        handler = AsyncSocketModeHandler(
            self._app, self._app_token, web_client=self._web.client(), ping_interval=self._ping_s
        )
        self._handler = handler
        client = handler.client
        client.wss_uri = str(said["url"])
        # What is lost is replaced here, in one place: two who reconnect at once use up what Slack allows.
        client.default_auto_reconnect_enabled = client.auto_reconnect_enabled = False
        client.message_listeners.append(self._hear)
        await handler.connect_async()  # type: ignore[no-untyped-call]

    async def _hear(self, client: Any, message: dict[str, Any], raw: str | None = None) -> None:
        self._heard = time.monotonic()
        if "envelope_id" in message:
            self._patience = 1

    async def _close(self) -> None:
        """Take the connection down; one that hangs is left behind."""
        if self._handler is None:
            return
        handler, self._handler = self._handler, None
        try:
            await asyncio.wait_for(handler.close_async(), _CLOSE_S)  # type: ignore[no-untyped-call]
        except Exception as error:  # a broken connection may fail to close in any way
            _LOG.warning("an old connection to Slack did not close: %s", error or type(error).__name__)
