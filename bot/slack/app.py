"""Runs the Slack process: receives events by Socket Mode or HTTP, posts from the outbox, and drains on shutdown.

An event is written to the journal before it is acknowledged, and is then passed to the handler.
"""

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
from bot.slack.access import SlackChannelAccess
from bot.slack.auth import (
    INSTALL_PATH,
    REDIRECT_PATH,
    CachedAuthorization,
    InstallationTokens,
    TokenRejected,
    TokenRotation,
    oauth_flow,
    single_installation,
)
from bot.slack.handler import SlackHandler
from bot.slack.inbox import Inbox, LocalInbox, SharedInbox
from bot.slack.manifest import EVENTS_PATH
from bot.slack.payloads import (
    changed_member,
    installed_in,
    opened_channel,
    parse_payload,
    removal_time,
    renamed_channel,
)
from bot.slack.people import FileFetcher, MemberDirectory
from bot.slack.platform import SlackPlatform
from bot.slack.rate_limit import RateLimiter
from bot.slack.replies import Replies
from bot.slack.route import IncomingEvent, Route
from bot.slack.settings import Mode, SlackSettings
from bot.slack.socket import WatchedSocket
from bot.slack.uploads import Uploads
from bot.slack.web_api import DEAD_TOKEN_CODES, SlackWeb, error_code
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.process import Clock, make_folder
from service.wire import Installation, Where, Who

_LOG = logging.getLogger(__name__)
Body = dict[str, Any]
Next = Callable[[], Awaitable[BoltResponse]]
Ack = Callable[..., Awaitable[BoltResponse]]
Health = Callable[[], Awaitable[tuple[bool, dict[str, Any]]]]
"""Returns whether the bot is healthy, and details."""
JOURNAL = "slack-journal.sqlite"
_DRAIN_S = 10.0
"""Longest wait for what is being handled when the bot stops, seconds."""
_OUTBOX_PATIENCE_S = 120.0
"""Time without the outbox after which the bot is unhealthy, seconds: longer than a restart of the service takes."""
_RETRY_S = 2.0
"""Pause before the next attempt to reach Slack at the start, seconds."""
_JOURNAL_RETENTION = timedelta(days=1)
"""Time for which the ids of answered events are kept."""
_PRUNE_INTERVAL_S = 3600.0
"""Interval at which the journal is pruned, seconds."""
_RESUME_INTERVAL_S = 15.0
"""Interval at which unanswered events of other processes are looked for, seconds."""
_ANYTHING = re.compile("")
_TRIGGER_LIFETIME = timedelta(seconds=3)
"""Age at which a trigger has expired."""
MAX_BODY_BYTES = 4 * 1024 * 1024
"""Largest request body, bytes. A view has at most 100 fields of 3,000 characters, each up to 12 bytes when encoded."""
_LAST_REQUESTS_S = 5.0
"""Longest wait for requests that are under way when the bot stops, seconds."""
MALFORMED_BODY_ERRORS = (ValueError, TypeError, AttributeError, LookupError, RecursionError)
"""Errors that a malformed body may cause: Bolt parses it before it checks the signature."""


@dataclass
class SlackApp:
    """The objects of a Slack process, built by `build` and started by `run`."""

    settings: SlackSettings
    client: ServiceClient
    clock: Clock
    web: SlackWeb
    tokens: InstallationTokens
    journal: Journal
    inbox: Inbox
    handler: SlackHandler
    receiver: SlackReceiver
    dispatcher: Dispatcher
    socket: WatchedSocket | None
    flow: AsyncOAuthFlow | None

    async def health(self) -> tuple[bool, dict[str, Any]]:
        """Returns whether the bot works, and details for `/healthz`.

        It does if Slack can reach it, as far as it can tell, and if it has read the outbox in the last two minutes.
        """
        last_event_at = self.receiver.last_event_at
        details: dict[str, Any] = {
            "mode": self.settings.mode.value,
            "last_event": last_event_at.isoformat() if last_event_at else None,
            "answering": self.handler.busy,
            "outbox_failing_s": round(self.dispatcher.failing_s, 1),
        }
        reads = self.dispatcher.failing_s < _OUTBOX_PATIENCE_S
        if self.socket is None:
            return reads, details
        connected = await self.socket.connected()
        more = {"quiet_s": round(self.socket.quiet_for, 1), "renewals": self.socket.renewals}
        return connected and reads, details | {"connected": connected} | more

    async def greet_installer(self, new: Installation) -> None:
        """Greets the person who installed the app."""
        now, team = self.clock(), new.team
        route = Route(team=team, enterprise=new.enterprise, user=new.installed_by)
        who = Who(platform="slack", workspace=team, member=new.installed_by, name=new.installed_by or "somebody")
        event = Added(f"slack:installed:{team}:{now.timestamp():.0f}", now, who, Where(channel=""))
        if new.installed_by and await self.inbox.record(event, route.as_dict()):
            self.handler.start(IncomingEvent(event, route))


