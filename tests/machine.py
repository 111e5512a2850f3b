"""What tests ask of the machine they run on: free ports, and how much memory and waiting a process has had."""

from __future__ import annotations

import contextlib
import socket
from pathlib import Path

import psutil


def free_port() -> int:
    """Returns a port of 127.0.0.1 that a server can listen on; for a minute, the system gives it to nobody else.

    A connection that the server's side has closed keeps the port (TIME_WAIT): a socket that asks for any port does not
    get it, and a server that names it does, because servers set SO_REUSEADDR.
    """
    with socket.create_server(("127.0.0.1", 0)) as server:
        address: tuple[str, int] = server.getsockname()
        with socket.create_connection(address) as client:
            server.accept()[0].close()
            client.recv(1)
    return address[1]


def private_mb(pid: int) -> float:
    """Returns the memory that a process shares with no other, MiB."""
    return float(psutil.Process(pid).memory_full_info().uss) / 2**20


def waited_s(pid: int, thread: str = "*") -> float:
    """Returns how long a process's threads were runnable but not running, seconds; 0 if the kernel does not say."""
    waited = 0
    for told in Path(f"/proc/{pid}/task").glob(f"{thread}/schedstat"):
        with contextlib.suppress(OSError):  # a thread that ended meanwhile
            waited += int(told.read_text().split()[1])
    return waited / 1e9
