"""Text for the console: every construct as words, within the width, and with styles only where asked for."""

import re
from textwrap import dedent

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.core.markup import parse, to_ansi, to_plain, tree
from bot.core.markup.plain import Style, cells
from bot.core.markup.runs import StyledRun, runs_of, split_runs

_ESCAPES = re.compile(r"\x1b\[[0-9;]*m")


def plain(markdown: str, width: int = 80) -> str:
    """Renders indented Markdown as plain text."""
    return to_plain(parse(dedent(markdown)), width)


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("a **b** *c* `d`", "a b c d"),
        ("**bold**, *it*.", "bold, it."),
        ("~~no~~ yes", "[struck out: no] yes"),
        ("a\\\nb", "a\nb"),
        ("a   b\nc", "a b c"),
        ("see [the docs](https://e.org/a)", "see the docs (https://e.org/a)"),
        ("in [#da\\_ily](channel:discord:123)", "in #da_ily"),
        ("until [17:00 (UTC)](time:1772726400:dated).", "until 17:00 (UTC)."),
        ("<https://e.org>", "https://e.org"),
        ("[https://e.org/**a**](https://e.org/a)", "https://e.org/a"),
        ("<team@e.org>", "team@e.org"),
        ("Fast ($O(1)$), $x^2$", "Fast (O(1)), x²"),
        (r"$\text{view()}$ **$\text{nn.Dropout}$**", "view() nn.Dropout"),
        ("a $$x_1$$ b", "a\nx₁\nb"),
        (r"$\begin{align} a &= b \\ c &= d \end{align}$", "a = b; c = d"),
        ("$$\nx\n$$", "x"),
        ("# Top", "Top\n═══"),
        ("## Part", "Part\n────"),
        ("### Detail", "Detail"),
        ("> a\n> > b", "> a\n>\n> > b"),
        ("```python\nif x:\n\n\ty()\n```", "  │ if x:\n  │\n  │     y()"),
        ("- a\n- b\n  - c", "• a\n• b\n  ◦ c"),
        ("9. a\n10. b\n    - c", "9. a\n10. b\n    ◦ c"),
        ("- a\n\n- b", "• a\n\n• b"),
        ("-", "•"),
        ("a\n\nb", "a\n\nb"),
        ("<b>", "<b>"),
        ("", ""),
    ],
)
def test_a_construct(markdown: str, expected: str) -> None:
    assert to_plain(parse(markdown)) == expected


def test_a_rule_is_as_wide_as_the_page() -> None:
    assert plain("---", 30) == "─" * 30


def test_a_list_item_hangs_under_its_first_word() -> None:
    assert plain("- one two three four five six", 20) == "• one two three four\n  five six"


def test_a_word_wider_than_the_page_is_cut_between_letters() -> None:
    family = "👨‍👩‍👧"
    text = plain(family * 15, 20)
    assert text.split("\n") == [family * 10, family * 5]


def test_wide_letters_take_two_columns() -> None:
    assert plain("日本語" * 5, 20).split("\n") == ["日本語日本語日本語日", "本語日本語"]


def test_code_is_never_folded() -> None:
    line = "x = " + "1 + " * 40 + "1"
    assert plain(f"```\n{line}\n```", 40) == f"  │ {line}"


def test_a_table() -> None:
    assert plain("""\
        | Feature | Kind | Cost |
        |:--|:-:|--:|
        | **View** | `x.t()` | $O(1)$ |
        | 日本 | copy | 10 |
        """) == dedent("""\
        Feature │ Kind  │ Cost
        ────────┼───────┼─────
        View    │ x.t() │ O(1)
        日本    │ copy  │   10""")


def test_a_table_too_wide_folds_its_cells() -> None:
    assert plain("|a|b|\n|-|-|\n|some words that go on|more words here|\n|c|d|", 24) == dedent("""\
        a          │ b
        ───────────┼────────────
        some words │ more words
        that go on │ here
        ───────────┼────────────
        c          │ d""")


def test_a_table_with_no_room_for_columns_becomes_a_list_of_rows() -> None:
    names = "|" + "|".join("abcd") + "|"
    assert plain(f"{names}\n|-|-|-|-|\n|alpha beta|{'x|' * 3}\n|y|{'z|' * 3}", 20) == dedent("""\
        a: alpha beta
        b: x
        c: x
        d: x

        a: y
        b: z
        c: z
        d: z""")


def test_a_whole_document() -> None:
    assert plain(
        r"""
        ### 1. Views
        **Answer:**
        *   **View**: shares the `Storage`. Fast ($O(1)$).
            *   Examples: `.view()`, slicing `x[:]`.

        ```python
        y = x.view(-1)  # **not** bold
        ```
        """,
        60,
    ) == dedent("""\
        1. Views

        Answer:

        • View: shares the Storage. Fast (O(1)).
          ◦ Examples: .view(), slicing x[:].

          │ y = x.view(-1)  # **not** bold""")


def test_ansi_styles() -> None:
    assert to_ansi(parse("a **b c** *d* `e` **f `g`**")) == (
        "a \x1b[1mb c\x1b[0m \x1b[3md\x1b[0m \x1b[36me\x1b[0m \x1b[1mf \x1b[0m\x1b[1;36mg\x1b[0m"
    )


