"""Questions for a GPU are asked only while a sandbox has one, and admins learn why they are not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta

import pytest

from questions.model import Question
from sandbox.client import Health, SandboxUnreachable
from sandbox.wire import Device, Outcome, Run
from service.bank_cli import import_text
from service.banks.imports import import_bank
from service.rounds import practice
from service.rounds.sandbox_turns import DEVICE_EXPIRY, FairSandbox, record_devices
from service.store.members import resolve_caller
from service.store.tables import QuestionRow as QuestionRow
from service.store.tables import Round, SandboxDevice
from service.wire import BankCheck, NothingFits, NothingToAsk, Notice, Who
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, code
from tests.service.refusals import refused
from tests.service.scenes import reading, these


@dataclass
class Machine:
    """A sandbox with these devices; without any, it does not answer."""

    devices: tuple[Device, ...] = ()

    async def health(self) -> Health:
        if not self.devices:
            raise SandboxUnreachable("gone")
        return Health(ready=1, running=0, waiting=0, isolation="full", lacks=(), devices=self.devices)

    async def run(self, run: Run) -> Outcome:
        raise NotImplementedError


BOSS = Who(platform="web", workspace="home", member="boss", name="Boss", admin=True)
CPU, BOTH, GONE = Machine(("cpu",)), Machine(("cpu", "cuda")), Machine()


def on_gpu(id_: str = "kernel", device: str = "cuda") -> Question:
    question = code(id_)
    assert question.task is not None
    return replace(question, task=replace(question.task, device=device))  # type: ignore[arg-type]


async def seen(daily: DailyChannel, machine: Machine) -> bool:
    return await record_devices(daily.service.sessions, FairSandbox(machine), daily.now)


async def test_a_device_is_forgotten_some_time_after_it_was_seen(daily: DailyChannel, clock: Clock) -> None:
    assert await seen(daily, BOTH) is True
    clock.now += DEVICE_EXPIRY
    assert await seen(daily, GONE) is False
    assert {row.device for row in await daily.rows(SandboxDevice)} == {"cpu", "cuda"}
    assert await seen(daily, CPU) is True
    clock.advance(seconds=1)
    assert await seen(daily, CPU) is True
    assert [row.device for row in await daily.rows(SandboxDevice)] == ["cpu"]
    # A worker that looked earlier but wrote later changes nothing.
    await record_devices(daily.service.sessions, FairSandbox(CPU), clock.now - timedelta(minutes=5))
    assert [row.seen_at for row in await daily.rows(SandboxDevice)] == [clock.now]


@pytest.mark.parametrize(("device", "asked"), [("cuda", ["none", "none", "asked"]), ("both", ["asked"] * 3)])
async def test_only_what_needs_a_gpu_waits_for_one(daily: DailyChannel, device: str, asked: list[str]) -> None:
    await daily.bank(on_gpu(device=device))
    found = []
    for machine in (GONE, CPU, BOTH):
        await seen(daily, machine)
        form = await daily.client.practice(daily.who("Ada"), DAILY)
        found.append("asked" if form else "none")
    assert found == asked


async def test_a_card_that_is_due_waits_too(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(on_gpu())
    await seen(daily, BOTH)
    form = await daily.client.practice(daily.who("Ada"), DAILY)
    assert form is not None
    (row,) = await daily.rows(QuestionRow)
    async with daily.service.sessions.begin() as session:
        caller = await resolve_caller(session, daily.who("Ada"), DAILY, clock.now)
        await practice.add_missed_cards(session, these(caller.member_id), row.id, clock.now)
    clock.now += 2 * DEVICE_EXPIRY
    await seen(daily, CPU)
    assert await daily.client.practice(daily.who("Ada"), DAILY) is None
    await seen(daily, BOTH)
    assert await daily.client.practice(daily.who("Ada"), DAILY) is not None


async def test_a_schedule_of_such_questions_says_why_nothing_is_asked(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(on_gpu())
    with refused(NothingFits(needs_gpu=True)):
        await daily.client.schedule_add(BOSS, "add", DAILY, SPEC)
    await seen(daily, BOTH)
    schedule = await daily.client.schedule_add(BOSS, "again", DAILY, SPEC)
    assert (await daily.client.schedule_preview(BOSS, schedule.id)).question.id == "kernel"
    clock.now += 2 * DEVICE_EXPIRY
    await seen(daily, CPU)
    with refused(NothingFits(needs_gpu=True)):
        await daily.client.schedule_preview(BOSS, schedule.id)
    clock.now = MONDAY + timedelta(hours=1)
    await seen(daily, CPU)
    bodies = await daily.ticked()
    assert [row.skipped for row in await daily.rows(Round)] == ["needs gpu"]
    assert [body for body in bodies if isinstance(body, Notice)] == [Notice(fact=NothingToAsk(needs_gpu=True))]


async def test_doctor_and_import_say_it(daily: DailyChannel) -> None:
    questions = (on_gpu(), code("double"))
    async with daily.service.sessions.begin() as session:
        view = await import_bank(session, reading(*questions), None, daily.now, True)
    assert view.for_gpu == 1
    assert "    1 judged on a GPU, and no sandbox has one: not asked until one does" in import_text(view, dry_run=False)
    assert BankCheck(ok=True, questions=1, waiting_for_gpu=1) in await daily.client.doctor(BOSS)
    await seen(daily, BOTH)
    assert BankCheck(ok=True, questions=2, waiting_for_gpu=0) in await daily.client.doctor(BOSS)
    async with daily.service.sessions.begin() as session:
        assert (await import_bank(session, reading(*questions), None, daily.now, True)).for_gpu == 0
