"""Tables of tournaments: teams and their members, the days that were settled, and the pairs of a bracket."""

from __future__ import annotations

from datetime import date, datetime

from sqlalchemy import CheckConstraint, ForeignKey, ForeignKeyConstraint, Index, UniqueConstraint, text, true
from sqlalchemy.orm import Mapped, mapped_column

from service.store.tables import Base, new_id, same_workspace


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
    """A pair of a bracket's stage, decided on one day. Without a second team, the first one goes on unopposed."""

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
