"""Looks up what members are and bring: their names, whether they are admins, and the Python files of their messages."""

from __future__ import annotations

import asyncio
import logging
import re
from collections import OrderedDict
from collections.abc import Collection
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any

from aiohttp import ClientError, ClientResponseError
from slack_sdk.errors import SlackApiError
from yarl import URL

from bot.core.cards import Card
from bot.core.events import Sent, Submit
from bot.core.text import slack
from bot.core.text.results import file_too_long_card, file_unread_card
from bot.slack.auth import InstallationTokens
from bot.slack.route import FileRef, Route, read_files
from bot.slack.web_api import CALL_ERRORS, NotInstalled, SlackWeb, cause_of, error_code
from service.client import ServiceRefused, ServiceUnavailable
from service.process import Clock
from service.wire import Who

_LOG = logging.getLogger(__name__)
_ADMIN_MAX_AGE = timedelta(minutes=5)
"""Age up to which a member's rights are believed."""
_ADMIN_DOWN_AGE = timedelta(hours=1)
"""Age up to which they are believed while Slack does not answer."""
_NAME_MAX_AGE = timedelta(hours=1)
"""Age up to which a name is used; `user_change` events renew it sooner."""
_LIST_INTERVAL = timedelta(hours=6)
"""Time before a workspace is listed again."""
_LIST_PAGE, _LIST_PAGES = 500, 8
"""Members that Slack returns at a time, and pages that are read."""
_MAX_ENTRIES = 20_000
"""Cached members."""
_NAME_LENGTH = 80
"""Longest name of a member, characters."""
_SLACKBOT = "USLACKBOT"
"""Slack's own bot, which it lists as a person."""
_USER_ID = re.compile(r"[UW][A-Z0-9]{5,}")
_ASK_S = 2.0
"""Longest wait for Slack's answer, seconds."""
MAX_FILE_BYTES = 100_000
"""Largest program the service accepts, bytes."""


class AdminUnknown(Exception):
    """Slack did not say whether a member is an admin; the message is for that member."""


@dataclass(frozen=True, slots=True)
class KnownMember:
    """What Slack says of a member."""

    name: str
    admin: bool
    zone: str
    """IANA time zone; empty if Slack does not say."""
    at: datetime
    person: bool
    """Whether they can take part: a bot and a deactivated account cannot."""
    names: frozenset[str]
    """Every name that others may type for them, in lower case."""


