"""Rows of personal data: reads or erases everything stored about a member, and merges two members who are one person.

Rules for merging are in `service.people.linking`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, delete, exists, func, or_, select, true, union, update
from sqlalchemy.ext.asyncio import AsyncSession

from service.store import (
    answers,
    duels,
    markings,
    measurements,
    members,
    notifications,
    outbox,
    reports,
    sprints,
    suggestions,
    tournaments,
    variants,
    web_people,
)
from service.store.boards import lock_boards
from service.store.cards import CardRow
from service.store.chats import LinkCodeRow
from service.store.ledger import insert_entries
from service.store.members import Caller, list_identities, merged_ids
from service.store.review_tables import ReportRow, ReviewPlace
from service.store.session import allow_forgetting
from service.store.tables import (
    UNSENT,
    AnswerRow,
    Chat,
    CurrentAnswer,
    Identity,
    InboxRow,
    Ledger,
    Member,
    Outbox,
    QuestionRow,
    QuestionVersion,
    Round,
    Schedule,
    Season,
    StreakGrace,
    VerdictRow,
)
from service.wire import Who

FORGOTTEN_NAME = "someone who left"
"""Name shown for the points of a forgotten member."""
NAMING = ("reveal", "outcome", "sprint-reveal", "sprint-podium", "duel", "tournament", "winner")
"""Kinds of messages that name members."""
LISTS = ("winners", "former")
"""Fields of those messages that list ids."""
CREDITS = {"name": FORGOTTEN_NAME, "suggested_by": "", "discord": ""}
"""Fields of those messages that hold a name or an id, with what replaces it."""
FORGET_CALL = "forget"
"""Label in the inbox of the call that forgets a member."""


@dataclass(frozen=True, slots=True)
class LedgerSum:
    """A member's total in one round, or one ledger entry without a round."""

    place: str
    """`round:7` or `row:12`."""
    round_id: int | None
    at: datetime
    points: int
    credit: float | None
    seconds: float | None


@dataclass(frozen=True, slots=True)
class CountingAnswer:
    """A member's current answer in a round."""

    round_id: int
    answer_id: int
    at: datetime


async def count_records(session: AsyncSession, member_id: int) -> tuple[int, int, int]:
    """Returns how many answers, ledger entries and cards of a member are stored. A changed answer is one answer."""
    tables: tuple[tuple[type[AnswerRow] | type[Ledger] | type[CardRow], ColumnElement[bool]], ...] = (
        (AnswerRow, AnswerRow.number <= 1),
        (Ledger, true()),
        (CardRow, true()),
    )
    answers, bookings, cards = [
        await session.scalar(
            select(func.count()).select_from(table).where(table.member_id.in_(merged_ids(member_id)), counted)
        )
        for table, counted in tables
    ]
    return int(answers or 0), int(bookings or 0), int(cards or 0)


async def list_answers(session: AsyncSession, member_id: int) -> Sequence[tuple[AnswerRow, str, VerdictRow | None]]:
    """Returns all answers with the id of the question and each verdict, oldest first."""
    rows = await session.execute(
        select(AnswerRow, QuestionRow.key, VerdictRow)
        .join(QuestionVersion, QuestionVersion.id == AnswerRow.version_id)
        .join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        .outerjoin(VerdictRow, VerdictRow.answer_id == AnswerRow.id)
        .where(AnswerRow.member_id.in_(merged_ids(member_id)))
        .order_by(AnswerRow.id, VerdictRow.id)
    )
    return [(answer, key, verdict) for answer, key, verdict in rows]


async def list_ledger(session: AsyncSession, member_id: int) -> Sequence[Ledger]:
    """Returns all ledger entries, oldest first."""
    query = select(Ledger).where(Ledger.member_id.in_(merged_ids(member_id))).order_by(Ledger.id)
    return (await session.scalars(query)).all()


async def list_cards(session: AsyncSession, member_id: int) -> Sequence[tuple[CardRow, str]]:
    """Returns all cards with the ids of their questions."""
    rows = await session.execute(
        select(CardRow, QuestionRow.key)
        .join(QuestionRow, QuestionRow.id == CardRow.question_id)
        .where(CardRow.member_id == member_id)
        .order_by(QuestionRow.key)
    )
    return [(card, key) for card, key in rows]


