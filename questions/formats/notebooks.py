"""Reads questions in the programs of a Jupyter notebook: literals of Python, as quizzes in notebooks have them.

The text of a notebook is read as Markdown (`questions.formats.pages.reader`).
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from questions.formats.data import records
from questions.formats.draft import ImportDraft
from questions.formats.pages.reader import read_page
from questions.formats.python_data import python_literals
from questions.source import open_source
from questions.wording.stems import ends_asking

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = records.NAME
_FEWEST_WORDS = 3


def sniff(source: Source) -> bool:
    """Returns whether a program of the notebook has questions with options or an answer."""
    return '\\"question\\"' in "".join(source.lines) and any(map(records.holds_records, _literals(source)))


def read(source: Source) -> ImportDraft:
    """Reads all questions in the programs; findings name lines of the text that look like questions."""
    shown, _ = open_source(read_page("\n".join(source.lines), "a.ipynb") or "", source.name)
    draft = ImportDraft(shown, NAME)
    draft.title = draft.stem
    data = [one for one in _literals(source) if records.holds_records(one)]
    read = records.read_data(draft, data if len(data) > 1 else data[0])
    fence = False
    for number, line in enumerate(shown.lines, 1):
        fence ^= line.startswith("```")
        if not fence and ends_asking(line) and len(line.split()) >= _FEWEST_WORDS:
            message, cure = "this looks like a question but was not read as one", "import the text without the programs"
            read.add("Q006", message, cure, (number, number), note="it was read as study text")
    return read


def _literals(source: Source) -> Iterator[Any]:
    """Yields the lists and mappings that programs assign or pass."""
    try:
        cells = json.loads("\n".join(source.lines)).get("cells", [])
    except (ValueError, RecursionError, AttributeError):
        return
    for cell in cells if isinstance(cells, list) else ():
        if isinstance(cell, dict) and cell.get("cell_type") == "code":
            program = cell.get("source", "")
            program = "".join(map(str, program)) if isinstance(program, list) else str(program)
            yield from python_literals(program)
