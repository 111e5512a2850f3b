"""No test depends on the speed of the machine: none compares CPU time, and no limit of a wait is short.

`tests/bench` measures speed. A promise of bounded work is tested by counting calls (`tests.calls`), and a wait by the
condition that ends it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

HOME = Path(__file__).parent
CLOCKS = {f"{clock}{unit}" for clock in ("process_time", "thread_time", "perf_counter") for unit in ("", "_ns")}
SHORTEST_S = 60
"""A busy machine can take tens of seconds for what takes a moment on an idle one."""
LIMITED = {"timeout": 0, "wait_for": 1, "wait": 0, "join": 0, "communicate": 1, "run": 9, "check_output": 9}
"""Functions that give up after a time, with the position of that argument. `run` takes it by name only."""

Places = Iterator[tuple[int, str]]


def clocks_read(module: ast.Module) -> Places:
    for node in ast.walk(module):
        names = {alias.name for alias in node.names} if isinstance(node, ast.ImportFrom) else {_name(node)}
        yield from ((node.lineno, name) for name in names & CLOCKS if isinstance(node, ast.stmt | ast.expr))


def short_limits(module: ast.Module) -> Places:
    """Yields the waits that give up early, except where giving up is expected, and except for pauses of a loop."""
    constants = dict(_constants(module))
    allowed = set(_parts_of_allowed(module))
    for node in ast.walk(module):
        if isinstance(node, ast.Call) and node not in allowed and _name(node.func) in LIMITED:
            at = LIMITED[_name(node.func)]
            given = [*node.args[at : at + 1], *(word.value for word in node.keywords if word.arg == "timeout")]
            for limit in given:
                seconds = constants.get(limit.id) if isinstance(limit, ast.Name) else _number(limit)
                if seconds is not None and seconds < SHORTEST_S:
                    yield node.lineno, ast.unparse(node)


def _parts_of_allowed(module: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(module):
        first = ast.unparse(node.items[0]) if isinstance(node, ast.With | ast.AsyncWith) else ""
        if "raises(" in first or "suppress(" in first or _is_asyncio_wait(node):
            yield from ast.walk(node)
        elif isinstance(node, ast.While):
            for pause in filter(_is_pause, node.body):
                yield from ast.walk(pause)


def _is_pause(statement: ast.stmt) -> bool:
    call = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(call, ast.Call) and _name(call.func) == "wait"


def _is_asyncio_wait(node: ast.AST) -> bool:
    """It returns at its timeout: what it waited for is looked at afterwards."""
    return isinstance(node, ast.Call) and _name(node.func) == "wait" and ast.unparse(node.func) == "asyncio.wait"


def _constants(module: ast.Module) -> Iterator[tuple[str, float | None]]:
    for node in module.body:
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, _number(node.value)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value:
            yield node.target.id, _number(node.value)


def _number(node: ast.expr) -> float | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, int | float) else None


def _name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else node.id if isinstance(node, ast.Name) else ""


def found(only: str, words: Iterable[str], search: object) -> list[str]:
    """Searches the files that have one of the words: parsing all of them takes seconds."""
    assert callable(search)
    paths = [path for path in HOME.rglob(only) if not path.is_relative_to(HOME / "bench")]
    assert len(paths) > 100
    return [
        f"{path.relative_to(HOME.parent)}:{line}: {what}"
        for path in sorted(paths)
        if any(word in (source := path.read_text("utf-8")) for word in words)
        for line, what in search(ast.parse(source))
    ]


def test_no_test_measures_time() -> None:
    assert found("test_*.py", CLOCKS, clocks_read) == []


def test_no_wait_gives_up_early() -> None:
    assert found("*.py", LIMITED, short_limits) == []


@pytest.mark.parametrize(
    "source",
    [
        "import time\nassert time.process_time() < 1",
        "from time import perf_counter as now",
        "from time import thread_time_ns",
    ],
)
def test_a_clock_is_found(source: str) -> None:
    assert list(clocks_read(ast.parse(source)))


@pytest.mark.parametrize(
    ("source", "short"),
    [
        ("async with asyncio.timeout(20): pass", True),
        ("async with asyncio.timeout(60): pass", False),
        ("PATIENCE_S: Final = 5.0\nawait asyncio.wait_for(one, PATIENCE_S)", True),
        ("process.wait(10)", True),
        ("subprocess.run(words, timeout=59.9)", True),
        ("subprocess.run(words, timeout=PATIENCE_S)", False),
        ("while not news:\n    event.wait(0.2)", False),
        ("while not news:\n    await asyncio.wait([task], timeout=0.01)", False),
        ("with pytest.raises(TimeoutError):\n    await asyncio.wait_for(one, 0.1)", False),
        ("process.communicate(timeout=30)", True),
        ("thread.join(10)", True),
    ],
)
def test_a_short_limit_is_found(source: str, short: bool) -> None:
    assert bool(list(short_limits(ast.parse(source)))) is short
