"""Members answer in every possible way: the Slack double, the bot and the real service."""

from __future__ import annotations

import re

from bot.core.actions import decode
from tests.bot.slack.conftest import Workspace, said
from tests.conftest import MONDAY
from tests.doubles.slack.payloads import Value
from tests.doubles.slack.surfaces import Ephemeral, Message, View
from tests.service.own_variants import bank, chosen_family, variant_in


async def test_a_choice_is_answered_by_buttons_and_revealed_in_its_thread(workspace: Workspace) -> None:
    ann, bob = workspace.ann, workspace.bob
    post = await workspace.opens("one-right")
    asked = await workspace.presses(ann, post, "Answer", "[A]   [B]   [C]")
    assert isinstance(asked, Ephemeral)
    assert asked.labels == ["A", "B", "C"]
    recorded = await workspace.presses(ann, asked, "A", "Your answer is recorded")
    assert workspace.slack.private(ann) == [recorded], "it takes the place of the question"
    assert "A (your answer)" in recorded.labels
    await workspace.presses(ann, recorded, "B", "Your answer is changed")
    assert workspace.slack.private(bob) == []
    assert "Question for" in post.words, "the post in the channel is nobody's to replace"
    reveal = await workspace.closes()
    assert reveal.thread_ts == post.ts
    assert "Right: (3, 2)" in reveal.words
    assert "data_visualization" in [block["type"] for block in reveal.blocks], "short options are drawn as a chart"
    outcome = await workspace.sees(ann, "Closed: Monday 2 March")
    assert isinstance(outcome, Message) and outcome.broadcast and outcome.thread_ts == post.ts
    await workspace.sees(ann, "Closed: 1 of 1" if "1 of 1" in outcome.words else "Closed: 0 of 1")
    assert post.edited and "My result" in post.labels and "Answer" not in post.labels
    mine = await workspace.presses(ann, reveal, "My result", "Your result:")
    assert isinstance(mine, Ephemeral) and "You chose B:" in mine.words and "Was this a good question?" in mine.words
    said = await workspace.presses(ann, mine, "Not a good one", "You said this is not a good question.")
    assert said.labels[-2:] == ["Good question", "Not a good one (your answer)"]
    assert "feedback_buttons" in str(mine.blocks) and "You chose B:" in said.words
    stats = "0 of 1 member found it a good question (0%)"
    await workspace.types(workspace.boss, "/quiz-admin bank stats one-right", stats)
    his = await workspace.presses(bob, reveal, "My result", "You did not answer this one.")
    assert isinstance(his, Ephemeral) and "You chose" not in his.words and "Good question" not in his.labels
    assert said not in workspace.slack.private(bob)


async def test_a_member_says_how_sure_they_are(workspace: Workspace) -> None:
    ann, boss = workspace.ann, workspace.boss
    post = await workspace.opens("one-right")
    await workspace.types(boss, "/quiz-admin schedule edit 1 confidence:on", "asks how sure members are")
    asked = await workspace.presses(ann, post, "Answer", "[A]   [B]   [C]")
    recorded = await workspace.presses(ann, asked, "A", "How sure are you?")
    assert recorded.labels[3:] == ["Guess", "Think so", "Sure"]
    sure = await workspace.presses(ann, recorded, "Sure", "How sure you are: “Sure”.")
    assert sure.labels[3:] == ["Guess", "Think so", "Sure (your choice)"] and "A (your answer)" in sure.labels
    reveal = await workspace.closes()
    right = "1 of 1 answered right" in reveal.words
    mine = await workspace.presses(ann, reveal, "My result", f"{'+2' if right else '-6'} for how sure you were")
    assert isinstance(mine, Ephemeral)
    await workspace.types(ann, "/quiz me", "How sure you were")


async def test_an_open_answer_is_marked_in_a_view(workspace: Workspace) -> None:
    ann, bob = workspace.ann, workspace.bob
    post = await workspace.opens("why-scale")
    for user in (ann, bob):
        await workspace.presses(user, post, "Answer", "A few sentences")
        await workspace.fills(user, {"text": f"What {user.name} thinks."}, "Your answer is recorded")
    reveal = await workspace.closes()
    mine = await workspace.presses(ann, reveal, "My result", "No program judges prose.")
    beside = await workspace.presses(ann, mine, "Mark my answer", "Compare the two")
    view = await workspace.presses(ann, beside, "Mark my answer", "Which points does your answer cover?")
    assert isinstance(view, View)
    boxes = view.fields["points"].element
    assert (boxes["type"], [one["value"] for one in boxes["options"]]) == ("checkboxes", ["0", "1", "none"])
    marked = await workspace.fills(ann, {"points": ["0", "1"]}, "You marked 2 of 2 points")
    await workspace.presses(ann, marked, "Ask for confirmation", "Waiting for another member")
    peer = await workspace.presses(bob, reveal, "Confirm others' answers", "Do you agree with the marks?")
    assert f"What {ann.name} thinks." in peer.words
    await workspace.presses(bob, peer, "Confirm", "The author gets the points")


