"""Injected faults: what happens to the next calls of a method, or to the next events."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from tests.doubles.slack.surfaces import Body

How = Literal["429", "500", "cut before", "cut after", "slow", "error", "fatal"]
"""`cut after` commits and then drops the connection; `error` answers `ok: false` with `code`."""


@dataclass
class Fault:
    """A fault of the next `times` matching calls."""

    method: str
    how: How
    times: int = 1
    seconds: float = 1.0
    code: str = "internal_error"
    fits: Callable[[Body], bool] = lambda args: True
    met: int = 0


@dataclass
class Faults:
    """The pending faults."""

    waiting: list[Fault] = field(default_factory=list)
    copies: int = 1
    """How many times each event is delivered, even if acknowledged."""
    astray: int = 0
    """How many of the next event deliveries never reach the app."""
    held: list[Callable[[], None]] | None = None
    """If a list, events are held in it until released."""

    def add(self, fault: Fault) -> Fault:
        self.waiting.append(fault)
        return fault

    def take(self, method: str, args: Body) -> Fault | None:
        """Returns the fault of this call, or None."""
        for fault in self.waiting:
            if fault.method in (method, "*") and fault.met < fault.times and fault.fits(args):
                fault.met += 1
                return fault
        return None
