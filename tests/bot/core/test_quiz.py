"""Conversations with the quiz over the real service."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest

from bot.console.render import card_text
from bot.core.actions import Import, encode
from bot.core.cards import Form, Text, TextField
from bot.core.duel_commands import readings
from bot.core.events import Press, Submit
from bot.core.text.results import own_answer_blocks
from service.wire import AnswerInput, Who
from tests.bot.conftest import Room
from tests.bot.dialog import text_of
from tests.bot.duel_bank import DUEL_BANK
from tests.bot.samples import CODE_KEY

MakeWho = Callable[..., Who]
TERMS = """### 1. What is a mutex?

**Answer:** A mutex is a lock that only one thread can hold at any time.

### 2. What is a decorator?

**Answer:** A decorator is a callable that takes another callable and returns a replacement.

### 3. What is a checksum?

**Answer:** A checksum detects damaged files by summing up every byte twice.

### 4. What is a tuple?

**Answer:** A tuple never changes after it was made, so that dictionaries accept it.

### 5. What is a coroutine?

**Answer:** A coroutine can be suspended and is resumed later by the event loop of the program.
"""


@pytest.fixture
def ann(who: MakeWho) -> Who:
    return who("Ann")


@pytest.fixture
def bob(who: MakeWho) -> Who:
    return who("Bob *b*", member="bob")


async def test_a_choice_is_answered_changed_and_revealed(room: Room, ann: Who, bob: Who) -> None:
    post = await room.opens("one-right")
    assert "Question for Monday 2 March" in card_text(post)
    room.sees(ann, post)
    asked = await room.presses(ann, "Answer")
    assert "What does torch.zeros(2, 3).t().shape give?" in asked
    assert "Open until 17:00 (Europe/Berlin)." in asked
    assert "[A]   [B]   [C]" in asked
    first = await room.presses(ann, "A")
    assert "Your answer is recorded\n\nYou chose A.\n\nYou can change it until 17:00 (Europe/Berlin)." in first
    assert "[A] (your answer)" in first
    assert "Your answer is changed\n\nYou chose C." in await room.presses(ann, "C")
    room.sees(bob, post)
    await room.presses(bob, "Answer")
    await room.chooses(bob, "`(2, 3)`")
    await room.chooses(ann, "`(3, 2)`")
    reveal = card_text(await room.closes())
    assert "Right: (3, 2)" in reveal
    assert "Wrong: (2, 3)\na transpose swaps the two sizes" in reveal
    assert "How it went: 1 of 2 answered right. First with the right answer: Ann." in reveal
    assert "1 (50%) right" in reveal


async def test_everyone_sees_their_own_result_after_the_close(room: Room, ann: Who, bob: Who) -> None:
    post = await room.opens("one-right")
    for member, option in ((ann, "`(3, 2)`"), (bob, "`(2, 3)`")):
        room.sees(member, post)
        await room.presses(member, "Answer")
        await room.chooses(member, option)
    reveal = await room.closes()
    for member in (ann, bob, room.boss):
        room.sees(member, reveal)
    hers, his, boss = [await room.presses(who, "My result") for who in (ann, bob, room.boss)]
    assert re.search(r"Right! You chose [A-C]: \(3, 2\)", hers)
    assert re.search(r"Not this time\. You chose [A-C]: \(2, 3\)", his)
    assert "a transpose swaps the two sizes" in his and "Right: (3, 2)" in his
    assert "10 points (a right answer earned 10)" in hers and "0 points" in his
    assert "Streak: 1 round" in hers and "Rank: 1 of " in hers and "new on the board" in hers
    assert "Dailygrad 1 · 1/1 · streak 1" in hers and "Dailygrad 1 · 0/1 · streak 1" in his
    assert "You did not answer this one." in boss and "What does torch.zeros(2, 3).t().shape give?" in boss
    assert "Practice" in await room.presses(bob, "Practice a similar one")


async def test_members_say_whether_a_question_was_good(room: Room, ann: Who) -> None:
    post = await room.opens("one-right")
    room.sees(ann, post)
    await room.presses(ann, "Answer")
    await room.chooses(ann, "`(3, 2)`")
    reveal = await room.closes()
    room.sees(ann, reveal)
    assert "Was this a good question?" in await room.presses(ann, "My result")
    assert "You said this is a good question. Thank you!" in await room.presses(ann, "Good question")
    again = await room.presses(ann, "Not a good one")
    assert "You said this is not a good question." in again and "Not a good one (your answer)" in again
    stats = await room.types(room.boss, "/quiz-admin bank stats one-right")
    assert "0 of 1 member found it a good question (0%)" in stats


async def test_the_posts_options_have_no_letters_and_its_buttons_follow_the_round(
    room: Room, ann: Who, bob: Who
) -> None:
    post = await room.opens("one-right")
    assert "  •  (3, 2)" in card_text(post) and "  •  (2, 3)" in card_text(post)
    room.sees(ann, post)
    await room.presses(ann, "Hint")
    await room.presses(ann, "Show the hint (-3)")
    room.sees(ann, post)
    await room.presses(ann, "Answer")
    await room.chooses(ann, "`(3, 2)`")
    await room.chooses(ann, "`(2, 3)`")
    room.sees(bob, post)
    await room.presses(bob, "Answer")
    await room.chooses(bob, "`(3, 2)`")
    assert room.wall.edits == [], "the number is not shown before the interval has ended"
    room.moving.advance(seconds=10)
    await room.carries()
    ((ref, counted),) = room.wall.edits
    assert ref == room.wall.keys["round:1:question"]
    assert "2 answers so far." in card_text(counted) and [one.label for one in counted.buttons] == ["Answer", "Hint"]
    assert "answered right" not in card_text(counted)
    await room.closes()
    (ref_again, closed) = room.wall.edits[-1]
    assert ref_again == ref and len(room.wall.edits) == 2
    assert "Closed: 1 of 2 answered right." in card_text(closed)
    assert [one.label for one in closed.buttons] == ["My result", "Practice"]
    target, outcome = next(
        (target, card) for target, card in room.wall.posts if card.title == "Closed: Monday 2 March · tensors"
    )
    assert target.broadcast and target.reply_to == ref and target.member is None
    assert "The answer: (3, 2)." in card_text(outcome) and "1 of 2 answered right." in card_text(outcome)
    assert "First with the right answer: Bob" in card_text(outcome) and "Next question: Tuesday" in card_text(outcome)
    revealed = next(target for target, card in room.wall.posts if card.title == "The answer")
    assert revealed.thread == "Monday 2 March · tensors" and not revealed.broadcast


async def test_a_hint_is_added_to_the_question_which_can_be_answered_there(room: Room, ann: Who) -> None:
    post = await room.opens("one-right")
    room.sees(ann, post)
    await room.presses(ann, "Answer")
    await room.chooses(ann, "`(2, 3)`")
    room.sees(ann, post)
    for label in ("Hint", "Show the hint (-3)"):
        shown = await room.presses(ann, label)
        assert "What does torch.zeros(2, 3).t().shape give?" in shown and "Your current answer:" in shown
        letters = [one.label[:1] for one in room.buttons(ann)][:3]
        assert letters == ["A", "B", "C"], shown
    assert "this option is wrong:" in shown and "It costs 3 points" in shown
    assert "Your answer is changed" in await room.chooses(ann, "`(3, 2)`")


async def test_an_open_answer_is_marked_shared_and_confirmed(room: Room, ann: Who, bob: Who) -> None:
    post = await room.opens("why-scale")
    for member, text in ((ann, "Tiny numbers turn into nothing."), (bob, "No idea at all.")):
        room.sees(member, post)
        await room.presses(member, "Answer")
        await room.fills(member, text=text)
    reveal = await room.closes()
    outcome = next(card for target, card in room.wall.posts if target.broadcast)
    told = (card_text(outcome), card_text(room.wall.edits[-1][1]), card_text(reveal))
    for said in told:
        assert "2 members answered. Members mark their own answers." in said
        assert not re.search(r"right|wrong|first", said.partition("Points for")[0], re.IGNORECASE)
    room.sees(ann, reveal)
    result = await room.presses(ann, "My result")
    assert "No program judges prose. You answered:" in result and "wrong" not in result.lower()
    assert "10 points (10 for taking part; a fully right answer earns 20)" in result
    beside = await room.presses(ann, "Mark my answer")
    assert "Tiny numbers turn into nothing." in beside and "Small gradients would underflow" in beside
    form = await room.presses(ann, "Mark my answer")
    assert "Which points does your answer cover?" in form and "C  None of them" in form
    for picked in ((), ("0", "none")):
        assert "Choose the points that your answer covers" in await room.does(
            Submit(room.event_id(), room.clock(), ann, room.where, "om:r1", {"points": picked})
        )
    room.sees(ann, reveal)
    for label in ("My result", "Mark my answer", "Mark my answer"):
        await room.presses(ann, label)
    marked = await room.fills(ann, points=("0",))
    assert "You marked 1 of 2 points" in marked
    assert "Covered: Small gradients" in marked and "Not covered: Gradients" in marked
    assert "Waiting for another member" in await room.presses(ann, "Ask for confirmation")
    room.sees(bob, reveal)
    peer = await room.presses(bob, "Confirm others' answers")
    assert "Tiny numbers turn into nothing." in peer and "Ann" not in peer
    assert "The author gets the points" in await room.presses(bob, "Confirm")
    await room.carries()
    note = room.wall.last("Your open answer was confirmed")
    assert "Another member confirmed how you marked" in card_text(note) and "You gain 5 points." in card_text(note)
    room.sees(ann, reveal)
    after = " ".join((await room.presses(ann, "My result")).split())
    assert "Confirmed: 50%. You answered:" in after
    assert "15 points (10 for taking part; a fully right answer earns 20; +5 for what others confirmed)" in after


async def test_moderators_credit_open_answers(room: Room, ann: Who) -> None:
    room.sees(ann, await room.opens("why-scale"))
    await room.presses(ann, "Answer")
    await room.fills(ann, text="Tiny numbers turn into nothing.")
    await room.closes()
    listed = await room.types(room.boss, "/quiz-admin review answers")
    assert "Tiny numbers turn into nothing." in listed and "Small gradients would underflow" in listed
    assert "Ann" not in listed
    assert "Answer 1 has a credit of 100%" in await room.presses(room.boss, "Answer 1: 100%")
    assert "Answer 1 has a credit of 40%" in await room.types(room.boss, "/quiz-admin review credit 1 40")
    assert "percent" in (await room.types(room.boss, "/quiz-admin review credit 1 400")).lower()
    assert "answer credit" in await room.types(room.boss, "/quiz-admin audit")
    assert "Not allowed" in await room.types(ann, "/quiz-admin review answers")
    await room.carries()
    assert "A moderator set the credit" in card_text(room.wall.last("Your open answer was reviewed"))
    assert "No open answers are waiting" in await room.types(room.boss, "/quiz-admin review answers")


async def test_a_practiced_open_answer_is_marked_by_its_author(room: Room, ann: Who) -> None:
    await room.only("why-scale")
    await room.types(ann, "/quiz practice kind:open")
    told = await room.fills(ann, text="Small gradients do not underflow in float16.")
    assert "Compare with the answer" in told and "wrong" not in told.lower()
    assert "The document says:" in told and "This card comes back" not in told
    await room.presses(ann, "Mark my answer")
    assert "This card comes back" in await room.fills(ann, points=("none",))


async def test_the_web_shows_each_member_their_result_without_asking(room: Room, ann: Who, bob: Who) -> None:
    room.sees(ann, await room.opens("one-right"))
    await room.presses(ann, "Answer")
    await room.presses(ann, "A")
    await room.closes()
    private = [(target.member, card) for target, card in room.wall.posts if target.member]
    assert [member for member, card in private if card.title.startswith("Your result")] == [ann.member]


async def test_the_same_press_twice_is_answered_once(room: Room, ann: Who) -> None:
    room.sees(ann, await room.opens("one-right"))
    await room.presses(ann, "Answer")
    press = Press("double", room.clock(), ann, room.where, room.button(ann, "B").action)
    assert await room.does(press) == await room.does(press)
    assert re.search("[01] of 1 answered right", card_text(await room.closes()))


async def test_several_are_picked_in_a_form(room: Room, ann: Who) -> None:
    room.sees(ann, await room.opens("two-right"))
    assert "Select all that are right." in await room.presses(ann, "Answer")
    said = await room.picks(ann, "`x[1:]`", "`x.t()`")
    assert "Your answer is recorded\n\nYou chose " in said
    assert " and " in said.split("You chose ")[1].split("\n")[0]
    again = await room.presses(ann, "Change my answer")
    assert again.count("(picked)") == 2
    assert "1 of 1 answered right" in card_text(await room.closes())


async def test_an_invalid_value_is_reported_at_once(room: Room, ann: Who) -> None:
    room.sees(ann, await room.opens("the-shape"))
    assert "A Python literal, such as" in await room.presses(ann, "Answer")
    refused = (await room.fills(ann, text="(3,")).replace("\n", " ")
    assert "“(3,” is not a Python value" in refused
    assert "Nothing was changed: an earlier answer, if you gave one, still counts." in refused
    await room.presses(ann, "Back to the question")
    assert "You answered:\n\n    ( 3, )" in await room.fills(ann, text="( 3, )")
    assert "1 of 1 answered right" in card_text(await room.closes())


async def test_a_printed_output_is_typed(room: Room, ann: Who, bob: Who) -> None:
    post = await room.opens("two-lines")
    for member, text in ((ann, "1\n2"), (bob, "12")):
        room.sees(member, post)
        assert "    print(1)" in await room.presses(member, "Answer")
        assert "Your answer is recorded" in await room.fills(member, text=text)
    reveal = card_text(await room.closes())
    assert "1 of 2 answered right" in reveal
    assert "12 " in reveal


async def test_an_empty_form_loses_nothing(room: Room, ann: Who) -> None:
    room.sees(ann, await room.opens("two-lines"))
    await room.presses(ann, "Answer")
    assert "Your answer is empty." in await room.fills(ann, text=" \n")


async def test_exceeding_a_limit_is_explained(room: Room, ann: Who) -> None:
    refused = await room.types(room.boss, "/quiz-admin schedule add open:0h")
    assert "open must be at least 1 minute." in refused
    assert "is too long. It takes at most 200 characters." in await room.types(ann, f"/quiz practice {'x' * 201}")


async def test_today_shows_whether_the_question_is_answered(room: Room, ann: Who) -> None:
    assert "No question is open in this channel, and none is scheduled." in await room.types(ann, "/quiz today")
    await room.opens("one-right")
    assert "Not answered yet." in await room.types(ann, "/quiz today")
    assert "[A]   [B]   [C]" in await room.types(ann, "/quiz answer")
    await room.presses(ann, "B")
    assert "You answered it and can still change your answer." in await room.types(ann, "/quiz today")
    assert "Your current answer: B." in await room.presses(ann, "Change my answer")


async def test_an_answer_after_the_close_becomes_practice(room: Room, ann: Who) -> None:
    room.sees(ann, await room.opens("one-right"))
    await room.presses(ann, "Answer")
    await room.closes()
    said = await room.presses(ann, "B")
    assert "Too late for this round" in said
    assert "earns no points" in said.replace("\n", " ")
    assert "Right" in said


async def test_boards_rank_and_mark_the_reader(room: Room, ann: Who, bob: Who) -> None:
    assert "Nobody has points here yet." in await room.types(ann, "/quiz board")
    post = await room.opens("one-right")
    for member, text in ((ann, "`(3, 2)`"), (bob, "`(2, 3)`")):
        room.sees(member, post)
        await room.presses(member, "Answer")
        await room.chooses(member, text)
    await room.closes()
    board = await room.types(ann, "/quiz board")
    assert "Ann (you)" in board
    assert "Bob" not in board, "a member without points has no rank"
    assert "[2] Week (shown)" in board
    assert "This week · tensors" in await room.types(ann, "/quiz board tensors")
    assert "There is no topic" in await room.types(ann, "/quiz board nope")
    await room.types(ann, "/quiz board")
    assert "[5] All time (shown)" in await room.presses(ann, "All time")
    assert "[6] This channel" in await room.presses(ann, "Whole workspace")
    me = await room.types(ann, "/quiz me")
    assert "1 round; best 1" in me


async def test_practice_judges_at_once_and_goes_on(room: Room, ann: Who) -> None:
    await room.only("one-right")
    assert "Practice\n\nWhat does" in await room.types(ann, "/quiz practice tensors mid")
    said = await room.chooses(ann, "`(2, 3)`")
    assert said.startswith("Wrong\n\nWhat does torch.zeros(2, 3).t().shape give?\n\nRight: (3, 2)")
    assert "Wrong (your choice): (2, 3)" in said
    assert "This card comes back in " in said
    assert "[1] Next card   [2] More on tensors   [3] Report a mistake" in said
    assert "All done" in await room.presses(ann, "Next card")


async def test_the_next_card_is_of_the_kind_that_was_asked_for(room: Room, ann: Who) -> None:
    said = await room.types(ann, "/quiz practice kind:choice")
    asked = []
    while "Practice\n" in said:
        asked.append(said)
        if "[A]" in said:
            await room.presses(ann, "A")
        else:
            await room.picks(ann, "`x[1:]`", "`x.t()`")
        said = await room.presses(ann, "Next card")
    assert len(asked) == 2
    assert all("-right" in one for one in asked)
    assert "Nothing is due for choice questions" in said.replace("\n", " ")
    assert "Practice\n" in await room.presses(ann, "Practice everything")


async def test_marks_and_a_program_being_judged_lead_on_to_the_like_too(room: Room, ann: Who) -> None:
    await room.types(ann, "/quiz practice kind:open")
    await room.fills(ann, text="Small gradients underflow in float16.")
    await room.presses(ann, "Mark my answer")
    await room.fills(ann, points=("0",))
    assert "Nothing is due for open questions" in (await room.presses(ann, "Next card")).replace("\n", " ")
    await room.types(ann, "/quiz practice kind:code")
    assert "No sandbox is connected" in (await room.fills(ann, extra="Run the examples", code="x")).replace("\n", " ")
    await room.presses(ann, "Back to the question")
    assert "Your code is being judged…" in await room.fills(ann, code="def add_one(x):\n    return x + 1")
    assert room.button(ann, "Next card").action == "m:code::"


async def test_practice_with_nothing_left_says_so(room: Room, ann: Who) -> None:
    said = await room.types(ann, "/quiz practice no-such-topic")
    assert "Nothing is due for no-such-topic" in said or "Not found" in said


async def test_explain_and_report(room: Room, ann: Who) -> None:
    assert "Not answered yet" in await room.types(ann, "/quiz explain one-right")
    room.sees(ann, await room.opens("one-right"))
    await room.presses(ann, "Answer")
    await room.presses(ann, "A")
    assert "Report 1 on question one-right" in (await room.types(ann, "/quiz report text:wrong")).replace("\n", " ")
    assert "Report a question" in await room.types(ann, "/quiz report")
    said = " ".join((await room.types(ann, "/quiz report the key is wrong")).split())
    assert "Id of the question" in said and "There is no question" not in said
    form = room.told[ann.member]
    assert isinstance(form, Form)
    assert [one.value for one in form.fields if isinstance(one, TextField)] == ["one-right", "the key is wrong"]
    assert "About question one-right." in await room.types(ann, "/quiz report")
    assert "Report 2 on question one-right is with the moderators." in (
        await room.fills(ann, text="The *key* is wrong.")
    ).replace("\n", " ")
    await room.closes()
    explained = await room.types(ann, "/quiz explain one-right")
    assert "t swaps the two dimensions." in explained and " You chose: " in explained
    queue = await room.types(room.boss, "/quiz-admin review")
    assert "The *key* is wrong." in queue
    shown = await room.presses(room.boss, "Review 1")
    assert "wrong" in shown and "Right:" in shown and "t swaps the two dimensions." in shown
    assert "Why is the question right?" in await room.presses(room.boss, "Dismiss")
    assert "is settled" in await room.fills(room.boss, reason="See the docs.")
    assert "is settled" in await room.types(room.boss, "/quiz-admin review fixed 2 Thanks.")
    refused = await room.types(room.boss, "/quiz-admin review fixed 99 no")
    assert "There is no report" in refused
    assert "No reports are waiting." in await room.types(room.boss, "/quiz-admin review")


async def test_privacy_is_seen_and_used(room: Room, ann: Who) -> None:
    await room.client.join(ann, room.where)
    assert "You are shown on the boards." in await room.types(ann, "/quiz privacy")
    assert "You are hidden from the boards." in await room.presses(ann, "Hide me from the boards")
    assert "Everything, as JSON:" in await room.presses(ann, "Export everything")
    assert "This cannot be undone" in await room.presses(ann, "Forget me…")
    assert "You have been forgotten" in await room.presses(ann, "Delete my data")


async def test_a_closed_round_shows_no_closing_time(room: Room) -> None:
    await room.opens("one-right")
    said = await room.types(room.boss, "/quiz-admin close-now")
    assert "and is closed now. The reveal follows in the channel." in said.replace("\n", " ")
    assert "closes" not in said


async def test_what_a_member_may_always_read(room: Room, ann: Who) -> None:
    assert "tensors" in await room.types(ann, "/quiz topics")
    assert "A right answer earns" in await room.types(ann, "/quiz rules")


async def test_members_are_not_admins(room: Room, ann: Who) -> None:
    for line in ("/quiz-admin schedule list", "/quiz-admin close-now", "/quiz-admin audit", "/quiz-admin doctor"):
        said = await room.types(ann, line)
        assert "Not allowed\n\nOnly quiz admins can do that." in said, line


async def test_schedules_are_made_changed_and_removed(room: Room) -> None:
    boss = room.boss
    said = await room.types(boss, "/quiz-admin schedule add 09:30 mon-fri Europe/Berlin open:4h level:mid,senior")
    assert "09:30 (Europe/Berlin), Monday to Friday, open for 4 hours;\nonly questions of level mid or senior." in said
    assert "Next: Monday 2 March, 09:30 (Europe/Berlin)" in said
    assert "open for 4 hours" in await room.types(boss, "/quiz-admin schedule edit 1 10:00")
    assert "Change schedule 1" in await room.types(boss, "/quiz-admin schedule edit 1")
    listed = await room.types(boss, "/quiz-admin schedule list")
    assert "10:00 (Europe/Berlin)" in listed
    skipped = await room.types(boss, "/quiz-admin schedule skip 2026-03-02")
    assert "Monday 2 March has no question." in skipped and "Next: Tuesday 3 March" in skipped
    none = " ".join((await room.types(boss, "/quiz-admin schedule preview 2026-03-02")).split())
    assert "Schedule 1 has no question on Monday 2 March." in none and "within a year" not in none
    assert "Next: paused" in await room.types(boss, "/quiz-admin schedule pause")
    assert "Next: Tuesday 3 March" in await room.types(boss, "/quiz-admin schedule resume")
    assert "The next question" in await room.types(boss, "/quiz-admin schedule preview")
    that_day = await room.types(boss, "/quiz-admin schedule preview friday")
    assert "The question of that day" in that_day and "Opens Friday 6 March" in that_day
    assert "There is no schedule 7. The only one is schedule 1." in await room.types(
        boss, "/quiz-admin schedule pause 7"
    )
    assert "is removed" in await room.types(boss, "/quiz-admin schedule remove 1")
    assert "There is no schedule yet." in await room.types(boss, "/quiz-admin schedule pause")


@pytest.mark.parametrize("kind", [Press, Submit])
async def test_a_button_or_form_that_nobody_makes_any_more_says_what_to_type(
    room: Room, ann: Who, kind: type[Press | Submit]
) -> None:
    said = await room.does(kind(room.event_id(), room.clock(), ann, room.where, "no action of ours"))
    assert "Button out of date" in said and "Type /quiz today for today's question" in " ".join(said.split())


async def test_tomorrow_is_that_of_the_schedule(room: Room) -> None:
    boss = room.boss
    # Monday, 08:00 in UTC, is still Sunday there.
    await room.types(boss, "/quiz-admin schedule add 9am daily Pacific/Honolulu")
    assert "Next: Tuesday 3 March, 09:00" in await room.types(boss, "/quiz-admin schedule skip tomorrow")
    said = await room.types(boss, "/quiz-admin schedule add 5:30pm Pacific/Honolulu every:2 first:tomorrow")
    assert "17:30 (Pacific/Honolulu), every 2 days from Monday 2 March" in " ".join(said.split())


async def test_banks_seasons_members_and_the_audit(room: Room, ann: Who) -> None:
    boss = room.boss
    await room.client.join(ann, room.where)
    assert "room" in await room.types(boss, "/quiz-admin bank list")
    assert "will not be asked again" in await room.types(boss, "/quiz-admin bank retire one-right")
    assert "can be asked again" in await room.types(boss, "/quiz-admin bank restore one-right")
    assert "There is no schedule" in await room.types(boss, "/quiz-admin bank low")
    assert "No question is waiting for approval" in await room.types(boss, "/quiz-admin bank approve all")
    assert "Name a question by its id" in await room.types(boss, "/quiz-admin bank approve")
    assert "prose wait for /quiz-admin bank approve" in await room.types(boss, "/quiz-admin bank approve hold")
    assert "Season started: Spring 2026" in await room.types(boss, "/quiz-admin season start Spring 2026")
    assert "Spring 2026" in await room.types(boss, "/quiz-admin season list")
    room.moving.advance(minutes=1)
    assert "Season ended" in await room.types(boss, "/quiz-admin season end")
    assert "Ann gets 5 points: well found" in await room.types(boss, "/quiz-admin member adjust Ann 5 well found")
    mentioned = f"<@{ann.member}|Ann>"
    assert "gets 1 point: bonus" in await room.types(boss, f"/quiz-admin member adjust {mentioned} 1 bonus")
    assert "6 in all" in await room.types(ann, "/quiz me")
    audit = await room.types(boss, "/quiz-admin audit")
    assert "bank retire" in audit
    assert "season start" in audit
    assert "database" in await room.types(boss, "/quiz-admin doctor")


async def test_choices_generated_from_prose_wait_for_approval_and_are_labeled(room: Room) -> None:
    boss = room.boss
    await room.types(boss, "/quiz-admin bank approve next:hold")
    await room.types(boss, "/quiz-admin bank import")
    said = await room.fills(boss, name="terms.md", text=TERMS)
    assert "made from the document's own sentences" in said
    assert "wait for /quiz-admin bank approve all" in " ".join(said.split())
    assert "can be asked from now on" in await room.types(boss, "/quiz-admin bank approve what-is-a-mutex-which")
    assert "can be asked from now on" in await room.types(boss, "/quiz-admin bank approve all")


async def test_a_document_is_checked_before_it_is_imported(room: Room) -> None:
    await room.types(room.boss, "/quiz-admin bank import")
    text = "---\nbank: new\ntitle: New\n---\n\n# a\n\n## q · value · mid\n\nOne?\n\n### Answer\n\n`1`\n"
    assert "Preview of the import" in await room.fills(room.boss, extra="Preview", name="new.md", text=text)
    await room.types(room.boss, "/quiz-admin bank import")
    assert "Imported" in await room.fills(room.boss, name="new.md", text=text)
    await room.types(room.boss, "/quiz-admin bank import")
    assert "An import needs the document's name" in await room.fills(room.boss, name="", text="")


async def test_a_document_with_an_error_is_not_lost(room: Room) -> None:
    """On the web its form stays open; a chat's reply has it, for the chat has closed the form."""
    text = "---\nbank: new\n---\n\n# a\n\n## q · value · mid\n\nWhat is lost?\n\n### Answr\n\n`1`\n"
    await room.types(room.boss, "/quiz-admin bank import")
    said = await room.fills(room.boss, name="new.md", text=text)
    assert "Nothing was imported" in said and "Preview" not in said.splitlines()[0] and "What is lost?" in said
    assert "Imported" in await room.fills(room.boss, name="new.md", text=text.replace("Answr", "Answer"))
    boss = room.boss.model_copy(update={"platform": "slack", "workspace": "T1"})
    values = {"name": ("new.md",), "text": (text,)}
    sent = Submit("s1", room.clock(), boss, room.where, encode(Import("apply")), values)
    reply = text_of(await room.quiz.handle(sent))
    assert "nothing was imported" in reply and "What is lost?" in reply


