"""Plans the runs of a snippet: the program for the sandbox, its report, and another attempt if a name was missing."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

from questions.snippets.claims import mentions_failure
from questions.snippets.collect import IMPORTS, Snippet, bound_names, free_names

SECONDS = 9.0
"""Time limit of a program, seconds; slightly below the sandbox's own limit."""
_LINKS = 8
"""Maximum number of earlier programs that run before one."""


@dataclass(frozen=True, slots=True)
class Attempt:
    """What runs before a snippet."""

    imports: tuple[str, ...] = ()
    """Well-known names that were missing."""
    earlier: tuple[int, ...] = ()
    """Indices of the document's snippets that run before it."""
    borrowed: tuple[str, ...] = ()
    """Names that they bind for it."""
    near: bool = True
    """Whether all of them are in the same question or section."""


@dataclass(frozen=True, slots=True)
class Execution:
    """One execution of a statement with a claim."""

    printed: str
    values: dict[str, dict[str, Any]]
    """The statement's value under ``""``, others under their expression."""
    raised: RaisedException | None


@dataclass(frozen=True, slots=True)
class RaisedException:
    """An exception."""

    kind: str
    kinds: tuple[str, ...]
    """Names of its class and base classes."""
    text: str
    lines: tuple[int, ...]
    """Lines of the program, outermost call first."""
    name: str
    """The name that a NameError or an ImportError did not find."""


@dataclass(frozen=True, slots=True)
class RaisedWarning:
    """A warning."""

    kind: str
    text: str
    line: int
    own: bool
    """Whether it points to a line of the program rather than a library."""


@dataclass(frozen=True, slots=True)
class RunReport:
    """The result of running a snippet."""

    status: str
    """Status from the sandbox: ok, time, memory, …"""
    reported: bool
    """Whether the program ended normally or with an exception, so that the other fields are known."""
    printed: str = ""
    executions: dict[int, tuple[Execution, ...]] | None = None
    warnings: tuple[RaisedWarning, ...] = ()
    failure: RaisedException | None = None
    last: str = ""
    """Value of its last line, if that is an expression."""
    stderr: str = ""
    """The end of stderr, if there is no report."""


@cache
def _inside() -> str:
    return Path(__file__).with_name("inside.py").read_text(encoding="utf-8")


def program_of(snippets: Sequence[Snippet], at: int, attempt: Attempt, mark: str) -> str:
    """Returns the program that the sandbox runs for a snippet; it prints its report after `mark`."""
    snippet = snippets[at]
    plan = {
        "mark": mark,
        "text": snippet.program,
        "before": [*(IMPORTS[name] for name in attempt.imports), *(snippets[one].program for one in attempt.earlier)],
        "probes": [(probe.line, probe.column, probe.also) for probe in snippet.probes],
        "may_fail": _may_fail(snippet),
        "session": [(one.line, one.source) for one in snippet.session],
        "seconds": SECONDS,
    }
    return f"{_inside()}\nPLAN = {json.dumps(plan)!r}\nreport(PLAN)\n"


def _may_fail(snippet: Snippet) -> list[int]:
    if snippet.session:
        return [at for at, one in enumerate(snippet.session) if one.fails or mentions_failure(one.source)]
    return [at for at, probe in enumerate(snippet.probes) if probe.may_fail]


def read_run(status: str, stdout: str, stderr: str, mark: str) -> RunReport:
    """Returns the report of a program from `program_of`, or how it ended without one."""
    reports = [line.removeprefix(mark) for line in stdout.split("\n") if line.startswith(mark)]
    try:
        data = json.loads(reports[-1]) if reports else None
    except ValueError:
        data = None
    if not isinstance(data, dict):
        return RunReport(status, reported=False, stderr=stderr.strip()[-2000:])
    try:
        return RunReport(
            status,
            reported=True,
            printed=data["printed"],
            executions={int(at): tuple(_seen(one) for one in times) for at, times in data["seen"].items()},
            warnings=tuple(RaisedWarning(**one) for one in data["warned"]),
            failure=data["failure"] and _failure(data["failure"]),
            last=data["last"],
        )
    except (KeyError, TypeError, ValueError, AttributeError):
        return RunReport(status, reported=False, stderr="the program's report is not readable")


def _seen(data: dict[str, Any]) -> Execution:
    return Execution(data["printed"], data["values"], data["raised"] and _failure(data["raised"]))


def _failure(data: dict[str, Any]) -> RaisedException:
    return RaisedException(**{**data, "kinds": tuple(data["kinds"]), "lines": tuple(data["lines"])})