async def serve(
    settings: SlackSettings, client: ServiceClient, clock: Clock, stop: asyncio.Event, links: Links | None = None
) -> None:
    """Runs the bot until `stop` is set, then drains. Raises TokenRejected, SocketFailed or OSError."""
    make_folder(settings.data)
    async with contextlib.AsyncExitStack() as stack:
        web = await stack.enter_async_context(SlackWeb(settings.api_url))
        only = await _run_until(stop, _find_single_installation(settings, web))
        if stop.is_set():
            return
        # Events and the outbox of one app: another on the same service, such as staging's, has its own.
        client.application = only.bot_id if only else settings.client_id
        journal = stack.enter_context(contextlib.closing(Journal(settings.data / JOURNAL)))
        # Slack has tables of its own, which need no upload.
        pictures = Pictures(charts=False)
        stack.push_async_callback(pictures.close)
        slack = build(settings, client, clock, web, journal, only, links, pictures)
        await run(slack, stop)


def build(
    settings: SlackSettings,
    client: ServiceClient,
    clock: Clock,
    web: SlackWeb,
    journal: Journal,
    only: Installation | None,
    links: Links | None = None,
    pictures: Pictures | None = None,
) -> SlackApp:
    """Builds the objects. `links` lets code questions link to the web editor; `pictures` illustrates cards."""
    tokens = InstallationTokens(client, clock, only)
    uploads = Uploads(web)
    people = MemberDirectory(web, tokens, clock, settings.manager_ids)
    quiz = Quiz(client, links, SlackChannelAccess(web, tokens, people)).handle
    answer = pictures.with_answers(quiz) if pictures else quiz
    # By HTTP, a load balancer hands events to any replica; a socket gets its own.
    inbox: Inbox = SharedInbox(client, journal) if settings.mode is Mode.http else LocalInbox(journal)
    replies, files = Replies(web, tokens, uploads), FileFetcher(web, tokens)
    handler = SlackHandler(answer, people, replies, files, inbox, view_wait_s=settings.view_wait_s)
    secret = settings.signing_secret.get_secret_value() if settings.signing_secret else ""
    receiver = SlackReceiver(web, tokens, inbox, handler, client, people, clock, secret)
    platform = SlackPlatform(web, tokens, clock, RateLimiter(time.monotonic), uploads)
    socket = None
    if settings.app_token is not None:
        app_token = settings.app_token.get_secret_value()
        socket = WatchedSocket(receiver.app, web, app_token, quiet_s=settings.quiet_s, ping_s=settings.ping_s)
    dispatcher = Dispatcher(client, pictures.with_posts(platform) if pictures else platform)
    slack = SlackApp(
        settings, client, clock, web, tokens, journal, inbox, handler, receiver, dispatcher, socket, flow=None
    )
    if settings.many:
        slack.flow = oauth_flow(settings, web, client, tokens, slack.greet_installer)
    return slack


async def run(slack: SlackApp, stop: asyncio.Event) -> None:
    """Runs the process until `stop` is set or a part fails for good."""
    settings = slack.settings
    dispatching = asyncio.create_task(slack.dispatcher.run())
    try:
        async with contextlib.AsyncExitStack() as stack:
            if settings.http_port is not None:
                app = slack.receiver.app if settings.mode is Mode.http else None
                pages = http_routes(app, slack.flow, slack.health)
                port = await stack.enter_async_context(serve_http(pages, settings.host, settings.http_port))
                _LOG.info("listening for Slack's requests on port %d", port)
            await _resume(slack)
            await _run_until(stop, *_background_jobs(slack))
    finally:
        # No more events arrive from here on.
        await slack.handler.drain(_DRAIN_S)
        dispatching.cancel()
        await asyncio.gather(dispatching, return_exceptions=True)