class MemberDirectory:
    """Looks up members' names, rights and time zones, and caches them. `managers` are admins besides the workspace's
    own.

    A workspace is listed once, because `users.info` allows a hundred calls a minute and a question may bring three
    hundred members in one. After that, only admins' commands ask about a single member.
    """

    def __init__(self, web: SlackWeb, tokens: InstallationTokens, clock: Clock, managers: Collection[str]) -> None:
        self._web = web
        self._tokens = tokens
        self._clock = clock
        self._managers = managers
        self._cache: OrderedDict[tuple[str, str], KnownMember] = OrderedDict()
        self._listed: dict[str, datetime] = {}
        self._listing: dict[str, asyncio.Task[None]] = {}

    async def resolve(self, who: Who, enterprise: str = "", *, admin_matters: bool = False) -> Who:
        """Returns `who` with their name and rights. Raises AdminUnknown if those matter and Slack does not answer.

        Without an answer, the name from the payload is used.
        """
        manager = who.member in self._managers
        known = self._cached(who)
        try:
            known = await self._look_up(who, enterprise, _ADMIN_MAX_AGE if admin_matters else _NAME_MAX_AGE)
        except CALL_ERRORS as error:
            _LOG.warning("cannot look up %s: %s", who.member, cause_of(error))
            old = known is None or self._clock() - known.at > _ADMIN_DOWN_AGE
            if admin_matters and not manager and old:
                raise AdminUnknown(_admin_unknown_text(error)) from error
        if known is None:
            return who.model_copy(update={"admin": manager})
        return who.model_copy(update={"name": known.name, "admin": known.admin or manager})

    async def find_zone(self, who: Who) -> str:
        """Returns the member's time zone; empty if Slack does not say."""
        try:
            return (await self._look_up(who, "", _NAME_MAX_AGE)).zone
        except CALL_ERRORS as error:
            _LOG.warning("cannot look up the time zone of %s: %s", who.member, cause_of(error))
            return ""

    async def find_member(self, who: Who, named: str) -> tuple[str, str] | None:
        """Returns the id and the name of the person in the member's workspace whom an id or a name means.

        None for bots, if nobody or more than one has the name, and if Slack does not answer.
        """
        try:
            if _USER_ID.fullmatch(named):
                asked = who.model_copy(update={"member": named, "name": ""})
                known = await self._look_up(asked, "", _NAME_MAX_AGE)
                return (named, known.name) if known.person else None
            async with asyncio.timeout(_ASK_S):
                await self._list(who.workspace, "")
        except CALL_ERRORS as error:
            _LOG.warning("cannot look up a member by name: %s", cause_of(error))
        name = named.removeprefix("@").casefold()
        found = [
            (member, known.name)
            for (team, member), known in self._cache.items()
            if team == who.workspace and known.person and name in known.names
        ]
        return found[0] if len(found) == 1 else None

    def update(self, team: str, user: dict[str, Any]) -> None:
        """Takes what an event says of a member who changed or joined."""
        if user.get("id"):
            self._remember(team, user)

    async def close(self) -> None:
        """Cancels listings that are under way."""
        left = list(self._listing.values())
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)

    def _cached(self, who: Who) -> KnownMember | None:
        return self._cache.get((who.workspace, who.member))

    async def _look_up(self, who: Who, enterprise: str, max_age: timedelta) -> KnownMember:
        known = self._cached(who)
        if known is not None and self._clock() - known.at < max_age:
            return known
        async with asyncio.timeout(_ASK_S):
            if known is None and await self._list(who.workspace, enterprise):
                known = self._cached(who)
                if known is not None:
                    return known
            client = await self._tokens.client_of(self._web, who.workspace, enterprise)
            user = (await client.users_info(user=who.member))["user"]
        return self._remember(who.workspace, {**user, "id": who.member}, who.name)

    async def _list(self, team: str, enterprise: str) -> bool:
        """Lists the workspace's members, unless that was done lately. Returns whether it has just been done."""
        listed_at = self._listed.get(team)
        if listed_at is not None and self._clock() - listed_at < _LIST_INTERVAL and team not in self._listing:
            return False
        listing = self._listing.get(team)
        if listing is None:
            self._listed[team] = self._clock()
            listing = self._listing[team] = asyncio.create_task(self._fetch_all(team, enterprise))
            listing.add_done_callback(lambda _: self._listing.pop(team, None))
        # Everyone who waits shares one listing, which continues if one of them gives up.
        await asyncio.shield(listing)
        return True

    async def _fetch_all(self, team: str, enterprise: str) -> None:
        cursor = ""
        try:
            client = await self._tokens.client_of(self._web, team, enterprise)
            for _ in range(_LIST_PAGES):
                page = await client.users_list(limit=_LIST_PAGE, cursor=cursor or None)
                for user in page.get("members") or ():
                    if not user.get("deleted") and not user.get("is_bot"):
                        self._remember(team, user)
                cursor = str((page.get("response_metadata") or {}).get("next_cursor") or "")
                if not cursor:
                    return
        except CALL_ERRORS as error:
            _LOG.warning("cannot list the members of %s, so they are looked up one by one: %s", team, cause_of(error))

    def _remember(self, team: str, user: dict[str, Any], name: str = "") -> KnownMember:
        rights = user.get("is_admin") or user.get("is_owner") or user.get("is_primary_owner")
        admin = bool(rights) and _is_of(user, team)
        names = _names_of(user)
        known = KnownMember(
            next(iter(names), "") or name or str(user["id"]),
            admin,
            str(user.get("tz") or ""),
            self._clock(),
            person=not (user.get("deleted") or user.get("is_bot")) and user["id"] != _SLACKBOT,
            names=frozenset(one.casefold() for one in names),
        )
        self._cache[team, str(user["id"])] = known
        self._cache.move_to_end((team, str(user["id"])))
        if len(self._cache) > _MAX_ENTRIES:
            self._cache.popitem(last=False)
        return known


