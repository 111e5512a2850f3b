"""The Slack process: puts its parts together, runs them until it is asked to stop, and drains."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from aiohttp import ClientError
from slack_bolt.oauth.async_oauth_flow import AsyncOAuthFlow
from slack_sdk.errors import SlackApiError

from bot.core.courier import Courier
from bot.core.events import Added
from bot.core.journal import Journal
from bot.core.links import Links
from bot.core.quiz import Quiz
from bot.pictures import Pictures
from bot.platforms.slack.desk import Desk
from bot.platforms.slack.errors import DEAD_TOKEN, code_of
from bot.platforms.slack.files import Files
from bot.platforms.slack.inbox import Inbox
from bot.platforms.slack.oauth import oauth_flow
from bot.platforms.slack.pacing import Pacer
from bot.platforms.slack.people import People
from bot.platforms.slack.platform import SlackPlatform
from bot.platforms.slack.replies import Replies
from bot.platforms.slack.rotation import Rotation
from bot.platforms.slack.route import Arrival, Route
from bot.platforms.slack.server import listening, routes
from bot.platforms.slack.settings import Mode, SlackSettings
from bot.platforms.slack.socket import Watched
from bot.platforms.slack.tokens import Tokens, TokenWrong, the_only
from bot.platforms.slack.web import SlackWeb
from service.client import ServiceClient
from service.wire import Installation, Where, Who

_LOG = logging.getLogger(__name__)

JOURNAL = "slack-journal.sqlite"
_DRAIN_S = 10.0
_AGAIN_S = 2.0
_REMEMBERED = timedelta(days=1)
_TIDY_S = 3600.0

Clock = Callable[[], datetime]


@dataclass
class Parts:
    """What the process is made of, started by `serve`."""

    settings: SlackSettings
    client: ServiceClient
    clock: Clock
    web: SlackWeb
    tokens: Tokens
    journal: Journal
    desk: Desk
    inbox: Inbox
    courier: Courier
    socket: Watched | None
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
) -> Parts:
    """The parts, put together; with `links` code questions lead to the web editor, with `pictures` cards have them."""
    tokens = Tokens(client, clock, only)
    people = People(web, tokens, clock, settings.manager_ids)
    quiz = Quiz(client, links).handle
    answer = pictures.answering(quiz) if pictures else quiz
    desk = Desk(answer, people, Replies(web, tokens), Files(web, tokens), journal)
    secret = settings.signing_secret.get_secret_value() if settings.signing_secret else ""
    inbox = Inbox(web, tokens, journal, desk, clock, secret)
    platform = SlackPlatform(web, tokens, clock, Pacer(time.monotonic))
    socket = None
    if settings.app_token is not None:
        app_token = settings.app_token.get_secret_value()
        socket = Watched(inbox.app, web, app_token, quiet_s=settings.quiet_s, ping_s=settings.ping_s)
    courier = Courier(client, pictures.posting(platform) if pictures else platform)
    parts = Parts(settings, client, clock, web, tokens, journal, desk, inbox, courier, socket, flow=None)
    if settings.many:
        parts.flow = oauth_flow(settings, web, client, tokens, parts.installed)
    return parts


async def run(parts: Parts, stop: asyncio.Event) -> None:
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


def _jobs(parts: Parts) -> list[Coroutine[Any, Any, None]]:
    jobs = [_tidying(parts)]
    if parts.socket is not None:
        jobs.append(parts.socket.run())
    if parts.settings.many:
        jobs.append(Rotation(parts.settings, parts.web, parts.client, parts.tokens, parts.clock).run())
    return jobs


async def _tidying(parts: Parts) -> None:
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
