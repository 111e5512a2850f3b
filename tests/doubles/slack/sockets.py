"""Socket Mode: up to ten sockets, each delivery to one of them at random, and what goes wrong with sockets."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import WSMsgType, web

from tests.doubles.slack.delivery import Delivery
from tests.doubles.slack.shown import Body
from tests.doubles.slack.world import World


@dataclass(eq=False)
class Socket:
    """One socket of the app. A deaf one stays open and delivers nothing; it may answer pings all the same."""

    number: int
    wire: web.WebSocketResponse
    request: web.Request
    deaf: bool = False
    pongs: bool = True
    delivered: int = 0
    """How many deliveries went to it."""

    def abort(self) -> None:
        """Drop the connection without a word."""
        if self.request.transport is not None:
            self.request.transport.abort()


@dataclass
class Sockets:
    """All sockets of the app; `refusing` turns new ones away, as Slack does in a storm."""

    world: World
    chance: random.Random
    open: list[Socket] = field(default_factory=list)
    refusing: bool = False
    made: int = 0
    _tickets: set[str] = field(default_factory=set)
    _waiting: dict[str, tuple[Delivery, asyncio.Future[Body]]] = field(default_factory=dict)

    def ticket(self) -> str:
        """Leave to connect, once."""
        ticket = secrets.token_hex(8)
        self._tickets.add(ticket)
        return ticket

    async def serve(self, request: web.Request) -> web.StreamResponse:
        ticket = request.query.get("ticket", "")
        if ticket not in self._tickets or self.refusing:
            self.world.log.add("socket", what="refused")
            return web.Response(status=404)
        self._tickets.discard(ticket)
        wire = web.WebSocketResponse(autoping=False)
        await wire.prepare(request)
        self.made += 1
        socket = Socket(self.made, wire, request)
        self.open.append(socket)
        about = {"host": "applink-double", "build_number": 1, "approximate_connection_time": 18060}
        hello = {"type": "hello", "num_connections": len(self.open), "debug_info": about}
        await self._send(socket, hello | {"connection_info": {"app_id": self.world.app.id}})
        self.world.log.add("socket", what="opened", number=socket.number, open=len(self.open))
        try:
            await self._listen(socket)
        finally:
            if socket in self.open:
                self.open.remove(socket)
            self.world.log.add("socket", what="closed", number=socket.number, open=len(self.open))
        return wire

    async def _listen(self, socket: Socket) -> None:
        async for message in socket.wire:
            if message.type is WSMsgType.PING and socket.pongs:
                await socket.wire.pong(message.data)
            elif message.type is WSMsgType.TEXT and not socket.deaf:
                self._acknowledged(json.loads(message.data))

    def _acknowledged(self, said: Body) -> None:
        delivery, waiting = self._waiting.pop(str(said.get("envelope_id")), (None, None))
        if delivery is None or waiting is None:
            self.world.log.add("violation", what="ack", error="unknown_envelope", reasons=[str(said)[:200]])
        elif waiting.done():
            self.world.log.add("late_ack", id=delivery.id, what=delivery.kind, user=delivery.user)
        else:
            waiting.set_result(said.get("payload") or {})

    async def carry(self, delivery: Delivery) -> Body | None:
        """Deliver to one socket at random; without any, nothing is delivered."""
        if not self.open:
            return None
        socket = self.chance.choice(self.open)
        waiting: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
        envelope = secrets.token_hex(8)
        self._waiting[envelope] = (delivery, waiting)
        socket.delivered += 1
        told: Body = {"envelope_id": envelope, "type": delivery.kind, "payload": delivery.payload}
        told["accepts_response_payload"] = delivery.kind != "events_api"
        if delivery.kind == "events_api":
            told |= {"retry_attempt": delivery.attempt, "retry_reason": delivery.reason}
        if not socket.deaf:
            await self._send(socket, told)
        return await waiting

    async def _send(self, socket: Socket, said: Body) -> None:
        try:
            await socket.wire.send_json(said)
        except ConnectionError:
            self.world.log.add("socket", what="gone", number=socket.number)

    # What goes wrong

    async def disconnect(self, reason: Literal["warning", "refresh_requested", "link_disabled"]) -> None:
        """Tell every socket that it will be closed, and close it unless that was a warning."""
        for socket in list(self.open):
            await self._send(socket, {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-double"}})
            if reason != "warning":
                await socket.wire.close()

    def drop(self) -> None:
        """Cut every socket without a word."""
        for socket in list(self.open):
            socket.abort()

    def deafen(self, *, pongs: bool = False) -> list[Socket]:
        """Let every socket there is fall silent: open, no deliveries, pongs or none; new ones are well."""
        for socket in self.open:
            socket.deaf, socket.pongs = True, pongs
        return list(self.open)

    async def close(self) -> None:
        for socket in list(self.open):
            socket.abort()
        # An acknowledgement that never came holds nobody.
        for _, waiting in self._waiting.values():
            waiting.cancel()
