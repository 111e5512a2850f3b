"""The documents of the repository, and what they show: code blocks, tables, commands and links."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
FINDINGS = ROOT / "questions" / "FINDINGS.md"
PAGES = (
    README,
    *sorted(ROOT / name for name in ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md", "sandbox/README.md")),
    FINDINGS,
    *sorted(DOCS.glob("*.md")),
)
_FENCE = re.compile(
    r"^(?P<indent> *)(?P<marks>`{3,}|~{3,})(?P<info>[^\n`]*)\n(?P<body>.*?)^ *(?P=marks)[`~]*$", re.S | re.M
)


def name_of(page: Path) -> str:
    """Returns the path of a page in the repository."""
    return page.relative_to(ROOT).as_posix()


def text_of(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def blocks_of(page: Path, language: str) -> list[str]:
    """Returns the contents of the fenced blocks in a language."""
    return [found["body"] for found in _FENCE.finditer(text_of(page)) if found["info"].strip() == language]


def prose_of(page: Path) -> str:
    """Returns the text outside fenced blocks."""
    return _FENCE.sub("", text_of(page))


def section_of(page: Path, heading: str) -> str:
    """Returns the text below a heading, up to the next heading of the same or a higher level."""
    text = text_of(page)
    found = re.search(rf"^(#+) {re.escape(heading)}$", text, re.M)
    assert found, f"{name_of(page)} has no heading {heading!r}"
    rest = text[found.end() :]
    following = re.search(rf"^#{{1,{len(found[1])}}} ", rest, re.M)
    return rest[: following.start()] if following else rest


def rows_of(section: str) -> list[list[str]]:
    """Returns the rows of the tables in a section, without headers."""
    rows = []
    for table in re.findall(r"(?:^\|.*\n?)+", section, re.M):
        lines = table.strip().splitlines()[2:]
        rows += [[cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]
    return rows


def commands_of(page: Path) -> Iterator[str]:
    """Returns every `dailygrad …` command that a page shows, in shell blocks and in code spans."""
    shown = [line for block in blocks_of(page, "sh") for line in block.splitlines()]
    shown += re.findall(r"`([^`\n]+)`", prose_of(page))
    for line in shown:
        found = re.match(r" *(?:[A-Z_]+=\S+ )*(?:\.venv/bin/)?dailygrad (?P<words>(?:'[^']*'|[^#'])*)", line)
        if found:
            yield found["words"].strip()
