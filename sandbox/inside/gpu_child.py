"""Zygote for children on a GPU: imports torch and starts no driver. Each child creates its own context.

CUDA cannot be forked once its driver was started: that leaves handles, mappings and threads that only the process that
made them may use. Before, it can. So this zygote imports torch and warms up without a backward pass, which saves each
child seconds, and makes sure that it still has one thread. With a visible GPU, these calls would break every child
(`POISONS` has them for a test):

- `torch.cuda.init()`, `.cuda()`, `device="cuda"`, `pin_memory()`, `torch.cuda.get_device_properties()`,
  `get_arch_list()`, bfloat16 checks, `torch.compile`: the child gets "Cannot re-initialize CUDA in forked subprocess";
- `torch.cuda.is_available()`, `torch.accelerator.is_available()` and their callers (`Optimizer.step()`,
  `torch.utils.checkpoint`, a `DataLoader(pin_memory=True)`), unless PYTORCH_NVML_BASED_CUDA_CHECK=1 and NVML answers:
  they start the driver to count devices, with the same effect; `torch.cuda.device_count()` too if NVML does not answer;
- any `backward()`: the engine counts the devices of every kind and starts a thread for each; the child's own backward
  gets "Unable to handle autograd's threading in combination with fork-based multiprocessing".

(torch 2.13: torch/cuda/__init__.py, torch/optim/optimizer.py, torch/csrc/autograd/engine.cpp,
torch/csrc/utils/device_lazy_init.cpp.) The CPU's zygote is safe from all of them, because it sees no GPU.
"""

from __future__ import annotations

import ctypes
import fcntl
import functools
import gc
import json
import os
import shutil
import signal
import socket
import stat
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

from sandbox import linux
from sandbox.devices import ChildDevice
from sandbox.inside import confine, seccomp
from sandbox.inside.confine import SCRATCH, Confinement
from sandbox.inside.zygote import CONTROL_FD, ForkServer, send_message, use_huge_pages

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
_RESULTS_FD = 3
_DRIVER_FOLDERS = ("/proc", "/sys")
"""Where a driver looks for its devices when it starts."""
_OPERATING_SYSTEM = 304
"""CUDA_ERROR_OPERATING_SYSTEM: a system call was refused that the driver needs."""
_MAX_OPEN_FILES = 1024
"""A CUDA context alone keeps dozens of device files open."""


def main() -> NoReturn:
    """Entry point of the zygote, with JSON options from `sandbox.host.jail`."""
    options = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    device = ChildDevice.from_json(options["device"])
    versions = load_torch()
    control = socket.socket(fileno=CONTROL_FD)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    send_message(control, {"ready": versions})
    options |= {"user": os.getuid(), "group": os.getgid()}
    ForkServer(control, options, functools.partial(run_gpu_child, device=device)).serve()


def load_torch() -> dict[str, str]:
    """Imports torch and what it loads lazily. Returns the versions. Raises RuntimeError if that started the driver."""
    gc.disable()
    import numpy
    import torch

    from sandbox.inside import child, walls
    from sandbox.inside.deferred_compiler import defer_compiler

    walls.replace_silent_failures()
    defer_compiler()
    torch.set_num_threads(1)
    use_full_precision()
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.LayerNorm(4))
    torch.optim.SGD(model.parameters(), lr=0.1)
    torch.nn.functional.cross_entropy(model(torch.randn(2, 4)), torch.tensor([0, 1]))
    torch.func.vmap(torch.sin)(torch.ones(2))
    list(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(2))))
    child.seed_generators(0)
    if len(list(Path("/proc/self/task").iterdir())) != 1 or torch.cuda.is_initialized():  # type: ignore[no-untyped-call]
        raise RuntimeError(
            "importing torch started a GPU's driver or a thread: a fork of this process could not use it"
        )
    gc.collect()
    gc.enable()
    gc.freeze()
    use_huge_pages()
    return {"torch": torch.__version__, "numpy": numpy.__version__}


def run_gpu_child(confinement: Confinement, device: ChildDevice) -> NoReturn:
    """Runs a child: confines it as far as the driver allows, starts torch and its context, and confines it fully."""
    try:
        cover_folders = confine_before_driver(confinement, device)
        start_driver(device.driver)
        from sandbox.inside import child
    except BaseException as problem:
        message = repr(problem).encode()[:4000]
        os.write(_RESULTS_FD, struct.pack("<IB", len(message), ord("X")) + message)
        os._exit(71)

    def get_ready(_: Confinement) -> None:
        _warm_up(child, device.name)
        release_kernel_files()
        # torch creates folders for what it might compile.
        for leftover in Path(SCRATCH).iterdir():
            shutil.rmtree(leftover, ignore_errors=True)
        cover_folders()
        confine_after_driver()

    child.run_child(confinement, get_ready, device.name)


