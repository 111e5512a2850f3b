"""A coverage-guided fuzzer of the reader: `make fuzz SECONDS=60 SEED=1`."""

from __future__ import annotations

import argparse
import itertools
import random
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import perf_counter, process_time
from types import FrameType
from typing import Any

import questions
from questions import read_bank
from questions.report import finding_github, reading_text

ROOT = Path(__file__).parent.parent.parent
PACKAGE = str(Path(questions.__file__).parent)
SLOW = 30.0
"""CPU seconds, including tracing, after which a small input counts as a finding."""
LONGEST = 6000
FRAGMENTS = (
    *("### 1. What is it?", "## Question 2", "#### 3) Why? [[src](x)]", "1. ### Q", "**4) Title**. Ask?", "**What?**"),
    *(
        "**Answer:** b",
        "Answer: c",
        "#### Answer: A",
        "Q: who?",
        "A: me",
        "Q7. x?",
        "Ans: y",
        "* Q? a",
        "- [ ] x",
        "- [x] y",
    ),
    *(
        "a) one",
        "b) two",
        "c) three",
        "- A: x",
        "- B: y ✅",
        "**c) z**",
        "> **Answer:** q",
        "1. a",
        "   - b",
        "\t* c",
        "10) d",
    ),
    *("front::back", "one two:::three", "?", "??", "[ ] x", "[x]y", "What is it?", "- ", "1) Which?", "\n\n"),
    *('<span class="s">Correcta: a</span>', '<p class="s">', "</p>", "==gap==", "#flashcards", "CORRECTA: one"),
    *("<details>", "<summary>What?</summary>", "<summary>Answer</summary>", "</details>", "<br><b>", "</b></details>"),
    *(
        "| Question | Answer |",
        "|---|---|",
        "| What? | `a|b` |",
        "---",
        "===",
        "```python",
        "```",
        "~~~",
        "    code",
        "> q",
    ),
    *(
        "questions:",
        "bank: x",
        "# topic",
        "## ab · choice · mid",
        "### Proof",
        "### Wrong: x",
        "[⬆ Top](#top)",
        "<!--",
        "-->",
    ),
    *(
        "`",
        "``",
        "**",
        "__",
        "[",
        "](",
        "\\",
        "\\text{",
        "&amp;",
        "\x00",
        "\u2028",
        "\ufeff",
        "âœ…",
        "？",
        "：",
        "答案：",
        "\r",
        "\x0b",
    ),
)