async def set_hidden(session: AsyncSession, member_id: int, hidden: bool) -> None:
    """Hides the member from boards, or shows them again."""
    await session.execute(update(Member).where(Member.id.in_(merged_ids(member_id))).values(hidden=hidden))


async def forget_member(session: AsyncSession, caller: Caller, now: datetime) -> None:
    """Erases the caller's names and everything they wrote, keeping all numbers so that totals stay right.

    Withdraws answers in open rounds, and cancels duels and messages not yet posted to them.
    """
    # So that an answer that is being stored, judged or graded is complete when it is erased, and so is what a close or
    # a sprint is about to show. Before the duels, as everyone who changes them does.
    await lock_members(session, [caller.member_id])
    await duels.forget_duels(session, caller.member_id, now)
    await _withdraw(session, caller.member_id)
    names = await _list_names(session, caller)
    await _empty_log(session, caller.member_id)
    await markings.forget_markings(session, caller.member_id)
    await measurements.forget_measurements(session, caller.member_id)
    await sprints.forget_answers(session, caller.member_id)
    await tournaments.forget_member(session, caller.member_id, now)
    await notifications.forget_notifications(session, caller.member_id)
    await answers.forget_hints(session, caller.member_id)
    await members.forget_streak_graces(session, caller.member_id)
    await reports.forget_feedback(session, caller.member_id)
    await variants.forget_variants(session, caller.member_id)
    await session.execute(delete(CardRow).where(CardRow.member_id == caller.member_id))
    written = await reports.forget_reports(session, caller.member_id)
    written += await suggestions.forget_suggestions(session, caller.member_id)
    await _empty_messages(session, caller, written)
    await _empty_codes(session, caller.member_id)
    await web_people.forget_people(session, caller.member_id)
    await session.execute(delete(Identity).where(Identity.member_id == caller.member_id))
    await session.execute(
        update(Member)
        .where(Member.id.in_(merged_ids(caller.member_id)))
        .values(name=FORGOTTEN_NAME, hidden=True, forgotten_at=now)
    )
    # Every reveal and every season's final board that still names them is there: `lock_members` waited for them.
    await _empty_reveals(session, caller, names)
    await _empty_archives(session, caller)


async def find_forget_reply(session: AsyncSession, who: Who, event_id: str) -> dict[str, Any] | None:
    """Returns the reply to the event that forgot a member. Its author can no longer be identified."""
    query = (
        select(InboxRow.reply)
        .join(Chat, Chat.id == InboxRow.chat_id)
        .where(
            Chat.platform == who.platform,
            Chat.external_id == who.workspace,
            InboxRow.event_id == event_id,
            InboxRow.call.startswith(f"{FORGET_CALL} ", autoescape=True),
        )
    )
    reply = await session.scalar(query)
    return None if reply is None else reply["reply"]


async def _withdraw(session: AsyncSession, member_id: int) -> None:
    is_open = exists().where(Round.id == CurrentAnswer.round_id, Round.closed_at.is_(None))
    await session.execute(delete(CurrentAnswer).where(CurrentAnswer.member_id == member_id, is_open))


async def _empty_log(session: AsyncSession, member_id: int) -> None:
    await allow_forgetting(session)
    mine = AnswerRow.member_id.in_(merged_ids(member_id))
    theirs = select(AnswerRow.id).where(mine)
    # Option ids are numbers in a distribution; text or code can reveal the author.
    kept: Any = func.jsonb_strip_nulls(func.jsonb_build_object("options", AnswerRow.given["options"]))
    await session.execute(update(AnswerRow).where(mine).values(name="", given=kept))
    await session.execute(update(VerdictRow).where(VerdictRow.answer_id.in_(theirs)).values(detail={}))


async def _empty_messages(session: AsyncSession, caller: Caller, written: Sequence[str]) -> None:
    """Erases private messages, the messages with the keys `written`, and the stored replies to the caller's events in
    all chats."""
    private = or_(Outbox.member_id == caller.member_id, Outbox.key.in_(written))
    unsent = Outbox.state.in_(UNSENT)
    await outbox.lock_unsent(session, private)
    await session.execute(update(Outbox).where(private, unsent).values(state="skipped", error="the member left"))
    await session.execute(
        update(Outbox).where(private).values(body={"kind": "notice", "title": FORGOTTEN_NAME, "text": ""})
    )
    for identity, chat in await list_identities(session, caller.member_id):
        label = InboxRow.call.endswith(f" {identity.id}", autoescape=True)
        other = InboxRow.call != f"{FORGET_CALL} {identity.id}"
        await session.execute(delete(InboxRow).where(InboxRow.chat_id == chat.id, label, other))


