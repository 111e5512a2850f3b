"""Names lines in answers that look like the questions around them, so that no question is lost inside another."""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING

from questions.patterns.stems import ends_asking
from questions.source import Finding

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from questions.model import Question
    from questions.patterns.inference import Candidate
    from questions.patterns.starts import Kind, Start


def swallowed_findings(
    starts: dict[Kind, list[Start]], won: Sequence[Candidate], questions: Sequence[Question]
) -> Iterator[Finding]:
    """Yields a finding for each place inside an answer that asks in the form of the questions that were read.

    `starts`: the places where a question may start, before questions were read.
    """
    candidates = [one for one in won if one.kind in ("item", "line")]
    if not candidates:
        return
    places = sorted(questions, key=lambda question: question.place.line)
    firsts = [question.place.line for question in places]
    named: set[int] = set()
    for candidate in candidates:
        numbered = _most([bool(start.number) for start in candidate.read])
        bold = _most([start.bold for start in candidate.read])
        for start in starts[candidate.kind]:
            alike = start.depth == candidate.depth and bool(start.number) == numbered and start.bold == bold
            at = bisect_right(firsts, start.first) - 1
            if at < 0 or not alike or start.first in named or not ends_asking(start.stem.text):
                continue
            place = places[at].place
            if place.line < start.first <= place.end_line and start.stem.text not in places[at].prompt:
                named.add(start.first)
                yield _swallowed(start, place.line)


def _most(values: list[bool]) -> bool:
    return sum(values) * 2 > len(values)


def _swallowed(start: Start, line: int) -> Finding:
    assert start.document is not None
    return Finding(
        "Q006",
        "note",
        "this looks like a question inside the answer to another",
        start.document.source.span(start.first, start.last),
        note=f"it was read as part of the question on line {line}",
        help="write it like the other questions, if it is one",
    )
