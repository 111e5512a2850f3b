"""Rows of duels, their questions and answers, and the append-only history of ratings.

A change of a duel locks its two members, in the order of their ids, and then the duel.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeAlias

from sqlalchemy import ColumnElement, Select, and_, exists, false, func, literal, or_, select, true, update
from sqlalchemy.dialects.postgresql import distinct_on, insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.duels import QUESTIONS, SHOWN_BASE, SHOWN_SCALE, Rating, Turn, draw_by_seed
from service.store.banks import is_asked_now, restrict_to_askable
from service.store.competition_tables import Duel, DuelQuestion, DuelRating, DuelTurn
from service.store.ledger import is_within_topic
from service.store.members import lock_in_order, merged_ids
from service.store.statements import built_once
from service.store.tables import AnswerRow, Member, QuestionRow, QuestionVersion
from service.store.variants import Variant
from service.wire import DuelSide

KINDS = ("choice", "value")
"""Kinds of question that are asked in duels: answered in a minute, and judged at once."""


@dataclass(frozen=True, slots=True)
class RatedMember:
    """A member's latest rating."""

    member_id: int
    rating: Rating
    duels: int = 0
    wins: int = 0
    draws: int = 0


@dataclass(frozen=True, slots=True)
class LadderPlace:
    """A member's place on the ladder."""

    member_id: int
    name: str
    rank: int
    shown: int
    duels: int
    wins: int
    draws: int


async def add_duel(session: AsyncSession, values: dict[str, Any]) -> int | None:
    """Adds a challenge and returns its id; None if the two have a duel that has not ended."""
    return await session.scalar(insert(Duel).values(values).on_conflict_do_nothing().returning(Duel.id))


async def find_duel(session: AsyncSession, workspace_id: int, duel_id: int) -> Duel | None:
    """Returns a duel of the workspace."""
    return await session.scalar(select(Duel).where(Duel.id == duel_id, Duel.workspace_id == workspace_id))


async def lock_duel(session: AsyncSession, workspace_id: int, duel_id: int) -> Duel | None:
    """Returns a duel of the workspace; it and its members are locked until the transaction ends."""
    while (duel := await find_duel(session, workspace_id, duel_id)) is not None:
        players = {duel.challenger_id, duel.opponent_id}
        await lock_in_order(session, players)
        await session.refresh(duel, with_for_update=True)
        if players == {duel.challenger_id, duel.opponent_id}:
            return duel
    return None


async def find_question(session: AsyncSession, workspace_id: int, question_id: int) -> DuelQuestion | None:
    """Returns a question of one of the workspace's duels."""
    query = select(DuelQuestion).join(Duel, Duel.id == DuelQuestion.duel_id)
    return await session.scalar(query.where(DuelQuestion.id == question_id, Duel.workspace_id == workspace_id))


async def list_questions(session: AsyncSession, duel_id: int) -> Sequence[DuelQuestion]:
    """Returns the duel's questions in order; none before it is accepted."""
    return (await list_questions_each(session, [duel_id]))[duel_id]


async def list_questions_each(session: AsyncSession, duel_ids: Collection[int]) -> dict[int, list[DuelQuestion]]:
    """Returns the questions of each duel, as `list_questions`."""
    query = select(DuelQuestion).where(DuelQuestion.duel_id.in_(duel_ids)).order_by(DuelQuestion.number)
    found: dict[int, list[DuelQuestion]] = {duel_id: [] for duel_id in duel_ids}
    for row in await session.scalars(query):
        found[row.duel_id].append(row)
    return found


async def count_waiting(session: AsyncSession, member_id: int) -> int:
    """Returns how many challenges of the member wait for a response."""
    query = select(func.count()).where(Duel.challenger_id == member_id, Duel.state == "asked")
    return int(await session.scalar(query) or 0)


async def count_askable(session: AsyncSession, workspace_id: int, topic: str) -> int:
    """Returns how many questions of the workspace suit a duel about the topic; an empty one means any."""
    query = restrict_to_askable(select(func.count()).select_from(QuestionVersion), workspace_id)
    return int(await session.scalar(query.where(*_suits(workspace_id, topic))) or 0)


