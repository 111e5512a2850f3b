"""Runs the benchmarks one after the other and writes what they print, with the machine's load, to docs/benchmarks.md.

`python -m tests.bench [--long] [NAME ...]`. Each has a time limit. Long ones (millions of rows, a soak, whole chats at
their rate limits) run only with `--long` or by name.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "benchmarks.md"
HEADING = "## The latest run"


@dataclass(frozen=True)
class Bench:
    """A benchmark with its aim, and how long it may take."""

    module: str
    words: tuple[str, ...]
    aim: str
    limit_s: int
    long: bool = False


BENCHES = {
    "start": Bench(
        "bench_start", (), "`--help` at most 0.5 s of CPU; each idle process at most 100 MB, the sandbox 350", 90
    ),
    "import": Bench("bench_practice", (), "import of 20,000 questions in 20 s of CPU; a practice pick in 20 ms", 90),
    "outbox": Bench("bench_outbox", (), "claims that do not grow with what waits", 90),
    "wave": Bench(
        "bench_wave",
        ("--schedules", "10000", "--workers", "2", "--kill"),
        "10,000 rounds made in well under a minute by two workers, each once though one is killed halfway",
        150,
    ),
    "answers": Bench(
        "bench_answers", ("--seconds", "5"), "at least 0.4 of pgbench; p99 at most 50 ms at 200 a second", 90
    ),
    "closing": Bench(
        "bench_closing", (), "close of 10,000 answers in 2 s, set-based; regrade of 100,000 answers in 60 s", 180
    ),
    "pages": Bench(
        "bench_pages",
        (),
        "a picture in 300 ms and 100 KB, an event in the journal in 1 ms; first byte in 50 ms; health checks wait at "
        "most 50 ms while boards are looked at",
        120,
    ),
    "boards": Bench("bench_boards", (), "p50 2 ms and p99 10 ms, at most twice that of the small team", 150),
    "reader": Bench("bench_reader", (), "at most twice bare markdown-it-py", 60),
    "sandbox": Bench("bench_sandbox", (), "p50 2 ms, p99 8 ms; 200 runs a second; 8 ms of CPU a run", 240),
    "boards-million": Bench(
        "bench_boards", ("--members", "1000000", "--rounds", "50"), "the same with 50 million rows", 14_400, True
    ),
    "closing-million": Bench(
        "bench_closing",
        ("--absent", "1000000", "--regraded", "0"),
        "a round with a million absent members closes, set-based",
        3600,
        True,
    ),
    "discord": Bench("bench_discord", ("--kill",), "95% of the rate allowed, each posted once", 1800, True),
    "slack": Bench(
        "bench_slack", ("--teams", "2", "--channels", "1250", "--kill"), "95% of the rate allowed", 1800, True
    ),
    "rush": Bench("bench_rush", (), "every member's form opens in three seconds", 900, True),
    "season": Bench("bench_season", (), "weeks within a few points of 70% right", 900, True),
    "sprint": Bench("bench_sprint", (), "none counted twice, none lost", 1800, True),
    "rows": Bench("bench_rows", (), "bytes and CPU a day, for docs/scaling.md", 900, True),
    "years": Bench(
        "bench_years",
        ("--rows", "100000000", "--answers", "10000000"),
        "the same times as with 200,000 rows in the ledger",
        14_400,
        True,
    ),
    "soak": Bench(
        "bench_soak", (), "p99 of answers at most 50 ms at 200 a second for half an hour, nothing lost", 3600, True
    ),
    "endurance": Bench("bench_endurance", (), "nothing left behind after 10,000 runs", 3600, True),
}


def run(name: str, bench: Bench) -> str:
    """Runs a benchmark. Returns its section of the page."""
    began, before = time.monotonic(), os.getloadavg()[0]
    command = [sys.executable, "-m", f"tests.bench.{bench.module}", *bench.words]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, problem = process.communicate(timeout=bench.limit_s)
        ended = "" if process.returncode == 0 else f" It ended with exit status {process.returncode}{_cause(problem)}."
    except subprocess.TimeoutExpired:
        # As if typed, so that it stops its servers.
        process.send_signal(signal.SIGINT)
        out, problem = process.communicate()
        ended = f" It was not finished after {bench.limit_s} s."
    printed = out.strip() or problem.strip()[-2000:]
    seconds, after = time.monotonic() - began, os.getloadavg()[0]
    about = f"Aim: {bench.aim}. Load {before:.1f} before, {after:.1f} after; {seconds:.0f} s.{ended}"
    shown = printed if printed.startswith("|") else f"```text\n{printed}\n```"
    return f"### {name}\n\n{about}\n\n{shown}\n"


def _cause(problem: str) -> str:
    """Returns the last line of what a benchmark wrote to standard error: that of a traceback names the exception."""
    lines = problem.strip().splitlines()
    return f": {lines[-1][:200]}" if lines else ""


def main(words: Sequence[str] | None = None) -> None:
    """Runs the command."""
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHES))
    asked.add_argument("--long", action="store_true", help="run the long ones too")
    given = asked.parse_args(words)
    if unknown := set(given.names) - set(BENCHES):
        asked.error(f"unknown: {', '.join(sorted(unknown))}")
    chosen = given.names or [name for name, bench in BENCHES.items() if given.long or not bench.long]
    machine = f"{os.cpu_count()} cores, Python {sys.version.split()[0]}, {time.strftime('%Y-%m-%d %H:%M')}"
    sections = []
    for name in chosen:
        print(f"{name}: up to {BENCHES[name].limit_s} s", file=sys.stderr, flush=True)
        sections.append(run(name, BENCHES[name]))
        print(sections[-1], flush=True)
    if given.names:
        return
    page = PAGE.read_text(encoding="utf-8").partition(HEADING)[0].rstrip()
    PAGE.write_text("\n".join([page, "", HEADING, "", f"{machine}.", "", *sections]).rstrip() + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
