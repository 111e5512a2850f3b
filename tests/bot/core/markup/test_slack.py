"""A tree as Slack's rich text: what each part becomes, and where long parts are cut."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from bot.core.markup import parse
from bot.core.markup.slack import ROOM, Grid, escaped, table_block, table_lines, to_slack
from bot.core.markup.tree import Align
from tests.bot.core.markup.test_discord import MOMENT, PRECISE, TIME
from tests.bot.hostile import ANY_MARKDOWN


def kinds(markdown: str) -> list[str]:
    return [part["type"] if isinstance(part, dict) else "grid" for part in to_slack(parse(markdown))]


def runs(markdown: str) -> list[tuple[str, tuple[str, ...]]]:
    (part,) = to_slack(parse(markdown))
    assert isinstance(part, dict)
    return [(run.get("text", run.get("url")), tuple(run.get("style", ()))) for run in part["elements"]]


def test_an_instant_is_shown_in_the_readers_zone() -> None:
    (part,) = to_slack(parse(f"at {TIME} or {MOMENT} or {PRECISE}"))
    assert isinstance(part, dict)
    dates = [run for run in part["elements"] if run["type"] == "date"]
    assert [(run["timestamp"], run["format"], run["fallback"]) for run in dates] == [
        (1772726400, "{time}", "17:00 (Europe/Berlin)"),
        (1772726400, "{date_long_pretty}, {time}", "Thursday 5 March, 17:00 (Europe/Berlin)"),
        (1772726400, "{time_secs}", "17:00:00 (Europe/Berlin)"),
    ]


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


def test_a_hard_break_at_the_end_leaves_no_empty_line() -> None:
    assert runs("a\\\nb") == [("a\nb", ())]
    assert runs("- a\\\n\n- b") == runs("- a\n\n- b")


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


def text(shown: str, *styles: str) -> dict[str, Any]:
    """Returns a text element."""
    return {"type": "text", "text": shown, **({"style": dict.fromkeys(styles, True)} if styles else {})}


def section_of(*elements: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text_section", "elements": list(elements)}


def list_of(style: str, indent: int, *sections: dict[str, Any]) -> dict[str, Any]:
    return {"type": "rich_text_list", "style": style, "indent": indent, "elements": list(sections)}


@pytest.mark.parametrize(
    ("markdown", "elements"),
    [
        ("- a\n- **b**", [list_of("bullet", 0, section_of(text("a")), section_of(text("b", "bold")))]),
        ("1. a\n2. b", [list_of("ordered", 0, section_of(text("a")), section_of(text("b")))]),
        (
            "- a\n  - b\n- c",
            [
                list_of("bullet", 0, section_of(text("a"))),
                list_of("bullet", 1, section_of(text("b"))),
                list_of("bullet", 0, section_of(text("c"))),
            ],
        ),
        ("3. a\n4. b", [section_of(text("3. a"), text("\n"), text("4. b"))]),
        ("# One", [section_of(text("One", "bold"))]),
        ("> a *b*", [{"type": "rich_text_quote", "elements": [text("a "), text("b", "italic")]}]),
        ("---", [section_of(text("───────────────"))]),
        ("```py\n\tx\n\n```", [{"type": "rich_text_preformatted", "elements": [text("    x")], "language": "python"}]),
        ("```\n```", [{"type": "rich_text_preformatted", "elements": [text(" ")]}]),
        (
            "**[t](https://a.example)**",
            [
                section_of(
                    {"type": "link", "url": "https://a.example", "text": "t", "style": {"bold": True}},
                )
            ],
        ),
        ("<https://a.example>", [section_of({"type": "link", "url": "https://a.example"})]),
    ],
)
def test_the_elements_that_slack_gets(markdown: str, elements: list[dict[str, Any]]) -> None:
    assert to_slack(parse(markdown)) == elements


def test_a_list_is_indented_five_levels_at_most() -> None:
    markdown = "\n".join("  " * depth + f"- {depth}" for depth in range(8))
    parts = [part for part in to_slack(parse(markdown)) if isinstance(part, dict)]
    assert [part["indent"] for part in parts] == [0, 1, 2, 3, 4, 5, 5, 5]


def test_a_long_list_is_cut_between_items_but_a_numbered_one_is_not() -> None:
    items = "\n".join(f"- item {number} " + "x" * 200 for number in range(30))
    parts = [part for part in to_slack(parse(items)) if isinstance(part, dict)]
    assert [part["type"] for part in parts] == ["rich_text_list"] * len(parts)
    assert len(parts) > 1
    assert sum(len(part["elements"]) for part in parts) == 30
    numbered = items.replace("- item", "1. item")
    assert len(to_slack(parse(numbered))) == 1


@pytest.mark.parametrize(("rows", "columns", "fits"), [(100, 1, True), (101, 1, False), (2, 20, True), (2, 21, False)])
def test_the_largest_table_that_is_a_block(rows: int, columns: int, fits: bool) -> None:
    grid = Grid((("a",) * columns,) * rows, (Align.LEFT,) * columns)
    assert (table_block(grid) is not None) == fits


def test_a_table_with_much_text_is_no_block() -> None:
    assert table_block(Grid((("a",), ("x" * 5919,)), (Align.LEFT,))) is not None
    assert table_block(Grid((("a",), ("x" * 5920,)), (Align.LEFT,))) is None


def test_a_table_block_has_its_alignment_and_no_line_ends() -> None:
    assert table_block(Grid((("a", "b"), (" 1\n 2", "\u200b")), (Align.CENTER, Align.RIGHT))) == {
        "type": "table",
        "column_settings": [{"align": "center", "is_wrapped": True}, {"align": "right", "is_wrapped": True}],
        "rows": [
            [{"type": "raw_text", "text": "a"}, {"type": "raw_text", "text": "b"}],
            [{"type": "raw_text", "text": "1 2"}, {"type": "raw_text", "text": "–"}],
        ],
    }


def test_a_table_in_lines_keeps_its_header() -> None:
    (part,) = table_lines(Grid((("name", "points"), ("Ann", "12")), (Align.LEFT, Align.RIGHT)))
    assert part["elements"] == [text("name │ points\n─────┼───────\nAnn  │     12")]


@pytest.mark.parametrize(
    ("language", "sent"),
    [("py", "python"), ("python", "python"), ("python3", "python"), ("javascript", "javascript"), ("json", "json")],
)
def test_a_language_is_sent_by_slacks_name(language: str, sent: str) -> None:
    (part,) = to_slack(parse(f"```{language}\nx\n```"))
    assert isinstance(part, dict)
    assert part["language"] == sent


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


def sizes(markdown: str) -> list[int]:
    """Returns the bytes of texts and addresses in each element."""
    parts = [part for part in to_slack(parse(markdown)) if isinstance(part, dict)]
    return [sum(len(run.get("url", "") + run.get("text", "")) for run in _leaves(part)) for part in parts]


def _leaves(element: dict[str, Any]) -> list[dict[str, Any]]:
    inner = element.get("elements")
    return [element] if inner is None else [leaf for one in inner for leaf in _leaves(one)]


@pytest.mark.parametrize("prefix", ["", "- "], ids=["text", "list"])
def test_the_size_of_an_element_counts_addresses(prefix: str) -> None:
    one = f"{prefix}[a](https://a.example/{'x' * 400})"
    found = sizes((" " if not prefix else "\n").join([one] * 30))
    assert len(found) > 4
    assert all(size <= ROOM for size in found)
    assert all(size > ROOM // 2 for size in found[:-1])


def test_the_size_of_a_list_counts_instants_too() -> None:
    items = "\n".join(f"- {MOMENT}" for _ in range(60))
    parts = [part for part in to_slack(parse(items)) if isinstance(part, dict)]
    assert len(parts) > 1 and sum(len(part["elements"]) for part in parts) == 60


def test_the_number_of_an_item_that_begins_with_code_stands_before_it() -> None:
    assert to_slack(parse("2. ```\n   x\n   ```\n3. b")) == [
        section_of(text("2. ")),
        {"type": "rich_text_preformatted", "elements": [text("x")]},
        section_of(text("3. b")),
    ]
