"""All tables with the constraints that keep the service's promises: once, in order, append-only.

Triggers reject UPDATE and DELETE on append-only tables (`APPEND_ONLY`); see the first migration.
Every foreign key has an index: deleting or joining the row it refers to would scan the whole table otherwise.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any, ClassVar

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    MetaData,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy import Identity as Numbered
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import DeclarativeBase, Mapped, mapped_column

NAMING = {
    "ix": "ix_%(column_0_label)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_name)s_%(referred_table_name)s",
    "pk": "pk_%(table_name)s",
}
UNSENT = ("due", "sending", "uncertain")
"""States of an outbox message that may still be posted."""
APPEND_ONLY = (
    "question_version",
    "answer",
    "verdict",
    "given_credit",
    "ledger",
    "audit",
    "duel_rating",
    "tournament_day",
    "tournament_score",
)


class Base(DeclarativeBase):
    metadata = MetaData(naming_convention=NAMING)
    type_annotation_map: ClassVar[dict[Any, Any]] = {
        datetime: DateTime(timezone=True),
        dict[str, Any]: JSONB,
        list[Any]: JSONB,
        int: BigInteger,
    }


def new_id() -> Mapped[int]:
    """Returns a generated primary key."""
    return mapped_column(BigInteger, Numbered(always=True), primary_key=True)


def same_workspace(column: str, table: str) -> ForeignKeyConstraint:
    """Returns a foreign key that cannot leave the workspace. Its check can be deferred while a workspace is merged
    into another."""
    return ForeignKeyConstraint(
        [column, "workspace_id"], [f"{table}.id", f"{table}.workspace_id"], deferrable=True, initially="IMMEDIATE"
    )


class Workspace(Base):
    """A team with its board, banks, schedules and members, reached from one or more chats."""

    __tablename__ = "workspace"
    id: Mapped[int] = new_id()
    name: Mapped[str] = mapped_column(server_default="")
    created_at: Mapped[datetime]
    generated: Mapped[str] = mapped_column(server_default="none")
    """How imports treat choices generated from a document's prose: `use`, `hold` until approved, or `none`."""


class Chat(Base):
    """One Slack workspace, Discord server, web chat or console: a way into a workspace."""

    __tablename__ = "chat"
    __table_args__ = (UniqueConstraint("platform", "external_id"), UniqueConstraint("id", "workspace_id"))
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"), index=True)
    platform: Mapped[str]
    external_id: Mapped[str]
    created_at: Mapped[datetime]
    greeted_at: Mapped[datetime | None]
    """When the bot greeted the chat."""
    left_at: Mapped[datetime | None]
    """When the bot was removed from the chat; None while it is a member."""
    application: Mapped[str] = mapped_column(server_default="")
    """The application whose bots post there, see `store.applications`; empty while no bot has named itself."""


