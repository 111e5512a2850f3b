"""A stand-in for an OpenAI-compatible endpoint, on a real socket, with the faults of real ones."""

from __future__ import annotations

import asyncio
import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from service.process import listen, serve_app


@dataclass
class ModelDouble:
    """The stand-in. It gives `reply` to every question, unless a fault is set."""

    url: str = ""
    reply: str = '{"answer": [1]}'
    status: int = 200
    body: bytes | None = None
    """Sent instead of a completion."""
    redirect: str = ""
    compressed: bool = False
    fault: str = ""
    """`silent` never replies; `drips` sends a byte at a time and never ends; `endless` sends as much as is read."""
    asked: list[dict[str, Any]] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)
    called: asyncio.Event = field(default_factory=asyncio.Event)
    """Set by the first request."""
    stopping: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def prompt(self) -> str:
        """All text of the only request."""
        (request,) = self.asked
        return "\n".join(message["content"] for message in request["messages"])

    async def complete(self, request: Request) -> Response:
        """Serves `/v1/chat/completions`."""
        self.asked.append(await request.json())
        self.called.set()
        self.keys.append(request.headers.get("Authorization", ""))
        if self.fault == "silent":
            await self.stopping.wait()
        if self.fault in ("drips", "endless"):
            return StreamingResponse(self._stream(), media_type="application/json")
        if self.redirect:
            return Response(status_code=307, headers={"Location": self.redirect})
        body = self.body
        if body is None:
            message = {"role": "assistant", "content": self.reply}
            body = json.dumps({"id": "x", "choices": [{"index": 0, "message": message}], "usage": {}}).encode()
        headers = {"Content-Encoding": "gzip"} if self.compressed else {}
        body = gzip.compress(body) if self.compressed else body
        return Response(body, self.status, headers, media_type="application/json")

    async def _stream(self) -> AsyncIterator[bytes]:
        while not self.stopping.is_set():
            yield b" " * (100_000 if self.fault == "endless" else 1)
            if self.fault == "drips":
                await asyncio.wait({asyncio.create_task(self.stopping.wait())}, timeout=0.02)


@asynccontextmanager
async def model_double() -> AsyncIterator[ModelDouble]:
    """Serves a stand-in until the block exits."""
    double = ModelDouble()
    app = Starlette(routes=[Route("/v1/chat/completions", double.complete, methods=["POST"])])
    with listen("127.0.0.1", 0) as listener:
        double.url = f"http://127.0.0.1:{listener.getsockname()[1]}/v1"
        async with serve_app(app, listener, double.stopping.set):
            yield double
