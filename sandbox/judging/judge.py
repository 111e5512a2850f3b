"""Makes the verdict, outside every process that ran an answer: pure, trusted, believes no exit status.

An answer passes a case by returning what the reference returned, as bytes, and in no other way. Missing, short or
extra bytes fail.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from sandbox.judging.comparing import Comparison, NumberTolerance, compare, draws_fault
from sandbox.values import Caps, Value, decode, harmless, shortened, split
from sandbox.wire import MAX_BODY, Outcome, Status

Verdict = Literal[
    "accepted", "wrong", "runtime error", "time limit", "memory limit", "output limit", "invalid", "system error"
]
"""In the product's words. `system error` is ours, never the member's fault."""

_OF_STATUS: dict[Status, Verdict] = {
    "ok": "runtime error",
    "error": "runtime error",
    "crash": "runtime error",
    "denied": "runtime error",
    "time": "time limit",
    "memory": "memory limit",
    "output": "output limit",
    "internal": "system error",
}
_SAYING: dict[Verdict, str] = {
    "accepted": "",
    "wrong": "a wrong result",
    "runtime error": "the program ended before this case was finished",
    "time limit": "the time ran out before this case was finished",
    "memory limit": "the memory ran out before this case was finished",
    "output limit": "too much output before this case was finished",
    "invalid": "the program could not be called",
    "system error": "our sandbox failed; this costs nothing",
}


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """One case."""

    index: int
    """From 0: the examples first, then the hidden cases."""
    verdict: Verdict
    visible: bool
    message: str = ""
    """Why it failed. Of a hidden case only the sort of failure: nothing the program itself wrote, and no value."""
    shown: str = ""
    """The call, such as `f(tensor([1.]), 3)`; empty for a hidden case."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """What a code answer is worth."""

    verdict: Verdict
    cases: tuple[CaseVerdict, ...] = ()
    share: float = 0.0
    """Of the cases that were accepted, from 0 to 1."""
    message: str = ""
    """For the member: why the whole program failed, such as its own traceback of a syntax error."""
    detail: str = ""
    """For the operator, of a system error."""
    note: str = ""
    """For the member, whatever the verdict: what it was judged without."""


@dataclass(frozen=True, slots=True)
class _Entry:
    """What one case came to in one process."""

    raised: str | None
    """The exception's type name, None where a value was returned."""
    value: Value = None
    message: str = ""
    supported: bool = True
    """False: a value was returned that cannot be compared."""


def system_error(detail: str) -> Judgement:
    """A judgement that blames us."""
    return Judgement("system error", message=_SAYING["system error"], detail=detail)


def judge_outcome(
    expected_results: bytes,
    outcome: Outcome,
    *,
    cases: int,
    examples: int,
    tolerance: NumberTolerance,
    order: Sequence[int] | None = None,
) -> Judgement:
    """The judgement of `outcome` against the reference's results for the same cases.

    `order[k]` is the index of the case that was run as number k; the first `examples` indices are visible.
    """
    places = list(order) if order is not None else list(range(cases))
    if outcome.status == "internal":
        return system_error(outcome.detail)
    try:
        expected = [_entry(data) for data in split(expected_results)]
    except ValueError as problem:
        return system_error(f"the reference's results cannot be read: {problem}")
    unsupported = [entry.message for entry in expected if not entry.supported]
    if unsupported:
        return system_error(f"the reference returned what cannot be compared: {unsupported[0]}")
    faults = [why for entry in expected if (why := draws_fault(entry.value))]
    if faults:
        return system_error(f"the reference returned what cannot be compared: {faults[0]}")
    if len(expected) != cases or sorted(places) != list(range(cases)):
        return system_error(f"{len(expected)} results of the reference for {cases} cases")
    if outcome.status == "error" and outcome.reached in ("parse", "entry"):
        return Judgement("invalid", _all("invalid", cases, examples), 0.0, outcome.stderr[-2000:])
    entries = _entries(outcome, cases)
    ended: Verdict = _OF_STATUS[outcome.status]
    found = [
        _case(index, expected[at], entries[at] if at < len(entries) else None, ended, tolerance, index < examples)
        for at, index in enumerate(places)
    ]
    return _summed(tuple(sorted(found, key=lambda case: case.index)), outcome, ended)


