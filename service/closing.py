"""The close of a round: its books are made once, and the reveal is left in the outbox in the same transaction."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from service import leaderboard, practice
from service.booking import Book, judged
from service.errors import NotFound
from service.schedules import next_instant
from service.showing import key_of, view_of
from service.store import answers, outbox, questions, rounds
from service.store.answers import Entry
from service.store.members import Caller
from service.store.questions import Version
from service.store.session import Sessions
from service.store.tables import Round, Schedule
from service.wire import Given, Person, RevealPost, RoundView, ScheduleSpec, VerdictView

log = structlog.get_logger(__name__)

SHOWN_WRONG = 3
"""How many of the commonest wrong texts a reveal names."""
SHOWN_LETTERS = 120
"""Of each of them."""


@dataclass(frozen=True, slots=True)
class _Result:
    """What one member's answer came to."""

    entry: Entry
    credit: float
    points: int


async def close_due(sessions: Sessions, now: datetime) -> int:
    """Close every round whose time is up, each in its own transaction; returns how many this call closed."""
    async with sessions.begin() as session:
        due = await rounds.to_close(session, now)
    closed = 0
    for round_id in due:
        try:
            async with sessions.begin() as session:
                closed += await close(session, round_id, now)
        except (SQLAlchemyError, ValueError, TypeError) as error:
            # One round that cannot be closed must not keep the others open; the next tick tries it again.
            log.error("round not closed", round=round_id, exc_info=error)
    return closed


async def close_now(session: AsyncSession, caller: Caller, now: datetime) -> RoundView:
    """Close the open round of the caller's channel that is due first; refused where none is open."""
    found = await rounds.open_in(session, caller.channel_id, now) if caller.channel_id else ()
    if not found:
        raise NotFound(what="open round", cure="Post a question with /quiz-admin schedule post-now.")
    round_, schedule = min(found, key=lambda pair: pair[0].closes_at)
    await close(session, round_.id, now)
    return await round_view(session, round_, schedule)


async def round_view(session: AsyncSession, round_: Round, schedule: Schedule) -> RoundView:
    """A posted round as admins see it."""
    assert round_.version_id is not None, "a posted round asks a question"
    version = await questions.version(session, round_.version_id)
    return RoundView(
        id=round_.id,
        day=round_.day,
        question=view_of(version, f"r{round_.id}"),
        opens_at=round_.opens_at,
        closes_at=round_.closes_at,
        answers=await answers.count(session, round_.id),
        closed=round_.closed_at is not None,
        zone=ScheduleSpec.model_validate(schedule.spec).zone,
    )


async def close(session: AsyncSession, round_id: int, now: datetime) -> bool:
    """Judge, book, reveal; False where the round was closed before. Answers that come later are practice."""
    found = await rounds.lock_open(session, round_id)
    if found is None:
        return False
    round_, schedule = found
    assert round_.version_id is not None, "a round that was not skipped asks a question"
    round_.closed_at = now
    version = await questions.version(session, round_.version_id)
    entries = await answers.entries(session, round_id)
    results = await _booked(session, round_, schedule, version, entries, now)
    await session.flush()
    absent = await answers.absent(session, round_)
    await practice.missed(session, absent, version.question_id, now)
    reveal = await _reveal(session, round_, schedule, version, entries, results, now)
    for channel_id in await outbox.round_channels(session, round_id, schedule):
        board = await leaderboard.top(session, channel_id, now)
        await outbox.leave(
            session,
            outbox.round_key(round_id, "reveal", schedule, channel_id),
            reveal.model_copy(update={"board": board}),
            workspace_id=schedule.workspace_id,
            channel_id=channel_id,
            round_id=round_id,
            due_at=now,
            give_up_at=now + outbox.PRIVATE_PATIENCE,
        )
    return True


async def _booked(
    session: AsyncSession,
    round_: Round,
    schedule: Schedule,
    version: Version,
    entries: Sequence[Entry],
    now: datetime,
) -> list[_Result]:
    """Every answer judged and booked, but for code whose verdict is still to come: that books it then."""
    book = await Book.of(session, round_, schedule, version.question)
    results = []
    for entry in entries:
        credit = await _credit(session, version, entry, now)
        if credit is not None:
            results.append(_Result(entry, credit, await book.enter(session, entry, credit)))
    return results


async def _credit(session: AsyncSession, version: Version, entry: Entry, now: datetime) -> float | None:
    """The share right; None where nothing is to be booked: not judged yet, or our own fault."""
    if entry.verdict is not None:
        return None if entry.verdict.verdict == "system error" else entry.verdict.credit
    if version.question.kind == "code":
        return None
    verdict: VerdictView = judged(version.question, Given.model_validate(entry.answer.given))
    if verdict.verdict == "system error":
        log.error("a question cannot be scored", question=version.question.id, cause=verdict.message)
        return None
    await answers.judge(session, entry.answer, verdict, now)
    return verdict.credit


async def _reveal(
    session: AsyncSession,
    round_: Round,
    schedule: Schedule,
    version: Version,
    entries: Sequence[Entry],
    results: Sequence[_Result],
    now: datetime,
) -> RevealPost:
    spec = ScheduleSpec.model_validate(schedule.spec)
    given = [Given.model_validate(entry.answer.given) for entry in entries]
    chosen = [option for each in given for option in each.options or ()]
    people = await _people(session, schedule, results)
    return RevealPost(
        ref=f"r{round_.id}",
        key=key_of(version, f"r{round_.id}", chosen),
        answers=len(entries),
        right=sum(result.credit == 1 for result in results),
        mean_credit=sum(result.credit for result in results) / len(results) if results else 0.0,
        wrong_texts=_wrong_texts(version, results),
        first=next((person for result, person in people if result.credit == 1), None),
        points=tuple(person for _, person in sorted(people, key=lambda pair: -pair[1].points)),
        next_at=await next_instant(session, schedule, now),
        zone=spec.zone,
    )


async def _people(
    session: AsyncSession, schedule: Schedule, results: Sequence[_Result]
) -> list[tuple[_Result, Person]]:
    """Those who want to be seen, the earliest answer first."""
    shown = [result for result in results if not result.entry.member.hidden]
    streaks = await leaderboard.streak_of(session, schedule.id, [result.entry.member.id for result in shown])
    return [
        (
            result,
            Person(name=result.entry.member.name, points=result.points, streak=streaks[result.entry.member.id].current),
        )
        for result in shown
    ]


def _wrong_texts(version: Version, results: Sequence[_Result]) -> tuple[tuple[str, int], ...]:
    if version.question.kind not in ("value", "output"):
        return ()
    texts = [
        (result.entry.answer.given["text"] or "").strip()[:SHOWN_LETTERS] for result in results if result.credit < 1
    ]
    return tuple(sorted(Counter(texts).items(), key=lambda pair: (-pair[1], pair[0]))[:SHOWN_WRONG])
