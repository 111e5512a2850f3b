"""Creates triggers: they plan schedules again after a change, advance queues of the outbox, and keep rows within one
workspace."""

from __future__ import annotations

from alembic import op

_PLAN = """
create function plan_schedule() returns trigger language plpgsql as $$
begin
    if new.paused_at is not null or new.removed_at is not null then
        new.next_at := null;
    elsif tg_op = 'INSERT' then
        new.next_at := new.since;
    elsif new.next_at is not distinct from old.next_at and
        (new.spec, new.since, new.channel_id, new.paused_at, new.removed_at)
        is distinct from (old.spec, old.since, old.channel_id, old.paused_at, old.removed_at) then
        new.next_at := new.since;
    end if;
    return new;
end $$
"""

_PLAN_CHAT = """
create function plan_schedules_of_chat() returns trigger language plpgsql as $$
begin
    update schedule set next_at = since
    where paused_at is null and removed_at is null and (
        channel_id in (select id from channel where chat_id = new.id)
        or id in (
            select schedule_id from schedule_channel join channel on channel.id = channel_id where chat_id = new.id
        )
    );
    return null;
end $$
"""

_PLAN_SHARED = """
create function plan_shared_schedule() returns trigger language plpgsql as $$
begin
    update schedule set next_at = since where id = new.schedule_id and paused_at is null and removed_at is null;
    return null;
end $$
"""


def create_planning() -> None:
    """Creates the triggers on schedules, their channels and the chats they post to."""
    op.execute(_PLAN)
    op.execute("create trigger plan before insert or update on schedule for each row execute function plan_schedule()")
    op.execute(_PLAN_CHAT)
    op.execute(
        "create trigger plan_schedules after update of left_at on chat for each row "
        "when (new.left_at is null and old.left_at is not null) execute function plan_schedules_of_chat()"
    )
    op.execute(_PLAN_SHARED)
    op.execute(
        "create trigger plan_schedule after insert on schedule_channel for each row "
        "execute function plan_shared_schedule()"
    )


_NAME_PLATFORM = """
create function name_platform() returns trigger language plpgsql as $$
begin
    new.platform := (select platform from chat where id = new.chat_id);
    return new;
end $$
"""

_CLEAR_FOLLOWER = """
create function clear_follower() returns trigger language plpgsql as $$
begin
    new.follower := false;
    return new;
end $$
"""

_NEXT_FOLLOWER = """
create function clear_next_follower() returns trigger language plpgsql set enable_seqscan = off as $$
begin
    update outbox set follower = false where follower and id = (
        select id from outbox
        where follower and chat_id = old.chat_id
        and coalesce(channel_id, 0) = coalesce(old.channel_id, 0)
        and coalesce(member_id, 0) = coalesce(old.member_id, 0)
        and (kind = 'notice') = (old.kind = 'notice') and (edits_id is not null) = (old.edits_id is not null)
        order by id limit 1
    );
    return null;
end $$
"""


def create_queues() -> None:
    """Creates the triggers on the outbox that `service.store.claims` relies on."""
    op.execute(_NAME_PLATFORM)
    op.execute("create trigger name_platform before insert on outbox for each row execute function name_platform()")
    queue = "{0}.chat_id, {0}.channel_id, {0}.member_id, {0}.kind, {0}.edits_id"
    columns = queue.replace("{0}.", "")
    left = (
        "new.state not in ('due', 'sending', 'uncertain') "
        f"or ({queue.format('new')}) is distinct from ({queue.format('old')})"
    )
    op.execute(_CLEAR_FOLLOWER)
    op.execute(
        f"create trigger clear_follower before update of state, {columns} on outbox for each row "
        f"when (new.follower and ({left})) execute function clear_follower()"
    )
    op.execute(_NEXT_FOLLOWER)
    waited = "old.state in ('due', 'sending', 'uncertain')"
    for event, leaves in ((f"update of state, {columns}", f"{waited} and ({left})"), ("delete", waited)):
        op.execute(
            f"create trigger clear_next_follower_{event.split()[0]} after {event} on outbox for each row "
            f"when ({leaves}) execute function clear_next_follower()"
        )


_SEEN = """
    join question_version v on v.id = {version}
    join question q on q.id = v.question_id
    join bank b on b.id = q.bank_id
    where b.workspace_id is not null and b.workspace_id <> {workspace}
"""
_STRANGE = {
    "round": "select from made join schedule s on s.id = made.schedule_id"
    + _SEEN.format(version="made.version_id", workspace="s.workspace_id"),
    "answer": """
        select from made join member m on m.id = made.member_id join round r on r.id = made.round_id
        join schedule s on s.id = r.schedule_id where s.workspace_id <> m.workspace_id
    """,
    "standing": """
        select from made join member m on m.id = made.member_id join round r on r.id = made.round_id
        join schedule s on s.id = r.schedule_id where s.workspace_id <> m.workspace_id
    """,
    "verdict": "select from made join answer a on a.id = made.answer_id join member m on m.id = a.member_id"
    + _SEEN.format(version="made.version_id", workspace="m.workspace_id"),
    "card": """
        select from made join member m on m.id = made.member_id
        join question q on q.id = made.question_id join bank b on b.id = q.bank_id
        where b.workspace_id is not null and b.workspace_id <> m.workspace_id
    """,
    "question_feedback": """
        select from made join member m on m.id = made.member_id
        join question q on q.id = made.question_id join bank b on b.id = q.bank_id
        where b.workspace_id is not null and b.workspace_id <> m.workspace_id
    """,
    "outbox": """
        select from made join round r on r.id = made.round_id join schedule s on s.id = r.schedule_id
        where s.workspace_id <> made.workspace_id
    """,
}
"""Selects new rows that would join two workspaces, by table."""


def create_tenants() -> None:
    """Creates the triggers."""
    for table, strange in _STRANGE.items():
        op.execute(
            f"create function keep_{table}_within_workspace() returns trigger language plpgsql as $$ begin "
            f"if exists ({strange}) then raise exception '% would join two workspaces', tg_table_name "
            "using errcode = 'integrity_constraint_violation'; end if; return null; end $$"
        )
        for event in ("insert", "update") if table == "round" else ("insert",):
            op.execute(
                f"create trigger within_workspace_{event} after {event} on {table} referencing new table as made "
                f"for each statement execute function keep_{table}_within_workspace()"
            )
