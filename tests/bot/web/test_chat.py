"""The web chat as the courier sees it, and what it keeps of an editor."""

from __future__ import annotations

import asyncio

import pytest

from bot.core.cards import Card, Form, PickField, Reply, TextField
from bot.core.dispatcher import DeliveryRefused, Platform, Target
from bot.web.chat import WebChat, is_editor

CARD = Card("Title", "Summary")
HERE = Target("local", "daily")
CODE = Form("Write", "f:r1", (TextField("code", "Code", "start", code=True), TextField("note", "Note", "n")))
PROSE = Form("Say", "f:r2", (TextField("text", "Text"),))
RECEIPT = Reply(Card("Recorded", "It is."), replaces=True)


def told(chat: WebChat, member: str) -> list[object]:
    return [message.content for message in chat.store.seen_by(member, "daily")]


async def test_it_is_a_platform_that_posts_once(chat: WebChat) -> None:
    platform: Platform = chat

    first = await platform.post(HERE, CARD, "k")

    assert await platform.post(HERE, CARD, "k") == first == await platform.find(HERE, "k")
    assert await platform.find(HERE, "other") is None
    assert platform.name == "web"
    assert told(chat, "anyone") == [CARD]


async def test_an_edit_replaces_a_delivered_message(chat: WebChat) -> None:
    ref = await chat.post(HERE, CARD, "k")
    version = chat.store.version()
    await chat.edit(HERE, Card("Changed", "It is."), ref, "k")
    assert told(chat, "anyone") == [Card("Changed", "It is.")]
    assert chat.store.version() > version, "open pages show it"
    with pytest.raises(DeliveryRefused, match="no message"):
        await chat.edit(HERE, CARD, "99", "k")


async def test_a_reveal_points_to_its_question(chat: WebChat) -> None:
    question = await chat.post(HERE, CARD, "q")
    reveal = await chat.post(Target("local", "", reply_to=question), CARD, "r")
    lost = await chat.post(Target("local", "daily", reply_to="1745.22"), CARD, "s")

    pointed = [chat.store.message(int(number), "anyone") for number in (reveal, lost)]
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


async def test_a_private_delivery_reaches_its_member(chat: WebChat) -> None:
    ann = chat.store.join("Ann").id

    await chat.post(Target("local", "", member=ann), CARD, "k")

    assert told(chat, ann) == [CARD]
    assert told(chat, "bob") == []


# What is whispered


def test_the_first_answer_to_an_event_stays_its_only_one(chat: WebChat) -> None:
    first = chat.post_reply("ann", RECEIPT, "e1")

    assert chat.post_reply("ann", RECEIPT, "e1") == first
    assert chat.post_reply("ann", RECEIPT, "e2") != first


def test_a_card_gives_its_place_only_where_the_reply_asks_for_it(chat: WebChat) -> None:
    own = chat.post_reply("ann", Reply(CARD), "e1")

    beside = chat.post_reply("ann", Reply(Card("Beside", "")), "e2", own)
    assert chat.post_reply("ann", RECEIPT, "e3", own) == own
    assert beside != own
    assert told(chat, "ann") == [RECEIPT.content, Card("Beside", "")]


def test_a_form_never_takes_the_place_of_a_card(chat: WebChat) -> None:
    own = chat.post_reply("ann", Reply(CARD), "e1")

    chat.post_reply("ann", Reply(PROSE, replaces=True), "e2", own)

    assert told(chat, "ann") == [CARD, PROSE]


def test_an_editor_has_one_result(chat: WebChat) -> None:
    editor = chat.post_reply("ann", Reply(CODE), "e1")
    first = chat.post_reply("ann", Reply(Card("One", "")), "e2", editor)
    again = chat.post_reply("ann", Reply(Card("One", "")), "e2", editor)
    second = chat.post_reply("ann", RECEIPT, "e3", editor)

    assert first == again == second != editor
    assert told(chat, "ann") == [CODE, RECEIPT.content]


def test_the_same_question_asked_for_from_an_editor_is_that_editor(chat: WebChat) -> None:
    editor = chat.post_reply("ann", Reply(CODE), "e1")
    result = chat.post_reply("ann", RECEIPT, "e2", editor)

    assert chat.post_reply("ann", Reply(CODE), "e3", result, editor) == editor
    assert chat.post_reply("ann", Reply(PROSE), "e4", result, editor) not in (editor, result)
    assert chat.post_reply("ann", Reply(CODE), "e5", result) not in (editor, result)
    assert chat.post_reply("bob", Reply(CODE), "e6", result, editor) not in (editor, result)


# What is kept of an editor


def test_input_is_kept_in_the_members_own_editor(chat: WebChat) -> None:
    editor = chat.post_reply("ann", Reply(CODE), "e1")
    version = chat.store.version()

    chat.save_input("bob", editor, {"code": ("stolen",)})
    chat.save_input("ann", 999, {"code": ("lost",)})
    chat.save_input("ann", editor, {"code": ("start",), "other": ("x",)})
    chat.save_input("ann", editor, {"code": ("x" * 4001,), "note": ("two", "values")})
    assert (told(chat, "ann"), chat.store.version()) == ([CODE], version)

    chat.save_input("ann", editor, {"code": ("typed",)})
    (kept,) = told(chat, "ann")
    assert isinstance(kept, Form)
    assert [field.value for field in kept.fields if isinstance(field, TextField)] == ["typed", "n"]


def test_picks_are_kept_too(chat: WebChat) -> None:
    pick = PickField("which", "Which?", (("a", "A"), ("b", "B")), several=True)
    editor = chat.post_reply("ann", Reply(Form("F", "f:r1", (*CODE.fields, pick))), "e1")

    for given, picked in ((("a", "b"), ("a", "b")), (("b", "forged"), ("b",)), ((), ())):
        chat.save_input("ann", editor, {"which": given})
        (kept,) = told(chat, "ann")
        assert isinstance(kept, Form)
        assert [field.picked for field in kept.fields if isinstance(field, PickField)] == [picked]


def test_only_code_needs_an_editor() -> None:
    assert is_editor(CODE)
    assert not is_editor(PROSE)
    assert not is_editor(CARD)
    assert not is_editor("def f(): ...")


# Followers


async def test_a_stream_delivers_changes_in_order(chat: WebChat) -> None:
    first = chat.post_reply("ann", Reply(CARD), "e1")
    news = chat.follow("ann", 0)
    heard = [await anext(news)]
    chat.say("bob", "Bob", "hello", "e2")
    chat.post_reply("ann", RECEIPT, "e3", first)

    heard += [await anext(news), await anext(news)]

    assert [message.version for message in heard] == [1, 2, 3]
    assert [message.content for message in heard] == [CARD, "hello", RECEIPT.content]
    assert heard[2].id == first


async def test_a_waiting_stream_is_woken_and_closed(chat: WebChat) -> None:
    news = chat.follow("ann", 0)
    waiting = asyncio.ensure_future(anext(news))
    chat.say("bob", "Bob", "hello", "e1")
    assert (await asyncio.wait_for(waiting, 10)).content == "hello"

    waiting = asyncio.ensure_future(anext(news))
    chat.close()
    with pytest.raises(StopAsyncIteration):
        await asyncio.wait_for(waiting, 10)
