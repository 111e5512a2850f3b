"""The editor a signed link opens, as a browser without scripts meets it, with the whole service behind it."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from datetime import timedelta

import httpx
import pytest

from bot.core.links import Links
from bot.core.quiz import Quiz
from bot.web import LinkedEditor, build_editor
from service.wire import Who
from tests.bot.conftest import Room
from tests.conftest import MakeWho

LINKS = Links("http://localhost", "a-secret-of-the-tests")
CODE = "def add_one(x):\n    return x + 1"


@pytest.fixture
def ann(who: MakeWho) -> Who:
    return who("Ann")


@pytest.fixture
async def http(room: Room) -> AsyncIterator[httpx.AsyncClient]:
    editor = LinkedEditor(LINKS, room.client, Quiz(room.client, LINKS).handle, room.clock)
    transport = httpx.ASGITransport(app=build_editor(editor, ("quiz.example",)), raise_app_exceptions=False)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as http:
        yield http


def hidden(html: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', html)
    assert found, f"no hidden field {name}"
    return found[1]


async def link_of(room: Room, who: Who, question: str = "add-one") -> str:
    """Opens the question and returns the path of the member's link."""
    await room.opens(question)
    (ask,) = (await room.client.today(who, room.where)).forms
    return LINKS.editor(who, room.where, ask.ref, room.clock()).url.removeprefix("http://localhost")


async def sends(
    http: httpx.AsyncClient, path: str, action: str, code: str, *, json: bool = False, **more: str
) -> httpx.Response:
    page = (await http.get(path)).text
    fields = {"token": hidden(page, "token"), "event": hidden(page, "event"), "action": action, "v:code": code, **more}
    accept = {"accept": "application/json"} if json else {}
    return await http.post(f"{path}/submit", data=fields, headers=accept)


async def test_the_page_takes_the_answer_and_shows_it_again(room: Room, ann: Who, http: httpx.AsyncClient) -> None:
    path = await link_of(room, ann)
    page = await http.get(path)
    assert page.status_code == 200
    assert 'You are <strong dir="auto">Ann</strong>' in page.text
    assert "def add_one(x: int) -&gt; int:" in page.text
    answer = await sends(http, path, "f:r1", CODE)
    assert answer.status_code == 200
    assert "Your code is being judged…" in answer.text
    assert "return x + 1</textarea>" in answer.text
    assert "return x + 1</textarea>" in (await http.get(path)).text


async def test_looking_changes_nothing_and_every_page_has_numbers_of_its_own(
    room: Room, ann: Who, http: httpx.AsyncClient
) -> None:
    path = await link_of(room, ann)
    pages = [(await http.get(path)).text for _ in range(3)]
    assert len({hidden(page, "event") for page in pages}) == 3
    assert "0 answers" in await room.types(room.boss, "/quiz-admin close-now")


async def test_the_same_post_twice_is_one_answer_and_another_is_another(
    room: Room, ann: Who, http: httpx.AsyncClient
) -> None:
    path = await link_of(room, ann)
    page = (await http.get(path)).text
    fields = {"token": hidden(page, "token"), "event": hidden(page, "event"), "action": "f:r1", "v:code": CODE}
    first, again = [await http.post(f"{path}/submit", data=fields) for _ in range(2)]
    changed = await http.post(f"{path}/submit", data={**fields, "v:code": "def add_one(x):\n    return 2"})
    assert [one.status_code for one in (first, again, changed)] == [200, 200, 200]
    (ask,) = (await room.client.today(ann, room.where)).forms
    assert ask.given is not None and ask.given.code == "def add_one(x):\n    return 2"


async def test_a_script_gets_the_reply_alone_and_without_buttons(room: Room, ann: Who, http: httpx.AsyncClient) -> None:
    path = await link_of(room, ann)
    answer = (await sends(http, path, "x:r1", "x", json=True)).json()
    assert (answer["message"], answer["editor"]) == (2, "")
    assert "No sandbox is connected" in answer["html"]
    assert "<button" not in answer["html"] and "<form" not in answer["html"]


