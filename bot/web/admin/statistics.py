"""The page of item statistics: the questions that need work, each list with its cure."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.text import item_statistics as text
from bot.web.admin.frame import AdminFrame
from bot.web.chat import who_of
from bot.web.security import refusals_as_pages


class StatisticsPage:
    """The route of the page."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self.routes = (Route("/m/{member}/admin/statistics", self.show),)

    async def show(self, request: Request) -> Response:
        """Shows the lists."""
        who = who_of(self._frame.admin(request))
        with refusals_as_pages():
            view = await self._frame.client.bank_statistics(who)
        lists = [one for one in view.lists if one.items]
        return self._frame.show(request, "statistics.html", "statistics", view=view, lists=lists, text=text)
