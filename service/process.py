"""What every process of ours needs and none decides: the time, being stopped, a port to listen at, a refusal."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import uvicorn
from rich.console import Console
from starlette.types import ASGIApp

out = Console(highlight=False)
errors = Console(stderr=True, highlight=False)

DATA = Path(".dailygrad")
"""Where `dailygrad run` keeps everything, unless it is told another folder."""


class CommandFailed(Exception):
    """The command cannot do what was asked; the message names the cause and the cure."""


class InUse(CommandFailed):
    """Another process holds the folder."""


@contextlib.contextmanager
def only_one(data: Path) -> Iterator[None]:
    """Hold the folder for this process. Raises InUse while another does."""
    with (data / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise InUse(f"another `dailygrad run` uses {data}; stop it, or name another folder with --data") from None
        yield


def now() -> datetime:
    """The present instant. The only place that asks the machine."""
    return datetime.now(UTC)


def stop_signal() -> asyncio.Event:
    """Set when the process is asked to stop."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def until(stop: asyncio.Event, doing: Coroutine[Any, Any, None]) -> None:
    """Do something until it is done or we are asked to stop."""
    tasks = {asyncio.create_task(doing), asyncio.create_task(stop.wait())}
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    for task in done:
        task.result()


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: stopping is decided in one place, `stop_signal`."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def served(
    app: ASGIApp, listener: socket.socket, closing: Callable[[], None] = lambda: None, *, grace_s: int = 5
) -> AsyncIterator[None]:
    """The app on the listener until the block ends; `closing` lets go of open streams first.

    Calls that are in hand then have so many seconds to be answered.
    """
    config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off", timeout_graceful_shutdown=grace_s)
    server = _Server(config)
    task = asyncio.create_task(server.serve(sockets=[listener]))
    try:
        yield
    finally:
        closing()
        server.should_exit = True
        await task


@contextlib.contextmanager
def listening(host: str, port: int, *, tries: int = 20, named_by: str = "--port") -> Iterator[socket.socket]:
    """A listening socket on the first free port from `port` on, of so many. Raises Refused when none can be had."""
    problem: OSError | None = None
    for candidate in range(port, min(port + tries, 65536)):
        # Named as TCP, or asyncio leaves Nagle's rule on for what is accepted: 40 ms for each answer of two writes.
        listener = socket.socket(proto=socket.IPPROTO_TCP)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, candidate))
        except OSError as caught:
            listener.close()
            problem = caught
            continue
        listener.listen(128)
        with contextlib.closing(listener):
            yield listener
            return
    ports = f"port {port}" if tries == 1 else f"any of the ports {port} to {port + tries - 1}"
    raise CommandFailed(f"cannot listen at {ports} of {host} ({problem}); name another with {named_by}")
