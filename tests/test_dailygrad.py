"""The command table: `--help` imports no part of the product, and the table has every command."""

from __future__ import annotations

import errno
import importlib
import subprocess
import sys
from pathlib import Path

import psycopg
import pytest
import typer
from sqlalchemy.exc import OperationalError

from dailygrad import COMMANDS, GROUPS, MISTAKES, explained, load

ROOT = Path(__file__).parents[1]
HEAVY = ("bot", "service", "questions", "sandbox", "sqlalchemy", "fastapi", "httpx", "numpy", "torch")


@pytest.mark.parametrize("words", [["--help"], ["--version"], []])
def test_help_and_version_import_no_part_of_the_product(words: list[str]) -> None:
    program = f"""
import sys
sys.argv = ["dailygrad", *{words!r}]
from dailygrad import main
try:
    main()
except SystemExit:
    loaded = [name for name in {HEAVY!r} if name in sys.modules]
    assert not loaded, loaded
"""
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_of_the_table_loads_under_its_name(name: str) -> None:
    assert load(name).name == name


def test_the_table_lacks_no_command_of_its_apps() -> None:
    for place in {entry.app for name, entry in COMMANDS.items() if name not in GROUPS}:
        module, attribute = place.split(":")
        app: typer.Typer = getattr(importlib.import_module(module), attribute)
        outer = typer.Typer()
        outer.callback()(lambda: None)
        outer.add_typer(app)
        group = typer.main.get_command(outer)
        assert set(getattr(group, "commands")) <= set(COMMANDS)  # noqa: B009


def test_an_unknown_command_is_named() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dailygrad", "nosuch"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "No such command 'nosuch'" in done.stderr


def test_a_mistyped_command_is_told_the_nearest() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dailygrad", "docter"], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 2
    assert "No such command 'docter'. Did you mean 'doctor'?" in done.stderr


def test_a_file_that_may_not_be_used_is_named() -> None:
    problem = PermissionError(errno.EACCES, "Permission denied", "questions/a.md")
    told = "questions/a.md cannot be used: Permission denied. Change its owner or its permissions."
    assert explained(problem) == told
    assert explained(PermissionError("without a file")) is None


@pytest.mark.parametrize("name", sorted(MISTAKES))
def test_an_operators_mistake_is_explained_by_its_message(name: str) -> None:
    module, _, attribute = name.rpartition(".")
    mistake = getattr(importlib.import_module(module), attribute)
    assert explained(mistake("cure it")) == "cure it"
    assert explained(type("Kind", (mistake,), {})("cure it")) == "cure it"


def test_a_full_disk_is_not_blamed_on_the_settings() -> None:
    full = explained(OperationalError("insert", {}, psycopg.errors.DiskFull("could not extend file")))
    assert full == "the database's disk is full: could not extend file. Make room there; nothing was changed."
    away = explained(OperationalError("", {}, psycopg.OperationalError("connection refused")))
    assert away == "the database cannot be used: connection refused. Check DATABASE_URL."
    refused = explained(OperationalError("", {}, psycopg.OperationalError("FATAL:  password authentication failed")))
    assert refused is not None and "Check the password in DATABASE_PASSWORD_FILE or DATABASE_URL: " in refused
    ours = explained(OSError(errno.ENOSPC, "No space left on device", "/data/log"))
    assert ours == "the disk is full: /data/log. Make room there, and start again."
    assert explained(OSError(errno.EIO, "Input/output error")) is None
