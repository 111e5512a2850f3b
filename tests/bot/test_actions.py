"""Action ids: what a button carries comes back as it was, and anything else is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core import actions
from bot.core.actions import BadAction, Choose, Fill, Import, Next, Open, Rate, Report, ShowBoard, Snippet, Try

refs = st.builds(lambda kind, number: f"{kind}{number}", st.sampled_from("rp"), st.integers(0, 10**18 - 1))
words = st.text(st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc")), min_size=1, max_size=60)
levels = st.sampled_from(["", "mid", "senior", "principal"])
any_action = st.one_of(
    st.builds(Open, refs),
    st.builds(Choose, refs, words),
    st.builds(Fill, refs),
    st.builds(Try, refs),
    st.builds(Next, levels, st.just("") | words),
    st.builds(Rate, refs, st.sampled_from(["again", "hard", "good", "easy"])),
    st.builds(Report, st.just("") | words),
    st.builds(actions.Explain, words),
    st.just(Snippet()),
    st.builds(ShowBoard, st.sampled_from(["day", "all"]), st.sampled_from(["channel", "workspace"]), words),
    st.builds(actions.Privacy, st.sampled_from(["see", "erase"])),
    st.builds(Import, st.sampled_from(["check", "apply"])),
    st.builds(actions.Settle, st.integers(0, 10**17).map(str), st.sampled_from(["dismissed", "fixed"])),
)


@given(any_action)
def test_what_a_button_carries_comes_back_as_it_was(action: actions.Action) -> None:
    text = actions.encode(action)
    assert len(text) <= actions.MAX_LENGTH
    assert actions.decode(text) == action


@given(st.text(max_size=120))
def test_any_other_text_is_refused_or_stands_for_itself(text: str) -> None:
    try:
        action = actions.decode(text)
    except BadAction as error:
        assert "/quiz today" in str(error)
    else:
        assert actions.decode(actions.encode(action)) == action


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Open("r12"), "a:r12"),
        (Choose("r12", "b"), "o:r12:b"),
        (Choose("r12", "std::move"), "o:r12:std::move"),
        (Fill("p5"), "f:p5"),
        (Try("r12"), "x:r12"),
        (Next("senior", "tensors/memory"), "n:senior:tensors/memory"),
        (Rate("p5", "good"), "g:p5:good"),
        (Report("q-1"), "e:q-1"),
        (Snippet(), "u"),
        (ShowBoard("week", "channel"), "l:week:channel:"),
    ],
)
def test_ids_stay_what_they_are_because_old_cards_are_still_pressed(action: actions.Action, text: str) -> None:
    assert actions.encode(action) == text


@pytest.mark.parametrize(
    "text",
    ["", "a", "a:", "a:q12", "a:r12:b", "o:r12", "o:r12:", "g:p5:great", "zz:r1", "u:x", "a:r12\n", "e:" + "q" * 99],
)
def test_malformed_ids_are_refused(text: str) -> None:
    with pytest.raises(BadAction):
        actions.decode(text)


def test_an_option_id_too_long_for_a_button_does_not_fit() -> None:
    assert actions.fits(Choose("r1", "x" * 90))
    assert not actions.fits(Choose("r1", "x" * 99))
    assert not actions.fits(Choose("r1", "two\nlines"))
    with pytest.raises(ValueError, match="100 characters"):
        actions.encode(Choose("r1", "x" * 99))
