"""The only rooms that speak SQLAlchemy: tables, sessions, migrations, and one file of queries per noun."""
