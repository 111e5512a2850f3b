"""Reports findings and readings as text with line and caret, JSON or GitHub workflow commands."""

from __future__ import annotations

import dataclasses
import json
import re
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING, Literal, get_args

from rich.cells import cell_len
from rich.text import Text

from questions.passages import main_passages
from questions.source import SEVERITIES

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from questions.passages import Passage
    from questions.reader import Reading
    from questions.source import Finding, Source


Format = Literal["text", "json", "github"]

FORMATS: tuple[Format, ...] = get_args(Format)

_STYLES = {"error": "bold red", "warning": "bold yellow", "note": "bold cyan"}
_FRAME = "blue"
_WIDTH = 100
"""Maximum length of a shown line; longer ones are cut around the marked part."""
_BEFORE = 30
"""Columns of a long line that are shown before its caret."""


def finding_text(finding: Finding, source: Source) -> Text:
    """Returns a finding in the style of a compiler message; `.plain` is the same without colors."""
    span = finding.span
    gutter = " " * len(str(span.line))
    text = Text()
    text.append(f"{finding.severity}[{finding.code}]", _STYLES[finding.severity])
    text.append(f": {finding.message}\n", "bold")
    text.append(f"{gutter}--> ", _FRAME)
    text.append(f"{source.name}:{span.line}:{finding.columns(source.line(span.line))[0] + 1}\n")
    line, before, marked = _shown(source.line(span.line), finding)
    if line.strip():
        text.append(f"{gutter} |\n{span.line} | ", _FRAME)
        text.append(f"{line}\n")
        text.append(f"{gutter} | ", _FRAME)
        text.append(f"{before}{marked} {finding.label}".rstrip() + "\n", _STYLES[finding.severity])
    for word, detail in (("note", finding.note), ("help", finding.help)):
        if detail:
            text.append(f"{gutter} = ", _FRAME)
            text.append(f"{word}: ", "bold")
            text.append(f"{detail}\n")
    return text


def _shown(raw: str, finding: Finding) -> tuple[str, str, str]:
    """Returns the shown line, the text before the carets, and the carets, with terminal widths."""
    start, end = finding.columns(raw)
    left = max(0, start - _BEFORE) if cell_len(raw) > _WIDTH else 0
    right = min(len(raw), left + _WIDTH)
    head, tail = ("…" if left else ""), ("…" if right < len(raw) else "")
    before = head + _visible(raw[left:start])
    marked = _visible(raw[start : max(min(end, right), start + 1)])
    line = head + _visible(raw[left:right]) + tail
    return line, " " * cell_len(before), "^" * max(cell_len(marked), 1)


def _visible(text: str) -> str:
    """Returns the text without tabs and without control characters that move the cursor."""
    wide = text.expandtabs(4)
    if wide.isprintable():
        return wide  # as nearly every line is
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in wide)


def missing_path(path: Path) -> str:
    """Says that a path does not exist, and what to pass in its place."""
    return f"there is no {path}: pass a document or a folder"


def unreadable_path(path: Path, error: OSError) -> str:
    """Says why a path cannot be read, and what to do."""
    if isinstance(error, FileNotFoundError):
        return missing_path(path)
    return (
        f"{path} cannot be read: {error.strerror or error}; pass another document or folder, or change its permissions"
    )


def no_documents(path: Path) -> str:
    """Says that a folder has no document in it."""
    return f"there is no document in {path}: pass a file, or a folder with documents"


def summary(reading: Reading) -> str:
    """Returns a summary such as `12 questions, 1 skipped: line 88`."""
    skipped = sorted({finding.span.line for finding in reading.findings if finding.skipped})
    total = count_words(len(reading.bank.questions), "question")
    if skipped:
        total += f", {len(skipped)} skipped: {_lines(skipped)}"
    return total


def _lines(numbers: Sequence[int]) -> str:
    return f"{'line' if len(numbers) == 1 else 'lines'} {', '.join(map(str, numbers))}"


def count_words(number: int, word: str) -> str:
    """Formats a count, such as `1 question` or `2 questions`."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def unused_text(passages: Sequence[Passage]) -> str:
    """Names what belongs to no question in one line, such as `lines 1–12 ("Introduction"), 80–95 ("License") and 3 more
    parts`; empty if there is nothing but structure."""
    shown, more = main_passages(passages)
    if not shown:
        return ""
    parts = [f'{_range(one)} ("{_visible(one.title)}")' for one in shown]
    parts += [count_words(more, "more part")] if more else []
    word = "line" if len(shown) == 1 and shown[0].first == shown[0].last else "lines"
    return f"{word} {' and '.join([', '.join(parts[:-1]), parts[-1]] if len(parts) > 1 else parts)}"


def _range(passage: Passage) -> str:
    return str(passage.first) if passage.first == passage.last else f"{passage.first}–{passage.last}"


def reading_text(reading: Reading, *, verbose: bool = False) -> Text:
    """Returns a document's findings and a summary; with `verbose` also every passage that belongs to no question."""
    text = findings_text(reading)
    if reading.findings:
        text.append("\n")
    return text.append_text(summary_text(reading, verbose=verbose)).append("\n")


