"""How a snippet ended: names it lacks, exceptions, time, warnings. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterator

from questions.diagnostics import Finding, Span
from questions.snippets.collecting import Snippet
from questions.snippets.marking import LENT, Marking
from questions.snippets.names import IMPORTS, bound_names, imports_something
from questions.snippets.needs import needs_of
from questions.snippets.planning import Failure
from questions.snippets.truths import one_line

_NO_CUDA = re.compile(r"CUDA is not available|no CUDA|CUDA initialization|NVIDIA driver", re.IGNORECASE)
_TRIGGERED = re.compile(r"\s*\(Triggered internally at [^)]*\)")
_DEPRECATED = ("DeprecationWarning", "FutureWarning", "PendingDeprecationWarning")


def not_python(by: Marking, error: SyntaxError) -> Finding:
    """A program that Python cannot read."""
    line = min(error.lineno or 1, len(by.snippet.text.split("\n")))
    old = re.search(r"^\s*print\s+[^(=\s]", by.snippet.text, re.MULTILINE)
    return Finding(
        "P106",
        "error",
        "this program is not Python",
        by.span(line),
        label=error.msg or "",
        note="it is written for Python 2" if old else "",
        help="correct it, or give its fence another language: `text` for what is only shown",
    )


def lacks(by: Marking) -> Iterator[Finding]:
    """Names the program takes from elsewhere, where running it behind that helped."""
    if by.snippet.proved:
        return
    if by.attempt.imports:
        lacking = sorted(by.attempt.imports, key=lambda name: _first_use(by.snippet, name))
        words = ", ".join(f"`{name}`" for name in lacking)
        yield Finding(
            "P104",
            "warning",
            f"{words} {'is' if len(lacking) == 1 else 'are'} used and not imported",
            by.span(_first_use(by.snippet, lacking[0]), lacking[0]),
            label="NameError, as the program stands",
            note="what it claims was checked with the import",
            help=f"write `{'`, `'.join(IMPORTS[name] for name in lacking)}` at its top",
        )
    names = [name for name in by.attempt.borrowed if re.search(rf"\b{re.escape(name)}\b", by.snippet.program)]
    if names:
        binders = [one for one in by.attempt.earlier if bound_names(by.snippets[one].program) & set(names)]
        lines = ", ".join(str(by.snippets[one].first) for one in binders)
        words = ", ".join(f"`{name}`" for name in names)
        yield Finding(
            "P104",
            "note",
            f"the program goes on from an earlier one: it takes {words} from line {lines}",
            by.span(_first_use(by.snippet, names[0]), names[0]),
            note="" if by.attempt.near else LENT,
            help="nothing, if it is read in that order; otherwise repeat what it needs",
        )


def _first_use(snippet: Snippet, name: str) -> int:
    pattern = re.compile(rf"(?<![\w.]){re.escape(name)}\b(?!\s*=[^=])")
    lines = snippet.program.split("\n")
    return next((at for at, line in enumerate(lines, 1) if pattern.search(line.partition("#")[0])), 1)


def ending(by: Marking) -> Iterator[Finding]:
    """Why the program did not come to its end."""
    ran, failure = by.ran, by.ran.failure
    first = next((at for at, line in enumerate(by.snippet.program.split("\n"), 1) if line.strip()), 1)
    if ran.told and failure is None:
        return
    lines = failure.lines if failure is not None else ()
    span = by.span(lines[-1] if lines else first)
    needed = needs_of(failure, ran.status, by.snippet.program)
    if needed:
        said = f"{failure.kind}: {one_line(failure.text)}" if failure is not None else ""
        yield Finding(
            "P107",
            "note",
            f"this program cannot be run here: it needs {needed}",
            span,
            note=said or ran.said.splitlines()[-1] if said or ran.said else "",
            help="what stands above this line was run; what stands below it was not",
        )
    elif (failure is not None and failure.kind == "TimeUp") or ran.status == "time":
        yield Finding(
            "P105",
            "warning",
            "this program runs out of time",
            span,
            label="still here after 9 s" if lines else "",
            help="make it smaller, or write `no-run` behind the language of its fence",
        )
    elif failure is not None:
        yield from _failed(by, failure, span)
    else:
        yield _silent(by, first)


def _failed(by: Marking, failure: Failure, span: Span) -> Iterator[Finding]:
    if by.snippet.proved or re.search(rf"\b{failure.kind}\b", by.snippet.around):
        return  # the proof or the text around it speaks for it: it is shown in order to fail
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
        note=LENT if by.lent else f"called from line {outer}" if outer and outer != span.line else "",
        help="correct it; where it is meant to fail, say so on the line: `# RuntimeError`",
    )


def _unbound(by: Marking, failure: Failure, span: Span) -> Finding:
    whole = isinstance(by.snippet.tree, SyntaxError) or imports_something(by.snippet.tree)
    line = by.source.line(span.line)
    where = re.search(rf"(?<![\w.]){re.escape(failure.name)}\b", line)
    if where is not None:
        span = Span(span.line, where.start() + 1, span.line, where.end() + 1)
    return Finding(
        "P104",
        "error" if whole else "warning",
        f"the name `{failure.name}` is never bound",
        span,
        label="NameError",
        note="neither this program nor an earlier one of the document binds it",
        help=f"bind `{failure.name}` before this line",
    )


def _silent(by: Marking, first: int) -> Finding:
    """The program ended in a way that left it no time to tell: os._exit, a crash, endless output."""
    said = by.ran.said.splitlines()[-1] if by.ran.said else f"the sandbox says: {by.ran.status}"
    return Finding(
        "P101",
        "error",
        "this program ends before it is through",
        by.span(first),
        note=said,
        help="run it by itself and see where it stops",
    )


def warned_of(by: Marking) -> Iterator[Finding]:
    """What the libraries warned of while it ran."""
    told: set[tuple[int, str]] = set()
    for warned in by.ran.warned:
        text = one_line(_TRIGGERED.sub("", warned.text))
        old = warned.kind in _DEPRECATED or "deprecated" in text.lower()
        key = (warned.line, text)
        if key in told or _NO_CUDA.search(text) or (warned.kind in _DEPRECATED and not warned.own):
            continue
        told.add(key)
        yield Finding(
            "P103" if old else "P109",
            "warning" if old else "note",
            "this uses what is deprecated" if old else "this warns when it runs",
            by.span(warned.line),
            label=warned.kind,
            note=text,
            help="write what the warning names instead"
            if old
            else "see whether the document should say so, or avoid it",
        )
