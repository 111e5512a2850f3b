"""What admins read: schedules, rounds, seasons, banks, reports, the audit, the doctor."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date, datetime

from bot.core.actions import Settle, encode
from bot.core.cards import Block, Button, Card, Small, Table, Text
from bot.core.markup import escape
from bot.core.wording.asking import about, question_blocks
from bot.core.wording.words import (
    and_list,
    chat_words,
    day_words,
    in_brief,
    instant_words,
    minutes_words,
    plural,
    weekdays_words,
)
from service.wire import (
    AuditView,
    BankView,
    Check,
    Generated,
    LowView,
    ReportView,
    RoundView,
    ScheduleSpec,
    ScheduleView,
    SeasonView,
)


def plan_words(spec: ScheduleSpec) -> str:
    """A schedule in one sentence. Markdown."""
    parts = [
        f"{spec.at:%H:%M} ({spec.zone}), {weekdays_words(spec.weekdays)}, open for {minutes_words(spec.open_minutes)}",
        _only("level", spec.levels),
        _only("kind", spec.kinds),
        _only("topic", [escape(topic) for topic in spec.topics]),
        f"public holidays of {escape(spec.country)} kept" if spec.country else "",
        "with a bonus for speed" if spec.speed_bonus else "",
    ]
    return "; ".join(part for part in parts if part)


def _only(what: str, wanted: Sequence[str]) -> str:
    return f"only {what} {and_list(wanted, 'or')}" if wanted else ""


def _next_words(view: ScheduleView, most: int = 3) -> str:
    if view.paused:
        return "paused"
    return "; ".join(instant_words(slot, view.spec.zone) for slot in view.next[:most]) or "nothing to come"


def schedule_card(view: ScheduleView, head: str) -> Card:
    """One schedule after something was done to it."""
    where = escape(view.channel_name or view.channel)
    blocks = (
        Text(f"Schedule {view.id} in {where}: {plan_words(view.spec)}."),
        *_shared(view),
        Text(f"Next: {_next_words(view)}."),
        Small(
            f"A question may come again after {plural(view.spec.memory_days, 'day')}; a missed one is posted up to "
            f"{minutes_words(view.spec.catch_up_minutes)} late."
        ),
    )
    return Card(head, f"{head}: schedule {view.id}. Next: {_next_words(view, 1)}.", blocks)


def _shared(view: ScheduleView) -> tuple[Block, ...]:
    if not view.shared:
        return ()
    further = and_list([f"{escape(one.name)} ({chat_words(one.platform)})" for one in view.shared])
    return (Text(f"It posts to {further} too; answers from everywhere count in one round."),)


def _channels(view: ScheduleView) -> str:
    return ", ".join([view.channel_name or view.channel, *(one.name for one in view.shared)])


def schedules_card(views: tuple[ScheduleView, ...]) -> Card:
    """All schedules of the workspace."""
    if not views:
        text = "There is no schedule. `/quiz-admin schedule add 09:00 mon-fri Europe/Berlin` makes one here."
        return Card("Schedules", "There is no schedule.", (Text(text),))
    rows = tuple(
        (str(view.id), _channels(view), in_brief(plan_words(view.spec), 200), _next_words(view, 1)) for view in views
    )
    summary = f"{plural(len(views), 'schedule')}."
    return Card("Schedules", summary, (Table(("Number", "Channel", "When", "Next"), rows, "", (0,)),))


def round_card(view: RoundView, head: str) -> Card:
    """A round, or the one that would come."""
    opens, closes = (instant_words(at, view.zone) for at in (view.opens_at, view.closes_at))
    times = f"{day_words(view.day)}: opens {opens}, closes {closes}."
    if view.closed:
        times = f"{day_words(view.day)}: opened {opens}, and is closed. The reveal follows in the channel."
    answers = (Small(f"{plural(view.answers, 'answer')}."),) if view.closed or view.answers else ()
    blocks = (*question_blocks(view.question), Text(times), *answers, Small(about(view.question)))
    return Card(head, f"{head}. {in_brief(view.question.prompt, 100)}", blocks)


def season_card(view: SeasonView, head: str) -> Card:
    """One season."""
    return Card(
        head,
        f"{head}: {view.name}.",
        (Text(f"{head}: **{escape(view.name)}**, {_season_span(view)}."), *_winners(view)),
    )


def _season_span(view: SeasonView) -> str:
    begin = day_words(view.starts_at.date())
    return f"{begin} to {day_words(view.ends_at.date())}" if view.ends_at else f"since {begin}"


def _winners(view: SeasonView) -> tuple[Block, ...]:
    if not view.archive:
        return ()
    rows = tuple((str(row.rank), row.name, str(row.points)) for row in view.archive[:10])
    return (Table(("Rank", "Name", "Points"), rows, f"Final board of {view.name}", (0, 2)),)


def seasons_card(views: tuple[SeasonView, ...]) -> Card:
    """All seasons, the running one first said so."""
    if not views:
        text = "There has been no season yet. `/quiz-admin season start NAME` starts one."
        return Card("Seasons", "There has been no season yet.", (Text(text),))
    rows = tuple(
        (
            view.name,
            _season_span(view),
            view.archive[0].name if view.archive else "still running" if not view.ends_at else "nobody",
        )
        for view in views
    )
    return Card("Seasons", f"{plural(len(views), 'season')}.", (Table(("Season", "When", "Winner"), rows),))


def banks_card(views: tuple[BankView, ...]) -> Card:
    """The banks questions come from."""
    if not views:
        text = "There is no bank yet. `/quiz-admin bank import` brings questions."
        return Card("Banks", "There is no bank yet.", (Text(text),))
    rows = tuple(
        (view.name, view.title, str(view.questions), str(view.unanswered), str(view.retired), str(view.waiting))
        for view in views
    )
    total = sum(view.questions for view in views)
    heads = ("Bank", "Title", "Questions", "Without answer", "Retired", "Waiting")
    table = Table(heads, rows, "", (2, 3, 4, 5))
    return Card("Banks", f"{plural(total, 'question')} in {plural(len(views), 'bank')}.", (table,))


def approved_card(count: int) -> Card:
    """Generated questions are asked from now on."""
    return done_card("Approved", f"{plural(count, 'question')} may be chosen from now on.")


def generated_card(how: Generated) -> Card:
    """What the next imports do with choices made of prose."""
    said = {
        "use": "Choices made of a document's prose are asked like its other questions.",
        "hold": "Choices made of a document's prose wait for `/quiz-admin bank approve`.",
        "none": "No choices are made of a document's prose.",
    }
    return done_card("Set", f"{said[how]} That holds for the next imports.")


def retired_card(question: str, retired: bool) -> Card:
    """A question left, or came back."""
    said = "will not be chosen again" if retired else "may be chosen again"
    return done_card("Retired" if retired else "Restored", f"Question `{question}` {said}.")


def low_card(views: tuple[LowView, ...]) -> Card:
    """How long the questions last."""
    if not views:
        return Card("Questions left", "There is no schedule.", (Text("There is no schedule."),))
    rows = tuple(
        (str(view.schedule), view.channel_name, str(view.left), "low: import more" if view.left < 10 else "enough")
        for view in views
    )
    low = sum(view.left < 10 for view in views)
    summary = f"{plural(low, 'schedule')} running low." if low else "Every schedule has enough."
    return Card("Questions left", summary, (Table(("Schedule", "Channel", "Left", "State"), rows, "", (0, 2)),))


def reports_card(views: tuple[ReportView, ...]) -> Card:
    """The queue of reported questions, with buttons for the first few."""
    waiting = [view for view in views if view.state == "open"]
    if not waiting:
        return Card("Reports", "No report is waiting.", (Text("No report is waiting."),))
    blocks: list[Block] = []
    for view in waiting[:10]:
        who = f"{escape(view.by)} on question `{view.question}`"
        blocks.append(Text(f"**Report {view.id}**, {who}, {day_words(view.at.date())}:\n\n{escape(view.text)}"))
    buttons = tuple(
        Button(f"{label} {view.id}", encode(Settle(str(view.id), state)))
        for view in waiting[:5]
        for label, state in (("Fixed", "fixed"), ("Dismiss", "dismissed"))
    )
    return Card("Reports", f"{plural(len(waiting), 'report')} waiting.", tuple(blocks), buttons)


def settled_card(view: ReportView) -> Card:
    """A report is off the queue."""
    said = "the question was fixed" if view.state == "fixed" else "dismissed: the question is right"
    return done_card("Settled", f"Report {view.id} is settled: {said}.")


def restored_card(member: str, day: date) -> Card:
    """A streak was mended."""
    return done_card(
        "Streak restored", f"{day_words(day)} breaks no streak of **{escape(member)}**. It is in the audit."
    )


def adjusted_card(member: str, points: int, reason: str) -> Card:
    """Points were booked."""
    said = f"**{escape(member)}** {'gets' if points >= 0 else 'loses'} {plural(abs(points), 'point')}: {escape(reason)}"
    return done_card("Points booked", f"{said}. It is in the audit.")


def audit_card(views: tuple[AuditView, ...]) -> Card:
    """What admins did, in UTC."""
    if not views:
        return Card("Audit", "Nothing yet.", (Text("No admin has done anything yet."),))
    rows = tuple((_stamp(view.at), view.by, view.action, view.detail) for view in views)
    return Card("Audit", f"The last {len(rows)} entries.", (Table(("When (UTC)", "Who", "What", "Detail"), rows),))


def _stamp(at: datetime) -> str:
    return f"{at:%Y-%m-%d %H:%M}"


def doctor_card(checks: tuple[Check, ...]) -> Card:
    """Whether everything works, and the cure of what does not."""
    failing = [check for check in checks if not check.ok]
    rows = tuple((check.name, "well" if check.ok else "NOT well", check.said) for check in checks)
    cures = tuple(Text(f"**{escape(check.name)}:** {escape(check.cure or check.said)}") for check in failing)
    summary = f"{plural(len(failing), 'check')} failed." if failing else "Everything works."
    return Card("Doctor", summary, (Text(summary), Table(("Check", "State", "Found"), rows), *cures))


def done_card(title: str, markdown: str) -> Card:
    """A sentence that says what was done."""
    return Card(title, in_brief(markdown, 250), (Text(markdown),))
