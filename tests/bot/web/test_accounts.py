"""Sign-in with an OpenID provider: the standard's rules on both sides, roles, names, and several processes."""

from __future__ import annotations

import html
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from datetime import timedelta
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from pydantic import SecretStr
from starlette.types import ASGIApp

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.settings import OidcSettings, load_settings
from bot.web import ChatStore, Provider, WebChat, build
from bot.web.accounts import LIFETIME
from bot.web.chat import who_of
from service.process import CommandFailed
from service.wire import WEB_WORKSPACE
from tests.bot.conftest import Room
from tests.bot.web.http_browser import Browser
from tests.bot.web.quiz_chat import fill
from tests.conftest import Clock
from tests.doubles.openid import CODE_S, OpenIdProvider, new_key

URL = "http://localhost"


@dataclass
class Scene:
    """A provider, and processes of the web chat that use it."""

    room: Room
    provider: OpenIdProvider
    stack: AsyncExitStack
    clients: list[httpx.AsyncClient] = field(default_factory=list)

    @property
    def clock(self) -> Clock:
        assert isinstance(self.room.clock, Clock)
        return self.room.clock

    def settings(self, **changes: Any) -> OidcSettings:
        found = {
            "issuer": self.provider.url,
            "client_id": self.provider.client_id,
            "client_secret": SecretStr(self.provider.secret),
            "url": URL,
        }
        return OidcSettings.model_validate(found | changes)

    def process(self, **changes: Any) -> ASGIApp:
        """Returns a process of the web chat."""
        chat = WebChat(ChatStore(self.room.client), self.clock)
        self.stack.callback(chat.close)
        provider = Provider(self.settings(**changes), self.clock)
        return build(chat, Quiz(self.room.client).handle, suggest, client=self.room.client, provider=provider)

    def browser(self, app: ASGIApp) -> Browser:
        transport = httpx.ASGITransport(app=app, raise_app_exceptions=False)
        self.clients.append(httpx.AsyncClient(transport=transport, base_url=URL))
        return Browser(app, self.clients[-1])

    async def at_provider(self, browser: Browser) -> str:
        """Begins to sign in. Returns where the provider sends the browser back to."""
        begun = await browser.opens("/account/sign-in")
        assert begun.status_code == 303, begun.text
        async with httpx.AsyncClient(verify=False) as outside:  # the double speaks plain HTTP
            answer = await outside.get(begun.headers["location"])
        assert answer.status_code == 303, answer.text
        return str(answer.headers["location"])

    async def signs_in(self, browser: Browser) -> httpx.Response:
        done = await browser.opens(await self.at_provider(browser))
        if done.status_code == 303:
            browser.home = done.headers["location"].removesuffix("today")
        return done


@pytest.fixture
async def scene(room: Room) -> AsyncIterator[Scene]:
    await fill(room)
    provider = OpenIdProvider(room.clock, f"{URL}/account/callback")
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(provider.running())
        scene = Scene(room, provider, stack)
        yield scene
        for client in scene.clients:
            await client.aclose()


@pytest.fixture
def ann(scene: Scene) -> Browser:
    return scene.browser(scene.process())


def problem(answer: httpx.Response) -> str:
    """Returns the title and text of an error page."""
    found = re.search(r"<h1>(.*?)</h1>\s*<p[^>]*>(.*?)</p>", answer.text, re.DOTALL)
    assert found, answer.text
    return html.unescape(f"{found[1]}: {found[2]}")


async def joins(browser: Browser, **fields: str) -> httpx.Response:
    """Sends the page that asks for a name."""
    data = {"token": browser.hidden("token"), "account": browser.hidden("account"), **fields}
    done = await browser.http.post("/account/join", data=data)
    browser.page = done.text
    if done.status_code == 303:
        browser.home = done.headers["location"].removesuffix("today")
    return done


async def shown_name(browser: Browser) -> str:
    page = await browser.opens(f"{browser.home}me")
    assert page.status_code == 200, page.text
    return page.text


