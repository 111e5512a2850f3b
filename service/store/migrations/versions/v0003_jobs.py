"""The tables procrastinate keeps its jobs in, as the installed version wants them."""

from __future__ import annotations

from alembic import op
from procrastinate.schema import SchemaManager

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

DROP = """
do $$
declare found text;
begin
    for found in select oid::regclass::text from pg_class
        where relname like 'procrastinate\\_%' and relkind = 'r' and pg_table_is_visible(oid) loop
        execute 'drop table if exists ' || found || ' cascade';
    end loop;
    for found in select oid::regprocedure::text from pg_proc
        where proname like 'procrastinate\\_%' and pg_function_is_visible(oid) loop
        execute 'drop function if exists ' || found || ' cascade';
    end loop;
    for found in select oid::regtype::text from pg_type
        where typname like 'procrastinate\\_%' and typtype in ('e', 'c') and pg_type_is_visible(oid) loop
        execute 'drop type if exists ' || found || ' cascade';
    end loop;
end $$
"""


def upgrade() -> None:
    _run_script(SchemaManager.get_schema())


def downgrade() -> None:
    _run_script(DROP)


def _run_script(script: str) -> None:
    # Past SQLAlchemy: the script holds many statements, and percent signs that are no parameters.
    connection = op.get_bind().connection.driver_connection
    assert connection is not None, "alembic runs on a live connection"
    connection.execute(script)
