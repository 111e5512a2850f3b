"""`python -S -m service.healthcheck PLACE`: a container's health check. Exits with 1 and a reason if it fails.

PLACE is a heartbeat file, which `service.heartbeat` touches, or an address that answers 200. The check runs every few
seconds, so it imports almost nothing.
"""

from __future__ import annotations

import os  # not pathlib, which takes longer to import than everything else
import socket
import sys
import time

MAX_AGE_SECONDS = 20.0
"""Age of a heartbeat file from which the process counts as hanging."""
FILE_VARIABLE = "DAILYGRAD_ALIVE_FILE"
"""Environment variable that names the heartbeat file."""
_SCHEME = "http://"
_TIMEOUT_SECONDS = 8.0


def find_problem(place: str, now: float) -> str:
    """Returns what is wrong at `place`, or an empty string. `now` is in seconds since the epoch."""
    if place.startswith(_SCHEME):
        try:
            status = _status_line(place)
        except OSError as problem:
            return f"{place}: {problem}"
        return "" if status.split(" ")[1:2] == ["200"] else f"{place}: {status or 'no answer'}"
    try:
        age = now - os.stat(place).st_mtime  # noqa: PTH116
    except OSError as problem:
        return str(problem)
    return "" if age < MAX_AGE_SECONDS else f"{place} was last touched {age:.0f} s ago: the process hangs"


def _status_line(url: str) -> str:
    """Returns the status line of a GET, such as `HTTP/1.1 200 OK`. Raises OSError."""
    host, _, path = url.removeprefix(_SCHEME).partition("/")
    name, _, port = host.partition(":")
    with socket.create_connection((name, int(port or 80)), _TIMEOUT_SECONDS) as connection:
        connection.sendall(f"GET /{path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        with connection.makefile("rb") as answer:
            return answer.readline(1000).decode("latin-1").strip()


def main() -> int:
    problem = find_problem(sys.argv[1], time.time())
    sys.stdout.write(problem or "ok")
    return 1 if problem else 0


if __name__ == "__main__":
    raise SystemExit(main())
