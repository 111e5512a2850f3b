"""Cards for admins: schedules, rounds, seasons, banks, imports and the audit log."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime

from bot.core.actions import EditSchedule, encode
from bot.core.argument_kinds import DAYS
from bot.core.cards import Block, Card, Code, Form, RoleField, Small, Table, Text, TextField, TimeField
from bot.core.markup import channel_markdown, escape
from bot.core.text.command_errors import NO_SCHEDULE
from bot.core.text.questions import about, question_blocks
from bot.core.text.words import (
    and_list,
    chat_words,
    day_words,
    in_brief,
    instant_words,
    local,
    mentions_of,
    minutes_words,
    moment_markdown,
    percent,
    plural,
    weekdays_words,
)
from service.wire import (
    AuditFact,
    AuditView,
    BankLog,
    BankView,
    Generated,
    ImportChange,
    ImportedQuestion,
    ImportEntry,
    ImportView,
    LowView,
    RoundView,
    ScheduleSpec,
    ScheduleView,
    SeasonView,
    Twin,
)


def plan_words(spec: ScheduleSpec) -> str:
    """Describes a schedule in one sentence. Markdown."""
    parts = [
        f"{spec.at:%H:%M} ({spec.zone}), {rhythm_words(spec)}, open for {minutes_words(spec.open_minutes)}",
        _only("of level", spec.levels),
        _only("of kind", spec.kinds),
        _only("on", [escape(topic) for topic in spec.topics]),
        f"public holidays of {escape(spec.country)} kept" if spec.country else "",
        "with a bonus for speed" if spec.speed_bonus else "",
        "asks how sure members are" if spec.confidence else "",
        "measures code that passed" if spec.measure else "",
        "a model answers too" if spec.contestant else "",
        "a different variant for each member" if spec.variants else "",
        "notifies a role" if spec.ping.isdecimal() else "notifies a user group" if spec.ping else "",
    ]
    return "; ".join(part for part in parts if part)


def rhythm_words(spec: ScheduleSpec) -> str:
    """Describes the days of a schedule, such as `every 3 days from Monday 2 March` or `on day 1 of the month`."""
    parts = []
    if spec.every_days > 1:
        start = f" from {day_words(spec.first_day)}" if spec.first_day else ""
        parts.append(f"every {spec.every_days} days{start}")
    if spec.month_days:
        parts.append(_month_days_words(spec.month_days))
    weekdays = weekdays_words(spec.weekdays)
    if not parts:
        return weekdays
    return ", ".join(parts) if len(spec.weekdays) == 7 else f"{', '.join(parts)}, only {weekdays}"


def _month_days_words(days: Sequence[int]) -> str:
    """Says which days of the month, and what happens in months that lack one of them."""
    numbers = [str(day) for day in days if day < 31]
    named = [f"day {and_list(numbers)}"] if len(numbers) == 1 else [f"days {and_list(numbers)}"] if numbers else []
    words = f"on {and_list([*named, *(['the last day'] if 31 in days else [])])} of the month"
    return f"{words} (the last day where a month is shorter)" if {29, 30} & set(days) else words


def _only(what: str, wanted: Sequence[str]) -> str:
    return f"only questions {what} {and_list(wanted, 'or')}" if wanted else ""


def _next_words(view: ScheduleView, most: int = 3) -> str:
    if view.paused:
        return "paused"
    return "; ".join(instant_words(slot, view.spec.zone) for slot in view.next[:most]) or "no further date"


def schedule_form(view: ScheduleView) -> Form:
    """Asks for what to change of a schedule. The action keeps what the form shows."""
    spec = view.spec
    days = "".join(map(str, spec.weekdays))
    shown = EditSchedule(str(view.id), f"{spec.at:%H%M}", days, spec.ping, spec.zone)
    ping = RoleField("ping", "Who is notified", spec.ping)
    return Form(
        title=f"Change schedule {view.id}",
        action=encode(shown),
        fields=(
            TimeField("at", "Time of the question", f"{spec.at:%H:%M}"),
            TextField("days", "Days", _day_words(spec.weekdays), "Such as `mon-fri`, `mon,wed,fri` or `daily`."),
            TextField("zone", "Time zone", spec.zone, "Such as `Europe/Berlin`.", max_length=60),
            # Elsewhere there is nobody to notify.
            *((ping,) if view.platform in ("discord", "slack") else ()),
        ),
        blocks=(Text(f"{_where(view)}: {plan_words(spec)}."),),
        submit="Save",
    )


def _day_words(weekdays: tuple[int, ...]) -> str:
    """Returns weekdays as they are typed."""
    known = {tuple(range(7)): "daily", tuple(range(5)): "mon-fri"}
    return known.get(weekdays) or ",".join(DAYS[day] for day in weekdays)


def schedule_card(view: ScheduleView, head: str, sentence: str = "") -> Card:
    """Shows a schedule after a change, which `sentence` describes in Markdown."""
    blocks = (
        *((Text(sentence),) if sentence else ()),
        Text(f"Schedule {view.id} in {_where(view)}: {plan_words(view.spec)}."),
        *_shared(view),
        Text(f"Next: {_next_words(view)}."),
        Small(
            f"A question can repeat after {plural(view.spec.memory_days, 'day')}; a missed one is posted up to "
            f"{minutes_words(view.spec.catch_up_minutes)} late."
        ),
    )
    return Card(head, f"{head}: schedule {view.id}. Next: {_next_words(view, 1)}.", blocks)


def skipped_card(view: ScheduleView, day: date) -> Card:
    """Confirms that a schedule posts nothing on a day."""
    return schedule_card(view, "Day skipped", f"**{day_words(day)}** has no question. It breaks no streak.")


def _where(view: ScheduleView) -> str:
    return channel_markdown(view.channel_name or view.channel, view.platform, view.channel)


def _shared(view: ScheduleView) -> tuple[Block, ...]:
    if not view.shared:
        return ()
    names = [channel_markdown(one.name, one.platform, one.channel) for one in view.shared]
    further = and_list([f"{name} ({chat_words(one.platform)})" for name, one in zip(names, view.shared, strict=True)])
    return (Text(f"It posts to {further} too. All answers count in one round."),)


def _channels(view: ScheduleView) -> str:
    return ", ".join([view.channel_name or view.channel, *(one.name for one in view.shared)])


def schedules_card(views: tuple[ScheduleView, ...]) -> Card:
    """Lists the workspace's schedules."""
    if not views:
        return Card("Schedules", in_brief(NO_SCHEDULE), (Text(NO_SCHEDULE),))
    rows = tuple(
        (str(view.id), _channels(view), in_brief(plan_words(view.spec), 200), _next_words(view, 1)) for view in views
    )
    summary = f"{plural(len(views), 'schedule')}."
    return Card("Schedules", summary, (Table(("Number", "Channel", "When", "Next"), rows, "", (0,)),))


