"""docs/architecture.md names the packages that exist, and all of them."""

from __future__ import annotations

import re

from tests.docs.pages import DOCS, ROOT, rows_of, section_of

TABLE = "\n".join(row[0] for row in rows_of(section_of(DOCS / "architecture.md", "Packages")))
NAMED = set(re.findall(r"`([\w/]+)/`", TABLE))


def test_every_package_it_names_exists() -> None:
    assert len(NAMED) > 15
    for name in NAMED:
        assert (ROOT / name).is_dir(), name


def test_it_names_every_package() -> None:
    packages = {
        path.parent.relative_to(ROOT).as_posix()
        for top in ("bot", "service", "sandbox", "questions")
        for path in (ROOT / top).glob("*/__init__.py")
    }
    assert packages - NAMED == set()
