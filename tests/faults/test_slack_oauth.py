"""Workspaces installed by OAuth: isolated, refreshed in time, and deleted when they leave."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from dataclasses import dataclass

import psycopg
import pytest

from bot.slack.manifest import app_manifest
from service.store.session import libpq_url
from service.wire import Where
from tests.doubles.slack import oracle
from tests.doubles.slack.double import SlackDouble, slack_double
from tests.doubles.slack.world import Channel, Team, User
from tests.faults.backend import Backend, Bot, Bots, boss_of
from tests.machine import free_port

pytestmark = pytest.mark.slow


@dataclass
class Hosted:
    """A hosted bot, and workspaces that have not installed it yet."""

    slack: SlackDouble
    backend: Backend
    bots: Bots
    address: str

    async def start(self) -> Bot:
        port = self.address.rpartition(":")[2]
        bot = await self.bots.start("bot", "slack", DAILYGRAD_SLACK_PORT=port, **self.slack.environment())
        await bot.says(r"requests on port")
        return bot

    def workspace(self, name: str) -> tuple[Team, User, Channel]:
        team = self.slack.team(name, install=False)
        ann = self.slack.user(team, f"Ann of {name}", admin=True)
        return team, ann, self.slack.channel(team, "daily", ann)

    async def installs(self, user: User, **tampered: str) -> tuple[int, str]:
        return await self.slack.install(user, f"{self.address}/slack/install", **tampered)

    async def kept(self) -> list[str]:
        """Returns the workspaces that have a token."""
        async with await psycopg.AsyncConnection.connect(libpq_url(self.backend.database_url)) as connection:
            found = await (
                await connection.execute(b"select team from installation where token is not null order by team")
            ).fetchall()
        return [str(row[0]) for row in found]

    async def left(self, teams: list[str]) -> None:
        """Waits until only these installations remain; the polling runs in PostgreSQL."""
        look = """do $$ begin
            for i in 1..200 loop
                exit when (select count(token) from installation) = %d;
                perform pg_sleep(0.05);
            end loop;
        end $$"""
        url = libpq_url(self.backend.database_url)
        async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
            await connection.execute((look % len(teams)).encode())
        assert await self.kept() == teams


@pytest.fixture
async def hosted(backend: Backend, bots: Bots) -> AsyncIterator[Hosted]:
    async with slack_double(factor=60, manifest=app_manifest("https://quiz.example.org")) as slack:
        address = f"http://127.0.0.1:{free_port()}"
        slack.by_http(address)
        yield Hosted(slack, backend, bots, address)
        await bots.clear()


async def test_workspaces_are_isolated(hosted: Hosted) -> None:
    """Row 19: two workspaces install the app: each is answered with its own token and sees only its own board."""
    await hosted.start()
    here, ann, daily = hosted.workspace("here")
    there, eve, other = hosted.workspace("there")
    assert [(await hosted.installs(user))[0] for user in (ann, eve)] == [200, 200]
    assert await hosted.kept() == sorted([here.id, there.id])
    boss = boss_of("slack", here.id, ann.id)
    await hosted.backend.import_bank(boss, "one-right")
    await hosted.backend.posts_now(boss, Where(channel=daily.id, name="daily"))
    question = await hosted.slack.sees(ann, "Question for ")
    assert (await hosted.slack.click(ann, question, "Answer")).acked
    card = await hosted.slack.sees(ann, "Your answer")
    assert (await hosted.slack.click(ann, card, "A")).acked
    await hosted.slack.sees(ann, "Your answer is recorded")
    assert (await hosted.slack.slash(eve, other, "/quiz", "board")).acked
    board = (await hosted.slack.until(lambda: hosted.slack.private(eve)))[0]
    assert "Ann of here" not in board.words
    assert [one for one in hosted.slack.world.messages(other) if one.bot_id] == []
    hosted.slack.must_be_well()


async def test_a_forged_state_installs_nothing(hosted: Hosted) -> None:
    """Row 19: an attacker sends an admin a forged link: the state is unknown, and nothing is saved."""
    await hosted.start()
    _, ann, _ = hosted.workspace("here")
    status, said = await hosted.installs(ann, state="forged")
    assert status == 400 and "not installed" in said
    assert await hosted.kept() == []


async def test_an_installation_of_a_whole_organization_is_refused(hosted: Hosted) -> None:
    """Its one token would serve many workspaces; the page says to install the app in each."""
    await hosted.start()
    _, ann, _ = hosted.workspace("here")
    hosted.slack.app.organization = "E1"
    status, said = await hosted.installs(ann)
    assert status >= 400 and "Install it in each workspace" in said
    assert await hosted.kept() == []


async def test_an_uninstalled_workspace_is_deleted(hosted: Hosted) -> None:
    """Row 19: after uninstalling, its tokens are deleted and nothing is sent there; the other workspace goes on."""
    await hosted.start()
    here, ann, daily = hosted.workspace("here")
    there, eve, other = hosted.workspace("there")
    await hosted.installs(ann)
    await hosted.installs(eve)
    boss = boss_of("slack", here.id, ann.id)
    await hosted.backend.import_bank(boss, "one-right")
    assert (await hosted.slack.slash(ann, daily, "/quiz", "help")).acked
    await hosted.slack.until(lambda: hosted.slack.private(ann))
    for event in hosted.slack.uninstall(here):
        if event:
            await hosted.slack.handed(event)
    await hosted.left([there.id])
    await hosted.backend.posts_now(boss, Where(channel=daily.id, name="daily"))
    assert (await hosted.slack.slash(eve, other, "/quiz", "help")).acked
    await hosted.slack.until(lambda: hosted.slack.private(eve))
    assert oracle.posts(hosted.slack.log).total() == 0
    hosted.slack.must_be_well()


async def test_a_token_is_refreshed_once_before_it_expires(hosted: Hosted) -> None:
    """Row 19: a token is about to expire while five members type: one refresh in time, and all five are answered."""
    _, ann, daily = hosted.workspace("here")
    people = [hosted.slack.user(hosted.slack.world.teams[ann.team], f"Member {number}") for number in range(5)]
    daily.members |= {person.id for person in people}
    bot = await hosted.start()
    assert (await hosted.installs(ann))[0] == 200
    await bot.stop()
    await ends_soon(hosted)
    await hosted.start()  # it looks for such tokens now, and every minute
    sent = await asyncio.gather(*(hosted.slack.slash(one, daily, "/quiz", "help") for one in people))
    assert all(one.acked for one in sent)
    await hosted.slack.until(lambda: all(hosted.slack.private(one) for one in people))
    await hosted.slack.until(lambda: hosted.slack.log.count("token", what="refreshed"))
    assert hosted.slack.log.count("token", what="refreshed") == 1
    assert hosted.slack.log.count("token", what="refresh refused") == 0
    assert [entry["error"] for entry in hosted.slack.log.of("call", ok=False)] == []


async def ends_soon(hosted: Hosted) -> None:
    """Makes every token expire within five minutes."""
    async with await psycopg.AsyncConnection.connect(libpq_url(hosted.backend.database_url)) as connection:
        await connection.execute(b"update installation set expires_at = now() + interval '5 minutes'")
