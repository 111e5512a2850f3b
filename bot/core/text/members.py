"""Cards for members: statistics, privacy, rules, help, notifications, snippets and errors.

Computes nothing: the service has counted everything shown.
"""

from __future__ import annotations

import textwrap

from bot.core.actions import (
    Import,
    Next,
    Notifications,
    Open,
    PracticeFilter,
    Privacy,
    SetNotification,
    Snippet,
    encode,
)
from bot.core.cards import COMMAND_COLUMN, Block, Button, Card, Charted, Code, Form, Small, Table, Text, TextField
from bot.core.charts import RangeRow, RangesChart, Week, WeeksChart
from bot.core.command_spec import Spec
from bot.core.markup import escape
from bot.core.text import my_page
from bot.core.text.code_results import cause_words
from bot.core.text.questions import CODE_LENGTH, about, opening
from bot.core.text.words import (
    CONFIDENCE_WORDS,
    and_list,
    chat_words,
    in_brief,
    joined,
    mastery_words,
    minutes_words,
    percent,
    plural,
    sentence,
    short_day,
    stopped,
    until_markdown,
)
from service.wire import (
    Confidence,
    History,
    Me,
    NotificationView,
    PrivacyView,
    ReminderNote,
    ReportView,
    Rules,
    RunResult,
    TopicCount,
    TopicMastery,
    TopicsKnown,
)


def me_card(me: Me, history: History | None = None) -> Card:
    """Shows a member's statistics, with the days of their last weeks if `history` is given."""
    # Without points in a season there may be none that runs.
    season = f"; {me.season_points:,} this season" if me.season_points else ""
    rank = f", rank {me.rank}" if me.rank else ""
    rows = (
        ("Points", f"{me.points:,} in all{rank}{season}"),
        ("Answers", f"{me.answered:,}, {percent(me.accuracy)} right" if me.answered else "none judged yet"),
        ("Streak", f"{plural(me.streak, 'round')}; best {me.best_streak}; {plural(me.freezes, 'freeze')} left"),
        ("Practice", f"{plural(me.cards, 'card')}, {me.cards_due} due"),
    )
    blocks: list[Block] = [Table(("What", "How much"), rows)]
    if history is not None and history.days:
        chart = my_page.heatmap(history)
        sentence = f"**Your last {plural(len(chart.weeks), 'week')}.** {my_page.weeks_in_brief(history)}"
        blocks.append(Charted(sentence, chart))
    if me.topics:
        blocks.append(_topics_table(me))
    if me.calibration:
        blocks.append(_calibration_table(me))
    if me.weeks:
        blocks.append(_weeks_table(me))
    if me.hidden:
        blocks.append(Small("You are hidden from the boards. `/quiz privacy show` changes that."))
    buttons = (Button("Practice", encode(Next()), "primary"), Button("Notifications", encode(Notifications())))
    summary = f"{plural(me.points, 'point')}, streak {me.streak}, {plural(me.cards_due, 'card')} due."
    return Card(me.name, summary, tuple(blocks), buttons)


def _topics_table(me: Me) -> Table:
    shown = [(one.topic or "without a topic", one) for one in me.topics[:8]]
    rows = tuple(
        (topic, str(one.answers), percent(one.right), mastery_words(one.low, one.high)) for topic, one in shown
    )
    legend = "Mark: your share right so far. Bar: what you know, as a range that narrows with your answers."
    caption = "Topics, weakest first"
    chart = RangesChart(caption, tuple(_topic_row(topic, one) for topic, one in shown), legend)
    return Table(("Topic", "Answers", "Right", "You know"), rows, caption, (1, 2, 3), chart=chart)


def _topic_row(label: str, known: TopicMastery) -> RangeRow:
    so_far = f"{percent(known.right)} of {known.answers} right"
    words = mastery_words(known.low, known.high)
    if known.low is None or known.high is None:
        return RangeRow(label, known.right, f"{words}, {so_far}")
    return RangeRow(label, known.right, f"you know {words}, {so_far}", (known.low, known.high))


