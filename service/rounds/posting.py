"""Makes the rounds of due slots and enqueues their posts, which any number of workers share. Nothing is sent here.

An extra round, which an admin asks for beside the day's question, is answered, graded, revealed and paid like any other
round. It counts for no streak, because nobody could expect it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta

import structlog
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncSession

from service.domain.calendar import Slot, due_slots, get_zone, next_slot, slots_between
from service.errors import Refused
from service.metrics import POST_SECONDS
from service.rounds.alerts import notify_admins
from service.rounds.choosing import (
    SlotChoice,
    choose_for_day,
    choose_for_slots,
    find_askable,
    lock_choosing,
    only_gpu_questions_fit,
    wait_to_choose,
)
from service.rounds.rounds import view_round
from service.rounds.schedules import build_timetable, resolve_topics
from service.rounds.views import build_question_view, channel_variant
from service.store import answers, banks, locks, outbox, questions, rounds, variants
from service.store import schedules as schedule_rows
from service.store.members import Caller
from service.store.session import Sessions, limit_pauses
from service.store.tables import Round, Schedule
from service.wire import (
    BankLow,
    ChannelUnscheduled,
    ExtraRound,
    NotFound,
    NothingFits,
    NothingToAsk,
    NoticeFact,
    QuestionPost,
    QuestionRef,
    RoundView,
    ScheduleSpec,
    SkipReason,
    SlotMissed,
    SlotTaken,
)

log = structlog.get_logger(__name__)
MIN_POST_WINDOW = timedelta(minutes=15)
"""Minimum time for which a post is tried, even with a shorter catch-up."""
BATCH_SIZE = 50
"""Schedules processed in one transaction."""
LONGEST_PAUSE = timedelta(seconds=30)
"""Time after which another worker takes over the batch of one that is frozen."""
LONGEST_PLAN = timedelta(days=1)
"""Time after which a schedule is looked at even without a slot: rules of time zones and holidays may have changed."""
MAX_OWED = 100
"""Maximum count of schedules that owe a slot: enough for an alert."""
SKIP_NOTICE_WINDOW = timedelta(days=1)
"""Slots skipped longer ago are not reported: after a long outage one notice is enough."""


@dataclass(frozen=True, slots=True)
class _Posting:
    """A slot whose question is posted now."""

    schedule: Schedule
    spec: ScheduleSpec
    slot: Slot
    late: bool = False


async def post_due(sessions: Sessions, now: datetime) -> None:
    """Posts all due slots. Any number of concurrent calls share the work and post each slot once.

    Works in batches, so that the first posts go out while the next are created. A schedule that fails is left for the
    next tick and delays no other.
    """
    after: tuple[datetime, int] | None = None
    while True:
        async with sessions.begin() as session:
            after = await post_batch(session, now, after)
        if after is None:
            return


async def post_batch(
    session: AsyncSession, now: datetime, after: tuple[datetime, int] | None = None
) -> tuple[datetime, int] | None:
    """Posts due slots of one batch of schedules that no other process is working on, in the order in which they are
    due, from `after` on. Returns where the next batch begins, or None if none is left."""
    claimed = await rounds.claim_due_schedules(session, now, after, BATCH_SIZE)
    last = (claimed[-1].next_at or now, claimed[-1].id) if len(claimed) == BATCH_SIZE else None
    if claimed:
        await limit_pauses(session, LONGEST_PAUSE)
    schedules = await _leave_busy(session, claimed, now)
    if schedules:
        ids = [schedule.id for schedule in schedules]
        skips = await schedule_rows.list_skips_by_schedule(session, ids)
        if not await _post_together(session, schedules, skips, now):
            for id_ in ids:
                await _post_together(session, await schedule_rows.reload(session, [id_]), skips, now)
    return last


async def count_owed(session: AsyncSession, until: datetime) -> int:
    """Returns how many schedules have an unprocessed slot of that instant or earlier, `MAX_OWED` at most."""
    owed = 0
    for schedule in await rounds.list_overdue_schedules(session, until, MAX_OWED):
        try:
            timetable = build_timetable(ScheduleSpec.from_stored(schedule.spec))
            owed += bool(slots_between(timetable, schedule.since, until))
        except (ValueError, TypeError, LookupError):
            continue  # it is reported whenever it is to be posted
    return owed


async def _leave_busy(session: AsyncSession, schedules: Sequence[Schedule], now: datetime) -> list[Schedule]:
    """Returns the schedules without those whose last round another process is just closing, because its answer is
    revealed first, and those in whose workspace another one is choosing questions."""
    if not schedules:
        return []
    closing = await rounds.list_due_to_close_of(session, [schedule.id for schedule in schedules], now)
    idle = await locks.try_lock(session, locks.CLOSING, closing) if closing else set()
    busy = {schedule_id for round_id, schedule_id in closing.items() if round_id not in idle}
    ours = await lock_choosing(session, {schedule.workspace_id for schedule in schedules})
    return [schedule for schedule in schedules if schedule.id not in busy and schedule.workspace_id in ours]


async def _post_together(
    session: AsyncSession, schedules: Sequence[Schedule], skips: dict[int, frozenset[date]], now: datetime
) -> bool:
    """Processes the due slots of these schedules and plans when to look at each again. Returns False, changing nothing,
    if one fails."""
    ids = [schedule.id for schedule in schedules]
    try:
        async with session.begin_nested():
            live = await rounds.list_posting(session, ids)
            postings = [
                posting
                for schedule in schedules
                if schedule.id in live
                for posting in await _process_slots(session, schedule, skips.get(schedule.id, frozenset()), now)
            ]
            await post_slots(session, postings, now)
            for schedule in schedules:
                if schedule.id not in live:
                    # It makes no rounds. After the bot is back it catches up, as after an outage.
                    schedule_rows.plan(schedule, schedule.since, None)
            await schedule_rows.save_plans(session, schedules)
    except (SQLAlchemyError, ValueError, TypeError, LookupError) as error:
        if len(ids) == 1:
            log.error("schedule not processed", schedule=ids[0], exc_info=error)
        return False
    return True


async def _process_slots(
    session: AsyncSession, schedule: Schedule, skips: frozenset[date], now: datetime
) -> list[_Posting]:
    """Skips the slots that are too late, and plans when to look again. Returns the slot to post, if there is one."""
    spec = ScheduleSpec.from_stored(schedule.spec)
    timetable = build_timetable(spec, skips)
    found = due_slots(timetable, now, timedelta(minutes=spec.catch_up_minutes), schedule.since)
    # An admin may take a skip back, so it does not count for the next look.
    every = build_timetable(spec) if skips else timetable
    passed = bool(found) or (bool(skips) and bool(slots_between(every, schedule.since, now)))
    following = next_slot(every, now)
    next_at = min(now + LONGEST_PLAN, following.instant) if following else now + LONGEST_PLAN
    schedule_rows.plan(schedule, now if passed else schedule.since, next_at)
    postings = []
    for due in found:
        if due.action != "skip":
            postings.append(_Posting(schedule, spec, due.slot, due.action == "late"))
        elif await _skip_slot(session, schedule, spec, due.slot, "missed"):
            await _notify_skipped(session, schedule, spec, due.slot, now)
    return postings


async def post_slots(
    session: AsyncSession, postings: Sequence[_Posting], now: datetime, *, reopen: bool = False
) -> list[Round | None]:
    """Creates the rounds of slots, or with `reopen` takes skipped ones, and enqueues their posts.

    None stands for a slot that has a round, or that no question fits. The number of statements does not grow with the
    number of slots, apart from slots without a question and families.
    """
    if not postings:
        return []
    choices = await choose_for_slots(session, [SlotChoice(one.schedule, one.spec, one.slot.day) for one in postings])
    versions = await variants.pick_for_rounds(
        session,
        {
            (one.schedule.workspace_id, int(choice.id))
            for one, choice in zip(postings, choices, strict=True)
            if choice is not None
        },
    )
    rows = []
    for posting, choice in zip(postings, choices, strict=True):
        if choice is None:
            continue
        opens_at, closes_at = _open_times(posting, now)
        version_id = versions[posting.schedule.workspace_id, int(choice.id)]
        own = posting.spec.variants and await variants.suffice_for_all(session, version_id)
        rows.append(rounds.NewRound(posting.schedule.id, posting.slot.day, opens_at, closes_at, version_id, own))
    made = await rounds.create_many(session, rows)
    if reopen:
        for row in rows:
            if row.schedule_id not in made and (again := await rounds.reopen(session, row)) is not None:
                made[row.schedule_id] = again
                # Of the question that nobody saw in the channel, but some through `/quiz today`.
                await answers.clear_hints(session, again.id)
                await variants.clear_variants(session, again.id)
    posted = [(one, round_) for one in postings if (round_ := made.get(one.schedule.id)) is not None]
    await enqueue_posts(session, [(one.schedule, round_, one.slot, one.late) for one, round_ in posted], now)
    low = []
    for posting, choice in zip(postings, choices, strict=True):
        if choice is None:
            await _skip_unanswerable(session, posting, now)
        elif posting.schedule.id in made:
            POST_SECONDS.labels("made").observe(max(0.0, (now - posting.slot.instant).total_seconds()))
            if "bank runs low" in choice.warnings:
                low.append((posting.schedule, BankLow(left=choice.remaining)))
    await _notify_each(session, "low", low, now)
    return [made.get(posting.schedule.id) for posting in postings]


def _open_times(posting: _Posting, now: datetime) -> tuple[datetime, datetime]:
    # A late question stays open as long as any other.
    opens_at = now if posting.late else posting.slot.instant
    return opens_at, opens_at + timedelta(minutes=posting.spec.open_minutes)


async def _skip_unanswerable(session: AsyncSession, posting: _Posting, now: datetime) -> None:
    """Skips a slot that no question fits."""
    schedule, spec = posting.schedule, posting.spec
    needs_gpu = await only_gpu_questions_fit(session, schedule, spec)
    await _skip_slot(session, schedule, spec, posting.slot, "needs gpu" if needs_gpu else "no question")
    await _notify(session, schedule, "empty", NothingToAsk(needs_gpu=needs_gpu), now)


async def post_now(session: AsyncSession, caller: Caller, schedule_id: int, now: datetime) -> RoundView:
    """Posts today's question now, even if it could not be posted before. Refused if it was posted, or if no question
    fits."""
    found = await schedule_rows.lock_schedule(session, caller.workspace_id, schedule_id)
    if found is None:
        raise Refused(NotFound(what="schedule", name=str(schedule_id)))
    schedule = found[0]
    spec = ScheduleSpec.from_stored(schedule.spec)
    day = now.astimezone(get_zone(spec.zone)).date()
    before = await schedule_rows.find_round(session, schedule_id, day)
    if before is not None and before.skipped is None:
        if not await outbox.retry_now(session, before.id, now):
            raise Refused(SlotTaken(day=day))
        return await view_round(session, before, schedule)
    await wait_to_choose(session, caller.workspace_id)
    (round_,) = await post_slots(session, [_Posting(schedule, spec, Slot(day, now))], now, reopen=True)
    if round_ is None:
        raise Refused(NothingFits(needs_gpu=await only_gpu_questions_fit(session, schedule, spec)))
    return await view_round(session, round_, schedule)


async def enqueue_posts(
    session: AsyncSession, posts: Sequence[tuple[Schedule, Round, Slot, bool]], now: datetime
) -> None:
    """Enqueues the questions of rounds for every channel of their schedules, in a constant number of statements.

    Each round comes with its schedule, its slot and whether it is late. Where members get variants of their own, the
    question is an example.
    """
    versions = await questions.list_versions(session, {round_.version_id or 0 for _, round_, _, _ in posts})
    channels = await schedule_rows.list_channels_each(session, [schedule for schedule, *_ in posts])
    messages = []
    for schedule, round_, slot, late in posts:
        assert round_.version_id is not None, "it was just created with a question"
        spec = ScheduleSpec.from_stored(schedule.spec)
        ref = str(QuestionRef("round", round_.id))
        body = QuestionPost(
            ref=ref,
            question=build_question_view(versions[round_.version_id], ref, variant=channel_variant(round_)),
            day=slot.day,
            closes_at=round_.closes_at,
            late_minutes=int((now - slot.instant).total_seconds() // 60) if late else 0,
            extra=round_.number > 0,
            ping=spec.ping,
            zone=spec.zone,
        )
        catch_up = slot.instant + timedelta(minutes=spec.catch_up_minutes)
        give_up_at = min(max(catch_up, now + MIN_POST_WINDOW), round_.closes_at)
        messages += [
            outbox.Addressed(
                outbox.NewMessage(
                    key=outbox.round_message_key(round_.id, "question", schedule, channel_id),
                    body=body,
                    workspace_id=schedule.workspace_id,
                    channel_id=channel_id,
                    round_id=round_.id,
                ),
                chat_id,
                give_up_at,
            )
            for channel_id, chat_id in channels[schedule.id]
        ]
    await outbox.enqueue_unless_posted(session, messages, now)


async def _skip_slot(
    session: AsyncSession, schedule: Schedule, spec: ScheduleSpec, slot: Slot, why: SkipReason
) -> bool:
    """Records that the slot was skipped. Returns False if it already has a round."""
    closes_at = slot.instant + timedelta(minutes=spec.open_minutes)
    return await rounds.create(session, schedule.id, slot.day, slot.instant, closes_at, skipped=why) is not None


async def _notify_skipped(
    session: AsyncSession, schedule: Schedule, spec: ScheduleSpec, slot: Slot, now: datetime
) -> None:
    if now - slot.instant > SKIP_NOTICE_WINDOW:
        return
    fact = SlotMissed(day=slot.day, catch_up_minutes=spec.catch_up_minutes)
    await _notify(session, schedule, f"away:{slot.day.isoformat()}", fact, now)


async def _notify(session: AsyncSession, schedule: Schedule, kind: str, fact: NoticeFact, now: datetime) -> None:
    await _notify_each(session, kind, [(schedule, fact)], now)


async def _notify_each(
    session: AsyncSession, kind: str, facts: Sequence[tuple[Schedule, NoticeFact]], now: datetime
) -> None:
    """Notifies the admins of schedules, each once until the next bank import."""
    if not facts:
        return
    imports = await banks.count_imports_each(session, {schedule.workspace_id for schedule, _ in facts})
    new = {f"{kind}:{schedule.id}:{imports[schedule.workspace_id]}": (schedule, fact) for schedule, fact in facts}
    known = await outbox.list_known(session, new)
    for key, (schedule, fact) in new.items():
        if key not in known:
            await notify_admins(session, schedule, key, fact, now)


async def ask_extra_round(
    session: AsyncSession, caller: Caller, channel_id: int, wanted: ExtraRound, now: datetime
) -> RoundView:
    """Creates a round beside the channel's schedule and enqueues its post, in every channel of the schedule.

    Settings that are not given come from the schedule. Refused without a schedule, if only questions fit that the
    schedule has asked lately, and if the question that is named cannot be asked now.
    """
    schedule_id = await schedule_rows.find_for_channel(session, channel_id)
    found = schedule_id and await schedule_rows.lock_schedule(session, caller.workspace_id, schedule_id)
    if not found:
        raise Refused(ChannelUnscheduled())
    schedule: Schedule = found[0]
    spec = await _narrow_spec(session, caller, schedule, wanted)
    slot = Slot(now.astimezone(get_zone(spec.zone)).date(), now)
    await wait_to_choose(session, caller.workspace_id)
    number = await rounds.next_extra_number(session, schedule.id, slot.day)
    if wanted.question:
        chosen = await find_askable(session, caller.workspace_id, wanted.question)
    else:
        choice = await choose_for_day(session, schedule, spec, slot.day, number)
        if choice is None or "repeat" in choice.warnings:
            needs_gpu = choice is None and await only_gpu_questions_fit(session, schedule, spec)
            raise Refused(NothingFits(needs_gpu=needs_gpu))
        chosen = int(choice.id)
    version_id = await variants.pick_for_round(session, schedule.workspace_id, chosen)
    closes_at = now + timedelta(minutes=spec.open_minutes)
    own = spec.variants and await variants.suffice_for_all(session, version_id)
    round_ = await rounds.create(
        session, schedule.id, slot.day, now, closes_at, version_id=version_id, own_variants=own, number=number
    )
    assert round_ is not None, "the schedule is locked, so the number is free"
    await enqueue_posts(session, [(schedule, round_, slot, False)], now)
    return await view_round(session, round_, schedule)


async def _narrow_spec(session: AsyncSession, caller: Caller, schedule: Schedule, wanted: ExtraRound) -> ScheduleSpec:
    topics = await resolve_topics(session, caller.workspace_id, wanted.topics)
    changes = {
        "topics": topics,
        "levels": wanted.levels,
        "kinds": wanted.kinds,
        "open_minutes": wanted.open_minutes,
    }
    spec = ScheduleSpec.from_stored(schedule.spec)
    return spec.model_copy(update={name: value for name, value in changes.items() if value})
