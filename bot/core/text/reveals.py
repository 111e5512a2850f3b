"""Cards of a closed round: the result in the channel, the reveal in the thread, and each member's own result."""

from __future__ import annotations

from bot.core.actions import GiveFeedback, MyResult, Next, Report, ShowSpeed, encode, fits
from bot.core.cards import Bar, Bars, Block, Button, Card, Code, Feedback, Small, Style, Table, Text
from bot.core.markup import escape
from bot.core.text.boards import board_table
from bot.core.text.marking import compare_button, confirm_button
from bot.core.text.questions import about, post_title, posted_blocks, question_blocks, question_card
from bot.core.text.results import (
    after_buttons,
    answer_blocks,
    answer_in_brief,
    own_answer_blocks,
    proof_blocks,
    right_first,
    verdict_title,
)
from bot.core.text.words import (
    VERDICTS,
    brief_markdown,
    day_words,
    in_brief,
    joined,
    mentions_of,
    moment_markdown,
    percent,
    person_markdown,
    plural,
)
from service.wire import (
    AnswerKey,
    ContestantAnswer,
    OutcomePost,
    PointsView,
    PostUpdate,
    RankChange,
    RevealPost,
    RoundResult,
)

CONTESTANT_LENGTH = 1000
"""Longest text of a model that is shown, characters."""


def reveal_card(post: RevealPost) -> Card:
    """Returns the reveal for the round's thread."""
    return Card(
        title="The answer",
        summary=f"{answer_in_brief(post.key)} {_right_of(post)}".strip(),
        blocks=(
            *_example_note(post.key),
            *answer_blocks(post.key),
            *_how_it_went(post),
            *_contestant(post),
            *_points(post),
            *_top(post),
            *proof_blocks(post.key),
            Small(about(post.key.question)),
            *_credit(post),
            *_next(post),
        ),
        buttons=(_result_button(post.ref), *_peer_button(post), *after_buttons(post.key.question, board=True)),
    )


def outcome_card(post: OutcomePost) -> Card:
    """Returns the result of a round in brief, for the channel."""
    answer = answer_in_brief(post.key)
    first = f" First with the right answer: **{person_markdown(post.first)}**." if post.first else ""
    return Card(
        title=f"Closed: {round_name(post)}",
        summary=f"{answer} {_right_of(post)}",
        blocks=(Text(f"**{escape(answer)}**"), Text(f"{_right_of(post)}{first}"), *_next(post)),
        buttons=(_result_button(post.ref), _practice_button()),
    )


def _example_note(key: AnswerKey) -> tuple[Block, ...]:
    if key.question.variant != "example":
        return ()
    sentence = "Everyone had their own variant. This explains the example in the channel; **My result** explains yours."
    return (Text(sentence), *question_blocks(key.question))


def update_card(update: PostUpdate) -> Card:
    """Returns the day's question as its message should look now: with the number of answers, or closed."""
    post = update.post
    if update.right is None:
        return question_card(post, update.answers)
    sentence = f"Closed: {_right_of(update)}"
    own = "Everyone had their own variant; this was an example. " if post.question.variant else ""
    return Card(
        title=post_title(post),
        summary=f"{in_brief(post.question.prompt, 120)} {sentence}",
        blocks=(
            *posted_blocks(post.question),
            Small(f"**{sentence}** {own}The explanation is in the replies."),
            Small(about(post.question)),
        ),
        buttons=(_result_button(post.ref), _practice_button()),
    )


def round_name(post: RevealPost | OutcomePost | RoundResult) -> str:
    """Names a round by its day and topic, such as a thread."""
    return joined("Extra question" if post.extra else "", day_words(post.day), post.key.question.topic)


def _practice_button() -> Button:
    return Button("Practice", encode(Next()))


def _result_button(ref: str) -> Button:
    return Button("My result", encode(MyResult(ref)), "primary")


def _peer_button(post: RevealPost) -> tuple[Button, ...]:
    return (confirm_button(post.ref),) if post.key.question.kind == "open" else ()


def _right_of(post: RevealPost | OutcomePost | PostUpdate, partly: str = "") -> str:
    """Says how many of the judged answers are right, or only how many answered if no program judges them."""
    if not post.answers:
        return "Nobody answered."
    question = post.post.question if isinstance(post, PostUpdate) else post.key.question
    if question.kind == "open":
        return f"{plural(post.answers, 'member')} answered. Members mark their own answers."
    judged = post.answers - post.unjudged
    right = f"{post.right} of {judged} answered right{partly}." if judged else ""
    waits = f"{plural(post.unjudged, 'answer')} {'is' if post.unjudged == 1 else 'are'} not judged yet."
    return f"{right} {waits}".strip() if post.unjudged else right


