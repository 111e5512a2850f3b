"""The first page for admins: what failed, what waits, what is open, what comes next and how last week went."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.text import overview as text
from bot.web.admin.frame import AdminFrame
from bot.web.chat import who_of
from bot.web.security import refusals_as_pages


class OverviewPage:
    """The route of the page."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self.routes = (Route("/m/{member}/admin", self.show),)

    async def show(self, request: Request) -> Response:
        """Shows the overview. Changes nothing."""
        person = self._frame.admin(request)
        with refusals_as_pages():
            found = await self._frame.client.overview(who_of(person))
        return self._frame.show(
            request,
            "overview.html",
            "overview",
            found=found,
            needs=text.attention(found),
            numbers=text.week_numbers(found),
            text=text,
            now=self._frame.clock(),
        )
