"""Rows of members' reports that a question is wrong, and of whether they found a question good."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import Select, delete, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.members import Caller, merged_ids
from service.store.review_tables import QuestionFeedback, ReportRow, ReviewPlace
from service.store.tables import Channel, Member, QuestionRow, QuestionVersion


@dataclass(frozen=True, slots=True)
class Report:
    """A report with the id of its question and the name of its author."""

    row: ReportRow
    question: QuestionRow
    reported: QuestionVersion
    by: str


def add(session: AsyncSession, caller: Caller, version_id: int, text: str, now: datetime) -> ReportRow:
    """Adds an open report by the caller."""
    row = ReportRow(
        workspace_id=caller.workspace_id,
        member_id=caller.member_id,
        version_id=version_id,
        text=text,
        at=now,
        state="open",
        reason="",
    )
    session.add(row)
    return row


async def count_since(session: AsyncSession, member_id: int, since: datetime) -> int:
    """Returns how many reports a member made since then."""
    mine = select(func.count()).where(ReportRow.member_id.in_(merged_ids(member_id)), ReportRow.at > since)
    return int(await session.scalar(mine) or 0)


async def list_reports(session: AsyncSession, workspace_id: int, most: int) -> Sequence[Report]:
    """Returns the newest open reports, and then the newest of the others; of each at most `most`."""
    found: list[Report] = []
    for condition in (ReportRow.state == "open", ReportRow.state != "open"):
        query = _select().where(ReportRow.workspace_id == workspace_id, condition)
        rows = await session.execute(query.order_by(ReportRow.id.desc()).limit(most))
        found += [Report(*row) for row in rows]
    return found


async def find_report(session: AsyncSession, workspace_id: int, report_id: int, *, lock: bool = False) -> Report | None:
    """Returns one report of this workspace; with `lock`, locked until the transaction ends."""
    query = _select().where(ReportRow.workspace_id == workspace_id, ReportRow.id == report_id)
    row = (await session.execute(query.with_for_update(of=ReportRow) if lock else query)).one_or_none()
    return None if row is None else Report(*row)


async def list_by_member(session: AsyncSession, member_id: int) -> Sequence[ReportRow]:
    """Returns the member's reports, oldest first."""
    query = select(ReportRow).where(ReportRow.member_id == member_id).order_by(ReportRow.id)
    return (await session.scalars(query)).all()


async def forget_reports(session: AsyncSession, member_id: int) -> list[str]:
    """Erases what a member wrote in reports and in answers to them. Returns the keys of the notices that repeat it."""
    rows = merged_ids(member_id)
    mine = update(ReportRow).where(ReportRow.member_id.in_(rows)).values(text="").returning(ReportRow.id)
    written = [key for id_ in await session.scalars(mine) for key in (notice_key(id_), repeated_key(id_))]
    settled = update(ReportRow).where(ReportRow.settled_by.in_(rows)).values(reason="")
    answered = await session.execute(settled.returning(ReportRow.id, ReportRow.state))
    await session.execute(delete(ReviewPlace).where(ReviewPlace.member_id.in_(rows)))
    return [*written, *(settled_key(id_, state) for id_, state in answered)]


def notice_key(report_id: int) -> str:
    """Returns the key of the message that tells moderators of a report."""
    return f"report:{report_id}"


def repeated_key(report_id: int) -> str:
    """Returns the key of the message that tells another moderator, because the first could not be told."""
    return f"report:{report_id}:again"


def settled_key(report_id: int, state: str) -> str:
    """Returns the key of the message that tells a member how their report was settled."""
    return f"report:{report_id}:{state}"


async def get_place(session: AsyncSession, workspace_id: int) -> ReviewPlace | None:
    """Returns where an admin wants moderators to be notified."""
    return await session.get(ReviewPlace, workspace_id, populate_existing=True)


