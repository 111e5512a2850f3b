"""`python -m tests.sandbox.rehearsal SOCKET`: a supervisor whose one GPU is the CPU.

Everything is as beside a GPU (queue, lane, fresh children, their walls, the watch) but CUDA itself.
"""

from __future__ import annotations

import asyncio
import signal
import sys
from pathlib import Path

from sandbox.devices import Device
from sandbox.host import jail
from sandbox.host.gpu import Found
from sandbox.host.supervisor import Supervisor, SupervisorSettings

CARDS = {
    "cpu": Device(title="the CPU, for a rehearsal"),
    # Which a torch for the CPU cannot use.
    "cuda": Device("cuda", "a card for a rehearsal", "GPU-00000000"),
}


async def rehearse(path: Path, device: Device) -> None:
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    await Supervisor(SupervisorSettings(path, 2), jail.probe(weaker=False), Found((device,), device.title)).serve(stop)


if __name__ == "__main__":
    asyncio.run(rehearse(Path(sys.argv[1]), CARDS[sys.argv[2] if len(sys.argv) > 2 else "cpu"]))
