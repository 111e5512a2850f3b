"""The page of duels, with the whole service behind it."""

from __future__ import annotations

import re

from bot.web.chat import WHERE
from service.wire import AnswerInput, QuestionView, Who
from tests.bot.conftest import QUESTIONS, Room
from tests.bot.duel_bank import DUEL_BANK, sum_in
from tests.bot.web.http_browser import Browser
from tests.bot.web.quiz_chat import OPERATOR, called, who_is


async def shown(member: Browser) -> str:
    return (await member.opens(f"/m/{member.member}/ladder")).text


async def challenges(room: Room, one: Who, other: Who) -> int:
    return (await room.client.duel_challenge(one, WHERE, room.event_id(), other.name)).duel


def answer_to(question: QuestionView, *, right: bool) -> AnswerInput:
    if not question.options:
        return AnswerInput(text=sum_in(question.prompt) if right else "-1")
    known = [one.id for one in question.options if ("10" in one.text) is right]
    return AnswerInput(options=(known[0],))


async def brings_sums(room: Room) -> None:
    """Leaves only the sums in the bank."""
    for question in QUESTIONS:
        await room.client.bank_retire(OPERATOR, room.event_id(), question, True)
    text = DUEL_BANK.read_text(encoding="utf-8")
    assert (await room.client.bank_import(OPERATOR, room.event_id(), DUEL_BANK.name, text, True)).applied


async def plays(room: Room, one: Who, other: Who) -> None:
    """Plays a duel of which the first one knows every answer and the other none."""
    duel = await challenges(room, one, other)
    await room.client.duel_respond(other, room.event_id(), duel, True)
    for who in (one, other):
        view = (await room.client.duel_show(who, duel)).duel
        while ref := view.next_ref:
            ask = (await room.client.duel_ask(who, ref)).ask
            assert ask is not None, "it comes next"
            given = answer_to(ask.question, right=who == one)
            turn = await room.client.duel_answer(who, room.event_id(), ref, given, room.moving.now)
            view = turn.duel


async def test_without_duels_the_page_says_how_to_challenge(member: Browser) -> None:
    page = await shown(member)
    assert "Nobody has finished a duel yet." in page and "Challenge a member</button>" in page
    assert f'href="/m/{member.member}/ladder">Ladder of duels' in (await member.opens(f"/m/{member.member}/board")).text


async def test_the_ladder_and_the_readers_history_of_ratings(room: Room, member: Browser) -> None:
    await brings_sums(room)
    ann, ada, bob = who_is(member), called("Ada"), called("Bob")
    for who in (ann, ada, bob):
        await room.client.join(who, WHERE)
    await plays(room, ann, ada)
    page = await shown(member)
    rows = re.findall(r'<td class="number">(\d)</td>\s*<td dir="auto">([^<]*?)\s*(?:<|$)', page)
    assert rows[:2] == [("1", "Ann"), ("2", "Ada")] and "Bob" not in page
    assert re.search(r'<tr class="mine">\s*<td class="number">1</td>', page), "the reader's row is marked"
    rating = (await room.client.duel_list(ann)).rating
    assert f"Your rating is <strong>{rating}</strong>" in page
    assert re.search(rf">Ada</td>\s*<td[^>]*>Won</td>\s*<td[^>]*>5 : 0</td>\s*<td[^>]*>{rating} \(\+\d+\)</td>", page)


async def test_an_open_challenge_is_one_press_away(room: Room, member: Browser) -> None:
    await brings_sums(room)
    for who in (who_is(member), called("Ada")):
        await room.client.join(who, WHERE)
    await challenges(room, called("Ada"), who_is(member))
    page = await shown(member)
    assert "challenges you. Accept until" in page
    action = re.search(r'name="action" value="([^"]+)" class="primary" dir="auto">Open: Ada</button>', page)
    assert action
    data = {"token": member.hidden("token"), "event": member.hidden("event"), "action": action[1], "message": "0"}
    told = await member.http.post(f"/m/{member.member}/press", data=data)
    assert "Ada challenges you to a duel" in (await member.opens(told.headers["location"])).text
