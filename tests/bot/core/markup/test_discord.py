"""A tree as Discord's Markdown: what each part becomes, what is escaped, and where long parts are cut."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from bot.core.markup import escape, parse
from bot.core.markup.discord import ROOM, escaped, fenced, join_parts, to_discord
from bot.core.markup.runs import units
from tests.bot.hostile import ANY_MARKDOWN


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
    ],
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
    ],
)
def test_a_plain_text_is_shown_literally(plain: str, shown: str) -> None:
    assert escaped(plain) == shown
    assert said(escape(plain)) == shown


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


@settings(max_examples=150)
@given(ANY_MARKDOWN)
def test_no_part_is_longer_than_its_room(text: str) -> None:
    for room in (500, ROOM):
        assert all(units(part) <= room for part in to_discord(parse(text), room))