class Channel(Base):
    __tablename__ = "channel"
    __table_args__ = (
        same_workspace("chat_id", "chat"),
        UniqueConstraint("chat_id", "external_id"),
        UniqueConstraint("id", "workspace_id"),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"), index=True)
    chat_id: Mapped[int]
    external_id: Mapped[str]
    name: Mapped[str] = mapped_column(server_default="")

    @property
    def shown_name(self) -> str:
        """The name, or the id if the chat did not say a name."""
        return self.name or self.external_id


class Member(Base):
    """A person in a workspace. Forgetting clears `name` and deletes the identities, but keeps the row for totals."""

    __tablename__ = "member"
    __table_args__ = (
        UniqueConstraint("id", "workspace_id"),
        Index("ix_member_merged_into", "merged_into", postgresql_where=text("merged_into is not null")),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"), index=True)
    name: Mapped[str]
    hidden: Mapped[bool] = mapped_column(server_default=text("false"))
    joined_at: Mapped[datetime]
    forgotten_at: Mapped[datetime | None]
    merged_into: Mapped[int | None] = mapped_column(ForeignKey("member.id"))
    """The member this one was merged into, never itself merged. Logs keep pointing here; everything else moves."""


class Identity(Base):
    """A member as known in one chat. A member has at most one identity per chat."""

    __tablename__ = "identity"
    __table_args__ = (
        same_workspace("chat_id", "chat"),
        same_workspace("member_id", "member"),
        UniqueConstraint("chat_id", "external_id"),
        UniqueConstraint("chat_id", "member_id"),
        Index("ix_identity_member", "member_id"),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int]
    chat_id: Mapped[int]
    member_id: Mapped[int]
    external_id: Mapped[str]
    name: Mapped[str]
    """Name in that chat. A member goes by the name of their oldest identity."""


class BankRow(Base):
    """A bank imported by the operator for all workspaces (`workspace_id` is null) or by one workspace for itself."""

    __tablename__ = "bank"
    __table_args__ = (UniqueConstraint("workspace_id", "name", postgresql_nulls_not_distinct=True),)
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int | None] = mapped_column(ForeignKey("workspace.id"))
    name: Mapped[str]
    title: Mapped[str]
    license: Mapped[str] = mapped_column(server_default="")
    recipe: Mapped[str] = mapped_column(server_default="")
    """How its document is read (see `questions.recipes`); empty if it is read by its own pattern."""


class BankChange(Base):
    """A change of a bank's questions, written by the database, so that caches notice. Rows are only added: concurrent
    changes need not wait for one another."""

    __tablename__ = "bank_change"
    id: Mapped[int] = new_id()
    bank_id: Mapped[int] = mapped_column(ForeignKey("bank.id"), index=True)
    mark: Mapped[int] = mapped_column(server_default=text("hashtextextended(gen_random_uuid()::text, 0)"))
    """A random number."""


class BankImport(Base):
    """One applied import and its findings."""

    __tablename__ = "bank_import"
    id: Mapped[int] = new_id()
    bank_id: Mapped[int] = mapped_column(ForeignKey("bank.id"), index=True)
    at: Mapped[datetime]
    digest: Mapped[str]
    summary: Mapped[dict[str, Any]]
    """The counts, and the bank's previous title, license and recipe."""
    document: Mapped[str] = mapped_column(server_default="")
    """Name of the document; empty for several documents in one bank, and for an undo."""
    undoes: Mapped[int | None] = mapped_column(ForeignKey("bank_import.id"), index=True)


class ImportStep(Base):
    """What one import did to one question, so that it can be undone. Unchanged questions have no row."""

    __tablename__ = "import_step"
    import_id: Mapped[int] = mapped_column(ForeignKey("bank_import.id"), primary_key=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("question.id"), primary_key=True, index=True)
    version_before: Mapped[int | None]
    """None for an added question."""
    version_after: Mapped[int]
    retired_before: Mapped[bool]
    retired_after: Mapped[bool]


class QuestionRow(Base):
    """A question with a stable id within its bank. `current` is the number of the version asked now."""

    __tablename__ = "question"
    __table_args__ = (UniqueConstraint("bank_id", "key"),)
    id: Mapped[int] = new_id()
    bank_id: Mapped[int] = mapped_column(ForeignKey("bank.id"))
    key: Mapped[str]
    current: Mapped[int]
    retired_at: Mapped[datetime | None]
    place: Mapped[dict[str, Any] | None]
    """Location in the latest imported document: `source`, `line`, `end_line`, `section`, `number`."""
    held: Mapped[bool] = mapped_column(server_default=false())
    """Whether the question was generated and awaits approval."""


class QuestionAlias(Base):
    """An id that a document's current prompt makes, for a question that keeps the id of its first prompt."""

    __tablename__ = "question_alias"
    bank_id: Mapped[int] = mapped_column(ForeignKey("bank.id"), primary_key=True)
    key: Mapped[str] = mapped_column(primary_key=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("question.id"), index=True)


class Retirement(Base):
    """A question that an admin retired for their own workspace. `question.retired_at` means that the document no
    longer contains it."""

    __tablename__ = "retirement"
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"), primary_key=True)
    question_id: Mapped[int] = mapped_column(ForeignKey("question.id"), primary_key=True, index=True)
    at: Mapped[datetime]


class QuestionVersion(Base):
    """The content of a question at one time. Never changed, so that old rounds stay explainable."""

    __tablename__ = "question_version"
    __table_args__ = (UniqueConstraint("question_id", "version", "drawing"),)
    id: Mapped[int] = new_id()
    question_id: Mapped[int] = mapped_column(ForeignKey("question.id"))
    version: Mapped[int]
    drawing: Mapped[int] = mapped_column(server_default="0")
    """0 for the document's own content; from 1 on, the variants generated from a family."""
    family: Mapped[bool] = mapped_column(server_default=false())
    """Whether this is a family. Families are never asked; their variants are."""
    kind: Mapped[str]
    level: Mapped[str | None]
    topic: Mapped[str]
    answered: Mapped[bool]
    digest: Mapped[str]
    body: Mapped[dict[str, Any]]
    created_at: Mapped[datetime]


class Schedule(Base):
    """When a channel gets its question. `spec` is a `service.wire.ScheduleSpec`; rounds record what was posted."""

    __tablename__ = "schedule"
    __table_args__ = (
        same_workspace("channel_id", "channel"),
        UniqueConstraint("id", "workspace_id"),
        Index("ix_schedule_next", "next_at", "id", postgresql_where=text("next_at is not null")),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int] = mapped_column(index=True)
    channel_id: Mapped[int] = mapped_column(index=True)
    """The home channel. `schedule_channel` lists further ones."""
    made_by: Mapped[int | None] = mapped_column(ForeignKey("member.id"), index=True)
    """Recipient of notices about the schedule."""
    spec: Mapped[dict[str, Any]]
    since: Mapped[datetime]
    """Slots up to this instant are processed. Advances in the same transaction that processes a slot."""
    next_at: Mapped[datetime | None]
    """When to look for a slot: not later than the next one. None if the schedule does not post.

    Whenever what it depends on changes, the database sets it to `since`, and the next tick plans again.
    """
    paused_at: Mapped[datetime | None]
    removed_at: Mapped[datetime | None]


class ScheduleChannel(Base):
    """A further channel that a schedule posts to, in any chat of its workspace."""

    __tablename__ = "schedule_channel"
    __table_args__ = (same_workspace("schedule_id", "schedule"), same_workspace("channel_id", "channel"))
    schedule_id: Mapped[int] = mapped_column(primary_key=True)
    channel_id: Mapped[int] = mapped_column(primary_key=True, index=True)
    workspace_id: Mapped[int]
    since: Mapped[datetime]


class ScheduleSkip(Base):
    """A local date that an admin skipped."""

    __tablename__ = "schedule_skip"
    schedule_id: Mapped[int] = mapped_column(ForeignKey("schedule.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)


class Round(Base):
    """One question posted to a schedule's channels: for a slot, or as an extra round that an admin asked for.

    (schedule, day, number) is unique, so a slot is posted once.
    """

    __tablename__ = "round"
    __table_args__ = (
        UniqueConstraint("schedule_id", "day", "number"),
        CheckConstraint("number >= 0", name="number_counts_up"),
        CheckConstraint("(skipped is null) = (version_id is not null)", name="asked_or_skipped"),
        CheckConstraint("closes_at > opens_at", name="closes_after_opening"),
        Index("ix_round_open", "closes_at", postgresql_where=text("closed_at is null and skipped is null")),
        Index("ix_round_open_schedule", "schedule_id", postgresql_where=text("closed_at is null and skipped is null")),
    )
    id: Mapped[int] = new_id()
    schedule_id: Mapped[int] = mapped_column(ForeignKey("schedule.id"))
    day: Mapped[date]
    number: Mapped[int] = mapped_column(server_default="0")
    """0 for the round of the slot; from 1 on, the day's extra rounds, which count for no streak."""
    version_id: Mapped[int | None] = mapped_column(ForeignKey("question_version.id"), index=True)
    opens_at: Mapped[datetime]
    closes_at: Mapped[datetime]
    closed_at: Mapped[datetime | None]
    own_variants: Mapped[bool] = mapped_column(server_default=false())
    """Whether every member gets a variant of their own; `version_id` is then the example that the channel sees."""
    skipped: Mapped[str | None]
    """Why nothing was posted for this slot. Skipped rounds break no streak."""


class AnswerRow(Base):
    """The append-only log of answers: to a round, or in practice if `round_id` is null."""

    __tablename__ = "answer"
    __table_args__ = (
        UniqueConstraint("member_id", "chat_id", "event_id", postgresql_nulls_not_distinct=True),
        UniqueConstraint("round_id", "member_id", "number"),
        UniqueConstraint("id", "round_id"),
        # What retention has not cleared yet.
        Index(
            "ix_answer_text", "at", postgresql_where=text("coalesce(given ->> 'text', given ->> 'code') is not null")
        ),
    )
    id: Mapped[int] = new_id()
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"))
    round_id: Mapped[int | None] = mapped_column(ForeignKey("round.id"))
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), index=True)
    number: Mapped[int]
    """1 for the member's first answer to the round, and so on; 0 in practice."""
    event_id: Mapped[str]
    given: Mapped[dict[str, Any]]
    name: Mapped[str]
    """The member's name at the time, so that boards need no lookup."""
    at: Mapped[datetime]
    chat_id: Mapped[int | None] = mapped_column(ForeignKey("chat.id"))
    """The chat it came from."""


class CurrentAnswer(Base):
    """The answer that counts for a (round, member): always the newest. The only mutable row about answers.

    `member_id` differs from the answer's if its author was merged into another member.
    """

    __tablename__ = "standing"
    __table_args__ = (
        ForeignKeyConstraint(["answer_id", "round_id"], ["answer.id", "answer.round_id"]),
        Index("ix_standing_member", "member_id", "round_id"),
    )
    round_id: Mapped[int] = mapped_column(ForeignKey("round.id"), primary_key=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), primary_key=True)
    answer_id: Mapped[int] = mapped_column(index=True)
    rank_before: Mapped[int | None]
    """The member's rank on the channel's board of the week before the round's points; None if not ranked."""
    rank_after: Mapped[int | None]
    ranked: Mapped[int | None]
    """Number of ranked members after the round; None without points for it."""


