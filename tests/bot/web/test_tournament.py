"""The page of a tournament, with the whole service behind it: over plain HTTP, as a stream, and in a real browser."""

from __future__ import annotations

from datetime import timedelta
from typing import Any, cast

import pytest
from playwright.async_api import expect

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.web import WebChat, build
from bot.web.chat import WHERE
from bot.web.frame import MemberFrame, Navigation
from bot.web.security import MemberCookies
from bot.web.streams import EventStreams
from bot.web.tournament import TournamentPage, isolate_names, state_html
from service.client import ServiceClient, ServiceUnavailable
from service.wire import Named, TournamentPlan, TournamentView, WebPerson, Who
from tests.bot.conftest import Room
from tests.bot.tournament_samples import OVER, RUNNING
from tests.bot.web.chromium import Windows, needs_chromium, opened_chromium, served
from tests.bot.web.http_browser import Browser
from tests.bot.web.quiz_chat import OPERATOR, answer, called, opens


async def shown(member: Browser, query: str = "") -> str:
    return (await member.opens(f"/m/{member.member}/tournament{query}")).text


async def planned(room: Room, *names: str, **more: Any) -> TournamentView:
    """Plans a tournament from tomorrow on, which these members join."""
    await opens(room, "one-right")
    tomorrow = (room.moving.now + timedelta(days=1)).date()
    plan = TournamentPlan.model_validate({"title": "Cup <1>", "first_day": tomorrow, "days": 2, **more})
    view = await room.client.tournament_plan(OPERATOR, room.event_id(), WHERE, plan)
    for name in names:
        await room.client.tournament_join(called(name), room.event_id())
    return view


async def plays_day(room: Room, *right: Who, wrong: tuple[Who, ...] = ()) -> None:
    """Opens the next question, answers it and closes it."""
    room.moving.now = (room.moving.now + timedelta(days=1)).replace(hour=9, minute=0)
    for _ in range(3):
        await room.service.tick()
    for who in right:
        await answer(room, who, right=True)
    for who in wrong:
        await answer(room, who, right=False)
    room.moving.advance(hours=8)
    for _ in range(3):
        await room.service.tick()


async def test_without_a_tournament_the_page_says_what_one_is(member: Browser) -> None:
    page = await shown(member)
    assert "There has been no tournament yet." in page and '/admin/tournaments">Plan a tournament</a>' in page
    assert (await member.opens(f"/m/{member.member}/tournament?name=nothing")).status_code == 404
    assert (await member.opens(f"/m/{member.member}/tournament?name={'x' * 61}")).status_code == 404


async def test_the_page_joins_and_shows_teams_days_and_the_archive(room: Room, member: Browser) -> None:
    view = await planned(room, "Ada", "Bob")
    page = await shown(member)
    assert '<h1 dir="auto">Cup &lt;1&gt;</h1>' in page and "2 members joined." in page
    assert f'value="tj:{view.id}"' in page and "/tournament/events?name=Cup%20%3C1%3E" in page
    fields = {"token": member.hidden("token"), "event": member.hidden("event"), "action": f"tj:{view.id}"}
    assert (await member.http.post(f"/m/{member.member}/press", data=fields)).status_code == 303
    assert 'value="tl"' in await shown(member) and "3 members joined." in member.page
    await plays_day(room, called("Ada"), wrong=(called("Bob"),))
    page = await shown(member)
    assert "You play for" in page and "Tuesday 3 March: Team" in page and ">Standings<" in page
    await plays_day(room)
    # The question was never delivered, so the day is over at its end.
    room.moving.advance(hours=8)
    await room.service.tick()
    page = await shown(member, "?name=cup%20%3C1%3E")
    assert "the tournament." in page and "data-events" not in page and "tj:" not in page


async def test_a_tournament_that_was_canceled_before_it_began_shows_neither_rules_nor_an_empty_table(
    room: Room, member: Browser
) -> None:
    await planned(room, "Ada", "Bob", teams="captains")
    for name in ("Ada", "Bob"):
        await room.client.tournament_captain(OPERATOR, room.event_id(), name)
    page = await shown(member)
    assert "On each day" in page and "<table" in page
    await room.client.tournament_cancel(OPERATOR, room.event_id())
    page = await shown(member)
    assert "It was canceled." in page and "On each day" not in page and "<table" not in page


def test_a_name_does_not_change_the_direction_of_what_is_beside_it() -> None:
    """Each name is isolated on its own, not the list by its first name."""
    team = RUNNING.teams[0].model_copy(update={"named": (Named(name="עדה"), Named(name="Bob")), "members": 2})
    page = state_html(isolate_names(RUNNING.model_copy(update={"teams": (team, *RUNNING.teams[1:])})))
    assert "<dd>\u2068עדה\u2069 and \u2068Bob\u2069</dd>" in page and 'dir="auto"' not in page


async def test_the_stream_sends_a_state_when_it_changes_and_ends_with_the_tournament(quiz_chat: WebChat) -> None:
    """A look that fails, or finds nothing new, sends nothing."""
    looks: list[TournamentView | Exception] = [
        RUNNING, RUNNING, ServiceUnavailable("down"),
        RUNNING.model_copy(update={"joined": 9, "state": "joining"}), OVER,
    ]  # fmt: skip
    pauses = 0

    class Client:
        async def tournament(self, who: Who, title: str = "") -> TournamentView:
            found = looks.pop(0)
            if isinstance(found, Exception):
                raise found
            return found

    async def pause(seconds: float) -> bool:
        nonlocal pauses
        pauses += 1
        return True

    cookies, client = MemberCookies(quiz_chat.store), cast(ServiceClient, Client())
    frame = MemberFrame(
        cookies, client, Quiz(client).handle, Navigation(True, False), quiz_chat.clock, pause, EventStreams()
    )
    page = TournamentPage(frame)
    states = [event.data async for event in page._states(WebPerson(id="1", name="Ann", admin=False), "", pause)]
    assert len(states) == 3 and looks == [] and pauses == 4
    assert "2 days played" not in str(states[0]) and "9 members joined" in str(states[1])
    assert "wins the tournament" in str(states[2])


async def test_a_stream_ends_when_the_chat_closes(quiz_chat: WebChat) -> None:
    quiz_chat.close()
    assert not await quiz_chat.pause(60)


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 390)])
async def test_the_page_in_a_browser(room: Room, quiz_chat: WebChat, scheme: str, width: int) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await windows.open(scheme=scheme, width=width)
        await ann.join("Ann", heading="Question of the day")
        names = ("Ada", "Grace", "יעל", "W" * 60, *(f"Member {n}" for n in range(8)))
        await planned(room, *names, team_count=4, form="bracket")
        await ann.page.goto(f"{address}/m/{ann.member}/tournament")
        await ann.page.get_by_role("button", name="Join").click()
        await plays_day(room, called("Ada"), called("Grace"), wrong=(called("Member 1"),))
        await ann.page.goto(f"{address}/m/{ann.member}/tournament")
        await expect(ann.page.get_by_role("heading", name="Cup <1>")).to_be_visible()
        await expect(ann.page.get_by_role("heading", name="Bracket")).to_be_visible()
        assert await ann.audit() == []
        await ann.shoot(f"tournament-{scheme}-{width}")
