"""Tables of sprints, duels and tournaments.

The times of a sprint come from the database's clock, so that one clock decides what is late.
"""

from __future__ import annotations

from datetime import date, datetime
from typing import Any

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint, false, text, true
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base, new_id, same_workspace


class Duel(Base):
    """A duel of two members. asked → running → over, or → declined, expired or cancelled. Two members have at most one
    duel that has not ended."""

    __tablename__ = "duel"
    __table_args__ = (
        same_workspace("chat_id", "chat"),
        same_workspace("channel_id", "channel"),
        same_workspace("challenger_id", "member"),
        same_workspace("opponent_id", "member"),
        UniqueConstraint("id", "workspace_id"),
        CheckConstraint("challenger_id <> opponent_id", name="two_members"),
        CheckConstraint("state in ('asked', 'running', 'over', 'declined', 'expired', 'cancelled')", name="state"),
        CheckConstraint("(ended_at is null) = (state in ('asked', 'running'))", name="ended"),
        CheckConstraint("(accepted_at is null) = (ends_at is null)", name="accepted_has_an_end"),
        CheckConstraint("state not in ('running', 'over') or accepted_at is not null", name="accepted"),
        CheckConstraint("(winner is not null) = (state = 'over')", name="over_has_a_result"),
        CheckConstraint("winner in ('challenger', 'opponent', 'draw')", name="winner"),
        Index(
            "uq_duel_live",
            text("least(challenger_id, opponent_id)"),
            text("greatest(challenger_id, opponent_id)"),
            unique=True,
            postgresql_where=text("ended_at is null"),
        ),
        Index("ix_duel_untold", "id", postgresql_where=text("not told")),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int]
    chat_id: Mapped[int] = mapped_column(index=True)
    """The chat it was asked in, where both are notified."""
    channel_id: Mapped[int | None] = mapped_column(index=True)
    challenger_id: Mapped[int] = mapped_column(index=True)
    opponent_id: Mapped[int] = mapped_column(index=True)
    topic: Mapped[str] = mapped_column(server_default="")
    state: Mapped[str] = mapped_column(server_default="asked")
    asked_at: Mapped[datetime]
    respond_by: Mapped[datetime]
    accepted_at: Mapped[datetime | None]
    ends_at: Mapped[datetime | None]
    """When the last answers count, at the latest."""
    ended_at: Mapped[datetime | None]
    winner: Mapped[str | None]
    told: Mapped[bool] = mapped_column(server_default=false())
    """Whether the messages about its end are in the outbox."""


class DuelQuestion(Base):
    """One of the questions that both members of a duel get, drawn when it is accepted. Its id is in the questions'
    buttons."""

    __tablename__ = "duel_question"
    __table_args__ = (UniqueConstraint("duel_id", "number"),)
    id: Mapped[int] = new_id()
    duel_id: Mapped[int] = mapped_column(ForeignKey("duel.id"))
    number: Mapped[int]
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), index=True)


class DuelTurn(Base):
    """When one member of a duel first saw a question, and the only answer they gave to it."""

    __tablename__ = "duel_turn"
    __table_args__ = (
        CheckConstraint("side in ('challenger', 'opponent')", name="side"),
        CheckConstraint("answered_at >= shown_at", name="shown_before_answered"),
        CheckConstraint("(answered_at is null) = (given is null)", name="answered"),
    )
    question_id: Mapped[int] = mapped_column(ForeignKey("duel_question.id"), primary_key=True)
    side: Mapped[str] = mapped_column(primary_key=True)
    shown_at: Mapped[datetime]
    answered_at: Mapped[datetime | None]
    given: Mapped[dict[str, Any] | None]
    correct: Mapped[bool] = mapped_column(server_default=false())