_PAYS: dict[Confidence, tuple[float, float]] = {"guess": (0.0, 2 / 3), "think": (2 / 3, 0.8), "sure": (0.8, 1.0)}
"""Share right at which it pays to say so."""


def _calibration_table(me: Me) -> Table:
    rows = tuple(
        (CONFIDENCE_WORDS[one.said], str(one.answers), percent(one.right), mastery_words(one.low, one.high))
        for one in me.calibration
    )
    columns = ("You said", "Answers", "Right", "In the long run")
    drawn = tuple(
        RangeRow(
            CONFIDENCE_WORDS[one.said],
            one.right,
            f"{percent(one.right)} of {one.answers} right",
            (one.low, one.high),
            _PAYS[one.said],
        )
        for one in me.calibration
    )
    legend = "Mark: your share right so far. Bar: what it is in the long run, 95% sure. Band: where saying so pays."
    caption = "How sure you were"
    return Table(columns, rows, caption, (1, 2, 3), chart=RangesChart(caption, drawn, legend))


def _weeks_table(me: Me) -> Table:
    """Returns the table of weeks, each named by its Monday."""
    rows = tuple(
        (short_day(monday), str(points), str(answers), percent(credit) if answers else "")
        for monday, points, answers, credit in me.weeks
    )
    drawn = tuple(
        Week(short_day(monday), points, answers, percent(credit) if answers else "")
        for monday, points, answers, credit in me.weeks
    )
    columns = ("Week of", "Points", "Answers", "Right")
    return Table(columns, rows, "Your last weeks", (1, 2, 3), chart=WeeksChart(drawn))


def topics_card(topics: tuple[TopicCount, ...], known: TopicsKnown = TopicsKnown()) -> Card:  # noqa: B008 - frozen
    """Lists the topics with questions, with what the member and the team know of each."""
    if not topics:
        text = "There are no questions yet. An admin can import some with `/quiz-admin bank import`."
        return Card("Topics", "There are no questions yet.", (Text(text),))
    mine, team = ({one.topic: mastery_words(one.low, one.high) for one in each} for each in (known.mine, known.team))
    rows = tuple(
        (
            one.topic or "without a topic",
            str(one.questions),
            *(each.get(one.topic.partition("/")[0], "") for each in (mine, team)),
        )
        for one in topics
    )
    total = sum(one.questions for one in topics)
    summary = f"{plural(total, 'question')} on {plural(len(topics), 'topic')}."
    table = Table(("Topic", "Questions", "You know", "Your team knows"), rows, "", (1, 2, 3))
    how = "What you know is your likely share right on such questions, which only you see. The team's names nobody."
    return Card(
        "Topics", summary, (Text(summary), table, Small(how), Small("Practice one with `/quiz practice TOPIC`."))
    )


def privacy_card(view: PrivacyView) -> Card:
    """Shows which data is stored about a member, and what they can do with it."""
    if view.forgotten:
        sentence = (
            "You have been forgotten: what you wrote is deleted, and only numbers without your name stay in the totals."
        )
        return Card("Forgotten", sentence, (Text(sentence),))
    kept = joined(
        plural(view.answers, "answer"),
        plural(view.ledger_rows, "entry of points", "entries of points"),
        plural(view.cards, "practice card"),
    )
    seen = "You are **hidden** from the boards." if view.hidden else "You are **shown** on the boards."
    blocks: tuple[Block, ...] = (Text(f"Stored about you: {kept}, and your display name."), Text(seen))
    if view.export:
        sentence = (
            "Everything, as JSON:" if view.format == "json" else "As CSV for a spreadsheet; the JSON has all details:"
        )
        blocks = (*blocks, Small(sentence), Code(view.export, view.format))
    turn = ("Show me on the boards", "show") if view.hidden else ("Hide me from the boards", "hide")
    buttons = (
        Button(turn[0], encode(Privacy(turn[1]))),
        Button("Export everything", encode(Privacy("export"))),
        Button("As CSV", encode(Privacy("csv"))),
        Button("Forget me…", encode(Privacy("forget")), "danger"),
    )
    return Card("Your data", f"{kept}. {'Hidden from' if view.hidden else 'Shown on'} the boards.", blocks, buttons)