def _how_it_went(post: RevealPost) -> tuple[Block, ...]:
    if not post.answers:
        return (Text("Nobody answered this one."),)
    partly = (
        f", {percent(post.mean_credit)} of the credit on average"
        if post.mean_credit * (post.answers - post.unjudged) > post.right
        else ""
    )
    first = f" First with the right answer: **{person_markdown(post.first)}**." if post.first else ""
    line = Text(f"**How it went:** {_right_of(post, partly)}{first}")
    rows = _distribution(post)
    return (line, *((Bars(rows, "Answers"),) if rows else ()), *_how_to_mark(post.key))


def _how_to_mark(key: AnswerKey) -> tuple[Block, ...]:
    if key.question.kind != "open":
        return ()
    sentence = (
        "Every answer earned points for taking part. **My result** shows yours beside this one, to mark; others who "
        "answered, or a moderator, confirm the marks for the rest of the points."
    )
    return (Small(sentence),)


def _distribution(post: RevealPost) -> tuple[Bar, ...]:
    def share(count: int) -> float:
        return min(1.0, count / post.answers)

    if post.key.question.variant:
        return ()  # answers to different variants cannot be compared
    if post.key.options:
        return tuple(
            Bar(
                brief_markdown(option.text),
                option.chosen_by,
                share(option.chosen_by),
                "right" if option.right else "wrong",
            )
            for option in right_first(post.key)
        )
    if not post.wrong_texts:
        return ()
    right = Bar(brief_markdown(f"`{post.key.answer}`"), post.right, share(post.right), "right")
    wrong = (Bar(escape(text.strip()[:60]), count, share(count), "wrong") for text, count in post.wrong_texts)
    return (right, *wrong)


def _contestant(post: RevealPost) -> tuple[Block, ...]:
    """Shows what the model that takes part answered. It was written by a machine: all of it is escaped."""
    found = post.contestant
    if found is None:
        return ()
    name = f"**{escape(found.model)}** (a bot, not ranked)"
    match found.problem:
        case "no model":
            return (
                Small("A model should have answered too, but the operator of this installation has not set one up."),
            )
        case "no answer":
            return (Text(f"{name} gave no answer."),)
        case "invalid answer":
            return (Text(f"{name} gave no valid answer."),)
    given, judged = found.given, _contestant_verdict(found)
    if given is None:
        return ()
    if given.code is not None:
        return (Text(f"{name} submitted{judged}:"), Code(_cut(given.code), "python"))
    if given.text is not None:
        shown = Text(escape(_cut(given.text))) if post.key.question.kind == "open" else Code(_cut(given.text), "")
        return (Text(f"{name} answered{judged}:"), shown)
    texts = {option.id: option.text for option in post.key.options}
    chosen = "; ".join(brief_markdown(texts[id_]) for id_ in given.options or () if id_ in texts)
    return (Text(f"{name} answered{judged}: {chosen}"),)


def _contestant_verdict(found: ContestantAnswer) -> str:
    if found.verdict is None or found.verdict == "awaits marking":
        return ""
    if found.verdict == "accepted":
        return ", right"
    return f", {percent(found.credit)} right" if found.credit else f", {VERDICTS[found.verdict]}"


def _cut(text: str) -> str:
    kept = text.strip()
    return kept if len(kept) <= CONTESTANT_LENGTH else f"{kept[: CONTESTANT_LENGTH - 1]}…"


def _credit(post: RevealPost) -> tuple[Block, ...]:
    return (Small(f"Suggested by {escape(post.suggested_by)}."),) if post.suggested_by else ()


def _points(post: RevealPost) -> tuple[Block, ...]:
    if not post.points:
        return ()
    rows = tuple((person.name, f"{person.points:+}", plural(person.streak, "round")) for person in post.points)
    more = (Small(f"And {post.unnamed:,} more."),) if post.unnamed else ()
    heads = ("Name", "Points", "Streak")
    return (Table(heads, rows, "Points for this question", (1,), members=mentions_of(post.points)), *more)


def _top(post: RevealPost) -> tuple[Block, ...]:
    return (board_table(post.board, "Top of the board"),) if post.board else ()


def _next(post: RevealPost | OutcomePost) -> tuple[Block, ...]:
    return (Small(f"Next question: {moment_markdown(post.next_at, post.zone)}."),) if post.next_at else ()


def result_card(result: RoundResult) -> Card:
    """Shows a member their own result of a closed round, and the next step."""
    if result.given is None:
        return _absent_card(result)
    key, chosen = result.key, result.given.options or ()
    title = "Your result"
    head = verdict_title(result.verdict) if result.verdict else _unjudged(result)
    facts = [points_line(result.points), streak_line(result), rank_line(result.rank)]
    return Card(
        title=f"{title}: {round_name(result)}",
        summary=" ".join(part for part in (head, _points_in_brief(result), answer_in_brief(key)) if part),
        blocks=(
            *(() if result.verdict else (Text(head),)),
            *own_answer_blocks(key, result.given, result.verdict, letters=True),
            Text("\n".join(f"- {fact}" for fact in facts if fact)),
            *answer_blocks(key, chosen, brief=True),
            Small("Share it without giving the answer away:"),
            Code(share_line(result), ""),
            Small(about(key.question)),
        ),
        buttons=_next_step(result),
        feedback=feedback(result),
    )


