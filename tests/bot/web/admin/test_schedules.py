"""The schedule editor: the month, a day's post, and settings of which only changes are saved."""

from __future__ import annotations

import html
import re
from datetime import time

import pytest

from bot.web.chat import WHERE
from service.wire import ScheduleChanges, ScheduleSpec
from tests.bot.conftest import Room
from tests.bot.web.admin.desk import posted, sent, shown, words
from tests.bot.web.http_browser import Browser
from tests.bot.web.quiz_chat import OPERATOR, opens


async def added(room: Room, **spec: object) -> int:
    made = ScheduleSpec.model_validate({"at": "10:00", "zone": "Europe/Berlin", **spec})
    return (await room.client.schedule_add(OPERATOR, room.event_id(), WHERE, made)).id


def settings(page: str) -> dict[str, str | list[str]]:
    """Returns the fields of the form as a browser would send them."""
    form = page[page.index('aria-labelledby="settings"') :]
    form = form[: form.index("</form>")]
    found: dict[str, str | list[str]] = {}
    for tag in re.findall(r"<input[^>]*>", form):
        name, value = re.search(r'name="([^"]*)"', tag), re.search(r'value="([^"]*)"', tag)
        assert name
        if 'type="checkbox"' in tag:
            if " checked" in tag:
                known = found.setdefault(name[1], [])
                assert isinstance(known, list)
                known.append(html.unescape(value[1]) if value else "on")
        else:
            found[name[1]] = html.unescape(value[1]) if value else ""
    return found


async def test_the_list_says_what_each_posts_and_when(room: Room, member: Browser) -> None:
    assert "There is no schedule, so nothing is posted." in await shown(member, "/schedules")
    await added(room)
    page = words(await shown(member, "/schedules"))
    assert "10:00 (Europe/Berlin), Monday to Friday, open for 8 hours" in page
    assert "Next: Monday 2 March, 10:00" in page


async def test_the_month_shows_clock_changes_and_holidays(room: Room, member: Browser) -> None:
    number = await added(room, country="DE")
    page = words(await shown(member, f"/schedules/{number}?month=2026-03"))
    assert "March 2026" in page
    assert (
        "Sunday 29 March: clocks go forward by 1 hour in Europe/Berlin. It still posts at 10:00 local time: 09:00 UTC "
        "before, 08:00 UTC after." in page
    )
    page = words(await shown(member, f"/schedules/{number}?month=2026-04"))
    assert "Good Friday" in page
    page = words(await shown(member, f"/schedules/{number}?day=2026-04-03"))
    assert "Good Friday: the schedule keeps public holidays." in page


