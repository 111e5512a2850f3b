"""Cards and forms with which moderators settle reports, and what members hear of them."""

from __future__ import annotations

from bot.core.actions import Review, Settle, encode
from bot.core.cards import Block, Button, Card, Code, Form, Small, Text, TextField
from bot.core.markup import escape
from bot.core.text.questions import about, posted_blocks, question_blocks
from bot.core.text.results import answer_blocks, proof_blocks
from bot.core.text.words import code_words, day_words, in_brief, plural, stopped
from service.wire import (
    MOST_REPORTS,
    QuestionReported,
    ReportedQuestion,
    ReportSettled,
    ReportView,
    SettledReport,
    Where,
)

MOST_LISTED = 10
"""Reports in a list."""
_STATES = {
    "open": "It is waiting for a moderator.",
    "dismissed": "It was dismissed: the question is right.",
    "fixed": "It is settled: the question was fixed.",
}


def reported_notice(fact: QuestionReported) -> Card:
    """Tells moderators of a new report. The key comes with the button: a moderator may not have answered yet."""
    title, number = "A question was reported", code_words(f"/quiz-admin review show {fact.report}")
    how = f"The button shows moderators the key as well; so does {number}."
    blocks: tuple[Block, ...] = (Text(f"Report {fact.report} is waiting for a moderator."), Small(how))
    if fact.question is not None:
        reason = f"**Report {fact.report}** on question {code_words(fact.question.id)}:"
        blocks = (Text(reason), Code(fact.text, ""), *posted_blocks(fact.question), Small(how))
    summary = f"{title}: {in_brief(escape(fact.text), 150)}" if fact.text else f"{title}."
    return Card(title, summary, blocks, (_review_button(fact.report, primary=True),))


def outcome_notice(fact: ReportSettled) -> Card:
    """Tells a member how their report was settled."""
    question = code_words(fact.question)
    if fact.state == "fixed":
        title, sentence = "Your report was right", f"A moderator fixed question {question}. Thank you for reporting it."
    else:
        title, sentence = "Your report was reviewed", f"A moderator looked at question {question} and left it as it is."
    answer = (Text("The moderator says:"), Code(fact.reason, "")) if fact.reason else ()
    return Card(title, sentence, (Text(sentence), *answer))


def reports_card(views: tuple[ReportView, ...]) -> Card:
    """Lists reported questions, with a button for each of the first few."""
    waiting = [view for view in views if view.state == "open"]
    if not waiting:
        return Card("Reports", "No reports are waiting.", (Text("No reports are waiting."),))
    blocks = [Text(f"{_heading(view)}\n\n{escape(view.text)}") for view in waiting[:MOST_LISTED]]
    buttons = tuple(_review_button(view.id, label=f"Review {view.id}") for view in waiting[:MOST_LISTED])
    more = " or more" if len(waiting) >= MOST_REPORTS else ""
    return Card("Reports", f"{plural(len(waiting), 'report')}{more} waiting.", tuple(blocks), buttons)


def report_card(view: ReportedQuestion) -> Card:
    """Shows a moderator a report beside its question with the key."""
    report, key = view.report, view.key
    state = _STATES[report.state] + (f" The answer was: {stopped(escape(report.reason))}" if report.reason else "")
    wrote = (Code(report.text, ""),) if report.text else (Text("Its author left, and what they wrote was erased."),)
    return Card(
        title=f"Report {report.id}",
        summary=f"Report {report.id} on question {report.question}. {state}",
        blocks=(
            Text(_heading(report)),
            *wrote,
            Text(state),
            *question_blocks(key.question),
            *answer_blocks(key),
            *proof_blocks(key),
            Text(_cure(view)),
            Small(about(key.question)),
        ),
        buttons=(
            Button("It was fixed", encode(Settle(str(report.id), "fixed")), "primary"),
            Button("Dismiss", encode(Settle(str(report.id), "dismissed"))),
        ),
    )


def settle_form(report: int, state: str) -> Form:
    """Asks a moderator what to tell the author of a report."""
    fixed = state == "fixed"
    label = "What was fixed?" if fixed else "Why is the question right?"
    return Form(
        title=f"Report {report}: {'fixed' if fixed else 'dismiss'}",
        action=encode(Settle(str(report), state)),
        fields=(TextField("reason", label, lines=4, max_length=1000, required=not fixed),),
        blocks=(Small("The member who reported it gets this as a private message, without your name."),),
        submit="Send",
    )


def settled_card(view: SettledReport) -> Card:
    """Confirms that a report is settled."""
    outcome = "the question was fixed" if view.state == "fixed" else "dismissed, because the question is right"
    text = f"Report {view.id} is settled: {outcome}. The author is notified."
    return Card("Settled", text, (Text(text),))


def review_here_card(where: Where) -> Card:
    """Confirms that moderators are notified in this channel."""
    name = code_words(where.name or where.channel)
    sentence = f"New reports are shown in {name} from now on. Everyone there can read them; only admins see the key."
    return Card("Reports come here", in_brief(sentence, 250), (Text(sentence),))


def review_me_card() -> Card:
    """Confirms that the admin is notified privately."""
    sentence = "New reports are sent to you privately from now on. `/quiz-admin review here` changes that."
    return Card("Reports come to you", in_brief(sentence, 250), (Text(sentence),))


def _heading(view: ReportView) -> str:
    return (
        f"**Report {view.id}**, {escape(view.by)} on question {code_words(view.question)}, {day_words(view.at.date())}:"
    )


def _cure(view: ReportedQuestion) -> str:
    retire = f"`/quiz-admin bank retire {view.report.question}` stops it from being asked here."
    if view.corrected:
        return "**The question was corrected since the report.** Answers to it have been judged again."
    if view.own:
        return (
            "**To fix it**, import the corrected document with `/quiz-admin bank import`: answers in closed rounds are "
            f"judged again. {retire}"
        )
    return f"**To fix it**, ask the operator: the bank is shared with other workspaces. {retire}"


def _review_button(report: int, label: str = "Review", *, primary: bool = False) -> Button:
    return Button(label, encode(Review(str(report))), "primary" if primary else "plain")
