"""Where a run is carried out: the CPU's pool, or one lane for each GPU on which one run is at work at a time.

A GPU's children are fresh processes (`sandbox.inside.fresh`). The first is made when the first run for a GPU comes, so
that nobody's graphics memory is taken by a sandbox that needs none.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import functools
import os
import re
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sandbox.devices import DRIVER_MB, Device
from sandbox.host import jail
from sandbox.host.pool import Pool
from sandbox.host.process import Child
from sandbox.host.queue import AsyncQueue, Queue
from sandbox.host.running import execute
from sandbox.wire import Isolation, Limits, Outcome, Run

# What NVIDIA's management library (NVML) knows of the GPUs, through ctypes: no CUDA, and no context on any of them.
#
# Signatures: NVIDIA's NVML reference, `nvml.h`. For the supervisor, which is trusted and imports no torch.


LIBRARY = "libnvidia-ml.so.1"
_TEXT = 96
"""Bytes that hold any name or UUID (NVML_DEVICE_NAME_V2_BUFFER_SIZE, NVML_DEVICE_UUID_V2_BUFFER_SIZE)."""
_NOT_SUPPORTED = 3


def library_of(folders: Sequence[str]) -> tuple[str, ...]:
    """Where to look for the library: in the driver's own folders, or where the system keeps its own."""
    return tuple(f"{folder}/{LIBRARY}" for folder in folders) or (LIBRARY,)


class NvmlFailed(RuntimeError):
    """NVML is not there, or refused; the message says which call and why."""


@dataclass(frozen=True, slots=True)
class GpuCard:
    """One GPU."""

    index: int
    """Its number for NVML."""
    minor: int
    """The N of /dev/nvidiaN."""
    uuid: str
    title: str
    memory_mb: int
    split: bool
    """In MIG mode: nothing computes on the whole of it."""


class _Memory(ctypes.Structure):
    """nvmlMemory_t, in bytes."""

    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class Nvml:
    """The library, started. Raises NvmlFailed, here and in every method."""

    def __init__(self, places: Sequence[str] = (LIBRARY,)) -> None:
        self._library = _first_of(places)
        self._call("nvmlInit_v2")

    def close(self) -> None:
        """Let go of it."""
        self._call("nvmlShutdown")

    def driver(self) -> str:
        """The driver's version."""
        text = ctypes.create_string_buffer(_TEXT)
        self._call("nvmlSystemGetDriverVersion", text, ctypes.c_uint(_TEXT))
        return text.value.decode(errors="replace")

    def cards(self) -> list[GpuCard]:
        """Every GPU this process may see."""
        count = ctypes.c_uint()
        self._call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        return [self._card(index) for index in range(count.value)]

    def memory_mb(self, index: int) -> tuple[float, float]:
        """Memory of that GPU in use, by whomever, and all it has."""
        memory = self._memory(self._handle(index))
        return float(memory.used / (1 << 20)), float(memory.total / (1 << 20))

    def _card(self, index: int) -> GpuCard:
        handle, minor = self._handle(index), ctypes.c_uint()
        self._call("nvmlDeviceGetMinorNumber", handle, ctypes.byref(minor))
        total = self._memory(handle).total >> 20
        name, uuid = self._text("nvmlDeviceGetName", handle), self._text("nvmlDeviceGetUUID", handle)
        return GpuCard(index, minor.value, uuid, name, total, self._split(handle))

    def _handle(self, index: int) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        self._call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(handle))
        return handle

    def _memory(self, handle: ctypes.c_void_p) -> _Memory:
        memory = _Memory()
        self._call("nvmlDeviceGetMemoryInfo", handle, ctypes.byref(memory))
        return memory

    def _text(self, function: str, handle: ctypes.c_void_p) -> str:
        text = ctypes.create_string_buffer(_TEXT)
        self._call(function, handle, text, ctypes.c_uint(_TEXT))
        return text.value.decode(errors="replace")

    def _split(self, handle: ctypes.c_void_p) -> bool:
        now, later = ctypes.c_uint(), ctypes.c_uint()
        self._call("nvmlDeviceGetMigMode", handle, ctypes.byref(now), ctypes.byref(later), allowed=(_NOT_SUPPORTED,))
        return now.value == 1

    def _call(self, name: str, *arguments: object, allowed: tuple[int, ...] = ()) -> None:
        function = getattr(self._library, name, None)
        if function is None:
            raise NvmlFailed(f"{name} is missing in {LIBRARY}: the driver is too old")
        status = function(*arguments)
        if status != 0 and status not in allowed:
            raise NvmlFailed(f"{name}: {self._why(status)}")

    def _why(self, status: int) -> str:
        explain = getattr(self._library, "nvmlErrorString", None)
        if explain is None:
            return f"error {status}"
        explain.restype = ctypes.c_char_p
        return f"{explain(status).decode(errors='replace')} (error {status})"