def _background_jobs(slack: SlackApp) -> list[Coroutine[Any, Any, None]]:
    jobs = [_prune_journal(slack)]
    if isinstance(slack.inbox, SharedInbox):
        jobs.append(_resume_often(slack))
    if slack.socket is not None:
        jobs.append(slack.socket.run())
    if slack.settings.many:
        jobs.append(TokenRotation(slack.settings, slack.web, slack.client, slack.tokens, slack.clock).run())
    return jobs


async def _resume(slack: SlackApp) -> None:
    if left := await slack.handler.resume():
        _LOG.info("answering %d events left by another process", left)


async def _resume_often(slack: SlackApp) -> None:
    """Answers what replicas that died have left."""
    while True:
        await asyncio.sleep(_RESUME_INTERVAL_S)
        await _resume(slack)


async def _prune_journal(slack: SlackApp) -> None:
    while True:
        slack.journal.prune(slack.clock() - _JOURNAL_RETENTION)
        await asyncio.sleep(_PRUNE_INTERVAL_S)


async def _find_single_installation(settings: SlackSettings, web: SlackWeb) -> Installation | None:
    """Looks up the only installation, retrying until Slack answers. Raises TokenRejected."""
    while True:
        try:
            if settings.app_token is not None:
                await _check_app_token(web, settings.app_token.get_secret_value())
            return None if settings.bot_token is None else await single_installation(web, settings.bot_token)
        except (SlackApiError, ClientError, TimeoutError) as error:
            _LOG.warning("no answer from Slack yet: %s", error)
            await asyncio.sleep(_RETRY_S)


async def _check_app_token(web: SlackWeb, app_token: str) -> None:
    try:
        await web.client().apps_connections_open(app_token=app_token)
    except SlackApiError as error:
        if error_code(error) in DEAD_TOKEN_CODES | {"not_allowed_token_type", "missing_scope"}:
            raise TokenRejected(
                f"Slack rejects SLACK_APP_TOKEN ({error_code(error)}); create an app-level token with the scope "
                "connections:write under Basic Information, and turn on Socket Mode"
            ) from None
        raise


