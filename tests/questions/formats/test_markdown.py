"""Conversion of plain text and HTML to Markdown: the text stays, and accidental marks are escaped."""

from __future__ import annotations

import html

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from questions.blocks import html_of, plain, split_blocks
from questions.formats.markdown import code_span, fence, from_html, from_loose, from_plain, markdown_converter
from questions.source import Source
from tests.calls import calls_of

TEXT = st.text(st.sampled_from("ab1 \n*_[]()<>!#&;~`\\|-+.=:'\"/{}$é"), max_size=40)
WORDS = st.text(st.sampled_from("ab1 *_[]()<>!#&;~\\|-+.=:'\"/{}$é"), max_size=30)


def shown(markdown: str) -> str:
    """Returns the visible text of Markdown without spaces."""
    return "".join(plain(markdown.replace("\\\n", "\n")).split())


@settings(max_examples=500)
@given(WORDS)
def test_plain_text_is_shown_unchanged(text: str) -> None:
    markdown = from_plain(text)
    assert shown(markdown) == "".join(text.split())
    blocks = split_blocks(Source("", tuple(markdown.split("\n"))))
    assert {block.kind for block in blocks} <= {"paragraph"}


@settings(max_examples=300)
@given(TEXT)
def test_any_html_is_read(text: str) -> None:
    from_html(text)
    from_loose(text)


@settings(max_examples=300)
@given(WORDS)
def test_html_of_plain_words_shows_them(text: str) -> None:
    assert shown(from_html(html.escape(text))) == "".join(text.split())


@settings(max_examples=200)
@given(st.text(st.sampled_from("ab`\n #"), max_size=30))
def test_a_fence_holds_any_program(text: str) -> None:
    (block,) = split_blocks(Source("", tuple(fence(text, "py").split("\n"))))
    assert (block.kind, block.text, block.info, block.closed) == ("fence", text, "py", True)


@settings(max_examples=200)
@given(st.text(st.sampled_from("ab`*"), min_size=1, max_size=12))
def test_a_code_span_holds_any_word(text: str) -> None:
    assert f"<code>{html.escape(text)}</code>" in html_of(code_span(text))


