"""Every card and form is within the limits of every chat and readable as text; snapshots of a few."""

from __future__ import annotations

import re

import pytest

from bot.console.chat import FormSession
from bot.console.render import button_keys, card_text, form_text
from bot.core import actions
from bot.core.cards import Bars, Card, Form, Table, Text
from bot.core.markup import parse, to_html
from bot.core.markup.plain import cells
from bot.core.text import reveals
from service.wire import AnswerInput, ContestantAnswer, OutcomePost, PostUpdate
from tests.bot.samples import GALLERY, OPEN_KEY, QUESTION_POST, REVEAL

CARDS = {name: said for name, said in GALLERY.items() if isinstance(said, Card)}
FORMS = {name: said for name, said in GALLERY.items() if isinstance(said, Form)}


def shown(name: str, width: int = 80) -> str:
    said = GALLERY[name]
    return card_text(said, width) if isinstance(said, Card) else form_text(said, width)


@pytest.mark.parametrize("name", CARDS)
def test_a_card_keeps_the_limits_of_every_chat(name: str) -> None:
    card = CARDS[name]
    assert 0 < len(card.title) <= 150
    assert 0 < len(card.summary) <= 400
    assert "\n" not in card.title + card.summary
    for button in card.all_buttons:
        assert 0 < len(button.label) <= 75
        actions.decode(button.action)
    assert len({button.action for button in card.all_buttons}) == len(card.all_buttons)


@pytest.mark.parametrize("name", FORMS)
def test_a_form_says_what_it_does_with_what_is_typed(name: str) -> None:
    form = FORMS[name]
    assert 0 < len(form.title) <= 45
    for action in (form.action, *(button.action for button in form.extras)):
        actions.decode(action)
    assert len({field.name for field in form.fields}) == len(form.fields)
    assert all(field.label for field in form.fields)


@pytest.mark.parametrize("name", CARDS)
def test_the_current_choice_right_answers_and_own_row_are_labeled(name: str) -> None:
    card = CARDS[name]
    assert all("(" in button.label for button in card.all_buttons if button.pressed)
    for block in card.blocks:
        if isinstance(block, Bars):
            assert all(row.mark in ("right", "wrong") for row in block.rows)
        if isinstance(block, Table):
            assert all(len(row) == len(block.columns) for row in block.rows)
            assert block.mine is None or block.mine < len(block.rows)


@pytest.mark.parametrize("name", GALLERY)
@pytest.mark.parametrize("width", [40, 80])
def test_the_console_keeps_its_width(name: str, width: int) -> None:
    long = [line for line in shown(name, width).split("\n") if cells(line) > width]
    # Programs keep their lines, and so does a bar of the distribution.
    assert all(line.startswith("    ") or "█" in line or "░" in line for line in long)


@pytest.mark.parametrize("name", CARDS)
def test_every_button_has_a_key_of_its_own_in_the_console(name: str) -> None:
    keys = button_keys(CARDS[name].all_buttons)
    assert len(set(keys)) == len(keys), keys


@pytest.mark.parametrize("name", CARDS)
def test_a_members_words_are_shown_and_never_obeyed(name: str) -> None:
    for block in CARDS[name].blocks:
        if isinstance(block, Text):
            html = str(to_html(parse(block.markdown)))
            assert 'href="http://evil' not in html


def test_the_help_fits_a_screen() -> None:
    assert max(len(shown(name).split("\n")) for name in ("help", "help admin")) <= 24


def test_a_reveal_keeps_no_letters_for_everyone_saw_their_own() -> None:
    assert not re.search(r"\b[A-D]\b  ", shown("reveal"))


def test_a_reveal_names_who_suggested_the_question() -> None:
    card = reveals.reveal_card(REVEAL.model_copy(update={"suggested_by": "Zoë *the* 2nd"}))
    assert "Suggested by Zoë *the* 2nd." in card_text(card, 200)
    assert "Suggested by" not in shown("reveal")


@pytest.mark.parametrize(
    ("answer", "said"),
    [
        (ContestantAnswer(model="", problem="no model"), "the operator of this installation has not set one up"),
        (ContestantAnswer(model="m-1", problem="no answer"), "m-1 (a bot, not ranked) gave no answer."),
        (ContestantAnswer(model="m-1", problem="invalid answer"), "m-1 (a bot, not ranked) gave no valid answer."),
        (
            ContestantAnswer(model="m-1", given=AnswerInput(options=("raises", "copies")), verdict="wrong", credit=0.5),
            "m-1 (a bot, not ranked) answered, 50% right: ",
        ),
        (
            ContestantAnswer(
                model="m-1", given=AnswerInput(code="x = 1\n" + "y" * 2000), verdict="accepted", credit=1.0
            ),
            "m-1 (a bot, not ranked) submitted, right:",
        ),
        (ContestantAnswer(model="m-1", given=AnswerInput(text="*so*")), "m-1 (a bot, not ranked) answered:"),
        (
            ContestantAnswer(model="m-1", given=AnswerInput(text="3"), verdict="time limit", credit=0.0),
            "m-1 (a bot, not ranked) answered, took too long:",
        ),
    ],
)
def test_a_reveal_shows_what_the_model_answered(answer: ContestantAnswer, said: str) -> None:
    card = reveals.reveal_card(REVEAL.model_copy(update={"contestant": answer}))
    told = card_text(card, 200)
    assert said in told and "y" * 1500 not in told
    assert "(a bot, not ranked)" not in shown("reveal")


