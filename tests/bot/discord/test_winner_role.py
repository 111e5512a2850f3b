"""Winners are given a role, once; what keeps the bot from it is shown with its cure and waits."""

from __future__ import annotations

import pytest

from tests.bot.discord.simulated import Simulated, said
from tests.bot.discord.test_flows import letter_of
from tests.bot.discord.test_presence import heard
from tests.bot.discord.test_role_ping import pings
from tests.bot.discord.test_sprints import Stopwatch
from tests.doubles.discord.world import MANAGE_ROLES, Message, Role

ANNOUNCED = "wins the season"


@pytest.fixture
async def champion(sim: Simulated) -> Role:
    """A role above that of the bot, which may manage none."""
    role = sim.guild.role("Champion", 5)
    sim.guild.role("Dailygrad", 3, 0, sim.double.world.application)
    await sim.restarts()
    return role


def bot_role(sim: Simulated) -> Role:
    return next(role for role in sim.guild.roles.values() if role.name == "Dailygrad")


async def may_give(sim: Simulated) -> None:
    """Allows the bot to give the role."""
    mine = bot_role(sim)
    mine.permissions, mine.position = MANAGE_ROLES, 9
    await heard(sim, "guild_role_update", sim.double.changes_role(sim.guild, mine))


def announcements(sim: Simulated) -> list[Message]:
    return [message for message in sim.channel.seen() if ANNOUNCED in said(message)]


async def plays(sim: Simulated, season: str, **points: int) -> None:
    """Plays a season in which members get points, and ends it."""
    await sim.boss.slash(sim.channel, "quiz-admin season start", name=season)
    for name, amount in points.items():
        await sim.client.member_adjust(sim.operator, f"{season}-{name}", name, amount, "for the test")
    sim.moving.advance(hours=1)
    assert "Season ended" in said(await sim.boss.slash(sim.channel, "quiz-admin season end"))
    await sim.carries()


async def arrive(sim: Simulated) -> None:
    for person in (sim.ada, sim.boss):
        await person.slash(sim.channel, "quiz me")


async def test_the_winner_gets_the_role_and_whoever_had_it_loses_it(sim: Simulated, champion: Role) -> None:
    await arrive(sim)
    await may_give(sim)
    named = await sim.boss.slash(sim.channel, "quiz-admin season role", role=str(champion.id))
    assert f"<@&{champion.id}>" in said(named) and "cannot" not in said(named)
    await plays(sim, "Autumn", Ada=7, Boss=3)
    (announced,) = announcements(sim)
    assert "Ada wins the season Autumn" in said(announced) and f"<@&{champion.id}>" in said(announced)
    assert champion.holders == {sim.ada.id}
    await plays(sim, "Winter", Boss=4)
    assert champion.holders == {sim.boss.id}
    await plays(sim, "Spring", Boss=4, Ada=4)
    assert champion.holders == {sim.ada.id, sim.boss.id}, "equals both win"
    assert len(announcements(sim)) == 2 and "Ada and Boss win" in said(sim.last("Ada and Boss win"))
    assert pings(sim) == [], "the role is named, and nobody is notified"


async def test_the_winner_is_decided_when_the_open_question_has_closed(sim: Simulated, champion: Role) -> None:
    await arrive(sim)
    await may_give(sim)
    await sim.boss.slash(sim.channel, "quiz-admin season role", role=str(champion.id))
    await sim.boss.slash(sim.channel, "quiz-admin season start", name="Autumn")
    post = await sim.opens("one-right")
    asked = await sim.ada.click(post, label="Answer")
    await sim.ada.click(asked, letter_of(said(asked), "`(3, 2)`"))
    sim.moving.advance(hours=1)
    ended = said(await sim.boss.slash(sim.channel, "quiz-admin season end"))
    assert "Its final board follows when the questions that were open at its end have closed" in ended
    assert "not decided yet" in said(await sim.boss.slash(sim.channel, "quiz-admin season list"))
    await sim.client.member_adjust(sim.operator, "late", "Boss", 50, "after the end of the season")
    await sim.carries()
    assert announcements(sim) == [] and champion.holders == set()
    await sim.closes()
    (announced,) = announcements(sim)
    assert "Ada wins the season Autumn" in said(announced) and champion.holders == {sim.ada.id}


