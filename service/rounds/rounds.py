"""Closes rounds: grading, points and reveal. Rounds are made in `posting`.

Messages go to the outbox in the same transaction; nothing is sent here.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import Refused
from service.rounds import contestant, delivery, leaderboard, measuring, practice, results
from service.rounds.grading import grade_answer
from service.rounds.jobs import defer_measuring, defer_regrading
from service.rounds.ledger import LedgerPosting
from service.rounds.schedules import next_postings
from service.rounds.tally import Result, Tally
from service.rounds.views import build_answer_key, build_question_view, channel_variant
from service.store import answers, boards, locks, outbox, questions, rounds, suggestions
from service.store import calibrations as calibration_rows
from service.store.answers import RoundEntry
from service.store.members import Caller, list_ids_on
from service.store.outbox import PlannedEdits
from service.store.questions import Version
from service.store.session import Sessions
from service.store.statements import batches
from service.store.tables import AnswerRow, Round, Schedule
from service.wire import (
    AnswerInput,
    NoOpenRound,
    OutcomePost,
    PersonView,
    QuestionRef,
    RevealPost,
    RoundView,
    ScheduleSpec,
    VerdictView,
)

log = structlog.get_logger(__name__)
CALIBRATION_DELAY = timedelta(minutes=5)
"""Time from a close to the calibration of its workspace: code answers may still be judged."""


@dataclass(frozen=True, slots=True)
class _ClosingRound:
    """A round that is being closed."""

    round: Round
    schedule: Schedule
    version: Version
    """The version whose key decides: the one asked, unless it was corrected while the round was open."""

    @property
    def is_corrected(self) -> bool:
        return self.version.id != self.round.version_id


async def close_due(sessions: Sessions, now: datetime) -> int:
    """Closes every round past its closing time, each in its own transaction. Returns how many.

    Any number of concurrent calls share the work.
    """
    async with sessions.begin() as session:
        # A question that never reached its channel is given up first, so that nothing is revealed there.
        await delivery.give_up_expired(session, now, "question")
        due = await rounds.list_due_to_close(session, now)
    closed = 0
    for round_id in due:
        try:
            async with sessions.begin() as session:
                ours = await locks.try_lock(session, locks.CLOSING, [round_id])
                closed += bool(ours) and await close_round(session, round_id, now)
        except (SQLAlchemyError, ValueError, TypeError) as error:
            # A round that cannot be closed must not block the others; the next tick retries it.
            log.error("round not closed", round=round_id, exc_info=error)
    return closed


async def close_now(session: AsyncSession, caller: Caller, now: datetime) -> RoundView:
    """Closes the channel's open round that is due first. Refused if none is open.

    One that nobody could see yet, because the chat has not accepted it, is withdrawn instead: nothing is revealed.
    """
    found = await rounds.list_open_in_channel(session, caller.channel_id, now) if caller.channel_id else ()
    if not found:
        raise Refused(NoOpenRound())
    round_, schedule = min(found, key=lambda pair: pair[0].closes_at)
    before = await view_round(session, round_, schedule)
    # Nor is the question posted beside its answer in a channel that accepts it after the close.
    if any(post.state == "due" for post in await outbox.list_question_posts(session, round_.id)):
        await delivery.withdraw_questions(session, schedule.id, round_id=round_.id, extra=True)
        await session.flush()
        await session.refresh(round_)
        if round_.skipped is not None:
            return before.model_copy(update={"withdrawn": True})
    if not await close_round(session, round_.id, now):
        # Another admin was first.
        await session.refresh(round_)
        if round_.closed_at is None:
            raise Refused(NoOpenRound())
    return await view_round(session, round_, schedule)


async def close_round(session: AsyncSession, round_id: int, now: datetime) -> bool:
    """Grades the answers, posts the points, enqueues the reveal and makes a calibration due.

    Returns False if the round was already closed.
    """
    found = await rounds.lock_open(session, round_id)
    if found is None:
        return False
    round_, schedule = found
    assert round_.version_id is not None, "a round that was not skipped asks a question"
    round_.closed_at = now
    # A correction comes before this close, which then grades by it, or finds the round closed and regrades it.
    await questions.hold_current(session, round_.version_id)
    version = await results.graded_version(session, round_)
    closing = _ClosingRound(round_, schedule, version)
    tally = await _grade_answers(session, closing, now)
    # Even if no points were posted: whoever is being merged or forgotten gets no card here, and is not named below.
    await boards.lock_boards(session, [schedule.workspace_id])
    await session.flush()
    await practice.add_missed_cards(session, answers.absent_members(round_), version.question_id, now)
    await practice.add_wrong_cards(session, answers.wrong_members(round_), version.question_id, now)
    reveal = await _build_reveal(session, closing, tally, now)
    channels = await outbox.list_round_channels(session, round_id, schedule)
    for channel_id in channels:
        board = await leaderboard.get_top(session, channel_id, now)
        await outbox.enqueue(
            session,
            outbox.NewMessage(
                key=outbox.round_message_key(round_id, "reveal", schedule, channel_id),
                body=reveal.model_copy(update={"board": board}),
                workspace_id=schedule.workspace_id,
                channel_id=channel_id,
                round_id=round_id,
            ),
            now,
            now + outbox.PRIVATE_TIMEOUT,
        )
    await _enqueue_outcome(session, round_, schedule, reveal, channels, now)
    await results.enqueue_unasked(session, round_, schedule, channels, now)
    await results.enqueue_wanted(session, round_, schedule, now)
    if measuring.is_measured(round_, schedule, version):
        await defer_measuring(session, round_id)
    if closing.is_corrected and version.question.kind == "code":
        # Its answers were judged as they came, by the version asked.
        await defer_regrading(session, version.id, version.question_id)
    await calibration_rows.mark_due(session, schedule.workspace_id, now + CALIBRATION_DELAY)
    return True


async def _enqueue_outcome(
    session: AsyncSession,
    round_: Round,
    schedule: Schedule,
    reveal: RevealPost,
    channel_ids: Sequence[int],
    now: datetime,
) -> None:
    """Enqueues what the channel sees of a close: the result in brief, and the question's message as closed."""
    body = OutcomePost.model_validate(reveal.model_dump(include=set(OutcomePost.model_fields) - {"kind"}))
    for channel_id in channel_ids:
        message = outbox.NewMessage(
            key=outbox.round_message_key(round_.id, "outcome", schedule, channel_id),
            body=body,
            workspace_id=schedule.workspace_id,
            channel_id=channel_id,
            round_id=round_.id,
        )
        await outbox.enqueue(session, message, now, now + outbox.PRIVATE_TIMEOUT)
    await outbox.delete_waiting_updates(session, round_.id)
    await outbox.enqueue_updates(session, PlannedEdits(round_.id, "closed", now, now + outbox.PRIVATE_TIMEOUT))


