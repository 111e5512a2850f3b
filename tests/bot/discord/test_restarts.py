"""Old messages work after a restart, duplicates are answered once, and memory does not grow."""

from __future__ import annotations

import asyncio
import logging
from os import environ
from pathlib import Path

import pytest
from discord.http import Route

from bot.core.actions import Fill, encode
from bot.core.cards import Button, Card, Text
from bot.core.dispatcher import Target
from bot.core.events import Press
from bot.core.journal import Journal
from bot.discord.client import serve
from bot.discord.settings import DiscordSettings
from service.client import ServiceClient
from service.logs import NOISY_LOGGERS
from service.wire import Where, Who
from tests.bot.discord.simulated import Simulated, fields, said
from tests.conftest import MONDAY, Clock

POSTS = int(environ.get("DAILYGRAD_MANY_POSTS", "300"))
MODALS = int(environ.get("DAILYGRAD_MANY_MODALS", "60"))


async def test_old_buttons_and_open_modals_work_after_a_restart(sim: Simulated) -> None:
    post = await sim.opens("the-shape")
    window = await sim.ada.click(post, label="Answer")
    asked = await sim.boss.click(post, label="Answer")
    await sim.restarts()
    done = await sim.ada.submit_modal(window, {"text": "(3,)"})
    assert "Your answer is recorded" in said(done)
    again = await sim.boss.click(sim.last("Question for "), label="Answer")
    assert fields(again)["text"]["type"] == fields(asked)["text"]["type"] == 4


async def test_stopping_during_a_reconnect_ends_the_bot(sim: Simulated, tmp_path: Path) -> None:
    await sim.stops_bot()
    double = sim.double
    environment = {
        "DISCORD_TOKEN": double.world.token,
        "DISCORD_API_URL": double.url,
        "DAILYGRAD_DATA": tmp_path / "bot",
    }
    ready, stop = len(double.log.of("ready")), asyncio.Event()
    bot = asyncio.create_task(serve(DiscordSettings.model_validate(environment), sim.client, sim.moving, stop))
    await double.until(lambda: len(double.log.of("ready")) > ready, "ready")
    connected = len(double.log.of("connected"))
    double.gateway.silent = True
    double.gateway.drop()
    await double.until(lambda: len(double.log.of("connected")) > connected, "reconnecting")
    stop.set()
    async with asyncio.timeout(60):
        await bot
    double.gateway.silent = False


async def test_an_interaction_delivered_twice_is_answered_once(sim: Simulated) -> None:
    post = await sim.opens("one-right")
    asked = await sim.ada.click(post, label="Answer")
    pressed = await sim.ada.click(asked, "A")
    before = len(sim.double.log.of("request"))
    await sim.double.again(pressed)
    await sim.boss.slash(sim.channel, "quiz rules")
    paths = [entry["path"] for entry in sim.double.log.of("request")[before:]]
    assert paths and not [path for path in paths if pressed.token in path], "the second delivery says nothing"


async def test_an_interaction_left_by_a_crash_is_answered(sim: Simulated) -> None:
    """Acknowledged, then killed: the reply replaces “thinking…”, once."""
    post = await sim.opens("one-right")
    shown = await sim.ada.slash(sim.channel, "quiz me")
    who = Who(platform="discord", workspace=sim.workspace, member=str(sim.ada.id), name="Ada")
    event = Press("discord:crashed", sim.service.clock(), who, sim.where, "l:week:channel:")
    sim.journal.record(event, {**sim.line(shown), "marks": "", "files": "[]"})
    await sim.restarts()
    await sim.app.handler.replay()
    assert "board" in said(shown).lower() or "week" in said(shown).lower(), said(shown)
    assert sim.journal.unanswered() == []
    assert said(sim.last("Question for ")) == said(post)


