"""`python -S -m service.healthcheck PLACE`: a container's health check. Exits with 1 and a reason if it fails.

PLACE is a file that a living process touches, or an address that answers 200. It is asked every few seconds, so it
imports next to nothing; `pulse` does the touching.
"""

from __future__ import annotations

import os  # and not pathlib, which takes longer than all the rest
import socket
import sys
import time

LONGEST_S = 20.0
VARIABLE = "DAILYGRAD_ALIVE_FILE"
_SCHEME = "http://"
_PATIENCE_S = 8.0


def problem_of(place: str, now: float) -> str:
    """What is wrong at `place`; empty if nothing is. `now` in seconds since the epoch."""
    if place.startswith(_SCHEME):
        try:
            said = _first_line(place)
        except OSError as problem:
            return f"{place}: {problem}"
        return "" if said.split(" ")[1:2] == ["200"] else f"{place}: {said or 'no answer'}"
    try:
        age = now - os.stat(place).st_mtime  # noqa: PTH116
    except OSError as problem:
        return str(problem)
    return "" if age < LONGEST_S else f"{place} was touched {age:.0f} s ago: the process hangs"


def _first_line(url: str) -> str:
    """What is answered to a GET, such as `HTTP/1.1 200 OK`. Raises OSError."""
    host, _, path = url.removeprefix(_SCHEME).partition("/")
    name, _, port = host.partition(":")
    with socket.create_connection((name, int(port or 80)), _PATIENCE_S) as connection:
        connection.sendall(f"GET /{path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        with connection.makefile("rb") as answer:
            return answer.readline(1000).decode("latin-1").strip()


def main() -> int:
    said = problem_of(sys.argv[1], time.time())
    sys.stdout.write(said or "ok")
    return 1 if said else 0


if __name__ == "__main__":
    raise SystemExit(main())
