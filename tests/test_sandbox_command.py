"""`dailygrad sandbox run` as typed: separate streams, a last line with resource use, the exit status, and JSON."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.sandbox


def typed(code: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "dailygrad", "sandbox", "run", "-", *words],
        cwd=ROOT,
        input=code,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )


def test_streams_stay_apart_and_the_last_line_tells_what_it_took() -> None:
    done = typed("import sys, torch\nprint('out')\nprint('err', end='', file=sys.stderr)\ntorch.tensor(6.0)")
    assert (done.returncode, done.stdout) == (0, "out\ntensor(6.)\n")
    said, last = done.stderr.splitlines()
    assert said == "err"
    taken = r"ok · \d+ ms wall, \d+ ms CPU · \d+ MB · waited \d+ ms · cpu · (full|weaker) isolation"
    assert re.fullmatch(taken, last)


def test_the_exit_status_is_the_programs_own_in_json_too() -> None:
    done = typed("import sys\nprint('x')\nsys.exit(3)", "--json")
    assert (done.returncode, done.stderr) == (3, "")
    found = json.loads(done.stdout)
    assert (found["status"], found["exit_code"], found["stdout"]) == ("error", 3, "x\n")