@pytest.mark.parametrize(
    ("text", "markdown"),
    [
        ("<p>One</p><p>two</p>", "One\n\ntwo"),
        ("a<br>b<br/><br>c", "a\\\nb\n\nc"),
        ("<br>a<br>", "a"),
        ("a <b> b </b>c <i>d</i> <b><i>e</i></b>", "a  **b** c *d* *e*"),
        ("<b>closed by the end", "**closed by the end**"),  # as browsers show it
        ("<b></b><i> </i>x", " x".strip()),
        ("<code>a*b `c`</code> <tt></tt>", "`` a*b `c` ``"),
        ("<ul><li>a</li><li>b</li></ul>c", "- a\n- b\n\nc"),
        ("<ol><li><p>a</p></li><li>b</li></ol>", "1. a\n2. b"),  # a tight list, whatever is in its items
        ("<ol><li>a<ul><li>b<ol><li>c</li></ol></li></ul></li><li>d</li></ol>", "1. a\n   - b\n     1. c\n2. d"),
        ("<ul><li>a<li>b<p>c<p>d</ul>e", "- a\n- b\n\n  c\n\n  d\n\ne"),
        ("<ul><li><pre>if a:\n  b</pre></li></ul>", "- ```\n  if a:\n    b\n  ```"),
        ("<ol start=²><li>a</ol>", "1. a"),
        ('<a href="https://a.org/x y">z</a> <a>w</a>', "[z](https://a.org/x%20y) w"),
        ('<img src="a.png" alt="b">', "![b](a.png)"),
        ('<img src="a.png"></img>b<hr></hr>c', "![](a.png)b\n\nc"),
        ("a<br></br>b", "a\n\nb"),  # as browsers show it
        ('<pre><code class="language-python">a\n  b &lt; c\n</code></pre>', "```python\na\n  b < c\n```"),
        ("<pre>a<br>b", "```\na\nb\n```"),
        ("<pre><div>if a:</div><div>  <b>b</b>*c*</div></pre>", "```\nif a:\n  b*c*\n```"),
        ("<b><pre>a</pre></b>", "```\na\n```"),
        ("<pre></pre>a", "a"),
        ("<script>alert(1)</script>a<style>b</style><!-- c -->d", "ad"),
        ("a < b and c > d &amp; __e__", "a < b and c > d & \\_\\_e\\_\\_"),
        ("<h2>Title</h2>text", "**Title**\n\ntext"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><td>c<td>d</table>", "a b\n\nc d"),
        ("\0\1\2x", "x"),
        ("<soup>a</soup><hN>b</hN><document>c", "abc"),
        ("if a<b then", "if a\\<b then"),
        ("https://a.org", "https://a.org"),
        ("<p># a<p>&gt; b<p>===", "\\# a\n\n\\> b\n\n\\==="),
        ("<blockquote>a<blockquote>b", "a\n\nb"),
    ],
)
def test_html_becomes_simple_markdown(text: str, markdown: str) -> None:
    assert from_html(text) == markdown


def test_the_text_of_deep_tags_stays() -> None:
    assert from_html("<div>" * 5_000 + "a" + "</div>" * 5_000) == "a"
    assert from_html("<ul><li>" * 30 + "a").endswith("- a")


MANY = 4_000
LONG = [
    "<ol>" + "<li>a" * MANY,
    "<br>" * MANY + "</p>" * MANY,
    "<p>a" * MANY,
    "<table>" + "<tr><td>a" * MANY,
    "<code>a</b>" * MANY,
    "<ul><li>" * MANY,
    "<pre>a</pre>" * MANY,
    "<a href=b>c" * MANY,
]


@pytest.mark.parametrize("text", LONG)
def test_html_takes_linear_time(text: str) -> None:
    short, long = (calls_of(lambda part=part: from_html(text[: len(text) // part])) for part in (2, 1))  # type: ignore[misc]
    assert long < 2.3 * short


def test_indentation_and_lines_of_plain_text_stay() -> None:
    assert from_plain("for i in x:\n    f(i)\n\n# end") == "for i in x:\\\n\N{NO-BREAK SPACE}" + (
        "\N{NO-BREAK SPACE}" * 3 + "f(i)\n\n\\# end"
    )


def test_a_format_is_known_by_its_name() -> None:
    assert markdown_converter("markdown")(" *a* ") == "*a*"
    assert markdown_converter("plain")("*a*") == "\\*a\\*"
    assert markdown_converter("html")("<b>a</b>") == "**a**"
    assert markdown_converter("moodle")("<b>a</b>") == "**a**"
    assert markdown_converter("moodle")("*a* &lt;") == "\\*a\\* <"


@pytest.mark.parametrize(
    ("image", "formula"),
    [
        (
            r'<img class="equation_image" data-equation-content="\frac{a}{b}" src="/x.png" alt="LaTeX: no">',
            r"$\frac{a}{b}$",
        ),
        (r'<img data-equation-content="x^2_1 &lt; 3">', "$x^2_1 < 3$"),
        (r'<img class="equation_image" src="/x.png" alt="LaTeX: a * b">', "$a * b$"),
        (r'<img class="equation_image" src="/x.png" title="a_1">', "$a_1$"),
        (r'<img data-equation-content="5\$">', r"$5\\$$"),
        ('<img src="/x.png" title="a_1" alt="a plot">', "![a plot](/x.png)"),
    ],
)
def test_a_picture_of_a_formula_is_the_formula(image: str, formula: str) -> None:
    assert from_html(f"<p>What is {image}?</p>") == f"What is {formula}?"


@pytest.mark.parametrize("formula", [r"\(x_1 * y_2\)", r"\[ \sum_i *x_i* \]", "$$a*b*c$$", r"\(a\ b\)"])
def test_formulas_in_html_stay_as_they_are(formula: str) -> None:
    assert from_html(f"<p>What is {formula} in <b>x*y</b>?</p>") == rf"What is {formula} in **x\*y**?"


def test_a_formula_without_an_end_is_text() -> None:
    assert from_html(r"<p>What is \(x*y?</p>") == r"What is \\(x\*y?"
