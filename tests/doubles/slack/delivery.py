"""Deliveries to the app: each with its deadline and outcome, and the retries of events."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal, Protocol

from tests.doubles.slack.faults import Faults
from tests.doubles.slack.surfaces import Body
from tests.doubles.slack.world import World

Kind = Literal["slash_commands", "interactive", "events_api"]
Outcome = Literal["waiting", "acked", "operation_timeout", "dispatch_failed"]

RETRIES_S = (0.0, 60.0, 300.0)
"""Slack seconds before each retry of an event."""


@dataclass
class Delivery:
    """A payload delivered to the app; `attempt` counts retries of an event."""

    id: str
    kind: Kind
    payload: Body
    user: str = ""
    attempt: int = 0
    reason: str = ""
    began: float = 0.0
    took: float | None = None
    reply: Body = field(default_factory=dict)
    outcome: Outcome = "waiting"
    event_id: str = ""

    @property
    def acked(self) -> bool:
        return self.outcome == "acked"


class Transport(Protocol):
    """A transport, Socket Mode or signed HTTP: sends a delivery and returns the acknowledgement's body, or None."""

    async def deliver(self, delivery: Delivery) -> Body | None: ...


@dataclass
class Post:
    """Delivers over the app's transport and keeps every delivery."""

    world: World
    faults: Faults
    transport: Transport
    made: list[Delivery] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def deliver(self, delivery: Delivery) -> Delivery:
        """Delivers once and sets the outcome."""
        log = self.world.log
        self.made.append(delivery)
        delivery.began = self.world.clock.real()
        log.add("delivered", id=delivery.id, what=delivery.kind, event=delivery.event_id, attempt=delivery.attempt)
        try:
            async with asyncio.timeout(self.world.deadline_s):
                reply = None if self._is_lost(delivery) else await self.transport.deliver(delivery)
        except TimeoutError:
            delivery.outcome = "operation_timeout"
            log.add("timeout", id=delivery.id, what=delivery.kind, user=delivery.user, event=delivery.event_id)
            return delivery
        if reply is None:
            delivery.outcome = "dispatch_failed"
            log.add("undelivered", id=delivery.id, what=delivery.kind, user=delivery.user, event=delivery.event_id)
            return delivery
        delivery.took = self.world.clock.real() - delivery.began
        delivery.reply, delivery.outcome = reply, "acked"
        log.add("acked", id=delivery.id, what=delivery.kind, took=delivery.took, event=delivery.event_id)
        return delivery

    def _is_lost(self, delivery: Delivery) -> bool:
        if delivery.kind != "events_api" or not self.faults.astray:
            return False
        self.faults.astray -= 1
        return True

    def event(self, event_id: str, payload: Body, user: str) -> None:
        """Starts delivering an event with its retries, or as often as the faults say."""

        def send() -> None:
            for _ in range(self.faults.copies):
                task = asyncio.create_task(self._repeat(event_id, payload, user))
                self._tasks.add(task)
                task.add_done_callback(self._tasks.discard)

        if self.faults.held is None:
            send()
        else:
            self.faults.held.append(send)

    async def _repeat(self, event_id: str, payload: Body, user: str) -> None:
        reason = ""
        for attempt, wait in enumerate((0.0, *RETRIES_S)):
            if wait:
                await self.world.clock.pass_slack(wait)
            id_ = f"{event_id}/{len(self.made)}"
            sent = await self.deliver(Delivery(id_, "events_api", payload, user, attempt, reason, event_id=event_id))
            if sent.acked or "no retry" in sent.reply:
                return
            reason = "timeout" if sent.outcome == "operation_timeout" else "connection_failed"
        self.world.log.add("lost", event=event_id)

    def release(self, backwards: bool = False) -> None:
        """Releases held events, in order or reversed."""
        held, self.faults.held = self.faults.held or [], None
        for send in reversed(held) if backwards else held:
            send()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
