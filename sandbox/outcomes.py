"""An Outcome as a command line tells it: one line, an exit status, JSON. Pure."""

from __future__ import annotations

import dataclasses
import json
import signal
from typing import Any

from sandbox.wire import Outcome, Status

_EXIT: dict[Status, int] = {
    "ok": 0,
    "error": 1,
    "crash": 1,
    "output": 1,
    "internal": 70,  # EX_SOFTWARE: the sandbox failed, not the program
    "time": 124,  # what timeout(1) says
    "denied": 126,
    "memory": 137,  # what a shell says of a program that the kernel ended for its memory
}


def summary(outcome: Outcome) -> str:
    """How it ended and what it took, such as `error, exit 3 · 12 ms wall, 10 ms CPU · 4 MB · waited 0 ms · cpu · …`."""
    ended: str = outcome.status
    if outcome.signal is not None:
        ended += f", {signal_name(outcome.signal)}"
    elif outcome.exit_code:
        ended += f", exit {outcome.exit_code}"
    parts = [
        ended,
        f"{outcome.wall_ms:.0f} ms wall, {outcome.cpu_ms:.0f} ms CPU",
        f"{outcome.peak_mb:.0f} MB",
        f"waited {outcome.queue_ms:.0f} ms",
        outcome.device,
        f"{outcome.isolation} isolation",
        *(["output cut"] if outcome.truncated else []),
        *([outcome.detail] if outcome.detail else []),
    ]
    return " · ".join(parts)


def exit_status(outcome: Outcome) -> int:
    """What a shell would say: the program's own exit status, 128 and the signal, or one for how it ended."""
    if outcome.signal is not None:
        return 128 + outcome.signal
    if outcome.status in ("ok", "error") and outcome.exit_code is not None:
        return outcome.exit_code % 256
    return _EXIT[outcome.status]


def as_json(outcome: Outcome) -> str:
    """All of it but the encoded results."""
    fields: dict[str, Any] = {
        item.name: getattr(outcome, item.name) for item in dataclasses.fields(outcome) if item.name != "results"
    }
    return json.dumps(fields, indent=2)


def signal_name(number: int) -> str:
    """`SIGSEGV` for 11, and the number where it has no name."""
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
