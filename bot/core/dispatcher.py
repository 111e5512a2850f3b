"""Carries what waits in the outbox to the chat: claims, posts once, reports back. It decides nothing about content."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Protocol

from bot.core.cards import Card, Reply
from bot.core.events import Event
from bot.core.metrics import POST_SECONDS, POSTS
from bot.core.text import outbox_card
from service import tracing
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import Delivery
from service.wire import Platform as PlatformName

# The interface that every platform implements.


@dataclass(frozen=True, slots=True)
class Target:
    """Where a message goes: a channel, a thread of it, or with `member` privately to one person."""

    workspace: str
    channel: str
    member: str | None = None
    reply_to: str | None = None
    for_admins: bool = False
    """A notice for those who run the quiz: where its place takes no message, another that they see will do."""


class DeliveryRefused(Exception):
    """The platform will not take this message and says so for good; trying again changes nothing."""


class DeliveryDelayed(Exception):
    """The platform is busy. `seconds` says when to try again; nothing was posted."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the chat asks to wait {seconds:g} s")
        self.seconds = seconds


Answer = Callable[[Event], Awaitable[Reply]]
"""What a platform calls for every event; it never raises."""


class Platform(Protocol):
    """One chat. Any exception other than Refused and Later leaves open whether the message arrived."""

    @property
    def name(self) -> PlatformName: ...

    async def post(self, target: Target, card: Card, key: str) -> str:
        """Make a message and return its reference. Raises Refused, Later, or anything else when unsure."""
        ...

    async def find(self, target: Target, key: str) -> str | None:
        """The reference of the message made under `key`, if it did arrive."""
        ...


_LOG = logging.getLogger(__name__)

# Messages carried at the same time: enough that a chat that takes fifty a second waits for none while the next are
# claimed. Not more, for each has _POST_S from its start, and what waits for its turn behind many others uses them up.
_AT_ONCE = 100
# On the way out: a claim that waits for something to come holds nothing and may be dropped; a post under way may not.
_LAST_CLAIM_S = 0.5
_LAST_POSTS_S = 15.0
# One message; a chat that takes longer leaves open whether it arrived.
_POST_S = 20.0

Pause = Callable[[float], Awaitable[None]]


class Dispatcher:
    """Serves one platform, `at_once` messages at a time. `pause` waits some seconds; a test's does not."""

    def __init__(
        self,
        client: ServiceClient,
        platform: Platform,
        *,
        at_once: int = _AT_ONCE,
        wait_s: float = 20,
        pause: Pause = asyncio.sleep,
    ) -> None:
        self._client = client
        self._platform = platform
        self._at_once = at_once
        self._wait_s = wait_s
        self._pause = pause
        self._lanes: set[asyncio.Task[None]] = set()

    async def run(self) -> None:
        """Serve until cancelled; what was claimed by then is carried first."""
        away = 0
        try:
            while True:
                try:
                    self._start(await self._claim(self._wait_s, await self._free()))
                    away = 0
                except (ServiceUnavailable, ServiceRefused) as error:
                    away += 1
                    seconds = min(30.0, 0.25 * 2 ** min(away, 10))
                    _LOG.warning("the outbox cannot be read (%s); trying again in %g s", error, seconds)
                    await self._pause(seconds)
        finally:
            await self._finish()

    async def once(self, wait_s: float = 0) -> int:
        """Claim once, waiting up to `wait_s` for something to come, and carry what was claimed; returns how many.

        Raises ServiceUnavailable or ServiceRefused when the claim itself fails.
        """
        claimed = await self._claim(wait_s, self._at_once)
        self._start(claimed)
        await self._finish()
        return len(claimed)

    async def _free(self) -> int:
        """How many more may be carried. Waits for some: a claim of one message costs as much as one of many."""
        while 4 * len(self._lanes) > 3 * self._at_once:
            await asyncio.wait(self._lanes, return_when=asyncio.FIRST_COMPLETED)
        return self._at_once - len(self._lanes)

    async def _claim(self, wait_s: float, limit: int) -> tuple[Delivery, ...]:
        claim = asyncio.ensure_future(self._client.outbox_claim(self._platform.name, limit=limit, wait_s=wait_s))
        try:
            # Shielded: a claim whose answer is thrown away keeps its messages back until the claim runs out.
            return await asyncio.shield(claim)
        except asyncio.CancelledError:
            await asyncio.wait({claim}, timeout=_LAST_CLAIM_S)
            claim.cancel()
            said = (await asyncio.gather(claim, return_exceptions=True))[0]
            if not isinstance(said, BaseException):
                self._start(said)
            raise

    def _start(self, claimed: tuple[Delivery, ...]) -> None:
        """Carry each channel's messages in their order, and the channels side by side."""
        lanes: dict[tuple[str, str, str | None], list[Delivery]] = {}
        for delivery in claimed:
            lanes.setdefault((delivery.workspace, delivery.channel, delivery.member), []).append(delivery)
        for lane in lanes.values():
            task = asyncio.create_task(self._carry_in_order(lane))
            self._lanes.add(task)
            task.add_done_callback(self._lanes.discard)

    async def _finish(self) -> None:
        lanes = set(self._lanes)
        if lanes:
            _, late = await asyncio.wait(lanes, timeout=_LAST_POSTS_S)
            for lane in late:
                lane.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)

    async def _carry_in_order(self, lane: list[Delivery]) -> None:
        for delivery in lane:
            try:
                await self._carry(delivery)
            except (ServiceUnavailable, ServiceRefused) as error:
                # The claim runs out and comes back marked uncertain; then the message is looked for first.
                _LOG.warning("what became of delivery %s could not be reported: %s", delivery.id, error)
                return

    async def _carry(self, delivery: Delivery) -> None:
        """Carry one message, telling in the log of the event that it answers."""
        with tracing.correlate(delivery.body.event_id if delivery.body.kind == "verdict" else ""):
            with POST_SECONDS.labels(delivery.platform).time():
                state = await self._carried(delivery)
            POSTS.labels(delivery.platform, delivery.body.kind, state).inc()
            tracing.log_event(
                _LOG,
                "message carried",
                key=delivery.key,
                platform=delivery.platform,
                workspace=delivery.workspace,
                attempt=delivery.attempt,
                status=state,
            )

    async def _carried(self, delivery: Delivery) -> str:
        fail = partial(self._client.outbox_failed, delivery.id, delivery.attempt)
        try:
            # Well inside the service's lease: after that another may be at it.
            async with asyncio.timeout(_POST_S):
                ref = await self._make(delivery)
        except DeliveryRefused as error:
            await fail(str(error) or "the chat refused the message", uncertain=False, final=True)
            return "refused"
        except DeliveryDelayed as error:
            await fail(str(error), uncertain=False, retry_s=error.seconds)
            return "later"
        except Exception as error:  # whatever a platform's library raises, the message may have arrived
            _LOG.warning("delivery %s may not have arrived", delivery.id, exc_info=True)
            await fail(f"{type(error).__name__}: {error}"[:500], uncertain=True)
            return "uncertain"
        await self._client.outbox_sent(delivery.id, ref)
        return "sent"

    async def _make(self, delivery: Delivery) -> str:
        notice = delivery.body.kind == "notice"
        target = Target(delivery.workspace, delivery.channel, delivery.member, delivery.reply_to, for_admins=notice)
        card = outbox_card(delivery.body)
        found = await self._platform.find(target, delivery.key) if delivery.uncertain else None
        return found if found is not None else await self._platform.post(target, card, delivery.key)
