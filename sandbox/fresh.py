"""Runs in a jail of its own: forks children that hold nothing yet, and each imports torch and makes its own context.

CUDA cannot be forked. Whatever starts its driver leaves handles, mappings and threads that only the process which
made them may use, so on a GPU every run has a process in which nothing but Python had been started. In a zygote with
a CUDA build of torch and a visible GPU these would poison every child (`POISONS` has them for a test):

- `torch.cuda.init()`, `.cuda()`, `device="cuda"`, `pin_memory()`, `torch.cuda.get_device_properties()`,
  `get_arch_list()`, bfloat16 checks, `torch.compile`: the child is told "Cannot re-initialize CUDA in forked
  subprocess";
- `torch.cuda.is_available()`, `torch.accelerator.is_available()`, and what asks them (`Optimizer.step()`,
  `torch.utils.checkpoint`, a `DataLoader(pin_memory=True)`), unless PYTORCH_NVML_BASED_CUDA_CHECK=1 and NVML answers:
  they start the driver to count, and the same follows; `torch.cuda.device_count()` where NVML does not answer, too;
- any `backward()`: the engine counts the devices of every kind and starts a thread for each; the child's own backward
  is told "Unable to handle autograd's threading in combination with fork-based multiprocessing".

(torch 2.13: torch/cuda/__init__.py, torch/optim/optimizer.py, torch/csrc/autograd/engine.cpp,
torch/csrc/utils/device_lazy_init.cpp.) The zygote of the CPU is safe from all of them because no GPU is visible to it.
"""

from __future__ import annotations

import functools
import json
import os
import shutil
import signal
import socket
import struct
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sandbox import linux, staged
from sandbox.confine import SCRATCH, Walls
from sandbox.devices import Device
from sandbox.zygote import CONTROL, Forking, tell

if TYPE_CHECKING:
    from types import ModuleType

POISONS = (
    "torch.cuda.init()",
    "torch.ones(1).cuda()",
    "torch.ones(1, device='cuda')",
    "torch.ones(1).pin_memory()",
    "torch.ones(1, requires_grad=True).sum().backward()",
    "torch.cuda.get_device_properties(0)",
    "torch.cuda.is_available()",
    "torch.optim.SGD([torch.ones(1, requires_grad=True)]).step()",
)
"""Programs that, with a GPU and without NVML's own count, leave a process that cannot be forked for CUDA."""

_RESULTS = 3


def live(walls: Walls, device: Device) -> NoReturn:
    """A child's life: the walls that must stand before any thread, then torch, the context, and the other walls."""
    try:
        hide = staged.before(walls, device)
        from sandbox import child
    except BaseException as problem:
        # As `child` tells the supervisor, which may be what could not be imported.
        said = repr(problem).encode()[:4000]
        os.write(_RESULTS, struct.pack("<IB", len(said), ord("X")) + said)
        os._exit(71)

    def get_ready(_: Walls) -> None:
        _warm(child, device.name)
        # torch leaves folders for what it might compile.
        for left in Path(SCRATCH).iterdir():
            shutil.rmtree(left, ignore_errors=True)
        hide()
        staged.after()

    child.live(walls, get_ready, device.name)


def _warm(child: ModuleType, device: str) -> None:
    """Make the context and load what nearly every answer needs: seconds, and none of them the answer's."""
    import torch

    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.LayerNorm(4)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    targets = torch.tensor([0, 1], device=device)
    torch.nn.functional.cross_entropy(model(torch.randn(2, 4, device=device)), targets).backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    child.get_warm(device)
    if device == "cuda":
        torch.cuda.synchronize()


def main() -> NoReturn:
    """Started by `sandbox.jail`, with its options as one JSON argument."""
    options = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    device = Device.read(options["fresh"])
    control = socket.socket(fileno=CONTROL)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    tell(control, {"ready": {}})
    options |= {"user": os.getuid(), "group": os.getgid()}
    Forking(control, options, functools.partial(live, device=device)).forever()
