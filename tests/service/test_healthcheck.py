"""The health check distinguishes a working process from one that hangs, has ended or reports problems."""

from __future__ import annotations

import http.server
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from service.healthcheck import MAX_AGE_SECONDS, find_problem
from service.heartbeat import send_heartbeats


async def test_heartbeats_reveal_a_hang_and_end_with_the_block(tmp_path: Path) -> None:
    place = tmp_path / "alive"
    async with send_heartbeats(place):
        touched = place.stat().st_mtime
        assert find_problem(str(place), touched + MAX_AGE_SECONDS - 1) == ""
        assert "the process hangs" in find_problem(str(place), touched + MAX_AGE_SECONDS + 1)
    assert "No such file" in find_problem(str(place), touched)


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
