"""A tree as Slack's rich text: what each part becomes, and where long parts are cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from bot.core.markup import parse
from bot.core.markup.slack import ROOM, Grid, escaped, table_block, table_lines, to_slack
from bot.core.markup.tree import Align
from tests.bot.hostile import ANY_MARKDOWN


def kinds(markdown: str) -> list[str]:
    return [part["type"] if isinstance(part, dict) else "grid" for part in to_slack(parse(markdown))]


def runs(markdown: str) -> list[tuple[str, tuple[str, ...]]]:
    (part,) = to_slack(parse(markdown))
    assert isinstance(part, dict)
    return [(run.get("text", run.get("url")), tuple(run.get("style", ()))) for run in part["elements"]]


def test_styles_are_styles_and_marks_are_text() -> None:
    assert runs("**a *b*** ~~c~~ `d` \\*e\\* &amp; <!channel>") == [
        ("a ", ("bold",)),
        ("b", ("bold", "italic")),
        (" ", ()),
        ("c", ("strike",)),
        (" ", ()),
        ("d", ("code",)),
        (" *e* & <!channel>", ()),
    ]


def test_a_link_keeps_its_words_and_a_bare_one_its_address() -> None:
    assert runs("[t](https://a.example) <https://b.example>") == [("t", ()), (" ", ()), ("https://b.example", ())]


@pytest.mark.parametrize(
    ("markdown", "found"),
    [
        ("# One\n\ntext", ["rich_text_section"] * 2),
        ("- a\n- b", ["rich_text_list"]),
        ("1. a\n2. b", ["rich_text_list"]),
        ("2. a\n3. b", ["rich_text_section"]),
        ("1. a\n   ```\n   x\n   ```\n2. b", ["rich_text_section", "rich_text_preformatted", "rich_text_section"]),
        ("> a\n>\n> - b", ["rich_text_quote", "rich_text_list"]),
        ("```py\nx\n```", ["rich_text_preformatted"]),
        ("|a|\n|-|\n|b|", ["grid"]),
        ("", []),
        ("\u200b", []),
    ],
)
def test_what_each_part_becomes(markdown: str, found: list[str]) -> None:
    assert kinds(markdown) == found


def test_only_languages_documented_by_slack_are_sent() -> None:
    found = to_slack(parse("```py\nx\n```\n\n```cobol\nx\n```"))
    assert [part.get("language") for part in found if isinstance(part, dict)] == ["python", None]


def test_an_empty_cell_is_a_dash_and_a_large_table_is_set_in_lines() -> None:
    small = Grid((("a", "b"), ("", "1")), (Align.LEFT, Align.RIGHT))
    block = table_block(small)
    assert block is not None
    assert block["rows"][1] == [{"type": "raw_text", "text": "–"}, {"type": "raw_text", "text": "1"}]
    large = Grid((("a",), *((str(number),) for number in range(100))), (Align.LEFT,))
    assert table_block(large) is None
    assert table_lines(large)[0]["type"] == "rich_text_preformatted"


def test_entities_are_escaped_once() -> None:
    assert escaped("a & b <!here> &amp;") == "a &amp; b &lt;!here&gt; &amp;amp;"


def text_bytes(element: dict[str, Any]) -> int:
    inner = element["elements"]
    return sum(text_bytes(one) if "elements" in one else len(one.get("text", "").encode()) for one in inner)


@settings(max_examples=150)
@given(ANY_MARKDOWN)
def test_elements_are_of_a_size_and_never_empty(text: str) -> None:
    for part in to_slack(parse(text)):
        if isinstance(part, dict):
            assert text_bytes(part) > 0
            assert '"text": ""' not in json.dumps(part)
            if part["type"] != "rich_text_list":
                assert text_bytes(part) <= ROOM + 400