def forget_card() -> Card:
    """Asks for confirmation, because forgetting cannot be undone."""
    sentence = (
        "This cannot be undone. You lose your points, streak and cards. What you wrote is deleted, and only numbers "
        "without your name stay in the totals. Messages already in a channel stay there."
    )
    buttons = (
        Button("Delete my data", encode(Privacy("erase")), "danger"),
        Button("Cancel", encode(Privacy("see"))),
    )
    return Card("Delete your data?", sentence, (Text(sentence),), buttons)


# Rules, help, snippets and errors.

_RUN_WORDS = {
    "ok": "Finished",
    "error": "Stopped with an error",
    "time": "Stopped: time limit",
    "memory": "Stopped: memory limit",
    "output": "Stopped: output limit",
    "crash": "Crashed",
    "denied": "Stopped: not allowed in the sandbox",
    "internal": "Could not run (our fault)",
}
_WORTH_TELLING_MS = 1000
"""A wait for one's turn that a member has noticed."""


def rules_card(rules: Rules) -> Card:
    """Explains how points and streaks are counted, with the numbers in use."""
    base = and_list([f"{points} for {level}" for level, points in rules.base.items()])
    lines = [
        f"A right answer earns {base}. Hard questions earn more, and a partly right answer earns its share.",
        _speed_sentence(rules),
        _confidence_sentence(rules),
        f"A hint costs up to {plural(rules.hint_cost, 'point')} of what your answer earns, and nothing in practice.",
        f"Every answer to an open question earns {percent(rules.participation)} of its points. After the close you "
        "mark your own; when another member or a moderator confirms it, you earn your share of the rest.",
        "Your last answer before the round closes counts. Our failures never cost you anything.",
        f"A streak counts the rounds you answered in a row. Every {plural(rules.freeze_every, 'round')} "
        f"earn a freeze, at most {rules.freeze_cap}; a freeze saves the streak when you miss a round.",
        "Days off, skipped rounds and late posts never break a streak. A question we miss is posted up to "
        f"{minutes_words(rules.catch_up_minutes)} late, or not at all.",
        "An extra question that an admin asks for earns points like any other. It neither extends nor breaks a streak.",
        "Ties on a board are broken by accuracy, then by time; otherwise the rank is shared.",
        f"In a sprint, a right answer earns {rules.sprint_right} points and up to {rules.sprint_speed} more for speed, "
        f"all of it within {rules.sprint_thinking_s:.0f} seconds (with little time, within a quarter of it), then "
        "falling evenly to zero at the end of its time. These points count in the sprint only.",
    ]
    return Card("Rules", f"A right answer earns {base}.", (Text("\n".join(f"- {line}" for line in lines)),))


def _speed_sentence(rules: Rules) -> str:
    if not rules.speed_bonus:
        return "There is no speed bonus, so take your time."
    window = minutes_words(round(rules.speed_window_s / 60))
    return (
        f"A fast answer earns up to {percent(rules.speed_share)} more: all of it within {rules.thinking_s:.0f} "
        f"seconds, so that there is time to think, then falling to zero after {window}."
    )


def _confidence_sentence(rules: Rules) -> str:
    parts = [
        f"“{CONFIDENCE_WORDS[word]}” brings {right:+} if you are right and {wrong:+} if you are wrong"
        for word, (right, wrong) in rules.confidence.items()
        if right or wrong
    ]
    return (
        f"Where a schedule asks how sure you are, {and_list(parts)}. A guess, or saying nothing, changes nothing. "
        "Honesty pays best: be sure only if you would be right four times in five."
    )


def help_card(specs: tuple[Spec, ...]) -> Card:
    """Lists commands: all of one name by their groups, or each of one group."""
    name = specs[0].name
    groups = {spec.path[0]: [one for one in specs if one.path[0] == spec.path[0]] for spec in specs}
    title, rows = f"/{name}", tuple(_help_row(group) for group in groups.values())
    if len(groups) == 1:
        title, rows = f"/{name} {specs[0].path[0]}", tuple((spec.words, spec.help) for spec in specs)
    more = f"`/{name} help COMMAND` explains a command."
    return Card(
        title, f"{plural(len(specs), 'command')}.", (Table((COMMAND_COLUMN, "What it does"), rows), Small(more))
    )


