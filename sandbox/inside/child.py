"""One child's life behind the walls: get warm, park, take one Run, report, die. Everything here may be overwritten
by the answer it runs, so nothing here decides a verdict and no secret is ever in this process.

On the results pipe go frames of a 4-byte length, a kind and a payload: R when parked, A when a run was taken, C
per finished case, E at the end. An answer may write them too; it can only say what numbers it returns, or spoil
its own result.
"""

from __future__ import annotations

import ast
import builtins
import errno
import functools
import io
import json
import linecache
import os
import random
import resource
import sys
import threading
import time
import traceback
import types
from collections.abc import Callable
from types import CodeType
from typing import Any, NoReturn

import numpy as np
import torch

from sandbox import values, wire
from sandbox.devices import DRIVER_MB
from sandbox.framing import HEAD
from sandbox.inside import confine, tensors
from sandbox.values import Caps, Value
from sandbox.wire import Reached, Run, Status

# A member's exceptions told by the member's lines only, and a program compiled so that its last expression shows.
#
# No torch, no limits: `child` does the running and the sending.


FILENAME = "<answer>"
DRIVER = "<driver>"


def compiled(code: str, *, show_last: bool) -> tuple[CodeType, CodeType | None]:
    """The program and, where its last statement is an expression to be shown, that expression apart.

    As in a notebook, a semicolon behind the expression hides its value. Raises what `compile` raises.
    """
    whole = compile(code, FILENAME, "exec", dont_inherit=True)
    if not show_last:
        return whole, None
    # Parsed after it was compiled, so that every mistake is told as Python tells it.
    tree = ast.parse(code, FILENAME)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or _is_hushed(code, last):
        return whole, None
    tree.body.pop()
    shown = ast.Expression(last.value)
    return compile(tree, FILENAME, "exec", dont_inherit=True), compile(shown, FILENAME, "eval", dont_inherit=True)


def _is_hushed(code: str, last: ast.Expr) -> bool:
    # Python's own line ends, not the dozen others of str.splitlines.
    lines = code.encode("utf-8", "surrogatepass").replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    behind = lines[(last.end_lineno or 1) - 1][last.end_col_offset or 0 :]
    return behind.lstrip(b" \t\f)").startswith(b";")


def describe(problem: BaseException, code: str = "") -> str:
    """The traceback, with the answer's own lines only; `code` is the program, for a mistake found in its syntax."""
    try:
        _quote_line(problem, code)
        summary = traceback.TracebackException.from_exception(problem, limit=200)
        _keep_own(summary)
        return "".join(summary.format())
    except BaseException:
        return f"{type(problem).__name__}: {text_of(problem)}\n"


def message_of(problem: BaseException) -> str:
    """What an exception says, with the answer's line it came from, or that it came of what the answer gave."""
    frames = traceback.extract_tb(problem.__traceback__)
    lines = [frame.lineno for frame in frames if frame.filename == FILENAME]
    if lines:
        return f"{text_of(problem)} (line {lines[-1]})"
    driven = any(frame.filename == DRIVER for frame in frames)
    return (
        f"{text_of(problem)} (in the question's driver, at work with what was returned)" if driven else text_of(problem)
    )


def text_of(problem: BaseException) -> str:
    """`str(problem)`, which may itself raise."""
    try:
        return str(problem)
    except BaseException:
        return "<an exception that cannot be printed>"


def _quote_line(problem: BaseException, code: str) -> None:
    """Errors of the compiler proper, such as `return` outside a function, come without the line and the caret."""
    if isinstance(problem, SyntaxError) and problem.filename == FILENAME and problem.text is None:
        lines = code.splitlines()
        if problem.lineno and problem.lineno <= len(lines):
            problem.text = lines[problem.lineno - 1]


def _keep_own(summary: traceback.TracebackException) -> None:
    summary.stack = traceback.StackSummary.from_list([one for one in summary.stack if one.filename == FILENAME])
    for other in (summary.__cause__, summary.__context__, *(summary.exceptions or ())):
        if other is not None:
            _keep_own(other)


RUN, RESULTS = 4, 3
"""The descriptors a child is handed."""