# Signing in


async def test_a_member_signs_in_and_is_the_same_one_the_next_time(scene: Scene, ann: Browser) -> None:
    page = (await ann.opens("/")).text
    assert "Sign in with 127.0.0.1" in page and "Your name" not in page
    done = await scene.signs_in(ann)
    assert done.status_code == 303 and done.headers["location"].endswith("/today")
    assert "Ann" in await shown_name(ann)
    again = scene.browser(ann.app)
    scene.provider.user = {"sub": "u-1", "name": "Ann-Marie"}
    await scene.signs_in(again)
    assert again.home == ann.home, "issuer and subject are who they are, whatever their name is now"
    scene.provider.user = {"sub": "u-2", "name": "Bob"}
    other = scene.browser(ann.app)
    await scene.signs_in(other)
    assert other.home != ann.home


async def test_nobody_joins_by_name_or_by_a_link_of_their_own(scene: Scene, ann: Browser) -> None:
    await scene.signs_in(ann)
    await shown_name(ann)
    token = ann.hidden("token")
    assert "sign-in link" not in ann.page
    assert (await ann.http.post("/join", data={"token": token, "name": "Eve"})).status_code == 404
    assert (await ann.http.post(f"{ann.home}sign-in", data={"token": token})).status_code == 404


async def test_what_the_browser_asks_the_provider(scene: Scene, ann: Browser) -> None:
    begun = await ann.opens("/account/sign-in")
    query = parse_qs(urlsplit(begun.headers["location"]).query)
    assert query["redirect_uri"] == [f"{URL}/account/callback"] and query["code_challenge_method"] == ["S256"]
    other = parse_qs(urlsplit((await ann.opens("/account/sign-in")).headers["location"]).query)
    assert all(query[one] != other[one] for one in ("state", "nonce", "code_challenge"))
    cookie = begun.headers["set-cookie"].lower()
    assert "httponly" in cookie and "samesite=lax" in cookie and "path=/account/callback" in cookie
    assert "secure" not in cookie
    secure = scene.browser(scene.process(url="https://quiz.example.com"))
    assert "secure" in (await secure.opens("/account/sign-in?here=1")).headers["set-cookie"].lower()


async def test_a_browser_at_another_address_begins_at_the_public_one(scene: Scene, ann: Browser) -> None:
    begun = await ann.http.get("/account/sign-in", headers={"Host": "127.0.0.1"})
    assert begun.headers["location"] == f"{URL}/account/sign-in?here=1"
    here = await ann.http.get("/account/sign-in?here=1", headers={"Host": "127.0.0.1"})
    assert here.headers["location"].startswith(scene.provider.url), "a proxy that changes the name makes no loop"


async def test_any_process_completes_what_another_began(scene: Scene) -> None:
    one, two = scene.process(), scene.process()
    browser = scene.browser(one)
    back = await scene.at_provider(browser)
    moved = scene.browser(two)
    moved.http.cookies = browser.http.cookies
    done = await moved.opens(back)
    assert done.status_code == 303, done.text
    scene.provider.user = {"sub": "u-1", "name": "Ann"}
    await scene.signs_in(browser)
    assert browser.home == done.headers["location"].removesuffix("today")


# What is refused


async def test_an_answer_for_another_browser_is_refused(scene: Scene, ann: Browser) -> None:
    back = await scene.at_provider(ann)
    victim = scene.browser(ann.app)
    answer = await victim.opens(back)
    assert answer.status_code == 400 and "This sign-in has expired" in problem(answer)
    assert scene.provider.asked.count("/token") == 0
    # The cookie of an attempt is found by the beginning of its state, and all of it must be the same.
    for found, changed in (("state=[^&]+", "state=another"), ("(state=[^&]{16})[^&]+", r"\1")):
        assert (await ann.opens(re.sub(found, changed, back))).status_code == 400
    assert scene.provider.asked.count("/token") == 0


