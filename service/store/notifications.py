"""Rows of the private messages that members opt in to: settings, recipients, and reminders decided on."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy import ForeignKey, delete, exists, extract, literal, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncSession
from sqlalchemy.orm import Mapped, mapped_column

from service.store.members import Caller
from service.store.tables import Base, Chat, CurrentAnswer, Identity, Member, Outbox, Round, Schedule, StreakGrace


class NotificationSetting(Base):
    """What a member wants to be told in private. Without a row, nothing."""

    __tablename__ = "notification_setting"
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), primary_key=True)
    chat_id: Mapped[int] = mapped_column(ForeignKey("chat.id"), index=True)
    """The chat in which the member last changed a setting, where the messages go."""
    reminders: Mapped[bool] = mapped_column(server_default=text("false"))
    results: Mapped[bool] = mapped_column(server_default=text("false"))
    refused: Mapped[str] = mapped_column(server_default="")
    """Why the chat refused the latest message; empty if it accepted it."""


class Reminder(Base):
    """The decision whether to remind a member of a round, made once."""

    __tablename__ = "reminder"
    round_id: Mapped[int] = mapped_column(ForeignKey("round.id"), primary_key=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), primary_key=True, index=True)
    at: Mapped[datetime]


KINDS = ("reminder", "result")
"""Kinds of message that members opt in to."""


async def get_setting(session: AsyncSession, member_id: int) -> NotificationSetting | None:
    """Returns the member's settings, or None if they never changed any."""
    return await session.get(NotificationSetting, member_id, populate_existing=True)


async def save_setting(session: AsyncSession, caller: Caller, what: str, on: bool) -> None:
    """Saves one of the caller's settings. From now on, messages go to the chat they call from."""
    values = {"member_id": caller.member_id, "chat_id": caller.chat_id, what: on}
    fresh = {"chat_id": caller.chat_id, what: on, "refused": ""}
    made = insert(NotificationSetting).values(values)
    await session.execute(made.on_conflict_do_update(index_elements=["member_id"], set_=fresh))


async def save_refusal(session: AsyncSession, row: Outbox, error: str) -> None:
    """Records why the chat refused a message that its recipient opted in to; empty once it accepts one."""
    if row.kind in KINDS and row.member_id is not None:
        mine = (NotificationSetting.member_id == row.member_id, NotificationSetting.refused != error)
        change = update(NotificationSetting).where(*mine).values(refused=error)
        await session.execute(change.execution_options(synchronize_session=False))


async def list_rounds_to_remind(
    session: AsyncSession, now: datetime, lead: timedelta, least_part: int
) -> Sequence[tuple[Round, Schedule]]:
    """Returns the rounds that close within `lead`, or if that is sooner, within the last of `least_part` parts of
    their time. Extra rounds count for no streak, so nobody is reminded of them."""
    left = extract("epoch", Round.closes_at) - now.timestamp()
    whole = extract("epoch", Round.closes_at) - extract("epoch", Round.opens_at)
    query = (
        select(Round, Schedule)
        .join(Schedule, Schedule.id == Round.schedule_id)
        .where(Round.closed_at.is_(None), Round.skipped.is_(None), Round.number == 0)
        .where(left > 0, left <= lead.total_seconds(), left * least_part <= whole)
    )
    return [(row[0], row[1]) for row in await session.execute(query.order_by(Round.closes_at, Round.id))]


async def decide_reminders(session: AsyncSession, round_: Round, workspace_id: int, now: datetime) -> dict[int, int]:
    """Returns the members who want reminders and have not answered, with their chats, each once per round.

    Leaves out members who are hidden, forgotten or excused, and those that the bot cannot reach in their chat. Waits
    for those who are being forgotten, and who is forgotten later waits for this.
    """
    answered = exists().where(CurrentAnswer.round_id == round_.id, CurrentAnswer.member_id == Member.id)
    decided_on = exists().where(Reminder.round_id == round_.id, Reminder.member_id == Member.id)
    excused = exists().where(StreakGrace.round_id == round_.id, StreakGrace.member_id == Member.id)
    wanting = (
        select(literal(round_.id), Member.id, literal(now))
        .join(NotificationSetting, NotificationSetting.member_id == Member.id)
        .join(Identity, (Identity.member_id == Member.id) & (Identity.chat_id == NotificationSetting.chat_id))
        .join(Chat, Chat.id == NotificationSetting.chat_id)
        .where(Member.workspace_id == workspace_id, NotificationSetting.reminders, Chat.left_at.is_(None))
        .where(Member.hidden.is_(False), Member.forgotten_at.is_(None), ~decided_on, ~answered, ~excused)
        .with_for_update(read=True, of=NotificationSetting)
    )
    new = insert(Reminder).from_select(["round_id", "member_id", "at"], wanting).on_conflict_do_nothing()
    decided = list(await session.scalars(new.returning(Reminder.member_id)))
    query = select(NotificationSetting.member_id, NotificationSetting.chat_id)
    rows = await session.execute(query.where(NotificationSetting.member_id.in_(decided)))
    return {row[0]: row[1] for row in rows}


async def still_wants_reminder(session: AsyncSession, row: Outbox) -> bool:
    """Returns whether a reminder still has a point: the round is open, and its member wants it and has not answered."""
    answered = exists().where(CurrentAnswer.round_id == row.round_id, CurrentAnswer.member_id == row.member_id)
    is_open = exists().where(Round.id == row.round_id, Round.closed_at.is_(None), Round.skipped.is_(None))
    query = (
        select(Member.id)
        .join(NotificationSetting, NotificationSetting.member_id == Member.id)
        .where(Member.id == row.member_id, Member.hidden.is_(False), NotificationSetting.reminders, ~answered, is_open)
    )
    return await session.scalar(query) is not None


async def list_wanting_results(session: AsyncSession, round_id: int, apart_from: str) -> dict[int, list[int]]:
    """Returns the members who answered a round and want their result in a message, by the chat it goes to. Leaves out
    chats of the platform `apart_from` and chats that the bot has left."""
    query = (
        select(NotificationSetting.chat_id, NotificationSetting.member_id)
        .join(CurrentAnswer, CurrentAnswer.member_id == NotificationSetting.member_id)
        .join(Chat, Chat.id == NotificationSetting.chat_id)
        .where(CurrentAnswer.round_id == round_id, NotificationSetting.results)
        .where(Chat.platform != apart_from, Chat.left_at.is_(None))
        .order_by(NotificationSetting.chat_id, NotificationSetting.member_id)
    )
    found: dict[int, list[int]] = {}
    for chat_id, member_id in await session.execute(query):
        found.setdefault(chat_id, []).append(member_id)
    return found


async def forget_notifications(session: AsyncSession, member_id: int) -> None:
    """Deletes the member's settings and the reminders decided on."""
    await session.execute(delete(NotificationSetting).where(NotificationSetting.member_id == member_id))
    await session.execute(delete(Reminder).where(Reminder.member_id == member_id))


async def merge_notifications(session: AsyncSession, kept: int, gone: int) -> None:
    """Gives `kept` the settings and reminders of `gone`, unless they have their own."""
    if await get_setting(session, kept) is not None:
        await session.execute(delete(NotificationSetting).where(NotificationSetting.member_id == gone))
    settings = update(NotificationSetting).where(NotificationSetting.member_id == gone)
    await session.execute(settings.values(member_id=kept))
    decided = select(Reminder.round_id).where(Reminder.member_id == kept)
    await session.execute(delete(Reminder).where(Reminder.member_id == gone, Reminder.round_id.in_(decided)))
    await session.execute(update(Reminder).where(Reminder.member_id == gone).values(member_id=kept))
