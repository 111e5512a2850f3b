"""The page of seasons: starts and ends them, and shows the boards of those that ended."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.text import boards as text
from bot.core.text.web_problems import NO_SUCH_BUTTON
from bot.web.admin.frame import AdminFrame, problem_words
from bot.web.chat import who_of
from bot.web.security import RequestProblem, refusals_as_pages, text_of
from service.client import ServiceRefused
from service.wire import Who

PATH = "/m/{member}/admin/seasons"


class SeasonsPage:
    """The routes of the page."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self._client = frame.client
        self.routes = (Route(PATH, self.show), Route(PATH, self.change, methods=["POST"]))

    async def show(self, request: Request) -> Response:
        """Shows the running season and those before it."""
        return await self._page(request, who_of(self._frame.admin(request)))

    async def _page(self, request: Request, who: Who, problem: str = "", name: str = "") -> Response:
        with refusals_as_pages():
            seasons = await self._client.season_list(who)
        running = next((one for one in seasons if one.ends_at is None), None)
        ended = [one for one in seasons if one is not running]
        return self._frame.show(
            request,
            "seasons.html",
            "seasons",
            422 if problem else 200,
            running=running,
            ended=ended,
            problem=problem,
            name=name,
            text=text,
        )

    async def change(self, request: Request) -> Response:
        """Starts or ends a season. A name that is refused stays in the form."""
        who, fields, event = await self._frame.posted(request)
        action, name = text_of(fields, "action"), text_of(fields, "name").strip()
        with refusals_as_pages():
            if action == "end":
                await self._client.season_end(who, event)
                return self._frame.after(request, "/seasons", "ended")
        if action != "start":
            raise RequestProblem(422, *NO_SUCH_BUTTON)
        if not name:
            return await self._page(request, who, text.NO_NAME)
        try:
            await self._client.season_start(who, event, name)
        except ServiceRefused as refused:
            return await self._page(request, who, problem_words(refused), name)
        return self._frame.after(request, "/seasons", "started")