async def view_round(session: AsyncSession, round_: Round, schedule: Schedule) -> RoundView:
    """Returns a posted round as admins see it."""
    assert round_.version_id is not None, "a posted round asks a question"
    version = await questions.get_version(session, round_.version_id)
    return RoundView(
        id=round_.id,
        day=round_.day,
        question=build_question_view(version, str(QuestionRef("round", round_.id)), variant=channel_variant(round_)),
        opens_at=round_.opens_at,
        closes_at=round_.closes_at,
        answers=await answers.count_answers(session, round_.id),
        closed=round_.closed_at is not None,
        zone=ScheduleSpec.from_stored(schedule.spec).zone,
    )


async def _grade_answers(session: AsyncSession, closing: _ClosingRound, now: datetime) -> Tally:
    """Grades all answers and posts their points, except code without a verdict, which is posted with its verdict.

    Goes page by page: all answers of a very large round would not fit into memory, nor into the time of a statement.
    """
    round_, question = closing.round, closing.version.question
    posting = await LedgerPosting.for_round(session, round_, closing.schedule, question)
    # Options and texts of different variants cannot be counted together.
    texts = question.kind in ("value", "output") and not round_.own_variants
    tally = Tally(texts=texts, author=posting.author, judged_later=question.kind == "code")
    members = await answers.list_member_ids(session, round_.id)
    for number, page in enumerate(batches(members)):
        entries = await answers.list_page(session, round_.id, page)
        graded = await _grade_page(session, entries, now, closing.version if closing.is_corrected else None)
        if number == 0:
            # Not before: a late verdict, too, is saved before its boards are opened, so that each waits for the other.
            await posting.note_ranks(session, members)
        points = await posting.post_page(session, graded)
        tally.add(entries, [Result(*each, earned) for each, earned in zip(graded, points, strict=True)])
    await posting.save_ranks(session)
    return tally


