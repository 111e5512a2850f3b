"""Who a browser may act as, and when two posts are the same event."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from itsdangerous import URLSafeSerializer
from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import Response

from bot.web.security import MemberCookies, RequestProblem, cleaned, event_id, text_of
from bot.web.store import ChatStore
from service.client import ServiceClient
from service.wire import WebPerson

ANN, BOB = WebPerson(id="ann", name="Ann", admin=True), WebPerson(id="bob", name="Bob", admin=False)


def request(path: str = "/m/ann/press", cookie: str = "", scheme: str = "http") -> Request:
    headers = [(b"host", b"localhost"), (b"cookie", cookie.encode())]
    scope = {"type": "http", "method": "POST", "scheme": scheme, "path": path, "query_string": b"", "headers": headers}
    return Request(scope)


def number_of(*fields: tuple[str, str], whose: str = ANN.id, path: str = "/m/ann/press") -> str:
    return event_id(request(path), whose, FormData([("event", "n1"), *fields]))


def test_the_same_post_is_the_same_event() -> None:
    same = number_of(("action", "a:r1"), ("v:x", "1"), ("token", "t1"))

    assert same == number_of(("v:x", "1"), ("action", "a:r1"), ("token", "t2"))
    assert re.fullmatch("[0-9a-f]{64}", same)


def test_another_member_or_input_is_another_event() -> None:
    same = number_of(("action", "a:r1"))

    assert same != number_of(("action", "a:r2"))
    assert same != number_of(("action", "a:r1"), ("v:x", ""))
    assert same != number_of(("action", "a:r1"), whose=BOB.id)
    assert same != number_of(("action", "a:r1"), path="/m/ann/submit")


@pytest.mark.parametrize("number", ["", "x" * 65, "a b", "a\n"])
def test_an_invalid_one_time_number_is_rejected(number: str) -> None:
    with pytest.raises(RequestProblem):
        event_id(request(), ANN.id, FormData([("event", number)]))


@given(st.text())
def test_cleaned_text_has_one_kind_of_line_end_and_no_nul(text: str) -> None:
    once = cleaned(text)

    assert not {"\r", "\x00"} & set(once)
    assert cleaned(once) == once
    assert len(once.split("\n")) == len(re.split("\r\n|\r|\n", text))


def test_a_field_that_is_missing_is_empty() -> None:
    assert text_of(FormData([("a", "b\r\nc")]), "a") == "b\nc"
    assert text_of(FormData([]), "a") == ""


async def test_two_chats_on_one_machine_have_cookies_of_their_own(client: ServiceClient) -> None:
    first, second, again = [MemberCookies(ChatStore(client, name)) for name in ("one", "two", "one")]
    for cookies in (first, second, again):
        await cookies.load(request())

    assert first.cookie == again.cookie != second.cookie
    assert first.token("ann") == again.token("ann") != second.token("ann")


@pytest.mark.parametrize(("scheme", "secure"), [("https", True), ("http", False)])
async def test_a_cookie_that_came_by_tls_is_sent_by_tls_only(client: ServiceClient, scheme: str, secure: bool) -> None:
    store = ChatStore(client)
    cookies, asked, answer = MemberCookies(store), request(scheme=scheme), Response()
    await cookies.load(asked)
    await cookies.grant(asked, answer, await store.join("Ann"))
    assert ("Secure" in answer.headers["set-cookie"]) is secure


async def test_a_cookie_nobody_signed_knows_nobody(client: ServiceClient) -> None:
    cookies = MemberCookies(ChatStore(client))
    await cookies.load(request())
    for cookie in ("", "x", "W10.x", "x" * 5000, '["ann"]'):
        asked = request(cookie=f"{cookies.cookie}={cookie}")
        await cookies.load(asked)
        assert cookies.known(asked) == [], cookie


async def test_what_is_signed_for_one_purpose_is_good_for_no_other(client: ServiceClient) -> None:
    store = ChatStore(client)
    cookies, joining, answer = MemberCookies(store), request(), Response()
    await cookies.load(joining)
    await cookies.grant(joining, answer, await store.join("Ann"))
    secret = await store.secret()

    def made(salt: str, value: object) -> str:
        return str(URLSafeSerializer(secret, salt=salt).dumps(value))

    cookie = answer.headers["set-cookie"].partition("=")[2].partition(";")[0]
    codes = URLSafeSerializer(secret, salt="people").loads(cookie)
    for purpose, known in (("people", 1), ("csrf", 0), ("signed people", 0)):
        asked = request(cookie=f"{cookies.cookie}={made(purpose, codes)}")
        await cookies.load(asked)
        assert len(cookies.known(asked)) == known, purpose
    assert cookies.signed("people", codes) != cookie
    assert cookies.token("ann") == made("csrf", "ann") != cookies.signed("csrf", "ann")
    assert cookies.opened("one", cookies.signed("one", "ann")) == "ann"
    assert cookies.opened("one", cookies.signed("other", "ann")) is None
    assert cookies.opened("csrf", cookies.token("ann")) is None