def live(
    walls: confine.Isolation, get_ready: Callable[[confine.Isolation], None] | None = None, device: str = ""
) -> NoReturn:
    """Never returns: confine, park, run one Run, leave. 0, 1 and 2 are the answer's, 3 and 4 ours.

    `get_ready` raises other walls and gets warm for `device`, to which the tensors of cases go.
    """
    try:
        statistics = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        (get_ready or _get_ready)(walls)
    except BaseException as problem:
        # The supervisor must learn why the walls do not stand; no answer has come near yet.
        _send(b"X", repr(problem).encode()[:4000])
        os._exit(71)
    used = resource.getrusage(resource.RUSAGE_SELF)
    start = {"cpu_ms": (used.ru_utime + used.ru_stime) * 1000, "rss_kb": used.ru_maxrss}
    _send(b"R", json.dumps(start).encode())
    run = _receive()
    # From here on the time is the answer's, and so is the blame.
    _send(b"A", b"")
    sizes = [int(pages) * resource.getpagesize() for pages in os.pread(statistics, 100, 0).split()]
    os.close(statistics)
    # What a GPU's driver only reserves is counted as address space, but not as data.
    in_use = sizes[5 if device else 0] + (DRIVER_MB << 20 if device == "cuda" else 0)
    confine.run_limits(run.limits, in_use, own_user=walls.namespaces, data_only=bool(device))
    if device == "cuda":
        _limit_gpu(run.limits.gpu_mb)
        torch.cuda.manual_seed_all(run.seed % 2**63)
    seed(run.seed)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # What was printed before the time or the memory ran out is what helps to see why.
        sys.stdout.reconfigure(line_buffering=True)
    report = _Execution(run, device or "cpu").report()
    _flush()
    _send(b"E", json.dumps(report).encode())
    try:
        # Whoever reads that asks the kernel what we have used, and ends us.
        while True:
            time.sleep(60)
    finally:
        os._exit(0)


def _get_ready(walls: confine.Isolation) -> None:
    confine.raise_walls(walls)
    get_warm("cpu")


def _limit_gpu(most_mb: int) -> None:
    """The first wall around the GPU's memory: an answer can undo it, the supervisor's watch it cannot."""
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, (torch.cuda.memory_reserved() + (most_mb << 20)) / total))


_WARMING = """
import torch
x = torch.tensor(3.0, device={device!r}, requires_grad=True)
(x**2 + (x * torch.ones(3, device={device!r})).sum()).backward()
print(x.grad)
"""


def get_warm(device: str) -> None:
    """Go the road of an answer once, so that the pages it touches are ours before the clock runs."""
    seed(0)
    run = wire.read_run(*wire.decode(wire.encode_run(Run("", _WARMING.format(device=device))))[1:])
    stdout = sys.stdout
    with open(os.devnull, "w") as sys.stdout:  # noqa: PTH123 - what an answer's own open() goes through
        _Execution(run, device).report()
    sys.stdout = stdout
    tensors.to_torch(values.decode(values.encode(tensors.from_torch([torch.ones(3)], 1 << 16))), device)


def _receive() -> Run:
    data = bytearray()
    while block := os.read(RUN, 1 << 16):
        data += block
    os.close(RUN)
    if not data:
        os._exit(0)
    kind, head, body = wire.decode(bytes(data))
    if kind != "run":
        os._exit(72)
    return wire.read_run(head, body)


def _send(kind: bytes, payload: bytes) -> None:
    data = HEAD.pack(len(payload), kind[0]) + payload
    while data:
        data = data[os.write(RESULTS, data) :]


def seed(number: int) -> None:
    """Start the generators of Python, numpy and torch anew: every child has the zygote's, bit for bit."""
    random.seed(number)
    np.random.seed(number % 2**32)
    # Not torch.manual_seed: on the way to it a parked child would meet the page faults of every kind of device.
    torch.default_generator.manual_seed(number % 2**63)


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue  # the answer closed or replaced it: what it did not flush is lost, as anywhere


class _Stop(BaseException):
    """The run ends here, with this status."""

    def __init__(self, status: Status) -> None:
        self.status: Status = status


