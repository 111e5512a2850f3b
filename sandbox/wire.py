"""What crosses the sandbox's socket: a Run goes in, an Outcome comes back. No torch, no asyncio, nothing executed.

A frame is a 4-byte big-endian header length, a JSON header of that length, and as many body bytes as the
header's `body` says. A Run's body is the encoded case values (`sandbox.values`), an Outcome's the encoded results.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Literal, TypeVar, get_args

Status = Literal["ok", "error", "time", "memory", "output", "crash", "denied", "internal"]
"""How a run ended. `internal` is ours and never the member's fault; every other one is about the code."""

Isolation = Literal["full", "weaker"]

Reached = Literal["parse", "load", "entry", "cases", "done"]
"""Where a run ended: parsing, executing the module, looking for the entry, calling it, or behind all that."""

Priority = Literal["round", "practice", "free", "background"]
"""Whose run goes first: a first answer of an open round, other answers, free runs and trials, and what nobody waits
for, such as proving and drawing."""

Refusal = Literal["", "member", "full", "device"]
"""Why a run was not even queued: its member has one running and one waiting, too many wait already, or there is no
such device here."""

Device = Literal["cpu", "cuda"]
"""Where a program is to compute: `cuda` is a GPU whose workers are fresh processes, one run at a time."""

MAX_HEADER = 2 * 1024 * 1024
"""Bytes of a header: the program travels in it, or stdout and stderr."""
MAX_BODY = 64 * 1024 * 1024
MAX_CODE = 256 * 1024
"""Bytes of a program, as UTF-8."""


@dataclass(frozen=True, slots=True)
class Limits:
    """What one run may use; the supervisor kills whatever goes beyond."""

    wall_ms: int = 5000
    cpu_ms: int = 5000
    memory_mb: int = 512
    """Beyond what the preloaded torch itself takes."""
    output_bytes: int = 64 * 1024
    """Of stdout and of stderr, each."""
    result_bytes: int = 16 * 1024 * 1024
    """Of the encoded results."""
    processes: int = 16
    disk_mb: int = 16
    gpu_mb: int = 4096
    """Of a GPU's own memory, beyond what its context takes; nothing where none is used."""


@dataclass(frozen=True, slots=True)
class Run:
    """One program to execute in one fresh, confined child.

    Without `entry` the program is just executed. With it, the function of that name is called once per
    case, in order, with the case's values as arguments, and what it returns is sent back as plain bytes.
    """

    id: str
    code: str
    entry: str | None = None
    cases: bytes = b""
    """A list of tuples of arguments, as `sandbox.values.encode` writes it; ignored without `entry`."""
    seed: int = 0
    """random, numpy and torch are seeded with it before the program starts."""
    limits: Limits = Limits()
    driver: str = ""
    """A program of the question's that defines `drive(answer, *arguments)`, called once per case in place of the
    entry: it puts a class, a gradient or an effect in place to work and returns data. Ignored without `entry`."""
    show_last: bool = False
    """Print the value of a last expression, as a notebook does. Ignored with `entry`: nothing judged is run so."""
    owner: str = ""
    """Whose run it is, so that members take turns; empty for our own. No child is told."""
    priority: Priority = "background"
    device: Device = "cpu"
    """With `cuda` the tensors of the cases lie on the GPU when the entry is called; results may lie anywhere."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a Run."""

    id: str
    status: Status
    stdout: str = ""
    stderr: str = ""
    """Apart from stdout, control characters made harmless; a traceback names the member's lines only."""
    truncated: bool = False
    exit_code: int | None = None
    signal: int | None = None
    wall_ms: float = 0.0
    cpu_ms: float = 0.0
    peak_mb: float = 0.0
    queue_ms: float = 0.0
    device: Device = "cpu"
    """Where it ran."""
    isolation: Isolation = "full"
    results: bytes = b""
    """One encoded entry per case that finished, in order, as `sandbox.values.join` puts them together: `("ok", value)`,
    `("raised", type name, message)` or `("unsupported", type name, message)` for a result that cannot leave.
    Fewer than there were cases when the run ended early. Untrusted: decode with caps, compare outside."""
    detail: str = field(default="", repr=False)
    """For `internal` and `denied`: what happened, for the operator."""
    reached: Reached = "done"
    """As the child tells it: good for saying why something failed, never for believing that it passed."""
    before: int = 0
    """Runs that were before it when it came."""
    refused: Refusal = ""
    """Of an `internal` one: it was not even queued, for this reason, and `detail` says so to the member."""


_LENGTH = struct.Struct(">I")


def encode(kind: str, head: Mapping[str, Any], body: bytes = b"") -> bytes:
    """One frame. Raises ValueError when header or body is beyond its cap."""
    header = json.dumps({**head, "kind": kind, "body": len(body)}).encode()
    if len(header) > MAX_HEADER or len(body) > MAX_BODY:
        raise ValueError(f"a frame of {len(header)} + {len(body)} bytes, more than {MAX_HEADER} + {MAX_BODY}")
    return _LENGTH.pack(len(header)) + header + body


