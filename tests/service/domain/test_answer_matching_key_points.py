"""Key points: identifiers and numbers match whole, words of prose by their stem."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from service.domain.answer_matching import match_key_points

parts = st.text("abcxyz0189_", min_size=1, max_size=8)
identifiers = parts.filter(lambda name: not name[0].isdigit() and any(c.isdigit() or c == "_" for c in name))
fillers = st.text("abcxyz018_", max_size=4)
numbers = st.decimals(allow_nan=False, allow_infinity=False, min_value=-1000, max_value=1000, places=3)


def mentions(point: str, text: str) -> bool:
    return match_key_points([point], text)[0]


@given(identifiers, fillers, fillers)
def test_an_identifier_matches_itself_and_nothing_longer_or_shorter(name: str, before: str, after: str) -> None:
    written = before + name + after
    said = f"one uses {written} here"
    assert mentions(f"`{name}`", said) == (written == name)
    assert mentions(f"uses {name}", said) == (written == name)
    assert mentions(f"**{name}**", said) == (written == name)


@given(identifiers, identifiers)
def test_two_identifiers_match_only_when_they_are_one(one: str, other: str) -> None:
    assert mentions(f"`{one}`", f"it is {other}.") == (one == other)


@given(numbers, numbers)
def test_numbers_match_by_value(one: object, other: object) -> None:
    assert mentions(f"is {one}", f"that is {other}, surely") == (one == other)
    assert mentions(f"`{one}`", f"x={one}")


@pytest.mark.parametrize(
    ("point", "text"),
    [
        ("`float16`", "use float16"),
        ("`torch.no_grad()`", "wrap it in no_grad"),
        ("`no_grad`", "with torch.no_grad():"),
        ("`x.grad`", "read x.grad."),
        ("`view`", "View keeps the storage"),
        ("`view`", "Because: x.view(3) needs strides"),
        ("`requires_grad=True`", "requires_grad must be True"),
        ("`dim=-1`", "sum over dim=-1"),
        ("`@`", "a @ b"),
        ("`1e-3`", "an lr of 0.001"),
        ("lr is 0.10", "the lr is .1"),
        ("the rate is 50%", "a rate of 50 %"),
    ],
)
def test_names_and_numbers_that_are_there(point: str, text: str) -> None:
    assert mentions(point, text)


@pytest.mark.parametrize(
    ("point", "text"),
    [
        ("`float16`", "use bfloat16"),
        ("`bfloat16`", "use float16"),
        ("`float`", "use float16"),
        ("`torch.tensor`", "use torch.Tensor"),
        ("`torch.tensor`", "Use Torch.Tensor"),
        ("`torch.no_grad`", "use np.no_grad"),
        ("`no_grad`", "set no_grad_ here"),
        ("`grad`", "gradients"),
        ("`dim=-1`", "sum over dim=1"),
        ("`1`", "bfloat16 is 16 bit wide, 1.5 of 10"),
        ("version 2.1", "version 2.1.3"),
        ("uses 16 bits", "uses 32 bits"),
        ("`@`", "a times b"),
        ("`None`", "none"),
    ],
)
def test_names_and_numbers_that_are_not(point: str, text: str) -> None:
    assert not mentions(point, text)


@pytest.mark.parametrize(
    ("point", "text"),
    [
        ("**allocation** is avoided", "It allocates nothing new"),
        ("**Contiguous** memory", "the tensor has to be contiguous"),
        ("Normalisation over the batch", "normalizes each batch"),
        ("**in-place** operations", "modified in place"),
        ("A copy is made of the data, e.g. of a slice", "it copies the data of slices"),
        ("It shares its storage with the original tensor", "both tensors share one storage"),
        ("**calls `view`** first", "call view"),
        ("Gradients are stopped", "this stops the gradient"),
        ("it is so", "yes, it is so"),
    ],
)
def test_prose_that_is_there(point: str, text: str) -> None:
    assert mentions(point, text)


@pytest.mark.parametrize(
    ("point", "text"),
    [
        ("**shape** is kept", "the share is kept"),
        ("**contiguous memory**", "it is contiguous"),
        ("It shares its storage with the original tensor", "a tensor is made"),
        ("**calls `view`** first", "calls a viewer"),
        ("it is so", "no"),
        ("", "anything"),
        ("anything", ""),
        ("**`view`**", "reviewed"),
    ],
)
def test_prose_that_is_not(point: str, text: str) -> None:
    assert not mentions(point, text)


def test_all_marked_terms_of_a_point_are_needed() -> None:
    point = "`detach` gives a tensor that **shares memory** but has no history"
    assert mentions(point, "detach() keeps sharing the memory")
    assert not mentions(point, "detach() copies")
    assert not mentions(point, "memory is shared")


def test_one_answer_for_each_point_in_order() -> None:
    points = ["`float16`", "**range**", "16 bits"]
    assert match_key_points(points, "bfloat16 has the range of float32 in 16 bits") == [False, True, True]
    assert match_key_points([], "anything") == []


@given(st.lists(st.text(max_size=40), max_size=4), st.text(max_size=80))
def test_any_text_is_judged_and_always_alike(points: list[str], text: str) -> None:
    found = match_key_points(points, text)
    assert len(found) == len(points)
    assert found == match_key_points(points, text)


@given(st.lists(st.sampled_from(["view", "`no_grad`", "**memory**", "0.5", "float16", "shares storage"]), max_size=3))
def test_the_points_themselves_mention_every_point(points: list[str]) -> None:
    said = " and then ".join(point.replace("`", "").replace("*", "") for point in points)
    assert all(match_key_points(points, said))


def test_smart_text_in_the_answer_is_undone() -> None:
    assert mentions("`dim=-1`", "dim=−1")
    assert mentions("`a < b`", "a &lt; b")


@pytest.mark.timeout(5)
def test_a_long_answer_takes_no_time() -> None:
    assert (
        match_key_points(["`needle`", "1e5"] * 10, "." * 2000 + "a " * 20000 + "`" * 2000 + "9" * 2000) == [False] * 20
    )
