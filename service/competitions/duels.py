"""Duels: one member challenges another, both answer the same questions privately, and their ratings change once.

Nothing says before the end who was right. A duel ends when both are done or its time is over, whichever is first; the
leader ends those that nobody ends by answering. Duels earn no points.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy import literal, select
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from service.competitions.duel_views import build_view, side_of
from service.domain.duels import (
    PLAY_WITHIN,
    QUESTION_SECONDS,
    QUESTIONS,
    RESPOND_WITHIN,
    SIDES,
    Result,
    Turn,
    closes_at,
    decide_winner,
    next_number,
    rate_match,
    score_turns,
)
from service.errors import Refused
from service.rounds import practice, schedules
from service.rounds.grading import grade_answer
from service.rounds.submissions import validate_answer
from service.rounds.views import build_question_view
from service.store import duels, members, outbox, questions
from service.store.competition_tables import Duel, DuelQuestion
from service.store.members import Caller, find_named_member
from service.store.session import Sessions
from service.store.tables import Member
from service.wire import (
    AnswerInput,
    AskForm,
    DuelEvent,
    DuelPost,
    DuelRefused,
    DuelSide,
    DuelTurn,
    NotFound,
    QuestionGone,
    QuestionRef,
    Who,
)

log = structlog.get_logger(__name__)
MAX_WAITING = 5
"""Challenges of one member that may wait for a response at a time."""
ON_ITS_WAY = timedelta(seconds=3)
"""Time after the last moment to answer in which an answer that was given before may still arrive."""
EVENTS: dict[str, DuelEvent] = {
    "over": "over",
    "declined": "declined",
    "expired": "expired",
    "cancelled": "cancelled",
}
"""What members read about a duel that ended in that state."""
_RESULTS: dict[str, Result] = {"challenger": "first", "opponent": "second", "draw": "draw"}


@dataclass(frozen=True, slots=True)
class Challenged:
    """Whom a member challenges: a member's platform id or name."""

    member: str
    name: str = ""
    """Name of the member, if the platform itself says that this id is in the chat: they may be new to the quiz."""


async def challenge(
    session: AsyncSession, caller: Caller, who: Who, wanted: Challenged, topic: str, now: datetime
) -> int:
    """Asks another member to a duel, and returns its id."""
    opponent = await _find_member(session, caller, who, wanted, now)
    topics = await schedules.resolve_topics(session, caller.workspace_id, [topic]) if topic else ("",)
    return await _ask(session, caller, opponent.id, topics[0], now)


async def rematch(session: AsyncSession, caller: Caller, duel_id: int, now: datetime) -> int:
    """Asks the other member of a duel that is over to another one, and returns its id."""
    before, side = await find_own(session, caller, duel_id)
    if before.state != "over":
        raise Refused(DuelRefused(why="not over"))
    other = before.opponent_id if side == "challenger" else before.challenger_id
    # The two may have turned out to be one person.
    return await _ask(session, caller, (await members.resolve_merged(session, other)).id, before.topic, now)


async def respond(session: AsyncSession, caller: Caller, duel_id: int, accept: bool, now: datetime) -> int:
    """Accepts or declines a challenge; its challenger can withdraw it. Responding the same again changes nothing."""
    duel, side = await _lock_own(session, caller, duel_id)
    if duel.state == "asked" and now >= duel.respond_by:
        await _end(session, duel, "expired", now)
        return duel.id
    if duel.state != "asked":
        if duel.state != ("running" if accept else "declined"):
            raise Refused(DuelRefused(why="ended" if duel.ended_at else "accepted"))
        return duel.id
    if side == "challenger":
        if accept:
            raise Refused(DuelRefused(why="own challenge"))
        await _end(session, duel, "cancelled", now, side)
    elif not accept:
        await _end(session, duel, "declined", now)
    else:
        if not await duels.draw_questions(session, duel):
            raise Refused(DuelRefused(why="too few questions", count=QUESTIONS))
        duel.state, duel.accepted_at, duel.ends_at = "running", now, now + PLAY_WITHIN
        await session.flush()
        await _tell(session, duel, "accepted", ("challenger",), now)
        await _edit_challenge(session, duel, "accepted", now)
    return duel.id


