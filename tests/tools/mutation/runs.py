"""Runs test files in forks of an interpreter that has imported everything but the code under test.

A fork imports our packages itself, so a change reaches tables, defaults and caches too.
"""

from __future__ import annotations

import gc
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import json
import os
import resource
import select
import shutil
import signal
import sys
import tempfile
import threading
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from types import CodeType, FrameType, ModuleType
from typing import Any

import hypothesis
import pytest

ROOT = Path(__file__).parents[3]
OURS = ("bot", "service", "questions", "sandbox", "tests", "dailygrad")
_NEEDS = {"postgres_url", "started_sandbox"}
_MARKS = ("sandbox", "gpu", "container", "external", "browser")
_MEMORY = 4 << 30
"""Bytes of data that one run may allocate: a mutant may fill a list without end."""


@dataclass
class Record:
    """What one test file does when nothing is changed."""

    tests: int = 0
    passed: bool = False
    cpu: float = 0.0
    """Processor time, seconds."""
    functions: dict[str, list[int]] = field(default_factory=dict)
    """The first lines of the functions that are called, by the module's path."""
    imported: list[str] = field(default_factory=list)
    """Paths of our modules that were imported."""
    others: list[str] = field(default_factory=list)
    """Names of everyone else's modules that were imported."""


@dataclass(frozen=True)
class Job:
    """One fork: test files, with one module replaced or with a record of what runs."""

    files: tuple[str, ...]
    cpu: float
    """Limit of processor time, seconds; ten times as long may pass on the clock."""
    replaced: tuple[str, Callable[[], CodeType]] | None = None
    traced: frozenset[str] | None = None
    """Paths of modules whose called functions are recorded."""


@dataclass(frozen=True)
class Outcome:
    """How a fork ended: `failed`, `passed` or `timeout`, and what it recorded."""

    status: str
    record: Record
    output: str


def warm(names: Iterable[str]) -> None:
    """Imports what every run will need, apart from our own packages."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # threads do not survive a fork
    for name in names:
        if name.partition(".")[0] not in OURS:
            try:
                importlib.import_module(name)
            except Exception:  # a module that only its package may import
                continue
    hypothesis.settings.register_profile("mutation", database=None, derandomize=True)
    hypothesis.settings.load_profile("mutation")
    assert not [name for name in sys.modules if name.partition(".")[0] in OURS[:4]]
    gc.collect()
    gc.freeze()


def run_all(jobs: Iterable[Job], workers: int) -> Iterator[tuple[int, Outcome]]:
    """Runs the jobs, a few at a time; yields each one's number and outcome as it ends."""
    waiting = iter(enumerate(jobs))
    running: dict[int, _Fork] = {}
    poll = select.poll()
    try:
        while True:
            while len(running) < workers and (following := next(waiting, None)):
                fork = _Fork(*following)
                running[fork.descriptor] = fork
                poll.register(fork.descriptor, select.POLLIN)
            if not running:
                return
            first_end = min(fork.end for fork in running.values())
            poll.poll(max(first_end - monotonic(), 0) * 1000)
            for descriptor, fork in list(running.items()):
                if outcome := fork.outcome():
                    poll.unregister(descriptor)
                    del running[descriptor]
                    fork.close()
                    yield fork.number, outcome
    finally:
        for fork in running.values():
            fork.close()


class _Fork:
    def __init__(self, number: int, job: Job) -> None:
        self.number, self.job = number, job
        self.folder = Path(tempfile.mkdtemp(prefix="mutant-"))
        self.end = monotonic() + 10 * job.cpu
        sys.stdout.flush()
        self.process = os.fork()
        if not self.process:
            code = 70
            try:
                code = _run_child(job, self.folder)
            except BaseException:
                (self.folder / "output").write_text(traceback.format_exc())
            finally:
                os._exit(code)
        self.descriptor = os.pidfd_open(self.process)

    def outcome(self) -> Outcome | None:
        """Returns how the fork ended, or None while it runs and has time left."""
        ended = select.select([self.descriptor], [], [], 0)[0]
        if not ended and monotonic() < self.end:
            return None
        if not ended:
            os.kill(self.process, signal.SIGKILL)
        _, status = os.waitpid(self.process, 0)
        written = self.folder / "record"
        record = Record(**json.loads(written.read_text())) if written.exists() else Record()
        output = (self.folder / "output").read_text("utf-8", "replace")[-4000:]
        code = os.waitstatus_to_exitcode(status)
        if not ended or code == -signal.SIGXCPU:
            return Outcome("timeout", record, output)
        # A module that cannot be imported, or a crash, fails every test; a run without tests fails none.
        return Outcome(
            "passed" if code in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED) else "failed", record, output
        )

    def close(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self.process, signal.SIGKILL)
        os.close(self.descriptor)
        shutil.rmtree(self.folder, ignore_errors=True)


