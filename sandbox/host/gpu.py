"""Finds this machine's NVIDIA GPUs, or says why none can be used and how to fix it.

Reads NVIDIA's management library (NVML) through ctypes, which needs no CUDA and creates no context on a GPU.
Signatures: NVIDIA's NVML reference, `nvml.h`.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.devices import ChildDevice
from sandbox.host import jail

NVML_LIBRARY = "libnvidia-ml.so.1"
_CUDA_LIBRARY = "libcuda.so.1"
_CONTROL_NODES = ("nvidiactl", "nvidia-uvm")
_OPTIONAL_NODES = ("nvidia-uvm-tools",)
_SYSTEM_FOLDERS = ("usr/lib/*", "usr/lib", "usr/lib64", "lib64")
_DRIVER_FOLDERS = ("usr/local/nvidia/lib64", "run/opengl-driver/lib", "usr/lib/wsl/lib")
"""Where a driver's libraries may be, if not in the system's library folders."""
_GPU_NODE = re.compile(r"nvidia[0-9]+")
_MINOR = re.compile(r"^DeviceFileMinor:\s*([0-9]+)$", re.MULTILINE)
_CUDA_VERSION = re.compile(r"^cuda\b[^=]*=\s*(?:None|['\"](?P<version>[^'\"]+)['\"])", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class GpuInventory:
    """The GPUs that runs may use."""

    devices: tuple[ChildDevice, ...] = ()
    summary: str = "no GPU was looked for"
    """Their names, or why there is none and how to fix it."""
    cure: str = ""
    """How to make a GPU usable that this machine's owner surely means to use, or "" if nothing is broken."""


class _NoGpu(Exception):
    """No GPU can be used. The message gives the reason and the fix."""


class _OldDriver(_NoGpu):
    """The driver is too old for this torch. The message gives both versions, `cure` the fix."""

    cure = (
        "update the driver, or install a torch for the driver's CUDA version: "
        "pip install torch --index-url https://download.pytorch.org/whl/cu126"
    )


def find_gpus(choice: str = "all", root: Path = Path("/"), torch: Path | None = None) -> GpuInventory:
    """Finds the GPUs chosen by `all`, `none` or NVML indices such as `0,2`.

    `root` is the root of the file system and `torch` the folder of torch; tests pass their own.
    """
    if choice == "none":
        return GpuInventory(summary="none is used: started with --gpus none")
    try:
        folders = _driver_folders(root)
        _check_nodes(root)
        build = _check_torch_build(torch or Path(jail.find_runtime().packages[0]) / "torch")
        nvml = Nvml(library_paths([str(root / folder) for folder in folders]))
    except (_NoGpu, NvmlError, RuntimeError) as problem:
        return GpuInventory(summary=str(problem))
    try:
        _check_driver(nvml, build)
        cards = [(card, _unusable_reason(card, choice, root)) for card in nvml.cards()]
    except _OldDriver as problem:
        return GpuInventory(summary=str(problem), cure=problem.cure)
    except NvmlError as problem:
        return GpuInventory(summary=str(problem))
    finally:
        nvml.close()
    devices = tuple(device for card, reason in cards if not reason for device in _devices(card, folders, root))
    reasons = [f"{card.title}: {reason}" for card, reason in cards if reason]
    return GpuInventory(devices, "; ".join([*(device.title for device in devices), *reasons]) or "NVML knows of none")


def _driver_folders(root: Path) -> tuple[str, ...]:
    """Returns the folder of the driver's libraries, or nothing if they are in the system's library folders."""
    if (root / "dev/dxg").exists():
        raise _NoGpu("GPUs of WSL are not used: their driver has no device files of its own")
    system = [path.resolve() for pattern in _SYSTEM_FOLDERS for path in root.glob(pattern)]
    for folder in [*system, *(root / name for name in _DRIVER_FOLDERS)]:
        if (folder / _CUDA_LIBRARY).exists():
            # It may be a link to a folder that the jail would not have.
            home = (folder / _CUDA_LIBRARY).resolve().parent
            return () if home in system else (str(home.relative_to(root.resolve())),)
    return ()