def _help_row(group: list[Spec]) -> tuple[str, str]:
    if len(group) == 1:
        return group[0].words, group[0].help
    # A screenful is all that anybody reads, and a row of two lines makes every row two.
    words = textwrap.shorten(", ".join(spec.path[1] for spec in group), 54, placeholder=" …")
    return f"/{group[0].name} {group[0].path[0]} …", words


def spec_card(spec: Spec) -> Card:
    """Describes a command with its arguments."""
    rows = tuple((one.name, one.help, one.kind.example) for one in spec.arguments)
    blocks: list[Block] = [Text(f"{spec.help} {'Admins only.' if spec.admin else ''}".strip()), Code(spec.usage, "")]
    if rows:
        blocks.append(Table(("Argument", "Meaning", "Such as"), rows))
        blocks.append(Small("Any argument can be written as `name:value`. Quote values with spaces."))
    return Card(spec.words, spec.help, tuple(blocks))


def snippet_form() -> Form:
    """Returns the code form of a free run."""
    field = TextField("code", "Your program", "", "Python with torch. Nothing is saved.", 12, True, CODE_LENGTH)
    return Form("Run a snippet", encode(Snippet()), (field,), submit="Run")


def run_card(result: RunResult) -> Card:
    """Shows the output of a free run."""
    head = _RUN_WORDS[result.status]
    used = f", using {result.peak_mb:,.0f} MB" if result.peak_mb >= 1 else ""
    took = f" in {result.wall_ms:,.0f} ms{used}" if result.status in ("ok", "error") else ""
    blocks: list[Block] = [Text(f"{head}{took}.")]
    if result.cause:
        blocks.append(Text(cause_words(result.cause)))
    if result.stdout:
        blocks.append(Code(result.stdout, ""))
    elif result.status == "ok":
        blocks.append(Text("It printed nothing. Use `print(…)` to see a value."))
    if result.stderr:
        blocks += (Small("Standard error:"), Code(result.stderr, ""))
    blocks.append(Small(_run_facts(result)))
    if result.truncated:
        blocks.append(Small("The output was cut. Print less to see the end."))
    if result.queue_ms >= _WORTH_TELLING_MS:
        blocks.append(Small(f"It waited {result.queue_ms / 1000:.0f} s for its turn{_before(result.before)}."))
    if result.isolation == "weaker":
        blocks.append(Small("This ran with weaker isolation than usual. `/quiz-admin doctor` shows why."))
    return Card(head, f"{head}{took}. {in_brief(escape(result.stdout), 100)}".strip(), tuple(blocks))


def _run_facts(result: RunResult) -> str:
    """Describes how a run ended, its compute time, and where it ran."""
    ended = f"Signal {result.signal}" if result.signal else f"Exit code {result.exit_code}" if result.exit_code else ""
    where = "GPU" if result.device == "cuda" else "CPU"
    return " · ".join(filter(None, (ended, f"{result.cpu_ms:,.0f} ms of CPU time", f"on the {where}")))


def _before(runs: int) -> str:
    return "" if runs == 0 else ": 1 run was before it" if runs == 1 else f": {runs} runs were before it"


def no_card_left_card(wanted: PracticeFilter) -> Card:
    """Says that there is nothing to practice."""
    kind = f"{wanted.kind} questions" if wanted.kind else ""
    named = " ".join(part for part in (wanted.level, escape(wanted.topic), kind) if part)
    about = f" for {named}" if named else ""
    text = f"Nothing is due{about}, and there are no new questions. Well done; come back tomorrow."
    everything = (Button("Practice everything", encode(Next())),) if named else ()
    return Card("All done", in_brief(text), (Text(text),), everything)


def reported_card(report: ReportView) -> Card:
    """Confirms a report."""
    sentence = f"Thank you. Report {report.id} on question `{report.question}` is with the moderators."
    return Card("Reported", in_brief(sentence, 150), (Text(sentence),))


