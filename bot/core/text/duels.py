"""Cards of duels: the challenge, what is left to answer, the result with the answers, and the ladder of ratings."""

from __future__ import annotations

from typing import Final, assert_never

from bot.core.actions import (
    Challenge,
    Open,
    Rematch,
    RespondDuel,
    ShowDuel,
    ShowDuels,
    ShowLadder,
    encode,
)
from bot.core.cards import Block, Button, Card, Form, MemberField, Small, Table, Text, TextField
from bot.core.limits import BUTTON_LABEL
from bot.core.markup import escape
from bot.core.text.results import answer_in_brief
from bot.core.text.words import in_brief, mentions_of, minutes_words, moment_markdown, person_markdown, plural
from service.wire import DuelAnswer, DuelPlayer, DuelPost, DuelReview, DuelTurn, DuelView, Ladder, LadderRow, MyDuels

_LADDER: Final = Button("Ladder", encode(ShowLadder()))
_MINE: Final = Button("My duels", encode(ShowDuels()))
_CHALLENGE: Final = Button("Challenge a member", encode(Challenge()))


def duel_post_card(post: DuelPost) -> Card:
    """Returns the card of a message about a duel, to one of its members or to the channel."""
    view = post.duel
    match post.event:
        case "asked":
            return _challenge_card(view)
        case "accepted" if view.you is None:
            return _accepted_card(view)
        case "accepted" if view.you == "challenger":
            return _running_card(view, f"{_other(view).name} accepted your duel")
        case "declined" | "expired" | "cancelled" if view.you is None:
            return _closed_card(view)
        case "accepted" | "declined" | "expired" | "cancelled" | "over":
            return duel_card(view)
        case _ as never:
            assert_never(never)


def duel_card(view: DuelView) -> Card:
    """Returns the current state of a duel, with what the reader can do next."""
    match view.state:
        case "asked":
            return _challenge_card(view)
        case "running":
            return _running_card(view, f"Duel with {_other(view).name}")
        case "over":
            return _result_card(view)
        case "declined":
            text = f"{person_markdown(view.opponent)} declined. No rating changes."
            return Card("Duel declined", in_brief(text), (Text(text),), (_LADDER,))
        case "expired":
            text = f"{person_markdown(view.opponent)} did not respond in time. No rating changes."
            return Card("Challenge expired", in_brief(text), (Text(text),), (_LADDER,))
        case "cancelled":
            text = (
                f"The duel of {person_markdown(view.challenger)} and {person_markdown(view.opponent)} was canceled: "
                "it was withdrawn, nobody answered, or a member left. No rating changes."
            )
            return Card("Duel canceled", in_brief(text, 200), (Text(text),), (_LADDER,))
        case _ as never:
            assert_never(never)


def turn_card(turn: DuelTurn) -> Card:
    """Returns what follows an answer, or a question that cannot be opened any more."""
    card = duel_card(turn.duel)
    if not turn.late:
        return card
    late = Text(f"Your answer came too late: a question is open for {_limit(turn.duel)}.")
    return Card("Too late", in_brief(late.markdown), (late, *card.blocks), card.buttons)


def review_card(review: DuelReview) -> Card:
    """Returns a duel with the reader's answers, once it is over."""
    card = duel_card(review.duel)
    if not review.answers:
        return card
    lines = [Text(_answer_line(number, answer)) for number, answer in enumerate(review.answers, 1)]
    buttons = tuple(one for one in card.buttons if one.action != encode(ShowDuel(str(review.duel.duel))))
    return Card(card.title, card.summary, (*card.blocks, *lines), buttons)


def ladder_card(ladder: Ladder) -> Card:
    """Returns the members of the workspace by their rating."""
    if not ladder.rows:
        text = "Nobody has finished a duel yet. Type `/quiz duel @member` to challenge someone."
        return Card("Ladder of duels", in_brief(text), (Text(text),), (_MINE,))
    mine = next((place for place, row in enumerate(ladder.rows) if row.me), None)
    blocks: list[Block] = [
        Table(
            ("Rank", "Name", "Rating", "Duels", "Won", "Drawn"),
            tuple(_ladder_cells(row) for row in ladder.rows),
            numeric=(0, 2, 3, 4, 5),
            mine=mine,
            members=mentions_of(ladder.rows),
        )
    ]
    left = ladder.total - len(ladder.rows)
    if left > 0:
        blocks.append(Small(f"{plural(left, 'more member', 'more members')} further down."))
    if ladder.mine and mine is None:
        blocks.append(Text(f"You: rank {ladder.mine.rank} with a rating of {ladder.mine.rating}."))
    summary = f"{ladder.rows[0].name} leads with a rating of {ladder.rows[0].rating}."
    return Card("Ladder of duels", summary, tuple(blocks), (_MINE,))


