"""The sandbox's wire format: a Run goes in, an Outcome comes back. Plain data; executes nothing and imports no torch.

A frame is a 4-byte big-endian header length, a JSON header of that length, and as many body bytes as the header's
`body` field says. A Run's body holds the encoded cases (`sandbox.values`), an Outcome's body the encoded results.
"""

from __future__ import annotations

import json
import secrets
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Literal, TypeVar, get_args

from sandbox import causes
from sandbox.causes import Cause
from sandbox.values import sanitized

Status = Literal["ok", "error", "time", "memory", "output", "crash", "denied", "internal"]
"""How a run ended. `internal` is a failure of the sandbox, never the member's fault; the others are about the code."""

Isolation = Literal["full", "weaker"]
"""`weaker` is seccomp and Landlock without namespaces, used only where `--weaker` asks for it."""

Reached = Literal["parse", "load", "entry", "cases", "done"]
"""Stage at which a run ended: parsing, executing the module, finding the entry, calling it, or after all of these."""

Role = Literal["program", "cases", "reference", "answer"]
"""Purpose of a run: a program on its own, or one of the three runs that judge an answer."""

Priority = Literal["round", "practice", "free", "background"]
"""Scheduling class, most urgent first: a first answer of an open round, other answers, free runs and trials, and work
that nobody waits for, such as proofs."""

Refusal = Literal["", "member", "full", "device"]
"""Why a run was not queued: its member already has one waiting, the queue is full, or the device is missing."""

Device = Literal["cpu", "cuda"]
"""Where a program computes. `cuda` is a GPU: each run has a fresh process, and a GPU runs one at a time."""

Driving = Literal["inside", "loopback", "pair", "driver", "answer"]
"""Where a driver runs: in the process of the program it drives, with it in one process but as if in another, or in a
process of its own. The supervisor makes a `pair` of two children, the `driver` and the `answer`."""

Verdict = Literal[
    "accepted", "wrong", "runtime error", "time limit", "memory limit", "output limit", "invalid", "system error"
]
"""Result of judging an answer. `system error` is a failure of the sandbox or the question, never the member's fault."""

MAX_HEADER = 2 * 1024 * 1024
"""Maximum header size, bytes. The header carries the program, or stdout and stderr."""
MAX_BODY = 64 * 1024 * 1024
"""Maximum body size, bytes."""
MAX_CODE = 256 * 1024
"""Maximum program size, bytes of UTF-8."""
MAX_NUMBER = 2**128
"""Largest number in a frame: seeds are smaller, and so are all times and sizes."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Resources one run may use. The supervisor kills a run that exceeds them."""

    wall_ms: int = 5000
    cpu_ms: int = 5000
    memory_mb: int = 512
    """Memory in addition to what the preloaded torch takes."""
    output_bytes: int = 64 * 1024
    """Maximum size of stdout and of stderr, each."""
    result_bytes: int = 16 * 1024 * 1024
    """Maximum size of the encoded results."""
    processes: int = 16
    disk_mb: int = 16
    gpu_mb: int = 4096
    """GPU memory in addition to what the context takes. Ignored on the CPU."""


@dataclass(frozen=True, slots=True)
class Run:
    """A program to execute in a new, confined child.

    Without `entry`, the program is executed and nothing else. With it, the function of that name is called once per
    case, in order, with the case's values as arguments, and its return values are sent back as plain bytes.
    """

    id: str
    """Name for logs, such as the correlation id of a request. The outcome has to repeat it."""
    code: str
    entry: str | None = None
    cases: bytes = b""
    """List of argument tuples, encoded by `sandbox.values.encode`. Ignored without `entry`."""
    seed: int = 0
    """Seed of random, numpy and torch, set before the program starts."""
    limits: Limits = Limits()
    driver: str = ""
    """The question's own program, which defines `drive(answer, *arguments)`. It is called once per case instead of the
    entry: it exercises a class, a gradient or an in-place effect and returns data. Ignored without `entry`."""
    show_last: bool = False
    """Prints the value of a last expression, as a notebook does. Ignored with `entry`: judged runs never do this."""
    owner: str = ""
    """Member for fair queueing; empty for the service's own runs. Never passed to a child."""
    priority: Priority = "background"
    """Scheduling class. Never passed to a child."""
    device: Device = "cpu"
    """With `cuda`, the tensors of the cases are on the GPU when the entry is called. Results may be anywhere."""
    role: Role = "program"
    """Purpose of the run, set by the judge. Never passed to a child."""
    driving: Driving = "inside"
    """Where the driver runs. With `inside` the answer can change what it measures."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a Run."""

    id: str
    status: Status
    stdout: str = ""
    stderr: str = ""
    """Standard error, with control characters replaced. A traceback names only lines of the program."""
    truncated: bool = False
    exit_code: int | None = None
    signal: int | None = None
    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    peak_mb: float = 0.0
    queue_ms: float = 0.0
    device: Device = "cpu"
    """Device the run used."""
    platform: str = ""
    """Versions of torch and numpy, and the GPU if there was one: another platform may give other results."""
    isolation: Isolation = "full"
    results: bytes = b""
    """One encoded entry per finished case, in order, packed by `sandbox.values.join`: `("ok", value)`,
    `("raised", type name, message)`, or `("unsupported", type name, message)` for a result that cannot be sent.
    Fewer entries than cases when the run ended early. Untrusted: decode with caps and compare outside the child."""
    detail: str = field(default="", repr=False)
    """Cause of an `internal` status, for operators."""
    cause: Cause | None = None
    """Why the run ended early, unless a mistake in the program did it, which stderr shows."""
    delayed_ms: float = 0.0
    """Time for which the program was ready to run but the machine had no core for it."""
    reached: Reached = "done"
    """Stage reported by the child. Use it to explain a failure, never as evidence of success."""
    before: int = 0
    """Number of runs ahead of this one when it arrived."""
    refused: Refusal = ""
    """With status `internal`: why the run was not queued."""


