"""Examines a Slack app from outside: tokens, scopes, clock, Socket Mode, manifest, membership per channel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from datetime import datetime
from typing import Any, Final

import httpx

from bot.doctor.findings import Finding, Untold, clock_finding, place_name, places_of
from bot.platforms.slack.manifest import BOT_EVENTS, BOT_SCOPES, WHY, app_manifest
from bot.platforms.slack.settings import Mode, SlackSettings
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import Place

Body = dict[str, Any]

_PAGE: Final = "https://api.slack.com/apps"
_REINSTALL: Final = "then Install App, Reinstall to Workspace"
# Slack's own words for a token that does nothing any more: docs, methods/auth.test, Errors.
_TOKEN_WRONG: Final[Mapping[str, str]] = {
    "invalid_auth": f"it is none of Slack's: copy the Bot User OAuth Token from {_PAGE}, OAuth & Permissions",
    "not_authed": "it is empty: copy the Bot User OAuth Token",
    "account_inactive": f"the app was removed from the workspace: {_PAGE}, {_REINSTALL}",
    "token_revoked": f"it was revoked: {_PAGE}, {_REINSTALL}",
    "token_expired": "it ran out: with token rotation the app must be installed by OAuth (SLACK_CLIENT_ID)",
    "not_allowed_token_type": "it is no bot token: copy the one that begins with xoxb-",
    "team_access_not_granted": "an owner of the organisation has to let the app into this workspace",
}


async def examine_slack(
    settings: SlackSettings,
    service: ServiceClient | None,
    clock: Callable[[], datetime],
    *,
    config_token: str = "",
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncIterator[Finding]:
    """Every check. `config_token` is one of an app's owner, to read the manifest Slack has."""
    async with httpx.AsyncClient(base_url=settings.api_url, timeout=15, transport=transport, trust_env=True) as http:
        slack = _Slack(http)
        try:
            async for finding in _examined(slack, settings, service, clock, config_token):
                yield finding
        except Untold as untold:
            yield untold.finding


