"""Socket Mode: up to ten sockets, each delivery to a random one, and faults of sockets."""

from __future__ import annotations

import asyncio
import json
import random
import secrets
from dataclasses import dataclass, field
from typing import Literal

from aiohttp import WSMsgType, web

from tests.doubles.slack.delivery import Delivery
from tests.doubles.slack.surfaces import Body
from tests.doubles.slack.world import World


@dataclass(eq=False)
class Socket:
    """A socket of the app. A deaf one stays open without deliveries; it may still answer pings."""

    number: int
    wire: web.WebSocketResponse
    request: web.Request
    deaf: bool = False
    pongs: bool = True
    delivered: int = 0
    """Number of its deliveries."""

    def abort(self) -> None:
        """Drops the connection without a close frame."""
        if self.request.transport is not None:
            self.request.transport.abort()


@dataclass
class Sockets:
    """All sockets of the app; with `refusing`, new connections are rejected."""

    world: World
    chance: random.Random
    open: list[Socket] = field(default_factory=list)
    refusing: bool = False
    made: int = 0
    _tickets: set[str] = field(default_factory=set)
    _waiting: dict[str, tuple[Delivery, asyncio.Future[Body]]] = field(default_factory=dict)

    def ticket(self) -> str:
        """Returns a ticket that allows one connection."""
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

    def _acknowledged(self, ack: Body) -> None:
        delivery, waiting = self._waiting.pop(str(ack.get("envelope_id")), (None, None))
        if delivery is None or waiting is None:
            self.world.log.add("violation", what="ack", error="unknown_envelope", reasons=[str(ack)[:200]])
        elif waiting.done():
            self.world.log.add("late_ack", id=delivery.id, what=delivery.kind, user=delivery.user)
        else:
            waiting.set_result(ack.get("payload") or {})

    async def deliver(self, delivery: Delivery) -> Body | None:
        """Delivers to a random socket; to none if none is open."""
        if not self.open:
            return None
        socket = self.chance.choice(self.open)
        waiting: asyncio.Future[Body] = asyncio.get_running_loop().create_future()
        envelope = secrets.token_hex(8)
        self._waiting[envelope] = (delivery, waiting)
        socket.delivered += 1
        message: Body = {"envelope_id": envelope, "type": delivery.kind, "payload": delivery.payload}
        message["accepts_response_payload"] = delivery.kind != "events_api"
        if delivery.kind == "events_api":
            message |= {"retry_attempt": delivery.attempt, "retry_reason": delivery.reason}
        if not socket.deaf:
            await self._send(socket, message)
        return await waiting

    async def _send(self, socket: Socket, message: Body) -> None:
        try:
            await socket.wire.send_json(message)
        except ConnectionError:
            self.world.log.add("socket", what="gone", number=socket.number)

    # Faults

    async def disconnect(self, reason: Literal["warning", "refresh_requested", "link_disabled"]) -> None:
        """Announces to every socket that it will be closed, and closes it unless this is a warning."""
        for socket in list(self.open):
            await self._send(socket, {"type": "disconnect", "reason": reason, "debug_info": {"host": "applink-double"}})
            if reason != "warning":
                await socket.wire.close()

    def drop(self) -> None:
        """Cuts every socket without a close frame."""
        for socket in list(self.open):
            socket.abort()

    def deafen(self, *, pongs: bool = False) -> list[Socket]:
        """Makes the current sockets deaf, with or without pongs; new ones work."""
        for socket in self.open:
            socket.deaf, socket.pongs = True, pongs
        return list(self.open)

    async def close(self) -> None:
        for socket in list(self.open):
            socket.abort()
        # Do not wait for missing acknowledgements.
        for _, waiting in self._waiting.values():
            waiting.cancel()
