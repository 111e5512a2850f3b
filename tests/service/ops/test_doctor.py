"""The doctor names what works, what does not, and the fix."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import date, timedelta
from pathlib import Path
from typing import Any

import pytest

from sandbox import wire
from sandbox.client import SandboxClient
from service.ops import doctor
from service.rounds import schedules
from service.sandboxes import ReportsHealth
from service.store import migrations, monitoring
from service.store.members import Caller
from service.store.tables import Outbox, Schedule
from service.wire import Check
from tests.service.scenes import Stage, question

WELL: Mapping[str, Any] = {
    "ready": 2,
    "running": 0,
    "waiting": 0,
    "isolation": "full",
    "lacks": [],
    "versions": {"torch": "2.13.0"},
    "trouble": "",
}


@asynccontextmanager
async def supervisor(folder: Path, health: Mapping[str, Any]) -> AsyncIterator[SandboxClient]:
    """Serves a sandbox socket that reports this health."""

    async def reply(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(4)
        writer.write(wire.encode("health", health))
        await writer.drain()
        writer.close()

    server = await asyncio.start_unix_server(reply, folder / "sandbox.sock")
    async with server:
        yield SandboxClient(folder / "sandbox.sock")


async def examined(
    stage: Stage, caller: Caller, sandbox: ReportsHealth | None = None, revision: str = ""
) -> dict[str, Check]:
    """Runs the checks with the database's own clock; returns them by name."""
    _, now = await monitoring.server_version_and_clock(stage.session)
    wanted = revision or migrations.newest()
    checks = await doctor.examine(stage.session, caller, sandbox, wanted, now)
    return {check.name: check for check in checks}


async def test_an_empty_installation_gets_the_first_steps(stage: Stage) -> None:
    checks = await examined(stage, await stage.caller())
    assert {name: check.ok for name, check in checks.items()} == {
        "database": True,
        "migrations": True,
        "clock": True,
        "sandbox": False,
        "bank": False,
        "schedules": False,
        "messages": True,
    }
    assert checks["bank"].cure == "import a bank with bank import"
    assert checks["schedules"].cure == "make one with schedule add"
    assert "DAILYGRAD_SANDBOX_SOCKET" in checks["sandbox"].cure
    assert all(bool(check.cure) is not check.ok for check in checks.values())


async def test_an_old_schema_and_a_wrong_clock_are_named(stage: Stage) -> None:
    checks = await examined(stage, await stage.caller(), revision="9999")
    assert checks["migrations"].cure == "run `dailygrad migrate`: this program needs 9999"
    _, now = await monitoring.server_version_and_clock(stage.session)
    skewed = await doctor.examine(stage.session, await stage.caller(), None, "", now - timedelta(minutes=2))
    clock = next(check for check in skewed if check.name == "clock")
    assert not clock.ok
    assert clock.said.startswith("120.")
    assert "NTP" in clock.cure


class TestSandbox:
    """Asked over its own socket."""

    @pytest.fixture
    def ask(self, stage: Stage, tmp_path: Path) -> Callable[..., Awaitable[Check]]:
        async def ask(**health: Any) -> Check:
            async with supervisor(tmp_path, {**WELL, **health}) as client:
                return (await examined(stage, await stage.caller(), client))["sandbox"]

        return ask

    async def test_well(self, ask: Callable[..., Awaitable[Check]]) -> None:
        assert await ask() == Check(
            name="sandbox", ok=True, said="2 children ready, isolation full, torch 2.13.0", cure=""
        )

    async def test_a_weaker_isolation_says_what_the_machine_lacks(self, ask: Callable[..., Awaitable[Check]]) -> None:
        check = await ask(isolation="weaker", lacks=["user namespaces: set kernel.unprivileged_userns_clone=1"])
        assert not check.ok
        assert "isolation weaker" in check.said
        assert "unprivileged_userns_clone" in check.said

    async def test_trouble_is_passed_on(self, ask: Callable[..., Awaitable[Check]]) -> None:
        check = await ask(ready=0, versions={}, trouble="torch cannot be imported")
        assert (check.ok, check.said) == (False, "0 children ready, isolation full; torch cannot be imported")

    async def test_the_gpu_or_its_absence_is_reported(self, ask: Callable[..., Awaitable[Check]]) -> None:
        check = await ask(devices=["cpu"], gpu="no NVIDIA driver is loaded")
        assert check.ok
        assert check.said.endswith(", torch 2.13.0; GPU: no NVIDIA driver is loaded")

    async def test_a_socket_without_a_server(self, stage: Stage, tmp_path: Path) -> None:
        checks = await examined(stage, await stage.caller(), SandboxClient(tmp_path / "none.sock"))
        assert not checks["sandbox"].ok
        assert "no sandbox answers at" in checks["sandbox"].said