class Coverage:
    """The transitions between lines of the reader that have been executed."""

    def __init__(self) -> None:
        self.arcs: set[tuple[object, int, int]] = set()

    def _enter(self, frame: FrameType, event: str, argument: object) -> Callable[..., Any] | None:
        code = frame.f_code
        if not code.co_filename.startswith(PACKAGE):
            return None
        arcs, last = self.arcs, 0

        def step(frame: FrameType, event: str, argument: object) -> Callable[..., Any]:
            nonlocal last
            if event == "line":
                arcs.add((code, last, frame.f_lineno))
                last = frame.f_lineno
            return step

        return step

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Records coverage during the block."""
        before = sys.gettrace()
        sys.settrace(self._enter)
        try:
            yield
        finally:
            sys.settrace(before)


def check(text: str) -> str:
    """Describes what is wrong with how a text is read; empty if nothing is."""
    start = process_time()
    try:
        reading = read_bank(text, name="fuzz.md")
        if lost := reading.unaccounted():
            return f"lines {lost[:5]} are accounted for nowhere"
        count = len(reading.source.lines)
        for finding in reading.findings:
            if not 1 <= finding.span.line <= finding.span.end_line <= count or finding.span.column < 1:
                return f"{finding.code} stands outside the document"
            finding_github(finding, reading.source)
        places = [question.place for question in reading.bank.questions if question.answered]
        if any(one.end_line >= two.line for one, two in itertools.pairwise(places)):
            return "two questions share a line"
        reading_text(reading)
    except Exception as error:  # what the fuzzer searches for
        return f"{type(error).__name__}: {error}"
    taken = process_time() - start
    return f"took {taken:.1f} s" if taken > SLOW else ""


def seeds() -> list[str]:
    """Returns every document of the fixtures and the banks, truncated for speed."""
    found = list(FRAGMENTS)
    for file in sorted((ROOT / "tests" / "questions").glob("*/*.md")):
        for case in file.read_text("utf-8").split("\n----\n"):
            found.append(case.partition("\n")[2].partition("....\n")[0][:LONGEST])
    found += [file.read_text("utf-8")[:LONGEST] for file in sorted((ROOT / "questions" / "banks").glob("*.md"))]
    return found


def mutated(text: str, others: list[str], rng: random.Random) -> str:
    """Returns the text with a few changes of lines or characters."""
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        text = rng.choice(_CHANGES)(text, others, rng)
    return text[:LONGEST]


def _spliced(text: str, others: list[str], rng: random.Random) -> str:
    one, two = text.split("\n"), rng.choice(others).split("\n")
    at, start = rng.randint(0, len(one)), rng.randint(0, len(two))
    return "\n".join((*one[:at], *two[start : start + rng.randint(1, 12)], *one[at + rng.randint(0, 3) :]))


def _inserted(text: str, others: list[str], rng: random.Random) -> str:
    lines = text.split("\n")
    at = rng.randint(0, len(lines))
    fragment = rng.choice(("", " ", "  ", "   ", "    ", "> ", "- ", "1. ", "\t")) + rng.choice(FRAGMENTS)
    return "\n".join((*lines[:at], *[fragment] * rng.choice((1, 1, 1, 2, 30)), *lines[at:]))


def _without_lines(text: str, others: list[str], rng: random.Random) -> str:
    lines = text.split("\n")
    at = rng.randint(0, len(lines))
    return "\n".join((*lines[:at], *lines[at + rng.randint(1, 5) :]))


def _moved(text: str, others: list[str], rng: random.Random) -> str:
    lines = text.split("\n")
    one, two = rng.randrange(len(lines)), rng.randrange(len(lines))
    lines[one], lines[two] = lines[two], lines[one]
    return "\n".join(lines)


def _indented(text: str, others: list[str], rng: random.Random) -> str:
    lines = text.split("\n")
    at, end = sorted((rng.randint(0, len(lines)), rng.randint(0, len(lines))))
    mark = rng.choice(("  ", "    ", "> ", "- ", "\t", "# "))
    changed = (line.removeprefix(" ") if rng.random() < 0.1 else mark + line for line in lines[at:end])
    return "\n".join((*lines[:at], *changed, *lines[end:]))


def _typed(text: str, others: list[str], rng: random.Random) -> str:
    at = rng.randint(0, len(text))
    new = rng.choice(
        (rng.choice(FRAGMENTS), rng.choice("#*_`-[]()<>|:.?!1aA \n\t\\&~=+\"'"), chr(rng.randrange(0x3000)))
    )
    return text[:at] + new + text[at + rng.choice((0, 0, 1, 4)) :]


def _joined(text: str, others: list[str], rng: random.Random) -> str:
    return text.replace("\n\n", "\n", rng.randint(1, 3)) if rng.random() < 0.5 else text.replace("\n", "\n\n", 3)


_CHANGES = (_spliced, _inserted, _inserted, _without_lines, _moved, _indented, _typed, _typed, _joined)


def smallest(text: str, problem: str) -> str:
    """Returns the text without lines that the same kind of problem does not need."""
    kind = problem.split()[0]
    lines = text.split("\n")
    step = max(len(lines) // 2, 1)
    while step:
        at = 0
        while at < len(lines):
            fewer = lines[:at] + lines[at + step :]
            if check("\n".join(fewer)).split()[:1] == [kind]:
                lines = fewer
            else:
                at += step
        step //= 2
    return "\n".join(lines)


def search(seconds: float, seed: int, inputs: int | None = None) -> int:
    """Searches until the time or the number of inputs is used up; prints each finding. Returns their number."""
    rng, coverage = random.Random(seed), Coverage()
    corpus, found, tried = seeds(), dict[str, str](), 0
    end = perf_counter() + seconds
    waiting = list(corpus)
    while perf_counter() < end and tried != inputs:
        text = waiting.pop() if waiting else mutated(rng.choice(corpus), corpus, rng)
        known = len(coverage.arcs)
        with coverage.watching():
            problem = check(text)
        tried += 1
        if problem and problem.split()[0] not in found:
            found[problem.split()[0]] = problem
            print(f"{problem}\n{smallest(text, problem)!r}", flush=True)
        elif len(coverage.arcs) > known and text not in corpus:
            corpus.append(text)
    print(f"{tried} inputs tried, {len(coverage.arcs)} arcs covered, {len(corpus)} inputs kept, {len(found)} findings")
    return len(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    sys.exit(1 if search(options.seconds, options.seed) else 0)


if __name__ == "__main__":
    main()
