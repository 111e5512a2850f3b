"""Creates the tables of duels."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from service.store.migrations.columns import INSTANT, id_column, refer_within_workspace


def create_duels() -> None:
    """Creates the tables and the triggers of the append-only one. The tables they refer to exist."""
    _create_duel()
    _create_turns()
    _create_ratings()


def _create_duel() -> None:
    op.create_table(
        "duel",
        id_column(),
        *[sa.Column(name, sa.BigInteger(), nullable=False) for name in ("workspace_id", "chat_id")],
        sa.Column("channel_id", sa.BigInteger(), nullable=True),
        *[sa.Column(name, sa.BigInteger(), nullable=False) for name in ("challenger_id", "opponent_id")],
        sa.Column("topic", sa.String(), server_default="", nullable=False),
        sa.Column("state", sa.String(), server_default="asked", nullable=False),
        *[sa.Column(name, INSTANT, nullable=False) for name in ("asked_at", "respond_by")],
        *[sa.Column(name, INSTANT, nullable=True) for name in ("accepted_at", "ends_at", "ended_at")],
        sa.Column("winner", sa.String(), nullable=True),
        sa.Column("told", sa.Boolean(), server_default=sa.false(), nullable=False),
        refer_within_workspace("duel", "chat_id", "chat"),
        refer_within_workspace("duel", "channel_id", "channel"),
        refer_within_workspace("duel", "challenger_id", "member"),
        refer_within_workspace("duel", "opponent_id", "member"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_duel_id_workspace_id"),
        sa.CheckConstraint("challenger_id <> opponent_id", name="two_members"),
        sa.CheckConstraint("state in ('asked', 'running', 'over', 'declined', 'expired', 'cancelled')", name="state"),
        sa.CheckConstraint("(ended_at is null) = (state in ('asked', 'running'))", name="ended"),
        sa.CheckConstraint("(accepted_at is null) = (ends_at is null)", name="accepted_has_an_end"),
        sa.CheckConstraint("state not in ('running', 'over') or accepted_at is not null", name="accepted"),
        sa.CheckConstraint("(winner is not null) = (state = 'over')", name="over_has_a_result"),
        sa.CheckConstraint("winner in ('challenger', 'opponent', 'draw')", name="winner"),
    )
    for column in ("chat_id", "channel_id", "challenger_id", "opponent_id"):
        op.create_index(f"ix_duel_{column}", "duel", [column])
    op.create_index(
        "uq_duel_live",
        "duel",
        [sa.text("least(challenger_id, opponent_id)"), sa.text("greatest(challenger_id, opponent_id)")],
        unique=True,
        postgresql_where=sa.text("ended_at is null"),
    )
    op.create_index("ix_duel_untold", "duel", ["id"], postgresql_where=sa.text("not told"))


def _create_turns() -> None:
    op.create_table(
        "duel_question",
        id_column(),
        *[sa.Column(name, sa.BigInteger(), nullable=False) for name in ("duel_id", "number", "version_id")],
        sa.ForeignKeyConstraint(["duel_id"], ["duel.id"], name="fk_duel_question_duel_id_duel"),
        sa.ForeignKeyConstraint(
            ["version_id"], ["question_version.id"], name="fk_duel_question_version_id_question_version"
        ),
        sa.UniqueConstraint("duel_id", "number", name="uq_duel_question_duel_id_number"),
    )
    op.create_index("ix_duel_question_version_id", "duel_question", ["version_id"])
    op.create_table(
        "duel_turn",
        sa.Column("question_id", sa.BigInteger(), nullable=False),
        sa.Column("side", sa.String(), nullable=False),
        sa.Column("shown_at", INSTANT, nullable=False),
        sa.Column("answered_at", INSTANT, nullable=True),
        sa.Column("given", JSONB(), nullable=True),
        sa.Column("correct", sa.Boolean(), server_default=sa.false(), nullable=False),
        sa.ForeignKeyConstraint(["question_id"], ["duel_question.id"], name="fk_duel_turn_question_id_duel_question"),
        sa.PrimaryKeyConstraint("question_id", "side", name="pk_duel_turn"),
        sa.CheckConstraint("side in ('challenger', 'opponent')", name="side"),
        sa.CheckConstraint("answered_at >= shown_at", name="shown_before_answered"),
        sa.CheckConstraint("(answered_at is null) = (given is null)", name="answered"),
    )


def _create_ratings() -> None:
    op.create_table(
        "duel_rating",
        id_column(),
        sa.Column("duel_id", sa.BigInteger(), nullable=False),
        sa.Column("side", sa.String(), nullable=False),
        *[
            sa.Column(name, sa.BigInteger(), nullable=False)
            for name in ("workspace_id", "member_id", "number", "wins", "draws")
        ],
        *[sa.Column(name, sa.Float(), nullable=False) for name in ("mu_before", "sigma_before", "mu", "sigma")],
        sa.Column("at", INSTANT, nullable=False),
        sa.UniqueConstraint("duel_id", "side", name="uq_duel_rating_duel_id_side"),
        refer_within_workspace("duel_rating", "member_id", "member"),
        refer_within_workspace("duel_rating", "duel_id", "duel"),
        sa.UniqueConstraint("member_id", "number", name="uq_duel_rating_member_id_number"),
        sa.CheckConstraint("side in ('challenger', 'opponent')", name="side"),
        sa.CheckConstraint("sigma > 0 and sigma_before > 0", name="deviations_are_positive"),
        sa.CheckConstraint("wins >= 0 and draws >= 0 and wins + draws <= number", name="counts"),
    )
    for name, events, each in (("append_only", "update or delete", "row"), ("never_emptied", "truncate", "statement")):
        op.execute(
            f"create trigger {name} before {events} on duel_rating for each {each} execute function refuse_change()"
        )