async def test_a_missing_permission_is_shown_with_its_cure_and_the_role_waits(sim: Simulated, champion: Role) -> None:
    await sim.starts("one-right")
    await sim.closes()
    await arrive(sim)
    named = await sim.boss.slash(sim.channel, "quiz-admin season role", role=str(champion.id))
    assert "I cannot give this role yet" in said(named) and "**Manage Roles**" in said(named)
    assert "**Manage Roles**" in said(await sim.boss.slash(sim.channel, "quiz-admin doctor"))
    await plays(sim, "Autumn", Ada=7)
    assert announcements(sim) == [] and champion.holders == set()
    # Who made the schedule has left; the server's owner is told instead.
    told = [message for message in sim.owner.alone if "The winner's role cannot be given" in said(message)]
    assert len(told) == 1 and "Manage Roles" in said(told[0])
    shown = said(await sim.boss.slash(sim.channel, "quiz-admin doctor"))
    assert "the winner's role cannot be given: the bot may not give that role" in shown
    assert "Autumn" in said(await sim.boss.slash(sim.channel, "quiz-admin season list")), "the season is closed"

    bot_role(sim).permissions = MANAGE_ROLES
    await heard(sim, "guild_role_update", sim.double.changes_role(sim.guild, bot_role(sim)))
    assert "drag my role above it" in said(await sim.boss.slash(sim.channel, "quiz-admin doctor"))
    await sim.carries()
    assert announcements(sim) == []
    await may_give(sim)
    await sim.carries()
    assert champion.holders == {sim.ada.id} and len(announcements(sim)) == 1
    shown = said(await sim.boss.slash(sim.channel, "quiz-admin doctor"))
    assert "winner's role" not in shown


async def test_another_role_can_be_named_while_one_waits_and_it_can_be_turned_off(
    sim: Simulated, champion: Role
) -> None:
    await arrive(sim)
    await may_give(sim)
    await sim.boss.slash(sim.channel, "quiz-admin season role", role=str(champion.id))
    del sim.guild.roles[champion.id]
    await plays(sim, "Autumn", Ada=7)
    assert announcements(sim) == []
    other = sim.guild.role("Laureate", 1)
    await sim.boss.slash(sim.channel, "quiz-admin season role", role=str(other.id))
    await sim.carries()
    assert other.holders == {sim.ada.id} and len(announcements(sim)) == 1
    off = await sim.boss.slash(sim.channel, "quiz-admin season role", role=str(sim.guild.id))
    assert "gets no role" in said(off), "the role of everybody is none"
    await plays(sim, "Winter", Boss=7)
    assert other.holders == {sim.ada.id} and len(announcements(sim)) == 1


async def test_a_winner_who_left_the_server_is_announced_without_a_role(sim: Simulated, champion: Role) -> None:
    await arrive(sim)
    await may_give(sim)
    await sim.boss.slash(sim.channel, "quiz-admin season role", role=str(champion.id))
    del sim.guild.members[sim.ada.id]
    await plays(sim, "Autumn", Ada=7)
    assert len(announcements(sim)) == 1 and champion.holders == set()


async def test_the_winner_of_a_sprint_gets_a_role_of_its_own(sim: Simulated, champion: Role) -> None:
    watch = Stopwatch(sim)
    await may_give(sim)
    sprinter = sim.guild.role("Sprinter", 1)
    await sim.boss.slash(sim.channel, "quiz-admin season role", role=str(champion.id))
    named = await sim.boss.slash(sim.channel, "quiz-admin sprint role", role=str(sprinter.id))
    assert "When a sprint ends, its winner gets this role" in said(named)
    assert "tournament gets no role" in said(await sim.boss.slash(sim.channel, "quiz-admin tournament role"))
    for question in ("one-right", "two-right", "two-lines", "why-scale", "add-one"):
        await sim.client.bank_retire(sim.operator, question, question, True)
    await sim.boss.slash(sim.channel, "quiz-admin sprint start", questions=1, seconds=20)
    asked = await sim.ada.click(await watch.asks(1), "Answer")
    await sim.ada.submit_modal(asked, {"text": "(3,)"})
    await watch.passes(20)
    await watch.passes(10)
    announced = said(sim.last("Ada wins the sprint"))
    assert "Ada wins the sprint" in announced and f"<@&{sprinter.id}>" in announced
    assert sprinter.holders == {sim.ada.id} and champion.holders == set() and pings(sim) == []
