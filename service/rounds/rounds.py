"""Posts due slots as rounds and closes rounds: grading, points and reveal.

Messages go to the outbox in the same transaction; nothing is sent here.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.calendar import Slot, due_slots, get_zone, slots_between
from service.errors import Refused
from service.metrics import POST_SECONDS
from service.rounds import contestant, delivery, leaderboard, measuring, practice, results
from service.rounds.alerts import notify_admins
from service.rounds.jobs import defer_measuring
from service.rounds.ledger import LedgerPosting, grade_answer
from service.rounds.schedules import build_timetable, choose_for_day, next_posting, only_gpu_questions_fit
from service.rounds.views import build_answer_key, build_question_view, channel_variant
from service.store import answers, banks, outbox, questions, rounds, suggestions, variants
from service.store import calibrations as calibration_rows
from service.store import schedules as schedule_rows
from service.store.answers import RoundEntry
from service.store.members import Caller
from service.store.questions import Version
from service.store.session import Sessions
from service.store.tables import Round, Schedule
from service.wire import (
    AnswerInput,
    BankLow,
    NoOpenRound,
    NotFound,
    NothingFits,
    NothingToAsk,
    NoticeFact,
    OutcomePost,
    PersonView,
    QuestionPost,
    QuestionRef,
    RevealPost,
    RoundView,
    ScheduleSpec,
    SkipReason,
    SlotMissed,
    SlotTaken,
)

log = structlog.get_logger(__name__)
Timing = dict[str, Any]
MIN_POST_WINDOW = timedelta(minutes=15)
"""Minimum time for which a post is tried, even with a shorter catch-up."""
CALIBRATION_DELAY = timedelta(minutes=5)
"""Time from a close to the calibration of its workspace: code answers may still be judged."""
BATCH_SIZE = 20
"""Schedules processed in one transaction."""
SKIP_NOTICE_WINDOW = timedelta(days=1)
"""Slots skipped longer ago are not reported: after a long outage one notice is enough."""
MAX_WRONG_TEXTS = 3
"""Number of most common wrong texts in a reveal."""
MAX_NAMED = 25
"""Members whose points a reveal names, best first."""
MAX_WRONG_LENGTH = 120
"""Longest wrong text in a reveal, characters."""


@dataclass(frozen=True, slots=True)
class _ClosingRound:
    """A round that is being closed, with the answers that count."""

    round: Round
    schedule: Schedule
    version: Version
    entries: Sequence[RoundEntry]


@dataclass(frozen=True, slots=True)
class _Result:
    """The result of one member's answer."""

    entry: RoundEntry
    credit: float | None
    """None for an open answer, which people mark later."""
    points: int


async def post_due(sessions: Sessions, now: datetime) -> None:
    """Posts all due slots. Any number of concurrent calls post each slot once.

    Works in batches, so that the first posts go out while the next are created. A schedule that fails is left for the
    next tick and delays no other.
    """
    async with sessions.begin() as session:
        found = await list_due_timings(session, now)
    for timing, until in found:
        after: int | None = 0
        while after is not None:
            async with sessions.begin() as session:
                after = await post_batch(session, timing, until, now, after)


async def list_due_timings(session: AsyncSession, now: datetime) -> list[tuple[Timing, datetime]]:
    """Returns each distinct timing with due slots, and the instant of its newest due slot."""
    found = []
    for timing, since in await rounds.list_timings(session):
        try:
            slots = slots_between(build_timetable(ScheduleSpec.model_validate(timing)), since, now)
        except (ValueError, TypeError, LookupError) as error:
            log.error("timing not processed", timing=timing, exc_info=error)
        else:
            found += [(timing, slots[-1].instant)] if slots else []
    return found


async def post_batch(session: AsyncSession, timing: Timing, until: datetime, now: datetime, after: int) -> int | None:
    """Posts due slots of one batch of schedules with that timing and an id above `after`. Returns the last id, or
    None if no batch is left."""
    schedules = await rounds.lock_due_schedules(session, timing, until, after, BATCH_SIZE)
    skips = await schedule_rows.list_skips_by_schedule(session, [schedule.id for schedule in schedules])
    for schedule in schedules:
        try:
            async with session.begin_nested():
                await _post_due_slots(session, schedule, skips.get(schedule.id, frozenset()), now)
        except (SQLAlchemyError, ValueError, TypeError, LookupError) as error:
            log.error("schedule not processed", schedule=schedule.id, exc_info=error)
    return schedules[-1].id if len(schedules) == BATCH_SIZE else None


