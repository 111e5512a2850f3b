"""HTML for the web chat: what each construct becomes, and that nothing a member writes becomes a tag of their own."""

from html.parser import HTMLParser

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bot.core.markup import parse, to_html, to_html_inline

TAGS = {
    *("p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "div", "hr", "br"),
    *("table", "thead", "tbody", "tr", "th", "td", "a", "strong", "em", "del", "span", "time"),
}
MATH = {
    *("math", "mrow", "mi", "mn", "mo", "mtext", "mspace", "msqrt", "mtable", "mtr", "mtd", "mstyle", "mpadded"),
    *("mphantom", "menclose", "mfrac", "msup", "msub", "mover", "munder", "mroot", "msubsup", "munderover"),
    *("mmultiscripts", "mprescripts", "none"),
}
ATTRIBUTES = {"class", "tabindex", "role", "aria-label", "scope", "start", "href", "rel", "datetime", "data-local"}


class Checker(HTMLParser):
    """Reads a fragment as a browser would, and notes every tag that is not ours or not closed in its order."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.faults: list[str] = []
        self.words: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in TAGS | MATH:
            self.faults.append(f"tag {tag}")
        for name, value in attrs:
            known = name in ATTRIBUTES or tag in MATH
            if not known or name == "style" or name.startswith("on") or (name == "href" and tag != "a"):
                self.faults.append(f"{tag} {name}={value}")
            if name == "href" and not str(value).lower().startswith(("https://", "http://", "mailto:")):
                self.faults.append(f"link to {value}")
        if tag not in ("br", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"end of {tag}")

    def handle_data(self, data: str) -> None:
        self.words.append(data)

    def handle_comment(self, data: str) -> None:
        self.faults.append(f"comment {data}")

    def handle_decl(self, decl: str) -> None:
        self.faults.append(f"declaration {decl}")

    def handle_pi(self, data: str) -> None:
        self.faults.append(f"instruction {data}")


def checked(html: str) -> Checker:
    """Parses a fragment and checks that it is well-formed."""
    checker = Checker()
    checker.feed(html)
    checker.close()
    assert checker.faults == []
    assert checker.open == []
    return checker


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("a **b** *c* ~~d~~ `e`", "<p>a <strong>b</strong> <em>c</em> <del>d</del> <code>e</code></p>"),
        ("a\\\nb", "<p>a<br>b</p>"),
        ("<b>&", "<p>&lt;b&gt;&amp;</p>"),
        (
            "[17:00 (Europe/Berlin)](time:1772726400)",
            '<p><time datetime="2026-03-05T16:00:00Z" data-local="time">17:00 (Europe/Berlin)</time></p>',
        ),
        (
            "[17:00:00 (UTC)](time:1772726400:precise)",
            '<p><time datetime="2026-03-05T16:00:00Z" data-local="precise">17:00:00 (UTC)</time></p>',
        ),
        ("a[ ](time:5)b [**c**](time:5)d", "<p>a b  d</p>"),
        ("[x](time:1772726400:F) [y](time:)", "<p>x y</p>"),
        ("`<b>`", "<p><code>&lt;b&gt;</code></p>"),
        ("# a", "<h3>a</h3>"),
        ("###### a", "<h6>a</h6>"),
        ("---", "<hr>"),
        ("> a", "<blockquote><p>a</p></blockquote>"),
        ("- a\n- b", "<ul>\n<li>a</li>\n<li>b</li>\n</ul>"),
        ("1. a", "<ol>\n<li>a</li>\n</ol>"),
        ("7. a", '<ol start="7">\n<li>a</li>\n</ol>'),
        ("- a\n\n- b", "<ul>\n<li><p>a</p></li>\n<li><p>b</p></li>\n</ul>"),
        ("- a\n  - b", "<ul>\n<li>a\n<ul>\n<li>b</li>\n</ul></li>\n</ul>"),
        (
            "[a](https://e.org/?a=1&b=2)",
            '<p><a href="https://e.org/?a=1&amp;b=2" rel="noopener nofollow">a</a></p>',
        ),
        (
            "```\n<a>\n```",
            '<pre class="code" tabindex="0" role="group" aria-label="Code"><code>&lt;a&gt;\n</code></pre>',
        ),
        (r"$\text{with$", r'<p><code class="math-source">\text{with</code></p>'),
    ],
)
def test_a_construct(markdown: str, expected: str) -> None:
    html = to_html(parse(markdown))
    checked(html)
    assert html == expected


def test_a_heading_fits_the_page_it_is_put_into() -> None:
    assert to_html(parse("## a"), top=1) == "<h2>a</h2>"
    assert to_html(parse("##### a"), top=4) == "<h6>a</h6>"


def test_a_table_names_its_columns_and_can_be_scrolled() -> None:
    html = to_html(parse("|a|b|\n|-|-:|\n|1|2|"))
    assert html == (
        '<div class="table-scroll" tabindex="0" role="group" aria-label="Table"><table>'
        '<thead><tr><th scope="col" class="align-left">a</th><th scope="col" class="align-right">b</th></tr></thead>\n'
        '<tbody><tr><td class="align-left">1</td><td class="align-right">2</td></tr></tbody></table></div>'
    )


def test_code_is_highlighted_by_classes_and_kept_exactly() -> None:
    source = "\n\ndef f(x):\n    return '<b>' # &\n\n"
    html = to_html(parse(f"```python\n{source}```"))
    assert '<span class="k">def</span>' in html
    assert 'aria-label="Code, python"' in html
    assert "".join(checked(html).words) == source


def test_math_is_mathml() -> None:
    assert '<math display="inline" alttext="x²"><mrow><msup><mi>x</mi><mn>2</mn></msup></mrow></math>' in to_html(
        parse("see $x^2$")
    )
    assert '<math display="block" ' in to_html(parse("$$\nx\n$$"))


@pytest.mark.parametrize(
    ("markdown", "expected"),
    [
        ("`(3, 1)` and **$x$**", "<code>(3, 1)</code> and <strong><math"),
        ("[docs **here**](https://e.org)", "docs <strong>here</strong>"),
        ("*[docs](https://e.org)*", "<em>docs</em>"),
        ("a\\\nb\n\nc", "a b c"),
        ("```\nx < 1\n```", "<code>x &lt; 1</code>"),
        ("- a\n- > b", "a b"),
        ("|a|b|\n|-|-|\n|[c](https://e.org)|d|", "a b c d"),
        ("# a", "a"),
        ("---", ""),
        ("$$\nx\n$$", '<math display="inline"'),
    ],
)
def test_phrasing_for_a_label(markdown: str, expected: str) -> None:
    html = to_html_inline(parse(markdown))
    assert html.startswith(expected)
    assert not set(checked(html).open) & {"p", "a", "div"}
    assert "<a" not in html
    assert "<p>" not in html


ATTACKS = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "`<script>`",
    "```<script>\n<script>\n```",
    "```python\n'</code></pre><script>alert(1)</script>'\n```",
    "$<script>alert(1)</script>$",
    r"$\text{<script>alert(1)</script>}$",
    r"$\text{&lt;script&gt;alert(1)&lt;/script&gt;}$",
    r"$\href{javascript:alert(1)}{x}$",
    r"$\style{color:red}{x}$",
    r'$\class{x" onclick="alert(1)}{y}$',
    r'$\color{"><script>}x$',
    '[x](https://e.org/"onmouseover="alert(1))',
    "[x](https://e.org/'><script>)",
    "[<script>](https://e.org)",
    "![<script>](https://e.org)",
    "|<script>|\n|-|\n|</table><script>|",
    "# <script>",
    "<!-- comment -->",
    "<![CDATA[x]]>",
    "<?php x ?>",
    "&lt;script&gt;",
    "&#60;script&#62;",
]


@pytest.mark.parametrize("attack", ATTACKS)
def test_an_attack_is_only_text(attack: str) -> None:
    for html in (to_html(parse(attack)), to_html_inline(parse(attack))):
        checked(html)
        assert "<script" not in html


_BITS = [
    "<script>",
    "</code>",
    "<b ",
    "onclick=",
    '"',
    "'",
    ">",
    "&",
    "&lt;",
    "&#60;",
    "**",
    "`",
    "```\n",
    "```python\n",
]
_BITS += [
    "$",
    "$$",
    "\\(",
    "\\)",
    "\\text{",
    "\\frac",
    "\\href{",
    "{",
    "}",
    "^",
    "_",
    "\n",
    "\n\n",
    "- ",
    "1. ",
    "> ",
    "|",
]
_BITS += [
    "\n|-|\n",
    "[x](",
    "https://e.org/",
    ")",
    "word",
    "\\begin{align}",
    "\\end{align}",
    "&",
    "\\\\",
    "javascript:",
]


@settings(max_examples=400)
@given(st.one_of(st.lists(st.sampled_from(_BITS), max_size=30).map("".join), st.text(max_size=80)))
@example("$\\text{<script>}$")
def test_any_text_becomes_sound_html(markdown: str) -> None:
    document = parse(markdown)
    for html in (to_html(document), to_html_inline(document)):
        assert "<script" not in html
        checked(html)
