"""Service tokens: any of several is taken, the newest is shown, and a file of them is followed as it changes."""

from __future__ import annotations

import base64
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from service.client.calls import CallSender, ServiceRefused
from service.credentials import (
    BotToken,
    BotTokenFile,
    BotTokens,
    ServiceTokens,
    TokenFile,
    parse_bot_tokens,
    parse_tokens,
)

OLD, NEW, NEWER = ("the-old-token-16", "the-new-token-16", "the-newer-token-")

WORDS = st.text(st.characters(codec="utf-8", exclude_characters=",\r\n"), min_size=16, max_size=40).filter(
    lambda word: word == word.strip() and len(word) >= 16
)


def app_of(answer: Callable[[Request], Awaitable[Response]]) -> Starlette:
    """Returns an app in place of the service."""
    return Starlette(routes=[Route("/v1/me", answer, methods=["POST"])])


def replace(path: Path, text: str) -> None:
    """Replaces the file atomically, as an operator should."""
    new = path.with_suffix(".new")
    new.write_text(text, encoding="utf-8")
    new.replace(path)


@pytest.mark.parametrize("text", [f"{NEW},{OLD}", f"{NEW}\n{OLD}\n", f" {NEW} , \r\n\n{OLD}", f",{NEW},,{OLD},"])
def test_tokens_are_separated_by_commas_or_lines_newest_first(text: str) -> None:
    assert parse_tokens(text) == (NEW, OLD)


@pytest.mark.parametrize(("text", "found"), [("", 0), (" \n,", 0), ("short", 5), (f"{NEW},fifteen-letters", 15)])
def test_a_short_token_is_rejected_and_not_printed(text: str, found: int) -> None:
    with pytest.raises(ValueError, match=f"^{found} characters$"):
        parse_tokens(text)


@given(st.lists(WORDS, min_size=1, max_size=4), WORDS)
def test_each_of_them_and_nothing_else_is_accepted(tokens: list[str], other: str) -> None:
    known = ServiceTokens(*parse_tokens(",".join(tokens)))
    assert list(known.all) == tokens
    assert all(known.accepts(f"Bearer {token}") for token in tokens)
    for shown in ("", "Bearer", "Bearer ", *tokens, f"Bearer {tokens[0]} ", f"bearer {tokens[0]}", f"Bearer {other}x"):
        assert known.accepts(shown) is (shown.removeprefix("Bearer ") in tokens and shown.startswith("Bearer "))


def test_a_file_that_changes_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(OLD)
    tokens = TokenFile(path)
    for text, good, gone in (
        (f"{NEW}\n{OLD}", (NEW, OLD), NEWER),
        (NEW, (NEW,), OLD),
        (f"{NEWER},{NEW}", (NEWER, NEW), OLD),
    ):
        replace(path, text)
        assert tuple(tokens.all) == good
        assert all(tokens.accepts(f"Bearer {token}") for token in good)
        assert not tokens.accepts(f"Bearer {gone}")


@pytest.mark.parametrize("spoilt", [None, "", "short", f"{NEW},short"])
def test_a_file_that_cannot_be_used_changes_nothing_until_it_can(tmp_path: Path, spoilt: str | None) -> None:
    path = tmp_path / "token"
    path.write_text(OLD)
    tokens = TokenFile(path)
    if spoilt is None:
        path.unlink()
    else:
        replace(path, spoilt)
    assert [tuple(tokens.all) for _ in range(2)] == [(OLD,), (OLD,)]
    replace(path, NEW)
    assert tuple(tokens.all) == (NEW,)


def test_a_file_that_is_not_there_at_the_start_is_refused(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="No such file"):
        TokenFile(tmp_path / "none")
    (tmp_path / "short").write_text("short")
    with pytest.raises(ValueError, match="5 characters"):
        TokenFile(tmp_path / "short")


