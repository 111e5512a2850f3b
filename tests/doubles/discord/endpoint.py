"""The call that an endpoint of the double handles, and the errors it may raise."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.doubles.discord.server import Server


class Refusal(Exception):
    """An error as Discord returns it: HTTP status, Discord's code, and message."""

    def __init__(self, status: int, code: int, message: str) -> None:
        super().__init__(f"{status}/{code} {message}")
        self.status = status
        self.code = code
        self.message = message


UNKNOWN_CHANNEL = Refusal(404, 10003, "Unknown Channel")
UNKNOWN_GUILD = Refusal(404, 10004, "Unknown Guild")
UNKNOWN_MEMBER = Refusal(404, 10007, "Unknown Member")
UNKNOWN_MESSAGE = Refusal(404, 10008, "Unknown Message")
UNKNOWN_ROLE = Refusal(404, 10011, "Unknown Role")
UNKNOWN_USER = Refusal(404, 10013, "Unknown User")
UNKNOWN_WEBHOOK = Refusal(404, 10015, "Unknown Webhook")
UNKNOWN_INTERACTION = Refusal(404, 10062, "Unknown interaction")
ANSWERED_BEFORE = Refusal(400, 40060, "Interaction has already been acknowledged.")
NO_ACCESS = Refusal(403, 50001, "Missing Access")
NOT_YOURS = Refusal(403, 50005, "Cannot edit a message authored by another user")
EMPTY = Refusal(400, 50006, "Cannot send an empty message")
CLOSED = Refusal(403, 50007, "Cannot send messages to this user")
NO_MESSAGES = Refusal(400, 50008, "Cannot send messages in a non-text channel")
NO_PERMISSION = Refusal(403, 50013, "Missing Permissions")
TOKEN_ENDED = Refusal(401, 50027, "Invalid Webhook Token")
NO_THREAD_THERE = Refusal(400, 50024, "Cannot execute action on this channel type")
BAD_FORM = Refusal(400, 50035, "Invalid Form Body")
THREAD_THERE = Refusal(400, 160004, "A thread has already been created for this message")
THREAD_LOCKED = Refusal(400, 160005, "This thread is locked")


@dataclass
class Call:
    """A parsed request."""

    match: dict[str, str]
    query: dict[str, str]
    body: Any = None
    files: dict[str, bytes] = field(default_factory=dict)

    def number(self, name: str) -> int:
        """Returns a path parameter that is an id."""
        try:
            return int(self.match[name])
        except ValueError:
            raise BAD_FORM from None


Handler = Callable[["Server", Call], Awaitable[Any]]


@dataclass(frozen=True)
class Endpoint:
    """A route and its handler. `free` routes need no bot token and do not count against the global limit."""

    method: str
    path: str
    handler: Handler
    free: bool = False

    @property
    def route(self) -> str:
        return f"{self.method} {self.path}"
