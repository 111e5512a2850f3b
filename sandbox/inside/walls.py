"""Finds out from an exception whether a program met a wall or a limit. Confines nothing itself.

The kernel reports most walls with the same error, so the place that called it decides. What is found here only explains
a failure: an answer can forge it.
"""

from __future__ import annotations

import errno
import linecache
import math
import os
import re
import resource
import traceback
from typing import Any, NoReturn

from sandbox.causes import MemoryExceeded, Wall, WallHit
from sandbox.inside.confine import SCRATCH
from sandbox.inside.tracebacks import chain, line_of, text_of
from sandbox.wire import Limits

# By file and function of the innermost frames, or the function the answer called there.
_WALL_OF_FILE: tuple[tuple[str, Wall], ...] = (
    ("/torch/distributed/", "distributed"),
    ("/torch/storage.py", "shared memory"),
    ("/multiprocessing/shared_memory.py", "shared memory"),
    ("/multiprocessing/", "processes"),
    ("/concurrent/futures/process.py", "processes"),
    ("/subprocess.py", "processes"),
    ("/pty.py", "processes"),
    ("/socket.py", "network"),
    ("/ssl.py", "network"),
)
_WALL_OF_CALL: dict[str, Wall] = {
    **dict.fromkeys(("fork", "forkpty", "vfork", "system", "fork_exec", "posix_spawn", "posix_spawnp"), "processes"),
    **dict.fromkeys(("execv", "execve", "execvp", "execvpe", "execl", "execlp", "Popen", "popen", "run"), "processes"),
    **dict.fromkeys(("socket", "bind", "connect", "listen", "accept", "send", "sendall", "sendto"), "network"),
    **dict.fromkeys(("sendmsg", "recv", "recv_into", "recvfrom", "recvmsg"), "network"),
    **dict.fromkeys(("flock", "lockf"), "locks"),
    "flush": "flush",
}
_REFUSED = (errno.EPERM, errno.EACCES, errno.EROFS)
_WALL_OF_ERROR: dict[int | None, Wall] = {
    errno.EFBIG: "disk",
    errno.ENOSPC: "disk",
    errno.EDQUOT: "disk",
    errno.EMFILE: "open files",
}
# Errors that come from C++ carry text only.
_WALL_OF_TEXT: tuple[tuple[str, Wall], ...] = (
    ("can't start new thread", "threads"),
    ("Resource temporarily unavailable", "threads"),
    ("unable to open shared memory object", "shared memory"),
    ("File too large", "disk"),
    ("No space left on device", "disk"),
    ("basic_ios::clear: iostream error", "disk"),
    ("inline_container.cc", "disk"),
    ("to a (local) address", "distributed"),
    ("Failed to find C compiler", "compiler"),  # Triton on a GPU
    ("0 active drivers", "compiler"),  # Triton on the CPU, where it has nothing to compile for
    ("Ninja is required to load C++ extensions", "compiler"),
)
_WRITTEN_IN_PART = re.compile(r"[0-9]+ requested and [0-9]+ written")
"""What numpy says about a full disk."""
_COMPILING = ("/triton/", "/torch/_inductor/", "/torch/utils/cpp_extension.py")
"""Parts of the paths of files that start a compiler."""
_OUT_OF_MEMORY = ("can't allocate memory", "CUDA out of memory", "Cannot allocate memory", "std::bad_alloc")
_ASKED_BYTES = re.compile(r"tried to allocate ([0-9]{1,20}) bytes")
_ASKED_UNITS = re.compile(r"(?:Tried|Unable) to allocate ([0-9.]{1,20}) ([KMGT]iB)")
_MB_OF_UNIT = {"KiB": 1 / 1024, "MiB": 1, "GiB": 1024, "TiB": 1024**2}
_SQLITE_LOCK_ERRORS = (3, 5, 6, 10)
"""SQLITE_PERM, SQLITE_BUSY, SQLITE_LOCKED and SQLITE_IOERR."""


def explain(problem: BaseException, limits: Limits) -> WallHit | MemoryExceeded | None:
    """Returns which wall or memory limit an exception shows, or None for a mistake of the program."""
    for one in chain(problem):
        if _is_out_of_memory(one):
            return _out_of_memory(text_of(one), line_of(problem), limits)
        wall = _wall_of(one)
        if wall is not None:
            return WallHit(wall, line_of(problem), _limit_of(wall, limits))
    return None


def _limit_of(wall: Wall, limits: Limits) -> int:
    match wall:
        case "threads":
            return limits.processes - 1
        case "disk":
            return limits.disk_mb
        case "open files":
            return resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        case "file count":
            return os.statvfs(SCRATCH).f_files - 1  # the folder itself is one
        case _:
            return 0


def _is_out_of_memory(problem: BaseException) -> bool:
    if isinstance(problem, MemoryError) or getattr(problem, "errno", None) == errno.ENOMEM:
        return True
    return isinstance(problem, RuntimeError) and any(words in text_of(problem) for words in _OUT_OF_MEMORY)


def _out_of_memory(text: str, line: int | None, limits: Limits) -> MemoryExceeded:
    if "CUDA out of memory" in text:
        return MemoryExceeded(limits.gpu_mb, 0, _asked_mb(text), line, "cuda")
    return MemoryExceeded(limits.memory_mb, 0, _asked_mb(text), line)


