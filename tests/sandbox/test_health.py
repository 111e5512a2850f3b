"""A container's health check."""

from __future__ import annotations

import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sandbox import health
from sandbox.client import Health, SandboxClient
from sandbox.embedded import EmbeddedSandbox

WELL = Health(ready=1, running=0, waiting=0, isolation="full", lacks=())


def checked(place: Path) -> tuple[int, str]:
    words = [sys.executable, "-m", "sandbox.health", str(place)]
    home = Path(health.__file__).parent.parent
    done = subprocess.run(words, cwd=home, capture_output=True, text=True, timeout=30, check=False)
    return done.returncode, done.stderr


def test_it_is_well_while_a_run_could_be_taken_or_is_being_made() -> None:
    assert health.trouble_of(WELL) == ""
    assert health.trouble_of(replace(WELL, ready=0, running=1)) == ""
    assert health.trouble_of(replace(WELL, ready=0)) == "no child is ready yet"
    assert health.trouble_of(replace(WELL, ready=0, trouble="the zygote does not start")) == "the zygote does not start"


def test_in_a_folder_it_asks_this_machine_s_own(tmp_path: Path) -> None:
    assert health.own_socket(tmp_path) == tmp_path / f"{socket.gethostname()}.sock"
    assert health.own_socket(tmp_path / "s") == tmp_path / "s"
    code, said = checked(tmp_path)
    assert (code, said.startswith("sandbox: no sandbox answers at")) == (1, True)


@pytest.mark.sandbox
@pytest.mark.usefixtures("client")
def test_a_sandbox_that_is_ready_passes_in_silence(sandbox: EmbeddedSandbox) -> None:
    assert isinstance(sandbox.client, SandboxClient)
    assert checked(sandbox.socket) == (0, "")