def _check_nodes(root: Path) -> None:
    """Raises _NoGpu when the driver or its device files are missing."""
    dev = root / "dev"
    if not any(_GPU_NODE.fullmatch(path.name) for path in dev.glob("nvidia*")):
        if not (root / "proc/driver/nvidia/version").exists():
            raise _NoGpu("no NVIDIA driver is loaded")
        raise _NoGpu(
            "the driver is loaded, but there is no /dev/nvidia0: a container must be given the GPU "
            "(docker compose --profile gpu); elsewhere run nvidia-modprobe"
        )
    for name in _CONTROL_NODES:
        if not (dev / name).exists():
            raise _NoGpu(f"/dev/{name} is missing: run nvidia-modprobe -c 0 -u as root")
        if not os.access(dev / name, os.R_OK | os.W_OK):
            raise _NoGpu(f"/dev/{name} may not be opened by user {os.getuid()}: give it mode 0666")


def _check_torch_build(torch: Path) -> str:
    """Returns the version of CUDA that this torch is built for. Reads its version file rather than importing it.

    Raises _NoGpu when it is built without CUDA.
    """
    try:
        match = _CUDA_VERSION.search((torch / "version.py").read_text(encoding="utf-8"))
    except OSError as problem:
        raise _NoGpu(f"torch's build cannot be read: {problem}") from None
    if match is None or not match["version"]:
        raise _NoGpu("this torch is built for the CPU: install one for CUDA (docs/gpu.md)")
    return match["version"]


def _check_driver(nvml: Nvml, build: str) -> None:
    """Raises _OldDriver when the driver cannot run programs of torch's CUDA version: an older major version."""
    major, minor = divmod(nvml.cuda_version(), 1000)
    if major < int(build.partition(".")[0]):
        raise _OldDriver(
            f"the driver {nvml.driver()} is too old: it is for CUDA {major}.{minor // 10}, "
            f"and torch is built for {build}"
        )


def _unusable_reason(card: GpuCard, choice: str, root: Path) -> str:
    """Returns why a GPU is not used, or ""."""
    node = root / f"dev/nvidia{card.minor}"
    if choice != "all" and str(card.index) not in choice.split(","):
        return f"not among --gpus {choice}"
    if card.mig and not card.slices:
        return "it is in MIG mode and has no slices: nvidia-smi mig -cgi 0 -C, or nvidia-smi -mig 0 for the whole GPU"
    if not os.access(node, os.R_OK | os.W_OK):
        return f"/dev/nvidia{card.minor} is missing or may not be opened by user {os.getuid()}"
    for name in [name for piece in card.slices for name in _slice_nodes(card, piece, root)]:
        if not os.access(root / "dev" / name, os.R_OK):
            return f"/dev/{name} of a slice is missing or may not be read by user {os.getuid()}"
    return ""


def _devices(card: GpuCard, folders: tuple[str, ...], root: Path) -> list[ChildDevice]:
    """Returns a GPU as one device, or each of its MIG slices, whose memory and cores the hardware keeps apart."""
    optional = tuple(name for name in _OPTIONAL_NODES if (root / "dev" / name).exists())
    common = (f"nvidia{card.minor}", *_CONTROL_NODES, *optional)
    libraries = tuple(f"/{folder}" for folder in folders)
    parts = [(piece.title, piece.memory_mb, piece.uuid, _slice_nodes(card, piece, root)) for piece in card.slices]
    return [
        ChildDevice(
            "cuda",
            f"{title}, {memory_mb / 1024:.0f} GB",
            uuid,
            tuple(f"/dev/{name}" for name in (*common, *nodes)),
            libraries,
            card.index,
            _CUDA_LIBRARY,
        )
        for title, memory_mb, uuid, nodes in parts or [(card.title, card.memory_mb, card.uuid, ())]
    ]


