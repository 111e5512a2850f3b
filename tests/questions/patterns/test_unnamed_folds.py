"""Keys in folds whose summary is no known word for an answer."""

from __future__ import annotations

import pytest

from questions import read_bank

OPTIONS = "- a. a copy\n- b. a view\n- c. a leaf\n"


def keys_of(*parts: str) -> list[list[str]]:
    reading = read_bank("".join(parts), name="a.md")
    assert reading.unaccounted() == ()
    return [[option.text for option in one.options if option.right] for one in reading.bank.questions]


def folded(said: str, summary: str = "Answear") -> str:
    return f"<details>\n    <summary>{summary}</summary>\n    {said}\n</details>\n\n"


@pytest.mark.parametrize("summary", ["Answear", "Réponse à lire", "Look"])
@pytest.mark.parametrize(
    ("said", "keys"),
    [
        ("b. a view", ["a view"]),
        ("- b. a view", ["a view"]),
        ("- b. a view\n    - C. a leaf", ["a view", "a leaf"]),
        ("b. a view\n    It copies nothing.", ["a view"]),
    ],
)
def test_a_fold_with_the_letter_and_text_of_an_option_is_the_key(summary: str, said: str, keys: list[str]) -> None:
    assert (
        keys_of(*(f"## Question {n}\nWhat does `{n}` give?\n{OPTIONS}{folded(said, summary)}" for n in (1, 2, 3)))
        == [keys] * 3
    )


@pytest.mark.parametrize("said", ["b. a leaf", "Look at b. a view", "d. a hook", "b. a view, c. a leaf"])
def test_other_folds_give_no_key(said: str) -> None:
    assert keys_of(*(f"## Question {n}\nWhat does `{n}` give?\n{OPTIONS}{folded(said)}" for n in (1, 2, 3))) == [[]] * 3
