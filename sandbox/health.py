"""`python -m sandbox.health PLACE`, a container's health check: silent, and 0, when a run can be taken."""

from __future__ import annotations

import asyncio
import socket
import sys
from pathlib import Path

from sandbox.client import Health, SandboxClient, SandboxUnreachable


def own_socket(place: Path) -> Path:
    """Where the sandbox of this machine listens: at `place`, or in that folder under the machine's name."""
    return place / f"{socket.gethostname()}.sock" if place.is_dir() else place


def trouble_of(health: Health) -> str:
    """Why no run can be taken; empty where one can."""
    if health.ready or health.running:
        return ""
    return health.trouble or "no child is ready yet"


def health_main() -> int:
    """Ask, and say what is wrong if anything is."""
    try:
        trouble = trouble_of(asyncio.run(SandboxClient(own_socket(Path(sys.argv[1]))).health()))
    except SandboxUnreachable as problem:
        trouble = str(problem)
    sys.stderr.write(f"sandbox: {trouble}\n" if trouble else "")
    return 1 if trouble else 0


if __name__ == "__main__":
    raise SystemExit(health_main())