class DuelRating(Base):
    """Append-only history of ratings: one row for each member of a duel, so that it is scored once.

    A member's rows are numbered, so two duels cannot both start from the same rating.
    """

    __tablename__ = "duel_rating"
    __table_args__ = (
        same_workspace("member_id", "member"),
        same_workspace("duel_id", "duel"),
        UniqueConstraint("duel_id", "side"),
        UniqueConstraint("member_id", "number"),
        CheckConstraint("side in ('challenger', 'opponent')", name="side"),
        CheckConstraint("sigma > 0 and sigma_before > 0", name="deviations_are_positive"),
        CheckConstraint("wins >= 0 and draws >= 0 and wins + draws <= number", name="counts"),
    )
    id: Mapped[int] = new_id()
    duel_id: Mapped[int]
    side: Mapped[str]
    workspace_id: Mapped[int]
    member_id: Mapped[int]
    number: Mapped[int]
    """Rated duels of the member, including this one."""
    wins: Mapped[int]
    draws: Mapped[int]
    mu_before: Mapped[float]
    sigma_before: Mapped[float]
    mu: Mapped[float]
    sigma: Mapped[float]
    at: Mapped[datetime]


class Sprint(Base):
    """A live quiz in a channel. Each question is posted, then asked, then followed by a pause with its answer.

    Number 0 is the announcement, which is not asked. A channel has at most one running sprint, and perhaps several
    planned ones, whose questions are chosen when they begin.
    """

    __tablename__ = "sprint"
    __table_args__ = (
        same_workspace("channel_id", "channel"),
        same_workspace("started_by", "member"),
        UniqueConstraint("id", "workspace_id"),
        Index(
            "uq_sprint_running",
            "channel_id",
            unique=True,
            postgresql_where=text("ended_at is null and phase <> 'planned'"),
        ),
        Index("ix_sprint_channel", "channel_id"),
        Index("ix_sprint_started_by", "started_by"),
        CheckConstraint("phase in ('planned', 'posting', 'asking', 'pausing', 'ended')", name="phase"),
        CheckConstraint("(phase = 'ended') = (ended_at is not null)", name="ended_at_the_end"),
        CheckConstraint("(phase in ('planned', 'asking', 'pausing')) = (until is not null)", name="timed_phases_end"),
        CheckConstraint("number between 0 and total", name="number"),
        CheckConstraint("phase <> 'planned' or planned_for is not null", name="planned_for_an_instant"),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int]
    channel_id: Mapped[int]
    started_by: Mapped[int]
    topic: Mapped[str]
    """Empty for all topics."""
    seconds: Mapped[int]
    """Time for each question."""
    total: Mapped[int]
    """Number of questions."""
    number: Mapped[int]
    """The current question, from 1; 0 before the first."""
    phase: Mapped[str]
    until: Mapped[datetime | None]
    """When the phase ends; a phase without it waits for the message."""
    planned_for: Mapped[datetime | None]
    """The instant that an admin named; None if it was started at once."""
    started_at: Mapped[datetime]
    stopped_at: Mapped[datetime | None]
    """When an admin stopped it; it ends soon after."""
    ended_at: Mapped[datetime | None]


class SprintQuestion(Base):
    """One question of a sprint."""

    __tablename__ = "sprint_question"
    __table_args__ = (
        same_workspace("sprint_id", "sprint"),
        UniqueConstraint("sprint_id", "number"),
        UniqueConstraint("id", "workspace_id"),
        CheckConstraint("(opened_at is null) = (closes_at is null)", name="opened_with_a_deadline"),
        CheckConstraint("settled_at is null or settled_at >= closes_at", name="settled_after_the_deadline"),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int]
    sprint_id: Mapped[int]
    number: Mapped[int]
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), index=True)
    own_variants: Mapped[bool] = mapped_column(server_default=false())
    """Whether every member gets their own variant; the channel then sees `version_id` as an example."""
    opened_at: Mapped[datetime | None]
    closes_at: Mapped[datetime | None]
    settled_at: Mapped[datetime | None]
    """When its answers were graded, once."""


