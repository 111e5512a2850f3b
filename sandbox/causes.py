"""Why a run ended early, as facts: which wall, which limit, which line. Plain data without sentences for people."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, Literal, get_args

Wall = Literal[
    "processes",
    "network",
    "distributed",
    "files",
    "locks",
    "flush",
    "shared memory",
    "threads",
    "open files",
    "disk",
    "file count",
    "compiler",
    "call",
]
"""What the sandbox does not allow. `files` are those outside the scratch folder, `flush` is writing a mapped file back
to disk, `threads`, `open files`, `disk` and `file count` are allowed up to a limit, and `call` is any other system
call."""


@dataclass(frozen=True, slots=True)
class WallHit:
    """The program tried what the sandbox does not allow."""

    kind: Literal["wall"] = field(default="wall", kw_only=True)
    wall: Wall
    line: int | None = None
    limit: int = 0
    """Number of threads, open files or files, or megabytes on disk; 0 for other walls."""


@dataclass(frozen=True, slots=True)
class TimeExceeded:
    """The program ran longer than its limit."""

    kind: Literal["time"] = field(default="time", kw_only=True)
    clock: Literal["wall", "cpu"]
    limit_ms: int
    line: int | None = None
    """Line of the program that was running then."""


@dataclass(frozen=True, slots=True)
class MemoryExceeded:
    """The program needed more memory than its limit."""

    kind: Literal["memory"] = field(default="memory", kw_only=True)
    limit_mb: int
    used_mb: int
    """Memory in use then, without what the program asked for in vain."""
    asked_mb: int = 0
    """Size of the allocation that failed, or 0 if unknown."""
    line: int | None = None
    device: Literal["cpu", "cuda"] = "cpu"


@dataclass(frozen=True, slots=True)
class OutputExceeded:
    """The program printed or returned more than its limit."""

    kind: Literal["output"] = field(default="output", kw_only=True)
    what: Literal["output", "results"]
    limit_bytes: int


@dataclass(frozen=True, slots=True)
class Exited:
    """The program called sys.exit, raised SystemExit, or ended its process."""

    kind: Literal["exited"] = field(default="exited", kw_only=True)
    code: int
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Crashed:
    """The program's process was killed by a signal, such as 11 for a segmentation fault."""

    kind: Literal["crashed"] = field(default="crashed", kw_only=True)
    signal: int


@dataclass(frozen=True, slots=True)
class TooSlow:
    """The time ran out where cases grow, and the reference had time to spare: the solution's complexity is too high."""

    kind: Literal["slow"] = field(default="slow", kw_only=True)

    case: int
    """Number of the case, from 1."""
    cases: int
    limit_ms: int
    """CPU time for all cases together."""
    reference_ms: int


@dataclass(frozen=True, slots=True)
class Tampered:
    """The program wrote to the pipe of its results, or broke what reports them."""

    kind: Literal["tampered"] = field(default="tampered", kw_only=True)


Cause = WallHit | TimeExceeded | MemoryExceeded | OutputExceeded | Exited | Crashed | TooSlow | Tampered

GpuNote = Literal["", "no gpu", "needs gpu"]
"""What the lack of a GPU meant for a verdict: judged on the CPU alone, or not judged yet."""

_KINDS: dict[str, type[Cause]] = {str(fields(kind)[0].default): kind for kind in get_args(Cause)}
_WORDS: dict[str, tuple[str, ...]] = {
    "kind": tuple(_KINDS),
    "wall": get_args(Wall),
    "clock": ("wall", "cpu"),
    "device": ("cpu", "cuda"),
    "what": ("output", "results"),
}
"""Allowed values of the fields that hold a word; all other fields hold numbers."""


def from_json(data: Any) -> Cause | None:
    """Returns the cause in what `dataclasses.asdict` made of one, or None for None. Raises ValueError for the rest."""
    if data is None:
        return None
    kind = _KINDS.get(str(data.get("kind"))) if isinstance(data, Mapping) else None
    if kind is None:
        raise ValueError("a cause of an unknown kind")
    for name, value in data.items():
        if not (value in _WORDS[name] if name in _WORDS else _is_number(value) or (name, value) == ("line", None)):
            raise ValueError(f"a cause whose {name} is {value!r}")
    try:
        return kind(**data)
    except TypeError as problem:
        raise ValueError(f"a cause of kind {data['kind']}: {problem}") from None


def _is_number(value: Any) -> bool:
    return type(value) is int and 0 <= value < 1 << 40


def to_json(cause: Cause | None) -> dict[str, Any] | None:
    """Returns a cause as an object for JSON."""
    return None if cause is None else asdict(cause)
