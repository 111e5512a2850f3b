"""Sends Runs to the supervisor and awaits their Outcomes. The only way into the sandbox; imports no torch."""

from __future__ import annotations

import asyncio
import contextlib
from dataclasses import dataclass, field
from pathlib import Path

from sandbox import wire
from sandbox.lines import Lines
from sandbox.wire import Device, Isolation, Outcome, Run

_SLACK_SECONDS = 90.0


@dataclass(frozen=True, slots=True)
class Health:
    """How the sandbox is."""

    ready: int
    """Children parked, waiting for a run."""
    running: int
    waiting: int
    isolation: Isolation
    lacks: tuple[str, ...]
    """What the machine does not offer, each with its cure."""
    versions: dict[str, str] = field(default_factory=dict)
    """Of torch and numpy; empty until the zygote is up."""
    trouble: str = ""
    """Why there is no child to be had right now, if so."""
    wait_s: float = 0.0
    """How long a run that comes now can expect to wait."""
    devices: tuple[Device, ...] = ("cpu",)
    """Where a run may ask to compute."""
    gpu: str = ""
    """What GPUs there are, or why there is none, with the cure."""


class SandboxUnreachable(ConnectionError):
    """No supervisor answers at the socket."""


class NobodyThere(SandboxUnreachable):
    """Nothing was even sent: no supervisor listens at the socket."""


class SandboxClient:
    """One connection for each request at a time, so that hanging up cancels its run; one that a supervisor let go of
    is made anew. It needs no closing, and outlives its loop."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lines = Lines(path)

    async def run(self, run: Run) -> Outcome:
        """The Outcome of `run`. A lost connection does not raise: it is status `internal`, not the member's fault.

        Raises ValueError when the Run is larger than the wire carries.
        """
        try:
            return await self.attempt(run)
        except SandboxUnreachable as problem:
            return Outcome(id=run.id, status="internal", detail=str(problem))

    async def attempt(self, run: Run) -> Outcome:
        """As `run`, but raises SandboxUnreachable where no outcome came, and none will: hanging up ends the run."""
        frame = wire.encode_run(run)
        try:
            kind, head, body = await self._lines.ask(frame, run.limits.wall_ms / 1000 + _SLACK_SECONDS)
            if kind != "outcome":
                raise ValueError(f"a frame of kind {kind!r}")
            return wire.read_outcome(head, body)
        except (OSError, ValueError) as problem:
            # Both can only come of connecting.
            absent = isinstance(problem, ConnectionRefusedError | FileNotFoundError)
            kind_of = NobodyThere if absent else SandboxUnreachable
            raise kind_of(f"{self.path}: {type(problem).__name__}: {problem}") from problem

    async def health(self) -> Health:
        """How the sandbox is. Raises SandboxUnreachable when nobody answers."""
        try:
            _, head, _ = await self._lines.ask(wire.encode("health", {}), 10)
            return Health(**{**head, "lacks": tuple(head["lacks"]), "devices": tuple(head.get("devices", ("cpu",)))})
        except (OSError, ValueError, KeyError, TypeError) as problem:
            raise SandboxUnreachable(f"no sandbox answers at {self.path}: {problem}; is it started?") from None

    async def until_ready(self, seconds: float = 120.0) -> Health:
        """Wait until a child is parked. Raises SandboxUnreachable, with the trouble, after `seconds`."""
        last = ""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while True:
                    try:
                        health = await self.health()
                    except SandboxUnreachable as problem:
                        last = str(problem)
                    else:
                        if health.ready:
                            return health
                        last = health.trouble
                    await asyncio.sleep(0.05)
        raise SandboxUnreachable(f"no child was ready within {seconds:.0f} s: {last or 'still starting'}")