class _Slack:
    """Calls of Slack's Web API. Raises Untold where nothing can be learnt."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self.date: str | None = None
        self.scopes: frozenset[str] = frozenset()

    async def call(self, method: str, token: str, **arguments: str) -> Body:
        """What Slack says, its errors included."""
        headers = {"Authorization": f"Bearer {token}"}
        try:
            answer = await self._http.post(method, data=arguments, headers=headers)
        except httpx.HTTPError as error:
            said = f"reach: {self._http.base_url} does not answer ({str(error) or type(error).__name__})"
            cure = "check the network, a proxy (HTTPS_PROXY) and SLACK_API_URL"
            raise Untold(Finding(False, said, cure)) from None
        self.date = answer.headers.get("date", self.date)
        if answer.status_code == 429:
            cure = f"try again in {answer.headers.get('retry-after', 'some')} s"
            raise Untold(Finding(False, f"limits: Slack asks to wait before {method}", cure))
        if not answer.is_success:
            said = f"reach: Slack answered {answer.status_code} to {method}"
            raise Untold(Finding(False, said, "try again later; see https://slack-status.com"))
        if scopes := answer.headers.get("x-oauth-scopes"):
            self.scopes = frozenset(scope.strip() for scope in scopes.split(","))
        said_body = answer.json()
        return said_body if isinstance(said_body, dict) else {}


async def _examined(
    slack: _Slack,
    settings: SlackSettings,
    service: ServiceClient | None,
    clock: Callable[[], datetime],
    config_token: str,
) -> AsyncIterator[Finding]:
    places, known = await places_of(service, "slack")
    tokens, troubles = await _tokens(settings, service, places)
    for finding in troubles:
        yield finding
    good: dict[str, str] = {}
    for workspace, token in tokens.items():
        said = await slack.call("auth.test", token)
        yield token_finding(workspace, said)
        if said.get("ok"):
            good[str(said.get("team_id", workspace))] = token
            for finding in scope_findings(slack.scopes, str(said.get("team", workspace))):
                yield finding
    if (skewed := clock_finding(slack.date, clock())) is not None:
        yield skewed
    yield await _road_finding(slack, settings)
    for finding in await _manifest_findings(slack, settings, config_token):
        yield finding
    yield known
    for place in places:
        if place.workspace in good:
            yield await _place_finding(slack, place, good[place.workspace])
        elif place.workspace not in tokens:
            yield Finding(False, f"{place_name(place)}: no token reaches its workspace {place.workspace}", _PAGE)


async def _tokens(
    settings: SlackSettings, service: ServiceClient | None, places: tuple[Place, ...]
) -> tuple[dict[str, str], list[Finding]]:
    """A token for each workspace that can be asked, and what is wrong with the rest."""
    if settings.bot_token is not None:
        return {"": settings.bot_token.get_secret_value()}, []
    found: dict[str, str] = {}
    troubles: list[Finding] = []
    for workspace in dict.fromkeys(place.workspace for place in places):
        try:
            kept = await service.installation_find("slack", workspace) if service is not None else None
        except (ServiceUnavailable, ServiceRefused) as error:
            troubles.append(Finding(False, f"installation: {error}", "check the service's DAILYGRAD_TOKEN_KEY"))
            continue
        if kept is None:
            cure = "open the install page again: /slack/install of the bot's own address"
            troubles.append(Finding(False, f"installation: the app is not installed in workspace {workspace}", cure))
        else:
            found[workspace] = kept.token.get_secret_value()
    return found, troubles or [Finding(True, f"installations: {len(found)} asked after, by OAuth")]


def token_finding(workspace: str, said: Body) -> Finding:
    """Whether Slack takes the bot's token."""
    if said.get("ok"):
        return Finding(True, f"token: it is {said.get('user')}'s in {said.get('team')}")
    error = str(said.get("error", "nothing it could read"))
    where = f" of workspace {workspace}" if workspace else ""
    return Finding(False, f"token{where}: Slack says {error}", _TOKEN_WRONG.get(error, f"see {_PAGE}"))


def scope_findings(held: frozenset[str], team: str) -> Iterator[Finding]:
    """Each scope that is missing, with what it is for."""
    missing = [scope for scope in BOT_SCOPES if scope not in held]
    for scope in missing:
        cure = f"{_PAGE}, OAuth & Permissions, Bot Token Scopes: add {scope}; {_REINSTALL}"
        yield Finding(False, f"scope {scope} is missing in {team}: it is for {WHY[scope]}", cure)
    if not missing:
        more = sorted(held - set(BOT_SCOPES))
        note = f"not needed by the quiz: {', '.join(more)}" if more else ""
        yield Finding(True, f"scopes: all {len(BOT_SCOPES)} are there in {team}", note)


async def _road_finding(slack: _Slack, settings: SlackSettings) -> Finding:
    """Whether Slack's events can reach us."""
    if settings.mode is Mode.http or settings.app_token is None:
        cure = f"the app's Request URLs must lead here, to /slack/events at port {settings.http_port}"
        return Finding(True, "road: signed HTTP; only Slack can tell whether it reaches us", cure)
    # Asking for an address opens no connection.
    said = await slack.call("apps.connections.open", settings.app_token.get_secret_value())
    if said.get("ok"):
        return Finding(True, "road: Socket Mode, and the app-level token may connect")
    error = str(said.get("error", "nothing it could read"))
    cures = {
        "missing_scope": f"{_PAGE}, Basic Information, App-Level Tokens: give it the scope connections:write",
        "forbidden": f"{_PAGE}, Socket Mode: switch it on",
    }
    new = f"make an app-level token with the scope connections:write: {_PAGE}, Basic Information; and Socket Mode on"
    return Finding(False, f"road: Slack says {error} to the app-level token", cures.get(error, new))


