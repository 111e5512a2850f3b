"""Checks a Slack app over the Web API: tokens, scopes, clock, event delivery, manifest, channel membership."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Any, Final

import httpx

from bot.doctor.checks import ChatUnreachable, CheckResult, clock_finding, place_name, places_of
from bot.slack.manifest import BOT_EVENTS, BOT_SCOPES, WHY, app_manifest
from bot.slack.settings import Mode, SlackSettings
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.process import Clock
from service.wire import PostingChannel

Body = dict[str, Any]

_PAGE: Final = "https://api.slack.com/apps"
_REINSTALL: Final = "then Install App, Reinstall to Workspace"
_TOKEN_WRONG: Final[Mapping[str, str]] = {
    "invalid_auth": f"Slack does not know it: copy the Bot User OAuth Token from {_PAGE}, OAuth & Permissions",
    "not_authed": "it is empty: copy the Bot User OAuth Token",
    "account_inactive": f"the app was removed from the workspace: {_PAGE}, {_REINSTALL}",
    "token_revoked": f"it was revoked: {_PAGE}, {_REINSTALL}",
    "token_expired": "it expired: with token rotation, the app must be installed by OAuth (SLACK_CLIENT_ID)",
    "not_allowed_token_type": "it is not a bot token: copy the one that begins with xoxb-",
    "team_access_not_granted": "an organization owner must grant the app access to this workspace",
}
"""Slack's error codes for an unusable token. Docs: methods/auth.test, Errors."""


async def examine_slack(
    settings: SlackSettings,
    service: ServiceClient | None,
    clock: Clock,
    *,
    config_token: str = "",
    transport: httpx.AsyncBaseTransport | None = None,
) -> AsyncIterator[CheckResult]:
    """Runs every check. `config_token` is an app configuration token, which can read the app's manifest."""
    async with httpx.AsyncClient(base_url=settings.api_url, timeout=15, transport=transport, trust_env=True) as http:
        slack = _Slack(http)
        try:
            async for finding in _examine_app(slack, settings, service, clock, config_token):
                yield finding
        except ChatUnreachable as error:
            yield error.finding


class _Slack:
    """A client of Slack's Web API. Raises ChatUnreachable if Slack gives no usable answer."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self.date: str | None = None
        self.scopes: frozenset[str] = frozenset()

    async def call(self, method: str, token: str, **arguments: str) -> Body:
        """Returns Slack's answer, which may be an error."""
        headers = {"Authorization": f"Bearer {token}"}
        try:
            answer = await self._http.post(method, data=arguments, headers=headers)
        except httpx.HTTPError as error:
            problem = f"connection: {self._http.base_url} does not answer ({str(error) or type(error).__name__})"
            cure = "check the network, the proxy (HTTPS_PROXY) and SLACK_API_URL"
            raise ChatUnreachable(CheckResult(False, problem, cure)) from None
        self.date = answer.headers.get("date", self.date)
        if answer.status_code == 429:
            cure = f"try again in {answer.headers.get('retry-after', 'a few')} s"
            raise ChatUnreachable(CheckResult(False, f"rate limit: Slack asks to wait before {method}", cure))
        if not answer.is_success:
            problem = f"connection: Slack answered {answer.status_code} to {method}"
            raise ChatUnreachable(CheckResult(False, problem, "try again later; see https://slack-status.com"))
        if scopes := answer.headers.get("x-oauth-scopes"):
            self.scopes = frozenset(scope.strip() for scope in scopes.split(","))
        said_body = answer.json()
        return said_body if isinstance(said_body, dict) else {}


