"""Cards for questions and answers: the post in the channel, the private card or form, and the receipt. Never contain
a key."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from bot.core.actions import (
    NO_FILTER,
    Choose,
    Confide,
    Fill,
    Hint,
    Open,
    OpenCard,
    PracticeFilter,
    Report,
    Try,
    encode,
    fits,
    question_ref,
    ref_with_filter,
)
from bot.core.cards import (
    Block,
    Button,
    Card,
    Code,
    Content,
    Field,
    Form,
    Lettered,
    Options,
    PickField,
    Small,
    Text,
    TextField,
)
from bot.core.markup import escape
from bot.core.text.words import (
    CONFIDENCE_WORDS,
    LETTERS,
    and_list,
    code_words,
    day_words,
    in_brief,
    joined,
    minutes_words,
    moment_markdown,
    plural,
    seconds_markdown,
    seconds_words,
    until_markdown,
)
from service.wire import MANY_DUE, AnswerResult, AskForm, HintView, QuestionPost, QuestionView, TodayView

CODE_LENGTH = 20_000
"""Longest program that can be typed, characters."""
_UNSAID = "unsaid"
_HOW_SURE = (
    "**How sure are you?** If you are right, being sure earns most; if you are wrong, it costs most. A guess changes "
    "nothing. `/quiz rules` has the numbers."
)

_BULLET = "•"
_HINTS = {
    "value": "A Python literal, such as `3`, `(2, 3)`, `True`, `'float32'` or `[1, 2]`.",
    "output": "Exactly what the program prints, line by line.",
    "open": "A few sentences: say why, not only what.",
}
_LINES = {"value": 1, "output": 4, "open": 8}
_HOW = {
    "choice": "Choose one option.",
    "value": "Answer with a Python literal.",
    "output": "Answer with what the program prints.",
    "code": "Answer with code.",
    "open": "Answer in a few sentences.",
}


def about(question: QuestionView) -> str:
    """Returns the line in small print that describes a question, as Markdown."""
    made = "made from the document's own sentences" if question.generated else ""
    own = "your own variant" if question.variant == "own" else ""
    return joined(question.level or "", escape(question.topic), f"question {code_words(question.id)}", own, made)


def question_blocks(question: QuestionView) -> tuple[Block, ...]:
    """Returns the question without its options."""
    program = (Code(question.program),) if question.program else ()
    return (Text(question.prompt, authored=True), *program)


def example_blocks(ask: AskForm) -> tuple[Block, ...]:
    """Returns the visible cases of a code question: the calls with their results."""
    if not ask.examples:
        return ()
    lines = "\n".join(f">>> {one.call}\n{one.result}" for one in ask.examples)
    return (Text("**Examples:**"), Code(lines))


def how(question: QuestionView) -> str:
    """Describes the expected kind of answer."""
    if question.kind == "choice":
        count = plural(len(question.options), "option")
        return f"{count}; more than one may be right." if question.several else f"{count}; one is right."
    if question.kind == "code" and question.entry:
        return f"Answer with code: write `{question.entry}`."
    return _HOW[question.kind]


def question_card(post: QuestionPost, answers: int = 0) -> Card:
    """Returns the post of the day's question, with the number of answers so far."""
    until = until_markdown(post.closes_at, post.zone, None)
    late = f"Posted {minutes_words(post.late_minutes)} late. Sorry about that. " if post.late_minutes else ""
    count = f"**{plural(answers, 'answer')} so far.** " if answers else ""
    return Card(
        title=post_title(post),
        summary=f"{in_brief(post.question.prompt, 120)} Open until {in_brief(until)}.",
        blocks=(
            *posted_blocks(post.question),
            *example_note(post.question),
            Small(f"{late}{count}Open until {until}. Answers stay private until then; your last one counts."),
            Small(about(post.question)),
        ),
        buttons=(
            Button("Answer", encode(opening(post.ref, post.question)), "primary"),
            *hint_buttons(post.ref, post.question),
        ),
        ping=post.ping,
    )


def hint_buttons(ref: str, question: QuestionView) -> tuple[Button, ...]:
    """Returns the button that offers a hint, if the question has one."""
    return (Button("Hint", encode(Hint(ref, "ask"))),) if question.hint else ()


