"""Markdown as blocks: kinds, lines, depth."""

from __future__ import annotations

import pytest

from questions.blocks import Block, plain, split_blocks
from questions.document import open_document
from questions.source import Source, open_source

DOCUMENT = """\
---
title: A
---
# One

Text,
wrapped.

Two
---
- a
  - b

    c

3) d
> quote
>
> more

| a |
|---|
| b |

***
<div>
x
</div>

    code

```Python title="x"
# no heading
  x = 1

```
~~~
open
"""


def blocks(text: str) -> tuple[Block, ...]:
    return split_blocks(open_source(text, "a.md")[0])


def test_kinds_and_lines() -> None:
    assert [(block.kind, block.first, block.last) for block in blocks(DOCUMENT)] == [
        ("front_matter", 1, 3),
        ("heading", 4, 4),
        ("paragraph", 6, 7),
        ("heading", 9, 10),
        ("list", 11, 14),
        ("list", 16, 16),
        ("quote", 17, 19),
        ("table", 21, 23),
        ("rule", 25, 25),
        ("html", 26, 28),
        ("code", 30, 30),
        ("fence", 32, 36),
        ("fence", 37, 38),
    ]


def test_what_stands_inside() -> None:
    found = {block.first: block for block in blocks(DOCUMENT)}
    assert found[1].text == "title: A"
    assert (found[4].text, found[4].level, found[9].level) == ("One", 1, 2)
    assert [(b.kind, b.first, b.last) for b in found[11].walk()] == [
        ("list", 11, 14),
        ("item", 11, 14),
        ("paragraph", 11, 11),
        ("list", 12, 14),
        ("item", 12, 14),
        ("paragraph", 12, 12),
        ("paragraph", 14, 14),
    ]
    assert found[16].children[0].info == "3"
    assert [block.text for block in found[17].children] == ["quote", "more"]


def test_fences() -> None:
    python, tilde = (block for block in blocks(DOCUMENT) if block.kind == "fence")
    assert (python.info, python.text, python.closed) == ("python", "# no heading\n  x = 1\n", True)
    assert (tilde.info, tilde.text, tilde.closed) == ("", "open", False)


@pytest.mark.parametrize(
    ("text", "closed"),
    [
        ("```\nx\n```", True),
        ("```\nx\n`````  ", True),
        ("````\nx\n```", False),
        ("```\nx", False),
        ("```", False),
        ("```\n```", True),
        ("- ```\n  x\n  ```", True),
        ("> ```\n> x\n> ```", True),
        ("~~~\nx\n```", False),
    ],
)
def test_whether_a_fence_is_closed(text: str, closed: bool) -> None:
    (fence,) = (inner for block in blocks(text) for inner in block.walk() if inner.kind == "fence")
    assert fence.closed is closed


@pytest.mark.parametrize(
    ("markdown", "words"),
    [
        ("**What** is `x.t()`?", "What is x.t()?"),
        ("a\nb  \nc", "a b c"),
        ("[link](http://a) and <b>bold</b>", "link and bold"),
        ("$\\text{x}$ \\* &amp;", "$\\text{x}$ * &"),
        ("", ""),
    ],
)
def test_plain_text(markdown: str, words: str) -> None:
    assert plain(markdown) == words


def test_deep_nesting_is_accepted() -> None:
    (quote,) = blocks(">" * 500 + " a")
    assert (quote.first, quote.last) == (1, 1)


def test_a_document_without_lists_of_keys_is_laid_out_once() -> None:
    """Its sections and labels are kept with the layout, and finding them again takes a seventh of the time."""
    document = open_document(Source("a.md", ("# Views", "", "What is a view?")))
    assert document.without_lists(()).layout is document.layout
    assert document.without_lists([(3, 3)]).layout is not document.layout
