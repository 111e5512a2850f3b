"""The doctor's facts of a workspace. Their words are tested in `tests/bot/core/text/test_doctor.py`."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from sandbox import wire
from sandbox.client import SandboxClient
from service.ops import doctor
from service.rounds import schedules
from service.sandboxes import ReportsHealth
from service.store import migrations, monitoring, troubles
from service.store.members import Caller
from service.store.tables import Outbox, Schedule
from service.wire import (
    BankCheck,
    ClockCheck,
    MessagesCheck,
    QuestionsCheck,
    SandboxCheck,
    SchemaCheck,
    SlotsCheck,
    TroubleCheck,
    TroubleView,
    WorkspaceCheck,
)
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
) -> dict[str, WorkspaceCheck]:
    """Runs the checks with the database's own clock; returns them by kind."""
    _, now = await monitoring.server_version_and_clock(stage.session)
    wanted = revision or migrations.newest()
    checks = await doctor.examine(stage.session, caller, sandbox, wanted, now)
    return {check.kind: check for check in checks}


async def test_an_empty_installation(stage: Stage) -> None:
    checks = await examined(stage, await stage.caller())
    assert {name: check.ok for name, check in checks.items()} == {
        "database": True,
        "schema": True,
        "clock": True,
        "sandbox": False,
        "bank": False,
        "no-schedule": False,
        "messages": True,
    }
    assert checks["sandbox"] == SandboxCheck(ok=False, problem="not connected")
    assert checks["bank"] == BankCheck(ok=False, questions=0, waiting_for_gpu=0)


async def test_an_old_schema_and_a_wrong_clock(stage: Stage) -> None:
    checks = await examined(stage, await stage.caller(), revision="9999")
    assert checks["schema"] == SchemaCheck(ok=False, found=migrations.newest(), needed="9999")
    _, now = await monitoring.server_version_and_clock(stage.session)
    skewed = await doctor.examine(stage.session, await stage.caller(), None, "", now - timedelta(minutes=2))
    (clock,) = [check for check in skewed if isinstance(check, ClockCheck)]
    assert not clock.ok
    assert 120 <= clock.skew_s < 125


class TestSandbox:
    """Asked over its own socket."""

    @pytest.fixture
    def ask(self, stage: Stage, tmp_path: Path) -> Callable[..., Awaitable[WorkspaceCheck]]:
        async def ask(**health: Any) -> WorkspaceCheck:
            async with supervisor(tmp_path, {**WELL, **health}) as client:
                return (await examined(stage, await stage.caller(), client))["sandbox"]

        return ask

    async def test_well(self, ask: Callable[..., Awaitable[WorkspaceCheck]]) -> None:
        assert await ask() == SandboxCheck(ok=True, ready=2, isolation="full", torch="2.13.0")

    async def test_a_weaker_isolation_says_what_the_machine_lacks(
        self, ask: Callable[..., Awaitable[WorkspaceCheck]]
    ) -> None:
        lacks = "user namespaces: set kernel.unprivileged_userns_clone=1"
        assert await ask(isolation="weaker", lacks=[lacks]) == SandboxCheck(
            ok=False, ready=2, isolation="weaker", torch="2.13.0", lacks=(lacks,)
        )

    async def test_trouble_is_passed_on(self, ask: Callable[..., Awaitable[WorkspaceCheck]]) -> None:
        check = await ask(ready=0, versions={}, trouble="torch cannot be imported")
        assert check == SandboxCheck(ok=False, trouble="torch cannot be imported")

    async def test_the_gpu_or_its_absence_is_reported(self, ask: Callable[..., Awaitable[WorkspaceCheck]]) -> None:
        check = await ask(devices=["cpu"], gpu="no NVIDIA driver is loaded")
        assert check == SandboxCheck(ok=True, ready=2, torch="2.13.0", gpu="no NVIDIA driver is loaded")

    async def test_a_socket_without_a_server(self, stage: Stage, tmp_path: Path) -> None:
        check = (await examined(stage, await stage.caller(), SandboxClient(tmp_path / "none.sock")))["sandbox"]
        assert isinstance(check, SandboxCheck)
        assert (check.ok, check.problem) == (False, "unreachable")
        assert "no sandbox answers at" in check.trouble


