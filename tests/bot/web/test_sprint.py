"""The page of a sprint, with the whole service behind it: over plain HTTP, as a stream, and in a real browser."""

from __future__ import annotations

from datetime import time, timedelta
from typing import cast

import pytest
from playwright.async_api import expect
from starlette.requests import Request

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.web import WebChat, build
from bot.web.chat import WHERE
from bot.web.frame import MemberFrame, Navigation
from bot.web.security import MemberCookies
from bot.web.sprint import SprintPage
from bot.web.streams import EventStreams
from service.client import ServiceClient, ServiceUnavailable
from service.wire import AnswerInput, PlannedSprint, SprintPulse, Sprints, WebPerson, Who
from tests.bot.conftest import QUESTIONS, Room
from tests.bot.web.chromium import Windows, needs_chromium, opened_chromium, served
from tests.bot.web.http_browser import Browser
from tests.bot.web.quiz_chat import OPERATOR, called
from tests.service.competitions.sprint_scene import pass_time
from tests.service.daily_channel import DailyChannel


async def shown(member: Browser, query: str = "") -> str:
    return (await member.opens(f"/m/{member.member}/sprint{query}")).text


async def later(room: Room, seconds: float = 0) -> None:
    """Lets time pass, ticks, and has what is due arrive in the channel."""
    room.moving.advance(seconds=seconds)
    await pass_time(DailyChannel(room.service, room.client), seconds)
    await room.service.tick()
    await room.carries()
    await room.service.tick()


async def starts(room: Room, questions: int = 1, question: str = "one-right") -> None:
    """Starts a sprint of 60 seconds a question; only one question is in the bank."""
    for other in QUESTIONS:
        await room.client.bank_retire(OPERATOR, room.event_id(), other, other != question)
    await room.client.sprint_start(OPERATOR, room.event_id(), WHERE, questions, 60, "")
    await later(room)


async def asks(room: Room) -> None:
    """Goes on to the next question."""
    await later(room, 15)
    await later(room)


async def answers(room: Room, who: Who, *, right: bool) -> None:
    live = (await room.client.sprints(who)).live
    assert live is not None and live.form is not None
    text = "(3, 2)" if right else "(2, 3)"
    wanted = next(one.id for one in live.form.question.options if text in one.text)
    given = AnswerInput(options=(wanted,))
    await room.client.answer(who, WHERE, room.event_id(), live.form.ref, given, room.moving.now)


async def test_without_a_sprint_the_page_says_what_one_is(member: Browser) -> None:
    page = await shown(member)
    assert "There has been no sprint yet." in page and "/quiz-admin sprint 5 20" in page


async def test_a_planned_sprint_is_shown_to_members(room: Room, member: Browser) -> None:
    plan = PlannedSprint(questions=3, seconds=20, at=time(18))
    await room.client.sprint_plan(OPERATOR, room.event_id(), WHERE, plan)
    page = await shown(member)
    assert ">Planned<" in page and "18:00" in page and "<time" in page


async def test_a_member_plays_on_the_page(room: Room, member: Browser) -> None:
    await starts(room)
    assert "The first question comes in a moment" in await shown(member)
    await asks(room)
    page = await shown(member)
    assert "Question 1 of 1" in page and "0 answers so far" in page and 'data-left="' in page
    live = (await room.client.sprints(called("Ann", member.member))).live
    assert live is not None and live.form is not None
    wanted = next(one.id for one in live.form.question.options if "(3, 2)" in one.text)
    fields = {
        "token": member.hidden("token"),
        "event": member.hidden("event"),
        "action": f"f:{live.form.ref}",
        "v:options": wanted,
    }
    reply = await member.http.post(f"/m/{member.member}/sprint", data=fields)
    assert reply.status_code == 200 and "Your answer is recorded" in reply.text and "Change my answer" in reply.text
    await answers(room, called("Bob"), right=False)
    await later(room, 60)
    page = await shown(member)
    assert "The answer to question 1 of 1" in page and "1 of 2 answered right." in page
    assert "Right: " in page and "rank 1." in page and ">Standings<" in page
    await later(room, 10)
    page = await shown(member)
    assert "The podium" in page and '<svg class="podium-chart"' in page and ">Ann</text>" in page
    late = {**fields, "event": "late"}
    reply = await member.http.post(f"/m/{member.member}/sprint", data=late)
    assert "Time is up" in reply.text
    assert (await member.http.post(f"/m/{member.member}/sprint", data={**fields, "action": "a:r1"})).status_code == 422