class _Execution:
    """Executes one Run and keeps how far it got."""

    def __init__(self, run: Run, device: str) -> None:
        self.run = run
        self.device = device
        self.reached: Reached = "parse"
        self.exit_code: int | None = None
        self.left = run.limits.result_bytes

    def report(self) -> dict[str, object]:
        """Run it all: the fields of the last frame."""
        status: Status = "ok"
        try:
            drive = self.driver() if self.run.driver and self.run.entry is not None else None
            module = self.load()
            if self.run.entry is not None:
                self.call(module, self.run.entry, drive)
            self.reached = "done"
        except _Stop as stop:
            status = stop.status
        return {"status": status, "reached": self.reached, "exit_code": self.exit_code}

    def driver(self) -> Callable[..., Any]:
        """The question's own `drive`, made before the answer can touch anything it is made of.

        Where it fails it fails for the reference too, and the question is blamed.
        """
        module = types.ModuleType("driver")
        try:
            exec(compile(self.run.driver, DRIVER, "exec", dont_inherit=True), module.__dict__)  # noqa: S102 - a question's
            drive: Callable[..., Any] = module.__dict__["drive"]
        except BaseException as problem:
            self.stop(problem)
        return drive

    def load(self) -> types.ModuleType:
        lines = self.run.code.splitlines(keepends=True)
        linecache.cache[FILENAME] = (len(self.run.code), None, lines, FILENAME)
        module = types.ModuleType("__main__")
        module.__dict__["__builtins__"] = builtins
        sys.modules["__main__"] = module
        sys.argv = [FILENAME]
        builtins.exit = builtins.quit = sys.exit  # type: ignore[assignment]
        threading.excepthook = self.thread_died
        try:
            code, last = compiled(self.run.code, show_last=self.run.show_last and self.run.entry is None)
            self.reached = "load"
            exec(code, module.__dict__)  # noqa: S102 - this is the place the walls are for
            if last is not None:
                sys.displayhook(eval(last, module.__dict__))  # noqa: S307 - as above
        except SystemExit as leaving:
            self.leave(leaving)
        except BaseException as problem:
            self.stop(problem)
        return module

    def leave(self, leaving: SystemExit) -> None:
        """A program may end with sys.exit; a module whose entry is still to be called may not."""
        code = leaving.code
        self.exit_code = code if isinstance(code, int) else 0 if code is None else 1
        if isinstance(code, str):
            print(code, file=sys.stderr)  # noqa: T201 - what Python itself does
        if self.run.entry is not None or self.exit_code:
            raise _Stop("error")

    def stop(self, problem: BaseException) -> NoReturn:
        text = describe(problem, self.run.code)
        _flush()
        os.write(2, text.encode("utf-8", "replace"))
        raise _Stop(blame(problem)) from None

    def thread_died(self, death: threading.ExceptHookArgs) -> None:
        """Tell of it as of any exception; the program goes on, as it does anywhere."""
        if death.exc_value is not None and not isinstance(death.exc_value, SystemExit):
            text = f"Exception in a thread:\n{describe(death.exc_value, self.run.code)}"
            os.write(2, text.encode("utf-8", "replace"))

    def call(self, module: types.ModuleType, name: str, drive: Callable[..., Any] | None) -> None:
        self.reached = "entry"
        entry = module.__dict__.get(name)
        if not callable(entry):
            os.write(2, f"The program defines no function or class {name}.\n".encode())
            raise _Stop("error")
        called = entry if drive is None else functools.partial(drive, entry)
        self.reached = "cases"
        cases = values.decode(self.run.cases, Caps(total=wire.MAX_BODY, items=10**7))
        for case in cases if isinstance(cases, list) else []:
            self.one(called, case)

    def one(self, entry: Any, case: Value) -> None:
        """Call the entry once and send what came of it."""
        try:
            result = entry(*tensors.to_torch(case, self.device))
        except BaseException as problem:
            self.send("raised", problem)
            return
        try:
            value = tensors.from_torch(result, self.left)
            encoded = values.encode(("ok", value), Caps(total=self.left))
        except ValueError:
            raise _Stop("output") from None
        except BaseException as problem:
            self.send("unsupported", problem)
            return
        self.put(encoded)

    def send(self, what: str, problem: BaseException) -> None:
        if blame(problem) != "error":
            self.stop(problem)
        name, message = type(problem).__name__, message_of(problem)
        self.put(values.encode((what, name[:200], message[:2000])))

    def put(self, encoded: bytes) -> None:
        self.left -= len(encoded) + 4
        if self.left < 0:
            raise _Stop("output")
        _flush()
        _send(b"C", encoded)


def blame(problem: BaseException) -> Status:
    """Which limit an exception tells of."""
    text = text_of(problem)
    if isinstance(problem, MemoryError) or "can't allocate memory" in text or "CUDA out of memory" in text:
        return "memory"
    if isinstance(problem, OSError) and problem.errno == errno.ENOMEM:
        return "memory"
    # EACCES is the walls' too (Landlock), but a program also meets it in its own scratch.
    if isinstance(problem, PermissionError) and problem.errno in (errno.EPERM, errno.EACCES):
        return "denied"
    return "error"
