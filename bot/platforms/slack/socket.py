"""Socket Mode: one connection to Slack, watched, for it may fall deaf without breaking. What comes in goes to Bolt."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Any

from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp

_LOG = logging.getLogger(__name__)

_CLOSE_S = 5.0
_CONNECT_S = 30.0
# While nothing ever comes, a quiet connection is renewed ever more seldom.
_SELDOM = 8
# A connection that keeps failing is left to whoever restarts the process.
_FAILURES = 20

Seconds = Callable[[], float]


class SocketFailed(Exception):
    """Slack could not be reached for a long time; a fresh process may."""


class Watched:
    """A Socket Mode connection that is made anew when it answers no ping, or has been quiet for too long.

    Slack sends what it could not hand over to another connection or again, so a renewal loses nothing.
    """

    def __init__(
        self, app: AsyncApp, app_token: str, *, quiet_s: float, ping_s: float, seconds: Seconds = time.monotonic
    ) -> None:
        self._app = app
        self._app_token = app_token
        self._quiet_s = quiet_s
        self._ping_s = ping_s
        self._seconds = seconds
        self._handler: AsyncSocketModeHandler | None = None
        self._heard = seconds()
        self._lost: float | None = None
        self._patience = 1
        self._failures = 0
        self.renewals = 0

    async def run(self) -> None:
        """Stay connected until cancelled. Raises SocketFailed when that has become hopeless."""
        try:
            await self._renew("at the start")
            while True:
                await asyncio.sleep(min(self._ping_s, self._quiet_s / 4))
                if (reason := await self._why_renew()) is not None:
                    await self._renew(reason)
        finally:
            await self._close()

    @property
    def quiet_for(self) -> float:
        """Seconds since Slack last sent a message of any kind."""
        return self._seconds() - self._heard

    async def connected(self) -> bool:
        """Whether the connection stands and answers pings."""
        return self._handler is not None and await self._handler.client.is_connected()

    async def _why_renew(self) -> str | None:
        if not await self.connected():
            # The library reconnects by itself; where it does not, it is taken down.
            self._lost = self._seconds() if self._lost is None else self._lost
            return "it is not connected" if self._seconds() - self._lost > 4 * self._ping_s else None
        self._lost = None
        if self.quiet_for > self._quiet_s * self._patience:
            self._patience = min(_SELDOM, 2 * self._patience)
            return f"nothing came for {self.quiet_for:.0f} s"
        return None

    async def _renew(self, reason: str) -> None:
        _LOG.info("connecting to Slack: %s", reason)
        await self._close()
        self.renewals += 1
        self._heard, self._lost = self._seconds(), None
        handler = AsyncSocketModeHandler(self._app, self._app_token, ping_interval=self._ping_s)
        handler.client.message_listeners.append(self._hear)
        self._handler = handler
        try:
            await asyncio.wait_for(handler.connect_async(), _CONNECT_S)  # type: ignore[no-untyped-call]
            self._failures = 0
        except TimeoutError:
            self._failures += 1
            if self._failures >= _FAILURES:
                raise SocketFailed(f"Slack's Socket Mode could not be reached {_FAILURES} times in a row") from None

    async def _hear(self, client: Any, message: dict[str, Any], raw: str | None = None) -> None:
        self._heard = self._seconds()
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
