"""Several sandboxes behind one client: the least loaded is asked, a lost one's run is done elsewhere, told once."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from sandbox import embedded, wire
from sandbox.client import SandboxUnreachable
from sandbox.embedded import EmbeddedSandbox
from sandbox.load_balancer import Addresses, SandboxPool
from sandbox.wire import Limits, Outcome, Run

pytestmark = pytest.mark.slow

Answer = Callable[[Run], Awaitable[Outcome | None]]


class Seen:
    """A supervisor that speaks the wire's language and notes what it was sent; None hangs up."""

    def __init__(self, answer: Answer) -> None:
        self.runs: list[str] = []
        self._answer = answer

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        kind, head, length = wire.read_header(await reader.readexactly(wire.header_length(await reader.readexactly(4))))
        body = await reader.readexactly(length)
        if kind == "run":
            run = wire.read_run(head, body)
            self.runs.append(run.id.partition("#")[0])
            outcome = await self._answer(run)
            if outcome is not None:
                writer.write(wire.encode_outcome(outcome))
        writer.close()


@asynccontextmanager
async def at(path: Path, answer: Answer) -> AsyncIterator[Seen]:
    seen = Seen(answer)
    async with await asyncio.start_unix_server(seen.handle, path):
        yield seen
    await asyncio.to_thread(path.unlink)


async def well(run: Run) -> Outcome:
    return Outcome(run.id, "ok", stdout=run.code)


async def lost(run: Run) -> None:
    return None


class Clock:
    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


class Pauses:
    """Counts pauses instead of waiting, and does something at some of them."""

    def __init__(self, events: Mapping[int, Callable[[], Awaitable[object]]] | None = None) -> None:
        self.count = 0
        self._events = events or {}

    async def __call__(self, seconds: float) -> None:
        self.count += 1
        if self.count in self._events:
            await self._events[self.count]()


async def test_equals_take_turns_and_the_busier_one_is_spared(tmp_path: Path) -> None:
    going = asyncio.Event()

    async def slow(run: Run) -> Outcome:
        await going.wait()
        return await well(run)

    async with at(tmp_path / "a.sock", well) as a, at(tmp_path / "b.sock", well) as b:
        sandboxes = SandboxPool([tmp_path])
        for number in range(6):
            await sandboxes.run(Run(str(number), ""))
        assert len(a.runs) == len(b.runs) == 3
    async with at(tmp_path / "a.sock", slow) as a, at(tmp_path / "b.sock", well) as b:
        sandboxes = SandboxPool([tmp_path])
        waiting = [asyncio.create_task(sandboxes.run(Run("slow", "")))]
        while not a.runs:
            await asyncio.wait(waiting, timeout=0.01)
        for number in range(6):
            await sandboxes.run(Run(str(number), ""))
        assert (a.runs, len(b.runs)) == (["slow"], 6)
        going.set()
        await asyncio.gather(*waiting)


async def test_a_queue_that_was_met_counts_for_a_while(tmp_path: Path) -> None:
    clock = Clock()

    async def busy(run: Run) -> Outcome:
        return Outcome(run.id, "ok", before=5)

    async with at(tmp_path / "a.sock", busy) as a, at(tmp_path / "b.sock", well) as b:
        sandboxes = SandboxPool([tmp_path], clock)
        for number in range(5):
            await sandboxes.run(Run(str(number), ""))
        assert (len(a.runs), len(b.runs)) == (1, 4)
        clock.now = 10
        await sandboxes.run(Run("later", ""))
        assert a.runs[-1] == "later"


async def test_a_lost_run_is_done_elsewhere_and_the_lost_sandbox_left_out_for_a_while(tmp_path: Path) -> None:
    clock = Clock()
    async with at(tmp_path / "a.sock", lost) as a, at(tmp_path / "b.sock", well) as b:
        sandboxes = SandboxPool([tmp_path], clock)
        outcome = await sandboxes.run(Run("1", "here"))
        assert (outcome.status, outcome.stdout, a.runs, b.runs) == ("ok", "here", ["1"], ["1"])
        await asyncio.gather(*(sandboxes.run(Run("2", "")) for _ in range(4)))
        assert a.runs == ["1"]
        clock.now = 0.6
        await sandboxes.run(Run("3", ""))
        assert a.runs == ["1", "3"]
        clock.now = 1.2  # it failed twice, and is left out twice as long
        await sandboxes.run(Run("4", ""))
        assert a.runs == ["1", "3"]


