"""The page of tournaments: plans, captains and cancellations, with refusals that leave the form as it was typed."""

from __future__ import annotations

from datetime import timedelta

import pytest
from playwright.async_api import expect

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.core.text import tournament_pages
from bot.web import WebChat, build
from bot.web.chat import WHERE
from service.wire import InvalidInput, TournamentPlan
from tests.bot.conftest import Room
from tests.bot.tournament_samples import JOINING, OVER
from tests.bot.web.admin.desk import posted, sent, shown, words
from tests.bot.web.chromium import Windows, axe_script, needs_chromium, opened_chromium, served
from tests.bot.web.http_browser import Browser, opened_browser
from tests.bot.web.quiz_chat import OPERATOR, called, opens
from tests.bot.web.test_tournament import planned, plays_day

PATH = "/tournaments"
PLAN = {"action": "plan", "title": "Cup <1>", "days": "5", "team_count": "2", "late": "on"}


async def plan_with_captains(room: Room, *captains: str, title: str = "Cup") -> None:
    """Plans a tournament whose teams these captains pick, and one more member to be picked."""
    plan = TournamentPlan(title=title, teams="captains")
    await room.client.tournament_plan(OPERATOR, room.event_id(), WHERE, plan)
    await room.client.tournament_join(called("Grace"), room.event_id())
    for name in captains:
        await room.client.tournament_captain(OPERATOR, room.event_id(), name)


async def test_without_a_schedule_the_page_leads_to_one(member: Browser) -> None:
    page = await shown(member, PATH)
    assert "No tournament is planned or running" in page and tournament_pages.MEANING in page
    assert f'href="/m/{member.member}/admin/schedules/new"' in page and 'value="plan"' not in page
    assert f'href="/m/{member.member}/admin{PATH}" aria-current="page">Tournaments</a>' in page


async def test_an_admin_plans_one_and_cancels_it(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    page = await shown(member, PATH)
    assert 'value="plan"' in page and "schedule 1" in page
    first_day = (room.clock() + timedelta(days=3)).date()
    page = await posted(
        member, PATH, {**PLAN, "first_day": first_day.isoformat(), "form": "bracket", "team_count": "4", "best": "2"}
    )
    text = words(page)
    assert "Planned, and announced in the channel. Tournaments Planned Cup <1> 0 members joined." in text
    assert "Thursday 5 March to Monday 9 March, 5 days · Watch it" in text
    assert "Teams are made at random when it starts" in text and "Pairs of teams meet each day" in text
    assert 'value="plan"' not in page and 'value="captain"' not in page
    view = await room.client.tournament(OPERATOR)
    assert (view.title, view.first_day, view.days, view.form) == ("Cup <1>", first_day, 5, "bracket")
    assert (view.teams_by, view.late) == ("random", True)
    assert "another is planned" in words(
        (await sent(member, PATH, {"action": "cancel", "tournament": str(view.id + 1)})).text
    )
    assert f'name="tournament" value="{view.id}"' in page
    page = await posted(member, PATH, {"action": "cancel", "tournament": str(view.id)})
    assert "Canceled, and announced in the channel. Tournaments No tournament is planned or running" in words(page)
    assert "The latest one: Cup <1>" in words(page) and 'value="plan"' in page
    assert (await room.client.tournament(OPERATOR)).state == "cancelled"
    assert "No tournament is planned or running." in words((await sent(member, PATH, {"action": "cancel"})).text)


async def test_every_option_of_the_command_reaches_the_plan(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    await shown(member, PATH)
    options: dict[str, str | list[str]] = {"teams": "captains", "balance": "rating", "schedules": ["1"]}
    await posted(member, PATH, {"action": "plan", "title": "Cup", "days": "", **options})
    view = await room.client.tournament(OPERATOR)
    assert (view.teams_by, view.days, view.late, view.form) == ("captains", 7, False, "table")
    (done,) = await room.client.audit(OPERATOR, action="tournament plan")
    assert done.facts["balance"] == "rating" and done.facts["schedules"] == ("1",)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"title": "  "}, "Name is empty. Type something."),
        ({"days": "32"}, "Days can be at most 31."),
        ({"team_count": "1"}, "Number of teams must be at least 2."),
        ({"first_day": "2026-02-01"}, "The first day is after today, so that members can join, and within a year."),
        ({"form": "bracket", "team_count": "16", "days": "2"}, "A bracket of that many teams needs 4 days or more."),
        ({"teams": "chats"}, "Teams of chats need two linked chats."),
        ({"schedules": ["9"]}, "there is no such schedule here."),
        ({"schedules": ["x"]}, "Schedules is not valid: write a whole number in digits, such as 3."),
        ({"days": "two"}, "Days is not valid: write a whole number in digits, such as 3."),
        ({"first_day": "soon"}, "First day is not valid: write it as year-month-day, such as 2026-03-02."),
    ],
)
async def test_a_refused_plan_says_why_and_keeps_what_was_typed(
    room: Room, member: Browser, change: dict[str, str | list[str]], problem: str
) -> None:
    await opens(room, "one-right")
    await shown(member, PATH)
    refused = await sent(member, PATH, {**PLAN, **change})
    assert refused.status_code == 422
    page = refused.text
    assert problem in words(page) and 'role="alert"' in page and 'name="title" type="text" value=' in page
    assert change.get("title") or 'value="Cup &lt;1&gt;"' in page
    for name in change.keys() & {"days", "team_count", "first_day"}:
        assert f'value="{change[name]}"' in page
    for name in change.keys() & {"form", "teams"}:
        assert f'<option value="{change[name]}" selected>' in page
    member.page = page
    assert "Planned, and announced in the channel." in await posted(member, PATH, PLAN)


