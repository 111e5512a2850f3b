"""A short day of faults, the same one every time: two services, two workers, the sandbox, two bots and the database are
killed while people answer, and nothing that was promised is broken. `make chaos` lives longer days of other seeds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.chaos.processes import ROOT

SEED = 3
# It ends when all is quiet, which takes about a minute; this is for a machine that is very slow.
MOST_S = 600

pytestmark = [pytest.mark.sandbox, pytest.mark.timeout(MOST_S + 60)]


def test_nothing_is_lost_or_doubled_whatever_is_killed() -> None:
    words = [sys.executable, "-m", "tests.chaos", "--short", "--seed", str(SEED)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as day:
        try:
            said, _ = day.communicate(timeout=MOST_S)
        except subprocess.TimeoutExpired:
            day.terminate()  # it stops all that it started
            said, _ = day.communicate(timeout=60)
            raise AssertionError(f"the day did not end within {MOST_S} s:\n{said}") from None
    assert day.returncode == 0, said
    assert f"seed {SEED}: 0 violations" in said