async def _empty_codes(session: AsyncSession, member_id: int) -> None:
    await session.execute(delete(LinkCodeRow).where(LinkCodeRow.member_id == member_id))


async def _list_names(session: AsyncSession, caller: Caller) -> set[str]:
    """Returns what messages may call the caller: names, and ids on platforms."""
    rows = merged_ids(caller.member_id)
    known = (
        select(AnswerRow.name).where(AnswerRow.member_id.in_(rows)),
        select(Member.name).where(Member.id.in_(rows)),
        select(Identity.name).where(Identity.member_id == caller.member_id),
        select(Identity.external_id).where(Identity.member_id == caller.member_id),
    )
    return {caller.name, *await session.scalars(union(*known))} - {""}


async def _empty_reveals(session: AsyncSession, caller: Caller, names: set[str]) -> None:
    """Erases the caller from the points and boards of reveals and from messages about duels and tournaments, which
    identify members by name, or by their id on Discord."""
    reveals = select(Outbox).where(Outbox.workspace_id == caller.workspace_id, Outbox.kind.in_(NAMING))
    for row in await session.scalars(reveals):
        emptied = _without(row.body, names)
        if emptied != row.body:
            row.body = emptied


def _without(data: Any, names: set[str]) -> Any:
    if isinstance(data, list):
        return [_without(item, names) for item in data]
    if isinstance(data, dict):
        return {
            key: CREDITS[key] if key in CREDITS and value in names else _without(value, names)
            for key, value in data.items()
        } | {key: [id_ for id_ in data[key] if id_ not in names] for key in LISTS if key in data}
    return data


async def _empty_archives(session: AsyncSession, caller: Caller) -> None:
    theirs = set(await session.scalars(merged_ids(caller.member_id)))
    for season in await session.scalars(select(Season).where(Season.workspace_id == caller.workspace_id)):
        if any(row["member"] in theirs for row in season.archive or ()):
            season.archive = [
                {**row, "name": FORGOTTEN_NAME} if row["member"] in theirs else row for row in season.archive or ()
            ]


async def lock_members(session: AsyncSession, member_ids: Sequence[int]) -> dict[int, Member]:
    """Locks these members of one workspace, the rounds they answered, and the workspace's sprints and boards: no other
    transaction writes their answers or cards, grades those rounds, closes a round, or takes a step of a sprint until
    this one ends. Returns the members by id."""
    query = select(Member).where(Member.id.in_(member_ids)).order_by(Member.id).with_for_update(key_share=True)
    found = {member.id: member for member in await session.scalars(query.execution_options(populate_existing=True))}
    theirs = select(CurrentAnswer.round_id).where(CurrentAnswer.member_id.in_(member_ids))
    await session.execute(
        select(Round.id).where(Round.id.in_(theirs)).order_by(Round.id).with_for_update(key_share=True)
    )
    # A close and a sprint also write cards for, and name, members who are not in these rounds.
    await sprints.share_running(session, member_ids[0])
    await lock_boards(session, sorted({member.workspace_id for member in found.values()}))
    return found


async def list_member_chats(session: AsyncSession, member_id: int) -> set[int]:
    """Returns the chats a member is known in."""
    return set(await session.scalars(select(Identity.chat_id).where(Identity.member_id == member_id)))


async def sum_ledger(session: AsyncSession, member_id: int) -> dict[str, LedgerSum]:
    """Returns a member's ledger by key, with the entries of each round added up."""
    rounds = await session.execute(
        select(
            Ledger.round_id,
            func.min(Ledger.at),
            func.sum(Ledger.points),
            func.sum(Ledger.credit),
            func.sum(Ledger.seconds),
        )
        .where(Ledger.member_id == member_id, Ledger.round_id.is_not(None))
        .group_by(Ledger.round_id)
    )
    found = [LedgerSum(f"round:{row[0]}", row[0], row[1], int(row[2]), row[3], row[4]) for row in rounds]
    single = await session.scalars(select(Ledger).where(Ledger.member_id == member_id, Ledger.round_id.is_(None)))
    found += [LedgerSum(f"row:{row.id}", None, row.at, row.points, row.credit, row.seconds) for row in single]
    return {each.place: each for each in found}


