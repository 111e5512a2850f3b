"""Infers how a document writes its questions: candidates, their evidence, the winners.

Every place where a question may start (`questions.patterns.starts.search`) belongs to a candidate: the places of one
kind and depth. A candidate is read for the strongest reason its evidence gives:

1. labeled: a word such as `Question 5` or `**Q:**` comes before each.
2. listed: the title announces questions, and a table of contents lists them.
3. answered: a label, a heading, a fold, a key or marked options answer them.
4. asking: most of them read as questions.
5. titled: each is a title, and the paragraph below asks.
6. continued: they continue the form and the numbers of questions that were read already.
7. promised: the title announces questions, or some ask, and they are numbered and cover what is below it.
8. bare: the document is made of paragraphs that ask, and of what is below them.
9. keyed: nothing else was read, and a list of keys has the same numbers.

Question marks and words are evidence, not conditions. The reasons are tried in this order, and of the candidates with
the same reason the one that covers more comes first. Its lines are then taken, and the others are judged without them.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from questions.patterns.candidates import Candidate, Verdict
from questions.patterns.evidence.reasons import JUDGES
from questions.patterns.evidence.runs import FEWEST
from questions.patterns.lettered import with_lettered_parts
from questions.patterns.starts.paragraphs import find_paragraphs

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from questions.document import Document
    from questions.patterns.candidates import Reason
    from questions.patterns.starts.start import Kind, Start


def best_candidate(
    document: Document, reason: Reason, known: Iterable[Candidate], starts: dict[Kind, list[Start]]
) -> Candidate | None:
    """Returns the best candidate for one reason in the lines that are still free; None if there is none.

    `starts`: the places where a question may start in these lines.
    """
    judge = JUDGES[reason]
    known = tuple(known)
    left = {(start.kind, start.first) for one in known for start in one.left}
    found: dict[tuple[Kind, int], list[Verdict]] = {}
    if reason == "bare":
        starts = {"paragraph": find_paragraphs(document)}
    for kind, places in starts.items():
        free = [
            start
            for start in places
            if document.free(start.first, start.end) and (kind, start.first) not in left and not start.is_blank
        ]
        for (depth, _), run in _runs(free):
            verdict = judge(document, kind, run, known)
            if verdict.read:
                found.setdefault((kind, depth if kind != "heading" else 0), []).append(verdict)
    candidates = [_candidate(kind, reason, verdicts) for (kind, _), verdicts in found.items()]
    candidates = [with_lettered_parts(one, starts["heading"]) if one.kind == "heading" else one for one in candidates]
    return min(candidates, key=lambda candidate: candidate.rank, default=None)


def keyed_candidate(document: Document, keys: Iterable[list[str]], starts: dict[Kind, list[Start]]) -> Candidate | None:
    """Returns the places with the same numbers, in the same order, as the keys of a list; None if there are none.

    `keys`: the numbers in each list.
    """
    lists = [numbers for numbers in keys if len(numbers) >= _FEWEST_KEYED]
    for kind in ("heading", "item", "line") if lists else ():
        free = [one for one in starts.get(kind, ()) if one.number and document.free(one.first, one.end)]
        for _, run in _runs(free):
            if [one.number for one in run] in lists:
                return _candidate(kind, "keyed", [Verdict(tuple(run))])
    return None


_FEWEST_KEYED = 4
"""Fewest numbers that a list of keys and the questions have in common."""


def _runs(starts: list[Start]) -> Iterator[tuple[tuple[int, int], list[Start]]]:
    """Yields the starts of each depth that are under the same heading; lines and paragraphs of their own are
    together."""

    def key(start: Start) -> tuple[int, int]:
        return start.depth, 0 if start.kind in ("line", "paragraph") else start.run

    for place, run in groupby(sorted(starts, key=key), key=key):
        yield place, list(run)


def _candidate(kind: Kind, reason: Reason, verdicts: list[Verdict]) -> Candidate:
    read = sorted((start for verdict in verdicts for start in verdict.read), key=lambda start: start.first)
    if kind == "heading" and reason == "asking":
        read = _without_parts(read)
    left = sorted((start for verdict in verdicts for start in verdict.left), key=lambda start: start.first)
    return Candidate(kind, read[0].depth, reason, tuple(read), tuple(left))


def _without_parts(starts: list[Start]) -> list[Start]:
    """Returns the headings without the few that only ask within the answer to a numbered one."""
    inside: dict[Start, list[Start]] = {}
    outer: Start | None = None
    for start in starts:
        if outer is None or start.first > outer.end or start.depth <= outer.depth:
            outer = start if start.number else None
        elif not start.number:
            inside.setdefault(outer, []).append(start)
    parts = {start for within in inside.values() if len(within) < FEWEST["heading"] for start in within}
    return [start for start in starts if start not in parts]
