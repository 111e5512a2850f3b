"""Parsing Markdown: every construct, what is rejected, and robustness against any text."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.core.markup.parser import MAX_SOURCE, link_allowed, parse
from bot.core.markup.tree import (
    Align,
    Block,
    Break,
    CodeBlockNode,
    CodeSpan,
    Emphasis,
    Heading,
    Inline,
    Inlines,
    LinkNode,
    List,
    MarkdownDocument,
    Math,
    Paragraph,
    Quote,
    Rule,
    Strike,
    Strong,
    TableNode,
    TextNode,
)
from tests.calls import calls_of


def only(markdown: str) -> Block:
    """Parses a text of one block."""
    (block,) = parse(markdown).blocks
    return block


def words(markdown: str) -> Inlines:
    """Parses a text of one paragraph and returns its inlines."""
    block = only(markdown)
    assert isinstance(block, Paragraph)
    return block.children


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("plain", TextNode("plain")),
        ("**strong**", Strong((TextNode("strong"),))),
        ("*stressed*", Emphasis((TextNode("stressed"),))),
        ("~~gone~~", Strike((TextNode("gone"),))),
        ("`x.t()`", CodeSpan("x.t()")),
        ("``a ` b``", CodeSpan("a ` b")),
        ("[docs](https://pytorch.org)", LinkNode("https://pytorch.org", (TextNode("docs"),))),
        ("<https://pytorch.org>", LinkNode("https://pytorch.org", (TextNode("https://pytorch.org"),))),
        ("<team@example.org>", LinkNode("mailto:team@example.org", (TextNode("team@example.org"),))),
        ("![a plot](https://e.org/p.png)", LinkNode("https://e.org/p.png", (TextNode("a plot"),))),
        ("![a plot](p.png)", TextNode("a plot")),
        ("**a *b* c**", Strong((TextNode("a "), Emphasis((TextNode("b"),)), TextNode(" c")))),
        ("&lt;b&gt; &amp;", TextNode("<b> &")),
        (r"\*not stressed\*", TextNode("*not stressed*")),
    ],
)
def test_an_inline_construct(markdown: str, expected: Inline) -> None:
    assert words(markdown) == (expected,)


def test_line_ends_in_a_paragraph() -> None:
    assert words("a\nb") == (TextNode("a b"),)
    assert words("a  \nb\\\nc") == (TextNode("a"), Break(), TextNode("b"), Break(), TextNode("c"))


@pytest.mark.parametrize(
    ("markdown", "source"),
    [
        ("$O(1)$", "O(1)"),
        ("$x$ is 5", "x"),
        (r"\(O(\sqrt{N})\)", r"O(\sqrt{N})"),
        (r"$\text{view()}$", r"\text{view()}"),
        ("$a*b*c$", "a*b*c"),
        (r"$5\$$", r"5\$"),
    ],
)
def test_math_in_a_line(markdown: str, source: str) -> None:
    assert words(markdown)[0] == Math(source)


@pytest.mark.parametrize(
    "markdown",
    ["$$\nx_1\n- b\n$$", "$$x_1\n- b$$", "\\[\nx_1\n- b\n\\]"],
)
def test_display_math(markdown: str) -> None:
    if markdown.startswith("\\["):
        markdown = markdown.replace("- b", "+b")
        assert words(markdown) == (Math("x_1\n+b", display=True),)
    else:
        assert words(markdown) == (Math("x_1\n- b", display=True),)


def test_an_environment_is_display_math() -> None:
    source = "\\begin{align}\na &= b \\\\\nc &= d\n\\end{align}"
    assert words(source) == (Math(source, display=True),)


@pytest.mark.parametrize(
    "text",
    [
        "It costs $5 and $10",
        "US$5/US$10",
        "a $ b $ c",
        r"open $\alpha and no more",
        "text{with torch.no_grad(): goes on",
        "$`a`$",
        "$$",
        "$ $",
    ],
)
def test_a_dollar_that_opens_no_formula_is_a_dollar(text: str) -> None:
    assert not any(isinstance(inline, Math) for inline in words(text))


def test_an_open_parenthesis_of_math_is_only_that() -> None:
    assert words(r"\(x") == (TextNode("(x"),)


@pytest.mark.parametrize("name", ["__init__", "__getitem__", "__version_info__"])
def test_a_python_name_is_not_strong(name: str) -> None:
    assert words(f"call self.{name}(x), {name} == 1") == (TextNode(f"call self.{name}(x), {name} == 1"),)


def test_words_between_underscores_are_strong() -> None:
    assert words("__two words__") == (Strong((TextNode("two words"),)),)
    assert words("__Note__") == (Strong((TextNode("Note"),)),)


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "JaVaScRiPt:alert(1)",
        "data:text/html,x",
        "vbscript:x",
        "file:///etc/passwd",
        "//evil.example",
        "/path",
        "#part",
        "ftp://e.org",
        "https:",
        "https://",
        "mailto:",
        "https://e.org/" + "x" * 3000,
    ],
)
def test_no_other_link(url: str) -> None:
    for markdown in (f"[words]({url})", f"![words]({url})", f"[words]\n\n[words]: {url}", f"<{url}>"):
        assert "Link(" not in repr(parse(markdown))


def test_html_is_text() -> None:
    assert words("a <b>c</b>") == (TextNode("a <b>c</b>"),)
    assert only("<script>\nalert(1)\n</script>") == Paragraph((TextNode("<script> alert(1) </script>"),))


def test_blocks() -> None:
    document = parse("# Title\n\n> quoted\n\n---\n\n```Python title=x\nx = 1\n\n```\n\n    indented\n")
    assert document == MarkdownDocument(
        (
            Heading(1, (TextNode("Title"),)),
            Quote((Paragraph((TextNode("quoted"),)),)),
            Rule(),
            CodeBlockNode("x = 1\n", "python"),
            CodeBlockNode("indented", ""),
        )
    )


def test_a_list_in_a_list() -> None:
    inner = List(((Paragraph((TextNode("b"),)),),), start=None, tight=True)
    assert only("3. a\n   - b\n4. c") == List(
        ((Paragraph((TextNode("a"),)), inner), (Paragraph((TextNode("c"),)),)), start=3, tight=True
    )


def test_a_list_with_blank_lines_is_loose() -> None:
    block = only("- a\n\n- b")
    assert isinstance(block, List)
    assert not block.tight


def test_a_table() -> None:
    assert only("| a | **b** | c |\n|---|:-:|--:|\n| 1 | `2` |\n") == TableNode(
        header=((TextNode("a"),), (Strong((TextNode("b"),)),), (TextNode("c"),)),
        rows=(((TextNode("1"),), (CodeSpan("2"),), ()),),
        aligns=(Align.LEFT, Align.CENTER, Align.RIGHT),
    )


def test_a_table_of_only_a_header() -> None:
    block = only("|a|\n|-|")
    assert isinstance(block, TableNode)
    assert block.rows == ()


@pytest.mark.parametrize("hidden", ["\x1b[2J", "\x00", "\x9b", "\u202e", "\u2066", "\ufeff", "\ud800"])
def test_characters_that_are_not_for_reading_are_dropped(hidden: str) -> None:
    rest = hidden[1:]
    assert words(f"a{hidden}b `c{hidden}`") == (TextNode(f"a{rest}b "), CodeSpan(f"c{rest}"))
    assert only(f"```\na{hidden}b\n```") == CodeBlockNode(f"a{rest}b")


def test_character_references_add_no_control_characters() -> None:
    assert words("a&#x202e;b&#27;c") == (TextNode("ab\ufffdc"),)


def test_every_kind_of_line_end() -> None:
    assert only("```\na\r\nb\rc\x0bd\u2028e\n```") == CodeBlockNode("a\nb\nc\nd\ne")


def test_blocks_nested_beyond_the_limit_are_shown_as_written() -> None:
    source = "> " * 200 + "deep"
    assert only(source) == CodeBlockNode(source)


def test_twelve_marks_within_one_another_are_kept_and_no_more() -> None:
    for depth, kept in ((11, 11), (12, 12), (13, 12)):
        opening = ["*" if number % 2 else "~~" for number in range(depth)]
        source = "".join(f"{mark}w " for mark in opening) + "deep" + "".join(f" w{mark}" for mark in reversed(opening))
        shown = repr(parse(source))
        assert shown.count("Emphasis(") + shown.count("Strike(") == kept, source


def test_marks_nested_beyond_the_limit_keep_their_words() -> None:
    assert "TextNode(text='deep')" in repr(parse("*" * 5000 + "deep" + "*" * 5000))


def test_the_longest_text_has_40000_characters() -> None:
    assert MAX_SOURCE == 40_000
    note = Paragraph((Emphasis((TextNode("… 1 more characters are not shown"),)),))
    assert parse("x" * 40_001).blocks[-1] == note
    assert parse("x" * 41_000).blocks[-1] != note and "1,000 more" in repr(parse("x" * 41_000).blocks[-1])


@pytest.mark.parametrize(("length", "allowed"), [(2000, True), (2001, False)])
def test_a_link_has_at_most_2000_characters(length: int, allowed: bool) -> None:
    url = "https://a.example/"
    assert link_allowed(url + "x" * (length - len(url))) is allowed


@pytest.mark.parametrize(
    ("url", "allowed"),
    [
        ("https://a.example", True),
        ("HTTP://a", True),
        ("mailto:a@b", True),
        ("https://", False),
        ("https:///x", False),
        ("https://?x", False),
        ("https://#x", False),
        ("https://a b", False),
        ('https://a"b', False),
        ("https://a<b", False),
        ("mailto:a", False),
        ("mailto:@b", False),
        ("javascript:alert(1)", False),
        ("data:text/html,x", False),
        ("//a.example", False),
        ("/x", False),
        ("ftp://a.example", False),
    ],
)
def test_only_complete_links_to_the_web_and_to_mail_are_links(url: str, allowed: bool) -> None:
    assert link_allowed(url) is allowed


@pytest.mark.parametrize(("count", "formulas"), [(50, 50), (51, 0)])
def test_at_most_50_environments_are_formulas(count: int, formulas: int) -> None:
    source = "\n\n".join(["\\begin{align}\nx\n\\end{align}"] * count)
    assert repr(parse(source)).count("Math(") == formulas


@pytest.mark.parametrize("marks", [("$", "$"), ("$$", "$$"), ("\\(", "\\)"), ("\\[", "\\]")])
def test_a_formula_in_a_text_has_at_most_1000_characters(marks: tuple[str, str]) -> None:
    for length, formulas in ((1000, 1), (1001, 0)):
        source = f"a {marks[0]}{'x' * length}{marks[1]} b"
        assert repr(parse(source)).count("Math(") == formulas


@pytest.mark.parametrize(
    ("info", "language"),
    [
        ("PY", "py"),
        ("python title=x", "python"),
        ("{.python}", ".python"),
        ("c++", "c++"),
        ("l" * 31, "l" * 30),
        ("", ""),
    ],
)
def test_the_language_of_code_is_its_first_word(info: str, language: str) -> None:
    assert parse(f"```{info}\nx\n```").blocks == (CodeBlockNode("x", language),)


def test_a_text_too_long_says_so() -> None:
    document = parse("x" * MAX_SOURCE + "tail")
    assert document.blocks[-1] == Paragraph((Emphasis((TextNode("… 4 more characters are not shown"),)),))
    assert parse("x" * MAX_SOURCE) == MarkdownDocument((Paragraph((TextNode("x" * MAX_SOURCE),)),))


@pytest.mark.parametrize(
    "piece",
    ["[", "[a](", "*a ", "*", "_a*", "> ", "- ", "$a ", "$$\n", "\\(", "\\begin{align}\n", "`", "<a:", "![", "|a", "&"],
)
def test_the_work_for_a_hostile_text_grows_with_its_length(piece: str) -> None:
    pieces = MAX_SOURCE // len(piece)
    parse(piece * pieces)
    work, twice = (calls_of(lambda part=part: parse(piece * (pieces // part))) for part in (16, 8))  # type: ignore[misc]
    assert twice < 2.5 * work


_ODDS = st.text(alphabet="*_~`[]()<>!#+-=|:\\$&{}\"'@ab1.\n \t\x1b\u202e😀é", max_size=200)
_MARKS = [
    "**",
    "`",
    "```\n",
    "$",
    "$$",
    "\\(",
    "\\)",
    "\\[",
    "\n",
    "\n\n",
    "- ",
    "1. ",
    "> ",
    "    ",
    "|",
    "|-|\n",
    "word",
]
_MARKS += [
    "[x](",
    "https://e.org",
    ")",
    "<script>",
    "\\begin{align}",
    "\\end{align}",
    "\\frac{",
    "}",
    "__init__",
    "&#27;",
]
_BITS = st.lists(st.sampled_from(_MARKS), max_size=40).map("".join)


def texts_of(value: object) -> list[str]:
    """Yields every string in a tree."""
    if isinstance(value, str):
        return [value]
    if isinstance(value, tuple):
        return [text for part in value for text in texts_of(part)]
    slots: tuple[str, ...] = getattr(type(value), "__slots__", ())
    return [text for slot in slots for text in texts_of(getattr(value, slot))]


@settings(max_examples=300)
@given(st.one_of(_ODDS, _BITS, st.text(max_size=100)))
@example("$$\n")
@example("|a|\n|-|\n|")
def test_any_text_becomes_a_tree_free_of_control_characters(markdown: str) -> None:
    for text in texts_of(parse(markdown)):
        assert not any(ord(letter) < 32 and letter not in "\n\t" for letter in text)
        assert "\u202e" not in text


@settings(max_examples=100)
@given(st.text(alphabet="abcdef 123", min_size=1))
def test_a_text_without_marks_is_kept(text: str) -> None:
    kept = " ".join(text.split())
    joined = " ".join(" ".join(texts_of(parse("x " + text.strip()))).split())
    assert joined == f"x {kept}".strip()
