"""What Slack hands to the app and how that went: one delivery, its deadline, and the retries of events."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal, Protocol

from tests.doubles.slack.scripted import Faults
from tests.doubles.slack.shown import Body
from tests.doubles.slack.world import World

Kind = Literal["slash_commands", "interactive", "events_api"]
Outcome = Literal["waiting", "acked", "operation_timeout", "dispatch_failed"]

ACK_S = 3.0
"""Real seconds the app has; people wait for real."""
RETRIES_S = (0.0, 60.0, 300.0)
"""Slack's seconds before each repetition of an event."""


@dataclass
class Delivery:
    """One thing people did, as the app gets it; `attempt` counts the repetitions of an event."""

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


class Road(Protocol):
    """Socket or signed HTTP: hands a delivery over and returns the acknowledgement's body, or None for none."""

    async def carry(self, delivery: Delivery) -> Body | None: ...


@dataclass
class Post:
    """Delivers by the app's road and keeps every delivery it made."""

    world: World
    faults: Faults
    road: Road
    made: list[Delivery] = field(default_factory=list)
    _tasks: set[asyncio.Task[None]] = field(default_factory=set)

    async def deliver(self, delivery: Delivery) -> Delivery:
        """Hand over once; the outcome is what the person sees."""
        log = self.world.log
        self.made.append(delivery)
        delivery.began = self.world.clock.real()
        log.add("delivered", id=delivery.id, what=delivery.kind, event=delivery.event_id, attempt=delivery.attempt)
        try:
            async with asyncio.timeout(ACK_S):
                reply = None if self._astray(delivery) else await self.road.carry(delivery)
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

    def _astray(self, delivery: Delivery) -> bool:
        if delivery.kind != "events_api" or not self.faults.astray:
            return False
        self.faults.astray -= 1
        return True

    def event(self, event_id: str, payload: Body, user: str) -> None:
        """Send an event on its way, with its retries; as often as the script of faults says."""

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
        """Send what was held back, in its order or the reverse."""
        held, self.faults.held = self.faults.held or [], None
        for send in reversed(held) if backwards else held:
            send()

    async def close(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
