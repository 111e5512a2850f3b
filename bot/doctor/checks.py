"""Results of checks, and the checks that every chat shares: the clock and the scheduled channels. Prints nothing."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import datetime
from email.utils import parsedate_to_datetime

import httpx

from bot.settings import BotSettings, LinkSettings, OidcSettings
from bot.web.oidc import Provider, ProviderUnreachable
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import PostingChannel

MOST_SKEW_S = 60.0
"""Largest clock difference that is not reported, seconds: signatures and tokens expire by the chat's clock."""


@dataclass(frozen=True, slots=True)
class CheckResult:
    """One line of the report. `cure` is the fix for a failed check, or a note on a passed one."""

    good: bool
    text: str
    cure: str = ""


class ChatUnreachable(Exception):
    """The chat gave no usable answer; the finding says why."""

    def __init__(self, finding: CheckResult) -> None:
        super().__init__(finding.text)
        self.finding = finding


def clock_finding(date: str | None, now: datetime, whose: str = "the chat") -> CheckResult | None:
    """Compares our clock with the `Date` header of a response; None if the header is missing or unreadable."""
    try:
        theirs = parsedate_to_datetime(date or "")
    except ValueError:
        return None
    if theirs.tzinfo is None:
        return None
    skew = (now - theirs).total_seconds()
    if abs(skew) <= MOST_SKEW_S:
        return CheckResult(True, f"clock: within {MOST_SKEW_S:.0f} s of {whose}'s clock")
    side = "ahead of" if skew > 0 else "behind"
    problem = f"clock: this machine is {abs(skew):,.0f} s {side} {whose}"
    return CheckResult(False, problem, "synchronize it by NTP, for example: timedatectl set-ntp true")


async def places_of(service: ServiceClient | None, platform: str) -> tuple[tuple[PostingChannel, ...], CheckResult]:
    """Returns the scheduled channels, and a finding that says whether the service could list them."""
    if service is None:
        note = "to check them, set DAILYGRAD_SERVICE_URL and DAILYGRAD_SERVICE_TOKEN as for the bot"
        return (), CheckResult(True, "service: not configured, so scheduled channels were not checked", note)
    try:
        places = await service.outbox_places(platform)
    except ServiceUnavailable as error:
        cure = "start it with `dailygrad serve`, and check DAILYGRAD_SERVICE_URL"
        return (), CheckResult(False, f"service: no answer ({error})", cure)
    except ServiceRefused as error:
        return (), CheckResult(False, f"service: {error}", "check DAILYGRAD_SERVICE_TOKEN")
    if not places:
        cure = "type /quiz-admin setup in a channel to create the first one"
        return (), CheckResult(True, "schedules: none yet", cure)
    return places, CheckResult(True, f"schedules: {len(places)} channel{'s' * (len(places) != 1)}")


def place_name(place: PostingChannel) -> str:
    """Returns the name of a channel for the report."""
    return f"#{place.name.removeprefix('#')}" if place.name else f"channel {place.channel}"


# Checks that every bot needs: the service and its token, and links.

TIMEOUT_S = 5.0


async def examine_service(settings: BotSettings, client: ServiceClient, now: datetime) -> AsyncIterator[CheckResult]:
    """Checks that the service answers, is ready, and accepts the token."""
    url = settings.service_url
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT_S) as http:
            answer = await http.get(f"{url.rstrip('/')}/readyz")
    except httpx.HTTPError as error:
        problem = f"service: no answer at {url} ({str(error) or type(error).__name__})"
        yield CheckResult(False, problem, "start it with `dailygrad serve`, and check DAILYGRAD_SERVICE_URL")
        return
    except httpx.InvalidURL:
        yield CheckResult(
            False, "service: DAILYGRAD_SERVICE_URL is not a URL", "set it to one such as http://service:8000"
        )
        return
    if answer.is_success:
        yield CheckResult(True, f"service: ready at {url}")
    else:
        yield CheckResult(False, f"service: not ready ({answer.status_code})", _status(answer))
    clock = clock_finding(answer.headers.get("date"), now, "the service")
    if clock is not None:
        yield clock
    yield await _token(client)


async def _token(client: ServiceClient) -> CheckResult:
    try:
        await client.outbox_places("web")
    except ServiceRefused as refused:
        cure = "set DAILYGRAD_SERVICE_TOKEN, or its file, to the one the service was started with"
        return CheckResult(False, f"token: {refused}", cure)
    except ServiceUnavailable as problem:
        return CheckResult(False, f"token: could not be checked ({problem})", "see the service's log")
    return CheckResult(True, "token: accepted by the service")


async def examine_links(settings: LinkSettings) -> CheckResult:
    """Checks that links to the web editor are configured and that the editor answers there."""
    if settings.links is None:
        note = "set DAILYGRAD_LINK_URL and DAILYGRAD_LINK_SECRET to offer the web editor"
        return CheckResult(True, "links: none", note)
    url = settings.link_url.rstrip("/")
    try:
        async with httpx.AsyncClient(timeout=TIMEOUT_S) as http:
            answer = await http.get(f"{url}/healthz")
    except httpx.HTTPError as problem:
        # A public address is often unreachable from inside, so this alone is not a failure.
        note = f"no answer from here ({str(problem) or type(problem).__name__}); open it in a browser to check"
        return CheckResult(True, f"links: go to {url}", note)
    if not answer.is_success:
        cure = "point it at `dailygrad bot web`, or `dailygrad bot web --links-only`"
        return CheckResult(False, f"links: {url} is not the web editor (status {answer.status_code})", cure)
    return CheckResult(True, f"links: the web editor answers at {url}")


async def examine_oidc(settings: OidcSettings, now: datetime) -> CheckResult:
    """Checks that the OpenID provider answers as the settings name it."""
    try:
        provider = Provider(settings, lambda: now)
        found = await provider.describe()
        keys = await provider.signing_keys(found)
    except ModuleNotFoundError as missing:
        return CheckResult(False, f"sign-in: {missing.name} is not installed", "pip install 'dailygrad[oidc]'")
    except ProviderUnreachable as problem:
        return CheckResult(
            False, f"sign-in: {problem}", "check DAILYGRAD_OIDC_ISSUER, and that this machine reaches it"
        )
    methods = found.code_challenge_methods_supported
    if methods is not None and "S256" not in methods:
        cure = "allow PKCE with S256 for this application at the provider"
        return CheckResult(False, f"sign-in: {provider.name} does not accept PKCE with S256", cure)
    note = f"register {settings.redirect_uri} there as the redirect URI"
    return CheckResult(True, f"sign-in: {provider.name} answers, with {len(keys)} keys", note)


def _status(answer: httpx.Response) -> str:
    try:
        status = answer.json()["status"]
    except (ValueError, KeyError, TypeError):
        return "this may not be the service: check DAILYGRAD_SERVICE_URL"
    return str(status)