async def test_code_without_a_sandbox_is_a_system_error_and_kept(room: Room, ann: Who) -> None:
    room.sees(ann, await room.opens("add-one"))
    form = await room.presses(ann, "Answer")
    assert "def add_one(x: int) -> int:" in form
    said = await room.fills(ann, code="def add_one(x):\n    return x + 1")
    assert "Your code is being judged…" in said
    assert "return x + 1" in await room.presses(ann, "Change my answer")
    said = await room.fills(ann, extra="Run the examples", code="x")
    assert "No sandbox is connected" in said.replace("\n", " ")
    assert "return x + 1" in await room.presses(ann, "Back to the question")


async def test_a_snippet_needs_a_sandbox_too(room: Room, ann: Who) -> None:
    for line in ("/quiz run print(1)", "/quiz run ```python\nprint(1)\n```"):
        assert "No sandbox is connected" in (await room.types(ann, line)).replace("\n", " ")


async def test_a_reply_to_a_press_replaces_the_card_it_came_from(room: Room, ann: Who) -> None:
    room.sees(ann, await room.opens("one-right"))
    action = room.button(ann, "Answer").action
    reply = await room.quiz.handle(Press("p1", room.clock(), ann, room.where, action))
    assert reply.replaces
    assert "[A]" in text_of(reply)
    refused = await room.quiz.handle(Press("p2", room.clock(), ann, room.where, "o:r1:no-such-option"))
    assert "Answer not readable" in text_of(refused)
    assert not refused.replaces


