"""A team with a Discord server and a Slack workspace, driven through the client: what tests of linking stand on."""

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
from tests.service.roads import SPEC, Road

GUILD = Where(channel="111", name="#quiz")
TEAM = Where(channel="C1", name="#ml-quiz")
HERE: dict[Platform, Where] = {"discord": GUILD, "slack": TEAM}


@dataclass
class TwoChats:
    """The road of a team in two chats, not linked yet."""

    road: Road
    clock: Clock

    def who(self, name: str, platform: Platform, *, admin: bool = False, workspace: str = "") -> Who:
        place = workspace or {"discord": "guild", "slack": "T1"}.get(platform, "home")
        return Who(platform=platform, workspace=place, member=f"{platform}-{name}".lower(), name=name, admin=admin)

    def boss(self, platform: Platform) -> Who:
        return self.who("Boss", platform, admin=True)

    def event(self) -> str:
        return f"event {next(self.road.events)}"

    async def join_chats(self, *, sure: bool = True) -> ChatLinked:
        """Slack joins the workspace of the Discord server."""
        code = (await self.road.client.chat_link(self.boss("discord"), self.event())).code
        return await self.road.client.chat_join(self.boss("slack"), self.event(), code, sure)

    async def link(self, name: str, other: str = "") -> MemberLinked:
        """The member made known on Discord types their code on Slack."""
        code = (await self.road.client.link(self.who(name, "discord"), self.event())).code
        return await self.road.client.link_with(self.who(other or name, "slack"), self.event(), code)

    async def schedule(self, platform: Platform = "discord") -> int:
        """A schedule of that chat's channel; returns its number."""
        made = await self.road.client.schedule_add(self.boss(platform), self.event(), HERE[platform], SPEC)
        return made.id

    async def deliver(self, *platforms: Platform) -> list[Delivery]:
        """Be the couriers of these platforms until nothing waits; a message's reference is `m` and its number."""
        made: list[Delivery] = []
        for platform in platforms or ("discord", "slack"):
            while found := await self.road.client.outbox_claim(platform):
                for delivery in found:
                    await self.road.client.outbox_sent(delivery.id, f"m{delivery.id}")
                made += found
        return made

    async def asked(self, *platforms: Platform) -> str:
        """The ref of the question of the slot that comes next, posted."""
        self.clock.advance(hours=1)
        await self.road.service.tick()
        posts = [each.body for each in await self.deliver(*platforms) if isinstance(each.body, QuestionPost)]
        return posts[-1].ref

    async def closed(self) -> list[Delivery]:
        """Close what is open; what was delivered then. It is eight on the next morning afterwards."""
        self.clock.advance(hours=8)
        await self.road.service.tick()
        made = await self.deliver()
        self.clock.advance(hours=15)
        return made

    async def answer(
        self, name: str, platform: Platform, ref: str, option: str = "a", *, after: float = 1, event: str = ""
    ) -> AnswerResult:
        """An answer, so many minutes later than now."""
        at = self.clock.now + timedelta(minutes=after)
        given = AnswerInput(options=(option,))
        event = event or self.event()
        return await self.road.client.answer(self.who(name, platform), HERE[platform], event, ref, given, at)

    async def standing(self, platform: Platform = "discord", name: str = "Boss") -> list[tuple[int, str, int, int]]:
        """The board of the whole workspace: rank, name, points, rounds answered."""
        board = await self.road.client.board(self.who(name, platform), None, "all", limit=100)
        return [(row.rank, row.name, row.points, row.answered) for row in board.rows]