async def _run_until(stop: asyncio.Event, *doing: Coroutine[Any, Any, Any]) -> Any:
    """Runs coroutines until one ends or `stop` is set; returns the first one's result."""
    stopping = asyncio.create_task(stop.wait())
    tasks = [asyncio.create_task(one) for one in doing]
    try:
        done, _ = await asyncio.wait({stopping, *tasks}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for task in (stopping, *tasks):
            task.cancel()
        await asyncio.gather(stopping, *tasks, return_exceptions=True)
    return next((task.result() for task in tasks if task in done), None)


# Receiving events


class SlackReceiver:
    """The Bolt app: writes events to the journal, acknowledges them and passes them to the handler."""

    def __init__(
        self,
        web: SlackWeb,
        tokens: InstallationTokens,
        inbox: Inbox,
        handler: SlackHandler,
        client: ServiceClient,
        people: MemberDirectory,
        clock: Clock,
        signing_secret: str = "",
    ) -> None:
        self._client = client
        self._people = people
        self._tokens = tokens
        self._inbox = inbox
        self._handler = handler
        self._clock = clock
        self.last_event_at: datetime | None = None
        self.app = AsyncApp(
            name="dailygrad",
            client=web.client(),
            signing_secret=signing_secret,
            # Runs after the signature check and before Bolt acknowledges the event.
            before_authorize=self.receive,
            authorize=CachedAuthorization(tokens),
        )
        self.app.command(_ANYTHING)(self._acknowledge_and_start)
        self.app.action(_ANYTHING)(self._acknowledge_and_start)
        self.app.shortcut(_ANYTHING)(self._acknowledge_and_start)
        self.app.event(_ANYTHING)(self._event)
        self.app.view(_ANYTHING)(self._handle_submission)

    async def receive(self, req: AsyncBoltRequest, next_: Next) -> BoltResponse:
        """Writes an event to the journal. A repeated delivery is acknowledged and dropped.

        If the journal cannot be written, the event is not acknowledged and Slack delivers it again.
        """
        self.last_event_at = now = self._clock()
        req.context["begun"] = perf_counter()
        incoming = parse_payload(req, now)
        if incoming is not None:
            if not await self._inbox.record(incoming.event, incoming.route.as_dict()):
                _LOG.info("%s was delivered again", incoming.event.id)
                REPEATED.labels("slack").inc()
                return BoltResponse(status=200, body="")
            req.context["arrival"] = incoming
            if now - incoming.event.at > _TRIGGER_LIFETIME:
                LATE.labels("slack").inc()
        return await next_()

    async def _acknowledge_and_start(self, ack: Ack, context: AsyncBoltContext) -> None:
        await ack()
        _record_delay(context)
        if (incoming := context.get("arrival")) is not None:
            self._handler.start(incoming)

    async def _handle_submission(self, ack: Ack, context: AsyncBoltContext, view: Body) -> None:
        async def acknowledge(**fields: Any) -> BoltResponse:
            answer = await ack(**fields)
            _record_delay(context)
            return answer

        self._handler.start_submission(context["arrival"], view, acknowledge)

    async def _event(self, ack: Ack, context: AsyncBoltContext, body: Body) -> None:
        await self._acknowledge_and_start(ack, context)
        team, enterprise = installed_in(context, body)
        if (user := changed_member(body)) is not None:
            self._people.update(team, user)
        try:
            await self._report(team, body)
        except (ServiceUnavailable, ServiceRefused) as error:
            # Harmless: what was refused is tried again in a few minutes, and a name comes with the next event.
            _LOG.warning("cannot report an event of %s: %s", team, error)
        if (removed_at := removal_time(body, self._clock())) is not None:
            _LOG.info("the app was removed from %s", team)
            try:
                await self._tokens.delete(team, enterprise, removed_at)
            except (ServiceUnavailable, ServiceRefused) as error:
                # Harmless: the token is dead, and Slack will say so when it is used.
                _LOG.warning("cannot delete the installation of %s: %s", team, error)

    async def _report(self, team: str, body: Body) -> None:
        """Tells the service about channels in which the bot may post now, and about new names."""
        if channel := opened_channel(body):
            await self._client.outbox_retry("slack", team, channel)
        channel, name = renamed_channel(body)
        if channel:
            await self._client.channel_renamed("slack", team, channel, name)


def _record_delay(context: AsyncBoltContext) -> None:
    ACKNOWLEDGED.labels("slack").observe(perf_counter() - context["begun"])


# HTTP


def http_routes(app: AsyncApp | None, flow: AsyncOAuthFlow | None, health: Health) -> web.Application:
    """Returns the HTTP routes. `app` is None in Socket Mode, where events do not arrive by HTTP."""
    pages = web.Application(client_max_size=MAX_BODY_BYTES)

    async def healthz(request: web.Request) -> web.Response:
        well, details = await health()
        return web.json_response({"ok": well, **details}, status=200 if well else 503)

    pages.router.add_get("/healthz", healthz)
    if app is not None:
        pages.router.add_post(EVENTS_PATH, _events(app))
    if flow is not None:
        pages.router.add_get(INSTALL_PATH, _oauth_page(flow.handle_installation))
        pages.router.add_get(REDIRECT_PATH, _oauth_page(flow.handle_callback))
    return pages


@asynccontextmanager
async def serve_http(pages: web.Application, host: str, port: int) -> AsyncIterator[int]:
    """Serves until the block exits, then finishes running requests. Yields the port."""
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
            bolt_request = await to_bolt_request(request)
        except MALFORMED_BODY_ERRORS:
            raise web.HTTPBadRequest(text="malformed body") from None
        return await to_aiohttp_response(await app.async_dispatch(bolt_request))

    return events


def _oauth_page(step: Callable[..., Awaitable[Any]]) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    async def page(request: web.Request) -> web.StreamResponse:
        return await to_aiohttp_response(await step(await to_bolt_request(request)))

    return page
