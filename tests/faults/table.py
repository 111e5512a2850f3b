"""Prints the table of known faults of chat bots and the tests that reproduce them: `python -m tests.faults.table`.

The first line of a test's docstring names its rows: `Row 4: …` or `Rows 1, 20: …`; or `Once: …` for exactly-once
posting, which has no row.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROWS = {
    1: "late acknowledgement (Discord 10062)",
    2: "two instances alive (40060, 10062)",
    3: "edits fail after 15 minutes (401/50027)",
    4: "old buttons dead after a restart",
    5: "store of views grows without end",
    6: "dismissed modals never freed",
    7: "modal submitted after a restart unanswered",
    8: "ready again posts the round twice",
    9: "loops stop after a connection reset",
    10: "heartbeat blocked, shard dropped",
    11: "Slack delivers an event several times",
    12: "dropping retries loses events",
    13: "expired trigger_id",
    14: "Socket Mode silently deaf",
    15: "reconnect storm, orphan task",
    16: "sockets receive at random",
    17: "posted twice by the SDK or a worker",
    18: "429 not handled",
    19: "auth.test per request, stores' gaps",
    20: "acknowledged and then lost in a crash",
}
_MARK = re.compile(r"(?:Rows? (?P<rows>[\d, and]+)|(?P<once>Once)): (?P<does>.+)", re.DOTALL)


@dataclass(frozen=True, order=True)
class Shown:
    """A line of the table; row 0 means exactly-once posting."""

    row: int
    test: str
    does: str


def shown_by(source: str, file: str) -> Iterator[Shown]:
    """Returns the rows that the tests of a file reproduce."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name.startswith("test_"):
            said = (ast.get_docstring(node) or "").split("\n\n")[0].replace("\n", " ")
            if found := _MARK.match(said):
                rows = [int(number) for number in re.findall(r"\d+", found["rows"] or "0")]
                yield from (Shown(row, f"{file}::{node.name}", found["does"]) for row in rows)


def everything_shown() -> list[Shown]:
    """Returns the lines of all fault tests, by row."""
    files = sorted(HERE.glob("test_*.py"))
    return sorted(shown for file in files for shown in shown_by(file.read_text(encoding="utf-8"), file.name))


def as_markdown() -> str:
    """Returns the table as Markdown."""
    lines = ["| # | fault | test | what the bot does |", "|---|---|---|---|"]
    for shown in everything_shown():
        fault = ROWS.get(shown.row, "exactly once")
        lines.append(f"| {shown.row or '–'} | {fault} | `{shown.test}` | {shown.does} |")
    return "\n".join(lines)


if __name__ == "__main__":
    print(as_markdown())
