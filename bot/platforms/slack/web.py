"""Slack's Web API: a client for each token over one pool of connections. No retries: who calls knows what one does."""

from __future__ import annotations

from types import TracebackType
from typing import Any, Self

from aiohttp import ClientError, ClientSession, ClientTimeout, TCPConnector, TraceConfig
from slack_sdk.web.async_client import AsyncWebClient

from bot.core.metrics import count_responses

_CONNECTIONS = 100
_CALL_S = 15
_DOWNLOAD_S = 10.0


class RespondFailed(Exception):
    """A `response_url` did not take the reply: used up, too old, or away."""


class SlackWeb:
    """Use it as a context; the connections end with it."""

    def __init__(self, api_url: str) -> None:
        self.api_url = api_url
        self._session: ClientSession | None = None

    async def __aenter__(self) -> Self:
        counted = count_responses(TraceConfig(), "slack")
        connector = TCPConnector(limit=_CONNECTIONS)
        self._session = ClientSession(connector=connector, trust_env=True, trace_configs=[counted])
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.session.close()

    @property
    def session(self) -> ClientSession:
        assert self._session is not None, "entered as a context first"
        return self._session

    def client(self, token: str | None = None) -> AsyncWebClient:
        """A client for that token. The library's default retry after a dropped connection posts twice, so it is out."""
        return AsyncWebClient(
            token=token, base_url=self.api_url, timeout=_CALL_S, session=self.session, retry_handlers=[]
        )

    async def respond(self, url: str, body: dict[str, Any]) -> None:
        """Say something by a payload's `response_url`. Raises RespondFailed."""
        try:
            async with self.session.post(url, json=body, timeout=ClientTimeout(_CALL_S)) as answer:
                said = await answer.text()
        except (ClientError, TimeoutError) as error:
            raise RespondFailed(str(error) or type(error).__name__) from error
        # Some failures come with status 200 and say so in their body.
        if answer.status >= 400 or '"ok":false' in said.replace(" ", ""):
            raise RespondFailed(f"{answer.status} {said[:200]}")

    async def upload(self, url: str, content: bytes) -> None:
        """Hand a file's bytes to the address Slack gave for it. Raises ClientError."""
        async with self.session.post(url, data=content, timeout=ClientTimeout(_CALL_S)) as answer:
            answer.raise_for_status()

    async def download(self, url: str, token: str, most: int) -> bytes | None:
        """A file of the workspace; None where it is longer than `most`. Raises ClientError, TimeoutError."""
        headers = {"Authorization": f"Bearer {token}"}
        timeout = ClientTimeout(_DOWNLOAD_S)
        # A redirect could carry the token elsewhere.
        async with self.session.get(url, headers=headers, timeout=timeout, allow_redirects=False) as answer:
            answer.raise_for_status()
            content = b""
            async for part in answer.content.iter_chunked(16_384):
                content += part
                if len(content) > most:
                    return None
            return content
