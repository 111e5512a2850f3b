"""Private cards with keys: explanations, verdicts and practice. Shown only after the member may see the key."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from bot.core.actions import (
    NO_FILTER,
    Explain,
    Mark,
    Next,
    NextOf,
    Open,
    PracticeFilter,
    Report,
    ShowBoard,
    encode,
    fits,
    question_ref,
    read_trail,
    ref_with_filter,
)
from bot.core.cards import Block, Button, Card, Code, Form, Small, Table, Text
from bot.core.markup import escape, parse
from bot.core.markup.tree import Paragraph
from bot.core.text.code_results import case_words, cause_words, gpu_words
from bot.core.text.questions import about, lettered, question_blocks
from bot.core.text.words import (
    VERDICTS,
    and_list,
    in_brief,
    joined,
    led,
    moment_markdown,
    percent,
    plural,
    stopped,
    until_markdown,
    wait_words,
)
from service.wire import (
    AnswerInput,
    AnswerKey,
    AnswerResult,
    CaseView,
    Explanation,
    OptionKey,
    QuestionView,
    Raised,
    SessionProgress,
    ValueDiffers,
    VerdictNote,
    VerdictView,
)

_CASES_SHOWN = 30
_PASSED_SHOWN = 10
"""Cases of a verdict that are shown, and those that are if all passed."""


def answer_blocks(key: AnswerKey, chosen: tuple[str, ...] = (), *, brief: bool = False) -> tuple[Block, ...]:
    """Returns the key with the reason of every option; `chosen` are the reader's own.

    With `brief`, leaves out the wrong options that the reader did not choose.
    """
    blocks: list[Block] = []
    for option in right_first(key):
        if brief and not (option.right or option.id in chosen):
            continue
        mine = " (your choice)" if option.id in chosen else ""
        text = led(f"**{'Right' if option.right else 'Wrong'}{mine}:**", option.text)
        blocks.append(Text(_with_reason(text, option.reason) if option.reason else text, authored=True))
    if not key.options and key.answer:
        blocks.append(Text("**The document's answer:**" if key.quoted else "**The answer:**"))
        as_code = key.question.kind in ("value", "output", "code")
        language = "" if key.question.kind == "output" else "python"
        blocks.append(Code(key.answer, language) if as_code else Text(key.answer, authored=True))
    if key.why:
        blocks.append(Text(led("**Why:**", key.why), authored=True))
    if key.key_points:
        head = "The document says:" if key.quoted else "A complete answer covers:"
        points = "\n".join(f"- {point}" for point in key.key_points)
        blocks.append(Text(f"**{head}**\n\n{points}", authored=True))
    return tuple(blocks)


def _with_reason(text: str, reason: str) -> str:
    """Puts the reason right below its option. After a blank line, it would look as if it belonged to the next one.

    A program, list or table needs a blank line before it.
    """
    together = f"{text}  \n{reason}"
    option, below, blocks = parse(text).blocks, parse(reason).blocks, parse(together).blocks
    joint = (*option[-1:], *below[:1], *blocks[len(option) - 1 : len(option)])
    fits = len(blocks) == len(option) + len(below) - 1 and all(isinstance(one, Paragraph) for one in joint)
    return together if fits else f"{text}\n\n{reason}"


def right_first(key: AnswerKey) -> list[OptionKey]:
    """Returns the options, the right ones first."""
    return sorted(key.options, key=lambda option: not option.right)


def proof_blocks(key: AnswerKey) -> tuple[Block, ...]:
    """Returns the program that proves the key, and links."""
    proof = (Text("**Proof** (run it to see what is true):"), Code(key.proof)) if key.proof else ()
    links = (Small("Further reading: " + joined(*(f"<{link}>" for link in key.links))),) if key.links else ()
    source = joined(
        f"From {escape(key.question.source)}" if key.question.source else "",
        f"`{key.place.replace('`', chr(39))}`" if key.place else "",
        f"license {escape(key.question.license)}" if key.question.license else "",
    )
    return (*proof, *links, *((Small(source),) if source else ()))


def answer_in_brief(key: AnswerKey) -> str:
    """Returns the answer as a plain sentence."""
    if key.question.kind == "code":
        return "The answer is a program: see the explanation."
    right = [in_brief(option.text) for option in key.options if option.right]
    answer = " and ".join(right) or in_brief(key.answer)
    example = " to the example" if key.question.variant == "example" else ""
    head = "The document says" if key.quoted else f"The answer{example}"
    return f"{head}: {stopped(answer)}" if answer else "The round is closed."


def after_buttons(
    question: QuestionView, *, board: bool = False, wanted: PracticeFilter = NO_FILTER
) -> tuple[Button, ...]:
    """Returns the buttons for what to do after a question. `board` is for a message in the channel."""
    more = Next(topic=question.topic)
    buttons = [Button("Practice", encode(Next()))] if board else [Button("Next card", encode(wanted.next), "primary")]
    if question.kind == "code" and not board:
        buttons.append(Button("More code", encode(NextOf("code"))))
    if question.topic and fits(more) and len(question.topic) <= 50:
        buttons.append(Button(f"More on {question.topic}", encode(more)))
    if board:
        buttons.append(Button("The board", encode(ShowBoard("week", "channel"))))
    if fits(Report(question.id)):
        buttons.append(Button("Report a mistake", encode(Report(question.id))))
    return tuple(buttons)


def explain_card(explained: Explanation) -> Card:
    """Explains the key of a past question, and shows the member's own answer to it."""
    key = explained.key
    return Card(
        title="Answer and explanation",
        summary=answer_in_brief(key),
        blocks=(
            *question_blocks(key.question),
            *own_answer_blocks(key, explained.given, explained.verdict),
            *answer_blocks(key, (explained.given and explained.given.options) or ()),
            *proof_blocks(key),
            Small(about(key.question)),
        ),
        buttons=after_buttons(key.question),
    )


