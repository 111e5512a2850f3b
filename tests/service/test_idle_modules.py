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
    "lxml",
    "markdownify",
    "numpy",  # loaded with the first estimate, or the first comparison of results
    "questions.export",
    "questions.formats",
    "questions.reader",  # documents are read by another process
    "questions.snippets",
    "service.banks.proving",
    "yaml",
)
BUILD = """
import sys
import service.cli
from datetime import UTC, datetime
from service.app import build
from service.config import read_settings
service = build(read_settings(), lambda: datetime.now(UTC))
if sys.argv[1] == "serve":
    assert service.api
print(*sys.modules)
"""
SETTINGS = {"DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none", "DAILYGRAD_SERVICE_TOKEN": "t" * 32}


def loaded(command: str) -> set[str]:
    """Returns the modules of a process of this command that has been built and does nothing."""
    made = subprocess.run(
        [sys.executable, "-c", BUILD, command],
        env=os.environ | SETTINGS,
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    return set(made.stdout.split())


@pytest.mark.parametrize(("command", "more"), [("serve", ()), ("work", ("fastapi", "service.api"))])
def test_an_idle_process_loads_no_module_for_rare_work(command: str, more: tuple[str, ...]) -> None:
    assert loaded(command).isdisjoint((*UNNEEDED, *more))
