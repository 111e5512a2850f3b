"""Carries one Run through one child: hands it over, reads with caps, kills at the deadline, says what happened.

Trusted. What the child says of itself is only believed where it speaks against the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import signal
import time
from collections.abc import Iterator
from typing import Any, get_args

from sandbox import values, wire
from sandbox.framing import Frames
from sandbox.host.process import Child, Exit, wake
from sandbox.values import harmless
from sandbox.wire import Isolation, Outcome, Reached, Run, Status

_END_SECONDS = 10.0
_WATCH_SECONDS = 0.02
_WATCH_SLACK_MB = 32
_ACCEPT_SECONDS = 30.0
_MOST_FRAMES = 100_000
_PIECE = 1 << 16


class ChildLost(Exception):
    """The child died without having taken the run: another may."""


class _Heard:
    """What came out of a child, and whether it was too much."""

    def __init__(self, child: Child, run: Run) -> None:
        loop = asyncio.get_running_loop()
        self.child = child
        self.out = bytearray()
        self.err = bytearray()
        self.results: list[bytes] = []
        self.end: dict[str, Any] | None = None
        self.accepted = False
        """The child has taken the run; what it does until then is ours to answer for."""
        self.flooded = False
        self.greedy = False
        """It took more memory than it may, and not by asking."""
        self.spoiled = False
        """Something came on the results pipe that is no result, or came after the end."""
        self.taken: asyncio.Future[None] = loop.create_future()
        """Done when the run was taken, or never will be."""
        self.stop: asyncio.Future[None] = loop.create_future()
        """Done when there is no more to wait for."""
        self._most = run.limits.output_bytes
        self._frames = Frames(run.limits.result_bytes + (1 << 16))
        self._open = {child.out: self._output, child.err: self._output, child.results: self._result}

    @contextlib.contextmanager
    def listening(self) -> Iterator[None]:
        """Hear what comes, as it comes."""
        loop = asyncio.get_running_loop()
        for descriptor in self._open:
            os.set_blocking(descriptor, False)
            loop.add_reader(descriptor, self._hear, descriptor)
        try:
            yield
        finally:
            for descriptor in self._open:
                loop.remove_reader(descriptor)

    def drain(self) -> None:
        """Hear what is there already, the results first: whoever writes on meanwhile is not waited for."""
        for descriptor in sorted(self._open, key=self.child.results.__ne__):
            while descriptor in self._open and self._hear(descriptor):
                pass

    def _hear(self, descriptor: int) -> bool:
        """One piece; whether there may be more."""
        try:
            data = os.read(descriptor, _PIECE)
        except BlockingIOError:
            return False
        if data:
            self._open[descriptor](descriptor, data)
        else:
            self._silent(descriptor)
        return bool(data)

    def _silent(self, descriptor: int) -> None:
        asyncio.get_running_loop().remove_reader(descriptor)
        del self._open[descriptor]
        if descriptor == self.child.results:
            self.spoiled |= self._frames.torn
            self._finished()

    def _finished(self) -> None:
        wake(self.taken)
        wake(self.stop)

    def _output(self, descriptor: int, data: bytes) -> None:
        into = self.out if descriptor == self.child.out else self.err
        into += data[: self._most - len(into)]
        if len(into) >= self._most:
            self._flood(descriptor)

    def _flood(self, descriptor: int) -> None:
        self.flooded = True
        self._silent(descriptor)
        self._finished()

    def _result(self, descriptor: int, data: bytes) -> None:
        try:
            for kind, payload in self._frames.feed(data):
                self._frame(kind, payload)
                if self.spoiled:
                    # Nothing of it counts any more, and who writes on for ever is not read for ever.
                    return self._silent(descriptor)
            # Seen at once: it may be killed before the pipe is at its end.
            self.spoiled |= self.end is not None and self._frames.torn
        except ValueError:
            self._flood(descriptor)

    def _frame(self, kind: bytes, payload: bytes) -> None:
        if kind == b"A" and not self.accepted:
            self.accepted = True
            wake(self.taken)
        elif self.end is None and kind == b"C":
            self.results.append(payload)
            if len(self.results) > _MOST_FRAMES:
                raise ValueError(f"more than {_MOST_FRAMES} results")
        elif self.end is None and kind == b"E":
            self.end = _end(payload)
            self.spoiled |= self.end is None
            self._finished()
        else:
            self.spoiled = True
            self._finished()


async def execute(child: Child, run: Run, isolation: Isolation, queue_ms: float) -> Outcome:
    """The Outcome of `run` in `child`, which the caller closes: it may be alive still.

    Raises ChildLost when it died before it took the run, ZygoteDied when all went under.
    """
    heard = _Heard(child, run)
    with heard.listening(), _watching(child, run, heard), _handing_over(child, wire.encode_run(run)):
        if await _too_late(heard.taken, _ACCEPT_SECONDS) or not heard.accepted:
            raise ChildLost("it did not take the run")
        began = time.monotonic()
        late = await _too_late(heard.stop, run.limits.wall_ms / 1000)
        wall = (time.monotonic() - began) * 1000
        ended = await _ended(child, heard, late)
    status, detail = _status(heard, ended, run, late)
    return _outcome(run, heard, ended, child, status, detail, isolation, wall, queue_ms)


async def _ended(child: Child, heard: _Heard, late: bool) -> Exit:
    """End it, and say how it ended and what it had used."""
    if heard.end is not None and not late:
        # It said all it had to say: nobody need wait until the kernel has taken it apart.
        if (used := child.usage()) is not None:
            heard.drain()
            return Exit(0, used.cpu_ms, used.peak_kb)
    elif not late and not heard.flooded and not heard.greedy:
        # It went by itself: let its own end be seen, not the one we would give it.
        await asyncio.wait([child.ended], timeout=1)
    child.kill()
    ended = await asyncio.wait_for(asyncio.shield(child.ended), _END_SECONDS)
    heard.drain()
    return ended


@contextlib.contextmanager
def _watching(child: Child, run: Run, heard: _Heard) -> Iterator[None]:
    """Stop the run when it owns far more memory than it may; one that lasts gets a control group as well.

    The limit of the process counts address space. What a program makes its own of the libraries' pages, which it can
    by making them writable, was address space before; only here and in a control group is it seen.
    """
    loop = asyncio.get_running_loop()
    most_kb = child.own_kb + (run.limits.memory_mb + _WATCH_SLACK_MB) * 1024

    def look() -> None:
        used = child.usage()
        if used is not None and used.own_kb > most_kb:
            heard.greedy = True
            wake(heard.stop)
        else:
            timers[0] = loop.call_later(_WATCH_SECONDS, look)

    def hold() -> None:
        # Not at once: joining a group takes the kernel longer than most answers run.
        loop.run_in_executor(None, child.hold, run.limits)
        look()

    timers = [loop.call_later(_WATCH_SECONDS, hold)]
    try:
        yield
    finally:
        timers[0].cancel()


@contextlib.contextmanager
def _handing_over(child: Child, data: bytes) -> Iterator[None]:
    """Write all of it, as it is read, and close; a child that does not read has only itself to blame."""
    loop = asyncio.get_running_loop()
    descriptor, child.run = child.run, -1
    view = memoryview(data)

    def write() -> None:
        nonlocal view
        with contextlib.suppress(BlockingIOError):
            try:
                while view:
                    view = view[os.write(descriptor, view) :]
            except BrokenPipeError:
                view = view[:0]
            if not view:
                close()

    def close() -> None:
        nonlocal descriptor
        if descriptor >= 0:
            loop.remove_writer(descriptor)
            os.close(descriptor)
            descriptor = -1

    os.set_blocking(descriptor, False)
    write()
    if descriptor >= 0:
        loop.add_writer(descriptor, write)
    try:
        yield
    finally:
        close()


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


async def _too_late(awaited: asyncio.Future[None], seconds: float) -> bool:
    if not awaited.done():
        await asyncio.wait((awaited,), timeout=seconds)
    return not awaited.done()


def _status(heard: _Heard, ended: Exit, run: Run, late: bool) -> tuple[Status, str]:
    if heard.flooded:
        return "output", ""
    if heard.greedy:
        return "memory", "it made more pages its own than it may have memory"
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