def hint_card(hint: HintView, ask: AskForm, now: datetime) -> Card:
    """Shows the question with its hint, or with what a hint costs; the answer can be given on the same card."""
    by_letter = by_button(ask.ref, ask.question)
    answering = Button(
        "Change my answer" if hint.answered else "Answer", encode(opening(ask.ref, ask.question)), "primary"
    )
    buttons = option_buttons(ask) if by_letter else (answering,)
    if not hint.taken:
        buttons += (Button(f"Show the hint (-{hint.cost})", encode(Hint(ask.ref, "take"))),)
    rules = (Small(_rules_line(ask, now)),) if ask.closes_at else ()
    asked = (*question_blocks(ask.question), *_options(ask), *(_chosen_line(ask) if by_letter else ()))
    title = "Hint" if hint.taken else "A hint?"
    summary = in_brief(hint.wrong.text if hint.wrong else hint.text or _offer(hint), 200)
    return Card(title, f"{title} {summary}", (*asked, *_hint_blocks(hint), *rules, Small(about(ask.question))), buttons)


def _offer(hint: HintView) -> str:
    return (
        f"The hint costs {plural(hint.cost, 'point')} of what your answer to this question earns. A wrong answer "
        "loses nothing."
    )


def _hint_blocks(hint: HintView) -> tuple[Block, ...]:
    if not hint.taken:
        return (Text(_offer(hint)),)
    cost = (Small(f"It costs {plural(hint.cost, 'point')} of what your answer earns."),) if hint.cost else ()
    if hint.wrong is not None:
        return (Text("**Hint:** this option is wrong:"), Options((Lettered(_BULLET, hint.wrong.text),)), *cost)
    return (Text("**Hint:**"), Text(hint.text, authored=True), *cost)


def post_title(post: QuestionPost) -> str:
    """Returns the title of a posted question."""
    return f"{'Extra question' if post.extra else 'Question'} for {day_words(post.day)}"


def posted_blocks(question: QuestionView) -> tuple[Block, ...]:
    """Returns the question as the channel sees it. Its options have no letters: each member has letters of their
    own."""
    options = (Options(tuple(Lettered(_BULLET, option.text) for option in question.options)),)
    return (*question_blocks(question), *(options if question.options else ()), Text(how(question)))


def example_note(question: QuestionView) -> tuple[Block, ...]:
    """Says that every member has a variant of their own, where what the channel sees is an example."""
    if question.variant != "example":
        return ()
    sentence = "**This is an example.** Everyone gets their own variant: **Answer** shows you yours."
    return (Text(sentence),)


def lettered(question: QuestionView) -> tuple[tuple[str, str, str], ...]:
    """Returns the options in the member's order: letter, id, text."""
    letters = [*LETTERS, *(a + b for a in LETTERS for b in LETTERS)]
    return tuple((letter, option.id, option.text) for letter, option in zip(letters, question.options, strict=False))


def _options(ask: AskForm) -> tuple[Block, ...]:
    rows = tuple(Lettered(letter, text) for letter, _, text in lettered(ask.question))
    return (Options(rows),) if rows else ()


def private_question(ask: AskForm, now: datetime) -> Content:
    """Returns the question for one member, as a card or a form."""
    return _choice_card(ask, now) if by_button(ask.ref, ask.question) else answer_form(ask, now)


def carrying(ask: AskForm, wanted: PracticeFilter) -> AskForm:
    """Adds the practice filter to a question, so that its buttons continue with it, if it fits."""
    more = ask.model_copy(update={"ref": ref_with_filter(ask.ref, wanted)})
    return more if by_button(more.ref, more.question) == by_button(ask.ref, ask.question) else ask


def opening(ref: str, question: QuestionView) -> Open | OpenCard:
    """Returns the action that opens a question; it tells whether a form is needed."""
    return OpenCard(ref) if by_button(ref, question) else Open(ref)


def by_button(ref: str, question: QuestionView) -> bool:
    """Returns whether a question is answered with a button rather than a form."""
    if question.kind != "choice" or question.several or len(question.options) > 20:
        return False
    return all(fits(Choose(ref, option.id)) for option in question.options)


def _choice_card(ask: AskForm, now: datetime) -> Card:
    return Card(
        title=_title(ask),
        summary=f"{in_brief(ask.question.prompt, 120)} {plural(len(ask.question.options), 'option')}.",
        blocks=(
            *question_blocks(ask.question),
            *_options(ask),
            *_chosen_line(ask),
            Small(_rules_line(ask, now)),
            Small(about(ask.question)),
        ),
        # In a round, the post offers the hint.
        buttons=(*option_buttons(ask), *(hint_buttons(ask.ref, ask.question) if ask.closes_at is None else ())),
    )


def _title(ask: AskForm) -> str:
    kind = question_ref(ask.ref).kind
    return "Practice" if kind == "practice" else "Duel" if kind == "duel" else "Your answer"


def _chosen_line(ask: AskForm) -> tuple[Block, ...]:
    return (Text(f"Your current answer: {given_words(ask)}."),) if ask.given else ()


