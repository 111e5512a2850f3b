"""Checks of what every bot needs: a service that answers and accepts its token, and links that work."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

import httpx

from bot.doctor.findings import Finding, clock_finding
from bot.settings import BotSettings, LinkSettings
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable

PATIENCE_S = 5.0


async def examine_service(settings: BotSettings, client: ServiceClient, now: datetime) -> AsyncIterator[Finding]:
    """Checks that the service answers, is ready, and accepts the token."""
    url = settings.service_url
    try:
        async with httpx.AsyncClient(timeout=PATIENCE_S) as http:
            answer = await http.get(f"{url.rstrip('/')}/readyz")
    except httpx.HTTPError as problem:
        said = f"service: no answer at {url} ({problem or type(problem).__name__})"
        yield Finding(False, said, "start it with `dailygrad serve`, and check DAILYGRAD_SERVICE_URL")
        return
    except httpx.InvalidURL:
        yield Finding(False, "service: DAILYGRAD_SERVICE_URL is not a URL", "set it to one such as http://service:8000")
        return
    if answer.is_success:
        yield Finding(True, f"service: ready at {url}")
    else:
        yield Finding(False, f"service: not ready ({answer.status_code})", _status(answer))
    clock = clock_finding(answer.headers.get("date"), now, "the service")
    if clock is not None:
        yield clock
    yield await _token(client)


async def _token(client: ServiceClient) -> Finding:
    try:
        await client.outbox_places("web")
    except ServiceRefused as refused:
        cure = "set DAILYGRAD_SERVICE_TOKEN, or its file, to the one the service was started with"
        return Finding(False, f"token: {refused.failure.message}", cure)
    except ServiceUnavailable as problem:
        return Finding(False, f"token: could not be checked ({problem})", "see the service's log")
    return Finding(True, "token: accepted by the service")


async def examine_links(settings: LinkSettings) -> Finding:
    """Checks that links to the web editor are configured and that the editor answers there."""
    if settings.links is None:
        note = "set DAILYGRAD_LINK_URL and DAILYGRAD_LINK_SECRET to offer the web editor"
        return Finding(True, "links: none", note)
    url = settings.link_url.rstrip("/")
    try:
        async with httpx.AsyncClient(timeout=PATIENCE_S) as http:
            answer = await http.get(f"{url}/healthz")
    except httpx.HTTPError as problem:
        # A public address is often unreachable from inside, so this alone is not a failure.
        note = f"no answer from here ({problem or type(problem).__name__}); open it in a browser to check"
        return Finding(True, f"links: go to {url}", note)
    if not answer.is_success:
        cure = "point it at `dailygrad bot web`, or `dailygrad bot web --links-only`"
        return Finding(False, f"links: {url} is not the web editor (status {answer.status_code})", cure)
    return Finding(True, f"links: the web editor answers at {url}")


def _status(answer: httpx.Response) -> str:
    try:
        said = answer.json()["status"]
    except (ValueError, KeyError, TypeError):
        return "this may not be the service: check DAILYGRAD_SERVICE_URL"
    return str(said)
