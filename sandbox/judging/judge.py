"""Makes the verdict on an answer from an Outcome's bytes, outside every process that ran the answer.

Pure and trusted; believes no exit status. An answer passes a case only by returning what the reference returned.
Missing, incomplete or additional results fail.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from sandbox.causes import Cause, GpuNote
from sandbox.differences import Difference, HiddenDiffers, NotComparable, NotRaised, Raised, aspect_of
from sandbox.judging.decoding import ResultReader
from sandbox.judging.tolerance import NumberTolerance
from sandbox.values import Caps, Value, decode, sanitized, shortened, split
from sandbox.wire import MAX_BODY, Outcome, Status, Verdict

_VERDICT_OF: dict[Status, Verdict] = {
    "ok": "runtime error",
    "error": "runtime error",
    "crash": "runtime error",
    "denied": "runtime error",
    "time": "time limit",
    "memory": "memory limit",
    "output": "output limit",
    "internal": "system error",
}
"""Verdict on a case without a result, by the status of the run."""
_MAX_STDERR = 2000
"""Maximum length of stderr in a message, characters."""
_MAX_TEXT = 1000
"""Maximum length of other text from a program, characters."""
MAX_SHOWN = 300
"""Maximum length of a value that is shown, characters."""
_LINE = re.compile(r" \(line \d+\)$")
"""What the sandbox adds to the message of an exception."""
_RESULT_CAPS = Caps(total=MAX_BODY)
_SHOWN_CAPS = Caps(total=256 * 1024, items=10_000)
"""Limits on an answer's result that is shown. A larger one is described by the comparison only."""


@dataclass(frozen=True, slots=True)
class CaseVerdict:
    """Verdict on one case."""

    index: int
    """Index from 0: the examples first, then the hidden cases."""
    verdict: Verdict
    visible: bool
    difference: Difference | None = None
    """How the result differs; None if there is no result. For a hidden case only the kind of difference, never a value
    or text from the program."""
    on_gpu: bool = False
    shown: str = ""
    """The call, such as `f(tensor([1.]), 3)`; empty for a hidden case."""
    expected: str = ""
    """Result of the reference as Python-like text, for a visible case that failed."""
    got: str = ""
    """Result of the answer, for a visible case that failed; empty if there is none, or it is too large."""


@dataclass(frozen=True, slots=True)
class Judgement:
    """Verdict on an answer, with the verdicts on its cases."""

    verdict: Verdict
    cases: tuple[CaseVerdict, ...] = ()
    share: float = 0.0
    """Share of the cases that were accepted, from 0 to 1."""
    message: str = ""
    """Text of the program itself that shows why it failed as a whole, such as a traceback."""
    on_gpu: bool = False
    """Whether it failed on the GPU, after the CPU had accepted it."""
    detail: str = ""
    """Cause of a system error, for the operator."""
    note: GpuNote = ""
    """What the answer was judged without."""
    cause: Cause | None = None
    """Why the whole run ended early, unless a mistake in the program did it."""


@dataclass(frozen=True, slots=True)
class _CaseResult:
    """The decoded result of one case."""

    raised: str | None
    """Type name of the exception, or None if a value was returned."""
    value: Value = None
    message: str = ""
    supported: bool = True
    """False if a value was returned that cannot be compared."""


def system_error(detail: str) -> Judgement:
    """Returns a judgement for a failure of the sandbox or the question."""
    return Judgement("system error", detail=detail)


def judge_outcome(
    expected_results: bytes,
    outcome: Outcome,
    *,
    cases: int,
    examples: int,
    tolerance: NumberTolerance,
    order: Sequence[int] | None = None,
) -> Judgement:
    """Judges an outcome against the reference's results for the same cases.

    `order[k]` is the index of the case that was run as number k. The first `examples` indices are visible.
    """
    from sandbox.judging.comparison import draws_fault  # in a thread, for numpy

    indices = list(order) if order is not None else list(range(cases))
    if outcome.status == "internal":
        return system_error(outcome.detail)
    try:
        expected = [_decode_result(data) for data in split(expected_results)]
    except ValueError as problem:
        return system_error(f"the reference's results cannot be read: {problem}")
    unsupported = [result.message for result in expected if not result.supported]
    faults = unsupported or [why for result in expected if (why := draws_fault(result.value))]
    if faults:
        return system_error(f"the reference returned what cannot be compared: {faults[0]}")
    if len(expected) != cases or sorted(indices) != list(range(cases)):
        return system_error(f"{len(expected)} results of the reference for {cases} cases")
    if outcome.status == "error" and outcome.reached in ("parse", "entry"):
        invalid = (CaseVerdict(at, "invalid", at < examples) for at in range(cases))
        return Judgement("invalid", tuple(invalid), 0.0, outcome.stderr[-_MAX_STDERR:], cause=outcome.cause)
    results = _answer_results(outcome, cases)
    without_result = _VERDICT_OF[outcome.status]
    verdicts: list[CaseVerdict] = []
    for at, index in enumerate(indices):
        visible, result = index < examples, _decode_like(expected[at], results[at])
        if result is None:
            verdict = CaseVerdict(index, without_result, visible)
        else:
            verdict = _judge_case(index, expected[at], result, tolerance, visible=visible)
        if visible and verdict.verdict != "accepted":
            verdict = replace(verdict, expected=_shown(expected[at]), got=_shown_answer(results[at]))
        verdicts.append(verdict)
    return _summarize(tuple(sorted(verdicts, key=lambda case: case.index)), outcome)


