"""The HTTP server of the double: Web API, response URLs, uploads, the installation page, and Socket Mode."""

from __future__ import annotations

import asyncio
import base64
import math
from dataclasses import dataclass, field

from aiohttp import web
from yarl import URL

from tests.doubles.slack import api_chat, api_team, api_views  # noqa: F401  (their methods are registered)
from tests.doubles.slack.api_chat import checked
from tests.doubles.slack.calls import METHODS, Call, Method, method, read_args, token_of
from tests.doubles.slack.faults import Fault, Faults
from tests.doubles.slack.limits import TIER_1, Limits
from tests.doubles.slack.sockets import Sockets
from tests.doubles.slack.surfaces import Body, Ephemeral, Message
from tests.doubles.slack.world import ApiError, ReplyUrl, World

REPLY_URL_USES = 5


@method("apps.connections.open", tier=TIER_1, token="app")
def connections_open(call: Call) -> Body:
    if call.args["_sockets"] >= api_team.MAX_SOCKETS:
        raise ApiError("too_many_websockets")
    return {"url": f"{call.args['_base'].replace('http', 'ws', 1)}/link?ticket={call.args['_ticket']}"}


@dataclass
class Server:
    """Slack on a local port."""

    world: World
    limits: Limits
    faults: Faults
    sockets: Sockets
    base: str = ""
    _runner: web.AppRunner | None = field(default=None, repr=False)

    async def start(self) -> None:
        app = web.Application(client_max_size=64 << 20)
        app.router.add_route("*", "/api/{method}", self.api)
        app.router.add_post("/response/{id}", self.reply_url)
        app.router.add_route("*", "/upload/{id}", self.upload)
        app.router.add_get("/files/{id}", self.download)
        app.router.add_get("/oauth/v2/authorize", self.authorize)
        app.router.add_get("/link", self.sockets.serve)
        self._runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await self._runner.setup()
        site = web.TCPSite(self._runner, "127.0.0.1", 0)
        await site.start()
        host, port = self._runner.addresses[0][:2]
        self.base = f"http://{host}:{port}"

    async def stop(self) -> None:
        await self.sockets.close()
        if self._runner:
            await self._runner.cleanup()

    # The Web API

    async def api(self, request: web.Request) -> web.StreamResponse:
        name = request.match_info["method"]
        found = METHODS.get(name)
        if found is None:
            self.world.log.add("violation", what=name, error="unknown_method", reasons=[])
            return web.json_response({"ok": False, "error": "unknown_method", "req_method": name})
        try:
            args = await read_args(request, found)
        except ApiError as error:
            return web.json_response({"ok": False, "error": error.code})
        fault = self.faults.take(name, args)
        if fault:
            self.world.log.add("fault", method=name, how=fault.how)
        if fault and fault.how == "slow":
            await asyncio.sleep(fault.seconds)
        if fault and (early := self._faulted(request, fault)):
            return early
        response = self._answer(request, name, found, args)
        if fault and fault.how == "cut after":
            return _cut(request)
        return response

    def _faulted(self, request: web.Request, fault: Fault) -> web.StreamResponse | None:
        """Returns the response of a fault that prevents the call."""
        match fault.how:
            case "429":
                return _limited(fault.seconds)
            case "500":
                return web.Response(status=500, text="Internal Server Error")
            case "error":
                return web.json_response({"ok": False, "error": fault.code})
            case "cut before":
                return _cut(request)
        return None

    def _answer(self, request: web.Request, name: str, found: Method, args: Body) -> web.Response:
        """Runs the method and logs the outcome."""
        facts: Body = {"method": name, "channel": args.get("channel"), "key": _key(args), "user": args.get("user")}
        try:
            token = token_of(request, self.world, args, found.token)
            call = Call(self.world, name, self._args(request, args, name), token)
            facts["team"] = token.team if token else ""
            if wait := self.limits.refuse(facts["team"], name, found.tier, _posting(name, args)):
                self.world.log.add("limited", **facts, wait=wait)
                return _limited(wait, exact=self.world.clock.factor != 1)
            if found.scopes:
                call.need(*found.scopes)
            result = found.handler(call)
        except ApiError as error:
            self.world.log.add("call", **facts, ok=False, error=error.code)
            return web.json_response({"ok": False, "error": error.code} | error.extra)
        self.world.log.add("call", **facts, ok=True)
        scopes = ",".join(token.scopes) if token else ""
        return web.json_response({"ok": True} | result, headers={"x-oauth-scopes": scopes})

    def _args(self, request: web.Request, args: Body, name: str) -> Body:
        """Returns the arguments, with values only the server knows."""
        more: Body = {"_base": self.base}
        if name == "apps.connections.open":
            more |= {"_sockets": len(self.sockets.open), "_ticket": self.sockets.ticket()}
        if name in ("oauth.v2.access", "apps.uninstall"):
            more |= _basic(request)
        return args | more

    # Other endpoints

    async def reply_url(self, request: web.Request) -> web.StreamResponse:
        """Accepts a reply by URL: at most five within thirty minutes."""
        leave = self.world.reply_urls.get(request.match_info["id"])
        body = await request.json()
        fault = self.faults.take("response_url", body)
        if fault and (early := self._faulted(request, fault)):
            return early
        if leave is None or self.world.clock.slack() > leave.ends:
            self.world.log.add("call", method="response_url", ok=False, error="expired_url")
            return web.json_response({"ok": False, "error": "expired_url"}, status=404)
        if leave.uses >= REPLY_URL_USES:
            self.world.log.add("violation", what="response_url", error="used_url", reasons=[leave.user.id])
            return web.json_response({"ok": False, "error": "used_url"}, status=404)
        leave.uses += 1
        self.world.log.add("call", method="response_url", ok=True, user=leave.user.id)
        try:
            reply(self.world, leave, body)
        except ApiError as error:
            return web.json_response({"ok": False, "error": error.code}, status=400)
        return web.Response(text="ok") if not (fault and fault.how == "cut after") else _cut(request)

    async def upload(self, request: web.Request) -> web.Response:
        file = self.world.files.get(request.match_info["id"])
        if file is None:
            return web.Response(status=404)
        if request.content_type == "multipart/form-data":
            parts = [part for part in (await request.post()).values() if isinstance(part, web.FileField)]
            data = parts[0].file.read()
        else:
            data = await request.read()
        if len(data) != file["size"]:
            return web.Response(status=400, text="length differs from what was announced")
        self.world.contents[file["id"]] = data
        return web.Response(text=f"OK - {len(data)}")

    async def download(self, request: web.Request) -> web.Response:
        """Serves an uploaded file; a login page if the token may not read it."""
        file = self.world.files.get(request.match_info["id"])
        try:
            token = token_of(request, self.world, {}, "bot")
        except ApiError:
            token = None
        if token is None or file is None or token.team != file["team"] or "files:read" not in token.scopes:
            self.world.log.add("violation", what="download", error="no leave to read", reasons=[])
            return web.Response(text="<!DOCTYPE html><title>Sign in</title>", content_type="text/html")
        return web.Response(body=self.world.contents[file["id"]])

    async def authorize(self, request: web.Request) -> web.Response:
        """Serves the consent page; `as` and `ok` stand for the person's session and consent."""
        query = request.query
        if query.get("client_id") != self.world.app.client_id:
            return web.Response(status=400, text="no such app")
        if set(query.get("scope", "").split(",")) - set(self.world.app.scopes):
            self.world.log.add("violation", what="authorize", error="invalid_scope", reasons=[query.get("scope", "")])
            return web.Response(status=400, text="invalid_scope")
        if "as" not in query:
            return web.Response(text="<h1>Dailygrad is requesting permission</h1>", content_type="text/html")
        user = self.world.user_of(query["as"])
        back = URL(query.get("redirect_uri") or self.world.app.redirect_url)
        if "deny" in query:
            raise web.HTTPFound(back.update_query(error="access_denied", state=query.get("state", "")))
        code = api_team.new_code(self.world, self.world.teams[user.team], user, query.get("redirect_uri", ""))
        raise web.HTTPFound(back.update_query(code=code, state=query.get("state", "")))


