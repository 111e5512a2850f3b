"""The bot comes to a workspace: one hello, a first schedule in three clicks, and a page for each member."""

from __future__ import annotations

from zoneinfo import available_timezones

import pytest

from bot.core.actions import BeginHere, JoinChannel, encode
from bot.core.cards import Card, Form, PickField
from bot.core.channel_access import ChannelProblem, RoleProblem
from bot.core.events import Added, Press, Submit, Visited
from bot.core.quiz import Quiz
from service.wire import Where, Who
from tests.bot.conftest import Room
from tests.conftest import MakeWho

NEW = Where(channel="C1", name="general")
PAGE = Where(channel="")


@pytest.fixture
def ann(who: MakeWho) -> Who:
    return who("Ann")


def zones_of(room: Room) -> tuple[tuple[str, str], ...]:
    """Returns the zones offered in the setup form."""
    form = room.told[room.boss.member]
    assert isinstance(form, Form)
    return next(field.options for field in form.fields if isinstance(field, PickField) and field.name == "zone")


async def test_three_clicks_from_hello_to_the_first_question(room: Room) -> None:
    boss = room.boss
    hello = await room.does(Added(room.event_id(), room.clock(), boss, NEW))
    assert hello.startswith("Hello, I am Dailygrad")
    asked = await room.presses(boss, "Set it up in #general")
    assert "What time should #general get its question?" in asked
    assert "Every question at 09:00" in await room.presses(boss, "09:00")
    assert ("Europe/Berlin", "Europe/Berlin: 09:00 now") in zones_of(room)
    begun = await room.fills(boss, days="0,1,2,3,4", zone="Europe/Berlin", other="")
    assert "Schedule 1 in general: 09:00 (Europe/Berlin), Monday to Friday" in begun
    assert "First question: " in begun
    (schedule,) = await room.client.schedule_list(boss)
    assert (schedule.channel, schedule.spec.weekdays, schedule.spec.zone) == ("C1", (0, 1, 2, 3, 4), "Europe/Berlin")
    assert "Posting now" in await room.presses(boss, "Post it now")
    await room.carries()
    assert room.wall.questions == ["C1"]


async def test_a_form_takes_the_time_as_people_write_it(room: Room) -> None:
    def form(at: str) -> Submit:
        given = {"channel": ("C1",), "at": (at,), "days": ("0",), "zone": ("Europe/Berlin",)}
        return Submit(room.event_id(), room.clock(), room.boss, NEW, encode(BeginHere()), given)

    assert "Choose a channel and a time" in await room.does(form(""))
    assert "25:00 is not a time of day" in await room.does(form("25:00"))
    assert "17:30 (Europe/Berlin), Monday, open" in await room.does(form("5:30 pm"))


async def test_a_workspace_is_greeted_once(room: Room, who: MakeWho) -> None:
    first = await room.quiz.handle(Added(room.event_id(), room.clock(), who("Eve", workspace="new"), NEW))
    again = await room.quiz.handle(Added(room.event_id(), room.clock(), who("Eve", workspace="new"), NEW))
    other = await room.quiz.handle(Added(room.event_id(), room.clock(), who("Mel", workspace="newer"), NEW))
    assert [reply.droppable for reply in (first, again, other)] == [False, True, False]


async def test_hello_without_a_channel_says_where_to_go(room: Room) -> None:
    said = await room.does(Added(room.event_id(), room.clock(), room.boss, Where(channel="")))
    assert "/quiz-admin setup" in " ".join(said.split())
    assert "[1] Try a question first" in said


async def test_setup_typed_in_a_channel_begins_there(room: Room) -> None:
    assert "What time should #daily get its question?" in await room.types(room.boss, "/quiz-admin setup")


async def test_a_second_press_of_begin_makes_no_second_schedule(room: Room) -> None:
    await room.types(room.boss, "/quiz-admin setup")
    form = await room.presses(room.boss, "16:00")
    shown = room.told[room.boss.member]
    assert "Schedule added" in await room.fills(room.boss, days="0,2,4", zone="UTC")
    room.told[room.boss.member] = shown
    assert "This schedule already exists" in await room.fills(room.boss, days="0,2,4", zone="UTC")
    assert len(await room.client.schedule_list(room.boss)) == 1
    assert "16:00" in form
    again = await room.types(room.boss, "/quiz-admin setup")
    assert "#daily has schedule 1: 16:00 (UTC), Monday, Wednesday and Friday" in again


async def test_a_typed_zone_is_used_and_an_unknown_one_rejected(room: Room) -> None:
    await room.types(room.boss, "/quiz-admin setup")
    await room.presses(room.boss, "10:00")
    form = room.told[room.boss.member]
    refused = await room.fills(room.boss, days="0,1,2,3,4", zone="UTC", other="Europe/Atlantis")
    assert refused.startswith("Unknown time zone")
    assert "Europe/Atlantis" in refused
    room.told[room.boss.member] = form
    assert "10:00 (Asia/Kathmandu)" in await room.fills(room.boss, days="0", zone="UTC", other=" Asia/Kathmandu ")


async def test_a_non_admin_is_refused_at_the_first_click(room: Room, ann: Who) -> None:
    await room.does(Added(room.event_id(), room.clock(), room.boss, NEW))
    action = room.button(room.boss, "Set it up in #general").action
    said = await room.does(Press(room.event_id(), room.clock(), ann, NEW, action))
    assert said.startswith("Not allowed")
    assert "admin" in said


