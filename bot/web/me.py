"""The page of a member about themselves: numbers, last weeks, topics, next step, latest rounds and their data."""

from __future__ import annotations

import asyncio
from typing import Protocol

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from bot.core.text import my_page as text
from bot.core.text.reveals import rank_line
from bot.core.text.words import day_words
from bot.web.chat import who_of
from bot.web.navigation import Navigation
from bot.web.render import page
from bot.web.security import MemberCookies, refusals_as_pages
from service.wire import History, Me, Who


class MeClient(Protocol):
    """The service's calls that the page needs."""

    async def me(self, who: Who) -> Me: ...

    async def history(self, who: Who) -> History: ...


class MePage:
    """The route of the page."""

    def __init__(self, cookies: MemberCookies, client: MeClient, navigation: Navigation) -> None:
        self._cookies = cookies
        self._client = client
        self._navigation = navigation
        self.routes = (Route("/m/{member}/me", self.show),)

    async def show(self, request: Request) -> Response:
        """Shows the page to its member. Changes nothing."""
        person = self._cookies.person(request)
        who = who_of(person)
        with refusals_as_pages():
            me, history = await asyncio.gather(self._client.me(who), self._client.history(who))
        html = page(
            "me.html",
            **self._navigation.variables(person, "me"),
            token=self._cookies.token(person.id),
            me=me,
            history=history,
            next_step=text.next_step(me),
            text=text,
            day_words=day_words,
            rank_line=rank_line,
        )
        return HTMLResponse(html)
