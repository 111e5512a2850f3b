"""Frames on the sandbox's socket: whole, capped, and nothing but what they claim to be."""

from __future__ import annotations

import json
import struct
from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sandbox import causes, wire
from sandbox.causes import Crashed, Exited, MemoryExceeded, OutputExceeded, Tampered, TimeExceeded, Wall, WallHit
from sandbox.values import sanitized
from sandbox.wire import Limits, Outcome, Role, Run

SMALL = st.integers(0, 10**6)
LIMITS = st.builds(Limits, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL, SMALL)
RUNS = st.builds(Run, st.text(), st.text(), st.none() | st.text(), st.binary(), st.integers(0, 2**128), LIMITS)
NUMBERS = st.integers(0, 2**31)
LINES = st.none() | NUMBERS
CAUSES = st.one_of(
    st.builds(WallHit, st.sampled_from(get_args(Wall)), LINES, NUMBERS),
    st.builds(TimeExceeded, st.sampled_from(["wall", "cpu"]), NUMBERS, LINES),
    st.builds(MemoryExceeded, NUMBERS, NUMBERS, NUMBERS, LINES, st.sampled_from(["cpu", "cuda"])),
    st.builds(OutputExceeded, st.sampled_from(["output", "results"]), NUMBERS),
    st.builds(Exited, NUMBERS, LINES),
    st.builds(Crashed, NUMBERS),
    st.just(Tampered()),
)
OUTCOMES = st.builds(
    Outcome,
    id=st.text(),
    status=st.sampled_from(["ok", "error", "time", "memory", "output", "crash", "denied", "internal"]),
    stdout=st.text().map(sanitized),
    exit_code=st.none() | st.integers(0, 255),
    wall_ms=st.floats(0, 1e6),
    results=st.binary(),
    reached=st.sampled_from(["parse", "load", "entry", "cases", "done"]),
    cause=st.none() | CAUSES,
    delayed_ms=st.floats(0, 1e6),
)


@given(RUNS)
def test_a_run_crosses_unchanged(run: Run) -> None:
    kind, head, body = wire.decode(wire.encode_run(run))
    assert kind == "run"
    assert wire.read_run(head, body) == run


@given(OUTCOMES)
def test_an_outcome_crosses_unchanged(outcome: Outcome) -> None:
    kind, head, body = wire.decode(wire.encode_outcome(outcome))
    assert kind == "outcome"
    assert wire.read_outcome(head, body) == outcome


@given(st.binary(max_size=100))
def test_no_bytes_do_worse_than_a_value_error(frame: bytes) -> None:
    with pytest.raises(ValueError, match=r"frame|header"):
        wire.decode(frame)


def test_a_header_is_refused_before_it_is_read() -> None:
    with pytest.raises(ValueError, match="a header of 4294967295 bytes, more than 2097152"):
        wire.header_length(b"\xff\xff\xff\xff")


@pytest.mark.parametrize(
    "head",
    [
        [],
        {"kind": "run"},
        {"kind": 1, "body": 0},
        {"kind": "run", "body": -1},
        {"kind": "run", "body": True},
        {"kind": "run", "body": 2**40},
        {"kind": "run", "body": "1"},
    ],
)
def test_a_header_that_announces_nonsense_is_refused(head: Any) -> None:
    with pytest.raises(ValueError, match="a header"):
        wire.read_header(json.dumps(head).encode())


@pytest.mark.parametrize("number", ["NaN", "Infinity", "-Infinity", "1e999", "-1e999", "1" + 40 * "0"])
@pytest.mark.parametrize("name", ["wall_ms", "cpu_ms", "peak_mb", "queue_ms", "delayed_ms", "exit_code", "before"])
def test_a_number_that_no_database_stores_is_refused(name: str, number: str) -> None:
    """A sandbox that somebody took over can still give wrong verdicts, but must not keep a round from closing."""
    header = f'{{"kind": "outcome", "body": 0, "id": "r", "status": "ok", "{name}": {number}}}'.encode()
    with pytest.raises(ValueError, match=r"Outcome|header"):
        wire.read_outcome(wire.read_header(header)[1], b"")


def test_nobody_is_a_negative_number_of_runs_ahead() -> None:
    """Or every run would be sent to the sandbox that says so."""
    with pytest.raises(ValueError, match="-7 runs ahead"):
        wire.read_outcome({"id": "r", "status": "ok", "before": -7}, b"")


@pytest.mark.parametrize("name", ["wall_ms", "cpu_ms", "peak_mb", "queue_ms"])
def test_nothing_takes_less_than_no_time_or_memory(name: str) -> None:
    """Or a sandbox that is out of order would put an answer first on the speed board."""
    assert wire.read_outcome({"id": "r", "status": "ok", name: 0}, b"") == Outcome("r", "ok")
    with pytest.raises(ValueError, match=f"whose {name} is -1"):
        wire.read_outcome({"id": "r", "status": "ok", name: -1}, b"")


@pytest.mark.parametrize("name", ["stdout", "stderr"])
@pytest.mark.parametrize("text", ["loss:\0", "\ud800", "\x1b[2J", "\u202eabc", "epoch 1\r\n"])
def test_text_that_the_supervisor_would_have_replaced_is_refused(name: str, text: str) -> None:
    head = json.loads(json.dumps({"id": "r", "status": "error", name: text}))
    with pytest.raises(ValueError, match=f"whose {name} has characters"):
        wire.read_outcome(head, b"")
    assert wire.read_outcome({**head, name: "loss: 0,5 µ\t\n"}, b"").status == "error"


