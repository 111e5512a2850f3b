"""Creates the tables of tournaments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

from service.store.migrations.columns import INSTANT, id_column, refer, refer_within_workspace


def create_tournaments() -> None:
    """Creates the tables and the triggers of the append-only ones. The tables they refer to exist."""
    _create_tournament()
    _create_teams()
    _create_results()


def _create_tournament() -> None:
    op.create_table(
        "tournament",
        id_column(),
        *_numbers("workspace_id", "channel_id", "started_by"),
        *_texts("title", "form", "teams_by"),
        *_numbers("team_count"),
        sa.Column("best", sa.BigInteger(), nullable=True),
        sa.Column("late", sa.Boolean(), nullable=False),
        *_texts("balance", "zone"),
        sa.Column("first_day", sa.Date(), nullable=False),
        *_numbers("days"),
        *[sa.Column(name, INSTANT, nullable=False) for name in ("starts_at", "created_at")],
        *_texts("state"),
        sa.Column("ended_at", INSTANT, nullable=True),
        sa.CheckConstraint("form in ('table', 'bracket')", name="form"),
        sa.CheckConstraint("teams_by in ('random', 'captains', 'chats')", name="teams_by"),
        sa.CheckConstraint("balance in ('points', 'rating')", name="balance"),
        sa.CheckConstraint("state in ('joining', 'running', 'over', 'cancelled')", name="state"),
        sa.CheckConstraint("(ended_at is not null) = (state in ('over', 'cancelled'))", name="ended"),
        sa.CheckConstraint("state not in ('running', 'over') or best is not null", name="best_is_fixed_at_the_start"),
        sa.CheckConstraint("days >= 1 and team_count >= 2 and best >= 1", name="sizes"),
        refer_within_workspace("tournament", "channel_id", "channel"),
        refer_within_workspace("tournament", "started_by", "member"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_tournament_id_workspace_id"),
    )
    live = sa.text("ended_at is null")
    op.create_index("uq_tournament_live", "tournament", ["workspace_id"], unique=True, postgresql_where=live)
    op.create_index("ix_tournament_workspace", "tournament", ["workspace_id"])
    _index("tournament", "channel_id", "started_by")
    op.create_table(
        "tournament_schedule",
        *_numbers("tournament_id", "schedule_id", "workspace_id"),
        refer_within_workspace("tournament_schedule", "tournament_id", "tournament"),
        refer_within_workspace("tournament_schedule", "schedule_id", "schedule"),
        sa.PrimaryKeyConstraint("tournament_id", "schedule_id", name="pk_tournament_schedule"),
    )
    _index("tournament_schedule", "schedule_id")


def _create_teams() -> None:
    op.create_table(
        "tournament_team",
        id_column(),
        *_numbers("workspace_id", "tournament_id", "number"),
        *[sa.Column(name, sa.BigInteger(), nullable=True) for name in ("chat_id", "captain_id", "seed")],
        sa.Column("playing", sa.Boolean(), server_default=sa.true(), nullable=False),
        refer_within_workspace("tournament_team", "tournament_id", "tournament"),
        refer_within_workspace("tournament_team", "chat_id", "chat"),
        refer_within_workspace("tournament_team", "captain_id", "member"),
        sa.UniqueConstraint("tournament_id", "number", name="uq_tournament_team_tournament_id_number"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_tournament_team_id_workspace_id"),
    )
    _index("tournament_team", "chat_id", "captain_id")
    op.create_table(
        "tournament_member",
        *_numbers("tournament_id", "member_id", "workspace_id"),
        sa.Column("team_id", sa.BigInteger(), nullable=True),
        *_numbers("chat_id"),
        sa.Column("joined_at", INSTANT, nullable=False),
        *[sa.Column(name, sa.Date(), nullable=True) for name in ("from_day", "until_day")],
        refer_within_workspace("tournament_member", "tournament_id", "tournament"),
        refer_within_workspace("tournament_member", "member_id", "member"),
        refer_within_workspace("tournament_member", "team_id", "tournament_team"),
        refer_within_workspace("tournament_member", "chat_id", "chat"),
        sa.PrimaryKeyConstraint("tournament_id", "member_id", name="pk_tournament_member"),
    )
    _index("tournament_member", "member_id", "team_id", "chat_id")


def _create_results() -> None:
    op.create_table(
        "tournament_day",
        id_column(),
        *_numbers("tournament_id"),
        sa.Column("day", sa.Date(), nullable=False),
        *_numbers("rounds"),
        sa.Column("settled_at", INSTANT, nullable=False),
        refer("tournament_day", "tournament_id", "tournament"),
        sa.UniqueConstraint("tournament_id", "day", name="uq_tournament_day_tournament_id_day"),
    )
    op.create_table(
        "tournament_score",
        id_column(),
        *_numbers("tournament_id"),
        sa.Column("day", sa.Date(), nullable=False),
        *_numbers("team_id", "number"),
        sa.Column("settled_with", sa.Date(), nullable=False),
        *_numbers("points"),
        sa.Column("credit", sa.Float(), nullable=False),
        *_numbers("counted"),
        sa.Column("seconds", sa.Float(), nullable=True),
        sa.CheckConstraint("number >= 0 and points >= 0 and counted >= 0", name="counts"),
        sa.CheckConstraint("(number = 0) = (settled_with = day)", name="corrected_later"),
        sa.ForeignKeyConstraint(
            ["tournament_id", "day"],
            ["tournament_day.tournament_id", "tournament_day.day"],
            name="fk_tournament_score_day_tournament_day",
        ),
        refer("tournament_score", "team_id", "tournament_team"),
        sa.UniqueConstraint(
            "tournament_id", "day", "team_id", "number", name="uq_tournament_score_tournament_id_day_team_id_number"
        ),
    )
    _index("tournament_score", "team_id")
    op.create_table(
        "tournament_pair",
        *_numbers("tournament_id", "stage", "number", "first_id"),
        sa.Column("second_id", sa.BigInteger(), nullable=True),
        sa.Column("day", sa.Date(), nullable=True),
        sa.Column("goes_on", sa.String(), nullable=True),
        sa.CheckConstraint("first_id <> second_id", name="two_teams"),
        sa.CheckConstraint("goes_on in ('first', 'second', 'both')", name="goes_on"),
        sa.CheckConstraint("(goes_on is null) = (day is null)", name="decided_on_a_day"),
        sa.CheckConstraint("second_id is not null or goes_on is null or goes_on = 'first'", name="bye"),
        refer("tournament_pair", "tournament_id", "tournament"),
        refer("tournament_pair", "first_id", "tournament_team"),
        refer("tournament_pair", "second_id", "tournament_team"),
        sa.PrimaryKeyConstraint("tournament_id", "stage", "number", name="pk_tournament_pair"),
    )
    _index("tournament_pair", "first_id", "second_id")
    for table in ("tournament_day", "tournament_score"):
        for name, events, each in (
            ("append_only", "update or delete", "row"),
            ("never_emptied", "truncate", "statement"),
        ):
            op.execute(
                f"create trigger {name} before {events} on {table} for each {each} execute function refuse_change()"
            )


def _index(table: str, *columns: str) -> None:
    for column in columns:
        op.create_index(f"ix_{table}_{column}", table, [column])


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.String(), nullable=False) for name in names]


def _numbers(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), nullable=False) for name in names]