CLEARED: Final = "What you wrote was deleted: answers are kept for a limited time here. Your points stay."


def own_answer_blocks(
    key: AnswerKey, given: AnswerInput | None, verdict: VerdictView | None, *, letters: bool = False
) -> tuple[Block, ...]:
    """Returns the member's own answer with the verdict on it; nothing if they did not answer.

    With `letters`, the key's question has the options in the member's own order, so each option is named by its letter.
    """
    if given is None or given == AnswerInput():
        return ()
    head = f"**{verdict_title(verdict)}** " if verdict else ""
    if given.options is not None:
        seen = {id: f" **{letter}**" for letter, id, _ in lettered(key.question)} if letters else {}
        chosen = [option for option in key.options if option.id in given.options]
        lines = [led(f"{head}You chose{seen.get(option.id, '')}:", option.text) for option in chosen]
        return tuple(Text(text, authored=True) for text in lines or [f"{head}You chose no option."])
    if given.cleared:
        return (Text(f"{head}{CLEARED}"),)
    text, language = (given.code, "python") if given.code is not None else (given.text or "", "")
    passed = _verdict_sentence(verdict) if verdict and verdict.cases else ""
    return (Text(f"{head}{passed or 'You answered:'}"), Code(text, language))


def verdict_title(verdict: VerdictView) -> str:
    """Says how right an answer is, as a sentence."""
    if verdict.verdict == "system error":
        return "Not judged (our fault)."
    if verdict.credit is None:
        return "No program judges prose."
    if verdict.verdict == "awaits marking":
        return f"Confirmed: {percent(verdict.credit)}."
    if verdict.credit >= 1:
        return "Right!"
    return f"Partly right ({percent(verdict.credit)})." if verdict.credit > 0 else "Not this time."


def verdict_card(note: VerdictNote) -> Card:
    """Shows the verdict of a code answer to its author."""
    practiced = question_ref(note.ref).kind == "practice"
    closes = note.closes_at
    change = (
        f"You can submit again until {until_markdown(closes, note.zone, None)}; the last one counts." if closes else ""
    )
    back = f"This card comes back {moment_markdown(note.next_due, note.zone)}." if note.next_due else ""
    key = (*answer_blocks(note.key), *proof_blocks(note.key)) if note.key else ()
    wanted = read_trail(note.practicing)
    buttons = after_buttons(note.question, wanted=wanted if fits(wanted.next) else NO_FILTER)
    if closes or not practiced:
        buttons = (Button("Change my answer", encode(Open(note.ref)), "primary"),)
    elif note.verdict.verdict != "accepted":
        buttons = _retry_buttons(note, wanted)
    return Card(
        title=f"Your code: {VERDICTS[note.verdict.verdict]}",
        summary=_verdict_sentence(note.verdict),
        blocks=(
            *verdict_blocks(note.verdict),
            *key,
            *(Small(text) for text in (change, back) if text),
            Small(about(note.question)),
        ),
        buttons=buttons,
    )


def _retry_buttons(note: VerdictNote, wanted: PracticeFilter) -> tuple[Button, ...]:
    """Returns the buttons after code that failed in practice: try again, or give up and see the solution. They go on
    with the practice filter."""
    solution = Explain(note.question.id)
    return (
        Button("Try again", encode(Open(ref_with_filter(note.ref, wanted))), "primary"),
        *((Button("Show the solution", encode(solution)),) if fits(solution) else ()),
        Button("Next card", encode(wanted.next if fits(wanted.next) else Next())),
    )