def round_card(view: RoundView, head: str) -> Card:
    """Shows a round, or a preview of the next one."""
    opens, closes = (moment_markdown(at, view.zone) for at in (view.opens_at, view.closes_at))
    times = f"Opens {opens}, closes {closes}."
    if view.closed:
        times = f"It opened {opens} and is closed now. The reveal follows in the channel."
    if view.withdrawn:
        times = (
            "The chat has not accepted this question yet, so it is not posted, and nothing is revealed. "
            "`/quiz-admin schedule post-now` posts today's question after all."
        )
    if local(view.opens_at, view.zone).date() != view.day:
        times = f"Question for {day_words(view.day)}. {times}"
    answers = (Small(f"{plural(view.answers, 'answer')}."),) if view.closed or view.answers else ()
    blocks = (*question_blocks(view.question), Text(times), *answers, Small(about(view.question)))
    return Card(head, f"{head}. {in_brief(view.question.prompt, 100)}", blocks)


NOT_FINAL = "Its final board follows when the questions that were open at its end have closed."


def season_card(view: SeasonView, head: str) -> Card:
    """Shows a season."""
    text = f"{head}: **{escape(view.name)}**, {season_span(view)}."
    if not view.final:
        text += f"\n\n{NOT_FINAL} `/quiz-admin season list` then names the winner."
    return Card(head, f"{head}: {view.name}.", (Text(text), *_winners(view)))


def season_span(view: SeasonView) -> str:
    """Says from when to when a season lasted."""
    begin = day_words(view.starts_at.date())
    return f"{begin} to {day_words(view.ends_at.date())}" if view.ends_at else f"since {begin}"


