"""Duels from the challenge to the ladder: over the client, on PostgreSQL, with a clock to set."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from bot.core.text.duels import duel_post_card
from service.client import ServiceRefused
from service.competitions.duels import ON_ITS_WAY
from service.domain.duels import PLAY_WITHIN, QUESTION_SECONDS, QUESTIONS, RESPOND_WITHIN, Rating, rate_match
from service.store.cards import CardRow
from service.store.competition_tables import Duel, DuelRating
from service.store.competition_tables import DuelTurn as DuelTurnRow
from service.store.tables import Ledger, Outbox
from service.wire import (
    AnswerInput,
    DuelPost,
    DuelRefused,
    DuelTurn,
    DuelView,
    NotFound,
    Platform,
    QuestionPost,
    StillOpen,
    Who,
)
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice, code, prose, value
from tests.service.refusals import refused
from tests.service.statements import counted
from tests.service.two_chats import GUILD, TEAM, TwoChats

RIGHT, WRONG = AnswerInput(options=("a",)), AnswerInput(options=("b",))
KEYS = ("views", "grad", "cast", "copy", "clone")


class Players:
    """Ada and Bo, who play duels in the channel."""

    def __init__(self, daily: DailyChannel, clock: Clock) -> None:
        self.daily, self.client, self.clock = daily, daily.client, clock
        self.ada, self.bo = daily.who("Ada"), daily.who("Bo")

    def event(self) -> str:
        return f"duel event {next(self.daily.events)}"

    async def asked(self, topic: str = "") -> DuelView:
        await self.client.join(self.bo, DAILY)
        return await self.client.duel_challenge(self.ada, DAILY, self.event(), "Bo", "", topic)

    async def begun(self) -> DuelView:
        """Returns a duel that Bo has accepted, as Ada sees it."""
        asked = await self.asked()
        await self.client.duel_respond(self.bo, self.event(), asked.duel, True)
        return (await self.client.duel_show(self.ada, asked.duel)).duel

    async def plays(self, name: str, duel: int, answers: Sequence[AnswerInput], *, seconds: float = 10) -> DuelView:
        """Answers the next questions, each after so many seconds."""
        who = self.daily.who(name)
        view = (await self.client.duel_show(who, duel)).duel
        for given in answers:
            ref = view.next_ref
            await self.client.duel_ask(who, ref)
            self.clock.advance(seconds=seconds)
            view = (await self.client.duel_answer(who, self.event(), ref, given, self.clock.now)).duel
        return view

    async def posts(self) -> list[DuelPost]:
        """Returns the new messages about duels."""
        return [post for post, edited in await self.deliveries() if edited is None]

    async def deliveries(self) -> list[tuple[DuelPost, str | None]]:
        """Returns the messages about duels, each with the key of the message that it edits."""
        await self.daily.service.tick()
        return [
            (delivery.body, delivery.edits.key if delivery.edits else None)
            for delivery in await self.daily.deliver()
            if isinstance(delivery.body, DuelPost)
        ]

    async def refused(self, call: Any) -> Any:
        with pytest.raises(ServiceRefused) as refused:
            await call
        return refused.value.refusal


@pytest.fixture
async def players(daily: DailyChannel, clock: Clock) -> Players:
    await daily.bank(*(choice(key) for key in KEYS))
    return Players(daily, clock)


async def test_a_duel_from_the_challenge_to_the_ladder(players: Players) -> None:
    asked = await players.asked()
    assert (asked.state, asked.you, asked.opponent.name) == ("asked", "challenger", "Bo")
    told = await players.posts()
    assert [(post.event, post.duel.you) for post in told] == [("asked", "opponent"), ("asked", None)]
    view = await players.client.duel_respond(players.bo, players.event(), asked.duel, True)
    assert view.state == "running" and view.next_ref
    assert [(post.event, post.duel.you) for post in await players.posts()] == [("accepted", "challenger")]
    mine = await players.plays("Ada", asked.duel, [RIGHT] * 4 + [WRONG])
    assert (mine.state, mine.next_ref, mine.challenger.correct) == ("running", "", None)
    over = await players.plays("Bo", asked.duel, [RIGHT] * 3 + [WRONG] * 2)
    assert (over.state, over.winner) == ("over", "challenger")
    assert (over.challenger.correct, over.opponent.correct) == (4, 3)
    assert over.challenger.change > 0 > over.opponent.change
    results = await players.posts()
    assert {(post.event, post.duel.you) for post in results} == {
        ("over", "challenger"),
        ("over", None),
    }
    ladder = await players.client.duel_ladder(players.bo)
    assert [(row.rank, row.name, row.duels, row.wins, row.me) for row in ladder.rows] == [
        (1, "Ada", 1, 1, False),
        (2, "Bo", 1, 0, True),
    ]
    first, second = rate_match(Rating(), Rating(), "first")
    assert [row.rating for row in ladder.rows] == [first.shown, second.shown]
    again = await players.client.duel_rematch(players.bo, DAILY, players.event(), asked.duel)
    assert (again.state, again.challenger.name, again.opponent.name) == ("asked", "Bo", "Ada")
    history = await players.client.duel_list(players.ada)
    assert [view.duel for view in history.live] == [again.duel]
    assert [view.duel for view in history.past] == [asked.duel]
    # Points are for rounds.
    assert await players.daily.rows(Ledger) == []


async def test_a_list_of_many_duels_takes_as_many_statements_as_one_of_few(players: Players) -> None:
    sent = []
    for _ in range(3):
        duel = (await players.begun()).duel
        await players.plays("Ada", duel, [RIGHT] * QUESTIONS)
        await players.plays("Bo", duel, [WRONG] * QUESTIONS)
        with counted() as statements:
            await players.client.duel_list(players.ada)
        sent.append(len(statements))
    assert sent[0] == sent[2]


async def test_both_get_the_same_questions_with_options_of_their_own_order(players: Players) -> None:
    duel = (await players.begun()).duel
    seen: dict[str, list[Any]] = {}
    for name in ("Ada", "Bo"):
        view = (await players.client.duel_show(players.daily.who(name), duel)).duel
        while view.next_ref:
            turn = await players.client.duel_ask(players.daily.who(name), view.next_ref)
            assert turn.ask is not None
            seen.setdefault(name, []).append(turn.ask.question)
            view = (
                await players.client.duel_answer(
                    players.daily.who(name), players.event(), view.next_ref, RIGHT, players.clock.now
                )
            ).duel
    assert [question.id for question in seen["Ada"]] == [question.id for question in seen["Bo"]]
    assert sorted(question.id for question in seen["Ada"]) == sorted(KEYS)
    orders = {name: [[one.id for one in question.options] for question in seen[name]] for name in seen}
    assert orders["Ada"] != orders["Bo"]


async def test_nothing_says_before_the_end_what_is_right(players: Players) -> None:
    seen = await players.client.practice(players.bo, DAILY)
    assert seen is not None
    duel = (await players.begun()).duel
    view = await players.plays("Ada", duel, [RIGHT] * QUESTIONS)
    assert view.challenger.correct is None and view.challenger.seconds is None
    review = await players.client.duel_show(players.ada, duel)
    assert review.answers == ()
    export = (await players.client.privacy(players.ada, "export", "export")).export
    assert "accepted" not in export
    # Neither practice nor an explanation gives the key away.
    assert await players.client.practice(players.bo, DAILY) is None
    assert isinstance(await players.refused(players.client.explain(players.ada, "views")), StillOpen)
    assert isinstance(await players.refused(players.client.ask(players.bo, DAILY, seen.ref)), StillOpen)
    await players.plays("Bo", duel, [WRONG] * QUESTIONS)
    review = await players.client.duel_show(players.bo, duel)
    assert [answer.correct for answer in review.answers] == [False] * QUESTIONS
    assert all(answer.key is not None for answer in review.answers)


async def test_a_late_answer_to_a_round_says_nothing_of_a_question_in_a_running_duel(players: Players) -> None:
    await players.daily.schedule()
    players.clock.advance(hours=1)
    (post,) = [body for body in await players.daily.ticked() if isinstance(body, QuestionPost)]
    players.clock.advance(hours=8)
    await players.daily.ticked()
    duel = (await players.begun()).duel
    late = await players.daily.answer(post.ref, RIGHT)
    assert (late.status, late.verdict, late.key, late.next_due, late.progress) == ("late", None, None, None, None)
    export = json.loads((await players.client.privacy(players.ada, "export", "export")).export)
    assert [answer["verdict"] for answer in export["answers"]] == [None] and export["cards"] == []
    for name in ("Ada", "Bo"):
        await players.plays(name, duel, [RIGHT] * QUESTIONS)
    late = await players.daily.answer(post.ref, RIGHT)
    assert late.verdict is not None and late.key is not None


async def test_an_admin_who_duels_sees_a_question_of_the_duel_without_its_key(players: Players) -> None:
    boss = players.daily.who("Ada", admin=True)
    duel = (await players.begun()).duel
    shown = await players.client.bank_question(boss, "views")
    assert (shown.listed.id, shown.key, shown.statistics) == ("views", None, None)
    for name in ("Ada", "Bo"):
        await players.plays(name, duel, [RIGHT] * QUESTIONS)
    shown = await players.client.bank_question(boss, "views")
    assert shown.key is not None and shown.statistics is not None


async def test_a_question_of_an_open_round_is_neither_drawn_nor_revealed(players: Players) -> None:
    duel = (await players.begun()).duel
    await players.daily.schedule()
    players.clock.advance(hours=1)
    await players.daily.ticked()
    await players.plays("Ada", duel, [RIGHT] * QUESTIONS)
    await players.plays("Bo", duel, [RIGHT] * QUESTIONS)
    review = await players.client.duel_show(players.ada, duel)
    assert [answer.key is None for answer in review.answers].count(True) == 1
    assert [answer.correct for answer in review.answers].count(True) == QUESTIONS - 1, "nor whether it was right"
    export = (await players.client.privacy(players.ada, "export", "export")).export
    assert export.count('"verdict": "accepted"') == QUESTIONS - 1
    refusal = await players.refused(players.client.duel_rematch(players.ada, DAILY, players.event(), duel))
    assert refusal == DuelRefused(why="too few questions", count=QUESTIONS)


async def test_less_time_decides_between_equals(players: Players) -> None:
    duel = (await players.begun()).duel
    await players.plays("Ada", duel, [RIGHT] * QUESTIONS, seconds=20)
    over = await players.plays("Bo", duel, [RIGHT] * QUESTIONS, seconds=19)
    assert (over.winner, over.challenger.seconds, over.opponent.seconds) == ("opponent", 100, 95)


async def test_equals_draw(players: Players) -> None:
    duel = (await players.begun()).duel
    await players.plays("Ada", duel, [RIGHT] * QUESTIONS)
    over = await players.plays("Bo", duel, [RIGHT] * QUESTIONS)
    assert (over.winner, over.challenger.change) == ("draw", over.opponent.change)
    assert [(row.rank, row.draws) for row in (await players.client.duel_ladder(players.ada)).rows] == [(1, 1), (1, 1)]


async def test_a_question_closes_after_its_time(players: Players) -> None:
    view = await players.begun()
    first = view.next_ref
    await players.client.duel_ask(players.ada, first)
    players.clock.advance(seconds=QUESTION_SECONDS + 1)
    late = await players.client.duel_answer(players.ada, players.event(), first, RIGHT, players.clock.now)
    assert late.late and late.duel.answered == 1 and late.duel.next_ref != first
    # Opening it again does not start its time again.
    assert (await players.client.duel_ask(players.ada, first)).ask is None
    await players.plays("Ada", view.duel, [RIGHT] * 4)
    over = await players.plays("Bo", view.duel, [WRONG] * QUESTIONS)
    assert over.challenger.correct == 4
    assert over.challenger.seconds == 4 * 10 + QUESTION_SECONDS


async def test_a_platform_whose_clock_is_wrong_costs_and_gains_no_time(players: Players) -> None:
    ref = (await players.begun()).next_ref
    for who, at in ((players.ada, timedelta(days=1)), (players.bo, timedelta(days=-1))):
        await players.client.duel_ask(who, ref)
        answered = await players.client.duel_answer(who, players.event(), ref, RIGHT, players.clock.now + at)
        assert not answered.late
    turns = await players.daily.rows(DuelTurnRow)
    assert [(turn.shown_at, turn.answered_at) for turn in turns] == [(players.clock.now, players.clock.now)] * 2


async def test_the_leader_ends_a_duel_whose_last_question_closed(players: Players) -> None:
    view = await players.begun()
    await players.plays("Ada", view.duel, [RIGHT] * QUESTIONS)
    bo = await players.plays("Bo", view.duel, [RIGHT] * 4)
    await players.client.duel_ask(players.bo, bo.next_ref)
    players.clock.advance(seconds=QUESTION_SECONDS + ON_ITS_WAY.total_seconds())
    assert [post.event for post in await players.posts()] == ["accepted"]
    players.clock.advance(seconds=1)
    assert [post.event for post in await players.posts()] == ["over"] * 3


@pytest.mark.parametrize("end", ["of the question", "of the duel"])
async def test_an_answer_from_the_last_half_second_counts(players: Players, end: str) -> None:
    view = await players.begun()
    await players.plays("Bo", view.duel, [RIGHT] * QUESTIONS)
    if end == "of the question":
        view = await players.plays("Ada", view.duel, [RIGHT] * (QUESTIONS - 1))
    else:
        assert view.ends_at is not None
        players.clock.now = view.ends_at - timedelta(seconds=60)
    await players.client.duel_ask(players.ada, view.next_ref)
    await players.posts()
    players.clock.advance(seconds=QUESTION_SECONDS if end == "of the question" else 60)
    given_at = players.clock.now - timedelta(seconds=0.5)
    players.clock.advance(seconds=1)
    assert await players.posts() == [], "it is on its way"
    turn = await players.client.duel_answer(players.ada, players.event(), view.next_ref, RIGHT, given_at)
    assert not turn.late
    players.clock.advance(seconds=3)
    await players.posts()
    over = (await players.client.duel_show(players.ada, view.duel)).duel
    assert (over.state, over.challenger.correct) == ("over", QUESTIONS if end == "of the question" else 1)


async def test_the_leader_ends_a_duel_whose_time_is_over(players: Players) -> None:
    view = await players.begun()
    await players.plays("Ada", view.duel, [RIGHT])
    await players.posts()
    players.clock.advance(seconds=PLAY_WITHIN.total_seconds())
    [over, *_] = await players.posts()
    assert (over.event, over.duel.winner, over.duel.challenger.correct) == ("over", "challenger", 1)
    assert await players.posts() == []


async def test_a_duel_that_nobody_played_rates_nobody(players: Players) -> None:
    await players.begun()
    await players.posts()
    players.clock.advance(seconds=(PLAY_WITHIN + ON_ITS_WAY).total_seconds())
    assert [post.event for post in await players.posts()] == ["cancelled", "cancelled"]
    assert await players.daily.rows(DuelRating) == []


async def test_a_challenge_expires(players: Players) -> None:
    asked = await players.asked()
    await players.posts()
    players.clock.advance(seconds=RESPOND_WITHIN.total_seconds())
    view = await players.client.duel_respond(players.bo, players.event(), asked.duel, True)
    assert view.state == "expired"
    assert [(post.event, post.duel.you) for post in await players.posts()] == [("expired", "challenger")]
    again = await players.asked()
    players.clock.advance(seconds=RESPOND_WITHIN.total_seconds())
    await players.daily.ticked()
    assert (await players.client.duel_show(players.ada, again.duel)).duel.state == "expired"


async def test_declining_is_told_to_the_challenger_alone(players: Players) -> None:
    asked = await players.asked()
    await players.posts()
    for _ in range(2):
        assert (await players.client.duel_respond(players.bo, players.event(), asked.duel, False)).state == "declined"
    assert [(post.event, post.duel.you) for post in await players.posts()] == [("declined", "challenger")]
    refusal = await players.refused(players.client.duel_respond(players.bo, players.event(), asked.duel, True))
    assert refusal == DuelRefused(why="ended")


@pytest.mark.parametrize("event", ["accepted", "declined", "expired", "cancelled"])
async def test_the_messages_of_a_challenge_offer_nothing_after_the_decision(players: Players, event: str) -> None:
    duel = (await players.asked()).duel
    assert [button.label for post in await players.posts() for button in duel_post_card(post).buttons] == [
        *("Accept", "Decline"),
        *("Accept", "Decline"),
    ]
    await decide(players, duel, event)
    edits = {key: post for post, key in await players.deliveries() if key is not None}
    assert {(key, post.event, post.duel.you) for key, post in edits.items()} == {
        (f"duel:{duel}:asked:opponent", event, "opponent"),
        (f"duel:{duel}:asked:channel", event, None),
    }
    buttons = {button.label for post in edits.values() for button in duel_post_card(post).buttons}
    assert buttons == ({"Start (1 of 5)", "Ladder"} if event == "accepted" else {"Ladder"})
    assert "declined" not in str(duel_post_card(edits[f"duel:{duel}:asked:channel"]))


@pytest.mark.parametrize("event", ["accepted", "declined", "expired", "cancelled"])
async def test_a_challenge_that_is_decided_before_it_is_posted_is_never_posted(players: Players, event: str) -> None:
    await decide(players, (await players.asked()).duel, event)
    assert "asked" not in [post.event for post, _ in await players.deliveries()]


async def decide(players: Players, duel: int, event: str) -> None:
    """Ends a challenge in that way."""
    match event:
        case "accepted" | "declined":
            await players.client.duel_respond(players.bo, players.event(), duel, event == "accepted")
        case "cancelled":
            await players.client.duel_respond(players.ada, players.event(), duel, False)
        case _:
            players.clock.advance(seconds=RESPOND_WITHIN.total_seconds())


async def test_only_the_challenged_member_responds(players: Players) -> None:
    asked = await players.asked()
    for who, why in ((players.daily.who("Cy"), "not yours"), (players.ada, "own challenge")):
        refusal = await players.refused(players.client.duel_respond(who, players.event(), asked.duel, True))
        assert refusal == DuelRefused.model_validate({"why": why})
    withdrawn = await players.client.duel_respond(players.ada, players.event(), asked.duel, False)
    assert withdrawn.state == "cancelled"


async def test_a_double_click_changes_nothing(players: Players) -> None:
    asked = await players.asked()
    for _ in range(2):
        view = await players.client.duel_respond(players.bo, players.event(), asked.duel, True)
    ref = view.next_ref
    await players.client.duel_ask(players.bo, ref)
    event = players.event()
    for given, each in ((RIGHT, event), (RIGHT, event), (WRONG, players.event())):
        await players.client.duel_answer(players.bo, each, ref, given, players.clock.now)
    await players.plays("Bo", asked.duel, [RIGHT] * 4)
    over = await players.plays("Ada", asked.duel, [RIGHT] * QUESTIONS)
    assert over.opponent.correct == QUESTIONS


async def test_what_cannot_be_challenged(players: Players) -> None:
    client, ada = players.client, players.ada
    for name, refusal in (("Ada", DuelRefused(why="yourself")), ("Nobody", NotFound(what="member", name="Nobody"))):
        assert await players.refused(client.duel_challenge(ada, DAILY, players.event(), name)) == refusal
    await players.asked()
    for one, other in ((players.ada, "Bo"), (players.bo, "Ada")):
        refusal = await players.refused(client.duel_challenge(one, DAILY, players.event(), other))
        assert refusal == DuelRefused(why="open")
    for number in range(4):
        await client.duel_challenge(ada, DAILY, players.event(), f"new-{number}", f"New {number}")
    refused = await players.refused(client.duel_challenge(ada, DAILY, players.event(), "new-5", "New 5"))
    assert refused == DuelRefused(why="too many", count=5)
    elsewhere = players.daily.who("Eve", workspace="elsewhere")
    assert isinstance(await players.refused(client.duel_challenge(elsewhere, DAILY, "e", "Bo")), NotFound)


async def test_only_the_challenges_of_a_member_count_for_their_limit(players: Players) -> None:
    for number in range(5):
        await players.client.duel_challenge(players.bo, DAILY, players.event(), f"new-{number}", f"New {number}")
    view = await players.client.duel_challenge(players.ada, DAILY, players.event(), "new-1", "New 1")
    assert view.state == "asked"


async def test_a_duel_about_a_topic_asks_nothing_else(players: Players) -> None:
    about = [choice(f"sum-{number}", topic="sums") for number in range(QUESTIONS - 1)]
    await players.daily.bank(*about, name="sums")
    await players.client.join(players.bo, DAILY)
    with refused(DuelRefused(why="too few questions", count=QUESTIONS)):
        await players.client.duel_challenge(players.ada, DAILY, players.event(), "Bo", "", "sums")
    await players.daily.bank(*about, choice("sum-4", topic="sums"), name="sums")
    duel = (await players.asked("sums")).duel
    await players.client.duel_respond(players.bo, players.event(), duel, True)
    await players.plays("Ada", duel, [RIGHT] * QUESTIONS)
    await players.plays("Bo", duel, [WRONG] * QUESTIONS)
    review = await players.client.duel_show(players.ada, duel)
    assert {answer.key.question.topic for answer in review.answers if answer.key} == {"sums"}


async def test_what_a_member_typed_in_a_duel_is_erased_when_they_forget(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(*(value(f"shape-{number}") for number in range(QUESTIONS)))
    players = Players(daily, clock)
    duel = (await players.begun()).duel
    for name, typed in (("Ada", "(9, 9)"), ("Bo", "(8, 8)")):
        await players.plays(name, duel, [AnswerInput(text=typed)] * QUESTIONS)
    await players.client.privacy(players.ada, "forget", "forget")
    given = str([row.given for row in await daily.rows(DuelTurnRow)])
    assert ("(9, 9)" in given, "(8, 8)" in given) == (False, True)


async def test_only_questions_that_are_quick_to_judge_are_asked(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(*(value(f"shape-{number}") for number in range(4)), prose(), code())
    players = Players(daily, clock)
    await daily.client.join(players.bo, DAILY)
    refusal = await players.refused(daily.client.duel_challenge(players.ada, DAILY, "e", "Bo"))
    assert refusal == DuelRefused(why="too few questions", count=QUESTIONS)


async def test_a_rematch_asks_what_neither_has_met(players: Players) -> None:
    more = ("fold", "pool", "norm", "gelu", "adam")
    await players.daily.bank(*(choice(key) for key in more), name="more")
    met: set[str] = set()
    for _ in range(2):
        duel = (await players.begun()).duel
        await players.plays("Ada", duel, [RIGHT] * QUESTIONS)
        await players.plays("Bo", duel, [RIGHT] * QUESTIONS)
        review = await players.client.duel_show(players.ada, duel)
        met |= {answer.key.question.id for answer in review.answers if answer.key}
    assert met == {*KEYS, *more}


async def test_wrong_answers_become_cards(players: Players) -> None:
    duel = (await players.begun()).duel
    await players.plays("Ada", duel, [RIGHT, WRONG, RIGHT, RIGHT, RIGHT])
    await players.plays("Bo", duel, [WRONG] * QUESTIONS)
    cards = await players.daily.rows(CardRow)
    assert sorted(card.member_id for card in cards) == [1] * QUESTIONS + [2]  # Bo came first


async def test_a_member_who_forgets_ends_their_duels(players: Players) -> None:
    duel = (await players.begun()).duel
    await players.plays("Ada", duel, [RIGHT] * QUESTIONS)
    await players.plays("Bo", duel, [WRONG] * QUESTIONS)
    rated = len(await players.daily.rows(DuelRating))
    second = await players.begun()
    ref = second.next_ref
    await players.client.duel_ask(players.ada, ref)
    await players.client.duel_answer(players.ada, players.event(), ref, RIGHT, players.clock.now)
    await players.posts()
    await players.client.privacy(players.ada, "forget", "forget")
    told = await players.posts()
    assert [(post.event, post.duel.you) for post in told] == [("cancelled", "opponent")]
    assert len(await players.daily.rows(DuelRating)) == rated
    view = (await players.client.duel_show(players.bo, second.duel)).duel
    assert (view.state, view.challenger.name) == ("cancelled", "someone who left")
    assert [row.name for row in (await players.client.duel_ladder(players.bo)).rows] == ["Bo"]
    refusal = await players.refused(players.client.duel_rematch(players.bo, DAILY, players.event(), duel))
    assert refusal == DuelRefused(why="left")
    for row in await players.daily.rows(Outbox):
        assert "Ada" not in str(row.body), row.key


async def test_hidden_members_are_on_no_ladder_and_in_no_channel(players: Players) -> None:
    await players.client.join(players.bo, DAILY)
    await players.client.privacy(players.bo, "hide", "hide")
    duel = (await players.begun()).duel
    await players.plays("Ada", duel, [RIGHT] * QUESTIONS)
    await players.plays("Bo", duel, [RIGHT] * QUESTIONS, seconds=5)
    assert all(post.duel.you is not None for post in await players.posts())
    ladder = await players.client.duel_ladder(players.ada)
    assert [(row.rank, row.name) for row in ladder.rows] == [(1, "Ada")]


async def test_the_export_has_answers_and_ratings(players: Players) -> None:
    duel = (await players.begun()).duel
    await players.plays("Ada", duel, [RIGHT] * QUESTIONS)
    await players.plays("Bo", duel, [WRONG] * QUESTIONS)
    view = await players.client.privacy(players.ada, "export", "export")
    assert view.export.count('"verdict": "accepted"') == QUESTIONS
    assert '"ratings": [\n    {\n      "duel": 1' in view.export
    table = await players.client.privacy(players.ada, "csv", "csv")
    assert table.export.count("\r\nduel,") == QUESTIONS


async def test_a_key_that_is_corrected_in_the_middle_decides_the_duel(players: Players) -> None:
    duel = (await players.begun()).duel
    await players.plays("Ada", duel, [RIGHT] * QUESTIONS)
    options = tuple(replace(option, right=option.id == "b") for option in choice().options)
    await players.daily.bank(*(replace(choice(key), options=options, answer="`x.clone()`") for key in KEYS))
    over = await players.plays("Bo", duel, [WRONG] * QUESTIONS)
    assert (over.winner, over.challenger.correct, over.opponent.correct) == ("opponent", 0, QUESTIONS)
    review = await players.client.duel_show(players.bo, duel)
    for answer in review.answers:
        assert answer.correct and answer.key is not None
        assert [option.id for option in answer.key.options if option.right] == ["b"]


async def test_a_turn_that_is_answered_shows_the_duel(players: Players) -> None:
    view = await players.begun()
    await players.plays("Ada", view.duel, [RIGHT])
    turn = await players.client.duel_ask(players.ada, view.next_ref)
    assert turn == DuelTurn(duel=(await players.client.duel_show(players.ada, view.duel)).duel)
    # A question that comes later is not shown early.
    later = f"d{int(view.next_ref[1:]) + 3}"
    assert (await players.client.duel_ask(players.ada, later)).ask is None
    rows = await players.daily.rows(Duel)
    assert rows[0].ends_at == view.ends_at == rows[0].accepted_at + timedelta(hours=24)  # type: ignore[operator]


class Linked:
    """Ada, known on Discord and Slack as two members of one workspace, and Bo, who is on Discord."""

    def __init__(self, chats: TwoChats) -> None:
        self.chats, self.client = chats, chats.daily.client
        self.bo = chats.who("Bo", "discord")

    async def begins(self, platform: Platform, other: Who, event: str) -> int:
        """Begins a duel of Ada, from that chat, with another member; returns its number."""
        ada, where = self.chats.who("Ada", platform), TEAM if platform == "slack" else GUILD
        duel = (await self.client.duel_challenge(ada, where, event, other.member)).duel
        await self.client.duel_respond(other, f"{event} accepted", duel, True)
        return duel

    async def ends(self, platform: Platform, duel: int, other: Who) -> DuelView:
        """Plays a duel that Ada wins."""
        for who, option in ((self.chats.who("Ada", platform), "a"), (other, "b")):
            view = (await self.client.duel_show(who, duel)).duel
            while ref := view.next_ref:
                await self.client.duel_ask(who, ref)
                given, event = AnswerInput(options=(option,)), self.chats.event()
                view = (await self.client.duel_answer(who, event, ref, given, self.chats.clock.now)).duel
        return view


@pytest.fixture
async def linked(daily: DailyChannel, clock: Clock) -> Linked:
    await daily.bank(*(choice(key) for key in KEYS))
    chats = TwoChats(daily, clock)
    for who, where in ((chats.who("Bo", "discord"), GUILD), (chats.who("Ada", "slack"), TEAM)):
        await daily.client.join(who, where)
    await daily.client.join(chats.who("Ada", "discord"), GUILD)
    return Linked(chats)


async def test_a_chat_that_joins_brings_its_duels(linked: Linked) -> None:
    slack_bo = linked.chats.who("Bo", "slack")
    await linked.client.join(slack_bo, TEAM)
    first = await linked.begins("slack", slack_bo, "first")
    await linked.ends("slack", first, slack_bo)
    second = await linked.begins("slack", slack_bo, "second")
    await linked.chats.join_chats()
    over = await linked.ends("slack", second, slack_bo)
    assert over.winner == "challenger"
    ladder = await linked.client.duel_ladder(linked.bo)
    assert [(row.name, row.duels, row.wins) for row in ladder.rows] == [("Ada", 2, 2), ("Bo", 2, 0)]


async def test_linked_accounts_go_on_with_the_longer_history(linked: Linked) -> None:
    await linked.chats.join_chats()
    for event in ("first", "second"):
        await linked.ends("slack", await linked.begins("slack", linked.bo, event), linked.bo)
    third = await linked.begins("discord", linked.bo, "third")
    await linked.ends("discord", third, linked.bo)
    open_duel = await linked.begins("slack", linked.bo, "fourth")
    await linked.chats.link("Ada")
    over = await linked.ends("discord", open_duel, linked.bo)
    assert over.winner == "challenger"
    ladder = await linked.client.duel_ladder(linked.bo)
    assert [(row.name, row.duels) for row in ladder.rows] == [("Ada", 3), ("Bo", 4)]


async def test_a_member_has_no_rematch_with_an_account_of_their_own(linked: Linked) -> None:
    await linked.chats.join_chats()
    ada = linked.chats.who("Ada", "discord")
    own = await linked.begins("slack", ada, "own")
    await linked.ends("slack", own, ada)
    await linked.chats.link("Ada")
    with refused(DuelRefused(why="yourself")):
        await linked.client.duel_rematch(ada, GUILD, "again", own)


async def test_a_duel_asks_first_what_no_account_of_the_two_has_met(linked: Linked) -> None:
    await linked.chats.join_chats()
    await linked.chats.daily.bank(choice("fold"), name="more")
    await linked.chats.schedule("discord")
    ref = await linked.chats.asked()
    met = (await linked.client.ask(linked.chats.who("Ada", "slack"), TEAM, ref)).question.id
    await linked.chats.answer("Ada", "slack", ref)
    await linked.chats.closed()
    await linked.chats.link("Ada")
    duel = await linked.begins("discord", linked.bo, "first")
    await linked.ends("discord", duel, linked.bo)
    review = await linked.client.duel_show(linked.bo, duel)
    assert {answer.key.question.id for answer in review.answers if answer.key} == {*KEYS, "fold"} - {met}


async def test_a_duel_of_two_accounts_of_one_person_is_called_off(linked: Linked) -> None:
    await linked.chats.join_chats()
    own = await linked.begins("slack", linked.chats.who("Ada", "discord"), "own")
    both = [await linked.begins("discord", linked.bo, "one"), await linked.begins("slack", linked.bo, "two")]
    await linked.chats.link("Ada")
    states = {row.id: row.state for row in await linked.chats.daily.rows(Duel)}
    assert (states[own], states[both[0]], states[both[1]]) == ("cancelled", "running", "cancelled")
