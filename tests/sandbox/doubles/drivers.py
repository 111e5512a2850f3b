"""Stand-ins for NVIDIA's libraries, compiled by the test run: shared objects with the names and layouts of theirs."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from sandbox.devices import ChildDevice


def compiler() -> str | None:
    """Returns this machine's C compiler."""
    return shutil.which("cc") or shutil.which("gcc")


def build_library(source: str, target: Path) -> Path:
    """Compiles a source of this folder. Skips the test where there is no C compiler."""
    found = compiler()
    if found is None:
        pytest.skip(f"no C compiler: {source} cannot be built")
    command = [found, "-shared", "-fPIC", "-pthread", "-Wall", "-Werror", "-o", str(target)]
    subprocess.run([*command, str(Path(__file__).with_name(source)), "-ldl"], check=True, timeout=60)
    return target


@functools.cache
def _keep(folder: str) -> tempfile.TemporaryDirectory[str]:
    """Returns a folder that lives as long as this process."""
    return tempfile.TemporaryDirectory(prefix="dailygrad-driver-", dir=folder)


def rehearsal_device() -> ChildDevice:
    """Returns a device that computes on the CPU and starts a stand-in for the CUDA driver, where one can be built.

    Its folder is in /var/tmp, because a run's scratch folder covers /tmp.
    """
    title = "the CPU, for a rehearsal"
    if compiler() is None:
        return ChildDevice(title=title)
    home = Path(_keep("/var/tmp").name)
    library, node = home / "lib/libcuda.so.1", home / "dev/nvidia0"
    if not node.exists():
        for folder in (home, library.parent, node.parent):
            folder.mkdir(exist_ok=True)
            folder.chmod(0o755)
        build_library("cuda_double.c", library)
        node.touch()
        node.chmod(0o666)
    nodes, libraries = (str(node),), (str(library.parent),)
    return ChildDevice("cpu", title, "", nodes, libraries, driver=str(library))
