"""The world without walls, where controls run: `python free.py HOME`, a JSON job per line in, a JSON end per line out.

Each program gets a process, mount, network, IPC and name space of its own, so that what it may do there harms nobody,
and nothing else of the sandbox: no filter, no Landlock, no limit, no lost capability, one torch imported before.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any, NoReturn

_SECONDS = 20.0
_HIDDEN = ("/tmp", "/dev/shm")
"""Folders that each program finds empty, apart from this Python and this repository where they lie in one."""


def become(job: dict[str, Any], descriptors: list[int]) -> NoReturn:
    """In the child: run the program; 0 is nothing, 1 and 2 output, 3 another pipe."""
    from sandbox import linux

    os.setsid()
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    linux.mount("proc", "/proc", "proc", 0)
    kept = [
        (path, os.open(path, os.O_PATH)) for path in _needed() if path.startswith(tuple(f"{it}/" for it in _HIDDEN))
    ]
    for place in _HIDDEN:
        linux.mount("none", place, "tmpfs", 0, "size=64m")
    for path, descriptor in kept:
        Path(path).mkdir(parents=True, exist_ok=True)
        linux.mount(f"/proc/self/fd/{descriptor}", path, None, linux.MS_BIND | linux.MS_REC)
        os.close(descriptor)
    nothing = os.open("/dev/null", os.O_RDONLY)
    high = [os.dup2(descriptor, 70 + at) for at, descriptor in enumerate(descriptors)]
    for at, descriptor in enumerate((nothing, *high)):
        os.dup2(descriptor, at)
    os.closerange(4, 200)
    os.chdir("/tmp")
    code = 0
    try:
        exec(compile(job["code"], "<free>", "exec"), {"__name__": "__main__"})
    except SystemExit as leaving:
        code = leaving.code if isinstance(leaving.code, int) else 1
    except BaseException as problem:
        os.write(2, repr(problem).encode()[:4000])
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def _needed() -> list[str]:
    """Returns the folders that programs import from: this Python, its packages and this repository."""
    return [os.path.realpath(path) for path in dict.fromkeys((sys.base_prefix, sys.prefix, sys.argv[1]))]


def run(job: dict[str, Any]) -> dict[str, Any]:
    """How one program ended and what it wrote."""
    from sandbox import linux
    from sandbox.inside import confine

    pipes = [os.pipe() for _ in range(3)]
    pid, pidfd = linux.clone(confine.NAMESPACES & ~linux.CLONE_NEWUSER)
    if pid == 0:
        become(job, [into for _, into in pipes])
    for _, into in pipes:
        os.close(into)
    heard = _hear([out for out, _ in pipes], pidfd)
    signal.pidfd_send_signal(pidfd, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    for descriptor in (pidfd, *(out for out, _ in pipes)):
        os.close(descriptor)
    words = [data[:100_000].decode(errors="replace") for data in heard]
    return {"name": job["name"], "code": code, "stdout": words[0], "stderr": words[1], "results": words[2]}


def _hear(descriptors: list[int], pidfd: int) -> list[bytes]:
    heard: dict[int, bytearray] = {descriptor: bytearray() for descriptor in descriptors}
    poller = select.poll()
    for descriptor in (*descriptors, pidfd):
        poller.register(descriptor, select.POLLIN)
    end = time.monotonic() + _SECONDS
    ended = False
    # What is written is still in the pipes when it has ended; a descendant may hold them open longer.
    while events := poller.poll(0 if ended else max(0.0, end - time.monotonic()) * 1000):
        for descriptor, _ in events:
            data = os.read(descriptor, 1 << 16) if descriptor != pidfd else b""
            if data:
                heard[descriptor] += data
            else:
                poller.unregister(descriptor)
                ended = ended or descriptor == pidfd
    return [bytes(heard[descriptor]) for descriptor in descriptors]


def main() -> None:
    """Serve until the input ends."""
    sys.path.insert(0, sys.argv[1])
    import torch

    torch.set_num_threads(1)
    for line in sys.stdin:
        sys.stdout.write(json.dumps(run(json.loads(line))) + "\n")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
