"""The page on security fits on a page, and every test it names is there, and tests something."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
LONGEST = 120


def test_it_is_a_page() -> None:
    assert len(PAGE.splitlines()) <= LONGEST


def test_every_test_it_names_is_there() -> None:
    named = sorted(set(re.findall(r"`(tests/[^`]+)`", PAGE)))
    assert len(named) > 25
    for name in named:
        path = ROOT / name
        assert path.is_file(), f"SECURITY.md names {name}, which is not there"
        assert re.search(r"^(async )?def test_", path.read_text(encoding="utf-8"), re.MULTILINE), name


def test_every_line_of_the_table_names_a_test() -> None:
    rows = [line for line in PAGE.splitlines() if re.match(r"\| \d ", line)]
    assert len(rows) > 15
    assert [row for row in rows if not re.search(r"`tests/\S+\.py` *\|$|`tests/\S+\.py` \|$", row)] == []


def test_every_setting_it_names_is_known() -> None:
    known = "".join(
        (ROOT / name).read_text(encoding="utf-8") for name in ("README.md", ".env.example", "docker-compose.yml")
    )
    settings = set(re.findall(r"\b(?:DAILYGRAD|SANDBOX)_[A-Z_]+\b", PAGE))
    assert {name for name in settings if name not in known} == set()
