"""`python -m sandbox --socket PATH`: runs the supervisor until SIGTERM, SIGINT or the death of its parent."""

from __future__ import annotations

import argparse
import asyncio
import os
import signal
from pathlib import Path

from sandbox import linux
from sandbox.host import jail
from sandbox.host.gpu import Found, find_gpus
from sandbox.host.supervisor import Supervisor, SupervisorSettings, named_in, say


def _arguments(words: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m sandbox", description="Run strangers' PyTorch code, confined.")
    parser.add_argument("--socket", type=Path, required=True, help="where to listen: a socket, or a folder of them")
    parser.add_argument("--concurrency", type=int, default=os.cpu_count() or 1, help="runs at once")
    parser.add_argument("--user", type=int, action="append", default=[], help="a user who may send runs, besides ours")
    parser.add_argument("--weaker", action="store_true", help="no namespaces: seccomp and Landlock alone")
    parser.add_argument("--gpus", default="all", help="GPUs for answers that ask for one: all, none, or numbers as 0,2")
    parser.add_argument("--parent", type=int, default=0, help="leave when this process, our parent, dies")
    return parser.parse_args(words)


async def _serve(arguments: argparse.Namespace, found: jail.Host) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        loop.add_signal_handler(number, stop.set)
    if arguments.parent:
        linux.prctl(linux.PR_SET_PDEATHSIG, int(signal.SIGTERM))
        if os.getppid() != arguments.parent:
            return
    path = named_in(arguments.socket) if arguments.socket.is_dir() else arguments.socket
    settings = SupervisorSettings(path, max(1, arguments.concurrency), users=frozenset(arguments.user))
    without = Found(word="none is used with --weaker: what keeps GPUs apart needs namespaces")
    gpus = find_gpus(arguments.gpus) if found.isolation == "full" else without
    await Supervisor(settings, found, gpus).serve(stop)


def main(words: list[str] | None = None) -> int:
    """Parse, probe, serve. 3: this machine cannot isolate; 4: the socket cannot be had."""
    arguments = _arguments(words)
    # Its memory and environment are nobody's business, a child's least of all.
    linux.prctl(linux.PR_SET_DUMPABLE, 0)
    try:
        found = jail.probe(weaker=arguments.weaker)
        asyncio.run(_serve(arguments, found))
    except jail.NotIsolated as problem:
        say(str(problem))
        return 3
    except RuntimeError as problem:
        say(str(problem))
        return 4
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
