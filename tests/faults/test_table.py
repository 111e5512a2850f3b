"""Every row of the table of faults has a test."""

from __future__ import annotations

from tests.faults.table import ROWS, as_markdown, everything_shown, shown_by


def test_every_fault_is_reproduced_by_a_test() -> None:
    assert set(ROWS) - {shown.row for shown in everything_shown()} == set()
    assert len(as_markdown().splitlines()) == len(everything_shown()) + 2


def test_a_test_may_cover_several_faults_or_none() -> None:
    source = 'def test_a():\n    """Rows 1, 20: does."""\n\n\ndef test_b():\n    """Nothing."""\n'
    assert [(shown.row, shown.does) for shown in shown_by(source, "f.py")] == [(1, "does."), (20, "does.")]
