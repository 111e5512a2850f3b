"""Two processes of the web chat on one service are one chat; and what their pages do while the service is away."""

from __future__ import annotations

import asyncio
import html
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field

import httpx
import pytest
from starlette.types import ASGIApp, Receive, Scope, Send

from bot.cli import serve_web_chat
from bot.core.cards import Card
from bot.core.command_parser import suggest
from bot.core.dispatcher import Target
from bot.settings import LinkSettings
from bot.web.app import build
from bot.web.chat import CHANNEL, WebChat
from bot.web.render import environment
from bot.web.store import ChatStore
from service.app import Service
from service.client import ServiceClient
from service.people import web_chat
from service.people.web_chat import Limit
from service.process import listen
from tests.bot.web.conftest import AT
from tests.bot.web.http_browser import Browser, Desk, Stream
from tests.bot.web.writers import contents, says
from tests.conftest import TOKEN


@dataclass
class Balancer:
    """Sends each request to the next of the processes, as a load balancer does; or all to the one that is chosen."""

    apps: tuple[ASGIApp, ...]
    only: int | None = None
    sent: int = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        chosen = self.sent % len(self.apps) if self.only is None else self.only
        self.sent += 1
        await self.apps[chosen](scope, receive, send)


@dataclass
class Line:
    """The way to the service, which can be cut, or answer with what nobody understands."""

    app: ASGIApp
    is_cut: bool = False
    is_garbled: bool = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if not self.is_cut and not self.is_garbled:
            await self.app(scope, receive, send)
            return
        await send({"type": "http.response.start", "status": 503 if self.is_cut else 200, "headers": []})
        await send({"type": "http.response.body", "body": b"" if self.is_cut else b"[1]"})


@dataclass
class Site:
    """Two processes of one web chat behind a load balancer."""

    line: Line
    chats: tuple[WebChat, WebChat]
    apps: tuple[ASGIApp, ASGIApp]
    balancer: Balancer
    stack: AsyncExitStack
    browsers: list[Browser] = field(default_factory=list)

    async def browser(self, app: ASGIApp | None = None) -> Browser:
        """Opens a browser behind the balancer, or on one process."""
        to = app or self.balancer
        transport = httpx.ASGITransport(app=to, raise_app_exceptions=False)
        http = await self.stack.enter_async_context(httpx.AsyncClient(transport=transport, base_url="http://localhost"))
        return Browser(to, http)

    async def joined(self, name: str, app: ASGIApp | None = None) -> Browser:
        browser = await self.browser(app)
        await browser.join(name)
        return browser


@pytest.fixture
async def site(service: Service) -> AsyncIterator[Site]:
    async with AsyncExitStack() as stack:
        line = Line(service.api)
        clients = [await stack.enter_async_context(ServiceClient.inside(line, TOKEN)) for _ in range(2)]
        first, second = [WebChat(ChatStore(client), lambda: AT) for client in clients]
        apps = build(first, Desk().answer, suggest), build(second, Desk().answer, suggest)
        yield Site(line, (first, second), apps, Balancer(apps), stack)
        first.close()
        second.close()


async def test_a_message_appears_on_the_pages_of_every_process(site: Site) -> None:
    one, two = await site.joined("Ann", site.apps[0]), await site.joined("Bob", site.apps[1])
    streams = one.listens(), two.listens()
    await one.sends("say", text="hello from the first")
    await two.sends("say", text="hello from the second")
    await site.chats[0].post(Target("local", CHANNEL, member=two.member), Card("For Bob", "alone"), "k")
    seen = [[await stream.next() for _ in range(count)] for stream, count in zip(streams, (2, 3), strict=True)]
    for events in seen:
        assert events[0] is not None and "hello from the first" in events[0][1]
        assert events[1] is not None and "hello from the second" in events[1][1]
    private = seen[1][2]
    assert private is not None and "For Bob" in private[1]
    for stream in streams:
        await stream.leave()


async def test_every_form_works_whichever_process_made_its_page(site: Site) -> None:
    """The processes share what signs cookies and forms."""
    ann = await site.joined("Ann")
    for number in range(4):
        await ann.opens(ann.home)
        said = await ann.sends("say", text=f"message {number}")
        assert said.status_code == 303, said.text
    assert await contents(site.chats[0], "anyone") == [f"message {number}" for number in range(4)]
    assert await contents(site.chats[1], "anyone") == await contents(site.chats[0], "anyone")


async def test_an_event_that_is_repeated_at_another_process_counts_once(site: Site) -> None:
    ann = await site.joined("Ann")
    answers = await asyncio.gather(*(ann.sends("say", text="once") for _ in range(4)))
    assert {answer.headers["location"] for answer in answers} == {answers[0].headers["location"]}
    assert await contents(site.chats[0], "anyone") == ["once"]


async def test_signing_out_at_one_process_ends_the_pages_and_streams_of_the_other(site: Site) -> None:
    bob = await site.joined("Bob", site.apps[1])
    stream = bob.listens()
    await says(site.chats[0], "Ann", "before", "e1")
    first = await stream.next()
    assert first is not None and "before" in first[1]
    (session,) = await site.chats[0].store.list_sessions(bob.member)
    await site.chats[0].store.end_sessions([session.id])
    assert await stream.next() is None, "without waiting for a message"
    await says(site.chats[0], "Ann", "for members only", "e2")
    assert (await bob.opens(bob.home)).status_code == 403


