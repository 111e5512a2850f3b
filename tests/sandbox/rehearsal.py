"""`python -m tests.sandbox.rehearsal SOCKET [DEVICE [USER]]`: a supervisor whose one GPU is the CPU, or a card as JSON.

Everything is as beside a GPU (queue, lane, fresh children, their walls, the watch) but CUDA itself. With a stand-in for
its driver (tests/sandbox/doubles), the start of the driver is rehearsed too.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from pathlib import Path

from sandbox.devices import ChildDevice
from sandbox.host import jail
from sandbox.host.gpu import GpuInventory
from sandbox.host.supervisor import Supervisor, SupervisorSettings, socket_in_folder

PLAIN = ChildDevice(title="the CPU, for a rehearsal")


async def rehearse(path: Path, device: ChildDevice, users: frozenset[int]) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    gpus = GpuInventory((device,), device.title)
    await Supervisor(SupervisorSettings(path, 2, users=users), jail.probe(weaker=False), gpus).serve(stop)


if __name__ == "__main__":
    given = ChildDevice.from_json(json.loads(sys.argv[2])) if len(sys.argv) > 2 else PLAIN
    path = Path(sys.argv[1])
    users = frozenset(map(int, sys.argv[3:]))
    asyncio.run(rehearse(socket_in_folder(path) if path.is_dir() else path, given, users))
