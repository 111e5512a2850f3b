"""What came of a snippet as findings, each at its line of the document. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.diagnostics import Finding
from questions.snippets.answers import answer_holds, output_findings, session_findings
from questions.snippets.collecting import Snippet
from questions.snippets.comparing import same_words
from questions.snippets.endings import ending, lacks, not_python, warned_of
from questions.snippets.marking import UNSET, Marking, not_repeatable, short
from questions.snippets.needs import hangs_on_machine
from questions.snippets.planning import Attempt, Ran
from questions.snippets.shown import Number
from questions.snippets.statements import Claim, Probe
from questions.snippets.truths import Truth, one_line, weigh

if TYPE_CHECKING:
    from questions.source import Source

_DRAWS = re.compile(r"rand|multinomial|bernoulli|normal_?\(|uniform_?\(|[Dd]ropout|shuffle|choice\(|sample\(|init\.")


def judge(
    source: Source, snippets: Sequence[Snippet], at: int, attempt: Attempt, ran: Ran, others: Sequence[Ran] = ()
) -> tuple[list[Finding], int]:
    """The findings on one snippet, and how many of its claims hold. `others` are runs with other seeds."""
    by = Marking(source, snippets, at, attempt, ran)
    if isinstance(by.snippet.tree, SyntaxError):
        return [not_python(by, by.snippet.tree)], 0
    findings = [*lacks(by), *ending(by), *warned_of(by)]
    held = 0
    if ran.told:
        for one, truth, random in _truths(by, others):
            held += truth.agreement == "same"
            findings += _claim_findings(by, *one, truth, random=random)
        for holds, found in [*session_findings(by, others), *output_findings(by, others)]:
            held += holds
            findings += found
    return _random_once(sorted(findings, key=lambda finding: (finding.span, finding.code))), held


def _random_once(findings: list[Finding]) -> list[Finding]:
    """The findings, where what is random in one program is one finding."""
    drawn = [finding for finding in findings if finding.code == "P108"]
    if len(drawn) < 2:
        return findings
    lines = ", ".join(str(finding.span.line) for finding in drawn[1:20])
    first = replace(drawn[0], note=f"the same holds of what lines {lines} claim")
    return [first if finding is drawn[0] else finding for finding in findings if finding not in drawn[1:]]


def draws_numbers(snippet: Snippet) -> bool:
    """Whether a program seems to draw random numbers: then two runs may agree by chance."""
    return bool(_DRAWS.search(snippet.text))


def random_suspects(snippets: Sequence[Snippet], at: int, ran: Ran) -> bool:
    """Whether a claim of a snippet differs, so that a run with another seed must tell whether it could ever hold."""
    snippet = snippets[at]
    if not ran.told or ran.seen is None:
        return False
    for number, probe in enumerate(snippet.probes):
        for claim in probe.claims:
            if weigh(claim.said, probe, ran.seen.get(number, ())).agreement in ("differs", "form"):
                return True
    if any(answer_holds(one, ran, number) in ("differs", "form") for number, one in enumerate(snippet.session)):
        return True
    return snippet.output is not None and not same_words(snippet.output.text, ran.printed)


def _truths(by: Marking, others: Sequence[Ran]) -> Iterator[tuple[tuple[Probe, Claim], Truth, bool]]:
    """Each claim with how it fares, and whether that is a matter of chance."""
    for number, probe in enumerate(by.snippet.probes):
        for claim in probe.claims:
            truth = weigh(claim.said, probe, (by.ran.seen or {}).get(number, ()))
            again = [weigh(claim.said, probe, (other.seen or {}).get(number, ())) for other in others if other.told]
            unset = bool(UNSET.search(by.snippet.text)) and claim.said.kind == "value" and bool(truth.real)
            yield (probe, claim), truth, unset or any(other.real != truth.real for other in again)


def _claim_findings(by: Marking, probe: Probe, claim: Claim, truth: Truth, *, random: bool) -> Iterator[Finding]:
    if truth.agreement not in ("differs", "form"):
        return
    span = by.claim_span(claim)
    said = one_line(claim.said.text)
    shown = f"`{short(probe.shown)}`"
    if random:
        yield not_repeatable(span, f"what {shown} gives is not repeatable", f"here it is `{truth.real}`")
    elif hangs_on_machine(probe.shown, claim.said.text):
        yield Finding(
            "P107",
            "note",
            f"whether {shown} gives `{said}` cannot be told here: it depends on the machine",
            span,
            note=f"here it is `{truth.real}`",
        )
    elif claim.said.kind == "raises":
        yield by.drift(
            span,
            f"{shown} does not raise {claim.said.error or 'an error'}",
            truth.real,
            "remove the remark, or correct the line",
        )
    else:
        does = "print" if probe.prints else "give"
        name = f"`{claim.said.name}`" if claim.said.name else shown
        does = "be" if claim.said.name else does
        word = "is" if claim.said.name else f"{does}s"
        message = f"{name} is not `{said}`" if claim.said.name else f"{shown} does not {does} `{said}`"
        yield by.drift(
            span,
            message,
            f"it {word} `{truth.real}`" if truth.real else f"it {word} nothing",
            _cure(claim, truth),
            form=truth.agreement == "form",
        )


def _cure(claim: Claim, truth: Truth) -> str:
    if not truth.real or len(truth.real) >= 80:
        return "correct the claim"
    of_one = isinstance(claim.said.shown, Number) and re.fullmatch(r"tensor\(\[*[^\[\],]*\]*\)", truth.real)
    return f"write `# {truth.real}`" + (", or take its number with `.item()`" if of_one else "")
