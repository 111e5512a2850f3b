"""Cards of sprints: the announcement, the questions, their answers with the standings, and the podium."""

from __future__ import annotations

import math
from typing import Final, assert_never

from bot.core.actions import Explain, Report, encode, fits
from bot.core.cards import Bar, Bars, Block, Button, Card, Charted, Small, Table, Text
from bot.core.charts import PodiumChart, PodiumPlace
from bot.core.markup import escape
from bot.core.text.questions import about, example_note, opening, posted_blocks, question_blocks
from bot.core.text.results import answer_blocks, answer_in_brief, right_first
from bot.core.text.words import (
    MEDALS,
    brief_markdown,
    in_brief,
    joined,
    mentions_of,
    moment_markdown,
    person_markdown,
    plural,
)
from service.wire import (
    Fate,
    LiveSprint,
    SprintAnnouncement,
    SprintPodium,
    SprintQuestionPost,
    SprintReveal,
    SprintStanding,
    SprintView,
)

_WRONG_FIELDS: Final = {
    "questions": "Choose 1 to 20 questions.",
    "seconds": "Choose 10 to 120 seconds for each question.",
    "topic": "The topic is too long. It takes at most 100 characters.",
    "at": "To plan a sprint, add its time, such as 16:00.",
    "day": "Choose the day, or leave it empty.",
}


def not_planned(field: str) -> str:
    """Says what is wrong with a field of the form that plans a sprint."""
    return _WRONG_FIELDS[field]


_FATES: dict[Fate, str] = {
    "": "",
    "started": "It has started.",
    "cancelled": "It was canceled.",
    "missed": "It was canceled: nothing could start it at its time.",
    "no questions": "It was canceled: no question fits any more.",
}


def sprint_card(post: SprintAnnouncement | SprintQuestionPost | SprintReveal | SprintPodium) -> Card:
    """Returns the card of what a sprint posts."""
    match post:
        case SprintAnnouncement():
            return announcement_card(post)
        case SprintQuestionPost():
            return sprint_question_card(post)
        case SprintReveal():
            return sprint_reveal_card(post)
        case SprintPodium():
            return podium_card(post)


def announcement_card(post: SprintAnnouncement) -> Card:
    """Announces to the channel that a sprint starts, or when one is planned for."""
    about_topic = f" on {escape(post.topic)}" if post.topic else ""
    length = f"{plural(post.total, 'question')}{about_topic}, {post.seconds} seconds each"
    how = "Press **Answer** below a question and answer privately. The faster you are right, the more points you get."
    if post.starts_at is None:
        sentence = f"{length}. The first one comes in {post.starts_in_s} seconds."
        return Card("Sprint", in_brief(sentence, 200), (Text(f"**{sentence}**"), Text(how)))
    sentence = f"{length}. It starts {moment_markdown(post.starts_at, post.zone)}."
    fate = _FATES[post.fate]
    more = Text(f"**{fate}**") if fate else Text(how)
    return Card("Sprint planned", f"{in_brief(sentence, 160)} {fate}".strip(), (Text(f"**{sentence}**"), more))


def sprint_question_card(post: SprintQuestionPost) -> Card:
    """Returns a question with the time left and the number of answers, or closed."""
    if post.right is None:
        left = f"{plural(post.seconds if post.left_s is None else post.left_s, 'second')} left"
        state = f"**{left}**" + (f" · {plural(post.answers, 'answer')} so far" if post.answers else "")
        buttons: tuple[Button, ...] = (Button("Answer", encode(opening(post.ref, post.question)), "primary"),)
        note = example_note(post.question)
    else:
        left = f"Time is up. {_right_of(post.right, post.answers)}"
        own = " Everyone had their own variant; this was an example." if post.question.variant else ""
        state, buttons, note = f"**{left}**{own}", (), ()
    return Card(
        title=joined("Sprint", _number(post)),
        summary=f"{in_brief(post.question.prompt, 120)} {left}",
        blocks=(*posted_blocks(post.question), *note, Text(state), Small(about(post.question))),
        buttons=buttons,
    )