async def test_a_day_shows_its_post_without_the_key(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    page = await shown(member, "/schedules/1?day=2026-03-03")
    assert "There is no question" not in page
    for question in ("one-right", "two-right", "the-shape", "two-lines", "why-scale", "add-one"):
        await room.client.bank_retire(OPERATOR, room.event_id(), question, question != "two-right")
    page = await shown(member, "/schedules/1?day=2026-03-04")
    said = words(page)
    assert "Question for Wednesday 4 March" in said
    assert "two-right" in said
    assert "Right:" not in said
    assert "Posts at 10:00 (Europe/Berlin), which is 09:00 UTC." in said


async def test_a_day_too_far_ahead_has_no_post_yet(room: Room, member: Browser) -> None:
    number = await added(room)
    assert "This is too far ahead to tell which question comes." in await shown(
        member, f"/schedules/{number}?day=2026-07-06"
    )


async def test_a_day_is_skipped_and_taken_back(room: Room, member: Browser) -> None:
    number = await added(room)
    await shown(member, f"/schedules/{number}?day=2026-03-05")
    page = words(await posted(member, f"/schedules/{number}", {"action": "skip", "day": "2026-03-05"}))
    assert "That day is skipped." in page and "You skipped this day." in page
    page = words(await posted(member, f"/schedules/{number}", {"action": "unskip", "day": "2026-03-05"}))
    assert "That day is back on the schedule." in page and "Question for Thursday 5 March" in page


async def test_it_is_paused_resumed_posted_and_removed(room: Room, member: Browser) -> None:
    number = await added(room)
    path = f"/schedules/{number}"
    await shown(member, path)
    assert "Paused. Nothing is posted" in await posted(member, path, {"action": "pause"})
    assert "Resumed" in await posted(member, path, {"action": "resume"})
    assert "The question is being posted now." in await posted(member, path, {"action": "post"})
    assert "There is no schedule" in await posted(member, path, {"action": "remove"})


async def test_only_what_changed_is_saved(room: Room, member: Browser) -> None:
    number = await added(room, topics=("tensors",))
    fields = settings(await shown(member, f"/schedules/{number}"))
    # Meanwhile another admin changes something else.
    await room.client.schedule_edit(OPERATOR, room.event_id(), number, ScheduleChanges(open_minutes=60))
    await posted(member, f"/schedules/{number}", {**fields, "at": "11:30", "action": "save"})
    (view,) = await room.client.schedule_list(OPERATOR)
    assert (view.spec.at, view.spec.open_minutes, view.spec.topics) == (time(11, 30), 60, ("tensors",))
    (entry, *_) = await room.client.audit(OPERATOR)
    assert entry.facts == {"schedule": str(number), "at": "11:30:00"}


async def test_a_preview_shows_the_month_and_saves_nothing(room: Room, member: Browser) -> None:
    number = await added(room)
    fields = settings(await shown(member, f"/schedules/{number}"))
    answered = await sent(member, f"/schedules/{number}", {**fields, "weekdays": ["2"], "action": "preview"})
    assert answered.status_code == 200
    page = answered.text
    assert "A preview with your changes: nothing is saved yet." in page
    assert re.findall(r'class="planned[^"]*">\s*<a href="[^"]*day=([0-9-]*)', page) == [
        f"2026-03-{day:02}" for day in (4, 11, 18, 25)
    ]
    assert (await room.client.schedule_list(OPERATOR))[0].spec.weekdays == (0, 1, 2, 3, 4)
    # What was typed is still there, and saves.
    member.page = page
    assert settings(page)["weekdays"] == ["2"]
    await posted(member, f"/schedules/{number}", {**settings(page), "action": "save"})
    assert (await room.client.schedule_list(OPERATOR))[0].spec.weekdays == (2,)


async def test_a_new_schedule_is_made_for_the_channel(room: Room, member: Browser) -> None:
    fields = settings(await shown(member, "/schedules/new"))
    page = words(await posted(member, "/schedules/new", {**fields, "zone": "Asia/Tokyo", "action": "save"}))
    assert "The schedule is added." in page
    (view,) = await room.client.schedule_list(OPERATOR)
    assert (view.channel, view.spec.zone) == ("daily", "Asia/Tokyo")


@pytest.mark.parametrize(
    ("field", "value", "problem"),
    [
        ("zone", "Berln", "Europe/Berlin"),
        ("open_minutes", "x", "number of minutes"),
        ("month_days", "40", "Days of the month are numbers"),
        ("at", "25:00", "not a time of day"),
        ("country", "XX", "XX"),
    ],
)
async def test_a_setting_that_is_wrong_is_named_and_kept(
    room: Room, member: Browser, field: str, value: str, problem: str
) -> None:
    number = await added(room)
    fields = settings(await shown(member, f"/schedules/{number}"))
    answered = await sent(member, f"/schedules/{number}", {**fields, field: value, "action": "save"})
    assert answered.status_code == 422
    assert problem in words(answered.text)
    assert settings(answered.text)[field] == value


@pytest.mark.parametrize("path", ["/schedules/99", "/schedules/x"])
async def test_an_unknown_schedule_is_named(member: Browser, path: str) -> None:
    answered = await member.opens(f"/m/{member.member}/admin{path}")
    assert answered.status_code == 404
    assert "No such schedule" in answered.text