class SprintAnswer(Base):
    """A member's answer to a question of a sprint: the last one before the deadline. Graded once."""

    __tablename__ = "sprint_answer"
    __table_args__ = (
        same_workspace("question_id", "sprint_question"),
        same_workspace("member_id", "member"),
        Index("ix_sprint_answer_member", "member_id"),
        CheckConstraint("credit between 0 and 1", name="credit_is_a_share"),
        CheckConstraint("num_nulls(credit, points, ms) in (0, 3)", name="graded_as_a_whole"),
    )
    question_id: Mapped[int] = mapped_column(primary_key=True)
    member_id: Mapped[int] = mapped_column(primary_key=True)
    workspace_id: Mapped[int]
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), index=True)
    """What the member was asked: the question's version, or their own variant."""
    given: Mapped[dict[str, Any]]
    at: Mapped[datetime]
    credit: Mapped[float | None]
    points: Mapped[int | None]
    ms: Mapped[int | None]
    """Milliseconds from the start of the question to the answer."""


class SprintVariant(Base):
    """The variant that a question of a sprint with `own_variants` asks one member. Drawn when the member first sees it,
    and changed only by a merge with another account."""

    __tablename__ = "sprint_variant"
    __table_args__ = (
        same_workspace("question_id", "sprint_question"),
        same_workspace("member_id", "member"),
        Index("ix_sprint_variant_member", "member_id"),
    )
    question_id: Mapped[int] = mapped_column(primary_key=True)
    member_id: Mapped[int] = mapped_column(primary_key=True)
    workspace_id: Mapped[int]
    version_id: Mapped[int] = mapped_column(ForeignKey("question_version.id"), index=True)


class Tournament(Base):
    """Days on which teams play by answering the daily questions. joining → running → over, or → cancelled. A workspace
    has at most one that has not ended."""

    __tablename__ = "tournament"
    __table_args__ = (
        same_workspace("channel_id", "channel"),
        same_workspace("started_by", "member"),
        UniqueConstraint("id", "workspace_id"),
        Index("uq_tournament_live", "workspace_id", unique=True, postgresql_where=text("ended_at is null")),
        Index("ix_tournament_workspace", "workspace_id"),
        CheckConstraint("form in ('table', 'bracket')", name="form"),
        CheckConstraint("teams_by in ('random', 'captains', 'chats')", name="teams_by"),
        CheckConstraint("balance in ('points', 'rating')", name="balance"),
        CheckConstraint("state in ('joining', 'running', 'over', 'cancelled')", name="state"),
        CheckConstraint("(ended_at is not null) = (state in ('over', 'cancelled'))", name="ended"),
        CheckConstraint("state not in ('running', 'over') or best is not null", name="best_is_fixed_at_the_start"),
        CheckConstraint("days >= 1 and team_count >= 2 and best >= 1", name="sizes"),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int]
    channel_id: Mapped[int] = mapped_column(index=True)
    """Where it was announced. Its messages go to the channels of its schedules too."""
    started_by: Mapped[int] = mapped_column(index=True)
    title: Mapped[str]
    form: Mapped[str]
    teams_by: Mapped[str]
    team_count: Mapped[int]
    """Number of teams, if they are made at random."""
    best: Mapped[int | None]
    """Members of each team whose results count on a day. Until the start, the most that an admin wants, if any."""
    late: Mapped[bool]
    """Whether members can join after the start."""
    balance: Mapped[str]
    zone: Mapped[str]
    first_day: Mapped[date]
    days: Mapped[int]
    starts_at: Mapped[datetime]
    created_at: Mapped[datetime]
    state: Mapped[str]
    ended_at: Mapped[datetime | None]


class TournamentSchedule(Base):
    """A schedule whose daily rounds count in a tournament."""

    __tablename__ = "tournament_schedule"
    __table_args__ = (same_workspace("tournament_id", "tournament"), same_workspace("schedule_id", "schedule"))
    tournament_id: Mapped[int] = mapped_column(primary_key=True)
    schedule_id: Mapped[int] = mapped_column(primary_key=True, index=True)
    workspace_id: Mapped[int]