async def test_an_answer_is_used_once(scene: Scene, ann: Browser) -> None:
    back = await scene.at_provider(ann)
    cookies = dict(ann.http.cookies)
    assert (await ann.opens(back)).status_code == 303
    assert (await ann.opens(back)).status_code == 400
    thief = scene.browser(ann.app)
    thief.http.cookies.update(cookies)
    replayed = await thief.opens(back)
    assert replayed.status_code == 403 and "invalid_grant" in problem(replayed), "the provider gives a code once"


async def test_an_attempt_ends_after_a_while(scene: Scene, ann: Browser) -> None:
    back = await scene.at_provider(ann)
    scene.clock.now += LIFETIME
    assert "ten minutes" in problem(await ann.opens(back))
    back = await scene.at_provider(ann)
    scene.clock.now += timedelta(seconds=CODE_S)
    assert "invalid_grant" in problem(await ann.opens(back))


WRONG_CLAIMS: tuple[tuple[dict[str, Any], str], ...] = (
    ({"aud": "another"}, "meant for another application"),
    ({"aud": ["quiz", "another"], "azp": "another"}, "meant for another application"),
    ({"iss": "https://evil.example"}, "names another issuer"),
    ({"nonce": "of another attempt"}, "belongs to another sign-in"),
    ({"nonce": None}, "belongs to another sign-in"),
    ({"exp": 1_000}, "has expired"),
    ({"exp": None}, "its exp is wrong"),
    ({"iat": 4_000_000_000}, "its iat is wrong"),
    ({"sub": ""}, "its sub is wrong"),
    ({"sub": 7}, "its sub is wrong"),
)


async def test_tokens_with_wrong_claims_are_refused(scene: Scene, ann: Browser) -> None:
    for change, why in WRONG_CLAIMS:
        kept = dict(change)
        scene.provider.change = lambda claims, kept=kept: {  # type: ignore[misc]
            name: value for name, value in (claims | kept).items() if value is not None
        }
        answer = await scene.signs_in(ann)
        assert answer.status_code == 403 and why in problem(answer), (change, problem(answer))
    assert "Sign in with" in (await ann.opens("/")).text
    scene.provider.change = lambda claims: claims
    assert (await scene.signs_in(ann)).status_code == 303, "the same with right claims"


async def test_tokens_that_the_provider_did_not_sign_are_refused(scene: Scene, ann: Browser) -> None:
    provider = scene.provider
    for forge in (
        provider.signed_by_another,
        provider.signed_with_public_key,
        provider.unsigned,
        provider.changed_afterwards,
    ):
        provider.sign = forge
        answer = await scene.signs_in(ann)
        assert answer.status_code == 403 and "signature is not the provider's" in problem(answer), forge


async def test_new_keys_are_fetched_once_a_minute_at_most(scene: Scene, ann: Browser) -> None:
    await scene.signs_in(ann)
    fetched = scene.provider.asked.count("/keys")
    scene.provider.key = new_key("second")
    scene.provider.published = [scene.provider.key]
    assert (await scene.signs_in(scene.browser(ann.app))).status_code == 403
    assert scene.provider.asked.count("/keys") == fetched, "whatever tokens name"
    scene.clock.now += timedelta(minutes=1)
    assert (await scene.signs_in(scene.browser(ann.app))).status_code == 303


async def test_a_member_who_does_not_agree_is_told_so(scene: Scene, ann: Browser) -> None:
    scene.provider.denies = True
    answer = await scene.signs_in(ann)
    assert answer.status_code == 403 and "did not let you in" in problem(answer)


async def test_another_providers_answer_is_refused(scene: Scene, ann: Browser) -> None:
    back = await scene.at_provider(ann)
    answer = await ann.opens(re.sub("iss=[^&]+", "iss=https://evil.example", back))
    assert "another provider sent it" in problem(answer)


