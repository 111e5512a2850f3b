"""What the quiz asks the chat itself: whether the bot can post in a channel, an admin's time zone, who a member is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

from service.wire import Who


@dataclass(frozen=True, slots=True)
class ChannelProblem:
    """What keeps the bot from posting in a channel."""

    reason: Literal["not a member", "no permission", "archived"]
    permissions: tuple[str, ...] = ()
    """Missing permissions, named as the chat's settings name them."""
    can_join: bool = False
    """Whether the bot can join by itself."""


RoleProblem = Literal["unknown", "not to be given", "a moderator's", "no permission", "too high"]
"""What keeps the bot from giving a role: it does not exist, belongs to everyone or to another app, has rights of a
moderator, the bot may manage no roles, or the role is not below its own."""


class ChannelAccess(Protocol):
    """A chat that has rights to check. The web chat and the console have none."""

    async def find_problem(self, who: Who, channel: str) -> ChannelProblem | None:
        """Returns what keeps the bot from posting in a channel of the member's workspace.

        None if nothing does, or if the chat does not say.
        """

    async def find_role_problem(self, who: Who, role: str) -> RoleProblem | None:
        """Returns what keeps the bot from giving a role; None if nothing does, or if the chat does not say."""

    async def join(self, who: Who, channel: str) -> bool:
        """Makes the bot a member of the channel. Returns False if the chat refuses."""

    async def find_zone(self, who: Who) -> str:
        """Returns the member's IANA time zone; empty if the chat does not say."""

    async def find_member(self, who: Who, named: str) -> tuple[str, str] | None:
        """Returns the id and the name of the person in the member's workspace whom an id or a name means.

        None for bots, if nobody or more than one has the name, and if the chat does not say.
        """

    async def find_name(self, who: Who, channel: str) -> str:
        """Returns the name of a channel; empty if the chat does not say."""