def test_the_reveal_of_an_open_question_calls_no_answer_right_or_wrong() -> None:
    card = reveals.reveal_card(REVEAL.model_copy(update={"key": OPEN_KEY, "right": 0, "first": None}))
    told = card_text(card, 200)
    assert "Every answer earned points for taking part." in told
    assert "answered right" not in told and "wrong" not in told.lower()
    assert {"My result", "Confirm others' answers"} <= {button.label for button in card.buttons}
    assert "Confirm others' answers" not in shown("reveal")


@pytest.mark.parametrize(
    ("answers", "right", "unjudged", "said"),
    [
        (3, 2, 1, "2 of 2 answered right. 1 answer is not judged yet."),
        (2, 0, 2, "2 answers are not judged yet."),
        (3, 1, 0, "1 of 3 answered right."),
    ],
)
def test_no_answer_without_a_verdict_is_called_wrong(answers: int, right: int, unjudged: int, said: str) -> None:
    counts = {"answers": answers, "right": right, "unjudged": unjudged, "mean_credit": 0.0, "first": None}
    reveal = REVEAL.model_copy(update=counts)
    outcome = OutcomePost.model_validate(reveal.model_dump(include=set(OutcomePost.model_fields) - {"kind"}))
    closed = PostUpdate(post=QUESTION_POST, answers=answers, right=right, unjudged=unjudged)
    cards = reveals.reveal_card(reveal), reveals.outcome_card(outcome), reveals.update_card(closed)
    for card in cards:
        assert said in " ".join(card_text(card, 200).split())
        assert card.summary.endswith(said)


def test_the_days_question_reads_whole() -> None:
    assert (
        shown("question")
        == """\
Question for Thursday 5 March

What does x.t().view(-1) do for a 2×3 tensor x?

  •  It raises, for the strides do not fit.
  •  It copies the data.
  •  It gives a view of shape (6,).

3 options; one is right.

Open until Thursday 5 March, 17:00 (Europe/Berlin). Answers stay private until
then; your last one counts.

senior · tensors · question stride-view

[1] Answer"""
    )


def test_a_recorded_answer_reads_whole() -> None:
    assert (
        shown("recorded")
        == """\
Your answer is recorded

You chose B.

You can change it until 17:00 (Europe/Berlin).

What does x.t().view(-1) do for a 2×3 tensor x?

  A  It raises, for the strides do not fit.
  B  It copies the data.
  C  It gives a view of shape (6,).

[A]   [B] (your answer)   [C]"""
    )


def test_the_reveal_reads_whole() -> None:
    assert (
        shown("reveal")
        == """\
The answer

Right: It raises, for the strides do not fit.

Wrong: It copies the data.
view never copies.

Wrong: It gives a view of shape (6,).
No stride walks it.

Why: A transposed tensor is not contiguous.

How it went: 2 of 3 answered right. First with the right answer: Ann.

It raises, for the strides do not…  █████████████░░░░░░░ 2 (67%) right
It copies the data.                 ███████░░░░░░░░░░░░░ 1 (33%) wrong
It gives a view of shape (6,).      ░░░░░░░░░░░░░░░░░░░░ 0 (0%) wrong

Points for this question
Name                             │ Points │ Streak
─────────────────────────────────┼────────┼─────────
Ann                              │    +15 │ 7 rounds
Bob *[x](http://evil)* @everyone │    +15 │ 1 round

Top of the board
Rank │ Name │ Points │ Answers │ Right │ Streak
─────┼──────┼────────┼─────────┼───────┼───────
   1 │ Ann  │   1240 │      12 │  100% │      7

Proof (run it to see what is true):

    import torch
    torch.ones(2, 3).t().view(-1)

Further reading: https://pytorch.org/docs/stable/tensor_view.html

From pytorch-core · tensors.md, line 12 · license MIT

senior · tensors · question stride-view

Next question: Friday 6 March, 09:00 (Europe/Berlin).

[1] My result   [2] Practice   [3] More on tensors   [4] The board
[5] Report a mistake"""
    )


def test_a_verdict_reads_whole_and_keeps_hidden_inputs_hidden() -> None:
    assert (
        shown("verdict wrong")
        == """\
Your code: wrong

Your code is not right yet. 1 of 3 cases passed.

Case 2 gave a wrong result:

Call:

    softmax(tensor([1e4]))

Expected:

    tensor([1.])

Got:

    tensor([nan])

at [0]: expected 1, got nan

Cases
Case │ Kind    │ Verdict
─────┼─────────┼────────────────────
   1 │ visible │ passed
   2 │ visible │ gave a wrong result
   3 │ hidden  │ took too long

It printed:

    hello

Your code:

    def softmax(x):
        return x.exp() / x.exp().sum()

You can submit again until Thursday 5 March, 17:00 (Europe/Berlin); the last one
counts.

senior · tensors · question write-softmax

[1] Change my answer"""
    )


def test_code_that_failed_in_practice_can_be_tried_again_and_shows_no_solution_by_itself() -> None:
    card = CARDS["verdict wrong in practice"]
    assert [button.label for button in card.buttons] == ["Try again", "Show the solution", "Next card"]
    assert "The answer" not in shown("verdict wrong in practice")
    assert "Next card" in [button.label for button in CARDS["verdict in practice"].buttons]


def test_examples_are_shown_before_anything_is_run() -> None:
    assert "Examples:\n\n    >>> softmax(tensor([0., 0.]))\n    tensor([0.5, 0.5])" in shown("ask code")


def test_what_fails_on_our_side_never_blames_the_member() -> None:
    for name in ("unavailable", "fault", "verdict ours"):
        assert "our fault" in shown(name).replace("\n", " ")


def test_an_empty_form_asks_for_its_first_field() -> None:
    form = FORMS["ask value"]
    assert FormSession(form).question(80) == (
        "Your answer\nA Python literal, such as 3, (2, 3), True, 'float32' or [1, 2].\nType one line."
    )
