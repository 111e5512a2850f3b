"""Who may do what on the web: for every page and post, and every kind of visitor, what comes of it; and no fault, ever.

The pages of a member are opened by the browser they joined in alone; the editor by whoever has its signed link.
"""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta

import httpx
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.routing import Mount, Route
from starlette.types import ASGIApp

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.web import LinkedEditor
from bot.web.app import build
from bot.web.chat import WebChat
from bot.web.store import ChatStore
from service.wire import Operations, Who
from tests.bot.conftest import Room
from tests.bot.web.http_browser import Browser
from tests.bot.web.test_app import CODE
from tests.bot.web.test_app_operations import QUIET
from tests.bot.web.test_editor import LINKS, link_of
from tests.bot.web.writers import posted
from tests.conftest import MakeWho

ROLES = ("stranger", "another member", "another site", "member", "admin")
"""Another site has the member's browser send what it likes, but cannot read the member's pages. An admin visits their
own pages: no member's are theirs."""

ANYBODY = (200,) * 5
MEMBERS = (403, 403, 200, 200, 200)
POSTED = (403, 403, 403, 303, 303)
ADMINS = (403, 403, 403, 403, 200)
ROWS = {
    "GET /": ANYBODY,
    "GET /healthz": ANYBODY,
    "GET /highlight.css": ANYBODY,
    "GET /static/chat.js": ANYBODY,
    "POST /join": (303, 303, 403, 303, 303),
    "GET /m/{member}/": MEMBERS,
    "GET /m/{member}/complete": MEMBERS,
    "GET /m/{member}/commands": MEMBERS,
    "GET /m/{member}/form/{message}": MEMBERS,
    "GET /m/{member}/operations": (403, 403, 403, 403, 200),
    "GET /m/{member}/admin": ADMINS,
    "GET /m/{member}/admin/review": ADMINS,
    "POST /m/{member}/admin/review": (403, 403, 403, 403, 422),
    "GET /m/{member}/admin/review/edit": (403, 403, 403, 403, 422),
    "POST /m/{member}/admin/review/edit": (403, 403, 403, 403, 422),
    "GET /m/{member}/admin/review/report/{number}": (403, 403, 403, 403, 409),
    "POST /m/{member}/admin/review/report/{number}": (403, 403, 403, 403, 422),
    "GET /m/{member}/admin/review/similarity": ADMINS,
    "GET /m/{member}/admin/review/suggestion/{number}": (403, 403, 403, 403, 409),
    "POST /m/{member}/admin/review/suggestion/{number}": (403, 403, 403, 403, 422),
    "GET /m/{member}/admin/bank": ADMINS,
    "POST /m/{member}/admin/bank": (403, 403, 403, 403, 422),
    "GET /m/{member}/admin/bank/question": (403, 403, 403, 403, 404),
    "POST /m/{member}/admin/bank/question": (403, 403, 403, 403, 422),
    "GET /m/{member}/admin/bank/import": ADMINS,
    "POST /m/{member}/admin/bank/import": (403, 403, 403, 403, 422),
    "GET /m/{member}/admin/statistics": ADMINS,
    "GET /m/{member}/admin/seasons": ADMINS,
    "POST /m/{member}/admin/seasons": (403, 403, 403, 403, 422),
    "GET /m/{member}/admin/sprints": ADMINS,
    "POST /m/{member}/admin/sprints": (403, 403, 403, 403, 422),
    "GET /m/{member}/admin/tournaments": ADMINS,
    "POST /m/{member}/admin/tournaments": (403, 403, 403, 403, 422),
    "GET /m/{member}/admin/members": ADMINS,
    "POST /m/{member}/admin/members": (403, 403, 403, 403, 422),
    "GET /m/{member}/admin/settings": ADMINS,
    "POST /m/{member}/admin/settings": (403, 403, 403, 403, 422),
    "GET /m/{member}/admin/audit": ADMINS,
    "GET /m/{member}/admin/schedules": ADMINS,
    "GET /m/{member}/admin/schedules/{number}": (403, 403, 403, 403, 404),
    "POST /m/{member}/admin/schedules/{number}": (403, 403, 403, 403, 404),
    "GET /m/{member}/today": MEMBERS,
    "GET /m/{member}/practice": MEMBERS,
    "GET /m/{member}/practice/due": MEMBERS,
    "GET /m/{member}/practice/{ref}": (403, 403, 409, 409, 409),
    "POST /m/{member}/practice": (403, 403, 403, 409, 409),
    "POST /m/{member}/practice/{ref}/try": (403, 403, 403, 409, 409),
    "POST /m/{member}/practice/{ref}/mark": (403, 403, 403, 422, 422),
    "POST /m/{member}/practice/{ref}/rate": (403, 403, 403, 422, 422),
    "GET /m/{member}/board": MEMBERS,
    "GET /m/{member}/ladder": MEMBERS,
    "GET /m/{member}/me": MEMBERS,
    "GET /m/{member}/sessions": MEMBERS,
    "POST /m/{member}/sessions": (403, 403, 403, 422, 422),
    "GET /m/{member}/suggest": MEMBERS,
    "POST /m/{member}/suggest": (403, 403, 403, 422, 422),
    "GET /m/{member}/archive": MEMBERS,
    "GET /m/{member}/question/{ref}": (403, 403, 409, 409, 409),
    "POST /m/{member}/question/{ref}/prove": (403, 403, 403, 409, 409),
    "POST /m/{member}/question/{ref}/feedback": (403, 403, 403, 422, 422),
    "POST /m/{member}/today": (403, 403, 403, 200, 200),
    "POST /m/{member}/say": POSTED,
    "POST /m/{member}/press": POSTED,
    "POST /m/{member}/submit": POSTED,
    "POST /m/{member}/highlight": (403, 403, 403, 200, 200),
    "POST /m/{member}/sign-in": (403, 403, 403, 200, 200),
    "GET /sign-in/{code}": ANYBODY,
    "POST /sign-in/{code}": (303, 303, 403, 303, 303),
    "GET /e/{token}": (404, 200, 200, 200, 200),
    "POST /e/{token}/submit": (404, 403, 403, 200, 200),
    "POST /e/{token}/highlight": (404, 403, 403, 200, 200),
    "GET /m/{member}/tournament": MEMBERS,
    "GET /m/{member}/sprint": MEMBERS,
    "POST /m/{member}/sprint": (403, 403, 403, 422, 422),
    "GET /m/{member}/events": MEMBERS,
    "GET /m/{member}/tournament/events": MEMBERS,
    "GET /m/{member}/sprint/events": MEMBERS,
}
"""The streams come last: here the chat is closed before, so that it ends."""


