"""The shipped bank, read once by each test process: several modules need it to list their tests."""

from __future__ import annotations

from functools import cache
from importlib import resources
from pathlib import Path

from questions import Reading, read_path
from questions.model import Bank
from questions.reader import shipped_bank

BANKS = Path(str(resources.files("questions") / "banks"))


@cache
def read_shipped_bank() -> Bank:
    """Returns all shipped questions."""
    return shipped_bank()


@cache
def read_shipped_documents() -> tuple[Reading, ...]:
    """Returns the reading of each shipped document."""
    return tuple(read_path(BANKS))