async def _examine_app(
    slack: _Slack,
    settings: SlackSettings,
    service: ServiceClient | None,
    clock: Clock,
    config_token: str,
) -> AsyncIterator[CheckResult]:
    places, known = await places_of(service, "slack")
    tokens, troubles = await _tokens(settings, service, places)
    for finding in troubles:
        yield finding
    good: dict[str, str] = {}
    for workspace, token in tokens.items():
        response = await slack.call("auth.test", token)
        yield token_finding(workspace, response)
        if response.get("ok"):
            good[str(response.get("team_id", workspace))] = token
            for finding in scope_findings(slack.scopes, str(response.get("team", workspace))):
                yield finding
    if (skewed := clock_finding(slack.date, clock())) is not None:
        yield skewed
    yield await _delivery_finding(slack, settings)
    for finding in await _manifest_findings(slack, settings, config_token):
        yield finding
    yield known
    for place in places:
        if place.workspace in good:
            yield await _place_finding(slack, place, good[place.workspace])
        elif place.workspace not in tokens:
            yield CheckResult(
                False,
                f"{place_name(place)}: no token for its workspace {place.workspace}",
                f"install the app there: {_PAGE}",
            )


async def _tokens(
    settings: SlackSettings, service: ServiceClient | None, places: tuple[PostingChannel, ...]
) -> tuple[dict[str, str], list[CheckResult]]:
    """Returns a token for each workspace that has one, and findings about the others."""
    if settings.bot_token is not None:
        return {"": settings.bot_token.get_secret_value()}, []
    found: dict[str, str] = {}
    troubles: list[CheckResult] = []
    for workspace in dict.fromkeys(place.workspace for place in places):
        try:
            kept = await service.installation_find("slack", workspace) if service is not None else None
        except (ServiceUnavailable, ServiceRefused) as error:
            troubles.append(CheckResult(False, f"installation: {error}", "check the service's DAILYGRAD_TOKEN_KEY"))
            continue
        if kept is None:
            cure = "open the install page again: /slack/install at the bot's public URL"
            troubles.append(
                CheckResult(False, f"installation: the app is not installed in workspace {workspace}", cure)
            )
        else:
            found[workspace] = kept.token.get_secret_value()
    return found, troubles or [CheckResult(True, f"installations: {len(found)} checked, by OAuth")]


def token_finding(workspace: str, response: Body) -> CheckResult:
    """Checks that Slack accepts the bot's token."""
    if response.get("ok"):
        return CheckResult(True, f"token: valid, for {response.get('user')} in {response.get('team')}")
    error = str(response.get("error", "an unreadable response"))
    where = f" of workspace {workspace}" if workspace else ""
    return CheckResult(False, f"token{where}: rejected by Slack with {error}", _TOKEN_WRONG.get(error, f"see {_PAGE}"))


def scope_findings(held: frozenset[str], team: str) -> Iterator[CheckResult]:
    """Reports each missing scope with what it is for."""
    missing = [scope for scope in BOT_SCOPES if scope not in held]
    for scope in missing:
        cure = f"{_PAGE}, OAuth & Permissions, Bot Token Scopes: add {scope}; {_REINSTALL}"
        yield CheckResult(False, f"scopes: {scope} is missing in {team}; needed for {WHY[scope]}", cure)
    if not missing:
        more = sorted(held - set(BOT_SCOPES))
        note = f"not needed: {', '.join(more)}" if more else ""
        yield CheckResult(True, f"scopes: all {len(BOT_SCOPES)} granted in {team}", note)


async def _delivery_finding(slack: _Slack, settings: SlackSettings) -> CheckResult:
    """Checks that Slack's events can reach the bot."""
    if settings.mode is Mode.http or settings.app_token is None:
        cure = f"the app's Request URLs must point to /slack/events on this bot's port {settings.http_port}"
        return CheckResult(
            True, "events: signed HTTP; whether Slack can reach this bot cannot be checked from here", cure
        )
    # Requesting a WebSocket URL does not open a connection.
    response = await slack.call("apps.connections.open", settings.app_token.get_secret_value())
    if response.get("ok"):
        return CheckResult(True, "events: Socket Mode; the app-level token is accepted")
    error = str(response.get("error", "an unreadable response"))
    cures = {
        "missing_scope": f"{_PAGE}, Basic Information, App-Level Tokens: add the scope connections:write",
        "forbidden": f"{_PAGE}, Socket Mode: turn it on",
    }
    new = f"create an app-level token with connections:write ({_PAGE}, Basic Information); turn on Socket Mode"
    return CheckResult(False, f"events: Slack rejects the app-level token with {error}", cures.get(error, new))