def start_driver(library: str) -> None:
    """Starts the CUDA driver, so that a failure is reported with its number. Does nothing without a library."""
    if not library:
        return
    error = int(ctypes.CDLL(library).cuInit(0))
    if error != 0:
        refused = "; the driver needs a system call or a file that it was refused" if error == _OPERATING_SYSTEM else ""
        raise RuntimeError(f"cuInit: error {error}{refused} (docs/gpu.md)")


def _warm_up(child: ModuleType, device: str) -> None:
    """Creates the context and loads what most answers need, so that no answer pays these seconds."""
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.LayerNorm(4)).to(device)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    targets = torch.tensor([0, 1], device=device)
    torch.nn.functional.cross_entropy(model(torch.randn(2, 4, device=device)), targets).backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    child.warm_up(device)
    if device == "cuda":
        torch.cuda.synchronize()


def use_full_precision() -> None:
    """Makes torch compute what its dtypes say, so that a right answer's results are close to those of the CPU.

    By default torch multiplies float32 in TF32 (10 bits of fraction) in cuDNN, and may sum half precision in half
    precision. An answer can change this for itself.
    """
    import torch

    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction = False
    torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction = False


# Two-stage confinement. A driver needs /proc and threads of its own. Capabilities and Landlock belong to a thread, so
# they are settled before there is a second one. What the driver needs only to start is taken away afterwards.


def confine_before_driver(confinement: Confinement, device: ChildDevice) -> Callable[[], None]:
    """Applies all layers but two, in a single-threaded process. Returns a function that covers /proc and /sys, once."""
    if not confinement.namespaces:
        raise RuntimeError("a GPU child needs namespaces of its own: not with --weaker")
    confine.start_session()
    confine.map_identity(confinement.user, confinement.group)
    confine.mount_scratch(confinement.disk_mb)
    if confinement.own_pids:
        confine.mount_own_proc()
    cover_folders = _fork_coverer()
    confine.set_static_limits(confinement.disk_mb, _MAX_OPEN_FILES)
    confine.drop_privileges()
    # The driver reads its own /proc. No process that could look into this one has been started yet.
    linux.prctl(linux.PR_SET_DUMPABLE, 1)
    # It names its threads in /proc/self/task, and takes a refusal for a failure.
    confine.restrict_files(
        [*confinement.readable, "/sys"], writable=True, devices=device.nodes, kernel_folders=["/proc"]
    )
    return cover_folders


def _fork_coverer() -> Callable[[], None]:
    """Forks a process that keeps the right to mount. Returns a function that has it cover the driver's folders."""
    read_end, write_end = os.pipe()
    pid, pidfd = linux.clone(0)
    if pid == 0:
        os.close(write_end)
        _cover_on_request(read_end)
    os.close(read_end)
    os.close(pidfd)

    def cover_folders() -> None:
        os.write(write_end, b"!")
        os.close(write_end)
        if os.waitpid(pid, 0)[1] != 0:
            raise OSError("/proc could not be covered")

    return cover_folders


def _cover_on_request(read_end: int) -> NoReturn:
    """Runs in the forked process. Exits with 0 after covering, and silently if its parent has gone."""
    try:
        if os.read(read_end, 1):
            for path in filter(os.path.isdir, _DRIVER_FOLDERS):
                confine.cover(path)
            os._exit(0)
    finally:
        os._exit(1)


def release_kernel_files() -> None:
    """Replaces the driver's descriptors of folders, and of files to write, in /proc and /sys with /dev/null.

    A descriptor of a folder would lead around the cover.
    """
    null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
    for entry in Path("/proc/self/fd").iterdir():
        number = int(entry.name)
        try:
            target = str(entry.readlink())
            folder = stat.S_ISDIR(os.fstat(number).st_mode)
        except OSError:
            continue  # the listing's own descriptor
        if target.startswith(_DRIVER_FOLDERS) and (folder or _is_writable(number)):
            os.dup2(null, number, inheritable=False)
    os.close(null)


def _is_writable(descriptor: int) -> bool:
    return fcntl.fcntl(descriptor, fcntl.F_GETFL) & os.O_ACCMODE != os.O_RDONLY


def confine_after_driver() -> None:
    """Applies the last two layers: no process may look into this one, and every thread gets the system call filter."""
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    linux.load_filter_in_all_threads(seccomp.filter_program(linux.machine(), os.getpid(), gpu=True))
