"""What a bot needs beside its chat: a service that answers and takes its token, and links that lead somewhere."""

from __future__ import annotations

from collections.abc import AsyncIterator
from datetime import datetime

import httpx

from bot.doctor.findings import Finding, clock_finding
from bot.settings import BotSettings, LinkSettings
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable

PATIENCE_S = 5.0


async def examine_service(settings: BotSettings, client: ServiceClient, now: datetime) -> AsyncIterator[Finding]:
    """Whether the service can be reached, serves, and knows the token."""
    url = settings.service_url
    try:
        async with httpx.AsyncClient(timeout=PATIENCE_S) as http:
            answer = await http.get(f"{url.rstrip('/')}/readyz")
    except httpx.HTTPError as problem:
        said = f"service: it does not answer at {url} ({problem or type(problem).__name__})"
        yield Finding(False, said, "start it with `dailygrad serve`, and check DAILYGRAD_SERVICE_URL")
        return
    except httpx.InvalidURL:
        yield Finding(False, "service: DAILYGRAD_SERVICE_URL is no address", "such as http://service:8000")
        return
    if answer.is_success:
        yield Finding(True, f"service: it answers at {url}")
    else:
        yield Finding(False, f"service: it cannot serve ({answer.status_code})", _status(answer))
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
        return Finding(False, f"token: it could not be tried ({problem})", "the log of the service says why")
    return Finding(True, "token: the service takes it")


async def examine_links(settings: LinkSettings) -> Finding:
    """Whether there are links to the web editor, and whether anybody serves it where they lead."""
    if settings.links is None:
        note = "set DAILYGRAD_LINK_URL and DAILYGRAD_LINK_SECRET to offer the web editor"
        return Finding(True, "links: there are none", note)
    url = settings.link_url.rstrip("/")
    try:
        async with httpx.AsyncClient(timeout=PATIENCE_S) as http:
            answer = await http.get(f"{url}/healthz")
    except httpx.HTTPError as problem:
        # A public address is often not reached from inside, so this alone is nothing broken.
        note = f"from here nobody answers there ({problem or type(problem).__name__}): open it in a browser"
        return Finding(True, f"links: they lead to {url}", note)
    if not answer.is_success:
        cure = "have it lead to `dailygrad bot web`, or `bot web --links-only`"
        return Finding(False, f"links: {url} is not the web editor (it answers {answer.status_code})", cure)
    return Finding(True, f"links: the web editor answers at {url}")


def _status(answer: httpx.Response) -> str:
    try:
        said = answer.json()["status"]
    except (ValueError, KeyError, TypeError):
        return "is that address really the service's? check DAILYGRAD_SERVICE_URL"
    return str(said)
