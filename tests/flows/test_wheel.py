"""The wheel has all data and runs from another folder, in an environment without the checkout."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
import venv
from collections.abc import Iterator
from pathlib import Path
from zipfile import ZipFile

import pytest

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[2]
PATIENCE = 120


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from a copy of the tracked files, so that no leftover of a build gets in."""
    source, built = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    files = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    subprocess.run(["tar", "--null", "-cf", source / "all.tar", "-T", "-"], cwd=ROOT, input=files, check=True)
    subprocess.run(["tar", "-xf", "all.tar"], cwd=source, check=True)
    words = ["wheel", "--quiet", "--no-deps", "--no-build-isolation", "--wheel-dir", str(built), str(source)]
    subprocess.run([sys.executable, "-m", "pip", *words], check=True, capture_output=True, timeout=PATIENCE)
    (made,) = built.glob("*.whl")
    return made


def test_the_wheel_has_every_file_of_the_packages(wheel: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "bot", "service", "questions", "sandbox"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        text=True,
    ).stdout.split()
    only_for_building = {"Dockerfile", "requirements.lock", "script.py.mako"}
    wanted = {file for file in tracked if Path(file).name not in only_for_building}
    assert wanted - set(ZipFile(wheel).namelist()) == set()


@pytest.fixture
def environment(wheel: Path) -> Iterator[Path]:
    """An environment with the wheel, whose dependencies are those of the tests. PostgreSQL needs a short path."""
    with tempfile.TemporaryDirectory(prefix="dailygrad-", ignore_cleanup_errors=True) as folder:
        made = Path(folder) / "venv"
        venv.create(made, symlinks=True)
        purelib = Path(sysconfig.get_path("purelib", vars={"base": str(made), "platbase": str(made)}))
        ZipFile(wheel).extractall(purelib)
        # A folder named in a .pth file is a plain entry of sys.path: the checkout's own .pth files are not read.
        (purelib / "dependencies.pth").write_text(sysconfig.get_path("purelib") + "\n")
        Path(folder).chmod(0o755)
        yield made


def test_the_wheel_runs_from_another_folder(environment: Path) -> None:
    folder = environment.parent / "elsewhere"
    folder.mkdir()
    program = "import sys, dailygrad, questions; print(questions.__file__); dailygrad.main()"
    clean = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "DATABASE_URL")}
    run = subprocess.run(
        [environment / "bin" / "python", "-c", program, "run", "--chat", "console", "--data", "data"],
        cwd=folder,
        env=clean,
        input="/as Ann\n/quiz today\n/quit\n",
        capture_output=True,
        text=True,
        timeout=PATIENCE,
    )
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(str(environment))
    assert "Question for" in run.stdout
    assert "Stopped. Everything is kept in " in run.stdout