class TournamentTeam(Base):
    """A team. Its name is its number, its captain or its chat, which are put into words by the bots."""

    __tablename__ = "tournament_team"
    __table_args__ = (
        same_workspace("tournament_id", "tournament"),
        same_workspace("chat_id", "chat"),
        same_workspace("captain_id", "member"),
        UniqueConstraint("tournament_id", "number"),
        UniqueConstraint("id", "workspace_id"),
    )
    id: Mapped[int] = new_id()
    workspace_id: Mapped[int]
    tournament_id: Mapped[int]
    number: Mapped[int]
    """From 1."""
    chat_id: Mapped[int | None] = mapped_column(index=True)
    captain_id: Mapped[int | None] = mapped_column(index=True)
    seed: Mapped[int | None]
    """Place in the order of the bracket, 1 for the strongest; set at the start."""
    playing: Mapped[bool] = mapped_column(server_default=true())
    """Whether it is still in the bracket."""


class TournamentMember(Base):
    """A member who takes part. Days from `from_day` on and before `until_day` count."""

    __tablename__ = "tournament_member"
    __table_args__ = (
        same_workspace("tournament_id", "tournament"),
        same_workspace("member_id", "member"),
        same_workspace("team_id", "tournament_team"),
        same_workspace("chat_id", "chat"),
    )
    tournament_id: Mapped[int] = mapped_column(primary_key=True)
    member_id: Mapped[int] = mapped_column(primary_key=True, index=True)
    workspace_id: Mapped[int]
    team_id: Mapped[int | None] = mapped_column(index=True)
    """None until teams are made."""
    chat_id: Mapped[int] = mapped_column(index=True)
    """The chat that they joined from."""
    joined_at: Mapped[datetime]
    from_day: Mapped[date | None]
    until_day: Mapped[date | None]


class TournamentDay(Base):
    """Append-only: a day of a tournament that was settled, once."""

    __tablename__ = "tournament_day"
    __table_args__ = (UniqueConstraint("tournament_id", "day"),)
    id: Mapped[int] = new_id()
    tournament_id: Mapped[int] = mapped_column(ForeignKey("tournament.id"))
    day: Mapped[date]
    rounds: Mapped[int]
    """Rounds that counted. Without one nobody played: nothing is won or lost."""
    settled_at: Mapped[datetime]


class TournamentScore(Base):
    """Append-only: what a team earned on a settled day. The highest number counts: 0 is from when the day was settled,
    further ones are corrections, made when a later day (`settled_with`) was settled."""

    __tablename__ = "tournament_score"
    __table_args__ = (
        UniqueConstraint("tournament_id", "day", "team_id", "number"),
        ForeignKeyConstraint(
            ["tournament_id", "day"],
            ["tournament_day.tournament_id", "tournament_day.day"],
            name="fk_tournament_score_day_tournament_day",
        ),
        CheckConstraint("number >= 0 and points >= 0 and counted >= 0", name="counts"),
        CheckConstraint("(number = 0) = (settled_with = day)", name="corrected_later"),
    )
    id: Mapped[int] = new_id()
    tournament_id: Mapped[int]
    day: Mapped[date]
    team_id: Mapped[int] = mapped_column(ForeignKey("tournament_team.id"), index=True)
    number: Mapped[int]
    settled_with: Mapped[date]
    points: Mapped[int]
    credit: Mapped[float]
    counted: Mapped[int]
    """Members whose results were added up."""
    seconds: Mapped[float | None]
    """Their mean time."""


class TournamentPair(Base):
    """A pair of a bracket's stage, decided on one day. Without a second team, the first one advances unopposed."""

    __tablename__ = "tournament_pair"
    __table_args__ = (
        CheckConstraint("first_id <> second_id", name="two_teams"),
        CheckConstraint("goes_on in ('first', 'second', 'both')", name="goes_on"),
        CheckConstraint("(goes_on is null) = (day is null)", name="decided_on_a_day"),
        CheckConstraint("second_id is not null or goes_on is null or goes_on = 'first'", name="bye"),
    )
    tournament_id: Mapped[int] = mapped_column(ForeignKey("tournament.id"), primary_key=True)
    stage: Mapped[int] = mapped_column(primary_key=True)
    number: Mapped[int] = mapped_column(primary_key=True)
    first_id: Mapped[int] = mapped_column(ForeignKey("tournament_team.id"), index=True)
    second_id: Mapped[int | None] = mapped_column(ForeignKey("tournament_team.id"), index=True)
    day: Mapped[date | None]
    goes_on: Mapped[str | None]
