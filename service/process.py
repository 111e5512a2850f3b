"""What every process needs: the clock, stop signals, background work, a listening socket, a server, and errors for the
operator."""

from __future__ import annotations

import asyncio
import contextlib
import fcntl
import gc
import os
import signal
import socket
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Literal

import uvicorn
from rich.console import Console
from starlette.types import ASGIApp

out = Console(highlight=False)
errors = Console(stderr=True, highlight=False)

DATA = Path(".dailygrad")
"""Default data folder of `dailygrad run`."""

Clock = Callable[[], datetime]
"""Tells the time."""

_OTHER_FOLDER = "choose another folder with --data or DAILYGRAD_DATA"


class CommandFailed(Exception):
    """A command failed. The message names the cause and the fix."""


class FolderInUse(CommandFailed):
    """Another process has locked the folder."""


def make_folder(folder: Path) -> Path:
    """Creates a data folder for its owner only, unless it exists. Raises CommandFailed if it cannot be used."""
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise CommandFailed(f"{folder} cannot be a folder for data ({error.strerror}); {_OTHER_FOLDER}") from None
    if not os.access(folder, os.W_OK | os.X_OK):
        raise CommandFailed(f"{folder} cannot be written; change its owner, or {_OTHER_FOLDER}")
    return folder


@contextlib.contextmanager
def lock_folder(data: Path) -> Iterator[None]:
    """Locks the folder until the block exits. Raises FolderInUse if another process has locked it."""
    with (data / "lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise FolderInUse(
                f"another `dailygrad run` uses {data}; stop it, or choose another folder with --data"
            ) from None
        yield


def now() -> datetime:
    """Returns the current time in UTC. The only function that reads the machine's clock."""
    return datetime.now(UTC)


def run_process(main: Coroutine[Any, Any, None]) -> None:
    """Runs the coroutine of a whole process, in uvloop's event loop where there is one: it takes less time for sockets
    than Python's."""
    loop_factory: Callable[[], asyncio.AbstractEventLoop] | None = None
    with contextlib.suppress(ImportError):  # it does not exist for Windows
        import uvloop

        loop_factory = uvloop.new_event_loop
    with short_collections(), asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(main)


LONG_COLLECTION = 5_000
"""Objects that Python's garbage collector looks at in about 3 ms."""
MOST_FREEZES = 30
"""A cycle of frozen objects is never freed, so a process that keeps growing does not freeze forever."""


@contextlib.contextmanager
def short_collections() -> Iterator[None]:
    """Keeps collections of garbage short during the block.

    A full collection looks at every object, which takes the service 150 to 200 ms, and nobody is served meanwhile. So
    the objects of the start are frozen: no collection looks at them again. Later the same is done with what survives a
    full collection, such as compiled statements and caches, if it is much.
    """
    left = MOST_FREEZES

    def freeze(phase: Literal["start", "stop"], info: dict[str, int]) -> None:
        nonlocal left
        if phase == "stop" and info["generation"] == 2 and left and len(gc.get_objects(2)) > LONG_COLLECTION:
            gc.freeze()
            left -= 1

    gc.freeze()
    gc.collect()  # of nothing: otherwise the next one waits until there is a quarter as much again
    gc.callbacks.append(freeze)
    try:
        yield
    finally:
        gc.callbacks.remove(freeze)


def stop_signal() -> asyncio.Event:
    """Returns an event that is set when the process receives a signal to stop."""
    stop = asyncio.Event()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, stop.set)
    return stop


async def run_until(stop: asyncio.Event, work: Coroutine[Any, Any, None]) -> None:
    """Runs a coroutine until it returns or `stop` is set."""
    tasks = {asyncio.create_task(work), asyncio.create_task(stop.wait())}
    done, pending = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    for task in pending:
        task.cancel()
    await asyncio.gather(*pending, return_exceptions=True)
    for task in done:
        task.result()


@contextlib.asynccontextmanager
async def in_background(*work: Coroutine[Any, Any, None]) -> AsyncIterator[None]:
    """Runs the coroutines until the block exits, then cancels them and waits until they have cleaned up.

    They handle their own errors: one that fails is not noticed here.
    """
    tasks = [asyncio.create_task(one) for one in work]
    try:
        yield
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: `stop_signal` handles signals."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@contextlib.asynccontextmanager
async def serve_app(
    app: ASGIApp, listener: socket.socket, closing: Callable[[], None] = lambda: None, *, grace_s: int = 5
) -> AsyncIterator[None]:
    """Serves an app on a listening socket until the block exits.

    Then calls `closing`, which should end open streams, and gives running requests `grace_s` seconds to finish.
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
def listen(host: str, port: int, *, tries: int = 20, named_by: str = "--port") -> Iterator[socket.socket]:
    """Yields a socket that listens on the first free port of `tries` ports from `port`.

    Raises CommandFailed if none is free.
    """
    problem: OSError | None = None
    last = min(port + tries - 1, 65535)
    for candidate in range(port, last + 1):
        # With an explicit TCP protocol, asyncio sets TCP_NODELAY on accepted connections: it saves 40 ms per response.
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
    ports = f"port {port}" if last <= port else f"any of the ports {port} to {last}"
    raise CommandFailed(f"cannot listen on {ports} of {host} ({problem}); choose another port with {named_by}")