async def test_an_answer_that_is_refused_is_kept_in_the_field_with_the_reason(room: Room, member: Browser) -> None:
    await starts(room, question="the-shape")
    await asks(room)
    await shown(member)
    live = (await room.client.sprints(called("Ann", member.member))).live
    assert live is not None and live.form is not None
    fields = {"token": member.hidden("token"), "event": member.hidden("event"), "action": f"f:{live.form.ref}"}
    reply = await member.http.post(f"/m/{member.member}/sprint", data={**fields, "v:text": "(3, 2"})
    assert 'class="toast bad" role="alert"' in reply.text and 'value="(3, 2"' in reply.text
    assert "Change my answer" not in reply.text
    reply = await member.http.post(f"/m/{member.member}/sprint", data={**fields, "event": "b", "v:text": "(3, 2)"})
    assert 'class="toast" role="status"' in reply.text and "Your answer is recorded" in reply.text


class Looks:
    """A service whose sprint is as a list says, one look after another."""

    def __init__(self, *looks: SprintPulse | Exception) -> None:
        self.looks = list(looks)
        self.full = 0
        self.step = ""
        self.ahead = ""
        """The step that the whole view is at, if it is not that of the latest look."""

    async def sprint_pulse(self, who: Who) -> SprintPulse:
        found = self.looks.pop(0)
        if isinstance(found, Exception):
            raise found
        self.step = found.step
        return found

    async def sprints(self, who: Who) -> Sprints:
        self.full += 1
        return Sprints(step=self.ahead or self.step)


async def sprint_page(chat: WebChat, room: Room, client: Looks, pace_s: float) -> SprintPage:
    """A page whose streams end when nothing more is seen."""

    async def pause(seconds: float) -> bool:
        return bool(client.looks)

    navigation, quiz = Navigation(True, False), Quiz(room.client).handle
    cookies = MemberCookies(chat.store)
    await cookies.load(Request({"type": "http", "headers": []}))
    frame = MemberFrame(cookies, cast(ServiceClient, client), quiz, navigation, room.clock, pause, EventStreams())
    return SprintPage(frame, pace_s)


async def test_the_stream_sends_steps_and_counts_and_survives_a_failed_look(quiz_chat: WebChat, room: Room) -> None:
    asking = SprintPulse(step="asking")
    client = Looks(
        asking,
        asking,
        asking.model_copy(update={"answers": 7}),
        ServiceUnavailable("down"),
        SprintPulse(step="pausing", answers=7),
    )
    page = await sprint_page(quiz_chat, room, client, 0)
    sent = [event async for event in page._states(WebPerson(id="1", name="Ann", admin=False), page._frame.pause)]
    assert [(event.event, event.id) for event in sent] == [
        (None, "asking"),
        ("answers", None),
        (None, "pausing"),
    ]
    assert str(sent[1].data) == "7 answers so far" and client.full == 2


async def test_a_step_between_two_looks_is_sent_once(quiz_chat: WebChat, room: Room) -> None:
    client = Looks(SprintPulse(step="posting"), SprintPulse(step="asking"), SprintPulse(step="asking"))
    client.ahead = "asking"
    page = await sprint_page(quiz_chat, room, client, 0)
    sent = [event.id async for event in page._states(WebPerson(id="1", name="Ann", admin=False), page._frame.pause)]
    assert sent == ["asking"], "sent again, it would undo what a reader has picked"


