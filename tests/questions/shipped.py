"""The shipped bank, read once by each test process: several modules need it to list their tests."""

from __future__ import annotations

from functools import cache

from questions.model import Bank
from questions.reader import shipped_bank


@cache
def read_shipped_bank() -> Bank:
    """Returns all shipped questions."""
    return shipped_bank()
