"""Executes one Run in one child: passes it in, reads output with caps, kills at the deadline, and builds the Outcome.

Trusted. A child's own report is believed only where it counts against the answer.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import signal
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Literal, get_args

from sandbox import causes, values, wire
from sandbox.causes import Cause, Crashed, Exited, MemoryExceeded, OutputExceeded, Tampered, TimeExceeded, WallHit
from sandbox.framing import BROKEN_EXIT, STACK_SIGNAL, ResultDecoder
from sandbox.host.process import Child, ChildExit, PipeWriter, Usage, resolve
from sandbox.values import sanitized
from sandbox.wire import Isolation, Outcome, Reached, Run, Status

ACCEPT_SECONDS = 30.0
"""Maximum time for a parked child to read its run."""
END_SECONDS = 10.0
"""Maximum time for a killed child to end."""
EXIT_SECONDS = 1.0
"""Time to wait for the exit status of a child that closed its results pipe itself."""
_STACK_SECONDS = 0.1
"""Time for a child to write its stack before it is killed."""
_STACK_BYTES = 1 << 16
"""Longest Python stack that is read of a program that ran out of time."""
_WATCH_SECONDS = 0.02
"""Interval at which a run's memory is checked."""
_WATCH_SLACK_MB = 32
"""Memory above its limit from which a run is ended, MB."""
_MAX_FRAMES = 100_000
"""Results of a run."""
_READ_BYTES = 1 << 16
"""Bytes read at a time."""
_REPORT_BYTES = 4096
"""Maximum size of a child's final report."""
_MAX_EXIT_CODE = 1 << 31


class ChildLost(Exception):
    """The child died before it took the run, so another child may take it."""


async def execute(child: Child, run: Run, isolation: Isolation, queue_ms: float) -> Outcome:
    """Executes a run in a child and returns its Outcome. The caller closes the child, which may still be alive.

    Raises ChildLost when the child died before it took the run, and ZygoteDied when the zygote died.
    """
    output = ChildOutput(child, run)
    start = child.usage()
    # From the moment the run is handed over: a short run may have ended before this process sees that it was taken.
    began = time.monotonic()
    with output.reading(), watch_usage(child, run, output), _send_run(child, wire.encode_run(run)):
        if await timed_out(output.taken, ACCEPT_SECONDS) or not output.accepted:
            raise ChildLost("it did not take the run")
        if await timed_out(output.stop, run.limits.wall_ms / 1000):
            output.exceeded = TimeExceeded("wall", run.limits.wall_ms)
        wall_ms = (time.monotonic() - began) * 1000
        end = child.usage()
        line = await find_line(child, output) if output.exceeded is not None else None
        exited = await _end_child(child, output)
    status, cause = explain(output, exited, run, line)
    if isinstance(cause, MemoryExceeded) and not cause.used_mb and end is not None:
        cause = replace(cause, used_mb=max(0, end.address_kb - child.address_kb) >> 10)
    outcome = build_outcome(run, output, exited, status, child.baseline)
    delayed_ms = end.delayed_ms - start.delayed_ms if start and end else 0.0
    return replace(outcome, cause=cause, isolation=isolation, wall_ms=wall_ms, delayed_ms=delayed_ms, queue_ms=queue_ms)


async def timed_out(event: asyncio.Future[None], seconds: float) -> bool:
    """Waits for an event. Returns whether it did not happen within that time."""
    if not event.done():
        await asyncio.wait((event,), timeout=seconds)
    return not event.done()


async def find_line(child: Child, output: ChildOutput) -> int | None:
    """Asks a running child for its stack. Returns the line of the answer that it was executing, or None."""
    output.drain()
    output.stack = bytearray()
    try:
        signal.pidfd_send_signal(child.pidfd, STACK_SIGNAL)
    except ProcessLookupError:
        return None
    await asyncio.wait((output.stack_read,), timeout=_STACK_SECONDS)
    found = _ANSWER_LINE.search(output.stack)
    return int(found[1]) if found else None


