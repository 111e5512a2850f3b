"""How long reading a bank takes, beside bare markdown-it-py on the same text in the same run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from statistics import median
from time import perf_counter

from markdown_it import MarkdownIt

from questions import read_bank

ROOT = Path(__file__).parent.parent.parent
TEXT = (ROOT / "questions" / "banks" / "pytorch-core.md").read_text(encoding="utf-8")
ROUNDS = 7


def seconds(work: Callable[[], object]) -> float:
    """The median over some rounds."""
    found = []
    for _ in range(ROUNDS):
        start = perf_counter()
        work()
        found.append(perf_counter() - start)
    return median(found)


def main() -> None:
    parser = MarkdownIt("commonmark").enable("table")
    once = seconds(lambda: read_bank(TEXT, name="bank.md"))
    bare = seconds(lambda: parser.parse(TEXT))
    twice = seconds(lambda: read_bank(TEXT + TEXT.replace(" · ", "x · "), name="bank.md"))
    size = len(TEXT.encode()) / 1e6
    print(f"reader: {once / size * 1000:.0f} ms per MB, {once / bare:.2f} x bare markdown-it-py on the same text")
    print(f"reader: twice the text takes {twice / once:.2f} x the time")


if __name__ == "__main__":
    main()
