"""Benchmark: time to read a bank, compared with plain markdown-it-py on the same text in the same run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import process_time

from markdown_it import MarkdownIt

from questions import read_bank

ROOT = Path(__file__).parent.parent.parent
NATIVE = (ROOT / "questions" / "banks" / "pytorch-core.md").read_text(encoding="utf-8")
ONE = """### {n}. What is number {n} of `x.t()`?

It **shares** memory with its base, and *no* number is copied. Its strides are swapped:

- `x.t()`: a view of [the same memory](https://example.org).
- `x.t().contiguous()`: a copy

    ```python
    y = x.t()
    ```

Of two such tensors, both see a change.

"""
PROSE = "# Tensors\n\n" + "".join(ONE.replace("{n}", str(number)) for number in range(1, 301))
ROUNDS = 9


def seconds(*works: Callable[[], object]) -> list[float]:
    """Returns the least processor time of each function, in interleaved rounds, because the machine may be busy."""
    found: list[list[float]] = [[] for _ in works]
    for _ in range(ROUNDS):
        for times, work in zip(found, works, strict=True):
            start = process_time()
            work()
            times.append(process_time() - start)
    return [min(times) for times in found]


def measure(name: str, text: str) -> None:
    """Prints the time to read a text and to parse it."""
    parser = MarkdownIt("commonmark").enable("table")
    more = text + text.replace(" · ", "x · ")
    once, bare, twice = seconds(
        lambda: read_bank(text, name="bank.md"), lambda: parser.parse(text), lambda: read_bank(more, name="bank.md")
    )
    size = len(text.encode()) / 1e6
    print(f"{name}: {once / size * 1000:.0f} ms per MB, {once / bare:.2f} x bare markdown-it-py on the same text")
    print(f"{name}: twice the text takes {twice / once:.2f} x the time")


def main() -> None:
    measure("our own dialect", NATIVE)
    measure("headings and prose", PROSE)


if __name__ == "__main__":
    main()