async def test_errors_that_strangers_write_are_not_shown(scene: Scene, ann: Browser) -> None:
    back = await scene.at_provider(ann)
    answer = await ann.opens(re.sub("code=[^&]+", "error=Call%20555-1234", back))
    assert answer.status_code == 403 and "555" not in answer.text and "unknown_error" in problem(answer)


async def test_a_provider_that_does_not_answer(scene: Scene, caplog: pytest.LogCaptureFixture) -> None:
    browser = scene.browser(scene.process(issuer="http://127.0.0.1:9/none"))
    answer = await browser.opens("/account/sign-in")
    assert answer.status_code == 502 and "Sign-in is not working right now" in problem(answer)
    assert any("OpenID provider" in record.message for record in caplog.records)


@pytest.mark.parametrize(
    "overrides", [{"issuer": "https://evil.example"}, {"token_endpoint": "http://evil.example/token"}, {"jwks_uri": 7}]
)
async def test_a_description_that_cannot_be_trusted(scene: Scene, ann: Browser, overrides: dict[str, Any]) -> None:
    scene.provider.overrides = overrides
    assert (await ann.opens("/account/sign-in")).status_code == 502


async def test_a_wrong_secret_is_refused(scene: Scene) -> None:
    answer = await scene.signs_in(scene.browser(scene.process(client_secret=SecretStr("wrong"))))
    assert answer.status_code == 403 and "invalid_client" in problem(answer)


# Names


async def test_a_name_that_is_taken_or_alike_is_asked_for(scene: Scene, ann: Browser) -> None:
    await scene.signs_in(ann)
    scene.provider.user = {"sub": "u-2", "name": "Аnn"}
    other = scene.browser(ann.app)
    answer = await scene.signs_in(other)
    assert answer.status_code == 422 and "Pick the name" in answer.text and 'role="alert"' in answer.text
    assert (await joins(other, name="ann")).status_code == 422
    done = await joins(other, name="Anne B")
    assert done.status_code == 303 and other.home != ann.home
    again = scene.browser(ann.app)
    assert (await scene.signs_in(again)).status_code == 303 and again.home == other.home


async def test_an_account_without_a_name_is_asked_for_one(scene: Scene, ann: Browser) -> None:
    scene.provider.user = {"sub": "u-9"}
    answer = await scene.signs_in(ann)
    assert answer.status_code == 200 and "Pick the name" in answer.text
    scene.clock.now += LIFETIME
    assert (await joins(ann, name="Zoe")).status_code == 400, "not for ever"


async def test_the_page_of_names_is_no_way_around_the_provider(scene: Scene, ann: Browser) -> None:
    scene.provider.user = {"sub": "u-9"}
    await scene.signs_in(ann)
    genuine = ann.hidden("account")
    for forged in ("", genuine[:-2], genuine.partition(".")[0]):
        data = {"token": ann.hidden("token"), "account": forged, "name": "Zoe"}
        assert (await ann.http.post("/account/join", data=data)).status_code == 400


async def test_who_joined_by_name_keeps_their_points(scene: Scene) -> None:
    before = WebChat(ChatStore(scene.room.client), scene.clock)
    scene.stack.callback(before.close)
    old = scene.browser(build(before, Quiz(scene.room.client).handle, suggest, client=scene.room.client))
    await old.join("Daniel")
    browser = scene.browser(scene.process())
    browser.http.cookies = old.http.cookies
    scene.provider.user = {"sub": "u-5", "name": "Daniel Q"}
    answer = await scene.signs_in(browser)
    assert "Go on as <bdi>Daniel</bdi>" in answer.text
    stranger = scene.browser(browser.app)
    scene.provider.user = {"sub": "u-6"}
    await scene.signs_in(stranger)
    assert (await joins(stranger, member=old.member)).status_code == 403, "only the browser that joined as them"
    done = await joins(browser, member=old.member)
    assert done.headers["location"] == f"/m/{old.member}/today"
    elsewhere = scene.browser(browser.app)
    scene.provider.user = {"sub": "u-5"}
    await scene.signs_in(elsewhere)
    assert elsewhere.member == old.member
    # They have an account now, so no other one takes them over.
    scene.provider.user = {"sub": "u-7"}
    await scene.signs_in(elsewhere)
    assert "Go on as" not in elsewhere.page
    assert (await joins(elsewhere, member=old.member)).status_code == 409


