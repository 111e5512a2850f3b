"""The page of duels: the ladder of ratings, and the reader's own duels with what they changed."""

from __future__ import annotations

import asyncio
from typing import Protocol

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from bot.core.text import duels as text
from bot.web.chat import who_of
from bot.web.navigation import Navigation
from bot.web.render import page
from bot.web.security import MemberCookies, refusals_as_pages
from service.wire import Ladder, MyDuels, Who

ROWS = 50
"""Rows from the top of the ladder; the reader's own place is added."""


class LadderClient(Protocol):
    """The service's calls that the page needs."""

    async def duel_ladder(self, who: Who, limit: int = 10) -> Ladder: ...

    async def duel_list(self, who: Who) -> MyDuels: ...


class LadderPage:
    """The route of the page. Its buttons are those of the cards, which the channel answers."""

    def __init__(self, cookies: MemberCookies, client: LadderClient, navigation: Navigation) -> None:
        self._cookies = cookies
        self._client = client
        self._navigation = navigation
        self.routes = (Route("/m/{member}/ladder", self.show),)

    async def show(self, request: Request) -> Response:
        """Shows the ladder and the reader's duels. Changes nothing."""
        person = self._cookies.person(request)
        who = who_of(person)
        with refusals_as_pages():
            ladder, mine = await asyncio.gather(self._client.duel_ladder(who, ROWS), self._client.duel_list(who))
        html = page(
            "ladder.html",
            **self._navigation.variables(person, "board"),
            token=self._cookies.token(person.id),
            ladder=text.ladder_card(ladder),
            mine=text.duels_card(mine),
            buttons=text.page_buttons(mine),
        )
        return HTMLResponse(html)