def findings_text(reading: Reading) -> Text:
    """Returns a document's findings alone; empty if it has none."""
    return Text("\n").join(finding_text(finding, reading.source) for finding in reading.findings)


def summary_text(reading: Reading, *, verbose: bool = False) -> Text:
    """Returns how many questions a document has, how it was read, and what belongs to no question."""
    text = Text()
    text.append(f"{reading.source.name}: ", "bold")
    text.append(summary(reading))
    if reading.bank.questions:
        text.append(f" · {reading.answered} answered, {reading.unanswered} unanswered")
    if reading.bank.dialects:
        text.append(f" · {', '.join(reading.bank.dialects)}")
    for line in reading.explanation:
        text.append("\n = ", _FRAME).append("read: ", "bold").append(line)
    unused = unused_text(reading.unused) if reading.bank.questions else ""
    if unused:
        text.append("\n = ", _FRAME).append("in no question: ", "bold").append(unused)
        if reading.mostly_unused:
            text.append(f", {reading.unused_share:.0%} of the document")
            if reading.takes_recipe:
                text.append("\n = ", _FRAME).append("help: ", "bold")
                text.append("if questions are missing, state how they are written: --question '### {n}. {prompt}'")
    for passage in reading.unused if verbose else ():
        text.append("\n   ").append(f"{_range(passage):>9}  {_visible(passage.title)}")
    return text


def total_text(readings: Sequence[Reading]) -> Text:
    """Returns the totals of all documents."""
    answered = sum(reading.answered for reading in readings)
    unanswered = sum(reading.unanswered for reading in readings)
    text = Text("\n")
    text.append("total: ", "bold")
    text.append(f"{count_words(len(readings), 'document')}, {answered} answered, {unanswered} unanswered")
    for severity in SEVERITIES:
        number = sum(f.severity == severity for reading in readings for f in reading.findings)
        if number:
            text.append(", ").append(count_words(number, severity), _STYLES[severity])
    return text.append("\n")


def readings_json(readings: Sequence[Reading]) -> str:
    """Returns the content of `reading_text` as JSON."""
    return json.dumps(
        {
            "documents": [_document(reading) for reading in readings],
            "answered": sum(reading.answered for reading in readings),
            "unanswered": sum(reading.unanswered for reading in readings),
        },
        ensure_ascii=False,
        indent=2,
    )


def _document(reading: Reading) -> dict[str, object]:
    return {
        "name": reading.source.name,
        "bank": reading.bank.name,
        "title": reading.bank.title,
        "dialects": list(reading.bank.dialects),
        "explanation": list(reading.explanation),
        "answered": reading.answered,
        "unanswered": reading.unanswered,
        "questions": [
            {
                "id": question.id,
                "kind": question.kind,
                "answered": question.answered,
                "level": question.level,
                "line": question.place.line,
                "end_line": question.place.end_line,
            }
            for question in reading.bank.questions
        ],
        "unused": [
            {"line": one.first, "end_line": one.last, "title": one.title, "minor": one.minor} for one in reading.unused
        ],
        "findings": [dataclasses.asdict(finding) for finding in reading.findings],
    }


def finding_github(finding: Finding, source: Source) -> str:
    """Returns a finding as a workflow command, which GitHub shows next to the line."""
    level = "notice" if finding.severity == "note" else finding.severity
    span = finding.span
    where = {
        "file": source.name,
        "line": span.line,
        "endLine": span.end_line,
        "col": finding.columns(source.line(span.line))[0] + 1,
        "title": finding.code,
    }
    properties = ",".join(f"{key}={_escaped(str(value), ',:')}" for key, value in where.items())
    body = "\n".join(part for part in (finding.message, finding.label, finding.note, finding.help) if part)
    return f"::{level} {properties}::{_escaped(body)}"


def _escaped(text: str, more: str = "") -> str:
    for character in f"%\r\n{more}":
        text = text.replace(character, f"%{ord(character):02X}")
    return text


# Explanations of finding codes: the sections of FINDINGS.md

_HEADING = re.compile(r"^## (?P<codes>[QP]\d{3}(?:, [QP]\d{3})*)(?: .*)?$", re.MULTILINE)

_CODE = re.compile(r"[QP]\d{3}")


@cache
def explanations() -> dict[str, str]:
    """Returns each code's section of FINDINGS.md, as Markdown."""
    text = (resources.files("questions") / "FINDINGS.md").read_text(encoding="utf-8")
    found = list(_HEADING.finditer(text))
    ends = [one.start() for one in found[1:]] + [len(text)]
    return {
        code: text[one.start() : end].strip()
        for one, end in zip(found, ends, strict=True)
        for code in one["codes"].split(", ")
    }


def explain_code(code: str) -> str:
    """Returns the section about a code, in any spelling. Raises KeyError if there is none."""
    found = _CODE.search(code.upper())
    return explanations()[found[0] if found else code]
