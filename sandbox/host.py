"""What this machine offers for isolation, probed by doing it: full, weaker where that was asked for, or a refusal."""

from __future__ import annotations

import platform
import subprocess
from dataclasses import dataclass
from pathlib import Path

from sandbox import jail, linux
from sandbox.wire import Isolation

_PROBE_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Host:
    """What was found."""

    isolation: Isolation
    bwrap: str | None
    lacks: tuple[str, ...]
    """Each thing missing, with its cure."""


class NotIsolated(RuntimeError):
    """This machine cannot run strangers' code safely; the message names what it lacks and the cure."""


def probe(*, weaker: bool) -> Host:
    """Look at this machine. Raises NotIsolated when it offers too little for what was asked."""
    linux.machine()
    lacks: list[str] = []
    if linux.landlock_abi() == 0:
        lacks.append("Landlock: start the kernel with it in lsm= (5.13 or later)")
    bwrap = _working_bubblewrap(lacks)
    if weaker:
        return _weaker(lacks)
    if bwrap is None:
        raise NotIsolated(
            "this machine gives no user namespaces, so answers cannot be run safely: " + "; ".join(lacks)
            + ". To run them with seccomp and Landlock alone, ask for it by name: --weaker"
        )  # fmt: skip
    return Host("full", bwrap, tuple(lacks))


def _weaker(lacks: list[str]) -> Host:
    if linux.landlock_abi() == 0:
        raise NotIsolated("without namespaces Landlock is the only wall around files: " + "; ".join(lacks))
    return Host("weaker", None, (*lacks, "namespaces: --weaker was asked for"))


def _working_bubblewrap(lacks: list[str]) -> str | None:
    found = jail.find_bubblewrap()
    if not found:
        lacks.append("bubblewrap: pip install 'dailygrad[sandbox]'")
    for bwrap in found:
        problem = _try(bwrap)
        if problem is None:
            return bwrap
        lacks.append(f"namespaces by {bwrap}: {problem}{_cure()}")
    return None


def _try(bwrap: str) -> str | None:
    """Enter the very namespaces the jail uses, as this user; what went wrong, if anything."""
    spaces = ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command = [bwrap, *spaces, "--ro-bind", "/", "/", "--proc", "/proc", "--", "/bin/true"]
    try:
        done = subprocess.run(command, capture_output=True, env={}, timeout=_PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    return None if done.returncode == 0 else done.stderr.decode(errors="replace").strip() or "it failed"


def _cure() -> str:
    apparmor = Path("/proc/sys/kernel/apparmor_restrict_unprivileged_userns")
    if apparmor.exists() and apparmor.read_text().strip() == "1":
        return " (Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0)"
    most = Path("/proc/sys/user/max_user_namespaces")
    if most.exists() and most.read_text().strip() == "0":
        return " (sysctl user.max_user_namespaces=10000)"
    return f" (kernel {platform.release()}; in a container, a seccomp profile that allows clone and unshare)"
