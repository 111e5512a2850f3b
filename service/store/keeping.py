"""Everything that is kept about one member: read for them, and emptied when they want to be forgotten."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import delete, exists, func, select, union, update
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.members import Caller, all_of, identities
from service.store.session import allow_forgetting
from service.store.tables import (
    Answer,
    Card,
    Chat,
    Identity,
    Inbox,
    Ledger,
    LinkCode,
    Member,
    Outbox,
    Question,
    QuestionVersion,
    Report,
    Round,
    Season,
    Standing,
    VerdictRow,
)
from service.wire import Who

NOBODY = "someone who left"
"""The name a forgotten member's points stand under."""

FORGET = "forget"
"""The inbox's word for the call that forgets."""


async def counts(session: AsyncSession, member_id: int) -> tuple[int, int, int]:
    """How many answers, bookings and cards of a member are kept."""
    tables: tuple[type[Answer] | type[Ledger] | type[Card], ...] = (Answer, Ledger, Card)
    found = [
        await session.scalar(select(func.count()).select_from(table).where(table.member_id.in_(all_of(member_id))))
        for table in tables
    ]
    return int(found[0] or 0), int(found[1] or 0), int(found[2] or 0)


async def answers(session: AsyncSession, member_id: int) -> Sequence[tuple[Answer, str, VerdictRow | None]]:
    """Every answer, the id of its question and its verdicts, oldest first."""
    rows = await session.execute(
        select(Answer, Question.key, VerdictRow)
        .join(QuestionVersion, QuestionVersion.id == Answer.version_id)
        .join(Question, Question.id == QuestionVersion.question_id)
        .outerjoin(VerdictRow, VerdictRow.answer_id == Answer.id)
        .where(Answer.member_id.in_(all_of(member_id)))
        .order_by(Answer.id, VerdictRow.id)
    )
    return [(answer, key, verdict) for answer, key, verdict in rows]


async def bookings(session: AsyncSession, member_id: int) -> Sequence[Ledger]:
    """Every booking, oldest first."""
    query = select(Ledger).where(Ledger.member_id.in_(all_of(member_id))).order_by(Ledger.id)
    return (await session.scalars(query)).all()


async def cards(session: AsyncSession, member_id: int) -> Sequence[tuple[Card, str]]:
    """Every card and the id of its question."""
    rows = await session.execute(
        select(Card, Question.key)
        .join(Question, Question.id == Card.question_id)
        .where(Card.member_id == member_id)
        .order_by(Question.key)
    )
    return [(card, key) for card, key in rows]


async def reports(session: AsyncSession, member_id: int) -> Sequence[Report]:
    """What the member reported, oldest first."""
    return (await session.scalars(select(Report).where(Report.member_id == member_id).order_by(Report.id))).all()


async def hide(session: AsyncSession, member_id: int, hidden: bool) -> None:
    """Leave the member out of boards, or put them back."""
    await session.execute(update(Member).where(Member.id.in_(all_of(member_id))).values(hidden=hidden))


async def forget(session: AsyncSession, caller: Caller, now: datetime) -> None:
    """Empty all that says who the caller is and what they wrote, and keep every number, so that totals stay right.

    What they answered in rounds still open is withdrawn. Messages not yet made to them never will be.
    """
    await _withdraw(session, caller.member_id)
    await _empty_reveals(session, caller)
    await _empty_log(session, caller.member_id)
    await session.execute(delete(Card).where(Card.member_id == caller.member_id))
    await session.execute(update(Report).where(Report.member_id == caller.member_id).values(text=""))
    await _empty_messages(session, caller)
    await _empty_archives(session, caller)
    await _empty_codes(session, caller.member_id)
    await session.execute(delete(Identity).where(Identity.member_id == caller.member_id))
    await session.execute(
        update(Member).where(Member.id.in_(all_of(caller.member_id))).values(name=NOBODY, hidden=True, forgotten_at=now)
    )


async def forgetting_reply(session: AsyncSession, who: Who, event_id: str) -> dict[str, Any] | None:
    """What was answered when this event made the service forget a member, whom nobody can name any more."""
    query = (
        select(Inbox.reply)
        .join(Chat, Chat.id == Inbox.chat_id)
        .where(
            Chat.platform == who.platform,
            Chat.external_id == who.workspace,
            Inbox.event_id == event_id,
            Inbox.call.startswith(f"{FORGET} ", autoescape=True),
        )
    )
    reply = await session.scalar(query)
    return None if reply is None else reply["reply"]


async def _withdraw(session: AsyncSession, member_id: int) -> None:
    is_open = exists().where(Round.id == Standing.round_id, Round.closed_at.is_(None))
    await session.execute(delete(Standing).where(Standing.member_id == member_id, is_open))


async def _empty_log(session: AsyncSession, member_id: int) -> None:
    await allow_forgetting(session)
    mine = Answer.member_id.in_(all_of(member_id))
    theirs = select(Answer.id).where(mine)
    # Options are numbers in a distribution; a text or a program can say who wrote it.
    kept: Any = func.jsonb_strip_nulls(func.jsonb_build_object("options", Answer.given["options"]))
    await session.execute(update(Answer).where(mine).values(name="", given=kept))
    await session.execute(update(VerdictRow).where(VerdictRow.answer_id.in_(theirs)).values(detail={}))


async def _empty_messages(session: AsyncSession, caller: Caller) -> None:
    """Private messages, and the replies kept for duplicates of the caller's events, in whichever chat."""
    private = Outbox.member_id == caller.member_id
    unsent = Outbox.state.in_(("due", "sending", "uncertain"))
    await session.execute(update(Outbox).where(private, unsent).values(state="skipped", error="the member left"))
    await session.execute(update(Outbox).where(private).values(body={"kind": "notice", "title": NOBODY, "text": ""}))
    for identity, chat in await identities(session, caller.member_id):
        label = Inbox.call.endswith(f" {identity.id}", autoescape=True)
        other = Inbox.call != f"{FORGET} {identity.id}"
        await session.execute(delete(Inbox).where(Inbox.chat_id == chat.id, label, other))


async def _empty_codes(session: AsyncSession, member_id: int) -> None:
    await session.execute(delete(LinkCode).where(LinkCode.member_id == member_id))


async def _empty_reveals(session: AsyncSession, caller: Caller) -> None:
    """The points and boards of reveals, which name members by nothing but their name."""
    rows = all_of(caller.member_id)
    known = (
        select(Answer.name).where(Answer.member_id.in_(rows)),
        select(Member.name).where(Member.id.in_(rows)),
        select(Identity.name).where(Identity.member_id == caller.member_id),
    )
    names = {caller.name, *await session.scalars(union(*known))} - {""}
    reveals = select(Outbox).where(Outbox.workspace_id == caller.workspace_id, Outbox.kind == "reveal")
    for row in await session.scalars(reveals):
        emptied = _without(row.body, names)
        if emptied != row.body:
            row.body = emptied


def _without(data: Any, names: set[str]) -> Any:
    if isinstance(data, list):
        return [_without(item, names) for item in data]
    if isinstance(data, dict):
        return {
            key: NOBODY if key == "name" and value in names else _without(value, names) for key, value in data.items()
        }
    return data


async def _empty_archives(session: AsyncSession, caller: Caller) -> None:
    theirs = set(await session.scalars(all_of(caller.member_id)))
    for season in await session.scalars(select(Season).where(Season.workspace_id == caller.workspace_id)):
        if any(row["member"] in theirs for row in season.archive or ()):
            season.archive = [
                {**row, "name": NOBODY} if row["member"] in theirs else row for row in season.archive or ()
            ]
