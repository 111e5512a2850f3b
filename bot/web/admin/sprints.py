"""The page of sprints: plans, starts, stops and cancels them in the channel of the web chat."""

from __future__ import annotations

from datetime import time

from pydantic import ValidationError
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.competition_commands import SPRINT_QUESTIONS, SPRINT_SECONDS
from bot.core.text import sprints as text
from bot.core.text.web_problems import NO_SUCH_BUTTON
from bot.web.admin.frame import AdminFrame, number_of, problem_words
from bot.web.chat import WHERE, who_of
from bot.web.security import RequestProblem, refusals_as_pages, text_of
from service.client import ServiceRefused
from service.wire import PlannedSprint, Who

PATH = "/m/{member}/admin/sprints"
MOST_TEXT = 200
"""Longest field of the form, characters."""


class SprintsPage:
    """The routes of the page."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self._client = frame.client
        self.routes = (Route(PATH, self.show), Route(PATH, self.change, methods=["POST"]))

    async def show(self, request: Request) -> Response:
        """Shows the sprint that runs, and those that are planned."""
        typed = dict.fromkeys(PlannedSprint.model_fields, "")
        typed |= {"questions": str(SPRINT_QUESTIONS), "seconds": str(SPRINT_SECONDS)}
        return await self._page(request, who_of(self._frame.admin(request)), typed)

    async def _page(self, request: Request, who: Who, typed: dict[str, str], problem: str = "") -> Response:
        with refusals_as_pages():
            found = await self._client.sprints(who)
        running = found.live if found.live is not None and found.live.state != "over" else None
        return self._frame.show(
            request,
            "sprints.html",
            "sprints",
            422 if problem else 200,
            running=running,
            planned=found.planned,
            typed=typed,
            problem=problem,
            text=text,
        )

    async def change(self, request: Request) -> Response:
        """Plans, starts, stops or cancels a sprint. A refused plan stays in the form."""
        who, fields, event = await self._frame.posted(request)
        action = text_of(fields, "action")
        with refusals_as_pages():
            if action == "cancel":
                await self._client.sprint_cancel(who, event, WHERE, number_of(text_of(fields, "sprint")))
                return self._frame.after(request, "/sprints", "cancelled")
            if action == "stop":
                await self._client.sprint_stop(who, event, WHERE)
                return self._frame.after(request, "/sprints", "stopped")
        if action not in ("start", "plan"):
            raise RequestProblem(422, *NO_SUCH_BUTTON)
        typed = {name: text_of(fields, name).strip()[:MOST_TEXT] for name in PlannedSprint.model_fields}
        given = {name: value for name, value in typed.items() if value}
        try:
            if action == "plan":
                await self._client.sprint_plan(who, event, WHERE, PlannedSprint.model_validate(given))
                return self._frame.after(request, "/sprints", "planned")
            wanted = PlannedSprint.model_validate({**given, "at": time(), "day": None})  # the time is not used
            await self._client.sprint_start(who, event, WHERE, wanted.questions, wanted.seconds, wanted.topic)
            return self._frame.after(request, "/sprints", "begun")
        except ValidationError as error:
            problem = text.not_planned(str(error.errors()[0]["loc"][0]))
        except ServiceRefused as refused:
            problem = problem_words(refused)
        return await self._page(request, who, typed, problem)