def next_attempt(snippets: Sequence[Snippet], at: int, attempt: Attempt, ran: RunReport) -> Attempt | None:
    """Returns another attempt for a snippet that lacked a name; None if nothing helps or is needed."""
    failure = ran.failure
    if failure is None or failure.kind != "NameError" or not failure.name:
        return None
    missing = sorted({failure.name, *free_names(snippets[at].program)})
    better = attempt
    for name in missing:
        better = _with(snippets, at, better, name)
    known = {*attempt.imports, *attempt.borrowed}
    return better if failure.name in {*better.imports, *better.borrowed} - known else None


def _with(snippets: Sequence[Snippet], at: int, attempt: Attempt, name: str) -> Attempt:
    """Returns the attempt with an import or an earlier program that binds `name`, if there is one."""
    if name in attempt.imports or name in attempt.borrowed or len(attempt.earlier) >= _LINKS:
        return attempt
    source = _binder(snippets, at, name)
    near = source is not None and _near(snippets[source], snippets[at])
    if name in IMPORTS and not near:
        return replace(attempt, imports=(*attempt.imports, name))
    if source is None:
        return attempt
    earlier = tuple(sorted({*attempt.earlier, source}))
    attempt = replace(attempt, earlier=earlier, borrowed=(*attempt.borrowed, name), near=attempt.near and near)
    # What the earlier program itself lacks comes before it.
    for lacking in sorted(free_names(snippets[source].program)):
        attempt = _with(snippets, source, attempt, lacking)
    return attempt


def _binder(snippets: Sequence[Snippet], at: int, name: str) -> int | None:
    """Returns the nearest earlier snippet that binds a name, preferring the same question or section."""
    before = [one for one in range(at - 1, -1, -1) if name in bound_names(snippets[one].program)]
    near = [one for one in before if _near(snippets[one], snippets[at])]
    return next(iter(near or before), None)


def _near(one: Snippet, other: Snippet) -> bool:
    return one.section == other.section or (bool(one.question) and one.question == other.question)


# Requirements the sandbox does not meet: a device, a package, a file, the network

_MESSAGES = (
    (r"cuda|nvidia|nccl|cudnn|no gpu", "a CUDA device"),
    (r"\bmps\b|\bxpu\b|\bhpu\b|\bxla\b", "a device that is not available"),
    (
        r"RANK expected|process group has not been init|MASTER_ADDR|torchelastic|DataLoader worker|gloo|new process",
        "several processes",
    ),
    (r"c\+\+ compiler|inductor|cxxcompiler|triton|ninja|g\+\+", "a C++ compiler"),
    (r"name resolution|network is unreachable|urlopen|connection refused|max retries", "the network"),
    (r"read-only file system|/dev/shm|semaphore", "something the sandbox does not allow"),
    (r"can't allocate memory|cannot allocate memory|out of memory", "more memory than the sandbox has"),
)
_KINDS = {
    "FileNotFoundError": "a file that does not exist",
    "NotADirectoryError": "a file that does not exist",
    "URLError": "the network",
    "HTTPError": "the network",
    "ConnectionError": "the network",
    "gaierror": "the network",
    "PermissionError": "something the sandbox does not allow",
    "BlockingIOError": "more processes than the sandbox allows",
    "EOFError": "input from the keyboard",
    "MemoryError": "more memory than the sandbox has",
    "DistStoreError": "several processes",
    "DistNetworkError": "several processes",
}
_STATUSES = {"memory": "more memory than the sandbox has", "denied": "something the sandbox does not allow"}
_HERE = frozenset(("torch", "numpy"))
_SEVERAL = re.compile(r"\bmultiprocessing\b|\bmp\.spawn\b|\bnum_workers\b|\binit_process_group\b|\bProcess\(")
_MACHINE = re.compile(
    r"cuda|\bmps\b|__version__|device_count|get_device|nvidia|\btime\b|perf_counter|\bid\(|data_ptr|getpid"
)


def missing_requirement(failure: RaisedException | None, status: str, program: str) -> str:
    """Returns what a failed program lacked in the sandbox; empty if the program itself is at fault."""
    if failure is None:
        if status == "time" and _SEVERAL.search(program):
            return "several processes"
        return _STATUSES.get(status, "")
    if "ModuleNotFoundError" in failure.kinds:
        package = failure.name.partition(".")[0]
        return f"the package `{package}`" if package not in _HERE else ""
    for kind in failure.kinds:
        if kind in _KINDS:
            return _KINDS[kind]
    for pattern, needed in _MESSAGES:
        if failure.kind not in ("NameError", "AttributeError", "SyntaxError") and re.search(
            pattern, failure.text, re.I
        ):
            return needed
    return ""


def depends_on_machine(statement: str, claim: str) -> bool:
    """Returns whether a statement's result depends on the machine: its devices, clock or torch version."""
    return bool(_MACHINE.search(f"{statement} {claim}"))
