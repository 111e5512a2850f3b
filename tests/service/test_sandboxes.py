"""Workers relay runs over real sockets: complete, authorized by the token, and elsewhere if a worker is lost."""

from __future__ import annotations

import asyncio
import contextlib
import json
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path

import httpx
import pytest
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from sandbox import embedded, wire
from sandbox.client import Health, SandboxUnreachable
from sandbox.load_balancer import SandboxPool
from sandbox.wire import Limits, Outcome, Run
from service.app import build
from service.config import InvalidSettings, Settings, read_settings
from service.credentials import ServiceTokens
from service.process import listen, serve_app
from service.rounds.sandbox_turns import FairSandbox
from service.sandboxes import Relay, serve_relay
from service.wire import SandboxBusy
from service.workers import Workers
from tests.conftest import MONDAY, TOKEN, Clock
from tests.service.daily_channel import daily_channel_of
from tests.service.refusals import refused

WELL = Health(ready=2, running=1, waiting=0, isolation="full", lacks=())


@dataclass
class Seen:
    """A sandbox that notes what it is sent; a held one lets no run end, and notes whose sender has gone."""

    health_is: Health | None = WELL
    held: bool = False
    refused: str = ""
    runs: list[Run] = field(default_factory=list)
    left: list[str] = field(default_factory=list)
    changed: asyncio.Condition = field(default_factory=asyncio.Condition)

    async def run(self, run: Run) -> Outcome:
        self.runs.append(run)
        await self._tell()
        if self.held:
            try:
                await asyncio.Event().wait()
            finally:
                self.left.append(run.id.partition("#")[0])
                await self._tell()
        if self.refused:
            return Outcome(run.id, "internal", refused="full", detail=self.refused)
        shown = run.code.encode("utf-8", "replace").decode()
        return Outcome(run.id, "ok", stdout=shown, device=run.device, results=run.cases, before=3, queue_ms=2.5)

    async def health(self) -> Health:
        if self.health_is is None:
            raise SandboxUnreachable("no sandbox answers at /run/it: gone")
        return self.health_is

    async def _tell(self) -> None:
        async with self.changed:
            self.changed.notify_all()

    async def until(self, *, runs: int = 0, left: int = 0) -> None:
        async with self.changed:
            await self.changed.wait_for(lambda: len(self.runs) >= runs and len(self.left) >= left)


@asynccontextmanager
async def worker(seen: Seen, **limits: int) -> AsyncIterator[str]:
    """Yields the address of a worker that forwards runs to the sandbox."""
    with listen("127.0.0.1", 0) as listener:
        async with serve_app(Relay(seen, ServiceTokens(TOKEN).accepts, **limits), listener, grace_s=1):
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"


async def no_pause(seconds: float) -> None:
    """Makes waiting for a worker take no time."""


@asynccontextmanager
async def through(
    *urls: str, token: str | tuple[str, ...] = TOKEN, pause: Callable[[float], Awaitable[None]] = no_pause
) -> AsyncIterator[Workers]:
    """Yields the load-balanced sandbox behind these addresses."""
    workers = Workers(urls, ServiceTokens(*((token,) if isinstance(token, str) else token)), pause=pause)
    yield workers
    await workers.close()


@asynccontextmanager
async def lost_worker() -> AsyncIterator[tuple[str, list[str]]]:
    """Yields a worker that closes the connection after reading the head of each run."""
    heads: list[str] = []

    async def hang_up(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append((await reader.readuntil(b"\r\n")).decode().strip())
        writer.close()

    server = await asyncio.start_server(hang_up, "127.0.0.1", 0)
    async with server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}", heads