async def test_a_run_is_lost_after_three_attempts(tmp_path: Path) -> None:
    async with (
        at(tmp_path / "a.sock", lost) as a,
        at(tmp_path / "b.sock", lost) as b,
        at(tmp_path / "c.sock", lost) as c,
        at(tmp_path / "d.sock", lost) as d,
    ):
        outcome = await SandboxPool([tmp_path]).run(Run("1", ""))
        assert outcome.status == "internal" and ".sock: ConnectionResetError" in outcome.detail
        assert sorted(map(len, (a.runs, b.runs, c.runs, d.runs))) == [0, 1, 1, 1]


async def test_a_lost_run_waits_for_the_one_that_takes_the_place_of_the_only_sandbox(tmp_path: Path) -> None:
    async with contextlib.AsyncExitStack() as old, contextlib.AsyncExitStack() as new:
        a = await old.enter_async_context(at(tmp_path / "a.sock", lost))
        pauses = Pauses({1: old.aclose, 5: lambda: new.enter_async_context(at(tmp_path / "b.sock", well))})
        outcome = await SandboxPool([tmp_path], pause=pauses).run(Run("1", "here"))
        assert (outcome.status, outcome.stdout, a.runs, pauses.count) == ("ok", "here", ["1"], 5)


async def test_a_lost_run_does_not_wait_for_ever_and_one_that_was_never_sent_not_at_all(tmp_path: Path) -> None:
    async with contextlib.AsyncExitStack() as old:
        await old.enter_async_context(at(tmp_path / "a.sock", lost))
        pauses = Pauses({1: old.aclose})
        outcome = await SandboxPool([tmp_path], pause=pauses).run(Run("1", ""))
        assert (outcome.status, pauses.count) == ("internal", 40)
        assert "a.sock: ConnectionResetError" in outcome.detail
    pauses = Pauses()
    assert (await SandboxPool([tmp_path], pause=pauses).run(Run("2", ""))).status == "internal"
    assert pauses.count == 0


async def test_a_run_that_ends_each_sandbox_is_tried_three_times(tmp_path: Path) -> None:
    async with at(tmp_path / "a.sock", lost) as a:
        pauses = Pauses()
        assert (await SandboxPool([tmp_path], pause=pauses).run(Run("1", ""))).status == "internal"
        assert (a.runs, pauses.count) == (["1"] * 3, 2)


async def test_sockets_at_which_nobody_listens_are_no_attempts(tmp_path: Path) -> None:
    for name in "abcd":
        with socket.socket(socket.AF_UNIX) as left:
            left.bind(str(tmp_path / f"{name}.sock"))
    async with at(tmp_path / "z.sock", well):
        assert (await SandboxPool([tmp_path]).run(Run("1", ""))).status == "ok"
    outcome = await SandboxPool([tmp_path]).run(Run("1", ""))
    assert outcome.status == "internal" and ".sock: ConnectionRefusedError" in outcome.detail


async def test_without_room_another_is_asked_and_a_member_s_own_bound_is_theirs_everywhere(tmp_path: Path) -> None:
    async def full(run: Run) -> Outcome:
        return Outcome(run.id, "internal", refused="member" if run.owner else "full", detail="busy")

    async with at(tmp_path / "a.sock", full) as a, at(tmp_path / "b.sock", well) as b:
        sandboxes = SandboxPool([tmp_path], Clock())
        assert (await sandboxes.run(Run("1", ""))).status == "ok"
        assert (a.runs, b.runs) == (["1"], ["1"])
        assert (await sandboxes.run(Run("2", "", owner="ada"))).refused == "member"
        assert (a.runs, b.runs) == (["1", "2"], ["1"])


async def test_sockets_come_and_go_in_a_folder_and_an_empty_one_is_reported(tmp_path: Path) -> None:
    sandboxes = SandboxPool([tmp_path])
    outcome = await sandboxes.run(Run("1", ""))
    assert outcome.status == "internal" and f"no sandbox's socket is at {tmp_path}" in outcome.detail
    with pytest.raises(SandboxUnreachable, match=r"no sandbox's socket is at .*; is it started"):
        await sandboxes.health()
    async with at(tmp_path / "late.sock", well):
        assert (await sandboxes.run(Run("1", ""))).status == "ok"
    assert (await sandboxes.run(Run("1", ""))).status == "internal"


