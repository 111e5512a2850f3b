"""One token posts in every server that the bot is in, so a channel, a member and a role have to be of the server whose
admin or member names them."""

from __future__ import annotations

from datetime import time

import discord
import pytest

from bot.core.dispatcher import DeliveryRefused, Target
from bot.discord.platform import DiscordPlatform
from service.wire import ScheduleSpec, Where
from tests.bot.discord.simulated import Person, Simulated, said
from tests.bot.discord.test_duels import imports_duel_bank
from tests.bot.discord.test_platform import CARD, platform_of
from tests.bot.discord.test_presence import heard
from tests.bot.discord.test_winner_role import announcements, arrive, champion, may_give, plays
from tests.conftest import MONDAY
from tests.doubles.discord.world import BOT_NEEDS, FORUM, TEXT, Guild, Role

__all__ = ["champion"]


@pytest.fixture
async def elsewhere(sim: Simulated) -> Guild:
    """Another server that the bot is in."""
    guild = sim.double.world.guild("Elsewhere")
    await heard(sim, "guild_join", sim.double.joins(guild))
    return guild


@pytest.mark.parametrize("kind", [TEXT, FORUM])
async def test_nothing_is_posted_in_a_channel_of_another_server(sim: Simulated, elsewhere: Guild, kind: int) -> None:
    theirs = elsewhere.channel("announcements", BOT_NEEDS)
    theirs.type = kind
    await heard(sim, "guild_channel_create", sim.double.opens(theirs))
    target = Target(sim.workspace, str(theirs.id))
    with pytest.raises(DeliveryRefused, match="another server"):
        await platform_of(sim).post(target, CARD, "post:1")
    assert theirs.seen() == [] and sim.double.world.threads(theirs) == []


async def test_a_schedule_in_a_channel_of_another_server_waits_and_says_why(sim: Simulated, elsewhere: Guild) -> None:
    theirs = elsewhere.channel("announcements", BOT_NEEDS)
    await heard(sim, "guild_channel_create", sim.double.opens(theirs))
    spec = ScheduleSpec(at=time(10), zone="Europe/Berlin")
    await sim.client.schedule_add(sim.operator, "add", Where(channel=str(theirs.id), name="#announcements"), spec)
    sim.moving.now = MONDAY.replace(hour=9)
    await sim.service.tick()
    await sim.carries()
    assert theirs.seen() == []
    assert "another server" in said(await sim.boss.slash(sim.channel, "quiz-admin doctor"))


async def test_a_channel_that_the_gateway_has_not_reported_is_looked_up_once(sim: Simulated, elsewhere: Guild) -> None:
    platform = DiscordPlatform(discord.Client(intents=discord.Intents.none()), lambda: MONDAY)
    platform._client.http = sim.app.bot.http
    theirs = elsewhere.channel("announcements", BOT_NEEDS)
    for key in ("post:1", "post:2"):
        with pytest.raises(DeliveryRefused, match="another server"):
            await platform.post(Target(sim.workspace, str(theirs.id)), CARD, key)
        await platform.post(Target(sim.workspace, str(sim.channel.id)), CARD, key)
    assert theirs.seen() == [] and len(sim.channel.seen()) == 2
    looked = [one for one in sim.double.log.of("request") if one["route"] == "GET /channels/{channel_id}"]
    assert len(looked) == 2


async def test_nobody_of_another_server_is_challenged(sim: Simulated, elsewhere: Guild) -> None:
    """Discord takes the id of any account for a member option, and the bot can write to all who share a server."""
    await imports_duel_bank(sim)
    stranger = Person(sim, elsewhere.member("Mallory"))
    refused = await sim.ada.slash(sim.channel, "quiz duel", member=stranger.member)
    assert "There is no member" in said(refused)
    await sim.carries()
    assert stranger.alone == []


@pytest.mark.parametrize("right", ["administrator", "ban_members", "manage_roles"])
async def test_no_role_with_rights_of_a_moderator_is_given(sim: Simulated, champion: Role, right: str) -> None:
    """Who may change the server's settings, and so the quiz, need not be allowed to give roles."""
    await arrive(sim)
    await may_give(sim)
    champion.permissions = discord.Permissions(**{right: True}).value
    await heard(sim, "guild_role_update", sim.double.changes_role(sim.guild, champion))
    named = await sim.boss.slash(sim.channel, "quiz-admin season role", role=str(champion.id))
    assert "rights of a moderator" in said(named)
    await plays(sim, "Autumn", Boss=7)
    assert champion.holders == set() and announcements(sim) == []
    assert "rights of a moderator" in said(await sim.boss.slash(sim.channel, "quiz-admin doctor"))
    champion.permissions = 0
    await heard(sim, "guild_role_update", sim.double.changes_role(sim.guild, champion))
    await sim.boss.slash(sim.channel, "quiz-admin season role", role=str(champion.id))
    await sim.carries()
    assert champion.holders == {sim.boss.id} and len(announcements(sim)) == 1
