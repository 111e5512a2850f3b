"""docs/security.md fits on a page, and every test that it names exists and contains tests."""

from __future__ import annotations

import re

from tests.docs.pages import DOCS, ROOT, rows_of, section_of, text_of

PAGE = DOCS / "security.md"
TEXT = text_of(PAGE)
LONGEST = 120


def test_it_is_a_page() -> None:
    assert len(TEXT.splitlines()) <= LONGEST


def test_every_test_it_names_exists() -> None:
    named = sorted(set(re.findall(r"`(tests/[^`]+)`", TEXT)))
    assert len(named) > 25
    for name in named:
        path = ROOT / name
        assert path.is_file(), f"docs/security.md names {name}, which does not exist"
        assert re.search(r"^(async )?def test_", path.read_text(encoding="utf-8"), re.MULTILINE), name


def test_every_row_of_the_table_names_a_test() -> None:
    rows = rows_of(section_of(PAGE, "Threats and defenses"))
    assert len(rows) > 15
    for row in rows:
        assert re.fullmatch(r"\d", row[0]), row
        assert re.fullmatch(r"(`tests/\S+\.py`(, )?)+", row[-1]), row


def test_the_policy_at_the_root_says_how_to_report_and_points_here() -> None:
    policy = text_of(ROOT / "SECURITY.md")
    assert "Report a vulnerability" in policy
    assert "(docs/security.md)" in policy
