"""Discord from a member's side, on the real bot, service and database."""

from __future__ import annotations

import re

import pytest

from tests.bot.conftest import QUESTIONS
from tests.bot.discord.simulated import Simulated, alone, fields, id_of, labels, messages_of, said
from tests.conftest import MONDAY
from tests.service.own_variants import bank, chosen_family, variant_in


def letter_of(text: str, option: str) -> str:
    """Returns the letter of an option, as the member sees it."""
    found = re.search(rf"\*\*([A-Z])\*\* {re.escape(option)}", text)
    assert found, text
    return found[1]


async def test_a_choice_is_answered_changed_and_revealed_in_its_thread(sim: Simulated) -> None:
    post = await sim.opens("one-right")
    asked = await sim.ada.click(post, label="Answer")
    assert alone(asked) and "Your answer" in said(asked)

    wrong = letter_of(said(asked), "`(6,)`")
    recorded = await sim.ada.click(asked, wrong)
    assert "Your answer is recorded" in said(recorded) and f"{wrong} (your answer)" in labels(recorded)
    assert id_of(recorded) == id_of(asked), "the receipt takes the question's place"

    right = letter_of(said(recorded), "`(3, 2)`")
    changed = await sim.ada.click(recorded, right)
    assert "Your answer is changed" in said(changed) and f"{right} (your answer)" in labels(changed)

    # Nobody else sees anything of it, and nothing new stands in the channel.
    seen = [one.id for one in sim.channel.seen(sim.boss.member)]
    assert id_of(asked) not in seen and post.id in seen
    assert not sim.threads

    await sim.closes()
    (thread,) = sim.threads
    assert thread.id == post.id, "Discord gives a thread the id of its message"
    reveal = said(sim.last("The answer", thread))
    assert "`(3, 2)`" in reveal and "Ada" in reveal and "swaps" in reveal
    assert thread.name == "Monday 2 March · tensors"
    assert "1 of 1 answered right" in said(sim.last("Closed: Monday 2 March"))
    assert post.edited and labels(post) == ["My result", "Practice"]
    assert "Closed: 1 of 1 answered right." in said(post)
    mine = await sim.ada.click(post, "My result")
    assert alone(mine) and "Right!" in said(mine) and "Rank:" in said(mine)
    theirs = await sim.boss.click(sim.last("The answer", thread), "My result")
    assert alone(theirs) and "You did not answer this one." in said(theirs) and "Ada" not in said(theirs)
    assert id_of(theirs) not in [one.id for one in thread.seen(sim.ada.member)]
    late = await sim.ada.click(changed, wrong)
    assert "closed" in said(late).lower()


async def test_a_member_says_how_sure_they_are_in_the_modal(sim: Simulated) -> None:
    post = await sim.opens("the-shape")
    await sim.boss.slash(sim.channel, "quiz-admin schedule edit", schedule="1", confidence=True)
    window = await sim.ada.click(post, label="Answer")
    sure = fields(window)["confidence"]
    assert [one["value"] for one in sure["options"]] == ["guess", "think", "sure", "unsaid"]
    assert [one["value"] for one in sure["options"] if one.get("default")] == ["unsaid"]
    done = await sim.ada.submit_modal(window, {"text": "(3,)", "confidence": "think"})
    assert "Your answer is recorded" in said(done) and "How sure you are: “Think so”." in said(done)
    again = fields(await sim.ada.click(done, "Change my answer"))["confidence"]
    assert [one["value"] for one in again["options"] if one.get("default")] == ["think"]


async def test_an_open_answer_is_marked_in_a_modal(sim: Simulated) -> None:
    post = await sim.opens("why-scale")
    for person in (sim.ada, sim.boss):
        await person.submit_modal(await person.click(post, label="Answer"), {"text": f"What {person.name} thinks."})
    await sim.closes()
    (thread,) = sim.threads
    reveal = sim.last("The answer", thread)
    beside = await sim.ada.click(await sim.ada.click(reveal, "My result"), "Mark my answer")
    assert alone(beside) and "What Ada thinks." in said(beside) and "underflow to zero" in said(beside)
    window = await sim.ada.click(beside, "Mark my answer")
    boxes = fields(window)["points"]
    assert (boxes["type"], [one["value"] for one in boxes["options"]]) == (22, ["0", "1", "none"])
    marked = await sim.ada.submit_modal(window, {"points": ["1"]})
    assert alone(marked) and "You marked 1 of 2 points" in said(marked)
    assert "Waiting for another member" in said(await sim.ada.click(marked, "Ask for confirmation"))
    peer = await sim.boss.click(reveal, "Confirm others' answers")
    assert alone(peer) and "What Ada thinks." in said(peer)
    assert "The author gets the points" in said(await sim.boss.click(peer, "Confirm"))


