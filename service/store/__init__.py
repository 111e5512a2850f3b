"""The only package that uses SQLAlchemy: tables, sessions, migrations, and one module of queries per noun.

A table that one module alone queries is defined there; the others are in `tables` and the modules named after it.
"""

# Importing any module of the package defines every table: a backup takes the tables that `Base.metadata` has.
from service.store import answers as answers
from service.store import audits as audits
from service.store import boards as boards
from service.store import bots as bots
from service.store import calibrations as calibrations
from service.store import cards as cards
from service.store import chats as chats
from service.store import competition_tables as competition_tables
from service.store import contestants as contestants
from service.store import markings as markings
from service.store import measurements as measurements
from service.store import notifications as notifications
from service.store import retention as retention
from service.store import review_tables as review_tables
from service.store import tables as tables
from service.store import variants as variants
from service.store import web_tables as web_tables
