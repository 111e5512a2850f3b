"""A backup of a team with a history is restored elsewhere: every row is there, and the service continues."""

from __future__ import annotations

import pytest

from sandbox.client import SandboxClient
from service.app import build
from service.client import ServiceRefused
from service.config import Settings
from service.store.tables import AnswerRow, Base, VerdictRow
from service.wire import VerdictNote
from tests.conftest import TOKEN, MakeDatabase
from tests.service.daily_channel import daily_channel_of
from tests.service.full_database import DOUBLED, FILLED, SECRET, TOKEN_KEY
from tests.service.ops.backups.conftest import Taken, restored_from
from tests.service.rows import all_rows, sequences
from tests.service.two_chats import GUILD, TwoChats

pytestmark = pytest.mark.slow


async def test_every_row_of_every_table_is_restored(taken: Taken, new_database: MakeDatabase, chats: TwoChats) -> None:
    assert [name for name in sorted(FILLED) if not taken.rows[name]] == []
    assert set(Base.metadata.tables) <= set(taken.rows)
    url = new_database()
    assert restored_from(taken.file, url).rows == sum(len(rows) for rows in taken.rows.values())
    assert all_rows(url) == taken.rows
    assert sequences(url) == taken.sequences
    # Tokens are encrypted in the database, so in the backup too, and cannot be read without the key.
    assert not any(SECRET in row for row in taken.rows["installation"])
    async with build(Settings(database_url=url, service_token=TOKEN), chats.clock).running() as service:
        with pytest.raises(ServiceRefused, match="DAILYGRAD_TOKEN_KEY"):
            await daily_channel_of(service).client.installation_find("slack", "T1")


@pytest.mark.sandbox
async def test_the_restored_service_continues_where_the_other_stopped(
    taken: Taken, new_database: MakeDatabase, chats: TwoChats, sandbox: SandboxClient
) -> None:
    before = await chats.standing("discord"), await chats.standing("slack")
    mine = await chats.daily.client.me(chats.who("Ada", "slack"))
    url = new_database()
    restored_from(taken.file, url)
    settings = Settings(database_url=url, service_token=TOKEN, token_key=TOKEN_KEY)
    async with build(settings, chats.clock, sandbox).running() as service:
        there = TwoChats(daily_channel_of(service), chats.clock)
        there.daily.events = chats.daily.events
        assert (await there.standing("discord"), await there.standing("slack")) == before
        assert await there.daily.client.me(there.who("Ada", "slack")) == mine

        kept = await there.daily.client.installation_find("slack", "T1")
        assert kept is not None
        assert kept.token.get_secret_value() == SECRET

        # The answer that waited is judged, once, though its event comes again.
        receipt = await there.daily.client.answer(
            there.who("Ada", "discord"), GUILD, "waits", taken.ref, DOUBLED, there.clock.now
        )
        assert receipt.status == "judging"
        judged = len(await there.daily.rows(VerdictRow))
        await service.jobs.run_pending()
        assert len(await there.daily.rows(VerdictRow)) == judged + 1
        notes = [each for each in await there.deliver() if isinstance(each.body, VerdictNote)]
        assert [note.body.verdict.verdict for note in notes if isinstance(note.body, VerdictNote)] == ["accepted"]

        # The round that was open is closed, the next one posted in each of its channels, once.
        await there.closed()
        there.clock.now = there.clock.now.replace(hour=8)
        assert await there.asked()
        answers = len(await there.daily.rows(AnswerRow))
        await service.tick()
        assert await there.deliver() == []
        assert len(await there.daily.rows(AnswerRow)) == answers
        assert next(row for row in await there.standing("discord") if row[1] == "Ada")[2] > mine.points
