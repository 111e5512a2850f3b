"""Every place where a member is stored: what an export has of it, and what forgetting leaves."""

from __future__ import annotations

import json
import re
from typing import Any, get_args

import psycopg
import pytest
from pydantic import BaseModel

from service.config import Settings
from service.people.personal_data import COLUMNS
from service.store.privacy import CREDITS, LISTS, NAMING
from service.store.session import libpq_url
from service.store.tables import Base
from service.wire import Delivery, WebPost, Who
from tests.conftest import TOKEN, Clock
from tests.service.daily_channel import DailyChannel
from tests.service.full_database import DOCUMENT, TOKEN_KEY, fill
from tests.service.rows import all_rows
from tests.service.two_chats import GUILD, TwoChats

PERSONS = ("member", "web_person")
NAMES = ("member_id", "person", "author")
"""Names of columns that lead to a member without a foreign key."""
DIGESTS = ("a" * 64, "b" * 64, "c" * 64)


@pytest.fixture
def settings(database_url: str) -> Settings:
    return Settings(database_url=database_url, service_token=TOKEN, token_key=TOKEN_KEY)


def leading_columns() -> set[str]:
    """Returns the columns of all tables that lead to a member."""
    found = set()
    for name, table in Base.metadata.tables.items():
        for key in table.foreign_key_constraints:
            if key.elements[0].column.table.name in PERSONS:
                found |= {f"{name}.{one.parent.name}" for one in key.elements}
        found |= {f"{name}.{column}" for column in NAMES if column in table.columns}
    return {column for column in found if not column.endswith((".workspace_id", ".chat_id"))}


def test_every_column_that_leads_to_a_member_is_known() -> None:
    assert set(COLUMNS) == leading_columns()
    assert [name for name, stored in COLUMNS.items() if bool(stored.export) == bool(stored.omitted)] == []


