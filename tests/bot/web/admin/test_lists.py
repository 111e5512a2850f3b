"""The pages of item statistics, seasons, members and the audit log."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import service
from bot.core.command_parser import suggest
from bot.core.quiz import Quiz
from bot.core.text.admin_pages import ACTIONS
from bot.web import WebChat, build
from tests.bot.conftest import Room
from tests.bot.web.admin.desk import posted, sent, shown, words
from tests.bot.web.http_browser import Browser, opened_browser
from tests.bot.web.quiz_chat import OPERATOR, called, plays, who_is


async def test_statistics_list_questions_with_a_cure(room: Room, member: Browser) -> None:
    page = words(await shown(member, "/statistics"))
    assert "there is nothing to say yet. Once members have answered" in page
    await plays(room, [called(f"M{n}") for n in range(12)])
    page = words(await shown(member, "/statistics"))
    assert "1 question needs a look." in page
    assert "Too easy 1 Nearly everyone is right." in page
    assert re.search(r"one-right 100% 12 too few 0", page)


async def test_statistics_say_once_that_no_question_needs_work(room: Room, member: Browser) -> None:
    await plays(room, [called("Ada")])
    page = words(await shown(member, "/statistics"))
    assert "None stands out yet. None is too hard, too easy or perhaps wrong." in page
    assert "No question stands out" not in page


async def test_seasons_start_end_and_keep_their_board(room: Room, member: Browser) -> None:
    assert "No season is running" in await shown(member, "/seasons")
    page = words(await posted(member, "/seasons", {"action": "start", "name": "Autumn <1>"}))
    assert "The season has started." in page and "Autumn <1>" in page
    await plays(room, [called("Ada")])
    await shown(member, "/seasons")
    page = words(await shown(member, "/seasons"))
    assert "This cannot be undone. End it now" in page and "Autumn <1> ends at that moment" in page
    page = words(await posted(member, "/seasons", {"action": "end"}))
    assert "The season has ended" in page
    assert re.search(r"# Member Points 1 Ada \d+", page)
    assert (await sent(member, "/seasons", {"action": "start", "name": " "})).status_code == 422


async def test_a_refused_name_of_a_season_stays_in_the_form_with_the_reason(member: Browser) -> None:
    await shown(member, "/seasons")
    long = "Autumn of the year in which everybody learned how strides and views really work, and why"
    refused = await sent(member, "/seasons", {"action": "start", "name": long})
    assert refused.status_code == 422 and "It takes at most 80 characters." in words(refused.text)
    assert f'value="{long}"' in refused.text, "nothing is cut and nothing is lost"
    await posted(member, "/seasons", {"action": "start", "name": long[:80]})
    taken = await sent(member, "/seasons", {"action": "start", "name": long[:80].upper()})
    assert taken.status_code == 422 and f'value="{long[:80].upper()}"' in taken.text


async def test_a_refused_sprint_stays_in_the_form_with_the_reason(room: Room, member: Browser) -> None:
    await shown(member, "/sprints")
    typed = {"questions": "7", "seconds": "45", "topic": "nowhere", "at": "", "day": "2026-02-28"}
    refused = await sent(member, "/sprints", {"action": "plan", **typed})
    assert refused.status_code == 422
    assert "To plan a sprint, add its time, such as 16:00." in words(refused.text)
    for value in ("7", "45", "nowhere", "2026-02-28"):
        assert f'value="{value}"' in refused.text
    refused = await sent(member, "/sprints", {"action": "start", **typed})
    assert refused.status_code == 422 and "There is no topic nowhere here." in words(refused.text)
    assert 'value="nowhere"' in refused.text
    refused = await sent(member, "/sprints", {"action": "plan", **typed, "questions": "21", "at": "16:00"})
    assert "Choose 1 to 20 questions." in words(refused.text) and 'value="16:00"' in refused.text
    assert (await room.client.sprints(OPERATOR)).planned == ()


async def test_members_are_found_hidden_and_shown(room: Room, member: Browser) -> None:
    page = words(await shown(member, "/members"))
    assert "Ann Admin 0 points · 0 rounds answered · since" in page
    await plays(room, [called("Ada"), called("Grace"), who_is(member)])
    room.moving.advance(days=1)
    page = words(await shown(member, "/members"))
    points = re.findall(r"(\w+)(?: Admin)? (\d+) points · 1 round answered, last yesterday", page)
    assert {name for name, _ in points} == {"Ada", "Grace", "Ann"}
    # Each has their own points, not everybody's sum.
    assert len(points) == 3 and all(int(earned) < 20 for _, earned in points)
    assert "1 member." in words(await shown(member, "/members?text=ADA"))
    page = words(await posted(member, "/members", {"action": "hide", "id": "ada"}))
    assert "Hidden: this member no longer appears on the boards." in page and "Ada Hidden" in page
    board = await room.client.board(OPERATOR, None, "all")
    assert "Ada" not in {row.name for row in board.rows}
    assert "Ada Hidden" not in words(await posted(member, "/members", {"action": "show", "id": "ada"}))
    assert (await sent(member, "/members", {"action": "promote", "id": "ada"})).status_code == 409


async def test_another_member_becomes_an_admin_and_it_is_in_the_audit(
    room: Room, quiz_chat: WebChat, member: Browser
) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_browser(app) as bob:
        await bob.join("Bob")
        await bob.opens(f"/m/{bob.member}/today")
        # A member who posts the form of an admin changes nothing.
        await bob.opens(f"/m/{bob.member}/me")
        assert (await sent(bob, "/members", {"action": "promote", "id": bob.member})).status_code == 403
        await room.client.me(called("Bob").model_copy(update={"member": bob.member}))
        await shown(member, "/members")
        page = words(await posted(member, "/members", {"action": "promote", "id": bob.member}))
        assert "This member is an admin now." in page and "Bob Admin" in page
        assert "Overview" in await shown(bob)
        await shown(bob, "/members")
        assert (await sent(bob, "/members", {"action": "demote", "id": bob.member})).status_code == 409
        await posted(member, "/members", {"action": "demote", "id": bob.member})
        assert (await bob.opens(f"/m/{bob.member}/admin")).status_code == 403
    page = words(await shown(member, "/audit?action=member"))
    assert re.search(r"Ann member end-admin member Bob .* Ann member make-admin member Bob", page)


def test_the_audit_can_be_filtered_by_every_kind_of_action() -> None:
    """The calls are found in the source: no other list of what is audited exists."""
    recorded = set()
    for module in Path(service.__path__[0]).rglob("*.py"):
        for call in ast.walk(ast.parse(module.read_text("utf-8"))):
            match call:
                case ast.Call(ast.Attribute(ast.Name("change"), "run"), [ast.Constant(str(action)), *_]) | ast.Call(
                    ast.Attribute(ast.Name("audits"), "add"), [_, _, ast.Constant(str(action)), *_]
                ):
                    recorded.add(action.partition(" ")[0])
    assert {"schedule", "sprint", "tournament", "chat"} < recorded
    assert recorded <= dict(ACTIONS).keys()


async def test_the_audit_is_filtered_and_paged(room: Room, member: Browser) -> None:
    for n in range(60):
        await room.client.bank_retire(OPERATOR, room.event_id(), "one-right", n % 2 == 0)
    await room.client.season_start(OPERATOR, room.event_id(), "Autumn")
    page = await shown(member, "/audit")
    assert page.count("<tr><td") == 50
    older = re.search(r'href="(\?before=\d+)" rel="next"', page)
    assert older
    page = await shown(member, f"/audit{older[1]}")
    assert page.count("<tr><td") == 12  # the import of the bank comes first
    assert "Newest" in page
    page = words(await shown(member, "/audit?action=season"))
    assert "Operator season start name Autumn" in page and "bank retire" not in page
    assert "Nothing fits." in await shown(member, "/audit?by=nobody")
    assert "season start" in await shown(member, "/audit?by=OPER&action=nonsense")
