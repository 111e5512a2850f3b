"""Converts the results of a snippet to findings at the lines of the document."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.snippets.claims import Number, read_shown
from questions.snippets.collect import IMPORTS, Example, Snippet, bound_names, imports_something
from questions.snippets.compare import Agreement, ClaimResult, agrees, check_claim, one_line, same_number, same_words
from questions.snippets.plan import Attempt, RaisedException, RunReport, depends_on_machine, missing_requirement
from questions.snippets.statements import Claim, Probe, comments_of
from questions.source import Finding, Severity, Span

if TYPE_CHECKING:
    from questions.source import Source


# Positions and severities of findings about a snippet

BORROWED_NOTE = "it uses a program of another section, so errors are only warnings"
UNSET = re.compile(r"\b(?:new_)?empty(?:_like|_strided)?\(|\bTensor\(\d")
"""Uninitialized memory: no two runs need to agree on it."""


class FindingBuilder:
    """Builds the findings of one snippet."""

    def __init__(self, source: Source, snippets: Sequence[Snippet], at: int, attempt: Attempt, ran: RunReport) -> None:
        self.source = source
        self.snippets = snippets
        self.snippet = snippets[at]
        self.attempt = attempt
        self.ran = ran

    @property
    def lent(self) -> bool:
        """Whether it ran after a program of another section, which it may not be meant for."""
        return bool(self.attempt.earlier) and not self.attempt.near

    def span(self, line: int, wanted: str = "") -> Span:
        """Returns the range of a program line in the document, or of `wanted` on it."""
        number = self.snippet.line_of(line)
        if wanted:
            return self.source.span_of(number, number, wanted)
        # Only the program, without the comment after it.
        beside = next((one for one in comments_of(self.snippet.program) if one.line == line and not one.alone), None)
        code = self.snippet.program.split("\n")[line - 1][: beside.column if beside else None].strip()
        return self.source.span_of(number, number, code) if code else self.source.span(number)

    def claim_span(self, claim: Claim) -> Span:
        """Returns the range of a claim."""
        number = self.snippet.line_of(claim.line)
        indent = self._indent(claim.line)
        first = claim.parsed.text.split("\n")[0]
        start = indent + claim.column + 1
        if self.source.line(number)[start - 1 : start - 1 + len(first)] != first:
            return self.span(claim.line, first)
        return Span(number, start, number, start + len(first))

    def _indent(self, line: int) -> int:
        """Returns the additional indentation of a line in the document."""
        text = self.snippet.text.split("\n")[line - 1]
        return max(
            self.source.line(self.snippet.line_of(line)).find(text.strip()) - (len(text) - len(text.lstrip())), 0
        )

    def drift(self, span: Span, message: str, label: str, cure: str, *, form: bool = False) -> Finding:
        """Returns the finding for a false claim; a warning if only the form differs, or if the snippet may not be at
        fault."""
        severity: Severity = "warning" if form or self.lent else "error"
        note = "the number is right, but it is printed differently" if form else ""
        return Finding("P102", severity, message, span, label=label, note=note, help=cure)


def not_repeatable(span: Span, message: str, note: str) -> Finding:
    """Returns the finding for a claim about random values."""
    return Finding(
        "P108",
        "note",
        message,
        span,
        note=note,
        help="set a seed, such as `torch.manual_seed(0)`, or remove the number",
    )


def short(text: str) -> str:
    """Returns the start of a text."""
    return text if len(text) <= 60 else text[:59] + "…"


# How a snippet ended: missing names, exceptions, timeouts, warnings

_NO_CUDA = re.compile(r"CUDA is not available|no CUDA|CUDA initialization|NVIDIA driver", re.IGNORECASE)
_TRIGGERED = re.compile(r"\s*\(Triggered internally at [^)]*\)")
_DEPRECATED = ("DeprecationWarning", "FutureWarning", "PendingDeprecationWarning")


def not_python(by: FindingBuilder, error: SyntaxError) -> Finding:
    """Returns the finding for a program that Python cannot parse."""
    line = min(error.lineno or 1, len(by.snippet.text.split("\n")))
    old = re.search(r"^\s*print\s+[^(=\s]", by.snippet.text, re.MULTILINE)
    return Finding(
        "P106",
        "error",
        "this program is not valid Python",
        by.span(line),
        label=error.msg or "",
        note="it is written for Python 2" if old else "",
        help="correct it, or give its fence another language, such as `text`",
    )


def missing_names(by: FindingBuilder) -> Iterator[Finding]:
    """Yields findings for names from earlier programs, if running those first helped."""
    if by.snippet.proved:
        return
    if by.attempt.imports:
        lacking = sorted(by.attempt.imports, key=lambda name: _first_use(by.snippet, name))
        words = ", ".join(f"`{name}`" for name in lacking)
        yield Finding(
            "P104",
            "warning",
            f"{words} {'is' if len(lacking) == 1 else 'are'} used but not imported",
            by.span(_first_use(by.snippet, lacking[0]), lacking[0]),
            label="NameError without the import",
            note="its claims were checked with the import",
            help=f"write `{'`, `'.join(IMPORTS[name] for name in lacking)}` at the top",
        )
    names = [name for name in by.attempt.borrowed if re.search(rf"\b{re.escape(name)}\b", by.snippet.program)]
    if names:
        binders = [one for one in by.attempt.earlier if bound_names(by.snippets[one].program) & set(names)]
        lines = ", ".join(str(by.snippets[one].first) for one in binders)
        words = ", ".join(f"`{name}`" for name in names)
        yield Finding(
            "P104",
            "note",
            f"the program continues an earlier one: it uses {words} from line {lines}",
            by.span(_first_use(by.snippet, names[0]), names[0]),
            note="" if by.attempt.near else BORROWED_NOTE,
            help="nothing to do if they are read in order; otherwise repeat what it needs",
        )


def _first_use(snippet: Snippet, name: str) -> int:
    pattern = re.compile(rf"(?<![\w.]){re.escape(name)}\b(?!\s*=[^=])")
    lines = snippet.program.split("\n")
    return next((at for at, line in enumerate(lines, 1) if pattern.search(line.partition("#")[0])), 1)


def end_findings(by: FindingBuilder) -> Iterator[Finding]:
    """Yields findings for a program that did not run to its end."""
    ran, failure = by.ran, by.ran.failure
    first = next((at for at, line in enumerate(by.snippet.program.split("\n"), 1) if line.strip()), 1)
    if ran.reported and failure is None:
        return
    lines = failure.lines if failure is not None else ()
    span = by.span(lines[-1] if lines else first)
    needed = missing_requirement(failure, ran.status, by.snippet.program)
    if needed:
        cause = f"{failure.kind}: {one_line(failure.text)}" if failure is not None else ""
        yield Finding(
            "P107",
            "note",
            f"this program cannot run in the sandbox: it needs {needed}",
            span,
            note=cause or ran.stderr.splitlines()[-1] if cause or ran.stderr else "",
            help="lines above this one ran, lines below did not",
        )
    elif (failure is not None and failure.kind == "TimeLimitExceeded") or ran.status == "time":
        yield Finding(
            "P105",
            "warning",
            "this program exceeds the time limit",
            span,
            label="still running after 9 s" if lines else "",
            help="make it smaller, or write `no-run` after the language of its fence",
        )
    elif failure is not None:
        yield from _failed(by, failure, span)
    else:
        yield _silent(by, first)


def _failed(by: FindingBuilder, failure: RaisedException, span: Span) -> Iterator[Finding]:
    if by.snippet.proved or re.search(rf"\b{failure.kind}\b", by.snippet.around):
        return  # the proof or the surrounding text explains it: it is shown because it fails
    if "SyntaxError" in failure.kinds and not failure.lines:
        yield not_python(by, SyntaxError(failure.text))
        return
    if failure.kind == "NameError" and failure.name:
        yield _unbound(by, failure, span)
        return
    outer = by.snippet.line_of(failure.lines[0]) if len(failure.lines) > 1 else 0
    yield Finding(
        "P101",
        "warning" if by.lent else "error",
        f"this program fails: {failure.kind}: {one_line(failure.text)}".rstrip(": "),
        span,
        label="raised here",
        note=BORROWED_NOTE if by.lent else f"called from line {outer}" if outer and outer != span.line else "",
        help="correct it; if it is meant to fail, add a comment: `# RuntimeError`",
    )


def _unbound(by: FindingBuilder, failure: RaisedException, span: Span) -> Finding:
    whole = isinstance(by.snippet.tree, SyntaxError) or imports_something(by.snippet.tree)
    line = by.source.line(span.line)
    where = re.search(rf"(?<![\w.]){re.escape(failure.name)}\b", line)
    if where is not None:
        span = Span(span.line, where.start() + 1, span.line, where.end() + 1)
    return Finding(
        "P104",
        "error" if whole else "warning",
        f"the name `{failure.name}` is not defined",
        span,
        label="NameError",
        note="neither this program nor an earlier one defines it",
        help=f"define `{failure.name}` before this line",
    )


def _silent(by: FindingBuilder, first: int) -> Finding:
    """Returns the finding for a program that ended without a report: os._exit, a crash, endless output."""
    cause = by.ran.stderr.splitlines()[-1] if by.ran.stderr else f"sandbox status: {by.ran.status}"
    return Finding(
        "P101",
        "error",
        "this program ends early",
        by.span(first),
        note=cause,
        help="run it separately to see where it stops",
    )


def warning_findings(by: FindingBuilder) -> Iterator[Finding]:
    """Yields findings for warnings of libraries."""
    reported: set[tuple[int, str]] = set()
    for warned in by.ran.warnings:
        text = one_line(_TRIGGERED.sub("", warned.text))
        old = warned.kind in _DEPRECATED or "deprecated" in text.lower()
        key = (warned.line, text)
        if key in reported or _NO_CUDA.search(text) or (warned.kind in _DEPRECATED and not warned.own):
            continue
        reported.add(key)
        yield Finding(
            "P103" if old else "P109",
            "warning" if old else "note",
            "this uses a deprecated feature" if old else "this raises a warning",
            by.span(warned.line),
            label=warned.kind,
            note=text,
            help="use the replacement that the warning names"
            if old
            else "mention the warning in the document, or avoid it",
        )


# The output of a whole snippet, against its output block or the answers of its session


def session_findings(by: FindingBuilder, others: Sequence[RunReport]) -> Iterator[tuple[bool, list[Finding]]]:
    """Yields the findings about the answers of a `>>>` session."""
    for number, one in enumerate(by.snippet.session):
        agreement = answer_holds(one, by.ran, number)
        seen = (by.ran.executions or {}).get(number)
        if not seen or agreement in ("same", "undecided"):
            yield from [(True, [])] if agreement == "same" else []
            continue
        span = by.span(one.line + one.source.rstrip("\n").count("\n") + 1)
        real = f"{seen[0].raised.kind}: {seen[0].raised.text}" if seen[0].raised else seen[0].printed
        again = [(other.executions or {}).get(number) for other in others]
        if UNSET.search(by.snippet.text) or any(one and one[0].printed != seen[0].printed for one in again):
            note = f"actual result: `{one_line(real)}`"
            yield False, [not_repeatable(span, "the result of this prompt is not reproducible", note)]
        elif not depends_on_machine(one.source, one.want):
            message = f"`>>> {short(one_line(one.source))}` has a different result"
            label = f"actual result: `{one_line(real)}`" if real.strip() else "no result"
            yield False, [by.drift(span, message, label, "copy the actual result", form=agreement == "form")]


def answer_holds(one: Example, ran: RunReport, number: int) -> Agreement:
    """Returns whether a prompt gives the answer that the document shows."""
    seen = (ran.executions or {}).get(number)
    if not seen or not one.want.strip():
        return "undecided"
    raised, printed = seen[0].raised, seen[0].printed
    if one.fails:
        return "same" if raised is not None and one.error in ("", *raised.kinds) else "differs"
    if raised is not None:
        return "undecided"  # another finding reports the failure
    if same_text(one.want, printed):
        return "same"
    wanted, real = read_shown(one.want), read_shown(printed)
    if wanted is not None and real is not None:
        return "same" if agrees(wanted, real) else "form" if same_number(wanted, real) else "differs"
    return "form" if one.assigns and not printed.strip() else "differs"


def same_text(wanted: str, printed: str) -> bool:
    """Returns whether a text is what was printed; an ellipsis matches anything."""
    if "..." in wanted:
        parts = [re.escape(" ".join(part.split())) for part in wanted.split("...")]
        return bool(re.fullmatch(".*".join(parts), " ".join(printed.split())))
    return same_words(wanted, printed)


def output_findings(by: FindingBuilder, others: Sequence[RunReport]) -> Iterator[tuple[bool, list[Finding]]]:
    """Yields the findings about the output block after the program."""
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
                    "the output of this program is not reproducible",
                    "its numbers are random or uninitialized",
                )
            ],
        )
    elif not depends_on_machine(by.snippet.program, shown.text):
        label = f"it prints `{one_line(real)}`" if real else "no more output"
        yield (
            False,
            [
                by.drift(
                    span,
                    f"the program on line {by.snippet.first} prints something else",
                    label,
                    "copy the actual output",
                )
            ],
        )


def _first_difference(wanted: list[str], printed: str) -> tuple[int, str]:
    """Returns the index of the first claimed line that was not printed, and the line printed instead."""
    lines = iter([line for line in printed.split("\n") if line.strip()])
    last = 0
    for number, line in enumerate(wanted):
        if line.strip():
            real = next(lines, "")
            if not same_text(line, real):
                return number, real
            last = number
    return last, next(lines, "")


# All findings about a snippet

_DRAWS = re.compile(r"rand|multinomial|bernoulli|normal_?\(|uniform_?\(|[Dd]ropout|shuffle|choice\(|sample\(|init\.")


def snippet_findings(
    source: Source,
    snippets: Sequence[Snippet],
    at: int,
    attempt: Attempt,
    ran: RunReport,
    others: Sequence[RunReport] = (),
) -> tuple[list[Finding], int]:
    """Returns the findings about a snippet and the number of claims that hold. `others` are runs with other seeds."""
    by = FindingBuilder(source, snippets, at, attempt, ran)
    if isinstance(by.snippet.tree, SyntaxError):
        return [not_python(by, by.snippet.tree)], 0
    findings = [*missing_names(by), *end_findings(by), *warning_findings(by)]
    held = 0
    if ran.reported:
        for one, truth, random in _claim_results(by, others):
            held += truth.agreement == "same"
            findings += _claim_findings(by, *one, truth, random=random)
        for holds, found in [*session_findings(by, others), *output_findings(by, others)]:
            held += holds
            findings += found
    return _random_once(sorted(findings, key=lambda finding: (finding.span, finding.code))), held


def _random_once(findings: list[Finding]) -> list[Finding]:
    """Returns the findings, keeping only one about randomness per program."""
    drawn = [finding for finding in findings if finding.code == "P108"]
    if len(drawn) < 2:
        return findings
    lines = ", ".join(str(finding.span.line) for finding in drawn[1:20])
    first = replace(drawn[0], note=f"the same is true of lines {lines}")
    return [first if finding is drawn[0] else finding for finding in findings if finding not in drawn[1:]]


def draws_numbers(snippet: Snippet) -> bool:
    """Returns whether a program appears to draw random numbers, so that two runs may agree by chance."""
    return bool(_DRAWS.search(snippet.text))


def may_be_random(snippets: Sequence[Snippet], at: int, ran: RunReport) -> bool:
    """Returns whether a claim differs, so that a run with another seed has to decide whether it is random."""
    snippet = snippets[at]
    if not ran.reported or ran.executions is None:
        return False
    for number, probe in enumerate(snippet.probes):
        for claim in probe.claims:
            if check_claim(claim.parsed, probe, ran.executions.get(number, ())).agreement in ("differs", "form"):
                return True
    if any(answer_holds(one, ran, number) in ("differs", "form") for number, one in enumerate(snippet.session)):
        return True
    return snippet.output is not None and not same_words(snippet.output.text, ran.printed)


def _claim_results(
    by: FindingBuilder, others: Sequence[RunReport]
) -> Iterator[tuple[tuple[Probe, Claim], ClaimResult, bool]]:
    """Yields each claim with its result, and whether the result is random."""
    for number, probe in enumerate(by.snippet.probes):
        for claim in probe.claims:
            truth = check_claim(claim.parsed, probe, (by.ran.executions or {}).get(number, ()))
            again = [
                check_claim(claim.parsed, probe, (other.executions or {}).get(number, ()))
                for other in others
                if other.reported
            ]
            unset = bool(UNSET.search(by.snippet.text)) and claim.parsed.kind == "value" and bool(truth.real)
            yield (probe, claim), truth, unset or any(other.real != truth.real for other in again)


def _claim_findings(
    by: FindingBuilder, probe: Probe, claim: Claim, truth: ClaimResult, *, random: bool
) -> Iterator[Finding]:
    if truth.agreement not in ("differs", "form"):
        return
    span = by.claim_span(claim)
    claimed = one_line(claim.parsed.text)
    shown = f"`{short(probe.shown)}`"
    if random:
        yield not_repeatable(span, f"the result of {shown} is not reproducible", f"actual value: `{truth.real}`")
    elif depends_on_machine(probe.shown, claim.parsed.text):
        yield Finding(
            "P107",
            "note",
            f"cannot check that {shown} gives `{claimed}`: it depends on the machine",
            span,
            note=f"actual value: `{truth.real}`",
        )
    elif claim.parsed.kind == "raises":
        yield by.drift(
            span,
            f"{shown} does not raise {claim.parsed.error or 'an error'}",
            truth.real,
            "correct the comment or the line",
        )
    else:
        does = "print" if probe.prints else "give"
        name = f"`{claim.parsed.name}`" if claim.parsed.name else shown
        does = "be" if claim.parsed.name else does
        word = "is" if claim.parsed.name else f"{does}s"
        message = f"{name} is not `{claimed}`" if claim.parsed.name else f"{shown} does not {does} `{claimed}`"
        yield by.drift(
            span,
            message,
            f"it {word} `{truth.real}`" if truth.real else f"it {word} nothing",
            _cure(claim, truth),
            form=truth.agreement == "form",
        )


def _cure(claim: Claim, truth: ClaimResult) -> str:
    if not truth.real or len(truth.real) >= 80:
        return "correct the claim"
    of_one = isinstance(claim.parsed.shown, Number) and re.fullmatch(r"tensor\(\[*[^\[\],]*\]*\)", truth.real)
    return f"write `# {truth.real}`" + (", or take its number with `.item()`" if of_one else "")
