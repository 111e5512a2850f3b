"""The terminal's own ends: lines from a pipe or a file, and writing at once."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = """
import asyncio
from bot.console import stdin_lines, stdout_write

async def main():
    async for line in stdin_lines():
        stdout_write(f"[{line}]")
        if line == "/quit":
            break

asyncio.run(main())
"""


def chat(given: str | None, path: Path | None = None) -> str:
    with (path or Path("/dev/null")).open() as file:
        done = subprocess.run(
            [sys.executable, "-W", "error", "-c", PROGRAM],
            cwd=ROOT,
            input=given,
            stdin=None if given is not None else file,
            capture_output=True,
            text=True,
            check=True,
            timeout=60,
        )
    assert done.stderr == ""
    return done.stdout


def test_lines_come_from_a_pipe_until_it_ends() -> None:
    assert chat("one\n\n  two\r\nthree") == "[one][][  two][three]"


def test_lines_come_from_a_file(tmp_path: Path) -> None:
    path = tmp_path / "script.txt"
    path.write_text("one\ntwo\n")
    assert chat(None, path) == "[one][two]"


def test_leaving_early_leaves_no_reader_that_holds_the_process() -> None:
    assert chat("/quit\nmore\n" * 1000) == "[/quit]"
