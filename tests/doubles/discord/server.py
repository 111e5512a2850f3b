"""The HTTP server of the double. Each request passes faults, limits and checks before its endpoint, and is logged."""

from __future__ import annotations

import json
from collections import deque
from contextlib import suppress
from functools import partial
from time import monotonic
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from aiohttp import BodyPartReader, web

from tests.doubles.discord import bot_info, checks, interactions, messages
from tests.doubles.discord.endpoint import BAD_FORM, Call, Endpoint, Refusal
from tests.doubles.discord.faults import Cut, Fault, Faults, Hold, Status
from tests.doubles.discord.gateway import Gateway
from tests.doubles.discord.limits import Limits
from tests.doubles.discord.log import Log
from tests.doubles.discord.world import Json, Message, World, snowflake

API = "/api/v10"
ENDPOINTS = (*messages.ENDPOINTS, *interactions.ENDPOINTS, *bot_info.ENDPOINTS)
_VIA = {"Via": "1.1 google"}
"""Header without which discord.py takes a 429 for a ban."""


class Server:
    """Discord on a local port, inside `async with`.

    `pace` speeds up the clock of its limits. One body of a route in `check_every` is also checked against the OpenAPI
    specification, which is slow.
    """

    def __init__(
        self, *, pace: float = 1.0, shards: int = 1, beat_s: float = 20.0, check_every: int = 1, port: int = 0
    ) -> None:
        self.world = World()
        self.log = Log()
        self.faults = Faults()
        self.limits = Limits(monotonic, pace)
        self.gateway = Gateway(self, shards=shards, beat_s=beat_s)
        self.nonces: dict[str, Message] = {}
        self.violations: list[str] = []
        self.bodies: deque[tuple[str, Any]] = deque(maxlen=1000)
        """The bot's latest request bodies with their routes."""
        self.files: dict[str, bytes] = {}
        """Uploaded files by id."""
        self.url = ""
        self._check_every = check_every
        self._checked: dict[str, int] = {}
        self._port = port

    async def __aenter__(self) -> Self:
        app = web.Application(client_max_size=2 * checks.REQUEST_BYTES)
        app.router.add_get("/", self.gateway.handle)
        for endpoint in ENDPOINTS:
            app.router.add_route(endpoint.method, API + endpoint.path, partial(self._serve, endpoint))
        app.router.add_get("/attachments/{file_id}/{name}", self._file)
        app.router.add_route("*", "/{rest:.*}", self._unknown)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", self._port)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.url = f"http://{host}:{port}{API}"
        self.gateway.url = f"ws://{host}:{port}/"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.gateway.close()
        await self._runner.cleanup()

    def violate(self, what: str) -> None:
        """Records a violation of Discord's rules by the bot."""
        self.violations.append(what)
        self.log.add("violation", what=what)

    def check(self, wrong: list[str]) -> None:
        """Records the errors of a body and rejects it."""
        for what in wrong:
            self.violate(what)
        if wrong:
            raise BAD_FORM

    def keep_file(self, name: str, content: bytes) -> Json:
        """Keeps an uploaded file and returns its attachment."""
        identifier = str(snowflake())
        self.files[identifier] = content
        url = f"{self.url.removesuffix(API)}/attachments/{identifier}/{quote(name)}"
        kind = "image/png" if name.endswith(".png") else "text/plain"
        known = {"id": identifier, "filename": name, "size": len(content), "content_type": kind}
        return {**known, "url": url, "proxy_url": url}

    async def _file(self, request: web.Request) -> web.Response:
        content = self.files.get(request.match_info["file_id"])
        return web.Response(status=404) if content is None else web.Response(body=content)

    async def _unknown(self, request: web.Request) -> web.Response:
        self.violate(f"no such route: {request.method} {request.path}")
        return _json({"message": "404: Not Found", "code": 0}, 404, {})

    async def _serve(self, endpoint: Endpoint, request: web.Request) -> web.StreamResponse:
        began = monotonic()
        response, code = await self._respond(endpoint, request)
        if response.status in (401, 403, 429) and response.headers.get("X-RateLimit-Scope") != "shared":
            self.limits.count_invalid()
        self.log.add(
            "request",
            route=endpoint.route,
            path=request.path.removeprefix(API),
            status=response.status,
            code=code,
            began=began,
            free=endpoint.free,
        )
        return response

    async def _respond(self, endpoint: Endpoint, request: web.Request) -> tuple[web.Response, int]:
        """Returns the response, and its error code if any."""
        if self.limits.banned:
            self.violate("banned for 10,000 invalid requests in ten minutes")
            return web.Response(status=429, text="error code: 1015"), 0
        fault = self.faults.take(endpoint.route)
        if fault is not None and not fault.after and (failed := await self._fail(fault, request)) is not None:
            return failed, 0
        response, code = await self._pass(endpoint, request)
        if fault is not None and fault.after:
            response = await self._fail(fault, request) or response
        return response, code

    async def _pass(self, endpoint: Endpoint, request: web.Request) -> tuple[web.Response, int]:
        """Responds without an injected fault."""
        if not endpoint.free and request.headers.get("Authorization") != f"Bot {self.world.token}":
            return _error(401, 0, "401: Unauthorized", {}), 0
        match = dict(request.match_info)
        major = [match[name] for name in ("channel_id", "guild_id", "webhook_id", "webhook_token") if name in match]
        verdict = self.limits.take(endpoint.route, "+".join(major), free=endpoint.free)
        if not verdict.passes:
            scope = {"X-RateLimit-Scope": "user", **verdict.headers}
            return _limited(verdict.retry_after, verdict.whole, scope), 0
        try:
            answer = await endpoint.handler(self, await self._read(endpoint, request, match))
        except Refusal as refusal:
            self.log.add("refused", route=endpoint.route, code=refusal.code, path=request.path.removeprefix(API))
            return _error(refusal.status, refusal.code, refusal.message, verdict.headers), refusal.code
        if answer is None:
            return web.Response(status=204, headers={**_VIA, **verdict.headers}), 0
        return _json(answer, 200, verdict.headers), 0

    async def _read(self, endpoint: Endpoint, request: web.Request, match: dict[str, str]) -> Call:
        body, files = await _body(request)
        if body is not None:
            self.bodies.append((endpoint.route, body))
            self._check_body(endpoint.route, body)
        return Call(match, dict(request.query), body, files)

    def _check_body(self, route: str, body: Any) -> None:
        seen = self._checked[route] = self._checked.get(route, 0) + 1
        self.check(checks.wrong_in_body(route, body, second=(seen - 1) % self._check_every == 0))

    async def _fail(self, fault: Fault, request: web.Request) -> web.Response | None:
        """Returns the response of a fault; None if the normal response follows."""
        self.log.add("fault", fault=type(fault).__name__, after=getattr(fault, "after", False), path=request.path)
        match fault:
            case Hold():
                await fault.wait()
                return None
            case Cut():
                if request.transport is not None:
                    request.transport.abort()
                return web.Response(status=500)
            case Status(status=429):
                return _limited(fault.retry_after, fault.scope == "global", {"X-RateLimit-Scope": fault.scope})
            case Status():
                return web.Response(status=fault.status, text="upstream error", headers=_VIA)