def import_form(
    name: str = "", text: str = "", recipe: str = "", preview: tuple[Block, ...] = (), *, refused: bool = False
) -> Form:
    """Returns the form for pasting a document; after a preview, or an import that was refused, with the same input and
    what it would give."""
    how = "Only if the preview misreads it: `question: ### {n}. {prompt}`, or `prompt: name of a column`."
    return Form(
        title="Nothing was imported" if refused else "Preview of the import" if preview else "Import questions",
        action=encode(Import("apply")),
        fields=(
            TextField(
                "name", "Name of the document", name, "For example `tensors.md`.", max_length=200, required=False
            ),
            TextField(
                "text",
                "The document",
                text,
                "Markdown, CSV, JSON and more. A document with an error is not imported.",
                16,
                max_length=1_000_000,
                required=False,
                upload=True,
            ),
            TextField("recipe", "How it is written (recipe)", recipe, how, 3, max_length=2000, required=False),
        ),
        blocks=preview,
        submit="Import now" if preview else "Import",
        extras=(Button("Preview", encode(Import("check"))),),
    )


def refused_card(message: str, ref: str = "", title: str = "Not possible") -> Card:
    """Explains a refusal; with `ref` it links back to the question. `message` is Markdown that the bot made."""
    text = sentence(message)
    back = (Button("Back to the question", encode(Open(ref))),) if ref else ()
    return Card(title, in_brief(text, 300), (Text(text),), back)


def unavailable_card() -> Card:
    """Says that the service is unavailable."""
    sentence = "The quiz is not responding right now. This is our fault, and nothing is lost. Please try again."
    return Card("Please try again", sentence, (Text(sentence),))


def fault_card() -> Card:
    """Says that an internal error occurred."""
    sentence = "Something went wrong. This is our fault, and it has been logged. Please try again."
    return Card("Something went wrong", sentence, (Text(sentence),))


_KINDS = (
    (
        "reminders",
        "Reminders",
        "one message before a round closes, if you have not answered and it would break your streak",
    ),
    ("results", "Results", "your own result when a round closes"),
)


def notifications_card(view: NotificationView) -> Card:
    """Shows a member's settings, with a button to change each."""
    on = {"reminders": view.reminders, "results": view.results}
    lines = [f"- **{name} {'on' if on[kind] else 'off'}:** {what}." for kind, name, what in _KINDS]
    where = (
        f"They come as private messages on {chat_words(view.platform)}. To get them elsewhere, change a setting there."
    )
    if view.platform == "web":
        where = "On the web your result is shown without a message. Only you see reminders, in the quiz channel."
    blocks: list[Block] = [Text("\n".join(lines)), Small(where)]
    if view.refused:
        sentence = f"The latest message was refused: {stopped(escape(view.refused))} Nobody else is notified."
        blocks.insert(1, Text(f"**Not delivered.** {sentence}"))
    buttons = tuple(
        Button(
            f"{name}: turn {'off' if on[kind] else 'on'}", encode(SetNotification(kind, "off" if on[kind] else "on"))
        )
        for kind, name, _ in _KINDS
    )
    summary = ", ".join(f"{name.lower()} {'on' if on[kind] else 'off'}" for kind, name, _ in _KINDS)
    return Card("Your notifications", f"Your notifications: {summary}.", tuple(blocks), buttons)


def reminder_card(note: ReminderNote) -> Card:
    """Reminds a member of a round that closes soon."""
    until = until_markdown(note.closes_at, note.zone, None)
    sentence = f"Your streak of {plural(note.streak, 'round')} ends if you do not answer by {until}."
    return Card(
        title="Your streak is at risk",
        summary=in_brief(sentence, 200),
        blocks=(
            Text(f"{sentence} The question: {escape(in_brief(note.question.prompt, 200))}"),
            Small(about(note.question)),
            Small("You asked for reminders. Turn them off with `/quiz notify reminders off`."),
        ),
        buttons=(
            Button("Answer", encode(opening(note.ref, note.question)), "primary"),
            Button("Notifications", encode(Notifications())),
        ),
    )