async def test_a_late_reply_becomes_a_direct_message(sim: Simulated) -> None:
    """After fifteen minutes the bot token is used; the button still knows its server."""
    await sim.opens("one-right")
    who = Who(platform="discord", workspace=sim.workspace, member=str(sim.ada.id), name="Ada")
    event = Press("discord:17", sim.service.clock(), who, sim.where, "a:r1")
    line = {"id": "17", "application": str(sim.double.world.application), "token": "long-gone"}
    sim.journal.record(event, {**line, "marks": "", "files": "[]"})
    before = len(sim.double.log.of("request"))
    await sim.app.handler.replay()
    assert "Your answer" in said(sim.ada.alone[-1]) and sim.journal.unanswered() == []
    paths = [entry["path"] for entry in sim.double.log.of("request")[before:]]
    assert len([path for path in paths if "long-gone" in path]) == 1, "one call says that it is over"
    pressed = await sim.ada.click(sim.ada.alone[-1], label="B")
    assert "Your answer is recorded" in said(pressed)


async def test_an_unreadable_journal_entry_does_not_block_the_others(sim: Simulated) -> None:
    shown = await sim.ada.slash(sim.channel, "quiz me")
    who = Who(platform="discord", workspace=sim.workspace, member=str(sim.ada.id), name="Ada")
    for number, route in enumerate(({"token": "t"}, {**sim.line(shown), "marks": "", "files": "[]"})):
        event = Press(f"discord:left-{number}", sim.service.clock(), who, sim.where, "v:see")
        sim.journal.record(event, route)
    await sim.app.handler.replay()
    assert "Your data" in said(shown) and sim.journal.unanswered() == []


async def test_a_full_disk_does_not_prevent_answers(sim: Simulated) -> None:
    asked = await sim.ada.click(await sim.opens("one-right"), label="Answer")
    sim.journal.close()
    assert "Your answer is recorded" in said(await sim.ada.click(asked, "A"))


@pytest.mark.slow
async def test_dismissed_modals_and_many_posts_leave_nothing_in_memory(sim: Simulated) -> None:
    """Discord does not report a dismissed modal."""
    post = await sim.opens("the-shape")
    for _ in range(MODALS):
        window = await sim.ada.click(post, label="Answer")
        assert window.modal
    button = Button("Answer", encode(Fill("r1")))
    platform = sim.app.platform
    for number in range(POSTS):
        card = Card(f"Post {number}", "a post", (Text(str(number)),), (button,))
        await platform.post(Target(sim.workspace, str(sim.channel.id)), card, f"many:{number}")
    assert sim.grown() == []
    assert sim.journal.unanswered() == []


async def test_the_journal_deletes_old_entries(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal.sqlite")
    who = Who(platform="discord", workspace="1", member="2", name="Ada")
    for number in range(500):
        journal.record(Press(str(number), MONDAY, who, Where(channel="3"), "a:r1"), {})
        journal.mark_answered(str(number))
    journal.prune(MONDAY.replace(day=3))
    assert journal._db.execute("select count(*) from events").fetchone() == (0,)


class Watcher(logging.Handler):
    """Keeps log records, and sets an event at the first that says this."""

    def __init__(self, words: str, heard: asyncio.Event) -> None:
        super().__init__()
        self.words, self.heard = words, heard
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.records.append(record)
        if self.words in record.getMessage():
            self.heard.set()


async def test_without_a_network_each_attempt_is_one_line(
    tmp_path: Path, client: ServiceClient, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Route, "BASE", Route.BASE)
    known = {"DISCORD_TOKEN": "a.b.c", "DISCORD_API_URL": "http://127.0.0.1:9/api/v10", "DAILYGRAD_DATA": str(tmp_path)}
    stop = asyncio.Event()
    watcher, log = Watcher("connecting again", stop), logging.getLogger()
    levels = {**dict.fromkeys(("bot", "discord"), logging.INFO), **dict.fromkeys(NOISY_LOGGERS, logging.ERROR)}
    for name, level in levels.items():
        monkeypatch.setattr(logging.getLogger(name), "level", level)
    log.addHandler(watcher)
    try:
        await serve(DiscordSettings.model_validate(known), client, clock, stop)
    finally:
        log.removeHandler(watcher)
    (line,) = (record.getMessage() for record in watcher.records if record.name.startswith(("bot", "discord")))
    assert line.startswith("Discord cannot be reached: ") and line.endswith("; connecting again in 2 s")
    assert all(record.exc_info is None for record in watcher.records)
