"""Runs a document's program inside the sandbox and reports the result of each statement with a claim.

This file is prepended to the program, so it imports only the standard library and uses torch only if the program
imported it. It judges nothing.
"""

from __future__ import annotations

import ast
import builtins
import contextlib
import io
import json
import linecache
import signal
import sys
import types
import warnings
from collections.abc import Callable
from typing import Any

FILENAME = "<snippet>"
_TEXT = 2000
"""Longest text of a value, a warning or an exception, characters."""
_PRINTED = 100_000
"""Longest output of a program, characters."""
_TIMES = 6
"""Maximum number of reported executions per statement, because it may be in a loop."""
_WARNINGS = 20
"""Warnings that are reported."""


class TimeLimitExceeded(BaseException):
    """The program exceeded its time limit."""


class Output(io.StringIO):
    """A standard output that keeps text up to a maximum length."""

    length = 0

    def write(self, text: str) -> int:
        """Writes text; text beyond the maximum length is dropped."""
        self.length += len(text)
        return super().write(text) if self.length <= _PRINTED else len(text)


class Record:
    """The results of a run."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.output = Output()
        self.seen: dict[int, list[dict[str, Any]]] = {}
        self.pending: dict[int, dict[str, Any]] = {}
        self.warned: list[dict[str, Any]] = []
        self.failure: dict[str, Any] | None = None
        self.shown = ""

    def probe(self, number: int) -> Watch:
        """Returns a context manager for one execution of a statement."""
        return Watch(self, number)

    def value(self, number: int, value: Any) -> Any:
        """Records the value of a statement and returns it."""
        self.note(number, "", value)
        return value

    def last(self, number: int, value: Any) -> Any:
        """Records the value of the program's last line and returns it."""
        self.shown = "" if value is None else describe(value)["repr"]
        return value

    def also(self, number: int, name: str, look: Callable[[], Any]) -> None:
        """Records the value of an expression after a statement."""
        try:
            self.note(number, name, look())
        except Exception:
            return  # the claim names something that does not exist: undecidable

    def note(self, number: int, name: str, value: Any) -> None:
        """Stores a value of the current execution."""
        if len(self.seen.get(number, ())) < _TIMES:
            self.pending.setdefault(number, {})[name] = describe(value)

    def warn(self, message: Any, category: type[Warning], filename: str, lineno: int, *more: Any) -> None:
        """Replaces warnings.showwarning."""
        line = _line_of(sys._getframe())
        known = {"kind": category.__name__, "text": str(message)[:_TEXT], "line": line, "own": filename == FILENAME}
        if line and len(self.warned) < _WARNINGS and known not in self.warned:
            self.warned.append(known)

    def failed(self, problem: BaseException) -> None:
        """Records the exception that ended the program."""
        self.failure = describe_exception(problem)


class Watch:
    """Records the output and the exception of one execution of a statement."""

    def __init__(self, record: Record, number: int) -> None:
        self.record = record
        self.number = number

    def __enter__(self) -> None:
        self.start = len(self.record.output.getvalue())
        self.record.pending.pop(self.number, None)

    def __exit__(self, kind: Any, problem: BaseException | None, trace: Any) -> bool:
        printed = self.record.output.getvalue()[self.start :]
        seen = self.record.seen.setdefault(self.number, [])
        tolerated = isinstance(problem, Exception) and self.number in self.record.plan["may_fail"]
        if len(seen) < _TIMES:
            raised = describe_exception(problem) if isinstance(problem, Exception) else None
            values = self.record.pending.pop(self.number, {})
            seen.append({"printed": printed[:_TEXT], "values": values, "raised": raised})
        return tolerated


def describe(value: Any) -> dict[str, Any]:
    """Returns the data of a value that the comparison needs."""
    facts: dict[str, Any] = {"type": type(value).__name__, "kinds": [kind.__name__ for kind in type(value).__mro__]}
    for name, show in (("repr", repr), ("str", str)):
        try:
            facts[name] = show(value)[:_TEXT]
        except Exception as problem:
            facts[name] = f"<{type(problem).__name__}>"
    shape, dtype = getattr(value, "shape", None), getattr(value, "dtype", None)
    if isinstance(shape, tuple) and all(isinstance(size, int) for size in shape):
        facts["shape"] = [int(size) for size in shape]
        facts["dtype"] = str(dtype)
        facts["device"] = str(getattr(value, "device", "cpu"))
        facts["list"] = _listed(value, shape)
    return facts


def _listed(value: Any, shape: tuple[int, ...]) -> str:
    total = 1
    for size in shape:
        total *= size
    try:
        return repr(value.tolist())[:_TEXT] if total <= 200 else ""
    except Exception:
        return ""


def describe_exception(problem: BaseException) -> dict[str, Any]:
    """Returns the data of an exception, with its line in the program."""
    lines = []
    trace = problem.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == FILENAME:
            lines.append(trace.tb_lineno)
        trace = trace.tb_next
    try:
        text = str(problem)[:_TEXT]
    except Exception:
        text = ""
    return {
        "kind": type(problem).__name__,
        "kinds": [kind.__name__ for kind in type(problem).__mro__],
        "text": text,
        "lines": lines,
        "name": str(getattr(problem, "name", "") or ""),
    }


def _line_of(frame: types.FrameType | None) -> int:
    while frame is not None:
        if frame.f_code.co_filename == FILENAME:
            return frame.f_lineno
        frame = frame.f_back
    return 0