async def _end_child(child: Child, output: ChildOutput) -> ChildExit:
    """Ends the child. Returns how it ended and what it used."""
    if output.report is not None and output.exceeded is None:
        # It has reported everything: no need to wait until the kernel has torn the process down.
        if (usage := child.usage()) is not None:
            output.drain()
            return ChildExit(0, usage.cpu_ms, usage.peak_kb)
    elif output.exceeded is None and not output.flooded:
        # It ended by itself: get its own exit status rather than that of the kill below.
        await asyncio.wait([child.ended], timeout=EXIT_SECONDS)
    child.kill()
    async with asyncio.timeout(END_SECONDS):
        exited = await asyncio.shield(child.ended)
    output.drain()
    return exited


@contextlib.contextmanager
def _send_run(child: Child, data: bytes) -> Iterator[None]:
    """Writes the run as the child reads it, then closes the pipe."""
    writer = PipeWriter(child)
    writer.write(data)
    writer.finish()
    try:
        yield
    finally:
        writer.close()


@contextlib.contextmanager
def watch_usage(
    child: Child, run: Run, output: ChildOutput, other_ms: Callable[[], float] | None = None
) -> Iterator[None]:
    """Stops the run when it exceeds its CPU time, or far exceeds its memory. A longer run also gets a control group.

    `other_ms` returns CPU time of another process that counts as the child's.

    The kernel's own limit on CPU time is in whole seconds and kills without asking where the program was. Its limit on
    memory counts address space. Pages of shared libraries that a program makes its own, by making them writable, were
    address space before, so only this check and a control group see them.
    """
    loop = asyncio.get_running_loop()
    cpu_ms = child.baseline["cpu_ms"] + run.limits.cpu_ms
    limit_kb = child.anonymous_kb + (run.limits.memory_mb + _WATCH_SLACK_MB) * 1024

    def exceeded(usage: Usage) -> TimeExceeded | MemoryExceeded | None:
        if usage.cpu_ms + (other_ms() if other_ms else 0.0) > cpu_ms:
            return TimeExceeded("cpu", run.limits.cpu_ms)
        if usage.anonymous_kb > limit_kb:
            return MemoryExceeded(run.limits.memory_mb, usage.anonymous_kb - child.anonymous_kb >> 10)
        return None

    def check() -> None:
        usage = child.usage()
        if usage is not None and (found := exceeded(usage)) is not None and not output.stop.done():
            output.exceeded = found
            resolve(output.stop)
        else:
            timers[0] = loop.call_later(_WATCH_SECONDS, check)

    def join_cgroup() -> None:
        # Not at the start: joining a group takes the kernel longer than most answers run.
        joining.append(asyncio.create_task(child.join_cgroup(run.limits)))
        check()

    joining: list[asyncio.Task[None]] = []
    timers = [loop.call_later(_WATCH_SECONDS, join_cgroup)]
    try:
        yield
    finally:
        timers[0].cancel()
        for task in joining:
            _JOINING.add(task)  # a child that ends meanwhile is moved all the same, and its group removed
            task.add_done_callback(_JOINING.discard)


_JOINING: set[asyncio.Task[None]] = set()
"""Unfinished moves of children that have ended: the event loop itself keeps only weak references to tasks."""
_ANSWER_LINE = re.compile(rb'^  File "<answer>", line ([0-9]{1,7}) in ', re.MULTILINE)
_STACK_END = re.compile(rb'^  (?:File "<string>", line |\.\.\.)', re.MULTILINE)