def duels_card(mine: MyDuels) -> Card:
    """Returns the reader's rating, their duels that have not ended, and how the rating changed."""
    blocks: list[Block] = [Text(f"Your rating is **{mine.rating}**. `/quiz duel @member` challenges someone.")]
    blocks += [Text(f"- {_live_line(view)}") for view in mine.live]
    if mine.past:
        rows = tuple(_history_cells(view) for view in mine.past)
        blocks.append(Table(("Duel with", "Result", "Right", "Rating"), rows, "Latest duels, newest first"))
    summary = f"Your rating is {mine.rating}. {plural(len(mine.live), 'open duel')}."
    return Card("Your duels", summary, tuple(blocks), (*page_buttons(mine), _LADDER))


def page_buttons(mine: MyDuels) -> tuple[Button, ...]:
    """Returns the buttons of the reader's duels, and the one for a new challenge."""
    live = [Button(f"Open: {_other(one).name}"[:BUTTON_LABEL], _showing(one), "primary") for one in mine.live]
    past = [Button("See the latest result", _showing(mine.past[0]))] if mine.past else []
    return (*live, *past, _CHALLENGE)


def _showing(view: DuelView) -> str:
    return encode(ShowDuel(str(view.duel)))


def challenge_form(topics: tuple[str, ...] = ()) -> Form:
    """Asks which member to challenge to a duel, and about which topic."""
    hint = "For example `autograd`; empty for any."
    topic = TextField("topic", "Topic", "", hint, max_length=100, required=False, known=topics)
    return Form("Challenge a member", encode(Challenge()), (MemberField("member", "Whom?"), topic), submit="Challenge")


def _challenge_card(view: DuelView) -> Card:
    names = view.challenger.name, view.opponent.name
    about = f" about {escape(view.topic)}" if view.topic else ""
    rules = (
        f"{plural(view.questions, 'question')}{about}, the same for both. Each answers privately and has "
        f"{_limit(view)} for a question from when they first see it. More right answers win, then less time."
    )
    until = moment_markdown(view.respond_by, view.zone)
    respond = (
        Button("Accept", encode(RespondDuel(str(view.duel), "accept")), "primary"),
        Button("Decline", encode(RespondDuel(str(view.duel), "decline"))),
    )
    if view.you == "challenger":
        sentence = f"{person_markdown(view.opponent)} can accept until {until}. You get a message then."
        withdraw = Button("Withdraw", encode(RespondDuel(str(view.duel), "decline")))
        return Card(f"You challenged {names[1]}", in_brief(sentence, 200), (Text(sentence), Small(rules)), (withdraw,))
    if view.you == "opponent":
        sentence = f"Accept until {until}, or the challenge expires."
        return Card(
            f"{names[0]} challenges you to a duel", in_brief(sentence, 200), (Text(rules), Text(sentence)), respond
        )
    sentence = f"Only {person_markdown(view.opponent)} can accept, until {until}."
    return Card(
        f"{names[0]} challenges {names[1]} to a duel", in_brief(sentence, 200), (Text(rules), Small(sentence)), respond
    )


def _accepted_card(view: DuelView) -> Card:
    """Returns what a channel reads in place of a challenge that was accepted."""
    assert view.ends_at is not None, "it is running"
    sentence = f"Both can answer until {moment_markdown(view.ends_at, view.zone)}; then the result is posted here."
    title = f"{view.challenger.name} and {view.opponent.name} play a duel"
    return Card(title, in_brief(sentence, 200), (Text(sentence),), (_LADDER,))


def _closed_card(view: DuelView) -> Card:
    """Returns what a channel reads in place of a challenge that came to nothing. It does not say who ended it."""
    text = f"The challenge of {person_markdown(view.challenger)} to {person_markdown(view.opponent)} is closed."
    return Card("Challenge closed", in_brief(text), (Text(text),), (_LADDER,))


