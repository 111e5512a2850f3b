"""The admins' first page, with the whole service behind it."""

from __future__ import annotations

from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.web import WebChat, build
from tests.bot.conftest import Room
from tests.bot.web.admin.desk import shown, words
from tests.bot.web.http_browser import Browser, opened_browser
from tests.bot.web.quiz_chat import OPERATOR, answer, called, opens, plays


async def test_it_leads_to_the_first_schedule(member: Browser) -> None:
    page = words(await shown(member))
    assert "There is no schedule, so nothing is posted." in page
    assert f'href="/m/{member.member}/admin/schedules/new">Add a schedule' in member.page
    assert "No question closed last week." in page


async def test_it_says_what_is_open_and_who_answered(room: Room, member: Browser) -> None:
    await plays(room, [called("Ada"), called("Grace"), called("Zed")])
    room.moving.advance(hours=16)
    await room.service.tick()
    await answer(room, called("Ada"), right=True)
    html = await shown(member)
    page = words(html)
    assert "#daily Closes in 7 h" in page
    assert "1 of 3 active members answered" in page
    assert "tensors" in page
    assert "Wednesday 4 March, 10:00 (Europe/Berlin)" in page
    assert 'datetime="2026-03-04T09:00:00Z"' in html, "the browser shows it in the reader's own zone"


async def test_what_waits_and_what_runs_low_comes_with_its_next_step(room: Room, member: Browser) -> None:
    await opens(room, "one-right")
    await room.client.report(called("Ada"), room.event_id(), "one-right", "It is wrong.")
    page = await shown(member)
    assert "1 report waits for you." in page
    assert f'href="/m/{member.member}/admin/review#reports">Review</a>' in page
    assert "#daily has 0 new questions left." in page
    assert f'href="/m/{member.member}/admin/bank/import">Import questions</a>' in page
    # Failures come first.
    assert page.index("new questions left.") < page.index("1 report waits")
    await room.client.report_settle(OPERATOR, room.event_id(), 1, "dismissed", "It is right.")
    assert "report" not in words(await shown(member)).replace("reports", "report").split("Open now")[0]


async def test_last_week_is_in_numbers(room: Room, member: Browser) -> None:
    await plays(room, [called("Ada")], [called("Grace"), called("Zed")])
    room.moving.advance(days=7)
    page = words(await shown(member))
    assert "Monday 2 March to Sunday 8 March" in page
    assert "members answered, 3 more than before 3" in page
    assert "right 33%" in page
    assert "one-right , 33% right of 3 answers." in page


async def test_only_admins_have_the_pages_and_the_link(room: Room, quiz_chat: WebChat, member: Browser) -> None:
    link = '/admin"><svg'
    await member.opens(f"/m/{member.member}/today")
    assert link in member.page
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_browser(app) as bob:
        await bob.join("Bob")
        await bob.opens(f"/m/{bob.member}/today")
        assert link not in bob.page
        answered = await bob.opens(f"/m/{bob.member}/admin")
        assert answered.status_code == 403
        assert "for quiz admins" in answered.text


async def test_the_operations_page_leads_back_to_where_it_was_opened(room: Room, quiz_chat: WebChat) -> None:
    app = build(
        quiz_chat, Quiz(room.client).handle, suggest, fetch_operations=room.client.operations, client=room.client
    )
    async with opened_browser(app) as lead:
        await lead.join("Ann")
        page = (await lead.opens(f"/m/{lead.member}/operations")).text
        assert f'<a href="/m/{lead.member}/admin">back to the overview</a>' in page
