"""The HTTP server: Slack's signed requests, the pages of an installation, and `/healthz`."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow

from bot.platforms.slack.manifest import EVENTS_PATH
from bot.platforms.slack.oauth import INSTALL_PATH, REDIRECT_PATH

Health = Callable[[], Awaitable[tuple[bool, dict[str, Any]]]]
"""Whether all is well, and what there is to know."""

# A submitted view holds at most a hundred fields of 3,000 characters, each in up to twelve bytes of a form's encoding.
MOST = 4 * 1024 * 1024
_LAST_REQUESTS_S = 5.0
NOT_SLACKS = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""What becomes of a stranger's body: Bolt takes it apart before it looks whether Slack signed it."""


def routes(app: AsyncApp | None, flow: AsyncOAuthFlow | None, health: Health) -> web.Application:
    """The pages. `app` is None in Socket Mode: then nothing is taken from whoever posts here."""
    pages = web.Application(client_max_size=MOST)

    async def healthz(request: web.Request) -> web.Response:
        well, said = await health()
        return web.json_response({"ok": well, **said}, status=200 if well else 503)

    pages.router.add_get("/healthz", healthz)
    if app is not None:
        pages.router.add_post(EVENTS_PATH, _events(app))
    if flow is not None:
        pages.router.add_get(INSTALL_PATH, _flowing(flow.handle_installation))
        pages.router.add_get(REDIRECT_PATH, _flowing(flow.handle_callback))
    return pages


@asynccontextmanager
async def listening(pages: web.Application, host: str, port: int) -> AsyncIterator[int]:
    """Serve until the block ends, finishing the requests in hand; gives the port."""
    runner = web.AppRunner(pages, access_log=None, handle_signals=False, shutdown_timeout=_LAST_REQUESTS_S)
    await runner.setup()
    try:
        await web.TCPSite(runner, host, port).start()
        yield int(runner.addresses[0][1])
    finally:
        await runner.cleanup()


def _events(app: AsyncApp) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def events(request: web.Request) -> web.StreamResponse:
        try:
            asked = await to_bolt_request(request)
        except NOT_SLACKS:
            raise web.HTTPBadRequest(text="the body is none that Slack sends") from None
        return await to_aiohttp_response(await app.async_dispatch(asked))

    return events


def _flowing(step: Callable[..., Awaitable[Any]]) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def page(request: web.Request) -> web.StreamResponse:
        return await to_aiohttp_response(await step(await to_bolt_request(request)))

    return page
