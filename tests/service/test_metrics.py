"""What a service tells Prometheus: what it counted, what it looks up, and never whose it is."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families

from sandbox.wire import Run
from service.leader import Leader
from service.metrics import REGISTRY, CountedRuns, exposition, serve_metrics, watch_disk, watch_memory
from service.ops.gauges import GaugeCollector
from service.rounds.sandbox_turns import FairSandbox
from service.store.session import make_engine, make_sessions
from service.wire import AnswerInput, AttemptOutcome, Delivery, ScheduleSpec, Where
from tests.conftest import MONDAY, TOKEN, Clock
from tests.service.daily_channel import DailyChannel, choice, post_code_question
from tests.service.ops.test_doctor import WELL, supervisor

SECRETIVE = Where(channel="canary-channel", name="#canary-name")


class Counted:
    """How far each number of this process has come since."""

    def __init__(self) -> None:
        self._before = dict(samples())

    def __call__(self, name: str, **labels: str) -> float:
        key = (f"dailygrad_{name}", tuple(sorted(labels.items())))
        return dict(samples()).get(key, 0.0) - self._before.get(key, 0.0)


def samples() -> Iterator[tuple[tuple[str, tuple[tuple[str, str], ...]], float]]:
    for family in REGISTRY.collect():
        for sample in family.samples:
            yield (sample.name, tuple(sorted(sample.labels.items()))), sample.value


def read(page: str) -> dict[tuple[str, ...], float]:
    """Returns the samples of a page by name (without our prefix) and label values."""
    return {
        (sample.name.removeprefix("dailygrad_"), *(value for _, value in sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(page)
        for sample in family.samples
    }


async def looked_up(daily: DailyChannel) -> dict[tuple[str, ...], float]:
    """Returns freshly collected gauges."""
    state = GaugeCollector(daily.service.sessions, daily.service.sandbox, daily.service.clock, timeout_seconds=60)
    return read((await exposition(state.gather)).decode())


async def taken_question(daily: DailyChannel) -> Delivery:
    """Returns the claimed question; the notice of a small bank is claimed with it."""
    return next(each for each in await daily.claim() if each.body.kind == "question")


@pytest.fixture
def counted() -> Counted:
    return Counted()


async def test_a_question_is_timed_from_its_slot_to_the_chats_word(
    daily: DailyChannel, clock: Clock, counted: Counted
) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.now = MONDAY + timedelta(hours=1, seconds=2)
    await daily.service.tick()
    clock.advance(seconds=3)
    delivery = await taken_question(daily)
    clock.advance(seconds=4)
    await daily.client.outbox_sent(delivery.id, "m1")
    await daily.client.outbox_sent(delivery.id, "m1")
    assert [counted("post_seconds_sum", step=step) for step in ("made", "taken", "confirmed")] == [2, 3, 7]
    assert counted("deliveries_total", kind="question", outcome="sent") == 1


async def test_failed_attempts_are_counted_by_kind(daily: DailyChannel, clock: Clock, counted: Counted) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.now = MONDAY + timedelta(hours=1)
    await daily.service.tick()
    outcomes: tuple[AttemptOutcome, ...] = ("failed", "uncertain", "refused")
    for outcome in outcomes:
        delivery = await taken_question(daily)
        await daily.client.outbox_failed(delivery.id, delivery.attempt, "no", outcome=outcome)
        clock.advance(minutes=2)
    found = [counted("deliveries_total", kind="question", outcome=it) for it in ("failed", "uncertain", "given_up")]
    assert found == [2, 1, 1]


async def test_answers_are_counted_and_timed(daily: DailyChannel, clock: Clock, counted: Counted) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.now = MONDAY + timedelta(hours=1)
    await daily.ticked()
    clock.advance(seconds=10)
    await daily.answer("r1", "a", at=clock.now - timedelta(seconds=1))
    await daily.answer("r1", "b")
    assert counted("answers_total", platform="web", status="recorded") == 1
    assert counted("answers_total", platform="web", status="changed") == 1
    assert counted("answer_seconds_sum", platform="web") == 1
    assert counted("http_requests_total", route="/v1/answer", status="200") == 2
    assert counted("http_request_seconds_count", route="/v1/answer") == 2


async def test_what_waits_is_looked_up(daily: DailyChannel, clock: Clock) -> None:
    ref = await post_code_question(daily, clock)
    await daily.answer(ref, AnswerInput(code="def double(x):\n    return 2 * x\n"))
    clock.now += timedelta(days=1)
    await daily.service.tick()
    clock.advance(minutes=5)
    found = await looked_up(daily)
    assert found["database_up",] == 1
    assert found["outbox_waiting", "web"] >= 1
    assert found["outbox_oldest_seconds", "web"] >= 300
    assert (found["posts_overdue",], found["posts_overdue_seconds",]) == (1, 300)
    assert found["answers_waiting",] == 1
    assert found["answers_waiting_seconds",] == timedelta(days=1, minutes=5).total_seconds()
    assert found["jobs", "todo", "judge_answer"] == 1
    assert (found["schedules",], found["rounds_open",], found["rounds_unclosed",]) == (1, 1, 0)
    assert found["led",] == 0
    assert ("sandbox_up",) not in found


async def test_a_slot_that_is_never_started_is_detected(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice())
    await daily.schedule()
    clock.now = MONDAY + timedelta(hours=1, seconds=59)
    assert (await looked_up(daily))["slots_owed",] == 0
    clock.advance(seconds=2)
    assert (await looked_up(daily))["slots_owed",] == 1
    await daily.service.tick()
    assert (await looked_up(daily))["slots_owed",] == 0


async def test_a_leader_is_seen_wherever_it_is(daily: DailyChannel, database_url: str) -> None:
    leader = Leader(database_url)
    assert await leader.acquire()
    assert (await looked_up(daily))["led",] == 1
    await leader.release()
    assert (await looked_up(daily))["led",] == 0


async def test_the_database_is_asked_once_a_second_at_most(daily: DailyChannel, clock: Clock) -> None:
    seconds = iter((0.0, 0.0, 0.9, 1.0, 1.0))
    state = GaugeCollector(daily.service.sessions, None, clock, seconds.__next__, timeout_seconds=60)
    first = await state.gather()
    assert await state.gather() is first
    assert await state.gather() is not first


async def test_an_unreachable_database_is_reported(clock: Clock) -> None:
    engine = make_engine("postgresql://nobody@127.0.0.1:1/nothing")
    state = GaugeCollector(make_sessions(engine), None, clock)
    found = read((await exposition(state.gather)).decode())
    assert found["database_up",] == 0
    assert ("posts_overdue",) not in found
    await engine.dispose()


async def test_the_sandbox_is_asked_how_it_is(daily: DailyChannel, tmp_path: Path, counted: Counted) -> None:
    waiting = {**WELL, "running": 1, "waiting": 4, "trouble": "no room", "devices": ["cpu", "cuda"]}
    async with supervisor(tmp_path, waiting) as client:
        state = GaugeCollector(daily.service.sessions, FairSandbox(client), daily.service.clock, timeout_seconds=60)
        found = read((await exposition(state.gather)).decode())
    names = ("sandbox_up", "sandbox_ready", "sandbox_running", "sandbox_waiting", "sandbox_trouble")
    assert [found[name,] for name in names] == [1, 2, 1, 4, 1]
    assert found["sandbox_devices", "cuda"] == 1
    gone = GaugeCollector(daily.service.sessions, FairSandbox(client), daily.service.clock, timeout_seconds=60)
    assert read((await exposition(gone.gather)).decode())["sandbox_up",] == 0
    assert (await CountedRuns(client).run(Run("one", "1"))).status == "internal"
    assert counted("sandbox_runs_total", status="internal") == 1


async def test_the_metrics_page_needs_the_token_and_names_no_one(daily: DailyChannel, clock: Clock) -> None:
    boss = daily.who("canary-boss", workspace="canary-workspace", admin=True)
    await daily.bank(choice())
    await daily.client.schedule_add(boss, "canary-event", SECRETIVE, ScheduleSpec())
    clock.now = MONDAY + timedelta(hours=1)
    await daily.ticked()
    transport = httpx.ASGITransport(app=daily.service.api)
    async with httpx.AsyncClient(transport=transport, base_url="http://service") as http:
        assert (await http.get("/metrics")).status_code == 401
        await http.get("/canary-path")
        answer = await http.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.status_code == 200
    found = read(answer.text)
    assert found["http_requests_total", "none", "404"] >= 1
    assert ("database_connections", "in_use") in found
    assert "canary" not in answer.text


async def test_a_port_of_its_own_shows_the_page_and_nothing_else() -> None:
    async with serve_metrics("127.0.0.1", 0) as address, httpx.AsyncClient() as http:
        assert "dailygrad_leads" in (await http.get(address)).text
        assert (await http.get(address.replace("/metrics", "/v1/today"))).status_code == 404
    async with serve_metrics("127.0.0.1", None) as address:
        assert address == ""


def test_memory_is_what_the_limit_kills_for(tmp_path: Path) -> None:
    for name, text in {
        "memory.max": "536870912\n",
        "memory.current": "400000000\n",
        "memory.stat": "anon 100\ninactive_file 150000000\nactive_file 7\n",
    }.items():
        (tmp_path / name).write_text(text)
    watch_memory(tmp_path)
    assert REGISTRY.get_sample_value("dailygrad_memory_limit_bytes") == 536870912
    assert REGISTRY.get_sample_value("dailygrad_memory_bytes") == 250000000


@pytest.mark.parametrize("limit", [None, "max\n"])
def test_without_a_limit_memory_is_not_reported(tmp_path: Path, limit: str | None) -> None:
    before = REGISTRY.get_sample_value("dailygrad_memory_limit_bytes")
    if limit is not None:
        (tmp_path / "memory.max").write_text(limit)
    watch_memory(tmp_path)
    assert REGISTRY.get_sample_value("dailygrad_memory_limit_bytes") == before


def test_the_space_of_the_data_folder_is_reported(tmp_path: Path) -> None:
    watch_disk(tmp_path)
    free = REGISTRY.get_sample_value("dailygrad_disk_free_bytes")
    size = REGISTRY.get_sample_value("dailygrad_disk_size_bytes")
    assert free is not None
    assert size == shutil.disk_usage(tmp_path).total
    assert 0 < free <= size


def test_a_folder_that_is_gone_costs_its_own_figure_only(tmp_path: Path) -> None:
    watch_disk(tmp_path / "gone")
    free = REGISTRY.get_sample_value("dailygrad_disk_free_bytes")
    assert free is not None
    assert math.isnan(free)