async def test_colors_come_for_the_links_own_page_alone(room: Room, ann: Who, http: httpx.AsyncClient) -> None:
    path = await link_of(room, ann)
    token = hidden((await http.get(path)).text, "token")
    painted = await http.post(f"{path}/highlight", data={"token": token, "code": "def f(): pass"})
    assert '<span class="' in painted.text
    assert (await http.post(f"{path}/highlight", data={"token": "x", "code": "def f(): pass"})).status_code == 403


@pytest.mark.parametrize("action", ["f:r2", "x:p1", "o:r1:a", "v:erase", "i:apply", "", "zz", "f:r1,code,,"])
async def test_a_link_answers_its_own_question_and_does_nothing_else(
    room: Room, ann: Who, http: httpx.AsyncClient, action: str
) -> None:
    path = await link_of(room, ann)
    refused = await sends(http, path, action, CODE)
    assert refused.status_code == 403
    assert "It answers one question and no other" in refused.text
    assert "0 answers" in await room.types(room.boss, "/quiz-admin close-now")


@pytest.mark.parametrize(
    ("headers", "token"),
    [({"sec-fetch-site": "cross-site"}, None), ({"origin": "http://evil.example"}, None), ({}, "x"), ({}, "")],
)
async def test_what_another_site_sends_is_refused(
    room: Room, ann: Who, http: httpx.AsyncClient, headers: dict[str, str], token: str | None
) -> None:
    path = await link_of(room, ann)
    page = (await http.get(path)).text
    sent = hidden(page, "token") if token is None else token
    fields = {"token": sent, "event": hidden(page, "event"), "action": "f:r1", "v:code": CODE}
    assert (await http.post(f"{path}/submit", data=fields, headers=headers)).status_code == 403
    assert "0 answers" in await room.types(room.boss, "/quiz-admin close-now")


async def test_a_page_of_one_link_posts_to_no_other(
    room: Room, ann: Who, who: MakeWho, http: httpx.AsyncClient
) -> None:
    mine = await link_of(room, ann)
    theirs = LINKS.editor(who("Bob"), room.where, "r1", room.clock()).url.removeprefix("http://localhost")
    page = (await http.get(mine)).text
    fields = {"token": hidden(page, "token"), "event": hidden(page, "event"), "action": "f:r1", "v:code": CODE}
    assert (await http.post(f"{theirs}/submit", data=fields)).status_code == 403


async def test_a_link_ends_with_its_round_even_when_it_is_closed_early(
    room: Room, ann: Who, http: httpx.AsyncClient
) -> None:
    path = await link_of(room, ann)
    page = (await http.get(path)).text
    room.moving.advance(hours=7)
    ended = await http.get(path)
    assert ended.status_code == 410
    assert "This round has closed" in ended.text
    fields = {"token": hidden(page, "token"), "event": hidden(page, "event"), "action": "f:r1", "v:code": CODE}
    assert (await http.post(f"{path}/submit", data=fields)).status_code == 410


async def test_a_link_ends_after_a_day(room: Room, ann: Who, http: httpx.AsyncClient) -> None:
    await room.opens("add-one")
    path = LINKS.editor(ann, room.where, "r1", room.clock() - timedelta(hours=24)).url.removeprefix("http://localhost")
    ended = await http.get(path)
    assert (ended.status_code, "Open the editor from the question again" in ended.text) == (410, True)


@pytest.mark.parametrize("path", ["/e/x", "/e/x.y", "/e/", "/m/x/"])
async def test_a_forged_link_opens_nothing(room: Room, http: httpx.AsyncClient, path: str) -> None:
    assert (await http.get(path)).status_code == 404


async def test_a_question_without_code_needs_no_editor(room: Room, ann: Who, http: httpx.AsyncClient) -> None:
    path = await link_of(room, ann, "one-right")
    assert "answered with a few clicks" in (await http.get(path)).text


async def test_the_page_is_protected_and_not_cached_or_indexed(room: Room, ann: Who, http: httpx.AsyncClient) -> None:
    page = await http.get(await link_of(room, ann))
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert page.headers["cache-control"] == "no-store"
    assert page.headers["referrer-policy"] == "same-origin"
    assert 'name="robots" content="noindex"' in page.text
    assert (await http.get("/", headers={"host": "quiz.example"})).status_code == 200
    assert (await http.get("/", headers={"host": "evil.example"})).status_code == 421
    assert (await http.get("/healthz")).text == "ok"
