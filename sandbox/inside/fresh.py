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

import ctypes
import functools
import json
import os
import shutil
import signal
import socket
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sandbox import linux
from sandbox.devices import Device
from sandbox.inside import confine, seccomp
from sandbox.inside.confine import SCRATCH, Isolation
from sandbox.inside.zygote import CONTROL, Forking, tell

# Raises a child's walls in two stages, around the start of a driver that needs /proc and makes threads of its own.
#
# Capabilities and Landlock belong to a thread: they are settled `before` there is a second one. What the driver needs
# only to start is taken away `after`: /proc and /sys by a process that kept the right to cover them, the system calls
# by a filter for every thread at once.


_SEEN = ("/proc", "/sys")
"""Where a driver looks for its devices when it starts."""
_MOST_FILES = 1024
"""A context alone holds dozens of device files open."""
_SECCOMP = {"x86_64": 317, "aarch64": 277}
_SET_FILTER, _EVERY_THREAD = 1, 1

_libc = ctypes.CDLL(None, use_errno=True)


def before(walls: confine.Isolation, device: Device) -> Callable[[], None]:
    """Every wall but two, in a process with one thread. What is returned covers /proc and /sys, once, later."""
    if not walls.namespaces:
        raise RuntimeError("a fresh child needs namespaces of its own: not with --weaker")
    confine.session()
    confine.identity(walls.user, walls.group)
    confine.scratch(walls.disk_mb)
    hide = _hiding()
    confine.static_limits(walls.disk_mb, _MOST_FILES)
    confine.privileges()
    # The driver reads its own /proc; nobody who could look into this process has started yet.
    linux.prctl(linux.PR_SET_DUMPABLE, 1)
    confine.files([*walls.readable, *_SEEN], writable=True, devices=device.nodes)
    return hide


def _hiding() -> Callable[[], None]:
    """Start a process that covers `_SEEN` when it is told to, for whoever may no longer do so."""
    asked, ask = os.pipe()
    pid, pidfd = linux.clone(0)
    if pid == 0:
        os.close(ask)
        _cover_when(asked)
    os.close(asked)
    os.close(pidfd)

    def hide() -> None:
        os.write(ask, b"!")
        os.close(ask)
        if os.waitpid(pid, 0)[1] != 0:
            raise OSError("/proc could not be covered")

    return hide


def _cover_when(asked: int) -> None:
    """In the other process: leaves with 0 when all is covered, and without a word when nobody is there any more."""
    try:
        if os.read(asked, 1):
            for path in filter(os.path.isdir, _SEEN):
                confine.cover(path)
            os._exit(0)
    finally:
        os._exit(1)


def after() -> None:
    """The last two walls: nobody may look into this process, and the filter for each thread there is and will be."""
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    filter_every_thread(seccomp.filter_program(linux.machine(), os.getpid(), gpu=True))


def filter_every_thread(program: bytes) -> None:
    """Install a seccomp filter in all threads of this process, or in none. Needs no_new_privs."""

    class Program(ctypes.Structure):
        _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_char_p))

    number = ctypes.c_long(_SECCOMP[linux.machine()])
    how = ctypes.c_ulong(_SET_FILTER), ctypes.c_ulong(_EVERY_THREAD)
    left = _libc.syscall(number, *how, ctypes.byref(Program(len(program) // 8, program)))
    if left != 0:
        why = f"thread {left} has another one" if left > 0 else os.strerror(ctypes.get_errno())
        raise OSError(ctypes.get_errno(), f"the filter of system calls: {why}")


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


def live(walls: Isolation, device: Device) -> NoReturn:
    """A child's life: the walls that must stand before any thread, then torch, the context, and the other walls."""
    try:
        hide = before(walls, device)
        from sandbox.inside import child
    except BaseException as problem:
        # As `child` tells the supervisor, which may be what could not be imported.
        said = repr(problem).encode()[:4000]
        os.write(_RESULTS, struct.pack("<IB", len(said), ord("X")) + said)
        os._exit(71)

    def get_ready(_: Isolation) -> None:
        _warm(child, device.name)
        # torch leaves folders for what it might compile.
        for left in Path(SCRATCH).iterdir():
            shutil.rmtree(left, ignore_errors=True)
        hide()
        after()

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
    """Started by `sandbox.host.jail`, with its options as one JSON argument."""
    options = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    device = Device.read(options["fresh"])
    control = socket.socket(fileno=CONTROL)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    tell(control, {"ready": {}})
    options |= {"user": os.getuid(), "group": os.getgid()}
    Forking(control, options, functools.partial(live, device=device)).forever()
