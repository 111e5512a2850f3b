"""One confined child: warms up, parks, takes one Run, reports, and is killed.

The answer it runs may overwrite everything here, so nothing here decides a verdict and no secret is ever in this
process. On the results pipe it writes frames of a 4-byte length, a kind and a payload: R when parked, A when a run was
taken, C per finished case, E at the end. An answer can write them too; that only lets it state what numbers it returns,
or spoil its own result.
"""

from __future__ import annotations

import ast
import builtins
import faulthandler
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
import types
from collections.abc import Callable
from types import CodeType
from typing import Any, NoReturn

import numpy as np
import torch

from sandbox import causes, values, wire
from sandbox.causes import Cause, Exited, MemoryExceeded, OutputExceeded
from sandbox.devices import DRIVER_MB
from sandbox.framing import BROKEN_EXIT, RESULT_HEADER, STACK_SIGNAL
from sandbox.inside import confine, tensors, tracebacks, walls
from sandbox.inside.answer import AnswerSide
from sandbox.inside.driver import Answer, AnswerProblem
from sandbox.inside.links import (
    MEMORY_FD,
    AnswerLink,
    DriverLink,
    Loopback,
    OwnMemory,
    RelayedMemory,
    open_memory,
    receive_bytes,
    receive_frame,
)
from sandbox.inside.operations import Rules
from sandbox.inside.tracebacks import DRIVER_FILENAME, FILENAME, format_exception, line_of, text_of
from sandbox.values import Caps, Value
from sandbox.wire import Reached, Run, Status

RUN_FD, RESULTS_FD = 4, 3
"""File descriptors of the pipes for the run and for results."""


def run_child(
    confinement: confine.Confinement,
    get_ready: Callable[[confine.Confinement], None] | None = None,
    device: str = "",
) -> NoReturn:
    """Confines this process, parks it, runs one Run, and waits to be killed.

    `get_ready` replaces confinement and warm-up for a child on `device`, to which the tensors of cases are moved.
    """
    try:
        statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        (get_ready or _get_ready)(confinement)
        faulthandler.register(STACK_SIGNAL, RESULTS_FD, all_threads=False)
    except BaseException as problem:
        # The supervisor must learn why the child is not confined. It has not seen any submitted code yet.
        _send(b"X", repr(problem).encode()[:4000])
        os._exit(71)
    used = resource.getrusage(resource.RUSAGE_SELF)
    baseline = {"cpu_ms": (used.ru_utime + used.ru_stime) * 1000, "rss_kb": used.ru_maxrss}
    _send(b"R", json.dumps(baseline).encode())
    run = _receive()
    # From here on, time and failures count as the answer's.
    _send(b"A", b"")
    sizes = [int(pages) * resource.getpagesize() for pages in os.pread(statm, 100, 0).split()]
    os.close(statm)
    # A GPU driver reserves address space that it never uses, so on a device the data size counts instead.
    in_use = sizes[5 if device else 0] + (DRIVER_MB << 20 if device == "cuda" else 0)
    confine.set_run_limits(run.limits, in_use, own_user=confinement.namespaces, data_only=bool(device))
    if device == "cuda":
        _limit_gpu_memory(run.limits.gpu_mb)
        torch.cuda.manual_seed_all(run.seed % 2**63)
    seed_generators(run.seed)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Output from before the time or memory ran out helps to see why.
        sys.stdout.reconfigure(line_buffering=True)
    tracebacks.hide_other_frames()
    try:
        report = _Execution(run, device or "cpu").report()
        _flush()
        _send(b"E", json.dumps(report).encode())
    except BaseException:
        os._exit(BROKEN_EXIT)  # the answer broke what reports it; a traceback would show nothing but these files
    try:
        # The supervisor reads the resource use from the kernel and then kills this process.
        while True:
            time.sleep(60)
    finally:
        os._exit(0)


def _get_ready(confinement: confine.Confinement) -> None:
    confine.confine_process(confinement)
    warm_up("cpu")


