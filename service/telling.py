"""Imports as plain text, for a terminal: what one does to each question, what is asked twice, the record of a bank."""

from __future__ import annotations

from collections.abc import Iterator

from service.wire import BankLog, ImportChange, ImportView, Twin


def import_text(view: ImportView, dry_run: bool) -> str:
    """What an import did or, with `dry_run`, question by question what it would do."""
    return "\n".join(_import_lines(view, dry_run))


def _import_lines(view: ImportView, dry_run: bool) -> Iterator[str]:
    if view.errors:
        yield f"  {view.name}: kept out"
        yield from (f"    {line}" for line in view.findings.splitlines() if line.startswith("error"))
        return
    yield f"  {view.name}: {_counts(view)}{'; nothing was written' if dry_run else ''}"
    if view.generated:
        wait = f", {view.waiting} of them waiting for `dailygrad bank approve`" if view.waiting else ""
        yield f"    {view.generated} choices made of its own sentences{wait}"
    if view.for_gpu:
        yield f"    {view.for_gpu} judged on a GPU, which no sandbox has: not asked before one does"
    if dry_run:
        yield from (f"    {_change(change)}" for change in view.changes)
    if dry_run and view.twins:
        yield f"    asked twice, with the likeness (1 is the very same, {view.near_from:.2f} or more is near):"
        yield from (f"      {_twin(twin)}" for twin in view.twins)
    if dry_run and view.findings:
        yield from (f"    {line}".rstrip() for line in view.findings.splitlines())


def undone_text(view: ImportView) -> str:
    """What an undo did, question by question."""
    head = f"  {view.name}: {view.changed} changed back, {view.retired} retired, {view.returned} back again"
    return "\n".join((head, *(f"    {_change(change)}" for change in view.changes)))


def log_text(log: BankLog) -> str:
    """The imports of a bank, a line each, the newest first."""
    lines = [f"  {log.name}: {len(log.imports)} {'import' if len(log.imports) == 1 else 'imports'}"]
    for entry in log.imports:
        what = f"undo of {entry.undoes}" if entry.undoes else entry.document or "several documents"
        counts = f"{entry.added} new, {entry.changed} changed, {entry.unchanged} unchanged, {entry.retired} retired"
        back = f", {entry.returned} back again" if entry.returned else ""
        lines.append(f"  {entry.number:>4}  {entry.at:%Y-%m-%d %H:%M} UTC  {entry.digest}  {what}: {counts}{back}")
    return "\n".join(lines)


def _counts(view: ImportView) -> str:
    said = f"{view.added} new, {view.changed} changed, {view.unchanged} unchanged, {view.unanswered} unanswered"
    rest = (
        (view.moved, "moved"),
        (view.retired, "retired"),
        (view.returned, "back again"),
        (view.exact, "exact duplicate" if view.exact == 1 else "exact duplicates"),
        (view.near, "near duplicate" if view.near == 1 else "near duplicates"),
    )
    return ", ".join((said, *(f"{count} {what}" for count, what in rest if count)))


def _change(change: ImportChange) -> str:
    line = f"line {change.line}: " if change.line else ""
    fields = f" ({', '.join(change.fields)})" if change.fields else ""
    made = f", which the document makes {change.made} now" if change.made else ""
    return f"{change.what:<8}  {line}{change.id}{made}{fields}: {change.prompt}"


def _twin(twin: Twin) -> str:
    other = f"{twin.other} of bank {twin.bank}" if twin.bank else twin.other
    return f"{twin.score:.2f}  line {twin.line}: {twin.id} and {other}"