def feedback(result: RoundResult) -> Feedback | None:
    """Asks a member who answered whether the question was a good one. What they said is marked, and can be changed."""
    if result.given is None:
        return None
    asked = "Was this a good question?"
    if result.liked is not None:
        said = "a good question" if result.liked else "not a good question"
        asked = f"You said this is {said}. Thank you! You can change your answer."
    good, poor = (
        Button(
            f"{word} (your answer)" if result.liked is liked else word,
            encode(GiveFeedback(result.ref, "yes" if liked else "no")),
            pressed=result.liked is liked,
        )
        for word, liked in (("Good question", True), ("Not a good one", False))
    )
    return Feedback(asked, good, poor)


def share_line(result: RoundResult) -> str:
    """Returns a line about the member's week that says nothing about the question."""
    week = f"{result.week_right}/{result.week_asked}" if result.week_asked else ""
    return joined(f"Dailygrad {result.number}", week, f"streak {result.streak}")


def _absent_card(result: RoundResult) -> Card:
    sentence = "You did not answer this one. It costs you no points, and practicing it now teaches you the same."
    return Card(
        title=f"You did not answer: {round_name(result)}",
        summary=f"You did not answer this one. {answer_in_brief(result.key)}",
        blocks=(
            Text(sentence),
            Text("**The question was:**"),
            *question_blocks(result.key.question),
            *answer_blocks(result.key),
            Small(about(result.key.question)),
        ),
        buttons=_next_step(result),
    )


def _unjudged(result: RoundResult) -> str:
    if result.key.question.kind == "code":
        return "Your code is still being judged. The verdict comes in a private message."
    return "Your answer could not be judged. This is our fault and costs you nothing."


def _points_in_brief(result: RoundResult) -> str:
    return f"{plural(result.points.total, 'point')}." if result.points else ""


def points_line(points: PointsView | None) -> str:
    """Says how many points an answer earned, and for what. Markdown."""
    if points is None:
        return ""
    if points.own:
        return "**No points** (you suggested this question)"
    reasons = [f"a right answer earned {points.full}"]
    if points.taking_part:
        reasons = [f"{points.taking_part} for taking part; a fully right answer earns {points.full}"]
    if points.share_right is not None:
        reasons[0] += f", because {percent(points.share_right)} of earlier answers were right"
    if points.bonus:
        reasons.append(f"{points.bonus} for a fast answer")
    if points.confidence:
        reasons.append(f"{points.confidence:+} for how sure you were")
    if points.hint:
        reasons.append(f"{points.hint:+} for the hint")
    if points.confirmed:
        reasons.append(f"{points.confirmed:+} for what others confirmed")
    if points.corrected:
        reasons.append(f"{points.corrected:+} because the question was corrected")
    return f"**{plural(points.total, 'point')}** ({'; '.join(reasons)})"


def streak_line(result: RoundResult) -> str:
    """Says how long the streak is. Markdown."""
    unchanged = "; extra questions leave it as it is" if result.extra else ""
    return f"**Streak:** {plural(result.streak, 'round')}{unchanged}" if result.streak else ""


def rank_line(rank: RankChange, week: str = "this week") -> str:
    """Says how the round changed the rank on the board of `week`. Markdown."""
    if rank.after is None:
        return ""
    place = f"**Rank:** {rank.after} of {rank.total} {week}"
    if rank.before is None:
        return f"{place}, new on the board"
    if rank.before == rank.after:
        return f"{place}, as before"
    return f"{place}, {'up' if rank.after < rank.before else 'down'} from {rank.before}"


def marking_buttons(result: RoundResult) -> tuple[Button, ...]:
    """Returns the buttons with which a member who answered an open question marks it, and confirms others' marks."""
    if result.key.question.kind != "open" or result.given is None:
        return ()
    return compare_button(result.ref), confirm_button(result.ref)


def _next_step(result: RoundResult) -> tuple[Button, ...]:
    question = result.key.question
    similar = Next(topic=question.topic)
    buttons = list(marking_buttons(result))
    style: Style = "plain" if buttons else "primary"
    buttons.append(Button("Practice a similar one", encode(similar if fits(similar) else Next()), style))
    if result.measured:
        buttons.append(Button("Speed board", encode(ShowSpeed(result.ref, "time"))))
    if fits(Report(question.id)):
        buttons.append(Button("Report a mistake", encode(Report(question.id))))
    return tuple(buttons)
