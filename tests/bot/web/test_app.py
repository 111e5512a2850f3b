"""The web chat's pages and posts over HTTP, as a browser without scripts meets them."""

from __future__ import annotations

import pytest

from bot.core.cards import Button, Card, Form, PickField, Reply, Text, TextField
from bot.core.dispatcher import Target
from bot.core.events import Command, Press, Submit
from bot.web.chat import WebChat
from tests.bot.web.http_browser import Browser, Desk, MakeBrowser
from tests.bot.web.writers import contents, latest_version, posted

HERE = Target("local", "daily")
QUESTION = Card("The question", "A question.", (Text("Which?"),), (Button("Answer", "a:r1"),))
CODE = Form(
    "Write it",
    "f:r1",
    (TextField("code", "Your code", "def f():\n    ...\n", code=True, max_length=20_000),),
    (Text("Write `f`."),),
    extras=(Button("Run the examples", "x:r1"),),
)
PROSE = Form("Say why", "f:r2", (TextField("text", "Your answer", lines=8),))
PICK = Form("Which?", "f:r3", (PickField("options", "Which?", tuple((str(n), f"*{n}*") for n in range(60)), (), True),))

NASTY = "</script><img src=x onerror=alert(1)>\"'&"


# Coming in


async def test_one_joins_under_a_name_and_is_known_from_then_on(ann: Browser) -> None:
    assert 'Ann</strong><span class="extra"> (admin)</span>' in ann.page
    assert "Nothing here yet" in ann.page
    assert f'href="{ann.home}">Ann</a>' in (await ann.opens("/")).text


async def test_the_second_member_is_not_an_admin_and_names_are_unique(bob: Browser, new_browser: MakeBrowser) -> None:
    assert "Bob</strong> ·" in bob.page
    other = new_browser()
    await other.opens("/")

    answer = await other.http.post("/join", data={"token": other.hidden("token"), "name": " bob "})

    assert answer.status_code == 422
    assert "Somebody here is already called bob. Pick another name." in answer.text
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        ("", "A name has 1 to 40 letters or digits."),
        (" \u200b ", "A name has 1 to 40 letters or digits."),
        ("x" * 41, "A name has 1 to 40 letters or digits."),
        ("x" * 100_000, "A name has 1 to 40 letters or digits."),
        ("a\u0007b", "This name has characters that cannot be shown."),
        ("d\u0430ilygrad", "The letters of d\u0430ilygrad are from two alphabets that look alike."),
        ("DaiIygrad", "Somebody here has a name that looks like DaiIygrad. Pick another name."),
    ],
)
async def test_an_invalid_name_is_rejected(new_browser: MakeBrowser, name: str, problem: str) -> None:
    browser = new_browser()
    await browser.opens("/")

    answer = await browser.http.post("/join", data={"token": browser.hidden("token"), "name": name})

    assert answer.status_code == 422
    assert problem in answer.text
    assert "set-cookie" not in answer.headers


async def test_one_browser_may_be_two_members(ann: Browser) -> None:
    first = ann.home
    await ann.join("Zoe")

    assert (await ann.opens(first)).status_code == 200
    assert (await ann.opens(ann.home)).status_code == 200


async def test_nobody_opens_anothers_pages(ann: Browser, bob: Browser, chat: WebChat) -> None:
    mine = await posted(chat, CODE, member=ann.member)
    for path in ("", "events", "complete?text=/", f"form/{mine}"):
        answer = await bob.opens(f"{ann.home}{path}")
        assert answer.status_code == 403
        assert "has not joined in this browser" in answer.text
    for path in ("say", "press", "submit", "highlight"):
        assert (await bob.http.post(f"{ann.home}{path}", data={"text": "hi"})).status_code == 403


# Speaking


async def test_a_message_is_shown_to_everyone_as_typed(ann: Browser, bob: Browser) -> None:
    answer = await ann.sends("say", text=f"  hello {NASTY}")

    assert (answer.status_code, answer.headers["location"]) == (303, f"{ann.home}#m1")
    page = (await bob.opens(bob.home)).text
    assert "hello &lt;/script&gt;&lt;img src=x onerror=alert(1)&gt;&#34;&#39;&amp;" in page
    assert "<img" not in page


async def test_a_command_becomes_an_event_with_the_member_in_it(ann: Browser, desk: Desk, chat: WebChat) -> None:
    await ann.sends("say", text="/quiz   board week\r\nplease")

    (event,) = desk.asked
    assert isinstance(event, Command)
    assert (event.name, event.text, event.at) == ("quiz", "board week\nplease", chat.clock())
    assert (event.who.member, event.who.name, event.who.admin) == (ann.member, "Ann", True)
    assert (event.who.platform, event.who.workspace, event.where.channel) == ("web", "local", "daily")


