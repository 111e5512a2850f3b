"""What crosses the sandbox's socket: a Run goes in, an Outcome comes back. No torch, no asyncio, nothing executed.

A frame is a 4-byte big-endian header length, a JSON header of that length, and as many body bytes as the
header's `body` says. A Run's body is the encoded case values (`sandbox.values`), an Outcome's the encoded results.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

Status = Literal["ok", "error", "time", "memory", "output", "crash", "denied", "internal"]
"""How a run ended. `internal` is ours and never the member's fault; every other one is about the code."""

Isolation = Literal["full", "weaker"]


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use; the supervisor kills whatever goes beyond."""

    wall_ms: int = 5000
    cpu_ms: int = 5000
    memory_mb: int = 512
    """Beyond what the preloaded torch itself takes."""
    output_bytes: int = 64 * 1024
    """Of stdout and of stderr, each."""
    result_bytes: int = 16 * 1024 * 1024
    """Of the encoded results."""
    processes: int = 16
    disk_mb: int = 16


@dataclass(frozen=True, slots=True)
class Run:
    """One program to execute in one fresh, confined child.

    Without `entry` the program is just executed. With it, the function of that name is called once per
    case, in order, with the case's values as arguments, and what it returns is sent back as plain bytes.
    """

    id: str
    code: str
    entry: str | None = None
    cases: bytes = b""
    """A list of tuples of arguments, as `sandbox.values.encode` writes it; ignored without `entry`."""
    seed: int = 0
    """random, numpy and torch are seeded with it before the program starts."""
    limits: Limits = Limits()


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a Run."""

    id: str
    status: Status
    stdout: str = ""
    stderr: str = ""
    """Apart from stdout, control characters made harmless; a traceback names the member's lines only."""
    truncated: bool = False
    exit_code: int | None = None
    signal: int | None = None
    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    peak_mb: float = 0.0
    queue_ms: float = 0.0
    device: str = "cpu"
    isolation: Isolation = "full"
    results: bytes = b""
    """One encoded entry per case that finished, in order: `("ok", value)` or `("raised", type name, message)`.
    Fewer than there were cases when the run ended early. Untrusted: decode with caps, compare outside."""
    detail: str = field(default="", repr=False)
    """For `internal` and `denied`: what happened, for the operator."""
