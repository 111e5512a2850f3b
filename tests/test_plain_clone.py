"""The tests pass in a plain clone, without the files that `tests/external.py` finds.

Tests that read those files, and the doubles that could depend on them, are run here with the files hidden.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.external import VARIABLE

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
HELPER = ROOT / "tests" / "external.py"
NAMES_THE_FOLDER = re.compile(r'/ *"shared"|\.\./shared|"shared/|specs"|"seeds"')
CHECKED_ALWAYS = (
    "tests/doubles/test_discord_rules.py",
    "tests/doubles/slack/test_rules.py",
    "tests/doubles/test_discord_double.py::test_a_forbidden_channel_and_a_body_against_the_rules_are_refused",
    "tests/bot/slack/test_parts.py",
)
"""Tests of the platforms' rules, which must pass with the repository alone."""


def modules() -> list[Path]:
    return [file for file in sorted((ROOT / "tests").rglob("*.py")) if file not in (HELPER, Path(__file__))]


def run(*arguments: str) -> dict[str, int]:
    """Runs pytest with the files hidden; returns the counts of passed, skipped and other tests."""
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env={**os.environ, VARIABLE: ""}, capture_output=True, text=True, timeout=120, check=False
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said[-5000:]
    return {what: int(count) for count, what in re.findall(r"(\d+) (\w+)", said.strip().splitlines()[-1])}


def test_one_module_alone_names_the_folder_beside_the_repository() -> None:
    found = [file for file in modules() if NAMES_THE_FOLDER.search(file.read_text(encoding="utf-8"))]
    assert [str(file.relative_to(ROOT)) for file in found] == []


def test_the_platforms_rules_hold_without_the_files() -> None:
    counts = run(*CHECKED_ALWAYS, "-m", "not external")
    assert counts.keys() <= {"passed", "deselected"}
    assert counts["passed"] > 200


def test_what_needs_the_files_is_skipped_without_them() -> None:
    reading = [str(file) for file in modules() if "tests.external" in file.read_text(encoding="utf-8")]
    tests = [file for file in reading if Path(file).name.startswith("test_")]
    counts = run(*tests, "-m", "external")
    assert counts.keys() <= {"skipped", "deselected"}
    assert counts["skipped"] > 0
