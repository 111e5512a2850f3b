"""The page of answers that agree: the card's numbers and words, names that lead to the members, and who opens it."""

from __future__ import annotations

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.core.text import similarity
from bot.web import WebChat, build
from bot.web.chat import WHERE
from service.wire import WEB_WORKSPACE
from tests.bot.conftest import Room
from tests.bot.web.admin.desk import shown, words
from tests.bot.web.http_browser import Browser, opened_browser
from tests.bot.web.quiz_chat import OPERATOR, called
from tests.service.own_variants import typed_family
from tests.service.scenes import Stage
from tests.service.similar_answers import play_alike, play_variants_alike

PATH = "/review/similarity"


async def fill(room: Room) -> None:
    """Fills every table of the page, with rounds before the room's own."""
    async with room.service.sessions.begin() as session:
        stage = Stage(session, room.clock())
        await play_alike(stage, WEB_WORKSPACE, WHERE)
        await play_variants_alike(stage, typed_family(), WEB_WORKSPACE, WHERE)


async def test_too_few_answers_leave_a_page_that_says_what_is_missing(member: Browser) -> None:
    page = await shown(member, PATH)
    assert "empty-state" in page and "<table" not in page
    assert "No two members have enough in common yet: 20 choice questions that both answered" in words(page)


async def test_the_page_has_the_numbers_and_the_words_of_the_card(room: Room, member: Browser) -> None:
    await fill(room)
    page = await shown(member, PATH)
    assert "empty-state" not in page
    text = words(page)
    assert similarity.MEANING in text
    assert (
        "The most striking pairs Member Member Shared Same when both wrong By chance Odds Ada Bob 24 24 of 24" in text
    )
    assert "Right for the other's variant By chance Odds Ada Bob 24 of 24" in text
    assert "Right answers within 15 seconds Member Within All right answers Bob 6 24" in text
    assert page.count("<caption") == 3 and '<th scope="col" class="number">Shared</th>' in page


async def test_the_review_queue_leads_to_the_page_and_its_names_to_the_members(room: Room, member: Browser) -> None:
    await fill(room)
    assert f'href="/m/{member.member}/admin{PATH}">Compare answers</a>' in await shown(member, "/review")
    found = await room.client.similar_answers(OPERATOR)
    ada = found.pairs[0].first_id
    link = f'<th scope="row" dir="auto"><a href="/m/{member.member}/admin/members?id={ada}">Ada</a></th>'
    page = await shown(member, PATH)
    assert page.count(link) == 2 and f'members?id={found.quick[0].member_id}">Bob</a>' in page
    await room.client.join(called("Ada Lovelace"), WHERE)
    page = await shown(member, f"/members?id={ada}")
    assert "1 member. Ada 240 points" in words(page) and "Lovelace" not in page and 'href="?">Clear</a>' in page
    assert "No matching members." in words(await shown(member, f"/members?id={10**17}"))


async def test_members_who_are_no_admins_see_nothing_of_it(room: Room, quiz_chat: WebChat, member: Browser) -> None:
    await fill(room)
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_browser(app) as bob:
        await bob.join("Bob")
        answer = await bob.opens(f"/m/{bob.member}/admin{PATH}")
        assert answer.status_code == 403 and "Ada" not in answer.text
