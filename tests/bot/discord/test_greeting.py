"""The greeting: sent once to the person who added the bot, and three clicks away from a schedule."""

from __future__ import annotations

from datetime import timedelta

from tests.bot.discord.simulated import JOINED, Person, Simulated, fields, labels, messages_of, said


def told(person: Person) -> list[str]:
    """Returns the titles of somebody's direct messages."""
    return [said(one).partition("\n")[0] for one in person.alone]


async def comes_back(sim: Simulated) -> None:
    """Restarts the bot an hour after it was added."""
    sim.moving.now = JOINED + timedelta(hours=1)
    await sim.restarts()


async def test_the_owner_is_greeted_once(sim: Simulated) -> None:
    owner = sim.owner
    await comes_back(sim)
    assert told(owner) == ["## Hello, I am Dailygrad"]
    await sim.restarts()
    guild = sim.app.bot.get_guild(sim.guild.id)
    assert guild is not None
    for added in (True, False, True):
        await sim.app.greeter.greet_server(guild, added)
    assert len(told(owner)) == 1 and sim.journal.unanswered() == []


async def test_a_lost_journal_repeats_no_greeting(sim: Simulated) -> None:
    """Discord itself would merge two greetings only within minutes."""
    await comes_back(sim)
    sim.journal._db.execute("delete from events")
    sim.double.forget_nonces()
    await sim.restarts()
    assert told(sim.owner) == ["## Hello, I am Dailygrad"] and sim.journal.unanswered() == []


async def test_a_server_joined_long_ago_is_not_greeted(sim: Simulated) -> None:
    sim.moving.now = JOINED + timedelta(days=3)
    await sim.restarts()
    assert told(sim.owner) == []


async def test_a_schedule_takes_three_clicks(sim: Simulated) -> None:
    """All in a direct message, whose buttons know the server and that its owner is an admin."""
    owner = sim.owner
    await comes_back(sim)
    (hello,) = owner.alone
    assert "Set it up in #daily" in labels(hello)
    times = await owner.click(hello, label="Set it up in #daily")
    window = await owner.click(messages_of(times)[-1], label="09:00")
    given = {name: _first_of(field) for name, field in fields(window).items() if field["type"] in (3, 21)}
    done = await owner.submit_modal(window, given)
    (schedule,) = await sim.client.schedule_list(sim.operator)
    assert schedule.channel == str(sim.channel.id) and f"{schedule.spec.at:%H:%M}" == "09:00", said(done)


def _first_of(field: dict[str, object]) -> object:
    options = field["options"]
    assert isinstance(options, list)
    value = options[0]["value"]
    return [value] if field["type"] == 3 else value


async def test_the_person_who_added_the_bot_is_greeted(sim: Simulated) -> None:
    """The audit log says who it was."""
    sim.guild.added_by = sim.boss.member
    await comes_back(sim)
    assert told(sim.boss) == ["## Hello, I am Dailygrad"] and told(sim.owner) == []


async def test_without_direct_messages_the_greeting_goes_to_the_channel(sim: Simulated) -> None:
    sim.guild.added_by = sim.boss.member
    sim.boss.member.closed = True
    await comes_back(sim)
    assert "Set it up in #daily" in labels(sim.last("Hello"))
    refused = await sim.ada.click(sim.last("Hello"), label="Set it up in #daily")
    assert "admin" in said(refused).lower()
    allowed = await sim.boss.click(sim.last("Hello"), label="Set it up in #daily")
    assert "09:00" in labels(allowed)
