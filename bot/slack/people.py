"""Who somebody is on Slack: what they go by, and whether they are an admin. Asked seldom, for an answer lasts."""

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
from bot.slack.web_api import NotInstalled, SlackWeb, code_of
from service.client import ServiceRefused, ServiceUnavailable
from service.wire import Who

_LOG = logging.getLogger(__name__)
_FRESH = timedelta(minutes=5)
_MANY = 20_000
_NAME_LENGTH = 80
_ASK_S = 2.0


class CannotTell(Exception):
    """Slack did not say whether somebody is an admin; the message is for them."""


class People:
    """`managers` are admins beside the workspace's own."""

    def __init__(
        self, web: SlackWeb, tokens: InstallationTokens, clock: Callable[[], datetime], managers: Collection[str]
    ) -> None:
        self._web = web
        self._tokens = tokens
        self._clock = clock
        self._managers = managers
        self._known: OrderedDict[tuple[str, str], tuple[str, bool, datetime]] = OrderedDict()

    async def known(self, who: Who, enterprise: str = "", *, admin_matters: bool = False) -> Who:
        """`who` with their name and rights. Raises CannotTell where those matter and Slack does not say.

        Where Slack does not say who it is, a name from the payload will do.
        """
        manager = who.member in self._managers
        held = self._known.get((who.workspace, who.member))
        if held is None or self._clock() - held[2] >= _FRESH:
            try:
                held = await self._ask(who, enterprise)
            except (
                SlackApiError,
                ClientError,
                TimeoutError,
                NotInstalled,
                ServiceUnavailable,
                ServiceRefused,
            ) as error:
                _LOG.warning("Slack did not say who %s is: %s", who.member, _cause(error))
                if admin_matters and not manager and held is None:
                    raise CannotTell(_cannot_tell(error)) from error
        if held is None:
            return who.model_copy(update={"admin": manager})
        return who.model_copy(update={"name": held[0], "admin": held[1] or manager})

    async def _ask(self, who: Who, enterprise: str) -> tuple[str, bool, datetime]:
        async with asyncio.timeout(_ASK_S):
            installation = await self._tokens.of(who.workspace, enterprise)
            client = self._web.client(installation.token.get_secret_value())
            user = (await client.users_info(user=who.member))["user"]
        admin = bool(user.get("is_admin") or user.get("is_owner") or user.get("is_primary_owner"))
        held = (_name_of(user) or who.name, admin, self._clock())
        self._known[who.workspace, who.member] = held
        self._known.move_to_end((who.workspace, who.member))
        if len(self._known) > _MANY:
            self._known.popitem(last=False)
        return held


def _name_of(user: dict[str, Any]) -> str:
    profile = user.get("profile") or {}
    names = (profile.get("display_name"), profile.get("real_name"), user.get("real_name"), user.get("name"))
    return next((str(name).strip()[:_NAME_LENGTH] for name in names if name and str(name).strip()), "")


def _cause(error: Exception) -> str:
    return code_of(error) if isinstance(error, SlackApiError) else str(error) or type(error).__name__


def _cannot_tell(error: Exception) -> str:
    if isinstance(error, SlackApiError) and code_of(error) == "missing_scope":
        return (
            "Slack does not let me see who is an admin here: the app lacks the scope `users:read`. Add it and "
            "reinstall the app, or name the admins in DAILYGRAD_SLACK_MANAGERS."
        )
    return "Slack did not say just now whether you are an admin. Please try again in a minute."


# The Python files of a message, fetched from Slack: short ones, and from Slack's own hosts alone.


MOST = 100_000
"""Bytes of a program; the service takes no more."""


class FileFetcher:
    """Fetches what a message brought."""

    def __init__(self, web: SlackWeb, tokens: InstallationTokens) -> None:
        self._web = web
        self._tokens = tokens

    async def with_files(self, event: Sent, route: Route) -> Sent | Card:
        """The event with its files' texts, or why there is none."""
        texts: list[tuple[str, str]] = []
        for file in read_files(route.files):
            text = await self._text(file, route)
            if isinstance(text, Card):
                return text
            texts.append((file.name, text))
        return replace(event, files=tuple(texts))

    async def _text(self, file: FileRef, route: Route) -> str | Card:
        if not of_slack(file.url, self._web.api_url):
            return file_unread_card(file.name, "It is not kept by Slack. Upload it as a file, or paste the code.")
        if file.size > MOST:
            return file_too_long_card(file.name, MOST)
        try:
            installation = await self._tokens.of(route.team, route.enterprise)
            content = await self._web.download(file.url, installation.token.get_secret_value(), MOST)
            # Slack sends whoever may not see a file to a page to sign in.
            return file_too_long_card(file.name, MOST) if content is None else content.decode("utf-8-sig")
        except UnicodeDecodeError:
            return file_unread_card(file.name, "It is not a text in UTF-8. Save it so and send it again.")
        except (ClientError, TimeoutError, NotInstalled, ServiceUnavailable, ServiceRefused) as error:
            _LOG.warning("a file of %s could not be fetched: %s", route.team, error)
            return file_unread_card(file.name, _cure(error))


def of_slack(url: str, api_url: str) -> bool:
    """Whether a token may be sent there: to the API's own host and those beneath it, by the same scheme or better."""
    asked, api = urlsplit(url), urlsplit(api_url)
    host, home = asked.hostname or "", api.hostname or ""
    if asked.scheme != "https" and asked.scheme != api.scheme:
        return False
    if asked.netloc == api.netloc:
        return True
    # A proxy stands before the API alone; files are still Slack's.
    return asked.scheme == "https" and any(
        host == one or host.endswith(f".{one}") for one in (home, "slack.com", "slack-gov.com") if one
    )


def _cure(error: Exception) -> str:
    if isinstance(error, ClientResponseError) and error.status in (302, 401, 403):
        return "The app may not see files here: an admin adds the scope files:read. Until then, paste the code."
    return "Please send it again in a minute, or paste the code."