_LENGTH = struct.Struct(">I")


def encode(kind: str, head: Mapping[str, Any], body: bytes = b"") -> bytes:
    """Returns one frame. Raises ValueError when the header or the body is too large."""
    header = json.dumps({**head, "kind": kind, "body": len(body)}).encode()
    if len(header) > MAX_HEADER or len(body) > MAX_BODY:
        raise ValueError(f"a frame of {len(header)} + {len(body)} bytes, more than {MAX_HEADER} + {MAX_BODY}")
    return _LENGTH.pack(len(header)) + header + body


def header_length(prefix: bytes) -> int:
    """Returns the header length announced by a frame's first four bytes. Raises ValueError when it is too large."""
    (length,) = _LENGTH.unpack(prefix)
    if length > MAX_HEADER:
        raise ValueError(f"a header of {length} bytes, more than {MAX_HEADER}")
    return int(length)


def read_header(header: bytes) -> tuple[str, dict[str, Any], int]:
    """Returns the kind, the fields and the body length of a frame. Raises ValueError for malformed headers."""
    try:
        head = json.loads(header, parse_constant=_refuse_constant)
        kind, body = head.pop("kind"), head.pop("body")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as problem:
        raise ValueError(f"a header that is not a JSON object with kind and body: {problem!r}") from None
    if not isinstance(kind, str) or type(body) is not int or not 0 <= body <= MAX_BODY:
        raise ValueError(f"a header of kind {kind!r} with a body of {body!r} bytes")
    return kind, head, body


def _refuse_constant(name: str) -> float:
    # Python reads NaN and Infinity, which no database stores as JSON.
    raise ValueError(f"the number {name}")


def decode(frame: bytes) -> tuple[str, dict[str, Any], bytes]:
    """Returns the kind, the fields and the body of one whole frame. Raises ValueError for malformed frames."""
    if len(frame) < _LENGTH.size:
        raise ValueError(f"a frame of {len(frame)} bytes")
    start = _LENGTH.size + header_length(frame[: _LENGTH.size])
    kind, head, length = read_header(frame[_LENGTH.size : start])
    if len(frame) != start + length:
        raise ValueError(f"a frame of {len(frame)} bytes that announces {start + length}")
    return kind, head, frame[start:]


def encode_run(run: Run) -> bytes:
    """Encodes a Run as a frame of kind `run`. Raises ValueError when it is too large."""
    if max(len(program.encode("utf-8", "surrogatepass")) for program in (run.code, run.driver)) > MAX_CODE:
        raise ValueError(f"a program of more than {MAX_CODE} bytes")
    head = {name: getattr(run, name) for name in _TYPES_OF[Run] if name != "cases"}
    limits = {name: getattr(run.limits, name) for name in _TYPES_OF[Limits]}
    return encode("run", {**head, "limits": limits}, run.cases)


def read_run(head: Mapping[str, Any], body: bytes) -> Run:
    """Decodes the Run of a `run` frame. Raises ValueError for unknown fields, wrong types and unknown literals."""
    limits = _build(Limits, head.get("limits", {}))
    run = _build(Run, {**head, "limits": limits, "cases": body})
    if run.priority not in get_args(Priority):
        raise ValueError(f"a run of priority {run.priority!r}")
    if run.device not in get_args(Device):
        raise ValueError(f"a run for the device {run.device!r}")
    if run.role not in get_args(Role):
        raise ValueError(f"a run with the role {run.role!r}")
    if run.driving not in get_args(Driving):
        raise ValueError(f"a run whose driver is {run.driving!r}")
    return run