@dataclass(frozen=True, slots=True)
class PlaceName:
    """The name of the channel or of the member that moderators are notified in; both are empty if nobody chose."""

    channel: str = ""
    member: str = ""


async def find_place_name(session: AsyncSession, workspace_id: int) -> PlaceName:
    """Returns what the place in which moderators are notified is called."""
    query = (
        select(Channel.name, Channel.external_id, Member.name)
        .select_from(ReviewPlace)
        .outerjoin(Channel, Channel.id == ReviewPlace.channel_id)
        .outerjoin(Member, Member.id == ReviewPlace.member_id)
        .where(ReviewPlace.workspace_id == workspace_id)
    )
    found = (await session.execute(query)).one_or_none()
    return PlaceName() if found is None else PlaceName(found[0] or found[1] or "", found[2] or "")


async def set_place(session: AsyncSession, workspace_id: int, *, channel_id: int | None, member_id: int | None) -> None:
    """Sets where moderators are notified: in a channel, or privately."""
    chosen = {"channel_id": channel_id, "member_id": member_id}
    place = insert(ReviewPlace).values(workspace_id=workspace_id, **chosen)
    await session.execute(place.on_conflict_do_update(index_elements=["workspace_id"], set_=chosen))


def _select() -> Select[ReportRow, QuestionRow, QuestionVersion, str]:
    return (
        select(ReportRow, QuestionRow, QuestionVersion, Member.name)
        .join(QuestionVersion, QuestionVersion.id == ReportRow.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .join(Member, Member.id == ReportRow.member_id)
    )


async def save_feedback(
    session: AsyncSession, member_id: int, question_id: int, version: int, *, liked: bool, now: datetime
) -> None:
    """Stores what the member thinks of this version, in place of what they said before."""
    given = {"member_id": member_id, "question_id": question_id, "version": version, "liked": liked, "at": now}
    row = insert(QuestionFeedback).values(given)
    await session.execute(
        row.on_conflict_do_update(
            index_elements=["member_id", "question_id", "version"], set_={"liked": liked, "at": now}
        )
    )


async def list_feedback(
    session: AsyncSession, question_id: int, version: int, member_ids: Collection[int]
) -> dict[int, bool]:
    """Returns whether these members found the version good, for those who said so."""
    query = select(QuestionFeedback.member_id, QuestionFeedback.liked).where(
        QuestionFeedback.question_id == question_id,
        QuestionFeedback.version == version,
        QuestionFeedback.member_id.in_(member_ids),
    )
    return {row.member_id: row.liked for row in await session.execute(query)}


async def list_feedback_by_member(session: AsyncSession, member_id: int) -> Sequence[tuple[QuestionFeedback, str]]:
    """Returns what the member thinks of questions, with their ids, oldest first."""
    rows = await session.execute(
        select(QuestionFeedback, QuestionRow.key)
        .join(QuestionRow, QuestionRow.id == QuestionFeedback.question_id)
        .where(QuestionFeedback.member_id == member_id)
        .order_by(QuestionFeedback.at, QuestionRow.key, QuestionFeedback.version)
    )
    return [(row, key) for row, key in rows]


async def forget_feedback(session: AsyncSession, member_id: int) -> None:
    """Deletes what the member thinks of questions."""
    await session.execute(delete(QuestionFeedback).where(QuestionFeedback.member_id.in_(merged_ids(member_id))))


async def merge_feedback(session: AsyncSession, kept: int, gone: int) -> None:
    """Moves the feedback of the member `gone` to `kept`. Of two about one version, the later counts."""
    rows = list(await session.scalars(select(QuestionFeedback).where(QuestionFeedback.member_id == gone)))
    for row in rows:
        other = await session.get(QuestionFeedback, (kept, row.question_id, row.version))
        if other is None or other.at < row.at:
            await save_feedback(session, kept, row.question_id, row.version, liked=row.liked, now=row.at)
    await session.execute(delete(QuestionFeedback).where(QuestionFeedback.member_id == gone))