async def test_several_options_are_ticked_in_a_modal(sim: Simulated) -> None:
    window = await sim.ada.click(await sim.opens("two-right"), label="Answer")
    boxes = fields(window)["options"]
    assert boxes["type"] == 22 and len(boxes["options"]) == 3
    right = [one["value"] for one in boxes["options"] if "clone" not in one["label"]]
    done = await sim.ada.submit_modal(window, {"options": right})
    assert "Your answer is recorded" in said(done) and alone(done)
    again = await sim.ada.click(sim.last("Question for "), label="Answer")
    ticked = [one["value"] for one in fields(again)["options"]["options"] if one.get("default")]
    assert sorted(ticked) == sorted(right)


@pytest.mark.parametrize(
    ("question", "typed", "shown"),
    [
        ("the-shape", "(3,)", "(3,)"),
        ("two-lines", "1\n2", "1\n2"),
        ("why-scale", "It underflows in float16.", "float16"),
    ],
)
async def test_text_typed_in_a_modal_is_recorded(sim: Simulated, question: str, typed: str, shown: str) -> None:
    window = await sim.ada.click(await sim.opens(question), label="Answer")
    done = await sim.ada.submit_modal(window, {"text": typed})
    assert "Your answer is recorded" in said(done) and shown in said(done)
    refused = await sim.ada.submit_modal(
        await sim.ada.click(sim.last("Question for "), label="Answer"), {"text": "   "}
    )
    assert "Your answer is empty" in said(refused)


async def test_code_is_submitted_by_modal_file_and_message(sim: Simulated) -> None:
    post = await sim.opens("add-one")
    window = await sim.ada.click(post, label="Answer")
    assert {"code", "action"} <= set(fields(window))
    hand_in, examples = (one["value"] for one in fields(window)["action"]["options"])
    program = "def add_one(x):\n    return x + 1\n"
    done = await sim.ada.submit_modal(window, {"code": program, "action": hand_in})
    assert "Your code is being judged" in said(done)

    # Running the examples leaves what was handed in alone.
    tried = await sim.ada.submit_modal(await sim.ada.click(post, label="Answer"), {"code": program, "action": examples})
    assert alone(tried) and "judged" not in said(tried)

    window = await sim.ada.click(post, label="Answer")
    upload = {"code": "", "code:file": ("mine.py", program.encode()), "action": hand_in}
    assert "Your code is being judged" in said(await sim.ada.submit_modal(window, upload))
    window = await sim.ada.click(post, label="Answer")
    assert "There is no code" in said(await sim.ada.submit_modal(window, {"code": "", "action": hand_in}))

    uploaded = await sim.ada.slash(sim.channel, "quiz answer", file=("mine.py", program.encode()))
    assert alone(uploaded) and said(uploaded)
    sent = await sim.ada.writes(sim.channel, f"My try:\n```py\n{program}```")
    picked = await sim.ada.pick(sent, "Answer with this")
    assert alone(picked) and said(picked)


async def test_practice_goes_from_card_to_card(sim: Simulated) -> None:
    card = await sim.ada.slash(sim.channel, "quiz practice", kind="choice", topic="tensors")
    for _ in range(6):
        assert card.modal or alone(card)
        if card.modal:
            values = [one["value"] for one in fields(card)["options"]["options"]]
            card = await sim.ada.submit_modal(card, {"options": values[:1]})
        elif "Next card" in labels(card):
            card = await sim.ada.click(card, "Next card")
        elif "A" in labels(card):
            card = await sim.ada.click(card, "A")
        else:
            break
    assert "tensors" in said(card) or "Nothing is due" in said(card)


async def test_a_member_reports_and_a_moderator_resolves(sim: Simulated) -> None:
    await sim.opens("one-right")
    window = await sim.ada.slash(sim.channel, "quiz report")
    done = await sim.ada.submit_modal(window, {"text": "“Two” are right, @everyone"})
    assert "Thank you" in said(done)
    typed = await sim.ada.slash(sim.channel, "quiz report", id="one-right", text='It says "no": why?')
    assert "Thank you" in said(typed)
    queue = await sim.boss.slash(sim.channel, "quiz-admin review list")
    assert 'It says "no": why?' in said(queue) and labels(queue)
    listed = id_of(queue)
    shown = await sim.boss.click(queue, "Review 1")
    assert id_of(shown) == listed and "“Two” are right" in said(shown) and "swaps" in said(shown)
    settled = await sim.boss.submit_modal(await sim.boss.click(shown, "Dismiss"), {"reason": "See the *docs*."})
    assert id_of(settled) == listed and "settled" in said(settled)


