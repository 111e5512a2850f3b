"""Builds the views of duels: what a member, or the channel, may know of a duel at the moment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from pydantic import TypeAdapter
from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.duels import QUESTION_SECONDS, QUESTIONS, SIDES, Rating, Turn, next_number, score_turns
from service.rounds.views import build_answer_key
from service.store import duels, members, questions, schedules
from service.store.competition_tables import Duel, DuelQuestion, DuelRating
from service.store.members import Caller
from service.wire import (
    AnswerInput,
    DuelAnswer,
    DuelPlayer,
    DuelReview,
    DuelSide,
    DuelState,
    DuelView,
    DuelWinner,
    Ladder,
    LadderRow,
    MyDuels,
    QuestionRef,
)

MAX_LISTED = 10
"""Latest results that a member's list of duels shows."""
STATE: TypeAdapter[DuelState] = TypeAdapter(DuelState)
WINNER: TypeAdapter[DuelWinner | None] = TypeAdapter(DuelWinner | None)


def side_of(duel: Duel, member_id: int) -> DuelSide | None:
    """Returns the member's side of the duel; None if they are not one of the two."""
    if member_id == duel.challenger_id:
        return "challenger"
    return "opponent" if member_id == duel.opponent_id else None


async def build_view(session: AsyncSession, duel: Duel, side: DuelSide | None, now: datetime) -> DuelView:
    """Returns the duel as that side sees it, or with None as everyone does."""
    return (await _build_views(session, duel.workspace_id, [(duel, side)], now))[0]


async def _build_views(
    session: AsyncSession, workspace_id: int, shown: Sequence[tuple[Duel, DuelSide | None]], now: datetime
) -> list[DuelView]:
    """Returns duels of a workspace, each as that side sees it. The statements are as many for any number of duels, but
    for one for each channel."""
    duel_ids = [duel.id for duel, _ in shown]
    people = {member_id for duel, _ in shown for member_id in (duel.challenger_id, duel.opponent_id)}
    facts = _Facts(
        turns=await duels.list_turns_each(session, duel_ids),
        questions=await duels.list_questions_each(session, duel_ids),
        names=await members.get_names(session, workspace_id, people),
        ratings=await duels.list_ratings(session, duel_ids),
        ids=await members.list_ids_on(session, "discord", people),
        zones={
            channel_id: await schedules.get_zone(session, workspace_id, channel_id)
            for channel_id in {duel.channel_id for duel, _ in shown}
        },
    )
    return [_view(duel, side, facts, now) for duel, side in shown]


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the views of some duels are made of."""

    turns: Mapping[int, duels.Turns]
    questions: Mapping[int, Sequence[DuelQuestion]]
    """By duel, as the turns."""
    names: Mapping[int, str]
    ratings: Mapping[tuple[int, str], DuelRating]
    ids: Mapping[int, str]
    """Ids on Discord, by member."""
    zones: Mapping[int | None, str]
    """Time zones, by channel."""


def _view(duel: Duel, side: DuelSide | None, facts: _Facts, now: datetime) -> DuelView:
    turns = facts.turns[duel.id]
    players = {
        one: _player(
            duel, facts.names[member_id], [turn for _, turn in turns[one]], facts.ratings.get((duel.id, one)), now
        ).model_copy(update={"discord": facts.ids.get(member_id, "")})
        for one, member_id in zip(SIDES, (duel.challenger_id, duel.opponent_id), strict=True)
    }
    mine = [turn for _, turn in turns[side]] if side else []
    following = _next(duel, mine, now) if side else None
    return DuelView(
        duel=duel.id,
        state=STATE.validate_python(duel.state),
        topic=duel.topic,
        questions=QUESTIONS,
        question_seconds=QUESTION_SECONDS,
        challenger=players["challenger"],
        opponent=players["opponent"],
        you=side,
        answered=(following - 1 if following else QUESTIONS) if side and duel.accepted_at else 0,
        next_ref=str(QuestionRef("duel", facts.questions[duel.id][following - 1].id)) if following else "",
        winner=WINNER.validate_python(duel.winner),
        respond_by=duel.respond_by,
        ends_at=duel.ends_at,
        zone=facts.zones[duel.channel_id],
    )


def _player(duel: Duel, name: str, turns: Sequence[Turn], rating: DuelRating | None, now: datetime) -> DuelPlayer:
    if duel.state != "over":
        return DuelPlayer(name=name, done=duel.state == "running" and _next(duel, turns, now) is None)
    score = score_turns(turns)
    if rating is None:
        return DuelPlayer(name=name, done=True, correct=score.correct, seconds=score.ms / 1000)
    before, after = Rating(rating.mu_before, rating.sigma_before).shown, Rating(rating.mu, rating.sigma).shown
    return DuelPlayer(
        name=name,
        done=True,
        correct=score.correct,
        seconds=score.ms / 1000,
        rating=after,
        change=after - before,
    )


def _next(duel: Duel, turns: Sequence[Turn], now: datetime) -> int | None:
    if duel.state != "running" or duel.ends_at is None:
        return None
    return next_number(turns, duel.ends_at, now)


async def build_review(session: AsyncSession, duel: Duel, caller: Caller, now: datetime) -> DuelReview:
    """Returns the duel, and once it is over the keys with the caller's own answers."""
    side = side_of(duel, caller.member_id)
    view = await build_view(session, duel, side, now)
    if duel.state != "over" or side is None:
        return DuelReview(duel=view)
    given = {row.question_id: row for row, _ in (await duels.list_turns(session, duel.id))[side]}
    answers = []
    for asked in await duels.list_questions(session, duel.id):
        version = await questions.get_version(session, asked.version_id)
        secret = await questions.is_secret(session, caller, version.question_id)
        key = None if secret else build_answer_key(version, str(QuestionRef("duel", asked.id)))
        turn = given.get(asked.id)
        answer = AnswerInput.from_stored(turn.given) if turn and turn.given is not None else None
        answers.append(DuelAnswer(key=key, given=answer, correct=not secret and turn is not None and turn.correct))
    return DuelReview(duel=view, answers=tuple(answers))


async def build_ladder(session: AsyncSession, caller: Caller, limit: int) -> Ladder:
    """Returns the top of the workspace's ladder, and the caller's own place on it."""
    places, total = await duels.list_ladder(session, caller.workspace_id, limit, caller.member_id)
    ids = await members.list_ids_on(session, "discord", [place.member_id for place in places])
    rows = [
        LadderRow(
            rank=place.rank,
            name=place.name,
            discord=ids.get(place.member_id, ""),
            rating=place.shown,
            duels=place.duels,
            wins=place.wins,
            draws=place.draws,
            me=place.member_id == caller.member_id,
        )
        for place in places
    ]
    return Ladder(rows=tuple(rows[:limit]), total=total, mine=next((row for row in rows if row.me), None))


async def list_duels(session: AsyncSession, caller: Caller, now: datetime) -> MyDuels:
    """Returns the caller's rating, their duels that have not ended, and their latest results."""
    rating = (await duels.get_ratings(session, [caller.member_id]))[caller.member_id].rating
    live = await duels.list_of_member(session, caller.member_id, ended=False, limit=MAX_LISTED)
    past = await duels.list_of_member(session, caller.member_id, ended=True, limit=MAX_LISTED)
    shown = [(duel, side_of(duel, caller.member_id)) for duel in (*live, *past)]
    views = await _build_views(session, caller.workspace_id, shown, now)
    return MyDuels(rating=rating.shown, live=tuple(views[: len(live)]), past=tuple(views[len(live) :]))
