"""The web chat as the courier sees it, and what it keeps of an editor."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import aclosing

import pytest

from bot.core.cards import Card, Form, PickField, Reply, TextField
from bot.core.dispatcher import DeliveryRefused, Platform, Target
from bot.web.chat import Connection, WebChat, is_editor
from bot.web.store import Message
from tests.bot.web.writers import contents, joined, latest_version, says

CARD = Card("Title", "Summary")
HERE = Target("local", "daily")
CODE = Form("Write", "f:r1", (TextField("code", "Code", "start", code=True), TextField("note", "Note", "n")))
PROSE = Form("Say", "f:r2", (TextField("text", "Text"),))
RECEIPT = Reply(Card("Recorded", "It is."), replaces=True)


@pytest.fixture
async def ann(chat: WebChat) -> str:
    return await joined(chat, "Ann")


@pytest.fixture
async def bob(chat: WebChat) -> str:
    return await joined(chat, "Bob")


async def replied(chat: WebChat, member: str, reply: Reply, event: str, cause: int = 0, editor: int = 0) -> int:
    """Shows a reply; returns the message's number."""
    return (await chat.post_reply(member, reply, event, cause, editor)).id


async def followed(chat: WebChat, member: str) -> AsyncGenerator[Message, None]:
    """Follows the chat as the page of a member who stays signed in."""

    async def signed_in() -> bool:
        return True

    async with aclosing(chat.follow(member, 0, signed_in)) as news:
        async for message in news:
            assert not isinstance(message, Connection), "the service answers"
            yield message


async def test_it_is_a_platform_that_posts_once(chat: WebChat) -> None:
    platform: Platform = chat

    first = await platform.post(HERE, CARD, "k")

    assert await platform.post(HERE, CARD, "k") == first == await platform.find(HERE, "k")
    assert await platform.find(HERE, "other") is None
    assert platform.name == "web"
    assert await contents(chat, "anyone") == [CARD]


async def test_an_edit_replaces_a_delivered_message(chat: WebChat) -> None:
    ref = await chat.post(HERE, CARD, "k")
    version = await latest_version(chat)
    await chat.edit(HERE, Card("Changed", "It is."), ref, "k")
    assert await contents(chat, "anyone") == [Card("Changed", "It is.")]
    assert await latest_version(chat) > version, "open pages show it"
    with pytest.raises(DeliveryRefused, match="no message"):
        await chat.edit(HERE, CARD, "99", "k")


async def test_a_reveal_points_to_its_question(chat: WebChat) -> None:
    question = await chat.post(HERE, CARD, "q")
    reveal = await chat.post(Target("local", "", reply_to=question), CARD, "r")
    lost = await chat.post(Target("local", "daily", reply_to="1745.22"), CARD, "s")

    pointed = [await chat.store.message(int(number), "anyone") for number in (reveal, lost)]
    assert [message.reply_to for message in pointed if message] == [int(question), None]


@pytest.mark.parametrize(
    ("target", "cause"),
    [
        (Target("other", "daily"), "no other/daily"),
        (Target("local", "random"), "no local/random"),
        (Target("local", "daily", member="ghost"), "nobody here has the id 'ghost'"),
    ],
)
async def test_what_can_never_arrive_is_refused_with_the_cause(chat: WebChat, target: Target, cause: str) -> None:
    with pytest.raises(DeliveryRefused, match=cause):
        await chat.post(target, CARD, "k")
    assert await chat.find(target, "k") is None


async def test_a_private_delivery_reaches_its_member(chat: WebChat, ann: str, bob: str) -> None:
    await chat.post(Target("local", "", member=ann), CARD, "k")

    assert await contents(chat, ann) == [CARD]
    assert await contents(chat, bob) == []


# What is whispered


async def test_the_first_answer_to_an_event_stays_its_only_one(chat: WebChat, ann: str) -> None:
    first = await replied(chat, ann, RECEIPT, "e1")

    assert await replied(chat, ann, RECEIPT, "e1") == first
    assert await replied(chat, ann, RECEIPT, "e2") != first


async def test_a_card_gives_its_place_only_where_the_reply_asks_for_it(chat: WebChat, ann: str) -> None:
    own = await replied(chat, ann, Reply(CARD), "e1")

    beside = await replied(chat, ann, Reply(Card("Beside", "")), "e2", own)
    assert await replied(chat, ann, RECEIPT, "e3", own) == own
    assert beside != own
    assert await contents(chat, ann) == [RECEIPT.content, Card("Beside", "")]


