"""Where a child may compute: the CPU, or a GPU with its device files and driver. Plain data, finds nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox import wire


@dataclass(frozen=True, slots=True)
class Device:
    """What a fresh child is given to compute on."""

    name: wire.Device = "cpu"
    title: str = ""
    """As its maker calls it, with its memory."""
    uuid: str = ""
    """What CUDA_VISIBLE_DEVICES names it by."""
    nodes: tuple[str, ...] = ()
    """Device files that must be there to be read and written."""
    libraries: tuple[str, ...] = ()
    """Folders of the driver's libraries that are no part of the system's."""
    index: int = 0
    """Its number for NVML."""

    @classmethod
    def read(cls, data: Mapping[str, Any]) -> Device:
        """What `dataclasses.asdict` wrote, after a way through JSON."""
        return cls(**{**data, "nodes": tuple(data["nodes"]), "libraries": tuple(data["libraries"])})


DRIVER_MB = 1024
"""Memory a driver may take for itself while an answer runs, beyond what it took to start: it loads kernels late."""

CPU = Device()
"""No device at all: a child of its own import of torch, with the same life and walls as one on a GPU."""
