"""Starts our processes by forking an interpreter that has already imported their modules.

Importing takes each process seconds of CPU, a fork takes milliseconds. Otherwise it is like any process: environment,
working directory, streams, signals, exit status. Tests of the start itself use `subprocess.Popen`.
"""

from __future__ import annotations

import atexit
import ctypes
import gc
import importlib
import json
import os
import platform
import runpy
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from dailygrad import COMMANDS

ROOT = Path(__file__).parent.parent
_MODULES = (
    *("bot.console", "bot.discord.client", "bot.slack.app", "bot.web.app"),
    *("service.app", "sqlalchemy.exc", "psycopg", "numpy", "uvicorn"),
)
"""Modules that commands import only when they run."""

_CLONE = 56 if platform.machine() == "x86_64" else 220
_CLONE_PARENT = 0x8000
_LARGEST_REQUEST = 200_000


class Forked(subprocess.Popen[Any]):
    """`subprocess.Popen` of `[sys.executable, "-m" or "-c", …]`: a child of this process like any other."""

    def _execute_child(  # type: ignore[no-untyped-def]  # typeshed leaves it out
        self, args: Sequence[str], executable, preexec_fn, close_fds, pass_fds, cwd, env, *rest: Any
    ) -> None:
        assert args[0] == sys.executable and preexec_fn is None and not pass_fds, args
        pipes = rest[3:9]
        p2cread, _, _, c2pwrite, _, errwrite = pipes
        new_session = bool(rest[-2])
        request = (args[1:], str(cwd or Path.cwd()), dict(os.environ if env is None else env), new_session)
        streams = [given if given != -1 else own for own, given in enumerate((p2cread, c2pwrite, errwrite))]
        self.pid = _server().fork(request, streams)
        self._child_created = True
        self._close_pipe_fds(*pipes)  # type: ignore[attr-defined]  # of Popen's own


def run(
    args: Sequence[str], *, input: Any = None, timeout: float | None = None, check: bool = False, **kwargs: Any
) -> subprocess.CompletedProcess[Any]:
    """`subprocess.run` in a forked process. Output is always captured."""
    kwargs.pop("capture_output", None)
    pipe = subprocess.PIPE
    start: Any = Forked
    process: subprocess.Popen[Any] = start(
        args, stdin=None if input is None else pipe, stdout=pipe, stderr=pipe, **kwargs
    )
    with process:
        try:
            out, err = process.communicate(input, timeout=timeout)
        except BaseException:
            process.kill()
            raise
    done = subprocess.CompletedProcess(args, process.returncode, out, err)
    if check:
        done.check_returncode()
    return done


class _Server:
    """The warm interpreter, as seen from the process that asks it to fork."""

    def __init__(self) -> None:
        self._asking, served = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with served:
            self._process = subprocess.Popen(
                [sys.executable, "-c", f"from tests.forked import serve; serve({served.fileno()})"],
                cwd=ROOT,
                # Threads do not survive a fork, so NumPy must not have started any.
                env={**os.environ, "PYTHONPATH": str(ROOT), "OPENBLAS_NUM_THREADS": "1"},
                pass_fds=[served.fileno()],
                stdin=subprocess.DEVNULL,
            )

        atexit.register(self._stop)

    def _stop(self) -> None:
        self._asking.close()
        self._process.wait()

    def fork(self, request: tuple[Any, ...], streams: list[int]) -> int:
        """Returns the process ID of the new child."""
        socket.send_fds(self._asking, [json.dumps(request).encode()], streams)
        if not (answer := self._asking.recv(100)):
            raise RuntimeError("the warm interpreter ended")
        return int(answer)


_inherited: Any = signal.default_int_handler
"""This process's original SIGINT handler."""


@cache
def _server() -> _Server:
    return _Server()


def modules() -> list[str]:
    """Returns what is imported before the first fork: every command of `dailygrad`, and what the commands import."""
    commands = [name for entry in COMMANDS.values() for name in (entry.app.partition(":")[0], *entry.also)]
    return [*dict.fromkeys(commands), *_MODULES]


def serve(number: int) -> None:
    """Forks on request until the socket with this file descriptor is closed by the other side."""
    # Ctrl-C is handled by the parent, which closes the socket when it ends. A fork gets the original handler back: a
    # background command ignores the signal, and so do its children.
    global _inherited
    _inherited = signal.signal(signal.SIGINT, signal.SIG_IGN)
    for module in modules():
        importlib.import_module(module)
    gc.collect()
    gc.freeze()
    served = socket.socket(fileno=number)
    while True:
        asked, streams, _, _ = socket.recv_fds(served, _LARGEST_REQUEST, 3)
        if not asked:
            return
        if child := _fork_sibling():
            served.send(str(child).encode())
            for stream in streams:
                os.close(stream)
            continue
        served.close()
        _become(streams, *json.loads(asked))
        return


def _fork_sibling() -> int:
    """Like `os.fork`, but the new process is a child of this one's parent, which can then wait for it."""
    python = ctypes.PyDLL(None)
    python.PyOS_BeforeFork()
    process = int(python.syscall(ctypes.c_long(_CLONE), ctypes.c_long(_CLONE_PARENT | signal.SIGCHLD), 0, 0, 0, 0))
    if process:
        python.PyOS_AfterFork_Parent()
    else:
        python.PyOS_AfterFork_Child()
    return process


def _become(streams: list[int], args: list[str], cwd: str, env: dict[str, str], new_session: bool) -> None:
    """Runs what Python is asked to run by `args`, as its main program."""
    if new_session:
        os.setsid()
    for standard, stream in enumerate(streams):
        os.dup2(stream, standard)
        os.close(stream)
    os.chdir(cwd)
    os.environ.clear()
    os.environ.update(env)
    time.tzset()
    signal.signal(signal.SIGINT, _inherited)
    sys.stdout.reconfigure(write_through=bool(env.get("PYTHONUNBUFFERED")))  # type: ignore[union-attr]
    kind, what, *words = args
    sys.argv = [kind, *words]
    if kind == "-m":
        runpy.run_module(what, run_name="__main__", alter_sys=True)
    else:
        exec(compile(what, "<string>", "exec"), {"__name__": "__main__"})