async def test_a_running_tournament_has_its_teams_and_no_captains(room: Room, member: Browser) -> None:
    await planned(room, "Ada", "Bob")
    await plays_day(room, called("Ada"))
    page = await shown(member, PATH)
    text = words(page)
    assert "Running Cup <1>" in text and "Tuesday 3 March to Wednesday 4 March, 2 days" in text
    assert "Team Members Team Red 1 Team Blue 1" in text
    assert 'value="captain"' not in page and 'value="cancel"' in page and 'value="plan"' not in page


async def test_one_tournament_at_a_time(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    await shown(member, PATH)
    await plan_with_captains(room)
    refused = await sent(member, PATH, PLAN)
    assert refused.status_code == 422
    assert (
        "Another tournament has not ended yet." in words(refused.text)
        and tournament_pages.ONE_AT_A_TIME in refused.text
    )


async def test_an_admin_names_captains(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    await room.client.join(called("Ada"), WHERE)
    await plan_with_captains(room)
    page = await shown(member, PATH)
    assert '<option value="Grace"' in page and "Captains pick the teams until it starts." in page
    refused = await sent(member, PATH, {"action": "captain", "captain": "Nobody"})
    assert refused.status_code == 422
    assert "There is no member Nobody here" in words(refused.text) and 'value="Nobody"' in refused.text
    assert (await sent(member, PATH, {"action": "captain", "captain": " "})).status_code == 422
    page = words(await posted(member, PATH, {"action": "captain", "captain": "@ada"}))
    assert "This member is a captain now" in page
    assert "Team Captain Members \u2068Ada\u2069's team \u2068Ada\u2069 1" in page


async def test_members_who_are_no_admins_see_and_change_nothing(
    room: Room, quiz_chat: WebChat, member: Browser
) -> None:
    await opens(room, "one-right")
    await plan_with_captains(room)
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_browser(app) as bob:
        await bob.join("Bob")
        assert (await bob.opens(f"/m/{bob.member}/admin{PATH}")).status_code == 403
        await bob.opens(bob.home)
        assert (await sent(bob, PATH, {"action": "cancel"})).status_code == 403
    assert (await room.client.tournament(OPERATOR)).state == "joining"


def test_words_of_days_and_of_refused_fields() -> None:
    one_day = JOINING.model_copy(update={"days": 1})
    assert tournament_pages.span_words(one_day) == "Tuesday 3 March, 1 day"
    assert tournament_pages.span_words(OVER).startswith("Tuesday 3 March to ")
    unknown = InvalidInput(field="other", problem="too large", limit=3)
    assert tournament_pages.refused_field(unknown) == "**other** can be at most 3."


@pytest.mark.slow
@pytest.mark.browser
@needs_chromium
@pytest.mark.parametrize("width", [1240, 390])
async def test_the_form_in_a_browser(room: Room, quiz_chat: WebChat, width: int) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_chromium() as browser, served(app, quiz_chat.close) as address:
        windows = Windows(browser, address)
        ann = await windows.open(width=width)
        await ann.join("Ann", heading="Question of the day")
        await opens(room, "one-right")
        await ann.page.goto(f"{address}/m/{ann.member}/admin{PATH}")
        assert await ann.audit() == []
        assert axe_script() is None or await ann.axe() == []
        await ann.shoot(f"tournament-form-{width}")
        await ann.page.get_by_role("textbox", name="Name").fill("Spring cup")
        await ann.page.get_by_label("First day").fill("2026-01-01")
        await ann.page.get_by_label("Teams", exact=True).select_option("Picked by captains")
        await ann.page.get_by_role("textbox", name="Name").press("Enter")
        await expect(ann.page.get_by_role("alert")).to_contain_text("The first day is after today")
        await expect(ann.page.get_by_label("Teams", exact=True)).to_have_value("captains")
        await ann.page.get_by_label("First day").fill("")
        await ann.page.get_by_role("button", name="Plan it").click()
        await expect(ann.page.get_by_role("status")).to_contain_text("Planned")
        await ann.page.get_by_label("Member").fill("Ann")
        await ann.page.get_by_role("button", name="Name as captain").click()
        await expect(ann.page.get_by_role("row", name="Ann")).to_contain_text("1")
        await ann.page.get_by_text("Cancel the tournament").click()
        await ann.page.get_by_role("button", name="Cancel it now").click()
        await expect(ann.page.get_by_role("status")).to_contain_text("Canceled, and announced")
        (complaint,) = windows.complaints()
        assert "422" in complaint, "only the refused plan"
        await windows.close()
