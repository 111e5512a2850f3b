"""The sandboxes that are attacked and the world without walls; each is started once, and attacked by several at once.

DAILYGRAD_ATTACK_SOCKET names the socket of one more, such as a container's; DAILYGRAD_ATTACK_ONLY=given attacks that
one alone.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from sandbox import embedded
from sandbox.client import SandboxClient

SOCKET = "DAILYGRAD_ATTACK_SOCKET"
EMBEDDED = ("embedded", "embedded, user")
_ONLY = os.environ.get("DAILYGRAD_ATTACK_ONLY")
KINDS = (_ONLY,) if _ONLY else (*EMBEDDED, *(("given",) if SOCKET in os.environ else ()))
"""Started by whoever runs the tests, root perhaps; by an ordinary user; and the one of SOCKET."""

_NOBODY = 65534
_HOME = str(Path(__file__).resolve().parents[3])
_AS_NOBODY = ("setpriv", f"--reuid={_NOBODY}", f"--regid={_NOBODY}", "--clear-groups")
_AS_MAPPED = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
_AT_ONCE = 4
T = TypeVar("T")
S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class World:
    """One sandbox to attack."""

    kind: str
    path: Path
    user: int | None = None
    """Who has to speak to it, if not we: a supervisor listens to its own user alone."""
    process: int = 0
    """Its supervisor, where we started it."""

    def sweep(self, work: Callable[[SandboxClient, T], Awaitable[S]], given: Mapping[str, T]) -> dict[str, S]:
        """`work` done for each of `given`, some at once."""
        with ThreadPoolExecutor(1) as thread:
            return thread.submit(self._swept, work, given).result()

    def _swept(self, work: Callable[[SandboxClient, T], Awaitable[S]], given: Mapping[str, T]) -> dict[str, S]:
        if self.user is not None:
            become(self.user)
        return asyncio.run(_all(SandboxClient(self.path), work, given))


async def _all(
    client: SandboxClient, work: Callable[[SandboxClient, T], Awaitable[S]], given: Mapping[str, T]
) -> dict[str, S]:
    places = asyncio.Semaphore(_AT_ONCE)
    await client.until_ready()

    async def one(item: T) -> S:
        async with places:
            return await work(client, item)

    return dict(zip(given, await asyncio.gather(*map(one, given.values())), strict=True))


def become(user: int) -> None:
    """This thread alone acts as `user` from here on: libc's own call would change every thread."""
    libc = ctypes.CDLL(None, use_errno=True)
    number = 117 if platform.machine() == "x86_64" else 147
    if libc.syscall(ctypes.c_long(number), ctypes.c_long(-1), ctypes.c_long(user), ctypes.c_long(-1)) != 0:
        raise OSError(ctypes.get_errno(), "setresuid")


def _works(command: tuple[str, ...]) -> bool:
    """Whether this very Python can be run so: it may lie where only root can go."""
    again = "import subprocess, sys; sys.exit(subprocess.run([sys.executable, '-c', 'import numpy']).returncode)"
    words = [*command, sys.executable, "-c", again]
    return subprocess.run(words, capture_output=True, check=False).returncode == 0


@contextlib.contextmanager
def opened(kind: str) -> Iterator[World]:
    """A sandbox of that kind, for the length of the block. Raises LookupError when this machine cannot have it."""
    if kind == "given":
        yield World(kind, Path(os.environ[SOCKET]))
        return
    prefix: tuple[str, ...] = ()
    user = None
    with tempfile.TemporaryDirectory(prefix="dailygrad-") as made:
        if kind == "embedded, user" and os.getuid() == 0:
            prefix, user = (_AS_NOBODY, _NOBODY) if _works(_AS_NOBODY) else (_AS_MAPPED, None)
            if not _works(prefix):
                raise LookupError("root can become no ordinary user here")
            if user is not None:
                os.chown(made, user, user)
        started = embedded.start(Path(made), prefix=prefix, concurrency=_AT_ONCE)
        try:
            yield World(kind, started.socket, user, started.process.pid)
        finally:
            started.stop()


def each(worlds: Mapping[str, World], work: Callable[[World], T]) -> dict[str, T]:
    """`work` done in all of them at once: much of it is waiting."""
    with ThreadPoolExecutor(len(worlds)) as threads:
        return dict(zip(worlds, threads.map(work, worlds.values()), strict=True))


class Free:
    """The world without walls."""

    def __init__(self) -> None:
        prefix = () if os.getuid() == 0 else ("unshare", "--user", "--map-root-user")
        self.process = subprocess.Popen(
            [*prefix, sys.executable, str(Path(__file__).with_name("free.py")), _HOME],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={"PATH": os.defpath, "OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"},
        )

    def run(self, name: str, code: str) -> dict[str, Any]:
        """What came of one program."""
        if self.process.stdin is None or self.process.stdout is None:
            raise AssertionError("it was started with pipes")
        self.process.stdin.write(json.dumps({"name": name, "code": code}) + "\n")
        self.process.stdin.flush()
        ended: dict[str, Any] = json.loads(self.process.stdout.readline())
        return ended

    def stop(self) -> None:
        """End it."""
        self.process.communicate()
