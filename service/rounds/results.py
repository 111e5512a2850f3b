"""Builds the result that each member sees of a closed round: their own answer, its points, streak and rank.

A result is shown to its member only, and only after the close.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import Refused
from service.rounds import leaderboard, measuring
from service.rounds.ledger import LedgerPosting
from service.rounds.views import build_answer_key, build_question_view, channel_variant
from service.store import (
    answers,
    chats,
    ledger,
    markings,
    notifications,
    outbox,
    questions,
    reports,
    rounds,
    schedules,
    variants,
)
from service.store.ledger import RoundPoints
from service.store.members import Caller, lock_caller
from service.store.questions import Version
from service.store.statements import batches
from service.store.tables import AnswerRow, Round, Schedule
from service.wire import (
    AnswerInput,
    NotAnswered,
    PointsView,
    QuestionGone,
    QuestionRef,
    RankChange,
    ResultNotReady,
    RoundResult,
    ScheduleSpec,
    StillOpen,
)

PAGE = 1_000
"""Results that are built together."""
SHOWN_UNASKED = "web"
"""The platform whose members see their result without asking: its page is theirs alone, so nothing is sent to them."""


async def find_closed(session: AsyncSession, caller: Caller, ref: str) -> tuple[Round, Schedule, Version]:
    """Returns a closed round of the caller's workspace, and the version that decides it for the caller.

    Refused while the round is open, and while its question is asked again in the workspace or in a duel of the caller:
    whatever is shown of it has the key.
    """
    reference = QuestionRef.parse(ref)
    found = None
    if reference.kind == "round":
        found = await rounds.find_in_workspace(session, caller.workspace_id, reference.id)
    if found is None:
        raise Refused(QuestionGone(practice=reference.kind == "practice"))
    round_, schedule = found
    if round_.closed_at is None:
        zone = ScheduleSpec.from_stored(schedule.spec).zone
        raise Refused(ResultNotReady(closes_at=round_.closes_at, zone=zone))
    version = await graded_version(session, round_, caller.member_id)
    if await questions.is_secret(session, caller, version.question_id):
        raise Refused(StillOpen())
    return round_, schedule, version


async def view_result(session: AsyncSession, caller: Caller, ref: str) -> RoundResult:
    """Returns the caller's own result of a round. Refused as in `find_closed`."""
    round_, schedule, _ = await find_closed(session, caller, ref)
    return (await build_results(session, round_, schedule, [caller.member_id]))[caller.member_id]


async def save_feedback(session: AsyncSession, caller: Caller, ref: str, now: datetime, *, liked: bool) -> None:
    """Stores whether the caller found the question of a round good, in place of what they said before.

    Refused as in `find_closed`, and to those who did not answer.
    """
    caller = await lock_caller(session, caller)
    round_, schedule, _ = await find_closed(session, caller, ref)
    result = (await build_results(session, round_, schedule, [caller.member_id]))[caller.member_id]
    if result.given is None:
        raise Refused(NotAnswered())
    version = await graded_version(session, round_)
    await reports.save_feedback(session, caller.member_id, version.question_id, version.number, liked=liked, now=now)


async def enqueue_unasked(
    session: AsyncSession, round_: Round, schedule: Schedule, channel_ids: Collection[int], now: datetime
) -> None:
    """Enqueues the results of everyone who answered in a chat that shows them unasked."""
    for chat_id, members in (await chats.list_answering(session, round_.id, channel_ids, SHOWN_UNASKED)).items():
        async for messages in _result_messages(session, round_, schedule, chat_id, members):
            await outbox.enqueue_in_chat(session, chat_id, messages, now, now + outbox.PRIVATE_TIMEOUT)


async def enqueue_wanted(session: AsyncSession, round_: Round, schedule: Schedule, now: datetime) -> None:
    """Enqueues the results of everyone who answered and asked for a private message."""
    for chat_id, members in (await notifications.list_wanting_results(session, round_.id, SHOWN_UNASKED)).items():
        earlier = 0
        async for messages in _result_messages(session, round_, schedule, chat_id, members):
            await outbox.enqueue_paced(session, messages, now, now + outbox.PRIVATE_TIMEOUT, earlier=earlier)
            earlier += len(messages)


async def _result_messages(
    session: AsyncSession, round_: Round, schedule: Schedule, chat_id: int, member_ids: Sequence[int]
) -> AsyncIterator[list[outbox.NewMessage]]:
    """Yields the messages with the members' results in pages, so that few are in memory."""
    channel_id = await schedules.find_channel_in_chat(session, schedule, chat_id)
    for page in batches(member_ids, PAGE):
        found = await build_results(session, round_, schedule, page)
        yield [
            outbox.NewMessage(
                key=f"round:{round_.id}:result:{chat_id}:{member_id}",
                body=result,
                workspace_id=schedule.workspace_id,
                channel_id=channel_id,
                member_id=member_id,
                chat_id=chat_id,
                round_id=round_.id,
            )
            for member_id, result in found.items()
        ]


@dataclass(frozen=True, slots=True)
class _RoundFacts:
    """What the results of all members of one round share."""

    version: Version
    posting: LedgerPosting
    points: Mapping[int, RoundPoints]
    ranks: Mapping[int, tuple[int | None, int | None, int]]
    number: int
    week: Collection[int]
    """Ids of the week's rounds up to this one."""
    week_right: Mapping[int, int]


