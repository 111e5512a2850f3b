"""Starts a sandbox beside the caller and stops it: for the front door and for tests. Talks to it only by its client."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sandbox.client import SandboxClient

_STOP_SECONDS = 15
_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from sandbox.__main__ import main; raise SystemExit(main())"


@dataclass(frozen=True, slots=True)
class EmbeddedSandbox:
    """A running supervisor."""

    process: subprocess.Popen[bytes]
    socket: Path
    log: Path
    """What the supervisor says to the operator."""

    @property
    def client(self) -> SandboxClient:
        """A client of it."""
        return SandboxClient(self.socket)

    def stop(self) -> int:
        """End it and every process it started; its exit status. Harmless when it is gone already."""
        self.process.terminate()
        try:
            return self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def start(
    directory: Path, *, weaker: bool = False, concurrency: int | None = None, prefix: Sequence[str] = ()
) -> EmbeddedSandbox:
    """Start a sandbox whose socket and log lie in `directory`; it dies with the calling thread.

    Returns at once: the first child is parked some seconds later (`client.until_ready`). The supervisor
    starts with an empty environment and none of our descriptors. `prefix` is a command that runs it, such as setpriv.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path, log = directory / "sandbox.sock", directory / "sandbox.log"
    home = str(Path(__file__).resolve().parent.parent)
    words = ["--socket", str(path), *(["--weaker"] if weaker else [])]
    words += ["--concurrency", str(concurrency)] if concurrency else []
    # A command between us would be the parent that the supervisor watches.
    words += [] if prefix else ["--parent", str(os.getpid())]
    with log.open("ab") as out:
        process = subprocess.Popen(
            [*prefix, sys.executable, "-I", "-B", "-c", _BOOT, home, *words],
            env={"PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            close_fds=True,
            # Ctrl-C in the terminal is the front door's to handle.
            start_new_session=True,
        )
    return EmbeddedSandbox(process, path, log)


@contextlib.asynccontextmanager
async def embedded_sandbox(directory: Path, seconds: float = 120.0) -> AsyncIterator[SandboxClient]:
    """A client of a sandbox that is ready, and is stopped at the end. Raises SandboxUnreachable with the log's end."""
    sandbox = start(directory)
    client = sandbox.client
    try:
        await client.until_ready(seconds)
        yield client
    finally:
        sandbox.stop()
