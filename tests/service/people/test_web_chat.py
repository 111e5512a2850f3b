"""The web chat's people, browsers and messages: everything once, for whom it is, and whatever process asks."""

from __future__ import annotations

import asyncio
import hashlib
import random
from collections.abc import Awaitable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import pytest
from cryptography.fernet import Fernet
from pydantic import SecretStr
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from service.app import Service
from service.client import ServiceClient, ServiceRefused
from service.domain.names import clean
from service.people import web_chat
from service.people.web_chat import JOINS, MESSAGES, SESSION_LIFETIME, Limit
from service.store import web_people
from service.store.web_messages import PRIVATE_KEPT
from service.wire import (
    AdminRoleRefused,
    AdminsOnly,
    CallRejected,
    NameRefused,
    NotFound,
    TooManyCalls,
    WebMessage,
    WebPerson,
    WebPost,
    Where,
    Who,
)
from tests.conftest import MONDAY, TOKEN, Clock
from tests.service.lock_waits import until_locked_out
from tests.service.refusals import refused as refused_as

CHAT, CHANNEL = "local", "daily"
DAY = 86_400


def digest(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


@dataclass
class Chat:
    """One web chat, through the calls of its bots."""

    client: ServiceClient
    workspace: str = CHAT

    async def join(self, name: str) -> WebPerson:
        return await self.client.web_join(self.workspace, name)

    async def post(self, content: str = "{}", **about: Any) -> WebMessage:
        message = await self.client.web_message_post(self.workspace, WebPost(channel=CHANNEL, content=content, **about))
        assert message is not None, "its people are in the chat"
        return message

    async def seen(self, member: str, **about: int) -> list[int]:
        found = await self.client.web_message_list(self.workspace, member, CHANNEL, **about)
        return [message.id for message in found.messages]

    async def signs_in(self, secret: str, person: WebPerson) -> None:
        assert await self.client.web_session_begin(self.workspace, person.id, digest(secret), "a browser")

    async def signed_in(self, *of: str) -> list[str]:
        """Returns those of the secrets that are signed in."""
        found = await self.client.web_session_use(self.workspace, tuple(map(digest, of)))
        return [secret for secret in of if digest(secret) in found]


@pytest.fixture
def chat(client: ServiceClient) -> Chat:
    return Chat(client)


async def refused(call: Awaitable[object]) -> TooManyCalls:
    with pytest.raises(ServiceRefused) as raised:
        await call
    assert isinstance(raised.value.refusal, TooManyCalls)
    return raised.value.refusal


# People


async def test_the_first_to_join_is_the_admin(chat: Chat) -> None:
    ann, bob = await chat.join("Ann"), await chat.join("Bob")
    assert (ann.admin, bob.admin) == (True, False)
    assert set(await chat.client.web_people(CHAT, (ann.id, bob.id, "nobody"))) == {ann, bob}
    await chat.client.web_role(CHAT, bob.id, True)
    assert [one.admin for one in await chat.client.web_people(CHAT, (bob.id,))] == [True]


async def test_an_admin_changes_the_role_of_another_member_but_not_their_own(chat: Chat) -> None:
    ann, bob = await admins_and_members(chat)
    await chat.client.member_role(ann, "1", bob.member, True)
    assert [one.admin for one in await chat.client.web_people(CHAT, (bob.member,))] == [True]
    with refused_as(AdminRoleRefused(why="self")):
        await chat.client.member_role(ann, "2", ann.member, False)
    other = Who(platform="discord", workspace="A", member="boss", name="Boss", admin=True)
    await chat.client.me(other)
    with refused_as(AdminRoleRefused(why="elsewhere")):
        await chat.client.member_role(other, "3", "boss", False)
    changes = [line.action for line in await chat.client.audit(ann)]
    assert changes == ["member make-admin"], "what is refused is not in the audit log"


async def test_of_two_admins_who_take_the_role_from_each_other_one_remains(chat: Chat, service: Service) -> None:
    ann, bob = await admins_and_members(chat)
    await chat.client.member_role(ann, "1", bob.member, True)
    bob = bob.model_copy(update={"admin": True})
    async with service.sessions.begin() as session:
        await session.execute(text("select from web_state for update"))
        changes = [
            asyncio.create_task(chat.client.member_role(one, f"takes {other.name}'s", other.member, False))
            for one, other in ((ann, bob), (bob, ann))
        ]
        await until_locked_out(session, *changes)
    done = await asyncio.gather(*changes, return_exceptions=True)
    (refusal,) = [one for one in done if one is not None]
    assert isinstance(refusal, ServiceRefused) and refusal.refusal == AdminsOnly()
    people = await chat.client.web_people(CHAT, (ann.member, bob.member))
    assert sorted(one.admin for one in people) == [False, True]
    assert [line.action for line in await chat.client.audit(ann)] == ["member end-admin", "member make-admin"]


async def admins_and_members(chat: Chat) -> tuple[Who, Who]:
    """Returns Ann, who is the admin, and Bob, who is not. Both are known as members."""
    ann, bob = await chat.join("Ann"), await chat.join("Bob")
    both = [Who(platform="web", workspace=CHAT, member=one.id, name=one.name, admin=one.admin) for one in (ann, bob)]
    for who in both:
        await chat.client.me(who)
    return both[0], both[1]


@pytest.mark.parametrize("limit", ["the first", "the last"])
async def test_who_joins_while_another_does_is_counted_after_them(
    chat: Chat, service: Service, clock: Clock, monkeypatch: pytest.MonkeyPatch, limit: str
) -> None:
    """Or both would be the first, and an admin; and more would join at once than may one by one."""
    if limit == "the last":
        await chat.join("Boss")
        monkeypatch.setattr(web_chat, "JOINS", Limit(2, JOINS.period))
    async with service.sessions.begin() as session:
        place = await web_people.find_chat(session, CHAT, clock.now)
        ann = await web_chat.join(session, place, "Ann", clock.now)
        joining = asyncio.create_task(chat.join("Bob"))
        await until_locked_out(session, joining)
    if limit == "the first":
        assert (ann.admin, (await joining).admin) == (True, False)
    else:
        assert isinstance(await refused(joining), TooManyCalls)


async def test_of_many_who_join_at_once_one_is_the_admin_and_one_has_the_name(chat: Chat) -> None:
    joining = (chat.client.web_join(CHAT, name) for name in ("Ann", "ANN", "Bob", "ann", "Eve"))
    joined = await asyncio.gather(*joining, return_exceptions=True)
    people = [person for person in joined if isinstance(person, WebPerson)]
    assert all(isinstance(other, WebPerson | ServiceRefused) for other in joined)
    assert sorted(person.name.lower() for person in people) == ["ann", "bob", "eve"]
    assert sum(person.admin for person in people) == 1


async def test_a_name_is_unique_and_the_bots_name_reserved(chat: Chat) -> None:
    await chat.join("ann")
    for name in ("Ann", "aNN", "Ａｎｎ", "a\u200bnn", "dailygrad", "DAILYGRAD"):
        with refused_as(NameRefused(why="taken", name=clean(name))):
            await chat.join(name)


async def test_a_name_that_looks_like_another_is_refused(chat: Chat) -> None:
    """Bots, admins and members alike; the database holds it, too."""
    boss = await chat.join("Boss")
    await chat.join("\u0430\u0440\u0435")
    assert boss.admin
    mixed = ("B\u0585\u0455\u0455", "Da\u0456lygrad")
    alike = ("\u0412\u041e\u0405\u0405", "B0ss", "ape", "Da\u0131lygrad", "DaiIygrad", "DAlLYGRAD", "Dai1ygrad")
    for name in mixed:
        with refused_as(NameRefused(why="alphabets", name=name)):
            await chat.join(name)
    for name in alike:
        with refused_as(NameRefused(why="alike", name=name)):
            await chat.join(name)


async def test_of_names_that_look_alike_one_joins(chat: Chat) -> None:
    joining = (chat.join(name) for name in ("ape", "\u0430\u0440\u0435"))
    joined = await asyncio.gather(*joining, return_exceptions=True)
    assert sum(isinstance(one, WebPerson) for one in joined) == 1
    assert sum(isinstance(one, ServiceRefused) for one in joined) == 1


async def test_the_database_refuses_a_second_name_that_looks_the_same(chat: Chat, service: Service) -> None:
    """Even if the service were wrong, and however many join at once."""
    ann = await chat.join("ann")
    await chat.join("bob")
    with pytest.raises(IntegrityError, match="uq_web_person_chat_id_skeleton"):
        async with service.sessions.begin() as session:
            query = "update web_person set skeleton = (select skeleton from web_person where id = :id)"
            await session.execute(text(query), {"id": ann.id})


async def test_joining_has_a_limit_that_passes(chat: Chat, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    assert JOINS.most >= 200, "a large team joins on one morning"
    monkeypatch.setattr(web_chat, "JOINS", Limit(3, JOINS.period))
    for number in range(3):
        await chat.join(f"Member {number}")
    refusal = await refused(chat.client.web_join(CHAT, "One more"))
    assert refusal.retry_s == JOINS.period.total_seconds()
    clock.advance(seconds=refusal.retry_s)
    await chat.join("One more")


# Sessions and links


async def test_a_session_ends_for_every_process_and_with_time(chat: Chat, clock: Clock) -> None:
    ann, bob = await chat.join("Ann"), await chat.join("Bob")
    for secret, person in (("phone", ann), ("laptop", ann), ("tablet", bob)):
        await chat.signs_in(secret, person)
    assert await chat.signed_in("phone", "laptop", "tablet", "unknown") == ["phone", "laptop", "tablet"]
    mine = {one.id for one in await chat.client.web_session_list(CHAT, ann.id)}
    everybody = await chat.client.web_session_list(CHAT, None)
    assert len(mine) == 2 and len(everybody) == 3
    (theirs,) = (one.id for one in everybody if one.person == bob)
    assert await chat.client.web_session_end(CHAT, (theirs,), ann.id) == 0, "another's browser"
    assert await chat.client.web_session_end(CHAT, (theirs,), None) == 1
    assert await chat.signed_in("phone", "tablet") == ["phone"]
    clock.advance(days=SESSION_LIFETIME.days - 1)
    assert await chat.signed_in("phone") == ["phone"]
    clock.advance(days=2)
    assert await chat.signed_in("phone", "laptop") == ["phone"], "only the one that was used lately"


async def test_a_link_signs_in_once_and_for_a_while(chat: Chat, clock: Clock) -> None:
    ann = await chat.join("Ann")
    for secret in ("one", "two"):
        assert await chat.client.web_sign_in_make(CHAT, ann.id, digest(secret), 900)
    assert not await chat.client.web_sign_in_make(CHAT, "nobody", digest("three"), 900)
    assert await chat.client.web_sign_in_find(CHAT, digest("one")) == ann
    used = await asyncio.gather(*(chat.client.web_sign_in_use(CHAT, digest("one")) for _ in range(5)))
    assert [person for person in used if person is not None] == [ann], "once, however many try at once"
    assert await chat.client.web_sign_in_find(CHAT, digest("one")) is None
    clock.advance(minutes=15)
    assert await chat.client.web_sign_in_find(CHAT, digest("two")) is None
    assert await chat.client.web_sign_in_use(CHAT, digest("two")) is None


# Messages


async def test_a_key_and_an_event_make_one_message_each(chat: Chat) -> None:
    ann = await chat.join("Ann")
    first, again, other = [await chat.post(key=key, reply_to=7) for key in ("round 1", "round 1", "round 2")]
    assert first == again and first.delivered and first.reply_to == 7
    assert await chat.client.web_message_key(CHAT, "round 1") == first.id != other.id
    assert await chat.client.web_message_key(CHAT, "round 3") is None
    reply = await chat.post(event="round 1", member=ann.id)
    assert reply.id not in (first.id, other.id), "a key and an event are two things"
    at_once = await asyncio.gather(*(chat.post(event="round 1", member=ann.id) for _ in range(4)))
    assert {message.id for message in at_once} == {reply.id}
    assert await chat.seen(ann.id) == [first.id, other.id, reply.id]


async def test_a_private_message_is_its_owners_alone(chat: Chat) -> None:
    ann, bob = await chat.join("Ann"), await chat.join("Bob")
    private, public = await chat.post(member=ann.id), await chat.post('"hi"', author=ann.id)
    assert public.author == "Ann"
    find = chat.client.web_message_find
    assert await find(CHAT, private.id, ann.id) == private and await find(CHAT, private.id, bob.id) is None
    assert await chat.seen(bob.id) == [public.id]
    replace = chat.client.web_message_replace
    assert await replace(CHAT, private.id, "mine now", bob.id) is None
    assert await replace(CHAT, public.id, "other", ann.id) is None and await replace(CHAT, public.id, "x", None) is None
    changed = await replace(CHAT, private.id, "changed", ann.id)
    assert changed is not None and (changed.id, changed.content) == (private.id, "changed")
    assert changed.version > public.version
    assert await chat.seen(ann.id) == [private.id, public.id], "it keeps its place"
    assert await chat.seen(ann.id, after=public.version) == [private.id], "and counts as changed"
    assert await chat.client.web_message_post(CHAT, WebPost(channel=CHANNEL, content="", member="nobody")) is None


async def test_only_the_newest_are_read_and_pages_join(chat: Chat) -> None:
    numbers = [(await chat.post(str(number))).id for number in range(7)]
    assert await chat.seen("anybody", limit=3) == numbers[-3:]
    assert await chat.seen("anybody", limit=3, before=numbers[-3]) == numbers[1:4]


async def test_old_replies_go_but_what_was_delivered_and_what_is_public_stays(chat: Chat) -> None:
    ann, bob = await chat.join("Ann"), await chat.join("Bob")
    verdict = await chat.post(key="verdict", member=ann.id)
    public, others = await chat.post(), await chat.post(event="b", member=bob.id)
    mine = [(await chat.post(event=f"a{number}", member=ann.id)).id for number in range(PRIVATE_KEPT + 2)]
    assert await chat.seen(ann.id) == [verdict.id, public.id, *mine[2:]]
    assert await chat.client.web_message_find(CHAT, others.id, bob.id) == others


async def test_an_editors_results_are_its_own_and_what_was_delivered_since(chat: Chat) -> None:
    ann, bob = await chat.join("Ann"), await chat.join("Bob")
    await chat.post(key="before", member=ann.id)
    editor = await chat.post(member=ann.id)
    tried = await chat.post(member=ann.id, answers=editor.id)
    await chat.post(member=ann.id)
    verdict = await chat.post(key="verdict", member=ann.id)
    await chat.post(key="bobs", member=bob.id)

    async def results(member: str) -> list[int]:
        found = await chat.client.web_message_results(CHAT, editor.id, member)
        return [message.id for message in found.messages]

    assert await results(ann.id) == [verdict.id, tried.id]
    assert await chat.client.web_message_replace(CHAT, tried.id, "", ann.id)
    assert await results(ann.id) == [tried.id, verdict.id], "the latest change first"


async def test_writing_has_a_limit_that_passes(chat: Chat, clock: Clock, monkeypatch: pytest.MonkeyPatch) -> None:
    assert MESSAGES.most >= 30, "nobody types faster"
    monkeypatch.setattr(web_chat, "MESSAGES", Limit(2, MESSAGES.period))
    ann, bob = await chat.join("Ann"), await chat.join("Bob")
    for number in range(2):
        await chat.post(event=f"a{number}", author=ann.id)
    await refused(chat.post(event="a2", author=ann.id))
    await chat.post(event="b", author=bob.id)
    await chat.post(event="c", member=ann.id)
    clock.advance(seconds=MESSAGES.period.total_seconds())
    await chat.post(event="a2", author=ann.id)


async def test_everyone_sees_what_is_theirs_whatever_is_posted_and_replaced(chat: Chat) -> None:
    members = [(await chat.join(name)).id for name in ("Ann", "Bob")]
    draw = random.Random(1)
    made: dict[int, tuple[str | None, str]] = {}
    keys: dict[str, int] = {}
    version = 0
    for step in range(60):
        member, content = draw.choice([None, *members]), f"content {step}"
        if made and draw.random() < 0.4:
            number, reader = draw.choice(list(made)), draw.choice(members)
            changed = await chat.client.web_message_replace(CHAT, number, content, reader)
            assert (changed is not None) == (made[number][0] == reader)
            if changed is not None:
                made[number] = (reader, content)
        else:
            key = draw.choice([None, "k1", "k2", "k3"])
            number = (await chat.post(content, key=key, member=member)).id
            assert (number in made) == (key in keys)
            made.setdefault(number, (member, content))
            if key is not None:
                assert keys.setdefault(key, number) == number
        for reader in members:
            found = await chat.client.web_message_list(CHAT, reader, CHANNEL)
            due = [(one, made[one][1]) for one in sorted(made) if made[one][0] in (None, reader)]
            assert [(message.id, message.content) for message in found.messages] == due
            assert found.version >= version
            version = found.version


# Changes


async def test_a_process_that_waits_learns_of_a_message_and_of_a_sign_out(chat: Chat) -> None:
    ann = await chat.join("Ann")
    await chat.signs_in("phone", ann)
    now = await chat.client.web_changes(CHAT, 0, 0)
    assert now.messages == ()

    async def waits(after: int, sign_outs: int) -> Any:
        return await chat.client.web_changes(CHAT, after, sign_outs, 20)

    async with asyncio.timeout(60):
        waiting = asyncio.create_task(waits(now.version, now.sign_outs))
        message = await chat.post('"hi"', author=ann.id)
        changed = await waiting
        assert changed.messages == (message,) and changed.version == message.version
        waiting = asyncio.create_task(waits(changed.version, changed.sign_outs))
        (session,) = await chat.client.web_session_list(CHAT, ann.id)
        await chat.client.web_session_end(CHAT, (session.id,), ann.id)
        ended = await waiting
    assert ended.sign_outs > changed.sign_outs and ended.messages == ()
    assert await chat.client.web_changes(CHAT, ended.version, ended.sign_outs) == ended, "nothing since"


async def test_a_reader_of_versions_misses_no_message_of_many_writers(chat: Chat) -> None:
    """Versions become visible in their order: a reader that has seen one has seen all before it."""
    ann = await chat.join("Ann")
    writers = asyncio.gather(*(chat.post(str(number), event=f"e{number}", member=ann.id) for number in range(30)))
    seen: set[int] = set()
    version = 0
    while True:
        done = writers.done()
        changed = await chat.client.web_changes(CHAT, version, 0)
        seen |= {message.id for message in changed.messages}
        version = changed.version
        if done:
            break
    assert seen == {message.id for message in await writers}


# Tenants, and leaving


async def test_two_chats_share_nothing(chat: Chat) -> None:
    other = Chat(chat.client, "other")
    ann, eve = await chat.join("Ann"), await other.join("Ann")
    assert eve.admin, "each has its own admin"
    assert await chat.client.web_secret(CHAT) != await other.client.web_secret("other")
    await chat.signs_in("phone", ann)
    mine = await chat.post("{}", key="k")
    private = await chat.post(member=ann.id)
    await chat.client.web_sign_in_make(CHAT, ann.id, digest("link"), 900)
    (session,) = await chat.client.web_session_list(CHAT, None)

    client = other.client
    assert await client.web_people("other", (ann.id,)) == ()
    assert await other.signed_in("phone") == [] and await client.web_session_list("other", None) == ()
    assert await client.web_session_end("other", (session.id,), None) == 0
    assert await client.web_sign_in_use("other", digest("link")) is None
    assert await other.seen(ann.id) == [] and await client.web_message_key("other", "k") is None
    assert await client.web_message_find("other", private.id, ann.id) is None
    assert await client.web_message_replace("other", mine.id, "x", None) is None
    assert await client.web_message_replace("other", private.id, "x", ann.id) is None
    assert (await client.web_changes("other", 0, 0)).messages == ()
    await client.web_role("other", ann.id, False)
    assert await client.web_people(CHAT, (ann.id,)) == (ann,)
    assert (await other.post("{}", key="k")).id != mine.id
    # One account may sign into both, as somebody else in each.
    await chat.client.web_account_join(CHAT, digest("account"), "Ann", ann.id)
    assert await client.web_account_find("other", digest("account")) is None
    await client.web_account_join("other", digest("account"), "Ann", eve.id)
    for name, person in ((CHAT, ann), ("other", eve)):
        found = await client.web_account_find(name, digest("account"))
        assert found is not None and found.id == person.id


async def test_a_member_gets_and_erases_what_they_wrote(chat: Chat, service: Service) -> None:
    ann, bob = await chat.join("Ann"), await chat.join("Bob")
    member = Who(platform="web", workspace=CHAT, member=bob.id, name="Bob")
    await chat.client.join(member, Where(channel=CHANNEL, name=CHANNEL))
    await chat.post('"my secret"', author=bob.id)
    await chat.post('"for you, Bob"', member=bob.id)
    kept = await chat.post('"hello"', author=ann.id)
    await chat.signs_in("phone", bob)
    await chat.client.web_sign_in_make(CHAT, bob.id, digest("link"), 900)
    for form in ("export", "csv"):
        exported = (await chat.client.privacy(member, form, form)).export
        assert "my secret" in exported and "hello" not in exported
    before = await chat.client.web_changes(CHAT, 0, 0)

    await chat.client.privacy(member, "forget", "forget")

    assert await chat.client.web_people(CHAT, (bob.id,)) == ()
    assert await chat.signed_in("phone") == [] and await chat.client.web_sign_in_use(CHAT, digest("link")) is None
    assert (await chat.client.web_changes(CHAT, 0, 0)).sign_outs > before.sign_outs, "open pages notice"
    assert await chat.seen(ann.id) == [kept.id]
    async with service.sessions() as session:
        for table in ("web_person", "web_message", "web_session", "web_sign_in"):
            rows = str((await session.execute(text(f"select * from {table}"))).all())
            assert "Bob" not in rows and "bob" not in rows.replace(bob.id, ""), table
    again = await chat.join("Bob")
    assert again.id != bob.id and not again.admin


async def test_a_page_that_is_still_open_does_not_bring_a_forgotten_member_back(chat: Chat, service: Service) -> None:
    bob = await chat.join("Bob")
    member = Who(platform="web", workspace=CHAT, member=bob.id, name="Bob")
    await chat.client.join(member, Where(channel=CHANNEL, name=CHANNEL))
    await chat.client.sprint_pulse(member)
    await chat.client.privacy(member, "forget", "forget")
    # The live page of a sprint asks every second, and learns of a sign-out a little later.
    with refused_as(NotFound(what="member", name=bob.id)):
        await chat.client.sprint_pulse(member)
    async with service.sessions() as session:
        for table in ("member", "identity"):
            assert "Bob" not in str((await session.execute(text(f"select * from {table}"))).all()), table


async def test_secrets_are_stored_as_hashes(chat: Chat, service: Service) -> None:
    """The caller hashes them: the service refuses what has not the length of a hash."""
    ann = await chat.join("Ann")
    for call in (
        chat.client.web_session_begin(CHAT, ann.id, "a-secret", "a browser"),
        chat.client.web_sign_in_make(CHAT, ann.id, "a-secret", 60),
    ):
        with pytest.raises(ServiceRefused):
            await call


async def test_all_is_kept_after_a_restart(chat: Chat, service: Service, clock: Clock) -> None:
    from service.app import build

    ann = await chat.join("Ann")
    message = await chat.post(key="k", reply_to=7)
    secret = await chat.client.web_secret(CHAT)
    async with build(service.settings, clock).running() as other, ServiceClient.inside(other.api, TOKEN) as client:
        assert await client.web_people(CHAT, (ann.id,)) == (ann,)
        assert await client.web_message_find(CHAT, message.id, ann.id) == message
        assert message.at == MONDAY and message.at.utcoffset() == timedelta(0)
        assert await client.web_secret(CHAT) == secret


# The secret of cookies


async def stored(service: Service) -> str:
    async with service.sessions() as session:
        return str((await session.execute(text("select secret from web_state"))).scalar_one())


async def secret_with(service: Service, clock: Clock, keys: str | None) -> str:
    """Returns the secret as a service with these keys gives it."""
    from service.app import build

    settings = service.settings.model_copy(update={"token_key": None if keys is None else SecretStr(keys)})
    async with build(settings, clock).running() as other, ServiceClient.inside(other.api, TOKEN) as client:
        return await client.web_secret(CHAT)


async def test_the_secret_of_cookies_is_encrypted_and_survives_a_rotation(service: Service, clock: Clock) -> None:
    old, new = (Fernet.generate_key().decode() for _ in range(2))
    secret = await secret_with(service, clock, None)
    assert secret in await stored(service), "without a key there is nothing to encrypt it with"
    for keys in (old, f"{new},{old}", new):
        assert await secret_with(service, clock, keys) == secret, "nobody is signed out"
        assert secret not in await stored(service)
    for wrong in (None, old):
        with pytest.raises(ServiceRefused) as raised:
            await secret_with(service, clock, wrong)
        assert isinstance(raised.value.refusal, CallRejected), "no key opens it that does not belong to it"
    assert await secret_with(service, clock, new) == secret