def _answer_results(outcome: Outcome, cases: int) -> list[bytes | None]:
    """Returns one encoded result per case, None for a missing one. Too many results count as none at all."""
    try:
        pieces = split(outcome.results, cases)
    except ValueError:
        pieces = []
    return [*pieces, *[None] * (cases - len(pieces))]


def _decode_like(expected: _CaseResult, data: bytes | None) -> _CaseResult | None:
    """Decodes a result as far as it has the structure of the expected one. Returns None if it cannot be read."""
    if data is None:
        return None
    reader = ResultReader(data)
    try:
        kind = reader.start()
        if kind == "ok":
            result = _CaseResult(None, None if expected.raised else reader.like(expected.value))
        else:
            result = _CaseResult(reader.string(), None, _displayable(reader.string()), supported=kind == "raised")
        if kind != "ok" or not expected.raised:
            reader.finish()
    except ValueError:
        return None
    return result


def _decode_result(data: bytes, caps: Caps = _RESULT_CAPS) -> _CaseResult:
    match decode(data, caps):
        case ("ok", value):
            return _CaseResult(None, value)
        case ("raised", str(name), str(message)):
            return _CaseResult(name, None, _displayable(message))
        case ("unsupported", str(name), str(message)):
            return _CaseResult(name, None, _displayable(message), supported=False)
    raise ValueError("byte 0: neither a result nor an exception")


def shown_result(data: bytes) -> str:
    """Returns a reference's result of one case as short text. Raises ValueError if it cannot be read or compared."""
    result = _decode_result(data)
    if not result.supported:
        raise ValueError(f"the reference returned what cannot be compared: {result.message}")
    return _shown(result)


def _shown(result: _CaseResult) -> str:
    if result.raised is None:
        from sandbox.judging.comparison import brief

        return brief(result.value, MAX_SHOWN)
    if not result.supported:
        return ""
    message = _LINE.sub("", result.message)
    words = f"({message!r})" if message else ""
    return shortened(f"raise {_displayable(result.raised)}{words}", MAX_SHOWN)


def _shown_answer(data: bytes | None) -> str:
    """Returns the answer's result as short text, sanitized; "" if there is none to show."""
    try:
        return "" if data is None else sanitized(_shown(_decode_result(data, _SHOWN_CAPS)))
    except ValueError:
        return ""


def _displayable(text: str) -> str:
    """Returns text from a program, sanitized and shortened: it may be forged, and of any length."""
    return shortened(sanitized(text), _MAX_TEXT)


def _judge_case(
    index: int, expected: _CaseResult, got: _CaseResult, tolerance: NumberTolerance, *, visible: bool
) -> CaseVerdict:
    found = _difference(expected, got, tolerance)
    if found is None:
        return CaseVerdict(index, "accepted", visible)
    verdict: Verdict = "runtime error" if isinstance(found, Raised) else "wrong"
    return CaseVerdict(index, verdict, visible, found if visible else HiddenDiffers(aspect_of(found)))


def _difference(expected: _CaseResult, got: _CaseResult, tolerance: NumberTolerance) -> Difference | None:
    if not got.supported:
        return NotComparable(got.message)
    if expected.raised is None and got.raised is not None:
        return Raised(_displayable(got.raised), got.message)
    if expected.raised is None:
        from sandbox.judging.comparison import compare

        return compare(expected.value, got.value, tolerance)
    if expected.raised == got.raised:
        return None
    return NotRaised(expected.raised, _displayable(got.raised) if got.raised else "")


def _summarize(cases: tuple[CaseVerdict, ...], outcome: Outcome) -> Judgement:
    """Combines the cases: the first failure decides, unless the whole run failed."""
    passed = sum(case.verdict == "accepted" for case in cases)
    share = passed / len(cases) if cases else 0.0
    if outcome.status != "ok":
        message = outcome.stderr[-_MAX_STDERR:] if outcome.reached == "load" else ""
        return Judgement(_VERDICT_OF[outcome.status], cases, share, message, cause=outcome.cause)
    failed = [case.verdict for case in cases if case.verdict != "accepted"]
    if failed or not cases:
        return Judgement(failed[0] if failed else "wrong", cases, share)
    return Judgement("accepted", cases, 1.0)
