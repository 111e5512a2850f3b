"""Rules for the whole repository: every module has a docstring, and only the sandbox imports torch."""

from __future__ import annotations

import ast
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests import forked

ROOT = Path(__file__).parent.parent
ROOMS = ("bot", "service", "questions", "sandbox", "tests")
MODULES = sorted([ROOT / "dailygrad.py", *(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))])


def test_every_module_says_in_its_first_line_what_it_is_for_and_no_function_bears_its_name() -> None:
    silent, namesakes = [], []
    for path in MODULES:
        source = path.read_text("utf-8")
        if source.strip() and not source.startswith(('"""', 'r"""')):
            silent.append(str(path.relative_to(ROOT)))
        if re.search(rf"(?m)^(?:async )?def {re.escape(path.stem)}\(", source):
            namesakes.append(str(path.relative_to(ROOT)))
    assert silent == []
    assert namesakes == []


def trees(words: bytes) -> Iterator[tuple[Path, ast.Module]]:
    """Yields the modules whose source has these words. Parsing all of them takes seconds."""
    for path in MODULES:
        if re.search(words, source := path.read_bytes()):
            yield path, ast.parse(source)


def test_no_cancellation_is_lost() -> None:
    """Python 3.11's `asyncio.wait_for` forgets one that comes when what it waits for happens; `asyncio.timeout` does
    not."""
    forgetful = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, module in trees(rb"wait_for")
        if not path.is_relative_to(ROOT / "tests")
        for node in ast.walk(module)
        if isinstance(node, ast.Attribute | ast.Name) and ast.unparse(node) in ("asyncio.wait_for", "wait_for")
    ]
    assert forgetful == []


def test_no_message_is_empty_for_an_error_without_words() -> None:
    """An exception is true also where its text is empty: `str(error) or …` says something about a TimeoutError."""
    empty = [
        f"{path.relative_to(ROOT)}:{node.lineno}"
        for path, module in trees(rb"except .* as (\w+):[^\x00]*\b\1\s+or\b")
        for handler in ast.walk(module)
        if isinstance(handler, ast.ExceptHandler) and handler.name
        for node in ast.walk(handler)
        if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.Or) and ast.unparse(node.values[0]) == handler.name
    ]
    assert empty == []


def is_text(path: Path) -> bool:
    try:
        path.read_text(encoding="utf-8")
    except UnicodeDecodeError:
        return False
    return True


@pytest.mark.skipif(not (ROOT / ".git").exists() or not shutil.which("git"), reason="this is no git checkout")
def test_the_only_binary_files_are_the_pictures_of_the_docs() -> None:
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60)
    names = [name for name in listed.stdout.split("\0") if name and (ROOT / name).is_file()]
    binary = [name for name in names if not is_text(ROOT / name)]
    assert [name for name in binary if not name.startswith("docs/images/")] == []


@pytest.mark.parametrize("entered", ["dailygrad", "service.app", "bot.core.quiz", "questions", "sandbox.client"])
def test_everything_but_the_sandbox_starts_without_torch(entered: str) -> None:
    program = f"import sys; sys.modules['torch'] = None; import {entered}; assert 'torch._C' not in sys.modules"
    subprocess.run([sys.executable, "-c", program], cwd=ROOT, check=True, timeout=60)


@pytest.mark.parametrize(
    "words", [["--help"], ["run", "--help"], ["bank", "--help"], ["bot", "--help"], ["sandbox", "--help"]]
)
def test_help_reads_well(words: list[str]) -> None:
    done = forked.run(
        [sys.executable, "-m", "dailygrad", *words], cwd=ROOT, capture_output=True, text=True, check=True, timeout=60
    )
    assert "Usage:" in done.stdout
    assert "Traceback" not in done.stderr
