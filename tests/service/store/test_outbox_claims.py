"""Claims of messages: what waits behind the oldest of a queue costs nothing, and both ways to find the oldest agree."""

from __future__ import annotations

import random
from datetime import timedelta

import pytest
from sqlalchemy import text

from service.store import outbox
from tests.service.scenes import Stage
from tests.service.statements import blocks_of

QUEUES = """
    with team as (insert into workspace (created_at) select now() from generate_series(1, 3) returning id),
    chats as (
        insert into chat (workspace_id, platform, external_id, created_at)
        select id, 'discord', 'g' || id, now() from team returning id, workspace_id
    )
    insert into channel (workspace_id, chat_id, external_id, name)
    select workspace_id, id, 'c' || id || '-' || n, 'daily' from chats, generate_series(1, 7) n
"""
WAITING = """
    insert into outbox (key, workspace_id, chat_id, channel_id, kind, body, due_at, not_before)
    select 'k' || n || '-' || id, workspace_id, chat_id, id, case when n % 3 = 0 then 'notice' else 'question' end,
        '{}', :now, :now
    from channel, generate_series(cast(:first as int), :last) n
"""


async def test_a_claim_reads_as_much_of_thirty_messages_a_channel_as_of_three_hundred(stage: Stage) -> None:
    await stage.session.execute(text(QUEUES))
    read = []
    for first, last in ((1, 30), (31, 300)):
        await stage.session.execute(text(WAITING), {"first": first, "last": last, "now": stage.now})
        await stage.session.execute(text("analyze outbox"))
        read.append(await blocks_of(stage.session, outbox._jump_from_queue_to_queue().select()))
    assert read[1] < 2 * read[0], read


@pytest.mark.parametrize("seed", range(5))
async def test_both_ways_to_find_the_oldest_of_each_queue_agree(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    drawn = random.Random(seed)
    await stage.session.execute(text(QUEUES))
    await stage.session.execute(text(WAITING), {"first": 1, "last": 6, "now": stage.now})
    for state in ("sending", "sent", "skipped", "later", "elsewhere"):
        ids = (await stage.session.scalars(text("select id from outbox where state = 'due'"))).all()
        chosen = {"ids": drawn.sample(list(ids), len(ids) // 6), "now": stage.now}
        change = {
            "sending": "state = 'sending', claimed_until = cast(:now as timestamptz) + interval '1 minute'",
            "sent": "state = 'sent', message_ref = 'm'",
            "skipped": "state = 'skipped'",
            "later": "not_before = cast(:now as timestamptz) + interval '1 minute'",
            "elsewhere": "due_at = cast(:now as timestamptz) - interval '1 minute', edits_id = id",
        }[state]
        await stage.session.execute(
            text(f"update outbox set {change} where id = any(:ids) and :now is not null"), chosen
        )
    found = []
    for many in (0, 1000):
        monkeypatch.setattr(outbox, "MANY_QUEUES", many)
        for now in (stage.now, stage.now + timedelta(minutes=2)):
            found.append([row.id for row in await outbox.lock_claimable(stage.session, "discord", "", now, 10)])
    assert found[:2] == found[2:]
    assert all(len(ids) == 10 for ids in found)
