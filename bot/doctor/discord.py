"""Checks a Discord bot over the REST API: token, clock, application, gateway, commands, servers, permissions."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from typing import Any, Final
from urllib.parse import urlencode

import httpx

from bot.discord.access import NEEDED
from bot.discord.commands import WITH_TRANSLATIONS, application_commands, describe_changes
from bot.discord.settings import DiscordSettings
from bot.doctor.checks import ChatUnreachable, CheckResult, clock_finding, place_name, places_of
from service.client import ServiceClient
from service.process import Clock
from service.wire import PostingChannel

Body = dict[str, Any]

PERMISSIONS: Final = sum(NEEDED.values())
_ADMINISTRATOR: Final = 1 << 3
_ALL: Final = -1
"""Every permission, as bits."""
_PAGE: Final = 200
"""Servers that Discord returns at a time."""
_FEW_STARTS: Final = 20
"""Connections left today below which something is wrong."""
_ROLE, _MEMBER = 0, 1
"""Types of permission overwrites. Docs: resources/channel, Overwrite Object."""


def install_link(application: str) -> str:
    """Returns the link that adds the bot to a server, with exactly the permissions it needs."""
    query = {"client_id": application, "scope": "bot applications.commands", "permissions": str(PERMISSIONS)}
    return f"https://discord.com/oauth2/authorize?{urlencode(query)}"


async def examine_discord(
    settings: DiscordSettings,
    service: ServiceClient | None,
    clock: Clock,
) -> AsyncIterator[CheckResult]:
    """Runs every check, until Discord stops answering."""
    headers = {"Authorization": f"Bot {settings.bot_token}"}
    async with httpx.AsyncClient(base_url=settings.api_url, headers=headers, timeout=15, trust_env=True) as http:
        discord = _Discord(http)
        try:
            async for finding in _examine_bot(discord, settings, service, clock):
                yield finding
        except ChatUnreachable as error:
            yield error.finding


class _Discord:
    """A client of Discord's API. Raises ChatUnreachable if Discord gives no usable answer."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self._http = http
        self.date: str | None = None

    async def get(self, path: str, **query: str) -> Any:
        """Returns the resource, or None if it does not exist or is not visible."""
        try:
            answer = await self._http.get(path, params=query)
        except httpx.HTTPError as error:
            problem = f"connection: {self._http.base_url} does not answer ({str(error) or type(error).__name__})"
            cure = "check the network, the proxy (HTTPS_PROXY) and DISCORD_API_URL"
            raise ChatUnreachable(CheckResult(False, problem, cure)) from None
        self.date = answer.headers.get("date", self.date)
        if answer.status_code == 401:
            cure = "reset it in the developer portal, under Bot, and set DISCORD_TOKEN to it without the word Bot"
            raise ChatUnreachable(CheckResult(False, "token: rejected by Discord", cure))
        if answer.status_code in (403, 404):
            return None
        if answer.status_code == 429:
            raise ChatUnreachable(
                CheckResult(False, "rate limit: Discord asks to wait", f"try again in {_seconds(answer)} s")
            )
        if not answer.is_success:
            raise ChatUnreachable(
                CheckResult(False, f"connection: Discord answered {answer.status_code} to {path}", "try again later")
            )
        return answer.json()


def _seconds(answer: httpx.Response) -> str:
    return str(answer.headers.get("retry-after", "a few"))


async def _examine_bot(
    discord: _Discord, settings: DiscordSettings, service: ServiceClient | None, clock: Clock
) -> AsyncIterator[CheckResult]:
    me = await discord.get("/users/@me") or {}
    yield CheckResult(True, f"token: valid, for {me.get('username')}")
    if (skewed := clock_finding(discord.date, clock())) is not None:
        yield skewed
    application = await discord.get("/applications/@me") or {}
    for finding in application_findings(application, settings.application_id):
        yield finding
    yield gateway_finding(await discord.get("/gateway/bot") or {})
    id = str(application.get("id", me.get("id")))
    yield commands_finding(await discord.get(f"/applications/{id}/commands", **WITH_TRANSLATIONS) or [])
    guilds = await _guilds(discord)
    link = install_link(id)
    named = ", ".join(str(guild["name"]) for guild in guilds[:5]) + (" …" if len(guilds) > 5 else "")
    yield CheckResult(
        bool(guilds), f"servers: {named or 'the bot is in no server'}", "" if guilds else "open the install link"
    )
    yield CheckResult(True, f"install link: {link}")
    places, known = await places_of(service, "discord")
    yield known
    for place in places:
        yield await _place_finding(discord, place, str(me.get("id")), link)