async def draw_questions(session: AsyncSession, duel: Duel) -> bool:
    """Draws the duel's questions by its seed, those first that neither member has met. Returns False, drawing none,
    if there are too few."""
    met = await _list_met(session, (duel.challenger_id, duel.opponent_id))
    query = restrict_to_askable(
        select(QuestionVersion.id, QuestionVersion.question_id, QuestionVersion.family), duel.workspace_id
    )
    found = (await session.execute(query.where(*_suits(duel.workspace_id, duel.topic)))).all()
    by_question = {row.question_id: row for row in found}
    seed = f"duel {duel.id}"
    fresh = draw_by_seed(by_question.keys() - met, seed, QUESTIONS)
    drawn = [*fresh, *draw_by_seed(by_question.keys() & met, seed, QUESTIONS - len(fresh))]
    if len(drawn) < QUESTIONS:
        return False
    for number, question_id in enumerate(drawn, 1):
        row = by_question[question_id]
        version_id = await _draw_variant(session, row.id, seed) if row.family else row.id
        session.add(DuelQuestion(duel_id=duel.id, number=number, version_id=version_id))
    await session.flush()
    return True


async def _draw_variant(session: AsyncSession, family_id: int, seed: str) -> int:
    query = (
        select(Variant.id)
        .join(
            QuestionVersion,
            and_(QuestionVersion.question_id == Variant.question_id, QuestionVersion.version == Variant.version),
        )
        .where(QuestionVersion.id == family_id, Variant.drawing > 0)
    )
    return draw_by_seed(await session.scalars(query), seed, 1)[0]


def _suits(workspace_id: int, topic: str) -> list[ColumnElement[bool]]:
    within = [is_within_topic(topic)] if topic else []
    return [QuestionVersion.kind.in_(KINDS), ~is_asked_now(workspace_id), *within]


async def _list_met(session: AsyncSession, member_ids: Sequence[int]) -> set[int]:
    """Returns the questions that one of the members has answered, or met in a duel."""
    own = or_(Member.id.in_(member_ids), Member.merged_into.in_(member_ids))
    rows = select(Member.id).where(own)
    answered = select(QuestionVersion.question_id).join(AnswerRow, AnswerRow.version_id == QuestionVersion.id)
    dueled = (
        select(QuestionVersion.question_id)
        .join(DuelQuestion, DuelQuestion.version_id == QuestionVersion.id)
        .join(Duel, Duel.id == DuelQuestion.duel_id)
        .where(or_(Duel.challenger_id.in_(rows), Duel.opponent_id.in_(rows)))
    )
    return set(await session.scalars(answered.where(AnswerRow.member_id.in_(rows)).union(dueled)))


def is_asked_in_duel(member_id: int) -> ColumnElement[bool]:
    """Tests whether a duel that the member is playing asks a version of `QuestionRow`. Its key is still secret."""
    then = QuestionVersion.__table__.alias("in_duel")
    return exists(
        select(Duel.id)
        .join(DuelQuestion, DuelQuestion.duel_id == Duel.id)
        .join(then, then.c.id == DuelQuestion.version_id)
        .where(_plays(member_id), Duel.state == "running", then.c.question_id == QuestionRow.id)
    )


def list_asked_in_duels(member_id: int) -> Select[int]:
    """Selects the ids of the questions that the member's running duels ask."""
    return (
        select(QuestionVersion.question_id)
        .join(DuelQuestion, DuelQuestion.version_id == QuestionVersion.id)
        .join(Duel, Duel.id == DuelQuestion.duel_id)
        .where(_plays(member_id), Duel.state == "running")
    )


def _plays(member_id: int) -> ColumnElement[bool]:
    return or_(Duel.challenger_id == member_id, Duel.opponent_id == member_id)


# Turns


Turns: TypeAlias = dict[str, list[tuple[DuelTurn, Turn]]]
"""The turns of a duel by side, in the order of the questions."""


async def list_turns(session: AsyncSession, duel_id: int) -> Turns:
    """Returns the turns of both sides."""
    return (await list_turns_each(session, [duel_id]))[duel_id]


async def list_turns_each(session: AsyncSession, duel_ids: Collection[int]) -> dict[int, Turns]:
    """Returns the turns of each duel."""
    query = (
        select(DuelQuestion.duel_id, DuelTurn, DuelQuestion.number)
        .join(DuelQuestion, DuelQuestion.id == DuelTurn.question_id)
        .where(DuelQuestion.duel_id.in_(duel_ids))
        .order_by(DuelQuestion.number)
        .execution_options(populate_existing=True)
    )
    found: dict[int, Turns] = {duel_id: defaultdict(list) for duel_id in duel_ids}
    for duel_id, row, number in await session.execute(query):
        found[duel_id][row.side].append((row, Turn(number, row.shown_at, row.answered_at, row.correct)))
    return found


async def show_question(session: AsyncSession, question_id: int, side: DuelSide, now: datetime) -> None:
    """Records that the member first saw the question now, unless they have seen it before."""
    values = {"question_id": question_id, "side": side, "shown_at": now}
    await session.execute(insert(DuelTurn).values(values).on_conflict_do_nothing())


