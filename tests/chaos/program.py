"""Generates the faults of a seed: which, in which order, and after how many observed actions. Pure."""

from __future__ import annotations

import random
from dataclasses import dataclass
from typing import Final

KILLS: Final = (
    "service 1, in a call",
    "service 2, in a call",
    "service 1",
    "service 2",
    "the leading worker",
    "the other worker",
    "a worker, at a job",
    "the sandbox",
    "the sandbox, in a run",
    "the Discord bot",
    "the Discord bot, in a post",
    "the Slack bot",
    "the Slack bot, in a post",
)
RESTARTS: Final = ("immediate", "fast")
CHAT_FAULTS: Final = (
    "Discord: 429 to posts",
    "Discord: 502 after a post was made",
    "Discord: a post's connection cut after it was made",
    "Discord: 502 to a reply",
    "Discord: the gateway drops",
    "Discord: the gateway asks to reconnect",
    "Discord: the session is forgotten",
    "Slack: 429 to posts",
    "Slack: 500 to posts",
    "Slack: a post's connection cut after it was made",
    "Slack: a reply's connection cut",
    "Slack: every socket is cut",
    "Slack: every socket is asked to make way",
    "the network between bots and service is cut",
)
ESSENTIAL: Final = (
    ("kill", "service 1, in a call"),
    ("kill", "service 2"),
    ("kill", "the leading worker"),
    ("kill", "the other worker"),
    ("kill", "the sandbox, in a run"),
    ("kill", "the Discord bot, in a post"),
    ("kill", "the Slack bot"),
    ("restart", "immediate"),
    ("restart", "fast"),
    ("chat", "the network between bots and service is cut"),
)
"""Faults of every program: each process is killed, and the database restarted in both modes."""


@dataclass(frozen=True, order=True)
class Fault:
    """A fault that happens once `at` actions were observed."""

    at: int
    kind: str
    what: str

    def __str__(self) -> str:
        return f"after {self.at}: {self.kind} {self.what}"


def faults_of(seed: int, spread: int, more: int) -> tuple[Fault, ...]:
    """Returns a seed's faults in order: the essential ones and `more` others, spread over the first `spread`
    actions."""
    chance = random.Random(f"faults {seed}")
    wanted = [*ESSENTIAL, *(_any(chance) for _ in range(more))]
    return tuple(sorted(Fault(chance.randrange(spread), kind, what) for kind, what in wanted))


def _any(chance: random.Random) -> tuple[str, str]:
    kind = chance.choices(("kill", "chat", "restart"), (5, 6, 1))[0]
    of_kind = {"kill": KILLS, "chat": CHAT_FAULTS, "restart": RESTARTS}[kind]
    return kind, chance.choice(of_kind)