def _running_card(view: DuelView, title: str) -> Card:
    assert view.ends_at is not None, "it is running"
    until = moment_markdown(view.ends_at, view.zone)
    if not view.next_ref:
        other = person_markdown(_other(view))
        sentence = f"You are done. {other} can answer until {until}; then both of you see the result."
        return Card(title, in_brief(sentence, 200), (Text(sentence),), (_LADDER,))
    left = view.questions - view.answered
    sentence = f"{plural(left, 'question')} left to answer until {until}."
    clock = f"The time starts when you open a question: you have {_limit(view)} for it. Your first answer counts."
    label = "Next question" if view.answered else "Start"
    button = Button(f"{label} ({view.answered + 1} of {view.questions})", encode(Open(view.next_ref)), "primary")
    return Card(title, in_brief(sentence, 200), (Text(sentence), Small(clock)), (button,))


def _result_card(view: DuelView) -> Card:
    names = {"challenger": view.challenger.name, "opponent": view.opponent.name}
    if view.winner is None or view.winner == "draw":
        title = f"{names['challenger']} and {names['opponent']} tied their duel"
    else:
        loser = names["opponent" if view.winner == "challenger" else "challenger"]
        title = f"{names[view.winner]} won the duel against {loser}"
    # The winner comes first, as on every board.
    players = (view.opponent, view.challenger) if view.winner == "opponent" else (view.challenger, view.opponent)
    mine = None if view.you is None else players.index(_me(view))
    rows = tuple(_result_cells(player, view.questions) for player in players)
    table = Table(("Name", "Right", "Time", "Rating"), rows, mine=mine)
    summary = "; ".join(f"{player.name}: {player.correct or 0} of {view.questions} right" for player in players)
    buttons: tuple[Button, ...] = (_LADDER,)
    if view.you is not None:
        answers = Button("See the answers", encode(ShowDuel(str(view.duel))), "primary")
        buttons = (answers, Button("Rematch", encode(Rematch(str(view.duel)))), _LADDER)
    return Card(title, f"{summary}.", (table,), buttons)


def _result_cells(player: DuelPlayer, questions: int) -> tuple[str, ...]:
    return player.name, f"{player.correct or 0} of {questions}", f"{player.seconds or 0:.0f} s", _rating(player)


def _rating(player: DuelPlayer) -> str:
    return "–" if player.rating is None else f"{player.rating} ({player.change:+d})"


def _answer_line(number: int, answer: DuelAnswer) -> str:
    if answer.key is None:
        return f"**{number}.** This question is open now, so its answer comes later."
    state = "Right" if answer.correct else "Wrong" if answer.given else "No answer"
    asked = in_brief(answer.key.question.prompt, 100)
    line = f"**{number}. {state}:** {escape(asked)} {escape(answer_in_brief(answer.key))}"
    given = "" if answer.correct or answer.given is None else escape(_given(answer))
    return f"{line} You answered: {given}" if given else line


def _given(answer: DuelAnswer) -> str:
    assert answer.given is not None and answer.key is not None
    if answer.given.options is None:
        return in_brief(escape(answer.given.text or ""), 60)
    return "; ".join(in_brief(one.text, 60) for one in answer.key.options if one.id in answer.given.options)


def _ladder_cells(row: LadderRow) -> tuple[str, ...]:
    return str(row.rank), row.name, str(row.rating), str(row.duels), str(row.wins), str(row.draws)


def _history_cells(view: DuelView) -> tuple[str, ...]:
    me, other = _me(view), _other(view)
    result = "Draw" if view.winner == "draw" else "Won" if view.winner == view.you else "Lost"
    return other.name, result, f"{me.correct or 0} : {other.correct or 0}", _rating(me)


def _live_line(view: DuelView) -> str:
    other = person_markdown(_other(view))
    if view.state == "running":
        return f"With {other}: {view.answered} of {view.questions} answered."
    until = moment_markdown(view.respond_by, view.zone)
    if view.you == "opponent":
        return f"{other} challenges you. Accept until {until}."
    return f"You challenged {other}, who can accept until {until}."


def _limit(view: DuelView) -> str:
    return minutes_words(view.question_seconds // 60)


def _me(view: DuelView) -> DuelPlayer:
    return view.opponent if view.you == "opponent" else view.challenger


def _other(view: DuelView) -> DuelPlayer:
    return view.challenger if view.you == "opponent" else view.opponent
