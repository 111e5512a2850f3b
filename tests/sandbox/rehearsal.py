"""`python -m tests.sandbox.rehearsal SOCKET`: a supervisor whose one GPU is the CPU.

Everything is as beside a GPU (queue, lane, fresh children, their walls, the watch) but CUDA itself.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from sandbox.devices import ChildDevice
from sandbox.host import jail
from sandbox.host.gpu import GpuInventory
from sandbox.host.supervisor import Supervisor, SupervisorSettings

CARDS = {
    "cpu": ChildDevice(title="the CPU, for a rehearsal"),
    # Which a torch for the CPU cannot use.
    "cuda": ChildDevice("cuda", "a card for a rehearsal", "GPU-00000000"),
}


async def rehearse(path: Path, device: ChildDevice) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    gpus = GpuInventory((device,), device.title)
    await Supervisor(SupervisorSettings(path, 2), jail.probe(weaker=False), gpus).serve(stop)


if __name__ == "__main__":
    asyncio.run(rehearse(Path(sys.argv[1]), CARDS[sys.argv[2] if len(sys.argv) > 2 else "cpu"]))