# Due work


async def list_due(
    session: AsyncSession, now: datetime, arrived: datetime, limit_seconds: int
) -> Sequence[tuple[int, int]]:
    """Returns the workspace and id of each duel that may end now, or that ended and whose members were not told.
    Answers from until `arrived` are not on their way any more."""
    late = DuelTurn.shown_at < literal(arrived) - timedelta(seconds=limit_seconds)
    closed = or_(DuelTurn.answered_at.is_not(None), late)
    turns = (
        select(func.count())
        .select_from(DuelTurn)
        .join(DuelQuestion, DuelQuestion.id == DuelTurn.question_id)
        .where(DuelQuestion.duel_id == Duel.id, closed)
        .scalar_subquery()
    )
    due = or_(
        Duel.ended_at.is_not(None),
        and_(Duel.state == "asked", Duel.respond_by <= now),
        and_(Duel.state == "running", or_(Duel.ends_at <= arrived, turns >= 2 * QUESTIONS)),
    )
    query = select(Duel.workspace_id, Duel.id).where(Duel.told == false(), due).order_by(Duel.id)
    return [(workspace_id, duel_id) for workspace_id, duel_id in await session.execute(query)]


# Ratings


async def get_ratings(session: AsyncSession, member_ids: Collection[int]) -> dict[int, RatedMember]:
    """Returns the latest rating of each member. A member of two merged accounts continues the history with more
    duels."""
    theirs = or_(Member.id.in_(member_ids), Member.merged_into.in_(member_ids))
    latest = _latest_ratings().where(theirs).subquery()
    rows = await session.execute(select(latest))
    found = {
        row.owner: RatedMember(row.owner, Rating(row.mu, row.sigma), row.number, row.wins, row.draws) for row in rows
    }
    return {member_id: found.get(member_id, RatedMember(member_id, Rating())) for member_id in member_ids}


async def add_ratings(session: AsyncSession, rows: Sequence[dict[str, Any]]) -> None:
    """Adds the ratings of both members after a duel. Fails if the duel was rated before."""
    await session.execute(insert(DuelRating), list(rows))


async def list_ratings(session: AsyncSession, duel_ids: Collection[int]) -> dict[tuple[int, str], DuelRating]:
    """Returns the ratings that duels led to, by duel and side."""
    found = await session.scalars(select(DuelRating).where(DuelRating.duel_id.in_(duel_ids)))
    return {(row.duel_id, row.side): row for row in found}


async def list_ladder(
    session: AsyncSession, workspace_id: int, limit: int, member_id: int
) -> tuple[list[LadderPlace], int]:
    """Returns the best rated members and the given one, with ranks, and how many are ranked. Hidden members are left
    out, without gaps in the ranks."""
    rows = (await session.execute(*_select_ladder(workspace_id, limit, member_id))).all()
    places = [
        LadderPlace(row.id, row.name, int(row.rank), int(row.shown), row.number, row.wins, row.draws) for row in rows
    ]
    return places, rows[0].total if rows else 0


@built_once
def _select_ladder(workspace_id: int, most: int, member_id: int) -> Select[*tuple[Any, ...]]:
    latest = _latest_ratings().where(Member.workspace_id == workspace_id).subquery()
    shown = func.round(SHOWN_BASE + SHOWN_SCALE * (latest.c.mu - 3 * latest.c.sigma)).label("shown")
    rank = func.rank().over(order_by=shown.desc()).label("rank")
    ranked = (
        select(Member.id, Member.name, rank, shown, latest.c.number, latest.c.wins, latest.c.draws)
        .join(latest, latest.c.owner == Member.id)
        .where(Member.hidden.is_(False))
        .subquery()
    )
    place = func.row_number().over(order_by=(ranked.c.rank, ranked.c.id)).label("place")
    placed = select(ranked, place, func.count().over().label("total")).subquery()
    return select(placed).where(or_(placed.c.place <= most, placed.c.id == member_id)).order_by(placed.c.place)


def _owner() -> ColumnElement[int]:
    return func.coalesce(Member.merged_into, Member.id)


def _latest_ratings() -> Any:
    """Selects the latest rating of every member, found by index, however long the histories are."""
    last = (
        select(DuelRating)
        .where(DuelRating.member_id == Member.id)
        .order_by(DuelRating.number.desc())
        .limit(1)
        .lateral("last")
    )
    columns = (last.c.number, last.c.wins, last.c.draws, last.c.mu, last.c.sigma)
    return (
        select(_owner().label("owner"), *columns)
        .select_from(Member)
        .join(last, true())
        .ext(distinct_on(_owner()))
        .order_by(_owner(), last.c.number.desc(), Member.id)
    )