async def build_results(
    session: AsyncSession, round_: Round, schedule: Schedule, member_ids: Collection[int]
) -> dict[int, RoundResult]:
    """Returns the results of these members of a closed round. Takes the same number of statements for any number."""
    entries = {entry.member.id: entry.answer for entry in await answers.list_entries(session, round_.id, member_ids)}
    own = await _list_own_variants(session, round_, entries, member_ids)
    answer_ids = [answer.id for answer in entries.values()]
    verdicts = await answers.latest_verdicts(session, answer_ids)
    credits = await markings.list_credits(session, answer_ids)
    streaks = await leaderboard.load_schedule_streaks(session, schedule.id, member_ids)
    facts = await _load_facts(session, round_, schedule, member_ids)
    zone, ref = ScheduleSpec.from_stored(schedule.spec).zone, str(QuestionRef("round", round_.id))
    key = build_answer_key(facts.version, ref)
    measured = measuring.is_measured(round_, schedule, facts.version)
    liked = await reports.list_feedback(session, facts.version.question_id, facts.version.number, member_ids)
    found = {}
    for member_id in member_ids:
        answer, version = entries.get(member_id), own.get(member_id, facts.version)
        variant = "own" if member_id in own else channel_variant(round_)
        view = build_question_view(version, ref, member_id, variant=variant)
        verdict = verdicts.get(answer.id) if answer else None
        found[member_id] = RoundResult(
            ref=ref,
            day=round_.day,
            key=(build_answer_key(version, ref) if member_id in own else key).model_copy(update={"question": view}),
            given=AnswerInput.from_stored(answer.given) if answer else None,
            verdict=answers.read_verdict(verdict, credits.get(verdict.answer_id)) if verdict else None,
            points=_points(facts, member_id, answer),
            streak=streaks[member_id].current,
            rank=_rank_change(facts, member_id),
            number=facts.number,
            week_right=facts.week_right.get(member_id, 0),
            week_asked=len(facts.week),
            extra=round_.number > 0,
            measured=measured and verdict is not None and verdict.credit == 1,
            liked=liked.get(member_id),
            zone=zone,
        )
    return found


async def _list_own_variants(
    session: AsyncSession, round_: Round, entries: Mapping[int, AnswerRow], member_ids: Collection[int]
) -> dict[int, Version]:
    """Returns the members' own variants in the round, if they have any: the one that they answered, or only saw."""
    if not round_.own_variants:
        return {}
    own = await variants.list_for_members(session, round_, member_ids)
    own |= {member_id: answer.version_id for member_id, answer in entries.items()}
    versions = await questions.list_versions(session, set(own.values()))
    return {member_id: versions[version_id] for member_id, version_id in own.items()}


async def _load_facts(
    session: AsyncSession, round_: Round, schedule: Schedule, member_ids: Collection[int]
) -> _RoundFacts:
    version = await graded_version(session, round_)
    monday = round_.day - timedelta(days=round_.day.weekday())
    week = await rounds.list_judged_since(session, monday, round_)
    return _RoundFacts(
        version=version,
        posting=await LedgerPosting.for_round(session, round_, schedule, version.question),
        points=await ledger.list_round_points(session, round_.id, member_ids),
        ranks=await answers.list_ranks(session, round_.id, member_ids),
        number=await rounds.count_posted_until(session, round_),
        week=week,
        week_right=await ledger.count_right(session, week, member_ids),
    )


async def graded_version(session: AsyncSession, round_: Round, member_id: int | None = None) -> Version:
    """Returns the version whose key decides the round, for this member or for the channel, as for regrading."""
    assert round_.version_id is not None, "a closed round asked a question"
    asked_id = round_.version_id
    if member_id is not None:
        asked_id = await variants.get_for_member(session, round_, member_id)
    return await questions.get_deciding_version(session, await questions.get_version(session, asked_id))


def _rank_change(facts: _RoundFacts, member_id: int) -> RankChange:
    before, after, total = facts.ranks.get(member_id, (None, None, 0))
    return RankChange(before=before, after=after, total=total)


def _points(facts: _RoundFacts, member_id: int, answer: AnswerRow | None) -> PointsView | None:
    posted = facts.points.get(member_id)
    if posted is None:
        return None
    full, earned = facts.posting.full_points(), facts.posting.points_without_bonus(posted.credit)
    judged = None if facts.version.question.kind == "open" else posted.credit
    confidence = facts.posting.confidence_points(answer, posted.credit) if answer else 0
    hint = facts.posting.hint_points(member_id, judged)
    taking_part = moved = 0
    if facts.version.question.kind == "open":
        taking_part = posted.round - hint
        # What was confirmed before accounts were linked was moved together with the points of participation.
        moved = max(0, taking_part - facts.posting.points_without_bonus(None)) if posted.linked else 0
    return PointsView(
        total=posted.round + posted.corrected + posted.confirmed,
        full=full,
        share_right=facts.posting.share_right,
        bonus=max(0, posted.round - earned - confidence - hint) if posted.credit == 1 else 0,
        confidence=confidence,
        hint=hint,
        own=facts.posting.is_author(member_id),
        corrected=posted.corrected,
        taking_part=taking_part - moved,
        confirmed=posted.confirmed + moved,
    )