async def test_another_site_links_no_account_of_its_own_to_a_member(scene: Scene) -> None:
    """It can sign in itself, and have the member's browser send the page of names that it got."""
    before = WebChat(ChatStore(scene.room.client), scene.clock)
    scene.stack.callback(before.close)
    victim = scene.browser(build(before, Quiz(scene.room.client).handle, suggest, client=scene.room.client))
    await victim.join("Daniel")
    app = scene.process()
    attacker, attacked = scene.browser(app), scene.browser(app)
    attacked.http.cookies = victim.http.cookies
    scene.provider.user = {"sub": "u-7"}
    await scene.signs_in(attacker)
    data = {"account": attacker.hidden("account"), "member": victim.member, "name": ""}
    token = attacker.hidden("token")
    for given, headers in (
        ("", {}),
        (token, {"sec-fetch-site": "cross-site"}),
        (token, {"origin": "https://evil.example"}),
        (token, {"origin": "null"}),
    ):
        answer = await attacked.http.post("/account/join", data={"token": given, **data}, headers=headers)
        assert answer.status_code == 403, answer.text
    scene.provider.user = {"sub": "u-5", "name": "Daniel Q"}
    assert "Go on as <bdi>Daniel</bdi>" in (await scene.signs_in(attacked)).text


async def test_a_member_who_was_forgotten_starts_anew(scene: Scene, ann: Browser) -> None:
    await scene.signs_in(ann)
    (person,) = await scene.room.client.web_people(WEB_WORKSPACE, (ann.member,))
    await scene.room.client.privacy(who_of(person), "forget", "forget")
    again = scene.browser(ann.app)
    assert (await scene.signs_in(again)).status_code == 303
    assert again.member != ann.member
    later = scene.browser(ann.app)
    assert (await scene.signs_in(later)).status_code == 303
    assert later.member == again.member, "the account leads to them now"


# Roles


async def test_a_group_of_the_provider_makes_admins(scene: Scene) -> None:
    app = scene.process(admin_group="quiz-admins")
    ann, bob = scene.browser(app), scene.browser(app)
    await scene.signs_in(ann)
    assert (await ann.opens(f"{ann.home}admin")).status_code == 403, "the first is no admin by that alone"
    scene.provider.user = {"sub": "u-2", "name": "Bob", "groups": ["staff", "quiz-admins"]}
    await scene.signs_in(bob)
    assert (await bob.opens(f"{bob.home}admin")).status_code == 200
    scene.provider.user = {"sub": "u-2", "name": "Bob", "groups": ["staff"]}
    await scene.signs_in(bob)
    assert (await bob.opens(f"{bob.home}admin")).status_code == 403


async def test_without_a_group_the_first_is_the_admin(scene: Scene, ann: Browser) -> None:
    scene.provider.user = {"sub": "u-1", "name": "Ann", "groups": "quiz-admins"}
    await scene.signs_in(ann)
    assert (await ann.opens(f"{ann.home}admin")).status_code == 200
    scene.provider.user = {"sub": "u-2", "name": "Bob", "groups": "quiz-admins"}
    bob = scene.browser(ann.app)
    await scene.signs_in(bob)
    assert (await bob.opens(f"{bob.home}admin")).status_code == 403


async def test_claims_that_only_the_userinfo_endpoint_has(scene: Scene) -> None:
    app = scene.process(admin_group="root", admin_claim="roles", name_claim="display")
    scene.provider.in_token = False
    scene.provider.user = {"sub": "u-1", "display": "Ann A", "roles": ["root"]}
    ann = scene.browser(app)
    await scene.signs_in(ann)
    assert "Ann A" in await shown_name(ann)
    assert (await ann.opens(f"{ann.home}admin")).status_code == 200
    scene.provider.change = lambda claims: {**claims, "sub": "u-2"}
    assert "another person" in problem(await scene.signs_in(scene.browser(app)))


