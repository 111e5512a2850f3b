"""Rows of answers, current answers and verdicts. Scoring is in `service.domain.scoring`."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, cast

from psycopg import AsyncConnection
from psycopg.rows import TupleRow
from sqlalchemy import (
    BigInteger,
    ColumnElement,
    ForeignKey,
    Select,
    delete,
    exists,
    func,
    literal,
    select,
    text,
    update,
)
from sqlalchemy.dialects.postgresql import ARRAY, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import InstrumentedAttribute, Mapped, aliased, mapped_column

from service.store.banks import is_asked_now
from service.store.members import Caller, merged_ids
from service.store.outbox import PlannedEdits
from service.store.statements import built_once, insert_batches
from service.store.tables import (
    AnswerRow,
    Base,
    CurrentAnswer,
    Member,
    QuestionRow,
    QuestionVersion,
    Round,
    Schedule,
    VerdictRow,
)
from service.wire import AnswerInput, VerdictView, Where, Who


@dataclass(frozen=True, slots=True)
class RoundEntry:
    """A member's current answer in a round, for grading."""

    answer: AnswerRow
    member: Member
    """The author, or the member they were merged into."""
    verdict: VerdictRow | None


@dataclass(frozen=True, slots=True)
class Submission:
    """A submitted answer."""

    event_id: str
    ref: str
    given: AnswerInput
    at: datetime
    """When it was submitted, according to the platform."""


async def append(
    session: AsyncSession,
    caller: Caller,
    version_id: int,
    submitted: Submission,
    round_id: int | None = None,
    *,
    current: bool = False,
) -> int:
    """Appends an answer to the log, numbered within its round; with `current` it is the one that counts there. Returns
    its id. Call with the caller's member row locked."""
    values = {
        "member": caller.member_id,
        "round": round_id,
        "version": version_id,
        "event": submitted.event_id,
        "given": _stored(submitted.given),
        "name": caller.name,
        "at": submitted.at,
        "chat": caller.chat_id,
        "current": current,
    }
    return cast(int, await session.scalar(_APPEND, values))


_APPEND = text(
    "select append_answer("
    ":member, :round, :version, :event, cast(:given as jsonb), :name, :at, :chat, cast(:current as boolean))"
)


def _stored(given: AnswerInput) -> str:
    return given.model_dump_json(exclude={"cleared"})


@dataclass(frozen=True, slots=True)
class ExpectedRound:
    """An open round, as it must still be when an answer is recorded."""

    id: int
    version_id: int
    opens_at: datetime
    closes_at: datetime
    spec: str
    """Specification of its schedule, JSON."""


@dataclass(frozen=True, slots=True)
class RecordedAnswer:
    """An answer that `record_in_one_statement` recorded, or the reply to an event that was processed before."""

    answer_id: int | None
    member_id: int
    is_change: bool
    """Whether it takes the place of a different answer."""
    reply: dict[str, Any] | None


async def record_in_one_statement(
    connection: AsyncConnection[TupleRow],
    who: Who,
    where: Where,
    expected: ExpectedRound,
    submitted: Submission,
    now: datetime,
    replies: tuple[str, str],
    edits: PlannedEdits,
) -> RecordedAnswer | None:
    """Records an answer, with its event and the edits of the question's messages.

    `replies` are stored for the event, as JSON: to an answer and to a changed one. Where it is the same as the one that
    counts, that one still counts. Returns None, having changed nothing, if the caller must be registered, renamed or
    merged first, if the round is no longer as expected, or if the member gave a later answer.
    """
    values = (
        *(who.platform, who.workspace, who.member, who.name, who.application, where.channel, where.name),
        *(expected.id, expected.version_id, expected.spec, expected.opens_at, expected.closes_at),
        *(submitted.event_id, submitted.at, now, _stored(submitted.given), *replies),
        *(edits.prefix, edits.due_at, edits.give_up_at),
    )
    row = await (await connection.execute(_RECORD, values)).fetchone()
    return None if row is None else RecordedAnswer(*row)


_RECORD = (
    "select answer_id, member_id, is_change, reply from record_answer("
    "%s, %s, %s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s, %s, %s, %s, %s, %s::jsonb, %s::jsonb, %s::jsonb, %s, %s, %s)"
)
"""Sent by psycopg itself: SQLAlchemy would take longer to build and send it than the server to execute it."""