def _winners(view: SeasonView) -> tuple[Block, ...]:
    if not view.archive:
        return ()
    best = view.archive[:10]
    rows = tuple((str(row.rank), row.name, str(row.points)) for row in best)
    caption = f"Final board of {view.name}"
    return (Table(("Rank", "Name", "Points"), rows, caption, (0, 2), members=mentions_of(best)),)


def _winner(view: SeasonView) -> str:
    if view.archive:
        return view.archive[0].name
    if view.ends_at is None:
        return "still running"
    return "nobody" if view.final else "not decided yet"


def seasons_card(views: tuple[SeasonView, ...]) -> Card:
    """Lists the seasons, the running one first."""
    if not views:
        text = "There is no season yet. Start one with `/quiz-admin season start NAME`."
        return Card("Seasons", "There is no season yet.", (Text(text),))
    rows = tuple(
        (
            view.name,
            season_span(view),
            _winner(view),
        )
        for view in views
    )
    return Card("Seasons", f"{plural(len(views), 'season')}.", (Table(("Season", "When", "Winner"), rows),))


def banks_card(views: tuple[BankView, ...]) -> Card:
    """Lists the banks of the workspace."""
    if not views:
        text = "There is no bank yet. Import one with `/quiz-admin bank import`."
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
    """Confirms that generated questions are asked from now on."""
    return done_card("Approved", f"{plural(count, 'question')} can be asked from now on.")


def generated_card(how: Generated) -> Card:
    """Explains how the next imports treat generated choices."""
    sentence = {
        "use": "Choices made from a document's prose are asked like its other questions.",
        "hold": "Choices made from a document's prose wait for `/quiz-admin bank approve`.",
        "none": "No choices are made from a document's prose.",
    }
    return done_card("Set", f"{sentence[how]} This applies to future imports.")


def retired_card(question: str, retired: bool) -> Card:
    """Confirms that a question was retired or restored."""
    outcome = "will not be asked again" if retired else "can be asked again"
    return done_card("Retired" if retired else "Restored", f"Question `{question}` {outcome}.")


def low_card(views: tuple[LowView, ...]) -> Card:
    """Shows how long the questions last."""
    if not views:
        return Card("Questions left", in_brief(NO_SCHEDULE), (Text(NO_SCHEDULE),))
    rows = tuple(
        (str(view.schedule), view.channel_name, str(view.left), "low: import more" if view.left < 10 else "enough")
        for view in views
    )
    low = sum(view.left < 10 for view in views)
    summary = f"{plural(low, 'schedule')} running low." if low else "Every schedule has enough."
    return Card("Questions left", summary, (Table(("Schedule", "Channel", "Left", "State"), rows, "", (0, 2)),))


def restored_card(member: str, day: date) -> Card:
    """Confirms that a streak was restored. The member is Markdown."""
    return done_card(
        "Streak restored",
        f"{day_words(day)} no longer breaks the streak of **{member}**. The audit log records this.",
    )


def adjusted_card(member: str, points: int, reason: str) -> Card:
    """Confirms that points were added or deducted. The member is Markdown."""
    sentence = f"**{member}** {'gets' if points >= 0 else 'loses'} {plural(abs(points), 'point')}: {escape(reason)}"
    return done_card("Points adjusted", f"{sentence}. The audit log records this.")


def audit_card(views: tuple[AuditView, ...]) -> Card:
    """Lists actions of admins, in UTC."""
    if not views:
        return Card("Audit", "Nothing yet.", (Text("No admin has done anything yet."),))
    rows = tuple((audit_time(view.at), view.by, view.action, audit_facts(view)) for view in views)
    return Card("Audit", f"The last {len(rows)} entries.", (Table(("When (UTC)", "Who", "What", "Detail"), rows),))


def audit_facts(view: AuditView) -> str:
    """Returns facts such as `member Ada, points 5, reason typo`."""
    facts = {**view.facts, "member": view.facts["member"] or "someone"} if "member" in view.facts else view.facts
    parts = [
        f"{re.sub(_UNITS, '', name).replace('_', ' ')} {_fact(name, value)}"
        for name, value in facts.items()
        if name != "errors"
    ]
    if "errors" in facts:
        parts.append(f"refused: {plural(int(str(facts['errors'])), 'error')}")
    return ", ".join(parts)


_UNITS = r"(?<!month)_(?:minutes|days)$"
"""Units at the end of a fact's name, which are said with its value."""


