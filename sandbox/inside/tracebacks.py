"""Formats exceptions and warnings of submitted code with that code's own lines only."""

from __future__ import annotations

import os
import sys
import traceback
import warnings
from collections.abc import Iterator
from typing import Any

FILENAME = "<answer>"
DRIVER_FILENAME = "<driver>"
_MAX_CHAIN = 10
"""Exceptions of a chain that are looked at."""


def hide_other_frames() -> None:
    """Keeps this package's own files out of warnings and of messages about exceptions that nothing can catch."""
    warnings.formatwarning = _format_warning
    sys.unraisablehook = _print_unraisable


def format_exception(problem: BaseException, code: str = "") -> str:
    """Returns the traceback with the answer's own lines only. `code` is the program, for syntax errors."""
    try:
        _add_syntax_line(problem, code)
        summary = traceback.TracebackException.from_exception(problem, limit=200)
        _keep_answer_lines(summary)
        return "".join(summary.format())
    except BaseException:
        return f"{type(problem).__name__}: {text_of(problem)}\n"


def line_of(problem: BaseException) -> int | None:
    """Returns the line of the answer that an exception came from, or None."""
    for one in chain(problem):
        lines = [at for frame, at in traceback.walk_tb(one.__traceback__) if frame.f_code.co_filename == FILENAME]
        if lines:
            return lines[-1]
    return None


def came_from_driver(problem: BaseException) -> bool:
    """Returns whether an exception passed through the question's driver and no line of the answer."""
    files = {frame.f_code.co_filename for frame, _ in traceback.walk_tb(problem.__traceback__)}
    return DRIVER_FILENAME in files and FILENAME not in files


def chain(problem: BaseException) -> Iterator[BaseException]:
    """Yields an exception and those that led to it."""
    one: BaseException | None = problem
    for _ in range(_MAX_CHAIN):
        if one is None:
            return
        yield one
        one = one.__cause__ or (None if one.__suppress_context__ else one.__context__)


def text_of(problem: BaseException) -> str:
    """Returns `str(problem)`, which may itself raise."""
    try:
        return str(problem)
    except BaseException:
        return "<an exception that cannot be printed>"


def _add_syntax_line(problem: BaseException, code: str) -> None:
    """Adds the line to errors that the compiler reports without it, such as `return` outside a function."""
    if isinstance(problem, SyntaxError) and problem.filename == FILENAME and problem.text is None:
        lines = code.splitlines()
        if problem.lineno and problem.lineno <= len(lines):
            problem.text = lines[problem.lineno - 1]


def _keep_answer_lines(summary: traceback.TracebackException) -> None:
    frames = [frame for frame in summary.stack if frame.filename == FILENAME]
    summary.stack = traceback.StackSummary.from_list(frames)
    for other in (summary.__cause__, summary.__context__, *(summary.exceptions or ())):
        if other is not None:
            _keep_answer_lines(other)


def _format_warning(message: Any, category: type[Warning], filename: str, lineno: int, line: str | None = None) -> str:
    place = f"{filename}:{lineno}: " if filename == FILENAME else ""
    return f"{place}{category.__name__}: {message}\n"


def _print_unraisable(problem: sys.UnraisableHookArgs) -> None:
    """Prints an exception that nothing could catch, such as one in `__del__`, if it came from the answer's own code."""
    if isinstance(problem.exc_value, BaseException) and line_of(problem.exc_value) is not None:
        text = f"Exception ignored:\n{format_exception(problem.exc_value)}"
        os.write(2, text.encode("utf-8", "replace"))
