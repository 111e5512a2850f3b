"""Rules, help, snippets and troubles: texts that belong to no question."""

from __future__ import annotations

import textwrap

from bot.core.actions import Import, Next, Open, Snippet, Wanted, encode
from bot.core.cards import Block, Button, Card, Code, Form, Small, Table, Text, TextField
from bot.core.commands import Spec
from bot.core.markup import escape
from bot.core.wording.asking import CODE_LENGTH
from bot.core.wording.words import and_list, in_brief, minutes_words, percent, plural, sentence
from service.wire import ReportView, Rules, RunResult

_RUN_WORDS = {
    "ok": "It ran",
    "error": "It stopped with an error",
    "time": "It took too long and was stopped",
    "memory": "It took too much memory and was stopped",
    "output": "It printed too much and was stopped",
    "crash": "It crashed",
    "denied": "It tried something that is not allowed here",
    "internal": "It could not be run, which is our fault",
}
_WORTH_TELLING_MS = 1000
"""A wait for one's turn that a member has noticed."""


def rules_card(rules: Rules) -> Card:
    """How points and streaks are counted, with the numbers used."""
    base = and_list([f"{points} for {level}" for level, points in rules.base.items()])
    lines = [
        f"A right answer earns {base}; questions few get right earn more, and part of an answer earns its share.",
        _speed_sentence(rules),
        "The last answer before the close counts. What fails by our fault costs you nothing.",
        f"A streak counts the rounds you answered one after another. Every {plural(rules.freeze_every, 'round')} "
        f"earn a freeze, at most {rules.freeze_cap}; a freeze saves the streak when you miss a round.",
        "Days off, skipped and late rounds break no streak: a question missed by us is posted up to "
        f"{minutes_words(rules.catch_up_minutes)} late, or not at all.",
        "On a board, equal points are told apart by the share right, then by time taken; else the rank is shared.",
    ]
    return Card("Rules", f"A right answer earns {base}.", (Text("\n".join(f"- {line}" for line in lines)),))


def _speed_sentence(rules: Rules) -> str:
    if not rules.speed_bonus:
        return "There is no bonus for speed: take your time."
    window = minutes_words(round(rules.speed_window_s / 60))
    return f"A fast answer earns up to {percent(rules.speed_share)} more, falling to nothing after {window}."


def help_card(specs: tuple[Spec, ...]) -> Card:
    """All commands under one name, a line each."""
    name = specs[0].name
    groups = {spec.path[0]: [one for one in specs if one.path[0] == spec.path[0]] for spec in specs}
    rows = tuple(_help_row(group) for group in groups.values())
    more = f"`/{name} help COMMAND` says more of one."
    return Card(
        f"/{name}", f"{plural(len(specs), 'command')}.", (Table(("Command", "What it does"), rows), Small(more))
    )


def _help_row(group: list[Spec]) -> tuple[str, str]:
    if len(group) == 1:
        return group[0].words, group[0].help
    # A screenful is all that anybody reads, and a row of two lines makes every row two.
    words = textwrap.shorten(", ".join(spec.path[1] for spec in group), 54, placeholder=" …")
    return f"/{group[0].name} {group[0].path[0]} …", words


def spec_card(spec: Spec) -> Card:
    """One command with its arguments."""
    rows = tuple((one.name, one.help, one.kind.example) for one in spec.arguments)
    blocks: list[Block] = [Text(f"{spec.help} {'Admins only.' if spec.admin else ''}".strip()), Code(spec.usage, "")]
    if rows:
        blocks.append(Table(("Argument", "Meaning", "Such as"), rows))
        blocks.append(Small("Any argument may be given as `name:value`; put quotes around spaces."))
    return Card(spec.words, spec.help, tuple(blocks))


def snippet_form(code: str = "") -> Form:
    """An editor for a free run."""
    field = TextField("code", "Your program", code, "Python with torch; nothing is kept.", 12, True, CODE_LENGTH)
    return Form("Run a snippet", encode(Snippet()), (field,), submit="Run")


