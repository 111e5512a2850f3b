"""Marking of open answers by their authors, and the credit that peers and moderators give. No program judges prose.

Marks are made once, after the round closed. In a round they earn nothing until a peer confirms them or a moderator
sets the credit, and points that the answer misses make a card; in practice they review the card.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import Refused
from service.rounds import practice
from service.rounds.ledger import LedgerPosting
from service.rounds.views import build_answer_key
from service.store import answers, markings, members, outbox, questions, rounds
from service.store.markings import ClosedAnswer
from service.store.members import Caller
from service.store.questions import Version
from service.store.tables import AnswerRow, Round, Schedule
from service.wire import (
    AnswerCredit,
    AnswerCredited,
    MarkingRefused,
    MarkingView,
    NotFound,
    Notice,
    OpenAnswerView,
    PeerAnswer,
    QuestionGone,
    QuestionRef,
    ScheduleSpec,
    StillOpen,
    WaitingAnswers,
)

MAX_WAITING = 5
"""Answers that moderators are shown at a time."""


@dataclass(frozen=True, slots=True)
class _OwnAnswer:
    """The caller's own open answer, which may be marked now."""

    ref: str
    answer: AnswerRow
    version: Version
    round: Round | None = None
    schedule: Schedule | None = None


async def view_marking(session: AsyncSession, caller: Caller, ref: str) -> MarkingView:
    """Returns the caller's open answer beside the model answer. Refused until the round has closed, and while its
    question is asked again."""
    return await _view(session, await _find_own(session, caller, ref))


async def mark_answer(
    session: AsyncSession, caller: Caller, ref: str, covered: Sequence[int], now: datetime
) -> MarkingView:
    """Stores which key points the caller's answer covers, by index, once. In practice, reviews the card by it; an
    answer to a round that misses a point becomes a card, like a wrong one."""
    caller = await members.lock_caller(session, caller)
    own = await _find_own(session, caller, ref)
    total = max(1, len(own.version.question.key_points))
    if not all(0 <= point < total for point in covered):
        raise Refused(MarkingRefused(why="unknown point"))
    marks = [point in covered for point in range(total)]
    if not await markings.save_marks(session, own.answer.id, marks, now):
        raise Refused(MarkingRefused(why="marked"))
    view = await _view(session, own)
    if own.round is None:
        next_due = await practice.record_marks(
            session, member_id=caller.member_id, question_id=own.version.question_id, marks=marks, now=now
        )
        return view.model_copy(update={"next_due": next_due})
    if not all(marks):
        await practice.add_wrong_cards(session, select(literal(caller.member_id)), own.version.question_id, now)
    return view


async def share_answer(session: AsyncSession, caller: Caller, ref: str, now: datetime) -> MarkingView:
    """Lets the other members who answered the round read the caller's marked answer, without a name, and confirm
    it."""
    caller = await members.lock_caller(session, caller)
    own = await _find_own(session, caller, ref)
    await markings.lock_answer(session, own.answer.id)
    if own.round is None or await markings.get_marks(session, own.answer.id) is None:
        raise Refused(MarkingRefused(why="not marked"))
    if await markings.get_credit(session, own.answer.id) is not None:
        raise Refused(MarkingRefused(why="settled"))
    await markings.share_answer(session, own.answer.id, now)
    return await _view(session, own)


async def next_for_peer(session: AsyncSession, caller: Caller, ref: str, after: int) -> PeerAnswer | None:
    """Returns the next answer with an id above `after` that waits for a peer. Refused unless the caller answered the
    same round."""
    own = await _find_own(session, caller, ref)
    if own.round is None:
        return None
    waiting = await markings.list_for_peer(session, caller, own.round.id, after)
    if not waiting:
        return None
    answer = waiting[0]
    marks = await markings.get_marks(session, answer.id)
    assert marks is not None, "only marked answers are shared"
    return PeerAnswer(
        answer=answer.id,
        ref=ref,
        key=build_answer_key(own.version, ref),
        text=_text(answer),
        marks=marks,
        left=len(waiting) - 1,
    )


async def confirm_marks(session: AsyncSession, caller: Caller, answer_id: int, now: datetime) -> None:
    """Credits another member's shared answer with the share that its author marked, once."""
    caller = await members.lock_caller(session, caller)
    found = await markings.find_closed(session, caller.workspace_id, answer_id)
    if found is None:
        raise Refused(MarkingRefused(why="not shared"))
    if found.author_id == caller.member_id:
        raise Refused(MarkingRefused(why="own answer"))
    if await answers.get_current(session, found.round.id, caller.member_id) is None:
        raise Refused(MarkingRefused(why="no answer"))
    await _lock(session, found)
    marks = await markings.get_marks(session, answer_id)
    if marks is None or not await markings.is_shared(session, answer_id):
        raise Refused(MarkingRefused(why="not shared"))
    if await markings.get_credit(session, answer_id) is not None:
        raise Refused(MarkingRefused(why="settled"))
    await _give_credit(session, caller, found, sum(marks) / len(marks), now, by_peer=True)


async def list_waiting(session: AsyncSession, caller: Caller) -> WaitingAnswers:
    """Returns the open answers of closed rounds that nobody has given a credit, shared ones first."""
    found, total = await markings.list_waiting(session, caller.workspace_id, MAX_WAITING)
    return WaitingAnswers(answers=tuple([await _moderated(session, each) for each in found]), total=total)


