"""Sends answers and free runs from within a container until /tmp/enough exists: `docker compose exec -T web python -
TOKEN < burst.py`, with the service token, because its members are of no chat that has a bot.

Prints a line of JSON with how many of each were acknowledged. Retries failed calls with the same event, as bots do.
Uses only what the bots' image contains.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections import Counter
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TypeVar

from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import AnswerInput, ScheduleSpec, Where, Who

ENOUGH = Path("/tmp/enough")
HERE = Where(channel="burst", name="burst")
AT_ONCE = 4
CODE = "def solution(*arguments):\n    return None\n"

T = TypeVar("T")


def member(name: str, *, admin: bool = False) -> Who:
    # A chat without a bot here: its posts stay in the outbox.
    return Who(platform="console", workspace="burst", member=name, name=name, admin=admin)


async def until_done(call: Callable[[], Awaitable[T]], seen: Counter[str]) -> T:
    """Retries until the call succeeds."""
    while True:
        try:
            return await call()
        except ServiceUnavailable:
            seen["called again"] += 1
        except ServiceRefused as refusal:
            # While a member's answer is queued, the member's next request is asked to wait.
            if refusal.refusal.kind != "sandbox-busy":
                raise
            seen["asked to wait"] += 1
        await asyncio.sleep(0.2)


async def answering(client: ServiceClient, ref: str, numbers: count[int], seen: Counter[str]) -> None:
    """Answers and runs a snippet as one member after another."""
    while not await asyncio.to_thread(ENOUGH.exists):
        try:
            await one_member(client, ref, next(numbers), seen)
        except ServiceRefused as refusal:
            seen[f"refused: {refusal.refusal.kind}"] += 1


async def one_member(client: ServiceClient, ref: str, number: int, seen: Counter[str]) -> None:
    who, given, at = member(f"m{number}"), AnswerInput(code=CODE), datetime.now(UTC)
    receipt = await until_done(lambda: client.answer(who, HERE, f"answer:{number}", ref, given, at), seen)
    seen[receipt.status] += 1
    result = await until_done(lambda: client.run(who, f"print({number})"), seen)
    seen[f"run {result.status}" + ("" if result.stdout == f"{number}\n" else ", without its output")] += 1


async def main(token: str) -> None:
    async with ServiceClient.over_http("http://service:8000", token) as client:
        boss = member("boss", admin=True)
        spec = ScheduleSpec(kinds=("code",), weekdays=(0, 1, 2, 3, 4, 5, 6))
        schedule = await client.schedule_add(boss, "add", HERE, spec)
        put = await client.post_now(boss, "post", schedule.id)
        seen: Counter[str] = Counter()
        numbers = count(1)
        await asyncio.gather(*(answering(client, f"r{put.id}", numbers, seen) for _ in range(AT_ONCE)))
    sys.stdout.write(json.dumps(seen) + "\n")


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