def tried_card(verdict: VerdictView, ref: str) -> Card:
    """Shows the results of the visible examples."""
    return Card(
        title=_examples_title(verdict),
        summary=_verdict_sentence(verdict),
        blocks=(*verdict_blocks(verdict), Small("Only the examples were run. Nothing was submitted.")),
        buttons=(Button("Back to the question", encode(Open(ref))),),
    )


def _examples_title(verdict: VerdictView) -> str:
    if not verdict.cases:
        return f"Examples: {VERDICTS[verdict.verdict]}"
    passed = sum(case.verdict == "accepted" for case in verdict.cases)
    return f"Examples: {passed} of {len(verdict.cases)} passed"


def _verdict_sentence(verdict: VerdictView) -> str:
    if verdict.note == "needs gpu":
        return gpu_words(verdict.note)
    if verdict.verdict == "system error":
        return "We could not judge your code. This is our fault and costs you nothing. Please submit it again."
    passed = sum(case.verdict == "accepted" for case in verdict.cases)
    cases = f"{passed} of {plural(len(verdict.cases), 'case')} passed." if verdict.cases else ""
    return f"Your code {_was(verdict)}. {cases}".strip()


def _was(verdict: VerdictView) -> str:
    if verdict.verdict in ("accepted", "wrong"):
        return f"is {'right' if verdict.verdict == 'accepted' else 'not right yet'}"
    return VERDICTS[verdict.verdict]


def verdict_blocks(verdict: VerdictView) -> tuple[Block, ...]:
    """Describes a verdict case by case; inputs are shown for visible cases only."""
    blocks: list[Block] = [Text(_verdict_sentence(verdict))]
    if verdict.cause:
        blocks.append(Text(cause_words(verdict.cause)))
    if verdict.message:
        # A traceback marks its column, so keep the alignment.
        lines = "\n" in verdict.message
        message = Text(f"On the GPU: {escape(verdict.message)}" if verdict.on_gpu else escape(verdict.message))
        blocks += (Small("On the GPU:"),) if lines and verdict.on_gpu else ()
        blocks.append(Code(verdict.message, "") if lines else message)
    blocks += _failing(verdict.cases)
    if verdict.cases:
        blocks.append(_case_table(verdict.cases))
    if verdict.stdout:
        blocks += (Small("It printed:"), Code(verdict.stdout, ""))
    if verdict.judged:
        blocks += (Small("Your code:"), Code(verdict.judged))
    if verdict.note == "no gpu":
        blocks.append(Small(gpu_words(verdict.note)))
    if verdict.isolation == "weaker":
        blocks.append(Small("This ran with weaker isolation than usual. `/quiz-admin doctor` shows why."))
    return tuple(blocks)


def _failing(cases: tuple[CaseView, ...]) -> tuple[Block, ...]:
    failing = [case for case in cases if case.verdict != "accepted"]
    visible = next((case for case in failing if case.visible), None)
    if visible:
        return _failing_example(visible)
    if failing:
        return (Text("A hidden case failed. Its inputs are not shown, because they would give the answer away."),)
    return ()


def _failing_example(case: CaseView) -> tuple[Block, ...]:
    """Returns a failing visible case as call, expected and got, each in a block of its own."""
    shown = (("Call", case.shown), ("Expected", case.expected), ("Got", case.got))
    blocks = [block for label, text in shown if text for block in (Small(f"{label}:"), Code(text))]
    # A comparison says where large values differ; of small ones it says what the blocks say.
    words = "" if _is_shown(case) else case_words(case)
    message = (Text(escape(words)),) if words else ()
    return (Text(f"Case {case.number} {_case_words(case)}:"), *blocks, *message)


def _is_shown(case: CaseView) -> bool:
    """Returns whether the blocks with both results already say how they differ."""
    match case.difference:
        case ValueDiffers(expected=expected, got=got, where=""):
            return (expected, got) == (case.expected, case.got) and not case.on_gpu
        case Raised():
            return bool(case.got) and not case.on_gpu
        case _:
            return False


def _case_words(case: CaseView) -> str:
    return {"accepted": "passed", "wrong": "gave a wrong result"}.get(case.verdict, VERDICTS[case.verdict])


