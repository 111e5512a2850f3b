"""The gateway: sessions that survive their connections, heartbeats, resuming by sequence number, and faults."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from contextlib import suppress
from dataclasses import dataclass, field
from secrets import token_hex
from time import monotonic
from typing import TYPE_CHECKING, Any

from aiohttp import WSMsgType, web

from tests.doubles.discord.payloads import guild_json
from tests.doubles.discord.world import Json

if TYPE_CHECKING:
    from tests.doubles.discord.server import Server

DISPATCH, HEARTBEAT, IDENTIFY, RESUME, RECONNECT, INVALID, HELLO, ACK = 0, 1, 2, 6, 7, 9, 10, 11
PRIVILEGED = 1 << 1 | 1 << 8 | 1 << 15
SENDS, SENDS_S = 120, 60.0
"""Limit of a client's messages per connection. Docs: events/gateway, "Rate Limiting"."""
IDENTIFIES = 1000


@dataclass
class Session:
    """A session: its numbered events are kept so that it can be resumed."""

    shard: tuple[int, int]
    intents: int
    id: str = field(default_factory=lambda: token_hex(16))
    events: list[Json] = field(default_factory=list)
    line: Line | None = None
    ready: bool = False

    def wants(self, guild: int | None) -> bool:
        """Returns whether the server belongs to this session's shard. Direct messages belong to the first shard."""
        number, count = self.shard
        return number == (guild >> 22) % count if guild else number == 0

    async def tell(self, name: str, data: Any) -> None:
        """Numbers and keeps an event, and sends it to the connection if there is one."""
        event = {"op": DISPATCH, "t": name, "s": len(self.events) + 1, "d": data}
        self.events.append(event)
        if self.line is not None:
            await self.line.send(event)


@dataclass(eq=False)
class Line:
    """A connection."""

    socket: web.WebSocketResponse
    request: web.Request
    session: Session | None = None
    deaf: bool = False
    """Whether it is silent: it stays open, but answers nothing, not even heartbeats."""
    received: deque[float] = field(default_factory=deque)

    async def send(self, payload: Json) -> None:
        if not self.deaf:
            with suppress(ConnectionError):
                await self.socket.send_str(json.dumps(payload))

    def cut(self) -> None:
        """Cuts the connection without a close frame."""
        if self.request.transport is not None:
            self.request.transport.abort()

    def too_many(self) -> bool:
        """Counts a message of the client; returns whether it exceeds the limit."""
        now = monotonic()
        self.received.append(now)
        while self.received[0] < now - SENDS_S:
            self.received.popleft()
        return len(self.received) > SENDS


