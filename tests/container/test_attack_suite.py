"""Runs every attack and cheat of the sandbox tests against the container as compose starts it."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.container.conftest import Container
from tests.container.engine import ROOT

pytestmark = [pytest.mark.container, pytest.mark.timeout(1500)]


def test_every_attack_and_cheat_fails(container: Container) -> None:
    given = {"DAILYGRAD_ATTACK_SOCKET": str(container.client.path), "DAILYGRAD_ATTACK_ONLY": "given"}
    # Every cheat is tried while the first test starts, and that in a container beside other tests.
    words = ["-m", "pytest", "-q", "-s", "--timeout", "600", "-k", "given"]
    words += ["tests/sandbox/test_attacks.py", "tests/sandbox/test_cheats.py"]
    done = subprocess.run(
        [sys.executable, *words], env={**os.environ, **given}, cwd=ROOT, capture_output=True, text=True, check=False
    )
    print(done.stdout)
    assert done.returncode == 0, done.stdout[-8000:]
    assert " passed" in done.stdout
