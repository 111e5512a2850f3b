"""Mutation testing of the rules everything else rests on: `python -m tests.tools.mutation --sample 150 --seed 1`.

A sample of small changes is made to each package, one at a time; a test must fail for each. The report names the
changes that no test noticed. mutmut and cosmic-ray were considered. mutmut (3.8) changes only bodies of functions
without decorators, but much of this code is tables, properties and cached functions, and it draws no samples;
cosmic-ray (8.7) starts a pytest for each change, edits the working tree and does not choose tests by coverage.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import math
import random
import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic

from tests.tools.mutation.mutants import Mutant, compile_mutant, find_mutants
from tests.tools.mutation.runs import ROOT, Job, Record, run_all, warm

BUILD = ROOT / "build" / "mutation"
EQUIVALENT = Path(__file__).with_name("equivalent.txt")
"""Changes that change no behavior: the key of a mutant on one line, the reason indented on the next."""
GOAL = 80
"""Percent of the sampled mutants that must be killed in each package."""
RECORDING_SECONDS = 600.0


@dataclass(frozen=True)
class Package:
    """What is changed, and where the tests that may notice are."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]

    def files(self) -> list[str]:
        return _glob(self.modules)

    def test_files(self) -> list[str]:
        return _glob(self.tests)


PACKAGES = {
    "service/domain": Package(("service/domain/*.py",), ("tests/service/domain/test_*.py",)),
    "questions": Package(
        (
            *("questions/reader.py", "questions/checks.py", "questions/proofs.py"),
            *("questions/formats/**/*.py", "questions/patterns/**/*.py"),
            *("questions/repairs/*.py", "questions/wording/*.py"),
        ),
        ("tests/questions/**/test_*.py",),
    ),
    "bot/core/markup": Package(
        ("bot/core/markup/*.py",),
        ("tests/bot/core/**/test_*.py", "tests/bot/test_markup_documents.py", "tests/bot/test_rendering.py"),
    ),
    "sandbox/judging": Package(
        ("sandbox/judging/*.py",), ("tests/sandbox/judging/test_*.py", "tests/sandbox/test_values*.py")
    ),
}


@dataclass
class Result:
    """The outcome of the sampled mutants of one package."""

    package: str
    mutants: int
    killed: list[Mutant] = field(default_factory=list)
    timeouts: list[Mutant] = field(default_factory=list)
    survived: list[Mutant] = field(default_factory=list)
    uncovered: list[Mutant] = field(default_factory=list)
    equivalent: list[Mutant] = field(default_factory=list)

    def add(self, mutant: Mutant, status: str) -> None:
        {"failed": self.killed, "timeout": self.timeouts, "passed": self.survived}[status].append(mutant)

    @property
    def noticed(self) -> int:
        return len(self.killed) + len(self.timeouts)

    @property
    def counted(self) -> int:
        return self.noticed + len(self.survived) + len(self.uncovered)

    @property
    def score(self) -> float:
        return 100 * self.noticed / self.counted if self.counted else 100.0

    def interval(self) -> tuple[float, float]:
        """Returns the Wilson score interval of the share killed, 95%, in percent."""
        n, z = self.counted, 1.96
        if not n:
            return 0.0, 100.0
        share = self.noticed / n
        middle = (share + z * z / (2 * n)) / (1 + z * z / n)
        half = z * math.sqrt(share * (1 - share) / n + z * z / (4 * n * n)) / (1 + z * z / n)
        return 100 * (middle - half), 100 * (middle + half)


def _glob(patterns: Sequence[str]) -> list[str]:
    return sorted({str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.glob(pattern)})


def record_tests(package: Package, workers: int) -> dict[str, Record]:
    """Returns what each test file enters; kept until the file or a module changes."""
    sources = b"".join((ROOT / path).read_bytes() for path in package.files())
    keys = {
        file: hashlib.sha256(sources + file.encode() + (ROOT / file).read_bytes()).hexdigest()[:24]
        for file in package.test_files()
    }
    kept = {file: BUILD / "records" / f"{key}.json" for file, key in keys.items()}
    new = [file for file, path in kept.items() if not path.exists()]
    if new:
        print(f"Recording what {len(new)} test files run", flush=True)
        traced = frozenset(package.files())
        (BUILD / "records").mkdir(parents=True, exist_ok=True)
        jobs = [Job((file,), RECORDING_SECONDS, traced=traced) for file in new]
        for first, rest in ((0, jobs[:1]), (1, jobs[1:])):
            for number, outcome in run_all(rest, workers):
                file = new[first + number]
                if outcome.status != "passed":
                    print(f"{file}: {outcome.status}\n{outcome.output}", flush=True)
                kept[file].write_text(json.dumps(vars(outcome.record)))
                if not first:
                    warm(outcome.record.others)
    return {file: Record(**json.loads(path.read_text())) for file, path in kept.items()}


def choose_tests(mutant: Mutant, records: dict[str, Record]) -> list[str]:
    """Returns the test files that call the changed function, quickest first.

    What is outside functions runs when the module is imported, so every file that imports it may notice.
    """
    found = [
        file
        for file, record in records.items()
        if (mutant.start in record.functions.get(mutant.path, []) if mutant.start else mutant.path in record.imported)
    ]
    return sorted(found, key=lambda file: records[file].cpu)


def read_equivalent() -> dict[str, str]:
    """Returns the reasons by the keys of the mutants."""
    found: dict[str, str] = {}
    key = ""
    for line in EQUIVALENT.read_text("utf-8").splitlines():
        if line.startswith(" "):
            found[key] = f"{found[key]} {line.strip()}".strip()
        elif line and not line.startswith("#"):
            key = line
            found[key] = ""
    return found


