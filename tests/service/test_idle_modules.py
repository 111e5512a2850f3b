"""Idle processes do not load what they may never need: each module would cost each process its memory."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

UNNEEDED = (
    "alembic",  # the database is at this version, or the process ends
    "bs4",
    "docx",
    "ftfy",
    "holidays",  # loaded for the first schedule that skips them
    "httpx",  # needed for workers that relay, and to ask a model
    "lxml",
    "markdown_it",
    "markdownify",
    "numpy",  # loaded with the first estimate, or the first comparison of results
    "pygments",
    "questions.export",
    "questions.formats",
    "questions.reader",  # documents are read by another process
    "questions.snippets",
    "rich.traceback",
    "service.banks.proving",
    "yaml",
)
BUILD = """
import gc
import sys
import dailygrad
dailygrad.start_logging()
dailygrad.load(sys.argv[1])
from datetime import UTC, datetime
from service.app import build
from service.config import read_settings
service = build(read_settings(), lambda: datetime.now(UTC))
if sys.argv[1] == "serve":
    assert service.api
print(*sys.modules)
if sys.argv[1] == "serve":
    from fastapi.routing import APIRoute
    print("compiled:", sum(isinstance(one, APIRoute) for one in gc.get_objects()))
"""
MOST_ROUTES = 10
"""Routes that are compiled before they are called; there are 160."""
SETTINGS = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "DAILYGRAD_SERVICE_TOKEN": "t" * 32}


MIGRATE = """
import sys
import dailygrad
dailygrad.start_logging()
dailygrad.load("migrate")
from service.config import read_command_settings
read_command_settings()
import alembic.command
print(*sys.modules)
"""
MOST_MODULES = 800
"""Modules of the command `migrate` that are not Python's own."""


def printed(program: str, *words: str) -> list[str]:
    """Returns the lines that a program prints in a process of its own."""
    made = subprocess.run(
        [sys.executable, "-c", program, *words],
        env=os.environ | SETTINGS,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return made.stdout.splitlines()


@pytest.mark.parametrize(("command", "more"), [("serve", ()), ("work", ("fastapi", "service.api"))])
def test_an_idle_process_loads_no_module_for_rare_work(command: str, more: tuple[str, ...]) -> None:
    assert set(printed(BUILD, command)[0].split()).isdisjoint((*UNNEEDED, *more))


def test_an_idle_service_has_compiled_the_routes_of_frequent_calls_only() -> None:
    compiled = int(printed(BUILD, "serve")[1].removeprefix("compiled: "))
    assert 0 < compiled <= MOST_ROUTES


def test_migrating_loads_no_part_of_the_service_but_its_store() -> None:
    modules = printed(MIGRATE)[0].split()
    parts = ("service.api", "service.app", "service.banks", "service.competitions", "service.people", "service.rounds")
    assert set(modules).isdisjoint(("fastapi", "httpx", "procrastinate", *parts))
    assert sum(name.partition(".")[0] not in sys.stdlib_module_names for name in modules) <= MOST_MODULES