@asynccontextmanager
async def hostile_worker(*parts: bytes) -> AsyncIterator[str]:
    """Yields a worker that answers every request with these bytes, the last of them again and again."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError, asyncio.IncompleteReadError):
            await reader.readuntil(b"\r\n\r\n")
            writer.writelines(parts[:-1])
            while True:
                writer.write(parts[-1])
                await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"


LONG = Run("long", "while True: pass", limits=Limits(wall_ms=60_000, cpu_ms=60_000))


# What a worker may answer

HEAD = b"HTTP/1.1 %d OK\r\nTransfer-Encoding: chunked\r\n%s\r\n"
MEGABYTE = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"


@pytest.mark.parametrize(
    "head", [HEAD % (200, b""), HEAD % (401, b""), HEAD % (500, b""), HEAD % (200, b"Content-Encoding: gzip\r\n")]
)
async def test_a_worker_that_answers_without_end_is_lost(monkeypatch: pytest.MonkeyPatch, head: bytes) -> None:
    monkeypatch.setattr("service.workers.MAX_FRAME_BYTES", 3 << 20)
    async with hostile_worker(head, MEGABYTE) as url, through(url) as sandbox:
        with pytest.raises(SandboxUnreachable, match="answers more than"):
            await sandbox.health()
        outcome = await sandbox.run(Run("r", "1"))
    assert outcome.status == "internal" and "answers more than" in outcome.detail


async def test_a_worker_that_answers_drop_by_drop_is_lost_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("service.workers._HEALTH_TIMEOUT_SECONDS", 0.2)
    async with hostile_worker(HEAD % (200, b""), b"1\r\nx\r\n") as url, through(url) as sandbox:
        with pytest.raises(SandboxUnreachable, match="was lost"):
            await sandbox.health()


LIES: list[dict[str, object]] = [
    {"ready": "2"},
    {"ready": True},
    {"running": -1},
    {"waiting": 1e400},
    {"waiting": 10**20},
    {"wait_s": float("nan")},
    {"wait_s": None},
    {"isolation": "none"},
    {"lacks": "all"},
    {"lacks": [1]},
    {"versions": []},
    {"versions": {"torch": 2}},
    {"devices": ["tpu"]},
    {"devices": {}},
    {"trouble": 7},
    {"trouble": "x" * 200_000},
    {"surprise": 1},
]
NO_OBJECTS = [b"[]", b"null", b"[" * 100_000, b"{}"]


@pytest.mark.parametrize("lie", [*NO_OBJECTS, *(json.dumps({**asdict(WELL), **lie}).encode() for lie in LIES)])
async def test_a_worker_whose_health_makes_no_sense_is_lost(lie: bytes) -> None:
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(lie), lie)
    async with hostile_worker(answer) as url, worker(Seen()) as good, through(url, good) as sandbox:
        health = await sandbox.health()
    assert health.ready == WELL.ready and f"{url}: " in health.trouble


# What goes through


async def test_a_run_and_its_outcome_come_through_whole() -> None:
    run = Run(
        "try",
        "print('ä')\n\udc80",
        "f",
        bytes(range(256)),
        7,
        Limits(wall_ms=1234),
        "def drive(answer): ...",
        True,
        "42",
        "round",
        "cuda",
        "answer",
    )
    seen = Seen()
    async with worker(seen) as url, through(url) as workers:
        outcome = await workers.run(run)
    (sent,) = seen.runs
    assert (replace(sent, id=run.id), sent.id.startswith("try#")) == (run, True)
    shown = "print('ä')\n?"
    assert outcome == Outcome(run.id, "ok", stdout=shown, device="cuda", results=run.cases, before=3, queue_ms=2.5)


async def test_megabytes_go_through() -> None:
    run = Run("big", "", "f", bytes(24 << 20))
    async with worker(Seen()) as url, through(url) as workers:
        assert (await workers.run(run)).results == run.cases
        with pytest.raises(ValueError, match="a program of more than"):
            await workers.run(Run("larger", "x" * (wire.MAX_CODE + 1)))


@hypothesis_settings(max_examples=40)
@given(st.binary(max_size=300))
async def test_an_invalid_run_is_rejected_with_a_reason(body: bytes) -> None:
    seen = Seen()
    transport = httpx.ASGITransport(Relay(seen, ServiceTokens(TOKEN).accepts))
    async with httpx.AsyncClient(transport=transport, base_url="http://worker") as http:
        answer = await http.post("/run", content=body, headers={"Authorization": f"Bearer {TOKEN}"})
    assert (answer.status_code, answer.text.startswith("not a run: "), seen.runs) == (400, True, [])


# Who is let in


async def test_nothing_runs_without_the_token() -> None:
    async def wait(seconds: float) -> None:
        pytest.fail("waiting does not help a wrong token")

    seen, wrong = Seen(), "x" * 20
    async with (
        worker(seen) as url,
        httpx.AsyncClient(base_url=url) as http,
        through(url, token=wrong, pause=wait) as workers,
    ):
        for given_ in ({}, {"Authorization": TOKEN}, {"Authorization": f"Bearer {TOKEN}x"}):
            frame = wire.encode_run(Run("1", ""))
            assert (await http.post("/run", content=frame, headers=given_)).status_code == 401
            assert (await http.get("/health", headers=given_)).status_code == 401
        outcome = await workers.run(Run("1", ""))
        assert outcome.status == "internal"
        assert "says 401: the service token is missing or wrong" in outcome.detail
        with pytest.raises(SandboxUnreachable, match="says 401"):
            await workers.health()
    assert seen.runs == []


async def test_a_worker_with_another_valid_token_accepts_the_call() -> None:
    seen = Seen()
    async with worker(seen) as url, through(url, token=("n" * 20, TOKEN)) as workers:
        assert (await workers.run(Run("1", "here"))).stdout == "here"
        assert (await workers.health()).ready == 2
    assert len(seen.runs) == 1


async def test_there_are_no_other_routes() -> None:
    async with worker(Seen()) as url, httpx.AsyncClient(base_url=url) as http:
        http.headers["Authorization"] = f"Bearer {TOKEN}"
        for method, path in (("GET", "/"), ("GET", "/run"), ("POST", "/health"), ("GET", "/healthz")):
            assert (await http.request(method, path)).status_code == 404


# What is bounded


async def test_a_body_is_bounded_before_it_is_read() -> None:
    seen = Seen()
    frame = wire.encode_run(Run("1", "12345"))
    async with worker(seen, max_frame_bytes=len(frame)) as url, httpx.AsyncClient(base_url=url) as http:
        http.headers["Authorization"] = f"Bearer {TOKEN}"
        assert (await http.post("/run", content=frame)).status_code == 200
        assert (await http.post("/run", content=frame + b"x")).status_code == 413
        assert (await http.post("/run", content=_pieces(frame))).status_code == 411
    assert len(seen.runs) == 1


async def _pieces(frame: bytes) -> AsyncIterator[bytes]:
    yield frame


@pytest.mark.parametrize("limits", [{"max_runs": 1}, {"max_bytes": 2 * len(wire.encode_run(LONG)) - 1}])
async def test_a_value_beyond_its_limit_is_rejected_at_once(limits: dict[str, int]) -> None:
    seen = Seen(held=True)
    async with worker(seen, **limits) as url, through(url) as workers:
        first = asyncio.create_task(workers.run(LONG))
        await seen.until(runs=1)
        second = await workers.run(replace(LONG, id="next"))
        assert (second.id, second.status, second.refused) == ("next", "internal", "full")
        assert second.detail == "the worker already has 1 runs"
        first.cancel()
        await seen.until(left=1)
        third = asyncio.create_task(workers.run(LONG))
        await seen.until(runs=2)
        third.cancel()
        await seen.until(left=2)


async def test_hanging_up_ends_the_run() -> None:
    seen = Seen(held=True)
    async with worker(seen) as url, through(url) as workers:
        running = asyncio.create_task(workers.run(LONG))
        await seen.until(runs=1)
        running.cancel()
        await seen.until(left=1)
    assert seen.left == ["long"]


# Several workers


async def test_workers_take_turns_and_the_one_without_room_is_passed_over() -> None:
    one, other, full = Seen(), Seen(), Seen(refused="64 wait")
    async with worker(one) as a, worker(other) as b, worker(full) as c:
        async with through(a, b) as workers:
            for number in range(6):
                await workers.run(Run(str(number), ""))
        assert (len(one.runs), len(other.runs)) == (3, 3)
        async with through(c, a) as workers:
            assert (await workers.run(Run("x", "here"))).stdout == "here"
        async with through(c) as workers:
            outcome = await workers.run(Run("y", ""))
            assert (outcome.refused, outcome.detail) == ("full", "64 wait")
            assert len(full.runs) == 2, "a run does not wait for a worker that has answered"


async def test_a_lost_worker_s_run_is_done_by_another_and_that_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    seen = Seen()
    async with lost_worker() as (gone, heads), worker(seen) as url, through(gone, url) as workers:
        with caplog.at_level(logging.WARNING, "sandbox.load_balancer"):
            outcome = await workers.run(Run("1", "here"))
        assert (outcome.stdout, heads, len(seen.runs)) == ("here", ["POST /run HTTP/1.1"], 1)
        assert f"run 1 (program) was lost: the worker at {gone} was lost" in caplog.text
        # For a while nothing is sent there, but it is told of.
        await workers.run(Run("2", ""))
        assert len(heads) == 1
        assert gone in (await workers.health()).trouble


@pytest.mark.parametrize("began", [True, False])
async def test_a_run_waits_for_the_worker_that_takes_the_place_of_the_only_one(
    caplog: pytest.LogCaptureFixture, began: bool
) -> None:
    """As in an update of one worker: it gives up its runs when its grace period ends, and the next one starts later."""
    held, seen = Seen(held=True), Seen()
    async with AsyncExitStack() as old, AsyncExitStack() as new:
        listener = old.enter_context(listen("127.0.0.1", 0))
        port = listener.getsockname()[1]
        relay = Relay(held, ServiceTokens(TOKEN).accepts)
        await old.enter_async_context(serve_app(relay, listener, grace_s=1))
        looks = 0

        async def pause(seconds: float) -> None:
            nonlocal looks
            looks += 1
            if looks == 3:
                again = new.enter_context(listen("127.0.0.1", port, tries=1))
                await new.enter_async_context(serve_app(Relay(seen, ServiceTokens(TOKEN).accepts), again))

        workers = Workers([f"http://127.0.0.1:{port}"], ServiceTokens(TOKEN), pause=pause)
        if began:
            running = asyncio.create_task(workers.run(Run("1", "here")))
            await held.until(runs=1)
            await old.aclose()
            outcome = await running
        else:
            await old.aclose()
            outcome = await workers.run(Run("1", "here"))
        await workers.close()
    assert (outcome.status, outcome.stdout, looks) == ("ok", "here", 3)
    assert ("says 503: the worker stopped before the run ended" in caplog.text) == began
    assert "Traceback" not in caplog.text


async def test_a_lost_run_goes_to_a_worker_that_the_name_leads_to_only_now(monkeypatch: pytest.MonkeyPatch) -> None:
    """The addresses of a name are kept for seconds; a run that was lost does not wait for that."""
    held, seen, known = Seen(held=True), Seen(), ["127.0.0.1"]

    async def look_up(host: str, port: int, **_: object) -> list[tuple[object, object, object, str, tuple[str, int]]]:
        return [(None, None, None, "", (address, port)) for address in known]

    async def pause(seconds: float) -> None:
        known[:] = ["127.0.0.2"]

    with listen("127.0.0.1", 0) as listener, listen("127.0.0.2", listener.getsockname()[1], tries=1) as other:
        new = serve_app(Relay(seen, ServiceTokens(TOKEN).accepts), other, grace_s=1)
        async with new, AsyncExitStack() as old:
            await old.enter_async_context(serve_app(Relay(held, ServiceTokens(TOKEN).accepts), listener, grace_s=1))
            monkeypatch.setattr(asyncio.get_running_loop(), "getaddrinfo", look_up)
            clock = Clock(MONDAY)
            workers = Workers(
                [f"http://worker:{listener.getsockname()[1]}"], ServiceTokens(TOKEN), clock.now.timestamp, pause=pause
            )
            running = asyncio.create_task(workers.run(Run("1", "here")))
            await held.until(runs=1)
            await old.aclose()
            assert (await running).stdout == "here"
            await workers.close()


@pytest.mark.parametrize("first", ["full", "gone"])
async def test_what_a_worker_answers_says_more_than_that_another_is_gone(first: str) -> None:
    """Otherwise members would read that their code could not be run where they only have to wait."""
    with listen("127.0.0.1", 0) as listener:
        nowhere = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with worker(Seen(refused="64 wait")) as full, AsyncExitStack() as stack:
        urls = (full, nowhere) if first == "full" else (nowhere, full)
        workers = await stack.enter_async_context(through(*urls))
        outcome = await workers.run(Run("1", ""))
    assert (outcome.refused, outcome.detail) == ("full", "64 wait")


async def test_a_lost_worker_gets_no_run_and_no_worker_is_reported() -> None:
    seen = Seen()
    with listen("127.0.0.1", 0) as listener:
        nowhere = f"http://127.0.0.1:{listener.getsockname()[1]}"
    async with worker(seen) as url, through(nowhere, url) as workers:
        assert (await workers.run(Run("1", ""))).status == "ok"
    async with through(nowhere) as workers:
        outcome = await workers.run(Run("1", ""))
        assert (outcome.status, outcome.detail.startswith(f"no worker answers at {nowhere}")) == ("internal", True)
    async with through(nowhere, nowhere.replace("127.0.0.1", "127.0.0.2")) as workers:
        outcome = await workers.run(Run("1", ""))
        assert nowhere in outcome.detail and "127.0.0.2" in outcome.detail
    async with through("http://no-such-name.invalid:8001") as workers:
        outcome = await workers.run(Run("1", ""))
        assert outcome.detail == "no worker found at http://no-such-name.invalid:8001"
        with pytest.raises(SandboxUnreachable, match="no worker found at http://no-such-name"):
            await workers.health()


async def test_a_run_that_every_sandbox_failed_at_is_not_tried_by_every_worker() -> None:
    class Failing(Seen):
        async def run(self, run: Run) -> Outcome:
            self.runs.append(run)
            return Outcome(run.id, "internal", detail="it broke")

    one, other = Failing(), Failing()
    async with worker(one) as a, worker(other) as b, through(a, b) as workers:
        assert (await workers.run(Run("1", ""))).detail == "it broke"
    assert len(one.runs) + len(other.runs) == 1


async def test_two_workers_of_one_sandbox_do_not_double_it() -> None:
    gpu = replace(WELL, ready=1, devices=("cpu", "cuda"), gpu="an H100")
    async with worker(Seen()) as a, worker(Seen(gpu)) as b, worker(Seen(None)) as c, through(a, b, c) as workers:
        health = await workers.health()
    assert (health.ready, health.running, health.devices) == (2, 1, ("cpu", "cuda"))
    assert "no sandbox answers at /run/it" in health.trouble


async def test_where_one_sandbox_isolates_less_all_of_them_do() -> None:
    async with worker(Seen()) as a, worker(Seen(replace(WELL, isolation="weaker"))) as b, through(a, b) as workers:
        assert (await workers.health()).isolation == "weaker"


async def test_a_name_leads_to_its_addresses() -> None:
    async with worker(Seen()) as url, through(url.replace("127.0.0.1", "localhost")) as workers:
        assert (await workers.run(Run("1", "here"))).stdout == "here"


# As the service uses them


async def test_a_service_without_a_socket_runs_code_by_its_workers(settings: Settings, clock: Clock) -> None:
    seen = Seen(refused="64 runs are waiting already")
    async with AsyncExitStack() as stack:
        url = await stack.enter_async_context(worker(seen))
        there = settings.model_copy(update={"worker_url": url})
        service = await stack.enter_async_context(build(there, clock).running())
        daily = daily_channel_of(service)
        with refused(SandboxBusy(why="full")):
            await daily.client.run(daily.who("Ada"), "1")
        seen.refused = ""
        result = await daily.client.run(daily.who("Ada"), "print(1)")
        assert (result.status, result.before, result.queue_ms) == ("ok", 3, 2.5)
        assert (seen.runs[-1].owner != "", seen.runs[-1].priority) == (True, "free")


@pytest.mark.parametrize(
    ("given_", "said"),
    [
        (
            {"worker_url": "http://a:1", "sandbox_socket": "/run/x"},
            "WORKER_URL and DAILYGRAD_SANDBOX_SOCKET or _URL are both",
        ),
        ({"worker_url": "worker:8001"}, "'worker:8001' is not an address such as http://worker:8001"),
        ({"worker_url": "http://a:1, http://b:1/x"}, "'http://b:1/x' is not an address"),
        ({"worker_url": "http://u:p@a:1"}, "is not an address"),
        ({"relay_port": 8001}, "RELAY_PORT is set but DAILYGRAD_SANDBOX_SOCKET and _URL are not"),
        ({"relay_port": 99999, "sandbox_socket": "/run/x"}, "DAILYGRAD_RELAY_PORT: input should be less"),
    ],
)
def test_settings_that_contradict_stop_the_start(given_: dict[str, object], said: str) -> None:
    with pytest.raises(InvalidSettings, match=said):
        read_settings(database_url="postgresql://db/quiz", service_token=TOKEN, **given_)


def test_what_is_set_to_nothing_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DAILYGRAD_SANDBOX_SOCKET", "")
    monkeypatch.setenv("DAILYGRAD_RELAY_PORT", "")
    settings = read_settings(database_url="postgresql://db/quiz", service_token=TOKEN)
    assert (settings.sandbox_paths, settings.relay_port) == ((), None)


def test_several_workers_may_be_named() -> None:
    said = "http://worker:8001, http://[::1]:9/ http://10.0.0.7"
    settings = read_settings(database_url="postgresql://db/quiz", service_token=TOKEN, worker_url=said)
    assert settings.worker_urls == ("http://worker:8001", "http://[::1]:9", "http://10.0.0.7")


# With a real sandbox


@pytest.fixture
async def double(tmp_path: Path) -> AsyncIterator[embedded.EmbeddedSandbox]:
    """A sandbox of two places."""
    started = embedded.start(tmp_path, concurrency=2)
    await started.client.until_ready()
    yield started
    started.stop()


@pytest.mark.sandbox
async def test_a_member_has_one_run_at_work_whichever_service_and_worker_it_came_by(
    double: embedded.EmbeddedSandbox,
) -> None:
    """Ada's second run waits although a slot is free, a third is refused, and Bob's run runs beside hers."""
    async with AsyncExitStack() as stack:
        fair = []
        for _ in "ab":
            sandbox = FairSandbox(SandboxPool([double.socket]))
            with listen("127.0.0.1", 0) as found:
                port = found.getsockname()[1]
            await stack.enter_async_context(serve_relay(sandbox, ServiceTokens(TOKEN).accepts, "127.0.0.1", port))
            workers = await stack.enter_async_context(through(f"http://127.0.0.1:{port}"))
            fair.append(FairSandbox(workers))

        async def run_of(member: int, by: int, run: Run) -> Outcome:
            async with fair[by].turn(member, "free") as turn:
                return await turn.run(run)

        first = asyncio.create_task(run_of(1, 0, LONG))
        await _until(double, running=1, waiting=0)
        second = asyncio.create_task(run_of(1, 1, LONG))
        await _until(double, running=1, waiting=1)
        third = FairSandbox(SandboxPool([double.socket]))
        with refused(SandboxBusy(why="member")):
            async with third.turn(1, "free") as turn:
                await turn.run(LONG)
        assert (await run_of(2, 0, Run("bob", "print(7)"))).stdout == "7\n"
        # Hanging up on the first, at the far end of two connections, lets the second begin.
        first.cancel()
        await _until(double, running=1, waiting=0)
        second.cancel()
        await _until(double, running=0, waiting=0)


async def _until(sandbox: embedded.EmbeddedSandbox, *, running: int, waiting: int) -> None:
    while True:
        health = await sandbox.client.health()
        if (health.running, health.waiting) == (running, waiting):
            return