def _fact(name: str, value: AuditFact) -> str:
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, str):
        unit = re.search(_UNITS, name)
        if unit and value.isdecimal():
            return minutes_words(int(value)) if unit[0] == "_minutes" else plural(int(value), "day")
        return re.sub(r"^(\d\d:\d\d):00$", r"\1", value)
    return weekdays_words([int(day) for day in value]) if name == "weekdays" else and_list(value)


def audit_time(at: datetime) -> str:
    """Formats the instant of an action, in UTC."""
    return f"{at:%Y-%m-%d %H:%M}"


def removed_card(schedule: int) -> Card:
    """Confirms that a schedule is removed."""
    return done_card("Schedule removed", f"Schedule {schedule} is removed; its rounds and points stay.")


def done_card(title: str, markdown: str) -> Card:
    """Confirms an action with one sentence."""
    return Card(title, in_brief(markdown, 250), (Text(markdown),))


# Imports

FEW = 8
"""Questions listed in a chat; the document has all of them."""

_FIELDS = {
    "why": "reason",
    "key_points": "key points",
    "code_blocks": "code",
    "task": "challenge",
    "draw": "family",
}
"""Readable names of fields of the model."""


def imported_card(view: ImportView) -> Card:
    """Shows the result of an import, or of a dry run: counts, the first few questions, duplicates and all findings."""
    if view.errors:
        head = "Nothing was imported"
        sentence = (
            f"{plural(view.errors, 'error')} in the document, so nothing was imported. Fix the document and try again."
        )
    elif view.applied:
        head, sentence = "Imported", f"{import_counts(view)}."
    else:
        head, sentence = "Checked, not imported", f"Importing would give: {import_counts(view)}."
    made = (*_made(view), *_for_gpu(view), *(() if view.applied else _reading(view)))
    undo = f"`/quiz-admin bank undo {view.name} import:{view.number}` undoes this import."
    blocks: list[Block] = [Text(f"**{escape(view.name)}:** {sentence}"), *made, *_changes(view), *_twins(view)]
    blocks += (Code(view.findings, ""),) if view.findings else ()
    blocks += (Small(undo),) if view.applied and view.changes else ()
    return Card(head, f"{head}. {sentence}", tuple(blocks))


def with_document(card: Card, text: str) -> Card:
    """Adds the document as it was typed, to correct and send again: a form in a chat does not open again."""
    note = Small("The document as you sent it, to correct and send again:")
    return replace(card, blocks=(*card.blocks, note, Code(text, "markdown")))


def _reading(view: ImportView) -> tuple[Block, ...]:
    """Shows how the document was read, its first questions, and which lines are in none."""
    lines = [f"**Read as:** {escape(line)}" for line in view.explanation]
    if view.recipe_saved:
        lines.append("The recipe was saved with this bank. Type `none` as the recipe to forget it.")
    elif view.recipe:
        lines.append("The recipe is saved with the bank, and the next import of it is read the same way.")
    if view.unused:
        lines.append(f"**In no question:** {escape(f'{unused_passages(view)}.{mostly_unused(view)}')}")
    asked = "\n".join(f"- {_imported(question)}" for question in view.questions)
    first = f"**First questions, as they were read:**\n\n{asked}" if asked else ""
    return tuple(Text(text) for text in ("\n\n".join(lines), first) if text)


def unused_passages(view: ImportView) -> str:
    """Names the passages that are in no question, such as `lines 1–12 ("Introduction") and 3 more parts`."""
    parts = [
        f'{one.first if one.first == one.last else f"{one.first}–{one.last}"} ("{one.title}")' for one in view.unused
    ]
    parts += [plural(view.more_unused, "more part")] if view.more_unused else []
    single = len(view.unused) == 1 and view.unused[0].first == view.unused[0].last
    return f"{'line' if single else 'lines'} {and_list(parts)}"


def mostly_unused(view: ImportView) -> str:
    """Says that questions may be missing where most of a document is in none; empty otherwise."""
    if not view.unused_share:
        return ""
    sentence = f" This is {percent(view.unused_share)} of the document."
    return f"{sentence} If questions are missing, import it with a recipe that says how they are written."


def _imported(question: ImportedQuestion) -> str:
    key = f"answer: {escape(question.key)}" if question.key else "no answer, so it is never asked"
    if question.kind == "code":
        key = "judged by its cases"
    license = f"; license: {escape(question.license)}" if question.license else "; no license stated"
    return f"line {question.line}, {question.kind}: **{escape(question.prompt)}** ({key}{license})"


