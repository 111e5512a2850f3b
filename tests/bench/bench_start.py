"""Benchmark: CPU time of `dailygrad --help`, and the memory of idle processes.

Memory is private to a process (USS), without what it shares with others.
"""

from __future__ import annotations

import os
import resource
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

import psutil

from tests.bench.rounds import database

SETTLE_S = 5.0
"""Time that a process is idle before it is looked at."""


def cpu_of(words: Sequence[str]) -> float:
    """Returns the CPU seconds of a command, the best of three."""
    found = []
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        subprocess.run([sys.executable, "-m", "dailygrad", *words], check=True, stdout=subprocess.DEVNULL)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        found.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(found)


def idle_mb(words: Sequence[str], environment: dict[str, str]) -> float:
    """Returns the private memory of a process and its children after some idle seconds, MB."""
    process = subprocess.Popen(
        [sys.executable, "-m", "dailygrad", *words],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    try:
        assert process.stdout is not None
        process.stdout.readline()
        time.sleep(SETTLE_S)
        if process.poll() is not None:
            raise SystemExit(f"{' '.join(words)} ended: {process.stdout.read()}")
        whole = [psutil.Process(process.pid), *psutil.Process(process.pid).children(recursive=True)]
        return float(sum(one.memory_full_info().uss for one in whole)) / 1e6
    finally:
        process.terminate()
        process.wait()


def main() -> None:
    """Prints the table."""
    print("| What | Measured | Limit |\n|---|---|---|")
    print(f"| `dailygrad --help` | {cpu_of(['--help']):.2f} s of CPU | 0.5 s |")
    with database() as url, TemporaryDirectory() as folder:
        service = {"DATABASE_URL": url, "DAILYGRAD_SERVICE_TOKEN": "t" * 40, "DAILYGRAD_PORT": "0"}
        sandbox = {"DAILYGRAD_SANDBOX_SOCKET": str(Path(folder) / "sandbox.sock")}
        print(f"| service, idle | {idle_mb(['serve'], service):.0f} MB | 100 MB |")
        print(f"| worker, idle | {idle_mb(['work'], service):.0f} MB | 100 MB |")
        print(f"| sandbox, idle | {idle_mb(['sandbox', 'serve'], sandbox):.0f} MB | 350 MB |")


if __name__ == "__main__":
    main()
