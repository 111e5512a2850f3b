"""The page of a member about themselves: numbers, last weeks, topics, next step, latest rounds and their data."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.text import my_page as text
from bot.core.text.reveals import rank_line
from bot.core.text.words import day_words
from bot.web.chat import who_of
from bot.web.frame import MemberFrame
from bot.web.security import refusals_as_pages


class MePage:
    """The route of the page."""

    def __init__(self, frame: MemberFrame) -> None:
        self._frame = frame
        self._cookies = frame.cookies
        self._client = frame.client
        self.routes = (Route("/m/{member}/me", self.show),)

    async def show(self, request: Request) -> Response:
        """Shows the page to its member. Changes nothing."""
        person = self._cookies.person(request)
        who = who_of(person)
        with refusals_as_pages():
            me, history = await asyncio.gather(self._client.me(who), self._client.history(who))
        return self._frame.show(
            person,
            "me.html",
            "me",
            me=me,
            history=history,
            next_step=text.next_step(me),
            text=text,
            day_words=day_words,
            rank_line=rank_line,
        )
