"""Credit for every kind of answer, and points that only ever change in the right direction."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from questions.model import KINDS, LEVELS, Kind, Level, Option, Question, SourceLocation
from service.domain.scoring import (
    Points,
    ScoringPolicy,
    compute_credit,
    compute_points,
    confidence_points,
    credit_for_cases,
    describe_rules,
)
from service.wire import CONFIDENCES, AnswerInput, AnswerUnreadable, Confidence, Verdict

shares = st.floats(0, 1)
kinds = st.sampled_from(KINDS)
levels = st.sampled_from([*LEVELS, None])
difficulties = st.none() | shares
delays = st.none() | st.floats(-5, 5000)
policies = st.builds(
    ScoringPolicy,
    aim=shares,
    span=shares,
    speed_bonus=st.booleans(),
    speed_window_s=st.floats(1, 3600),
    speed_share=shares,
)
RACE = ScoringPolicy(speed_bonus=True, speed_window_s=100, speed_share=0.5)


def question(kind: Kind, **fields: object) -> Question:
    plain = Question("q1", kind, "What is it?", SourceLocation("bank.md", 1, 5))
    return replace(plain, **fields)  # type: ignore[arg-type]


def choice(right: str, wrong: str) -> Question:
    """Returns a question whose options are single letters."""
    options = [Option(letter, letter, letter in right) for letter in right + wrong]
    return question("choice", options=tuple(options))


def chosen(letters: str) -> AnswerInput:
    return AnswerInput(options=tuple(letters))


# Credit


@pytest.mark.parametrize(
    ("right", "wrong", "picked", "share", "verdict"),
    [
        ("a", "bcd", "a", 1.0, "accepted"),
        ("a", "bcd", "b", 0.0, "wrong"),
        ("a", "bcd", "ab", 0.0, "wrong"),
        ("ab", "cd", "ab", 1.0, "accepted"),
        ("ab", "cd", "a", 0.5, "wrong"),
        ("ab", "cd", "abc", 0.5, "wrong"),
        ("ab", "cd", "ac", 0.0, "wrong"),
        ("ab", "cd", "cd", 0.0, "wrong"),
        ("abcd", "", "abc", 0.75, "wrong"),
        ("a", "bcd", "", 0.0, "invalid"),
        ("a", "bcd", "ax", 0.0, "invalid"),
        ("", "abcd", "a", 0.0, "system error"),
    ],
)
def test_choice(right: str, wrong: str, picked: str, share: float, verdict: Verdict) -> None:
    found = compute_credit(choice(right, wrong), chosen(picked))
    assert (found.share, found.verdict) == (share, verdict)


@given(st.sets(st.sampled_from("abcdef"), min_size=1), st.sets(st.sampled_from("abcdef"), min_size=1))
def test_choice_one_more_right_never_costs_and_one_more_wrong_never_pays(right: set[str], picked: set[str]) -> None:
    asked = choice("".join(sorted(right)), "".join(sorted(set("abcdef") - right)))
    share = compute_credit(asked, chosen("".join(picked))).share
    assert share is not None and 0 <= share <= 1
    assert (share == 1) == (picked == right)
    for more in set("abcdef") - picked:
        then = compute_credit(asked, chosen("".join(picked | {more}))).share
        assert then is not None
        assert then >= share if more in right else then <= share


def test_choosing_everything_earns_nothing_unless_most_is_right() -> None:
    assert compute_credit(choice("ab", "cd"), chosen("abcd")).share == 0
    assert compute_credit(choice("abc", "d"), chosen("abcd")).share == pytest.approx(2 / 3)


def test_an_unknown_option_is_named() -> None:
    found = compute_credit(choice("a", "b"), chosen("az"))
    assert found.problem == AnswerUnreadable(problem="unknown option", text="z")


@pytest.mark.parametrize(
    ("key", "typed", "verdict"),
    [
        ("(1, 4)", "torch.Size([1, 4])", "accepted"),
        ("(1, 4)", "(4, 1)", "wrong"),
        ("(1, 4)", "", "invalid"),
        ("(1, 4)", "(1, 4", "invalid"),
        ("torch.float32", "float32", "accepted"),
        ("True", "1", "wrong"),
        (None, "1", "system error"),
        ("x + 1", "1", "system error"),
    ],
)
def test_value(key: str | None, typed: str, verdict: Verdict) -> None:
    found = compute_credit(question("value", answer=key), AnswerInput(text=typed))
    assert found.verdict == verdict
    assert found.share == (verdict == "accepted")
    assert (found.problem is not None) == (verdict == "invalid")
    assert bool(found.cause) == (verdict == "system error")


def test_a_question_that_cannot_be_scored_is_not_the_members_fault() -> None:
    found = compute_credit(question("value", answer="x + 1"), AnswerInput(text="1"))
    assert found.cause.startswith("question q1 cannot be scored: its key cannot be read: answer-unreadable")


@pytest.mark.parametrize(
    ("printed", "typed", "verdict"),
    [
        ("1\n2\n", "1\n2", "accepted"),
        ("1\n2", "1\r\n2\r\n\r\n", "accepted"),
        ("1\n2", "1\r2", "accepted"),
        ("1  \n2", "1\n2\t", "accepted"),
        ("1\n\n2", "1\n2", "wrong"),
        ("  1", "1", "wrong"),
        ("1", "1.0", "wrong"),
        ("True", "true", "wrong"),
        ("['a']", "[‘a’]", "accepted"),
        ("a < b", "a &lt; b", "accepted"),
        ("&lt;", "&lt;", "accepted"),
        ("“q”", "“q”", "accepted"),
        ("“q”\n1", "“q”\r\n1", "accepted"),
        ("1", " \n", "invalid"),
        ("", "", "accepted"),
        ("", "None", "wrong"),
        (None, "1", "system error"),
    ],
)
def test_output(printed: str | None, typed: str, verdict: Verdict) -> None:
    found = compute_credit(question("output", answer=printed), AnswerInput(text=typed))
    assert found.verdict == verdict


@pytest.mark.parametrize("text", ["float16 overflows: its range is small", "It is not so, float16 has the range", "x"])
@pytest.mark.parametrize("points", [(), ("`float16`", "**range**", "overflow")])
def test_an_open_answer_awaits_marking_whatever_it_says(text: str, points: tuple[str, ...]) -> None:
    found = compute_credit(question("open", answer="...", key_points=points), AnswerInput(text=text))
    assert (found.share, found.verdict, found.problem) == (None, "awaits marking", None)


def test_an_empty_open_answer_is_invalid() -> None:
    assert compute_credit(question("open", answer="..."), AnswerInput(text=" ")).verdict == "invalid"


def test_code_is_not_judged_here() -> None:
    with pytest.raises(ValueError, match="use credit_for_cases"):
        compute_credit(question("code"), AnswerInput(text="def f(): ..."))


@pytest.mark.parametrize(
    ("passed", "total", "failure", "share", "verdict"),
    [
        (4, 4, "wrong", 1.0, "accepted"),
        (3, 4, "time limit", 0.75, "time limit"),
        (0, 4, "runtime error", 0.0, "runtime error"),
        (3, 4, "system error", 0.0, "system error"),
        (4, 4, "system error", 0.0, "system error"),
        (0, 4, "invalid", 0.0, "invalid"),
        (1, 1, "wrong", 1.0, "accepted"),
        (0, 1, "wrong", 0.0, "wrong"),
    ],
)
def test_code_by_its_cases(passed: int, total: int, failure: Verdict, share: float, verdict: Verdict) -> None:
    found = credit_for_cases(passed, total, failure)
    assert (found.share, found.verdict) == (share, verdict)
    assert (found.passed, found.total, found.cause) == (passed, total, "")


@pytest.mark.parametrize(("passed", "total"), [(0, 0), (5, 4), (-1, 4)])
def test_code_that_no_case_judged_is_our_fault(passed: int, total: int) -> None:
    found = credit_for_cases(passed, total)
    assert (found.share, found.verdict) == (0.0, "system error")
    assert found.cause == "no case was judged"


@pytest.mark.parametrize(
    ("asked", "answer", "passed", "total"),
    [
        (choice("abc", "d"), chosen("abd"), 2, 3),
        (choice("abc", "d"), chosen(""), 0, 3),
        (choice("abc", "d"), chosen("ax"), 0, 3),
        (question("value", answer="1"), AnswerInput(text="1"), 1, 1),
        (question("value", answer="1"), AnswerInput(text="2"), 0, 1),
        (question("value", answer="1"), AnswerInput(text="("), 0, 1),
        (question("output", answer="1"), AnswerInput(text="1"), 1, 1),
        (question("output", answer="1"), AnswerInput(text=" "), 0, 1),
    ],
)
def test_the_parts_that_were_right_are_counted(asked: Question, answer: AnswerInput, passed: int, total: int) -> None:
    found = compute_credit(asked, answer)
    assert (found.passed, found.total) == (passed, total)


@given(st.sampled_from(["choice", "value", "output", "open"]), st.text(max_size=30), st.text(max_size=30))
def test_no_answer_raises(kind: Kind, key: str, typed: str) -> None:
    asked = question(kind, answer=key, key_points=(key,), options=(Option("a", "A", True), Option("b", "B", False)))
    for answer in (AnswerInput(text=typed), AnswerInput.model_construct(options=(typed,)), AnswerInput()):
        found = compute_credit(asked, answer)
        assert (found.share is None) == (kind == "open")
        assert found.share is None or 0 <= found.share <= 1
        assert (found.verdict == "accepted") == (found.share == 1)
        assert found.problem or found.cause or found.verdict in ("accepted", "wrong", "awaits marking")


# Points


@pytest.mark.parametrize(
    ("level", "difficulty", "share", "worth"),
    [
        ("mid", None, 1.0, 10),
        ("senior", None, 1.0, 15),
        ("principal", None, 1.0, 20),
        (None, None, 1.0, 10),
        ("mid", 0.7, 1.0, 10),
        ("mid", 0.1, 1.0, 13),
        ("principal", 0.0, 1.0, 27),
        ("principal", 1.0, 1.0, 17),
        ("mid", None, 0.5, 5),
        ("senior", None, 0.5, 8),
        ("mid", None, 0.0, 0),
    ],
)
def test_points_by_hand(level: Level | None, difficulty: float | None, share: float, worth: int) -> None:
    assert compute_points("choice", level, difficulty, share, None) == Points(worth, 0)


@pytest.mark.parametrize(
    ("seconds", "bonus"),
    [(0.0, 5), (-3.0, 5), (15.0, 5), (32.0, 4), (50.0, 3), (99.0, 0), (100.0, 0), (5000.0, 0), (None, 0)],
)
def test_the_speed_bonus_falls_evenly(seconds: float | None, bonus: int) -> None:
    assert compute_points("choice", "mid", None, 1.0, seconds, RACE) == Points(10, bonus)


def test_no_bonus_for_part_of_an_answer_for_long_kinds_or_by_default() -> None:
    assert compute_points("choice", "mid", None, 0.99, 0.0, RACE).bonus == 0
    assert compute_points("code", "mid", None, 1.0, 0.0, RACE).bonus == 0
    assert compute_points("open", "mid", None, 1.0, 0.0, RACE).bonus == 0


@pytest.mark.parametrize(
    ("level", "credit", "points"),
    [("mid", None, 5), ("mid", 0.0, 5), ("mid", 0.5, 8), ("mid", 1.0, 10), ("senior", None, 8), ("senior", 1.0, 15)],
)
def test_an_open_answer_earns_participation_and_its_credit_the_rest(
    level: Level, credit: float | None, points: int
) -> None:
    assert compute_points("open", level, None, credit, None).total == points


def test_only_an_open_answer_may_lack_a_credit() -> None:
    with pytest.raises(ValueError, match="without a credit"):
        compute_points("value", "mid", None, None, None)
    assert compute_points("choice", "mid", None, 1.0, 0.0).bonus == 0


@given(kinds, levels, difficulties, st.lists(shares, min_size=2, max_size=6), delays, policies)
def test_points_grow_with_the_credit(
    kind: Kind, level: Level | None, difficulty: float | None, some: list[float], s: float | None, policy: ScoringPolicy
) -> None:
    totals = [compute_points(kind, level, difficulty, share, s, policy).total for share in sorted(some)]
    assert totals == sorted(totals)
    assert totals[0] >= 0
    if kind != "open":
        assert compute_points(kind, level, difficulty, 0.0, s, policy) == Points(0, 0)
    assert compute_points(kind, level, difficulty, 1.0, s, policy).base >= 1


@given(kinds, levels, difficulties, st.lists(st.floats(0, 5000), min_size=2, max_size=6), policies)
def test_points_never_grow_with_time(
    kind: Kind, level: Level | None, difficulty: float | None, waits: list[float], policy: ScoringPolicy
) -> None:
    totals = [compute_points(kind, level, difficulty, 1.0, wait, policy).total for wait in sorted(waits)]
    assert totals == sorted(totals, reverse=True)


@given(kinds, levels, st.lists(shares, min_size=2, max_size=6), policies)
def test_harder_questions_are_worth_no_less(
    kind: Kind, level: Level | None, measured: list[float], policy: ScoringPolicy
) -> None:
    totals = [compute_points(kind, level, share, 1.0, None, policy).total for share in sorted(measured)]
    assert totals == sorted(totals, reverse=True)


@given(kinds, levels, difficulties, shares, delays, policies)
def test_the_total_is_the_sum_and_the_bonus_is_bounded(
    kind: Kind, level: Level | None, difficulty: float | None, share: float, s: float | None, policy: ScoringPolicy
) -> None:
    found = compute_points(kind, level, difficulty, share, s, policy)
    assert found.total == found.base + found.bonus
    assert 0 <= found.bonus <= found.base * policy.speed_share + 0.5


@pytest.mark.parametrize("bad", [-0.01, 1.01, float("nan"), float("inf")])
def test_an_invalid_share_is_rejected(bad: float) -> None:
    with pytest.raises(ValueError, match=r"credit of .* lies between 0 and 1"):
        compute_points("choice", "mid", None, bad, None)
    with pytest.raises(ValueError, match=r"credit of .* lies between 0 and 1"):
        compute_points("open", "mid", None, bad, None)
    with pytest.raises(ValueError, match=r"difficulty of .* lies between 0 and 1"):
        compute_points("choice", "mid", bad, 1.0, None)


@pytest.mark.parametrize(
    "fields",
    [
        {"base_without_level": 0},
        {"base": {"mid": -5}},
        {"aim": 1.5},
        {"span": -0.1},
        {"speed_share": 2},
        {"speed_window_s": 0},
        {"confidence": {"sure": (-1, 0)}},
        {"confidence": {"sure": (0, 1)}},
        {"hint_cost": -1},
    ],
)
def test_a_policy_that_could_take_points_away_is_refused(fields: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="scoring policy"):
        replace(ScoringPolicy(), **fields)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "fields",
    [
        {"base_without_level": 1},
        {"base": dict.fromkeys(LEVELS, 1)},
        *({name: edge} for name in ("aim", "span", "speed_share") for edge in (0, 1)),
        {"speed_window_s": 0.1},
    ],
)
def test_a_policy_at_its_limits_is_accepted(fields: dict[str, float]) -> None:
    policy = replace(ScoringPolicy(), **fields)  # type: ignore[arg-type]
    assert compute_points("choice", "mid", 1.0, 1.0, None, policy).total >= 1


# Confidence


@pytest.mark.parametrize(
    ("confidence", "right", "half", "wrong"),
    [(None, 0, 0, 0), ("guess", 0, 0, 0), ("think", 1, 0, -2), ("sure", 2, -2, -6)],
)
def test_confidence_pays_if_right_and_costs_if_wrong(
    confidence: Confidence | None, right: int, half: int, wrong: int
) -> None:
    assert [confidence_points(credit, confidence) for credit in (1.0, 0.5, 0.0)] == [right, half, wrong]


@given(st.integers(0, 60))
def test_honesty_pays_best(sixtieths: int) -> None:
    """A guess is best below two chances in three, sureness from four in five on, and the word between in between."""
    chance = sixtieths / 60

    def expected(confidence: Confidence) -> float:
        return chance * confidence_points(1.0, confidence) + (1 - chance) * confidence_points(0.0, confidence)

    best = max(map(expected, CONFIDENCES))
    honest: Confidence = "guess" if sixtieths < 40 else "think" if sixtieths < 48 else "sure"
    assert expected(honest) == pytest.approx(best)
    others = [expected(other) for other in CONFIDENCES if other != honest]
    assert sixtieths in (40, 48) or all(other < best - 1e-9 for other in others), "only at the limits are two as good"


def test_confidence_in_an_impossible_credit_is_rejected() -> None:
    with pytest.raises(ValueError, match=r"credit of 1\.5"):
        confidence_points(1.5, None)


# Rules


@given(policies)
def test_the_rules_print_the_numbers_used(policy: ScoringPolicy) -> None:
    told = describe_rules(policy)
    for level, worths in told.points_by_level:
        used = [compute_points("choice", level, share, 1.0, None, policy).total for share in told.shares_right]
        assert list(worths) == used
    for level in LEVELS:
        assert compute_points("choice", level, None, 1.0, 0.0, policy) == Points(
            told.base[level], told.max_bonus[level]
        )
    assert compute_points("value", None, None, 1.0, None, policy).total == told.base_without_level


def test_the_shipped_rules() -> None:
    told = describe_rules()
    assert told.base == {"mid": 10, "senior": 15, "principal": 20}
    assert told.points_by_level == (
        ("mid", (9, 10, 12, 13)),
        ("senior", (13, 15, 17, 20)),
        ("principal", (17, 20, 23, 26)),
    )
    assert told.confidence == {"guess": (0, 0), "think": (1, -2), "sure": (2, -6)}
    assert told.max_bonus == {"mid": 0, "senior": 0, "principal": 0}
    assert told.free == ("system error",)
    assert all(one <= other for _, worths in told.points_by_level for one, other in pairwise(worths))


def test_the_speed_bonus_lasts_ten_minutes_unless_a_policy_says_otherwise() -> None:
    policy = ScoringPolicy(speed_bonus=True)
    assert [compute_points("choice", "mid", 0.7, 1.0, s, policy).bonus for s in (0.0, 300.0, 600.0)] == [2, 1, 0]
    assert describe_rules(policy).speed_window_s == 600.0
