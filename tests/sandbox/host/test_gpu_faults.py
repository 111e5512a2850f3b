"""Errors of a card, as a library of NVML's names and layouts reports them: told once, and red if nothing helps."""

from __future__ import annotations

from pathlib import Path

import pytest

from sandbox.devices import ChildDevice
from sandbox.host.executors import GpuExecutor
from sandbox.host.gpu import Nvml
from sandbox.host.gpu_faults import GpuFaults
from sandbox.host.pool import ChildPool, PoolSettings
from tests.sandbox.host.test_gpu import library

__all__ = ["library"]
XID, ECC = 8, 2


@pytest.fixture
def events(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "events"
    path.touch()
    monkeypatch.setenv("NVML_DOUBLE_EVENTS", str(path))
    return path


def happens(events: Path, kind: int, data: int = 0) -> None:
    with events.open("a") as file:
        file.write(f"{kind} {data}\n")


async def test_errors_of_the_card_are_reported_once_and_those_of_programs_never(library: Path, events: Path) -> None:
    reported: list[str] = []
    nvml = Nvml([str(library)])
    pool = ChildPool(PoolSettings(bwrap=None, parked=1, disk_mb=16), reported.append)
    executor = GpuExecutor(ChildDevice("cuda", "Double 0"), pool, None, GpuFaults(nvml, 0).read)
    for xid in (13, 31, 43, 94):
        happens(events, XID, xid)
    await executor.check()
    await executor.check()
    assert executor.lost == ""
    contained = "Xid 94: an error of its memory was contained (ECC): the program that met it was ended"
    assert reported == [f"Double 0: {contained}"]
    happens(events, XID, 79)
    for _ in range(3):
        await executor.check()
        # It stays so: a card that fell off the bus may answer for a while.
        assert executor.lost.startswith("Double 0: Xid 79: it has fallen off the bus: restart the machine")
    assert reported[1:] == [executor.lost]
    nvml.close()


async def test_a_double_bit_error_of_memory_is_fatal(library: Path, events: Path) -> None:
    nvml = Nvml([str(library)])
    pool = ChildPool(PoolSettings(bwrap=None, parked=1, disk_mb=16), lambda _: None)
    executor = GpuExecutor(ChildDevice("cuda", "Double 0"), pool, None, GpuFaults(nvml, 0).read)
    happens(events, ECC)
    await executor.check()
    assert executor.lost.startswith("Double 0: Xid 48: its memory has an error that cannot be corrected (ECC): reset")
    nvml.close()


async def test_an_unknown_error_is_reported_with_its_number(library: Path, events: Path) -> None:
    happens(events, XID, 140)
    nvml = Nvml([str(library)])
    assert GpuFaults(nvml, 0).read() == [140]
    nvml.close()