async def test_a_member_suggests_a_question_and_a_moderator_edits_and_accepts_it(sim: Simulated) -> None:
    await sim.opens("one-right")
    await sim.boss.slash(sim.channel, "quiz-admin review me")
    window = await sim.ada.slash(sim.channel, "quiz suggest")
    assert window.modal, "a form opens at once"
    kept = await sim.ada.submit_modal(window, {"text": "What is a zebra?"})
    assert "Not submitted yet" in said(kept)
    again = await sim.ada.click(kept, "Edit")
    assert again.modal
    question = "### Q1. What is a zebra?\n\n**Answer:** A zebra is a striped horse.\n"
    assert "Thank you" in said(await sim.ada.submit_modal(again, {"text": question}))
    await sim.carries()
    shown = await sim.boss.click(sim.boss.alone[-1], "Review")
    assert "striped horse" in said(shown)
    edit, decline = await sim.boss.click(shown, "Edit"), await sim.boss.click(shown, "Decline")
    assert edit.modal and decline.modal
    edited = await sim.boss.submit_modal(edit, {"text": question.replace("horse", "donkey")})
    assert "striped donkey" in said(edited)
    assert "suggestion-1" in said(await sim.boss.click(edited, "Accept"))
    await sim.carries()
    assert "Your question was accepted" in said(sim.ada.alone[-1])


async def test_a_moderator_is_told_by_direct_message_and_a_member_of_the_outcome(sim: Simulated) -> None:
    await sim.opens("one-right")
    await sim.boss.slash(sim.channel, "quiz-admin review me")
    await sim.ada.slash(sim.channel, "quiz report", id="one-right", text="Two are right.")
    await sim.carries()
    notice = sim.boss.alone[-1]
    assert "A question was reported" in said(notice) and "Two are right." in said(notice)
    assert "swaps" not in said(notice), "the key comes with the button"
    shown = await sim.boss.click(notice, "Review")
    assert "swaps" in said(shown)
    modal = await sim.boss.click(shown, "It was fixed")
    assert "settled" in said(await sim.boss.submit_modal(modal, {"reason": "The second one is gone."}))
    await sim.carries()
    outcome = said(sim.ada.alone[-1])
    assert "Your report was right" in outcome and "The second one is gone." in outcome
    assert not [one for one in sim.channel.seen() if "report" in said(one).lower()], "nobody else hears of it"


async def test_everyone_reads_only_that_a_report_waits_if_the_moderator_cannot_be_reached(sim: Simulated) -> None:
    await sim.opens("one-right")
    await sim.boss.slash(sim.channel, "quiz-admin review me")
    sim.boss.member.closed = True
    await sim.ada.slash(sim.channel, "quiz report", id="one-right", text="Two are right.")
    await sim.carries()
    notice = sim.last("A question was reported")
    assert "Report 1 is waiting for a moderator." in said(notice)
    everywhere = [*sim.channel.seen(), *sim.owner.alone, *sim.ada.alone]
    assert "Two are right." not in "".join(said(one) for one in everywhere)
    refused = await sim.ada.click(notice, "Review")
    assert alone(refused) and "Only quiz admins" in said(refused)
    queue = await sim.boss.slash(sim.channel, "quiz-admin review list")
    assert "Two are right." in said(queue)


async def test_a_reply_of_several_messages_is_private_in_each(sim: Simulated) -> None:
    await sim.opens("one-right")
    for number in range(5):
        await sim.ada.slash(sim.channel, "quiz report", id="one-right", text=f"{number} " + "Two are right. " * 90)
    queue = await sim.boss.slash(sim.channel, "quiz-admin review list")
    assert len(messages_of(queue)) > 1 and alone(queue)


async def test_no_message_pings_anybody(sim: Simulated) -> None:
    await sim.ada.click(await sim.opens("one-right"), label="Answer")
    await sim.boss.slash(sim.channel, "quiz-admin help")
    messages = [body.get("data", body) for route, body in sim.double.bodies if "/commands" not in route]
    shown = [message for message in messages if message.get("components") and "title" not in message]
    assert len(shown) >= 3
    assert all(message["allowed_mentions"] == {"parse": []} for message in shown)