async def test_what_the_token_says_counts_for_more_than_the_userinfo_endpoint(scene: Scene) -> None:
    app = scene.process(admin_group="root", admin_claim="roles", name_claim="display")
    scene.provider.in_token = False
    scene.provider.user = {"sub": "u-1", "display": "Ann A", "roles": ["root"]}
    scene.provider.change = lambda claims: {**claims, "roles": ["staff"]}
    ann = scene.browser(app)
    await scene.signs_in(ann)
    assert "Ann A" in await shown_name(ann)
    assert (await ann.opens(f"{ann.home}admin")).status_code == 403


# Signing out


async def test_a_member_signs_out_here_and_at_the_provider(scene: Scene, ann: Browser) -> None:
    await scene.signs_in(ann)
    await shown_name(ann)
    done = await ann.http.post(f"{ann.home}sessions", data={"token": ann.hidden("token"), "session": "this"})
    assert done.headers["location"] == "/account/signed-out"
    page = (await ann.opens("/account/signed-out")).text
    assert html.escape(f"{scene.provider.url}/logout?client_id=quiz") in page
    assert (await ann.opens(ann.home)).status_code == 403


async def test_a_sign_in_holds_for_so_many_days(scene: Scene, ann: Browser) -> None:
    await scene.signs_in(ann)
    for _ in range(29):
        scene.clock.now += timedelta(days=1)
        assert (await ann.opens(f"{ann.home}me")).status_code == 200
    stream = ann.listens()
    await ann.opens(ann.home)
    await ann.sends("say", text="in time")
    assert await stream.next() is not None
    scene.clock.now += timedelta(days=1, minutes=1)
    assert (await ann.opens(f"{ann.home}me")).status_code == 403, "however much it is used"
    assert (await scene.signs_in(ann)).status_code == 303
    assert (await ann.opens(ann.home)).status_code == 200
    await ann.sends("say", text="too late for the old page")
    assert await stream.next() is None


# Settings


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"issuer": "http://login.example.com"}, "DAILYGRAD_OIDC_ISSUER must be a URL with https"),
        ({"url": "http://quiz.example.com"}, "DAILYGRAD_OIDC_URL must be a URL with https"),
        ({"url": "https://quiz.example.com/chat"}, "must be a URL without a path"),
        ({"client_id": ""}, "DAILYGRAD_OIDC_CLIENT_ID is not set"),
        ({"issuer": ""}, "DAILYGRAD_OIDC_ISSUER is not set"),
        ({"scopes": "profile"}, "must contain openid"),
        ({"client_secret_file": "/none/secret"}, "cannot be read"),
        ({"session_days": "0"}, "DAILYGRAD_OIDC_SESSION_DAYS"),
    ],
)
def test_settings_that_cannot_work(monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], why: str) -> None:
    right = {"issuer": "https://login.example.com", "client_id": "quiz", "url": "https://quiz.example.com"}
    for name, value in (right | changes).items():
        monkeypatch.setenv(f"DAILYGRAD_OIDC_{name.upper()}", value)
    with pytest.raises(CommandFailed, match=re.escape(why)):
        load_settings(OidcSettings)


def test_the_secret_comes_from_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "secret").write_text("from a file\n")
    for name, value in {
        "ISSUER": "https://login.example.com",
        "CLIENT_ID": "quiz",
        "URL": "https://quiz.example.com/",
        "CLIENT_SECRET_FILE": str(tmp_path / "secret"),
    }.items():
        monkeypatch.setenv(f"DAILYGRAD_OIDC_{name}", value)
    found = load_settings(OidcSettings)
    assert found.secret == "from a file" and found.redirect_uri == "https://quiz.example.com/account/callback"
