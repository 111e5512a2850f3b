"""Mutation testing itself: which changes are made, and how a run on a changed module ends."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from textwrap import dedent

import pytest

from tests.tools.mutation.__main__ import Result, choose_tests, read_equivalent
from tests.tools.mutation.mutants import Mutant, compile_mutant, find_mutants
from tests.tools.mutation.runs import ROOT, Record

PROGRAM = '''
"""Says what it does."""
LIMIT: "int" = 3

@dataclass(frozen=True)
class Pair:
    left: int = 0

def first(items, end=None):
    """Returns the first item."""
    assert items != 7, "seven"
    if not items:
        raise ValueError("empty")
    log(items)
    return [item for item in items if item < LIMIT][0]
'''


def changes(source: str) -> list[str]:
    return [f"{one.operator}: {one.before} => {one.after}" for one in find_mutants("m.py", dedent(source))]


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("x = a < b", ["comparison: x = a < b => x = a <= b", "comparison: x = a < b => x = a >= b"]),
        ("x = a is not b", ["comparison: x = a is not b => x = a is b"]),
        ("x = a and b", ["boolean: x = a and b => x = a or b"]),
        ("x = not a", ["boolean: x = not a => x = a"]),
        ("x = a + b", ["arithmetic: x = a + b => x = a - b"]),
        ("x += b", ["arithmetic: x += b => x -= b"]),
        ("x = 'a' + b", ["constant: x = 'a' + b => x = '' + b"]),
        ("x = 1", ["constant: x = 1 => x = 2"]),
        ("x = ''", ["constant: x = '' => x = 'XX'"]),
        ("x = True", ["constant: x = True => x = False"]),
        ("f(a, b)", ["removal: f(a, b) => pass", "arguments: f(a, b) => f(b, a)"]),
        ("if a: b()", ["boolean: if a: ... => if not a: ...", "removal: if a: ... => pass", "removal: b() => pass"]),
        ("x = [a for a in b if c]", ["removal: x = [a for a in b if c] => x = [a for a in b]"]),
        ("for a in b: break", ["jump: break => continue"]),
        ("x = min(a)", ["opposite: x = min(a) => x = max(a)"]),
        ("x = min(a, b)", ["opposite: x = min(a, b) => x = max(a, b)"]),
        ("x = np.maximum(a, b)", []),
        ("X = Literal['a', 'b']", []),
        ("def f(): return a", ["return: return a => return None"]),
        ("def f(a=1): pass", ["constant: def f(a=1): ... => def f(a=2): ..."]),
    ],
)
def test_a_change(source: str, expected: list[str]) -> None:
    assert changes(source) == expected


def test_what_no_test_can_notice_is_left_alone() -> None:
    shown = "\n".join(changes(PROGRAM))
    for text in ("Says", "Returns the", "seven", "empty", "frozen", "assert"):
        assert text not in shown
    assert [one for one in changes(PROGRAM) if "LIMIT:" in one] == ["constant: LIMIT: 'int' = 3 => LIMIT: 'int' = 4"]


def test_every_mutant_of_a_module_compiles_to_its_own_change() -> None:
    source = dedent(PROGRAM)
    codes = {compile_mutant(mutant, source, "m.py") for mutant in find_mutants("m.py", source)}
    assert len(codes) == len(find_mutants("m.py", source)) > 8


def test_a_mutant_names_its_function_and_where_that_begins() -> None:
    found = {(one.function, one.start) for one in find_mutants("m.py", dedent(PROGRAM))}
    assert found == {("", 0), ("first", 9)}


def test_files_that_call_the_function_are_chosen_quickest_first() -> None:
    inside, outside = (Mutant("m.py", 9, 0, 0, "x", "f" * bool(start), start, "", "") for start in (9, 0))
    records = {
        "slow": Record(cpu=3.0, functions={"m.py": [9]}, imported=["m.py"]),
        "quick": Record(cpu=1.0, functions={"m.py": [2, 9]}, imported=["m.py"]),
        "importing": Record(cpu=0.5, imported=["m.py"]),
        "other": Record(cpu=0.1, functions={"n.py": [9]}),
    }
    assert choose_tests(inside, records) == ["quick", "slow"]
    assert choose_tests(outside, records) == ["importing", "quick", "slow"]


def test_equivalent_mutants_exist_and_have_a_reason() -> None:
    for key, reason in read_equivalent().items():
        path = key.partition(" ")[0]
        assert key in {one.key for one in find_mutants(path, (ROOT / path).read_text("utf-8"))}
        assert reason


def test_the_interval_is_wilsons() -> None:
    mutant = Mutant("m.py", 1, 0, 0, "x", "", 0, "", "")
    result = Result("p", 100, killed=[mutant] * 80, survived=[mutant] * 15, uncovered=[mutant] * 5)
    assert result.score == 80
    assert [round(end, 1) for end in result.interval()] == [71.1, 86.7]


RUN = """
import json, sys
from tests.tools.mutation.runs import Job, ROOT, run_all
path, tests, *programs = sys.argv[1:]
codes = [lambda program=program: compile(program, str(ROOT / path), "exec") for program in programs]
jobs = [Job((tests,), 60 if n < 2 else 3, replaced=(path, code)) for n, code in enumerate(codes)]
jobs.append(Job((tests,), 60, traced=frozenset({path})))
ended = dict(run_all(jobs, 2))
record = ended[len(programs)].record
statuses = [ended[n].status for n in range(len(jobs))]
print(json.dumps([statuses, record.tests, record.functions, path in record.imported]))
"""


@pytest.mark.slow
def test_a_run_passes_fails_hangs_or_records() -> None:
    path, tests = "questions/ids.py", "tests/questions/test_ids.py"
    source = (ROOT / path).read_text("utf-8")
    start = next(one.start for one in find_mutants(path, source) if one.function)
    broken = source + "\n\ndef slug(*words: object, **more: object) -> str:\n    return 'x'\n"
    command = [sys.executable, "-c", RUN, path, tests, source, broken, source + "\nwhile True: pass\n"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True, timeout=170)
    statuses, count, functions, imported = json.loads(done.stdout)
    assert statuses == ["passed", "failed", "timeout", "passed"]
    assert count > 1 and imported
    assert start in functions[path]
    assert Path(path).as_posix() in functions
