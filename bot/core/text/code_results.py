"""Words what a run of code reported: why it failed, and what differs from the expected result."""

from __future__ import annotations

import signal
from typing import assert_never

from bot.core.text.words import plural
from service.wire import (
    Aspect,
    CaseView,
    Cause,
    Crashed,
    Difference,
    DrawNotFinite,
    DrawsDiffer,
    DtypeDiffers,
    Exited,
    GpuNote,
    HiddenDiffers,
    KeysDiffer,
    LengthDiffers,
    MemoryExceeded,
    NotComparable,
    NotRaised,
    OutputExceeded,
    Raised,
    ShapeDiffers,
    Tampered,
    TimeExceeded,
    TooSlow,
    TypeDiffers,
    ValueDiffers,
    ValueType,
    Verdict,
    Wall,
    WallHit,
)

_SIGNALS = {
    4: "an invalid instruction",
    6: "it aborted",
    7: "a mapped file had no room left in `/tmp`, or was cut off",
    8: "an invalid calculation",
    11: "a segmentation fault",
}


def cause_words(cause: Cause) -> str:
    """Explains why a program ended early. Markdown."""
    match cause:
        case WallHit(wall=wall, line=line, limit=limit):
            return f"{_at(line)}{wall_words(wall, limit)}"
        case TimeExceeded(clock=clock, limit_ms=limit_ms, line=line):
            what = "time limit" if clock == "wall" else "limit of CPU time"
            where = f" in line {line}" if line else ""
            return f"The {what} of {_seconds(limit_ms)} ran out{where}."
        case MemoryExceeded() as fact:
            return _memory_words(fact)
        case OutputExceeded(what=what, limit_bytes=limit_bytes):
            did = "printed" if what == "output" else "returned"
            return f"It {did} more than {_bytes(limit_bytes)}."
        case Exited(code=code, line=line):
            where = f" in line {line}" if line else ""
            return f"It exited with status {code}{where}, and nothing after that was run."
        case Crashed(signal=number):
            return f"It crashed: {_SIGNALS.get(number) or _signal_name(number)}."
        case TooSlow() as fact:
            return (
                f"Too slow for its size: the cases grow, and the time ran out in case {fact.case} of {fact.cases}. "
                f"All may take {fact.limit_ms:,} ms together; ours took {fact.reference_ms:,} ms."
            )
        case Tampered():
            return "It wrote to the channel that its results are sent on, so they do not count."
        case _ as never:
            assert_never(never)


def wall_words(wall: Wall, limit: int) -> str:
    """Explains what the sandbox does not allow, and what to do instead. Markdown."""
    match wall:
        case "processes":
            return "No child processes here. Use `num_workers=0`, or a `ThreadPoolExecutor`."
        case "network":
            return "No network here. Put the data into the program."
        case "distributed":
            return "`torch.distributed` cannot connect processes here. Use a single process or the `fake` backend."
        case "files":
            return "Only files in `/tmp` can be written, and none of the host can be read."
        case "locks":
            return "No file locks here, which SQLite needs. Use `sqlite3.connect(':memory:')`."
        case "flush":
            return "Mapped files cannot be flushed here. Leave out `flush()`: the file has changed already."
        case "shared memory":
            return "No shared memory here, and no other process to share with. Use an ordinary tensor."
        case "threads":
            return f"At most {plural(limit, 'thread')} can be started here. Use a smaller pool."
        case "open files":
            return f"At most {plural(limit, 'open file')} here. Close files after use."
        case "disk":
            return f"At most {limit:,} MB of files here. Keep the data in memory, for example in `io.BytesIO`."
        case "file count":
            return f"At most {plural(limit, 'file')} here. Keep the data in memory, for example in `io.BytesIO`."
        case "compiler":
            return (
                "No compiler here, which Triton kernels and C++ extensions need, and `torch.compile` by default. "
                "Use `backend='eager'` or `backend='aot_eager'`."
            )
        case "call":
            return "The sandbox does not allow this system call. Try a different approach."
        case _ as never:
            assert_never(never)


def gpu_words(note: GpuNote) -> str:
    """Explains what the lack of a GPU meant for a verdict; empty if nothing."""
    match note:
        case "":
            return ""
        case "no gpu":
            return "Judged on the CPU: this sandbox has no GPU."
        case "needs gpu":
            return (
                "This question is judged on a GPU, and our sandbox has none right now. "
                "It costs you nothing, and your answer is kept."
            )
        case _ as never:
            assert_never(never)


def _memory_words(fact: MemoryExceeded) -> str:
    whose = "GPU memory" if fact.device == "cuda" else "memory"
    if fact.asked_mb:
        asked = f"asked for {fact.asked_mb:,} MB of {whose}"
        return f"{_at(fact.line)}It {asked} when {fact.used_mb:,} of {fact.limit_mb:,} MB were in use."
    in_use = f" {fact.used_mb:,} MB were in use then." if fact.used_mb else ""
    return f"{_at(fact.line)}It needed more than its {fact.limit_mb:,} MB of {whose}.{in_use}"