def _limit_gpu_memory(limit_mb: int) -> None:
    """Limits torch's GPU allocator. An answer can undo this, but not the supervisor's own watch."""
    total = torch.cuda.get_device_properties(0).total_memory
    torch.cuda.set_per_process_memory_fraction(min(1.0, (torch.cuda.memory_reserved() + (limit_mb << 20)) / total))


_WARM_UP_PROGRAM = """
import torch
x = torch.tensor(3.0, device={device!r}, requires_grad=True)
(x**2 + (x * torch.ones(3, device={device!r})).sum()).backward()
print(x.grad)
"""


def warm_up(device: str) -> None:
    """Executes a small program like an answer, so that the pages it touches are present before the clock runs."""
    seed_generators(0)
    run = wire.read_run(*wire.decode(_warm_up_frame(device))[1:])
    stdout = sys.stdout
    with open(os.devnull, "w") as sys.stdout:  # noqa: PTH123 - the path an answer's own open() takes
        _Execution(run, device).report()
    sys.stdout = stdout
    tensors.to_torch(values.decode(values.encode(tensors.from_torch([torch.ones(3)], 1 << 16))), device)


@functools.cache
def _warm_up_frame(device: str) -> bytes:
    """Returns the frame of the warm-up's run, which the zygote has made before it forks: a child only reads runs."""
    return wire.encode_run(Run("", _WARM_UP_PROGRAM.format(device=device)))


def seed_generators(number: int) -> None:
    """Seeds Python, numpy and torch: every child starts with a copy of the zygote's generators."""
    random.seed(number)
    np.random.seed(number % 2**32)
    # Not torch.manual_seed: it visits every kind of device and would cause page faults in a parked child.
    torch.default_generator.manual_seed(number % 2**63)


def _receive() -> Run:
    """Reads the run. The pipe stays open for a child of a pair."""
    prefix = receive_bytes(RUN_FD, 4)
    header = receive_bytes(RUN_FD, wire.header_length(prefix))
    kind, head, length = wire.read_header(header)
    if kind != "run":
        os._exit(72)
    run = wire.read_run(head, receive_bytes(RUN_FD, length))
    if run.driving not in ("driver", "answer"):
        os.close(RUN_FD)
    if not run.driver or run.entry is None or run.driving in ("driver", "inside"):
        os.close(MEMORY_FD)  # only an answer whose driver is another process, or the other half, uses it
    return run


def _send(kind: bytes, payload: bytes) -> None:
    data = RESULT_HEADER.pack(len(payload), kind[0]) + payload
    while data:
        data = data[os.write(RESULTS_FD, data) :]


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (OSError, ValueError, AttributeError):
            continue  # the answer closed or replaced the stream; what it did not flush is lost


class _Stop(BaseException):
    """Ends the run with a status and its cause, if it has one other than a mistake."""

    def __init__(self, status: Status, cause: Cause | None = None) -> None:
        self.status: Status = status
        self.cause = cause