async def test_the_answer_to_a_command_is_for_one_alone(ann: Browser, bob: Browser) -> None:
    answer = await ann.sends("say", text="/quiz today")

    assert answer.headers["location"] == f"{ann.home}#m1"
    assert "only you see this" in (await ann.opens(ann.home)).text
    assert "Noted" not in (await bob.opens(bob.home)).text


@pytest.mark.parametrize(("text", "said"), [("x" * 4001, "4,001 characters"), ("   ", "Type a message")])
async def test_an_invalid_message_is_rejected(ann: Browser, desk: Desk, chat: WebChat, text: str, said: str) -> None:
    answer = await ann.sends("say", text=text)

    assert answer.status_code == 422
    assert said in answer.text
    assert await latest_version(chat) == 0


# Presses


async def test_a_press_is_answered_below_the_card(ann: Browser, desk: Desk, chat: WebChat) -> None:
    question = await chat.post(HERE, QUESTION, "k")
    await ann.opens(ann.home)

    answer = await ann.sends("press", action="a:r1", message=question)

    (event,) = desk.asked
    assert isinstance(event, Press)
    assert event.action == "a:r1"
    assert answer.headers["location"] == f"{ann.home}#m2"
    seen = (await chat.store.seen_by(ann.member, "daily")).messages
    assert [message.content for message in seen] == [QUESTION, desk.reply.content]


async def test_a_reply_that_replaces_takes_the_place_of_ones_own_card(ann: Browser, desk: Desk, chat: WebChat) -> None:
    own = await posted(chat, QUESTION, member=ann.member)
    desk.reply = Reply(Card("Recorded", "It is."), replaces=True)

    await ann.sends("press", action="o:r1:a", message=str(own))

    assert await contents(chat, ann.member) == [desk.reply.content]


@pytest.mark.parametrize("owner", ["public", "bob"])
async def test_members_cannot_replace_others_messages(
    ann: Browser, bob: Browser, desk: Desk, chat: WebChat, owner: str
) -> None:
    member = None if owner == "public" else bob.member
    theirs = await posted(chat, QUESTION, member=member)
    desk.reply = Reply(Card("Mine now", "It is."), replaces=True)

    answer = await ann.sends("press", json=True, action="a:r1", message=str(theirs))

    assert answer.json()["message"] != theirs
    assert (await chat.store.seen_by(bob.member, "daily")).messages[0].content == QUESTION


async def test_the_same_press_twice_is_one_event_with_one_answer(ann: Browser, desk: Desk, chat: WebChat) -> None:
    first = await ann.sends("press", action="a:r1", message="0")
    second = await ann.sends("press", action="a:r1", message="0")

    assert first.headers["location"] == second.headers["location"]
    assert len({event.id for event in desk.asked}) == 1
    assert len((await chat.store.seen_by(ann.member, "daily")).messages) == 1


async def test_going_back_and_choosing_another_is_another_event(ann: Browser, bob: Browser, desk: Desk) -> None:
    number = ann.hidden("event")
    for browser, action in ((ann, "o:r1:a"), (ann, "o:r1:b"), (bob, "o:r1:a")):
        await browser.sends("press", event=number, action=action)

    assert len({event.id for event in desk.asked}) == 3


async def test_a_repeated_message_is_posted_once(ann: Browser, chat: WebChat) -> None:
    for _ in range(2):
        await ann.sends("say", text="hello")

    assert await contents(chat, ann.member) == ["hello"]


@pytest.mark.parametrize("number", ["", "x" * 65, "a b", "é"])
async def test_a_post_without_a_proper_number_is_refused(ann: Browser, desk: Desk, number: str) -> None:
    answer = await ann.sends("press", event=number, action="a:r1")

    assert answer.status_code == 400
    assert desk.asked == []


# Forms


async def test_what_was_filled_in_comes_as_values(ann: Browser, desk: Desk) -> None:
    data = {"token": ann.hidden("token"), "event": ann.hidden("event"), "action": "f:r3", "message": "0"}
    picked = [str(n) for n in range(60)]

    answer = await ann.http.post(f"{ann.home}submit", data={**data, "v:options": picked, "v:text": "a\r\nb\x00"})

    assert answer.status_code == 303
    (event,) = desk.asked
    assert isinstance(event, Submit)
    assert event.values == {"options": tuple(picked), "text": ("a\nb\ufffd",)}


async def test_a_form_in_the_channel_is_replaced_by_its_receipt(ann: Browser, desk: Desk, chat: WebChat) -> None:
    form = await posted(chat, PROSE, member=ann.member)
    desk.reply = Reply(Card("Recorded", "It is."), replaces=True)

    await ann.sends("submit", action="f:r2", message=str(form), values={"text": "because"})

    assert await contents(chat, ann.member) == [desk.reply.content]


