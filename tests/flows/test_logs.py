"""Logs and traces of real processes at debug level, in normal operation and with failures.

They show the path of each event by its id, and contain no secrets and nothing that members wrote.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import secrets
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterable
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any
from urllib.parse import quote, quote_plus

import httpx
import psycopg
import pytest
from psycopg import sql
from sqlalchemy.engine import make_url

from bot.discord.commands import application_commands
from bot.slack.manifest import app_manifest
from sandbox.client import SandboxClient
from service.client import ServiceClient
from service.tracing import EVENT_HEADER
from service.wire import ScheduleSpec, Where, Who
from tests.collector import Collector, attributes, running_collector
from tests.docs.trace_picture import draw_trace
from tests.doubles.discord import Discord
from tests.doubles.discord import world as discord_world
from tests.doubles.discord.faults import Cut, Status
from tests.doubles.slack import world as slack_world
from tests.doubles.slack.double import SlackDouble, slack_double
from tests.faults.backend import boss_of
from tests.faults.discord_faults import EDIT_ORIGINAL
from tests.flows.test_processes import BANK, EVERY_DAY, ROOT, Part, Parts, parts
from tests.machine import free_port

__all__ = ["parts"]
pytestmark = pytest.mark.slow

PATIENCE_S = 200.0
"""Time to start everything on a small machine, seconds."""
SHORTEST = 8
TRACE_PICTURE = ROOT / "docs" / "images" / "trace.svg"
"""Drawn again by `make pictures`."""


def canary(what: str) -> str:
    """Returns a unique word."""
    return f"canary-{what}-{secrets.token_hex(8)}"


def program(word: str) -> str:
    """Returns a wrong program for the code question that contains the word in every possible way."""
    return f"def add_one(x: int) -> int:\n    # {word}\n    print('{word}')\n    return '{word}'\n"


@dataclass
class Team:
    """One team on Slack and one on Discord, with all parts as processes, and the words that must not be logged."""

    parts: Parts
    slack: SlackDouble
    discord: Discord
    collector: Collector
    database_url: str
    port: int = field(default_factory=free_port)
    slack_port: int = field(default_factory=free_port)
    token: str = field(default_factory=partial(canary, "service-token"))
    link_secret: str = field(default_factory=partial(canary, "link-secret"))
    password: str = field(default_factory=partial(canary, "database"))
    token_key: str = field(default_factory=lambda: base64.urlsafe_b64encode(secrets.token_bytes(32)).decode())
    words: list[str] = field(default_factory=list)
    """What members wrote and strangers sent."""
    running: dict[str, Part] = field(default_factory=dict)

    def __post_init__(self) -> None:
        app = self.slack.app
        app.client_secret, app.signing_secret = canary("client-secret"), canary("signing-secret")
        self.slack.by_http(f"http://127.0.0.1:{self.slack_port}")
        self.discord.world.token = f"{secrets.token_urlsafe(18)}.{secrets.token_urlsafe(4)}.{secrets.token_urlsafe(28)}"
        self.discord.register(application_commands())

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def sandbox(self) -> Path:
        return self.parts.folder / "sandbox.sock"

    def word(self, what: str) -> str:
        """Returns a word that somebody will write or send."""
        self.words.append(canary(what))
        return self.words[-1]

    def start(self, name: str, *words: str, **settings: str) -> Part:
        """Starts a process at debug level that sends its traces."""
        ours = {
            "DAILYGRAD_LOG_LEVEL": "debug",
            "DAILYGRAD_SERVICE_TOKEN": self.token,
            "DAILYGRAD_TRACES_URL": self.collector.url,
        }
        part = self.running[name] = self.parts.start(*words, **ours, **settings)
        return part

    def start_bots(self) -> None:
        """Starts both bots, before the service."""
        link = {"DAILYGRAD_LINK_URL": "https://quiz.example.org", "DAILYGRAD_LINK_SECRET": self.link_secret}
        ours = {"DAILYGRAD_SERVICE_URL": self.url, **link}
        on_slack = {**self.slack.environment(), "DAILYGRAD_SLACK_PORT": str(self.slack_port)}
        self.start("slack", "bot", "slack", DAILYGRAD_DATA=str(self.parts.folder / "slack"), **ours, **on_slack)
        on_discord = {"DISCORD_TOKEN": self.discord.world.token, "DISCORD_API_URL": self.discord.url}
        self.start("discord", "bot", "discord", DAILYGRAD_DATA=str(self.parts.folder / "discord"), **ours, **on_discord)

    def start_service(self) -> None:
        """Starts sandbox, service and worker."""
        sandbox = str(self.sandbox)
        url = make_url(self.database_url).set(password=self.password).render_as_string(hide_password=False)
        ours = {"DATABASE_URL": url, "DAILYGRAD_TOKEN_KEY": self.token_key, "DAILYGRAD_SANDBOX_SOCKET": sandbox}
        self.start("sandbox", "sandbox", "serve", "--socket", sandbox, "--concurrency", "1")
        self.start("service", "serve", DAILYGRAD_PORT=str(self.port), **ours)
        self.start("worker", "work", **ours)

    async def says(self, name: str, pattern: str) -> None:
        """Waits until a process prints a match, while the doubles keep running."""
        part, end = self.running[name], monotonic() + PATIENCE_S
        while re.search(pattern, part.said) is None:
            assert part.process.poll() is None, f"it ended before {pattern}: {part.said}"
            assert monotonic() < end, f"{name} never says {pattern}: {self.printed}"
            await asyncio.to_thread(part.news.wait, 0.2)
            part.news.clear()

    async def stop(self) -> None:
        """Stops all with SIGTERM and reads their remaining output."""
        serving = {name: part for name, part in self.running.items() if part.process.poll() is None}
        for part in serving.values():
            part.process.send_signal(signal.SIGTERM)
        for name, part in serving.items():
            assert await asyncio.to_thread(part.process.wait, PATIENCE_S) == 0, name
        for part in self.running.values():
            await asyncio.to_thread(part.reader.join, PATIENCE_S)

    @property
    def printed(self) -> dict[str, str]:
        """Returns the output and the log files of each process."""
        logs = {str(path): path.read_text("utf-8") for path in self.parts.folder.rglob("*.log")}
        return logs | {name: part.said for name, part in self.running.items()}

    def secrets(self) -> set[str]:
        """Returns every secret that was configured, created or received."""
        slack, app = self.slack.world, self.slack.app
        given = {self.token, self.link_secret, self.password, self.token_key, self.discord.world.token}
        met = {*slack.tokens, *slack.refresh, *slack.codes, *self.discord.world.interactions}
        return (
            given | {app.client_secret, app.signing_secret} | met | {url.rpartition("/")[2] for url in slack.reply_urls}
        )


def leaks(printed: dict[str, str], words: Iterable[str]) -> set[tuple[str, str]]:
    """Returns where the words appear, also URL-encoded or escaped as JSON."""
    found = set()
    for word in words:
        assert len(word) >= SHORTEST, f"{word!r} could stand anywhere"
        forms = {word, quote(word, safe=""), quote_plus(word), json.dumps(word)[1:-1]}
        found |= {(name, word) for name, said in printed.items() if any(form in said for form in forms)}
    return found


def path_of(printed: dict[str, str], event_id: str) -> list[tuple[str, str]]:
    """Returns the processes that logged the event, with their messages, in order."""
    found = []
    for name, said in printed.items():
        lines = [json.loads(line) for line in said.splitlines() if line.startswith("{")]
        found += [(name, _station(line)) for line in lines if line.get("event_id") == event_id]
    return found


def _station(line: dict[str, Any]) -> str:
    return f"{line['message']} {line['call']}" if "call" in line else str(line["message"])


@pytest.fixture
async def team(parts: Parts, database_url: str) -> AsyncIterator[Team]:
    async with (
        slack_double(factor=10, manifest=app_manifest("https://quiz.example.org")) as slack,
        Discord() as discord,
    ):
        with running_collector() as collector:
            yield Team(parts, slack, discord, collector, database_url)
        parts.clear()


@dataclass
class OnSlack:
    """The team on Slack."""

    team: slack_world.Team
    ann: slack_world.User
    bob: slack_world.User
    daily: slack_world.Channel

    @classmethod
    async def installed(cls, team: Team) -> OnSlack:
        """Installs the app by OAuth; another attempt uses a forged state."""
        slack = team.slack
        here = slack.team("here", install=False)
        ann, bob = slack.user(here, "Ann", admin=True), slack.user(here, "Bob")
        daily = slack.channel(here, "daily", ann, bob)
        address = f"http://127.0.0.1:{team.slack_port}/slack/install"
        assert (await slack.install(ann, address, state=team.word("state")))[0] >= 400
        assert (await slack.install(ann, address))[0] == 200
        return cls(here, ann, bob, daily)


@dataclass
class OnDiscord:
    """The team on Discord."""

    guild: discord_world.Guild
    daily: discord_world.Channel
    ann: discord_world.Member
    boss: discord_world.Member

    @classmethod
    def made(cls, team: Team) -> OnDiscord:
        guild = team.discord.world.guild("Team")
        return cls(guild, guild.channel("daily"), guild.member("Ann"), guild.member("Boss", admin=True))


async def ask(client: ServiceClient, boss: Who, where: Where) -> None:
    """Posts the code question in a channel."""
    view = await client.bank_import(boss, "import", BANK.name, BANK.read_text(encoding="utf-8"), True)
    assert view.applied, view.findings
    schedule = await client.schedule_add(boss, "add", where, ScheduleSpec(kinds=("code",), weekdays=EVERY_DAY))
    await client.post_now(boss, "post", schedule.id)


async def test_logs_show_each_events_path_and_no_secret_or_member_text(team: Team, postgres_url: str) -> None:
    team.start_bots()
    # The bots start while the service is down.
    await team.says("slack", "the outbox cannot be read")
    await team.says("discord", "the outbox cannot be read")
    team.start_service()
    await team.says("service", "listens on")
    await SandboxClient(team.sandbox).until_ready(PATIENCE_S)
    on_slack, on_discord = await OnSlack.installed(team), OnDiscord.made(team)
    async with ServiceClient.over_http(team.url, team.token) as client:
        boss = boss_of("slack", on_slack.team.id, on_slack.ann.id)
        await ask(client, boss, Where(channel=on_slack.daily.id, name="daily"))
        boss = boss_of("discord", str(on_discord.guild.id), str(on_discord.boss.id))
        await ask(client, boss, Where(channel=str(on_discord.daily.id), name="daily"))

    events = [await answered_on_slack(team, on_slack), await answered_on_discord(team, on_discord)]
    for event_id in events:  # that the verdict is posted is logged last
        await team.says("service", rf'(?m)^(?=.*{re.escape(event_id)}).*"outbox/sent"')
    before = team.printed
    await strangers_call(team)
    await chats_fail(team, on_slack, on_discord)
    await the_sandbox_is_gone(team, on_slack)
    await the_database_is_gone(team, on_slack, postgres_url)
    await tokens_are_wrong(team)
    await team.stop()

    printed = team.printed
    assert leaks(printed, team.secrets()) == set()
    assert leaks(printed, team.words) == set()
    for word in (*team.secrets(), *team.words):
        assert word.encode() not in team.collector.received
    for event_id, bot in zip(events, ("slack", "discord"), strict=True):
        told = path_of(before, event_id)
        called = {("service", "call answered answer"), ("service", "call answered outbox/sent")}
        assert set(told) >= {(bot, "event answered"), *called, ("worker", "program run"), (bot, "message delivered")}
        assert [told.count(once) for once in ((bot, "event answered"), ("worker", "answer judged"))] == [1, 1]
        # On a busy machine a program may have to run again.
        elsewhere = [one for one in told if one[0] != "worker"]
        assert len(elsewhere) <= 10, f"one line for each station is enough: {elsewhere}"
        check_trace(team.collector, event_id)
    if "DAILYGRAD_IMAGES" in os.environ:
        TRACE_PICTURE.write_text(draw_trace(team.collector.trace_of(events[0])))
    polls = [line for line in before["service"].splitlines() if '"outbox/claim"' in line and '"http": 200' in line]
    assert polls == [], "who asks what waits is not told of"


def check_trace(collector: Collector, event_id: str) -> None:
    """Checks that an answer is one trace, from the press to the verdict's delivery, with every process in its place."""
    found = collector.trace_of(event_id)
    by_id = {span.span_id: f"{process}: {span.name}" for process, span in found}
    above = {(f"{process}: {span.name}", by_id.get(span.parent_span_id, "")) for process, span in found}
    worker = "dailygrad-worker"
    assert above == {
        ("dailygrad-bot: event", ""),
        ("dailygrad-service: call", "dailygrad-bot: event"),
        (f"{worker}: judge", "dailygrad-bot: event"),
        (f"{worker}: run", f"{worker}: judge"),
        (f"{worker}: sandbox queue", f"{worker}: run"),
        (f"{worker}: sandbox run", f"{worker}: run"),
        ("dailygrad-bot: deliver", "dailygrad-bot: event"),
    }
    assert {attributes(span)["event_id"] for _, span in found} == {event_id}


