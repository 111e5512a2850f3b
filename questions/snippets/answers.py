"""What a snippet prints as a whole, against the block of output behind it or the answers of its session. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from questions.diagnostics import Finding
from questions.snippets.comparing import Agreement, agrees, same_words, without_coat
from questions.snippets.marking import UNSET, Marking, not_repeatable, short
from questions.snippets.needs import hangs_on_machine
from questions.snippets.planning import Ran
from questions.snippets.sessions import Example
from questions.snippets.shown import read_shown
from questions.snippets.truths import one_line


def session_findings(by: Marking, others: Sequence[Ran]) -> Iterator[tuple[bool, list[Finding]]]:
    """What the prompts of a `>>>` session answer."""
    for number, one in enumerate(by.snippet.session):
        agreement = answer_holds(one, by.ran, number)
        seen = (by.ran.seen or {}).get(number)
        if not seen or agreement in ("same", "undecided"):
            yield from [(True, [])] if agreement == "same" else []
            continue
        span = by.span(one.line + one.source.rstrip("\n").count("\n") + 1)
        real = f"{seen[0].raised.kind}: {seen[0].raised.text}" if seen[0].raised else seen[0].printed
        again = [(other.seen or {}).get(number) for other in others]
        if UNSET.search(by.snippet.text) or any(one and one[0].printed != seen[0].printed for one in again):
            note = f"here it is `{one_line(real)}`"
            yield False, [not_repeatable(span, "what this prompt answers is not repeatable", note)]
        elif not hangs_on_machine(one.source, one.want):
            message = f"`>>> {short(one_line(one.source))}` does not answer this"
            label = f"it answers `{one_line(real)}`" if real.strip() else "it answers nothing"
            yield False, [by.drift(span, message, label, "copy what it answers", form=agreement == "form")]


def answer_holds(one: Example, ran: Ran, number: int) -> Agreement:
    """Whether a prompt answers what the document shows."""
    seen = (ran.seen or {}).get(number)
    if not seen or not one.want.strip():
        return "undecided"
    raised, printed = seen[0].raised, seen[0].printed
    if one.fails:
        return "same" if raised is not None and one.error in ("", *raised.kinds) else "differs"
    if raised is not None:
        return "undecided"  # that it failed is said by itself
    if same_text(one.want, printed):
        return "same"
    wanted, real = read_shown(one.want), read_shown(printed)
    if wanted is not None and real is not None:
        return "same" if agrees(wanted, real) else "form" if without_coat(wanted, real) else "differs"
    return "form" if one.assigns and not printed.strip() else "differs"


def same_text(wanted: str, printed: str) -> bool:
    """Whether a text is what was printed; an ellipsis stands for anything."""
    if "..." in wanted:
        parts = [re.escape(" ".join(part.split())) for part in wanted.split("...")]
        return bool(re.fullmatch(".*".join(parts), " ".join(printed.split())))
    return same_words(wanted, printed)


def output_findings(by: Marking, others: Sequence[Ran]) -> Iterator[tuple[bool, list[Finding]]]:
    """The block of output behind the program."""
    shown = by.snippet.output
    if shown is None or by.ran.failure is not None:
        return
    # A notebook shows the value of the last line without a print.
    if same_text(shown.text, by.ran.printed) or same_text(shown.text, f"{by.ran.printed}\n{by.ran.last}"):
        yield True, []
        return
    number, real = _first_difference(shown.text.split("\n"), by.ran.printed)
    span = by.source.span(shown.line + number)
    if UNSET.search(by.snippet.text) or any(other.printed != by.ran.printed for other in others):
        yield (
            False,
            [
                not_repeatable(
                    span,
                    "what this program prints is not repeatable",
                    "its numbers are drawn, or are what lay in memory",
                )
            ],
        )
    elif not hangs_on_machine(by.snippet.program, shown.text):
        label = f"it prints `{one_line(real)}`" if real else "it prints no more"
        yield (
            False,
            [
                by.drift(
                    span,
                    f"the program on line {by.snippet.first} does not print this",
                    label,
                    "copy what it prints",
                )
            ],
        )


def _first_difference(wanted: list[str], printed: str) -> tuple[int, str]:
    """The index of the first claimed line that is not printed, and what is printed in its place."""
    lines = iter([line for line in printed.split("\n") if line.strip()])
    last = 0
    for number, line in enumerate(wanted):
        if line.strip():
            real = next(lines, "")
            if not same_text(line, real):
                return number, real
            last = number
    return last, next(lines, "")