def _made(view: ImportView) -> tuple[Block, ...]:
    if not view.generated or view.errors:
        return ()
    wait = ""
    if view.waiting:
        wait = f" {plural(view.waiting, 'of those waits', 'of those wait')} for `/quiz-admin bank approve all`."
    return (Text(generated_words(view) + wait),)


def generated_words(view: ImportView) -> str:
    """Says how many questions were made from a document's prose."""
    choices = plural(view.generated, "of them is a choice", "of them are choices")
    return f"{choices} made from the document's own sentences."


def _for_gpu(view: ImportView) -> tuple[Block, ...]:
    if not view.for_gpu or view.errors:
        return ()
    are = plural(view.for_gpu, "of them is", "of them are")
    return (Text(f"{are} judged on a GPU, and no sandbox has one: not asked until one does."),)


def undone_card(view: ImportView) -> Card:
    """Confirms that an import was undone."""
    sentence = f"The latest import of **{escape(view.name)}** was undone: {import_counts(view)}."
    again = f"`/quiz-admin bank undo {view.name} import:{view.number}`"
    more = f"Past rounds keep their questions. {again} restores the import."
    return Card("Undone", f"Undone: {import_counts(view)}.", (Text(sentence), *_changes(view), Small(more)))


def log_card(log: BankLog) -> Card:
    """Lists the imports into a bank, in UTC."""
    rows = tuple(_entry(entry) for entry in log.imports)
    whose = "Shared by all workspaces; the operator imports it." if log.shared else "Only for this workspace."
    table = Table(("Number", "When (UTC)", "What", "Came to", "Digest"), rows, "", (0,))
    count = log.imports[0].number if log.imports else 0
    summary = f"{plural(count, 'import')} into {escape(log.name)}."
    earlier = (Small(f"Of {count} imports, these are the newest."),) if count > len(rows) else ()
    return Card(f"Imports of {log.name}", summary, (table, *earlier, Small(whose)))


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


def import_counts(view: ImportView) -> str:
    """Counts what an import does, such as `3 added, 1 changed`."""
    always = (view.added, "added"), (view.changed, "changed"), (view.unchanged, "unchanged"), (view.retired, "retired")
    often = (view.moved, "moved"), (view.returned, "back again"), (view.unanswered, "without an answer")
    shown = [*always, *((count, what) for count, what in often if count)]
    return ", ".join(f"{count} {what}" for count, what in shown)


def _changes(view: ImportView) -> tuple[Block, ...]:
    # A first import adds the whole document, so its name says nothing new.
    worth = [change for change in view.changes if change.what != "added"]
    worth = worth or (list(view.changes) if view.applied or not view.questions else [])
    if not worth or view.errors:
        return ()
    more = "\n- and more" if len(worth) > FEW else ""
    return (Text("\n".join(f"- {_change(change)}" for change in worth[:FEW]) + more),)


def _change(change: ImportChange) -> str:
    where = f", line {change.line}" if change.line else ""
    fields = f" ({import_fields(change.fields)})" if change.fields else ""
    made = f"; the document makes it `{change.made}` now" if change.made else ""
    return f"{change.what}{fields}: `{change.id}`{where}{made}"


def import_fields(fields: Sequence[str]) -> str:
    """Names what changes of a question."""
    return and_list([_FIELDS.get(name, name) for name in fields])


def _twins(view: ImportView) -> tuple[Block, ...]:
    if not view.twins:
        return ()
    found = [plural(view.exact, "exact duplicate")] if view.exact else []
    found += [f"{plural(view.near, 'near duplicate')} ({percent(view.near_from)} alike or more)"] if view.near else []
    lines = "\n".join(f"- {_twin(twin)}" for twin in view.twins[:FEW])
    rest = view.exact + view.near - min(len(view.twins), FEW)
    more = f"\n- and {rest} more" if rest > 0 else ""
    return (Text(f"**{and_list(found)}.** All are imported; retire one of each pair.\n\n{lines}{more}"),)


def _twin(twin: Twin) -> str:
    where = f" of bank {escape(twin.bank)}" if twin.bank else ""
    return f"{percent(twin.score)}: `{twin.id}`, line {twin.line}, and `{twin.other}`{where}"
