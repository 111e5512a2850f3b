"""The zygote: imports torch once inside the jail and forks a fresh child per run. One thread, no secrets, no answers.

It speaks datagrams with the supervisor on one socket: `spawn` with four descriptors comes in; `spawned` with a
pidfd, and later `ended` with how the child ended, go out.
"""

from __future__ import annotations

import ctypes
import gc
import json
import os
import resource
import select
import signal
import socket
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from sandbox import linux
from sandbox.inside import confine

# Gathers what forks share into huge pages, so that a fork copies little and its child meets few faults. Forks nothing.
#
# Needs no privilege and no huge page set aside; where the kernel cannot (before 6.1), everything stays as it was.
# For a process with one thread: code that runs may be moved.


HUGE = 2 << 20
_PAGE = 4096
_HOT = 64
"""Pages of a block of code that must be in use before the whole block is worth 2 MB of memory of our own."""

_READ, _WRITE, _EXECUTE = 1, 2, 4
_PRIVATE, _ANONYMOUS = 0x02, 0x20
_MAYMOVE, _FIXED = 1, 2
_COLLAPSE = 25
_PRESENT = 0x80

_libc = ctypes.CDLL(None, use_errno=True)
for _function in (_libc.mmap, _libc.mremap):
    _function.restype = ctypes.c_void_p


@dataclass(frozen=True, slots=True)
class Gathered:
    """How many blocks of 2 MB became one page each."""

    data: int
    code: int


def gather() -> Gathered:
    """Gather this process's own memory, and then a copy of the code it has used."""
    return Gathered(sum(map(_collapse, _data_blocks())), sum(map(_replace, list(_code_blocks()))))


