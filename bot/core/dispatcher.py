"""Delivers messages from the outbox to the chat: claims them, posts each once and reports the result.

Does not decide what is posted.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from time import monotonic
from typing import Protocol

from bot.core.cards import Card, Reply
from bot.core.events import Event
from bot.core.metrics import POST_SECONDS, POSTS
from bot.core.text import outbox_card, thread_name
from service import tracing
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import FOR_MODERATORS, PERSONAL, READABLE_KINDS, Delivery, Notice, Shards
from service.wire import Platform as PlatformName

# The interface that every platform implements


@dataclass(frozen=True, slots=True)
class Target:
    """Where a message goes: a channel, a thread in it, or with `member` a private message."""

    workspace: str
    channel: str
    member: str | None = None
    reply_to: str | None = None
    for_admins: bool = False
    """Whether it is a notice for admins, which may go to another place they see if this one refuses it."""
    thread: str = ""
    """Name of the thread that `reply_to` gets, if it has none yet; else the card's title."""
    broadcast: bool = False
    """Whether a reply is for everyone in the channel, and not only for those who follow the thread."""


class DeliveryRefused(Exception):
    """The platform refuses this message: for good, or with `waits` until an admin acts, such as by inviting the bot."""

    def __init__(self, reason: str, *, waits: bool = False) -> None:
        super().__init__(reason)
        self.waits = waits


class DeliveryDelayed(Exception):
    """The platform is busy and posted nothing. Retry after `seconds`."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"the chat asked to retry after {seconds:g} s")
        self.seconds = seconds


Answer = Callable[[Event], Awaitable[Reply]]
"""Answers an event; never raises."""


class Platform(Protocol):
    """A chat platform. After any error except DeliveryRefused and DeliveryDelayed, the message may have been posted."""

    @property
    def name(self) -> PlatformName: ...

    async def post(self, target: Target, card: Card, key: str) -> str:
        """Posts a message and returns its reference. Raises DeliveryRefused, DeliveryDelayed, or another error if
        unsure."""
        ...

    async def edit(self, target: Target, card: Card, ref: str, key: str) -> None:
        """Replaces the message `ref`, which was posted under `key`. Raises as `post` does."""
        ...

    async def find(self, target: Target, key: str) -> str | None:
        """Returns the reference of the message posted under `key`, or None."""
        ...


def part_keys(key: str, count: int) -> list[str]:
    """Returns a key for each message of a card: numbered if there are several, else the card's own."""
    return [key] if count == 1 else [f"{key}/{number}" for number in range(1, count + 1)]


_LOG = logging.getLogger(__name__)

_AT_ONCE = 100
"""Limit of concurrent deliveries: enough for a chat that accepts fifty messages a second, while the next are
claimed.

Not more: the timeout of each starts when its task starts, so messages that wait for their turn would use it up.
"""
_LAST_CLAIM_S = 0.5
"""Longest wait for a claim when the bot stops, seconds. It holds no messages and may be dropped; a running post must
not be."""
_LAST_POSTS_S = 15.0
"""Longest wait for posts that are under way when the bot stops, seconds."""
_POST_S = 20.0
"""Timeout of one post, seconds; after it, the message may or may not have been posted."""

Pause = Callable[[float], Awaitable[None]]


