"""Rows of questions that members suggest for the bank."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.members import Caller, merged_ids
from service.store.review_tables import SuggestionRow
from service.store.tables import Member, QuestionRow, QuestionVersion, Round


@dataclass(frozen=True, slots=True)
class Suggestion:
    """A suggestion with the name of its author and, once accepted, the id of its question."""

    row: SuggestionRow
    by: str
    question: str | None


async def find_draft(session: AsyncSession, member_id: int) -> SuggestionRow | None:
    """Returns what the member wrote and could not submit yet."""
    mine = (SuggestionRow.member_id == member_id, SuggestionRow.state == "draft")
    return await session.scalar(select(SuggestionRow).where(*mine))


async def count_waiting(session: AsyncSession, member_id: int) -> int:
    """Returns how many suggestions of the member wait for a moderator."""
    waiting = (SuggestionRow.member_id == member_id, SuggestionRow.state == "waiting")
    return int(await session.scalar(select(func.count()).select_from(SuggestionRow).where(*waiting)) or 0)


async def count_submitted_since(session: AsyncSession, member_id: int, since: datetime) -> int:
    """Returns how many suggestions the member has submitted since an instant."""
    mine = (SuggestionRow.member_id == member_id, SuggestionRow.state != "draft", SuggestionRow.at > since)
    return int(await session.scalar(select(func.count()).select_from(SuggestionRow).where(*mine)) or 0)


async def list_question_keys(session: AsyncSession, question_ids: Collection[int]) -> dict[int, str]:
    """Returns the ids that authors gave to these questions, by their row ids."""
    query = select(QuestionRow.id, QuestionRow.key).where(QuestionRow.id.in_(question_ids))
    return {row.id: row.key for row in await session.execute(query)}


async def find_round_author(session: AsyncSession, round_id: int) -> int | None:
    """Returns the member who suggested the round's question, as they are known now; None if nobody did."""
    query = (
        select(func.coalesce(Member.merged_into, Member.id))
        .join(SuggestionRow, SuggestionRow.member_id == Member.id)
        .join(QuestionVersion, QuestionVersion.question_id == SuggestionRow.question_id)
        .join(Round, Round.version_id == QuestionVersion.id)
        .where(Round.id == round_id)
    )
    return await session.scalar(query)


def add_draft(session: AsyncSession, caller: Caller, text: str, now: datetime) -> SuggestionRow:
    """Adds a draft of the caller."""
    row = SuggestionRow(
        workspace_id=caller.workspace_id, member_id=caller.member_id, text=text, at=now, state="draft", reason=""
    )
    session.add(row)
    return row


async def list_waiting(session: AsyncSession, workspace_id: int) -> Sequence[Suggestion]:
    """Returns the suggestions that wait for a moderator, oldest first."""
    query = _select().where(SuggestionRow.workspace_id == workspace_id, SuggestionRow.state == "waiting")
    return [Suggestion(*row) for row in await session.execute(query.order_by(SuggestionRow.id))]


async def find_suggestion(
    session: AsyncSession, workspace_id: int, suggestion_id: int, *, lock: bool = False
) -> Suggestion | None:
    """Returns a submitted suggestion of this workspace; with `lock`, locked until the transaction ends."""
    query = _select().where(
        SuggestionRow.workspace_id == workspace_id, SuggestionRow.id == suggestion_id, SuggestionRow.state != "draft"
    )
    query = query.execution_options(populate_existing=True)
    row = (await session.execute(query.with_for_update(of=SuggestionRow) if lock else query)).one_or_none()
    return None if row is None else Suggestion(*row)


async def find_credit(session: AsyncSession, question_id: int) -> str:
    """Returns the name of the member who suggested a question; empty if nobody did, or they are hidden or forgotten."""
    query = (
        select(Member.name)
        .join(SuggestionRow, SuggestionRow.member_id == Member.id)
        .where(SuggestionRow.question_id == question_id, Member.hidden.is_(False), Member.forgotten_at.is_(None))
    )
    return await session.scalar(query) or ""


async def list_by_member(session: AsyncSession, member_id: int) -> Sequence[SuggestionRow]:
    """Returns the member's suggestions and draft, oldest first."""
    query = select(SuggestionRow).where(SuggestionRow.member_id == member_id).order_by(SuggestionRow.id)
    return (await session.scalars(query)).all()


async def merge_suggestions(session: AsyncSession, kept: int, gone: int) -> None:
    """Gives the suggestions of `gone` to `kept`, whose own draft stays if both have one."""
    if await find_draft(session, kept) is not None:
        theirs = (SuggestionRow.member_id == gone, SuggestionRow.state == "draft")
        await session.execute(delete(SuggestionRow).where(*theirs))
    await session.execute(update(SuggestionRow).where(SuggestionRow.member_id == gone).values(member_id=kept))


async def forget_suggestions(session: AsyncSession, member_id: int) -> list[str]:
    """Deletes what a member suggested and nobody decided, and erases the text of the rest and of their own decisions.
    Accepted questions stay in the bank. Returns the keys of the notices that repeat a reason of theirs."""
    rows = merged_ids(member_id)
    undecided = SuggestionRow.state.in_(("draft", "waiting"))
    await session.execute(delete(SuggestionRow).where(SuggestionRow.member_id.in_(rows), undecided))
    await session.execute(update(SuggestionRow).where(SuggestionRow.member_id.in_(rows)).values(text=""))
    decided = update(SuggestionRow).where(SuggestionRow.decided_by.in_(rows)).values(reason="")
    return [decided_key(id_) for id_ in await session.scalars(decided.returning(SuggestionRow.id))]


def notice_key(suggestion_id: int) -> str:
    """Returns the key of the message that tells moderators of a suggestion."""
    return f"suggestion:{suggestion_id}"


def decided_key(suggestion_id: int) -> str:
    """Returns the key of the message that tells a member what was decided."""
    return f"suggestion:{suggestion_id}:decided"


def _select() -> Select[SuggestionRow, str, str | None]:
    return (
        select(SuggestionRow, Member.name, QuestionRow.key)
        .join(Member, Member.id == SuggestionRow.member_id)
        .outerjoin(QuestionRow, QuestionRow.id == SuggestionRow.question_id)
    )
