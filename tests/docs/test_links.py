"""Links between the documents: every file and every anchor exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.docs.pages import PAGES, name_of, prose_of, text_of

_LINK = re.compile(r"(?<!\!)\[[^\]]*\]\(([^)\s]+)\)|!\[[^\]]*\]\(([^)\s]+)\)")


def anchors_of(page: Path) -> set[str]:
    """Returns the anchors of a page's headings, as GitHub and MyST generate them."""
    found = set()
    for heading in re.findall(r"^#{1,4} (.+)$", prose_of(page), re.M):
        bare = re.sub(r"`|\[|\]\([^)]*\)", "", heading).strip().lower()
        found.add(re.sub(r"\s", "-", re.sub(r"[^\w\s-]", "", bare)))
    return found


def links_of(page: Path) -> list[str]:
    return [link or picture for link, picture in _LINK.findall(re.sub(r"`[^`\n]*`", "", prose_of(page)))]


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_local_links_lead_somewhere(page: Path) -> None:
    for link in links_of(page):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        assert target.exists(), f"{name_of(page)} links to {link}"
        if anchor:
            assert anchor in anchors_of(target), f"{name_of(page)} links to {link}"


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_external_links_use_tls(page: Path) -> None:
    for address in re.findall(r"http://[^\s)>`'\"]+", text_of(page)):
        assert re.match(r"http://(127\.0\.0\.1|worker|service|jaeger|localhost)\b", address), address


def test_the_links_are_found() -> None:
    assert sum(len(links_of(page)) for page in PAGES) > 20
