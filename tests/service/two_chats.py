"""A team with a Discord server and a Slack workspace, controlled through the client, for tests of linking."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta

from service.wire import (
    AnswerInput,
    AnswerResult,
    ChatLinked,
    Delivery,
    MemberLinked,
    Platform,
    QuestionPost,
    Where,
    Who,
)
from tests.conftest import Clock
from tests.service.daily_channel import SPEC, DailyChannel

GUILD = Where(channel="111", name="#quiz")
TEAM = Where(channel="C1", name="#ml-quiz")
HERE: dict[Platform, Where] = {"discord": GUILD, "slack": TEAM}


@dataclass
class TwoChats:
    """A team in two chats that are not linked yet."""

    daily: DailyChannel
    clock: Clock

    def who(self, name: str, platform: Platform, *, admin: bool = False, workspace: str = "") -> Who:
        place = workspace or {"discord": "guild", "slack": "T1"}.get(platform, "home")
        return Who(platform=platform, workspace=place, member=f"{platform}-{name}".lower(), name=name, admin=admin)

    def boss(self, platform: Platform) -> Who:
        return self.who("Boss", platform, admin=True)

    def event(self) -> str:
        return f"event {next(self.daily.events)}"

    async def join_chats(self, *, sure: bool = True) -> ChatLinked:
        """Joins the Slack workspace to that of the Discord server."""
        code = (await self.daily.client.chat_link(self.boss("discord"), self.event())).code
        return await self.daily.client.chat_join(self.boss("slack"), self.event(), code, sure)

    async def link(self, name: str, other: str = "") -> MemberLinked:
        """Links a member's accounts: their code from Discord, typed on Slack."""
        code = (await self.daily.client.link(self.who(name, "discord"), self.event())).code
        return await self.daily.client.link_with(self.who(other or name, "slack"), self.event(), code)

    async def schedule(self, platform: Platform = "discord") -> int:
        """Adds a schedule of a chat's channel; returns its number."""
        made = await self.daily.client.schedule_add(self.boss(platform), self.event(), HERE[platform], SPEC)
        return made.id

    async def deliver(self, *platforms: Platform) -> list[Delivery]:
        """Delivers all pending messages of these platforms. A message's reference is `m` and its number."""
        made: list[Delivery] = []
        for platform in platforms or ("discord", "slack"):
            while found := await self.daily.client.outbox_claim(platform):
                for delivery in found:
                    await self.daily.client.outbox_sent(delivery.id, f"m{delivery.id}")
                made += found
        return made

    async def asked(self, *platforms: Platform) -> str:
        """Posts the question of the next slot; returns its ref."""
        self.clock.advance(hours=1)
        await self.daily.service.tick()
        posts = [each.body for each in await self.deliver(*platforms) if isinstance(each.body, QuestionPost)]
        return posts[-1].ref

    async def closed(self) -> list[Delivery]:
        """Closes the open round and returns what was delivered. Leaves the clock at eight the next morning."""
        self.clock.advance(hours=8)
        await self.daily.service.tick()
        made = await self.deliver()
        self.clock.advance(hours=15)
        return made

    async def answer(
        self, name: str, platform: Platform, ref: str, option: str = "a", *, after: float = 1, event: str = ""
    ) -> AnswerResult:
        """Answers, this many minutes from now."""
        at = self.clock.now + timedelta(minutes=after)
        given = AnswerInput(options=(option,))
        event = event or self.event()
        return await self.daily.client.answer(self.who(name, platform), HERE[platform], event, ref, given, at)

    async def standing(self, platform: Platform = "discord", name: str = "Boss") -> list[tuple[int, str, int, int]]:
        """Returns the board of the whole workspace: rank, name, points, rounds answered."""
        board = await self.daily.client.board(self.who(name, platform), None, "all", limit=100)
        return [(row.rank, row.name, row.points, row.answered) for row in board.rows]