class _Execution:
    """Executes one Run and keeps track of how far it got."""

    def __init__(self, run: Run, device: str) -> None:
        self.run = run
        self.device = device
        self.reached: Reached = "parse"
        self.exit_code: int | None = None
        self.bytes_left = run.limits.result_bytes
        self.result_limit = OutputExceeded("results", run.limits.result_bytes)

    def report(self) -> dict[str, object]:
        """Executes the run. Returns the fields of the last frame."""
        status: Status = "ok"
        cause: Cause | None = None
        try:
            self.execute()
            self.reached = "done"
        except _Stop as stop:
            status, cause = stop.status, stop.cause
        return {
            "status": status,
            "reached": self.reached,
            "exit_code": self.exit_code,
            "cause": causes.to_json(cause),
        }

    def execute(self) -> None:
        """Executes the program and, with an entry, every case: all of it, or this child's half of a pair."""
        driver = self.load_driver() if self.run.driver and self.run.entry is not None else None
        if driver is not None and self.run.driving == "driver":
            receive = functools.partial(receive_frame, RUN_FD)
            link = DriverLink(_send, receive)
            return self.drive(driver, link, Answer(link, RelayedMemory(_send, receive), driver))
        module = self.load()
        if self.run.entry is None:
            return None
        entry = self.find_entry(module, self.run.entry)
        if driver is None:
            return self.call_cases(entry)
        if self.run.driving == "inside":
            return self.call_cases(functools.partial(driver["drive"], entry))
        memory = open_memory()
        if self.run.driving == "answer":
            self.reached = "cases"
            served = AnswerLink(_send, functools.partial(receive_frame, RUN_FD))
            served.serve(AnswerSide(served, memory, entry, driver, self.report_exception).handle)
        loop = Loopback()
        loop.serve(AnswerSide(loop.answer, memory, entry, driver, self.report_exception).handle)
        return self.drive(driver, loop.driver, Answer(loop.driver, OwnMemory(memory), driver))

    def drive(self, driver: dict[str, Any], link: DriverLink, answer: Answer) -> None:
        """Calls the driver for every case."""
        link.handle = answer.handle
        self.call_cases(functools.partial(driver["drive"], answer), answer.reset)

    def load_driver(self) -> dict[str, Any]:
        """Returns the names of the question's driver, created before the answer can replace anything they use.

        If this fails, it also fails for the reference, and the question is blamed.
        """
        module = types.ModuleType("driver")
        try:
            code = compile(self.run.driver, DRIVER_FILENAME, "exec", dont_inherit=True)
            exec(code, module.__dict__)  # noqa: S102 - the question's own code
            module.__dict__["drive"]
            Rules.of(module.__dict__)
        except BaseException as problem:
            self.fail(problem)
        return module.__dict__

    def load(self) -> types.ModuleType:
        """Executes the program as the main module."""
        lines = self.run.code.splitlines(keepends=True)
        linecache.cache[FILENAME] = (len(self.run.code), None, lines, FILENAME)
        module = types.ModuleType("__main__")
        module.__dict__["__builtins__"] = own_builtins()
        sys.modules["__main__"] = module
        sys.argv = [FILENAME]
        threading.excepthook = self.on_thread_exception
        try:
            code, last = compile_program(self.run.code, show_last=self.run.show_last and self.run.entry is None)
            self.reached = "load"
            exec(code, module.__dict__)  # noqa: S102 - submitted code: the process is confined for this line
            if last is not None:
                sys.displayhook(eval(last, module.__dict__))  # noqa: S307 - as above
        except SystemExit as exit_request:
            self.on_exit(exit_request)
        except BaseException as problem:
            self.fail(problem)
        return module

    def on_exit(self, exit_request: SystemExit) -> None:
        """Handles sys.exit: allowed in a program, but not in a module whose entry is still to be called."""
        code = exit_request.code
        if isinstance(code, int):
            self.exit_code = code % 256 if -(1 << 31) <= code < 1 << 31 else 255
        else:
            self.exit_code = 0 if code is None else 1
            if code is not None:
                print(code, file=sys.stderr)  # noqa: T201 - as Python itself does
        if self.run.entry is not None or self.exit_code:
            raise _Stop("error", Exited(self.exit_code, line_of(exit_request)))

    def fail(self, problem: BaseException) -> NoReturn:
        """Writes the traceback to stderr and ends the run."""
        text = format_exception(problem, self.run.code)
        _flush()
        os.write(2, text.encode("utf-8", "replace"))
        cause = walls.explain(problem, self.run.limits)
        raise _Stop(status_of(cause), cause) from None

    def on_thread_exception(self, death: threading.ExceptHookArgs) -> None:
        """Writes a thread's traceback to stderr. The program continues, as it does in plain Python."""
        if death.exc_value is not None and not isinstance(death.exc_value, SystemExit):
            text = f"Exception in a thread:\n{format_exception(death.exc_value, self.run.code)}"
            os.write(2, text.encode("utf-8", "replace"))

    def find_entry(self, module: types.ModuleType, name: str) -> Callable[..., Any]:
        """Returns the function or class that the program defines, or ends the run."""
        self.reached = "entry"
        entry = module.__dict__.get(name)
        if not callable(entry):
            os.write(2, f"The program defines no function or class {name}.\n".encode())
            raise _Stop("error")
        return entry  # type: ignore[no-any-return]

    def call_cases(self, function: Callable[..., Any], before_each: Callable[[], None] | None = None) -> None:
        """Calls the function for every case."""
        self.reached = "cases"
        cases = values.decode(self.run.cases, Caps(total=wire.MAX_BODY, items=10**7))
        for case in cases if isinstance(cases, list) else []:
            if before_each is not None:
                before_each()
            self.call_case(function, case)

    def call_case(self, function: Any, case: Value) -> None:
        """Calls the function with one case and sends its result."""
        try:
            result = function(*tensors.to_torch(case, self.device))
        except BaseException as problem:
            self.put(values.encode(self.report_exception("raised", problem)))
            return
        try:
            value = tensors.from_torch(result, self.bytes_left)
            encoded = values.encode(("ok", value), Caps(total=self.bytes_left))
        except ValueError:
            raise _Stop("output", self.result_limit) from None
        except BaseException as problem:
            self.put(values.encode(self.report_exception("unsupported", problem)))
            return
        self.put(encoded)

    def report_exception(self, kind: str, problem: BaseException) -> tuple[str, str, str]:
        """Returns an exception as a case's result, or ends the run if it shows an exceeded limit."""
        if isinstance(problem, AnswerProblem):
            return problem.kind, problem.name[:200], problem.text[:2000]
        if isinstance(problem, tensors.ResultTooLarge):
            raise _Stop("output", self.result_limit) from None
        if walls.explain(problem, self.run.limits) is not None:
            self.fail(problem)
        return kind, type(problem).__name__[:200], exception_message(problem)[:2000]

    def put(self, encoded: bytes) -> None:
        """Sends one encoded result."""
        self.bytes_left -= len(encoded) + 4
        if self.bytes_left < 0:
            raise _Stop("output", self.result_limit)
        _flush()
        _send(b"C", encoded)


