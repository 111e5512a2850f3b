"""`python -S -m service.healthcheck PLACE [COUNT_FILE]`: a container's health check. Exits with 1 and a reason if it
fails.

PLACE is a heartbeat file, which `service.heartbeat` touches, or an address that answers 200. With COUNT_FILE, which
counts them, the fourth check in a row that finds the process hanging kills every process of the container, so that the
engine restarts it: Docker restarts containers that end, not those that hang. An answer other than 200, a refused
connection, a missing file and a database that does not answer do not count as a hang. The check runs every few
seconds, so it imports almost nothing.
"""

from __future__ import annotations

import os  # not pathlib, which takes longer to import than everything else
import signal
import socket
import sys
import time

MAX_AGE_SECONDS = 20.0
"""Age of a heartbeat file from which the process counts as hanging."""
FILE_VARIABLE = "DAILYGRAD_ALIVE_FILE"
"""Environment variable that names the heartbeat file."""
MAX_HANGS = 4
"""Checks in a row that find the process hanging, after which it is killed."""
_SCHEME = "http://"
TIMEOUT_SECONDS = 8.0
"""Longest wait for a process's answer."""


class Hanging(Exception):
    """The process runs and does nothing. The message says how that was noticed."""


def find_problem(place: str, now: float, timeout: float = TIMEOUT_SECONDS) -> str:
    """Returns what is wrong at `place`, or an empty string. `now` is in seconds since the epoch. Raises Hanging."""
    if place.startswith(_SCHEME):
        try:
            status = _status_line(place, timeout)
        except TimeoutError:
            if _answers_at_all(place, timeout):
                return f"{place} did not answer in {timeout:g} s: what it waits for may be down"
            raise Hanging(f"{place} did not answer in {timeout:g} s: the process hangs") from None
        except OSError as problem:
            return f"{place}: {problem}"
        return "" if status.split(" ")[1:2] == ["200"] else f"{place}: {status or 'no answer'}"
    try:
        age = now - os.stat(place).st_mtime  # noqa: PTH116
    except OSError as problem:
        return str(problem)
    if age >= MAX_AGE_SECONDS:
        raise Hanging(f"{place} was last touched {age:.0f} s ago: the process hangs")
    return ""


def _answers_at_all(place: str, timeout: float) -> bool:
    """Returns whether the process answers /healthz, which waits for nothing."""
    host = place.removeprefix(_SCHEME).partition("/")[0]
    try:
        return bool(_status_line(f"{_SCHEME}{host}/healthz", timeout))
    except OSError:
        return False


def count_hang(path: str) -> int:
    """Counts one more hang in the file, and returns how many there are in a row."""
    try:
        with open(path) as file:  # noqa: PTH123
            number = int(file.read() or 0) + 1
    except (OSError, ValueError):
        number = 1
    with open(path, "w") as file:  # noqa: PTH123
        file.write(str(number))
    return number


def _status_line(url: str, timeout: float) -> str:
    """Returns the status line of a GET, such as `HTTP/1.1 200 OK`. Raises OSError."""
    host, _, path = url.removeprefix(_SCHEME).partition("/")
    name, _, port = host.partition(":")
    with socket.create_connection((name, int(port or 80)), timeout) as connection:
        connection.sendall(f"GET /{path} HTTP/1.0\r\nHost: {host}\r\n\r\n".encode())
        with connection.makefile("rb") as answer:
            return answer.readline(1000).decode("latin-1").strip()


def main(arguments: list[str]) -> int:
    place, *counted = arguments
    try:
        problem = find_problem(place, time.time())
    except Hanging as hanging:
        sys.stdout.write(str(hanging))
        sys.stdout.flush()
        if counted and count_hang(counted[0]) >= MAX_HANGS:
            # Every process but this one and the container's first, which ends when its child has.
            os.kill(-1, signal.SIGKILL)
        return 1
    for path in counted:
        if os.path.exists(path):  # noqa: PTH110
            os.unlink(path)  # noqa: PTH108
    sys.stdout.write(problem or "ok")
    return 1 if problem else 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