@dataclass
class Site:
    """The web chat with all it can have, and those who visit it."""

    app: ASGIApp
    chat: WebChat
    link: str
    admin: Browser
    member: Browser
    another: Browser
    stranger: Browser

    def visitor(self, role: str) -> tuple[Browser, Browser]:
        """Creates a browser of one member and the pages of another."""
        return {
            "stranger": (self.stranger, self.member),
            "another member": (self.another, self.member),
            "another site": (self.member, self.member),
            "member": (self.member, self.member),
            "admin": (self.admin, self.admin),
        }[role]

    async def form_of(self, whose: Browser) -> int:
        """Returns a form on a member's pages."""
        return await posted(self.chat, CODE, member=whose.member)

    async def link_token(self, path: str) -> str:
        page = (await self.stranger.http.get(path)).text
        found = re.search(r'name="token" value="([^"]*)"', page)
        return found[1] if found else "none"


@pytest.fixture
async def web(room: Room, who: MakeWho) -> AsyncIterator[Site]:
    link = await link_of(room, who("Ann"))
    chat = WebChat(ChatStore(room.client), room.clock)
    linked = LinkedEditor(LINKS, room.client, Quiz(room.client, LINKS).handle, room.clock)

    async def look(_: Who) -> Operations:
        return QUIET

    app = build(chat, Quiz(room.client).handle, suggest, ("quiz.example",), linked, look, room.client)
    browsers = []
    for name in ("Admin", "Member", "Another", ""):
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        browsers.append(Browser(app, httpx.AsyncClient(transport=transport, base_url="http://localhost")))
        if name:
            await browsers[-1].join(name)
    yield Site(app, chat, link, *browsers)
    chat.close()
    for browser in browsers:
        await browser.http.aclose()


async def visit(web: Site, route: str, role: str) -> int:
    """Returns the status for this visitor, who posts what our page would if they can read it."""
    method, path = route.split()
    mine, whose = web.visitor(role)
    form = await web.form_of(whose)
    link = web.link if role != "stranger" else "/e/no-such-link"
    if "{code}" in path:
        guest = await web.chat.store.join(f"Guest {form}")
        path = path.replace("{code}", await web.chat.store.make_sign_in(guest.id, timedelta(minutes=1)))
    path = (
        path.replace("/e/{token}", link)
        .replace("{member}", whose.member)
        .replace("{message}", str(form))
        .replace("{ref}", "p999")
    )
    if method == "GET":
        return (await mine.http.get(path)).status_code
    knows = role in ("member", "admin")
    if path.startswith("/e/"):
        token = await web.link_token(link) if knows else "unknown"
    elif path.startswith(("/join", "/sign-in/")):
        await mine.opens(path.replace("/join", "/"))
        token = mine.hidden("token") if role != "another site" else "unknown"
    else:
        await mine.opens(mine.home.replace("/today", "/") or "/")
        token = mine.hidden("token")
    named = {"token": token, "event": f"{role.replace(' ', '-')}-{form}", "name": f"New {role}"}
    said = {"text": "/quiz rules", "action": "f:r1", "ref": "p999", "code": "1", "v:code": "1", **named}
    headers = {"sec-fetch-site": "cross-site"} if role == "another site" else {}
    return (await mine.http.post(path, data=said, headers=headers)).status_code


