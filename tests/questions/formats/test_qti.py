"""Texts of QTI items: HTML keeps its meaning, everything else is its text."""

from __future__ import annotations

import pytest

from questions import read_bank
from tests.questions.formats.readings import read_as


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


def responses(asked: str, *groups: tuple[str, str, dict[str, str]]) -> str:
    """Returns an item of QTI 1.2 with several responses: of each its text, the right label, and all labels."""
    shown, conditions = "", ""
    for number, (left, right, labels) in enumerate(groups):
        material = f"<material><mattext>{left}</mattext></material>"
        offered = "".join(
            f'<response_label ident="{name}"><material><mattext>{text}</mattext></material></response_label>'
            for name, text in labels.items()
        )
        shown += f'<response_lid ident="r{number}">{material}<render_choice>{offered}</render_choice></response_lid>\n'
        wanted = f'<conditionvar><varequal respident="r{number}">{right}</varequal></conditionvar>'
        conditions += f'<respcondition>{wanted}<setvar varname="SCORE" action="Add">50</setvar></respcondition>\n'
    head = f"<presentation><material><mattext>{asked}</mattext></material>{shown}</presentation>"
    item = f'<item ident="a">{head}<resprocessing>{conditions}</resprocessing></item>'
    return f"<questestinterop>{item}</questestinterop>"


LABELS = {"1": "shares", "2": "copies", "3": "adds"}


def test_several_responses_with_texts_of_their_own_are_pairs() -> None:
    text = responses("What does it do?", ("a view", "1", LABELS), ("a clone", "2", LABELS))
    assert read_as("a.xml", text) == [
        "What does it do?\n\na view | - adds | - copies | + shares",
        "What does it do?\n\na clone | - adds | + copies | - shares",
    ]


def test_responses_to_gaps_with_names_fill_them() -> None:
    text = responses("A view [one], a clone [two].", ("one", "1", LABELS), ("two", "2", LABELS))
    assert read_as("a.xml", text) == ["A view [one], a clone [two]. | = - one: shares\n- two: copies"]


def test_a_response_without_a_key_leaves_the_item_out() -> None:
    text = responses("What does it do?", ("a view", "7", LABELS), ("a clone", "2", LABELS))
    reading = read_bank(text, name="a.xml")
    assert reading.bank.questions == () and [one.code for one in reading.findings] == ["Q603"]


def test_a_document_type_without_declarations_is_no_danger() -> None:
    item = responses("Do?", ("a view", "1", LABELS), ("a clone", "2", LABELS))
    text = f"<?xml version='1.0'?>\n<!DOCTYPE questestinterop>\n{item}"
    assert len(read_bank(text, name="a.xml").bank.questions) == 2