def _case_table(cases: tuple[CaseView, ...]) -> Table:
    well = all(case.verdict == "accepted" for case in cases)
    most = _PASSED_SHOWN if well else _CASES_SHOWN
    rows = tuple(
        (str(case.number), "visible" if case.visible else "hidden", _case_words(case)) for case in cases[:most]
    )
    rest = cases[most:]
    passed = sum(case.verdict == "accepted" for case in rest)
    more = f"{len(rest)} more, {'all passed' if well else f'{passed} of them passed'}"
    caption = f"Cases (and {more})" if rest else "Cases"
    return Table(("Case", "Kind", "Verdict"), rows, caption, (0,))


def practiced_card(receipt: AnswerResult, now: datetime, wanted: PracticeFilter = NO_FILTER) -> Card:
    """Shows the result of a practice or late answer, with a button for the next question."""
    late = receipt.status == "late"
    head = "Too late for this round" if late else practiced_title(receipt)
    blocks: list[Block] = []
    if late:
        blocks.append(Text("This round is closed, so your answer counts as practice and earns no points."))
        if receipt.verdict is None and receipt.given.code is not None:
            blocks.append(Text("It is being judged; you get the verdict in a private message."))
        elif receipt.verdict is None:
            blocks.append(Text("Whether it is right stays secret until the answer is revealed."))
    if receipt.verdict and (late or receipt.verdict.message):
        result = f"**{practiced_title(receipt)}.**" if late else ""
        blocks.append(Text(" ".join(part for part in (result, escape(receipt.verdict.message)) if part)))
    if receipt.key:
        # This card replaces the question, so show it again.
        blocks += question_blocks(receipt.key.question)
    if receipt.given.text is not None:
        blocks += (Small("You answered:"), Code(receipt.given.text, ""))
    buttons: tuple[Button, ...] = (Button("Next card", encode(wanted.next), "primary"),)
    if receipt.key:
        blocks += (*answer_blocks(receipt.key, receipt.given.options or ()), *proof_blocks(receipt.key))
        buttons = after_buttons(receipt.key.question, wanted=wanted)
    if receipt.next_due:
        blocks.append(Small(f"This card comes back {wait_words(now, receipt.next_due)}."))
    if receipt.progress and not late:
        blocks.append(_progress_block(receipt.progress))
    if receipt.key and receipt.key.question.kind == "open":
        blocks.append(Text("Compare the two, then mark which points your answer covers."))
        mark = Button("Mark my answer", encode(Mark(ref_with_filter(receipt.ref, wanted))), "primary")
        buttons = (mark, Button("Next card", encode(wanted.next)))
    if receipt.key:
        blocks.append(Small(about(receipt.key.question)))
    return Card(head, f"{head}. {answer_in_brief(receipt.key) if receipt.key else ''}".strip(), tuple(blocks), buttons)


def _progress_block(progress: SessionProgress) -> Block:
    """Describes the progress of a session of ten; after the tenth, how it went."""
    if progress.number < progress.of:
        return Small(f"{progress.number} of {progress.of} in this session, {progress.right} right so far.")
    missed = f" To review: {and_list([escape(topic) for topic in progress.missed[:3]])}." if progress.missed else ""
    return Text(
        f"**{progress.of} done: {progress.right} right.**{missed} That is enough for today; *Next card* continues, and "
        "`/quiz me` shows what you know."
    )


def practiced_title(receipt: AnswerResult) -> str:
    """Returns `Right`, `Wrong` or the share that is right."""
    if receipt.verdict is None:
        return "Compare with the answer" if receipt.key else "Saved as practice"
    if receipt.verdict.verdict == "system error":
        return "Not judged (our fault)"
    if receipt.verdict.credit is None:
        return "Compare with the answer"
    if receipt.verdict.credit >= 1:
        return "Right"
    return f"Partly right: {percent(receipt.verdict.credit)}" if receipt.verdict.credit > 0 else "Wrong"


# Forms that opened too late, and unreadable files


def reopen_card(form: Form) -> Card:
    """Offers a form by a button."""
    sentence = "This form took too long to open. Press the button to open it."
    return Card(form.title, sentence, (Text(sentence),), (Button("Open", form.action, "primary"),))


def file_too_long_card(name: str, most: int) -> Card:
    """Rejects a file that is too large."""
    sentence = f"The file `{escape(name)}` is longer than {most // 1000} kB, the limit. Send a shorter file."
    return Card("File too long", in_brief(sentence), (Text(sentence),))


def file_unread_card(name: str, why: str) -> Card:
    """Rejects a file that could not be downloaded. `why` explains the reason."""
    sentence = f"The file `{escape(name)}` could not be read. {why}"
    return Card("File not readable", in_brief(sentence), (Text(sentence),))
