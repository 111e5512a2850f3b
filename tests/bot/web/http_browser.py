"""A web chat as a browser without scripts meets it: pages, posts with their hidden fields, and the stream of news."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

import httpx
from starlette.types import ASGIApp, Message

from bot.core.cards import Card, Reply
from bot.core.events import Event


@dataclass
class Desk:
    """Answers every event with `reply` and keeps what it was asked."""

    reply: Reply = field(default_factory=lambda: Reply(Card("Noted", "It is noted.")))
    asked: list[Event] = field(default_factory=list)

    async def answer(self, event: Event) -> Reply:
        self.asked.append(event)
        return self.reply


@dataclass
class Browser:
    """One browser: it keeps cookies, reads the hidden fields of a page and posts them, as a form without scripts."""

    app: ASGIApp
    http: httpx.AsyncClient
    home: str = ""
    page: str = ""

    @property
    def member(self) -> str:
        return self.home.split("/")[2]

    async def join(self, name: str) -> None:
        await self.opens("/")
        answer = await self.http.post("/join", data={"token": self.hidden("token"), "name": name})
        assert answer.status_code == 303, answer.text
        self.home = str(answer.headers["location"])
        await self.opens(self.home)

    async def opens(self, path: str) -> httpx.Response:
        answer = await self.http.get(path)
        self.page = answer.text
        return answer

    def hidden(self, name: str) -> str:
        found = re.search(rf'name="{name}" value="([^"]*)"', self.page)
        assert found, f"no hidden field {name} on this page"
        return found[1]

    async def sends(
        self,
        kind: str,
        *,
        json: bool = False,
        headers: Mapping[str, str] | None = None,
        values: Mapping[str, str] | None = None,
        **fields: str,
    ) -> httpx.Response:
        """Posts to `say`, `press` or `submit` with the page's token and one-time number, unless `fields` override them.

        `values` are the fields of the form.
        """
        filled = {f"v:{name}": value for name, value in (values or {}).items()}
        data = {"token": self.hidden("token"), "event": self.hidden("event"), **fields, **filled}
        accept = {"accept": "application/json"} if json else {}
        return await self.http.post(f"{self.home}{kind}", data=data, headers={**accept, **(headers or {})})

    def listens(self, path: str = "events?after=0", **headers: str) -> Stream:
        """Opens the event stream; close it with `leave`, or it ends with the chat."""
        request = self.http.build_request("GET", f"{self.home}{path}", headers=headers)
        cookie = "; ".join(f"{name}={value}" for name, value in self.http.cookies.items())
        return Stream(self.app, request, cookie)


@asynccontextmanager
async def opened_browser(app: ASGIApp) -> AsyncIterator[Browser]:
    """Opens a browser of its own on the app."""
    transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        yield Browser(app, http)


class Stream:
    """An open stream, seen from the server: what it sends comes out of `next`."""

    def __init__(self, app: ASGIApp, request: httpx.Request, cookie: str) -> None:
        self._sent: asyncio.Queue[str | None] = asyncio.Queue()
        self._left = asyncio.Event()
        self._asked = False
        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "GET",
            "scheme": "http",
            "path": request.url.path,
            "raw_path": request.url.raw_path,
            "query_string": request.url.query,
            "root_path": "",
            "headers": [*((n.lower(), v) for n, v in request.headers.raw), (b"cookie", cookie.encode())],
            "server": ("localhost", 80),
            "client": ("127.0.0.1", 1),
        }
        self.task = asyncio.ensure_future(app(scope, self._receive, self._send))
        self.task.add_done_callback(lambda _: self._sent.put_nowait(None))

    async def _receive(self) -> Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": b"", "more_body": False}
        await self._left.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if body := message.get("body", b""):
            await self._sent.put(body.decode())

    async def next(self) -> tuple[str, str] | None:
        """Returns the id and data of the next event, skipping comments; None at the end of the stream."""
        event: str | None = ": ping"
        while event is not None and event.startswith(":"):
            async with asyncio.timeout(60):
                event = await self._sent.get()
        if event is None:
            return None
        lines = event.replace("\r\n", "\n").split("\n")
        number = next((line[4:] for line in lines if line.startswith("id: ")), "")
        return number, "\n".join(line[6:] for line in lines if line.startswith("data: "))

    async def leave(self) -> None:
        """Closes the stream from the browser's side; returns when the server has noticed."""
        self._left.set()
        await asyncio.wait_for(self.task, 60)


MakeBrowser = Callable[[], Browser]