def _asked_mb(text: str) -> int:
    if found := _ASKED_BYTES.search(text):
        return -(-int(found[1]) >> 20)
    if found := _ASKED_UNITS.search(text):
        return math.ceil(float(found[1]) * _MB_OF_UNIT[found[2]])
    return 0


def _wall_of(problem: BaseException) -> Wall | None:
    known = problem.__dict__.get("wall") if isinstance(problem, _Refused) else None
    if known is not None:
        return known  # type: ignore[no-any-return]
    if type(problem).__module__.startswith("torch.distributed") or type(problem).__name__.startswith("Dist"):
        return "distributed"
    # By name: the module is not loaded for it, as a small image may lack its library.
    if (type(problem).__module__, type(problem).__name__) == ("sqlite3", "OperationalError"):
        code = getattr(problem, "sqlite_errorcode", 0) & 0xFF
        return "locks" if code in _SQLITE_LOCK_ERRORS else None
    if isinstance(problem, ModuleNotFoundError) and problem.name == "triton":
        return "compiler"
    if isinstance(problem, OSError):
        return _wall_of_os_error(problem)
    if isinstance(problem, RuntimeError):
        return _wall_of_runtime_error(problem)
    return None


def _wall_of_runtime_error(problem: RuntimeError) -> Wall | None:
    text = text_of(problem)
    if text == os.strerror(errno.EPERM):
        return _wall_of_place(problem) or "call"
    return next((wall for words, wall in _WALL_OF_TEXT if words in text), None)


def _wall_of_os_error(problem: OSError) -> Wall | None:
    if problem.errno == errno.ENOSPC and os.statvfs(SCRATCH).f_ffree == 0:
        return "file count"
    if problem.errno is None and _WRITTEN_IN_PART.fullmatch(text_of(problem)):
        return "disk"
    if problem.errno in _WALL_OF_ERROR:
        return _WALL_OF_ERROR[problem.errno]
    if type(problem).__name__ == "gaierror":
        return "network"
    if problem.errno not in _REFUSED:
        return None
    if found := _wall_of_place(problem):
        return found
    # The filter refuses with EPERM for any file. Landlock and read-only mounts refuse by place.
    return "call" if problem.errno == errno.EPERM else "files"


def _wall_of_place(problem: BaseException) -> Wall | None:
    frames = list(traceback.walk_tb(problem.__traceback__))
    if any(part in frame.f_code.co_filename for frame, _ in frames for part in _COMPILING):
        return "compiler"
    for frame, _ in reversed(frames):
        for part, wall in _WALL_OF_FILE:
            if part in frame.f_code.co_filename:
                return wall
    innermost = next(reversed(traceback.extract_tb(problem.__traceback__)), None)
    called = _called_name(innermost) if innermost is not None else ""
    return _WALL_OF_CALL.get(called)


def _called_name(frame: traceback.FrameSummary) -> str:
    """Returns the name of the function that a frame was calling, such as `fork` for `os.fork()`."""
    # Not `frame.line`, which lacks the indentation that the columns count.
    text = linecache.getline(frame.filename, frame.lineno or 0) or frame.line or ""
    segment = text[frame.colno or 0 : frame.end_colno if frame.end_lineno == frame.lineno else None]
    head = segment.split("(", 1)[0]
    return head.rsplit(".", 1)[-1].strip()


class _Refused(PermissionError):
    """A refusal by this module, before the kernel is asked."""


_Refused.__name__ = _Refused.__qualname__ = "PermissionError"
_Refused.__module__ = "builtins"


def refuse(wall: Wall) -> NoReturn:
    """Raises the error with which the kernel refuses."""
    problem = _Refused(errno.EPERM, os.strerror(errno.EPERM))
    problem.__dict__["wall"] = wall
    raise problem


def replace_silent_failures() -> None:
    """Makes those calls raise at once that would fail late or without an error behind these walls."""
    import asyncio.selector_events
    import selectors

    import torch

    for function in (refuse, _refuse_system, _refuse_compiler, _write_to_self, _read_from_self):
        # They appear in tracebacks that a program prints itself, where our files would only confuse.
        function.__code__ = function.__code__.replace(co_filename="<sandbox>")
    os.system = _refuse_system
    torch._TorchCompileInductorWrapper.__init__ = _refuse_compiler  # type: ignore[method-assign]
    # asyncio wakes its loop by sending on a socket, and only plain reads and writes are allowed here.
    selectors.DefaultSelector = selectors.PollSelector  # type: ignore[assignment, misc]
    loop: Any = asyncio.selector_events.BaseSelectorEventLoop
    loop._write_to_self, loop._read_from_self = _write_to_self, _read_from_self


def _refuse_system(command: object) -> int:
    refuse("processes")


def _refuse_compiler(*arguments: object, **named: object) -> None:
    refuse("compiler")


def _write_to_self(loop: Any) -> None:
    if loop._csock is not None:
        try:
            os.write(loop._csock.fileno(), b"\0")
        except OSError:
            return  # the pipe is full, so the loop wakes up anyway


def _read_from_self(loop: Any) -> None:
    try:
        while data := os.read(loop._ssock.fileno(), 4096):
            loop._process_self_data(data)
    except BlockingIOError:
        return