async def open_question(session: AsyncSession, caller: Caller, ref: str, now: datetime) -> DuelTurn:
    """Shows the caller's next question; the time for it counts from the first call. Shows only the duel if the
    question `ref` is closed for the caller."""
    asked, duel, side = await _lock_question(session, caller, ref)
    turns = (await duels.list_turns(session, duel.id))[side]
    if duel.state != "running" or asked.number != _next(duel, [turn for _, turn in turns], now):
        return DuelTurn(duel=await build_view(session, duel, side, now))
    await duels.show_question(session, asked.id, side, now)
    shown = (await duels.list_turns(session, duel.id))[side][-1][1]
    version = await questions.get_version(session, asked.version_id)
    assert duel.ends_at is not None, "it is running"
    ask = AskForm(
        ref=ref,
        question=build_question_view(version, ref, caller.member_id),
        opens_at=shown.shown_at,
        closes_at=closes_at(shown.shown_at, duel.ends_at),
    )
    return DuelTurn(duel=await build_view(session, duel, side, now), ask=ask)


async def answer_question(
    session: AsyncSession, caller: Caller, ref: str, given: AnswerInput, at: datetime, now: datetime
) -> tuple[int, bool]:
    """Records the caller's answer to a question; the first one counts. Returns the duel and whether it came in time.

    `at` is the platform's time of the answer. Ends the duel if it was the last answer.
    """
    asked, duel, side = await _lock_question(session, caller, ref)
    if duel.state != "running":
        raise Refused(DuelRefused(why="ended"))
    row = next(
        (row for row, turn in (await duels.list_turns(session, duel.id))[side] if turn.number == asked.number), None
    )
    if row is None:
        raise Refused(QuestionGone(practice=False))
    if row.answered_at is not None:
        return duel.id, True
    version = await questions.get_version(session, asked.version_id)
    kept = validate_answer(version.question, given)
    assert duel.ends_at is not None, "it is running"
    answered_at = max(row.shown_at, min(at, now))
    in_time = answered_at <= closes_at(row.shown_at, duel.ends_at)
    if in_time:
        row.given, row.answered_at = kept.model_dump(mode="json", exclude_defaults=True), answered_at
        row.correct = grade_answer(version.question, kept).credit == 1
        await session.flush()
    await _settle(session, duel, now, answered_by=side)
    return duel.id, in_time


async def end_due(sessions: Sessions, now: datetime) -> int:
    """Ends every duel and challenge whose time is over, each in its own transaction. Returns how many."""
    async with sessions.begin() as session:
        due = await duels.list_due(session, now, now - ON_ITS_WAY, QUESTION_SECONDS)
    ended = 0
    for workspace_id, duel_id in due:
        try:
            async with sessions.begin() as session:
                ended += await settle(session, workspace_id, duel_id, now)
        except (SQLAlchemyError, ValueError, TypeError) as error:
            # A duel that cannot be ended must not block the others; the next tick retries it.
            log.error("duel not ended", duel=duel_id, exc_info=error)
    return ended


async def settle(session: AsyncSession, workspace_id: int, duel_id: int, now: datetime) -> bool:
    """Ends the duel if it is due, and tells its members. Any number of concurrent calls do so once."""
    duel = await duels.lock_duel(session, workspace_id, duel_id)
    if duel is None or duel.told:
        return False
    if duel.state == "asked" and now >= duel.respond_by:
        await _end(session, duel, "expired", now)
    elif duel.state == "running":
        await _settle(session, duel, now)
    elif duel.ended_at is not None:  # cancelled because a member left
        await _tell_end(session, duel, now)
    return duel.ended_at is not None


async def _settle(session: AsyncSession, duel: Duel, now: datetime, answered_by: DuelSide | None = None) -> None:
    """Ends a locked duel if both members are done or its time is over, and no answer can be on its way. `answered_by`
    sees the result at once."""
    assert duel.ends_at is not None, "it is running"
    turns = await duels.list_turns(session, duel.id)
    arrived = now - ON_ITS_WAY
    open_sides = [side for side in SIDES if _next(duel, [turn for _, turn in turns[side]], arrived) is not None]
    if open_sides and arrived < duel.ends_at:
        return
    await _regrade(session, duel)
    turns = await duels.list_turns(session, duel.id)
    first, second = (score_turns(turn for _, turn in turns[side]) for side in SIDES)
    winner = decide_winner(first, second)
    if winner is None:
        await _end(session, duel, "cancelled", now)
        return
    await _rate(session, duel, winner, now)
    await _add_cards(session, duel, now)
    duel.winner = winner
    await _end(session, duel, "over", now, answered_by)