async def test_several_options_are_ticked_in_a_view(workspace: Workspace) -> None:
    ann = workspace.ann
    post = await workspace.opens("two-right")
    view = await workspace.presses(ann, post, "Answer", "Select all that are right.")
    assert isinstance(view, View)
    options = view.fields["options"].element["options"]
    right = [one["value"] for one in options if "clone" not in one["text"]["text"]]
    recorded = await workspace.fills(ann, {"options": right}, "Your answer is recorded")
    assert isinstance(recorded, Ephemeral)
    assert workspace.slack.world.stack(ann) == []
    again = await workspace.presses(ann, recorded, "Change my answer", "Select all that are right.")
    assert isinstance(again, View)
    picked = again.fields["options"].element["initial_options"]
    assert [one["value"] for one in picked] == right
    assert "1 of 1 answered right" in (await workspace.closes()).words


async def test_a_refused_answer_stays_in_its_field(workspace: Workspace) -> None:
    ann = workspace.ann
    post = await workspace.opens("the-shape")
    view = await workspace.presses(ann, post, "Answer", "A Python literal")
    sent = await workspace.slack.submit_view(ann, {"text": "(3,"})
    assert sent.reply["response_action"] == "errors"
    assert "is not a Python value" in sent.reply["errors"]["text"]
    assert workspace.slack.modal(ann) is view
    await workspace.fills(ann, {"text": "(3,)"}, "Your answer is recorded")
    assert "1 of 1 answered right" in (await workspace.closes()).words


async def test_practice_goes_from_card_to_card(workspace: Workspace) -> None:
    ann = workspace.ann
    await workspace.only("the-shape")
    view = await workspace.types(ann, "/quiz practice", "torch.ones(2, 3)")
    assert isinstance(view, View)
    judged = await workspace.fills(ann, {"text": "(3,)"}, "Next card")
    assert isinstance(judged, Ephemeral)
    await workspace.only("one-right")
    card = await workspace.presses(ann, judged, "Next card", "[A]   [B]   [C]")
    assert workspace.slack.private(ann) == [card], "it takes the place of the card before"
    await workspace.presses(ann, card, "A", "swaps")


async def test_code_is_submitted_by_fence_file_and_view(workspace: Workspace) -> None:
    ann = workspace.ann
    post = await workspace.opens("add-one")
    view = await workspace.presses(ann, post, "Answer", "Your code")
    assert isinstance(view, View)
    assert "Run the examples" in view.labels
    await workspace.fills(ann, {"code": "def add_one(x):\n    return x + 1"}, "is being judged")
    before = workspace.looks(ann)
    workspace.slack.dm(ann, "```def add_one(x):\n    return x &lt; 2```")
    told = await workspace.sees(ann, "judged", before)
    assert isinstance(told, Message)
    before = workspace.looks(ann)
    workspace.slack.mention(ann, workspace.daily, "", thread=post.ts)
    await workspace.sees(ann, "add-one", before)
    before = workspace.looks(ann)
    workspace.slack.dm(ann, "", {"answer.py": b"def add_one(x):\n    return x + 3\n"})
    await workspace.sees(ann, "judged", before)


async def test_a_message_becomes_an_answer_by_its_shortcut(workspace: Workspace) -> None:
    """The app is sent no message of a channel: whoever wants to answer with one picks it."""
    ann, bob, slack = workspace.ann, workspace.bob, workspace.slack
    post = await workspace.opens("add-one")
    written = slack.write(ann, workspace.daily, "```def add_one(x):\n    return x + 1```", thread=post.ts)
    assert written.metadata["event_id"] == "", "the app does not listen to the channel"
    await slack.pick(ann, written, "Answer with this")
    told = await workspace.sees(ann, "judged")
    assert isinstance(told, Ephemeral) and told.thread_ts == post.ts
    before = workspace.looks(ann)
    attached = slack.write(ann, workspace.daily, "", files={"answer.py": b"def add_one(x):\n    return x + 2\n"})
    await slack.pick(ann, attached, "Answer with this")
    await workspace.sees(ann, "judged", before)
    assert slack.private(bob) == []


