"""Carries one Run through one child: hands it over, reads with caps, kills at the deadline, says what happened.

Trusted. What the child says of itself is only believed where it speaks against the answer.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import time
from dataclasses import dataclass, field
from typing import Any, get_args

from sandbox import values, wire
from sandbox.plain import harmless
from sandbox.pool import Child, Exit, chunks, frames, wake
from sandbox.wire import Isolation, Outcome, Reached, Run, Status

_END_SECONDS = 10.0
_ACCEPT_SECONDS = 30.0
_MOST_FRAMES = 100_000


class ChildLost(Exception):
    """The child died without having taken the run: another may."""


@dataclass(slots=True)
class _Heard:
    """What came out of a child, and whether it was too much."""

    out: bytearray = field(default_factory=bytearray)
    err: bytearray = field(default_factory=bytearray)
    results: list[bytes] = field(default_factory=list)
    end: dict[str, Any] | None = None
    accepted: bool = False
    """The child has taken the run; what it does until then is ours to answer for."""
    flooded: bool = False
    spoiled: bool = False
    """Something came on the results pipe that is no result, or came after the end."""


async def execute(child: Child, run: Run, isolation: Isolation, queue_ms: float) -> Outcome:
    """The Outcome of `run` in `child`, which is dead afterwards.

    Raises ChildLost when it died before it took the run, ZygoteDied when all went under.
    """
    heard = _Heard()
    stop, accepted = asyncio.Event(), asyncio.Event()
    tasks = [
        asyncio.create_task(_text(child.out, heard.out, run.limits.output_bytes, heard, stop)),
        asyncio.create_task(_text(child.err, heard.err, run.limits.output_bytes, heard, stop)),
        asyncio.create_task(_results(child, run, heard, accepted, stop)),
        asyncio.create_task(_hand_over(child.run, wire.encode_run(run))),
    ]
    child.run = -1
    try:
        if await _too_late(accepted, _ACCEPT_SECONDS) or not heard.accepted:
            raise ChildLost("it did not take the run")
        began = time.monotonic()
        late = await _too_late(stop, run.limits.wall_ms / 1000)
        wall = (time.monotonic() - began) * 1000
        if stop.is_set() and heard.end is None and not heard.flooded:
            # It went by itself: let its own end be seen, not the one we would give it.
            await asyncio.wait([child.ended], timeout=1)
        child.kill()
        ended = await asyncio.wait_for(asyncio.shield(child.ended), _END_SECONDS)
        await asyncio.wait_for(asyncio.gather(*tasks), _END_SECONDS)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    status, detail = _status(heard, ended, run, late)
    return _outcome(run, heard, ended, child, status, detail, isolation, wall, queue_ms)


async def _hand_over(descriptor: int, data: bytes) -> None:
    """Write all of it and close; a child that does not read has only itself to blame."""
    loop = asyncio.get_running_loop()
    try:
        os.set_blocking(descriptor, False)
        view = memoryview(data)
        while view:
            try:
                view = view[os.write(descriptor, view) :]
            except BlockingIOError:
                ready: asyncio.Future[None] = loop.create_future()
                loop.add_writer(descriptor, wake, ready)
                try:
                    await ready
                finally:
                    loop.remove_writer(descriptor)
    except BrokenPipeError:
        return
    finally:
        os.close(descriptor)


async def _text(descriptor: int, into: bytearray, most: int, heard: _Heard, stop: asyncio.Event) -> None:
    async for data in chunks(descriptor):
        into += data[: most - len(into)]
        if len(into) >= most and len(data) > 0:
            heard.flooded = True
            stop.set()
            return


async def _results(child: Child, run: Run, heard: _Heard, accepted: asyncio.Event, stop: asyncio.Event) -> None:
    try:
        async for kind, payload in frames(child.results, run.limits.result_bytes + (1 << 16)):
            if kind == b"A" and not heard.accepted:
                heard.accepted = True
                accepted.set()
                continue
            if heard.end is not None or kind not in (b"C", b"E"):
                heard.spoiled = True
            elif kind == b"C":
                heard.results.append(payload)
                if len(heard.results) > _MOST_FRAMES:
                    raise ValueError(f"more than {_MOST_FRAMES} results")
            else:
                heard.end = _end(payload)
                heard.spoiled = heard.end is None
            if kind != b"C":
                stop.set()
    except ValueError:
        heard.flooded = True
    stop.set()
    accepted.set()


def _end(payload: bytes) -> dict[str, Any] | None:
    """The last frame, if it is one: an answer can write it too."""
    try:
        end = json.loads(payload) if len(payload) < 4096 else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(end, dict) or end.get("reached") not in get_args(Reached):
        return None
    known = end.get("status") in ("ok", "error", "memory", "output", "denied")
    code = end.get("exit_code")
    plain = code is None or (type(code) is int and abs(code) < 1 << 31)
    return end if known and plain else None


async def _too_late(stop: asyncio.Event, seconds: float) -> bool:
    try:
        await asyncio.wait_for(stop.wait(), seconds)
    except TimeoutError:
        return True
    return False


def _status(heard: _Heard, ended: Exit, run: Run, late: bool) -> tuple[Status, str]:
    if heard.flooded:
        return "output", ""
    if late:
        return "time", ""
    if heard.spoiled:
        return "error", "it wrote on the results pipe what is no result"
    if heard.end is not None:
        status: Status = heard.end["status"]
        return status, "refused by the walls" if status == "denied" else ""
    return _death(heard, ended, run)


def _death(heard: _Heard, ended: Exit, run: Run) -> tuple[Status, str]:
    """It ended without a word."""
    if ended.code == -signal.SIGSYS:
        return "denied", "killed by the filter of system calls"
    if ended.code == -signal.SIGXCPU or (ended.code == -signal.SIGKILL and ended.cpu_ms >= run.limits.cpu_ms):
        return "time", ""
    if ended.code == -signal.SIGKILL:
        return "memory", "killed from outside: the machine ran out of memory"
    # Process 1 of a namespace cannot be aborted: libc then ends it with SIGSEGV.
    if ended.code in (-signal.SIGABRT, -signal.SIGSEGV) and b"bad_alloc" in heard.err:
        return "memory", ""
    return "crash", ""


def _outcome(
    run: Run, heard: _Heard, ended: Exit, child: Child, status: Status, detail: str,
    isolation: Isolation, wall: float, queue_ms: float,
) -> Outcome:  # fmt: skip
    end = heard.end or {}
    reached: Reached = end.get("reached", "cases" if heard.results else "load")
    return Outcome(
        id=run.id,
        status=status,
        stdout=harmless(heard.out.decode("utf-8", "replace")),
        stderr=harmless(heard.err.decode("utf-8", "replace")),
        truncated=heard.flooded,
        exit_code=end.get("exit_code") if end else ended.code if ended.code >= 0 else None,
        signal=-ended.code if ended.code < 0 and not end and status not in ("time", "output") else None,
        wall_ms=wall,
        cpu_ms=max(0.0, ended.cpu_ms - child.start["cpu_ms"]),
        peak_mb=max(0.0, (ended.peak_kb - child.start["rss_kb"]) / 1024),
        queue_ms=queue_ms,
        isolation=isolation,
        results=b"" if heard.spoiled else values.join(heard.results),
        detail=detail,
        reached=reached,
    )
