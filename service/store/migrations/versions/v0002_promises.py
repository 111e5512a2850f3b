"""What no table definition can say: append-only logs, and a word to whoever waits for the outbox."""

from __future__ import annotations

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

APPEND_ONLY = ("answer", "verdict", "ledger", "audit")

REFUSE_CHANGE = """
create function refuse_change() returns trigger language plpgsql as $$
begin
    -- Forgetting a member empties what they wrote and leaves every number as it was.
    if tg_op = 'UPDATE' and tg_table_name in ('answer', 'verdict')
        and current_setting('dailygrad.forgetting', true) = 'on'
        and to_jsonb(new) - '{name,given,detail}'::text[] = to_jsonb(old) - '{name,given,detail}'::text[] then
        return new;
    end if;
    raise exception '% is append-only: % refused; write a correcting row instead', tg_table_name, tg_op
        using errcode = 'restrict_violation';
end $$
"""

REFUSE_EACH = "for each row execute function refuse_change()"
REFUSE_ALL = "for each statement execute function refuse_change()"

TELL_WAITING = """
create function tell_outbox() returns trigger language plpgsql as $$
begin
    perform pg_notify('dailygrad_outbox', '');
    return null;
end $$
"""


def upgrade() -> None:
    op.execute(REFUSE_CHANGE)
    for table in APPEND_ONLY:
        op.execute(f"create trigger append_only before update or delete on {table} {REFUSE_EACH}")
        op.execute(f"create trigger never_emptied before truncate on {table} {REFUSE_ALL}")
    op.execute(TELL_WAITING)
    op.execute(
        "create trigger tell_waiting after insert or update of state on outbox "
        "for each statement execute function tell_outbox()"
    )


def downgrade() -> None:
    op.execute("drop trigger tell_waiting on outbox")
    op.execute("drop function tell_outbox()")
    for table in APPEND_ONLY:
        op.execute(f"drop trigger append_only on {table}")
        op.execute(f"drop trigger never_emptied on {table}")
    op.execute("drop function refuse_change()")