def application_findings(application: Body, configured: int | None) -> Iterable[CheckResult]:
    """Reports settings of the developer portal that keep the bot from working."""
    id = str(application.get("id"))
    page = f"https://discord.com/developers/applications/{id}"
    if configured is not None and str(configured) != id:
        yield CheckResult(
            False,
            f"application: DISCORD_APPLICATION_ID is {configured}, but the token belongs to {id}",
            "unset it; the bot reads the id from the token",
        )
    if application.get("bot_require_code_grant"):
        cure = f"turn off Requires OAuth2 Code Grant: {page}/bot"
        yield CheckResult(False, "application: cannot be added to servers by a link", cure)
    if application.get("interactions_endpoint_url"):
        cure = f"clear Interactions Endpoint URL: {page}/information"
        yield CheckResult(
            False, "application: clicks and commands go to an endpoint URL and never reach this bot", cure
        )
    if not application.get("bot_public", True):
        yield CheckResult(
            True,
            "application: private; only its owner can add it to servers",
            f"to change that, turn on Public Bot: {page}/bot",
        )
    yield CheckResult(True, "intents: guilds only, which needs no approval")


def gateway_finding(gateway: Body) -> CheckResult:
    """Reports how many more times the bot may connect today."""
    limit = gateway.get("session_start_limit") or {}
    left, shards = limit.get("remaining", 1), gateway.get("shards", 1)
    text = f"gateway: {left} of {limit.get('total', '?')} connections left today, {shards} shard{'s' * (shards != 1)}"
    if left < _FEW_STARTS:
        hours = limit.get("reset_after", 0) / 3_600_000
        return CheckResult(
            False,
            text,
            f"find out why the bot restarts: at 0 Discord resets the token; more in {hours:.0f} hours",
        )
    return CheckResult(True, text)


def commands_finding(known: list[Body]) -> CheckResult:
    """Checks that the registered commands are those of this version."""
    changed = describe_changes(known, application_commands())
    if not changed:
        return CheckResult(True, "commands: registered and up to date")
    return CheckResult(False, f"commands: out of date ({', '.join(changed)})", "run: dailygrad bot discord-sync")


async def _guilds(discord: _Discord) -> list[Body]:
    found: list[Body] = []
    while True:
        more = {"after": str(found[-1]["id"])} if found else {}
        page = await discord.get("/users/@me/guilds", limit=str(_PAGE), **more) or []
        found += page
        if len(page) < _PAGE:
            return found


async def _place_finding(discord: _Discord, place: PostingChannel, me: str, link: str) -> CheckResult:
    """Checks the bot's permissions in a scheduled channel."""
    name = place_name(place)
    guild = await discord.get(f"/guilds/{place.workspace}")
    if guild is None:
        cure = f"add the bot again ({link}), or remove the schedule"
        return CheckResult(False, f"{name}: the bot is no longer in its server {place.workspace}", cure)
    channel = await discord.get(f"/channels/{place.channel}")
    if channel is None:
        cure = "give the bot's role View Channel there; if the channel was deleted, remove its schedule"
        return CheckResult(False, f"{name} ({guild['name']}): the bot cannot see this channel", cure)
    member = await discord.get(f"/guilds/{place.workspace}/members/{me}") or {}
    held = permissions(guild, channel, member, me)
    missing = [words for words, bit in NEEDED.items() if not held & bit]
    if missing:
        cure = f"in Edit Channel, Permissions, the bot's role: allow {', '.join(missing)}; or add the bot again: {link}"
        return CheckResult(False, f"{name} ({guild['name']}): missing {', '.join(missing)}", cure)
    return CheckResult(True, f"{name} ({guild['name']}): all permissions granted")


def permissions(guild: Body, channel: Body, member: Body, me: str) -> int:
    """Computes the bot's permissions in a channel. Docs: topics/permissions, Permission Overwrites."""
    everyone = str(guild["id"])
    roles = {everyone, *map(str, member.get("roles", []))}
    held = 0
    for role in guild.get("roles", []):
        if str(role["id"]) in roles:
            held |= int(role["permissions"])
    if held & _ADMINISTRATOR or str(guild.get("owner_id")) == me:
        return _ALL
    overwrites = channel.get("permission_overwrites", [])
    mine = [[one for one in overwrites if str(one["id"]) == everyone]]
    mine.append([one for one in overwrites if one["type"] == _ROLE and str(one["id"]) in roles - {everyone}])
    mine.append([one for one in overwrites if one["type"] == _MEMBER and str(one["id"]) == me])
    for level in mine:
        for one in level:
            held &= ~int(one["deny"])
        for one in level:
            held |= int(one["allow"])
    return held