async def get_current(session: AsyncSession, round_id: int, member_id: int) -> AnswerRow | None:
    """Returns the member's current answer in the round."""
    query = select(AnswerRow).join(CurrentAnswer, CurrentAnswer.answer_id == AnswerRow.id)
    return await session.scalar(query.where(CurrentAnswer.round_id == round_id, CurrentAnswer.member_id == member_id))


async def find_latest_time(session: AsyncSession, round_id: int, member_id: int) -> datetime | None:
    """Returns when the member last answered in the round, also where it was the same answer again."""
    query = select(func.max(AnswerRow.at)).where(AnswerRow.round_id == round_id, AnswerRow.member_id == member_id)
    return await session.scalar(query)


async def save_verdict(
    session: AsyncSession,
    answer_id: int,
    version_id: int,
    view: VerdictView,
    now: datetime,
    *,
    seed: int | None = None,
) -> bool:
    """Saves an answer's verdict by a question version. Returns False if it already has one."""
    detail = _dump(view) | ({} if seed is None else {"seed": str(seed)})
    row = _verdict_row(answer_id, version_id, view, detail, now)
    made = insert(VerdictRow).values(row).on_conflict_do_nothing().returning(VerdictRow.id)
    return await session.scalar(made) is not None


async def save_verdicts(
    session: AsyncSession,
    graded: Sequence[tuple[AnswerRow, VerdictView]],
    now: datetime,
    version_id: int | None = None,
) -> None:
    """Saves the verdicts of many answers. Leaves out answers that already have one."""
    # Many answers share a verdict, which is written as JSON once.
    different = {id(view): view for _, view in graded}
    details = {key: _dump(view) for key, view in different.items()}
    rows = [
        _verdict_row(answer.id, version_id or answer.version_id, view, details[id(view)], now)
        for answer, view in graded
    ]
    for made in insert_batches(VerdictRow, rows):
        await session.execute(made.on_conflict_do_nothing())


def _dump(view: VerdictView) -> dict[str, Any]:
    # Without fields that have their default: most verdicts have neither cases nor text, and there is one per answer.
    fields = VerdictView.model_fields.items()
    return view.model_dump(
        mode="json", exclude={name for name, field in fields if getattr(view, name) == field.default}
    )


def _verdict_row(
    answer_id: int, version_id: int, view: VerdictView, detail: dict[str, Any], now: datetime
) -> dict[str, Any]:
    return {
        "answer_id": answer_id,
        "version_id": version_id,
        "verdict": view.verdict,
        "credit": view.credit,
        "detail": detail,
        "at": now,
    }


async def list_entries(
    session: AsyncSession, round_id: int, member_ids: Collection[int] | None = None
) -> Sequence[RoundEntry]:
    """Returns the current answers of the round, or those of some members, earliest first."""
    query = _entries().where(CurrentAnswer.round_id == round_id)
    if member_ids is not None:
        query = query.where(CurrentAnswer.member_id.in_(member_ids))
    return [RoundEntry(*row) for row in await session.execute(query)]


async def list_member_ids(session: AsyncSession, round_id: int) -> Sequence[int]:
    """Returns the members who have a current answer in the round, in the order of their ids."""
    query = select(CurrentAnswer.member_id).where(CurrentAnswer.round_id == round_id)
    return (await session.scalars(query.order_by(CurrentAnswer.member_id))).all()


async def list_page(session: AsyncSession, round_id: int, member_ids: Sequence[int]) -> Sequence[RoundEntry]:
    """Returns the current answers of the round from the first to the last of these members, earliest first. They are
    in the order of their ids, none left out in between."""
    query = _entries().where(CurrentAnswer.round_id == round_id)
    query = query.where(CurrentAnswer.member_id.between(member_ids[0], member_ids[-1]))
    return [RoundEntry(*row) for row in await session.execute(query)]


async def latest_verdicts(session: AsyncSession, answer_ids: Collection[int]) -> dict[int, VerdictRow]:
    """Returns the newest verdict on each answer that has one, by answer id."""
    if not answer_ids:
        return {}
    return {row.answer_id: row for row in await session.scalars(*_select_verdicts(answer_ids))}


