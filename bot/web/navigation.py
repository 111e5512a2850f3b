"""The frame of every page of a member: the links to their pages, and who they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from bot.web.chat import CHANNEL
from service.wire import WebPerson

PageName = Literal["today", "practice", "channel", "board", "archive", "me", "admin"]


@dataclass(frozen=True, slots=True)
class Link:
    """A link of the navigation."""

    page: PageName
    label: str
    href: str


@dataclass(frozen=True, slots=True)
class Navigation:
    """Which pages there are. `pages` are those that need the service's client; the channel does not."""

    pages: bool
    operations: bool
    accounts: bool = False
    """Whether members sign in with an OpenID provider."""

    def variables(self, person: WebPerson, shown: PageName) -> dict[str, Any]:
        """Returns the variables of `framed.html` for a page of the member."""
        base = f"/m/{person.id}"
        links = (
            Link("today", "Today", f"{base}/today"),
            Link("practice", "Practice", f"{base}/practice"),
            Link("channel", f"#{CHANNEL}", f"{base}/"),
            Link("board", "Board", f"{base}/board"),
            Link("archive", "Archive", f"{base}/archive"),
            Link("me", "Me", f"{base}/me"),
            *([Link("admin", "Admin", f"{base}/admin")] if person.admin else ()),
        )
        return {
            "base": base,
            "channel": CHANNEL,
            "person": person,
            "shown": shown,
            "links": links if self.pages else (),
            "accounts": self.accounts,
            "operations": self.operations and person.admin,
        }
