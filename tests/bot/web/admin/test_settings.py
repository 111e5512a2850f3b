"""The page of settings: each with its value, those that it changes, and where the others are changed."""

from __future__ import annotations

import pytest

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.core.text import settings_page as text
from bot.web import WebChat, build
from service.wire import WinnerRoleView, WorkspaceSettings
from tests.bot.conftest import Room
from tests.bot.web.admin.desk import posted, sent, shown, words
from tests.bot.web.http_browser import Browser, opened_browser
from tests.bot.web.quiz_chat import OPERATOR, opens

PATH = "/settings"


async def test_every_setting_has_its_value_and_leads_to_where_it_is_changed(room: Room, member: Browser) -> None:
    page = await shown(member, PATH)
    assert "Nobody has chosen yet" in page and "the channel is notified that one waits, without its text" in page
    assert "No digest is sent." in page
    assert "Schedules No schedule" in words(page) and "No season is running" in page
    await opens(room, "one-right")
    await room.client.season_start(OPERATOR, room.event_id(), "Autumn <1>")
    await room.client.bank_generated(OPERATOR, room.event_id(), "hold")
    page = await shown(member, PATH)
    text_ = words(page)
    assert "Schedules 1 schedule" in text_ and "Season Autumn <1> is running" in text_
    assert "Ask them once I approve them" in text_ and "Linked chats The web chat" in text_
    assert "The winner of a sprint gets a role No role /quiz-admin sprint role sets it, on Discord only." in text_
    assert "The next one is sent on" in text_, "the first schedule starts the digest"
    for path in ("schedules", "seasons", "bank#generated", "members"):
        assert f'href="/m/{member.member}/admin/{path}">Change' in page
    assert 'id="generated"' in await shown(member, "/bank")


async def test_an_admin_chooses_where_moderators_are_told(room: Room, member: Browser) -> None:
    await shown(member, PATH)
    page = words(await posted(member, PATH, {"action": "here"}))
    assert "New reports and suggestions are shown in this channel from now on." in page
    assert "They are shown in #daily ." in page
    page = words(await posted(member, PATH, {"action": "me"}))
    assert "They are sent to Ann , privately." in page
    done = await room.client.audit(OPERATOR, action="review")
    assert [(one.action, one.by) for one in done] == [("review me", "Ann"), ("review here", "Ann")]


async def test_an_admin_turns_the_digest_on_and_off(room: Room, member: Browser) -> None:
    await shown(member, PATH)
    page = await posted(member, PATH, {"action": "digest-on"})
    assert "The digest is sent every Monday." in page and 'value="digest-off"' in page
    page = await posted(member, PATH, {"action": "digest-off"})
    assert "No digest is sent from now on." in page and 'value="digest-on"' in page
    assert (await room.client.digest(OPERATOR)).next_at is None


@pytest.mark.parametrize("action", ["", "digest", "x"])
async def test_an_unknown_button_changes_nothing(room: Room, member: Browser, action: str) -> None:
    await shown(member, PATH)
    assert (await sent(member, PATH, {"action": action})).status_code == 422
    assert await room.client.settings(OPERATOR) == WorkspaceSettings(generated="none", chats=("web",))


async def test_members_who_are_no_admins_see_and_change_nothing(
    room: Room, quiz_chat: WebChat, member: Browser
) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_browser(app) as bob:
        await bob.join("Bob")
        assert (await bob.opens(f"/m/{bob.member}/admin{PATH}")).status_code == 403
        await bob.opens(f"/m/{bob.member}/")
        assert (await sent(bob, PATH, {"action": "me"})).status_code == 403
    assert (await room.client.settings(OPERATOR)).review_member == ""


def test_roles_of_winners_name_their_channel() -> None:
    role = WinnerRoleView(event="sprint", role="1", channel_name="#a_b")
    found = WorkspaceSettings(generated="none", chats=("discord", "slack"), winner_roles=(role,))
    linked, season, sprint, _ = text.in_chats(found)
    assert (linked.value, season.value) == ("Discord and Slack", "No role")
    assert sprint.value == "Announced in **&#35;a&#95;b**" and "`/quiz-admin sprint role`" in sprint.meaning