def test_a_run_that_was_refused_has_no_result() -> None:
    """Or the answer would be taken to need a GPU, and never be judged again."""
    with pytest.raises(ValueError, match="'ok' of a run that was refused"):
        wire.read_outcome({"id": "r", "status": "ok", "refused": "device"}, b"")


def test_an_outcome_is_that_of_the_run() -> None:
    run, head = Run("r", ""), {"id": "r", "status": "ok"}
    assert wire.read_outcome_of(run, head, b"") == Outcome("r", "ok")
    with pytest.raises(ValueError, match="the outcome of 'another', which is another run"):
        wire.read_outcome_of(run, {**head, "id": "another"}, b"")
    assert wire.read_outcome_of(run, {"id": "", "status": "internal"}, b"").status == "internal"


def test_the_same_run_has_another_id_each_time() -> None:
    first, second = (wire.name_attempt(Run("r", "1")) for _ in range(2))
    assert first.id != second.id
    assert first.id.startswith("r#") and second.id.startswith("r#")


def test_a_header_nested_without_end_is_refused() -> None:
    with pytest.raises(ValueError, match="a header"):
        wire.read_header(b"[" * 100_000)


def test_a_frame_longer_or_shorter_than_it_says_is_refused() -> None:
    frame = wire.encode("run", {}, b"abc")
    for bad in (frame + b"x", frame[:-1]):
        with pytest.raises(ValueError, match="that announces"):
            wire.decode(bad)


@pytest.mark.parametrize(
    "head",
    [
        {"id": "x"},
        {"id": "x", "code": 1},
        {"id": "x", "code": "", "surprise": 1},
        {"id": "x", "code": "", "seed": True},
        {"id": "x", "code": "", "limits": {"wall_ms": "1"}},
        {"id": "x", "code": "", "limits": {"wall_ms": -1}},
        {"id": "x", "code": "", "limits": [1]},
    ],
)
def test_a_run_with_unknown_or_mistyped_fields_is_refused(head: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"Run|Limits"):
        wire.read_run(head, b"")


@pytest.mark.parametrize("role", ["program", "cases", "reference", "answer"])
def test_a_role_crosses_unchanged(role: Role) -> None:
    _, head, body = wire.decode(wire.encode_run(Run("x", "", role=role)))
    assert wire.read_run(head, body).role == role


@pytest.mark.parametrize("role", ["", "judge", "answer/reference", 1, True, None, ["answer"]])
def test_a_role_nobody_knows_is_refused(role: object) -> None:
    _, head, body = wire.decode(wire.encode_run(Run("x", "")))
    with pytest.raises(ValueError, match=r"role"):
        wire.read_run({**head, "role": role}, body)


@pytest.mark.parametrize("name", ["priority", "device", "role", "driving"])
def test_a_run_of_a_kind_nobody_knows_is_refused(name: str) -> None:
    _, head, body = wire.decode(wire.encode_run(Run("x", "")))
    assert wire.read_run(head, body) == Run("x", "")
    with pytest.raises(ValueError, match="'surprise'"):
        wire.read_run({**head, name: "surprise"}, body)


@pytest.mark.parametrize("name", ["status", "isolation", "device", "reached", "refused"])
def test_an_outcome_of_a_kind_nobody_knows_is_refused(name: str) -> None:
    _, head, body = wire.decode(wire.encode_outcome(Outcome("x", "ok")))
    assert wire.read_outcome(head, body) == Outcome("x", "ok")
    with pytest.raises(ValueError, match="an outcome of status"):
        wire.read_outcome({**head, name: "surprise"}, body)


def test_a_program_or_a_body_beyond_its_cap_is_not_sent() -> None:
    with pytest.raises(ValueError, match="more than 262144 bytes"):
        wire.encode_run(Run("x", "ä" * (wire.MAX_CODE // 2 + 1)))
    with pytest.raises(ValueError, match="a frame of"):
        wire.encode("run", {"x": "y" * wire.MAX_HEADER})


def test_the_length_comes_first_in_network_order() -> None:
    frame = wire.encode("health", {})
    assert struct.unpack(">I", frame[:4]) == (len(frame) - 4,)


@pytest.mark.parametrize(
    "cause",
    [
        "wall",
        {},
        {"kind": "walls"},
        {"kind": ["wall"]},
        {"kind": "wall", "wall": "the great one"},
        {"kind": "wall", "wall": ["network"]},
        {"kind": "wall", "wall": "network", "line": "3"},
        {"kind": "wall", "wall": "network", "line": -1},
        {"kind": "wall", "wall": "network", "line": 10**30},
        {"kind": "wall", "wall": "network", "limit": True},
        {"kind": "wall", "wall": "network", "surprise": 1},
        {"kind": "wall", "line": 3},
        {"kind": "time", "clock": "sun", "limit_ms": 1},
    ],
)
def test_a_cause_nobody_knows_is_refused(cause: object) -> None:
    assert causes.from_json(causes.to_json(WallHit("network", 3))) == WallHit("network", 3)
    with pytest.raises(ValueError, match="a cause"):
        causes.from_json(cause)
