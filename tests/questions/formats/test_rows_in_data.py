"""Questions in data that are lists of texts, decks of notes, or arguments of calls."""

from __future__ import annotations

import json

import pytest

from questions import read_bank
from questions.model import Question


def _right(question: Question) -> list[str]:
    return [option.text for option in question.options if option.right]


CHOICES = """
quiz = [
    ("question", "a", "b", "c", "answer", "category", "source"),
    ("Which call copies?", "view", "clone", "detach", "clone", "tensors", "exam 2021"),
    ("Which call frees gradients?", "zero_grad", "step", "clone", "zero_grad", "autograd", "exam 2021"),
    ("What is a leaf?", "A copy", "A node without inputs", "A view", "A node without inputs", "autograd", "exam 2022"),
    ("Which loss takes logits?", "NLLLoss", "CrossEntropyLoss", "L1Loss", "CrossEntropyLoss", "losses", "exam 2022"),
]
"""
CARDS = """
cards = [
    ("What is a sigmoid?", "An S-shaped curve", "ML"),
    ("What is a cost function?", "What training minimizes", "ML"),
    ("What is dropout?", "Units are left out at random", "DL"),
    ("Softmax", "It turns scores into probabilities", "DL"),
    ("What is an epoch?", "One pass over all data", "ML"),
    ("What is a batch?", "Examples of one step", "ML"),
]
"""


def test_tuples_below_a_tuple_of_names_are_rows_of_a_table() -> None:
    questions = read_bank(CHOICES, name="quiz.py").bank.questions
    assert [_right(one) for one in questions] == [
        ["clone"],
        ["zero_grad"],
        ["A node without inputs"],
        ["CrossEntropyLoss"],
    ]
    assert (questions[0].topic, len(questions[0].options), questions[0].place.line) == ("tensors", 3, 4)


def test_tuples_without_names_are_cards_with_a_topic() -> None:
    questions = read_bank(CARDS, name="cards.py").bank.questions
    assert [one.answer for one in questions][:2] == ["An S-shaped curve", "What training minimizes"]
    assert [one.topic for one in questions] == ["ml", "ml", "dl", "dl", "ml", "ml"]


@pytest.mark.parametrize(
    "rows",
    [
        [["Berlin", "Paris", "Rome"]] * 6,
        [["What is it?", "a copy", "a view", "a leaf"]] * 6,
        [["What is it?", "a copy", "x"], ["What?", "a view"]] * 6,
        [["loss", "step", "time"], ["0.5", "1", "3"], ["0.4", "2", "3"], ["0.3", "3", "3"], ["0.2", "4", "3"]],
    ],
    ids=["no question", "no key", "uneven", "numbers"],
)
def test_other_lists_of_texts_are_no_questions(rows: list[list[str]]) -> None:
    assert read_bank(f"rows = {rows!r}", name="rows.py").bank.questions == ()


def _deck(notes: list[dict[str, object]], children: list[dict[str, object]] | None = None) -> dict[str, object]:
    return {"__type__": "Deck", "name": "ML", "children": children or [], "notes": notes}


def _note(*fields: str) -> dict[str, object]:
    return {"__type__": "Note", "fields": list(fields), "note_model_uuid": "basic", "tags": ["NLP"]}


def test_notes_of_a_deck_have_the_fields_of_their_model_also_in_decks_within() -> None:
    model = {"crowdanki_uuid": "basic", "flds": [{"name": "Front"}, {"name": "Back"}, {"name": "Difficulty"}]}
    inner = _deck([_note("What is NER?", "<div>Finding <b>names</b></div>", "easy")])
    deck = {**_deck([_note("What is TF-IDF?", "A weight", "easy"), _note("odd")], [inner]), "note_models": [model]}
    questions = read_bank(json.dumps(deck, indent=1), name="deck.json").bank.questions
    assert [(one.prompt, one.answer, one.tags) for one in questions] == [
        ("What is TF-IDF?", "A weight", ("NLP",)),
        ("What is NER?", "Finding **names**", ("NLP",)),
    ]


def test_gaps_of_notes_are_questions_and_pictures_alone_are_none() -> None:
    model = {"crowdanki_uuid": "basic", "flds": [{"name": "Front"}, {"name": "Back"}]}
    gaps = _note("{{c1::A view}} shares its {{c2::memory::what}}.", "It has other strides.")
    deck = {**_deck([_note("What is a leaf?", "A tensor without a history"), gaps]), "note_models": [model]}
    questions = read_bank(json.dumps(deck, indent=1), name="deck.json").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        ("What is a leaf?", "A tensor without a history"),
        ("[…] shares its memory.", "A view"),
        ("A view shares its [what].", "memory"),
    ]
    assert questions[0].place.line < questions[1].place.line <= questions[2].place.line


def test_notes_without_their_models_have_a_front_and_a_back() -> None:
    notes = [_note("What is a leaf?", "A tensor"), _note('<br><img src="a.png">', "A graph"), _note("Views?", "Share")]
    questions = read_bank(json.dumps(notes, indent=1), name="notes.json").bank.questions
    assert [one.prompt for one in questions] == ["What is a leaf?", "Views?"]


CALLS = r"""
import { q, opts, SETUP } from "./common";

export const questions = [
  q({ number: 1, prompt: "Which call copies?", options: opts(["A", "view"], ["B", "clone"]), correct: ["B"] }),
  q({ number: 2, prompt: "Which are views?", options: opts(["A", "t"], ["B", "view"]), correct: ["A", "B"],
      setup: SETUP }),
];
"""


def test_calls_in_programs_stand_for_their_arguments() -> None:
    first, second = read_bank(CALLS, name="quiz.ts").bank.questions
    assert (_right(first), _right(second)) == (["clone"], ["t", "view"])
    assert [option.text for option in first.options] == ["view", "clone"]


@pytest.mark.parametrize(
    "program",
    [
        'const q = [{ question: t("quiz.first"), options: ["a", "b"], answer: 0 }];',
        'const q = [{ question: "Which?", options: shuffle(["a", "b"]), answer: 0 }];',
        'const q = [{ question: "Which?", options: [A, "b", "c"], answer: 0 }];',
        'const q = [{ question: "Which?", options: opts(), answer: 0 }];',
        'const q = [{ question: "Which?", options: opts(["a", "b"], answer: 0 }];',
    ],
    ids=["translation", "shuffled", "unknown option", "no argument", "open bracket"],
)
def test_calls_that_hide_what_they_stand_for_are_not_read(program: str) -> None:
    assert read_bank(program, name="quiz.js").bank.questions == ()


def test_a_conversation_may_have_a_question_and_no_answer_yet() -> None:
    turns = [
        [{"role": "user", "content": "How does dropout work?"}],
        [{"role": "system", "content": "Be short."}, {"role": "user", "content": "Explain how RoPE works."}],
        [{"role": "user", "content": "What is LoRA?"}],
        [{"role": "user", "content": "Thanks, that helped."}],
    ]
    text = "\n".join(json.dumps({"eval_id": at, "msg": one}) for at, one in enumerate(turns))
    questions = read_bank(text, name="eval.jsonl").bank.questions
    assert [(one.prompt, one.answer) for one in questions] == [
        ("How does dropout work?", None),
        ("Explain how RoPE works.", None),
        ("What is LoRA?", None),
    ]