async def set_credit(
    session: AsyncSession, caller: Caller, answer_id: int, percent: int, now: datetime
) -> AnswerCredit:
    """Sets the credit of another member's open answer, even after a peer or moderator gave one.

    What it returns is stored under the moderator's event, so it does not repeat the author's text.
    """
    caller = await members.lock_caller(session, caller)
    found = await markings.find_closed(session, caller.workspace_id, answer_id)
    if found is None:
        raise Refused(NotFound(what="open answer", name=str(answer_id)))
    if found.author_id == caller.member_id:
        raise Refused(MarkingRefused(why="own answer"))
    await _lock(session, found)
    await _give_credit(session, caller, found, percent / 100, now, by_peer=False)
    return AnswerCredit(answer=answer_id, credit=percent / 100)


async def _find_own(session: AsyncSession, caller: Caller, ref: str) -> _OwnAnswer:
    """Returns the caller's answer to the question `ref`. A ref names no answer, so it can only be their own.

    Refused while a round asks the question: what is returned has the key.
    """
    reference = QuestionRef.parse(ref)
    if reference.kind == "round":
        found = await rounds.find_in_workspace(session, caller.workspace_id, reference.id)
        if found is None or found[0].version_id is None:
            raise Refused(QuestionGone(practice=False))
        if found[0].closed_at is None:
            raise Refused(MarkingRefused(why="too early"))
        version = await questions.get_version(session, found[0].version_id)
        if await questions.is_asked_now(session, caller.workspace_id, version.question_id):
            raise Refused(StillOpen())
        answer = await answers.get_current(session, reference.id, caller.member_id)
        return _OwnAnswer(ref, _require_text(version, answer), version, *found)
    if reference.kind != "practice":
        raise Refused(QuestionGone(practice=False))
    practiced = await questions.find_version(session, caller.workspace_id, reference.id)
    if practiced is None:
        raise Refused(QuestionGone(practice=True))
    if await questions.is_asked_now(session, caller.workspace_id, practiced.question_id):
        raise Refused(StillOpen())
    answer = await markings.find_practice_answer(session, caller.member_id, practiced.id)
    return _OwnAnswer(ref, _require_text(practiced, answer), practiced)


def _require_text(version: Version, answer: AnswerRow | None) -> AnswerRow:
    if version.question.kind != "open" or answer is None or not _text(answer):
        raise Refused(MarkingRefused(why="no answer"))
    return answer


async def _view(session: AsyncSession, own: _OwnAnswer) -> MarkingView:
    return MarkingView(
        ref=own.ref,
        key=build_answer_key(own.version, own.ref),
        text=_text(own.answer),
        marks=await markings.get_marks(session, own.answer.id),
        shared=await markings.is_shared(session, own.answer.id),
        credit=await markings.get_credit(session, own.answer.id),
        zone=ScheduleSpec.from_stored(own.schedule.spec).zone if own.schedule else "UTC",
    )


async def _moderated(session: AsyncSession, found: ClosedAnswer) -> OpenAnswerView:
    assert found.round.version_id is not None, "an answered round asked a question"
    version = await questions.get_version(session, found.round.version_id)
    return OpenAnswerView(
        answer=found.answer.id,
        key=build_answer_key(version, str(QuestionRef("round", found.round.id))),
        text=_text(found.answer),
        day=found.round.day,
        marks=await markings.get_marks(session, found.answer.id),
        shared=await markings.is_shared(session, found.answer.id),
    )


async def _lock(session: AsyncSession, found: ClosedAnswer) -> None:
    """Makes credits of one answer wait for one another, and for a merge of its author with another member."""
    await rounds.lock_shared(session, found.round.id)
    await markings.lock_answer(session, found.answer.id)


async def _give_credit(
    session: AsyncSession, caller: Caller, found: ClosedAnswer, credit: float, now: datetime, *, by_peer: bool
) -> None:
    """Adds the credit, posts the difference to the ledger, and notifies the author."""
    given = await markings.add_credit(session, found.answer.id, caller.member_id, credit, now, by_peer=by_peer)
    entry = await answers.get_entry(session, found.answer.id)
    if given is None or entry is None or entry.member.forgotten_at is not None:
        raise Refused(MarkingRefused(why="settled"))
    assert found.round.version_id is not None, "an answered round asked a question"
    version = await questions.get_version(session, found.round.version_id)
    posting = await LedgerPosting.for_round(session, found.round, found.schedule, version.question)
    moved = await posting.post_credit(session, entry, credit, given)
    fact = AnswerCredited(
        question=version.question.id, day=found.round.day, credit=credit, points=moved, by_peer=by_peer
    )
    message = outbox.NewMessage(
        key=f"credit:{given}",
        body=Notice(fact=fact),
        workspace_id=found.schedule.workspace_id,
        chat_id=found.answer.chat_id,
        member_id=entry.member.id,
        round_id=found.round.id,
    )
    await outbox.enqueue(session, message, now, now + outbox.PRIVATE_TIMEOUT)


def _text(answer: AnswerRow) -> str:
    return str(answer.given.get("text") or "")
