"""Views of questions never contain what only the key may say."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions.model import Question, SourceLocation
from service.rounds.views import build_answer_key, build_question_view
from service.store.questions import Version, find_version
from tests.service.daily_channel import choice, code, prose, value
from tests.service.scenes import Stage, question


def version(question: Question) -> Version:
    return Version(7, 3, 2, "A bank", "CC BY 4.0", question)


@pytest.mark.parametrize(
    ("question", "secret"),
    [
        (choice(proof="assert 1"), ("clone` copies", "another look", "assert 1")),
        (value(), ("(2, 3)",)),
        (prose(), ("They share storage", "is shared")),
        (code(), ("return 2 * x", "rng", "x + 1")),
    ],
)
def test_a_view_holds_nothing_of_the_key(question: Question, secret: tuple[str, ...]) -> None:
    said = build_question_view(version(question), "r1", 5).model_dump_json()
    assert [part for part in secret if part in said] == []


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        (choice(), "`x.view(-1)`"),
        (value(), "(2, 3)"),
        (prose(), "They share storage."),
        (code(), "def double(x):\n    return 2 * x\n"),
    ],
)
def test_a_key_says_what_is_right(question: Question, answer: str) -> None:
    assert build_answer_key(version(question), "r1").answer == answer


def test_a_key_counts_who_chose_what_with_the_reason() -> None:
    options = {option.id: option for option in build_answer_key(version(choice()), "r1", Counter("aabz")).options}
    assert {id_: option.chosen_by for id_, option in options.items()} == {"a": 2, "b": 1, "c": 0}
    assert (options["b"].right, options["b"].reason) == (False, "`clone` copies")


def test_source_and_license_stand_with_the_question() -> None:
    view = build_question_view(version(choice()), "p7")
    assert (view.id, view.version, view.source, view.license, view.several) == (
        "views", 2, "A bank", "CC BY 4.0", False,
    )  # fmt: skip


async def test_a_key_names_the_current_location_of_its_question(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question("views"))
    first = (await stage.version("views")).id
    await stage.bank(question("views", place=SourceLocation("/srv/banks/new.md", 30, 36)))
    assert (await stage.version("views")).id == first, "nothing of what is asked has changed"
    found = await find_version(stage.session, ada.workspace_id, first)
    assert found is not None
    assert build_answer_key(found).place == "new.md, line 30"
    await stage.bank(question("views", prompt="Put better?", place=SourceLocation("new.md", 50, 56)))
    then = await find_version(stage.session, ada.workspace_id, first)
    assert then is not None
    assert build_answer_key(then).place == "bank.md, line 3", "an old version stands where it stood"


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_every_order_holds_every_option_and_the_post_and_the_key_agree(member: int, round_id: int) -> None:
    asked, ref = version(choice()), f"r{round_id}"
    assert {option.id for option in build_question_view(asked, ref, member).options} == {"a", "b", "c"}
    posted = [option.id for option in build_question_view(asked, ref).options]
    assert [option.id for option in build_answer_key(asked, ref).options] == posted