def own_builtins() -> types.ModuleType:
    """Returns a copy of the builtins for the answer alone, so that its changes do not affect the code here."""
    copy = types.ModuleType("builtins")
    copy.__dict__.update(vars(builtins))
    copy.__dict__["exit"] = copy.__dict__["quit"] = sys.exit
    sys.modules["builtins"] = copy
    return copy


def status_of(cause: Cause | None) -> Status:
    """Returns the status of a run that ended with an exception."""
    if cause is None:
        return "error"
    return "memory" if isinstance(cause, MemoryExceeded) else "denied"


def compile_program(code: str, *, show_last: bool) -> tuple[CodeType, CodeType | None]:
    """Compiles a program and, if its last statement is an expression to be shown, that expression separately.

    As in a notebook, a semicolon after the expression hides its value. Raises what `compile` raises.
    """
    whole = compile(code, FILENAME, "exec", dont_inherit=True)
    if not show_last:
        return whole, None
    # Parsed only after compiling, so that every error is reported as Python reports it.
    tree = ast.parse(code, FILENAME)
    last = tree.body[-1] if tree.body else None
    if not isinstance(last, ast.Expr) or _ends_with_semicolon(code, last):
        return whole, None
    tree.body.pop()
    shown = ast.Expression(last.value)
    return compile(tree, FILENAME, "exec", dont_inherit=True), compile(shown, FILENAME, "eval", dont_inherit=True)


def _ends_with_semicolon(code: str, last: ast.Expr) -> bool:
    # Python's own line ends, not the dozen others of str.splitlines.
    lines = code.encode("utf-8", "surrogatepass").replace(b"\r\n", b"\n").replace(b"\r", b"\n").split(b"\n")
    rest = lines[(last.end_lineno or 1) - 1][last.end_col_offset or 0 :]
    return rest.lstrip(b" \t\f)").startswith(b";")


def exception_message(problem: BaseException) -> str:
    """Returns an exception's text with the answer's line it came from, or a note that it came from the driver."""
    text, line = text_of(problem), line_of(problem)
    note = "in the question's driver, at work with what was returned" if tracebacks.came_from_driver(problem) else ""
    where = f"({f'line {line}' if line else note})" if line or note else ""
    return " ".join(part for part in (text, where) if part)
