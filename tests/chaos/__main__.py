"""`python -m tests.chaos`: runs days with injected faults, each from a seed. Prints the seeds, and a table at the
end."""

from __future__ import annotations

import argparse
import asyncio
import logging
import secrets
import signal
import statistics
import sys
from collections.abc import Coroutine
from pathlib import Path
from typing import Any

import structlog

from tests.chaos.day import LONG, SHORT, Day, Size, lived
from tests.chaos.processes import adopt_orphans
from tests.chaos.program import faults_of


def main() -> int:
    """Runs the command. Exit status 1 if a promise was broken."""
    parser = argparse.ArgumentParser(prog="python -m tests.chaos", description="Break everything, and lose nothing.")
    parser.add_argument("--seed", type=int, default=None, help="the first day's; one by chance, if none is given")
    parser.add_argument("--rounds", type=int, default=1, help="how many days, of one seed after the other")
    parser.add_argument("--short", action="store_true", help="days as short as in the tests")
    parser.add_argument("--keep", type=Path, help="a new folder in which the logs of the processes are kept")
    parser.add_argument("--show", action="store_true", help="only print the programs of faults")
    told = parser.parse_args()
    size = SHORT if told.short else LONG
    first = told.seed if told.seed is not None else secrets.randbelow(10**6)
    seeds = range(first, first + told.rounds)
    if told.show:
        for seed in seeds:
            say(f"seed {seed}", *map(str, faults_of(seed, size.spread, size.more)))
        return 0
    adopt_orphans()
    # The admin's service runs in this process and fails whenever its database does.
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    logging.getLogger().addHandler(logging.NullHandler())
    days = [one(seed, size, told.keep / str(seed) if told.keep else None, told.short) for seed in seeds]
    say("", *table(days))
    return 1 if any(day.broken for day in days) else 0


def one(seed: int, size: Size, keep: Path | None, short: bool) -> Day:
    """Runs one day and prints its start and end."""
    again = f"make chaos SEED={seed} ROUNDS=1" + (" CHAOS=--short" if short else "")
    say(f"seed {seed}; the same again: {again}")
    if keep is not None:
        keep.mkdir(parents=True)
    day = asyncio.run(_until_stopped(lived(seed, size, keep)))
    times = ", ".join(f"{seconds:.1f} s {what}" for what, seconds in day.seconds.items())
    say(f"seed {seed}: {len(day.broken)} violations; {times}", *(f"  broken: {what}" for what in day.broken))
    if day.broken:
        say(f"  the same again: {again}")
    return day


async def _until_stopped(living: Coroutine[Any, Any, Day]) -> Day:
    """Runs a day, and cleans up if this process is told to stop."""
    day = asyncio.ensure_future(living)
    for number in (signal.SIGTERM, signal.SIGINT):
        asyncio.get_running_loop().add_signal_handler(number, day.cancel)
    return await day


def table(days: list[Day]) -> list[str]:
    """Prints what was done and the result, one line per seed."""
    names = list(dict.fromkeys(name for day in days for name in day.kills))
    head = ["seed", *(f"† {name}" for name in names), "PostgreSQL", "chat faults"]
    head += ["slots", "answers", "verdicts", "unknown", "violations"]
    rows = [[str(day.seed), *(str(day.kills[name]) for name in names), *_faults(day), *_counts(day)] for day in days]
    widths = [max(len(row[place]) for row in [head, *rows]) for place in range(len(head))]
    lines = ["  ".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in [head, *rows]]
    lines.append(_spread("another leads", [each for day in days for each in day.takeovers]))
    lines.append(_spread("a slot due after the leader's death is posted", [each for day in days for each in day.ticks]))
    recovered = {name: [each for day in days for each in day.recovered.get(name, ())] for name in names}
    return lines + [_spread(f"{name} serves again", times) for name, times in recovered.items()]


def _faults(day: Day) -> list[str]:
    kinds = {kind: sum(n for what, n in day.done.items() if what.startswith(kind)) for kind in ("restart", "chat")}
    return [str(count) for count in kinds.values()]


def _counts(day: Day) -> list[str]:
    counts = [str(day.counts.get(name, 0)) for name in ("slots", "answers", "verdicts", "unknown")]
    return [*counts, str(len(day.broken))]


def _spread(what: str, seconds: list[float]) -> str:
    if not seconds:
        return f"{what}: not measured"
    return f"{what}: p50 {statistics.median(seconds):.1f} s, max {max(seconds):.1f} s of {len(seconds)}"


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    sys.stdout.flush()


if __name__ == "__main__":
    raise SystemExit(main())
