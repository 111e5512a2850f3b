"""Cards with which members mark their own open answers and confirm those of others, and moderators credit them."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from bot.core.actions import (
    NO_FILTER,
    Compare,
    ConfirmMarks,
    Credit,
    Mark,
    PeerAnswers,
    PracticeFilter,
    ShareAnswer,
    encode,
    question_ref,
    ref_with_filter,
)
from bot.core.cards import Block, Button, Card, Code, Form, PickField, Small, Text
from bot.core.text.questions import about, question_blocks
from bot.core.text.results import answer_blocks
from bot.core.text.words import day_words, percent, plural, wait_words
from service.wire import AnswerCredit, AnswerKey, MarkingView, OpenAnswerView, PeerAnswer, WaitingAnswers

NONE_COVERED = "none"
"""Value of the option that stands for no key point."""
_CREDITS = (0, 50, 100)


def mark_button(ref: str, wanted: PracticeFilter = NO_FILTER) -> Button:
    """Returns the button that opens the marking form."""
    return Button("Mark my answer", encode(Mark(ref_with_filter(ref, wanted))), "primary")


def compare_button(ref: str) -> Button:
    """Returns the button that shows the member's answer beside the model answer, with their marks."""
    return Button("Mark my answer", encode(Compare(ref)), "primary")


def confirm_button(ref: str) -> Button:
    """Returns the button that shows the shared answers of others."""
    return Button("Confirm others' answers", encode(PeerAnswers(ref, "0")))


def marking_card(view: MarkingView, now: datetime, wanted: PracticeFilter = NO_FILTER) -> Card:
    """Shows a member their open answer beside the model answer, and how they marked it."""
    title = "Your answer" if view.marks is None else f"You marked {_covered(view.marks)}"
    return Card(
        title=title,
        summary=f"{title}. {_state(view, now)}",
        blocks=(
            *question_blocks(view.key.question),
            Small("You answered:"),
            Code(view.text, ""),
            *_model_blocks(view.key, view.marks),
            Text(_state(view, now)),
            Small(about(view.key.question)),
        ),
        buttons=_marking_buttons(view, wanted),
    )


def marking_form(view: MarkingView, wanted: PracticeFilter = NO_FILTER) -> Form:
    """Asks which key points the member's answer covers."""
    options = tuple((str(at), point) for at, point in enumerate(_points(view.key)))
    return Form(
        title="Mark your answer",
        action=encode(Mark(ref_with_filter(view.ref, wanted))),
        fields=(
            PickField(
                "points",
                "Which points does your answer cover?",
                (*options, (NONE_COVERED, "None of them")),
                several=True,
            ),
        ),
        blocks=(Small("You answered:"), Code(view.text, ""), Small("You can mark an answer only once.")),
        submit="Save",
    )


def peer_card(found: PeerAnswer | None) -> Card:
    """Shows another member's shared answer with its marks, to confirm or skip."""
    if found is None:
        sentence = "No answers to this question are waiting for confirmation."
        return Card("Nothing to confirm", sentence, (Text(sentence),))
    sentence = "Another member marked this answer. Do you agree with the marks?"
    return Card(
        title="Confirm an answer",
        summary=f"{sentence} {_covered(found.marks)} marked.",
        blocks=(
            *question_blocks(found.key.question),
            Text(sentence),
            Code(found.text, ""),
            *_model_blocks(found.key, found.marks),
            Small(f"{plural(found.left, 'more answer')} waiting." if found.left else "This is the last one waiting."),
        ),
        buttons=(
            Button("Confirm", encode(ConfirmMarks(found.ref, str(found.answer))), "primary"),
            Button("Skip", encode(PeerAnswers(found.ref, str(found.answer)))),
        ),
    )


def confirmed_card(ref: str, answer: str) -> Card:
    """Thanks for a confirmation."""
    sentence = "Confirmed. The author gets the points for the marked share."
    return Card(
        "Confirmed", sentence, (Text(sentence),), (Button("Next answer", encode(PeerAnswers(ref, answer)), "primary"),)
    )


def waiting_card(view: WaitingAnswers) -> Card:
    """Lists open answers without a credit, with buttons that set it."""
    if not view.answers:
        sentence = "No open answers are waiting for a credit."
        return Card("Open answers", sentence, (Text(sentence),))
    blocks: list[Block] = []
    for each in view.answers:
        blocks += _moderated(each)
    more = view.total - len(view.answers)
    if more:
        blocks.append(Small(f"{plural(more, 'more answer')} waiting."))
    blocks.append(Small("`/quiz-admin review credit ANSWER PERCENT` sets any credit from 0 to 100."))
    buttons = tuple(
        Button(f"Answer {each.answer}: {share}%", encode(Credit(str(each.answer), str(share))))
        for each in view.answers
        for share in _CREDITS
    )
    return Card("Open answers", f"{plural(view.total, 'open answer')} waiting.", tuple(blocks), buttons)


def credited_card(view: AnswerCredit) -> Card:
    """Confirms that a moderator set a credit."""
    sentence = (
        f"Answer {view.answer} has a credit of {percent(view.credit)}. The author is notified, and the audit log "
        "records this."
    )
    return Card("Credit set", sentence, (Text(sentence),))


def _points(key: AnswerKey) -> tuple[str, ...]:
    return key.key_points or ("It says the same as the model answer",)


def _covered(marks: Sequence[bool]) -> str:
    return f"{sum(marks)} of {plural(len(marks), 'point')}"


def _model_blocks(key: AnswerKey, marks: Sequence[bool] | None) -> tuple[Block, ...]:
    """Returns the model answer, and its key points with their marks."""
    if marks is None:
        return answer_blocks(key)
    lines = [
        f"- **{'Covered' if covered else 'Not covered'}:** {point}"
        for point, covered in zip(_points(key), marks, strict=True)
    ]
    return (*answer_blocks(key.model_copy(update={"key_points": ()})), Text("\n".join(lines), authored=True))


def _state(view: MarkingView, now: datetime) -> str:
    if view.credit is not None:
        return f"Confirmed: {percent(view.credit)} of the points."
    if view.marks is None:
        return "Compare the two, then mark which points your answer covers. Only you and moderators see the marks."
    if view.next_due is not None:
        return f"This card comes back {wait_words(now, view.next_due)}."
    if question_ref(view.ref).kind == "practice":
        return "You have marked this answer."
    if view.shared:
        return "Waiting for another member, or a moderator, to confirm it."
    return (
        "To earn the points for it, ask for confirmation: members who answered this question then see your text and "
        "your marks, without your name."
    )


def _marking_buttons(view: MarkingView, wanted: PracticeFilter) -> tuple[Button, ...]:
    practiced = question_ref(view.ref).kind == "practice"
    following = Button("Next card", encode(wanted.next)) if practiced else confirm_button(view.ref)
    if view.marks is None:
        return (mark_button(view.ref, wanted), following)
    if practiced or view.shared or view.credit is not None:
        return (following,)
    return (Button("Ask for confirmation", encode(ShareAnswer(view.ref)), "primary"), following)


def _moderated(view: OpenAnswerView) -> tuple[Block, ...]:
    shared = ", shared for confirmation" if view.shared else ""
    marked = f" Its author marked {_covered(view.marks)}." if view.marks is not None else ""
    return (
        Text(f"**Answer {view.answer}** of {day_words(view.day)}, question `{view.key.question.id}`{shared}.{marked}"),
        *question_blocks(view.key.question),
        *answer_blocks(view.key),
        Small("The member's text:"),
        Code(view.text, ""),
    )