async def list_of_member(session: AsyncSession, member_id: int, *, ended: bool, limit: int) -> Sequence[Duel]:
    """Returns the member's duels that have ended with a result, or those that have not ended; newest first."""
    query, values = (_select_ended if ended else _select_unfinished)(member_id, limit)
    return (await session.scalars(query, values)).all()


@built_once
def _select_ended(member_id: int, most: int) -> Select[Duel]:
    return select(Duel).where(_plays(member_id), Duel.state == "over").order_by(Duel.id.desc()).limit(most)


@built_once
def _select_unfinished(member_id: int, most: int) -> Select[Duel]:
    return select(Duel).where(_plays(member_id), Duel.ended_at.is_(None)).order_by(Duel.id.desc()).limit(most)


# A member's own data


async def list_own_turns(session: AsyncSession, member_id: int) -> Sequence[tuple[Duel, DuelTurn, str]]:
    """Returns every answer that the member gave in a duel, with the question's id, oldest first."""
    own = merged_ids(member_id)
    mine = or_(
        and_(DuelTurn.side == "challenger", Duel.challenger_id.in_(own)),
        and_(DuelTurn.side == "opponent", Duel.opponent_id.in_(own)),
    )
    rows = await session.execute(
        select(Duel, DuelTurn, QuestionRow.key)
        .join(DuelQuestion, DuelQuestion.duel_id == Duel.id)
        .join(DuelTurn, DuelTurn.question_id == DuelQuestion.id)
        .join(QuestionVersion, QuestionVersion.id == DuelQuestion.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .where(mine)
        .order_by(DuelTurn.shown_at, DuelQuestion.id)
    )
    return [(duel, turn, key) for duel, turn, key in rows]


async def list_own_ratings(session: AsyncSession, member_id: int) -> Sequence[DuelRating]:
    """Returns the member's history of ratings, oldest first."""
    own = DuelRating.member_id.in_(merged_ids(member_id))
    return (await session.scalars(select(DuelRating).where(own).order_by(DuelRating.at, DuelRating.number))).all()


async def forget_duels(session: AsyncSession, member_id: int, now: datetime) -> None:
    """Cancels the member's duels that have not ended, and erases what they wrote in any. Ratings are numbers, which
    stay."""
    await cancel_duels(session, _plays(member_id), now)
    own = merged_ids(member_id)
    for side, column in (("challenger", Duel.challenger_id), ("opponent", Duel.opponent_id)):
        questions = select(DuelQuestion.id).join(Duel, Duel.id == DuelQuestion.duel_id).where(column.in_(own))
        kept: Any = func.jsonb_strip_nulls(func.jsonb_build_object("options", DuelTurn.given["options"]))
        theirs = (DuelTurn.side == side, DuelTurn.given.is_not(None), DuelTurn.question_id.in_(questions))
        await session.execute(update(DuelTurn).where(*theirs).values(given=kept))


async def cancel_duels(session: AsyncSession, which: ColumnElement[bool], now: datetime) -> None:
    """Cancels duels that have not ended; the leader tells the members."""
    live = update(Duel).where(which, Duel.ended_at.is_(None)).execution_options(synchronize_session=False)
    await session.execute(live.values(state="cancelled", ended_at=now))


async def merge_players(session: AsyncSession, kept: int, gone: int, now: datetime) -> None:
    """Moves the duels of `gone` to `kept`. Ratings are a log and stay where they are.

    A duel of the two accounts with each other, or with a member that both are playing, cannot continue and is canceled.
    """
    both = {kept, gone}
    await cancel_duels(session, and_(Duel.challenger_id.in_(both), Duel.opponent_id.in_(both)), now)
    rival = func.coalesce(func.nullif(Duel.challenger_id, gone), Duel.opponent_id)
    other = Duel.__table__.alias("other")
    also = exists(
        select(other.c.id).where(
            other.c.ended_at.is_(None),
            or_(
                and_(other.c.challenger_id == kept, other.c.opponent_id == rival),
                and_(other.c.opponent_id == kept, other.c.challenger_id == rival),
            ),
        )
    )
    await cancel_duels(session, and_(_plays(gone), also), now)
    for column, facing in ((Duel.challenger_id, Duel.opponent_id), (Duel.opponent_id, Duel.challenger_id)):
        moved = update(Duel).where(column == gone, facing != kept).execution_options(synchronize_session=False)
        await session.execute(moved.values({column: kept}))
