"""Critical errors of a GPU (Xid and ECC) as its driver reports them through NVML, and what they mean for operators."""

from __future__ import annotations

import ctypes

from sandbox.devices import ChildDevice
from sandbox.host.gpu import Nvml, library_paths

_DOUBLE_BIT_ECC, _XID = 0x2, 0x8
_NOT_SUPPORTED, _TIMEOUT = 3, 10
_MAX_EVENTS = 64
"""Events that are read at a time."""
_ECC_XID = 48
"""Xid that stands for a double-bit ECC error."""
_RESET = "reset the GPU (nvidia-smi --gpu-reset) or restart the machine, then restart the sandbox"
_OF_PROGRAMS = frozenset({13, 31, 32, 43, 45, 68, 69, 137})
"""Xids that a mistake in a program causes. Its own verdict tells of them."""
_FATAL = {
    48: f"its memory has an error that cannot be corrected (ECC): {_RESET}",
    64: f"its memory is damaged and cannot be remapped: {_RESET}, and replace the GPU if it happens again",
    79: "it has fallen off the bus: restart the machine, and check its power and its seat",
    95: f"its memory has an error that was not contained (ECC): {_RESET}",
    119: f"its system processor does not answer: {_RESET}",
    120: f"its system processor failed: {_RESET}",
}
_KNOWN = {
    63: "a row of its memory will be remapped at the next reset",
    74: "an NVLink failed",
    92: "many single-bit errors of its memory were corrected (ECC)",
    94: "an error of its memory was contained (ECC): the program that met it was ended",
}


class _Event(ctypes.Structure):
    """nvmlEventData_t."""

    _fields_ = (
        ("device", ctypes.c_void_p),
        ("kind", ctypes.c_ulonglong),
        ("data", ctypes.c_ulonglong),
        ("instance", ctypes.c_uint),
        ("compute_instance", ctypes.c_uint),
    )


class GpuFaults:
    """The critical errors of one GPU since this object was created. Raises NvmlError."""

    def __init__(self, nvml: Nvml, index: int) -> None:
        self._nvml = nvml
        self._events = ctypes.c_void_p()
        nvml.call("nvmlEventSetCreate", ctypes.byref(self._events))
        kinds = ctypes.c_ulonglong(_XID | _DOUBLE_BIT_ECC)
        # A GPU without ECC, or one in a virtual machine, may report nothing.
        nvml.call("nvmlDeviceRegisterEvents", nvml.handle(index), kinds, self._events, allowed=(_NOT_SUPPORTED,))

    @classmethod
    def of(cls, device: ChildDevice) -> GpuFaults:
        """Returns the faults of the GPU that a device is, or is a slice of."""
        return cls(Nvml(library_paths(device.libraries)), device.index)

    def read(self) -> list[int]:
        """Returns the Xids that were reported since the last call, without waiting. Leaves out those of programs."""
        found: list[int] = []
        for _ in range(_MAX_EVENTS):
            event = _Event()
            wait = ctypes.c_uint(0)
            if self._nvml.call("nvmlEventSetWait_v2", self._events, ctypes.byref(event), wait, allowed=(_TIMEOUT,)):
                break
            found.append(int(event.data) if event.kind == _XID else _ECC_XID)
        return [xid for xid in dict.fromkeys(found) if xid not in _OF_PROGRAMS]


def describe_fault(xid: int) -> str:
    """Returns what an Xid means."""
    meaning = _FATAL.get(xid) or _KNOWN.get(xid) or "see docs.nvidia.com/deploy/xid-errors"
    return f"Xid {xid}: {meaning}"


def is_fatal(xid: int) -> bool:
    """Returns whether the GPU cannot be used any more."""
    return xid in _FATAL
