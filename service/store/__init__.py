"""The only package that uses SQLAlchemy: tables, sessions, migrations, and one module of queries per noun."""

# Importing any module of the package defines every table: a backup takes the tables that `Base.metadata` has.
from service.store import board_tables as board_tables
from service.store import bot_tables as bot_tables
from service.store import calibration_tables as calibration_tables
from service.store import contestant_tables as contestant_tables
from service.store import duel_tables as duel_tables
from service.store import marking_tables as marking_tables
from service.store import measurement_tables as measurement_tables
from service.store import notification_tables as notification_tables
from service.store import retention as retention
from service.store import review_tables as review_tables
from service.store import round_member_tables as round_member_tables
from service.store import sprint_tables as sprint_tables
from service.store import tables as tables
from service.store import tournament_tables as tournament_tables
from service.store import web_tables as web_tables
