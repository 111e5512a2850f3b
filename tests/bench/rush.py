"""Members who all answer in the minute after a question is posted: the plan, the members' times, and the table."""

from __future__ import annotations

import asyncio
import math
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from random import Random
from time import perf_counter

COLUMNS = (
    *("chat", "members", "seconds", "windows opened", "forms as messages", "answered", "acks p50", "acks p99"),
    *("answer p99", "names right", "question after", "admin p99", "refused calls"),
)


@dataclass(frozen=True)
class RushPlan:
    """Parameters of a rush."""

    members: int = 300
    seconds: float = 60.0
    """Time in which all of them press *Answer*."""
    faster: float = 1.0
    """Speed of the clock of the chat's limits; triggers and tokens live as long as always."""
    admin_every_s: float = 5.0


@dataclass
class Rush:
    """What was measured."""

    chat: str
    plan: RushPlan
    shown: Counter[str] = field(default_factory=Counter)
    """How each member got the form: `window` or `message`; `nothing` if they got none."""
    acks: list[float] = field(default_factory=list)
    answered: list[float] = field(default_factory=list)
    """Seconds from pressing *Answer* to the confirmation, without the time for typing."""
    admin: list[float] = field(default_factory=list)
    question_s: float = 0.0
    names_right: int = 0
    refused: int = 0
    unanswered: Counter[str] = field(default_factory=Counter)
    """Titles of cards that came instead of the form, because the service did not answer in time."""

    def row(self) -> tuple[str, ...]:
        """Returns the row of the table."""
        return (
            self.chat,
            f"{self.plan.members:,}",
            f"{self.plan.seconds:g}",
            f"{self.shown['window']:,}",
            f"{self.shown['message']:,}",
            f"{len(self.answered):,}",
            f"{1000 * percentile(self.acks, 0.5):.0f} ms",
            f"{1000 * percentile(self.acks, 0.99):.0f} ms",
            f"{percentile(self.answered, 0.99):.2f} s",
            f"{self.names_right:,}",
            f"{self.question_s:.2f} s",
            f"{percentile(self.admin, 0.99):.2f} s",
            f"{self.refused:,}",
        )


def percentile(values: Sequence[float], share: float) -> float:
    """Returns the value that this share of the values does not exceed; not a number if there is none."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


async def play(
    report: Rush, answers: Callable[[int], Awaitable[None]], administers: Callable[[], Awaitable[None]]
) -> None:
    """Has every member answer at a random instant of the plan's time, and an admin type commands meanwhile."""
    plan, random = report.plan, Random(7)
    starts = sorted(random.uniform(0, plan.seconds) for _ in range(plan.members))

    async def member(number: int) -> None:
        await asyncio.sleep(starts[number])
        await answers(number)

    async def admin() -> None:
        while True:
            begun = perf_counter()
            await administers()
            report.admin.append(perf_counter() - begun)
            await asyncio.sleep(plan.admin_every_s)

    administering = asyncio.create_task(admin())
    try:
        await asyncio.gather(*map(member, range(plan.members)))
    finally:
        administering.cancel()
        await asyncio.gather(administering, return_exceptions=True)


def table(reports: Sequence[Rush]) -> str:
    """Returns the reports as a Markdown table."""
    rows = [COLUMNS, tuple("---" for _ in COLUMNS), *(report.row() for report in reports)]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)
