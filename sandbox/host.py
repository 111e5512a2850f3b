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
        try:
            find_proc(bwrap)
        except NotIsolated as problem:
            lacks.append(f"namespaces by {bwrap}: {problem} ({_cure()})")
        else:
            return bwrap
    return None


def find_proc(bwrap: str) -> tuple[str, ...]:
    """Which of the jail's ways to mount /proc works here, by trying them as this user.

    Raises NotIsolated with what `bwrap` said where neither does: then the jail cannot be made at all.
    """
    problems: list[str] = []
    for proc in (jail.FRESH_PROC, jail.THIS_PROC):
        problem = _try(bwrap, proc)
        if problem is None:
            return proc
        problems.append(problem)
    raise NotIsolated(problems[-1])


def _try(bwrap: str, proc: tuple[str, ...]) -> str | None:
    """Enter the very namespaces the jail uses, as this user; what went wrong, if anything."""
    spaces = ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    command = [bwrap, *spaces, "--ro-bind", "/", "/", *proc, "--", "/bin/true"]
    try:
        done = subprocess.run(command, capture_output=True, env={}, timeout=_PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    return None if done.returncode == 0 else done.stderr.decode(errors="replace").strip() or "it failed"


def _cure() -> str:
    if _content("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return "Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0"
    if _content("/proc/sys/user/max_user_namespaces") == "0":
        return "sysctl user.max_user_namespaces=10000"
    if _content("/proc/self/attr/current").endswith("(enforce)"):
        return "a container: security_opt apparmor=unconfined and seccomp=sandbox/seccomp.json"
    if "\nSeccomp:\t2" in _content("/proc/self/status"):
        return "a container: security_opt seccomp=sandbox/seccomp.json"
    return f"kernel {platform.release()}"


def _content(path: str) -> str:
    try:
        return Path(path).read_text().strip("\0\n ")
    except OSError:
        return ""