async def _regrade(session: AsyncSession, duel: Duel) -> None:
    """Has the questions that were corrected since they were drawn decide, and be shown, in their newest version."""
    turns = await duels.list_turns(session, duel.id)
    for asked in await duels.list_questions(session, duel.id):
        drawn = await questions.get_version(session, asked.version_id)
        version = await questions.get_deciding_version(session, drawn)
        if version.id == asked.version_id:
            continue
        asked.version_id = version.id
        for row in (row for side in SIDES for row, _ in turns[side] if row.question_id == asked.id):
            if row.given is not None:
                row.correct = grade_answer(version.question, AnswerInput.from_stored(row.given)).credit == 1
    await session.flush()


async def _rate(session: AsyncSession, duel: Duel, winner: str, now: datetime) -> None:
    """Adds both ratings to the history. Both members are locked, so their latest ratings stay the latest."""
    players = (duel.challenger_id, duel.opponent_id)
    before = await duels.get_ratings(session, players)
    after = rate_match(before[players[0]].rating, before[players[1]].rating, _RESULTS[winner])
    rows = []
    for side, member_id, rating in zip(SIDES, players, after, strict=True):
        known = before[member_id]
        rows.append(
            {
                "duel_id": duel.id,
                "side": side,
                "workspace_id": duel.workspace_id,
                "member_id": member_id,
                "number": known.duels + 1,
                "wins": known.wins + (winner == side),
                "draws": known.draws + (winner == "draw"),
                "mu_before": known.rating.mu,
                "sigma_before": known.rating.sigma,
                "mu": rating.mu,
                "sigma": rating.sigma,
                "at": now,
            }
        )
    await duels.add_ratings(session, rows)


async def _add_cards(session: AsyncSession, duel: Duel, now: datetime) -> None:
    """Makes a practice card of each question that a member saw and did not get right."""
    turns = await duels.list_turns(session, duel.id)
    asked = {row.id: row for row in await duels.list_questions(session, duel.id)}
    for side, member_id in zip(SIDES, (duel.challenger_id, duel.opponent_id), strict=True):
        for row, turn in turns[side]:
            if not turn.correct:
                version = await questions.get_version(session, asked[row.question_id].version_id)
                await practice.add_wrong_cards(session, select(literal(member_id)), version.question_id, now)


async def _ask(session: AsyncSession, caller: Caller, opponent_id: int, topic: str, now: datetime) -> int:
    # The two may have been merged or forgotten meanwhile.
    locked = await members.lock_current(session, {caller.member_id, opponent_id})
    opponent = locked[opponent_id]
    if opponent.forgotten_at is not None:
        raise Refused(DuelRefused(why="left"))
    caller = await members.lock_caller(session, caller)
    if opponent.id == caller.member_id:
        raise Refused(DuelRefused(why="yourself"))
    if await duels.count_waiting(session, caller.member_id) >= MAX_WAITING:
        raise Refused(DuelRefused(why="too many", count=MAX_WAITING))
    if await duels.count_askable(session, caller.workspace_id, topic) < QUESTIONS:
        raise Refused(DuelRefused(why="too few questions", count=QUESTIONS))
    duel_id = await duels.add_duel(
        session,
        {
            "workspace_id": caller.workspace_id,
            "chat_id": caller.chat_id,
            "channel_id": caller.channel_id,
            "challenger_id": caller.member_id,
            "opponent_id": opponent.id,
            "topic": topic,
            "asked_at": now,
            "respond_by": now + RESPOND_WITHIN,
        },
    )
    if duel_id is None:
        raise Refused(DuelRefused(why="open"))
    duel = await duels.find_duel(session, caller.workspace_id, duel_id)
    assert duel is not None, "it was made in this transaction"
    await _tell(session, duel, "asked", ("opponent", None), now)
    return duel_id


async def _end(session: AsyncSession, duel: Duel, state: str, now: datetime, ended_by: DuelSide | None = None) -> None:
    duel.state, duel.ended_at = state, now
    await session.flush()
    await _tell_end(session, duel, now, ended_by)


async def _tell_end(session: AsyncSession, duel: Duel, now: datetime, ended_by: DuelSide | None = None) -> None:
    """Tells the members of a duel that it ended, except for the one who sees it in the reply. Only a result goes to the
    channel: nobody is shown up for declining."""
    audience: tuple[DuelSide | None, ...] = tuple(side for side in SIDES if side != ended_by)
    if duel.state == "over":
        audience = (*audience, None)
    elif duel.state in ("declined", "expired"):
        audience = ("challenger",)
    await _tell(session, duel, EVENTS[duel.state], audience, now)
    if duel.accepted_at is None:
        await _edit_challenge(session, duel, EVENTS[duel.state], now)
    duel.told = True
    await session.flush()