def _blocks(rights: str, *, of_files: bool) -> Iterator[int]:
    """The whole aligned blocks of mappings with these rights."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, allowed, _, _, inode, *name = line.split(None, 5)
        if allowed != rights or (inode != "0") is not of_files or (name and name[0].startswith(("[stack", "[v"))):
            continue
        start, end = (int(at, 16) for at in span.split("-"))
        yield from range(-(-start // HUGE) * HUGE, end - HUGE + 1, HUGE)


def _data_blocks() -> Iterator[int]:
    return (block for block in _blocks("rw-p", of_files=False) if _present(block))


def _code_blocks() -> Iterator[int]:
    return (block for block in _blocks("r-xp", of_files=True) if _present(block) >= _HOT)


def _present(block: int) -> int:
    """How many of its pages this process has touched."""
    with Path("/proc/self/pagemap").open("rb", buffering=0) as pages:
        pages.seek(block // _PAGE * 8)
        return sum(1 for byte in pages.read(HUGE // _PAGE * 8)[7::8] if byte & _PRESENT)


def _collapse(block: int) -> bool:
    return bool(_libc.madvise(ctypes.c_void_p(block), ctypes.c_size_t(HUGE), _COLLAPSE) == 0)


def _replace(block: int) -> bool:
    """Put a copy in one huge page where the block of code was; its bytes and rights are the same at every instant."""
    room = _map(2 * HUGE)
    if room is None:
        return False
    copy = -(-room // HUGE) * HUGE
    ctypes.memmove(copy, block, HUGE)
    moved = _collapse(copy) and _protect(copy) and _move(copy, block)
    _unmap(room, copy - room)
    if not moved:
        _unmap(copy, HUGE)
    _unmap(copy + HUGE, room + HUGE - copy)
    return moved


def _map(size: int) -> int | None:
    found = _libc.mmap(None, ctypes.c_size_t(size), _READ | _WRITE, _PRIVATE | _ANONYMOUS, -1, ctypes.c_long(0))
    return None if found in (None, ctypes.c_void_p(-1).value) else int(found)


def _unmap(start: int, size: int) -> None:
    if size:
        _libc.munmap(ctypes.c_void_p(start), ctypes.c_size_t(size))


def _protect(block: int) -> bool:
    return bool(_libc.mprotect(ctypes.c_void_p(block), ctypes.c_size_t(HUGE), _READ | _EXECUTE) == 0)


def _move(copy: int, block: int) -> bool:
    size, how = ctypes.c_size_t(HUGE), _MAYMOVE | _FIXED
    return bool(_libc.mremap(ctypes.c_void_p(copy), size, size, how, ctypes.c_void_p(block)) == block)


CONTROL = 3
_MOST_FRAME = 4096


def serve(options: dict[str, Any]) -> NoReturn:
    """Warm up, say so, then fork until the supervisor is gone. Never returns."""
    # Not at the top: `Forking` also serves `sandbox.inside.fresh`, whose children import torch themselves.
    import numpy
    import torch

    from sandbox.inside import child

    control = socket.socket(fileno=CONTROL)
    _warm(child.get_warm)
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    tell(control, {"ready": {"torch": torch.__version__, "numpy": numpy.__version__}})
    Forking(control, options, child.live).forever()


def _warm(as_a_child: Callable[[str], None]) -> None:
    """Load what torch loads late: the first optimizer costs 1.5 s, the first vmap 0.5 s, others much less."""
    import torch

    if len(list(Path("/proc/self/task").iterdir())) != 1:
        raise RuntimeError("the zygote has more than one thread: a fork of it could hang")
    torch.set_num_threads(1)
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.LayerNorm(4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.nn.functional.cross_entropy(model(torch.randn(2, 4)), torch.tensor([0, 1])).backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    torch.func.vmap(torch.func.grad(torch.sin))(torch.ones(2))
    list(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(2))))
    confine.prepare()
    as_a_child("cpu")
    gc.collect()
    # Objects the collector never visits again stay on pages all children share.
    gc.freeze()
    gather()


def tell(control: socket.socket, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
    """One datagram to the supervisor."""
    socket.send_fds(control, [json.dumps(message).encode()], descriptors)


class Forking:
    """Answers the supervisor's wishes with children, each of which goes on as `live` says."""

    def __init__(
        self, control: socket.socket, options: dict[str, Any], live: Callable[[confine.Isolation], NoReturn]
    ) -> None:
        self.control = control
        self.options = options
        self.live = live
        self.poller = select.poll()
        self.poller.register(control, select.POLLIN)
        self.children: dict[int, tuple[int, int]] = {}

    def forever(self) -> NoReturn:
        """Until the supervisor is gone."""
        while True:
            for descriptor, _ in self.poller.poll():
                if descriptor == self.control.fileno():
                    self.spawn()
                else:
                    self.reap(descriptor)

    def spawn(self) -> None:
        """Take a wish and make the child."""
        data, descriptors, _, _ = socket.recv_fds(self.control, _MOST_FRAME, 8)
        if not data:
            os._exit(0)
        wish = json.loads(data)
        try:
            pid, pidfd = linux.clone(confine.NAMESPACES if self.options["namespaces"] else 0)
        except OSError as problem:
            # Often EAGAIN while a killed tree is not reaped yet: the supervisor asks again.
            tell(self.control, {"failed": wish["spawn"], "why": str(problem)})
        else:
            if pid == 0:
                self.become(descriptors, int(wish["disk_mb"]))
            self.children[pidfd] = (pid, wish["spawn"])
            self.poller.register(pidfd, select.POLLIN)
            tell(self.control, {"spawned": wish["spawn"]}, (pidfd,))
        for descriptor in descriptors:
            os.close(descriptor)

    def reap(self, pidfd: int) -> None:
        """Tell how a child ended."""
        pid, number = self.children.pop(pidfd)
        self.poller.unregister(pidfd)
        _, status, used = os.wait4(pid, 0)
        os.close(pidfd)
        code = os.waitstatus_to_exitcode(status)
        cpu_ms = (used.ru_utime + used.ru_stime) * 1000
        tell(self.control, {"ended": number, "code": code, "cpu_ms": cpu_ms, "rss_kb": used.ru_maxrss})

    def become(self, descriptors: list[int], disk_mb: int) -> NoReturn:
        """In the child: 0 is nothing, 1 and 2 the answer's output, 3 results, 4 the run; all else is closed."""
        run, results, out, err = (os.dup2(descriptor, 60 + at) for at, descriptor in enumerate(descriptors))
        nothing = os.open("/dev/null", os.O_RDONLY)
        for at, descriptor in enumerate((nothing, out, err, results, run)):
            os.dup2(descriptor, at)
        os.closerange(5, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        self.live(
            confine.Isolation(
                readable=tuple(self.options["readable"]),
                user=self.options["user"],
                group=self.options["group"],
                disk_mb=disk_mb,
                namespaces=self.options["namespaces"],
            )
        )


def main() -> NoReturn:
    """Started by `sandbox.host.jail`, with its options as one JSON argument."""
    options = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve({**options, "user": os.getuid(), "group": os.getgid()})
