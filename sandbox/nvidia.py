"""What NVIDIA's management library (NVML) knows of the GPUs, through ctypes: no CUDA, and no context on any of them.

Signatures: NVIDIA's NVML reference, `nvml.h`. For the supervisor, which is trusted and imports no torch.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

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
class Card:
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

    def cards(self) -> list[Card]:
        """Every GPU this process may see."""
        count = ctypes.c_uint()
        self._call("nvmlDeviceGetCount_v2", ctypes.byref(count))
        return [self._card(index) for index in range(count.value)]

    def memory_mb(self, index: int) -> tuple[float, float]:
        """Memory of that GPU in use, by whomever, and all it has."""
        memory = self._memory(self._handle(index))
        return float(memory.used / (1 << 20)), float(memory.total / (1 << 20))

    def _card(self, index: int) -> Card:
        handle, minor = self._handle(index), ctypes.c_uint()
        self._call("nvmlDeviceGetMinorNumber", handle, ctypes.byref(minor))
        total = self._memory(handle).total >> 20
        name, uuid = self._text("nvmlDeviceGetName", handle), self._text("nvmlDeviceGetUUID", handle)
        return Card(index, minor.value, uuid, name, total, self._split(handle))

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
