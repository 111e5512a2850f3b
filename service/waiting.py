"""What somebody whose code has to wait is told at once: how many are before them, and about how long it takes."""

from __future__ import annotations

import asyncio
from typing import Protocol

from sandbox.client import Health, SandboxUnreachable
from service.wire import Receipt

RUNS = 3
"""Of one judgement: the cases, the reference, the answer."""
PATIENCE_S = 1.0
"""Nobody's answer waits longer for this."""


class Sandbox(Protocol):
    """What is asked how long things take."""

    async def health(self) -> Health: ...


def seconds_of(before: int, health: Health) -> float | None:
    """How long so many judgements take, where those before them wait as well; None where a run starts at once."""
    if health.wait_s <= 0:
        return None
    # A run that comes now waits for all that wait, and until one of those at work is done.
    return before * RUNS * health.wait_s / (health.waiting + 1)


async def with_wait(receipt: Receipt, sandbox: Sandbox | None) -> Receipt:
    """The receipt as it is told: of an answer that is judged at once there is nothing to tell."""
    if not receipt.before or sandbox is None:
        return receipt
    try:
        async with asyncio.timeout(PATIENCE_S):
            seconds = seconds_of(receipt.before, await sandbox.health())
    except (SandboxUnreachable, TimeoutError):
        return receipt
    if seconds is None:
        return receipt.model_copy(update={"before": 0})
    return receipt.model_copy(update={"wait_s": seconds})
