"""Creates the triggers that keep rows without a workspace of their own within one workspace.

They check whole statements, so that closing a round of a million members costs one query more.
"""

from __future__ import annotations

from alembic import op

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
