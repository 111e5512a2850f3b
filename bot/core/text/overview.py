"""The admins' overview: what needs attention, with the cure and the one next action."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Literal, NamedTuple, assert_never

from bot.core.text.doctor import check_words
from bot.core.text.words import (
    countdown_words,
    day_words,
    joined,
    moment_markdown,
    percent,
    plural,
    sentence,
    wait_words,
)
from service.wire import (
    BankCheck,
    ClockCheck,
    DatabaseCheck,
    MessagesCheck,
    NoScheduleCheck,
    OpenRound,
    Overview,
    PlannedQuestion,
    QuestionsCheck,
    SandboxCheck,
    ScheduleView,
    SchemaCheck,
    SlotsCheck,
    TroubleCheck,
    WorkspaceCheck,
)

FEW = 10
"""Questions left at which a schedule runs low."""


class Attention(NamedTuple):
    """Something that needs an admin. `cure` is Markdown."""

    kind: Literal["failed", "waits"]
    title: str
    cure: str
    action: str
    path: str
    """Page below the admin pages where the action is."""


def attention(found: Overview) -> tuple[Attention, ...]:
    """Returns what needs an admin, failures first."""
    return (*(_failed(check) for check in found.failed), *_waiting(found))


def summary(needs: tuple[Attention, ...]) -> str:
    """Says at a glance whether anything needs the reader."""
    if not needs:
        return "Everything works, and nothing is waiting for you."
    return f"{plural(len(needs), 'thing needs', 'things need')} you."


def _failed(check: WorkspaceCheck) -> Attention:
    words = check_words(check)
    title, action, path = sentence(words.found), "See what happened", "/operations"
    match check:
        case QuestionsCheck(channel=channel, left=left):
            title = f"#{channel} has {plural(left, 'new question')} left."
            action, path = "Import questions", "/bank/import"
        case BankCheck():
            title, action, path = "The bank has nothing to ask.", "Import questions", "/bank/import"
        case SlotsCheck(channel=channel, schedule=schedule):
            title = f"The schedule of #{channel} has no date within a year."
            action, path = "Change the schedule", f"/schedules/{schedule}"
        case NoScheduleCheck():
            title, action, path = "There is no schedule, so nothing is posted.", "Add a schedule", "/schedules/new"
        case MessagesCheck() | TroubleCheck():
            pass
        case SandboxCheck() | DatabaseCheck() | SchemaCheck() | ClockCheck():
            title = f"{sentence(words.name)[:-1]}: {sentence(words.found)}"
        case _ as never:
            assert_never(never)
    return Attention("failed", title, words.fix, action, path)


def _waiting(found: Overview) -> Iterator[Attention]:
    if found.reports:
        title = f"{plural(found.reports, 'report waits', 'reports wait')} for you."
        cure = "Members say that a question is wrong. They are notified of your decision."
        yield Attention("waits", title, cure, "Review", "/review#reports")
    if found.suggestions:
        title = f"{plural(found.suggestions, 'suggested question waits', 'suggested questions wait')}."
        cure = "Accept, edit or decline. Its author is credited."
        yield Attention("waits", title, cure, "Review", "/review#suggestions")
    if found.answers:
        title = f"{plural(found.answers, 'open answer waits', 'open answers wait')} for a credit."
        cure = "Nobody confirmed how much of it is right, so it has no points yet."
        yield Attention("waits", title, cure, "Give credit", "/review#answers")
    if found.generated:
        title = f"{plural(found.generated, 'generated question waits', 'generated questions wait')} for approval."
        cure = "They were made from a document's own sentences, and are not asked until you approve them."
        yield Attention("waits", title, cure, "Look at them", "/bank?state=waiting")


def question_words(question: PlannedQuestion) -> str:
    """Describes a question in a few words, without its text."""
    return joined(question.topic, question.level or "", question.kind)


def closes(one: OpenRound, now: datetime) -> str:
    """Says how long a round is still open."""
    return f"Closes in {countdown_words(one.closes_at - now)}" if one.closes_at > now else "Closes now"


def answered(one: OpenRound, found: Overview) -> str:
    """Says how many answered, of those who usually take part."""
    if found.members <= one.answers:
        return f"{plural(one.answers, 'member')} answered"
    return f"{one.answers} of {found.members} active members answered"


def next_words(view: ScheduleView, now: datetime) -> str:
    """Says when a schedule posts next. Markdown."""
    if view.paused:
        return "Paused"
    if not view.next:
        return "No further date"
    return f"{moment_markdown(view.next[0], view.spec.zone)}, {wait_words(now, view.next[0])}"


def left_words(found: Overview, schedule: int) -> tuple[str, bool]:
    """Says how long a schedule's questions last, and whether that is little."""
    left = next((one.left for one in found.low if one.schedule == schedule), 0)
    return f"{plural(left, 'new question')} left", left < FEW


def week(found: Overview) -> str:
    """Names the last complete week."""
    digest = found.digest.digest
    return f"{day_words(digest.first)} to {day_words(digest.last)}"


def week_numbers(found: Overview) -> tuple[tuple[str, str], ...]:
    """Returns the figures of the last week with what they count."""
    digest = found.digest.digest
    change = digest.members - digest.members_before
    before = "as the week before" if not change else f"{abs(change)} {'more' if change > 0 else 'fewer'} than before"
    return (
        (f"{digest.members:,}", f"members answered, {before}"),
        (f"{digest.answers:,}", "answers"),
        ("–" if digest.right is None else percent(digest.right), "right"),
        (f"{digest.rounds:,}", "question closed" if digest.rounds == 1 else "questions closed"),
    )


def weakest(found: Overview) -> str:
    """Names the weakest topics of the last weeks."""
    topics = found.digest.digest.weakest
    return ", ".join(f"{one.topic} ({percent(one.right)} right)" for one in topics)


def hardest(found: Overview) -> str:
    """Says how the hardest question of the week was answered."""
    one = found.digest.digest.hardest
    return f"{percent(one.right)} right of {plural(one.answers, 'answer')}" if one else ""
