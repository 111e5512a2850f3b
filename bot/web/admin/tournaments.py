"""The page of tournaments: plans one in the channel of the web chat, names its captains and cancels it."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.text import tournament_pages as text
from bot.core.text.admin_pages import Done
from bot.core.text.refusals import refusal_words
from bot.core.text.web_problems import NO_SUCH_BUTTON
from bot.web.admin.frame import AdminFrame, number_of
from bot.web.chat import WHERE, who_of
from bot.web.security import RequestProblem, refusals_as_pages, text_of
from bot.web.tournament import find_tournament
from service.client import ServiceRefused
from service.wire import TournamentPlan, Who, invalid_input

PATH = "/m/{member}/admin/tournaments"
MOST_TEXT = 200
"""Longest field of the forms, characters."""
MOST_SCHEDULES = 40
"""Schedules that are read from the form; the service takes fewer."""


class TournamentsPage:
    """The routes of the page."""

    def __init__(self, frame: AdminFrame) -> None:
        self._frame = frame
        self._client = frame.client
        self.routes = (Route(PATH, self.show), Route(PATH, self.change, methods=["POST"]))

    async def show(self, request: Request) -> Response:
        """Shows the tournament that is planned or running, or a form that plans one."""
        return await self._page(request, who_of(self._frame.admin(request)))

    async def change(self, request: Request) -> Response:
        """Plans or cancels a tournament, or names a captain. A refusal leaves what was typed in the form."""
        who, fields, event = await self._frame.posted(request)
        with refusals_as_pages():
            try:
                return self._frame.after(request, "/tournaments", await self._act(who, fields, event))
            except ValidationError as error:
                problem = text.refused_field(invalid_input(error.errors()))
            except ServiceRefused as refused:
                problem = refusal_words(refused.refusal)[1]
        return await self._page(request, who, problem, fields)

    async def _act(self, who: Who, fields: FormData, event: str) -> Done:
        match text_of(fields, "action"):
            case "plan":
                await self._client.tournament_plan(who, event, WHERE, _plan(fields))
                return "planned"
            case "captain":
                name = text_of(fields, "captain").strip()[:MOST_TEXT]
                if not name:
                    raise RequestProblem(422, *text.NO_CAPTAIN)
                await self._client.tournament_captain(who, event, name)
                return "captain"
            case "cancel":
                await self._client.tournament_cancel(who, event, number_of(text_of(fields, "tournament")))
                return "ended without result"
        raise RequestProblem(422, *NO_SUCH_BUTTON)

    async def _page(self, request: Request, who: Who, problem: str = "", fields: FormData | None = None) -> Response:
        with refusals_as_pages():
            newest = await find_tournament(self._client, who)
            schedules = await self._client.schedule_list(who)
        return self._frame.show(
            request,
            "tournaments.html",
            "tournaments",
            422 if problem else 200,
            live=newest if newest is not None and newest.state in ("joining", "running") else None,
            newest=newest,
            schedules=schedules,
            typed=_typed(fields) if fields is not None and "title" in fields else _defaults(),
            captain="" if fields is None else text_of(fields, "captain")[:MOST_TEXT],
            problem=problem,
            text=text,
        )


def _plan(fields: FormData) -> TournamentPlan:
    """Returns the plan that the form describes. Raises ValidationError."""
    typed = _typed(fields)
    return TournamentPlan.model_validate(
        {name: value for name, value in typed.items() if value != "" or name == "title"}
    )


def _typed(fields: FormData) -> dict[str, Any]:
    """Returns the plan as it was typed, by name."""
    typed: dict[str, Any] = {name: text_of(fields, name).strip()[:MOST_TEXT] for name in text.FIELDS}
    schedules = tuple(str(value)[:MOST_TEXT] for value in fields.getlist("schedules")[:MOST_SCHEDULES])
    return typed | {"late": "late" in fields, "schedules": schedules}


def _defaults() -> dict[str, Any]:
    """Returns a plan with nothing but defaults, for the form."""
    plain = TournamentPlan.model_construct(title="").model_dump(mode="json")
    return {name: "" if value is None else value for name, value in plain.items()}
