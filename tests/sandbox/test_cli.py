"""The sandbox's commands: what `run` reports, the health check, and how the process starts and exits."""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import cli
from sandbox.causes import Tampered, WallHit
from sandbox.cli import exit_status, outcome_json, signal_name, socket_in, summary, unready_reason
from sandbox.client import Health
from sandbox.embedded import EmbeddedSandbox
from sandbox.wire import Outcome

HOME = Path(cli.__file__).parent.parent
HEALTHY = Health(ready=1, running=0, waiting=0, isolation="full", lacks=())


def python_m_sandbox(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "sandbox", *words]
    return subprocess.run(command, cwd=HOME, capture_output=True, text=True, timeout=60, check=False)


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        (Outcome("x", "ok"), 0),
        (Outcome("x", "ok", exit_code=0), 0),
        (Outcome("x", "error"), 1),
        (Outcome("x", "error", exit_code=3), 3),
        (Outcome("x", "error", exit_code=-1), 255),
        (Outcome("x", "crash", signal=11), 139),
        (Outcome("x", "crash", exit_code=0), 1),
        (Outcome("x", "time"), 124),
        (Outcome("x", "denied"), 126),
        (Outcome("x", "memory"), 137),
        (Outcome("x", "output"), 1),
        (Outcome("x", "internal"), 70),
    ],
)
def test_the_exit_status_follows_the_program_s(outcome: Outcome, status: int) -> None:
    assert exit_status(outcome) == status


def test_the_last_line_says_how_it_ended_and_what_it_took() -> None:
    outcome = Outcome("x", "crash", signal=11, wall_ms=12.4, cpu_ms=3.6, peak_mb=7.0, queue_ms=1.0)
    assert summary(outcome) == "crash, SIGSEGV · 12 ms wall, 4 ms CPU · 7 MB · waited 1 ms · cpu · full isolation"
    assert summary(Outcome("x", "error", exit_code=3)).startswith("error, exit 3 · ")
    assert summary(Outcome("x", "ok", exit_code=0)).startswith("ok · ")
    cut = Outcome("x", "output", truncated=True, isolation="weaker", detail="why")
    assert summary(cut).endswith("weaker isolation · output truncated · why")
    denied = Outcome("x", "denied", cause=WallHit("processes", 3))
    assert summary(denied).endswith("full isolation · wall processes, line 3")
    assert summary(Outcome("x", "error", cause=Tampered())).endswith("full isolation · tampered")
    assert json.loads(outcome_json(denied))["cause"] == {"kind": "wall", "wall": "processes", "line": 3, "limit": 0}
    assert signal_name(200) == "signal 200"


def test_the_json_holds_all_but_the_results() -> None:
    found = json.loads(outcome_json(Outcome("x", "ok", stdout="é", results=b"\0")))
    assert found["stdout"] == "é"
    assert "results" not in found
    assert {"status", "stderr", "exit_code", "signal", "wall_ms", "cpu_ms", "peak_mb", "queue_ms", "device"} <= set(
        found
    )


def test_a_sandbox_is_healthy_while_it_has_a_child_or_is_running_one() -> None:
    assert unready_reason(HEALTHY) == ""
    assert unready_reason(replace(HEALTHY, ready=0, running=1)) == ""
    assert unready_reason(replace(HEALTHY, ready=0)) == "no child is ready yet"
    assert unready_reason(replace(HEALTHY, ready=0, trouble="the zygote does not start")) == "the zygote does not start"


def test_the_health_check_of_a_folder_asks_this_host_s_sandbox(tmp_path: Path) -> None:
    assert socket_in(tmp_path) == tmp_path / f"{socket.gethostname()}.sock"
    assert socket_in(tmp_path / "s") == tmp_path / "s"
    done = python_m_sandbox("health", str(tmp_path))
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("sandbox: no sandbox answers at")


@pytest.mark.sandbox
@pytest.mark.usefixtures("client")
def test_a_ready_sandbox_passes_the_health_check_silently(sandbox: EmbeddedSandbox) -> None:
    done = python_m_sandbox("health", str(sandbox.socket))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_the_same_commands_are_there_for_a_container() -> None:
    done = python_m_sandbox("--help")
    assert done.returncode == 0
    assert {"serve", "run", "health"} <= set(done.stdout.split())
    assert "Usage: python -m sandbox" in done.stdout


@pytest.mark.parametrize("words", [("serve",), ("serve", "--socket", "s", "--surprise"), ("serve", "--socket")])
def test_a_mistyped_command_line_exits_with_2(words: tuple[str, ...]) -> None:
    done = python_m_sandbox(*words)
    assert (done.returncode, done.stdout) == (2, "")


def test_the_command_line_needs_neither_torch_nor_the_supervisor() -> None:
    program = "import sys; sys.modules['torch'] = sys.modules['numpy'] = None\n"
    program += "from sandbox import cli\nassert not [name for name in sys.modules if name.startswith('sandbox.host')]"
    subprocess.run([sys.executable, "-c", program], cwd=HOME, check=True, timeout=60)