async def answered_on_slack(team: Team, on: OnSlack) -> str:
    """Sends a program to the bot as Bob and waits for the verdict; returns the message's event id."""
    await team.slack.sees(on.bob, "Question for ")
    written = team.slack.dm(on.bob, f"```\n{program(team.word('answer'))}```")
    await team.says("slack", r'"message delivered".*"verdict:\d+".*"sent"')
    await team.slack.sees(on.bob, "Your code: ")
    return f"slack:{written.channel}:{written.ts}"


async def answered_on_discord(team: Team, on: OnDiscord) -> str:
    """Submits the form as Ann and waits for the verdict; returns the submission's event id."""
    double = team.discord
    question = (await double.until(lambda: [one for one in on.daily.seen() if "Answer" in one.buttons], "it"))[-1]
    opened = await double.settled(await double.press(on.ann, question, question.buttons["Answer"]))
    sent = await double.submit_modal(opened, {"code": program(team.word("answer"))})
    await team.says("discord", r'"message delivered".*"verdict:\d+".*"sent"')
    return f"discord:{sent.id}"


async def strangers_call(team: Team) -> None:
    """Sends malformed, unknown and unauthorized requests to the service and to the Slack bot."""
    who = {"platform": "slack", "workspace": "T", "member": "U", "name": team.word("name")}
    bodies = [b'{"who": "' + team.word("half").encode(), json.dumps({"who": who, team.word("key"): 1}).encode()]
    good, wrong = f"Bearer {team.token}", f"Bearer {team.word('token')}"
    async with httpx.AsyncClient(base_url=team.url) as http:
        for token, status in ((good, 422), (wrong, 401)):
            for body in bodies:
                sent = await http.post(
                    "/v1/me", content=body, headers={"Authorization": token, EVENT_HEADER: "stranger%0A1"}
                )
                assert sent.status_code == status
        assert (await http.get(f"/v1/{team.word('path')}")).status_code == 404
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{team.slack_port}") as http:
        signed = {"X-Slack-Signature": f"v0={team.word('signature')}", "X-Slack-Request-Timestamp": "1"}
        sent = await http.post("/slack/events", data={"text": team.word("text")}, headers=signed)
        assert sent.status_code == 401
        back = {"code": team.word("code"), "state": team.word("state")}
        assert (await http.get("/slack/oauth_redirect", params=back)).status_code >= 400


