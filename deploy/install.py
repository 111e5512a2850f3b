"""Installs Dailygrad into the environment of the Python that runs this: `python deploy/install.py [dev] [tools]`.

Every file is checked against the hashes in the lock files, except for builds of torch that PyPI does not have. PyPI
accepts no version with a local label such as `2.13.0+cpu`, so such a build comes from an index or a folder that was
configured on this machine. There, the version is pinned and the build is the machine's choice. Needs nothing but pip.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

ROOT = Path(__file__).parents[1]
FILES = {"dev": "requirements-dev.lock", "tools": "requirements-tools.lock"}


def pip(*arguments: str) -> None:
    """Runs pip. A failure ends this program with pip's status."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", *arguments]
    if status := subprocess.run(command, cwd=ROOT, check=False).returncode:
        raise SystemExit(status)


def compile_packages(folder: str) -> None:
    """Compiles every package in a folder on all cores; pip would use one. Some files are templates and no Python."""
    command = [sys.executable, "-m", "compileall", "-qq", "-j", "0", folder]
    subprocess.run(command, cwd=ROOT, check=False)


def torch_version() -> str:
    """Returns the version of torch that the lock file pins."""
    found = re.search(r"^torch==(\S+)", (ROOT / "requirements-torch.lock").read_text(encoding="utf-8"), re.MULTILINE)
    assert found is not None
    return found[1]


def torch_choice(version: str) -> str:
    """Returns the version of the build that pip would install, such as `2.13.0+cpu`."""
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "install", "--quiet", "--dry-run"]
    command += ["--ignore-installed", "--no-deps", "--report", "-", f"torch=={version}"]
    done = subprocess.run(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.returncode)
    return chosen(done.stdout)


def chosen(report: str) -> str:
    """Returns the version of the package in a report of `pip install --report`."""
    return str(json.loads(report[report.index("{") :])["install"][0]["metadata"]["version"])


def main(parts: list[str]) -> None:
    """Installs the packages, torch, and Dailygrad itself from this folder."""
    locks = ["requirements.lock", *(FILES[part] for part in parts)]
    install = ("install", "--progress-bar", "off", "--no-compile", "--no-deps")
    pip(*install, "--require-hashes", *(f"--requirement={lock}" for lock in locks))
    version = torch_version()
    build = torch_choice(version)
    if "+" in build:
        # Its dependencies are in requirements.lock, but for those of a build for CUDA.
        pip("install", "--progress-bar", "off", "--no-compile", f"torch=={build}")
    else:
        pip(*install, "--require-hashes", "--requirement=requirements-torch.lock")
    pip(*install, "--no-build-isolation", "--editable", ".")
    compile_packages(sysconfig.get_path("purelib"))
    pip("check")


if __name__ == "__main__":
    main(sys.argv[1:])