class Dispatcher:
    """Delivers one platform's messages, at most `at_once` concurrently; with `shards`, only those of these shards.

    `pause` sleeps and `steady` is a monotonic clock, seconds; tests replace them.
    """

    def __init__(
        self,
        client: ServiceClient,
        platform: Platform,
        *,
        at_once: int = _AT_ONCE,
        wait_s: float = 20,
        shards: Shards | None = None,
        pause: Pause = asyncio.sleep,
        steady: Callable[[], float] = monotonic,
    ) -> None:
        self._client = client
        self._platform = platform
        self._at_once = at_once
        self._wait_s = wait_s
        self._shards = shards
        self._pause = pause
        self._steady = steady
        self._lanes: set[asyncio.Task[None]] = set()
        self._failing_since: float | None = None

    @property
    def failing_s(self) -> float:
        """Seconds for which the outbox could not be read; 0 while it can."""
        return 0.0 if self._failing_since is None else self._steady() - self._failing_since

    async def run(self) -> None:
        """Runs until cancelled; then finishes the messages already claimed."""
        away = 0
        try:
            while True:
                try:
                    self._start(await self._claim(self._wait_s, await self._free_slots()))
                    away = 0
                    self._failing_since = None
                except (ServiceUnavailable, ServiceRefused) as error:
                    away += 1
                    if self._failing_since is None:
                        self._failing_since = self._steady()
                    seconds = min(30.0, 0.25 * 2 ** min(away, 10))
                    _LOG.warning("the outbox cannot be read (%s); trying again in %g s", error, seconds)
                    await self._pause(seconds)
        finally:
            await self._finish()

    async def once(self, wait_s: float = 0) -> int:
        """Claims once, waiting up to `wait_s` for messages, and delivers them. Returns how many.

        Raises ServiceUnavailable or ServiceRefused if the claim fails.
        """
        claimed = await self._claim(wait_s, self._at_once)
        self._start(claimed)
        await self._finish()
        return len(claimed)

    async def _free_slots(self) -> int:
        """Returns how many more deliveries may start. Waits for several, because each claim costs a request."""
        while 4 * len(self._lanes) > 3 * self._at_once:
            await asyncio.wait(self._lanes, return_when=asyncio.FIRST_COMPLETED)
        return self._at_once - len(self._lanes)

    async def _claim(self, wait_s: float, limit: int) -> tuple[Delivery, ...]:
        claim = asyncio.ensure_future(
            self._client.outbox_claim(
                self._platform.name, limit=limit, wait_s=wait_s, shards=self._shards, kinds=READABLE_KINDS
            )
        )
        try:
            # Shielded: messages claimed by a discarded request would stay locked until their lease ends.
            return await asyncio.shield(claim)
        except asyncio.CancelledError:
            await asyncio.wait({claim}, timeout=_LAST_CLAIM_S)
            claim.cancel()
            result = (await asyncio.gather(claim, return_exceptions=True))[0]
            if not isinstance(result, BaseException):
                self._start(result)
            raise

    def _start(self, claimed: tuple[Delivery, ...]) -> None:
        """Starts the deliveries: in order within a channel, concurrently between channels."""
        lanes: dict[tuple[str, str, str | None], list[Delivery]] = {}
        for delivery in claimed:
            lanes.setdefault((delivery.workspace, delivery.channel, delivery.member), []).append(delivery)
        for lane in lanes.values():
            task = asyncio.create_task(self._deliver_in_order(lane))
            self._lanes.add(task)
            task.add_done_callback(self._lanes.discard)

    async def _finish(self) -> None:
        lanes = set(self._lanes)
        if lanes:
            _, late = await asyncio.wait(lanes, timeout=_LAST_POSTS_S)
            for lane in late:
                lane.cancel()
            await asyncio.gather(*lanes, return_exceptions=True)

    async def _deliver_in_order(self, lane: list[Delivery]) -> None:
        for delivery in lane:
            try:
                await self._deliver(delivery)
            except (ServiceUnavailable, ServiceRefused) as error:
                # The lease expires and the message is claimed again as uncertain, so it is searched for before it is
                # posted.
                _LOG.warning("the result of delivery %s could not be reported: %s", delivery.id, error)
                return

    async def _deliver(self, delivery: Delivery) -> None:
        """Delivers one message and logs it with the correlation id of the event it answers."""
        with tracing.correlate(delivery.body.event_id if delivery.body.kind == "verdict" else ""):
            with (
                POST_SECONDS.labels(delivery.platform).time(),
                tracing.span("deliver", kind=delivery.body.kind) as noted,
            ):
                state = noted["outcome"] = await self._post(delivery)
            POSTS.labels(delivery.platform, delivery.body.kind, state).inc()
            tracing.log_event(
                _LOG,
                "message delivered",
                key=delivery.key,
                platform=delivery.platform,
                workspace=delivery.workspace,
                attempt=delivery.attempt,
                status=state,
            )

    async def _post(self, delivery: Delivery) -> str:
        fail = partial(self._client.outbox_failed, delivery.id, delivery.attempt)
        try:
            # Well within the service's lease, after which another process may deliver the message.
            async with asyncio.timeout(_POST_S):
                ref = await self._find_or_post(delivery)
        except DeliveryRefused as error:
            waits = error.waits and delivery.member is None
            await fail(str(error) or "the chat refused the message", outcome="waits" if waits else "refused")
            return "refused"
        except DeliveryDelayed as error:
            await fail(str(error), outcome="failed", retry_s=error.seconds)
            return "later"
        except Exception as error:  # any library error: the message may have been posted
            _LOG.warning("delivery %s may not have arrived", delivery.id, exc_info=True)
            await fail(f"{type(error).__name__}: {error}"[:500], outcome="uncertain")
            return "uncertain"
        await self._client.outbox_sent(delivery.id, ref)
        return "sent"

    async def _find_or_post(self, delivery: Delivery) -> str:
        body = delivery.body
        target = Target(
            delivery.workspace,
            delivery.channel,
            delivery.member,
            delivery.reply_to,
            for_admins=isinstance(body, Notice) and not isinstance(body.fact, (*PERSONAL, *FOR_MODERATORS)),
            thread=thread_name(body),
            broadcast=body.kind == "outcome",
        )
        card = outbox_card(body)
        if delivery.edits is not None:
            # Repeating an edit changes nothing, so an uncertain one is repeated.
            await self._platform.edit(target, card, delivery.edits.ref, delivery.edits.key)
            return delivery.edits.ref
        found = await self._platform.find(target, delivery.key) if delivery.uncertain else None
        return found if found is not None else await self._platform.post(target, card, delivery.key)