async def test_an_admin_of_one_process_is_an_admin_of_the_other(site: Site) -> None:
    first, second = await site.joined("Ann", site.apps[0]), await site.joined("Bob", site.apps[1])
    people = await site.chats[0].store.people(first.member, second.member)
    assert [people[one.member].admin for one in (first, second)] == [True, False], "one chat has one first member"
    await site.chats[0].store.make_admin(second.member)
    assert (await site.chats[1].store.people(second.member))[second.member].admin


async def test_a_sign_in_link_works_once_for_all_processes(site: Site) -> None:
    ann = await site.joined("Ann", site.apps[0])
    made = await ann.http.post(f"/m/{ann.member}/sign-in", data={"token": ann.hidden("token")})
    found = re.search(r"(/sign-in/[^<\"]+)", made.text)
    assert found, made.text
    path = html.unescape(found[1])
    answers = []
    for app in (site.apps[1], site.apps[0]):
        other = await site.browser(app)
        page = await other.opens(path)
        if page.status_code == 200:
            page = await other.http.post(path, data={"token": other.hidden("token")})
        answers.append(page.status_code)
    assert answers == [303, 404]


async def test_limits_hold_for_all_processes_together(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(web_chat, "JOINS", Limit(2, web_chat.JOINS.period))
    monkeypatch.setattr(web_chat, "MESSAGES", Limit(2, web_chat.MESSAGES.period))
    ann, bob = await site.joined("Ann", site.apps[0]), await site.joined("Bob", site.apps[1])
    for app in site.apps:
        eve = await site.browser(app)
        await eve.opens("/")
        late = await eve.http.post("/join", data={"token": eve.hidden("token"), "name": "Eve"})
        assert late.status_code == 409 and "Try again" in late.text
    both = await site.browser()
    both.http.cookies, both.home = ann.http.cookies, ann.home
    said = []
    for number in range(4):
        await both.opens(both.home)
        said.append((await both.sends("say", text=f"message {number}")).status_code)
    assert said == [303, 303, 409, 409]
    assert (await bob.sends("say", text="Bob may")).status_code == 303


async def listening(site: Site, client: ServiceClient) -> tuple[Browser, Stream, WebChat]:
    """Returns Ann's browser, her stream after its first event, and a chat whose way to the service is not cut."""
    ann = await site.joined("Ann", site.apps[0])
    elsewhere = WebChat(ChatStore(client), lambda: AT)
    stream = ann.listens()
    await says(elsewhere, "Bob", "before", "e1")
    event = await stream.next()
    assert event is not None and "before" in event[1]
    return ann, stream, elsewhere


async def test_while_the_service_is_away_pages_say_so_and_then_miss_nothing(site: Site, client: ServiceClient) -> None:
    ann, stream, elsewhere = await listening(site, client)

    site.line.is_cut = True
    await says(elsewhere, "Bob", "the last one", "e2")  # ends the call that waits for changes
    arrived = [await stream.next()]
    if arrived[0] is not None and "the last one" in arrived[0][1]:
        arrived.append(await stream.next())
    assert arrived[-1] == ("", "lost")
    page = await ann.opens(ann.home)
    assert page.status_code == 503 and "The quiz is not responding" in page.text
    said = await ann.http.post(f"{ann.home}say", data={"text": "hello"}, headers={"accept": "application/json"})
    assert said.status_code == 503
    assert (await ann.opens("/healthz")).status_code == 200
    await says(elsewhere, "Bob", "while it was away", "e3")

    site.line.is_cut = False
    assert await stream.next() == ("", "open")
    later = [await stream.next()]
    if later[0] is not None and "the last one" in later[0][1]:
        later.append(await stream.next())
    assert later[-1] is not None and "while it was away" in later[-1][1]
    assert (await ann.opens(ann.home)).status_code == 200
    await stream.leave()


async def test_pages_go_on_after_changes_that_cannot_be_read(site: Site, client: ServiceClient) -> None:
    _, stream, elsewhere = await listening(site, client)
    site.line.is_garbled = True
    await says(elsewhere, "Bob", "the last one", "e2")  # ends the call that waits for changes
    arrived = []
    while ("", "lost") not in arrived:
        arrived.append(await stream.next())
    site.line.is_garbled = False
    await says(elsewhere, "Bob", "afterwards", "e3")
    while not (arrived[-1] is not None and "afterwards" in arrived[-1][1]):
        arrived.append(await stream.next())
    assert ("", "open") in arrived
    await stream.leave()


async def test_the_web_chat_compiles_its_pages_before_it_answers(client: ServiceClient) -> None:
    environment.cache_clear()
    with listen("127.0.0.1", 0, tries=1) as listener:
        async with serve_web_chat(client, listener, LinkSettings()):
            assert len(environment().cache or ()) == len(environment().list_templates(extensions=["html"]))
