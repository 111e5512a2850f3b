"""Rows of question variants generated from families: stored with the family's version and asked in its place.

A round or a sprint asks one variant, or with `own_variants` every member another one.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any

from sqlalchemy import (
    ColumnElement,
    ForeignKey,
    ScalarSelect,
    Select,
    String,
    and_,
    cast,
    column,
    delete,
    exists,
    func,
    literal,
    or_,
    select,
    table,
)
from sqlalchemy.dialects.postgresql import JSONB, insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, aliased, mapped_column

from questions.model import Question, as_data
from service.store.banks import has_variants
from service.store.competition_tables import SprintQuestion, SprintVariant
from service.store.members import Caller, merged_ids
from service.store.statements import built_once
from service.store.tables import AnswerRow, Base, CurrentAnswer, QuestionVersion, Round, Schedule
from service.store.tables import QuestionRow as QuestionRow


class MemberVariant(Base):
    """The variant that a round with `own_variants` asks one member. Drawn when the member first sees it. Changed
    only by a merge with another account, and deleted if the round gets another question."""

    __tablename__ = "member_variant"
    round_id: Mapped[int] = mapped_column(ForeignKey("round.id"), primary_key=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), primary_key=True, index=True)
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), index=True)


_JOBS = table("procrastinate_jobs", column("task_name"), column("args", JSONB))
Variant = aliased(QuestionVersion, name="drawn")
FEWEST_FOR_ALL = 3
"""Variants that a family must have, so that members can get variants of their own: the example in the channel, and two
that differ."""


async def list_families_without_variants(session: AsyncSession, task: str) -> list[int]:
    """Returns current families that have no variants and no job with this task name, failed jobs included."""
    job = exists().where(_JOBS.c.task_name == task, _JOBS.c.args["version_id"].as_integer() == QuestionVersion.id)
    query = (
        select(QuestionVersion.id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .where(
            QuestionVersion.family.is_(True),
            QuestionVersion.drawing == 0,
            QuestionVersion.version == QuestionRow.current,
            QuestionRow.retired_at.is_(None),
            ~has_variants(),
            ~job,
        )
    )
    return list(await session.scalars(query.order_by(QuestionVersion.id)))


async def are_drawn(session: AsyncSession, version_id: int) -> bool:
    """Returns whether variants of the family are stored."""
    return bool(await session.scalar(select(has_variants()).where(QuestionVersion.id == version_id)))


async def add(
    session: AsyncSession, family: QuestionVersion, drawn: Iterable[tuple[Question, str]], now: datetime
) -> None:
    """Stores the variants of a family, each with its digest. Keeps variants that a concurrent call stored."""
    rows = [
        {
            "question_id": family.question_id,
            "version": family.version,
            "drawing": number,
            "kind": question.kind,
            "level": question.level,
            "topic": question.topic,
            "answered": True,
            "digest": digest,
            "body": as_data(question),
            "created_at": now,
        }
        for number, (question, digest) in enumerate(drawn, 1)
    ]
    if rows:
        await session.execute(insert(QuestionVersion).values(rows).on_conflict_do_nothing())


async def pick_for_round(session: AsyncSession, workspace_id: int, version_id: int) -> int:
    """Returns the version to ask in a round: for a family, a variant new to the workspace or the one asked longest
    ago."""
    return await session.scalar(*_select_for_round(version_id, workspace_id)) or version_id


@built_once
def _select_for_round(version_id: int, workspace_id: int) -> Select[int]:
    last_asked = (
        select(func.max(Round.id))
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Schedule.workspace_id == workspace_id, Round.version_id == Variant.id)
        .scalar_subquery()
    )
    return _select_first(version_id, last_asked.asc().nulls_first(), Variant.drawing)


async def suffice_for_all(session: AsyncSession, version_id: int) -> bool:
    """Returns whether this is a variant of a family with enough variants for every member to get one of their own."""
    example = aliased(QuestionVersion, name="example")
    query = select(func.count()).where(example.id == version_id, *_are_siblings(example))
    return int(await session.scalar(query) or 0) >= FEWEST_FOR_ALL


async def get_for_member(session: AsyncSession, round_: Round, member_id: int) -> int:
    """Returns the version that a round asks a member, always the same.

    In an open round with `own_variants`, draws and stores the member's variant at the first call. A member who saw
    nothing before the close gets the example.
    """
    assert round_.version_id is not None, "a round that was not skipped asks a question"
    if not round_.own_variants:
        return round_.version_id
    stored = await _find_stored(session, round_.id, member_id)
    if stored is not None:
        return stored
    if round_.closed_at is not None:
        return round_.version_id
    # One after the other, so that two members do not get the same variant while others are left.
    await session.execute(select(func.pg_advisory_xact_lock(func.hashtextextended(f"variants of {round_.id}", 0))))
    drawn = await session.scalar(_draw_in_round(round_, round_.version_id, member_id)) or round_.version_id
    values = {"round_id": round_.id, "member_id": member_id, "version_id": drawn}
    await session.execute(insert(MemberVariant).values(values).on_conflict_do_nothing())
    return await _find_stored(session, round_.id, member_id) or drawn


async def list_for_members(session: AsyncSession, round_: Round, member_ids: Collection[int]) -> dict[int, int]:
    """Returns the variants that these members of a round have for their own, by member. Draws nothing."""
    if not round_.own_variants:
        return {}
    query = select(MemberVariant.member_id, MemberVariant.version_id).where(
        MemberVariant.round_id == round_.id, MemberVariant.member_id.in_(member_ids)
    )
    return {row[0]: row[1] for row in await session.execute(query)}


async def list_of_member(session: AsyncSession, member_id: int, round_ids: Collection[int]) -> dict[int, int]:
    """Returns the variants that a member has for their own in these rounds, by round. Draws nothing."""
    query = select(MemberVariant.round_id, MemberVariant.version_id).where(
        MemberVariant.member_id == member_id, MemberVariant.round_id.in_(round_ids)
    )
    return {row[0]: row[1] for row in await session.execute(query)}


async def forget_variants(session: AsyncSession, member_id: int) -> None:
    """Deletes which variants the member saw. Their answers keep the variant that they were given to."""
    await session.execute(delete(MemberVariant).where(MemberVariant.member_id == member_id))


async def clear_variants(session: AsyncSession, round_id: int) -> None:
    """Deletes which variants the members of a round saw that now asks another question."""
    await session.execute(delete(MemberVariant).where(MemberVariant.round_id == round_id))


async def merge_variants(session: AsyncSession, kept: int, gone: int) -> None:
    """Moves the variants of the member `gone` to `kept`. In a round in which both have one, that of the answer that
    counts stays; without an answer, that of `kept`. Call when the answers have moved."""
    theirs = {
        row.round_id: row.version_id
        for row in await session.scalars(select(MemberVariant).where(MemberVariant.member_id == gone))
    }
    answered = (
        select(CurrentAnswer.round_id, AnswerRow.version_id)
        .join(AnswerRow, AnswerRow.id == CurrentAnswer.answer_id)
        .where(CurrentAnswer.member_id == kept, CurrentAnswer.round_id.in_(theirs))
    )
    counting = {row[0]: row[1] for row in await session.execute(answered)}
    for round_id, version_id in theirs.items():
        made = insert(MemberVariant).values(round_id=round_id, member_id=kept, version_id=version_id)
        if counting.get(round_id) == version_id:
            keys = ["round_id", "member_id"]
            await session.execute(made.on_conflict_do_update(index_elements=keys, set_={"version_id": version_id}))
        else:
            await session.execute(made.on_conflict_do_nothing())
    await forget_variants(session, gone)


async def _find_stored(session: AsyncSession, round_id: int, member_id: int) -> int | None:
    return await session.scalar(
        select(MemberVariant.version_id).where(MemberVariant.round_id == round_id, MemberVariant.member_id == member_id)
    )


def _draw_in_round(round_: Round, example_id: int, member_id: int) -> Select[int]:
    posted = exists().where(Round.version_id == Variant.id, Round.schedule_id == round_.schedule_id)
    having = select(func.count()).where(MemberVariant.round_id == round_.id, MemberVariant.version_id == Variant.id)
    return select_drawing(example_id, member_id, posted, having.scalar_subquery(), f"{round_.id}")


def select_drawing(
    example_id: int, member_id: int, posted: ColumnElement[bool], having: ScalarSelect[int], chance: str
) -> Select[int]:
    """Selects the variant for a member: not the example, one that the member has not met, one that fewest have.

    `posted` tests whether the channel has seen `Variant`, `having` counts the members who have it, and `chance` seeds
    the choice among equals.
    """
    example = aliased(QuestionVersion, name="example")
    met = or_(
        exists().where(AnswerRow.version_id == Variant.id, AnswerRow.member_id.in_(merged_ids(member_id))),
        exists().where(MemberVariant.version_id == Variant.id, MemberVariant.member_id == member_id),
        exists().where(SprintVariant.version_id == Variant.id, SprintVariant.member_id == member_id),
        posted,
    )
    seeded = func.md5(func.concat(f"{chance}:{member_id}:", cast(Variant.id, String)))
    return (
        select(Variant.id)
        .join(example, and_(*_are_siblings(example)))
        .where(example.id == example_id)
        .order_by(Variant.id == example.id, met, having, seeded)
        .limit(1)
    )


def _are_siblings(example: Any) -> tuple[Any, ...]:
    """Tests whether `Variant` is a variant of the same version of a family as `example`, or that itself."""
    return (
        Variant.question_id == example.question_id,
        Variant.version == example.version,
        Variant.drawing > 0,
        example.drawing > 0,
    )


async def pick_for_rounds(session: AsyncSession, chosen: Collection[tuple[int, int]]) -> dict[tuple[int, int], int]:
    """Returns the version to ask for each pair of a workspace and a chosen version, as `pick_for_round`."""
    family = select(QuestionVersion.id).where(
        QuestionVersion.id.in_({version_id for _, version_id in chosen}), QuestionVersion.family.is_(True)
    )
    families = set(await session.scalars(family))
    return {
        (workspace_id, version_id): await pick_for_round(session, workspace_id, version_id)
        if version_id in families
        else version_id
        for workspace_id, version_id in chosen
    }


async def pick_for_practice(session: AsyncSession, member_id: int, version_id: int) -> int:
    """Returns the version to practice: for a family, a variant new to the member or the one answered longest ago.

    Practice starts with the last variants, rounds with the first.
    """
    return await session.scalar(*_select_for_practice(version_id, member_id)) or version_id


@built_once
def _select_for_practice(version_id: int, member_id: int) -> Select[int]:
    answered = (
        select(func.max(AnswerRow.id))
        .where(AnswerRow.member_id.in_(merged_ids(member_id)), AnswerRow.version_id == Variant.id)
        .scalar_subquery()
    )
    return _select_first(version_id, answered.asc().nulls_first(), Variant.drawing.desc())


async def pick_to_explain(session: AsyncSession, caller: Caller, version_id: int, wanted: str) -> int:
    """Returns the version to explain: for a family, the variant with that id, or else the one the caller or workspace
    met last.

    Explains only variants that the caller had for their own or answered, or that a closed round or a sprint of the
    workspace asked.
    """
    family = await session.get_one(QuestionVersion, version_id)
    if not family.family:
        return version_id
    closed = (
        select(Round.version_id, Round.closes_at.label("at"), literal(False).label("own"))
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Schedule.workspace_id == caller.workspace_id, Round.closed_at.is_not(None))
    )
    drawn = (
        select(MemberVariant.version_id, Round.closes_at, literal(True))
        .join(Round, Round.id == MemberVariant.round_id)
        .where(MemberVariant.member_id == caller.member_id, Round.closed_at.is_not(None))
    )
    mine = AnswerRow.member_id.in_(merged_ids(caller.member_id))
    answered = select(AnswerRow.version_id, AnswerRow.at, literal(True)).where(mine)
    revealed = select(SprintQuestion.version_id, SprintQuestion.settled_at, literal(False)).where(
        SprintQuestion.workspace_id == caller.workspace_id, SprintQuestion.settled_at.is_not(None)
    )
    sprinted = (
        select(SprintVariant.version_id, SprintQuestion.settled_at, literal(True))
        .join(SprintQuestion, SprintQuestion.id == SprintVariant.question_id)
        .where(SprintVariant.member_id == caller.member_id, SprintQuestion.settled_at.is_not(None))
    )
    known = closed.union_all(drawn, answered, revealed, sprinted).subquery()
    named = QuestionVersion.body["id"].as_string() == wanted.strip().lower()
    query = (
        select(QuestionVersion.id)
        .join(known, known.c.version_id == QuestionVersion.id)
        .where(QuestionVersion.question_id == family.question_id)
        .order_by(named.desc(), known.c.at.desc(), known.c.own.desc())
        .limit(1)
    )
    return await session.scalar(query) or version_id


async def pick_named(session: AsyncSession, version_id: int, wanted: str) -> int:
    """Returns the version that a member means: for a family, the variant with that id, or else the first one."""
    named = (Variant.body["id"].as_string() == wanted.strip().lower()).desc()
    return await session.scalar(_select_first(version_id, named, Variant.drawing)) or version_id


def _select_first(version_id: int, *order: Any) -> Select[int]:
    """Selects the first variant, in this order, of a family; nothing for another version."""
    return (
        select(Variant.id)
        .join(
            QuestionVersion,
            and_(
                QuestionVersion.question_id == Variant.question_id,
                QuestionVersion.version == Variant.version,
                QuestionVersion.family.is_(True),
            ),
        )
        .where(QuestionVersion.id == version_id, Variant.drawing > 0)
        .order_by(*order)
        .limit(1)
    )