async def _manifest_findings(slack: _Slack, settings: SlackSettings, config_token: str) -> list[Finding]:
    """How the app at Slack differs from the one this version describes."""
    app = _app_id(settings)
    if not config_token or not app:
        cure = (
            f"paste `dailygrad bot slack-manifest` into {_PAGE}, App Manifest, to be sure; or set SLACK_CONFIG_TOKEN "
            "(Your App Configuration Tokens on that page) and SLACK_APP_TOKEN to have it compared"
        )
        return [Finding(True, "manifest: not compared", cure)]
    said = await slack.call("apps.manifest.export", config_token, app_id=app)
    if not said.get("ok"):
        cure = f"make a new one: {_PAGE}, Your App Configuration Tokens"
        return [Finding(False, f"manifest: Slack says {said.get('error')} to SLACK_CONFIG_TOKEN", cure)]
    differences = list(manifest_differences(dict(said.get("manifest") or {}), socket=settings.mode is Mode.socket))
    cure = f"paste `dailygrad bot slack-manifest` into {_PAGE}/{app}, App Manifest; {_REINSTALL}"
    return [Finding(False, f"manifest: {one}", cure) for one in differences] or [
        Finding(True, "manifest: as this version describes it")
    ]


def _app_id(settings: SlackSettings) -> str:
    """An app-level token holds its app's id: `xapp-1-A012345-…`."""
    parts = settings.app_token.get_secret_value().split("-") if settings.app_token else []
    return parts[2] if len(parts) > 2 and parts[2].startswith("A") else ""


def manifest_differences(theirs: Body, *, socket: bool) -> Iterator[str]:
    """What the app at Slack lacks, in words. What it has beside is its owner's business."""
    ours = app_manifest()
    features, settings = theirs.get("features") or {}, theirs.get("settings") or {}
    known = {one.get("command") for one in features.get("slash_commands") or []}
    for command in ours["features"]["slash_commands"]:
        if command["command"] not in known:
            yield f"the command {command['command']} is missing"
    scopes = ((theirs.get("oauth_config") or {}).get("scopes") or {}).get("bot") or []
    yield from (f"the scope {scope} is missing" for scope in BOT_SCOPES if scope not in scopes)
    events = (settings.get("event_subscriptions") or {}).get("bot_events") or []
    yield from (f"the event {event} is not subscribed to" for event in BOT_EVENTS if event not in events)
    if not (settings.get("interactivity") or {}).get("is_enabled"):
        yield "interactivity is off, so buttons do nothing"
    home = features.get("app_home") or {}
    if not home.get("home_tab_enabled"):
        yield "the home tab is off"
    if not home.get("messages_tab_enabled") or home.get("messages_tab_read_only_enabled"):
        yield "nobody can write to the bot in its messages tab"
    if bool(settings.get("socket_mode_enabled")) != socket:
        yield (
            "Socket Mode is off, and the bot is told to use it"
            if socket
            else "Socket Mode is on, so nothing is sent by HTTP"
        )


async def _place_finding(slack: _Slack, place: Place, token: str) -> Finding:
    """Whether the bot can post to a scheduled channel."""
    name = place_name(place)
    said = await slack.call("conversations.info", token, channel=place.channel)
    if not said.get("ok"):
        error = str(said.get("error", "nothing it could read"))
        if error == "channel_not_found":
            cure = "invite it there: /invite @Dailygrad; if the channel is gone, remove its schedule"
            return Finding(False, f"{name}: it is private and the bot is not in it, or it is gone", cure)
        return Finding(
            False, f"{name}: Slack says {error}", "add the scope that is missing, or see the channel's settings"
        )
    channel = said.get("channel") or {}
    if channel.get("is_archived"):
        return Finding(False, f"{name}: it is archived", "unarchive it, or remove its schedule")
    if not channel.get("is_member"):
        return Finding(False, f"{name}: the bot is not in it", "invite it there: /invite @Dailygrad")
    return Finding(True, f"{name}: the bot is in it")
