"""Injects the faults of a program into a running scene.

Each fault waits for a moment in which it hurts: a running call, a post just made, a run in the sandbox. If none comes
in time, it strikes anyway.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import Counter
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, Final, LiteralString

from sandbox.client import SandboxUnreachable
from tests.chaos.diary import Slot
from tests.chaos.processes import READY_S, until, until_awaited
from tests.chaos.program import Fault
from tests.chaos.scene import Scene
from tests.doubles.discord.faults import Cut, Hold, Status

MOMENT_S: Final = 8.0
"""How long a fault waits for its moment, seconds."""
DAY_S: Final = 1800.0
"""Longer than any day, seconds."""
POST = "POST /channels/{channel_id}/messages"
REPLY = "PATCH /webhooks/{webhook_id}/{webhook_token}/messages/@original"


@dataclass
class Harm:
    """What was done, counted, and the recovery times."""

    scene: Scene
    probes: list[Slot]
    """Slots that are due right after a leader was killed, so that its successor creates their rounds."""
    done: Counter[str] = field(default_factory=Counter)
    kills: Counter[str] = field(default_factory=Counter)
    takeovers: list[float] = field(default_factory=list)
    """Seconds from a leader's death until another process leads."""
    ticks: list[float] = field(default_factory=list)
    """Seconds from a leader's death until a slot due after it has its round."""
    away: list[float] = field(default_factory=list)
    """Seconds the database was down."""
    _watching: set[asyncio.Task[None]] = field(default_factory=set)

    async def run(self, faults: tuple[Fault, ...], over: Callable[[], bool]) -> None:
        """Injects each fault when it is due; the remaining ones at the end."""
        for fault in faults:
            await self._turn(fault, over)
            await self._do(fault)
            self.done[f"{fault.kind}: {fault.what}"] += 1
        await asyncio.gather(*self._watching)

    async def _turn(self, fault: Fault, over: Callable[[], bool]) -> None:
        await until(lambda: self.scene.diary.progress >= fault.at or over(), DAY_S)

    async def _do(self, fault: Fault) -> None:
        match fault.kind:
            case "kill":
                await self._kill(fault.what)
            case "restart":
                self.away.append(await self.scene.database.restart(fault.what))
            case _:
                await self._chat(fault.what)

    # Killing

    async def _kill(self, what: str) -> None:
        name, _, moment = what.partition(", ")
        match name:
            case "the leading worker":
                await self._kill_leader()
            case "the other worker":
                _, leader = await self._leader()
                await self._strike("worker 1" if leader == "worker 2" else "worker 2", self._now)
            case "a worker":
                await self._strike((await self._leader())[1], self._at_a_job)
            case "the sandbox" if moment:
                await self._strike(name, self._in_a_run)
            case "the Discord bot" if moment:
                await self._strike(name, self._in_a_discord_post)
            case "the Slack bot" if moment:
                await self._strike(name, self._in_a_slack_post)
            case _ if moment:
                await self._strike(name, self._in_a_call(int(name[-1]) - 1))
            case _:
                await self._strike(name, self._now)

    async def _strike(self, name: str, moment: Callable[[], Coroutine[Any, Any, None]]) -> float:
        """Kills a process with SIGKILL once it is ready and its moment has come."""
        part = self.scene.parts[name]
        async with asyncio.timeout(READY_S):
            await part.up.wait()
        await moment()
        self.kills[name] += 1
        return part.kill()

    async def _now(self) -> None:
        """Does not wait for a moment."""

    def _in_a_call(self, number: int) -> Callable[[], Coroutine[Any, Any, None]]:
        async def moment() -> None:
            under_way = self.scene.relay.ambush(number, b"/v1/answer")
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(under_way.wait(), MOMENT_S)

        return moment

    async def _in_a_run(self) -> None:
        async def looked() -> bool:
            try:
                return (await self.scene.sandbox.health()).running > 0
            except SandboxUnreachable:
                return False

        await until_awaited(looked, MOMENT_S)

    async def _at_a_job(self) -> None:
        doing: LiteralString = "select 1 from procrastinate_jobs where status = 'doing' limit 1"
        await until_awaited(lambda: self.scene.database.rows(doing), MOMENT_S)

    async def _in_a_discord_post(self) -> None:
        hold = Hold(after=True)
        self.scene.chats.discord.faults.next(POST, hold)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(hold.reached.wait(), MOMENT_S)
        asyncio.get_running_loop().call_later(0.2, hold.let_go)

    async def _in_a_slack_post(self) -> None:
        fault = self.scene.chats.slack.fail("chat.postMessage", "cut after")
        await until(lambda: fault.met, MOMENT_S)

    # Leaders

    async def _leader(self, but: int = 0) -> tuple[int, str]:
        """Returns the leader's connection and name, once it is another one than `but`."""

        async def looked() -> tuple[int, str] | None:
            leader = await self.scene.database.leader()
            return leader if leader[0] not in (0, but) else None

        if (found := await until_awaited(looked, READY_S)) is None:
            raise TimeoutError(f"no other worker led within {READY_S:.0f} s")
        return found

    async def _kill_leader(self) -> None:
        connection, name = await self._leader()
        killed = await self._strike(name, self._now)
        probe = self.probes.pop() if self.probes else None
        task = asyncio.create_task(self._followed(connection, killed, probe))
        self._watching.add(task)
        if probe is not None:
            await self.scene.asks(probe)

    async def _followed(self, connection: int, killed: float, probe: Slot | None) -> None:
        """Records when another process leads, and when the slot due after the death has its round."""
        await self._leader(but=connection)
        self.takeovers.append(monotonic() - killed)
        if probe is not None and await until_awaited(lambda: self.scene.database.is_made(probe.mark), READY_S):
            self.ticks.append(monotonic() - killed)

    # The chats

    def _forget_session(self) -> None:
        self.scene.chats.discord.gateway.forget()
        self.scene.chats.discord.gateway.drop()

    async def _chat(self, what: str) -> None:
        discord, slack = self.scene.chats.discord, self.scene.chats.slack
        harm: dict[str, Callable[[], object]] = {
            "Discord: 429 to posts": lambda: discord.faults.next(POST, Status(429), 2),
            "Discord: 502 after a post was made": lambda: discord.faults.next(POST, Status(502, after=True)),
            "Discord: a post's connection cut after it was made": lambda: discord.faults.next(POST, Cut(after=True)),
            "Discord: 502 to a reply": lambda: discord.faults.next(REPLY, Status(502)),
            "Discord: the gateway drops": discord.gateway.drop,
            "Discord: the session is forgotten": self._forget_session,
            "Slack: 429 to posts": lambda: slack.fail("chat.postMessage", "429", 2),
            "Slack: 500 to posts": lambda: slack.fail("chat.postMessage", "500"),
            "Slack: a post's connection cut after it was made": lambda: slack.fail("chat.postMessage", "cut after"),
            "Slack: a reply's connection cut": lambda: slack.fail("chat.postEphemeral", "cut after"),
            "Slack: every socket is cut": slack.sockets.drop,
            "the network between bots and service is cut": self.scene.relay.cut,
        }
        if what == "Discord: the gateway asks to reconnect":
            await discord.gateway.ask_to_reconnect()
        elif what == "Slack: every socket is asked to make way":
            await slack.sockets.disconnect("refresh_requested")
        else:
            harm[what]()