@built_once
def _select_verdicts(answer_ids: Collection[int]) -> Select[VerdictRow]:
    return select(VerdictRow).where(VerdictRow.answer_id.in_(answer_ids)).order_by(VerdictRow.id)


def read_verdict(row: VerdictRow, confirmed: float | None = None) -> VerdictView:
    """Returns a verdict as it was made. That of an open answer has the credit which people `confirmed`."""
    view = VerdictView.from_stored({name: value for name, value in row.detail.items() if name != "seed"})
    return view if view.credit is not None else view.model_copy(update={"credit": confirmed})


async def save_ranks(
    session: AsyncSession, round_id: int, ranks: Sequence[tuple[int, int | None, int | None]], ranked: int
) -> None:
    """Records each (member, rank before, rank after) of members with a current answer in a round, and how many members
    were ranked after it. All in one statement."""
    columns = [literal([row[place] for row in ranks], ARRAY(BigInteger)) for place in range(3)]
    given = func.unnest(*columns).table_valued("member_id", "rank_before", "rank_after", name="given").render_derived()
    changed = update(CurrentAnswer).where(
        CurrentAnswer.round_id == round_id, CurrentAnswer.member_id == given.c.member_id
    )
    values = {"rank_before": given.c.rank_before, "rank_after": given.c.rank_after, "ranked": ranked}
    await session.execute(changed.values(values).execution_options(synchronize_session=False))


async def list_ranks(
    session: AsyncSession, round_id: int, member_ids: Collection[int]
) -> dict[int, tuple[int | None, int | None, int]]:
    """Returns the rank before, the rank after and the number ranked, of members with points for the round."""
    of_members = (CurrentAnswer.round_id == round_id, CurrentAnswer.member_id.in_(member_ids))
    return await _ranks(session, CurrentAnswer.member_id, *of_members)


async def list_own_ranks(
    session: AsyncSession, member_id: int, round_ids: Collection[int]
) -> dict[int, tuple[int | None, int | None, int]]:
    """Like `list_ranks`, of one member, by round."""
    in_rounds = (CurrentAnswer.member_id == member_id, CurrentAnswer.round_id.in_(round_ids))
    return await _ranks(session, CurrentAnswer.round_id, *in_rounds)


async def _ranks(
    session: AsyncSession, key: InstrumentedAttribute[int], *conditions: ColumnElement[bool]
) -> dict[int, tuple[int | None, int | None, int]]:
    """Returns ranks before and after with the number ranked, by `key`."""
    columns = (key, CurrentAnswer.rank_before, CurrentAnswer.rank_after, CurrentAnswer.ranked)
    query = select(*columns).where(*conditions, CurrentAnswer.ranked.is_not(None))
    return {row[0]: (row[1], row[2], row[3] or 0) for row in await session.execute(query)}


async def list_by_id(session: AsyncSession, answer_ids: Collection[int]) -> dict[int, AnswerRow]:
    """Returns these answers, by id."""
    if not answer_ids:
        return {}
    return {row.id: row for row in await session.scalars(select(AnswerRow).where(AnswerRow.id.in_(answer_ids)))}


async def find_latest(
    session: AsyncSession, member_id: int, question_id: int, version_id: int | None = None
) -> AnswerRow | None:
    """Returns the member's latest answer to any version of a question, or to one version."""
    query = (
        select(AnswerRow)
        .join(QuestionVersion, QuestionVersion.id == AnswerRow.version_id)
        .where(AnswerRow.member_id.in_(merged_ids(member_id)), QuestionVersion.question_id == question_id)
    )
    if version_id is not None:
        query = query.where(AnswerRow.version_id == version_id)
    return await session.scalar(query.order_by(AnswerRow.at.desc(), AnswerRow.id.desc()).limit(1))


@dataclass(frozen=True, slots=True)
class JudgedPractice:
    """A judged answer in practice."""

    at: datetime
    credit: float
    topic: str


async def list_judged_practice(
    session: AsyncSession, caller: Caller, since: datetime, limit: int
) -> list[JudgedPractice]:
    """Returns the caller's judged practice answers since an instant, newest first.

    Code is left out, because it is retried, and so are questions that are asked now, whose keys are secret.
    """
    rows = await session.execute(*_select_judged_practice(caller.workspace_id, caller.member_id, since, limit))
    return [JudgedPractice(at, float(credit or 0.0), topic) for at, credit, topic in rows]