async def post_ledger(session: AsyncSession, workspace_id: int, rows: Sequence[tuple[str, int, LedgerSum]]) -> None:
    """Posts each (key, member, entry) once."""
    values: list[dict[str, Any]] = [
        {
            "key": key,
            "workspace_id": workspace_id,
            "member_id": member_id,
            "round_id": what.round_id,
            "points": what.points,
            "credit": what.credit,
            "seconds": what.seconds,
            "reason": "link",
            "at": what.at,
        }
        for key, member_id, what in rows
    ]
    await insert_entries(session, values)


async def list_counting_answers(session: AsyncSession, member_id: int) -> dict[int, CountingAnswer]:
    """Returns a member's current answers by round."""
    rows = await session.execute(
        select(CurrentAnswer.round_id, AnswerRow.id, AnswerRow.at)
        .join(AnswerRow, AnswerRow.id == CurrentAnswer.answer_id)
        .where(CurrentAnswer.member_id == member_id)
    )
    return {round_id: CountingAnswer(round_id, answer_id, at) for round_id, answer_id, at in rows}


async def move_counting_answers(session: AsyncSession, kept: int, gone: int, theirs: Sequence[int]) -> None:
    """Moves current answers from `gone` to `kept`: replaces those in the rounds `theirs`, and adds those in rounds
    where `kept` has none."""
    mine = select(CurrentAnswer.round_id).where(CurrentAnswer.member_id == kept)
    await session.execute(
        delete(CurrentAnswer).where(CurrentAnswer.member_id == kept, CurrentAnswer.round_id.in_(theirs))
    )
    leaving = CurrentAnswer.member_id == gone
    await session.execute(delete(CurrentAnswer).where(leaving, CurrentAnswer.round_id.in_(mine)))
    await session.execute(update(CurrentAnswer).where(leaving).values(member_id=kept))


async def merge_cards(session: AsyncSession, kept: int, gone: int) -> int:
    """Merges the cards of two members. For a question in both, keeps the state reviewed last and adds up the
    reviews. Returns how many cards `kept` gained."""
    have = {card.question_id: card for card in await session.scalars(select(CardRow).where(CardRow.member_id == kept))}
    moved = 0
    for card in list(await session.scalars(select(CardRow).where(CardRow.member_id == gone))):
        other = have.get(card.question_id)
        if other is None:
            other = CardRow(member_id=kept, question_id=card.question_id, state=card.state, due=card.due, reviews=0)
            session.add(other)
            moved += 1
        elif _reviewed(card) > _reviewed(other):
            other.state, other.due = card.state, card.due
        other.reviews += card.reviews
        await session.delete(card)
    await session.flush()
    return moved


async def repoint_member(session: AsyncSession, kept: int, gone: int) -> None:
    """Points everything mutable of `gone` to `kept`. Their logged answers and actions stay unchanged."""
    await suggestions.merge_suggestions(session, kept, gone)
    await outbox.lock_unsent(session, Outbox.member_id == gone)
    for table in (ReportRow, ReviewPlace, Outbox, Identity):
        await session.execute(update(table).where(table.member_id == gone).values(member_id=kept))
    await session.execute(update(Schedule).where(Schedule.made_by == gone).values(made_by=kept))
    await session.execute(update(Member).where(Member.merged_into == gone).values(merged_into=kept))
    await session.execute(delete(LinkCodeRow).where(LinkCodeRow.member_id.in_((kept, gone))))
    await notifications.merge_notifications(session, kept, gone)
    excused = await session.scalars(select(StreakGrace.round_id).where(StreakGrace.member_id == gone))
    await members.add_streak_graces(session, kept, list(excused))
    await session.execute(delete(StreakGrace).where(StreakGrace.member_id == gone))
    await answers.merge_hints(session, kept, gone)
    await reports.merge_feedback(session, kept, gone)
    await variants.merge_variants(session, kept, gone)
    await sprints.merge_answers(session, kept, gone)
    await tournaments.merge_members(session, kept, gone)


def _reviewed(card: CardRow) -> str:
    return str(card.state.get("reviewed_at") or "")
