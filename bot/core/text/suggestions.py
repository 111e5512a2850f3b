"""Cards and forms of questions that members suggest, and of what moderators decide about them."""

from __future__ import annotations

from bot.core.actions import AcceptSuggestion, DeclineSuggestion, EditSuggestion, ReviewSuggestion, Suggest, encode
from bot.core.cards import Block, Button, Card, Code, Form, Small, Text, TextField
from bot.core.markup import escape
from bot.core.text.questions import about, question_blocks
from bot.core.text.results import answer_blocks, proof_blocks
from bot.core.text.words import and_list, code_words, day_words, in_brief, plural, stopped
from service.wire import (
    LONGEST_SUGGESTION,
    DecidedSuggestion,
    QuestionSuggested,
    SuggestedQuestion,
    SuggestionDecided,
    SuggestionProblem,
    SuggestionReceipt,
    SuggestionView,
    digest_of,
)

MOST_LISTED = 10
"""Suggestions in a list."""
TEMPLATE = """# tensors/views

## your-question · choice · mid

What does `x.t()` return for a matrix `x`?

- [x] A view of `x`
- [ ] A copy of `x` — a view shares its memory

### Why

`t()` swaps the strides and copies nothing.
"""
"""What the form begins with."""
PROBLEMS: dict[SuggestionProblem, str] = {
    "errors": "The checks found errors. Fix what they name below.",
    "no question": "No question was recognized in it. Write it like the example: a heading, the question, its answer.",
    "several questions": "It has several questions. Suggest them one at a time.",
    "no answer": "It has no answer. Mark the right options with `[x]`, or add a line that begins with `Answer:`.",
    "unreadable": "It is too complex to read. Use fewer lists and quotes inside one another.",
    "too many today": "You have reached the limit of suggestions for a day. Submit this one tomorrow.",
    "too many": "Too many of your suggestions are waiting. Submit this one when a moderator has decided one of them.",
}
"""Why a text cannot become a question yet, and what to do."""
SUGGEST = "Suggest a question"
NOTE = "Replace the example. Moderators see the question with your name; the reveal names you."
LABEL = "The question with its answer"
HINT = "The bank's Markdown: a topic, a heading with kind and level, the question, its answer."
_STATES = {
    "waiting": "It is waiting for a moderator.",
    "accepted": "It was accepted.",
    "declined": "It was declined.",
}


def suggest_form(draft: str) -> Form:
    """Asks a member for a question, beginning with their draft or else with an example."""
    return Form(
        title=SUGGEST,
        action=encode(Suggest()),
        fields=(_text_field(draft or TEMPLATE),),
        blocks=(Small(NOTE),),
        submit="Submit",
    )


def receipt_card(receipt: SuggestionReceipt) -> Card:
    """Confirms that a question was submitted, or says what to fix."""
    if receipt.problem:
        sentence = f"{PROBLEMS[receipt.problem]} Your text is kept: the button opens it again."
        blocks = (Text(sentence), *_findings(receipt.findings))
        edit = Button("Edit", encode(Suggest()), "primary")
        return Card("Not submitted yet", in_brief(sentence, 250), blocks, (edit,))
    sentence = submitted(receipt.id)
    return Card("Suggested", sentence, (Text(sentence), *_findings(receipt.findings)))


def submitted(suggestion: int) -> str:
    """Confirms that a question was submitted."""
    return f"Thank you. The moderators have suggestion {suggestion} now, and you get a message when they decide."


def state_words(view: SuggestionView) -> str:
    """Returns what was decided about a suggestion, with what follows. Markdown."""
    return f"{_STATES[view.state]} {decision_words(view)}".strip()


def decision_words(view: SuggestionView) -> str:
    """Returns why a suggestion was declined, or which question it is now; empty while it waits. Markdown."""
    if view.question:
        return f"It is question {code_words(view.question)}."
    return f"The reason was: {stopped(escape(view.reason))}" if view.reason else ""


def suggested_notice(fact: QuestionSuggested) -> Card:
    """Tells moderators of a new suggestion. The question comes with the button: a moderator may want to answer it."""
    sentence = f"Suggestion {fact.suggestion} is waiting for a moderator."
    how = f"The button shows moderators the question and its key; so does {_command(fact.suggestion)}."
    button = _review_button(fact.suggestion, "Review", primary=True)
    return Card("A question was suggested", sentence, (Text(sentence), Small(how)), (button,))


def decided_notice(fact: SuggestionDecided) -> Card:
    """Tells a member what was decided about their suggestion."""
    if fact.state == "accepted":
        sentence = f"Suggestion {fact.suggestion} is in the bank now as {code_words(fact.question)}. Thank you!"
        return Card("Your question was accepted", sentence, (Text(f"{sentence} Its reveal will name you."),))
    sentence = f"A moderator declined suggestion {fact.suggestion}."
    reason = (Text("The moderator says:"), Code(fact.reason, "")) if fact.reason else ()
    return Card("Your question was declined", sentence, (Text(sentence), *reason))


