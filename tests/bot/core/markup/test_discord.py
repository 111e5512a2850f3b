"""A tree as Discord's Markdown: what each part becomes, what is escaped, and where long parts are cut."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings

from bot.core.markup import channel_markdown, escape, instant_markdown, member_markdown, parse
from bot.core.markup.discord import ROOM, escaped, fenced, framed, join_parts, linked, to_discord
from bot.core.markup.runs import units
from bot.core.markup.tree import Align
from tests.bot.hostile import ANY_MARKDOWN

TIME = instant_markdown("17:00 (Europe/Berlin)", 1772726400)
PRECISE = instant_markdown("17:00:00 (Europe/Berlin)", 1772726400, precise=True)
CHANNEL = channel_markdown("#da_ily", "discord", "123")
MEMBER = member_markdown("A*n*n", "discord", "456")
MOMENT = instant_markdown("Thursday 5 March, 17:00 (Europe/Berlin)", 1772726400, dated=True)


def said(markdown: str) -> str:
    return join_parts(to_discord(parse(markdown)))


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("**a *b* c** ~~d~~", "**a *b* c** ~~d~~"),
        ("*a*b**c**", "*a*b**c**"),
        ("*a***b**", "*a*\u200b**b**"),
        ("**a **b", r"\*\*a \*\*b"),
        ("`a` `` b`c `` ```` d``e ````", "`a` `` b`c `` `` d`\u200b`e ``"),
        ("[t](https://a.example/(x))", "[t](<https://a.example/%28x%29>)"),
        ("<https://a.example>", "<https://a.example>"),
        ("[write](mailto:a@b.example)", "write (a@b.example)"),
        ("![alt](https://a.example/p.png)", "[alt](<https://a.example/p.png>)"),
        ("$x^2$ and $\\frac{1}{2}$", "x² and 1/2"),
        ("# One\n\n### Three", "### One\n\n**Three**"),
        ("- a\n- b\n  - c", "- a\n- b\n  - c"),
        ("3. a\n4. b", "3. a\n4. b"),
        ("1. a\n   ```py\n   x\n   ```\n2. b", "1. a\n```py\nx\n```\n2. b"),
        ("> a\n>\n> > b", "> a\n\n> b"),
        ("a\\\nb", "a\nb"),
        ("|a|b|\n|-|-:|\n|1|2|", "```\na │ b\n──┼──\n1 │ 2\n```"),
        ("a\n\n---\n\nb", "a\n\n───────────────\n\nb"),
        ("-\n- x", "- x"),
        (f"at {TIME}", "at <t:1772726400:t> (<t:1772726400:R>)"),
        (f"at {PRECISE}", "at <t:1772726400:T> (<t:1772726400:R>)"),
        (f"in {CHANNEL}: **b**", "in <#123>: **b**"),
        (f"First: **{MEMBER}**.", "First: <@456>."),
        (member_markdown("A*n*n", "discord", ""), r"A\*n\*n"),
        ("in [daily](channel:slack:C1) and [x](channel:discord:1x)", "in daily and x"),
        ("a[ ](channel:discord:1)b", "a b"),
        (f"**{MOMENT}.**", "<t:1772726400:F> (<t:1772726400:R>)**.**"),
    ],
    # Signatures of mentions differ from process to process, and names of tests may not.
    ids=itertools.count(),
)
def test_what_each_part_becomes(markdown: str, shown: str) -> None:
    assert said(markdown) == shown


@pytest.mark.parametrize(
    ("plain", "shown"),
    [
        ("# a", r"\# a"),
        ("-# a", r"\-# a"),
        ("> a", r"\> a"),
        ("- a", r"\- a"),
        ("1. a", r"1\. a"),
        ("x[::2] and a:b:c", r"x\[::2\] and a\:b:c"),
        ("||a||", r"\|\|a\|\|"),
        ("@everyone and ann@here.example", "@\u200beveryone and ann@\u200bhere.example"),
        ("<@1> <#2> <:e:3>", "\\<@\u200b1> \\<#\u200b2> \\<\\:e:3>"),
        ("https://evil.example", r"https:\//evil.example"),
        ("__init__", r"\_\_init\_\_"),
        ("<t:1772726400:F>", r"\<t\:1772726400:F>"),
    ],
)
def test_a_plain_text_is_shown_literally(plain: str, shown: str) -> None:
    assert escaped(plain) == shown
    assert said(escape(plain)) == shown


@pytest.mark.parametrize("mark", list("\\`*_~|[]<"))
def test_every_mark_of_discord_is_escaped(mark: str) -> None:
    assert escaped(f"a{mark}b") == f"a\\{mark}b"


@pytest.mark.parametrize("start", ["#", "##", "###", "-#", ">", "-", "+", "*"])
def test_a_mark_at_the_start_of_a_line_is_escaped(start: str) -> None:
    assert escaped(f"{start} a").startswith("\\")
    assert escaped(f"b {start} a") == f"b {start} a".replace("*", r"\*")


def test_a_number_that_is_no_list_stays_as_it_is() -> None:
    assert escaped("1.5 of 2") == "1.5 of 2"
    assert escaped("2) a") == r"2\) a"
    assert escaped("#1 of 3") == "#1 of 3"


@pytest.mark.parametrize(
    ("character", "code"),
    [("(", "%28"), (")", "%29"), ("[", "%5B"), ("]", "%5D"), ("\\", "%5C"), ("`", "%60"), ("|", "%7C")],
)
def test_a_mark_in_an_address_is_percent_encoded(character: str, code: str) -> None:
    assert linked("t", f"https://a.example/{character}x") == f"[t](<https://a.example/{code}x>)"


def test_a_link_mentions_nobody_and_is_one_line() -> None:
    assert linked("a\n *b*", "https://a.example/@here/@everyone") == (
        r"[a \*b\*](<https://a.example/%40here/%40everyone>)"
    )
    assert linked(" ", "https://a.example") == "<https://a.example>"
    assert linked("https://a.example", "https://a.example") == "<https://a.example>"


@pytest.mark.parametrize(
    ("parts", "joined"),
    [
        (["a", "b"], "a\n\nb"),
        (["a", "```\nx\n```", "b"], "a\n```\nx\n```\nb"),
        (["a", "-# b", "-# c", "d"], "a\n\n-# b\n-# c\n\nd"),
        (["a"], "a"),
        ([], ""),
    ],
)
def test_parts_are_joined_by_blank_lines_but_not_at_code_or_small_print(parts: list[str], joined: str) -> None:
    assert join_parts(parts) == joined


def test_a_list_is_indented_five_levels_at_most() -> None:
    shown = said("\n".join("  " * depth + f"- {depth}" for depth in range(8)))
    assert shown == "\n".join("  " * min(depth, 5) + f"- {depth}" for depth in range(8))


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("- > a", "- \u200b\n> a"),
        ("- - a", "- \u200b\n  - a"),
        ("- a\n\n  b", "- a\n  b"),
        ("1. a\\\n   b", "1. a\n  b"),
        ("a\\\nb\n===", "### a b"),
        ("> # a\n> ```\n> x\n> ```", "> ### a\n```\nx\n```"),
        ("**a `b`**", "**a `b`**"),
        ("[**t**](https://a.example)", "[**t**](<https://a.example>)"),
    ],
)
def test_what_stands_inside_another_part(markdown: str, shown: str) -> None:
    assert said(markdown) == shown


def test_a_long_list_is_cut_between_items_and_no_part_is_left_half_empty() -> None:
    items = [f"- {number} {'x' * 200}" for number in range(60)]
    parts = to_discord(parse("\n".join(items)))
    assert "\n".join(parts).split("\n") == items
    assert all(len(part) <= ROOM for part in parts)
    assert all(ROOM - len(part) < len(items[-1]) + 1 for part in parts[:-1])


def test_code_in_a_list_keeps_the_items_around_it_together() -> None:
    markdown = "- a\n- b\n\n  ```\n  x\n  ```\n- `c`\n- d"
    assert to_discord(parse(markdown)) == ["- a\n- b", "```\nx\n```", "- `c`\n- d"]


def test_code_keeps_its_fence_whatever_it_contains() -> None:
    assert fenced("a\n````\n\tb\n\n", "c++") == ["```c++\na\n`\u200b`\u200b`\u200b`\n    b\n```"]
    assert fenced("x", "l" * 30) == [f"```{'l' * 30}\nx\n```"]
    assert fenced("x", "l" * 31) == ["```\nx\n```"]


def test_long_code_is_cut_between_lines_into_closed_fences() -> None:
    lines = [f"line {number}" for number in range(40)]
    parts = fenced("\n".join(lines), "py", 100)
    assert len(parts) > 1
    assert all(part.startswith("```py\n") and part.endswith("\n```") and len(part) <= 100 for part in parts)
    assert [line for part in parts for line in part.split("\n")[1:-1]] == lines


def test_a_long_word_is_cut_between_what_people_call_characters() -> None:
    family = "👩\u200d👩\u200d👧"
    parts = to_discord(parse(family * 900))
    assert all(units(part) <= ROOM for part in parts)
    assert all(part.startswith("👩") and part.endswith("👧") for part in parts)
    assert "".join(parts) == family * 900


def test_a_mention_does_not_hide_where_a_word_is_cut() -> None:
    for ahead in range(2080, 2110):
        assert "@everyone" not in join_parts(to_discord(parse("x" * ahead + "@everyone" * 250)))


def test_bold_that_is_cut_is_bold_in_both_parts() -> None:
    parts = to_discord(parse("**" + "word " * 1500 + "end**"))
    assert len(parts) > 1
    assert all(part.startswith("**word") and part.endswith("**") for part in parts)


def test_a_long_table_has_its_header_in_each_part() -> None:
    rows = "\n".join(f"|name {number}|{number}|" for number in range(400))
    parts = to_discord(parse(f"|name|points|\n|-|-|\n{rows}"))
    assert len(parts) > 1
    assert all(part.startswith("```\nname") and part.endswith("\n```") for part in parts)


def test_an_odd_language_is_not_written_after_a_fence() -> None:
    assert fenced("x", "not a language") == ["```\nx\n```"]
    assert fenced("", "python") == ["```python\n\u200b\n```"]


@pytest.mark.slow
@settings(max_examples=150)
@given(ANY_MARKDOWN)
def test_no_part_is_longer_than_its_room(text: str) -> None:
    for room in (500, ROOM):
        assert all(units(part) <= room for part in to_discord(parse(text), room))


@pytest.mark.parametrize(("language", "longest"), [("", 91), ("python", 85)])
def test_a_fence_uses_the_room_it_has(language: str, longest: int) -> None:
    assert fenced("x" * longest, language, 100) == [f"```{language}\n{'x' * longest}\n```"]
    assert len(fenced("x" * (longest + 1), language, 100)) == 2


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        ("## Two", "### Two"),
        ("### Three", "**Three**"),
        ("> a\\\n> b", "> a\n> b"),
        ("[a\\\nb](https://a.example)", "[a](<https://a.example>)\n[b](<https://a.example>)"),
        ("[https://a.**example**](https://a.example)", "<https://a.example>"),
        ("**a *b***", "**a *b***"),
        ("**a** *b*", "**a** *b*"),
        ("**a** ~~b~~c", "**a** ~~b~~c"),
        ("|a  b|\n|-|\n|c|", "```\na b\n───\nc\n```"),
    ],
)
def test_how_marks_lines_and_cells_are_written(markdown: str, shown: str) -> None:
    assert said(markdown) == shown


def test_only_the_first_part_of_a_long_heading_is_a_heading() -> None:
    parts = to_discord(parse("# " + "word " * 600))
    assert len(parts) > 1
    assert [part.startswith("### ") for part in parts] == [True] + [False] * (len(parts) - 1)
    assert all(units(part) <= ROOM for part in parts)


@pytest.mark.parametrize(
    "markdown",
    [
        "**a** b " * 150,
        "`a` b " * 150,
        "`` a`b `` c " * 150,
        "*~~a~~* b " * 150,
        "[a](https://a.example/x) " * 60,
        "[a](https://a.example/(((x) " * 60,
        "@everyone " * 90,
        f"{TIME} " * 40,
        f"{CHANNEL} " * 90,
        "> " + "a\\\n> " * 150,
        "- a\n  - b\n    - c\n      - d\n        - e\n          - " + "f\\\n            " * 90 + "g",
        "|a|b|\n|-|-|\n" + "|`x`|yy|\n" * 90,
        "```py\n" + "x = 1\n" * 150 + "```",
        "# " + "**a** " * 120,
    ],
    ids=itertools.count(),
)
def test_the_room_of_a_part_counts_marks_addresses_and_indents(markdown: str) -> None:
    parts = to_discord(parse(markdown), 400)
    assert len(parts) > 1
    assert all(units(part) <= 400 for part in parts)


def test_a_part_is_not_left_half_empty() -> None:
    parts = to_discord(parse("word " * 1000))
    assert all(units(part) > ROOM // 2 for part in parts[:-1])
    quoted = to_discord(parse("> " + "word " * 1000))
    assert all(ROOM // 4 < units(part) <= ROOM for part in quoted[:-1])


def test_a_framed_table_fits_its_room_with_a_header_in_each_part() -> None:
    rows = [["name", "points"], *([f"player {number}", str(number)] for number in range(60))]
    parts = framed(rows, [Align.LEFT, Align.RIGHT], 500)
    assert len(parts) > 2
    assert all(part.startswith("```\nname") and part.endswith("\n```") and units(part) <= 500 for part in parts)
    assert sum(part.count("player") for part in parts) == 60
