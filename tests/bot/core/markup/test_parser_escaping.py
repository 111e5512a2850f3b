"""Escaped text is shown as typed, even if it looks like Markdown, math or a mention."""

import re

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.core.markup import MAX_SOURCE, escape, parse, to_html
from bot.core.markup.parser import clean
from bot.core.markup.tree import Break, Paragraph, TextNode


def shown(markdown: str) -> str:
    """Returns the text of a document that must consist of plain paragraphs."""
    paragraphs: list[str] = []
    for block in parse(markdown).blocks:
        assert isinstance(block, Paragraph), block
        parts: list[str] = []
        for inline in block.children:
            assert isinstance(inline, TextNode | Break), inline
            parts.append(inline.text if isinstance(inline, TextNode) else "\n")
        paragraphs.append("".join(parts))
    return "\n\n".join(paragraphs)


def normalized(text: str) -> str:
    """Returns what `escape` preserves: lines without outer spaces, and paragraphs."""
    parts = re.split(r"\n\s*\n", clean(text).strip())
    return "\n\n".join("\n".join(line.strip() for line in part.split("\n")) for part in parts)


@pytest.mark.parametrize(
    "text",
    [
        "**bold** _it_ ~~s~~ `code`",
        "# not a heading",
        "1. not a list\n2) nor this",
        "- no\n+ no\n* no",
        "> no quote",
        "a\n===\nb\n---",
        "| a | b |\n|---|---|\n| 1 | 2 |",
        "a\n:-",
        "```\nfence\n```",
        "~~~\nfence\n~~~",
        "[x](https://e.org) <https://e.org> ![y](https://e.org)",
        "[x]: https://e.org",
        "$x^2$ $$y$$ \\(z\\) \\[w\\]",
        "\\begin{align}\na\n\\end{align}",
        "<script>alert(1)</script> &amp; &#64;",
        "@everyone @here <@123> <!channel> <#C1|general>",
        "__init__ and a\\",
        "12345678901. long",
        "first\n\n\n\nsecond",
        "",
    ],
)
def test_escaped_text_is_shown_as_typed(text: str) -> None:
    assert shown(escape(text)) == normalized(text)


@settings(max_examples=400)
@given(st.one_of(st.text(alphabet="*_~`[]()<>!#+-=|:\\$&{};@ab1.\n \t", max_size=80), st.text(max_size=60)))
@example("a\n \n\u3000b")
@example("0)")
@example("\u00a0- a")
def test_any_text_is_shown_as_typed(text: str) -> None:
    assert shown(escape(text)) == normalized(text)


def test_escaping_twice_shows_the_escaped_text() -> None:
    assert shown(escape(escape("*a* @b"))) == escape("*a* @b")


def test_no_platform_sees_a_mention() -> None:
    assert not set("@<>") & set(escape("@everyone <@1> <!here>"))


def test_the_html_shows_it_escaped() -> None:
    assert to_html(parse(escape("<b>*x*</b>\ny"))) == "<p>&lt;b&gt;*x*&lt;/b&gt;<br>y</p>"


def test_an_answer_of_the_longest_kind_still_fits() -> None:
    assert len(escape("def f(x):\n    return x[0] * 2\n" * 120)) < MAX_SOURCE