async def test_code_opens_an_editor_at_once(ann: Browser, desk: Desk) -> None:
    desk.reply = Reply(CODE)

    answer = await ann.sends("press", action="a:r1")
    assert answer.headers["location"] == f"{ann.home}form/1"
    page = (await ann.opens(answer.headers["location"])).text
    assert '<h1 dir="auto">Write it</h1>' in page
    assert "def f():\n    ...\n</textarea>" in page
    assert "Open the editor" in (await ann.opens(ann.home)).text

    script = await ann.sends("press", json=True, action="a:r1", event="other")
    assert script.json()["editor"] == f"{ann.home}form/2"


async def test_the_editor_stays_open_with_its_latest_result_below(ann: Browser, desk: Desk, chat: WebChat) -> None:
    form = await posted(chat, CODE, member=ann.member)
    desk.reply = Reply(Card("One passed", "One."), replaces=True)
    await ann.opens(f"{ann.home}form/{form}")
    first = await ann.sends(
        "submit", action="x:r1", message=str(form), editor=str(form), values={"code": "def f():\r\n    return 1\r\n"}
    )
    desk.reply = Reply(Card("Handed in", "It is."), replaces=True)
    second = await ann.sends(
        "submit", action="f:r1", message=str(form), editor=str(form), values={"code": "def f():\n    return 2"}
    )

    assert first.headers["location"] == second.headers["location"] == f"{ann.home}form/{form}#m2"
    page = (await ann.opens(f"{ann.home}form/{form}")).text
    assert "def f():\n    return 2</textarea>" in page
    assert "Handed in" in page
    assert "One passed" not in page


async def test_a_verdict_that_comes_later_is_on_the_editors_page(ann: Browser, desk: Desk, chat: WebChat) -> None:
    form = await posted(chat, CODE, member=ann.member)
    verdict = Card("Your code: right", "Right.", (), (Button("Change my answer", "a:r1"),))
    number = await chat.post(Target("local", "daily", member=ann.member), verdict, "k")
    page = (await ann.opens(f"{ann.home}form/{form}")).text
    assert "Your code: right" in page

    pressed = await ann.sends("press", action="n", message=number, editor=str(form))
    assert pressed.headers["location"] == f"{ann.home}#m3"


async def test_back_to_the_question_leads_to_the_editor_it_came_from(ann: Browser, desk: Desk, chat: WebChat) -> None:
    form = await posted(chat, CODE, member=ann.member)
    result = await posted(chat, QUESTION, member=ann.member, answers=form)
    desk.reply = Reply(CODE)

    answer = await ann.sends("press", json=True, action="a:r1", message=str(result), editor=str(form))

    assert answer.json()["message"] == form
    assert answer.json()["editor"] == f"{ann.home}form/{form}"


@pytest.mark.parametrize("number", ["1", "2", "9", "x", "9" * 30, "-1"])
async def test_another_members_editor_is_not_found(ann: Browser, bob: Browser, chat: WebChat, number: str) -> None:
    await posted(chat, CODE, member=bob.member)
    await posted(chat, QUESTION)

    answer = await ann.opens(f"{ann.home}form/{number}")

    assert answer.status_code == 404
    assert "This editor is gone" in answer.text


async def test_a_page_of_a_problem_leads_back_to_the_quiz_of_whoever_is_signed_in(ann: Browser, bob: Browser) -> None:
    mine = await ann.opens(f"{ann.home}nothing")
    assert mine.status_code == 404 and f'<a href="{ann.home}">Back to the quiz</a>' in mine.text
    theirs = await bob.opens(f"{ann.home}nothing")
    assert theirs.status_code == 404 and '<a href="/">Back to the start</a>' in theirs.text


async def test_members_cannot_fill_in_anothers_editor(ann: Browser, bob: Browser, chat: WebChat) -> None:
    form = await posted(chat, CODE, member=bob.member)

    await ann.sends("submit", action="f:r1", message=str(form), values={"code": "import os"})

    kept = await chat.store.message(form, bob.member)
    assert kept is not None
    assert kept.content == CODE


# For scripts


async def test_a_script_gets_the_message_itself(ann: Browser) -> None:
    answer = (await ann.sends("say", json=True, text="/quiz today")).json()

    assert (answer["message"], answer["editor"]) == (1, "")
    assert answer["html"].lstrip().startswith('<article id="m1" class="message private"')


async def test_commands_are_completed_an_admins_for_admins(ann: Browser, bob: Browser) -> None:
    assert "/quiz today" in (await ann.opens(f"{ann.home}complete?text=/quiz t")).json()
    assert (await ann.opens(f"{ann.home}complete?text=/quiz-admin sch")).json()
    assert (await bob.opens(f"{bob.home}complete?text=/quiz-admin sch")).json() == []


async def test_code_is_colored_and_escaped(ann: Browser) -> None:
    data = {"token": ann.hidden("token"), "code": "def f(): return '<b>'"}

    painted = (await ann.http.post(f"{ann.home}highlight", data=data)).text

    assert '<span class="k">def</span>' in painted
    assert "<b>" not in painted