@built_once
def _select_judged_practice(
    workspace_id: int, member_id: int, since: datetime, most: int
) -> Select[datetime, float | None, str]:
    return (
        select(AnswerRow.at, VerdictRow.credit, QuestionVersion.topic)
        .join(QuestionVersion, QuestionVersion.id == AnswerRow.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .join(VerdictRow, (VerdictRow.answer_id == AnswerRow.id) & (VerdictRow.version_id == AnswerRow.version_id))
        .where(AnswerRow.member_id.in_(merged_ids(member_id)), AnswerRow.round_id.is_(None), AnswerRow.at >= since)
        .where(VerdictRow.credit.is_not(None), QuestionVersion.kind != "code", ~is_asked_now(workspace_id))
        .order_by(AnswerRow.at.desc(), AnswerRow.id.desc())
        .limit(most)
    )


async def get_entry(session: AsyncSession, answer_id: int) -> RoundEntry | None:
    """Returns the entry of this answer, or None if it is not a current answer."""
    row = (await session.execute(_entries().where(CurrentAnswer.answer_id == answer_id))).one_or_none()
    return None if row is None else RoundEntry(*row)


async def get_unjudged(session: AsyncSession, answer_id: int) -> AnswerRow | None:
    """Returns the answer, or None if it already has a verdict."""
    judged = select(VerdictRow.id).where(
        VerdictRow.answer_id == AnswerRow.id, VerdictRow.version_id == AnswerRow.version_id
    )
    return await session.scalar(select(AnswerRow).where(AnswerRow.id == answer_id, ~judged.exists()))


async def list_verdicts(session: AsyncSession, answer_ids: Collection[int]) -> dict[int, list[VerdictRow]]:
    """Returns all verdicts of each answer that has one, oldest first, by answer id."""
    found: dict[int, list[VerdictRow]] = defaultdict(list)
    for row in await session.scalars(*_select_verdicts(answer_ids)) if answer_ids else ():
        found[row.answer_id].append(row)
    return found


async def list_seeded_verdicts(
    session: AsyncSession, answer_id: int | None, question: str
) -> Sequence[tuple[VerdictRow, str]]:
    """Returns verdicts that have a seed, with the code they judged: of one answer, or of all answers to a question
    id."""
    query = (
        select(VerdictRow, AnswerRow.given)
        .join(AnswerRow, AnswerRow.id == VerdictRow.answer_id)
        .join(QuestionVersion, QuestionVersion.id == VerdictRow.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .where(VerdictRow.detail.has_key("seed"))
    )
    query = query.where(QuestionRow.key == question if answer_id is None else AnswerRow.id == answer_id)
    return [(row, given.get("code") or "") for row, given in await session.execute(query.order_by(VerdictRow.id))]


async def count_answers(session: AsyncSession, round_id: int) -> int:
    """Returns how many members answered the round."""
    return int(await session.scalar(select(func.count()).where(CurrentAnswer.round_id == round_id)) or 0)


async def count_unjudged(session: AsyncSession, round_id: int) -> int:
    """Returns how many answers of code in the round have no verdict yet."""
    judged = select(VerdictRow.id).where(VerdictRow.answer_id == CurrentAnswer.answer_id)
    query = (
        select(func.count())
        .select_from(CurrentAnswer)
        .join(AnswerRow, AnswerRow.id == CurrentAnswer.answer_id)
        .join(QuestionVersion, QuestionVersion.id == AnswerRow.version_id)
        .where(CurrentAnswer.round_id == round_id, QuestionVersion.kind == "code", ~judged.exists())
    )
    return int(await session.scalar(query) or 0)


async def count_right(session: AsyncSession, round_id: int) -> int:
    """Returns how many members answered the round fully right, by the latest verdicts."""
    of_answer = select(VerdictRow.credit).where(VerdictRow.answer_id == CurrentAnswer.answer_id)
    latest = of_answer.order_by(VerdictRow.id.desc()).limit(1).scalar_subquery()
    query = select(func.count()).where(CurrentAnswer.round_id == round_id, latest == 1)
    return int(await session.scalar(query) or 0)


def absent_members(round_: Round) -> Select[int]:
    """Selects the members who answered an earlier round of the schedule but not this one."""
    here = aliased(CurrentAnswer)
    # As NOT IN, PostgreSQL would look through all who answered for each member, once they outgrow its memory.
    answered = exists().where(here.round_id == round_.id, here.member_id == CurrentAnswer.member_id)
    return (
        select(CurrentAnswer.member_id)
        .distinct()
        .join(Round, Round.id == CurrentAnswer.round_id)
        .join(Member, Member.id == CurrentAnswer.member_id)
        .where(
            Round.schedule_id == round_.schedule_id,
            Round.opens_at < round_.opens_at,
            Member.forgotten_at.is_(None),
            ~answered,
        )
    )


def wrong_members(round_: Round) -> Select[int]:
    """Selects the members whose answer in a round that is just closing is not fully right. An open answer is neither
    right nor wrong."""
    return (
        select(CurrentAnswer.member_id)
        .join(VerdictRow, VerdictRow.answer_id == CurrentAnswer.answer_id)  # only corrections make a second one
        .join(Member, Member.id == CurrentAnswer.member_id)
        .where(CurrentAnswer.round_id == round_.id, VerdictRow.credit < 1, Member.forgotten_at.is_(None))
    )


async def mean_credit_before(session: AsyncSession, round_: Round, workspace_id: int) -> float | None:
    """Returns the mean credit of this question in earlier rounds of the workspace, or None if nobody answered. Of a
    family, all variants count: they earn the same."""
    asked, same = aliased(QuestionVersion), aliased(QuestionVersion)
    alike = (same.question_id == asked.question_id) & (same.version == asked.version)
    versions = select(same.id).join(asked, alike).where(asked.id == round_.version_id)
    query = (
        select(func.avg(VerdictRow.credit))
        .join(CurrentAnswer, CurrentAnswer.answer_id == VerdictRow.answer_id)
        .join(Round, Round.id == CurrentAnswer.round_id)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(
            Schedule.workspace_id == workspace_id,
            VerdictRow.version_id.in_(versions),
            VerdictRow.verdict != "system error",
            Round.opens_at < round_.opens_at,
        )
    )
    found = await session.scalar(query)
    return None if found is None else float(found)


def _entries() -> Select[AnswerRow, Member, VerdictRow]:
    return (
        select(AnswerRow, Member, VerdictRow)
        .join(CurrentAnswer, CurrentAnswer.answer_id == AnswerRow.id)
        .join(Member, Member.id == CurrentAnswer.member_id)
        .outerjoin(VerdictRow, (VerdictRow.answer_id == AnswerRow.id) & (VerdictRow.version_id == AnswerRow.version_id))
        .order_by(AnswerRow.at, AnswerRow.id)
    )


class HintTaken(Base):
    """A member's use of the hint of a round's question, which costs points."""

    __tablename__ = "hint_taken"
    round_id: Mapped[int] = mapped_column(ForeignKey("round.id"), primary_key=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), primary_key=True, index=True)


async def take_hint(session: AsyncSession, round_id: int, member_id: int) -> None:
    """Records that the member took the round's hint, once."""
    taken = insert(HintTaken).values(round_id=round_id, member_id=member_id)
    await session.execute(taken.on_conflict_do_nothing())


async def is_hint_taken(session: AsyncSession, round_id: int, member_id: int) -> bool:
    """Returns whether the member took the round's hint."""
    return await session.get(HintTaken, (round_id, member_id)) is not None


async def list_hint_takers(session: AsyncSession, round_id: int) -> frozenset[int]:
    """Returns the members who took the round's hint."""
    return frozenset(await session.scalars(select(HintTaken.member_id).where(HintTaken.round_id == round_id)))


async def forget_hints(session: AsyncSession, member_id: int) -> None:
    """Deletes which hints the member took. Points that they cost stay in the ledger."""
    await session.execute(delete(HintTaken).where(HintTaken.member_id == member_id))


async def clear_hints(session: AsyncSession, round_id: int) -> None:
    """Deletes which members took the hint of a round that now asks another question."""
    await session.execute(delete(HintTaken).where(HintTaken.round_id == round_id))


async def merge_hints(session: AsyncSession, kept: int, gone: int) -> None:
    """Moves the hints of the member `gone` to `kept`."""
    for round_id in await session.scalars(select(HintTaken.round_id).where(HintTaken.member_id == gone)):
        await take_hint(session, round_id, kept)
    await forget_hints(session, gone)
