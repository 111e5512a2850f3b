"""Words of the web pages for admins: notes of what was done, banks and their questions, and the audit log."""

from __future__ import annotations

from typing import Final, Literal, get_args

from bot.core.cards import Block, Lettered, Options, Text
from bot.core.text.admin import audit_facts as audit_facts
from bot.core.text.admin import audit_time as audit_time
from bot.core.text.admin import generated_words as generated_words
from bot.core.text.admin import import_counts as import_counts
from bot.core.text.admin import import_fields as import_fields
from bot.core.text.admin import mostly_unused as mostly_unused
from bot.core.text.admin import unused_passages as unused_passages
from bot.core.text.item_statistics import CURES, HEADS, figure_lines
from bot.core.text.questions import question_blocks
from bot.core.text.words import percent, plural
from service.wire import (
    BankPage,
    BankQuestion,
    BankView,
    Generated,
    ImportChange,
    ImportView,
    ItemStatistics,
    Kind,
    Level,
    MemberPage,
    QuestionDetails,
    QuestionState,
    Twin,
)

Done = Literal[
    "settled",
    "retired",
    "restored",
    "accepted",
    "declined",
    "saved",
    "credited",
    "edited",
    "imported",
    "approved",
    "set",
    "started",
    "ended",
    "hidden",
    "unhidden",
    "promoted",
    "demoted",
    "added",
    "changed",
    "paused",
    "resumed",
    "skipped",
    "unskipped",
    "removed",
    "posted",
    "begun",
    "planned",
    "stopped",
    "cancelled",
    "captain",
    "ended without result",
    "reviews here",
    "reviews to me",
    "digest on",
    "digest off",
]
"""What was done. An address carries the word, never the sentence, so that no link can put words on a page."""

KEPT_WHILE_DOWN: Final = "The quiz is not responding. What you wrote is still here: press the button again in a minute."
"""Said above a form while the service does not answer."""
DONE: Final[dict[Done, str]] = {
    "settled": "Settled. The author is notified.",
    "retired": "Retired: it is not asked here again.",
    "restored": "Restored: it can be asked again.",
    "accepted": "Accepted. The question is in the bank, and its author is notified.",
    "declined": "Declined. The author is notified, with your reason.",
    "saved": "Saved. This is how it is read now.",
    "credited": "The credit is set. The author is notified.",
    "edited": "Edited. Answers in closed rounds are judged again.",
    "imported": "Imported. These are the bank's questions now.",
    "approved": "Approved: these questions can be asked from now on.",
    "set": "Saved. It applies to future imports.",
    "started": "The season has started. A running one has ended.",
    "ended": "The season has ended.",
    "hidden": "Hidden: this member no longer appears on the boards.",
    "unhidden": "The boards show this member again.",
    "promoted": "This member is an admin now.",
    "demoted": "This member is no longer an admin.",
    "added": "The schedule is added. This is when it posts.",
    "changed": "Saved.",
    "paused": "Paused. Nothing is posted until you resume it, and no streak breaks.",
    "resumed": "Resumed. It posts again on its next date.",
    "skipped": "That day is skipped. No streak breaks.",
    "unskipped": "That day is back on the schedule.",
    "removed": "The schedule is removed. Its rounds and points stay.",
    "posted": "The question is being posted now.",
    "begun": "The sprint is announced in the channel now.",
    "planned": "Planned, and announced in the channel.",
    "stopped": "Stopped. The podium follows in the channel.",
    "cancelled": "Canceled. Its message in the channel says so.",
    "captain": "This member is a captain now, and can pick a team.",
    "ended without result": "Canceled, and announced in the channel.",
    "reviews here": "New reports and suggestions are shown in this channel from now on.",
    "reviews to me": "New reports and suggestions are sent to you privately from now on.",
    "digest on": "The digest is sent every Monday.",
    "digest off": "No digest is sent from now on.",
}


def done_words(done: str) -> str:
    """Returns what to say; empty for a word that is unknown."""
    return {str(name): text for name, text in DONE.items()}.get(done, "")


