"""The verdict from two streams of bytes, without any process: what an answer sends, and what it is then worth."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox.judging.judge import MAX_SHOWN, Judgement, judge_outcome
from sandbox.judging.tolerance import NumberTolerance
from sandbox.values import Array, Tensor, Value, encode, join
from sandbox.wire import Outcome, Reached, Status
from tests.sandbox.case_text import told

TOLERANCE = NumberTolerance()
DRAWN = "random numbers of another distribution"


def ok(value: Value) -> bytes:
    return encode(("ok", value))


def raised(name: str, message: str = "secret 42") -> bytes:
    return encode(("raised", name, message))


EXPECTED = [ok(1), ok(2), ok(3), raised("ValueError")]


def judged(
    results: list[bytes] | bytes, status: Status = "ok", reached: Reached = "done", stderr: str = ""
) -> Judgement:
    sent = results if isinstance(results, bytes) else join(results)
    outcome = Outcome(id="x", status=status, results=sent, reached=reached, stderr=stderr, detail="why")
    return judge_outcome(join(EXPECTED), outcome, cases=4, examples=1, tolerance=TOLERANCE)


def verdicts(judgement: Judgement) -> list[str]:
    return [case.verdict for case in judgement.cases]


def test_returning_and_raising_what_the_reference_did_is_accepted() -> None:
    judgement = judged([ok(1), ok(2), ok(3), raised("ValueError", "other words")])
    assert (judgement.verdict, judgement.share) == ("accepted", 1.0)
    assert [(case.index, case.visible, told(case)) for case in judgement.cases] == [
        (0, True, ""),
        (1, False, ""),
        (2, False, ""),
        (3, False, ""),
    ]
    assert {(case.expected, case.got) for case in judgement.cases} == {("", "")}, "only a failure shows both"


def test_a_wrong_value_is_wrong_and_what_was_right_still_counts() -> None:
    judgement = judged([ok(7), ok(2), ok(3), raised("ValueError")])
    assert (judgement.verdict, judgement.share) == ("wrong", 0.75)
    assert told(judgement.cases[0]) == "expected 1, got 7"


@pytest.mark.parametrize(
    ("entry", "verdict", "message"),
    [
        (ok(77), "wrong", "a wrong value"),
        (ok(2.0), "wrong", "a result of the wrong type"),
        (raised("Leak42"), "runtime error", "raised an exception"),
        (encode(("unsupported", "TypeError", "Leak42")), "wrong", "a result of the wrong type"),
    ],
)
def test_a_hidden_case_shows_nothing_the_program_wrote(entry: bytes, verdict: str, message: str) -> None:
    case = judged([ok(1), entry, ok(3), raised("ValueError")]).cases[1]
    assert (case.verdict, told(case)) == (verdict, message)


@pytest.mark.parametrize(
    ("expected", "got", "message"),
    [
        (1, "1", "a result of the wrong type"),
        (Tensor("int32", (1,), b"abcd"), Tensor("int32", (), b"abcd"), "a result of the wrong shape"),
        (Tensor("int32", (1,), b"abcd"), Tensor("float32", (1,), b"abcd"), "a result of the wrong dtype"),
        ([1], [1, 2], "a result with too few or too many items"),
        ({"a": 1}, {"b": 1}, "a result with the wrong keys"),
        ({"draws": Array("uint8", (400,), b"\0" * 400)}, {"draws": Array("uint8", (400,), b"\1" * 400)}, DRAWN),
        (1, 2, "a wrong value"),
    ],
)
def test_a_hidden_case_names_the_kind_of_difference(expected: Value, got: Value, message: str) -> None:
    outcome = Outcome(id="x", status="ok", results=join([ok(got)]))
    judgement = judge_outcome(join([ok(expected)]), outcome, cases=1, examples=0, tolerance=TOLERANCE)
    assert [(case.verdict, told(case)) for case in judgement.cases] == [("wrong", message)]


@pytest.mark.parametrize(
    ("entry", "verdict", "message"),
    [
        (raised("KeyError", "'a' (line 3)"), "runtime error", "raised KeyError: 'a' (line 3)"),
        (
            encode(("unsupported", "TypeError", "a set cannot leave")),
            "wrong",
            "returned something else: a set cannot leave",
        ),
    ],
)
def test_a_visible_case_shows_everything(entry: bytes, verdict: str, message: str) -> None:
    case = judged([entry, ok(2), ok(3), raised("ValueError")]).cases[0]
    assert (case.verdict, told(case)) == (verdict, message)


def test_where_the_reference_raises_only_the_same_type_passes() -> None:
    for entry in (raised("TypeError"), ok(None), ok("ValueError")):
        judgement = judged([ok(1), ok(2), ok(3), entry])
        assert verdicts(judgement) == ["accepted", "accepted", "accepted", "wrong"]
        assert told(judgement.cases[3]) == "an exception was expected"


GOOD = join([ok(1), ok(2), ok(3), raised("ValueError")])


@pytest.mark.parametrize("results", [b"", GOOD + b"\0", GOOD[:-1], GOOD + join([ok(4)]), b"PASS", b"1", b"\xff" * 50])
def test_missing_short_and_extra_bytes_fail_every_case(results: bytes) -> None:
    judgement = judged(results)
    assert judgement.verdict != "accepted"
    assert judgement.share == 0.0


@pytest.mark.parametrize("entry", [b"\x80\x04N.", b"", ok(2)[:-1], ok(2) + b"\0", ok(2) + ok(2)])
def test_an_entry_nobody_can_read_fails_its_case_alone(entry: bytes) -> None:
    judgement = judged([ok(1), entry, ok(3), raised("ValueError")])
    assert verdicts(judgement) == ["accepted", "runtime error", "accepted", "accepted"]


def test_results_that_stop_early_fail_the_rest() -> None:
    judgement = judged([ok(1), ok(2)])
    assert (judgement.verdict, judgement.share) == ("runtime error", 0.5)


@pytest.mark.parametrize(
    ("status", "verdict", "cause"),
    [
        ("time", "time limit", "the time ran out"),
        ("memory", "memory limit", "the memory ran out"),
        ("output", "output limit", "too much output"),
        ("crash", "runtime error", "the program ended"),
        ("denied", "runtime error", "the program ended"),
        ("error", "runtime error", "the program ended"),
    ],
)
def test_a_run_that_ended_badly_never_passes_though_all_results_are_there(
    status: Status, verdict: str, cause: str
) -> None:
    judgement = judged([ok(1), ok(2), ok(3), raised("ValueError")], status, "cases")
    assert (judgement.verdict, judgement.share) == (verdict, 1.0)
    short = judged([ok(1)], status, "cases")
    assert verdicts(short) == ["accepted", verdict, verdict, verdict]
    assert [told(case) for case in short.cases] == ["", *[f"{cause} before this case was finished"] * 3]


@pytest.mark.parametrize("reached", ["parse", "entry"])
def test_a_program_that_cannot_be_called_is_invalid_with_a_reason(reached: Reached) -> None:
    judgement = judged([], "error", reached, stderr="SyntaxError: invalid syntax")
    assert judgement.verdict == "invalid"
    assert judgement.message == "SyntaxError: invalid syntax"
    assert {(case.verdict, told(case)) for case in judgement.cases} == {("invalid", "the program could not be called")}


@pytest.mark.parametrize(("reached", "message"), [("load", "NameError: no x"), ("cases", "")])
def test_only_a_program_that_could_not_be_loaded_says_why(reached: Reached, message: str) -> None:
    """A message of a hidden case would give the case away."""
    assert judged([], "error", reached, stderr="NameError: no x").message == message


def test_our_own_failure_is_never_the_member_s() -> None:
    judgement = judged(GOOD, "internal")
    assert (judgement.verdict, judgement.detail, judgement.cases) == ("system error", "why", ())


@pytest.mark.parametrize(
    ("expected", "detail"),
    [
        ([ok(1)] * 3, "3 results of the reference for 4 cases"),
        ([b"junk"] * 4, "the reference's results cannot be read: byte 0: b'j' is not a tag"),
        (
            [ok(1), ok(1), ok(1), encode(("unsupported", "TypeError", "a set"))],
            "the reference returned what cannot be compared: a set",
        ),
    ],
)
def test_a_broken_reference_is_a_system_error(expected: list[bytes], detail: str) -> None:
    outcome = Outcome(id="x", status="ok", results=GOOD)
    judgement = judge_outcome(join(expected), outcome, cases=4, examples=1, tolerance=TOLERANCE)
    assert (judgement.verdict, judgement.detail) == ("system error", detail)


def test_a_shuffled_run_is_reported_in_case_order() -> None:
    outcome = Outcome(id="x", status="ok", results=join([ok(3), ok(1), ok(0)]))
    judgement = judge_outcome(
        join([ok(3), ok(1), ok(2)]), outcome, cases=3, examples=1, tolerance=TOLERANCE, order=[2, 0, 1]
    )
    assert [(case.index, case.verdict) for case in judgement.cases] == [
        (0, "accepted"),
        (1, "wrong"),
        (2, "accepted"),
    ]


def test_no_cases_are_no_pass() -> None:
    outcome = Outcome(id="x", status="ok")
    assert judge_outcome(b"", outcome, cases=0, examples=0, tolerance=TOLERANCE).verdict == "wrong"


@given(st.binary(max_size=80), st.sampled_from(["ok", "error", "crash", "time"]))
def test_no_bytes_pass_but_the_expected_ones(results: bytes, status: Status) -> None:
    assert judged(results, status).verdict != "accepted"


def test_what_a_program_wrote_is_shown_short_and_harmless() -> None:
    case = judged([raised("E" * 5000, "\x1b[2J" + "x" * 5000), ok(2), ok(3), raised("ValueError")]).cases[0]
    assert told(case).count("E") <= 1000 and len(told(case)) < 2100 and len(case.got) <= MAX_SHOWN
    assert "\x1b" not in told(case) + case.got
    case = judged([ok("\x1b[2J" + "x" * 5000), ok(2), ok(3), raised("ValueError")]).cases[0]
    assert len(case.got) <= MAX_SHOWN and "\x1b" not in case.got


@pytest.mark.parametrize(
    ("entry", "got"),
    [
        (ok(7), "7"),
        (ok((7, [1, 2])), "(7, [1, 2])"),
        (raised("KeyError", "'a' (line 3)"), "raise KeyError(\"'a'\")"),
        (encode(("unsupported", "TypeError", "a set cannot leave")), ""),
        (ok([0] * 10_001), ""),
    ],
)
def test_a_failing_visible_case_has_the_expected_and_the_actual_result(entry: bytes, got: str) -> None:
    visible, hidden, *_ = judged([entry, entry, ok(3), raised("ValueError")]).cases
    assert (visible.expected, visible.got) == ("1", got)
    assert (hidden.expected, hidden.got) == ("", "")


def test_a_case_without_a_result_still_shows_what_was_expected() -> None:
    case = judged([], "time", "cases").cases[0]
    assert (case.expected, case.got, case.verdict) == ("1", "", "time limit")
