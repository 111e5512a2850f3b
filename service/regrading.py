"""A fixed question's closed rounds, judged again from the log: correcting bookings, and one line on what moved.

Code is judged again in the sandbox, by a job that is left here and done in `rejudging`.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from service.booking import Book, judged
from service.jobs import defer_regrading
from service.store import answers, outbox, questions, rounds
from service.store.answers import Entry
from service.store.questions import Version
from service.store.tables import Round, Schedule
from service.wire import Given, Notice


async def regrade(session: AsyncSession, version_id: int, now: datetime) -> None:
    """Judge every closed round of the question by this version of it, and book what that changes, once."""
    fixed = await questions.version(session, version_id)
    # What was drawn from a family keeps the key that torch gave it, whatever becomes of the family.
    if fixed.question.draw or not fixed.question.answered:
        return
    if fixed.question.kind == "code":
        await defer_regrading(session, version_id, fixed.question_id)
        return
    for round_, schedule in await rounds.closed_asking(session, fixed.question_id):
        assert round_.version_id is not None, "a closed round asked a question"
        asked = await questions.version(session, round_.version_id)
        if asked.question.kind == fixed.question.kind:
            moved = await _correct(session, round_, schedule, fixed, now)
            await tell_moved(session, round_, schedule, fixed, moved, now)


async def _correct(
    session: AsyncSession, round_: Round, schedule: Schedule, fixed: Version, now: datetime
) -> list[int]:
    """The points that moved, one number for each member whose points did."""
    book = await Book.of(session, round_, schedule, fixed.question)
    moved = [await _one(session, book, entry, fixed, now) for entry in await answers.entries(session, round_.id)]
    return [points for points in moved if points]


async def _one(session: AsyncSession, book: Book, entry: Entry, fixed: Version, now: datetime) -> int:
    verdict = judged(fixed.question, Given.model_validate(entry.answer.given))
    if verdict.verdict == "system error" or entry.member.forgotten_at is not None:
        return 0
    await answers.judge(session, entry.answer, verdict, now, version_id=fixed.id)
    return await book.correct(session, entry, verdict.credit, fixed.id)


async def tell_moved(
    session: AsyncSession, round_: Round, schedule: Schedule, fixed: Version, moved: Sequence[int], now: datetime
) -> None:
    """Tell the round's channels in one line what points moved, once for a version; nothing where none did."""
    if not moved:
        return
    gains, losses = [points for points in moved if points > 0], [-points for points in moved if points < 0]
    said = [
        f"{len(each)} {'member' if len(each) == 1 else 'members'} {verb} {sum(each)} points"
        for each, verb in ((gains, "gained"), (losses, "lost"))
        if each
    ]
    what = "judging" if fixed.question.kind == "code" else "key"
    text = (
        f"The {what} of `{fixed.question.id}`, asked on {round_.day.isoformat()}, was corrected, and every answer to "
        f"it was judged again: {' and '.join(said)}."
    )
    for channel_id in await outbox.round_channels(session, round_.id, schedule):
        elsewhere = "" if channel_id == schedule.channel_id else f":{channel_id}"
        await outbox.leave(
            session,
            f"regraded:{round_.id}:{fixed.id}{elsewhere}",
            Notice(title="A question was corrected", text=text, channel_wide=True),
            workspace_id=schedule.workspace_id,
            channel_id=channel_id,
            due_at=now,
            give_up_at=now + outbox.PRIVATE_PATIENCE,
        )
