"""Executes a run whose driver has a process of its own: one child for the answer, one for the question's driver.

Trusted. It relays frames between the two and reads the answer's shared memory for the driver. Results come from the
driver alone, which never executes the answer's code; what the answer's child writes is relayed or counts against it.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import time
from dataclasses import replace
from functools import partial

from sandbox import values, wire
from sandbox.causes import Cause, MemoryExceeded, Tampered, TimeExceeded
from sandbox.framing import MEMORY_BYTES, RESULT_HEADER
from sandbox.host.process import Child, ChildExit, PipeWriter, Usage
from sandbox.host.running import (
    ACCEPT_SECONDS,
    END_SECONDS,
    EXIT_SECONDS,
    ChildLost,
    ChildOutput,
    build_outcome,
    explain,
    find_line,
    timed_out,
    watch_usage,
)
from sandbox.wire import MAX_BODY, Isolation, Limits, Outcome, Run, Status

_DRIVER_LIMITS = Limits(memory_mb=1024, result_bytes=MAX_BODY)
_DRIVER_ADDRESSES_MB = 2048
"""Address space of the driver's child. Outlines of withheld tensors take that and no memory."""
_DRIVER_EXTRA_MS = 1000
"""Additional CPU time of the driver's child."""
_POSITION_BYTES = 8
_MAX_UNREAD_BYTES = MAX_BODY + (16 << 20)
"""Most that waits for a child to read. The halves take turns, so no more than one message ever has to wait."""


async def execute_pair(answer: Child, driver: Child, run: Run, isolation: Isolation, queue_ms: float) -> Outcome:
    """Executes a run in two children and returns its Outcome. The caller closes both.

    Raises ChildLost when one of them died before it took the run, and ZygoteDied when the zygote died.
    """
    limits = run.limits
    # Later than the limit for both together, below, which knows where the answer is.
    for_driver = replace(_DRIVER_LIMITS, wall_ms=limits.wall_ms, cpu_ms=limits.cpu_ms + 2 * _DRIVER_EXTRA_MS)
    runs = (
        (answer, replace(run, cases=b"", driving="answer")),
        (driver, replace(run, code="", driving="driver", limits=for_driver)),
    )
    start = answer.usage()
    began = time.monotonic()
    with contextlib.ExitStack() as stack:
        outputs, writers = [], []
        for child, part in runs:
            writer = PipeWriter(child)
            stack.callback(writer.close)
            output = ChildOutput(child, part)
            stack.enter_context(output.reading())
            other_ms = partial(_cpu_beyond_extra, driver) if child is answer else None
            stack.enter_context(watch_usage(child, part, output, other_ms))
            if child is driver:
                part = replace(part, limits=replace(part.limits, memory_mb=_DRIVER_ADDRESSES_MB))
            writer.write(wire.encode_run(part))
            outputs.append(output)
            writers.append(writer)
        of_answer, of_driver = outputs
        of_answer.relay = _Relay(to=writers[1], back=writers[0], memory=-1)
        of_driver.relay = _Relay(to=writers[0], back=writers[1], memory=answer.memory_fd)
        for output in outputs:
            if await timed_out(output.taken, ACCEPT_SECONDS) or not output.accepted:
                raise ChildLost("it did not take the run")
        await asyncio.wait(
            (of_answer.stop, of_driver.stop), timeout=limits.wall_ms / 1000, return_when=asyncio.FIRST_COMPLETED
        )
        if not of_answer.stop.done() and not of_driver.stop.done():
            of_answer.exceeded = TimeExceeded("wall", limits.wall_ms)
        wall_ms = (time.monotonic() - began) * 1000
        end, driver_end = answer.usage(), driver.usage()
        exceeded = of_answer.exceeded or of_driver.exceeded
        line = await find_line(answer, of_answer) if exceeded is not None else None
        # Before the driver is killed here, which ends it too.
        driver_ended = of_driver.stop.done()
        exited = await _end_children((answer, of_answer), (driver, of_driver), end)
    status, cause = _explain_pair(run, of_answer, of_driver, driver_ended, exited, line)
    if isinstance(cause, MemoryExceeded) and not cause.used_mb and end is not None:
        cause = replace(cause, used_mb=max(0, end.address_kb - answer.address_kb) >> 10)
    outcome = build_outcome(run, of_answer, exited, status, answer.baseline)
    more_ms, more_mb = _used_by(driver, driver_end)
    return replace(
        outcome,
        cause=cause,
        # An answer can have the driver's process compute.
        cpu_ms=outcome.cpu_ms + more_ms,
        peak_mb=outcome.peak_mb + more_mb,
        results=b"" if of_driver.invalid else values.join(of_driver.results),
        reached=outcome.reached if of_answer.report is not None else "cases",
        exit_code=None if of_answer.report is None else outcome.exit_code,
        isolation=isolation,
        wall_ms=wall_ms,
        delayed_ms=end.delayed_ms - start.delayed_ms if start and end else 0.0,
        queue_ms=queue_ms,
    )


