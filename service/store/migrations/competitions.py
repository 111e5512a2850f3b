"""Creates the tables of sprints, duels and tournaments."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

from service.store.migrations.columns import INSTANT, id_column, index, refer, refer_within_workspace


def create_sprints() -> None:
    """Creates the tables. The tables they refer to exist."""
    op.create_table(
        "sprint",
        id_column(),
        *_numbers("workspace_id", "channel_id", "started_by"),
        sa.Column("topic", sa.String(), nullable=False),
        *_numbers("seconds", "total", "number"),
        sa.Column("phase", sa.String(), nullable=False),
        sa.Column("until", INSTANT, nullable=True),
        sa.Column("planned_for", INSTANT, nullable=True),
        sa.Column("started_at", INSTANT, nullable=False),
        sa.Column("stopped_at", INSTANT, nullable=True),
        sa.Column("ended_at", INSTANT, nullable=True),
        sa.CheckConstraint("phase in ('planned', 'posting', 'asking', 'pausing', 'ended')", name="phase"),
        sa.CheckConstraint("(phase = 'ended') = (ended_at is not null)", name="ended_at_the_end"),
        sa.CheckConstraint(
            "(phase in ('planned', 'asking', 'pausing')) = (until is not null)", name="timed_phases_end"
        ),
        sa.CheckConstraint("number between 0 and total", name="number"),
        sa.CheckConstraint("phase <> 'planned' or planned_for is not null", name="planned_for_an_instant"),
        refer_within_workspace("sprint", "channel_id", "channel"),
        refer_within_workspace("sprint", "started_by", "member"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_sprint_id_workspace_id"),
    )
    running = sa.text("ended_at is null and phase <> 'planned'")
    op.create_index("uq_sprint_running", "sprint", ["channel_id"], unique=True, postgresql_where=running)
    op.create_index("ix_sprint_channel", "sprint", ["channel_id"])
    op.create_index("ix_sprint_started_by", "sprint", ["started_by"])
    op.create_table(
        "sprint_question",
        id_column(),
        *_numbers("workspace_id", "sprint_id", "number", "version_id"),
        sa.Column("own_variants", sa.Boolean(), server_default=sa.text("false"), nullable=False),
        sa.Column("opened_at", INSTANT, nullable=True),
        sa.Column("closes_at", INSTANT, nullable=True),
        sa.Column("settled_at", INSTANT, nullable=True),
        sa.CheckConstraint("(opened_at is null) = (closes_at is null)", name="opened_with_a_deadline"),
        sa.CheckConstraint("settled_at is null or settled_at >= closes_at", name="settled_after_the_deadline"),
        refer_within_workspace("sprint_question", "sprint_id", "sprint"),
        sa.ForeignKeyConstraint(
            ["version_id"], ["question_version.id"], name="fk_sprint_question_version_id_question_version"
        ),
        sa.UniqueConstraint("sprint_id", "number", name="uq_sprint_question_sprint_id_number"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_sprint_question_id_workspace_id"),
    )
    op.create_index("ix_sprint_question_version_id", "sprint_question", ["version_id"])
    op.create_table(
        "sprint_answer",
        *_numbers("question_id", "member_id", "workspace_id", "version_id"),
        sa.Column("given", JSONB(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.Column("credit", sa.Float(), nullable=True),
        sa.Column("points", sa.BigInteger(), nullable=True),
        sa.Column("ms", sa.BigInteger(), nullable=True),
        sa.CheckConstraint("credit between 0 and 1", name="credit_is_a_share"),
        sa.CheckConstraint("num_nulls(credit, points, ms) in (0, 3)", name="graded_as_a_whole"),
        refer_within_workspace("sprint_answer", "question_id", "sprint_question"),
        refer_within_workspace("sprint_answer", "member_id", "member"),
        refer("sprint_answer", "version_id", "question_version"),
        sa.PrimaryKeyConstraint("question_id", "member_id", name="pk_sprint_answer"),
    )
    op.create_index("ix_sprint_answer_member", "sprint_answer", ["member_id"])
    op.create_index("ix_sprint_answer_version_id", "sprint_answer", ["version_id"])
    op.create_table(
        "sprint_variant",
        *_numbers("question_id", "member_id", "workspace_id", "version_id"),
        refer_within_workspace("sprint_variant", "question_id", "sprint_question"),
        refer_within_workspace("sprint_variant", "member_id", "member"),
        refer("sprint_variant", "version_id", "question_version"),
        sa.PrimaryKeyConstraint("question_id", "member_id", name="pk_sprint_variant"),
    )
    op.create_index("ix_sprint_variant_member", "sprint_variant", ["member_id"])
    op.create_index("ix_sprint_variant_version_id", "sprint_variant", ["version_id"])


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
    index("tournament", "channel_id", "started_by")
    op.create_table(
        "tournament_schedule",
        *_numbers("tournament_id", "schedule_id", "workspace_id"),
        refer_within_workspace("tournament_schedule", "tournament_id", "tournament"),
        refer_within_workspace("tournament_schedule", "schedule_id", "schedule"),
        sa.PrimaryKeyConstraint("tournament_id", "schedule_id", name="pk_tournament_schedule"),
    )
    index("tournament_schedule", "schedule_id")


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
    index("tournament_team", "chat_id", "captain_id")
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
    index("tournament_member", "member_id", "team_id", "chat_id")


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
    index("tournament_score", "team_id")
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
    index("tournament_pair", "first_id", "second_id")
    for table in ("tournament_day", "tournament_score"):
        for name, events, each in (
            ("append_only", "update or delete", "row"),
            ("never_emptied", "truncate", "statement"),
        ):
            op.execute(
                f"create trigger {name} before {events} on {table} for each {each} execute function refuse_change()"
            )


def _texts(*names: str) -> list[sa.Column[str]]:
    return [sa.Column(name, sa.String(), nullable=False) for name in names]


def _numbers(*names: str) -> list[sa.Column[int]]:
    return [sa.Column(name, sa.BigInteger(), nullable=False) for name in names]