def models_in(kind: Any) -> set[type[BaseModel]]:
    """Returns the models that a type contains, with those in their fields."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {kind}.union(*(models_in(field.annotation) for field in kind.model_fields.values()))
    return set().union(*(models_in(part) for part in get_args(kind)))


def test_every_message_that_names_a_member_is_emptied_of_them() -> None:
    naming, lists = set(), set()
    for body in get_args(get_args(Delivery.model_fields["body"].annotation)[0]) or get_args(
        Delivery.model_fields["body"].annotation
    ):
        for model in models_in(body):
            # A member in a message has a name, and beside it a rank or the id on Discord.
            person = "name" in model.model_fields and model.model_fields.keys() & {"discord", "rank"}
            if person or model.model_fields.keys() & (set(CREDITS) - {"name"} | set(LISTS)):
                naming.add(body.model_fields["kind"].default)
            lists |= {name for name in model.model_fields if name in ("winners", "former")}
    assert naming == set(NAMING)
    assert lists == set(LISTS)


class Rows:
    """The rows that lead to one member."""

    def __init__(self, url: str, name: str) -> None:
        self._url = url
        named = "select id from member where name = %s"
        self.members = self._read(f"{named} union select id from member where merged_into in ({named})", name, name)
        web = "join chat on chat.id = chat_id and platform = 'web' where member_id = any(%s)"
        self.people = self._read(f"select identity.external_id from identity {web}", self.members)

    def _read(self, query: str, *values: Any) -> list[Any]:
        with psycopg.connect(libpq_url(self._url)) as connection:
            return [row[0] for row in connection.execute(query.encode(), values)]

    def count(self, column: str) -> int:
        table, name = column.split(".")
        ids = self.people if table.startswith("web_") or table == "received_event" else self.members
        return int(self._read(f"select count(*) from {table} where {name} = any(%s)", ids)[0])


async def join_web(chats: TwoChats, name: str) -> Who:
    """Has a member join the web chat, with everything that it stores of them, and links them; returns who they are."""
    client = chats.daily.client
    person = await client.web_join("local", name)
    await client.web_session_begin("local", person.id, DIGESTS[0], "A browser of hers")
    await client.web_sign_in_make("local", person.id, DIGESTS[1], 60)
    await client.web_account_join("local", DIGESTS[2], name, person.id)
    await client.web_message_post("local", WebPost(channel="daily", content='"Hello"', author=person.id))
    await client.web_message_post("local", WebPost(channel="daily", content='"For you"', member=person.id))
    who = Who(platform="web", workspace="local", member=person.id, name=name)
    code = (await client.link(chats.who(name, "discord"), chats.event())).code
    boss = Who(platform="web", workspace="local", member="boss", name="Boss", admin=True)
    chat_code = (await client.chat_link(chats.boss("discord"), chats.event())).code
    await client.chat_join(boss, chats.event(), chat_code, True)
    await client.link_with(who, chats.event(), code)
    return who


async def moderate(chats: TwoChats) -> None:
    """Has Bo and the admin do what leaves rows that `fill` does not."""
    client, boss = chats.daily.client, chats.boss("discord")
    report = await client.report(chats.who("Bo", "discord"), "wrong", "q2", "It is wrong.")
    await client.report_settle(boss, "settle", report.id, "dismissed", "It is right.")
    suggested = await client.suggest(chats.who("Bo", "discord"), "suggest", DOCUMENT.replace("2 + 2", "3 + 3"))
    await client.suggestion_decline(boss, "decline", suggested.id, "We have one.")
    await client.review_me(boss, "review me")


def add_rows(url: str) -> None:
    """Adds what would take a streak and a tournament of captains to come about."""
    ada = "(select id from member where name = 'Ada' order by id limit 1)"
    with psycopg.connect(libpq_url(url)) as connection:
        connection.execute(f"insert into reminder select min(id), {ada}, now() from round".encode())
        connection.execute(f"update tournament_team set captain_id = {ada} where number = 1".encode())


def _without_digests(row: str) -> str:
    """Returns a row without digests of random secrets, in which any three letters may stand by chance."""
    return re.sub(r"[0-9a-f]{64}", "", row)


async def test_all_of_a_member_is_exported_and_nothing_that_names_them_is_left(
    daily: DailyChannel, clock: Clock, database_url: str
) -> None:
    chats = TwoChats(daily, clock)
    await daily.client.winner_role_set(chats.boss("discord"), "role", GUILD, "season", "42")
    await fill(chats)
    await moderate(chats)
    add_rows(database_url)
    ada = await join_web(chats, "Ada")
    seen: set[str] = set()
    others = {name: chats.who(name, "discord") for name in ("Bo", "Cy")}
    for name, who in {"Ada": ada, **others, "Boss": chats.boss("discord")}.items():
        data = json.loads((await daily.client.privacy(who, "look", "export")).export)
        rows = Rows(database_url, name)
        for column in COLUMNS:
            if rows.count(column):
                seen.add(column)
                missing = [section for section in COLUMNS[column].export if not data[section]]
                assert not missing, f"{name} has rows by {column}, but nothing in {missing}"
    assert {column for column, stored in COLUMNS.items() if stored.export} - seen == set()

    rows = Rows(database_url, "Ada")
    await daily.client.privacy(ada, "forget", "forget")
    assert {column: rows.count(column) for column, stored in COLUMNS.items() if stored.left == "nothing"} == {
        column: 0 for column, stored in COLUMNS.items() if stored.left == "nothing"
    }
    with psycopg.connect(libpq_url(database_url)) as connection:
        query = "select name, folded, skeleton, admin from web_person where id = any(%s)"
        assert connection.execute(query, [rows.people]).fetchall() == [(None, None, None, False)]
    # Ids of events are the test's own here.
    left = [
        (table, row)
        for table, found in all_rows(database_url).items()
        for row in found
        if "ada" in _without_digests(row.lower()).replace('"event_id": "open ada"', "").replace("'", "")
    ]
    assert left == []