def _summed(cases: tuple[CaseVerdict, ...], outcome: Outcome, ended: Verdict) -> Judgement:
    passed = sum(case.verdict == "accepted" for case in cases)
    share = passed / len(cases) if cases else 0.0
    if outcome.status != "ok":
        return Judgement(ended, cases, share, outcome.stderr[-2000:] if outcome.reached == "load" else "")
    failed = [case.verdict for case in cases if case.verdict != "accepted"]
    if failed or not cases:
        return Judgement(failed[0] if failed else "wrong", cases, share)
    return Judgement("accepted", cases, 1.0)


def _all(verdict: Verdict, cases: int, examples: int) -> tuple[CaseVerdict, ...]:
    return tuple(CaseVerdict(at, verdict, at < examples, _SAYING[verdict]) for at in range(cases))


def _entries(outcome: Outcome, cases: int) -> list[_Entry | None]:
    """What the answer sent, case by case; None for what cannot be read. Too many are nothing at all."""
    try:
        pieces = split(outcome.results)
    except ValueError:
        return []
    if len(pieces) > cases:
        return []
    return [_entry_or_none(piece) for piece in pieces]


def _entry_or_none(data: bytes) -> _Entry | None:
    try:
        return _entry(data)
    except ValueError:
        return None


def _entry(data: bytes) -> _Entry:
    match decode(data, Caps(total=MAX_BODY)):
        case ("ok", value):
            return _Entry(None, value)
        case ("raised", str(name), str(message)):
            return _Entry(name, None, _shown(message))
        case ("unsupported", str(name), str(message)):
            return _Entry(name, None, _shown(message), supported=False)
    raise ValueError("byte 0: neither a result nor an exception")


def _shown(text: str) -> str:
    """What the program wrote, fit to be shown: it may have forged it, however long."""
    return shortened(harmless(text), 1000)


def _case(
    index: int, expected: _Entry, got: _Entry | None, ended: Verdict, tolerance: NumberTolerance, visible: bool
) -> CaseVerdict:
    if got is None:
        return CaseVerdict(index, ended, visible, _SAYING[ended])
    if not got.supported:
        text = f"returned something else: {got.message}" if visible else _hidden(Comparison(False, "", "type"))
        return CaseVerdict(index, "wrong", visible, text)
    if expected.raised is None and got.raised is not None:
        text = f"raised {_shown(got.raised)}: {got.message}" if visible else "raised an exception"
        return CaseVerdict(index, "runtime error", visible, text)
    found = _exceptions(expected, got) or compare(expected.value, got.value, tolerance)
    if found.equal:
        return CaseVerdict(index, "accepted", visible)
    return CaseVerdict(index, "wrong", visible, found.message if visible else _hidden(found))


def _exceptions(expected: _Entry, got: _Entry) -> Comparison | None:
    """The comparison where an exception is expected; None where a value is."""
    if expected.raised is None:
        return None
    if expected.raised == got.raised:
        return Comparison(True)
    what = f"raised {_shown(got.raised)}" if got.raised else "returned a value"
    return Comparison(False, f"expected {expected.raised} to be raised, but it {what}", "exception")


def _hidden(found: Comparison) -> str:
    return {
        "type": "a result of the wrong type",
        "shape": "a result of the wrong shape",
        "dtype": "a result of the wrong dtype",
        "length": "a result with too few or too many items",
        "keys": "a result with the wrong keys",
        "exception": "an exception was expected",
        "draws": "random numbers of another distribution",
    }.get(found.difference, "a wrong value")