@pytest.mark.parametrize(
    ("mine", "theirs", "shown"),
    [
        ((NEW, OLD), (NEW, OLD), [NEW]),
        ((NEW, OLD), (OLD,), [NEW, OLD]),
        ((OLD,), (NEW, OLD), [OLD]),
        ((NEWER, NEW), (OLD,), [NEWER, NEW]),
    ],
)
async def test_the_newest_is_shown_and_the_others_where_it_is_not_known(
    mine: tuple[str, ...], theirs: tuple[str, ...], shown: list[str]
) -> None:
    asked: list[str] = []
    service = ServiceTokens(*theirs)

    async def answer(request: Request) -> Response:
        asked.append(request.headers["authorization"].removeprefix("Bearer "))
        return JSONResponse(7, 200 if service.accepts(request.headers["authorization"]) else 401)

    async with CallSender.inside(app_of(answer), ServiceTokens(*mine)) as caller:
        if set(mine) & set(theirs):
            assert await caller.send("me", TypeAdapter(int), repeatable=True) == 7
        else:
            with pytest.raises(ServiceRefused, match="401"):
                await caller.send("me", TypeAdapter(int), repeatable=True)
    assert asked == shown


async def test_a_token_that_changes_after_a_call_was_sent_is_shown_at_once(tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(OLD)
    bodies: list[bytes] = []

    async def answer(request: Request) -> Response:
        bodies.append(await request.body())
        replace(path, NEW)  # the service has retired the old one while the call was on its way
        return JSONResponse(7, 200 if request.headers["authorization"] == f"Bearer {NEW}" else 401)

    async with CallSender.inside(app_of(answer), TokenFile(path)) as caller:
        assert await caller.send("me", TypeAdapter(int), repeatable=True, a=1) == 7
    assert bodies == [b'{"a":1}'] * 2


def test_threads_that_ask_while_the_file_changes_all_see_its_new_token(tmp_path: Path) -> None:
    """A service checks tokens in several threads. From the moment a client may send a new one, all must accept it."""
    path, callers = tmp_path / "tokens", 8
    replace(path, OLD)
    tokens = TokenFile(path)
    with ThreadPoolExecutor(callers) as threads:
        for number in range(200):
            token, gate = f"token-number-{number:03}", Barrier(callers)
            replace(path, token)

            def asks(token: str = token, gate: Barrier = gate) -> bool:
                gate.wait()
                return tokens.accepts(f"Bearer {token}")

            asked = [threads.submit(asks) for _ in range(callers)]
            assert all(each.result() for each in asked)


@pytest.mark.parametrize("text", [f"discord={OLD},slack={NEW}", f"discord={OLD}\n\n slack = {NEW}\r\n"])
def test_each_token_of_a_bot_names_its_platform(text: str) -> None:
    tokens = parse_bot_tokens(text)
    assert tokens == (BotToken("discord", OLD), BotToken("slack", NEW))
    bots = BotTokens(*tokens)
    shown = [f"Bearer {OLD}", f"Bearer {NEW}", f"Bearer {NEWER}", OLD, "Bearer ", ""]
    assert [bots.platform_of(header) for header in shown] == ["discord", "slack", None, None, None, None]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (OLD, "token 1 has no platform"),
        (f"discord={OLD},teams={NEW}", "token 2 has no platform"),
        ("discord=short", "token 1 has 5 characters"),
        (f"discord={OLD},slack={OLD}", "one token is there twice"),
    ],
)
def test_a_bots_token_that_cannot_be_used_is_named_and_not_printed(text: str, problem: str) -> None:
    with pytest.raises(ValueError, match=problem) as error:
        parse_bot_tokens(text)
    assert OLD not in str(error.value) and "short" not in str(error.value)


@given(st.binary(min_size=12, max_size=40))
def test_a_token_may_hold_what_base64_has(random: bytes) -> None:
    token = base64.b64encode(random).decode()
    assert parse_bot_tokens(f"web={token}") == (BotToken("web", token),)


def test_a_file_of_bots_tokens_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "tokens"
    path.write_text(f"discord={OLD}")
    bots = BotTokenFile(path)
    replace(path, f"discord={NEW}\ndiscord={OLD}")
    assert [bots.platform_of(f"Bearer {token}") for token in (NEW, OLD)] == ["discord", "discord"]
    replace(path, f"discord={NEW}\nslack")
    assert bots.platform_of(f"Bearer {OLD}") == "discord", "an invalid file changes nothing"
    replace(path, f"slack={NEW}")
    assert [bots.platform_of(f"Bearer {token}") for token in (NEW, OLD)] == ["slack", None]
