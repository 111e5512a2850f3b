"""A workspace reached from several chats, a member known in several, and installations with encrypted tokens."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op
from sqlalchemy.dialects.postgresql import JSONB

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None

INSTANT = sa.DateTime(timezone=True)
SAME_WORKSPACE = {
    "channel": ("chat_id", "chat"),
    "schedule": ("channel_id", "channel"),
    "ledger": ("member_id", "member"),
}
"""References within a workspace: looked at at the end of a transaction that moves one workspace into another."""
NEW = ("oauth_state", "installation", "link_guess", "link_code", "schedule_channel", "identity")
"""Tables of this version alone, in the order in which they may be dropped; `chat` goes last of all."""

REFUSE_CHANGE = """
create or replace function refuse_change() returns trigger language plpgsql as $$
begin
    -- Forgetting a member empties what they wrote and leaves every number as it was.
    if tg_op = 'UPDATE' and tg_table_name in ('answer', 'verdict')
        and current_setting('dailygrad.forgetting', true) = 'on'
        and to_jsonb(new) - '{{name,given,detail}}'::text[] = to_jsonb(old) - '{{name,given,detail}}'::text[] then
        return new;
    end if;{joining}
    raise exception '% is append-only: % refused; write a correcting row instead', tg_table_name, tg_op
        using errcode = 'restrict_violation';