def _first_of(places: Sequence[str]) -> ctypes.CDLL:
    problem = ""
    for place in places:
        try:
            return ctypes.CDLL(place)
        except OSError as found:
            problem = str(found)
    raise NvmlFailed(f"the driver's library {LIBRARY} cannot be loaded: {problem}")


# Finds the GPUs of this machine that answers may compute on, or says why there is none and how to mend it.


_CONTROL = ("nvidiactl", "nvidia-uvm")
_EXTRA = ("nvidia-uvm-tools",)
_DRIVER = "libcuda.so.1"
_ELSEWHERE = ("usr/local/nvidia/lib64", "run/opengl-driver/lib", "usr/lib/wsl/lib")
"""Where a driver's libraries lie that are not among the system's."""
_NODE = re.compile(r"nvidia[0-9]+")
_CUDA = re.compile(r"^cuda\b[^=]*=\s*(?:None|['\"](?P<version>[^'\"]+)['\"])", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Found:
    """The GPUs there are."""

    devices: tuple[Device, ...] = ()
    word: str = "no GPU was looked for"
    """What they are, or why there is none, with the cure."""


class NoGpu(Exception):
    """There is none to be had; the message says why, and the cure."""


def find_gpus(choice: str = "all", root: Path = Path("/"), torch: Path | None = None) -> Found:
    """The GPUs chosen by `all`, `none` or NVML's numbers, such as `0,2`.

    `root` and `torch` are where this machine's files and its torch lie.
    """
    if choice == "none":
        return Found(word="none is used: started with --gpus none")
    try:
        folder = _folder(root)
        _nodes(root)
        _build(torch or Path(jail.find_runtime().packages[0]) / "torch")
        nvml = Nvml(library_of([str(root / place) for place in folder]))
    except (NoGpu, NvmlFailed, RuntimeError) as problem:
        return Found(word=str(problem))
    try:
        found = [(card, _fault(card, choice, root)) for card in nvml.cards()]
    except NvmlFailed as problem:
        return Found(word=str(problem))
    finally:
        nvml.close()
    devices = tuple(_device(card, folder, root) for card, fault in found if not fault)
    faults = [f"{card.title}: {fault}" for card, fault in found if fault]
    return Found(devices, "; ".join([*(device.title for device in devices), *faults]) or "NVML knows of none")


def _nodes(root: Path) -> None:
    dev = root / "dev"
    if not any(_NODE.fullmatch(path.name) for path in dev.glob("nvidia*")):
        if not (root / "proc/driver/nvidia/version").exists():
            raise NoGpu("no NVIDIA driver is loaded")
        raise NoGpu(
            "the driver is loaded, but there is no /dev/nvidia0: a container must be given the GPU "
            "(docker compose --profile gpu); elsewhere run nvidia-modprobe"
        )
    for name in _CONTROL:
        if not (dev / name).exists():
            raise NoGpu(f"/dev/{name} is missing: run nvidia-modprobe -c 0 -u as root")
        if not os.access(dev / name, os.R_OK | os.W_OK):
            raise NoGpu(f"/dev/{name} may not be opened by user {os.getuid()}: give it mode 0666")


def _folder(root: Path) -> tuple[str, ...]:
    """Where the driver's libraries are, if not among the system's."""
    if (root / "dev/dxg").exists():
        raise NoGpu("GPUs of WSL are not used: their driver has no device files of its own")
    usual = [path for pattern in ("usr/lib/*", "usr/lib", "usr/lib64", "lib64") for path in root.glob(pattern)]
    if any((path / _DRIVER).exists() for path in usual):
        return ()
    return tuple(place for place in _ELSEWHERE if (root / place / _DRIVER).exists())[:1]


def _build(torch: Path) -> None:
    """Whether this torch can use a GPU, without importing it."""
    try:
        found = _CUDA.search((torch / "version.py").read_text(encoding="utf-8"))
    except OSError as problem:
        raise NoGpu(f"torch tells nothing of its build: {problem}") from None
    if found is None or not found["version"]:
        raise NoGpu("this torch is built for the CPU: install one for CUDA (sandbox/README.md, GPU)")


def _fault(card: GpuCard, choice: str, root: Path) -> str:
    """Why that one is not used; empty where it is."""
    node = root / f"dev/nvidia{card.minor}"
    if choice != "all" and str(card.index) not in choice.split(","):
        return f"not among --gpus {choice}"
    if card.split:
        return "it is in MIG mode, and only whole GPUs are used: nvidia-smi -mig 0"
    if not os.access(node, os.R_OK | os.W_OK):
        return f"/dev/nvidia{card.minor} is missing or may not be opened by user {os.getuid()}"
    return ""


def _device(card: GpuCard, folder: tuple[str, ...], root: Path) -> Device:
    names = [f"nvidia{card.minor}", *_CONTROL, *(name for name in _EXTRA if (root / "dev" / name).exists())]
    title = f"{card.title}, {card.memory_mb / 1024:.0f} GB"
    nodes, libraries = tuple(f"/dev/{name}" for name in names), tuple(f"/{place}" for place in folder)
    return Device("cuda", title, card.uuid, nodes, libraries, card.index)


# Watches the memory of one run from outside and ends it beyond its cap, on the host and on its GPU. Judges nothing.
#
# The kernel limits most of a child's own memory. It knows nothing of a GPU's, and of memory shared between mappings
# only what is in use; both are looked at some twenty times a second.


_EVERY_SECONDS = 0.05
_OTHERS_MB = 1024
"""The whole GPU is looked at, and another child may be making its context there meanwhile."""
_PID = re.compile(r"^Pid:\s+([0-9]+)$", re.MULTILINE)
_OWN = re.compile(r"^Rss(?:Anon|Shmem):\s+([0-9]+) kB$", re.MULTILINE)


Memory = Callable[[], tuple[float, float]]
"""MB of a GPU's memory in use, by whomever, and all there is. Raises NvmlFailed."""


def own_mb(pidfd: int) -> float:
    """What the process behind `pidfd` has in memory that is of no file. Raises OSError when it is gone."""
    found = _PID.search(Path(f"/proc/self/fdinfo/{pidfd}").read_text())
    if found is None:
        raise ProcessLookupError("it is gone")
    return sum(map(int, _OWN.findall(Path(f"/proc/{found[1]}/status").read_text()))) / 1024


class MemoryWatch:
    """One run's."""

    def __init__(self, child: Child, limits: Limits, memory_mb: Memory | None) -> None:
        self.why = ""
        """Which cap it went beyond, if it did: the child was killed then."""
        self.trouble = ""
        """Why it could not be watched any more, if so: the child was killed then, too."""
        self._child = child
        self._limits = limits
        self._memory_mb = memory_mb

    async def keep(self) -> None:
        """Look until it is gone or beyond a cap. Ends with its caller's cancelling."""
        try:
            host, gpu = own_mb(self._child.pidfd), self._gpu()
            while not self.why:
                self._look(own_mb(self._child.pidfd) - host, self._gpu() - gpu)
                await asyncio.sleep(_EVERY_SECONDS)
        except NvmlFailed as problem:
            self.trouble = f"the memory of the GPU cannot be watched: {problem}"
            self._child.kill()
        except OSError:
            return  # it has ended

    def _gpu(self) -> float:
        return self._memory_mb()[0] if self._memory_mb else 0.0

    def _look(self, host: float, gpu: float) -> None:
        spare = DRIVER_MB if self._memory_mb else 0
        for where, used, cap, allowed in (
            ("of memory", host, self._limits.memory_mb, spare),
            ("of the GPU's memory", gpu, self._limits.gpu_mb, _OTHERS_MB),
        ):
            if used > cap + allowed:
                self.why = f"it took {used:,.0f} MB {where}, and may have {cap:,} MB"
                self._child.kill()


_PARKED = 2
"""Children ready on each GPU: judging takes two, and each takes seconds to make."""
_MOST_WAITING = 64
_MOST_END_SECONDS = 10.0
_LOOK_SECONDS = 0.2


CANNOT = "The GPU of this sandbox cannot be used"


class GpuFailed(Exception):
    """No run can be carried out on the GPU; the message says why."""


class Executor:
    """A pool, and the way of a run through one of its children."""

    def __init__(self, pool: Pool) -> None:
        self.pool = pool

    async def take(self, disk_mb: int) -> Child:
        """A child for one run, as `Pool.take`."""
        return await self.pool.take(disk_mb)

    async def execute(self, child: Child, run: Run, isolation: Isolation, queue_ms: float) -> Outcome:
        """What came of the run, as `running.execute`."""
        return await execute(child, run, isolation, queue_ms)


class GpuExecutor(Executor):
    """The children of one GPU, watched while they run, and gone before the next begins."""

    def __init__(self, device: Device, pool: Pool, memory_mb: Memory | None) -> None:
        super().__init__(pool)
        self.device = device
        self.busy = False
        self._memory_mb = memory_mb

    async def take(self, disk_mb: int) -> Child:
        """As `Pool.take`, but raises GpuFailed where the last attempt to make one failed."""
        taking = asyncio.create_task(self.pool.take(disk_mb))
        try:
            while not taking.done():
                await asyncio.wait({taking}, timeout=_LOOK_SECONDS)
                if self.pool.trouble and not taking.done():
                    raise GpuFailed(self.pool.trouble)  # its next attempt may be half a minute away
        except BaseException:
            if not taking.cancel() and not taking.exception():
                taking.result().close()  # it came in the moment in which nobody wanted it any more
            raise
        return taking.result()

    async def execute(self, child: Child, run: Run, isolation: Isolation, queue_ms: float) -> Outcome:
        """As `running.execute`, under the watch; the child has ended when it returns."""
        self._check_room(run)
        watch = MemoryWatch(child, run.limits, self._memory_mb)
        watching = asyncio.create_task(watch.keep())
        try:
            outcome = await execute(child, run, isolation, queue_ms)
        finally:
            watching.cancel()
            await asyncio.gather(watching, return_exceptions=True)
            child.kill()
            # Until then the GPU's memory is not free, nor wiped by the driver.
            await asyncio.wait([child.ended], timeout=_MOST_END_SECONDS)
        outcome = replace(outcome, device=self.device.name)
        if watch.trouble:
            return replace(outcome, status="internal", results=b"", detail=watch.trouble)
        return replace(outcome, status="memory", detail=watch.why) if watch.why else outcome

    def _check_room(self, run: Run) -> None:
        """Whose fault a lack of memory is must be clear: a GPU that others have filled takes no run."""
        if self._memory_mb is None:
            return
        try:
            used, total = self._memory_mb()
        except NvmlFailed as problem:
            raise GpuFailed(str(problem)) from None
        if total - used < min(run.limits.gpu_mb, total / 2):
            raise GpuFailed(f"only {total - used:,.0f} MB are free on {self.device.title}")


def _memory_of(device: Device) -> Memory | None:
    """How the memory of a GPU is read; None where there is none to read. Raises NvmlFailed."""
    return (
        functools.partial(Nvml(library_of(device.libraries)).memory_mb, device.index) if device.name == "cuda" else None
    )


class GpuExecutors:
    """All GPUs, and the queue before them."""

    def __init__(self, found: Found, bwrap: str | None, disk_mb: int, say: Callable[[str], None]) -> None:
        self.found = found
        self.lanes = [
            GpuExecutor(device, Pool(bwrap, _PARKED, disk_mb, say, device), _memory_of(device))
            for device in found.devices
            if bwrap
        ]
        self.queue = Queue(len(self.lanes), _MOST_WAITING)
        self.turns = AsyncQueue(self.queue, time.monotonic)
        self._wanted = asyncio.Event()

    async def keep(self) -> None:
        """From the first run on, keep children ready until cancelled."""
        await self._wanted.wait()
        async with asyncio.TaskGroup() as group:
            for lane in self.lanes:
                group.create_task(lane.pool.keep())

    def why_not(self) -> str:
        """Why no run can be carried out here, to whoever sent it; empty where one can. Wakes the pools."""
        if not self.lanes:
            return f"This sandbox has no GPU: {self.found.word}"
        self._wanted.set()
        if all(lane.pool.trouble and not lane.pool.parked for lane in self.lanes):
            return f"{CANNOT}: {self.trouble}"
        return ""

    @property
    def trouble(self) -> str:
        """Why a GPU that there is cannot be used right now, for the operator."""
        return "; ".join(dict.fromkeys(lane.pool.trouble for lane in self.lanes if lane.pool.trouble))

    @property
    def word(self) -> str:
        """What GPUs there are, or why none, for the operator."""
        return f"{self.found.word}; {self.trouble}" if self.trouble else self.found.word

    @contextlib.contextmanager
    def lane(self) -> Iterator[GpuExecutor]:
        """A lane with no other run, the readiest; there is one for whoever's turn it is."""
        chosen = max((lane for lane in self.lanes if not lane.busy), key=lambda lane: len(lane.pool.parked))
        chosen.busy = True
        try:
            yield chosen
        finally:
            chosen.busy = False

    def refill(self) -> None:
        """Make up for what was taken."""
        for lane in self.lanes:
            lane.pool.refill()