def examine(name: str, options: argparse.Namespace) -> Result:
    """Samples the mutants of a package and runs the tests on each, until the time is up.

    They are tried in random order, so those that were tried are a random sample too.
    """
    package = PACKAGES[name]
    sources = {path: (ROOT / path).read_text("utf-8") for path in package.files()}
    every = [mutant for path, source in sources.items() for mutant in find_mutants(path, source)]
    every = [mutant for mutant in every if options.only in mutant.path]
    sample = random.Random(f"{options.seed} {name}").sample(every, min(options.sample, len(every)))
    records = record_tests(package, options.workers)
    usable = {file: record for file, record in records.items() if record.passed and record.tests}
    warm(dict.fromkeys(other for record in usable.values() for other in record.others))
    result, equivalent, known = Result(name, len(every)), read_equivalent(), Outcomes(sources)
    tried: list[Mutant] = []
    end = monotonic() + options.seconds

    def jobs() -> Iterator[Job]:
        for mutant in sample:
            files = choose_tests(mutant, usable)
            if mutant.key in equivalent:
                result.equivalent.append(mutant)
            elif not files:
                result.uncovered.append(mutant)
            elif status := known.get(mutant, files):
                result.add(mutant, status)
            elif monotonic() > end:
                return
            else:
                tried.append(mutant)
                clean = sum(usable[file].cpu for file in files)
                code = partial(compile_mutant, mutant, sources[mutant.path], str(ROOT / mutant.path))
                yield Job(tuple(files), 3 * clean + 10, replaced=(mutant.path, code))

    for number, outcome in run_all(jobs(), options.workers):
        mutant = tried[number]
        result.add(mutant, outcome.status)
        known.put(mutant, choose_tests(mutant, usable), outcome.status)
        if outcome.status == "passed" or options.verbose:
            print(f"{outcome.status}: {_shown(mutant)}", *[outcome.output] * options.verbose, sep="\n", flush=True)
    return result


class Outcomes:
    """How mutants ended before, for as long as the package and the chosen tests stay as they are."""

    def __init__(self, sources: Mapping[str, str]) -> None:
        self._sources = hashlib.sha256("".join(sources.values()).encode()).hexdigest()
        self._file = BUILD / "outcomes.json"
        self._known: dict[str, str] = json.loads(self._file.read_text()) if self._file.exists() else {}

    def get(self, mutant: Mutant, files: Sequence[str]) -> str:
        return self._known.get(self._key(mutant, files), "")

    def put(self, mutant: Mutant, files: Sequence[str], status: str) -> None:
        self._known[self._key(mutant, files)] = status
        self._file.write_text(json.dumps(self._known))

    def _key(self, mutant: Mutant, files: Sequence[str]) -> str:
        place = f"{self._sources} {mutant.path} {mutant.position} {mutant.variant}"
        tests = b"".join((ROOT / file).read_bytes() for file in sorted(files))
        return hashlib.sha256(place.encode() + tests).hexdigest()


def _shown(mutant: Mutant) -> str:
    return f"{mutant.path}:{mutant.line} [{mutant.operator}]\n- {mutant.before}\n+ {mutant.after}"


def report(results: list[Result], options: argparse.Namespace) -> str:
    """Returns the report as Markdown."""
    lines = [
        "# Mutation testing",
        "",
        f"Seed {options.seed}, at most {options.sample} mutants and {options.seconds:g} s for each package.",
        "",
        "| Package | Mutants | Sampled | Killed | Timed out | Survived | Not run | Equivalent | Score | 95% |",
        f"|{'---|' * 10}",
    ]
    for one in results:
        low, high = one.interval()
        counts = [len(kind) for kind in (one.killed, one.timeouts, one.survived, one.uncovered, one.equivalent)]
        cells = [one.package, one.mutants, one.counted + len(one.equivalent), *counts]
        lines.append(f"| {' | '.join(map(str, cells))} | {one.score:.1f}% | {low:.1f} to {high:.1f}% |")
    reasons = read_equivalent()
    for one in results:
        for title, mutants in (("survived", one.survived), ("not run by any test", one.uncovered)):
            if mutants:
                lines += ["", f"## {one.package}: {title}", ""]
                lines += [f"```diff\n{_shown(mutant)}\n```" for mutant in sorted(mutants)]
        if one.equivalent:
            lines += ["", f"## {one.package}: equivalent", ""]
            lines += [f"```diff\n{_shown(mutant)}\n```\n{reasons[mutant.key]}" for mutant in one.equivalent]
        kinds = Counter(mutant.operator for mutant in one.killed)
        lines += ["", f"{one.package}, killed by operator: {', '.join(f'{k} {n}' for k, n in kinds.most_common())}"]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m tests.tools.mutation", description=(__doc__ or "").partition("\n")[0]
    )
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help=f"{', '.join(PACKAGES)}; all unless given")
    parser.add_argument("--sample", type=int, default=150, help="mutants per package (%(default)s)")
    parser.add_argument("--seconds", type=float, default=900, help="time per package (%(default)s)")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--only", default="", help="only modules whose path contains this")
    parser.add_argument("--verbose", action="store_true", help="show how each mutant was killed")
    options = parser.parse_args()
    if unknown := [name for name in options.packages if name not in PACKAGES]:
        parser.error(f"no package {', '.join(unknown)}: choose from {', '.join(PACKAGES)}")
    results = [examine(name, options) for name in options.packages or PACKAGES]
    text = report(results, options)
    BUILD.mkdir(parents=True, exist_ok=True)
    written = BUILD / "report.md"
    written.write_text(text, "utf-8")
    print(f"\n{text}\n{written.relative_to(ROOT)}")
    sys.exit(any(result.score < GOAL for result in results))


if __name__ == "__main__":
    main()