def sprint_reveal_card(post: SprintReveal) -> Card:
    """Returns the answer to a question, what members chose, and the standings."""
    question, right = post.key.question, _right_of(post.right, post.answers)
    fastest = post.fastest
    first = f" Fastest: **{person_markdown(fastest)}** in {fastest.ms / 1000:.1f} s." if fastest else ""
    own = (Button("Explain mine", encode(Explain(post.family))),) if post.family and fits(Explain(post.family)) else ()
    report = (Button("Report a mistake", encode(Report(question.id))),) if fits(Report(question.id)) else ()
    return Card(
        title=joined("Answer", _number(post)),
        summary=f"{answer_in_brief(post.key)} {right}",
        blocks=(
            *_example_note(post),
            *answer_blocks(post.key, brief=True),
            Text(f"{right}{first}"),
            *_distribution(post),
            *standings_blocks(post),
        ),
        buttons=(*own, *report),
    )


def podium_card(post: SprintPodium) -> Card:
    """Returns the result of a sprint."""
    best = [one for one in post.standings if one.rank in MEDALS]
    lines = [
        f"{MEDALS[one.rank]} **{person_markdown(one)}**: {plural(one.points, 'point')}, "
        f"{one.right} of {post.asked} right"
        for one in best
    ]
    places = tuple(PodiumPlace(one.rank, one.name, plural(one.points, "point")) for one in best)
    rest = post.standings[len(best) :]
    cut = f" It was stopped after {post.asked} of {plural(post.total, 'question')}." if post.asked < post.total else ""
    players = f"{plural(post.players, 'member')} played." if post.players else "Nobody played."
    # Hidden members may have points, so this says no more than what everyone sees.
    players += " Nobody reached the podium." if post.players and not best else ""
    winners = ", ".join(in_brief(escape(one.name)) for one in best if one.rank == 1)
    return Card(
        title="Sprint: the podium",
        summary=f"{f'Winner: {winners}. ' if winners else ''}{players}{cut}",
        blocks=(
            *((Charted("\n\n".join(lines), PodiumChart(places)),) if lines else ()),
            *_table(rest, post.unnamed, "Further places"),
            Text(f"{players}{cut}"),
        ),
    )


def started_card(view: SprintView) -> Card:
    """Confirms to an admin that a sprint starts."""
    topic = f" on {escape(view.topic)}" if view.topic else ""
    sentence = (
        f"{plural(view.total, 'question')}{topic}, {view.seconds} seconds each. It is announced in the channel now."
    )
    return Card(
        "Sprint started", in_brief(sentence), (Text(sentence), Text("`/quiz-admin sprint stop` ends it early."))
    )


def planned_card(view: SprintView) -> Card:
    """Confirms to an admin that a sprint is planned."""
    sentence = f"{planned_words(view)} It is announced in the channel now."
    cancel = "`/quiz-admin sprint cancel` cancels it, `/quiz-admin sprint list` shows all."
    return Card("Sprint planned", in_brief(sentence, 200), (Text(sentence), Text(cancel)))


def cancelled_card(view: SprintView) -> Card:
    """Confirms to an admin that a planned sprint is canceled."""
    sentence = f"{planned_words(view)} It is canceled, and its message says so."
    return Card("Sprint canceled", in_brief(sentence, 200), (Text(sentence),))


def list_card(planned: tuple[SprintView, ...]) -> Card:
    """Lists the planned sprints."""
    if not planned:
        sentence = "No sprint is planned. `/quiz-admin sprint start at:18:00` plans one."
        return Card("Planned sprints", in_brief(sentence, 200), (Text(sentence),))
    lines = [f"- {escape(one.channel)}: {planned_words(one)}" for one in planned]
    return Card("Planned sprints", f"{plural(len(planned), 'sprint')} planned.", (Text("\n".join(lines)),))


def planned_words(view: SprintView) -> str:
    """Returns a planned sprint in a sentence. Markdown."""
    topic = f" on {escape(view.topic)}" if view.topic else ""
    when = f", {moment_markdown(view.starts_at, view.zone)}" if view.starts_at else ""
    return f"{plural(view.total, 'question')}{topic}, {view.seconds} seconds each{when}."