def _slice_nodes(card: GpuCard, piece: GpuSlice, root: Path) -> tuple[str, ...]:
    """Returns the device files, below /dev, that give access to a slice. The driver lists their numbers in /proc."""
    folder = root / f"proc/driver/nvidia/capabilities/gpu{card.minor}/mig/gi{piece.instance}"
    found = []
    for path in (folder / "access", folder / f"ci{piece.compute_instance}/access"):
        with contextlib.suppress(OSError):
            found += _MINOR.findall(path.read_text())
    return tuple(f"nvidia-caps/nvidia-cap{minor}" for minor in found)


_TEXT_BYTES = 96
"""Size of a name or UUID buffer (NVML_DEVICE_NAME_V2_BUFFER_SIZE, NVML_DEVICE_UUID_V2_BUFFER_SIZE)."""
_NOT_SUPPORTED, _NOT_FOUND = 3, 6
_SLICE = "MIG-"
"""Start of the UUID of a MIG slice."""


def library_paths(folders: Sequence[str]) -> tuple[str, ...]:
    """Returns the names to load NVML by: in the driver's own folders, or by the system's search path."""
    return tuple(f"{folder}/{NVML_LIBRARY}" for folder in folders) or (NVML_LIBRARY,)


class NvmlError(RuntimeError):
    """NVML is missing or a call failed. The message names the call and the reason."""


@dataclass(frozen=True, slots=True)
class GpuSlice:
    """A MIG slice (a compute instance) as NVML reports it."""

    uuid: str
    title: str
    memory_mb: int
    instance: int
    """Number of its GPU instance."""
    compute_instance: int


@dataclass(frozen=True, slots=True)
class GpuCard:
    """A GPU as NVML reports it."""

    index: int
    """NVML index."""
    minor: int
    """The N of /dev/nvidiaN."""
    uuid: str
    title: str
    memory_mb: int
    mig: bool
    """Whether MIG mode is on, in which nothing can use the whole GPU."""
    slices: tuple[GpuSlice, ...] = ()
    """Its MIG slices."""


class _Memory(ctypes.Structure):
    """nvmlMemory_t, in bytes."""

    _fields_ = (("total", ctypes.c_ulonglong), ("free", ctypes.c_ulonglong), ("used", ctypes.c_ulonglong))


