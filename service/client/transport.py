"""How a call reaches the service: over HTTP, or straight into the ASGI app of the same process."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import Any, Protocol

import aiohttp

CONNECT_S, READ_S = 10.0, 40.0
"""Time for a connection, and for each part of a reply, seconds. A long poll waits for less."""
KEEP_ALIVE_S = 4.0
"""Time that an idle connection is kept, seconds: less than the five after which the service's server closes it."""
LONG_BODY = 500_000
"""Length of a body that is not sent at once, bytes."""


class TransportError(Exception):
    """The call was not made, or its reply was not read. It may have taken effect."""


class NotSent(TransportError):
    """The call never reached the service."""


class ConnectionLost(TransportError):
    """The connection ended before the reply did."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The response to a call."""

    status: int
    headers: Mapping[str, str]
    """By name, in any case."""
    body: bytes


class Transport(Protocol):
    """Posts JSON to the service."""

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        """Raises a TransportError, and nothing else."""
        ...

    async def close(self) -> None: ...


class HttpTransport:
    """Posts over HTTP. It opens as many connections as calls are under way."""

    def __init__(self, url: str) -> None:
        self._url = url.rstrip("/")
        self._session: aiohttp.ClientSession | None = None

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        if self._session is None:
            # Not earlier: it belongs to the loop that is running.
            self._session = aiohttp.ClientSession(
                connector=aiohttp.TCPConnector(limit=0, keepalive_timeout=KEEP_ALIVE_S),
                timeout=aiohttp.ClientTimeout(sock_connect=CONNECT_S, sock_read=READ_S),
                cookie_jar=aiohttp.DummyCookieJar(),
            )
        # A long document is sent in pieces, so that it does not hold up the loop.
        data = body if len(body) < LONG_BODY else BytesIO(body)
        sending = self._session.post(self._url + path, data=data, headers=headers, allow_redirects=False)
        try:
            async with sending as response:
                return Reply(response.status, response.headers, await response.read())
        except aiohttp.ClientSSLError as error:
            raise NotSent(str(error)) from error
        except aiohttp.ClientConnectorError as error:
            raise NotSent(f"no connection to {error.host}:{error.port} ({_reason(error.os_error)})") from error
        except aiohttp.ConnectionTimeoutError as error:
            raise NotSent(f"no connection within {CONNECT_S:g} s") from error
        except TimeoutError as error:
            raise TransportError(f"no reply within {READ_S:g} s") from error
        except (aiohttp.ClientConnectionError, aiohttp.ClientPayloadError, aiohttp.ClientResponseError) as error:
            raise ConnectionLost(str(error) or type(error).__name__) from error
        except aiohttp.ClientError as error:
            raise TransportError(str(error) or type(error).__name__) from error

    async def close(self) -> None:
        if self._session is not None:
            await self._session.close()


def _reason(error: OSError) -> str:
    # asyncio's text of a failed connection names the address again. An unknown name has a code of another kind.
    if error.errno is not None and error.errno > 0:
        return os.strerror(error.errno)
    return error.strerror or type(error).__name__


class AppTransport:
    """Calls an ASGI app without a socket."""

    def __init__(self, app: Any) -> None:
        import httpx

        asgi = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        self._http = httpx.AsyncClient(transport=asgi, base_url="http://service")

    async def post(self, path: str, body: bytes, headers: Mapping[str, str]) -> Reply:
        response = await self._http.post(path, content=body, headers=dict(headers))
        return Reply(response.status_code, response.headers, response.content)

    async def close(self) -> None:
        await self._http.aclose()