async def _post_due_slots(session: AsyncSession, schedule: Schedule, skips: frozenset[date], now: datetime) -> None:
    spec = ScheduleSpec.model_validate(schedule.spec)
    timetable = build_timetable(spec, skips)
    for found in due_slots(timetable, now, timedelta(minutes=spec.catch_up_minutes), schedule.since):
        if found.action == "skip":
            if await _skip_slot(session, schedule, spec, found.slot, "missed"):
                await _notify_skipped(session, schedule, spec, found.slot, now)
        else:
            await post_slot(session, schedule, found.slot, now, late=found.action == "late")
    schedule.since = now


async def post_slot(
    session: AsyncSession, schedule: Schedule, slot: Slot, now: datetime, *, late: bool = False, reopen: bool = False
) -> Round | None:
    """Creates the round of a slot, or with `reopen` takes a skipped one, and enqueues its post.

    Returns None if the slot has a round or no question fits.
    """
    spec = ScheduleSpec.model_validate(schedule.spec)
    choice = await choose_for_day(session, schedule, spec, slot.day)
    if choice is None:
        needs_gpu = await only_gpu_questions_fit(session, schedule, spec)
        await _skip_slot(session, schedule, spec, slot, "needs gpu" if needs_gpu else "no question")
        await _notify(session, schedule, "empty", NothingToAsk(needs_gpu=needs_gpu), now)
        return None
    # A late question stays open as long as any other.
    opens_at = now if late else slot.instant
    closes_at = opens_at + timedelta(minutes=spec.open_minutes)
    version_id = await variants.pick_for_round(session, schedule.workspace_id, int(choice.id))
    own = spec.variants and await variants.suffice_for_all(session, version_id)
    times = (slot.day, opens_at, closes_at)
    round_ = await rounds.create(session, schedule.id, *times, version_id=version_id, own_variants=own)
    if round_ is None and reopen:
        round_ = await rounds.reopen(session, schedule.id, *times, version_id=version_id, own_variants=own)
    if round_ is None:
        return None
    await enqueue_post(session, schedule, round_, slot, now, late=late)
    POST_SECONDS.labels("made").observe(max(0.0, (now - slot.instant).total_seconds()))
    if "bank runs low" in choice.warnings:
        await _notify(session, schedule, "low", BankLow(left=choice.remaining), now)
    return round_


async def post_now(session: AsyncSession, caller: Caller, schedule_id: int, now: datetime) -> RoundView:
    """Posts today's question now, also where it could not be posted before. Refused if it was posted, or if no question
    fits."""
    found = await schedule_rows.lock_schedule(session, caller.workspace_id, schedule_id)
    if found is None:
        raise Refused(NotFound(what="schedule", name=str(schedule_id)))
    schedule = found[0]
    spec = ScheduleSpec.model_validate(schedule.spec)
    day = now.astimezone(get_zone(spec.zone)).date()
    before = await schedule_rows.find_round(session, schedule_id, day)
    if before is not None and before.skipped is None:
        if not await outbox.retry_now(session, before.id, now):
            raise Refused(SlotTaken(day=day))
        return await view_round(session, before, schedule)
    round_ = await post_slot(session, schedule, Slot(day, now), now, reopen=True)
    if round_ is None:
        raise Refused(NothingFits(needs_gpu=await only_gpu_questions_fit(session, schedule, spec)))
    return await view_round(session, round_, schedule)


async def _skip_slot(
    session: AsyncSession, schedule: Schedule, spec: ScheduleSpec, slot: Slot, why: SkipReason
) -> bool:
    """Records that the slot was skipped. Returns False if it already has a round."""
    closes_at = slot.instant + timedelta(minutes=spec.open_minutes)
    return await rounds.create(session, schedule.id, slot.day, slot.instant, closes_at, skipped=why) is not None