def test_a_member_cannot_drive_the_terminal() -> None:
    assert to_plain(parse("\x1b[2J\x1b]0;title\x07 `\x9b1m` &#27;[31m")) == "[2J]0;title 1m \ufffd[31m"


_BITS = [
    "word ",
    "longer-word-of-many-letters ",
    "日本語",
    "👩‍🔬",
    "é",
    "**",
    "`",
    "$x^2$",
    "~~",
    "\n",
    "\n\n",
    "- ",
    "1. ",
]
_BITS += ["> ", "|", "\n|-|-|\n", "# ", "[x](https://e.org)", "\\frac{a}{b}", "$$", "---\n", "\t", "<b>", "\x1b[1m"]
_TEXTS = st.one_of(st.lists(st.sampled_from(_BITS), max_size=30).map("".join), st.text(max_size=80))


@settings(max_examples=300)
@given(_TEXTS, st.integers(min_value=-5, max_value=100))
@example("|a|b|\n|-|-|\n||", 20)
@example("# \n- \n> ", 20)
def test_any_text_fits_the_width_and_ansi_only_adds_style(markdown: str, width: int) -> None:
    document = parse(markdown)
    text = to_plain(document, width)
    assert "\x1b" not in text
    styled = _ESCAPES.sub("", to_ansi(document, width))
    assert [line.rstrip() for line in styled.split("\n")] == text.split("\n")
    # Nesting narrows a column down to ten, and what is nested deeper than that stands out to the right.
    nested = 2 * sum(markdown.count(mark) for mark in (">", "-", ".", ")", "+", "*"))
    for line in text.split("\n"):
        assert "│" in line or cells(line) <= max(width, 20) + nested


def test_the_width_is_kept_where_nothing_is_nested() -> None:
    for width in range(20, 60):
        text = plain("Operations like **transpose** or `permute` change the *strides* of 日本語, see $x_i$." * 3, width)
        assert max(cells(line) for line in text.split("\n")) <= width


def test_struck_words_keep_the_style_around_them() -> None:
    shown = to_ansi(parse("**a ~~b~~**"))
    assert shown == "\x1b[1ma [struck out: \x1b[0m\x1b[1;9mb\x1b[0m\x1b[1m]\x1b[0m"


def test_a_line_end_after_the_last_word_is_no_run() -> None:
    assert [run.text for run in runs_of((tree.TextNode("a"), tree.Break(), tree.TextNode("b"), tree.Break()))] == [
        *("a", "\n", "b")
    ]


def test_a_short_run_is_moved_to_the_next_part_as_a_whole() -> None:
    runs = [StyledRun("x" * 15), StyledRun("of two", Style.BOLD)]
    parts = split_runs(runs, lambda run: len(run.text), 20)
    assert [[run.text for run in part] for part in parts] == [["x" * 15], ["of two"]]


@pytest.mark.parametrize(
    ("markdown", "width", "shown"),
    [
        ("|abcdefg|\n|:-:|\n|x|", 80, "abcdefg\n───────\n   x"),
        ("|ab|c|\n|-|-:|\n|x|123|", 80, "ab │   c\n───┼────\nx  │ 123"),
        ("> " + "word " * 8, 22, "> word word word word\n> word word word word"),
        ("> > " + "word " * 8, 24, "> > word word word word\n> > word word word word"),
        ("- a\n  - b\n    - c\n      - d", 80, "• a\n  ◦ b\n    ‣ c\n      • d"),
        ("9. a\n10. b\n    c", 80, "9. a\n10. b c"),
        ("$$\n\\begin{align}a\\\\b\\end{align}\n$$", 80, "a\nb"),
        ("x \\(\\begin{align}a\\\\b\\end{align}\\) y", 80, "x a; b y"),
        ("# One\n\n## Two three\n\n### Four", 80, "One\n═══\n\nTwo three\n─────────\n\nFour"),
        ("```\n\ta\n```", 80, "  │     a"),
        ("~~a~~", 80, "[struck out: a]"),
        ("[a](https://a.example) <https://b.example>", 80, "a (https://a.example) https://b.example"),
        ("---", 20, "─" * 20),
        ("---", 5, "─" * 20),  # never narrower
    ],
)
def test_how_each_part_looks_in_a_terminal(markdown: str, width: int, shown: str) -> None:
    assert to_plain(parse(markdown), width) == shown


def test_a_table_too_wide_for_columns_is_a_list_of_rows_with_bold_names() -> None:
    header = "|" + "|".join(f"name {number}" for number in range(6)) + "|"
    row = "|" + "|".join(f"value {number}" for number in range(6)) + "|"
    text = f"{header}\n{'|-' * 6}|\n{row}\n{row}"
    rows = "\n".join(f"name {number}: value {number}" for number in range(6))
    assert to_plain(parse(text), 30) == f"{rows}\n\n{rows}"
    assert to_ansi(parse(text), 30).startswith("\x1b[1mname 0\x1b[0m: value 0\n")


def test_lines_with_styles_are_lines() -> None:
    assert to_ansi(parse("**a** b\\\nc"), 80) == "\x1b[1ma\x1b[0m b\nc"
    assert to_ansi(parse("word " * 10), 60) == "word word word word word word word word word word"
