"""Texts whose lines are terms and definitions, and texts whose lines have the same form and define nothing."""

from __future__ import annotations

import pytest

from questions import read_bank


@pytest.mark.parametrize(
    "text",
    [
        "View: a tensor that shares memory\nLeaf: a tensor made by the user",  # too few
        "To: Anna Miller\nFrom: Bob Miller\nSubject: lunch on Friday",
        "Monday: we met with the team\nTuesday: a plan of the work\nWednesday: the plan of the rest",
        "Anna: the model does not converge\nBob: did you try a smaller rate?\nCarl: a good idea",
        "Anna: the model does not converge\nBob: we try a smaller rate\nCarl: a good idea",
        "name: the reader of texts\nversion: one of two\nlicense: the one of MIT",
        "Step 1: the loss is computed\nStep 2: the gradient is computed\nStep 3: the weights are moved",
        "View: Shared\nLeaf: User\nHook: Function",
        "View: shared\nLeaf: user\nHook: function",
        "Anna: Builds the first model\nBob: Reads all the papers\nCarl: Writes about the results",
        "Paris: Big\nBerlin: Old\nRome: Warm",
        "view: a tensor that shares memory\nview: a tensor without memory\nleaf: a tensor made by the user",
        "view: a tensor that shares memory\nleaf: a tensor made by the user\nA line without a mark",
        "Why so: a reason that is long\nview: a tensor that shares memory\nA long term of too many words: a text",
        "def made(n): return the list\ndef read(n): return the text\ndef write(n): return the rest",
        "view\t12\nleaf\t13\nhook\t14",
        "Anna\tMiller\nBob\tMeyer\nCarl\tSmith",
    ],
)
def test_texts_that_define_nothing_have_no_questions(text: str) -> None:
    assert read_bank(text, name="a.txt").bank.questions == ()


def test_words_and_their_translations_are_cards() -> None:
    text = "dog\tHund\ncat\tKatze\nhorse\tPferd\ncow\tKuh\npig\tSchwein"
    assert [(one.prompt, one.answer) for one in read_bank(text, name="a.txt").bank.questions][:2] == [
        ("dog", "Hund"),
        ("cat", "Katze"),
    ]


@pytest.mark.parametrize("title", ["Glossary", "Key terms:", "ML vocabulary", "术语表"])
def test_a_title_announces_definitions_of_any_form(title: str) -> None:
    text = f"{title}\n\nView: Shared memory\nLeaf: User tensor\nHook: Some function\n"
    assert [one.prompt for one in read_bank(text, name="a.txt").bank.questions] == ["View", "Leaf", "Hook"]


def test_markdown_is_never_read_as_a_glossary() -> None:
    text = "View: a tensor that shares memory\nLeaf: a tensor made by the user\nHook: a function that is called\n"
    assert read_bank(text, name="a.md").bank.questions == ()
