"""The security middleware: host names, body limits and response headers."""

from __future__ import annotations

from collections.abc import AsyncIterator

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from bot.web.security import HEADERS, MAX_BODY, SecurityMiddleware, host_name


async def length(request: Request) -> Response:
    return PlainTextResponse(str(len(await request.body())), headers={"Cache-Control": "public"})


def client(host: str = "localhost") -> httpx.AsyncClient:
    app = SecurityMiddleware(Starlette(routes=[Route("/", length, methods=["POST", "GET"])]), hosts=("Quiz.Example",))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url=f"http://{host}")


async def chunks(size: int, count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b"x" * size


@pytest.mark.parametrize(
    "host",
    [
        "localhost",
        "localhost:87",
        "127.0.0.1:80",
        "[::1]:80",
        "tower",
        "tower.local",
        "a.localhost",
        "QUIZ.example:443",
    ],
)
async def test_it_answers_to_addresses_local_names_and_its_own(host: str) -> None:
    async with client() as http:
        assert (await http.get("/", headers={"host": host})).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example",
        "evil.example:80",
        "evil.com",
        "evil.org",
        "local.evil.net",
        "notlocal.evil.dev",
        "evil.mylocal",
        "evil.notlocalhost",
        "evil-quiz.example",
        "www.quiz.example",
        "quiz.example.evil.com",
        "127.0.0.1.nip.io",
        "[evil.example]:80",
    ],
)
async def test_a_name_a_stranger_may_have_pointed_here_is_refused(host: str) -> None:
    async with client() as http:
        answer = await http.get("/", headers={"host": host})

    assert answer.status_code == 421
    assert host in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_a_body_is_taken_up_to_the_limit() -> None:
    async with client() as http:
        assert (await http.post("/", content=b"x" * MAX_BODY)).text == str(MAX_BODY)
        assert (await http.post("/", content=b"x" * (MAX_BODY + 1))).status_code == 413


async def test_a_body_that_does_not_say_its_length_is_counted() -> None:
    async with client() as http:
        fits = await http.post("/", content=chunks(1024 * 1024, 4))
        larger = await http.post("/", content=chunks(1024 * 1024, 5))

    assert "content-length" not in fits.request.headers
    assert fits.text == str(MAX_BODY)
    assert (larger.status_code, larger.text) == (
        413,
        "This is more than the chat accepts: 4 MiB at most. Nothing was changed.",
    )


@pytest.mark.parametrize("stated", ["9" * 30, "5000000", "4194305"])
async def test_a_stated_length_is_believed_when_it_is_too_much(stated: str) -> None:
    async with client() as http:
        answer = await http.post("/", content=b"x", headers={"content-length": stated})

    assert answer.status_code == 413


async def test_the_policy_replaces_what_a_page_says_of_itself() -> None:
    async with client() as http:
        answer = await http.get("/")

    assert {name: answer.headers[name] for name in HEADERS} == HEADERS
    assert answer.headers.get_list("cache-control") == ["no-store"]


def test_nothing_is_allowed_that_is_not_ours() -> None:
    policy = HEADERS["Content-Security-Policy"]

    assert "unsafe" not in policy
    assert "*" not in policy
    rules = dict(part.split(maxsplit=1) for part in policy.split("; "))
    assert [rules[name] for name in ("default-src", "base-uri", "frame-ancestors", "form-action")] == [
        *("'none'",) * 3,
        "'self'",
    ]
    # Pictures alone may stand in the page itself: they are ours, drawn where they are said.
    assert [part.split()[0] for part in policy.split(";") if "data:" in part] == ["img-src"]


@given(st.from_regex(r"[a-z][a-z0-9.-]{0,30}", fullmatch=True), st.none() | st.integers(1, 65535))
def test_a_port_is_not_part_of_a_host_name(name: str, port: int | None) -> None:
    assert host_name(name.upper() if port is None else f"{name}:{port}") == name


@given(st.ip_addresses(v=6), st.none() | st.integers(1, 65535))
def test_brackets_are_not_part_of_an_address(address: object, port: int | None) -> None:
    assert host_name(f"[{address}]" if port is None else f"[{address}]:{port}") == str(address)