async def test_an_admin_asks_an_extra_question(room: Room) -> None:
    """The posted question and the line that closes it name it as an extra one."""
    await room.types(room.boss, "/quiz-admin schedule add 10:00 daily Europe/Berlin")
    asked = "/quiz-admin ask kind:value,output closes-in:90m"
    assert "Posting an extra question now" in await room.types(room.boss, asked)
    await room.carries()
    assert "Open until" in card_text(room.wall.last("Extra question for"))
    await room.types(room.boss, "/quiz-admin close-now")
    await room.carries()
    assert "Nobody answered." in card_text(room.wall.last("Closed: Extra question"))


async def test_an_admin_asks_the_question_they_want(room: Room) -> None:
    """As often as they want: a team that talks about a question may ask it again."""
    await room.types(room.boss, "/quiz-admin schedule add 10:00 daily Europe/Berlin")
    for _ in range(2):
        said = await room.types(room.boss, "/quiz-admin ask question:one-right")
        assert "Posting an extra question now" in said
        await room.carries()
        assert "one-right" in card_text(room.wall.last("Extra question for"))
        again = await room.types(room.boss, "/quiz-admin ask question:one-right")
        assert "one-right is being asked here now" in again
        await room.types(room.boss, "/quiz-admin close-now")
        await room.carries()
    both = await room.types(room.boss, "/quiz-admin ask tensors question:one-right")
    assert "Name a question by its id, or what to choose one by" in both
    assert "There is no question nothing here." in await room.types(room.boss, "/quiz-admin ask question:nothing")