class TestSchedules:
    """How long the bank lasts, and when the next three questions come, in local time."""

    async def test_three_slots_in_local_time_and_enough_questions(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(*(question(f"q{number}") for number in range(doctor.LOW)))
        row = await stage.schedule(ada, at="09:30:00", zone="Asia/Kolkata", weekdays=(0, 1, 2, 3, 4, 5, 6))
        checks = await doctor.examine(stage.session, ada, None, "", stage.now)
        found = {check.name: check for check in checks}
        assert found[f"schedule {row.id} in #daily: next"].said == (
            "Thu 2026-03-05 09:30, Fri 2026-03-06 09:30, Sat 2026-03-07 09:30 Asia/Kolkata"
        )
        assert found[f"schedule {row.id} in #daily: questions"] == Check(
            name=f"schedule {row.id} in #daily: questions", ok=True, said="10 slots until one is repeated", cure=""
        )

    async def test_a_low_bank_and_a_pause_are_reported(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(question())
        row = await stage.schedule(ada)
        await schedules.pause(stage.session, ada, row.id, True, stage.now)
        checks = await examined(stage, ada)
        low = checks[f"schedule {row.id} in #daily: questions"]
        assert (low.ok, low.said) == (False, "1 slot until one is repeated")
        assert checks[f"schedule {row.id} in #daily: next"].said == "paused"

    async def test_skips_count_and_others_schedules_are_not_shown(self, stage: Stage) -> None:
        ada, eve = await stage.caller(), await stage.caller("Eve", workspace="away")
        row = await stage.schedule(ada, weekdays=(3,))
        await schedules.skip(stage.session, ada, row.id, date(2026, 3, 5), stage.now)
        checks = await doctor.examine(stage.session, ada, None, "", stage.now)
        assert any("Thu 2026-03-12 09:00, Thu 2026-03-19 09:00" in check.said for check in checks)
        theirs = await doctor.examine(stage.session, eve, None, "", stage.now)
        assert not any(f"schedule {row.id}" in check.name for check in theirs)


async def leave(stage: Stage, caller: Caller, due: timedelta, **more: object) -> None:
    values = {
        "key": f"message {next(stage.numbers)}",
        "workspace_id": caller.workspace_id,
        "chat_id": caller.chat_id,
        "channel_id": caller.channel_id,
        "kind": "notice",
        "body": {},
        "due_at": stage.now + due,
        "not_before": stage.now + due,
    }
    stage.session.add(Outbox(**{**values, **more}))
    await stage.session.flush()


async def test_a_message_that_does_not_get_out_is_named_with_its_error(stage: Stage) -> None:
    ada, eve = await stage.caller(), await stage.caller("Eve", workspace="away")
    await leave(stage, ada, timedelta(hours=1))
    await leave(stage, ada, timedelta(seconds=-30))
    await leave(stage, ada, timedelta(days=-1), state="skipped")
    stage.session.add(Schedule(workspace_id=1, channel_id=1, spec={}, since=stage.now, removed_at=stage.now))

    async def message(caller: Caller) -> Check:
        return (await doctor.examine(stage.session, caller, None, "", stage.now))[-1]

    assert await message(ada) == Check(name="messages", ok=True, said="1 message to deliver, the oldest for 30 s")
    await leave(stage, ada, timedelta(minutes=-10), state="uncertain", error="missing permission")
    stuck = await message(ada)
    assert (stuck.ok, stuck.said) == (False, "2 messages to deliver, the oldest for 600 s: missing permission")
    assert "may write in the channel" in stuck.cure
    assert (await message(eve)).said == "nothing waits to be delivered"