def stopped_card(view: SprintView) -> Card:
    """Confirms to an admin that a sprint ends early."""
    sentence = f"{view.asked} of {plural(view.total, 'question')} were asked. The podium follows in the channel."
    return Card("Sprint stopped", sentence, (Text(sentence),))


# Words of the sprint's page


def live_title(live: LiveSprint) -> str:
    """Returns how far a sprint is."""
    number = f"Question {live.number} of {live.total}"
    match live.state:
        case "announced":
            return "The first question comes in a moment"
        case "posting":
            return f"{number} is on its way"
        case "asking":
            return number
        case "pausing":
            return f"The answer to question {live.number} of {live.total}"
        case "over":
            return "The podium"
        case _ as never:
            assert_never(never)


def length_words(live: LiveSprint) -> str:
    """Returns how long a sprint is."""
    topic = f" on {live.topic}" if live.topic else ""
    return f"{plural(live.total, 'question')}{topic}, {live.seconds} seconds each"


def left_words(live: LiveSprint) -> tuple[str, str, str]:
    """Returns the time left when the page was made, as the words before it, the seconds, and the words after it."""
    seconds = plural(math.ceil(live.left_s or 0), "second")
    if live.state == "asking":
        return "", seconds, " left"
    if live.state == "announced":
        return "First question in ", seconds, ""
    return "Podium in " if live.number == live.total else "Next question in ", seconds, ""


def answers_words(answers: int) -> str:
    """Returns how many answered the current question."""
    return f"{plural(answers, 'answer')} so far"


def own_words(live: LiveSprint) -> str:
    """Returns how the member did; empty if they have not answered yet."""
    mine = live.mine
    if mine is None:
        return ""
    rank = f", rank {mine.rank}" if mine.rank else ""
    total = f"You have {plural(mine.points, 'point')}{rank}."
    if live.state != "pausing" or mine.credit is None:
        return total
    outcome = "Right" if mine.credit == 1 else "Partly right" if mine.credit else "Not right this time"
    return f"{outcome}: {plural(mine.earned, 'point')}. {total}"


def reveal_blocks(live: LiveSprint) -> tuple[Block, ...]:
    """Returns the answer to the question before; while another is asked, only the standings."""
    post = live.reveal
    if post is None or live.state == "over":
        return ()
    return sprint_reveal_card(post).blocks if live.state == "pausing" else standings_blocks(post)


def standings_blocks(post: SprintReveal) -> tuple[Block, ...]:
    """Returns the standings after a question."""
    return _table(post.standings, post.unnamed, "Standings")


def _number(post: SprintQuestionPost | SprintReveal) -> str:
    return f"question {post.number} of {post.total}"


def _right_of(right: int, answers: int) -> str:
    return f"{right} of {answers} answered right." if answers else "Nobody answered."


def _example_note(post: SprintReveal) -> tuple[Block, ...]:
    if not post.family:
        return ()
    sentence = "Everyone had their own variant. This explains the example; **Explain mine** explains yours."
    return (Text(sentence), *question_blocks(post.key.question))


def _distribution(post: SprintReveal) -> tuple[Block, ...]:
    if not post.answers or not post.key.options or post.family:
        return ()  # answers to different variants cannot be compared
    rows = tuple(
        Bar(
            brief_markdown(option.text),
            option.chosen_by,
            min(1.0, option.chosen_by / post.answers),
            "right" if option.right else "wrong",
        )
        for option in right_first(post.key)
    )
    return (Bars(rows, "Answers"),)


def _table(standings: tuple[SprintStanding, ...], unnamed: int, caption: str) -> tuple[Block, ...]:
    rows = tuple((str(one.rank), one.name, f"{one.points:,}", str(one.right)) for one in standings)
    more = (Small(f"And {unnamed:,} more."),) if unnamed else ()
    if not rows:
        return more
    heads = ("Rank", "Name", "Points", "Right")
    return (Table(heads, rows, caption, (0, 2, 3), members=mentions_of(standings)), *more)
