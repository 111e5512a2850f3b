"""Ids made of prompts."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from questions.ids import slug, with_ids
from questions.model import Question, SourceLocation


def question(prompt: str, id: str = "", number: str = "") -> Question:
    return Question(id, "open", prompt, SourceLocation("a.md", 1, 1), number=number)


def test_slugs() -> None:
    assert slug("What is a **View** in `x.t()`?") == "what-is-a-view-in-x-t"
    assert slug("Why is $\\text{float16}$ used?") == "why-is-float16-used"
    assert slug("Größe über α?") == "große-uber-α"
    assert slug("???") == "question"
    assert slug("word " * 40) == "-".join(["word"] * 12)
    assert slug("x" * 100) == "x" * 60


def test_an_authors_id_is_kept_and_generated_ids_avoid_it() -> None:
    first, second = with_ids([question("What?"), question("Else?", id="what")])
    assert second.id == "what"
    assert first.id.startswith("what-") and len(first.id) == len("what-") + 6


def test_equal_prompts_get_different_ids_by_position() -> None:
    one, two, three = (q.id for q in with_ids([question("What?", number=n) for n in "123"]))
    assert one == "what" and len({one, two, three}) == 3
    assert with_ids([question("What?", number="1"), question("What?", number="3")])[1].id == three


@given(st.lists(st.sampled_from(["What?", "what", "What is it?", "", "?"]), max_size=12))
def test_ids_are_unique_and_the_same_each_time(prompts: list[str]) -> None:
    asked = [question(prompt) for prompt in prompts]
    ids = [one.id for one in with_ids(asked)]
    assert len(set(ids)) == len(ids)
    assert [one.id for one in with_ids(asked)] == ids


@given(st.text())
def test_a_slug_is_short_and_never_empty(prompt: str) -> None:
    assert 0 < len(slug(prompt)) <= 60
    assert slug(prompt) == slug(f"  {prompt}  ") or prompt != prompt.strip()
