"""A bounded part of what `make fuzz-operations` continues; a search that cannot find a fault is of no use."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
WITHOUT_CHECK = "from sandbox.inside import operations\noperations._refuse_foreign_memory = lambda result: None\n"


def search(before: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Runs the search in a process of its own, which forks: torch has threads here that would not be there."""
    code = f"import sys\n{before}from tests.fuzz.fuzz_operations import main\nsys.exit(main())"
    command = [sys.executable, "-c", code, *arguments]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=150, check=False)


@pytest.mark.slow
def test_no_operation_touches_the_memory_of_the_driver() -> None:
    found = search("", "--processes", "15", "--seconds", "100")
    assert (found.returncode, found.stdout) == (0, "0 faults\n"), found.stderr


@pytest.mark.slow
def test_an_operation_that_does_is_found() -> None:
    found = search(WITHOUT_CHECK, "--processes", "5", "--seconds", "100", "--only", "_reshape_alias")
    assert found.returncode == 1, found.stdout
    assert "'_reshape_alias'" in found.stdout
