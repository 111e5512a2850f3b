"""Sign-in links: how a member gets into another browser, or back in after their cookies were deleted."""

from __future__ import annotations

from datetime import timedelta
from typing import Final

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from bot.core.text.web_problems import SIGN_IN_LINK_USED
from bot.web.frame import Navigation
from bot.web.render import page
from bot.web.security import MemberCookies, RequestProblem
from bot.web.store import ChatStore
from service.wire import WebPerson

LIFETIME: Final = timedelta(minutes=15)
"""How long a link works that a member makes for themselves."""


class SignInPages:
    """The routes that make and use sign-in links. Without `own`, only the operator makes them."""

    def __init__(
        self, cookies: MemberCookies, store: ChatStore, navigation: Navigation, first_page: str, *, own: bool = True
    ) -> None:
        self._cookies = cookies
        self._store = store
        self._navigation = navigation
        self._first_page = first_page
        self.routes = (
            *([Route("/m/{member}/sign-in", self.make, methods=["POST"])] if own else ()),
            Route("/sign-in/{code}", self.ask),
            Route("/sign-in/{code}", self.use, methods=["POST"]),
        )

    async def make(self, request: Request) -> Response:
        """Shows a new link for the member's own use."""
        person = self._cookies.person(request)
        await self._cookies.fields(request, person.id)
        code = await self._store.make_sign_in(person.id, LIFETIME)
        link = request.url.replace(path=f"/sign-in/{code}", query="")
        minutes = round(LIFETIME.total_seconds() / 60)
        variables = self._navigation.variables(person, "me")
        return HTMLResponse(page("sign_in_link.html", **variables, link=str(link), minutes=minutes))

    async def ask(self, request: Request) -> Response:
        """Asks whether to sign in. Changes nothing, because chats and mail programs open links to preview them."""
        person = await self._store.find_sign_in(request.path_params["code"])
        return HTMLResponse(page("sign_in.html", person=self._known(person), token=self._cookies.token("sign in")))

    async def use(self, request: Request) -> Response:
        """Signs the browser in, once per link."""
        await self._cookies.fields(request, "sign in")
        person = self._known(await self._store.use_sign_in(request.path_params["code"]))
        response = RedirectResponse(f"/m/{person.id}/{self._first_page}", 303)
        await self._cookies.grant(request, response, person)
        return response

    @staticmethod
    def _known(person: WebPerson | None) -> WebPerson:
        if person is None:
            raise RequestProblem(404, *SIGN_IN_LINK_USED)
        return person