class VerdictRow(Base):
    """The verdict on an answer by one version of its question, made once.

    An open answer has no credit here: no program judges it. `GivenCredit` has what people confirmed.
    """

    __tablename__ = "verdict"
    __table_args__ = (
        UniqueConstraint("answer_id", "version_id"),
        CheckConstraint("credit between 0 and 1", name="credit_is_a_share"),
        CheckConstraint("(credit is null) = (verdict = 'awaits marking')", name="judged_or_awaits_marking"),
    )
    id: Mapped[int] = new_id()
    answer_id: Mapped[int] = mapped_column(ForeignKey("answer.id"))
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), index=True)
    verdict: Mapped[str]
    credit: Mapped[float | None]
    detail: Mapped[dict[str, Any]]
    """A `service.wire.VerdictView`, and the seed of the cases."""
    at: Mapped[datetime]


class Season(Base):
    """A period over which a board is kept. A workspace has at most one running season."""

    __tablename__ = "season"
    __table_args__ = (
        Index("uq_season_running", "workspace_id", unique=True, postgresql_where=text("ends_at is null")),
        UniqueConstraint("workspace_id", "name"),
        CheckConstraint("ends_at > starts_at", name="ends_after_start"),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"))
    name: Mapped[str]
    starts_at: Mapped[datetime]
    ends_at: Mapped[datetime | None]
    archive: Mapped[list[Any] | None]
    """The final board: `service.wire.BoardRow`s, each with its `member`. Written when the season ends."""


class Ledger(Base):
    """Append-only points with a reason. Every board is a sum over it. `key` makes each posting happen once."""

    __tablename__ = "ledger"
    __table_args__ = (
        UniqueConstraint("key"),
        same_workspace("member_id", "member"),
        Index("ix_ledger_board", "workspace_id", "at"),
        Index("ix_ledger_member", "member_id", "at"),
        Index("ix_ledger_round", "round_id", "member_id"),
    )
    id: Mapped[int] = new_id()
    key: Mapped[str]
    workspace_id: Mapped[int]
    member_id: Mapped[int]
    round_id: Mapped[int | None] = mapped_column(ForeignKey("round.id"))
    points: Mapped[int]
    credit: Mapped[float | None]
    """None for points without a judgment: adjustments, and the participation in an open question."""
    seconds: Mapped[float | None]
    """Seconds from the post to the answer that counted."""
    reason: Mapped[str]
    at: Mapped[datetime]
    """For points of a round, when it opened, so that a day's board contains that day's round."""


_IS_UNSENT = "state in ('due', 'sending', 'uncertain')"
_MAY_BE_HEAD = f"{_IS_UNSENT} and not follower"
_READY_AT = text("greatest(not_before, claimed_until)")
_QUEUE = (
    "chat_id",
    text("coalesce(channel_id, 0)"),
    text("coalesce(member_id, 0)"),
    text("(kind = 'notice')"),
    text("(edits_id is not null)"),
)
"""What tells the queues of the outbox apart, see `service.store.claims`."""


class Outbox(Base):
    """A message to post exactly once. due → sending → sent, or → uncertain → found or resent.

    Given up it is skipped, which means certainly not posted, or lost, if that was never found out.
    """

    __tablename__ = "outbox"
    __table_args__ = (
        same_workspace("chat_id", "chat"),
        same_workspace("channel_id", "channel"),
        same_workspace("member_id", "member"),
        UniqueConstraint("key"),
        CheckConstraint("state in ('due', 'sending', 'uncertain', 'sent', 'skipped', 'lost')", name="state"),
        CheckConstraint("(state = 'sent') = (message_ref is not null)", name="sent_has_a_reference"),
        Index("ix_outbox_queue", *_QUEUE, "id", postgresql_where=text(_IS_UNSENT)),
        Index("ix_outbox_followers", *_QUEUE, "id", postgresql_where=text("follower")),
        Index("ix_outbox_ready", "platform", _READY_AT, "id", postgresql_where=text(_MAY_BE_HEAD)),
        Index("ix_outbox_turns", "platform", "chat_id", _READY_AT, "id", postgresql_where=text(_MAY_BE_HEAD)),
        Index("ix_outbox_give_up", "give_up_at", postgresql_where=text("state = 'due'")),
        Index("ix_outbox_round", "round_id", postgresql_where=text("round_id is not null")),
        Index("ix_outbox_edits", "edits_id", postgresql_where=text("edits_id is not null")),
        Index("ix_outbox_sent", "sent_at", postgresql_where=text("sent_at is not null")),
    )
    id: Mapped[int] = new_id()
    key: Mapped[str]
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"), index=True)
    chat_id: Mapped[int] = mapped_column(index=True)
    platform: Mapped[str]
    """The chat's. A trigger sets it."""
    channel_id: Mapped[int | None] = mapped_column(index=True)
    member_id: Mapped[int | None] = mapped_column(index=True)
    round_id: Mapped[int | None] = mapped_column(ForeignKey("round.id"))
    edits_id: Mapped[int | None] = mapped_column(ForeignKey("outbox.id"))
    """The message that this one replaces in the chat, instead of being posted."""
    kind: Mapped[str]
    body: Mapped[dict[str, Any]]
    state: Mapped[str] = mapped_column(server_default="due")
    follower: Mapped[bool] = mapped_column(server_default=false())
    """Whether a claim has seen it behind an older message of its queue, see `service.store.claims`. A trigger clears
    it."""
    attempt: Mapped[int] = mapped_column(server_default="0")
    due_at: Mapped[datetime]
    not_before: Mapped[datetime]
    give_up_at: Mapped[datetime | None]
    claimed_until: Mapped[datetime | None]
    taken_at: Mapped[datetime | None]
    """When a dispatcher first claimed it."""
    message_ref: Mapped[str | None]
    sent_at: Mapped[datetime | None]
    error: Mapped[str | None]


class Trouble(Base):
    """A problem that admins are notified of once when it begins and once when it is resolved."""

    __tablename__ = "trouble"
    __table_args__ = (
        CheckConstraint("what in ('late', 'refused', 'sandbox', 'revoked', 'role')", name="what"),
        Index(
            "uq_trouble_open", "workspace_id", "what", "subject", unique=True, postgresql_where=text("over_at is null")
        ),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int] = mapped_column(ForeignKey("workspace.id"))
    what: Mapped[str]
    subject: Mapped[int]
    """Id of the late message, the refusing channel or the chat whose app was removed; 0 for the sandbox."""
    detail: Mapped[dict[str, Any]]
    """Further facts for the notices: channel, cause, duration."""
    since: Mapped[datetime]
    over_at: Mapped[datetime | None]


class SandboxDevice(Base):
    """A device that a sandbox has, named as in `sandbox.wire`, and when it was last seen."""

    __tablename__ = "sandbox_device"
    device: Mapped[str] = mapped_column(primary_key=True)
    seen_at: Mapped[datetime]


class InboxRow(Base):
    """A processed event with its reply, so that a duplicate gets the same reply."""

    __tablename__ = "inbox"
    __table_args__ = (Index("ix_inbox_at", "at", postgresql_using="brin"),)
    chat_id: Mapped[int] = mapped_column(ForeignKey("chat.id"), primary_key=True)
    event_id: Mapped[str] = mapped_column(primary_key=True)
    at: Mapped[datetime]
    call: Mapped[str]
    """Name of the call, and the id of the calling identity."""
    reply: Mapped[dict[str, Any]]


class StreakGrace(Base):
    """A round that an admin excused for this member, so that it breaks no streak."""

    __tablename__ = "streak_grace"
    round_id: Mapped[int] = mapped_column(ForeignKey("round.id"), primary_key=True)
    member_id: Mapped[int] = mapped_column(ForeignKey("member.id"), primary_key=True, index=True)
