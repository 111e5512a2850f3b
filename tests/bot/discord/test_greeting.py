"""The hello: once, to whoever added the bot, and from there to a first schedule in three clicks."""

from __future__ import annotations

from datetime import timedelta

from tests.bot.discord.simulated import JOINED, Person, Simulated, fields, labels, messages_of, said


def told(person: Person) -> list[str]:
    """Titles of what somebody got alone."""
    return [said(one).partition("\n")[0] for one in person.alone]


async def comes_back(sim: Simulated) -> None:
    """The bot was away while it was added, and is told of the server when it is back."""
    sim.moving.now = JOINED + timedelta(hours=1)
    await sim.restarts()


async def test_the_owner_is_greeted_once_whatever_discord_says_again(sim: Simulated) -> None:
    owner = sim.owner
    await comes_back(sim)
    assert told(owner) == ["## Hello, I am Dailygrad"]
    await sim.restarts()
    guild = sim.app.bot.get_guild(sim.guild.id)
    assert guild is not None
    for added in (True, False, True):
        await sim.app.greeter.greet_server(guild, added)
    assert len(told(owner)) == 1 and sim.journal.left() == []


async def test_a_server_joined_long_ago_is_not_greeted(sim: Simulated) -> None:
    sim.moving.now = JOINED + timedelta(days=3)
    await sim.restarts()
    assert told(sim.owner) == []


async def test_three_clicks_make_a_schedule(sim: Simulated) -> None:
    """All of them in a direct message, whose buttons know their server and that its owner may."""
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


async def test_whoever_added_it_is_greeted_and_not_the_owner(sim: Simulated) -> None:
    """The audit log says who, where the bot may read it."""
    sim.guild.added_by = sim.boss.member
    await comes_back(sim)
    assert told(sim.boss) == ["## Hello, I am Dailygrad"] and told(sim.owner) == []


async def test_who_takes_no_direct_messages_is_greeted_in_the_channel(sim: Simulated) -> None:
    sim.guild.added_by = sim.boss.member
    sim.boss.member.closed = True
    await comes_back(sim)
    assert "Set it up in #daily" in labels(sim.last("Hello"))
    refused = await sim.ada.click(sim.last("Hello"), label="Set it up in #daily")
    assert "admin" in said(refused).lower()
    allowed = await sim.boss.click(sim.last("Hello"), label="Set it up in #daily")
    assert "09:00" in labels(allowed)
