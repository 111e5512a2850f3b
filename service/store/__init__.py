"""The only package that uses SQLAlchemy: tables, sessions, migrations, and one module of queries per noun."""

# Importing any module of the package defines every table: a backup takes the tables that `Base.metadata` has.
from service.store import board_tables as board_tables
from service.store import marking_tables as marking_tables
from service.store import tables as tables