async def _tell(
    session: AsyncSession, duel: Duel, event: DuelEvent, audience: tuple[DuelSide | None, ...], now: datetime
) -> None:
    """Enqueues a message to each side, and with None to the channel, unless a member hides from boards."""
    people = {one.id: one for one in await members.lock_in_order(session, {duel.challenger_id, duel.opponent_id})}
    for side in audience:
        member_id = {"challenger": duel.challenger_id, "opponent": duel.opponent_id, None: None}[side]
        if side is None and (duel.channel_id is None or any(one.hidden for one in people.values())):
            continue
        if member_id is not None and people[member_id].forgotten_at is not None:
            continue
        message = outbox.NewMessage(
            key=_key(duel, event, side),
            body=DuelPost(event=event, duel=await build_view(session, duel, side, now)),
            workspace_id=duel.workspace_id,
            channel_id=duel.channel_id if side is None else None,
            member_id=member_id,
            chat_id=duel.chat_id,
        )
        await outbox.enqueue(session, message, now, now + outbox.PRIVATE_TIMEOUT)


async def _edit_challenge(session: AsyncSession, duel: Duel, event: DuelEvent, now: datetime) -> None:
    """Edits the messages of the challenge, so that they no longer offer to accept it. Deletes those not sent yet."""
    sides: tuple[DuelSide | None, ...] = ("opponent", None)
    for side in sides:
        key = _key(duel, "asked", side)
        await outbox.delete_unsent(session, key)
        post = await outbox.find_by_key(session, key)
        if post is None:
            continue
        message = outbox.NewMessage(
            key=f"{key}:{event}",
            body=DuelPost(event=event, duel=await build_view(session, duel, side, now)),
            workspace_id=post.workspace_id,
            channel_id=post.channel_id,
            member_id=post.member_id,
            chat_id=post.chat_id,
            edits_id=post.id,
        )
        await outbox.enqueue(session, message, now, now + outbox.PRIVATE_TIMEOUT)


def _key(duel: Duel, event: DuelEvent, side: DuelSide | None) -> str:
    return f"duel:{duel.id}:{event}:{side or 'channel'}"


def _next(duel: Duel, turns: list[Turn], now: datetime) -> int | None:
    assert duel.ends_at is not None, "it is running"
    return next_number(turns, duel.ends_at, now)


async def _find_member(session: AsyncSession, caller: Caller, who: Who, wanted: Challenged, now: datetime) -> Member:
    """Returns the member of the workspace who is challenged, registered if the platform vouches for them."""
    if wanted.name:
        known = await members.find_identity(session, caller.chat_id, wanted.member)
        if known is None:
            met = Who(platform=who.platform, workspace=who.workspace, member=wanted.member, name=wanted.name)
            known = (await members.resolve_caller(session, met, None, now)).member_id
        return await members.get_member(session, known)
    return await find_named_member(session, caller, wanted.member)


async def find_own(session: AsyncSession, caller: Caller, duel_id: int) -> tuple[Duel, DuelSide]:
    """Returns a duel of the caller, and their side. Refused if it is not theirs."""
    return await _own(session, await duels.find_duel(session, caller.workspace_id, duel_id), caller, duel_id)


async def _lock_own(session: AsyncSession, caller: Caller, duel_id: int) -> tuple[Duel, DuelSide]:
    return await _own(session, await duels.lock_duel(session, caller.workspace_id, duel_id), caller, duel_id)


async def _own(session: AsyncSession, duel: Duel | None, caller: Caller, duel_id: int) -> tuple[Duel, DuelSide]:
    """Returns the duel with the caller's side. Refused to everyone else in the same workspace."""
    if duel is None:
        raise Refused(NotFound(what="duel", name=str(duel_id)))
    side = side_of(duel, caller.member_id)
    if side is None:
        # They may just have been merged into one of the two.
        side = side_of(duel, (await members.resolve_merged(session, caller.member_id)).id)
    if side is None:
        raise Refused(DuelRefused(why="not yours"))
    return duel, side


async def _lock_question(session: AsyncSession, caller: Caller, ref: str) -> tuple[DuelQuestion, Duel, DuelSide]:
    reference = QuestionRef.parse(ref)
    asked = None
    if reference.kind == "duel":
        asked = await duels.find_question(session, caller.workspace_id, reference.id)
    if asked is None:
        raise Refused(QuestionGone(practice=False))
    duel, side = await _lock_own(session, caller, asked.duel_id)
    return asked, duel, side
