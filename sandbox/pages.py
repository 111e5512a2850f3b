"""Gathers what forks share into huge pages, so that a fork copies little and its child meets few faults. Forks nothing.

Needs no privilege and no huge page set aside; where the kernel cannot (before 6.1), everything stays as it was.
For a process with one thread: code that runs may be moved.
"""

from __future__ import annotations

import ctypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

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
