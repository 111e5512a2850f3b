"""Question banks: reading, checking and exporting documents, and printing findings. No database, no network."""

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