async def test_open_pages_share_one_look(quiz_chat: WebChat, room: Room) -> None:
    client = Looks(SprintPulse())
    page = await sprint_page(quiz_chat, room, client, 3600)
    for number in range(3):
        sent = [
            event async for event in page._states(WebPerson(id=str(number), name="Ann", admin=False), page._frame.pause)
        ]
        assert len(sent) == 1
    assert client.looks == []


async def test_an_admin_plans_starts_stops_and_cancels(room: Room, member: Browser) -> None:
    address = f"/m/{member.member}/admin/sprints"
    for other in QUESTIONS:
        await room.client.bank_retire(OPERATOR, room.event_id(), other, other != "one-right")

    async def posts(action: str, **fields: str) -> str:
        await member.opens(address)
        hidden = {"token": member.hidden("token"), "event": member.hidden("event"), "action": action}
        reply = await member.http.post(address, data={**hidden, **fields})
        return (await member.opens(reply.headers["location"])).text if reply.status_code == 303 else reply.text

    numbers = {"questions": "1", "seconds": "60"}
    assert "To plan a sprint, add its time" in await posts("plan", **numbers)
    tomorrow = (room.clock() + timedelta(days=1)).date().isoformat()
    page = await posts("plan", **numbers, at="18:00", day=tomorrow)
    assert "Planned, and announced in the channel." in page and "18:00" in page
    (planned,) = (await room.client.sprints(OPERATOR)).planned
    assert "Canceled." in await posts("cancel", sprint=str(planned.id))
    assert "No sprint is planned." in member.page
    assert "announced in the channel now" in await posts("start", **numbers)
    assert ">Running<" in member.page
    assert "Stopped." in await posts("stop")


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize(("scheme", "width"), [("light", 1200), ("dark", 390)])
async def test_a_sprint_in_a_browser(room: Room, quiz_chat: WebChat, scheme: str, width: int) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await windows.open(scheme=scheme, width=width)
        await ann.page.goto(address)
        await ann.join("Ann", heading="Question of the day")
        home = f"{address}/m/{ann.member}"
        await ann.page.goto(f"{home}/sprint")
        assert await ann.audit() == [], "no sprint"
        await starts(room)
        await asks(room)
        await expect(ann.page.get_by_role("heading", name="Question 1 of 1")).to_be_visible()
        await expect(ann.page.get_by_role("timer")).to_contain_text("left")
        assert await ann.audit() == [], "a question"
        await ann.shoot(f"sprint-question-{scheme}-{width}")
        await ann.page.get_by_role("radio").first.check()
        await answers(room, called("W" * 40), right=True)
        await answers(room, called("יעל"), right=True)
        await expect(ann.page.get_by_text("2 answers so far")).to_be_visible()
        assert await ann.page.get_by_role("radio").first.is_checked(), "a count must not undo what was picked"
        await ann.page.get_by_role("button", name="Answer").click()
        await expect(ann.page.get_by_role("button", name="Change my answer")).to_be_visible()
        await later(room, 60)
        await expect(ann.page.get_by_text("The answer to question 1 of 1")).to_be_visible()
        await expect(ann.page.get_by_role("timer")).to_contain_text("Podium in")
        assert await ann.audit() == [], "an answer"
        await ann.shoot(f"sprint-answer-{scheme}-{width}")
        await later(room, 10)
        await expect(ann.page.locator("svg.podium-chart")).to_be_visible()
        assert await ann.audit() == [], "a podium"
        await ann.shoot(f"sprint-podium-{scheme}-{width}")
        await ann.page.goto(f"{home}/admin/sprints")
        assert await ann.audit() == [], "the admin page"
        await ann.shoot(f"sprint-admin-{scheme}-{width}")
        assert windows.complaints() == []
        await windows.close()