async def test_a_bank_without_questions_says_so_and_nothing_is_begun(room: Room) -> None:
    await room.only("none")
    await room.types(room.boss, "/quiz-admin setup")
    await room.presses(room.boss, "09:00")
    assert "No question fits this schedule" in await room.fills(room.boss, days="0,1,2,3,4", zone="UTC")
    assert await room.client.schedule_list(room.boss) == ()


async def test_a_schedule_that_has_no_question_left_is_kept_and_says_what_is_missing(room: Room) -> None:
    await room.types(room.boss, "/quiz-admin setup")
    await room.presses(room.boss, "09:00")
    form = room.told[room.boss.member]
    await room.fills(room.boss, days="0,1,2,3,4", zone="UTC")
    await room.only("none")
    room.told[room.boss.member] = form
    said = await room.fills(room.boss, days="0,1,2,3,4", zone="UTC")
    assert "This schedule already exists" in said
    assert "There is no first question yet: " in said


async def test_a_members_page_leads_everywhere(room: Room, ann: Who) -> None:
    empty = await room.does(Visited(room.event_id(), room.clock(), ann, PAGE))
    assert "No question is open right now." in empty
    await room.opens("one-right")
    page = await room.does(Visited(room.event_id(), room.clock(), ann, PAGE))
    assert "What does torch.zeros(2, 3).t().shape give? 3 options; one is right." in page.replace("\n", " ")
    assert "0 rounds; best 0" in page
    await room.presses(ann, "Answer")
    await room.chooses(ann, "`(3, 2)`")
    page = await room.does(Visited(room.event_id(), room.clock(), ann, PAGE))
    assert "Answered." in page
    assert "Change my answer" in page
    ways = {
        "Practice": "All done",
        "Weekly board": "[2] Week (shown)",
        "All-time board": "[5] All time (shown)",
        "Run a snippet": "Your program",
        "Today": "Today's question",
    }
    for label, said in ways.items():
        await room.does(Visited(room.event_id(), room.clock(), ann, PAGE))
        assert said in await room.presses(ann, label)


async def test_every_zone_offered_is_one_and_fits_every_select(room: Room) -> None:
    await room.types(room.boss, "/quiz-admin setup")
    await room.presses(room.boss, "09:00")
    assert len(zones_of(room)) <= 25
    assert {zone for zone, _ in zones_of(room)} <= available_timezones()


async def test_a_channel_of_any_name_can_be_set_up(room: Room) -> None:
    long = Where(channel="1234567890123456789", name="é:" * 50)
    await room.does(Added(room.event_id(), room.clock(), room.boss, long))
    label = next(button.label for button in room.buttons(room.boss) if button.label.startswith("Set it up in #é:"))
    assert "#é:é:é:" in await room.presses(room.boss, label)


class Door:
    """A chat whose channels the bot is not a member of until it joins."""

    def __init__(self) -> None:
        self.joined: list[str] = []

    async def find_problem(self, who: Who, channel: str) -> ChannelProblem | None:
        return None if channel in self.joined else ChannelProblem("not a member", can_join=True)

    async def find_role_problem(self, who: Who, role: str) -> RoleProblem | None:
        return None

    async def join(self, who: Who, channel: str) -> bool:
        self.joined.append(channel)
        return True

    async def find_zone(self, who: Who) -> str:
        return ""

    async def find_member(self, who: Who, named: str) -> tuple[str, str] | None:
        return None

    async def find_name(self, who: Who, channel: str) -> str:
        return ""


async def test_only_an_admin_makes_the_bot_join_a_channel(room: Room, ann: Who) -> None:
    door = Door()
    quiz = Quiz(room.client, access=door)
    action = encode(JoinChannel("C1", "general"))
    refused = await quiz.handle(Press(room.event_id(), room.clock(), ann, NEW, action))
    assert isinstance(refused.content, Card)
    assert refused.content.title == "Not allowed"
    assert door.joined == []
    asked = await quiz.handle(Press(room.event_id(), room.clock(), room.boss, NEW, action))
    assert isinstance(asked.content, Card)
    assert (asked.content.title, door.joined) == ("Choose a time", ["C1"])


async def test_naming_one_rhythm_of_a_schedule_replaces_the_others(room: Room) -> None:

    async def types(line: str) -> str:
        return " ".join((await room.types(room.boss, f"/quiz-admin schedule {line}")).split())

    added = await types("add 09:00 Europe/Berlin every:3 first:2026-03-04")
    assert "every 3 days from Wednesday 4 March, open for" in added
    monthly = await types("edit 1 mon-fri month-days:1,last")
    assert "on day 1 and the last day of the month, only Monday to Friday" in monthly
    later = await types("edit 1 10:00")
    assert "10:00 (Europe/Berlin), on day 1 and the last day of the month, only Monday to Friday" in later
    assert "10:00 (Europe/Berlin), every day, open for" in await types("edit 1 daily")
    refused = await types("edit 1 mon every:14 first:2026-03-03")
    assert "At most one date within a year fits" in refused


async def test_a_channel_is_named_by_typing_it(room: Room) -> None:
    boss = room.boss
    assert "Schedule added" in await room.types(boss, "/quiz-admin schedule add 09:00 Europe/Berlin")
    (first,) = await room.client.schedule_list(boss)
    again = await room.types(boss, f"/quiz-admin schedule add 10:00 channel:#{first.channel_name.removeprefix('#')}")
    assert "Schedule added" in again
    assert {one.channel for one in await room.client.schedule_list(boss)} == {first.channel}
    refused = await room.types(boss, "/quiz-admin ask channel:#nowhere")
    assert "does not know a channel #nowhere" in refused and "Type the command in #nowhere itself" in refused
    assert "is not a channel" in await room.types(boss, "/quiz-admin ask channel:<#>")
