"""Action ids: what a button carries comes back as it was, and anything else is refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core import actions
from bot.core.actions import (
    NO_FILTER,
    AcceptSuggestion,
    BadAction,
    Choose,
    Compare,
    ConfirmMarks,
    Credit,
    DeclineSuggestion,
    EditSuggestion,
    Fill,
    Hint,
    Import,
    Mark,
    Next,
    NextOf,
    Open,
    PeerAnswers,
    PracticeFilter,
    Report,
    Review,
    ReviewSuggestion,
    ShareAnswer,
    ShowBoard,
    Snippet,
    Suggest,
    Try,
    ref_with_filter,
    split_ref,
)
from bot.core.limits import ACTION_ID
from questions.model import KINDS
from service.wire import CONFIDENCES

bare_refs = st.builds(lambda kind, number: f"{kind}{number}", st.sampled_from("rpd"), st.integers(0, 10**18 - 1))
words = st.text(st.characters(min_codepoint=32, exclude_categories=("Cs", "Cc")), min_size=1, max_size=60)
channels = st.text(st.sampled_from("0123456789CGDab-_"), min_size=1, max_size=21)
levels = st.sampled_from(["", "mid", "senior", "principal"])
wishes = st.builds(PracticeFilter, st.just("") | words, levels, st.sampled_from(["", *KINDS]))
refs = st.builds(ref_with_filter, bare_refs, wishes)
numbers = st.integers(0, 10**18 - 1).map(str)
any_action = st.one_of(
    st.builds(Open, refs),
    st.builds(actions.OpenCard, refs),
    st.builds(Choose, refs, words.map(lambda word: word[:35])),
    st.builds(actions.Confide, refs, st.sampled_from(CONFIDENCES), words.map(lambda word: word[:25])),
    st.builds(Fill, refs),
    st.builds(Try, refs),
    st.builds(Hint, refs, st.sampled_from(("ask", "take"))),
    st.builds(Next, levels, st.just("") | words),
    st.builds(NextOf, st.sampled_from(KINDS), levels, st.just("") | words),
    st.builds(Compare, refs),
    st.builds(Mark, refs),
    st.builds(ShareAnswer, refs),
    st.builds(PeerAnswers, refs, numbers),
    st.builds(ConfirmMarks, refs, numbers),
    st.builds(Credit, numbers, st.integers(0, 100).map(str)),
    st.builds(actions.GiveFeedback, st.just("r12"), st.sampled_from(["yes", "no"])),
    st.builds(actions.ShowSpeed, st.just("r12"), st.sampled_from(["time", "memory"])),
    st.builds(actions.ShareSolution, st.just("r12"), st.sampled_from(["on", "off"])),
    st.builds(actions.RespondDuel, numbers, st.sampled_from(["accept", "decline"])),
    st.builds(actions.Rematch, numbers),
    st.builds(actions.ShowDuel, numbers),
    st.just(actions.ShowDuels()),
    st.just(actions.ShowLadder()),
    st.builds(actions.JoinTournament, numbers),
    st.just(actions.LeaveTournament()),
    st.just(actions.ShowTournament()),
    st.builds(Report, st.just("") | words),
    st.builds(actions.Explain, words),
    st.just(Snippet()),
    st.builds(
        actions.ShowContest, st.sampled_from(["rookies", "improved"]), st.just("week"), st.just("channel"), words
    ),
    st.builds(ShowBoard, st.sampled_from(["day", "all"]), st.sampled_from(["channel", "workspace"]), words),
    st.builds(actions.Privacy, st.sampled_from(["see", "erase"])),
    st.builds(Import, st.sampled_from(["check", "apply"])),
    st.builds(Review, numbers),
    st.just(Suggest()),
    *(st.builds(kind, numbers) for kind in (ReviewSuggestion, EditSuggestion, DeclineSuggestion)),
    st.builds(AcceptSuggestion, numbers, st.text("0123456789abcdef", min_size=8, max_size=8)),
    st.builds(actions.Settle, st.integers(0, 10**17).map(str), st.sampled_from(["dismissed", "fixed"])),
    st.just(actions.Today()),
    st.builds(actions.Setup, channels, st.just("") | words),
    st.builds(actions.SetupAt, st.sampled_from(["0000", "0930", "2359"]), channels, st.just("") | words),
    st.builds(actions.Begin, st.sampled_from(["0000", "0930", "2359"]), channels, st.just("") | words),
    st.builds(actions.PostNow, st.integers(0, 10**17).map(str)),
)


@given(any_action)
def test_what_a_button_carries_comes_back_as_it_was(action: actions.Action) -> None:
    text = actions.encode(action)
    assert len(text) <= ACTION_ID
    assert actions.decode(text) == action


@given(bare_refs, wishes)
def test_a_practised_question_leads_on_to_the_like_and_stays_itself(ref: str, wanted: PracticeFilter) -> None:
    bare, kept = split_ref(ref_with_filter(ref, wanted))
    assert bare == ref
    assert kept in (wanted, NO_FILTER)
    if ref.startswith("p") and ":" not in wanted.topic and len(wanted.topic) <= 20:
        assert kept == wanted
    if ref[0] in "rd":
        assert kept == NO_FILTER


@given(wishes)
def test_the_next_card_matches_the_filter(wanted: PracticeFilter) -> None:
    following = actions.decode(actions.encode(wanted.next))
    assert isinstance(following, Next | NextOf)
    kind = following.kind if isinstance(following, NextOf) else ""
    assert PracticeFilter(following.topic, following.level, kind) == wanted


@given(st.text(max_size=120))
def test_any_other_text_is_refused_or_stands_for_itself(text: str) -> None:
    try:
        action = actions.decode(text)
    except BadAction:
        return
    assert actions.decode(actions.encode(action)) == action


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (Open("r12"), "a:r12"),
        (actions.OpenCard("r12"), "d:r12"),
        (Choose("r12", "b"), "o:r12:b"),
        (Choose("r12", "std::move"), "o:r12:std::move"),
        (Fill("p5"), "f:p5"),
        (Try("r12"), "x:r12"),
        (Hint("r12", "take"), "hi:r12:take"),
        (Next("senior", "tensors/memory"), "n:senior:tensors/memory"),
        (NextOf("code", "senior", "tensors/memory"), "m:code:senior:tensors/memory"),
        (Compare("r5"), "oc:r5"),
        (Mark("p5"), "om:p5"),
        (ShareAnswer("r5"), "os:r5"),
        (PeerAnswers("r5", "7"), "op:r5:7"),
        (ConfirmMarks("r5", "7"), "ok:r5:7"),
        (Credit("7", "50"), "og:7:50"),
        (Fill("p5,code,,tensors"), "f:p5,code,,tensors"),
        (Choose("p5,,mid,", "b"), "o:p5,,mid,:b"),
        (Open("d12"), "a:d12"),
        (actions.ShowSpeed("r12", "time"), "rs:r12:time"),
        (actions.ShareSolution("r12", "on"), "rc:r12:on"),
        (actions.RespondDuel("7", "accept"), "dr:7:accept"),
        (actions.Rematch("7"), "dg:7"),
        (actions.ShowDuel("7"), "dv:7"),
        (actions.ShowDuels(), "dm"),
        (actions.ShowLadder(), "dl"),
        (actions.JoinTournament("7"), "tj:7"),
        (actions.LeaveTournament(), "tl"),
        (actions.ShowTournament(), "tv"),
        (Report("q-1"), "e:q-1"),
        (Review("7"), "q:7"),
        (Suggest(), "su"),
        (ReviewSuggestion("7"), "sv:7"),
        (EditSuggestion("7"), "se:7"),
        (AcceptSuggestion("7", "0a1b2c3d"), "sa:7:0a1b2c3d"),
        (DeclineSuggestion("7"), "sd:7"),
        (Snippet(), "u"),
        (ShowBoard("week", "channel"), "l:week:channel:"),
        (actions.ShowContest("improved", "week", "workspace", "a:b"), "y:improved:week:workspace:a:b"),
        (actions.Today(), "t"),
        (actions.Setup("C012AB"), "h:C012AB:"),
        (actions.SetupAt("0930", "C012AB", "general"), "j:0930:C012AB:general"),
        (actions.Begin("0930", "C012AB", "a:b"), "b:0930:C012AB:a:b"),
        (actions.PostNow("3"), "w:3"),
    ],
)
def test_ids_stay_what_they_are_because_old_cards_are_still_pressed(action: actions.Action, text: str) -> None:
    assert actions.encode(action) == text


@pytest.mark.parametrize(
    "text",
    [
        "",
        "a",
        "a:",
        "a:q12",
        "a:r12:b",
        "o:r12",
        "o:r12:",
        "g:p5:great",
        "f:r5,code,,",
        "f:p5,code",
        "m::mid:",
        "m:poem::",
        "zz:r1",
        "u:x",
        "t:1",
        "h:",
        "h:C1",
        "j:2400:C1:",
        "b:930:C1:",
        "w:x",
        "a:r12\n",
        "e:" + "q" * 99,
    ],
)
def test_malformed_ids_are_refused(text: str) -> None:
    with pytest.raises(BadAction):
        actions.decode(text)


@pytest.mark.parametrize("text", ["f:r5,code,,", "f:p5,code", "f:p5,poem,,", "f:p5,,junior,", "m::mid:", "m:poem::"])
def test_malformed_ids_are_rejected(text: str) -> None:
    with pytest.raises(BadAction):
        actions.decode(text)


def test_an_option_id_too_long_for_a_button_does_not_fit() -> None:
    assert actions.fits(Choose("r1", "x" * 90))
    assert not actions.fits(Choose("r1", "x" * 99))
    assert not actions.fits(Choose("r1", "two\nlines"))
    with pytest.raises(ValueError, match="100 characters"):
        actions.encode(Choose("r1", "x" * 99))