class ProbeInserter(ast.NodeTransformer):
    """Wraps each statement with a claim in a `Watch`."""

    def __init__(self, probes: dict[tuple[int, int], tuple[int, list[str]]]) -> None:
        self.probes = probes

    def visit(self, node: ast.AST) -> Any:
        """Returns the node, or a `with` statement around it."""
        node = self.generic_visit(node)
        if not isinstance(node, ast.stmt) or (node.lineno, node.col_offset) not in self.probes:
            return node
        number, names = self.probes[node.lineno, node.col_offset]
        if isinstance(node, ast.Expr | ast.Assign | ast.AnnAssign) and node.value is not None:
            node.value = _call("value", number, node.value)
        looks = [ast.Expr(_call("also", number, ast.Constant(name), _later(name))) for name in names]
        watch = ast.With([ast.withitem(_call("probe", number))], [node, *looks])
        return _placed(watch, node)


def _call(method: str, number: int, *more: ast.expr) -> ast.Call:
    record = ast.Name("__dailygrad__", ast.Load())
    return ast.Call(ast.Attribute(record, method, ast.Load()), [ast.Constant(number), *more], [])


def _later(name: str) -> ast.expr:
    return ast.parse(f"lambda: {name}", mode="eval").body


def _placed(watch: ast.With, node: ast.stmt) -> ast.With:
    """Returns the new node with the statement's position for all its parts."""
    for inner in ast.walk(watch):
        if isinstance(inner, ast.expr | ast.stmt | ast.arg) and not hasattr(inner, "lineno"):
            ast.copy_location(inner, node)
    for look in watch.body[1:]:
        for inner in ast.walk(look):
            ast.copy_location(inner, node)
    return watch


def run_plan(plan: dict[str, Any]) -> dict[str, Any]:
    """Runs the program of a plan and returns the results, ready for JSON."""
    record = Record(plan)
    module = types.ModuleType("__main__")
    module.__dict__.update({"__builtins__": builtins, "__file__": FILENAME})
    before = sys.stdout, sys.modules.get("__main__"), warnings.showwarning, warnings.filters[:]
    builtins.__dict__["__dailygrad__"] = record
    sys.modules["__main__"] = module
    sys.stdout = record.output
    try:
        _prepare(plan, module.__dict__)
        record.output.seek(0)
        record.output.truncate()
        warnings.simplefilter("always")
        _record_warnings(record)
        _execute(plan, record, module.__dict__)
    finally:
        sys.stdout, main, warnings.showwarning, filters = before
        warnings.filters[:] = filters  # type: ignore[index]
        sys.modules["__main__"] = main or module
        del builtins.__dict__["__dailygrad__"]
    return {
        "printed": record.output.getvalue(),
        "seen": {str(number): seen for number, seen in record.seen.items()},
        "warned": record.warned,
        "failure": record.failure,
        "last": record.shown,
    }


def _prepare(plan: dict[str, Any], names: dict[str, Any]) -> None:
    """Runs missing imports and earlier programs first, each as far as it gets."""
    for text in plan["before"]:
        for statement in ast.parse(text).body:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                # A failure in an earlier program is reported there.
                with contextlib.suppress(Exception):
                    exec(compile(ast.Module([statement], []), "<before>", "exec"), names)  # noqa: S102


def _execute(plan: dict[str, Any], record: Record, names: dict[str, Any]) -> None:
    text = plan["text"]
    linecache.cache[FILENAME] = (len(text), None, text.splitlines(keepends=True), FILENAME)
    _alarm(plan["seconds"])
    try:
        if plan["session"]:
            _run_session(plan, record, names)
        else:
            probes = {(line, column): (at, also) for at, (line, column, also) in enumerate(plan["probes"])}
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                tree = ast.parse(text)
                if tree.body and isinstance(tree.body[-1], ast.Expr):
                    tree.body[-1].value = _call("last", 0, tree.body[-1].value)
                tree = ast.fix_missing_locations(ProbeInserter(probes).visit(tree))
                code = compile(tree, FILENAME, "exec", dont_inherit=True)
            exec(code, names)  # noqa: S102 - this is what the sandbox is for
    except SystemExit:
        pass
    except BaseException as problem:
        record.failed(problem)
    finally:
        _alarm(0)


def _run_session(plan: dict[str, Any], record: Record, names: dict[str, Any]) -> None:
    """Runs the prompts of a `>>>` session one by one, like the interpreter."""
    for number, (line, source) in enumerate(plan["session"]):
        tree = ast.increment_lineno(ast.parse(source, mode="single"), line - 1)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            code = compile(tree, FILENAME, "single", dont_inherit=True)
        _record_warnings(record)
        with Watch(record, number):
            exec(code, names)  # noqa: S102 - as above


def _record_warnings(record: Record) -> None:
    warnings.showwarning = record.warn  # type: ignore[assignment]  # it takes what it is given


def _alarm(seconds: float) -> None:
    def ring(number: int, frame: types.FrameType | None) -> None:
        raise TimeLimitExceeded

    if seconds:
        signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds)


def report(plan_text: str) -> None:
    """Runs a plan and prints the result after its mark."""
    plan = json.loads(plan_text)
    result = json.dumps(run_plan(plan))
    sys.stdout.write(f"\n{plan['mark']}{result}\n")
    sys.stdout.flush()