def option_buttons(ask: AskForm) -> tuple[Button, ...]:
    """Returns a button per option; the current answer is labeled."""
    chosen = ask.given.options or () if ask.given else ()
    return tuple(
        Button(
            f"{letter} (your answer)" if id in chosen else letter,
            encode(Choose(ask.ref, id)),
            pressed=id in chosen,
        )
        for letter, id, _ in lettered(ask.question)
    )


def given_words(ask: AskForm) -> str:
    """Describes the member's answer by the letters they saw. Markdown."""
    chosen = ask.given.options or () if ask.given else ()
    return (
        and_list([f"**{letter}**" for letter, id, _ in lettered(ask.question) if id in chosen]) or "none of the options"
    )


def more_cards(due: int) -> str:
    """Returns how many more cards of practice are due, such as `2 more cards`."""
    return f"{due} or more cards" if due == MANY_DUE else plural(due, "more card")


def _rules_line(ask: AskForm, now: datetime) -> str:
    if question_ref(ask.ref).kind == "sprint":
        return "Your last answer counts, with the time you gave it. Faster is more points."
    if ask.closes_at is not None and question_ref(ask.ref).kind == "duel":
        return f"You have until {seconds_markdown(ask.closes_at, ask.zone)}. Your first answer counts."
    if ask.closes_at is None:
        return f"{more_cards(ask.due)} due today." if ask.due else "No more cards are due today."
    return f"Open until {until_markdown(ask.closes_at, ask.zone, now)}. The last answer before then counts."


def answer_form(ask: AskForm, now: datetime) -> Form:
    """Returns the form that answers a question of any kind, filled in with the member's answer."""
    code = ask.question.kind == "code"
    return Form(
        title=_title(ask),
        action=encode(Fill(ask.ref)),
        fields=(_field(ask), *_confidence_field(ask)),
        blocks=(
            *question_blocks(ask.question),
            *example_blocks(ask),
            Small(_rules_line(ask, now)),
            Small(about(ask.question)),
        ),
        submit="Submit" if code else "Answer",
        extras=(Button("Run the examples", encode(Try(ask.ref))),) if code else (),
    )


def _field(ask: AskForm) -> Field:
    question, given = ask.question, ask.given
    if question.kind == "choice":
        label = "Select all that are right." if question.several else "Which one is right?"
        options = tuple((id, f"**{letter}** {text}") for letter, id, text in lettered(ask.question))
        return PickField("options", label, options, (given.options or ()) if given else (), question.several)
    if question.kind == "code":
        before = given.code if given else None
        hint = f"Write `{question.entry}`. The examples and hidden cases call it." if question.entry else ""
        return TextField("code", "Your code", before or question.starter, hint, 16, True, CODE_LENGTH)
    text = (given.text if given else None) or ""
    return TextField("text", "Your answer", text, _HINTS[question.kind], _LINES[question.kind])


def _confidence_field(ask: AskForm) -> tuple[Field, ...]:
    if not ask.asks_confidence:
        return ()
    picked = (ask.given.confidence if ask.given else None) or _UNSAID
    options = (*CONFIDENCE_WORDS.items(), (_UNSAID, "I would rather not say"))
    return (PickField("confidence", "How sure are you?", options, (picked,)),)


def confidence_buttons(receipt: AnswerResult) -> tuple[Button, ...]:
    """Returns the buttons with which a member says how sure they are of the option that they chose."""
    options = receipt.given.options or ()
    if not receipt.asks_confidence or len(options) != 1:
        return ()
    chosen = receipt.given.confidence
    found = ((word, label, Confide(receipt.ref, word, options[0])) for word, label in CONFIDENCE_WORDS.items())
    return tuple(
        Button(f"{label} (your choice)" if word == chosen else label, encode(action), pressed=word == chosen)
        for word, label, action in found
        if fits(action)
    )


RECORDED: Final = "Your answer is recorded"
CHANGED: Final = "Your answer is changed"


def recorded_card(
    receipt: AnswerResult, ask: AskForm | None, now: datetime, wanted: PracticeFilter = NO_FILTER
) -> Card:
    """Confirms a recorded answer and offers to change it, or in practice to continue. `ask` is None if the question
    could not be fetched again."""
    judging = receipt.status == "judging"
    head = {"changed": CHANGED, "judging": "Your code is being judged…"}.get(receipt.status, RECORDED)
    closes = receipt.closes_at
    change = f"You can change it until {until_markdown(closes, receipt.zone, now)}." if closes else ""
    if question_ref(receipt.ref).kind == "sprint":
        change = "Until the time is up you can change it; then the later time counts."
    follow = _follow_sentence(receipt) if judging else ""
    given = "" if judging else " ".join(filter(None, (_given_sentence(receipt, ask), _confidence_sentence(receipt))))
    buttons: tuple[Button, ...] = ()
    if closes:
        buttons = (Button("Change my answer", encode(Open(receipt.ref))),)
    elif question_ref(receipt.ref).kind == "practice":
        buttons = (Button("Next card", encode(wanted.next)),)
    blocks: tuple[Block, ...] = tuple(Text(text) for text in (given, follow, change) if text)
    if ask is not None:
        # This card replaces the question, so show it again.
        blocks = (*blocks, *question_blocks(ask.question), *_options(ask))
        if by_button(ask.ref, ask.question):
            sure = confidence_buttons(receipt)
            blocks = (*blocks, Text(_HOW_SURE)) if sure else blocks
            buttons = (*option_buttons(ask), *sure)
    return Card(head, joined_summary(head, given, follow, change), (*blocks, *_typed(receipt)), buttons)


