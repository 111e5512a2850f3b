"""Signed-in browsers: a member lists and signs out their own, an admin those of all members."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from bot.core.text import my_page as text
from bot.web.frame import Navigation
from bot.web.render import page
from bot.web.security import MemberCookies, RequestProblem, text_of
from bot.web.store import ChatStore
from service.wire import WebSession


class SessionPages:
    """The routes of the page."""

    def __init__(self, cookies: MemberCookies, store: ChatStore, navigation: Navigation, signed_out: str = "/") -> None:
        self._cookies = cookies
        self._store = store
        self._navigation = navigation
        self._signed_out = signed_out
        self.routes = (
            Route("/m/{member}/sessions", self.show),
            Route("/m/{member}/sessions", self.end, methods=["POST"]),
        )

    async def show(self, request: Request) -> Response:
        """Shows the member's own browsers, and to an admin those of others."""
        person = self._cookies.person(request)
        own = await self._store.list_sessions(person.id)
        everybody = await self._store.list_sessions(None) if person.admin else ()
        variables = self._navigation.variables(person, "me")
        html = page(
            "sessions.html",
            **variables,
            token=self._cookies.token(person.id),
            own=own,
            others=[session for session in everybody if session.person.id != person.id],
            here=self._here(request),
            text=text,
        )
        return HTMLResponse(html)

    async def end(self, request: Request) -> Response:
        """Signs one browser out, this one, or all of the member's others."""
        person = self._cookies.person(request)
        fields = await self._cookies.fields(request, person.id)
        wanted = text_of(fields, "session")
        if wanted in ("others", "this"):
            theirs = await self._store.list_sessions(person.id)
            here = self._here(request)
            ended = [one.id for one in theirs if (one.id in here) is (wanted == "this")]
            await self._store.end_sessions(ended, person.id)
        elif not wanted.isascii() or not wanted.isdecimal() or len(wanted) > 18:
            raise RequestProblem(422, *text.UNKNOWN)
        elif not await self._store.end_sessions([int(wanted)], None if person.admin else person.id):
            raise RequestProblem(404, *text.UNKNOWN)
        await self._cookies.load(request)
        is_out = person.id not in self._cookies.known(request)
        return RedirectResponse(self._signed_out if is_out else f"/m/{person.id}/sessions", 303)

    def _here(self, request: Request) -> dict[int, WebSession]:
        return {session.id: session for session in self._cookies.sessions(request).values()}
