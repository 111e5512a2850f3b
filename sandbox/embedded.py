"""Starts and stops a sandbox as a subprocess, for the all-in-one command and for tests."""

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
"""Longest wait for the sandbox to stop, before it is killed."""
# -I ignores PYTHONPATH, so the folder of this package is passed as the first argument.
_BOOT = "import sys; sys.path.insert(0, sys.argv.pop(1)); from sandbox.cli import sandbox_command; sandbox_command()"


@dataclass(frozen=True, slots=True)
class EmbeddedSandbox:
    """A supervisor that was started as a subprocess."""

    process: subprocess.Popen[bytes]
    socket: Path
    log: Path
    """The supervisor's messages to the operator."""

    @property
    def client(self) -> SandboxClient:
        """A new client of this sandbox."""
        return SandboxClient(self.socket)

    def stop(self) -> int:
        """Stops the supervisor and every process it started. Returns its exit status. Safe to call twice."""
        self.process.terminate()
        try:
            return self.process.wait(_STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            return self.process.wait()


def start(
    directory: Path, *, weaker: bool = False, concurrency: int | None = None, prefix: Sequence[str] = ()
) -> EmbeddedSandbox:
    """Starts a sandbox with its socket and log in `directory`. It exits when the calling thread ends.

    Returns at once: the first child is ready some seconds later (`client.until_ready`). The supervisor gets an empty
    environment and none of the caller's file descriptors. `prefix` is a command to run it with, such as setpriv.
    """
    directory.mkdir(parents=True, exist_ok=True)
    path, log = directory / "sandbox.sock", directory / "sandbox.log"
    package_folder = str(Path(__file__).resolve().parent.parent)
    arguments = ["serve", "--socket", str(path), *(["--weaker"] if weaker else [])]
    arguments += ["--concurrency", str(concurrency)] if concurrency else []
    # With a prefix, the supervisor's parent may be that command and not this process.
    arguments += [] if prefix else ["--parent", str(os.getpid())]
    with log.open("ab") as out:
        process = subprocess.Popen(
            [*prefix, sys.executable, "-I", "-B", "-c", _BOOT, package_folder, *arguments],
            env={"PATH": os.defpath},
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            close_fds=True,
            # The caller handles Ctrl-C and stops the sandbox itself.
            start_new_session=True,
        )
    return EmbeddedSandbox(process, path, log)


@contextlib.asynccontextmanager
async def embedded_sandbox(directory: Path, seconds: float = 120.0) -> AsyncIterator[SandboxClient]:
    """Yields a client of a new, ready sandbox, and stops it afterwards. Raises SandboxUnreachable with the cause."""
    sandbox = start(directory)
    client = sandbox.client
    try:
        await client.until_ready(seconds)
        yield client
    finally:
        sandbox.stop()