async def chats_fail(team: Team, slack: OnSlack, on: OnDiscord) -> None:
    """Makes Slack and Discord answer 500 and 401 to replies."""
    team.slack.fail("response_url", "500")
    team.slack.fail("chat.postEphemeral", "error", code="invalid_auth")
    await team.slack.slash(slack.bob, slack.daily, "/quiz", f"nonsense {team.word('typed')}")
    await team.says("slack", r"the reply was not delivered: .*invalid_auth")
    # Discord's library retries after a 500; then cut the connection.
    team.discord.faults.next(EDIT_ORIGINAL, Status(500))
    team.discord.faults.next(EDIT_ORIGINAL, Cut())
    good, team.discord.world.token = team.discord.world.token, canary("another-token")
    await team.discord.slash(on.ann, on.daily, "quiz", "explain", id=team.word("typed"))
    await team.says("discord", r"could not be answered.*401")
    team.discord.world.token = good


async def the_sandbox_is_gone(team: Team, on: OnSlack) -> None:
    """Answers while the sandbox is killed."""
    team.running["sandbox"].process.kill()
    team.slack.dm(on.bob, f"```\n{program(team.word('answer'))}```")
    await team.says("worker", '"answer not judged yet"')


async def the_database_is_gone(team: Team, on: OnSlack, postgres_url: str) -> None:
    """Answers while the database refuses connections."""
    name = make_url(team.database_url).database
    assert name
    switch = sql.SQL("alter database {} allow_connections {}")
    async with await psycopg.AsyncConnection.connect(postgres_url, autocommit=True) as server:
        await server.execute(switch.format(sql.Identifier(name), sql.SQL("false")))
        await server.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = %s", [name])
        team.slack.dm(on.bob, f"```\n{program(team.word('answer'))}```")
        await team.says("service", '"call failed"')
        await team.says("slack", '"status": "ServiceUnavailable"')
        await server.execute(switch.format(sql.Identifier(name), sql.SQL("true")))


