"""A member's exceptions told by the member's lines only, and a program compiled so that its last expression shows.

No torch, no limits: `child` does the running and the sending.
"""

from __future__ import annotations

import ast
import traceback
from types import CodeType

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
