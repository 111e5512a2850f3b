"""The zygote: imports torch once in the jail and forks a child per run. Single-threaded, and holds no secrets.

It exchanges datagrams with the supervisor on one socket. It receives `spawn` with five file descriptors, and sends
`spawned` with a pidfd and later `ended` with how the child ended.
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

CONTROL_FD = 3
"""File descriptor of the socket to the supervisor, set by `sandbox.host.launch`."""
_MAX_MESSAGE = 4096
"""Maximum size of a message from the supervisor, bytes."""


def main() -> NoReturn:
    """Entry point of the zygote, with JSON options from `sandbox.host.jail`."""
    options = json.loads(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    serve({**options, "user": os.getuid(), "group": os.getgid()})


def serve(options: dict[str, Any]) -> NoReturn:
    """Warms up, reports that it is ready, and forks children until the supervisor has gone."""
    # Importing allocates much and frees little: without the collector it takes a fifth less time.
    gc.disable()
    # Not imported at the top: these seconds belong to the start, and `sandbox.inside.gpu_child` has its own.
    import numpy
    import torch

    from sandbox.inside import child, walls

    walls.replace_silent_failures()
    control = socket.socket(fileno=CONTROL_FD)
    _warm_up(child.warm_up, compiler=options["compiler"])
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    send_message(control, {"ready": {"torch": torch.__version__, "numpy": numpy.__version__}})
    ForkServer(control, options, child.run_child).serve()


def _warm_up(warm_up_child: Callable[[str], None], *, compiler: bool) -> None:
    """Loads what torch loads lazily, and its compiler or a stand-in for it."""
    import torch

    from sandbox.inside.answer import warm_up_driving
    from sandbox.inside.deferred_compiler import defer_compiler

    if len(list(Path("/proc/self/task").iterdir())) != 1:
        raise RuntimeError("the zygote has more than one thread: a fork of it could hang")
    torch.set_num_threads(1)
    if not compiler:
        defer_compiler()
    model = torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.LayerNorm(4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    torch.nn.functional.cross_entropy(model(torch.randn(2, 4)), torch.tensor([0, 1])).backward()  # type: ignore[no-untyped-call]
    optimizer.step()
    torch.func.vmap(torch.func.grad(torch.sin))(torch.ones(2))
    list(torch.utils.data.DataLoader(torch.utils.data.TensorDataset(torch.ones(2))))
    if compiler:
        # The one backend of torch.compile that works without a C++ compiler.
        torch.compile(model, backend="eager")(torch.randn(2, 4))
        torch.compiler.reset()
    confine.prepare()
    warm_up_child("cpu")
    warm_up_driving()
    gc.collect()
    gc.enable()
    # Frozen objects are never visited by the collector again, so their pages stay shared with the children.
    gc.freeze()
    use_huge_pages()


def send_message(control: socket.socket, message: dict[str, Any], descriptors: tuple[int, ...] = ()) -> None:
    """Sends one datagram to the supervisor."""
    socket.send_fds(control, [json.dumps(message).encode()], descriptors)


class ForkServer:
    """Forks children at the supervisor's request. Each child continues in `run_child`."""

    def __init__(
        self, control: socket.socket, options: dict[str, Any], run_child: Callable[[confine.Confinement], NoReturn]
    ) -> None:
        self.control = control
        self.options = options
        self.run_child = run_child
        self.poller = select.poll()
        self.poller.register(control, select.POLLIN)
        self.children: dict[int, tuple[int, int]] = {}
        """Process id and number of each child, by pidfd."""
        self._own_pids = bool(options.get("own_pids", True))
        namespaces = confine.NAMESPACES if self._own_pids else confine.NAMESPACES & ~linux.CLONE_NEWPID
        self._cloner = linux.Cloner(namespaces if options["namespaces"] else 0)
        self.kept: set[int] = set()
        """Numbers of children whose process ids the supervisor uses right now. They are reaped afterwards."""

    def serve(self) -> NoReturn:
        """Forks and reaps children until the supervisor has gone."""
        while True:
            for descriptor, _ in self.poller.poll():
                if descriptor == self.control.fileno():
                    self._answer()
                else:
                    self._end(descriptor)

    def _answer(self) -> None:
        """Receives a request and carries it out."""
        data, descriptors, _, _ = socket.recv_fds(self.control, _MAX_MESSAGE, 8)
        if not data:
            os._exit(0)
        request = json.loads(data)
        if "keep" in request:
            alive = any(number == request["keep"] for _, number in self.children.values())
            self.kept |= {request["keep"]} if alive else set()
            send_message(self.control, {"kept": request["keep"], "alive": alive})
        elif "release" in request:
            self._release(request["release"])
        else:
            self._spawn(request, descriptors)

    def _release(self, released: int) -> None:
        """Polls a child again that may have ended while its process id was kept."""
        if released in self.kept:
            self.kept.remove(released)
            for pidfd in [pidfd for pidfd, (_, number) in self.children.items() if number == released]:
                self.poller.register(pidfd, select.POLLIN)

    def _end(self, pidfd: int) -> None:
        """Reaps a child that has ended, unless its process id is kept."""
        if self.children[pidfd][1] in self.kept:
            self.poller.unregister(pidfd)
        else:
            self._reap(pidfd)

    def _spawn(self, request: dict[str, Any], descriptors: list[int]) -> None:
        """Forks a child."""
        try:
            pid, pidfd = self._cloner.clone()
        except OSError as problem:
            # Often EAGAIN while a killed process tree is not reaped yet. The supervisor retries.
            send_message(self.control, {"failed": request["spawn"], "why": str(problem)})
        else:
            if pid == 0:
                self._become_child(descriptors, int(request["disk_mb"]))
            self.children[pidfd] = (pid, request["spawn"])
            self.poller.register(pidfd, select.POLLIN)
            send_message(self.control, {"spawned": request["spawn"]}, (pidfd,))
        for descriptor in descriptors:
            os.close(descriptor)

    def _reap(self, pidfd: int) -> None:
        """Reports how a child ended."""
        pid, number = self.children.pop(pidfd)
        self.poller.unregister(pidfd)
        _, status, used = os.wait4(pid, 0)
        os.close(pidfd)
        code = os.waitstatus_to_exitcode(status)
        cpu_ms = (used.ru_utime + used.ru_stime) * 1000
        send_message(self.control, {"ended": number, "code": code, "cpu_ms": cpu_ms, "rss_kb": used.ru_maxrss})

    def _become_child(self, descriptors: list[int], disk_mb: int) -> NoReturn:
        """Arranges the child's file descriptors: 0 is /dev/null, 1 and 2 its output, 3 results, 4 the run,
        5 memory that it shares with the supervisor.
        """
        run, results, stdout, stderr, memory = (
            os.dup2(descriptor, 60 + at) for at, descriptor in enumerate(descriptors)
        )
        null = os.open("/dev/null", os.O_RDONLY)
        for at, descriptor in enumerate((null, stdout, stderr, results, run, memory)):
            os.dup2(descriptor, at)
        os.closerange(6, resource.getrlimit(resource.RLIMIT_NOFILE)[0])
        signal.signal(signal.SIGPIPE, signal.SIG_IGN)
        self.run_child(
            confine.Confinement(
                readable=tuple(self.options["readable"]),
                user=self.options["user"],
                group=self.options["group"],
                disk_mb=disk_mb,
                namespaces=self.options["namespaces"],
                own_pids=self._own_pids,
            )
        )