def header_length(prefix: bytes) -> int:
    """What the first four bytes of a frame announce. Raises ValueError when it is beyond the cap."""
    (length,) = _LENGTH.unpack(prefix)
    if length > MAX_HEADER:
        raise ValueError(f"a header of {length} bytes, more than {MAX_HEADER}")
    return int(length)


def read_header(header: bytes) -> tuple[str, dict[str, Any], int]:
    """The kind, the fields and the body's length of a frame. Raises ValueError for anything malformed."""
    try:
        head = json.loads(header)
        kind, body = head.pop("kind"), head.pop("body")
    except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as problem:
        raise ValueError(f"a header that is not a JSON object with kind and body: {problem!r}") from None
    if not isinstance(kind, str) or type(body) is not int or not 0 <= body <= MAX_BODY:
        raise ValueError(f"a header of kind {kind!r} with a body of {body!r} bytes")
    return kind, head, body


def decode(frame: bytes) -> tuple[str, dict[str, Any], bytes]:
    """Kind, fields and body of one whole frame. Raises ValueError for anything malformed."""
    if len(frame) < _LENGTH.size:
        raise ValueError(f"a frame of {len(frame)} bytes")
    start = _LENGTH.size + header_length(frame[: _LENGTH.size])
    kind, head, length = read_header(frame[_LENGTH.size : start])
    if len(frame) != start + length:
        raise ValueError(f"a frame of {len(frame)} bytes that announces {start + length}")
    return kind, head, frame[start:]


def encode_run(run: Run) -> bytes:
    """A Run as a frame of kind `run`. Raises ValueError when it is too large."""
    if max(len(program.encode("utf-8", "surrogatepass")) for program in (run.code, run.driver)) > MAX_CODE:
        raise ValueError(f"a program of more than {MAX_CODE} bytes")
    head = {name: getattr(run, name) for name in _TYPES_OF[Run] if name != "cases"}
    limits = {name: getattr(run.limits, name) for name in _TYPES_OF[Limits]}
    return encode("run", {**head, "limits": limits}, run.cases)


def read_run(head: Mapping[str, Any], body: bytes) -> Run:
    """The Run of a `run` frame. Raises ValueError for fields it does not know or of the wrong type."""
    limits = _build(Limits, head.get("limits", {}))
    run = _build(Run, {**head, "limits": limits, "cases": body})
    if run.priority not in get_args(Priority):
        raise ValueError(f"a run of priority {run.priority!r}")
    if run.device not in get_args(Device):
        raise ValueError(f"a run for the device {run.device!r}")
    return run


def encode_outcome(outcome: Outcome) -> bytes:
    """An Outcome as a frame of kind `outcome`."""
    head = {name: getattr(outcome, name) for name in _TYPES_OF[Outcome] if name != "results"}
    return encode("outcome", head, outcome.results)


def read_outcome(head: Mapping[str, Any], body: bytes) -> Outcome:
    """The Outcome of an `outcome` frame. Raises ValueError for fields it does not know or of the wrong type."""
    outcome = _build(Outcome, {**head, "results": body})
    known = outcome.status in get_args(Status) and outcome.isolation in get_args(Isolation)
    known = known and outcome.device in get_args(Device)
    if not known or outcome.reached not in get_args(Reached) or outcome.refused not in get_args(Refusal):
        raise ValueError(f"an outcome of status {outcome.status!r}, reached {outcome.reached!r}")
    return outcome


_TYPES: dict[str, tuple[type, ...]] = {
    "int": (int,),
    "float": (float, int),
    "str": (str,),
    "bytes": (bytes,),
    "bool": (bool,),
    "int | None": (int, type(None)),
    "str | None": (str, type(None)),
    "Limits": (Limits,),
    "Status": (str,),
    "Isolation": (str,),
    "Reached": (str,),
    "Priority": (str,),
    "Refusal": (str,),
    "Device": (str,),
}


_TYPES_OF = {kind: {item.name: _TYPES[str(item.type)] for item in fields(kind)} for kind in (Run, Outcome, Limits)}
# asdict would copy every value on the way, which takes longer than the rest of a frame.

_T = TypeVar("_T", Run, Outcome, Limits)


def _build(kind: type[_T], given: Any) -> _T:
    known = _TYPES_OF[kind]
    if not isinstance(given, Mapping):
        raise ValueError(f"{kind.__name__}: not an object")
    for name, value in given.items():
        if name not in known or not isinstance(value, known[name]):
            raise ValueError(f"{kind.__name__}: {name!r} is unknown or of the wrong type")
        if isinstance(value, bool) and bool not in known[name]:
            raise ValueError(f"{kind.__name__}: {name!r} is of the wrong type")
    if kind is Limits and any(value < 0 for value in given.values()):
        raise ValueError("Limits: a negative limit")
    try:
        return kind(**given)
    except TypeError as problem:
        raise ValueError(f"{kind.__name__}: {problem}") from None
