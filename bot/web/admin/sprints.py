"""The page of sprints: plans, starts, stops and cancels them in the channel of the web chat."""

from __future__ import annotations

from datetime import time

from pydantic import ValidationError
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.competition_commands import SPRINT_QUESTIONS, SPRINT_SECONDS
from bot.core.text import sprints as text
from bot.core.text.web_problems import NO_SUCH_BUTTON
from bot.web.admin.frame import AdminFrame, number_of
from bot.web.chat import WHERE, who_of
from bot.web.security import RequestProblem, refusals_as_pages, text_of
from service.wire import PlannedSprint

PATH = "/m/{member}/admin/sprints"


class SprintsPage:
    """The routes of the page."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self._client = frame.client
        self.routes = (Route(PATH, self.show), Route(PATH, self.change, methods=["POST"]))

    async def show(self, request: Request) -> Response:
        """Shows the sprint that runs, and those that are planned."""
        who = who_of(self._frame.admin(request))
        with refusals_as_pages():
            found = await self._client.sprints(who)
        running = found.live if found.live is not None and found.live.state != "over" else None
        return self._frame.show(
            request,
            "sprints.html",
            "sprints",
            running=running,
            planned=found.planned,
            questions=SPRINT_QUESTIONS,
            seconds=SPRINT_SECONDS,
            text=text,
        )

    async def change(self, request: Request) -> Response:
        """Plans, starts, stops or cancels a sprint."""
        who, fields, event = await self._frame.posted(request)
        action = text_of(fields, "action")
        with refusals_as_pages():
            if action == "cancel":
                await self._client.sprint_cancel(who, event, WHERE, number_of(text_of(fields, "sprint")))
                return self._frame.after(request, "/sprints", "cancelled")
            if action == "stop":
                await self._client.sprint_stop(who, event, WHERE)
                return self._frame.after(request, "/sprints", "stopped")
            if action == "start":
                wanted = _read(fields, at=time())  # the time is not used
                await self._client.sprint_start(who, event, WHERE, wanted.questions, wanted.seconds, wanted.topic)
                return self._frame.after(request, "/sprints", "begun")
            if action == "plan":
                await self._client.sprint_plan(who, event, WHERE, _read(fields))
                return self._frame.after(request, "/sprints", "planned")
        raise RequestProblem(422, *NO_SUCH_BUTTON)


def _read(fields: FormData, **given: object) -> PlannedSprint:
    """Returns what the form says. Raises RequestProblem if it says too little."""
    typed = {name: text_of(fields, name).strip() for name in PlannedSprint.model_fields}
    try:
        return PlannedSprint.model_validate({**{name: value for name, value in typed.items() if value}, **given})
    except ValidationError:
        raise RequestProblem(422, *text.NOT_PLANNED) from None
