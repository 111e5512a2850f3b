"""A bank of questions read from documents: reading, checking, rendering findings. No database, no network."""

from questions.diagnostics import Finding, Span
from questions.model import Bank, CodeTask, Option, Question, as_data, from_data
from questions.read import Reading, read_bank, read_path, shipped_bank

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
