"""Models shared by all calls: the member, the channel, and the types of single fields."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated, Final, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, PlainSerializer, SecretStr, TypeAdapter

Platform = Literal["web", "console", "discord", "slack"]
PLATFORM: Final[TypeAdapter[Platform]] = TypeAdapter(Platform)
"""Validates the name of a platform that is stored as text."""
Verdict = Literal[
    "accepted",
    "wrong",
    "runtime error",
    "time limit",
    "memory limit",
    "output limit",
    "invalid",
    "system error",
    "awaits marking",
]
Period = Literal["day", "week", "month", "season", "all"]
Contest = Literal["points", "rookies", "improved"]
"""Who is on a leaderboard: everyone, members who joined in its period, or members who improved since the last one."""
SkipReason = Literal["missed", "no question", "needs gpu", "not posted"]
"""Why a slot was skipped. `missed`: it was due while Dailygrad did not run; `not posted`: its message was given up."""

_REF = re.compile(r"^([rpsd])([0-9]{1,18})$")
Ref = Annotated[str, Field(pattern=_REF.pattern)]
"""A `QuestionRef` on the wire."""
EventId = Annotated[str, Field(min_length=1, max_length=200)]
Short = Annotated[str, Field(max_length=200)]
Code = Annotated[str, Field(max_length=100_000)]
Secret = Annotated[SecretStr, Field(max_length=10_000), PlainSerializer(SecretStr.get_secret_value, when_used="json")]
"""Secret that is sent in plain text between bot and service, and hidden when it is printed or logged."""


class Model(BaseModel):
    """Base of all models: frozen, and unknown fields of a call are errors.

    Those of a reply or a row are ignored: a newer process may have written it, as during a rolling upgrade.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    @classmethod
    def from_stored(cls, row: object) -> Self:
        """Reads what a process of this version or a newer one has stored."""
        return cls.model_validate(row, extra="ignore")


AskedIn = Literal["round", "practice", "sprint", "duel"]
_KIND_OF_REF: dict[str, AskedIn] = {"r": "round", "p": "practice", "s": "sprint", "d": "duel"}


@dataclass(frozen=True, slots=True)
class QuestionRef:
    """A question as it was put to members: in a round, in practice, a sprint or a duel. Written `r12` or `p34`."""

    kind: AskedIn
    id: int
    """Id of the round, in practice of the question version, or of the sprint's or duel's question."""

    @classmethod
    def parse(cls, text: str) -> QuestionRef:
        """Parses `r12`, `p34`, `s56` or `d78`. Raises ValueError for anything else."""
        match = _REF.fullmatch(text)
        if match is None:
            raise ValueError(f"question reference {text!r}: expected r, p, s or d and a number, such as r12")
        return cls(_KIND_OF_REF[match[1]], int(match[2]))

    def __str__(self) -> str:
        return f"{self.kind[0]}{self.id}"


class Who(Model):
    """A member as the platform knows them. `admin` comes from the platform with every event."""

    platform: Platform
    workspace: Short
    member: Short
    name: Annotated[str, Field(min_length=1, max_length=80)]
    admin: bool = False
    application: Annotated[Short, Field(exclude=True)] = ""
    """The bot's application, from `APPLICATION_HEADER`."""


APPLICATION_HEADER = "Dailygrad-Application"
"""HTTP header with the application of the chat platform that a bot runs as; none for a web or terminal chat."""
CALLER_HEADER = "Dailygrad-Caller"
"""HTTP header with the member who makes a call: a `Who` as JSON, in ASCII."""

TIME_HEADER = "Dailygrad-Time"
"""HTTP header of every response: the service's time, ISO 8601."""


class Where(Model):
    """A channel as the platform knows it."""

    channel: Short
    name: Short = ""
    thread: Short = ""
    """A thread in that channel, on Discord. It counts as the channel unless it has a schedule of its own."""
    thread_name: Short = ""

    @property
    def itself(self) -> Where:
        """The thread as a channel of its own; the channel if this is not a thread."""
        return Where(channel=self.thread, name=self.thread_name) if self.thread else self
