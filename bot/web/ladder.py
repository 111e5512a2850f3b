"""The page of duels: the ladder of ratings, and the reader's own duels with what they changed."""

from __future__ import annotations

import asyncio

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.text import duels as text
from bot.web.chat import who_of
from bot.web.frame import MemberFrame
from bot.web.security import refusals_as_pages

ROWS = 50
"""Rows from the top of the ladder; the reader's own place is added."""


class LadderPage:
    """The route of the page. Its buttons are those of the cards, which the channel answers."""

    def __init__(self, frame: MemberFrame) -> None:
        self._frame = frame
        self._cookies = frame.cookies
        self._client = frame.client
        self.routes = (Route("/m/{member}/ladder", self.show),)

    async def show(self, request: Request) -> Response:
        """Shows the ladder and the reader's duels. Changes nothing."""
        person = self._cookies.person(request)
        who = who_of(person)
        with refusals_as_pages():
            ladder, mine = await asyncio.gather(self._client.duel_ladder(who, ROWS), self._client.duel_list(who))
        return self._frame.show(
            person,
            "ladder.html",
            "board",
            ladder=text.ladder_card(ladder),
            mine=text.duels_card(mine),
            buttons=text.page_buttons(mine),
        )
