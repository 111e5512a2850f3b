"""The doctor's report on a Discord bot, from the Discord double."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.discord.access import NEEDED
from bot.discord.commands import application_commands
from bot.discord.settings import DiscordSettings
from bot.doctor.checks import CheckResult, clock_finding
from bot.doctor.discord import (
    PERMISSIONS,
    application_findings,
    examine_discord,
    gateway_finding,
    install_link,
    permissions,
)
from service.client import ServiceClient
from tests.bot.doctor.conftest import MakeSchedule
from tests.doubles.discord.server import Server
from tests.doubles.discord.world import BOT_NEEDS, SEND_IN_THREADS, VIEW, Guild

AT = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)


@dataclass
class Clinic:
    server: Server
    guild: Guild
    client: ServiceClient | None
    clock: Callable[[], datetime]

    async def findings(self, **settings: object) -> list[CheckResult]:
        given = {"DISCORD_TOKEN": self.server.world.token, "DISCORD_API_URL": self.server.url, **settings}
        return [one async for one in examine_discord(DiscordSettings.model_validate(given), self.client, self.clock)]

    async def broken(self, **settings: object) -> list[CheckResult]:
        return [one for one in await self.findings(**settings) if not one.good]


@pytest.fixture
async def clinic(client: ServiceClient, present: Callable[[], datetime]) -> AsyncIterator[Clinic]:
    """A healthy bot: in a server, with its commands registered."""
    async with Server() as server:
        server.world.commands[0] = [
            {"id": str(number), **command, "version": "1"} for number, command in enumerate(application_commands())
        ]
        yield Clinic(server, server.world.guild("Team"), client, present)
        assert server.violations == []


async def test_a_healthy_bot(clinic: Clinic, schedules: MakeSchedule) -> None:
    channel = clinic.guild.channel("daily")
    await schedules("discord", str(clinic.guild.id), str(channel.id), "#daily")
    found = await clinic.findings()
    assert [one.text for one in found if not one.good] == []
    said = "\n".join(one.text for one in found)
    for part in ("token: valid, for ", "clock: within 60 s", "intents: guilds only", "gateway: 1000 of 1000", "Team"):
        assert part in said
    assert "commands: registered and up to date" in said
    assert "#daily (Team): all permissions granted" in said


async def test_the_install_link_asks_only_for_needed_permissions(clinic: Clinic) -> None:
    link = next(one.text for one in await clinic.findings() if one.text.startswith("install link: "))
    asked = parse_qs(urlsplit(link.removeprefix("install link: ")).query)
    assert asked == {
        "client_id": [str(clinic.server.world.application)],
        "scope": ["bot applications.commands"],
        "permissions": [str(PERMISSIONS)],
    }
    # The double refuses what the bot does without these.
    assert PERMISSIONS == BOT_NEEDS
    assert install_link("7").startswith("https://discord.com/oauth2/authorize?client_id=7&")


async def test_an_invalid_token_ends_the_report(clinic: Clinic) -> None:
    (only,) = await clinic.findings(DISCORD_TOKEN="another-token")
    assert only == CheckResult(
        False,
        "token: rejected by Discord",
        "reset it in the developer portal, under Bot, and set DISCORD_TOKEN to it without the word Bot",
    )


async def test_an_unreachable_discord(clinic: Clinic) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{unused.getsockname()[1]}/api/v10"
        (only,) = await clinic.findings(DISCORD_API_URL=url)
    assert only.text.startswith("connection: ")
    assert "DISCORD_API_URL" in only.cure


async def test_outdated_commands_are_named(clinic: Clinic) -> None:
    clinic.server.world.commands[0] = [
        {**clinic.server.world.commands[0][0], "description": "Old."},
        {"id": "9", "type": 1, "name": "older", "description": "Gone."},
    ]
    (only,) = await clinic.broken()
    assert only.text.startswith("commands: out of date (added /quiz-admin, ")
    assert "changed /quiz" in only.text and "removed /older" in only.text
    assert only.cure == "run: dailygrad bot discord-sync"


async def test_missing_permissions_are_named_with_a_fix(clinic: Clinic, schedules: MakeSchedule) -> None:
    quiet = clinic.guild.channel("quiet", BOT_NEEDS & ~SEND_IN_THREADS)
    hidden = clinic.guild.channel("hidden", BOT_NEEDS & ~VIEW)
    for channel in (quiet, hidden):
        await schedules("discord", str(clinic.guild.id), str(channel.id), f"#{channel.name}")
    await schedules("discord", str(clinic.guild.id), "12345", "#gone")
    await schedules("discord", "98765", "1", "#elsewhere")
    said = {one.text: one.cure for one in await clinic.broken()}
    assert "#quiet (Team): missing Send Messages in Threads" in said
    assert "allow Send Messages in Threads" in said["#quiet (Team): missing Send Messages in Threads"]
    assert "#gone (Team): the bot cannot see this channel" in said
    assert "#elsewhere: the bot is no longer in its server 98765" in said
    assert any(line.startswith("#hidden (Team): ") for line in said)
    assert len(said) == 4


async def test_a_bot_in_no_server_and_without_a_service(clinic: Clinic) -> None:
    clinic.server.world.guilds.clear()
    clinic.client = None
    assert [one.text for one in await clinic.broken()] == ["servers: the bot is in no server"]
    said = [one.text for one in await clinic.findings()]
    assert "service: not configured, so scheduled channels were not checked" in said


async def test_an_unreachable_service(clinic: Clinic) -> None:
    async with ServiceClient.over_http("http://127.0.0.1:9", "token") as away:
        clinic.client = away
        (only,) = await clinic.broken()
    assert only.text.startswith("service: no answer")
    assert "dailygrad serve" in only.cure


async def test_a_wrong_clock(clinic: Clinic, present: Callable[[], datetime]) -> None:
    clinic.clock = lambda: present() - timedelta(minutes=5)
    (only,) = await clinic.broken()
    assert "behind the chat" in only.text
    assert "NTP" in only.cure


async def test_a_wrong_application_id(clinic: Clinic) -> None:
    (only,) = await clinic.broken(DISCORD_APPLICATION_ID="7")
    assert only.text.startswith("application: DISCORD_APPLICATION_ID is 7, but the token belongs to ")


def test_settings_of_the_developer_portal() -> None:
    found = application_findings(
        {"id": "7", "bot_require_code_grant": True, "interactions_endpoint_url": "https://x", "bot_public": False}, None
    )
    said = [(one.good, one.text) for one in found]
    assert said == [
        (False, "application: cannot be added to servers by a link"),
        (False, "application: clicks and commands go to an endpoint URL and never reach this bot"),
        (True, "application: private; only its owner can add it to servers"),
        (True, "intents: guilds only, which needs no approval"),
    ]


def test_few_remaining_connections_are_reported() -> None:
    limit = {"total": 1000, "remaining": 3, "reset_after": 7_200_000}
    found = gateway_finding({"shards": 2, "session_start_limit": limit})
    assert not found.good
    assert found.text == "gateway: 3 of 1000 connections left today, 2 shards"
    assert "more in 2 hours" in found.cure


@pytest.mark.parametrize("date", [None, "", "yesterday", "Mon, 02 Mar 2026 08:00:00"])
def test_an_unreadable_date_is_ignored(date: str | None) -> None:
    assert clock_finding(date, AT) is None


# Permissions, as Discord's documents reckon them

ROLES = st.integers(0, (1 << 40) - 1).map(lambda bits: bits & ~8)


def guild_of(everyone: int, role: int = 0) -> dict[str, object]:
    roles = [{"id": "1", "permissions": str(everyone)}, {"id": "2", "permissions": str(role)}]
    return {"id": "1", "owner_id": "99", "roles": roles}


def overwrite(id: str, kind: int, allow: int = 0, deny: int = 0) -> dict[str, object]:
    return {"id": id, "type": kind, "allow": str(allow), "deny": str(deny)}


@given(ROLES, ROLES)
def test_permissions_of_the_bots_roles_add_up(everyone: int, role: int) -> None:
    assert permissions(guild_of(everyone, role), {}, {"roles": ["2"]}, "7") == everyone | role
    assert permissions(guild_of(everyone, role), {}, {"roles": []}, "7") == everyone


@given(ROLES, ROLES, ROLES)
def test_member_overwrites_come_last(everyone: int, allow: int, deny: int) -> None:
    channel = {"permission_overwrites": [overwrite("7", 1, allow, deny), overwrite("1", 0, deny=allow)]}
    held = permissions(guild_of(everyone), channel, {"roles": []}, "7")
    assert held == (everyone & ~allow & ~deny) | allow


def test_administrators_and_the_owner_have_every_permission() -> None:
    channel = {"permission_overwrites": [overwrite("1", 0, deny=PERMISSIONS)]}
    for held in (
        permissions(guild_of(8), channel, {"roles": []}, "7"),
        permissions(guild_of(0), channel, {"roles": []}, "99"),
    ):
        assert all(held & bit for bit in NEEDED.values())
    assert not permissions(guild_of(PERMISSIONS), channel, {"roles": []}, "7") & PERMISSIONS
