"""What a backup takes, in a process that imports nothing else, as the command does."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from service.store.tables import Base

ROOT = Path(__file__).parents[3]


def test_a_backup_knows_every_table_of_the_schema() -> None:
    tables = sorted(Base.metadata.tables)
    assert {"answer", "board", "board_block"} <= set(tables)
    program = f"from service.store.snapshots import is_ours; print([name for name in {tables} if not is_ours(name)])"
    alone = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert alone.stdout == "[]\n", alone.stderr
