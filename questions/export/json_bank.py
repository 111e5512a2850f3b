"""A bank as JSON: everything it holds, in a versioned envelope that the reader of the same name checks."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from questions.foreign.json_bank import ENVELOPE, VERSION
from questions.model import as_data

if TYPE_CHECKING:
    from questions.model import Bank


def json_text(bank: Bank) -> str:
    """All of a bank, losing nothing; places are those of the document it was read from."""
    data = {
        "format": ENVELOPE,
        "version": VERSION,
        "bank": {"name": bank.name, "title": bank.title, "licence": bank.licence, "dialects": list(bank.dialects)},
        "questions": [as_data(question) for question in bank.questions],
    }
    return json.dumps(data, ensure_ascii=False, indent=2) + "\n"