def _used_by(child: Child, usage: Usage | None) -> tuple[float, float]:
    """Returns the CPU time and the peak of memory that a run has used in a child, ms and MB."""
    if usage is None:
        return 0.0, 0.0
    cpu_ms, peak_kb = usage.cpu_ms - child.baseline["cpu_ms"], usage.peak_kb - child.baseline["rss_kb"]
    return max(0.0, cpu_ms), max(0.0, peak_kb / 1024)


def _cpu_beyond_extra(driver: Child) -> float:
    """Returns how much CPU time the driver's child has used beyond what it has for itself, ms."""
    return max(0.0, _used_by(driver, driver.usage())[0] - _DRIVER_EXTRA_MS)


async def _end_children(
    of_answer: tuple[Child, ChildOutput], of_driver: tuple[Child, ChildOutput], usage: Usage | None
) -> ChildExit:
    """Ends both children. Returns how the answer's child ended and what it used."""
    (answer, output), (driver, driven) = of_answer, of_driver
    known = any(one is not None for one in (driven.report, output.report, output.exceeded, driven.exceeded))
    if not known and not output.flooded:
        # One of them ended by itself: its own exit status says more than that of the kill below.
        await asyncio.wait([answer.ended if output.stop.done() else driver.ended], timeout=EXIT_SECONDS)
    answer.kill()
    driver.kill()
    if known and usage is not None:
        exited = ChildExit(0, usage.cpu_ms, usage.peak_kb)
    else:
        async with asyncio.timeout(END_SECONDS):
            exited = await asyncio.shield(answer.ended)
    output.drain()
    driven.drain()
    return exited


def _explain_pair(
    run: Run, output: ChildOutput, driven: ChildOutput, driver_ended: bool, exited: ChildExit, line: int | None
) -> tuple[Status, Cause | None]:
    """Returns the status and its cause.

    A driver that does not finish counts against the answer: the reference has the same driver.
    """
    if output.exceeded is None and driven.exceeded is not None:
        return "memory" if isinstance(driven.exceeded, MemoryExceeded) else "time", replace(driven.exceeded, line=line)
    if output.exceeded is None and driven.report is not None and not driven.invalid:
        return driven.report["status"], driven.report["cause"]
    if output.exceeded is None and driver_ended:
        return "error", Tampered()
    status, cause = explain(output, exited, run, line)
    # Only a forged report says that all is well while the driver is at work.
    return (status, cause) if status != "ok" else ("error", Tampered())


class _Relay:
    """Passes on the frames of one child."""

    def __init__(self, to: PipeWriter, back: PipeWriter, memory: int) -> None:
        self._to = to
        self._back = back
        self._memory = memory
        """The shared memory, if this child may use it from outside, or -1."""

    def __call__(self, kind: bytes, payload: bytes) -> bool:
        """Handles a frame. Returns False if this child may not send it."""
        if kind in (b"Q", b"S"):
            return _pass_on(self._to, kind, payload)
        if self._memory < 0 or len(payload) < _POSITION_BYTES:
            return False
        position, rest = _number(payload), payload[_POSITION_BYTES:]
        if kind == b"W" and position + len(rest) <= MEMORY_BYTES:
            os.pwrite(self._memory, rest, position)
            return True
        if kind == b"G" and len(rest) == _POSITION_BYTES and position + _number(rest) <= MEMORY_BYTES:
            # The answer's process may have made the file shorter.
            return _pass_on(
                self._back, b"D", os.pread(self._memory, _number(rest), position).ljust(_number(rest), b"\0")
            )
        return False


def _pass_on(writer: PipeWriter, kind: bytes, payload: bytes) -> bool:
    """Sends a frame to a child. Returns False if the child leaves too much unread."""
    if writer.unread + len(payload) > _MAX_UNREAD_BYTES:
        return False
    writer.write(_frame(kind, payload))
    return True


def _number(data: bytes) -> int:
    return int.from_bytes(data[:_POSITION_BYTES], "little")


def _frame(kind: bytes, payload: bytes) -> bytes:
    return RESULT_HEADER.pack(len(payload), kind[0]) + payload