# Huge pages. With the memory that forks share in huge pages, a fork copies fewer page tables and its child takes fewer
# page faults. Needs no privilege and no reserved huge pages. Where the kernel cannot (before 6.1), nothing changes.

HUGE_PAGE = 2 << 20
_PAGE = 4096
_MIN_PRESENT = 128
"""Pages of a 2 MB block of code that must be in use before a copy in a huge page is worth its memory."""
_PROT_READ, _PROT_WRITE, _PROT_EXEC = 1, 2, 4
_MAP_PRIVATE, _MAP_ANONYMOUS = 0x02, 0x20
_MREMAP_MAYMOVE, _MREMAP_FIXED = 1, 2
_MADV_COLLAPSE = 25
_PRESENT = 0x80
"""Bit in the last byte of a /proc/self/pagemap entry."""

_libc = ctypes.CDLL(None, use_errno=True)
for _function in (_libc.mmap, _libc.mremap):
    _function.restype = ctypes.c_void_p


@dataclass(frozen=True, slots=True)
class HugePages:
    """Number of 2 MB blocks that became huge pages."""

    data: int
    code: int


def use_huge_pages() -> HugePages:
    """Moves this process's own memory, and copies of the code it has used, into huge pages. Single-threaded only."""
    return HugePages(sum(map(_collapse, _data_blocks())), sum(map(_replace_with_copy, list(_code_blocks()))))


