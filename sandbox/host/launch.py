"""The process between the supervisor and the jail: gives up root, dies with its parent, and becomes bwrap.

A jail built by root would leave root's files and kernel settings exposed to a mistake. When started by root, this
process binds the sources to where an unprivileged user can reach them, in a private mount namespace, becomes that
user, and only then starts bwrap.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from pathlib import Path
from typing import NoReturn

from sandbox import linux
from sandbox.devices import ChildDevice
from sandbox.host import jail

CONTROL_FD = 3
"""File descriptor of the zygote's control socket."""
_NOBODY = 65534
_STAGE = "/tmp"  # noqa: S108 - covered by a tmpfs in this process's own mount namespace


def main() -> NoReturn:
    """Entry point, started by `sandbox.host.pool` with JSON options and an inherited control socket."""
    options = json.loads(sys.argv[2])
    if options["control"] != CONTROL_FD:
        os.dup2(options["control"], CONTROL_FD)
        os.close(options["control"])
    device = ChildDevice.from_json(options["device"]) if options["device"] else None
    become_zygote(options["bwrap"], options["parent"], device, compiler=options["compiler"])


def become_zygote(
    bwrap: str | None, parent: int, device: ChildDevice | None = None, *, compiler: bool = False
) -> NoReturn:
    """Replaces this process with the zygote, in the jail built by `bwrap` or, if None, without a jail."""
    runtime = jail.find_runtime()
    staged: dict[str, str] = {}
    if os.getuid() == 0:
        if bwrap is not None:
            staged = stage(list(dict.fromkeys(jail.mount_sources(runtime).values())))
        become_nobody()
        if bwrap is None and not os.access(runtime.python, os.X_OK):
            raise SystemExit(f"an unprivileged user must be able to read {runtime.python}: install Python elsewhere")
    if bwrap is None:
        command = jail.zygote_command(runtime, jailed=False, device=device, compiler=compiler)
        os.chdir("/")
    else:
        bwrap = _staged_path(bwrap, staged)
        proc = jail.find_proc(bwrap)
        own_pids = jail.has_own_pids(proc, device)
        command = jail.zygote_command(runtime, jailed=True, device=device, own_pids=own_pids, compiler=compiler)
        command = jail.bubblewrap_command(bwrap, runtime, staged, command, proc, device)
    # After the change of user, which resets it.
    linux.prctl(linux.PR_SET_PDEATHSIG, int(signal.SIGKILL))
    if os.getppid() != parent:
        os._exit(0)
    os.execve(command[0], command, {} if bwrap is not None else jail.environment(runtime, device))  # noqa: S606


def stage(sources: list[str]) -> dict[str, str]:
    """Binds each source to a folder in a new tmpfs. Returns the new path of each."""
    linux.unshare(linux.CLONE_NEWNS)
    linux.mount("none", "/", None, linux.MS_REC | linux.MS_PRIVATE)
    descriptors = {path: os.open(path, os.O_PATH | os.O_CLOEXEC) for path in sources}
    linux.mount("none", _STAGE, "tmpfs", linux.MS_NOSUID | linux.MS_NODEV, "size=64k,mode=755")
    staged: dict[str, str] = {}
    for number, (path, descriptor) in enumerate(descriptors.items()):
        staged[path] = f"{_STAGE}/{number}"
        Path(staged[path]).mkdir()
        linux.mount(f"/proc/self/fd/{descriptor}", staged[path], None, linux.MS_BIND | linux.MS_REC)
        os.close(descriptor)
    return staged


def become_nobody() -> None:
    """Gives up root for good."""
    os.setgroups([])
    os.setresgid(_NOBODY, _NOBODY, _NOBODY)
    os.setresuid(_NOBODY, _NOBODY, _NOBODY)


def _staged_path(path: str, staged: dict[str, str]) -> str:
    """Returns where `path` can be reached now: its folder may have been staged."""
    for folder, place in staged.items():
        if path.startswith(folder + "/"):
            return place + path.removeprefix(folder)
    return path
