"""The page of seasons: starts and ends them, and shows the boards of those that ended."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.text import boards as text
from bot.web.admin.frame import AdminFrame
from bot.web.chat import who_of
from bot.web.security import RequestProblem, refusals_as_pages, text_of

PATH = "/m/{member}/admin/seasons"


class SeasonsPage:
    """The routes of the page."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self._client = frame.client
        self.routes = (Route(PATH, self.show), Route(PATH, self.change, methods=["POST"]))

    async def show(self, request: Request) -> Response:
        """Shows the running season and those before it."""
        who = who_of(self._frame.admin(request))
        with refusals_as_pages():
            seasons = await self._client.season_list(who)
        running = next((one for one in seasons if one.ends_at is None), None)
        ended = [one for one in seasons if one is not running]
        return self._frame.show(request, "seasons.html", "seasons", running=running, ended=ended, text=text)

    async def change(self, request: Request) -> Response:
        """Starts or ends a season."""
        who, fields, event = await self._frame.posted(request)
        action, name = text_of(fields, "action"), text_of(fields, "name").strip()[: text.LONGEST_NAME]
        with refusals_as_pages():
            if action == "end":
                await self._client.season_end(who, event)
                return self._frame.after(request, "/seasons", "ended")
            if action == "start" and name:
                await self._client.season_start(who, event, name)
                return self._frame.after(request, "/seasons", "started")
        raise RequestProblem(422, *text.NO_NAME)
