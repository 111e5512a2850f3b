"""The review queue on the web: reports beside their question, suggestions, open answers and edits."""

from __future__ import annotations

import html
import re

import pytest

from bot.web.chat import WHERE
from service.wire import AnswerInput
from tests.bot.conftest import Room
from tests.bot.web.admin.desk import posted, sent, shown, words
from tests.bot.web.http_browser import Browser
from tests.bot.web.quiz_chat import OPERATOR, called, opens, plays

SUGGESTION = """# tensors/views

## strided · choice · mid

What does `x.t()` return for a matrix `x`?

- [x] A view of `x`
- [ ] A copy of `x` — a view shares its memory
"""


async def reported(room: Room) -> None:
    await plays(room, [called("Ada")], [called("Grace"), called("Zed")])
    await room.client.report(called("Grace"), room.event_id(), "one-right", "Two <b>options</b> are right.")


async def test_an_empty_queue_says_how_things_come_here(member: Browser) -> None:
    page = words(await shown(member, "/review"))
    assert "No reports are waiting." in page
    assert "No suggestions are waiting." in page
    assert "No open answers are waiting for a credit." in page


async def test_a_report_is_beside_the_question_and_its_key(room: Room, member: Browser) -> None:
    await reported(room)
    page = await shown(member, "/review")
    assert "Two &lt;b&gt;options&lt;/b&gt; are right." in page
    number = re.findall(r"/admin/review/report/(\d+)", page)[0]
    page = words(await shown(member, f"/review/report/{number}"))
    assert "Right: (3, 2)" in page
    assert "Grace" in page
    assert "Edit the question" in page


@pytest.mark.parametrize(("action", "state"), [("dismissed", "Dismissed"), ("fixed", "Fixed")])
async def test_a_report_is_settled_and_its_author_told(room: Room, member: Browser, action: str, state: str) -> None:
    await reported(room)
    await shown(member, "/review/report/1")
    page = words(await posted(member, "/review/report/1", {"action": action, "reason": "We looked."}))
    assert "Settled. The author is notified." in page
    assert f"Report 1 on one-right {state} We looked." in page
    await room.carries()
    assert any("We looked." in str(card) for target, card in room.wall.posts if target.member == "grace")


async def test_a_dismissal_needs_a_reason(room: Room, member: Browser) -> None:
    await reported(room)
    await shown(member, "/review/report/1")
    answered = await sent(member, "/review/report/1", {"action": "dismissed", "reason": " "})
    # Asked for where it is written, on the page of the report.
    assert answered.status_code == 422
    said = r'role="alert">Say why the question is right[^<]*</p>\s*<div class="field">\s*<label for="reason">'
    assert re.search(said, answered.text)


async def test_a_reported_question_is_retired(room: Room, member: Browser) -> None:
    await reported(room)
    await shown(member, "/review/report/1")
    assert "Retired: it is not asked here again." in await posted(member, "/review/report/1", {"action": "retire"})


async def test_an_edit_shows_what_it_moves_and_then_moves_it(room: Room, member: Browser) -> None:
    await reported(room)
    page = await shown(member, "/review/edit?question=one-right&report=1")
    text = re.search(r'<textarea id="text"[^>]*>\n(.*?)</textarea>', page, re.S)
    assert text

    written = html.unescape(text[1])
    swapped = written.replace("[x] `(3, 2)`", "[ ] `(3, 2)` — it is not")
    swapped = swapped.replace("[ ] `(2, 3)` — a transpose *swaps* the two sizes", "[x] `(2, 3)`")
    assert swapped != written
    fields = {"question": "one-right", "report": "1", "text": swapped}
    answered = await sent(member, "/review/edit", {**fields, "action": "preview"})
    assert answered.status_code == 200
    said = words(answered.text)
    assert "Changes: options." in said
    assert "1 closed round asked it, with 3 answers. Judged again, the points of 3 members change." in said
    assert "answers become better 2 answers become worse 1" in said
    (row,) = (await room.client.board(called("Ada"), WHERE)).rows
    assert row.name == "Ada"
    member.page = answered.text
    assert "Edited." in await posted(member, "/review/edit", {**fields, "action": "apply"})
    assert {one.name for one in (await room.client.board(called("Ada"), WHERE)).rows} == {"Grace", "Zed"}