@pytest.mark.slow
async def test_every_page_treats_every_visitor_as_in_the_table(web: Site) -> None:
    for route, row in ROWS.items():
        if route.endswith("/events"):
            web.chat.close()
        for role, status in zip(ROLES, row, strict=True):
            assert await visit(web, route, role) == status, f"{route} by {role}"


async def test_every_page_has_its_row(web: Site) -> None:
    app = vars(web.app)["_app"]
    while not isinstance(app, Starlette):
        app = vars(app)["_app"]
    routes = app.routes
    found = set()
    for route in routes:
        assert isinstance(route, Route | Mount)
        # Files of ours lie beneath the one mount, and are everybody's.
        methods = (route.methods or set()) - {"HEAD"} if isinstance(route, Route) else {"GET"}
        found |= {f"{method} {route.path}{'/chat.js' if isinstance(route, Mount) else ''}" for method in methods}
    assert found == set(ROWS)


NAMES = [
    *("text", "action", "message", "editor", "event", "name", "code", "v:code", "v:text", "x", "period", "topic"),
    *(
        "ref",
        "page",
        "before",
        "since",
        "id",
        "by",
        "question",
        "report",
        "answer",
        "percent",
        "reason",
        "day",
        "month",
        "was",
    ),
    *("weekdays", "session", "sprint", "schedules", "v:points", "v:options", "v:days", "v:channel", "v:at", "v:name"),
]
FIELDS = st.sampled_from(NAMES)
NUMBERS = ["9" * 30, "9" * 5000, "100009999", "00100009999", "-1", "\uff11", "\u00b2", "1e9"]
ACTIONS = ["f:r1", "a:r1", "x:r1", "om:p1", "bh", "ed:1:0900:0:0:UTC", "plan", "save", "edit", "captain", "preview"]
TEXTS = st.one_of(st.text(max_size=60), st.sampled_from([*NUMBERS, *ACTIONS, "/quiz", "/", "\x00", "all", "a" * 5000]))


@pytest.mark.slow
@settings(max_examples=120)
@example(True, "GET /m/{member}/admin/bank", {"page": "100009999"}, "")
@example(True, "GET /m/{member}/archive", {"page": "010000999"}, "")
@example(True, "POST /m/{member}/admin/review", {"percent": "00100009999"}, "")
@example(True, "POST /m/{member}/admin/review", {"percent": "0" * 5000}, "")
@example(True, "POST /m/{member}/submit", {"action": "b:0900:daily:", "v:days": "9" * 5000}, "")
@example(False, "POST /m/{member}/practice", {"ref": "p1", "v:text": "a" * 5000}, "")
@example(False, "POST /m/{member}/practice/{ref}/mark", {"v:points": "9" * 5000}, "")
@given(
    admin=st.booleans(),
    route=st.sampled_from([route for route in ROWS if not route.endswith("/events")]),
    fields=st.dictionaries(FIELDS, TEXTS, max_size=6),
    place=st.text(max_size=20),
)
async def test_no_post_makes_it_fail(web: Site, admin: bool, route: str, fields: dict[str, str], place: str) -> None:
    method, path = route.split()
    visitor = web.admin if admin else web.member
    visitor.page = (await visitor.http.get(visitor.home.replace("/today", "/"))).text
    path = path.replace("/e/{token}", web.link).replace("{member}", visitor.member)
    path = path.replace("{message}", str(httpx.QueryParams({"a": place}))[2:] or "0")
    path = (
        path.replace("{ref}", fields.get("x") or "p1")
        if fields.get("x", "p1").isalnum()
        else path.replace("{ref}", "p1")
    )
    token = await web.link_token(web.link) if path.startswith("/e/") else visitor.hidden("token")
    event = {"event": fields.get("event", "once")}
    if method == "GET":
        answer = await visitor.http.get(path, params=fields)
    else:
        answer = await visitor.http.post(path, data={**fields, **event, "token": token})
    assert answer.status_code < 500, (path, fields, answer.text)
