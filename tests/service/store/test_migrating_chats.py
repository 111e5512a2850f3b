"""Migration 0007 on filled tables: one chat per workspace before, several after, and apart again on the way back."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from service.store import migrations
from service.store.session import libpq_url
from tests.conftest import Clock
from tests.service.roads import Road, choice
from tests.service.twochats import TEAM, TwoChats


def asked(url: str, query: str) -> list[tuple[Any, ...]]:
    with psycopg.connect(libpq_url(url)) as connection:
        return connection.execute(query.encode()).fetchall()


@pytest.fixture
async def chats(road: Road, clock: Clock) -> TwoChats:
    """A round in each of two chats, answered by Ada in both; nothing is linked."""
    await road.bank(*(choice(f"q{number}") for number in range(20)))
    made = TwoChats(road, clock)
    for platform in ("discord", "slack"):
        await made.schedule(platform)
    clock.advance(hours=1)
    await road.service.tick()
    for post in await made.deliver():
        await made.answer("Ada", post.platform, getattr(post.body, "ref"))  # noqa: B009
    await made.closed()
    return made


async def left(chats: TwoChats) -> None:
    await chats.road.service.engine.dispose()


POINTS = "select sum(points), count(*) from ledger"
WORKSPACES = "select id, platform, external_id from workspace order by id"


async def test_what_was_before_is_as_it_was_when_it_comes_back(chats: TwoChats, database_url: str) -> None:
    await left(chats)
    migrations.downgrade(database_url, "0006")
    assert asked(database_url, WORKSPACES) == [(1, "discord", "guild"), (2, "slack", "T1")]
    assert asked(database_url, "select workspace_id, external_id from member order by id") == [
        (1, "discord-boss"),
        (2, "slack-boss"),
        (1, "discord-ada"),
        (2, "slack-ada"),
    ]
    assert asked(
        database_url, "select distinct workspace_id, call from inbox where call like 'answer%' order by 1"
    ) == [
        (1, "answer 3"),
        (2, "answer 4"),
    ]
    migrations.upgrade(database_url)
    assert asked(database_url, "select workspace_id, platform, external_id from chat order by id") == [
        (1, "discord", "guild"),
        (2, "slack", "T1"),
    ]
    assert asked(database_url, POINTS) == [(20, 2)]
    # It goes on counting where it was, and everybody is who they were.
    assert await chats.standing("discord") == await chats.standing("slack") == [(1, "Ada", 10, 1)]
    assert (await chats.road.client.me(chats.who("Bo", "slack"))).points == 0
    assert (await chats.join_chats()).done
    assert (await chats.link("Ada")).points == 10
    await left(chats)


async def test_linked_chats_part_again_and_nobodys_points_are_lost(chats: TwoChats, database_url: str) -> None:
    await chats.join_chats()
    await chats.road.client.schedule_share(chats.boss("slack"), "share", TEAM, 1)
    await chats.link("Ada")
    await left(chats)
    before = asked(database_url, POINTS)
    migrations.downgrade(database_url, "0006")
    assert [(platform, external) for _, platform, external in asked(database_url, WORKSPACES)] == [
        ("discord", "guild"),
        ("slack", "T1"),
    ]
    assert asked(database_url, POINTS) == before
    # Ada is known first on Discord: all that is hers is there, and who she was on Slack shows on no board.
    rows = asked(
        database_url,
        "select workspace.platform, member.external_id, member.hidden, sum(points) from ledger "
        "join member on member.id = ledger.member_id join workspace on workspace.id = ledger.workspace_id "
        "group by 1, 2, 3 order by 3",
    )
    assert rows == [("discord", "discord-ada", False, 20), ("discord", None, True, 0)]
    places = asked(
        database_url,
        "select schedule.id, workspace.platform, channel.external_id from schedule "
        "join workspace on workspace.id = schedule.workspace_id join channel on channel.id = schedule.channel_id "
        "where channel.workspace_id = workspace.id order by 1",
    )
    assert places == [(1, "discord", "111"), (2, "slack", "C1")]
    migrations.upgrade(database_url)
    assert asked(database_url, POINTS) == before
    assert await chats.standing("discord") == [(1, "Ada", 20, 2)]
    assert await chats.standing("slack") == []
    await left(chats)


async def test_logs_stay_append_only_all_the_way(chats: TwoChats, database_url: str) -> None:
    await chats.join_chats()
    await left(chats)
    for revision in ("0006", "head"):
        (migrations.downgrade if revision == "0006" else migrations.upgrade)(database_url, revision)
        for change in ("update ledger set points = 9", "update audit set action = ''", "delete from ledger"):
            with pytest.raises(psycopg.errors.RestrictViolation, match="append-only"):
                asked(database_url, change)
    # What may be filed anew under another workspace may not be changed by the way.
    with psycopg.connect(libpq_url(database_url)) as connection:
        connection.execute("set dailygrad.joining = 'on'")
        with pytest.raises(psycopg.errors.RestrictViolation):
            connection.execute("update ledger set points = 9, workspace_id = 1")