async def _manifest_findings(slack: _Slack, settings: SlackSettings, config_token: str) -> list[CheckResult]:
    """Compares the app's manifest at Slack with the one this version generates."""
    app = _app_id(settings)
    if not config_token or not app:
        cure = (
            f"paste the output of `dailygrad bot slack-manifest` into {_PAGE}, App Manifest; or set "
            "SLACK_CONFIG_TOKEN (Your App Configuration Tokens on that page) and SLACK_APP_TOKEN to have it compared"
        )
        return [CheckResult(True, "manifest: not compared", cure)]
    response = await slack.call("apps.manifest.export", config_token, app_id=app)
    if not response.get("ok"):
        cure = f"create a new one: {_PAGE}, Your App Configuration Tokens"
        return [CheckResult(False, f"manifest: Slack rejects SLACK_CONFIG_TOKEN with {response.get('error')}", cure)]
    differences = list(manifest_differences(dict(response.get("manifest") or {}), socket=settings.mode is Mode.socket))
    cure = f"paste the output of `dailygrad bot slack-manifest` into {_PAGE}/{app}, App Manifest; {_REINSTALL}"
    return [CheckResult(False, f"manifest: {one}", cure) for one in differences] or [
        CheckResult(True, "manifest: up to date")
    ]


def _app_id(settings: SlackSettings) -> str:
    """Returns the app's id, which is part of an app-level token: `xapp-1-A012345-…`."""
    parts = settings.app_token.get_secret_value().split("-") if settings.app_token else []
    return parts[2] if len(parts) > 2 and parts[2].startswith("A") else ""


def manifest_differences(theirs: Body, *, socket: bool) -> Iterator[str]:
    """Describes what the app at Slack lacks. Anything it has in addition is fine."""
    ours = app_manifest()
    features, settings = theirs.get("features") or {}, theirs.get("settings") or {}
    known = {one.get("command") for one in features.get("slash_commands") or []}
    for command in ours["features"]["slash_commands"]:
        if command["command"] not in known:
            yield f"the command {command['command']} is missing"
    scopes = ((theirs.get("oauth_config") or {}).get("scopes") or {}).get("bot") or []
    yield from (f"the scope {scope} is missing" for scope in BOT_SCOPES if scope not in scopes)
    events = (settings.get("event_subscriptions") or {}).get("bot_events") or []
    yield from (f"the event {event} is not subscribed" for event in BOT_EVENTS if event not in events)
    if not (settings.get("interactivity") or {}).get("is_enabled"):
        yield "interactivity is off, so buttons do not work"
    home = features.get("app_home") or {}
    if not home.get("home_tab_enabled"):
        yield "the home tab is off"
    if not home.get("messages_tab_enabled") or home.get("messages_tab_read_only_enabled"):
        yield "the messages tab is off or read-only, so nobody can message the bot"
    if bool(settings.get("socket_mode_enabled")) != socket:
        yield (
            "Socket Mode is off, but the bot is configured to use it"
            if socket
            else "Socket Mode is on, so Slack sends nothing over HTTP"
        )


async def _place_finding(slack: _Slack, place: PostingChannel, token: str) -> CheckResult:
    """Checks that the bot is a member of a scheduled channel."""
    name = place_name(place)
    response = await slack.call("conversations.info", token, channel=place.channel)
    if not response.get("ok"):
        error = str(response.get("error", "an unreadable response"))
        if error == "channel_not_found":
            cure = "type /invite @Dailygrad there; if the channel was deleted, remove its schedule"
            return CheckResult(False, f"{name}: it is private and the bot is not a member, or it was deleted", cure)
        return CheckResult(
            False, f"{name}: Slack says {error}", "add the missing scope, or check the channel's settings"
        )
    channel = response.get("channel") or {}
    if channel.get("is_archived"):
        return CheckResult(False, f"{name}: archived", "unarchive it, or remove its schedule")
    if not channel.get("is_member"):
        return CheckResult(False, f"{name}: the bot is not a member", "type /invite @Dailygrad there")
    return CheckResult(True, f"{name}: the bot is a member")