async def test_members_with_manage_server_are_admins(sim: Simulated) -> None:
    assert "quiz-admin audit" in sim.boss.commands(sim.channel)
    assert not [one for one in sim.ada.commands(sim.channel) if one.startswith("quiz-admin")]
    await sim.opens("one-right")
    await sim.ada.slash(sim.channel, "quiz report", id="one-right", text="no")
    queue = await sim.boss.slash(sim.channel, "quiz-admin review list")
    assert "no" in said(queue)


async def test_options_are_autocompleted(sim: Simulated) -> None:
    zones = await sim.boss.autocomplete(sim.channel, "quiz-admin schedule add", "zone", "berl")
    assert [one["value"] for one in zones] == ["Europe/Berlin"]
    topics = await sim.ada.autocomplete(sim.channel, "quiz practice", "topic", "ten")
    assert [one["value"] for one in topics] == ["tensors"]
    commands = await sim.ada.autocomplete(sim.channel, "quiz help", "command", "b")
    assert [one["value"] for one in commands] == ["board"]
    days = await sim.boss.autocomplete(sim.channel, "quiz-admin schedule add", "days", "")
    assert "mon-fri" in [one["value"] for one in days]


async def test_a_program_is_run_from_an_option_and_a_modal(sim: Simulated) -> None:
    typed = await sim.ada.slash(sim.channel, "quiz run", code="print(1)")
    assert alone(typed) and said(typed)
    window = await sim.ada.slash(sim.channel, "quiz run")
    done = await sim.ada.submit_modal(window, {"code": "print(2)"})
    assert alone(done) and said(done)
    uploaded = await sim.ada.slash(sim.channel, "quiz run", file=("a.py", b"\xff\xfe"))
    assert "not UTF-8 text" in said(uploaded)


async def test_a_document_is_imported_from_a_file(sim: Simulated) -> None:
    head = "---\nbank: ours\nlicense: MIT\n---\n\n# ours\n\n"
    text = f"{head}## a-new-one · value · mid\n\nWhat is `1 + 1`?\n\n### Answer\n\n`2`\n".encode()
    checked = await sim.boss.slash(sim.channel, "quiz-admin bank import", file=("ours.md", text), check=True)
    assert "ours" in said(checked)
    before = await sim.client.bank_list(sim.operator)
    done = await sim.boss.slash(sim.channel, "quiz-admin bank import", file=("ours.md", text))
    assert alone(done) and len(await sim.client.bank_list(sim.operator)) == len(before) + 1, said(done)


async def test_a_document_of_somebody_who_is_no_admin_is_not_downloaded(sim: Simulated) -> None:
    """The command is for admins, but an admin of the server can let others use it, too."""
    for commands in sim.double.world.commands.values():
        for command in commands:
            command["default_member_permissions"] = None
    unreadable = ("ours.md", b"\xff\xfe")
    assert "not UTF-8 text" in said(await sim.boss.slash(sim.channel, "quiz-admin bank import", file=unreadable))
    refused = said(await sim.ada.slash(sim.channel, "quiz-admin bank import", file=unreadable))
    assert "Only quiz admins can do that" in refused


async def test_every_member_answers_a_variant_of_their_own(sim: Simulated) -> None:
    await bank(sim.service, chosen_family())
    for other in QUESTIONS:
        await sim.client.bank_retire(sim.operator, f"retire {other}", other, True)
    plan = {"at": "10:00", "zone": "Europe/Berlin", "open": "7h", "variants": True}
    assert "a different variant" in said(await sim.boss.slash(sim.channel, "quiz-admin schedule add", **plan))
    sim.moving.now = MONDAY.replace(hour=9)
    await sim.service.tick()
    await sim.carries()
    post = sim.last("Question for ")
    assert "This is an example" in said(post)
    asked = {person.name: await person.click(post, label="Answer") for person in (sim.ada, sim.boss)}
    ada, boss = (variant_in(said(form)) for form in asked.values())
    assert len({ada, boss, variant_in(said(post))}) == 3
    await sim.ada.click(asked["Ada"], letter_of(said(asked["Ada"]), f"`({ada}, 3)`"))
    await sim.boss.click(asked["Boss"], letter_of(said(asked["Boss"]), f"`(3, {boss})`"))
    await sim.closes()
    mine = said(await sim.ada.click(post, "My result"))
    assert "Right!" in mine and f"It has {ada} rows." in mine and "your own variant" in mine
    theirs = said(await sim.boss.click(post, "My result"))
    assert "Not this time." in theirs and f"`({boss}, 3)`" in theirs and f"({ada}, 3)" not in theirs