async def test_a_path_that_is_no_folder_is_a_socket_and_health_names_the_one_that_is_lost(tmp_path: Path) -> None:
    with pytest.raises(SandboxUnreachable, match=r"no sandbox answers at .*/one.*; no sandbox answers at .*/two"):
        await SandboxPool([tmp_path / "one", tmp_path / "two"]).health()


# Two real ones


@pytest.fixture
def pair(tmp_path: Path) -> Iterator[tuple[EmbeddedSandbox, EmbeddedSandbox]]:
    """Two sandboxes of this test's own, of one place each."""
    started = embedded.start(tmp_path / "1", concurrency=1), embedded.start(tmp_path / "2", concurrency=1)
    yield started
    for one in started:
        one.stop()


SECOND = Run("x", "import time\nbegan = time.monotonic()\nwhile time.monotonic() < began + 1: pass\nprint('done')")


async def at_work(pair: tuple[EmbeddedSandbox, EmbeddedSandbox], running: asyncio.Task[Outcome]) -> EmbeddedSandbox:
    """Waits for and returns the sandbox that runs something."""
    while not running.done():
        for one in pair:
            if one.process.poll() is None and (await one.client.health()).running:
                return one
        await asyncio.wait([running], timeout=0.01)
    pytest.fail("it was over before it was killed")


@pytest.mark.sandbox
async def test_killing_one_of_two_in_the_middle_gives_one_outcome_and_killing_both_none(
    pair: tuple[EmbeddedSandbox, EmbeddedSandbox],
) -> None:
    for one in pair:
        await one.client.until_ready()
    sandboxes = SandboxPool([one.socket for one in pair], pause=Pauses())
    health = await sandboxes.health()
    assert (health.ready >= 2, health.trouble, health.isolation) == (True, "", "full")
    running = asyncio.create_task(sandboxes.run(SECOND))
    killed = await at_work(pair, running)
    killed.process.kill()
    outcome = await running
    assert (outcome.status, outcome.stdout) == ("ok", "done\n")
    # The other is known to be well, and the one that is gone is told of.
    assert str(killed.socket) in (await sandboxes.health()).trouble
    assert (await sandboxes.run(Run("y", "print(1)"))).stdout == "1\n"
    running = asyncio.create_task(sandboxes.run(Run("z", "while True: pass", limits=Limits(wall_ms=60_000))))
    (await at_work(pair, running)).process.kill()
    assert (await running).status == "internal"


async def test_a_gpu_is_found_behind_any_number_of_sandboxes_that_have_none(tmp_path: Path) -> None:
    async def without(run: Run) -> Outcome:
        return Outcome(run.id, "internal", refused="device")

    async def with_gpu(run: Run) -> Outcome:
        return Outcome(run.id, "ok", device="cuda")

    async with contextlib.AsyncExitStack() as stack:
        for name in "abcde":
            await stack.enter_async_context(at(tmp_path / f"{name}.sock", without))
        await stack.enter_async_context(at(tmp_path / "gpu.sock", with_gpu))
        outcome = await SandboxPool([tmp_path]).run(Run("1", "", device="cuda"))
    assert (outcome.status, outcome.device) == ("ok", "cuda")


async def test_each_address_of_a_name_is_a_sandbox_as_long_as_the_name_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The name server is asked every five seconds; while it fails, what was known is used."""
    known, clock = ["10.0.0.2", "10.0.0.1"], Clock()

    async def look_up(host: str, port: int, **_: object) -> list[tuple[object, object, object, str, tuple[str, int]]]:
        if not known:
            raise socket.gaierror("the name server is away")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, port)) for address in known]

    monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", look_up)
    addresses = Addresses([("gpus", 8443)], clock)

    async def found() -> list[str]:
        return [node.address for node in await addresses.current()]

    assert await found() == ["10.0.0.1", "10.0.0.2"]
    known[:] = ["10.0.0.2", "10.0.0.3"]
    clock.now = 4.9
    assert await found() == ["10.0.0.1", "10.0.0.2"]
    clock.now = 5.0
    assert await found() == ["10.0.0.2", "10.0.0.3"]
    known.clear()
    clock.now = 10.0
    assert await found() == ["10.0.0.2", "10.0.0.3"]
    known[:] = ["10.0.0.4"]
    assert await found() == ["10.0.0.2", "10.0.0.3"]
    addresses.look_again()
    assert await found() == ["10.0.0.4"]
