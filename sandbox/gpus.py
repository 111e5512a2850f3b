"""Finds the GPUs of this machine that answers may compute on, or says why there is none and how to mend it."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

from sandbox import jail
from sandbox.devices import Device
from sandbox.nvidia import Card, Nvml, NvmlFailed, library_of

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


def _fault(card: Card, choice: str, root: Path) -> str:
    """Why that one is not used; empty where it is."""
    node = root / f"dev/nvidia{card.minor}"
    if choice != "all" and str(card.index) not in choice.split(","):
        return f"not among --gpus {choice}"
    if card.split:
        return "it is in MIG mode, and only whole GPUs are used: nvidia-smi -mig 0"
    if not os.access(node, os.R_OK | os.W_OK):
        return f"/dev/nvidia{card.minor} is missing or may not be opened by user {os.getuid()}"
    return ""


def _device(card: Card, folder: tuple[str, ...], root: Path) -> Device:
    names = [f"nvidia{card.minor}", *_CONTROL, *(name for name in _EXTRA if (root / "dev" / name).exists())]
    title = f"{card.title}, {card.memory_mb / 1024:.0f} GB"
    nodes, libraries = tuple(f"/dev/{name}" for name in names), tuple(f"/{place}" for place in folder)
    return Device("cuda", title, card.uuid, nodes, libraries, card.index)
