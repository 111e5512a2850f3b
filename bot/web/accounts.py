"""Signing in with an account of an OpenID provider, in place of joining by name.

An attempt is kept in a signed cookie of the browser until the provider sends it back, so any process can complete it.
"""

from __future__ import annotations

import logging
from dataclasses import asdict
from datetime import timedelta
from typing import Any, Final
from urllib.parse import urlsplit

from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import Route

from bot.core.text import web_problems as text
from bot.core.text.refusals import plain_refusal
from bot.web.oidc import (
    Account,
    Attempt,
    Provider,
    ProviderRefused,
    ProviderUnreachable,
    TokenRefused,
    error_code,
)
from bot.web.render import page
from bot.web.security import MemberCookies, RequestProblem, text_of
from bot.web.store import ChatStore
from service.client import ServiceRefused
from service.process import Clock
from service.wire import NameRefused, WebPerson

LIFETIME: Final = timedelta(minutes=10)
"""How long a sign-in may take, at the provider and then on the page that asks for a name."""
SIGN_IN: Final = "/account/sign-in"
SIGNED_OUT: Final = "/account/signed-out"

_LOG = logging.getLogger(__name__)


class AccountPages:
    """The routes of signing in and out."""

    def __init__(
        self,
        provider: Provider,
        cookies: MemberCookies,
        store: ChatStore,
        clock: Clock,
        first_page: str,
    ) -> None:
        self._provider = provider
        self._cookies = cookies
        self._store = store
        self._clock = clock
        self._first_page = first_page
        self.routes = (
            Route(SIGN_IN, self.begin),
            Route(urlsplit(provider.redirect_uri).path, self.complete),
            Route("/account/join", self.join, methods=["POST"]),
            Route(SIGNED_OUT, self.show_signed_out),
        )

    async def begin(self, request: Request) -> Response:
        """Sends the browser to the provider."""
        # The provider sends it back to one address, where the cookie has to be.
        if request.url.netloc != urlsplit(self._provider.url).netloc and "here" not in request.query_params:
            return RedirectResponse(f"{self._provider.url}{SIGN_IN}?here=1", 303)
        attempt = Attempt.new()
        try:
            response = RedirectResponse(await self._provider.sign_in_url(attempt), 303)
        except ProviderUnreachable as problem:
            raise self._unreachable(problem) from None
        value = self._cookies.signed("sign-in", {**asdict(attempt), "until": self._until()})
        response.set_cookie(
            self._cookie(attempt.state),
            value,
            max_age=round(LIFETIME.total_seconds()),
            path=urlsplit(self._provider.redirect_uri).path,
            httponly=True,
            samesite="lax",
            secure=self._provider.url.startswith("https:"),
        )
        return response

    async def complete(self, request: Request) -> Response:
        """Takes the provider's answer. Each attempt is completed once, whether it succeeds or not."""
        state = request.query_params.get("state", "")
        try:
            response = await self._complete(request, state)
        except RequestProblem as problem:
            html = page("problem.html", title=problem.title, text=problem.detail, home="")
            response = HTMLResponse(html, problem.status_code)
        if self._cookie(state) in request.cookies:
            response.delete_cookie(self._cookie(state), path=urlsplit(self._provider.redirect_uri).path)
        return response

    async def _complete(self, request: Request, state: str) -> Response:
        kept = self._opened("sign-in", request.cookies.get(self._cookie(state), ""))
        attempt = Attempt(kept["state"], kept["nonce"], kept["verifier"])
        query = request.query_params
        if attempt.state != state:
            raise RequestProblem(400, *text.SIGN_IN_OVER)
        if query.get("iss", self._provider.issuer) != self._provider.issuer:
            raise self._unverified(TokenRefused("another provider sent it"))
        if "error" in query or not query.get("code"):
            error = error_code(query.get("error", "no_code"))
            raise RequestProblem(403, *text.sign_in_refused(self._provider.name, error))
        try:
            account = await self._provider.fetch_account(query["code"], attempt)
        except ProviderUnreachable as problem:
            raise self._unreachable(problem) from None
        except ProviderRefused as refused:
            raise RequestProblem(403, *text.sign_in_refused(self._provider.name, str(refused))) from None
        except TokenRefused as refused:
            raise self._unverified(refused) from None
        person = await self._store.find_account(account.digest)
        if person is not None:
            return await self._enter(request, person, account)
        # Who joined by name in this browser can keep what they have.
        mine = await self._store.without_account(self._cookies.known(request))
        if mine or not account.name:
            return self._asked(account, mine)
        return await self._join(request, account, account.name, None)

    async def join(self, request: Request) -> Response:
        """Joins under the name that the page asked for, or continues as a member who joined by name in this browser."""
        fields = await self._cookies.fields(request, "account")
        account = Account(**self._opened("account", text_of(fields, "account"), "digest", "name", "admin"))
        member = text_of(fields, "member") or None
        if member is not None and member not in self._cookies.known(request):
            raise RequestProblem(403, *text.SIGN_IN_OVER)
        return await self._join(request, account, text_of(fields, "name"), member)

    async def show_signed_out(self, request: Request) -> Response:
        """Says that this browser is signed out, and how to sign out of the provider."""
        try:
            elsewhere = await self._provider.sign_out_url()
        except ProviderUnreachable:
            elsewhere = None
        html = page("signed_out.html", provider=self._provider.name, elsewhere=elsewhere, again=SIGN_IN)
        return HTMLResponse(html)

    async def _join(self, request: Request, account: Account, name: str, member: str | None) -> Response:
        try:
            person = await self._store.join_with_account(account.digest, name, member)
        except ServiceRefused as refused:
            if not isinstance(refused.refusal, NameRefused):
                raise
            mine = await self._store.without_account(self._cookies.known(request))
            return self._asked(account, mine, name, plain_refusal(refused.refusal)[1])
        if person is None:
            raise RequestProblem(409, *text.HAS_ANOTHER)
        return await self._enter(request, person, account)

    async def _enter(self, request: Request, person: WebPerson, account: Account) -> Response:
        if account.admin is not None and account.admin != person.admin:
            await self._store.make_admin(person.id, account.admin)
        response = RedirectResponse(f"/m/{person.id}/{self._first_page}", 303)
        await self._cookies.grant(request, response, person)
        return response

    def _asked(
        self, account: Account, mine: tuple[WebPerson, ...], name: str | None = None, error: str = ""
    ) -> Response:
        html = page(
            "account.html",
            provider=self._provider.name,
            account=self._cookies.signed("account", {**asdict(account), "until": self._until()}),
            token=self._cookies.token("account"),
            mine=mine,
            name=account.name if name is None else name,
            error=error,
        )
        return HTMLResponse(html, 422 if error else 200)

    def _opened(self, purpose: str, value: str, *names: str) -> dict[str, Any]:
        """Returns what was signed for that purpose, if it is not too old."""
        found = self._cookies.opened(purpose, value)
        if not isinstance(found, dict) or not self._clock().timestamp() < found["until"]:
            raise RequestProblem(400, *text.SIGN_IN_OVER)
        return {name: found[name] for name in names} if names else found

    def _until(self) -> float:
        return (self._clock() + LIFETIME).timestamp()

    def _cookie(self, state: str) -> str:
        # A name of its own for each attempt, so that two tabs do not disturb each other.
        return f"{self._cookies.cookie}_{state[:16]}"

    def _unreachable(self, problem: ProviderUnreachable) -> RequestProblem:
        _LOG.error("the OpenID provider gives no usable answer", extra={"fields": {"why": str(problem)}})
        return RequestProblem(502, *text.provider_unreachable(self._provider.name))

    def _unverified(self, refused: TokenRefused) -> RequestProblem:
        _LOG.error("a sign-in was refused", extra={"fields": {"why": str(refused)}})
        return RequestProblem(403, *text.sign_in_unverified(self._provider.name, str(refused)))
