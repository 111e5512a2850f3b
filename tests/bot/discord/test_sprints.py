"""A sprint on Discord, on the real bot, service and database: from the command to the podium."""

from __future__ import annotations

from tests.bot.discord.simulated import Simulated, alone, fields, labels, raw_text, said
from tests.bot.discord.test_flows import letter_of
from tests.bot.discord.test_role_ping import pings
from tests.doubles.discord.world import Message
from tests.service.competitions.sprint_scene import pass_time
from tests.service.daily_channel import DailyChannel


class Stopwatch:
    """Lets time pass and delivers what is due."""

    def __init__(self, sim: Simulated) -> None:
        self._sim = sim
        self._daily = DailyChannel(sim.service, sim.client)

    async def passes(self, seconds: float = 1) -> None:
        self._sim.moving.advance(seconds=seconds)
        await pass_time(self._daily, seconds)
        await self._sim.service.tick()
        await self._sim.carries()

    async def asks(self, number: int) -> Message:
        """Goes on to a question and begins its time; returns its post."""
        for _ in range(9):
            shown = [one for one in self._sim.channel.seen() if f"question {number} of" in said(one)]
            if shown:
                await self.passes()
                return shown[0]
            await self.passes(5)
        raise AssertionError("no question was posted")


async def test_a_sprint_is_played_with_private_buttons_and_modals(sim: Simulated) -> None:
    watch = Stopwatch(sim)
    for question in ("two-right", "two-lines", "why-scale", "add-one"):
        await sim.client.bank_retire(sim.operator, question, question, True)
    started = await sim.boss.slash(sim.channel, "quiz-admin sprint start", questions=2, seconds=20)
    assert alone(started) and "2 questions, 20 seconds each" in said(started)
    await watch.passes()
    assert "The first one comes in 15 seconds" in said(sim.last("Sprint"))
    for number in (1, 2):
        post = await watch.asks(number)
        assert labels(post) == ["Answer"] and "seconds left" in said(post)
        asked = await sim.ada.click(post, "Answer")
        if asked.modal:
            assert "text" in fields(asked)
            recorded = await sim.ada.submit_modal(asked, {"text": "(3,)"})
        else:
            assert alone(asked)
            recorded = await sim.ada.click(asked, letter_of(said(asked), "`(3, 2)`"))
        assert alone(recorded) and "Your answer is recorded" in said(recorded)
        await watch.passes(8)
        assert post.edited and "1 answer so far" in said(post) and labels(post) == ["Answer"]
        await watch.passes(20)
        assert "Time is up. 1 of 1 answered right." in said(post) and labels(post) == []
        reveal = said(sim.last("Answer · "))
        assert f"question {number} of 2" in reveal and "Fastest: @Ada" in reveal and "Standings" in reveal
        assert raw_text(sim.last("Answer · ")).count(f"<@{sim.ada.id}>") == 2, "the fastest, and a row of the standings"
        if not asked.modal:
            assert "Time is up" in said(await sim.ada.click(recorded, "A"))
    await watch.passes(10)
    podium = said(sim.last("Sprint: the podium"))
    assert f"<@{sim.ada.id}>" in raw_text(sim.last("Sprint: the podium")) and pings(sim) == []
    assert "🥇 @Ada" in podium and "2 of 2 right" in podium and "1 member played." in podium
    kinds = [said(one).partition("\n")[0] for one in sim.channel.seen()]
    assert len(kinds) == 6, kinds


async def test_a_bot_that_restarts_in_a_sprint_posts_everything_once(sim: Simulated) -> None:
    watch = Stopwatch(sim)
    await sim.client.sprint_start(sim.operator, "sprint", sim.where, 2, 20)
    for number in (1, 2):
        post = await watch.asks(number)
        await sim.restarts()
        asked = await sim.ada.click(post, "Answer")
        assert asked.modal or alone(asked), "a button works after a restart"
        await watch.passes(20)
        await sim.restarts()
    await watch.passes(10)
    titles = [said(one).partition("\n")[0] for one in sim.channel.seen()]
    assert len(titles) == len(set(titles)) == 6, titles
