"""The Slack process: puts its parts together, runs them until it is asked to stop, and drains."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from time import perf_counter
from typing import Any

from aiohttp import ClientError, web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp, AsyncBoltContext, AsyncBoltRequest
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_bolt.response import BoltResponse
from slack_sdk.errors import SlackApiError

from bot.core.dispatcher import Dispatcher
from bot.core.events import Added
from bot.core.journal import Journal
from bot.core.links import Links
from bot.core.metrics import ACKNOWLEDGED, LATE, REPEATED
from bot.core.quiz import Quiz
from bot.pictures import Pictures
from bot.slack.auth import (
    INSTALL_PATH,
    REDIRECT_PATH,
    Authorized,
    InstallationTokens,
    Rotation,
    TokenWrong,
    oauth_flow,
    the_only,
)
from bot.slack.handler import SlackHandler
from bot.slack.manifest import EVENTS_PATH
from bot.slack.payloads import installed_in, read_payload, revoked
from bot.slack.people import FileFetcher, People
from bot.slack.platform import SlackPlatform
from bot.slack.rate_limit import Pacer
from bot.slack.replies import Replies
from bot.slack.route import Arrival, Route
from bot.slack.settings import Mode, SlackSettings
from bot.slack.socket import WatchedSocket
from bot.slack.web_api import DEAD_TOKEN, SlackWeb, code_of
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import Installation, Where, Who

# Where Slack's events come in: written to the journal in a middleware, then acknowledged, then handed to the desk.


_ANY = re.compile("")
_TOO_LATE = timedelta(seconds=3)
"""By then a trigger opens nothing any more."""

Body = dict[str, Any]
Next = Callable[[], Awaitable[BoltResponse]]
Ack = Callable[..., Awaitable[BoltResponse]]


class SlackReceiver:
    """The Bolt app, and when the last event came in."""

    def __init__(
        self,
        web: SlackWeb,
        tokens: InstallationTokens,
        journal: Journal,
        desk: SlackHandler,
        clock: Callable[[], datetime],
        signing_secret: str = "",
    ) -> None:
        self._tokens = tokens
        self._journal = journal
        self._desk = desk
        self._clock = clock
        self.last: datetime | None = None
        self.app = AsyncApp(
            name="dailygrad",
            client=web.client(),
            signing_secret=signing_secret,
            # After the signature is checked, before anybody else looks: Bolt acknowledges events before any listener.
            before_authorize=self.take,
            authorize=Authorized(tokens),
        )
        self.app.command(_ANY)(self._happened)
        self.app.action(_ANY)(self._happened)
        self.app.event(_ANY)(self._event)
        self.app.view(_ANY)(self._submitted)

    async def take(self, req: AsyncBoltRequest, next_: Next) -> BoltResponse:
        """Write down what is to be answered. A second delivery of it is acknowledged and dropped.

        Where it cannot be written it is not acknowledged either, and Slack delivers it again.
        """
        self.last = now = self._clock()
        req.context["begun"] = perf_counter()
        arrival = read_payload(req, now)
        if arrival is not None:
            if not self._journal.take(arrival.event, arrival.route.as_dict()):
                _LOG.info("%s came again", arrival.event.id)
                REPEATED.labels("slack").inc()
                return BoltResponse(status=200, body="")
            req.context["arrival"] = arrival
            if now - arrival.event.at > _TOO_LATE:
                LATE.labels("slack").inc()
        return await next_()

    async def _happened(self, ack: Ack, context: AsyncBoltContext) -> None:
        await ack()
        _acknowledged(context)
        if (arrival := context.get("arrival")) is not None:
            self._desk.begin(arrival)

    async def _submitted(self, ack: Ack, context: AsyncBoltContext, view: Body) -> None:
        async def acknowledge(**said: Any) -> BoltResponse:
            answer = await ack(**said)
            _acknowledged(context)
            return answer

        self._desk.submit(context["arrival"], view, acknowledge)

    async def _event(self, ack: Ack, context: AsyncBoltContext, body: Body) -> None:
        await self._happened(ack, context)
        if revoked(body):
            team, enterprise = installed_in(context, body)
            _LOG.info("the app was removed from %s", team)
            try:
                await self._tokens.forget(team, enterprise)
            except (ServiceUnavailable, ServiceRefused) as error:
                # Nothing is lost by it: the token is dead, and Slack says so when it is used.
                _LOG.warning("the installation of %s could not be forgotten: %s", team, error)


def _acknowledged(context: AsyncBoltContext) -> None:
    ACKNOWLEDGED.labels("slack").observe(perf_counter() - context["begun"])


# The HTTP server: Slack's signed requests, the pages of an installation, and `/healthz`.


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


_LOG = logging.getLogger(__name__)

JOURNAL = "slack-journal.sqlite"
_DRAIN_S = 10.0
_AGAIN_S = 2.0
_REMEMBERED = timedelta(days=1)
_TIDY_S = 3600.0

Clock = Callable[[], datetime]


@dataclass
class SlackParts:
    """What the process is made of, started by `serve`."""

    settings: SlackSettings
    client: ServiceClient
    clock: Clock
    web: SlackWeb
    tokens: InstallationTokens
    journal: Journal
    desk: SlackHandler
    inbox: SlackReceiver
    courier: Dispatcher
    socket: WatchedSocket | None
    flow: AsyncOAuthFlow | None

    async def health(self) -> tuple[bool, dict[str, Any]]:
        """Whether Slack can reach us, as far as we can tell."""
        last = self.inbox.last
        said: dict[str, Any] = {
            "mode": self.settings.mode.value,
            "last_event": last.isoformat() if last else None,
            "answering": self.desk.busy,
        }
        if self.socket is None:
            return True, said
        connected = await self.socket.connected()
        more = {"quiet_s": round(self.socket.quiet_for, 1), "renewals": self.socket.renewals}
        return connected, said | {"connected": connected} | more

    async def installed(self, new: Installation) -> None:
        """Say hello to whoever installed the app."""
        now, team = self.clock(), new.team or new.enterprise
        route = Route(team=team, enterprise=new.enterprise, user=new.installed_by)
        who = Who(platform="slack", workspace=team, member=new.installed_by, name=new.installed_by or "somebody")
        event = Added(f"slack:installed:{team}:{now.timestamp():.0f}", now, who, Where(channel=""))
        if new.installed_by and self.journal.take(event, route.as_dict()):
            self.desk.begin(Arrival(event, route))


async def serve(
    settings: SlackSettings, client: ServiceClient, clock: Clock, stop: asyncio.Event, links: Links | None = None
) -> None:
    """Run until `stop` is set, then finish what is in hand. Raises TokenWrong, SocketFailed, OSError."""
    settings.data.mkdir(mode=0o700, parents=True, exist_ok=True)
    async with contextlib.AsyncExitStack() as stack:
        web = await stack.enter_async_context(SlackWeb(settings.api_url))
        only = await _until(stop, _only(settings, web))
        if stop.is_set():
            return
        journal = stack.enter_context(contextlib.closing(Journal(settings.data / JOURNAL)))
        pictures = Pictures()
        stack.push_async_callback(pictures.close)
        parts = build(settings, client, clock, web, journal, only, links, pictures)
        await run(parts, stop)


def build(
    settings: SlackSettings,
    client: ServiceClient,
    clock: Clock,
    web: SlackWeb,
    journal: Journal,
    only: Installation | None,
    links: Links | None = None,
    pictures: Pictures | None = None,
) -> SlackParts:
    """The parts, put together; with `links` code questions lead to the web editor, with `pictures` cards have them."""
    tokens = InstallationTokens(client, clock, only)
    people = People(web, tokens, clock, settings.manager_ids)
    quiz = Quiz(client, links).handle
    answer = pictures.answering(quiz) if pictures else quiz
    desk = SlackHandler(answer, people, Replies(web, tokens), FileFetcher(web, tokens), journal)
    secret = settings.signing_secret.get_secret_value() if settings.signing_secret else ""
    inbox = SlackReceiver(web, tokens, journal, desk, clock, secret)
    platform = SlackPlatform(web, tokens, clock, Pacer(time.monotonic))
    socket = None
    if settings.app_token is not None:
        app_token = settings.app_token.get_secret_value()
        socket = WatchedSocket(inbox.app, web, app_token, quiet_s=settings.quiet_s, ping_s=settings.ping_s)
    courier = Dispatcher(client, pictures.posting(platform) if pictures else platform)
    parts = SlackParts(settings, client, clock, web, tokens, journal, desk, inbox, courier, socket, flow=None)
    if settings.many:
        parts.flow = oauth_flow(settings, web, client, tokens, parts.installed)
    return parts


async def run(parts: SlackParts, stop: asyncio.Event) -> None:
    """Run the parts until `stop` is set; whatever fails for good ends the process."""
    settings = parts.settings
    carrying = asyncio.create_task(parts.courier.run())
    try:
        async with contextlib.AsyncExitStack() as taking:
            if settings.http_port is not None:
                app = parts.inbox.app if settings.mode is Mode.http else None
                pages = routes(app, parts.flow, parts.health)
                port = await taking.enter_async_context(listening(pages, settings.host, settings.http_port))
                _LOG.info("Slack's requests are taken at port %d", port)
            if left := parts.desk.resume(parts.clock):
                _LOG.info("%d events of before are answered now", left)
            await _until(stop, *_jobs(parts))
    finally:
        # Nothing more comes in from here on.
        await parts.desk.drain(_DRAIN_S)
        carrying.cancel()
        await asyncio.gather(carrying, return_exceptions=True)


def _jobs(parts: SlackParts) -> list[Coroutine[Any, Any, None]]:
    jobs = [_tidying(parts)]
    if parts.socket is not None:
        jobs.append(parts.socket.run())
    if parts.settings.many:
        jobs.append(Rotation(parts.settings, parts.web, parts.client, parts.tokens, parts.clock).run())
    return jobs


async def _tidying(parts: SlackParts) -> None:
    while True:
        parts.journal.forget(parts.clock() - _REMEMBERED)
        await asyncio.sleep(_TIDY_S)


async def _only(settings: SlackSettings, web: SlackWeb) -> Installation | None:
    """The one installation there is, asked for until Slack answers. Raises TokenWrong."""
    while True:
        try:
            if settings.app_token is not None:
                await _app_token_known(web, settings.app_token.get_secret_value())
            return None if settings.bot_token is None else await the_only(web, settings.bot_token)
        except (SlackApiError, ClientError, TimeoutError) as error:
            _LOG.warning("Slack does not answer yet: %s", error)
            await asyncio.sleep(_AGAIN_S)


async def _app_token_known(web: SlackWeb, app_token: str) -> None:
    try:
        await web.client().apps_connections_open(app_token=app_token)
    except SlackApiError as error:
        if code_of(error) in DEAD_TOKEN | {"not_allowed_token_type", "missing_scope"}:
            raise TokenWrong(
                f"Slack does not take SLACK_APP_TOKEN ({code_of(error)}); make an app-level token with the scope "
                "connections:write under Basic Information, and switch Socket Mode on"
            ) from None
        raise


async def _until(stop: asyncio.Event, *doing: Coroutine[Any, Any, Any]) -> Any:
    """Do things until one is done or fails, or `stop` is set; the first's result."""
    stopping = asyncio.create_task(stop.wait())
    tasks = [asyncio.create_task(one) for one in doing]
    try:
        done, _ = await asyncio.wait({stopping, *tasks}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (stopping, *tasks):
            task.cancel()
        await asyncio.gather(stopping, *tasks, return_exceptions=True)
    return next((task.result() for task in tasks if task in done), None)
