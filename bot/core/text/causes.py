"""Why a program ended early, in one line: the limit or the wall of the sandbox that it met, and what to do instead."""

from __future__ import annotations

import signal
from typing import assert_never

from bot.core.text.words import plural
from service.wire import (
    Cause,
    Crashed,
    Exited,
    GpuNote,
    MemoryExceeded,
    OutputExceeded,
    Tampered,
    TimeExceeded,
    TooSlow,
    Wall,
    WallHit,
)

_SIGNALS = {11: "a segmentation fault", 6: "it aborted", 8: "an invalid calculation", 4: "an invalid instruction"}


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
            return "No child processes here. Use `num_workers=0`, or threads."
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
            return f"At most {plural(limit, 'thread')} here besides the first. Use a smaller pool."
        case "open files":
            return f"At most {plural(limit, 'open file')} here. Close files after use."
        case "disk":
            return f"At most {limit:,} MB of files here. Keep the data in memory, for example in `io.BytesIO`."
        case "compiler":
            return (
                "No compiler here, which Triton kernels and C++ extensions need, and `torch.compile` by default. "
                "Use `backend='eager'` or `backend='aot_eager'`."
            )
        case "call":
            return "The sandbox does not allow this system call. Try to do without it."
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