class ChildOutput:
    """What a child has written, up to the limits. All of it is untrusted."""

    def __init__(self, child: Child, run: Run) -> None:
        loop = asyncio.get_running_loop()
        self.child = child
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.results: list[bytes] = []
        self.report: dict[str, Any] | None = None
        """The child's final report."""
        self.accepted = False
        """Whether the child has taken the run. Until then, failures are the sandbox's own."""
        self.flooded: Literal["output", "results"] | None = None
        """What exceeded its limit."""
        self.exceeded: TimeExceeded | MemoryExceeded | None = None
        """Limit that it exceeded, found from outside. The child may still be running then."""
        self.stack: bytearray | None = None
        """Text of its stack, once it was asked for it."""
        self.stack_read: asyncio.Future[None] = loop.create_future()
        """Done when the stack has arrived as far as it is of interest."""
        self.relay: Callable[[bytes, bytes], bool] | None = None
        """Handles frames for the other child of a pair. Returns False for a frame that is not allowed."""
        self.invalid = False
        """Whether the results pipe carried anything but results and one final report."""
        self.taken: asyncio.Future[None] = loop.create_future()
        """Done when the run was taken or never will be."""
        self.stop: asyncio.Future[None] = loop.create_future()
        """Done when there is nothing more to wait for."""
        self._max_output = run.limits.output_bytes
        self._decoder = ResultDecoder(run.limits.result_bytes + (1 << 16))
        self._handlers = {
            child.stdout_fd: self._on_output,
            child.stderr_fd: self._on_output,
            child.results_fd: self._on_results,
        }

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """Reads the child's pipes while the block runs."""
        loop = asyncio.get_running_loop()
        for descriptor in self._handlers:
            os.set_blocking(descriptor, False)
            loop.add_reader(descriptor, self._read, descriptor)
        try:
            yield
        finally:
            for descriptor in self._handlers:
                loop.remove_reader(descriptor)

    def drain(self) -> None:
        """Reads what has arrived already, results first, without waiting for more."""
        for descriptor in sorted(self._handlers, key=self.child.results_fd.__ne__):
            while descriptor in self._handlers and self._read(descriptor):
                pass

    def _read(self, descriptor: int) -> bool:
        """Reads one piece. Returns whether there may be more."""
        if descriptor != self.child.results_fd:
            # First the results of what was finished before this was printed. What waits to be printed has finished
            # nothing since.
            while self.child.results_fd in self._handlers and self._read(self.child.results_fd):
                pass
            if descriptor not in self._handlers:
                return False
        try:
            data = os.read(descriptor, _READ_BYTES)
        except BlockingIOError:
            return False
        if data:
            self._handlers[descriptor](descriptor, data)
        else:
            self._on_eof(descriptor)
        return bool(data)

    def _on_eof(self, descriptor: int) -> None:
        asyncio.get_running_loop().remove_reader(descriptor)
        del self._handlers[descriptor]
        if descriptor == self.child.results_fd:
            self.invalid |= self._decoder.incomplete
            self._finish()

    def _finish(self) -> None:
        resolve(self.taken)
        resolve(self.stop)

    def _on_output(self, descriptor: int, data: bytes) -> None:
        buffer = self.stdout if descriptor == self.child.stdout_fd else self.stderr
        buffer += data[: self._max_output - len(buffer)]
        if len(buffer) >= self._max_output:
            self._flood(descriptor)

    def _flood(self, descriptor: int) -> None:
        self.flooded = "results" if descriptor == self.child.results_fd else "output"
        self._on_eof(descriptor)
        if self._handlers.pop(self.child.results_fd, None):
            # It may run until it is killed; nothing that it finishes from here on counts.
            asyncio.get_running_loop().remove_reader(self.child.results_fd)
        self._finish()

    def _on_results(self, descriptor: int, data: bytes) -> None:
        if self.stack is not None:
            return self._on_stack(self.stack, data)
        try:
            for kind, payload in self._decoder.feed(data):
                self._on_frame(kind, payload)
                if self.invalid:
                    # Nothing counts any more, and a child that keeps writing must not keep the supervisor reading.
                    return self._on_eof(descriptor)
            # Checked now, because the child may be killed before its pipe ends.
            self.invalid |= self.report is not None and self._decoder.incomplete
        except ValueError:
            self._flood(descriptor)

    def _on_stack(self, stack: bytearray, data: bytes) -> None:
        stack += data[: _STACK_BYTES - len(stack)]
        if _ANSWER_LINE.search(stack) or _STACK_END.search(stack) or len(stack) >= _STACK_BYTES:
            resolve(self.stack_read)

    def _on_frame(self, kind: bytes, payload: bytes) -> None:
        if kind == b"A" and not self.accepted:
            self.accepted = True
            resolve(self.taken)
        elif self.report is None and kind == b"C":
            self.results.append(payload)
            if len(self.results) > _MAX_FRAMES:
                raise ValueError(f"more than {_MAX_FRAMES} results")
        elif self.report is None and kind == b"E":
            self.report = _parse_report(payload)
            self.invalid |= self.report is None
            self._finish()
        elif self.relay is None or not self.relay(kind, payload):
            self.invalid = True
            self._finish()