class TestSchedules:
    """How long the bank lasts, and when the next three questions come."""

    async def test_three_slots_and_enough_questions(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(*(question(f"q{number}") for number in range(doctor.LOW)))
        row = await stage.schedule(ada, at="09:30:00", zone="Asia/Kolkata", weekdays=(0, 1, 2, 3, 4, 5, 6))
        checks = await doctor.examine(stage.session, ada, None, "", stage.now)
        assert QuestionsCheck(ok=True, schedule=row.id, channel="#daily", left=10) in checks
        days = tuple(datetime(2026, 3, day, 4, 0, tzinfo=UTC) for day in (5, 6, 7))
        assert (
            SlotsCheck(ok=True, schedule=row.id, channel="#daily", paused=False, next=days, zone="Asia/Kolkata")
            in checks
        )

    async def test_a_low_bank_and_a_pause_are_reported(self, stage: Stage) -> None:
        ada = await stage.caller()
        await stage.bank(question())
        row = await stage.schedule(ada)
        await schedules.pause(stage.session, ada, row.id, True, stage.now)
        checks = await examined(stage, ada)
        assert checks["questions"] == QuestionsCheck(ok=False, schedule=row.id, channel="#daily", left=1)
        slots = checks["slots"]
        assert isinstance(slots, SlotsCheck)
        assert (slots.ok, slots.paused, slots.next) == (True, True, ())

    async def test_skips_count_and_others_schedules_are_not_shown(self, stage: Stage) -> None:
        ada, eve = await stage.caller(), await stage.caller("Eve", workspace="away")
        row = await stage.schedule(ada, weekdays=(3,))
        await schedules.skip(stage.session, ada, row.id, date(2026, 3, 5), stage.now)
        checks = await doctor.examine(stage.session, ada, None, "", stage.now)
        (slots,) = [check for check in checks if isinstance(check, SlotsCheck)]
        assert [slot.date() for slot in slots.next][:2] == [date(2026, 3, 12), date(2026, 3, 19)]
        theirs = await doctor.examine(stage.session, eve, None, "", stage.now)
        assert not any(isinstance(check, SlotsCheck | QuestionsCheck) for check in theirs)


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

    async def messages(caller: Caller) -> WorkspaceCheck:
        checks = await doctor.examine(stage.session, caller, None, "", stage.now)
        return next(check for check in checks if isinstance(check, MessagesCheck))

    assert await messages(ada) == MessagesCheck(ok=True, waiting=1, age_s=30)
    await leave(stage, ada, timedelta(minutes=-10), state="uncertain", error="missing permission")
    assert await messages(ada) == MessagesCheck(ok=False, waiting=2, age_s=600, error="missing permission")
    assert await messages(eve) == MessagesCheck(ok=True)


async def test_open_troubles_are_reported_to_their_own_workspace_until_they_are_over(stage: Stage) -> None:
    ada, eve = await stage.caller(), await stage.caller("Eve", workspace="away")
    detail = {"channel": "#daily", "error": "not_in_channel", "waits": True}
    trouble = await troubles.open_trouble(stage.session, ada.workspace_id, "refused", 1, detail, stage.now)
    assert trouble is not None
    assert (await examined(stage, ada))["trouble"] == TroubleCheck(
        ok=False, trouble=TroubleView(kind="refused", channel="#daily", error="not_in_channel", since=stage.now)
    )
    assert "trouble" not in await examined(stage, eve)
    await troubles.close_trouble(stage.session, trouble, stage.now)
    assert "trouble" not in await examined(stage, ada)