def _is_of(user: dict[str, Any], team: str) -> bool:
    """Returns whether it is an account of this workspace: a guest through Slack Connect has rights in another one."""
    teams = (user.get("enterprise_user") or {}).get("teams") or ()
    return user.get("team_id") in (None, team) or team in teams


def _names_of(user: dict[str, Any]) -> list[str]:
    """Returns a member's names; the first is the one that Slack shows."""
    profile = user.get("profile") or {}
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))
    return [str(name).strip()[:_NAME_LENGTH] for name in names if name and str(name).strip()]


def _admin_unknown_text(error: Exception) -> str:
    if isinstance(error, SlackApiError) and error_code(error) == "missing_scope":
        return slack.USERS_SCOPE_MISSING
    return slack.ADMIN_UNKNOWN


# Files


class FileFetcher:
    """Downloads the Python files of messages."""

    def __init__(self, web: SlackWeb, tokens: InstallationTokens) -> None:
        self._web = web
        self._tokens = tokens

    async def with_files(self, event: Sent | Submit, route: Route) -> Sent | Submit | Card:
        """Returns the event with its files' texts, or a card that says why a file was rejected.

        A form's file takes the place of what its field says.
        """
        texts: list[tuple[str, str]] = []
        for file in read_files(route.files):
            text = await self._download(file, route)
            if isinstance(text, Card):
                return text
            texts.append((file.name, text))
        if isinstance(event, Sent):
            return replace(event, files=tuple(texts))
        return replace(event, values={**event.values, "code": (texts[0][1],)}) if texts else event

    async def _download(self, file: FileRef, route: Route) -> str | Card:
        if not is_slack_url(file.url, self._web.api_url):
            return file_unread_card(file.name, slack.NOT_ON_SLACK)
        if file.size > MAX_FILE_BYTES:
            return file_too_long_card(file.name, MAX_FILE_BYTES)
        try:
            installation = await self._tokens.find(route.team, route.enterprise)
            content = await self._web.download(file.url, installation.token.get_secret_value(), MAX_FILE_BYTES)
            # Slack redirects to a login page if the app may not read the file.
            return file_too_long_card(file.name, MAX_FILE_BYTES) if content is None else content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return file_unread_card(file.name, slack.NOT_UTF8)
        except (ClientError, TimeoutError, NotInstalled, ServiceUnavailable, ServiceRefused) as error:
            _LOG.warning("cannot download a file in %s: %s", route.team, error)
            return file_unread_card(file.name, _fix(error))


def is_slack_url(url: str, api_url: str) -> bool:
    """Returns whether a URL may receive the token: Slack's API host and its subdomains, never over a weaker scheme.

    It is parsed as aiohttp parses it, so that no other host than this one is asked.
    """
    try:
        target, api = URL(url), URL(api_url)
    except ValueError:
        return False
    host, home = target.host or "", api.host or ""
    if (target.scheme != "https" and target.scheme != api.scheme) or target.user or target.password:
        return False
    if host and (host, target.port) == (home, api.port):
        return True
    # A proxy only replaces the API; files still come from Slack.
    return target.scheme == "https" and any(
        host == one or host.endswith(f".{one}") for one in (home, "slack.com", "slack-gov.com") if one
    )


def _fix(error: Exception) -> str:
    if isinstance(error, ClientResponseError) and error.status in (302, 401, 403):
        return slack.FILES_SCOPE_MISSING
    return slack.FILE_UNAVAILABLE