def _run_child(job: Job, folder: Path) -> int:
    os.setsid()
    output = os.open(folder / "output", os.O_CREAT | os.O_WRONLY)
    for standard in (1, 2):
        os.dup2(output, standard)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.environ["PYTEST_DEBUG_TEMPROOT"] = str(folder)
    used = resource.getrusage(resource.RUSAGE_SELF)
    spent = used.ru_utime + used.ru_stime  # a fork starts at nothing, but it costs nothing to say so
    limit = int(spent + job.cpu) + 1
    resource.setrlimit(resource.RLIMIT_CPU, (limit, limit + 5))
    resource.setrlimit(resource.RLIMIT_DATA, (_MEMORY, _MEMORY))
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    if job.replaced:
        path, make = job.replaced
        sys.meta_path.insert(0, _Replacing(path, make()))
    tests, calls = _Tests(), _Calls(job.traced or frozenset())
    words = ["-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist"]
    with calls.recorded():
        code = pytest.main([*words, *([] if job.traced else ["-x"]), *job.files], plugins=[tests])
    sys.stdout.flush()
    used = resource.getrusage(resource.RUSAGE_SELF)
    record = Record(tests.count, code == 0, used.ru_utime + used.ru_stime - spent)
    record.functions = {path: sorted(found) for path, found in calls.found.items() if found}
    names = [*sys.modules.items()]
    record.others = [name for name, _ in names if name.partition(".")[0] not in OURS]
    record.imported = [path for name, module in names if name.partition(".")[0] in OURS and (path := _path_of(module))]
    (folder / "record").write_text(json.dumps(vars(record)))
    return int(code)


def _path_of(module: ModuleType) -> str:
    file = getattr(module, "__file__", None) or ""
    return str(Path(file).relative_to(ROOT)) if file.startswith(f"{ROOT}/") else ""


class _Tests:
    """Leaves out tests that start a server or a browser: a rule is held by a quick test of its own."""

    count = 0

    def pytest_collection_modifyitems(self, config: pytest.Config, items: list[pytest.Item]) -> None:
        kept = [item for item in items if not self._starts_a_server(item)]
        config.hook.pytest_deselected(items=[item for item in items if item not in set(kept)])
        items[:] = kept
        self.count = len(kept)

    @staticmethod
    def _starts_a_server(item: pytest.Item) -> bool:
        needed = set(getattr(item, "fixturenames", ()))
        return bool(needed & _NEEDS) or any(item.get_closest_marker(mark) for mark in _MARKS)


class _Replacing(importlib.abc.MetaPathFinder):
    """Finds one module with other code than its file has."""

    def __init__(self, path: str, code: CodeType) -> None:
        self.path, self.code = path, code
        parts = Path(path).with_suffix("").parts
        self.package = parts[-1] == "__init__"
        self.name = ".".join(parts[:-1] if self.package else parts)

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if fullname != self.name:
            return None
        file = str(ROOT / self.path)
        folders = [str(Path(file).parent)] if self.package else None
        loader = _Loader(fullname, file, self.code)
        return importlib.util.spec_from_file_location(fullname, file, loader=loader, submodule_search_locations=folders)


class _Loader(importlib.machinery.SourceFileLoader):
    def __init__(self, name: str, file: str, code: CodeType) -> None:
        super().__init__(name, file)
        self.code = code

    def get_code(self, fullname: str) -> CodeType:
        return self.code


class _Calls:
    """The functions of some modules that are called, in every thread, also while tests are collected."""

    def __init__(self, paths: frozenset[str]) -> None:
        self.found: dict[str, set[int]] = {path: set() for path in paths}
        self._by_file = {str(ROOT / path): found for path, found in self.found.items()}

    def _enter(self, frame: FrameType, event: str, argument: object) -> None:
        code = frame.f_code
        found = self._by_file.get(code.co_filename)
        if found is not None and code.co_name != "<module>":
            found.add(code.co_firstlineno)

    @contextmanager
    def recorded(self) -> Iterator[None]:
        if self.found:
            threading.settrace(self._enter)
            sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(None)