async def test_an_admin_posts_and_closes_at_once(room: Room, ann: Who) -> None:
    await room.only("one-right")
    await room.types(room.boss, "/quiz-admin schedule add 10:00 daily Europe/Berlin")
    assert "Posting now\n\nWhat does torch.zeros(2, 3).t().shape give?" in await room.types(
        room.boss, "/quiz-admin schedule post-now"
    )
    assert "Already posted" in await room.types(room.boss, "/quiz-admin schedule post-now")
    await room.types(ann, "/quiz answer")
    await room.chooses(ann, "`(3, 2)`")
    assert "Closed\n\nWhat does" in await room.types(room.boss, "/quiz-admin close-now")
    await room.carries()
    assert "1 of 1 answered right" in card_text(room.wall.last("The answer"))


async def test_a_duel_is_with_a_member_whose_name_has_spaces(room: Room, ann: Who, who: MakeWho) -> None:
    text = DUEL_BANK.read_text(encoding="utf-8")
    view = await room.client.bank_import(room.boss, "duels", DUEL_BANK.name, text, True)
    assert view.applied, view.findings
    await room.client.join(who("Bo Li"), room.where)
    assert "There is no member Bo here." in await room.types(ann, "/quiz duel Bo Lu")
    assert "/quiz duel @Ada" in await room.types(ann, "/quiz duel topic:sums")
    assert "You challenged Bo Li" in await room.types(ann, "/quiz duel Bo Li")


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("Bo Li sums", "You challenged Bo Li"),
        ("Bo Li", "You challenged Bo Li"),
        ('"Bo Li" sums', "You challenged Bo Li"),
        ("Bo Li Wu sums", "You challenged Bo Li Wu"),
        ("Bo sums", "You challenged Bo\n\nBo can"),
        ("Bo topic:sums", "You challenged Bo\n\nBo can"),
        ("Bo Li sumz", "There is no topic"),
        ("Cy Li sums", "There is no member Cy here."),
    ],
)
async def test_a_name_with_spaces_needs_no_quotes_before_a_topic(
    room: Room, ann: Who, who: MakeWho, typed: str, said: str
) -> None:
    text = DUEL_BANK.read_text(encoding="utf-8")
    await room.client.bank_import(room.boss, "duels", DUEL_BANK.name, text, True)
    for name in ("Bo", "Bo Li", "Bo Li Wu"):
        await room.client.join(who(name), room.where)
    assert said in await room.types(ann, f"/quiz duel {typed}")


def test_a_long_text_is_read_as_few_names() -> None:
    assert len(list(readings("a", "b " * 2000))) < 50


def test_an_answer_that_has_no_verdict_yet_is_introduced_once() -> None:
    blocks = own_answer_blocks(CODE_KEY, AnswerInput(code="x = 1"), None)
    assert [block.markdown for block in blocks if isinstance(block, Text)] == ["You answered:"]
