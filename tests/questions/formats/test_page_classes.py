"""Questions and answers of a page by the classes of their elements, and pages that are texts without elements."""

from __future__ import annotations

import pytest

from questions import read_bank
from tests.questions.formats.readings import read_as

FAQ = """<!DOCTYPE html>
<html><body><h1>Help</h1>
<div class="item"><{tag} class="{asks} big" onclick="open(this)">What is a view? <span>&#9660;</span></{tag}>
<div class="{answers}">It shares <b>memory</b>.</div></div>
<div class="item"><{tag} class="{asks} big">Does a clone share?<span>+</span></{tag}>
<div class="{answers}"><p>No.</p><p>It copies.</p></div></div>
<div class="item"><{tag} class="{asks} big">Can a leaf be changed?</{tag}>
<div class="{answers}">Not in place.</div></div>
</body></html>
"""


@pytest.mark.parametrize(
    ("tag", "asks", "answers"),
    [
        ("div", "faq-q", "faq-a"),
        ("button", "faq-question", "faq-answer"),
        ("h3", "accordion-header", "accordion-collapse"),
        ("p", "question", "answer"),
    ],
)
def test_classes_say_what_asks_and_what_answers(tag: str, asks: str, answers: str) -> None:
    text = FAQ.replace("{tag}", tag).replace("{asks}", asks).replace("{answers}", answers)
    reading = read_bank(text, name="a.html")
    assert [(one.prompt, one.answer) for one in reading.bank.questions] == [
        ("What is a view?", "It shares **memory**."),
        ("Does a clone share?", "No.\n\nIt copies."),
        ("Can a leaf be changed?", "Not in place."),
    ]
    assert reading.unaccounted() == ()


def test_an_element_with_a_list_is_not_one_question() -> None:
    asked = '<div class="question">Which copies?<ul><li>a view</li><li>a clone</li></ul></div>'
    text = f"<html><body>{asked * 3}<div class='answer'>The clone.</div></body></html>"
    assert not any("**Q:**" in line for line in read_bank(text, name="a.html").source.lines)


def test_a_page_without_elements_keeps_its_lines() -> None:
    text = """<h3>Tasks</h3>

1. What is a view &amp; a copy?
2. What is a stride?

3. What is a leaf?
4. What is a clone?
"""
    assert read_as("a.html", text) == [
        "What is a view & a copy?",
        "What is a stride?",
        "What is a leaf?",
        "What is a clone?",
    ]