async def tokens_are_wrong(team: Team) -> None:
    """Starts bots with invalid tokens and a service without a database: each reports it and ends."""
    data = {"DAILYGRAD_DATA": str(team.parts.folder / "other")}
    slack = {"SLACK_APP_TOKEN": f"xapp-1-{team.word('app')}", "SLACK_BOT_TOKEN": f"xoxb-{team.word('bot')}"}
    team.start("wrong slack", "bot", "slack", SLACK_API_URL=team.slack.api_url, **slack, **data)
    discord = {"DISCORD_API_URL": team.discord.url, "DISCORD_TOKEN": team.word("token")}
    team.start("wrong discord", "bot", "discord", **discord, **data)
    away = f"postgresql://nobody:{team.word('password')}@127.0.0.1:1/nothing"
    team.start("wrong database", "serve", DATABASE_URL=away)
    for name in ("wrong slack", "wrong discord", "wrong database"):
        assert await asyncio.to_thread(team.running[name].process.wait, PATIENCE_S) == 2


def test_the_search_finds_what_a_process_does_print(parts: Parts) -> None:
    """The control: the search would find a word that a process printed or logged, in any encoding."""
    words = [canary("one"), canary("two"), 'canary "three" äöü', canary("four")]
    spelt = [words[0], json.dumps({"said": f"{words[1]}, {words[2]}"}), quote(words[2], safe="")]
    command = [sys.executable, "-c", "import sys; print(*sys.argv[1:], sep='\\n')", *spelt]
    loud = Part(subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True))
    parts.started.append(loud)
    loud.process.wait(PATIENCE_S)
    loud.reader.join(PATIENCE_S)
    printed = {"loud": loud.said, "log": f"x{words[3]}y", "quiet": "nothing"}
    assert leaks(printed, words) == {*(("loud", word) for word in words[:3]), ("log", words[3])}