async def enqueue_post(
    session: AsyncSession, schedule: Schedule, round_: Round, slot: Slot, now: datetime, *, late: bool = False
) -> None:
    """Enqueues a round's question for every channel of its schedule. Where members get variants of their own, it is an
    example."""
    assert round_.version_id is not None, "it was just created with a question"
    spec = ScheduleSpec.model_validate(schedule.spec)
    ref = str(QuestionRef("round", round_.id))
    body = QuestionPost(
        ref=ref,
        question=build_question_view(
            await questions.get_version(session, round_.version_id), ref, variant=channel_variant(round_)
        ),
        day=slot.day,
        closes_at=round_.closes_at,
        late_minutes=int((now - slot.instant).total_seconds() // 60) if late else 0,
        extra=round_.number > 0,
        ping=spec.ping,
        zone=spec.zone,
    )
    catch_up = slot.instant + timedelta(minutes=spec.catch_up_minutes)
    for channel_id in await schedule_rows.list_channels(session, schedule):
        await outbox.enqueue_unless_posted(
            session,
            outbox.NewMessage(
                key=outbox.round_message_key(round_.id, "question", schedule, channel_id),
                body=body,
                workspace_id=schedule.workspace_id,
                channel_id=channel_id,
                round_id=round_.id,
            ),
            now,
            min(max(catch_up, now + MIN_POST_WINDOW), round_.closes_at),
        )


async def _notify_skipped(
    session: AsyncSession, schedule: Schedule, spec: ScheduleSpec, slot: Slot, now: datetime
) -> None:
    if now - slot.instant > SKIP_NOTICE_WINDOW:
        return
    fact = SlotMissed(day=slot.day, catch_up_minutes=spec.catch_up_minutes)
    await _notify(session, schedule, f"away:{slot.day.isoformat()}", fact, now)


async def _notify(session: AsyncSession, schedule: Schedule, what: str, fact: NoticeFact, now: datetime) -> None:
    """Notifies the admins, once until the next bank import."""
    imports = await banks.count_imports(session, schedule.workspace_id)
    await notify_admins(session, schedule, f"{what}:{schedule.id}:{imports}", fact, now)


async def close_due(sessions: Sessions, now: datetime) -> int:
    """Closes every round past its closing time, each in its own transaction. Returns how many."""
    async with sessions.begin() as session:
        # A question that never reached its channel is given up first, so that nothing is revealed there.
        await delivery.give_up_expired(session, now, "question")
        due = await rounds.list_due_to_close(session, now)
    closed = 0
    for round_id in due:
        try:
            async with sessions.begin() as session:
                closed += await close_round(session, round_id, now)
        except (SQLAlchemyError, ValueError, TypeError) as error:
            # A round that cannot be closed must not block the others; the next tick retries it.
            log.error("round not closed", round=round_id, exc_info=error)
    if closed:
        async with sessions.begin() as session:
            await calibration_rows.mark_due(
                session, await rounds.list_workspaces(session, due), now + CALIBRATION_DELAY
            )
    return closed


async def close_now(session: AsyncSession, caller: Caller, now: datetime) -> RoundView:
    """Closes the channel's open round that is due first. Refused if none is open."""
    found = await rounds.list_open_in_channel(session, caller.channel_id, now) if caller.channel_id else ()
    if not found:
        raise Refused(NoOpenRound())
    round_, schedule = min(found, key=lambda pair: pair[0].closes_at)
    await close_round(session, round_.id, now)
    return await view_round(session, round_, schedule)


async def close_round(session: AsyncSession, round_id: int, now: datetime) -> bool:
    """Grades the answers, posts the points and enqueues the reveal. Returns False if the round was already closed."""
    found = await rounds.lock_open(session, round_id)
    if found is None:
        return False
    round_, schedule = found
    assert round_.version_id is not None, "a round that was not skipped asks a question"
    round_.closed_at = now
    version = await questions.get_version(session, round_.version_id)
    closing = _ClosingRound(round_, schedule, version, await answers.list_entries(session, round_id))
    graded = await _grade_entries(session, closing, now)
    await session.flush()
    await practice.add_missed_cards(session, answers.absent_members(round_), version.question_id, now)
    await practice.add_wrong_cards(session, answers.wrong_members(round_), version.question_id, now)
    reveal = await _build_reveal(session, closing, graded, now)
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
    if measuring.is_measured(schedule, version):
        await defer_measuring(session, round_id)
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
    await outbox.enqueue_updates(session, round_.id, "closed", now, now + outbox.PRIVATE_TIMEOUT)


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
        zone=ScheduleSpec.model_validate(schedule.spec).zone,
    )