class Gateway:
    """All sessions and connections. `beat_s` is the heartbeat interval."""

    def __init__(self, server: Server, *, shards: int = 1, beat_s: float = 20.0) -> None:
        self._server = server
        self.shards = shards
        self.beat_s = beat_s
        self.sessions: dict[str, Session] = {}
        self.lines: set[Line] = set()
        self.identified = 0
        self.silent = False
        """Whether new connections get no Hello, as when Discord is overloaded."""
        self.url = ""

    async def handle(self, request: web.Request) -> web.WebSocketResponse:
        """Serves a connection until either side closes it."""
        socket = web.WebSocketResponse(autoping=True)
        await socket.prepare(request)
        line = Line(socket, request)
        self.lines.add(line)
        self._server.log.add("connected")
        try:
            if not self.silent:
                beat = {"heartbeat_interval": int(self.beat_s * 1000)}
                await line.send({"op": HELLO, "s": None, "t": None, "d": beat})
            async for message in socket:
                if message.type is WSMsgType.TEXT and not await self._handle(line, json.loads(message.data)):
                    break
        finally:
            self.lines.discard(line)
            if line.session is not None and line.session.line is line:
                line.session.line = None
            self._server.log.add("disconnected", session=line.session and line.session.id, code=socket.close_code)
        return socket

    async def _handle(self, line: Line, message: Json) -> bool:
        """Handles a message of the client; returns False to end the connection."""
        if line.too_many():
            self._server.violate("more than 120 gateway messages in a minute")
            return await self._close(line, 4008)
        match message["op"]:
            case 1:
                self._server.log.add("heartbeat", session=line.session and line.session.id)
                await line.send({"op": ACK, "s": None, "t": None, "d": None})
            case 2:
                return await self._identify(line, message["d"])
            case 6:
                return await self._resume(line, message["d"])
            case _ if line.session is None:
                return await self._close(line, 4003)
            case 3 | 4 | 8:
                self._server.log.add("gateway op", op=message["op"])
            case _:
                return await self._close(line, 4001)
        return True

    async def _identify(self, line: Line, data: Json) -> bool:
        self.identified += 1
        shard = tuple(data.get("shard") or (0, 1))
        self._server.log.add("identify", intents=data["intents"], shard=shard, properties=data["properties"])
        if data["token"] != self._server.world.token:
            return await self._close(line, 4004)
        if data["intents"] & PRIVILEGED:
            self._server.violate(f"privileged intents: {data['intents']}")
            return await self._close(line, 4014)
        if self.identified > IDENTIFIES or line.session is not None:
            self._server.violate("identified too often")
            return await self._close(line, 4005)
        if not 0 <= shard[0] < shard[1] or shard[1] < self.shards:
            return await self._close(line, 4010)
        session = Session((shard[0], shard[1]), data["intents"])
        self.sessions[session.id] = session
        line.session, session.line = session, line
        await self._welcome(session)
        return True

    async def _welcome(self, session: Session) -> None:
        world = self._server.world
        guilds = [guild for guild in world.guilds.values() if session.wants(guild.id)]
        ready = {
            "v": 10,
            "user": world.bot_user(),
            "guilds": [{"id": str(guild.id), "unavailable": True} for guild in guilds],
            "session_id": session.id,
            "session_type": "normal",
            "resume_gateway_url": self.url,
            "shard": list(session.shard),
            "application": {"id": str(world.application), "flags": 0},
        }
        await session.tell("READY", ready)
        for guild in guilds:
            await session.tell("GUILD_CREATE", guild_json(world, guild))
        session.ready = True
        self._server.log.add("ready", session=session.id)

    async def _resume(self, line: Line, data: Json) -> bool:
        session = self.sessions.get(data["session_id"])
        self._server.log.add("resume", session=data["session_id"], seq=data["seq"], known=session is not None)
        if data["token"] != self._server.world.token:
            return await self._close(line, 4004)
        if session is None:
            await line.send({"op": INVALID, "s": None, "t": None, "d": False})
            return True
        sent = data["seq"] or 0
        while sent < len(session.events):  # more may be added meanwhile
            await line.send(session.events[sent])
            sent += 1
        line.session, session.line = session, line
        await session.tell("RESUMED", {})
        self._server.log.add("resumed", session=session.id)
        return True

    async def _close(self, line: Line, code: int) -> bool:
        await line.socket.close(code=code)
        return False

    async def dispatch(self, name: str, data: Any, guild: int | None) -> int:
        """Sends an event to every session of its shard; returns their number, including disconnected ones."""
        sessions = [session for session in self.sessions.values() if session.ready and session.wants(guild)]
        for session in sessions:
            await session.tell(name, data)
        return len(sessions)

    @property
    def listening(self) -> int:
        """Returns how many sessions are connected."""
        return sum(session.line is not None for session in self.sessions.values())

    # Faults

    async def ask_to_reconnect(self) -> None:
        """Sends op 7 (reconnect) to all connections."""
        for line in [*self.lines]:
            await line.send({"op": RECONNECT, "s": None, "t": None, "d": None})

    async def invalidate(self, *, resumable: bool) -> None:
        """Sends op 9 (invalid session) to all connections; sessions that cannot be resumed are forgotten."""
        if not resumable:
            self.forget()
        for line in [*self.lines]:
            await line.send({"op": INVALID, "s": None, "t": None, "d": resumable})

    def forget(self) -> None:
        """Forgets all sessions, so that clients cannot resume them."""
        self.sessions.clear()

    def drop(self) -> None:
        """Cuts all connections without a close frame."""
        for line in [*self.lines]:
            line.cut()

    def go_deaf(self) -> None:
        """Silences the current connections, which stay open."""
        for line in self.lines:
            line.deaf = True

    async def close(self) -> None:
        """Closes all connections."""
        for line in [*self.lines]:
            with suppress(asyncio.TimeoutError, ConnectionError):
                await asyncio.wait_for(line.socket.close(code=1001), 1)