def reply(world: World, leave: ReplyUrl, body: Body) -> None:
    """Carries out a reply by URL or in an acknowledgement."""
    origin = leave.origin
    if body.get("delete_original") and origin is not None:
        origin.deleted = True
        world.log.add("edited", channel=origin.channel, ts=origin.ts, by="response_url", deleted=True)
        return
    blocks = checked(world, leave.user.team, "response_url", body)
    text = str(body.get("text") or "")
    if body.get("replace_original") and origin is not None:
        origin.text, origin.blocks = text, blocks
        world.log.add("edited", channel=origin.channel, ts=origin.ts, by="response_url")
        return
    channel = leave.channel
    if body.get("response_type") == "in_channel":
        team = world.teams[leave.user.team]
        message = Message(text, blocks, team.id, channel.id, world.new_ts(), team.bot.id, team.bot_id)
        message.thread_ts = str(body.get("thread_ts") or "")
        api_chat.posted(world, channel, message)
        return
    shown = Ephemeral(text, blocks, leave.user.team, channel.id, world.new_ts(), leave.user.id)
    shown.thread_ts = str(body.get("thread_ts") or "")
    world.ephemerals.append(shown)
    world.log.add("ephemeral", user=leave.user.id, channel=channel.id, ts=shown.ts, by="response_url")


def _posting(name: str, args: Body) -> str:
    return str(args.get("channel", "")) if name == "chat.postMessage" else ""


def _key(args: Body) -> str:
    metadata = args.get("metadata")
    payload = metadata.get("event_payload") if isinstance(metadata, dict) else None
    return str(payload.get("key", "")) if isinstance(payload, dict) else ""


def _limited(seconds: float, exact: bool = False) -> web.Response:
    """Returns a rate-limit response. Slack sends whole seconds; with accelerated time, fractions."""
    delay = f"{seconds:.3f}" if exact else str(math.ceil(seconds))
    return web.json_response({"ok": False, "error": "ratelimited"}, status=429, headers={"Retry-After": delay})


def _cut(request: web.Request) -> web.Response:
    """Drops the connection without a response."""
    if request.transport is not None:
        request.transport.abort()
    return web.Response(status=599)


def _basic(request: web.Request) -> Body:
    """Returns client id and secret from the Authorization header, if present."""
    given = request.headers.get("Authorization", "")
    if not given.startswith("Basic "):
        return {}
    client, _, secret = base64.b64decode(given.removeprefix("Basic ")).decode().partition(":")
    return {"client_id": client, "client_secret": secret}
