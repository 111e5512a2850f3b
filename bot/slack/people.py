"""Looks up what members are and bring: their names, whether they are admins, and the Python files of their messages."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Callable, Collection
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientResponseError
from slack_sdk.errors import SlackApiError

from bot.core.cards import Card
from bot.core.events import Sent
from bot.core.text.results import file_too_long_card, file_unread_card
from bot.slack.auth import InstallationTokens
from bot.slack.route import FileRef, Route, read_files
from bot.slack.web_api import NotInstalled, SlackWeb, error_code
from service.client import ServiceRefused, ServiceUnavailable
from service.wire import Who

_LOG = logging.getLogger(__name__)
_MAX_AGE = timedelta(minutes=5)
_MAX_ENTRIES = 20_000
_NAME_LENGTH = 80
_ASK_S = 2.0
MAX_FILE_BYTES = 100_000
"""Largest program the service accepts, bytes."""


class AdminUnknown(Exception):
    """Slack did not say whether a member is an admin; the message is for that member."""


class MemberDirectory:
    """Looks up members' names and rights, and caches them. `managers` are admins besides the workspace's own."""

    def __init__(
        self, web: SlackWeb, tokens: InstallationTokens, clock: Callable[[], datetime], managers: Collection[str]
    ) -> None:
        self._web = web
        self._tokens = tokens
        self._clock = clock
        self._managers = managers
        self._cache: OrderedDict[tuple[str, str], tuple[str, bool, datetime]] = OrderedDict()

    async def resolve(self, who: Who, enterprise: str = "", *, admin_matters: bool = False) -> Who:
        """Returns `who` with their name and rights. Raises AdminUnknown if those matter and Slack does not answer.

        Without an answer, the name from the payload is used.
        """
        manager = who.member in self._managers
        held = self._cache.get((who.workspace, who.member))
        if held is None or self._clock() - held[2] >= _MAX_AGE:
            try:
                held = await self._fetch(who, enterprise)
            except (
                SlackApiError,
                ClientError,
                TimeoutError,
                NotInstalled,
                ServiceUnavailable,
                ServiceRefused,
            ) as error:
                _LOG.warning("cannot look up %s: %s", who.member, _cause(error))
                if admin_matters and not manager and held is None:
                    raise AdminUnknown(_admin_unknown_text(error)) from error
        if held is None:
            return who.model_copy(update={"admin": manager})
        return who.model_copy(update={"name": held[0], "admin": held[1] or manager})

    async def _fetch(self, who: Who, enterprise: str) -> tuple[str, bool, datetime]:
        async with asyncio.timeout(_ASK_S):
            installation = await self._tokens.find(who.workspace, enterprise)
            client = self._web.client(installation.token.get_secret_value())
            user = (await client.users_info(user=who.member))["user"]
        admin = bool(user.get("is_admin") or user.get("is_owner") or user.get("is_primary_owner"))
        held = (_name_of(user) or who.name, admin, self._clock())
        self._cache[who.workspace, who.member] = held
        self._cache.move_to_end((who.workspace, who.member))
        if len(self._cache) > _MAX_ENTRIES:
            self._cache.popitem(last=False)
        return held


def _name_of(user: dict[str, Any]) -> str:
    profile = user.get("profile") or {}
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))
    return next((str(name).strip()[:_NAME_LENGTH] for name in names if name and str(name).strip()), "")


def _cause(error: Exception) -> str:
    return error_code(error) if isinstance(error, SlackApiError) else str(error) or type(error).__name__


def _admin_unknown_text(error: Exception) -> str:
    if isinstance(error, SlackApiError) and error_code(error) == "missing_scope":
        return (
            "I cannot see who is an admin here: the app lacks the scope `users:read`. Add it and reinstall the app, "
            "or list the admins in DAILYGRAD_SLACK_MANAGERS."
        )
    return "Slack did not say whether you are an admin. Try again in a minute."


# Files


class FileFetcher:
    """Downloads the Python files of messages."""

    def __init__(self, web: SlackWeb, tokens: InstallationTokens) -> None:
        self._web = web
        self._tokens = tokens

    async def with_files(self, event: Sent, route: Route) -> Sent | Card:
        """Returns the event with its files' texts, or a card that says why a file was rejected."""
        texts: list[tuple[str, str]] = []
        for file in read_files(route.files):
            text = await self._download(file, route)
            if isinstance(text, Card):
                return text
            texts.append((file.name, text))
        return replace(event, files=tuple(texts))

    async def _download(self, file: FileRef, route: Route) -> str | Card:
        if not is_slack_url(file.url, self._web.api_url):
            return file_unread_card(file.name, "It is not kept by Slack. Upload it as a file, or paste the code.")
        if file.size > MAX_FILE_BYTES:
            return file_too_long_card(file.name, MAX_FILE_BYTES)
        try:
            installation = await self._tokens.find(route.team, route.enterprise)
            content = await self._web.download(file.url, installation.token.get_secret_value(), MAX_FILE_BYTES)
            # Slack redirects to a login page if the app may not read the file.
            return file_too_long_card(file.name, MAX_FILE_BYTES) if content is None else content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return file_unread_card(file.name, "It is not a text in UTF-8. Save it so and send it again.")
        except (ClientError, TimeoutError, NotInstalled, ServiceUnavailable, ServiceRefused) as error:
            _LOG.warning("cannot download a file in %s: %s", route.team, error)
            return file_unread_card(file.name, _fix(error))


def is_slack_url(url: str, api_url: str) -> bool:
    """Returns whether a URL may receive the token: Slack's API host and its subdomains, never over a weaker scheme."""
    target, api = urlsplit(url), urlsplit(api_url)
    host, home = target.hostname or "", api.hostname or ""
    if target.scheme != "https" and target.scheme != api.scheme:
        return False
    if target.netloc == api.netloc:
        return True
    # A proxy only replaces the API; files still come from Slack.
    return target.scheme == "https" and any(
        host == one or host.endswith(f".{one}") for one in (home, "slack.com", "slack-gov.com") if one
    )


def _fix(error: Exception) -> str:
    if isinstance(error, ClientResponseError) and error.status in (302, 401, 403):
        return "The app may not see files here: an admin adds the scope files:read. Until then, paste the code."
    return "Please send it again in a minute, or paste the code."
