"""The Python files of a message, fetched from Slack: short ones, and from Slack's own hosts alone."""

from __future__ import annotations

import logging
from dataclasses import replace
from urllib.parse import urlsplit

from aiohttp import ClientError, ClientResponseError

from bot.core.cards import Card
from bot.core.events import Sent
from bot.core.wording.late import file_too_long_card, file_unread_card
from bot.platforms.slack.errors import NotInstalled
from bot.platforms.slack.route import FileRef, Route, read_files
from bot.platforms.slack.tokens import Tokens
from bot.platforms.slack.web import SlackWeb
from service.client import ServiceRefused, ServiceUnavailable

_LOG = logging.getLogger(__name__)

MOST = 100_000
"""Bytes of a program; the service takes no more."""


class Files:
    """Fetches what a message brought."""

    def __init__(self, web: SlackWeb, tokens: Tokens) -> None:
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