def _follow_sentence(receipt: AnswerResult) -> str:
    """Says when the verdict comes, and how many runs are queued before it."""
    if not receipt.before:
        return "You get the verdict in a private message, usually within seconds."
    many = plural(receipt.before, "answer is", "answers are")
    long = f", which takes about {seconds_words(receipt.wait_s)}" if receipt.wait_s >= 1 else ""
    return f"{many} judged before yours{long}; you get the verdict in a private message."


def joined_summary(head: str, *sentences: str) -> str:
    """Returns a plain summary made of a title and Markdown sentences."""
    rest = " ".join(in_brief(text, 200) for text in sentences if text)
    return f"{head}{'' if head.endswith('…') else '.'} {rest}".strip()


def _given_sentence(receipt: AnswerResult, ask: AskForm | None) -> str:
    if receipt.given.options is None:
        return ""
    if ask is None:
        return "Your choice is saved."
    chosen = ask.model_copy(update={"given": receipt.given})
    return f"You chose {given_words(chosen)}."


def _confidence_sentence(receipt: AnswerResult) -> str:
    chosen = receipt.given.confidence
    return f"How sure you are: “{CONFIDENCE_WORDS[chosen]}”." if chosen else ""


def _typed(receipt: AnswerResult) -> tuple[Block, ...]:
    if receipt.given.text is None:
        return ()
    return (Small("You answered:"), Code(receipt.given.text, ""))


def today_card(today: TodayView, now: datetime) -> Card:
    """Lists today's questions with the member's answers."""
    if not today.forms:
        return nothing_open_card(today)
    blocks: list[Block] = []
    buttons: list[Button] = []
    for ask in today.forms:
        state = "You answered it and can still change your answer." if ask.given else "Not answered yet."
        until = f" Open until {until_markdown(ask.closes_at, ask.zone, now)}." if ask.closes_at else ""
        blocks += (*question_blocks(ask.question), Text(f"{how(ask.question)} {state}{until}"))
        blocks.append(Small(about(ask.question)))
        buttons.append(answer_button(ask, alone=len(today.forms) == 1))
        if len(today.forms) == 1:
            buttons += hint_buttons(ask.ref, ask.question)
    count = plural(len(today.forms), "question")
    return Card("Today's question", f"{count} open.", tuple(blocks), tuple(buttons))


def answer_button(ask: AskForm, *, alone: bool) -> Button:
    """Returns the button that opens a question, named if there are several."""
    label = "Change my answer" if ask.given else "Answer"
    which = "" if alone else f": {ask.question.id}"[:60]
    action = encode(opening(ask.ref, ask.question))
    return Button(f"{label}{which}", action, "plain" if ask.given else "primary")


def nothing_open_card(today: TodayView) -> Card:
    """Says that no question is open here."""
    text = "No question is open in this channel."
    if today.next_at:
        text += f" Next question: {moment_markdown(today.next_at, today.zone)}."
    else:
        text = (
            "No question is open in this channel, and none is scheduled. An admin can add a schedule with "
            "`/quiz-admin setup`, or resume a paused one with `/quiz-admin schedule resume`."
        )
    return Card("Today's question", in_brief(text, 200), (Text(text), Text("Meanwhile, try `/quiz practice`.")))


def report_form(question: str, text: str = "", *, sure: bool = True) -> Form:
    """Returns the form for a report. The member enters or corrects the id of the question unless it is given, `sure`,
    and short enough for a button."""
    carried = sure and bool(question) and fits(Report(question))
    naming = TextField("question", "Id of the question", question, "Shown on the question's card.", max_length=200)
    wrong = TextField("text", "What is wrong with it?", text[:2000], lines=4, max_length=2000)
    return Form(
        title="Report a question",
        action=encode(Report(question if carried else "")),
        fields=(*(() if carried else (naming,)), wrong),
        blocks=(
            Small(f"{f'About question `{question}`. ' if carried else ''}Moderators see your report with your name."),
        ),
        submit="Report",
    )