def _at(line: int | None) -> str:
    return f"Line {line}: " if line else ""


def _seconds(ms: int) -> str:
    return f"{ms / 1000:g} s"


def _bytes(count: int) -> str:
    return f"{count >> 20:,} MB" if count >= 1 << 20 else f"{count >> 10:,} KB"


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def case_words(case: CaseView) -> str:
    """Explains why a case failed; empty for one that passed. Plain text."""
    words = difference_words(case.difference) if case.difference else _WITHOUT_RESULT[case.verdict]
    return f"on the GPU: {words}" if words and case.on_gpu else words


def difference_words(difference: Difference) -> str:
    """Explains how a result differs. Plain text."""
    match difference:
        case TypeDiffers(where, expected, got):
            hint = "; is a return statement missing?" if got.name == "None" and not where else ""
            return _located(where, f"expected {_type_words(expected)}, got {_type_words(got)}{hint}")
        case ShapeDiffers(where, expected, got):
            return _located(where, f"expected shape {_tuple(expected)}, got shape {_tuple(got)}")
        case DtypeDiffers(where, expected, got):
            return _located(where, f"expected dtype {expected}, got dtype {got}")
        case LengthDiffers(where, expected, got):
            return _located(where, f"expected {plural(expected, 'item')}, got {got}")
        case KeysDiffer(where, missing, unexpected):
            parts = (("missing", missing), ("unexpected", unexpected))
            return _located(where, ", ".join(f"{what} keys {list(keys)}" for what, keys in parts if keys))
        case ValueDiffers() as fact:
            return _located(fact.where, f"expected {fact.expected}, got {fact.got}{_counts(fact)}")
        case DrawsDiffer() as fact:
            return _draws_words(fact)
        case DrawNotFinite(place, draw, draws, got):
            return _located(_place(place), f"draw {draw} of {draws:,} is {got}")
        case NotRaised(expected, raised):
            return f"expected {expected} to be raised, but it {f'raised {raised}' if raised else 'returned a value'}"
        case Raised(name, message):
            return f"raised {name}: {message}"
        case NotComparable(why):
            return f"returned something else: {why}"
        case HiddenDiffers(aspect):
            return _HIDDEN[aspect]
        case _ as never:
            assert_never(never)


_WITHOUT_RESULT: dict[Verdict, str] = {
    "accepted": "",
    "wrong": "a wrong result",
    "runtime error": "the program ended before this case was finished",
    "time limit": "the time ran out before this case was finished",
    "memory limit": "the memory ran out before this case was finished",
    "output limit": "too much output before this case was finished",
    "invalid": "the program could not be called",
    "system error": "our sandbox failed; this costs nothing",
    "awaits marking": "",
}
_HIDDEN: dict[Aspect, str] = {
    "type": "a result of the wrong type",
    "shape": "a result of the wrong shape",
    "dtype": "a result of the wrong dtype",
    "length": "a result with too few or too many items",
    "keys": "a result with the wrong keys",
    "value": "a wrong value",
    "exception": "an exception was expected",
    "draws": "random numbers of another distribution",
    "raised": "raised an exception",
}


def _located(where: str, what: str) -> str:
    return f"at {where}: {what}" if where else what


def _place(place: tuple[int, ...]) -> str:
    return str(list(place)) if place else ""


def _tuple(shape: tuple[int, ...]) -> str:
    return str(tuple(shape))


def _type_words(one: ValueType) -> str:
    if one.dtype:
        return f"a {one.name} of shape {_tuple(one.shape)} and dtype {one.dtype}"
    if one.name == "None":
        return one.name
    return f"an {one.name}" if one.name == "int" else f"a {one.name}"


def _counts(fact: ValueDiffers) -> str:
    if not fact.elements:
        return ""
    parts = [f"{fact.differing} of {fact.elements} elements differ"]
    if fact.nans:
        parts.append(f"{fact.nans} of them nan")
    if fact.largest:
        parts.append(f"most by {fact.largest} at {list(fact.largest_at)}")
    return f" ({', '.join(parts)})"


def _draws_words(fact: DrawsDiffer) -> str:
    match fact.statistic:
        case "finite":
            what = "the share of finite numbers is"
        case "mean":
            what = "the mean is"
        case "spread":
            what = "the mean squared deviation is"
        case "quantile":
            what = f"at or below the {fact.quantile} quantile of all lie"
        case _ as never:
            assert_never(never)
    words = f"over {fact.draws:,} draws {what} {fact.got}, expected {fact.expected}"
    return _located(_place(fact.place), f"{words}; chance explains no difference above {fact.chance}")