def encode_outcome(outcome: Outcome) -> bytes:
    """Encodes an Outcome as a frame of kind `outcome`."""
    head = {name: getattr(outcome, name) for name in _TYPES_OF[Outcome] if name != "results"}
    return encode("outcome", {**head, "cause": causes.to_json(outcome.cause)}, outcome.results)


def read_outcome(head: Mapping[str, Any], body: bytes) -> Outcome:
    """Decodes the Outcome of an `outcome` frame. Raises ValueError for unknown fields, wrong types and literals, and
    for what no sandbox in order reports, such as a negative time or text that no database stores."""
    outcome = _build(Outcome, {**head, "cause": causes.from_json(head.get("cause")), "results": body})
    known = outcome.status in get_args(Status) and outcome.isolation in get_args(Isolation)
    known = known and outcome.device in get_args(Device)
    if outcome.before < 0:
        raise ValueError(f"an outcome with {outcome.before} runs ahead of it")
    if not known or outcome.reached not in get_args(Reached) or outcome.refused not in get_args(Refusal):
        raise ValueError(f"an outcome of status {outcome.status!r}, reached {outcome.reached!r}")
    if outcome.refused and outcome.status != "internal":
        raise ValueError(f"an outcome of status {outcome.status!r} of a run that was refused")
    for name in _MEASURED:
        if getattr(outcome, name) < 0:
            raise ValueError(f"an outcome whose {name} is {getattr(outcome, name)}")
    for name in ("stdout", "stderr"):
        # The supervisor replaces these characters, which may come from a child.
        if sanitized(text := getattr(outcome, name)) != text or not _is_unicode(text):
            raise ValueError(f"an outcome whose {name} has characters that the sandbox replaces")
    return outcome


_MEASURED = ("wall_ms", "cpu_ms", "peak_mb", "queue_ms")


def _is_unicode(text: str) -> bool:
    # JSON can hold half of a character, which no database and no chat can.
    return text.isascii() or not any("\ud800" <= character <= "\udfff" for character in text)


def name_attempt(run: Run) -> Run:
    """Returns the run under an id that no other run has, even the same one sent again."""
    return replace(run, id=f"{run.id}#{secrets.token_hex(8)}")


def read_outcome_of(run: Run, head: Mapping[str, Any], body: bytes) -> Outcome:
    """Decodes the Outcome of this run. Raises ValueError as `read_outcome`, and for another run's outcome.

    A failure of the sandbox need not name its run, because it may not have been read.
    """
    outcome = read_outcome(head, body)
    if outcome.status != "internal" and outcome.id != run.id:
        raise ValueError(f"the outcome of {outcome.id[:_LONGEST_ID]!r}, which is another run")
    return outcome


_LONGEST_ID = 100
"""Characters of another run's id that a message shows."""


_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "str": (str,),
    "bytes": (bytes,),
    "bool": (bool,),
    "int | None": (int, type(None)),
    "str | None": (str, type(None)),
    "Limits": (Limits,),
    "Cause | None": (*get_args(Cause), type(None)),
    **dict.fromkeys(("Status", "Isolation", "Reached", "Role", "Priority", "Refusal", "Device", "Driving"), (str,)),
}
# Computed once: dataclasses.asdict would copy every value and take longer than the rest of a frame.
_TYPES_OF = {kind: {item.name: _TYPES[str(item.type)] for item in fields(kind)} for kind in (Run, Outcome, Limits)}

_T = TypeVar("_T", Run, Outcome, Limits)


def _build(kind: type[_T], values: Any) -> _T:
    types = _TYPES_OF[kind]
    if not isinstance(values, Mapping):
        raise ValueError(f"{kind.__name__}: not an object")
    for name, value in values.items():
        if name not in types or not isinstance(value, types[name]):
            raise ValueError(f"{kind.__name__}: {name!r} is unknown or of the wrong type")
        if isinstance(value, bool) and bool not in types[name]:
            raise ValueError(f"{kind.__name__}: {name!r} is of the wrong type")
        if isinstance(value, int | float) and not -MAX_NUMBER <= value <= MAX_NUMBER:
            raise ValueError(f"{kind.__name__}: {name!r} is out of range")
    if kind is Limits and any(value < 0 for value in values.values()):
        raise ValueError("Limits: a negative limit")
    try:
        return kind(**values)
    except TypeError as problem:
        raise ValueError(f"{kind.__name__}: {problem}") from None
