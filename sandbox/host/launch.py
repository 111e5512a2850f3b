"""Runs between the supervisor and the jail, a process of its own: dies with its parent, gives up root, becomes bwrap.

A jail made by root would leave root's own files and kernel settings to a mistake. As root this puts the sources
where an unprivileged user can reach them, in a mount namespace nobody else sees, becomes that user, and only then
starts bwrap.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

from sandbox import linux
from sandbox.devices import Device
from sandbox.host import jail

_NOBODY = 65534
CONTROL = 3
"""Where the zygote finds its socket."""
_STAGE = "/tmp"  # noqa: S108 - covered by a tmpfs in our own mount namespace


def stage(sources: list[str]) -> dict[str, str]:
    """Bind each source to a place below a fresh tmpfs; where each is now."""
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    held = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in sources}
    linux.mount("none", _STAGE, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=64k,mode=755")
    places: dict[str, str] = {}
    for number, (path, descriptor) in enumerate(held.items()):
        places[path] = f"{_STAGE}/{number}"
        Path(places[path]).mkdir()
        linux.mount(f"/proc/self/fd/{descriptor}", places[path], None, linux.MS_BIND | linux.MS_REC)
        os.close(descriptor)
    return places


def become_nobody() -> None:
    """Give up root for good."""
    os.setgroups([])
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)


def _within(path: str, places: dict[str, str]) -> str:
    """Where `path` is reached now: its folder may have been staged."""
    for folder, place in places.items():
        if path.startswith(folder + "/"):
            return place + path.removeprefix(folder)
    return path


def start(bwrap: str | None, parent: int, fresh: Device | None = None) -> NoReturn:
    """Become the zygote, in the jail made by `bwrap` or, without one, in none."""
    runtime = jail.find_runtime()
    command = jail.zygote_command(runtime, jailed=bwrap is not None, fresh=fresh)
    places: dict[str, str] = {}
    if os.getuid() == 0:
        if bwrap is not None:
            places = stage(list(dict.fromkeys(jail.sources(runtime).values())))
        become_nobody()
        if bwrap is None and not os.access(runtime.python, os.X_OK):
            raise SystemExit(f"an unprivileged user must be able to read {runtime.python}: install Python elsewhere")
    if bwrap is None:
        os.chdir("/")
    else:
        bwrap = _within(bwrap, places)
        command = jail.bubblewrap(bwrap, runtime, places, command, jail.find_proc(bwrap), fresh)
    # After the change of user, which clears it.
    linux.prctl(linux.PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(0)
    os.execve(command[0], command, {} if bwrap is not None else jail.environment(runtime, fresh))  # noqa: S606


def main() -> NoReturn:
    """Started by `sandbox.host.pool`, with its options as one JSON argument and the control socket inherited."""
    options = json.loads(sys.argv[2])
    if options["control"] != CONTROL:
        os.dup2(options["control"], CONTROL)
        os.close(options["control"])
    given = options["fresh"]
    start(options["bwrap"], options["parent"], Device.read(given) if given else None)
