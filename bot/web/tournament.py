"""The page of a tournament: teams, table or bracket and days. With scripts it is live, by server-sent events."""

from __future__ import annotations

from collections.abc import AsyncGenerator

from sse_starlette import ServerSentEvent
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bot.core.actions import JoinTournament, LeaveTournament, encode
from bot.core.text import tournaments as text
from bot.core.text.web_problems import NO_SUCH_TOURNAMENT
from bot.web.chat import who_of
from bot.web.frame import MemberFrame
from bot.web.render import page
from bot.web.security import Pause, RequestProblem, cleaned, refusals_as_pages
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import Named, NotFound, TournamentView, WebPerson, Who

PACE_S = 15.0
"""Seconds between two looks at the tournament, of each open page."""
LONGEST_TITLE = 60
"""Longest title that the query may name, characters."""
FIRST_STRONG_ISOLATE, POP_ISOLATE = "\u2068", "\u2069"


class TournamentPage:
    """The routes of the page and of its events."""

    def __init__(self, frame: MemberFrame) -> None:
        self._frame = frame
        self._cookies = frame.cookies
        self._client = frame.client
        self.routes = (
            Route("/m/{member}/tournament", self.show),
            Route("/m/{member}/tournament/events", self.events),
        )

    async def show(self, request: Request) -> Response:
        """Shows the newest tournament, or the one that the query names. Changes nothing."""
        person = self._cookies.person(request)
        title = _title(request)
        with refusals_as_pages(404):
            view = await find_tournament(self._client, who_of(person), title)
        return self._frame.show(
            person,
            "tournament.html",
            "board",
            view=view,
            buttons=() if view is None else _buttons(view),
            live=view is not None and view.state in ("joining", "running"),
            text=text,
        )

    async def events(self, request: Request) -> Response:
        """Streams the state whenever it changes, until the tournament is over."""
        person = self._cookies.person(request)
        pause = self._cookies.pause_while_signed_in(request, self._frame.pause)
        return self._frame.streams.respond(person.id, self._states(person, _title(request), pause))

    async def _states(self, person: WebPerson, title: str, pause: Pause) -> AsyncGenerator[ServerSentEvent, None]:
        shown, open_ = None, True
        while open_:
            try:
                view = await find_tournament(self._client, who_of(person), title)
            except (ServiceRefused, ServiceUnavailable):
                view = None  # the next look may find it
            if view is not None:
                html = state_html(view)
                if html != shown:
                    shown = html
                    yield ServerSentEvent(data=html)
                if view.state not in ("joining", "running"):
                    return
            open_ = await pause(PACE_S)


async def find_tournament(client: ServiceClient, who: Who, title: str = "") -> TournamentView | None:
    """Returns the tournament with that title, by default the newest, for pages; None if there has been none."""
    try:
        return isolate_names(await client.tournament(who, title))
    except ServiceRefused as refused:
        if title or not isinstance(refused.refusal, NotFound):
            raise
        return None


def isolate_names(view: TournamentView) -> TournamentView:
    """Returns the view with each name isolated, so that none changes the direction of what is beside it.

    Sentences of several names are text, in which the isolates of Unicode do what `<bdi>` does.
    """

    def isolated(person: Named) -> Named:
        return Named(name=f"{FIRST_STRONG_ISOLATE}{person.name}{POP_ISOLATE}")

    teams = tuple(
        team.model_copy(
            update={
                "captain": team.captain and isolated(team.captain),
                "named": tuple(map(isolated, team.named)),
            }
        )
        for team in view.teams
    )
    return view.model_copy(update={"teams": teams})


def state_html(view: TournamentView) -> str:
    """Renders the part of the page that changes."""
    return page("tournament_state.html", view=view, text=text)


def _buttons(view: TournamentView) -> tuple[tuple[str, str], ...]:
    """Returns label and action of what the reader can do."""
    if view.takes_part and view.state in ("joining", "running"):
        return (("Leave", encode(LeaveTournament())),)
    if text.can_join(view):
        return (("Join", encode(JoinTournament(str(view.id)))),)
    return ()


def _title(request: Request) -> str:
    title = cleaned(request.query_params.get("name", ""))
    if len(title) > LONGEST_TITLE:
        raise RequestProblem(404, *NO_SUCH_TOURNAMENT)
    return title
