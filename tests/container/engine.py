"""Runs commands of the container engine and of compose."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def said(*words: str, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Runs a command to its end."""
    env = {**os.environ, **(environment or {})}
    return subprocess.run(words, capture_output=True, text=True, timeout=400, check=False, env=env, cwd=ROOT)


def compose() -> tuple[str, ...] | None:
    """Returns the compose command of this machine."""
    if shutil.which("docker-compose"):
        return ("docker-compose",)
    return ("docker", "compose") if said("docker", "compose", "version").returncode == 0 else None
