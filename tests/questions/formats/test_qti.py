"""Texts of QTI items: HTML keeps its meaning, everything else is its text."""

from __future__ import annotations

import pytest

from questions import read_bank


def prompt(html: str) -> str:
    item = f"<a><assessmentItem><itemBody>{html}<extendedTextInteraction/></itemBody></assessmentItem></a>"
    return read_bank(item, name="a.xml").bank.questions[0].prompt


@pytest.mark.parametrize(
    ("html", "markdown"),
    [
        ("<p>a</p><p>b</p>", "a\n\nb"),
        ("<div>a</div><div>b</div>", "a\n\nb"),
        ("<p>a <b>b</b> <strong>c</strong></p>", "a **b** **c**"),
        ("<p>a <i>b</i> <em>c</em></p>", "a *b* *c*"),
        ("<p>a <code>b</code></p>", "a `b`"),
        ("<pre>a\n  b</pre>", "```\na\n  b\n```"),
        ("<ul><li>a</li><li>b</li></ul>", "- a\n- b"),
        ("<ol><li>a</li><li>b</li></ol>", "1. a\n2. b"),
        ("a<blockquote>b</blockquote>", "a\n\nb"),
        ('a <img src="b.png"/>', "a ![](b.png)"),
        ("<table><tr><td>a</td><td>b</td></tr><tr><th>c</th><td>d</td></tr></table>", "a b\n\nc d"),
        *((f"<{name}>a</{name}>b", "**a**\n\nb") for name in ("h1", "h2", "h3", "h4")),
        ("a <span>b</span> <other>c</other>", "a b c"),
        ("a &lt;b&gt;", "a \\<b>"),
        *((f"a<{name}>b</{name}>", "a") for name in ("rubricBlock", "feedbackBlock", "feedbackInline", "stylesheet")),
        ("a<templateBlock>b</templateBlock>", "a"),
    ],
)
def test_html_in_an_item_keeps_its_meaning(html: str, markdown: str) -> None:
    assert prompt(html) == markdown
