"""Creates the triggers that plan schedules again when something about them changes."""

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