async def _grade_page(
    session: AsyncSession, entries: Sequence[RoundEntry], now: datetime, corrected: Version | None
) -> list[tuple[RoundEntry, float | None]]:
    """Grades answers, by the version that each was asked or by the corrected one, and saves the verdicts. Returns the
    credit of each, without those that have no verdict."""
    graded, verdicts = [], []
    # Of ten thousand answers to a choice, few differ.
    same: dict[Hashable, VerdictView] = {}
    asked = await questions.list_versions(session, {entry.answer.version_id for entry in entries})
    for entry in entries:
        # Where members have variants of their own, each answer has the key of its own.
        question = (corrected or asked[entry.answer.version_id]).question
        if entry.verdict is not None:
            if entry.verdict.verdict != "system error":
                graded.append((entry, entry.verdict.credit))
        elif question.kind != "code":
            verdict = same.get(_read_key(entry.answer))
            if verdict is None:
                verdict = grade_answer(question, AnswerInput.from_stored(entry.answer.given))
                same[_read_key(entry.answer)] = verdict
            if verdict.verdict != "system error":
                verdicts.append((entry.answer, verdict))
                graded.append((entry, verdict.credit))
    await answers.save_verdicts(session, verdicts, now, corrected.id if corrected else None)
    return graded


def _read_key(answer: AnswerRow) -> Hashable:
    """Returns what the verdict on an answer depends on."""
    options = answer.given.get("options")
    return answer.version_id, None if options is None else frozenset(options), answer.given.get("text")


async def _build_reveal(session: AsyncSession, closing: _ClosingRound, tally: Tally, now: datetime) -> RevealPost:
    round_, schedule, version = closing.round, closing.schedule, closing.version
    spec = ScheduleSpec.from_stored(schedule.spec)
    chosen = {} if round_.own_variants else tally.chosen
    first = [tally.first] if tally.first else []
    people = await _view_people(session, schedule, [*first, *tally.best])
    following = (await next_postings(session, [schedule], now)).get(schedule.id)
    return RevealPost(
        ref=str(QuestionRef("round", round_.id)),
        day=round_.day,
        key=build_answer_key(version, str(QuestionRef("round", round_.id)), chosen, variant=channel_variant(round_)),
        answers=tally.answers,
        right=tally.right,
        unjudged=tally.unjudged,
        mean_credit=tally.mean_credit,
        wrong_texts=tally.wrong_texts,
        first=people[0] if first else None,
        points=tuple(people[len(first) :]),
        unnamed=tally.shown - len(tally.best),
        contestant=await contestant.view_answer(session, round_, spec, version),
        suggested_by=await suggestions.find_credit(session, version.question_id),
        next_at=following.instant if following else None,
        extra=round_.number > 0,
        zone=spec.zone,
    )


async def _view_people(session: AsyncSession, schedule: Schedule, results: Sequence[Result]) -> list[PersonView]:
    members = {result.entry.member.id for result in results}
    streaks = await leaderboard.load_schedule_streaks(session, schedule.id, members)
    ids = await list_ids_on(session, "discord", members)
    return [
        PersonView(
            name=result.entry.member.name,
            discord=ids.get(result.entry.member.id, ""),
            points=result.points,
            streak=streaks[result.entry.member.id].current,
        )
        for result in results
    ]