def _data_blocks() -> Iterator[int]:
    return (block for block in _blocks("rw-p", of_files=False) if _present_pages(block))


def _code_blocks() -> Iterator[int]:
    return (block for block in _blocks("r-xp", of_files=True) if _present_pages(block) >= _MIN_PRESENT)


def _blocks(rights: str, *, of_files: bool) -> Iterator[int]:
    """Yields the addresses of whole, aligned blocks in mappings with these rights."""
    for line in Path("/proc/self/maps").read_text().splitlines():
        span, allowed, _, _, inode, *name = line.split(None, 5)
        if allowed != rights or (inode != "0") is not of_files or (name and name[0].startswith(("[stack", "[v"))):
            continue
        start, end = (int(at, 16) for at in span.split("-"))
        yield from range(-(-start // HUGE_PAGE) * HUGE_PAGE, end - HUGE_PAGE + 1, HUGE_PAGE)


def _present_pages(block: int) -> int:
    """Returns how many pages of a block this process has touched."""
    with Path("/proc/self/pagemap").open("rb", buffering=0) as pages:
        pages.seek(block // _PAGE * 8)
        return sum(1 for byte in pages.read(HUGE_PAGE // _PAGE * 8)[7::8] if byte & _PRESENT)


def _collapse(block: int) -> bool:
    return bool(_libc.madvise(ctypes.c_void_p(block), ctypes.c_size_t(HUGE_PAGE), _MADV_COLLAPSE) == 0)


def _replace_with_copy(block: int) -> bool:
    """Replaces a block of code with a copy in one huge page. Its bytes and rights never change, so it keeps running."""
    area = _map(2 * HUGE_PAGE)
    if area is None:
        return False
    copy = -(-area // HUGE_PAGE) * HUGE_PAGE
    ctypes.memmove(copy, block, HUGE_PAGE)
    moved = _collapse(copy) and _make_executable(copy) and _move(copy, block)
    _unmap(area, copy - area)
    if not moved:
        _unmap(copy, HUGE_PAGE)
    _unmap(copy + HUGE_PAGE, area + HUGE_PAGE - copy)
    return moved


def _map(size: int) -> int | None:
    rights, flags = _PROT_READ | _PROT_WRITE, _MAP_PRIVATE | _MAP_ANONYMOUS
    address = _libc.mmap(None, ctypes.c_size_t(size), rights, flags, -1, ctypes.c_long(0))
    return None if address in (None, ctypes.c_void_p(-1).value) else int(address)


def _unmap(start: int, size: int) -> None:
    if size:
        _libc.munmap(ctypes.c_void_p(start), ctypes.c_size_t(size))


def _make_executable(block: int) -> bool:
    size, rights = ctypes.c_size_t(HUGE_PAGE), _PROT_READ | _PROT_EXEC
    return bool(_libc.mprotect(ctypes.c_void_p(block), size, rights) == 0)


def _move(copy: int, block: int) -> bool:
    size, flags = ctypes.c_size_t(HUGE_PAGE), _MREMAP_MAYMOVE | _MREMAP_FIXED
    return bool(_libc.mremap(ctypes.c_void_p(copy), size, size, flags, ctypes.c_void_p(block)) == block)