def run_card(result: RunResult) -> Card:
    """What a free run printed."""
    head = _RUN_WORDS[result.status]
    took = f" in {result.wall_ms:,.0f} ms, using {result.peak_mb:,.0f} MB" if result.status in ("ok", "error") else ""
    blocks: list[Block] = [Text(f"{head}{took}.")]
    if result.stdout:
        blocks.append(Code(result.stdout, ""))
    elif result.status == "ok":
        blocks.append(Text("It printed nothing. `print(…)` what you want to see."))
    if result.stderr:
        blocks += (Small("On the error stream:"), Code(result.stderr, ""))
    blocks.append(Small(_run_facts(result)))
    if result.truncated:
        blocks.append(Small("The output was cut; print less to see its end."))
    if result.queue_ms >= _WORTH_TELLING_MS:
        blocks.append(Small(f"It waited {result.queue_ms / 1000:.0f} s for its turn{_before(result.before)}."))
    if result.isolation == "weaker":
        blocks.append(Small("Run with weaker isolation than usual; `/quiz-admin doctor` says why."))
    return Card(head, f"{head}{took}. {in_brief(escape(result.stdout), 100)}".strip(), tuple(blocks))


def _run_facts(result: RunResult) -> str:
    """How it ended, where that is worth a word, what it computed for, and where."""
    ended = f"Signal {result.signal}" if result.signal else f"Exit code {result.exit_code}" if result.exit_code else ""
    where = "GPU" if result.device == "cuda" else "CPU"
    return " · ".join(filter(None, (ended, f"{result.cpu_ms:,.0f} ms of CPU time", f"on the {where}")))


def _before(runs: int) -> str:
    return "" if runs == 0 else ": 1 run was before it" if runs == 1 else f": {runs} runs were before it"


def no_card_left_card(wanted: Wanted) -> Card:
    """Nothing to practise."""
    kind = f"{wanted.kind} questions" if wanted.kind else ""
    named = " ".join(part for part in (wanted.level, escape(wanted.topic), kind) if part)
    about = f" for {named}" if named else ""
    text = f"Nothing is due{about}, and there is no new question either. Well done; come back tomorrow."
    everything = (Button("Practise everything", encode(Next())),) if named else ()
    return Card("All done", in_brief(text), (Text(text),), everything)


def reported_card(report: ReportView) -> Card:
    """Thanks for a report."""
    said = f"Thank you. Report {report.id} on question `{report.question}` is with the moderators."
    return Card("Reported", in_brief(said, 150), (Text(said),))


def import_form(name: str = "", text: str = "") -> Form:
    """A document of questions, pasted."""
    return Form(
        title="Import questions",
        action=encode(Import("apply")),
        fields=(
            TextField("name", "Name of the document", name, "Such as `tensors.md`.", max_length=200),
            TextField("text", "The document", text, "Markdown.", 16, max_length=1_000_000),
        ),
        blocks=(Text("An error keeps the whole document out, so check it first."),),
        submit="Import",
        extras=(Button("Only check", encode(Import("check"))),),
    )


def refused_card(message: str, ref: str = "") -> Card:
    """No, and why; with `ref` the way back to the question. `message` is Markdown of our own."""
    said = sentence(message)
    back = (Button("Back to the question", encode(Open(ref))),) if ref else ()
    return Card("That did not work", in_brief(said, 300), (Text(said),), back)


def unavailable_card() -> Card:
    """The service is away: ours, never the member's fault."""
    said = "The quiz is not answering just now. That is our fault, and nothing you did is lost: please try again."
    return Card("Please try again", said, (Text(said),))


def fault_card() -> Card:
    """Something we did not foresee."""
    said = "Something went wrong on our side. It is our fault and has been noted; please try again."
    return Card("Our fault", said, (Text(said),))
