"""A forked process behaves like a started one."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import dailygrad
from tests import forked

LOOK = """
import json, os, signal, sys, threading
print(json.dumps({
    "argv": sys.argv, "name": __name__, "cwd": os.getcwd(), "env": dict(os.environ), "parent": os.getppid(),
    "stdin": sys.stdin.read(), "leads its session": os.getsid(0) == os.getpid(), "threads": threading.active_count(),
    "interrupt": signal.getsignal(signal.SIGINT) is signal.default_int_handler,
    "terminate": signal.getsignal(signal.SIGTERM) is signal.SIG_DFL,
    "descriptors": sorted(int(name) for name in os.listdir("/proc/self/fd")),
}))
print("a warning", file=sys.stderr)
raise SystemExit(3)
"""


@pytest.mark.parametrize("new_session", [False, True])
def test_a_process_finds_what_it_would_find_if_it_were_started(tmp_path: Path, new_session: bool) -> None:
    words = [sys.executable, "-c", LOOK, "one", "--two"]
    env = {"PATH": os.defpath, "WORD": "ä", "LC_ALL": "C.UTF-8"}
    kwargs: dict[str, Any] = {
        "cwd": tmp_path,
        "env": env,
        "text": True,
        "start_new_session": new_session,
        "input": "typed",
    }
    started = subprocess.run(words, capture_output=True, **kwargs)
    found = forked.run(words, **kwargs)
    assert (found.returncode, found.stderr) == (started.returncode, started.stderr) == (3, "a warning\n")
    there, here = json.loads(started.stdout), json.loads(found.stdout)
    assert set(here.pop("descriptors")) - set(there.pop("descriptors")) == set()
    assert here == there


def test_a_forked_process_is_killed_and_waited_for_like_a_child() -> None:
    program = "import sys, time\nprint('up', flush=True)\ntime.sleep(100)"
    with forked.Forked([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        assert process.poll() is None
        process.kill()
        assert process.wait(60) == -signal.SIGKILL


@pytest.mark.slow
def test_the_command_says_and_returns_the_same() -> None:
    words = [sys.executable, "-m", "dailygrad", "bank", "explain", "P999"]
    started = subprocess.run(words, cwd=forked.ROOT, capture_output=True, text=True)
    found = forked.run(words, cwd=forked.ROOT, text=True)
    assert (found.returncode, found.stdout, found.stderr) == (started.returncode, started.stdout, started.stderr)


@pytest.mark.parametrize("command", dailygrad.COMMANDS)
def test_a_command_imports_next_to_nothing(command: str) -> None:
    program = f"""
import contextlib, sys
before = set(sys.modules)
from dailygrad import main
sys.argv = ["dailygrad", {command!r}, "--nonsense"]
with contextlib.suppress(SystemExit):
    main()
print(sorted(set(sys.modules) - before))
"""
    found = forked.run([sys.executable, "-c", program], cwd=forked.ROOT, text=True, check=True)
    assert "No such option" in found.stderr
    assert len(json.loads(found.stdout.replace("'", '"'))) < 20, found.stdout
