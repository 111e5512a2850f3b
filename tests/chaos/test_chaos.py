"""A short chaos day with a fixed seed: services, workers, the sandbox, bots and the database are killed while
members answer, and no promise is broken. `make chaos` runs longer days with other seeds."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.chaos.processes import ROOT

SEED = 3
# It normally takes about a minute; this is for very slow machines.
MOST_S = 600

pytestmark = [pytest.mark.slow, pytest.mark.sandbox, pytest.mark.timeout(MOST_S + 60)]


def test_nothing_is_lost_or_doubled_by_kills() -> None:
    words = [sys.executable, "-m", "tests.chaos", "--short", "--seed", str(SEED)]
    with subprocess.Popen(words, cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as day:
        try:
            said, _ = day.communicate(timeout=MOST_S)
        except subprocess.TimeoutExpired:
            day.terminate()  # stops everything it started
            said, _ = day.communicate(timeout=60)
            raise AssertionError(f"the day did not end within {MOST_S} s:\n{said}") from None
    assert day.returncode == 0, said
    assert f"seed {SEED}: 0 violations" in said
