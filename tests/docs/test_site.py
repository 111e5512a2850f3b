"""The site builds without a warning and loads nothing from elsewhere; a broken link fails the build."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.pages import DOCS, ROOT


def build(source: Path, output: Path) -> subprocess.CompletedProcess[str]:
    """Runs the build of `make docs`."""
    words = [sys.executable, "-m", "sphinx", "--fail-on-warning", "--keep-going", "--nitpicky", "--quiet"]
    return subprocess.run(
        [*words, str(source), str(output)], cwd=ROOT, capture_output=True, text=True, check=False, timeout=170
    )


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("site")
    done = build(DOCS, output)
    assert (done.returncode, done.stderr) == (0, "")
    return output


def test_every_page_is_built(site: Path) -> None:
    assert {page.stem for page in DOCS.glob("*.md")} <= {page.stem for page in site.glob("*.html")}
    assert "Q303" in (site / "findings.html").read_text(encoding="utf-8")


def test_it_loads_nothing_from_the_network(site: Path) -> None:
    loaded = re.compile(
        r"""(?:<(?:script|img|iframe|source)\b[^>]*\bsrc|<link\b[^>]*\bhref)=["'](?:https?:)?//[^"']+"""
    )
    for page in site.glob("*.html"):
        assert loaded.findall(page.read_text(encoding="utf-8")) == [], page.name
    for sheet in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import )[\"']?(?:https?:)?//", sheet.read_text(encoding="utf-8")), sheet.name


def test_a_broken_link_fails_the_build(tmp_path: Path) -> None:
    source = tmp_path / "docs"
    source.mkdir()
    shutil.copy(DOCS / "conf.py", source)
    (source / "index.md").write_text("# Title\n\n[nowhere](missing.md#anchor)\n", encoding="utf-8")
    done = build(source, tmp_path / "site")
    assert done.returncode == 1
    assert "missing.md" in done.stderr
