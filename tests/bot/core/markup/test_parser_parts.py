"""Parts of a text, names with underscores, and how deep blocks may be nested."""

from __future__ import annotations

import pytest

from bot.core.markup.parser import instant_markdown, outer_parts, parse
from bot.core.markup.tree import CodeBlockNode, CodeSpan, Instant, LinkNode, List, Paragraph, Quote, Strong, TextNode


@pytest.mark.parametrize(
    ("markdown", "parts"),
    [
        ("a\n\n# b\n\n- c\n- d\n", ["a\n\n", "# b\n\n", "- c\n- d\n"]),
        ("\n\na\r\n\r\nb", ["\n\na\n\n", "b"]),
        ("one", ["one"]),
        ("", [""]),
        (
            "a [x][y]\n\nb\n\n[y]: https://a.example\n",
            ["a [x][y]\n\nb\n\n[y]: https://a.example\n"],
        ),  # one needs another
    ],
)
def test_a_text_is_split_between_its_blocks_without_loss(markdown: str, parts: list[str]) -> None:
    found = outer_parts(markdown)
    assert [source for source, _ in found] == parts
    assert tuple(block for _, blocks in found for block in blocks) == parse(markdown).blocks


@pytest.mark.parametrize(("length", "parts"), [(39_997, 2), (39_998, 1)])
def test_a_text_that_is_too_long_is_one_part(length: int, parts: int) -> None:
    source = "x" * length + "\n\ny"
    found = outer_parts(source)
    assert len(found) == parts
    assert "".join(part for part, _ in found) == source


@pytest.mark.parametrize(
    "name", ["__init__", "__a_b__", "x.__call__()", "a __init__.py", "(__a__)", "__a__ __b__", "_"]
)
def test_a_python_name_is_text(name: str) -> None:
    assert parse(name).blocks == (Paragraph((TextNode(name),)),)


@pytest.mark.parametrize(("markdown", "words"), [("__two words__", "two words"), ("__Init__", "Init")])
def test_other_words_between_underscores_are_strong(markdown: str, words: str) -> None:
    assert parse(markdown).blocks == (Paragraph((Strong((TextNode(words),)),)),)


def test_blocks_that_are_nested_too_deeply_are_shown_as_written() -> None:
    assert isinstance(parse("> " * 37 + "x").blocks[0], Quote)
    assert parse("> " * 38 + "x").blocks == (CodeBlockNode("> " * 38 + "x"),)
    assert isinstance(parse("- " * 18 + "x").blocks[0], List)
    assert parse("- " * 19 + "x \n").blocks == (CodeBlockNode("- " * 19 + "x"),)


def test_a_line_end_in_code_or_in_the_name_of_a_picture_is_a_space() -> None:
    assert parse("`a\nb`").blocks == (Paragraph((CodeSpan("a b"),)),)
    assert parse("![a\nb](https://a.example/x)").blocks == (
        Paragraph((LinkNode("https://a.example/x", (TextNode("a b"),)),)),
    )


def test_an_instant_is_written_as_a_link_of_our_own() -> None:
    assert instant_markdown("17:00", 60, dated=False) == "[17:00](time:60)"
    assert instant_markdown("1 May", 60, dated=True) == "[1 May](time:60:dated)"
    for dated in (True, False):
        (block,) = parse(instant_markdown("at noon", 60, dated=dated)).blocks
        assert block == Paragraph((Instant(60, dated, "at noon"),))
    (block,) = parse(instant_markdown("at noon", 60, precise=True)).blocks
    assert block == Paragraph((Instant(60, False, "at noon", True),))
    (block,) = parse("[a **b** `c` d](time:60)").blocks
    assert block == Paragraph((Instant(60, False, "a   d"),))
    assert parse("[**b**](time:60)").blocks == (Paragraph((TextNode(" "),)),)
