"""Question banks: reading, checking and exporting documents, and printing findings. No database, no network.

Names are imported on first use, so that a process that only needs `questions.model` starts without the readers.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from questions.model import Bank, CodeTask, Option, Question, as_data, from_data
    from questions.reader import Reading, read_bank, read_path, shipped_bank
    from questions.source import Finding, Span

__all__ = [
    "Bank",
    "CodeTask",
    "Finding",
    "Option",
    "Question",
    "Reading",
    "Span",
    "as_data",
    "from_data",
    "read_bank",
    "read_path",
    "shipped_bank",
]

_MODULES = ("questions.model", "questions.source", "questions.reader")


def __getattr__(name: str) -> Any:
    for module in _MODULES if name in __all__ else ():
        found = import_module(module)
        if hasattr(found, name):
            return getattr(found, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