async def test_a_form_never_takes_the_place_of_a_card(chat: WebChat, ann: str) -> None:
    own = await replied(chat, ann, Reply(CARD), "e1")

    await replied(chat, ann, Reply(PROSE, replaces=True), "e2", own)

    assert await contents(chat, ann) == [CARD, PROSE]


async def test_an_editor_has_one_result(chat: WebChat, ann: str) -> None:
    editor = await replied(chat, ann, Reply(CODE), "e1")
    first = await replied(chat, ann, Reply(Card("One", "")), "e2", editor)
    again = await replied(chat, ann, Reply(Card("One", "")), "e2", editor)
    second = await replied(chat, ann, RECEIPT, "e3", editor)

    assert first == again == second != editor
    assert await contents(chat, ann) == [CODE, RECEIPT.content]


async def test_the_same_question_asked_for_from_an_editor_is_that_editor(chat: WebChat, ann: str, bob: str) -> None:
    editor = await replied(chat, ann, Reply(CODE), "e1")
    result = await replied(chat, ann, RECEIPT, "e2", editor)

    assert await replied(chat, ann, Reply(CODE), "e3", result, editor) == editor
    assert await replied(chat, ann, Reply(PROSE), "e4", result, editor) not in (editor, result)
    assert await replied(chat, ann, Reply(CODE), "e5", result) not in (editor, result)
    assert await replied(chat, bob, Reply(CODE), "e6", result, editor) not in (editor, result)


# What is kept of an editor


async def test_input_is_kept_in_the_members_own_editor(chat: WebChat, ann: str, bob: str) -> None:
    editor = await replied(chat, ann, Reply(CODE), "e1")
    version = await latest_version(chat)

    await chat.save_input(bob, editor, {"code": ("stolen",)})
    await chat.save_input(ann, 999, {"code": ("lost",)})
    await chat.save_input(ann, editor, {"code": ("start",), "other": ("x",)})
    await chat.save_input(ann, editor, {"code": ("x" * 4001,), "note": ("two", "values")})
    assert (await contents(chat, ann), await latest_version(chat)) == ([CODE], version)

    await chat.save_input(ann, editor, {"code": ("typed",)})
    (kept,) = await contents(chat, ann)
    assert isinstance(kept, Form)
    assert [field.value for field in kept.fields if isinstance(field, TextField)] == ["typed", "n"]


async def test_picks_are_kept_too(chat: WebChat, ann: str) -> None:
    pick = PickField("which", "Which?", (("a", "A"), ("b", "B")), several=True)
    editor = await replied(chat, ann, Reply(Form("F", "f:r1", (*CODE.fields, pick))), "e1")

    for given, picked in ((("a", "b"), ("a", "b")), (("b", "forged"), ("b",)), ((), ())):
        await chat.save_input(ann, editor, {"which": given})
        (kept,) = await contents(chat, ann)
        assert isinstance(kept, Form)
        assert [field.picked for field in kept.fields if isinstance(field, PickField)] == [picked]


def test_only_code_needs_an_editor() -> None:
    assert is_editor(CODE)
    assert not is_editor(PROSE)
    assert not is_editor(CARD)
    assert not is_editor("def f(): ...")


# Followers


async def test_a_stream_delivers_changes_in_order(chat: WebChat, ann: str) -> None:
    first = await replied(chat, ann, Reply(CARD), "e1")
    news = followed(chat, ann)
    heard = [await anext(news)]
    await says(chat, "Bob", "hello", "e2")
    await replied(chat, ann, RECEIPT, "e3", first)

    heard += [await anext(news), await anext(news)]
    await news.aclose()

    assert [message.version for message in heard] == [1, 2, 3]
    assert [message.content for message in heard] == [CARD, "hello", RECEIPT.content]
    assert heard[2].id == first


async def test_a_waiting_stream_is_woken_and_closed(chat: WebChat, ann: str) -> None:
    news = followed(chat, ann)
    waiting = asyncio.ensure_future(anext(news))
    await says(chat, "Bob", "hello", "e1")
    assert (await asyncio.wait_for(waiting, 60)).content == "hello"

    waiting = asyncio.ensure_future(anext(news))
    chat.close()
    with pytest.raises(StopAsyncIteration):
        await asyncio.wait_for(waiting, 60)