LONGEST_RECIPE = 2000
"""Longest recipe, characters."""
NO_QUESTION: Final = ("No such question", "Look for it in the bank.")
NOTHING_GIVEN: Final = "Give the document a name, and paste its text or choose a file."
KINDS: Final[tuple[Kind, ...]] = get_args(Kind)
LEVELS: Final[tuple[Level, ...]] = get_args(Level)
STATES: Final[dict[QuestionState, str]] = {
    "asked": "Can be asked",
    "waiting": "Waits for approval",
    "unanswered": "Without an answer",
    "retired": "Retired here",
    "gone": "Removed by its document",
}
GENERATED: Final[dict[Generated, str]] = {
    "use": "Ask them",
    "hold": "Ask them once I approve them",
    "none": "Make none",
}
CHANGES: Final = {"added": "New", "changed": "Changed", "moved": "Moved", "retired": "Removed", "returned": "Back"}


def found_words(found: BankPage) -> str:
    """Says how many questions fit, and which are shown."""
    if not found.total:
        return "No question fits."
    if found.total <= found.size:
        return f"{plural(found.total, 'question')}."
    first = (found.page - 1) * found.size + 1
    return f"{first:,} to {first + len(found.questions) - 1:,} of {plural(found.total, 'question')}."


def pages(found: BankPage | MemberPage) -> tuple[int | None, int | None]:
    """Returns the page before and the page after."""
    last = max(1, -(-found.total // found.size))
    return (found.page - 1 if found.page > 1 else None), (found.page + 1 if found.page < last else None)


def bank_words(view: BankView) -> str:
    """Describes a bank in a few words."""
    parts = [plural(view.questions, "question")]
    parts += [f"{count:,} {what}" for count, what in ((view.unanswered, "without answer"), (view.retired, "retired"),
              (view.waiting, "waiting")) if count]  # fmt: skip
    return ", ".join(parts)


def asked(view: BankQuestion) -> str:
    """Says how often a question was asked."""
    return f"asked {'once' if view.rounds == 1 else plural(view.rounds, 'time')}" if view.rounds else "never asked"


def without_key(view: QuestionDetails) -> tuple[Block, ...]:
    """Returns a question that is being asked, without its key."""
    rows = tuple(Lettered("•", option.text) for option in view.question.options)
    secret = Text("**It is being asked now.** Its key is shown once the round has closed, so that you can answer too.")
    return (*question_blocks(view.question), *((Options(rows),) if rows else ()), secret)


def figures(item: ItemStatistics) -> tuple[str, ...]:
    """Returns the figures of a question as lines of Markdown."""
    if not item.rounds:
        return ("No round with this version closed yet.",)
    return figure_lines(item)


def finding(item: ItemStatistics) -> tuple[str, str]:
    """Returns what may be wrong with a question, and the cure; empty if nothing stands out."""
    return (HEADS[item.finding], CURES[item.finding]) if item.finding else ("", "")


def change(one: ImportChange) -> str:
    """Describes what an import does to a question."""
    fields = f": {import_fields(one.fields)}" if one.fields else ""
    return f"{CHANGES[one.what]}{fields}"


def twin(one: Twin) -> str:
    """Says where the near duplicate of a question is."""
    where = f"in the bank {one.bank}" if one.bank else "in the same document"
    return f"{percent(one.score)} alike with {one.other} {where}"


def duplicates(view: ImportView) -> str:
    """Says how many near duplicates an import has."""
    found = [plural(view.exact, "exact duplicate")] if view.exact else []
    found += [plural(view.near, "near duplicate")] if view.near else []
    return " and ".join(found)


ACTIONS: Final = (
    ("schedule", "Schedules"),
    ("ask", "Extra questions"),
    ("close-now", "Rounds closed early"),
    ("digest", "Digests"),
    ("bank", "Banks"),
    ("question", "Edits of questions"),
    ("report", "Reports"),
    ("suggestion", "Suggestions"),
    ("answer", "Credits"),
    ("member", "Members"),
    ("season", "Seasons"),
    ("sprint", "Sprints"),
    ("tournament", "Tournaments"),
    ("chat", "Linked chats"),
    ("review", "Where reports go"),
)
"""First words of actions, and what they are called in the filter."""


def awaiting_words(view: ImportView) -> str:
    """Says how many of the generated questions wait for approval; empty if none does."""
    return f" {plural(view.waiting, 'of those waits', 'of those wait')} for your approval." if view.waiting else ""