def waiting_card(views: tuple[SuggestionView, ...]) -> Card:
    """Lists the suggestions that wait, with a button for each of the first few."""
    if not views:
        return Card("Suggestions", "No suggestions are waiting.", (Text("No suggestions are waiting."),))
    shown = views[:MOST_LISTED]
    blocks: list[Block] = [Text(_heading(view)) for view in shown]
    if len(views) > len(shown):
        blocks.append(Small(f"And {len(views) - len(shown):,} more, once these are decided."))
    buttons = tuple(_review_button(view.id, f"Review {view.id}") for view in shown)
    return Card("Suggestions", f"{plural(len(views), 'suggestion')} waiting.", tuple(blocks), buttons)


def own_card(views: tuple[SuggestionView, ...]) -> Card:
    """Lists a member's own suggestions, the latest first, with what was decided."""
    again = Button(SUGGEST, encode(Suggest()))
    if not views:
        sentence = "You have suggested nothing yet."
        return Card("Your suggestions", sentence, (Text(sentence),), (again,))
    blocks: list[Block] = []
    for view in reversed(views[-MOST_LISTED:]):
        start = escape(in_brief(view.text, 120)) if view.text else ""
        blocks.append(Text(f"**Suggestion {view.id}**, {day_words(view.at.date())}. {state_words(view)}"))
        blocks += [Small(start)] if start else []
    return Card("Your suggestions", f"{plural(len(views), 'suggestion')}.", tuple(blocks), (again,))


def suggestion_card(view: SuggestedQuestion) -> Card:
    """Shows a moderator a suggestion as it is read, with its key and the findings."""
    suggestion, key = view.suggestion, view.key
    state = state_words(suggestion)
    blocks: list[Block] = [Text(_heading(suggestion)), Text(state)]
    if not suggestion.text:
        blocks.append(Text("Its author left, and what they wrote was erased."))
        return _suggestion(view, state, blocks, ())
    if key is not None:
        question = key.question
        blocks += [*question_blocks(question), *answer_blocks(key), *proof_blocks(key), Small(about(question))]
    else:
        blocks.append(Code(suggestion.text, ""))
    if view.problem:
        blocks.append(Text(f"**Not ready:** {PROBLEMS[view.problem]} **Edit** can do that."))
    if view.similar:
        asked = and_list([code_words(id) for id in view.similar])
        blocks.append(Text(f"**Nearly the same** as {asked}. `/quiz-admin bank stats ID` shows one of them."))
    blocks += _findings(view.findings)
    return _suggestion(view, state, blocks, _decisions(view))


def _suggestion(view: SuggestedQuestion, state: str, blocks: list[Block], buttons: tuple[Button, ...]) -> Card:
    number = view.suggestion.id
    return Card(f"Suggestion {number}", f"Suggestion {number}. {in_brief(state, 200)}", tuple(blocks), buttons)


def _decisions(view: SuggestedQuestion) -> tuple[Button, ...]:
    if view.suggestion.state != "waiting":
        return ()
    number = str(view.suggestion.id)
    accepting = AcceptSuggestion(number, digest_of(view.suggestion.text))
    accept = () if view.problem else (Button("Accept", encode(accepting), "primary"),)
    edit = Button("Edit", encode(EditSuggestion(number)))
    return (*accept, edit, Button("Decline", encode(DeclineSuggestion(number))))


def edit_form(view: SuggestionView) -> Form:
    """Asks a moderator for the changed text of a suggestion."""
    return Form(
        title=f"Suggestion {view.id}",
        action=encode(EditSuggestion(str(view.id))),
        fields=(_text_field(view.text),),
        blocks=(Small("It is not accepted yet: you see how it is read, with a button that accepts it."),),
        submit="Save",
    )


def decline_form(suggestion: int) -> Form:
    """Asks a moderator why a suggestion is declined."""
    return Form(
        title=f"Decline suggestion {suggestion}"[:45],
        action=encode(DeclineSuggestion(str(suggestion))),
        fields=(TextField("reason", "Why is it declined?", lines=4, max_length=1000),),
        blocks=(Small("Its author gets this as a private message, without your name."),),
        submit="Send",
    )


def decided_card(view: DecidedSuggestion) -> Card:
    """Confirms a decision."""
    if view.state == "accepted":
        sentence = (
            f"Suggestion {view.id} is in the bank `suggestions` as {code_words(view.question)}. The author is notified."
        )
        return Card("Accepted", sentence, (Text(sentence),))
    sentence = f"Suggestion {view.id} is declined. The author is notified, with your reason."
    return Card("Declined", sentence, (Text(sentence),))


def _text_field(text: str) -> TextField:
    return TextField("text", LABEL, text, HINT, 16, max_length=LONGEST_SUGGESTION)


def _findings(findings: str) -> tuple[Block, ...]:
    return (Text("**What the checks say:**"), Code(findings, "")) if findings else ()


def _heading(view: SuggestionView) -> str:
    return f"**Suggestion {view.id}** by {escape(view.by)}, {day_words(view.at.date())}"


def _command(suggestion: int) -> str:
    return code_words(f"/quiz-admin review suggestions {suggestion}")


def _review_button(suggestion: int, label: str, *, primary: bool = False) -> Button:
    return Button(label, encode(ReviewSuggestion(str(suggestion))), "primary" if primary else "plain")
