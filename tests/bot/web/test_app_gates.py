"""Access to the web chat, and the headers of every response."""

from __future__ import annotations

import pytest

from tests.bot.web.http_browser import Browser, Desk, MakeBrowser


async def test_a_post_without_our_own_token_does_nothing(ann: Browser, bob: Browser, desk: Desk) -> None:
    for token in ("", "x", "ü", bob.hidden("token")):
        answer = await ann.sends("say", token=token, text="/quiz today")
        assert answer.status_code == 403
        assert "Nothing was changed." in answer.text
    assert desk.asked == []


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        ({"sec-fetch-site": "same-origin"}, 303),
        ({"sec-fetch-site": "cross-site"}, 403),
        ({"sec-fetch-site": "same-site"}, 403),
        ({"sec-fetch-site": "same-origin", "origin": "http://evil.example"}, 303),
        ({"origin": "http://localhost"}, 303),
        ({"origin": "http://localhost:81"}, 403),
        ({"origin": "null"}, 403),
    ],
)
async def test_a_post_from_another_site_does_nothing(ann: Browser, headers: dict[str, str], status: int) -> None:
    assert (await ann.sends("say", headers=headers, text="hello")).status_code == status


async def test_a_forged_cookie_opens_nothing(ann: Browser) -> None:
    name, value = next(iter(ann.http.cookies.items()))
    # Not the last letter of the signature: some of its bits stand for nothing.
    other = value[:-8] + ("A" if value[-8] != "A" else "B") + value[-7:]
    for forged in (other, "", "x.y", value + value):
        ann.http.cookies.clear()
        ann.http.cookies.set(name, forged)
        assert (await ann.opens(ann.home)).status_code == 403


async def test_the_cookie_is_for_the_server_alone(new_browser: MakeBrowser) -> None:
    browser = new_browser()
    await browser.opens("/")
    answer = await browser.http.post("/join", data={"token": browser.hidden("token"), "name": "Ann"})

    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("dailygrad_")
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
    assert "Secure" not in cookie


async def test_a_browser_of_very_many_members_keeps_the_newest(ann: Browser) -> None:
    oldest = ann.home
    for number in range(30):
        await ann.join(f"Ann {number}")

    assert (await ann.opens(ann.home)).status_code == 200
    assert (await ann.opens(oldest)).status_code == 403
    assert sum(len(value) for value in ann.http.cookies.values()) < 4000


# Whatever happens


@pytest.mark.parametrize(
    ("path", "status", "caching"),
    [
        ("/", 200, "no-store"),
        ("/nothing", 404, "no-store"),
        ("/join", 405, "no-store"),
        ("/static/chat.js", 200, "no-cache"),
        ("/static/nothing", 404, "no-cache"),
        ("/static/../app.py", 404, "no-store"),
        ("/highlight.css", 200, "no-cache"),
        ("/healthz", 200, "no-store"),
    ],
)
async def test_every_answer_carries_the_policy(new_browser: MakeBrowser, path: str, status: int, caching: str) -> None:
    answer = await new_browser().opens(path)

    assert answer.status_code == status
    assert "default-src 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cache-control"] == caching


async def test_an_error_page_has_security_headers_and_no_details(
    ann: Browser, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(desk, "reply", None)
    answer = await ann.sends("press", action="a:r1")

    assert answer.status_code == 500
    assert "This is our fault" in answer.text
    assert "NoneType" not in answer.text
    assert "default-src 'none'" in answer.headers["content-security-policy"]


async def test_too_many_fields_are_rejected(ann: Browser) -> None:
    answer = await ann.sends("submit", action="f:r1", values={str(number): "x" for number in range(1100)})

    assert answer.status_code == 400
    assert "Too many fields" in answer.text
