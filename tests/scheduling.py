"""Distributes test files to the workers of pytest-xdist: long folders first, and users of one sandbox to one worker."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest
from xdist.scheduler import LoadFileScheduling

LONG_FOLDERS = ("chaos", "flows", "faults", "sandbox", "bot/slack", "bot/discord", "service")
"""Folders that run first, so that the workers do not end with one long file."""

SANDBOXES = {
    "attacked sandboxes": re.compile(r"\bworlds\b"),
    "rehearsed GPU": re.compile(r"\bfresh: SandboxClient\b"),
    "sandbox": re.compile(r"\b(client|sandbox): SandboxClient\b|\b(sandbox|survivor): (embedded\.)?EmbeddedSandbox\b"),
}
"""Fixtures with sandboxes that start once in each worker and take seconds of CPU time, by the parameters of tests that
use them. Files that ask for the same ones run in one worker."""

_HERE = Path(__file__).parent


def rank(item: pytest.Item) -> int:
    """Returns the position of a test's folder: lower runs earlier."""
    folder = item.path.relative_to(_HERE).parent
    first = (n for n, long in enumerate(LONG_FOLDERS) if folder.is_relative_to(long))
    return next(first, len(LONG_FOLDERS))


@cache
def group(file: str) -> str:
    """Returns the name of a file's group; the file itself, if it has none. The path is relative to the repository."""
    source = (_HERE.parent / file).read_text("utf-8")
    return next((name for name, pattern in SANDBOXES.items() if pattern.search(source)), file)


class Scheduling(LoadFileScheduling):  # type: ignore[misc]  # xdist has no types
    """Runs each group of files in one worker."""

    def _split_scope(self, nodeid: str) -> str:
        return group(super()._split_scope(nodeid))