def _parse_report(payload: bytes) -> dict[str, Any] | None:
    """Returns a child's final report, or None if it is malformed: the answer may have written it."""
    try:
        report = json.loads(payload) if len(payload) < _REPORT_BYTES else None
    except (ValueError, RecursionError):
        return None
    if not isinstance(report, dict) or report.get("reached") not in get_args(Reached):
        return None
    known_status = report.get("status") in ("ok", "error", "memory", "output", "denied")
    code = report.get("exit_code")
    valid_code = code is None or (type(code) is int and abs(code) < _MAX_EXIT_CODE)
    try:
        report["cause"] = causes.from_json(report.get("cause"))
    except ValueError:
        return None
    return report if known_status and valid_code else None


def explain(output: ChildOutput, exited: ChildExit, run: Run, line: int | None) -> tuple[Status, Cause | None]:
    """Returns the status and its cause. What the supervisor saw overrides the child's report."""
    if output.flooded:
        return "output", OutputExceeded(output.flooded, _limit_of(output.flooded, run))
    if output.exceeded is not None:
        return "memory" if isinstance(output.exceeded, MemoryExceeded) else "time", replace(output.exceeded, line=line)
    if output.invalid:
        return "error", Tampered()
    if output.report is not None:
        return output.report["status"], output.report["cause"]
    return _explain_without_report(output, exited, run)


def _limit_of(flooded: Literal["output", "results"], run: Run) -> int:
    return run.limits.output_bytes if flooded == "output" else run.limits.result_bytes


def _explain_without_report(output: ChildOutput, exited: ChildExit, run: Run) -> tuple[Status, Cause | None]:
    limits = run.limits
    if exited.code == -signal.SIGSYS:
        return "denied", WallHit("call")
    if exited.code == -signal.SIGXCPU or (exited.code == -signal.SIGKILL and exited.cpu_ms >= limits.cpu_ms):
        return "time", TimeExceeded("cpu", limits.cpu_ms)
    if exited.code == -signal.SIGKILL:
        # The control group or the machine ran out of memory.
        return "memory", MemoryExceeded(limits.memory_mb, 0)
    # Process 1 of a namespace cannot be aborted, so libc ends it with SIGSEGV instead.
    if exited.code in (-signal.SIGABRT, -signal.SIGSEGV) and b"bad_alloc" in output.stderr:
        return "memory", MemoryExceeded(limits.memory_mb, 0)
    if exited.code > 0 and b"Thread creation failed" in output.stderr:  # from OpenMP, which then exits
        return "denied", WallHit("threads", limit=limits.processes - 1)
    if exited.code == BROKEN_EXIT:
        return "crash", Tampered()
    return "crash", Crashed(-exited.code) if exited.code < 0 else Exited(exited.code)


def build_outcome(
    run: Run, output: ChildOutput, exited: ChildExit, status: Status, baseline: dict[str, float]
) -> Outcome:
    """Returns the outcome of a run that ended with this status, as far as it is about one child."""
    report = output.report or {}
    reached: Reached = report.get("reached", "cases" if output.results else "load")
    signaled = exited.code < 0 and not report and status not in ("time", "output")
    return Outcome(
        id=run.id,
        status=status,
        stdout=sanitized(output.stdout.decode("utf-8", "replace")),
        stderr=sanitized(output.stderr.decode("utf-8", "replace")),
        truncated=output.flooded is not None,
        exit_code=report.get("exit_code") if report else exited.code if exited.code >= 0 else None,
        signal=-exited.code if signaled else None,
        cpu_ms=max(0.0, exited.cpu_ms - baseline["cpu_ms"]),
        peak_mb=max(0.0, (exited.peak_kb - baseline["rss_kb"]) / 1024),
        results=b"" if output.invalid else values.join(output.results),
        reached=reached,
    )
