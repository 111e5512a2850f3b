"""A web chat with the whole service behind it: its bank, its rounds, and members who answer without a browser."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import time

from bot.web.chat import WHERE
from service.wire import WEB_WORKSPACE, AnswerInput, Confidence, ScheduleSpec, Who
from tests.bot.conftest import BANK, QUESTIONS, Room
from tests.bot.web.http_browser import Browser
from tests.conftest import MONDAY

OPERATOR = Who(platform="web", workspace=WEB_WORKSPACE, member="operator", name="Operator", admin=True)


async def fill(room: Room) -> None:
    """Imports the room's bank into the web chat's workspace."""
    await room.client.join(OPERATOR, WHERE)
    view = await room.client.bank_import(OPERATOR, "web-import", BANK.name, BANK.read_text(encoding="utf-8"), True)
    assert view.applied, view.findings


async def opens(room: Room, question: str, *, confidence: bool = False, variants: bool = False) -> None:
    """Opens a question in the web chat's channel for seven hours, from 10:00 in Berlin."""
    for other in QUESTIONS:
        await room.client.bank_retire(OPERATOR, room.event_id(), other, other != question)
    switches = {"confidence": confidence, "variants": variants}
    spec = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=7 * 60).model_copy(update=switches)
    await room.client.schedule_add(OPERATOR, room.event_id(), WHERE, spec)
    room.moving.now = MONDAY.replace(hour=9)
    await room.service.tick()


def who_is(ann: Browser) -> Who:
    return Who(platform="web", workspace=WEB_WORKSPACE, member=ann.member, name="Ann", admin=True)


def called(name: str, member: str = "") -> Who:
    """A member of the web chat; without `member`, one who has no browser."""
    return Who(platform="web", workspace=WEB_WORKSPACE, member=member or name.lower(), name=name)


async def answer(room: Room, who: Who, *, right: bool, confidence: Confidence | None = None) -> None:
    """Answers the open question `one-right`, wrongly with `(2, 3)`."""
    (ask,) = (await room.client.today(who, WHERE)).forms
    text = "(3, 2)" if right else "(2, 3)"
    wanted = next(one.id for one in ask.question.options if text in one.text)
    given = AnswerInput(options=(wanted,), confidence=confidence)
    await room.client.answer(who, WHERE, room.event_id(), ask.ref, given, room.moving.now)


async def plays(room: Room, right: Sequence[Who], wrong: Sequence[Who] = ()) -> None:
    """Plays one round of `one-right`: opens it, answers, closes it."""
    await opens(room, "one-right")
    for who in right:
        await answer(room, who, right=True)
        room.moving.advance(seconds=30)
    for who in wrong:
        await answer(room, who, right=False)
    room.moving.advance(hours=8)
    await room.service.tick()
    await room.service.jobs.run_pending()