class Nvml:
    """An initialized NVML. The constructor and every method raise NvmlError."""

    def __init__(self, paths: Sequence[str] = (NVML_LIBRARY,)) -> None:
        self._library = _load_first(paths)
        self.call("nvmlInit_v2")

    def close(self) -> None:
        """Shuts NVML down."""
        self.call("nvmlShutdown")

    def driver(self) -> str:
        """Returns the driver's version."""
        text = ctypes.create_string_buffer(_TEXT_BYTES)
        self.call("nvmlSystemGetDriverVersion", text, ctypes.c_uint(_TEXT_BYTES))
        return text.value.decode(errors="replace")

    def cuda_version(self) -> int:
        """Returns the newest CUDA version that the driver supports, as 1000 * major + 10 * minor."""
        version = ctypes.c_int()
        self.call("nvmlSystemGetCudaDriverVersion_v2", ctypes.byref(version))
        return version.value

    def cards(self) -> list[GpuCard]:
        """Returns every GPU this process may see."""
        count = ctypes.c_uint()
        self.call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        return [self._card(index) for index in range(count.value)]

    def memory_mb(self, index: int, uuid: str = "") -> tuple[float, float]:
        """Returns the used memory, by all processes together, and the total memory of a GPU, or of its slice `uuid`."""
        memory = self._memory(self._slice_handle(uuid) if uuid.startswith(_SLICE) else self.handle(index))
        return float(memory.used / (1 << 20)), float(memory.total / (1 << 20))

    def _card(self, index: int) -> GpuCard:
        handle, minor = self.handle(index), ctypes.c_uint()
        self.call("nvmlDeviceGetMinorNumber", handle, ctypes.byref(minor))
        total = self._memory(handle).total >> 20
        name, uuid = self._text("nvmlDeviceGetName", handle), self._text("nvmlDeviceGetUUID", handle)
        mig = self._mig(handle)
        return GpuCard(index, minor.value, uuid, name, total, mig, self._slices(handle) if mig else ())

    def _slices(self, handle: ctypes.c_void_p) -> tuple[GpuSlice, ...]:
        most, found = ctypes.c_uint(), []
        self.call("nvmlDeviceGetMaxMigDeviceCount", handle, ctypes.byref(most))
        for number in range(most.value):
            piece = ctypes.c_void_p()
            arguments = handle, ctypes.c_uint(number), ctypes.byref(piece)
            self.call("nvmlDeviceGetMigDeviceHandleByIndex", *arguments, allowed=(_NOT_FOUND,))
            if piece.value is not None:
                found.append(self._slice(piece))
        return tuple(found)

    def _slice(self, piece: ctypes.c_void_p) -> GpuSlice:
        instance, compute_instance = ctypes.c_uint(), ctypes.c_uint()
        self.call("nvmlDeviceGetGpuInstanceId", piece, ctypes.byref(instance))
        self.call("nvmlDeviceGetComputeInstanceId", piece, ctypes.byref(compute_instance))
        name, uuid = self._text("nvmlDeviceGetName", piece), self._text("nvmlDeviceGetUUID", piece)
        memory_mb = self._memory(piece).total >> 20
        return GpuSlice(uuid, name, memory_mb, instance.value, compute_instance.value)

    def _slice_handle(self, uuid: str) -> ctypes.c_void_p:
        handle = ctypes.c_void_p()
        self.call("nvmlDeviceGetHandleByUUID", ctypes.c_char_p(uuid.encode()), ctypes.byref(handle))
        return handle

    def handle(self, index: int) -> ctypes.c_void_p:
        """Returns NVML's handle of a GPU."""
        handle = ctypes.c_void_p()
        self.call("nvmlDeviceGetHandleByIndex_v2", ctypes.c_uint(index), ctypes.byref(handle))
        return handle

    def _memory(self, handle: ctypes.c_void_p) -> _Memory:
        memory = _Memory()
        self.call("nvmlDeviceGetMemoryInfo", handle, ctypes.byref(memory))
        return memory

    def _text(self, function: str, handle: ctypes.c_void_p) -> str:
        text = ctypes.create_string_buffer(_TEXT_BYTES)
        self.call(function, handle, text, ctypes.c_uint(_TEXT_BYTES))
        return text.value.decode(errors="replace")

    def _mig(self, handle: ctypes.c_void_p) -> bool:
        now, after_reset = ctypes.c_uint(), ctypes.c_uint()
        modes = ctypes.byref(now), ctypes.byref(after_reset)
        self.call("nvmlDeviceGetMigMode", handle, *modes, allowed=(_NOT_SUPPORTED,))
        return now.value == 1

    def call(self, name: str, *arguments: object, allowed: tuple[int, ...] = ()) -> int:
        """Calls a function of the library. Returns its status, which is 0 or one of those `allowed`."""
        function = getattr(self._library, name, None)
        if function is None:
            raise NvmlError(f"{name} is missing in {NVML_LIBRARY}: the driver is too old")
        status = int(function(*arguments))
        if status != 0 and status not in allowed:
            raise NvmlError(f"{name}: {self._error_text(status)}")
        return status

    def _error_text(self, status: int) -> str:
        describe = getattr(self._library, "nvmlErrorString", None)
        if describe is None:
            return f"error {status}"
        describe.restype = ctypes.c_char_p
        return f"{describe(status).decode(errors='replace')} (error {status})"


def _load_first(paths: Sequence[str]) -> ctypes.CDLL:
    error = ""
    for path in paths:
        try:
            return ctypes.CDLL(path)
        except OSError as problem:
            error = str(problem)
    raise NvmlError(f"the driver's library {NVML_LIBRARY} cannot be loaded: {error}")
