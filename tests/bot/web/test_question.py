"""The page of a closed question: its feedback, as a browser without scripts sends it."""

from __future__ import annotations

import re

from bot.core.text.reveals import feedback
from bot.web.chat import WHERE
from service.wire import AnswerInput
from tests.bot.conftest import Room
from tests.bot.web.http_browser import Browser
from tests.bot.web.quiz_chat import called, opens, plays, who_is


async def page_of(room: Room, member: Browser) -> tuple[str, str]:
    """Opens the page of the only round; returns its address and its text."""
    (past,) = (await room.client.history(called("Grace"))).rounds
    path = f"/m/{member.member}/question/{past.ref}"
    return path, (await member.opens(path)).text


def action(page: str, label: str) -> str:
    found = re.search(rf'name="action" value="([^"]+)"[^>]*>{re.escape(label)}<', page)
    assert found, f"no button {label}"
    return found[1]


async def says(member: Browser, path: str, action: str) -> tuple[int, str]:
    data = {"token": member.hidden("token"), "event": member.hidden("event"), "message": "0", "action": action}
    reply = await member.http.post(f"{path}/feedback", data=data)
    member.page = reply.text
    return reply.status_code, reply.text


async def test_a_member_says_whether_the_question_was_good_and_may_change_it(room: Room, member: Browser) -> None:
    await plays(room, [who_is(member), called("Grace")])
    path, page = await page_of(room, member)
    assert "Was this a good question?" in page
    assert "<dt>Feedback</dt><dd>none yet</dd>" in page
    status, page = await says(member, path, action(page, "Good question"))
    assert status == 200 and "You said this is a good question." in page
    assert "<dt>Feedback</dt><dd>1 of 1 member found it a good question (100%)</dd>" in page
    _, page = await says(member, path, action(page, "Not a good one"))
    assert "You said this is not a good question." in page
    assert re.search(r'aria-pressed="true"[^>]*>Not a good one \(your answer\)', page)
    assert "0 of 1 member found it a good question (0%)" in page


async def test_who_did_not_answer_is_not_asked(room: Room, member: Browser) -> None:
    await plays(room, [called("Grace")])
    path, page = await page_of(room, member)
    assert "good question" not in page
    grace = await room.client.result(called("Grace"), path.rpartition("/")[2])
    asked = feedback(grace)
    assert asked is not None
    status, page = await says(member, path, asked.good.action)
    assert status == 409 and "Only members who answered a question can say whether it was a good one." in page


async def test_an_open_answer_is_marked_from_its_page(room: Room, member: Browser) -> None:
    await opens(room, "why-scale")
    (ask,) = (await room.client.today(who_is(member), WHERE)).forms
    await room.client.answer(who_is(member), WHERE, "e", ask.ref, AnswerInput(text="So that."), room.clock())
    room.moving.advance(hours=8)
    await room.service.tick()
    path = f"/m/{member.member}/question/{ask.ref}"
    page = (await member.opens(path)).text
    assert "Confirm others&#39; answers" in page
    data = {"token": member.hidden("token"), "event": member.hidden("event"), "message": "0"}
    reply = await member.http.post(
        f"/m/{member.member}/press", data=data | {"action": action(page, "Mark my answer")}, follow_redirects=True
    )
    assert "mark which points your answer covers" in reply.text


async def test_only_an_own_open_answer_can_be_marked(room: Room, member: Browser) -> None:
    await plays(room, [who_is(member), called("Grace")])
    assert "Mark my answer" not in (await page_of(room, member))[1]


async def test_another_button_is_refused(room: Room, member: Browser) -> None:
    await plays(room, [who_is(member), called("Grace")])
    path, page = await page_of(room, member)
    other = action(page, "Good question").replace("rf:r", "rf:r9")
    for strange in ("", "k:views", other):
        await member.opens(path)
        status, _ = await says(member, path, strange)
        assert status == 422
    assert (await room.client.result(who_is(member), path.rpartition("/")[2])).liked is None


async def test_the_page_has_the_figures_the_source_and_the_versions(room: Room, member: Browser) -> None:
    await plays(room, [who_is(member), called("Ada")], [called("Grace")])
    _, page = await page_of(room, member)
    found = dict(re.findall(r"<dt>([^<]*)</dt>\s*<dd>(.*?)</dd>", page))
    assert found["Asked"] == "once, 3 answers"
    assert found["Right"].startswith("<strong>67%</strong>, likely ")
    assert "(33%)" in found["Most chosen wrong option"] and "(2, 3)" in found["Most chosen wrong option"]
    assert found["Time to answer"] == "30 seconds from the post (median)"
    assert found["Discrimination"] == "too few answers" and found["Reports"] == "0"
    assert found["Id"] == "<code>one-right</code>" and found["License"] and "Version 1" in page
