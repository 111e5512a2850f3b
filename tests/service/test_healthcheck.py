"""The health check distinguishes a working process from one that hangs, has ended or reports problems."""

from __future__ import annotations

import contextlib
import http.server
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.healthcheck import MAX_AGE_SECONDS, MAX_HANGS, Hanging, count_hang, find_problem, main
from service.heartbeat import INTERVAL_SECONDS, send_heartbeats


async def test_heartbeats_reveal_a_hang_and_end_with_the_block(tmp_path: Path) -> None:
    place = tmp_path / "alive"
    async with send_heartbeats(place):
        touched = place.stat().st_mtime
        assert find_problem(str(place), touched + MAX_AGE_SECONDS - 1) == ""
        with pytest.raises(Hanging, match=r"21 s ago: the process hangs"):
            find_problem(str(place), touched + MAX_AGE_SECONDS + 1)
    assert "No such file" in find_problem(str(place), touched)


def test_three_late_heartbeats_are_no_hang() -> None:
    assert 4 * INTERVAL_SECONDS < MAX_AGE_SECONDS


class Answers(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200 if self.path == "/healthz" else 503)
        self.end_headers()

    def log_message(self, format: str, *words: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    with http.server.HTTPServer(("127.0.0.1", 0), Answers) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_an_address_must_answer_well(address: str) -> None:
    assert find_problem(f"{address}/healthz", 0) == ""
    assert "503" in find_problem(f"{address}/readyz", 0)
    assert "refused" in find_problem("http://127.0.0.1:1/healthz", 0)


@pytest.mark.parametrize(("there", "status"), [(True, 0), (False, 1)])
def test_the_check_says_it_by_its_status(tmp_path: Path, there: bool, status: int) -> None:
    if there:
        (tmp_path / "alive").touch()
    words = [sys.executable, "-m", "service.healthcheck", str(tmp_path / "alive")]
    done = subprocess.run(words, capture_output=True, text=True, check=False, env=dict(os.environ))
    assert (done.returncode, done.stdout == "ok") == (status, there)


def test_an_address_that_accepts_and_does_not_answer_hangs() -> None:
    quick = pytest.raises(Hanging, match=r"did not answer in 0\.05 s")
    with socket.create_server(("127.0.0.1", 0)) as silent, quick:
        find_problem(f"http://127.0.0.1:{silent.getsockname()[1]}/healthz", 0, timeout=0.05)


class WaitsForItsDatabase(Answers):
    """Answers /healthz at once, and /readyz not before the test is over."""

    over = threading.Event()

    def do_GET(self) -> None:
        if self.path == "/readyz":
            self.over.wait()
        super().do_GET()


def patient_problem(place: str) -> str:
    """Returns what is wrong at `place`. Gives the server more and more time, for a busy machine."""
    for timeout in (0.3, 3.0, 30.0):
        with contextlib.suppress(Hanging):
            return find_problem(place, 0, timeout=timeout)
    return find_problem(place, 0, timeout=60)


def test_a_process_that_waits_for_its_database_does_not_hang() -> None:
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), WaitsForItsDatabase) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            problem = patient_problem(f"http://127.0.0.1:{server.server_port}/readyz")
        finally:
            WaitsForItsDatabase.over.set()
            server.shutdown()
            thread.join()
    assert "what it waits for may be down" in problem


def test_hangs_are_counted_until_one_check_finds_no_hang(tmp_path: Path) -> None:
    place, counted = tmp_path / "alive", tmp_path / "hangs"
    assert [count_hang(str(counted)) for _ in range(3)] == [1, 2, 3]
    place.touch()
    assert main([str(place), str(counted)]) == 0
    assert not counted.exists()
    counted.write_text("spoilt")
    assert count_hang(str(counted)) == 1


IN_A_CONTAINER = """
import os, subprocess, sys, time
os.utime("{place}", (0, 0))
checks = [subprocess.run([sys.executable, "-S", "-m", "service.healthcheck", "{place}", "{counted}"]) for _ in range(9)]
"""


@pytest.mark.skipif(shutil.which("unshare") is None, reason="unshare, of util-linux, makes the process namespace")
def test_a_process_that_hangs_is_killed_at_the_fourth_check(tmp_path: Path) -> None:
    """In a process namespace of its own, as in a container, whose first process is a shell here."""
    place, counted = tmp_path / "alive", tmp_path / "hangs"
    place.touch()
    script = IN_A_CONTAINER.format(place=place, counted=counted)
    words = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc", "--kill-child"]
    done = subprocess.run(
        [*words, "sh", "-c", f"{sys.executable} -c '{script}'; echo ended $?"],
        capture_output=True,
        text=True,
        check=False,
    )
    if "unshare failed" in done.stderr:
        pytest.skip("no namespace can be made here")
    assert done.stdout.count("the process hangs") == MAX_HANGS, done.stderr
    assert "ended 137" in done.stdout