async def test_a_form_comes_as_a_message_if_slack_is_too_busy_for_a_window(workspace: Workspace) -> None:
    """Of three hundred members in a minute, Slack opens windows for a hundred and some."""
    ann, slack = workspace.ann, workspace.slack
    post = await workspace.opens("the-shape")
    slack.fail("views.open", "429", times=9, seconds=5)
    form = await workspace.presses(ann, post, "Answer", "A Python literal")
    assert isinstance(form, Ephemeral)
    recorded = await workspace.presses(ann, form, "Answer", "Your answer is recorded", {"text": "(2,)"})
    assert isinstance(recorded, Ephemeral) and slack.private(ann) == [recorded], "the receipt takes the form's place"
    given = (await workspace.client.today(workspace.who(ann), workspace.where)).forms[0].given
    assert given is not None and given.text == "(2,)"


async def test_a_form_takes_a_file_in_place_of_typed_code(workspace: Workspace) -> None:
    ann, slack = workspace.ann, workspace.slack
    post = await workspace.opens("add-one")
    view = await workspace.presses(ann, post, "Answer", "Or a .py file")
    assert isinstance(view, View)
    values: dict[str, Value] = {
        "code": "",
        "code:file": slack.upload(ann, "answer.py", b"def add_one(x):\n    return x + 5\n"),
    }
    await workspace.fills(ann, values, "judged")
    given = (await workspace.client.today(workspace.who(ann), workspace.where)).forms[0].given
    assert given is not None and given.code == "def add_one(x):\n    return x + 5\n"


async def test_large_and_binary_files_are_rejected(workspace: Workspace) -> None:
    workspace.slack.dm(workspace.ann, "", {"long.py": b"x" * 100_001})
    assert "longer than 100 kB" in said(await workspace.sees(workspace.ann, "too long"))
    workspace.slack.dm(workspace.ann, "", {"odd.py": b"\xff\xfe\xff"})
    assert "UTF-8" in said(await workspace.sees(workspace.ann, "could not be read"))


async def test_the_home_tab_shows_open_questions_and_answers_in_a_view(workspace: Workspace) -> None:
    ann = workspace.ann
    workspace.slack.open_home(ann)
    await workspace.sees(ann, "No question is open right now")
    await workspace.opens("one-right")
    before = workspace.looks(ann)
    workspace.slack.open_home(ann)
    home = await workspace.sees(ann, "one-right", before)
    window = await workspace.presses(ann, home, "Answer", "torch.zeros(2, 3)")
    assert isinstance(window, View)
    recorded = await workspace.presses(ann, window, "A", "Your answer is recorded")
    assert recorded is workspace.slack.modal(ann)
    changed = await workspace.presses(ann, recorded, "C", "Your answer is changed")
    assert changed is workspace.slack.modal(ann)
    assert "Your answer is recorded" not in said(changed)


async def test_a_member_without_rights_is_refused(workspace: Workspace) -> None:
    await workspace.types(workspace.ann, "/quiz-admin schedule list", "admin")
    assert await workspace.client.schedule_list(workspace.who(workspace.boss)) == ()
    await workspace.types(workspace.boss, "/quiz-admin schedule add 09:00 mon-fri Europe/Berlin", "Schedule added")


async def test_every_button_is_self_contained(workspace: Workspace) -> None:
    post = await workspace.opens("one-right")
    asked = await workspace.presses(workspace.ann, post, "Answer", "[A]   [B]   [C]")
    for control in (*post.controls, *asked.controls):
        assert decode(control.element["value"]) == decode(control.action_id)


async def test_every_member_answers_a_variant_of_their_own(workspace: Workspace) -> None:
    ann, bob, boss = workspace.ann, workspace.bob, workspace.boss
    await bank(workspace.service, chosen_family())
    await workspace.only("")
    added = "a different variant for each member"
    await workspace.types(boss, "/quiz-admin schedule add 10:00 mon-fri Europe/Berlin open:7h variants:on", added)
    workspace.moving.now = MONDAY.replace(hour=9)
    await workspace.works()
    post = await workspace.slack.sees(ann, "Question for")
    assert "This is an example" in post.words
    numbers = {}
    for user, right in ((ann, True), (bob, False)):
        asked = await workspace.presses(user, post, "Answer", "your own variant")
        numbers[user.id] = number = variant_in(asked.words)
        text = f"({number}, 3)" if right else f"(3, {number})"
        letter = re.search(rf"([A-C])[.)]? +{re.escape(text)}", asked.words)
        assert letter, asked.words
        await workspace.presses(user, asked, letter[1], "Your answer is recorded")
    assert len({*numbers.values(), variant_in(post.words)}) == 3
    reveal = await workspace.closes()
    assert "1 of 2 answered right" in reveal.words
    for user, title in ((ann, "Right!"), (bob, "Not this time.")):
        mine = await workspace.presses(user, reveal, "My result", f"It has {numbers[user.id]} rows.")
        assert title in mine.words and "your own variant" in mine.words
