"""What admins read of imports: what one would do or did, what is asked twice, the record of a bank, an undo."""

from __future__ import annotations

from bot.core.cards import Block, Card, Code, Small, Table, Text
from bot.core.markup import escape
from bot.core.wording.words import and_list, percent, plural
from service.wire import BankLog, ImportChange, ImportEntry, ImportView, Twin

FEW = 8
"""Questions listed in a chat; who wants all looks at the document."""

_FIELDS = {
    "why": "reason",
    "key_points": "key points",
    "code_blocks": "code",
    "task": "challenge",
    "draw": "family",
}
"""Names of the model that are no words."""


def imported_card(view: ImportView) -> Card:
    """What an import did or would do: counts, the first few questions, duplicates, every finding."""
    if view.errors:
        head = "Nothing was imported"
        said = f"{plural(view.errors, 'error')} in the document, so nothing of it was taken. Mend and try again."
    elif view.applied:
        head, said = "Imported", f"{_counts(view)}."
    else:
        head, said = "Checked, not imported", f"It would be: {_counts(view)}."
    made = (*_made(view), *_for_gpu(view))
    undo = f"`/quiz-admin bank undo {view.name}` takes it back."
    blocks: list[Block] = [Text(f"**{escape(view.name)}:** {said}"), *made, *_changes(view), *_twins(view)]
    blocks += (Code(view.findings, ""),) if view.findings else ()
    blocks += (Small(undo),) if view.applied and view.changes else ()
    return Card(head, f"{head}. {said}", tuple(blocks))


def _made(view: ImportView) -> tuple[Block, ...]:
    if not view.generated or view.errors:
        return ()
    said = (
        f"{plural(view.generated, 'of them is a choice', 'of them are choices')} made of the document's own sentences."
    )
    wait = f" {view.waiting} of those wait for `/quiz-admin bank approve all`." if view.waiting else ""
    return (Text(said + wait),)


def _for_gpu(view: ImportView) -> tuple[Block, ...]:
    if not view.for_gpu or view.errors:
        return ()
    are = plural(view.for_gpu, "of them is", "of them are")
    return (Text(f"{are} judged on a GPU, which no sandbox has: not asked before one does."),)


def undone_card(view: ImportView) -> Card:
    """An import was taken back."""
    said = f"The latest import of **{escape(view.name)}** is taken back: {_counts(view)}."
    more = "What rounds asked stays as it was asked. Undo once more to have the import again."
    return Card("Undone", f"Undone: {_counts(view)}.", (Text(said), *_changes(view), Small(more)))


def log_card(log: BankLog) -> Card:
    """What was imported into a bank, in UTC."""
    rows = tuple(_entry(entry) for entry in log.imports)
    whose = "Everybody's: its operator imports it." if log.shared else "This workspace's own."
    table = Table(("Number", "When (UTC)", "What", "Came to", "Digest"), rows, "", (0,))
    summary = f"{plural(len(rows), 'import')} into {escape(log.name)}."
    return Card(f"Imports of {log.name}", summary, (table, Small(whose)))


def _entry(entry: ImportEntry) -> tuple[str, str, str, str, str]:
    counted = (
        (entry.added, "added"),
        (entry.changed, "changed"),
        (entry.retired, "retired"),
        (entry.returned, "back"),
        (entry.unchanged, "unchanged"),
    )
    came = ", ".join(f"{count} {what}" for count, what in counted if count) or "nothing"
    what = f"undo of {entry.undoes}" if entry.undoes else entry.document or "several documents"
    return str(entry.number), f"{entry.at:%Y-%m-%d %H:%M}", what, came, entry.digest


def _counts(view: ImportView) -> str:
    always = (view.added, "added"), (view.changed, "changed"), (view.unchanged, "unchanged"), (view.retired, "retired")
    often = (view.moved, "moved"), (view.returned, "back again"), (view.unanswered, "without an answer")
    shown = [*always, *((count, what) for count, what in often if count)]
    return ", ".join(f"{count} {what}" for count, what in shown)


def _changes(view: ImportView) -> tuple[Block, ...]:
    # What a first import adds is the whole document: no news to whoever just wrote its name.
    worth = [change for change in view.changes if change.what != "added"] or list(view.changes)
    if not worth or view.errors:
        return ()
    more = "\n- and more" if len(worth) > FEW else ""
    return (Text("\n".join(f"- {_change(change)}" for change in worth[:FEW]) + more),)


def _change(change: ImportChange) -> str:
    where = f", line {change.line}" if change.line else ""
    fields = f" ({and_list([_FIELDS.get(name, name) for name in change.fields])})" if change.fields else ""
    made = f"; the document makes it `{change.made}` now" if change.made else ""
    return f"{change.what}{fields}: `{change.id}`{where}{made}"


def _twins(view: ImportView) -> tuple[Block, ...]:
    if not view.twins:
        return ()
    found = [plural(view.exact, "exact duplicate")] if view.exact else []
    found += [f"{plural(view.near, 'near duplicate')} ({percent(view.near_from)} alike or more)"] if view.near else []
    lines = "\n".join(f"- {_twin(twin)}" for twin in view.twins[:FEW])
    rest = view.exact + view.near - min(len(view.twins), FEW)
    more = f"\n- and {rest} more" if rest > 0 else ""
    return (Text(f"**{and_list(found)}.** They are taken all the same; retire one of two.\n\n{lines}{more}"),)


def _twin(twin: Twin) -> str:
    where = f" of bank {escape(twin.bank)}" if twin.bank else ""
    return f"{percent(twin.score)}: `{twin.id}`, line {twin.line}, and `{twin.other}`{where}"