end $$
"""
JOINING = """
    -- A workspace that joins another is filed under that one from then on; nothing that was written changes.
    if tg_op = 'UPDATE' and tg_table_name in ('ledger', 'audit')
        and current_setting('dailygrad.joining', true) = 'on'
        and to_jsonb(new) - 'workspace_id' = to_jsonb(old) - 'workspace_id' then
        return new;
    end if;"""


def upgrade() -> None:
    _make_chats()
    _make_identities()
    _point_at_chats()
    _let_standings_follow()
    _make_shared_schedules()
    _make_codes()
    _make_installations()
    for table, (column, other) in SAME_WORKSPACE.items():
        _refer(table, column, other, again=table != "channel")
    op.execute(REFUSE_CHANGE.format(joining=JOINING))


def _make_chats() -> None:
    op.create_table(
        "chat",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("created_at", INSTANT, nullable=False),
        sa.Column("greeted_at", INSTANT, nullable=True),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_chat_workspace_id_workspace"),
        sa.PrimaryKeyConstraint("id", name="pk_chat"),
        sa.UniqueConstraint("platform", "external_id", name="uq_chat_platform_external_id"),
        sa.UniqueConstraint("id", "workspace_id", name="uq_chat_id_workspace_id"),
    )
    # Every workspace had one chat: it gets the workspace's number. Where the bot is known it need not say hello.
    op.execute(
        "insert into chat (id, workspace_id, platform, external_id, created_at, greeted_at) overriding system value "
        "select id, id, platform, external_id, created_at, created_at from workspace"
    )
    op.execute(
        "select setval(pg_get_serial_sequence('chat', 'id'), greatest((select max(id) from chat), 1), "
        "exists (select from chat))"
    )
    op.drop_constraint("uq_workspace_platform_external_id", "workspace")
    op.drop_column("workspace", "platform")
    op.drop_column("workspace", "external_id")
    op.add_column("channel", sa.Column("chat_id", sa.BigInteger(), nullable=True))
    op.execute("update channel set chat_id = workspace_id")
    op.alter_column("channel", "chat_id", nullable=False)
    op.drop_constraint("uq_channel_workspace_id_external_id", "channel")
    op.create_unique_constraint("uq_channel_chat_id_external_id", "channel", ["chat_id", "external_id"])


def _make_identities() -> None:
    op.create_table(
        "identity",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("external_id", sa.String(), nullable=False),
        sa.Column("name", sa.String(), nullable=False),
        sa.PrimaryKeyConstraint("id", name="pk_identity"),
        sa.UniqueConstraint("chat_id", "external_id", name="uq_identity_chat_id_external_id"),
        sa.UniqueConstraint("chat_id", "member_id", name="uq_identity_chat_id_member_id"),
    )
    op.create_index("ix_identity_member", "identity", ["member_id"])
    # With its member's number, so that the inbox's calls, which named members, name identities.
    op.execute(
        "insert into identity (id, workspace_id, chat_id, member_id, external_id, name) overriding system value "
        "select id, workspace_id, workspace_id, id, external_id, name from member where external_id is not null"
    )
    # Beyond every member too: the inbox's calls of those who left name no identity of today.
    op.execute(
        "select setval(pg_get_serial_sequence('identity', 'id'), greatest((select max(id) from member), 1), "
        "exists (select from member))"
    )
    _refer("identity", "chat_id", "chat")
    _refer("identity", "member_id", "member")
    op.drop_constraint("uq_member_workspace_id_external_id", "member")
    op.drop_column("member", "external_id")
    op.add_column("member", sa.Column("merged_into", sa.BigInteger(), nullable=True))
    op.create_foreign_key("fk_member_merged_into_member", "member", "member", ["merged_into"], ["id"])
    op.create_index(
        "ix_member_merged_into", "member", ["merged_into"], postgresql_where=sa.text("merged_into is not null")
    )


def _point_at_chats() -> None:
    op.add_column("outbox", sa.Column("chat_id", sa.BigInteger(), nullable=True))
    op.execute("update outbox set chat_id = workspace_id")
    op.alter_column("outbox", "chat_id", nullable=False)
    op.create_foreign_key("fk_outbox_chat_id_chat", "outbox", "chat", ["chat_id"], ["id"])
    op.drop_constraint("fk_inbox_workspace_id_workspace", "inbox")
    op.alter_column("inbox", "workspace_id", new_column_name="chat_id")
    op.create_foreign_key("fk_inbox_chat_id_chat", "inbox", "chat", ["chat_id"], ["id"])
    op.add_column("answer", sa.Column("chat_id", sa.BigInteger(), nullable=True))
    op.create_foreign_key("fk_answer_chat_id_chat", "answer", "chat", ["chat_id"], ["id"])
    op.drop_constraint("uq_answer_member_id_event_id", "answer")
    op.create_unique_constraint(
        "uq_answer_member_id_chat_id_event_id",
        "answer",
        ["member_id", "chat_id", "event_id"],
        postgresql_nulls_not_distinct=True,
    )


def _let_standings_follow() -> None:
    op.drop_constraint("fk_standing_answer_id_answer", "standing")
    op.drop_constraint("uq_answer_id_round_id_member_id", "answer")
    op.create_unique_constraint("uq_answer_id_round_id", "answer", ["id", "round_id"])
    op.create_foreign_key(
        "fk_standing_answer_id_answer", "standing", "answer", ["answer_id", "round_id"], ["id", "round_id"]
    )


def _make_shared_schedules() -> None:
    op.add_column("schedule", sa.Column("made_by", sa.BigInteger(), nullable=True))
    op.create_foreign_key("fk_schedule_made_by_member", "schedule", "member", ["made_by"], ["id"])
    op.create_unique_constraint("uq_schedule_id_workspace_id", "schedule", ["id", "workspace_id"])
    op.create_table(
        "schedule_channel",
        sa.Column("schedule_id", sa.BigInteger(), nullable=False),
        sa.Column("channel_id", sa.BigInteger(), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("since", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("schedule_id", "channel_id", name="pk_schedule_channel"),
    )
    _refer("schedule_channel", "schedule_id", "schedule")
    _refer("schedule_channel", "channel_id", "channel")


def _make_codes() -> None:
    op.create_table(
        "link_code",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("what", sa.String(), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("chat_id", sa.BigInteger(), nullable=False),
        sa.Column("member_id", sa.BigInteger(), nullable=False),
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.CheckConstraint("what in ('chat', 'member')", name="ck_link_code_what"),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_link_code_workspace_id_workspace"),
        sa.ForeignKeyConstraint(["chat_id"], ["chat.id"], name="fk_link_code_chat_id_chat"),
        sa.ForeignKeyConstraint(["member_id"], ["member.id"], name="fk_link_code_member_id_member"),
        sa.PrimaryKeyConstraint("id", name="pk_link_code"),
        sa.UniqueConstraint("digest", name="uq_link_code_digest"),
    )
    op.create_table(
        "link_guess",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("workspace_id", sa.BigInteger(), nullable=False),
        sa.Column("at", INSTANT, nullable=False),
        sa.ForeignKeyConstraint(["workspace_id"], ["workspace.id"], name="fk_link_guess_workspace_id_workspace"),
        sa.PrimaryKeyConstraint("id", name="pk_link_guess"),
    )
    op.create_index("ix_link_guess_workspace", "link_guess", ["workspace_id", "at"])


def _make_installations() -> None:
    op.create_table(
        "installation",
        sa.Column("id", sa.BigInteger(), sa.Identity(always=True), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("enterprise", sa.String(), nullable=False),
        sa.Column("team", sa.String(), nullable=False),
        sa.Column("about", JSONB(), nullable=False),
        sa.Column("token", sa.LargeBinary(), nullable=True),
        sa.Column("refresh", sa.LargeBinary(), nullable=True),
        sa.Column("expires_at", INSTANT, nullable=True),
        sa.Column("installed_at", INSTANT, nullable=False),
        sa.Column("leased_until", INSTANT, nullable=True),
        sa.Column("revoked_at", INSTANT, nullable=True),
        sa.PrimaryKeyConstraint("id", name="pk_installation"),
        sa.UniqueConstraint("platform", "enterprise", "team", name="uq_installation_platform_enterprise_team"),
    )
    op.create_table(
        "oauth_state",
        sa.Column("digest", sa.String(), nullable=False),
        sa.Column("platform", sa.String(), nullable=False),
        sa.Column("expires_at", INSTANT, nullable=False),
        sa.PrimaryKeyConstraint("digest", name="pk_oauth_state"),
    )


def _refer(table: str, column: str, other: str, *, again: bool = False) -> None:
    name = f"fk_{table}_{column}_{other}"
    if again:
        op.drop_constraint(name, table)
    op.create_foreign_key(
        name,
        table,
        other,
        [column, "workspace_id"],
        ["id", "workspace_id"],
        deferrable=True,
        initially="IMMEDIATE",
    )


# Back: a workspace has one chat again, so each further chat becomes a workspace of its own, with its channels and
# their schedules, and with the members known first there and all that is theirs. Banks and seasons stay.


def downgrade() -> None:
    for table in ("ledger", "audit"):
        op.execute(f"alter table {table} disable trigger append_only")
    for table, (column, other) in SAME_WORKSPACE.items():
        op.drop_constraint(f"fk_{table}_{column}_{other}", table)
    for column, other in (("chat_id", "chat"), ("member_id", "member")):
        op.drop_constraint(f"fk_identity_{column}_{other}", "identity")
    for column, other in (("schedule_id", "schedule"), ("channel_id", "channel")):
        op.drop_constraint(f"fk_schedule_channel_{column}_{other}", "schedule_channel")
    _part_chats()
    _follow_the_parted()
    _unpoint()
    _unmake_identities()
    for table in ("ledger", "audit"):
        op.execute(f"alter table {table} enable trigger append_only")
    _unmake_columns()
    op.execute(REFUSE_CHANGE.format(joining=""))


def _part_chats() -> None:
    op.add_column("workspace", sa.Column("platform", sa.String(), nullable=True))
    op.add_column("workspace", sa.Column("external_id", sa.String(), nullable=True))
    op.execute(
        "update workspace set platform = chat.platform, external_id = chat.external_id from chat "
        "where chat.id = (select min(first.id) from chat first where first.workspace_id = workspace.id)"
    )
    op.execute(
        "insert into workspace (name, created_at, generated, platform, external_id) "
        "select workspace.name, chat.created_at, workspace.generated, chat.platform, chat.external_id "
        "from chat join workspace on workspace.id = chat.workspace_id "
        "where (chat.platform, chat.external_id) <> (workspace.platform, workspace.external_id)"
    )
    op.execute(
        "update chat set workspace_id = workspace.id from workspace "
        "where (chat.platform, chat.external_id) = (workspace.platform, workspace.external_id)"
    )


def _follow_the_parted() -> None:
    # Who was merged goes where the member they turned out to be goes; who has no identity stays.
    op.execute(
        "create temporary table home on commit drop as "
        "select member.id as member_id, coalesce((select chat.workspace_id from identity "
        "join chat on chat.id = identity.chat_id where identity.member_id = coalesce(member.merged_into, member.id) "
        "order by identity.id limit 1), member.workspace_id) as workspace_id from member"
    )
    op.execute("update channel set workspace_id = chat.workspace_id from chat where chat.id = channel.chat_id")
    op.execute("update outbox set workspace_id = chat.workspace_id from chat where chat.id = outbox.chat_id")
    op.execute(
        "update schedule set workspace_id = channel.workspace_id from channel where channel.id = schedule.channel_id"
    )
    op.execute("update member set workspace_id = home.workspace_id from home where home.member_id = member.id")
    op.execute("update ledger set workspace_id = home.workspace_id from home where home.member_id = ledger.member_id")
    op.execute("update report set workspace_id = home.workspace_id from home where home.member_id = report.member_id")
    op.execute("update audit set workspace_id = home.workspace_id from home where home.member_id = audit.member_id")


def _unpoint() -> None:
    op.drop_constraint("fk_inbox_chat_id_chat", "inbox")
    op.execute("update inbox set chat_id = chat.workspace_id + 1000000000000 from chat where chat.id = inbox.chat_id")
    op.execute("update inbox set chat_id = chat_id - 1000000000000")
    # Calls name members again.
    op.execute(
        "update inbox set call = regexp_replace(call, '[0-9]+$', identity.member_id::text) from identity "
        "where identity.id::text = substring(call from '[0-9]+$')"
    )
    op.alter_column("inbox", "chat_id", new_column_name="workspace_id")
    op.create_foreign_key("fk_inbox_workspace_id_workspace", "inbox", "workspace", ["workspace_id"], ["id"])
    op.drop_column("outbox", "chat_id")
    op.drop_constraint("fk_standing_answer_id_answer", "standing")
    op.execute(
        "update standing set member_id = answer.member_id from answer "
        "where answer.id = standing.answer_id and answer.member_id <> standing.member_id"
    )
    op.drop_constraint("uq_answer_id_round_id", "answer")
    op.create_unique_constraint("uq_answer_id_round_id_member_id", "answer", ["id", "round_id", "member_id"])
    op.create_foreign_key(
        "fk_standing_answer_id_answer",
        "standing",
        "answer",
        ["answer_id", "round_id", "member_id"],
        ["id", "round_id", "member_id"],
    )
    op.drop_constraint("uq_answer_member_id_chat_id_event_id", "answer")
    op.drop_column("answer", "chat_id")
    op.create_unique_constraint("uq_answer_member_id_event_id", "answer", ["member_id", "event_id"])


def _unmake_identities() -> None:
    op.add_column("member", sa.Column("external_id", sa.String(), nullable=True))
    op.execute(
        "update member set external_id = identity.external_id from identity where identity.id = "
        "(select min(first.id) from identity first where first.member_id = member.id)"
    )
    # Their points were moved away by bookings: without a place on the boards they are as nobody.
    op.execute("update member set hidden = true where merged_into is not null")
    op.drop_index("ix_member_merged_into", "member")
    op.drop_column("member", "merged_into")
    op.create_unique_constraint("uq_member_workspace_id_external_id", "member", ["workspace_id", "external_id"])


def _unmake_columns() -> None:
    for table in NEW:
        op.drop_table(table)
    op.drop_constraint("uq_channel_chat_id_external_id", "channel")
    op.drop_column("channel", "chat_id")
    op.create_unique_constraint("uq_channel_workspace_id_external_id", "channel", ["workspace_id", "external_id"])
    op.drop_table("chat")
    op.alter_column("workspace", "platform", nullable=False)
    op.alter_column("workspace", "external_id", nullable=False)
    op.create_unique_constraint("uq_workspace_platform_external_id", "workspace", ["platform", "external_id"])
    op.drop_constraint("uq_schedule_id_workspace_id", "schedule")
    op.drop_column("schedule", "made_by")
    for table in ("schedule", "ledger"):
        column, other = SAME_WORKSPACE[table]
        op.create_foreign_key(
            f"fk_{table}_{column}_{other}", table, other, [column, "workspace_id"], ["id", "workspace_id"]
        )
