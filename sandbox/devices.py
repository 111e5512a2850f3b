"""The device a child computes on, as the host describes it to the zygote. Plain data, shared by `host` and `inside`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sandbox import wire


@dataclass(frozen=True, slots=True)
class ChildDevice:
    """A device for children, with the device files and the driver they need."""

    name: wire.Device = "cpu"
    title: str = ""
    """Vendor's name and memory, for people."""
    uuid: str = ""
    """Value for CUDA_VISIBLE_DEVICES."""
    nodes: tuple[str, ...] = ()
    """Device files the child may read and write."""
    libraries: tuple[str, ...] = ()
    """Folders of driver libraries outside the system's library folders."""
    index: int = 0
    """NVML index."""
    driver: str = ""
    """Library whose `cuInit` starts the driver."""

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> ChildDevice:
        """Rebuilds a device from the output of `dataclasses.asdict` after a round trip through JSON."""
        return cls(**{**data, "nodes": tuple(data["nodes"]), "libraries": tuple(data["libraries"])})


DRIVER_MB = 1024
"""Memory a driver may take while a run lasts, beyond what it took at start: it loads kernels lazily. MB."""

CPU = ChildDevice()
"""No GPU: a child confined like one on a GPU. Used to test the GPU code path without one."""