def _json(body: Any, status: int, headers: dict[str, str]) -> web.Response:
    # Discord sends no charset, and discord.py parses JSON only if there is none.
    all_headers = {"Content-Type": "application/json", **_VIA, **headers}
    return web.Response(body=json.dumps(body).encode(), status=status, headers=all_headers)


def _error(status: int, code: int, message: str, headers: dict[str, str]) -> web.Response:
    return _json({"message": message, "code": code}, status, headers)


def _limited(retry_after: float, whole: bool, headers: dict[str, str]) -> web.Response:
    body = {"message": "You are being rate limited.", "retry_after": round(retry_after, 3), "global": whole}
    return _json(body, 429, {"Retry-After": str(max(1, round(retry_after))), **headers})


async def _body(request: web.Request) -> tuple[Any, dict[str, bytes]]:
    """Returns the JSON of a request and its files."""
    if not request.can_read_body:
        return None, {}
    if request.content_type != "multipart/form-data":
        with suppress(json.JSONDecodeError):
            return await request.json(), {}
        raise BAD_FORM
    body: Any = None
    files: dict[str, bytes] = {}
    async for part in await request.multipart():
        assert isinstance(part, BodyPartReader)
        content = bytes(await part.read(decode=True))
        if part.name == "payload_json":
            body = json.loads(content)
        else:
            files[part.filename or part.name or ""] = content
    return body, files
