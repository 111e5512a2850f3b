"""Reasons to refuse a call. A class's docstring is the message, with facts filled in; `api.http` sets the statuses."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager


class Refused(Exception):
    """The call was refused."""

    code = "refused"

    def __init__(self, **facts: object) -> None:
        self.message = " ".join((type(self).__doc__ or "").split()).format(**facts)
        super().__init__(self.message)


class NotFound(Refused):
    """There is no {what} here. {cure}"""

    code = "not-found"


class AdminsOnly(Refused):
    """Only quiz admins can do that. Ask one of them for help."""

    code = "admins-only"


class NotReadable(Refused):
    """{cause} Nothing was changed: an earlier answer, if any, stays."""

    code = "not-readable"


class WrongKindOfAnswer(Refused):
    """This is a {kind} question: answer it with {wanted}. Nothing was changed: an earlier answer, if any, stays."""

    code = "wrong-kind"


class StillOpen(Refused):
    """This question is open in a round right now. Answer it there, and practice it after the round closes."""

    code = "still-open"


class EventReused(Refused):
    """The event id {event_id} was used for something else before; an event is answered once. Send a new event id."""

    code = "event-reused"


class NoSandbox(Refused):
    """Code cannot be run just now: no sandbox is connected. Try again in a minute; if it stays so, tell an admin
    to run the doctor."""

    code = "no-sandbox"


class Busy(Refused):
    """{said}"""

    code = "busy"


class NotPossible(Refused):
    """{cause}"""

    code = "not-possible"


@contextmanager
def refusing() -> Iterator[None]:
    """Turns a ValueError, whose message is written for people, into a refusal."""
    try:
        yield
    except ValueError as error:
        raise NotPossible(cause=str(error)) from error
