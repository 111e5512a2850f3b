"""What the pages of a member share: the links to their pages, who they are, and what the pages work with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from starlette.responses import HTMLResponse

from bot.core.dispatcher import Answer
from bot.web.chat import CHANNEL
from bot.web.render import page
from bot.web.security import MemberCookies, Pause
from bot.web.streams import EventStreams
from service.client import ServiceClient
from service.process import Clock
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


@dataclass(frozen=True, slots=True)
class MemberFrame:
    """The frame of the members' pages, with what they work with."""

    cookies: MemberCookies
    client: ServiceClient
    answer: Answer
    """Answers what a member submits, as a message of the channel does."""
    navigation: Navigation
    clock: Clock
    pause: Pause
    streams: EventStreams

    def show(
        self, person: WebPerson, template: str, shown: PageName, status: int = 200, **variables: Any
    ) -> HTMLResponse:
        """Renders a page of the member. `shown` is the link of the navigation that it belongs to."""
        html = page(
            template,
            **self.navigation.variables(person, shown),
            token=self.cookies.token(person.id),
            **variables,
        )
        return HTMLResponse(html, status)