async def test_an_edit_of_a_text_that_was_changed_meanwhile_is_not_made(room: Room, member: Browser) -> None:
    page = await shown(member, "/review/edit?question=one-right")
    text, seen = (
        re.search(pattern, page, re.S)
        for pattern in (r'<textarea id="text"[^>]*>\n(.*?)</textarea>', r'name="seen" value="(.*?)"')
    )
    assert text and seen
    written = html.unescape(text[1])
    fields = {"question": "one-right", "report": "0", "seen": seen[1], "action": "apply"}
    first = written.replace("[x] `(3, 2)`", "[x] `(3, 2)` ")
    first = first.replace("a transpose *swaps* the two sizes", "a transpose swaps the sizes")
    assert "Edited." in await posted(member, "/review/edit", {**fields, "text": first})
    await shown(member, "/review/edit?question=one-right")
    answered = await sent(member, "/review/edit", {**fields, "text": written.replace("swaps", "exchanges")})
    assert "has changed since you opened it here" in words(answered.text)
    assert "exchanges" in answered.text


async def test_a_text_that_is_no_question_stays_in_the_editor(room: Room, member: Browser) -> None:
    await shown(member, "/review/edit?question=one-right")
    fields = {"question": "one-right", "report": "0", "text": "Not a <question>.", "action": "preview"}
    answered = await sent(member, "/review/edit", fields)
    assert "Not a &lt;question&gt;." in answered.text
    assert "Not ready" in answered.text
    assert "Save the edit" not in answered.text


async def test_an_edit_that_is_refused_stays_in_the_editor_with_the_reason(room: Room, member: Browser) -> None:
    long = "word " * 10_000
    await shown(member, "/review/edit?question=one-right")
    fields = {"question": "one-right", "report": "0", "text": f"{long}end", "action": "preview"}
    refused = await sent(member, "/review/edit", fields)
    assert refused.status_code == 422 and re.search(r"It takes at most [\d,]+ characters", words(refused.text))
    assert "end</textarea>" in refused.text
    await room.client.suggest(called("Ada"), room.event_id(), SUGGESTION)
    await shown(member, "/review/suggestion/1")
    refused = await sent(member, "/review/suggestion/1", {"action": "edit", "text": f"{long}end"})
    assert refused.status_code == 422 and re.search(r"It takes at most [\d,]+ characters", words(refused.text))
    assert "end</textarea>" in refused.text


async def test_a_suggestion_is_edited_and_accepted(room: Room, member: Browser) -> None:
    await room.client.suggest(called("Ada"), room.event_id(), SUGGESTION)
    page = words(await shown(member, "/review"))
    assert "What does x.t() return for a matrix x?" in page
    page = words(await shown(member, "/review/suggestion/1"))
    assert "Right: A view of x" in page
    changed = SUGGESTION.replace("matrix", "2-D tensor")
    page = words(await posted(member, "/review/suggestion/1", {"action": "edit", "text": changed}))
    assert "Saved." in page and "2-D tensor" in page
    late = await sent(member, "/review/suggestion/1", {"action": "accept", "seen": "another"})
    assert late.status_code == 409
    seen = member.hidden("seen")
    page = words(await posted(member, "/review/suggestion/1", {"action": "accept", "seen": seen}))
    assert "Accepted." in page and "No suggestions are waiting." in page
    assert "suggestions" in {bank.name for bank in await room.client.bank_list(OPERATOR)}


async def test_a_suggestion_is_declined_with_a_reason(room: Room, member: Browser) -> None:
    await room.client.suggest(called("Ada"), room.event_id(), SUGGESTION)
    await shown(member, "/review/suggestion/1")
    page = await posted(member, "/review/suggestion/1", {"action": "decline", "reason": "We have it."})
    assert "Declined. The author is notified, with your reason." in page
    assert "We have it." in await shown(member, "/review/suggestion/1")


async def test_an_open_answer_gets_its_credit(room: Room, member: Browser) -> None:
    await opens(room, "why-scale")
    (ask,) = (await room.client.today(called("Ada"), WHERE)).forms
    given = AnswerInput(text="Because <i>gradients</i> underflow.")
    await room.client.answer(called("Ada"), WHERE, room.event_id(), ask.ref, given, room.moving.now)
    room.moving.advance(hours=8)
    await room.service.tick()
    page = await shown(member, "/review")
    assert "Because &lt;i&gt;gradients&lt;/i&gt; underflow." in page
    number = re.search(r'name="answer" value="(\d+)"', page)
    assert number
    for percent in ("101", "x"):
        refused = await sent(member, "/review", {"answer": number[1], "percent": percent})
        assert refused.status_code == 422
    page = words(await posted(member, "/review", {"answer": number[1], "percent": "50"}))
    assert "The credit is set." in page
    assert "No open answers are waiting for a credit." in page


@pytest.mark.parametrize("path", ["/review/report/9", "/review/suggestion/9", "/review/edit?question=nothing"])
async def test_what_there_is_not_is_named(member: Browser, path: str) -> None:
    answered = await member.opens(f"/m/{member.member}/admin{path}")
    assert answered.status_code == 409