async def _grade_entries(session: AsyncSession, closing: _ClosingRound, now: datetime) -> list[_Result]:
    """Grades all answers and posts their points, except code without a verdict, which is posted with its verdict."""
    graded, verdicts = [], []
    asked = await questions.list_versions(session, {entry.answer.version_id for entry in closing.entries})
    for entry in closing.entries:
        # Where members have variants of their own, each answer has the key of its own.
        question = asked[entry.answer.version_id].question
        if entry.verdict is not None:
            if entry.verdict.verdict != "system error":
                graded.append((entry, entry.verdict.credit))
        elif question.kind != "code":
            verdict = grade_answer(question, AnswerInput.model_validate(entry.answer.given))
            if verdict.verdict != "system error":
                verdicts.append((entry.answer, verdict))
                graded.append((entry, verdict.credit))
    await answers.save_verdicts(session, verdicts, now)
    posting = await LedgerPosting.for_round(session, closing.round, closing.schedule, closing.version.question)
    points = await posting.post(session, graded)
    return [_Result(entry, credit, earned) for (entry, credit), earned in zip(graded, points, strict=True)]


async def _build_reveal(
    session: AsyncSession, closing: _ClosingRound, results: Sequence[_Result], now: datetime
) -> RevealPost:
    round_, schedule, version, entries = closing.round, closing.schedule, closing.version, closing.entries
    spec = ScheduleSpec.model_validate(schedule.spec)
    given = [AnswerInput.model_validate(entry.answer.given) for entry in entries]
    # Options and texts of different variants cannot be counted together.
    chosen = [] if round_.own_variants else [option for each in given for option in each.options or ()]
    shown = [result for result in results if not result.entry.member.hidden]
    first = [result for result in shown if result.credit == 1][:1]
    best = sorted(shown, key=lambda result: -result.points)[:MAX_NAMED]
    people = await _view_people(session, schedule, [*first, *best])
    return RevealPost(
        ref=str(QuestionRef("round", round_.id)),
        day=round_.day,
        key=build_answer_key(version, str(QuestionRef("round", round_.id)), chosen, variant=channel_variant(round_)),
        answers=len(entries),
        right=sum(result.credit == 1 for result in results),
        mean_credit=sum(result.credit or 0.0 for result in results) / len(results) if results else 0.0,
        wrong_texts=() if round_.own_variants else _wrong_texts(version, results),
        first=people[0] if first else None,
        points=tuple(people[len(first) :]),
        unnamed=len(shown) - len(best),
        contestant=await contestant.view_answer(session, round_, spec, version),
        suggested_by=await suggestions.find_credit(session, version.question_id),
        next_at=await next_posting(session, schedule, now),
        extra=round_.number > 0,
        zone=spec.zone,
    )


async def _view_people(session: AsyncSession, schedule: Schedule, results: Sequence[_Result]) -> list[PersonView]:
    members = {result.entry.member.id for result in results}
    streaks = await leaderboard.load_schedule_streaks(session, schedule.id, members)
    return [
        PersonView(name=result.entry.member.name, points=result.points, streak=streaks[result.entry.member.id].current)
        for result in results
    ]


def _wrong_texts(version: Version, results: Sequence[_Result]) -> tuple[tuple[str, int], ...]:
    if version.question.kind not in ("value", "output"):
        return ()
    texts = [
        (result.entry.answer.given["text"] or "").strip()[:MAX_WRONG_LENGTH] for result in results if result.credit != 1
    ]
    return tuple(sorted(Counter(texts).items(), key=lambda pair: (-pair[1], pair[0]))[:MAX_WRONG_TEXTS])
