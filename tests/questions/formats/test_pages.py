"""Notebooks, HTML pages and Word documents in their own layout: they are read as the Markdown made from them."""

from __future__ import annotations

import io
import json
import zipfile

import pytest

from questions import Question, Reading, read_bank
from questions.formats.pages.reader import read_page as as_markdown


def keyed(question: Question) -> str:
    """Returns a question with its options, the right ones in capitals, or with its answer."""
    options = [option.text.upper() if option.right else option.text for option in question.options]
    return ", ".join([question.prompt, *options, *([question.answer] if question.answer else [])])


def test_a_notebook_is_read_from_its_cells() -> None:
    cells = [
        {
            "cell_type": "markdown",
            "source": ["# Quiz\n", "\n", "## 1. Which copies?\n", "\n", "- [ ] view\n", "- [x] clone"],
        },
        {"cell_type": "markdown", "source": "## 2. What does this print?"},
        {"cell_type": "code", "source": ["print({1: 1}[1])"], "outputs": [{"text": "1"}], "execution_count": 1},
        {"cell_type": "markdown", "source": ["**Answer:** 1"]},
    ]
    text = json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": cells})
    reading = read_bank(text, name="quiz.ipynb")
    assert [keyed(question) for question in reading.bank.questions] == [
        "Which copies?, view, CLONE",
        "What does this print?\n\n```python\nprint({1: 1}[1])\n```, 1",
    ]


LETTERED = """<!DOCTYPE html>
<html><head><title>Quiz</title><style>p { color: red }</style></head><body>
<nav><ul><li>What is this?</li></ul></nav>
<h1>Views</h1>
<ol>
<li><p>Which copies?</p><ol type="A"><li>view</li><li>clone</li></ol>
<details><summary>Answer</summary><p>B</p></details></li>
<li><p>Which is in place?</p><ol type="A"><li>add</li><li>mul</li><li>add_</li></ol>
<details><summary>Answer</summary><p>C</p></details></li>
</ol>
<script>function ask() { return "What?"; }</script></body></html>"""
BUTTONS = """<html><body><form>
<p>1. Which copies?</p>
<label><input type="radio" name="q1" value="a" checked> view</label><br>
<label><input type="radio" name="q1" value="b"{first}> clone</label><br>
<p>2. Which share memory?</p>
<label><input type="checkbox" name="q2" value="a"{second}> view</label><br>
<label><input type="checkbox" name="q2" value="b"> clone</label><br>
<input type="submit" value="Send">
</form></body></html>"""


def read_page(html: str) -> list[str]:
    return [keyed(question) for question in read_bank(html, name="quiz.html").bank.questions]


def test_lists_with_letters_and_folds_of_a_page_are_options_and_answers() -> None:
    assert read_page(LETTERED) == ["Which copies?, view, CLONE", "Which is in place?, add, mul, ADD\\_"]


def test_buttons_of_a_page_are_options_and_their_attributes_are_the_key() -> None:
    marked = BUTTONS.format(first=' data-correct="true"', second=' data-correct="1"')
    assert read_page(marked) == ["Which copies?, view, CLONE", "Which share memory?, VIEW, clone"]


def test_a_button_that_is_checked_at_the_start_is_no_key() -> None:
    reading = read_bank(BUTTONS.format(first="", second=""), name="quiz.html")
    assert [len(question.options) for question in reading.bank.questions] == [2, 2]
    assert reading.answered == 0


# Word documents

_STYLES = """<w:styles xmlns:w="w"><w:style w:type="paragraph" w:styleId="berschrift1">
<w:name w:val="heading 1"/></w:style></w:styles>"""
_NUMBERING = """<w:numbering xmlns:w="w"><w:abstractNum w:abstractNumId="7">
<w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/></w:lvl>
<w:lvl w:ilvl="1"><w:start w:val="1"/><w:numFmt w:val="upperLetter"/></w:lvl></w:abstractNum>
<w:abstractNum w:abstractNumId="8"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/></w:lvl></w:abstractNum>
<w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="8"/></w:num>
</w:numbering>"""


def paragraph(text: str, *, style: str = "", number: tuple[int, int] | None = None) -> str:
    """Returns a paragraph; `*text*` is bold and `_text_` is underlined, each a run of its own."""
    runs = []
    for part in text.replace("*", "\0*\0").replace("_", "\0_\0").split("\0"):
        runs.append(part)
    made, mark = "", ""
    for part in runs:
        if part in ("*", "_"):
            mark = "" if mark else part
        elif part:
            look = {"*": "<w:rPr><w:b/></w:rPr>", "_": '<w:rPr><w:u w:val="single"/></w:rPr>', "": ""}[mark]
            made += f'<w:r>{look}<w:t xml:space="preserve">{part}</w:t></w:r>'
    properties = f'<w:pStyle w:val="{style}"/>' if style else ""
    if number:
        properties += f'<w:numPr><w:ilvl w:val="{number[1]}"/><w:numId w:val="{number[0]}"/></w:numPr>'
    return f"<w:p><w:pPr>{properties}</w:pPr>{made}</w:p>"


def word(*body: str, part: str = "word/document.xml") -> bytes:
    """Returns a document as Word writes it."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", "<Types/>")
        package.writestr(part, f'<w:document xmlns:w="w"><w:body>{"".join(body)}<w:sectPr/></w:body></w:document>')
        package.writestr("word/styles.xml", _STYLES)
        package.writestr("word/numbering.xml", _NUMBERING)
    return stream.getvalue()


def read_word(*body: str) -> Reading:
    return read_bank(word(*body), name="quiz.docx")


def test_a_word_document_is_read_with_headings_and_numbered_lists() -> None:
    reading = read_word(
        paragraph("Views", style="berschrift1"),
        paragraph("Read this first."),
        paragraph("Which copies?", number=(1, 0)),
        paragraph("view", number=(1, 1)),
        paragraph("clone", number=(1, 1)),
        paragraph("Answer: B", number=(1, 1)).replace('<w:numId w:val="1"/>', '<w:numId w:val="0"/>'),
        paragraph("Which shares memory?", number=(1, 0)),
        paragraph("view", number=(1, 1)),
        paragraph("clone", number=(1, 1)),
        paragraph("Answer: A"),
    )
    assert reading.bank.title == "Views"
    assert [keyed(question) for question in reading.bank.questions] == [
        "Which copies?, view, CLONE",
        "Which shares memory?, VIEW, clone",
    ]


def test_an_underlined_option_or_letter_of_a_word_document_is_the_key() -> None:
    reading = read_word(
        paragraph("Question 1: Which copies?"),
        paragraph("A. view"),
        paragraph("B. _clone_"),
        paragraph("C. expand"),
        paragraph("Question 2: Which shares memory?"),
        paragraph("_A._ view"),
        paragraph("B. clone"),
        paragraph("C. item"),
        paragraph("Question 3: What is a tag such as &lt;b&gt;?"),
        paragraph("A. one"),
        paragraph("B. two"),
        paragraph("C. three"),
    )
    one, two, three = reading.bank.questions
    assert keyed(one) == "Which copies?, view, CLONE, expand"
    assert keyed(two) == "Which shares memory?, VIEW, clone, item"
    assert (len(three.options), three.answered, three.prompt) == (3, False, "What is a tag such as \\<b>?")
    assert {finding.code for finding in reading.findings} == {"Q101", "Q107"}


def test_a_table_of_a_word_document_is_a_table() -> None:
    def row(*cells: str) -> str:
        return f"<w:tr>{''.join(f'<w:tc>{paragraph(cell)}</w:tc>' for cell in cells)}</w:tr>"

    table = f"<w:tbl>{row('Question', 'Answer')}{row('What is a view?', 'A tensor that shares memory.')}</w:tbl>"
    reading = read_word(paragraph("Views", style="berschrift1"), table)
    assert [keyed(question) for question in reading.bank.questions] == ["What is a view?, A tensor that shares memory."]


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (word("<w:p>"), "the package holds unreadable XML: mismatched tag"),
        (word(*["<w:p>"] * 60, *["</w:p>"] * 60), "the package holds unreadable XML: the XML is nested too deeply"),
        (word(paragraph("x" * (33 * 2**20))), "`word/document.xml` is larger than 32 MiB"),
        (word(paragraph("x"), part="word/other.xml"), "the package holds neither a workbook, nor a Word document, nor"),
    ],
    ids=["broken", "deep", "bomb", "no document"],
)
def test_a_word_document_that_cannot_be_read_is_refused(data: bytes, message: str) -> None:
    (finding,) = read_bank(data, name="quiz.docx").findings
    assert (finding.code, finding.severity) == ("Q601", "error")
    assert finding.message.startswith(message)


def test_emphasis_in_a_word_document_is_kept() -> None:
    reading = read_word(
        paragraph("Which *call* copies?", number=(1, 0)).replace("<w:b/>", "<w:i/>"),
        paragraph("view", number=(1, 1)),
        paragraph("clone", number=(1, 1)),
        paragraph("Answer: B"),
    )
    assert [question.prompt for question in reading.bank.questions] == ["Which *call* copies?"]


ORG = """#+TITLE: Interview
#+STARTUP: overview
# a note to myself

* Memory                                                  :ml:
** 1.What is a /view/?
   :PROPERTIES:
   :ID: 12
   :END:
It *shares* the ~storage~, see [[http://example.org/views][views]].
*** An example
#+BEGIN_SRC python
* = 1  # not a headline
x.t()
#+END_SRC
** 2，How is it copied?
SCHEDULED: <2024-01-01 Mon>
#+BEGIN_QUOTE
With =clone()=.
#+END_QUOTE
** TODO 3。Why is a copy slow?
| what | cost |
|------+------|
| bytes | all |
"""


def test_an_outline_in_org_is_read_with_its_own_lines() -> None:
    reading = read_bank(ORG, name="interview.org")
    assert [(one.place.line, one.number, one.prompt, one.answer) for one in reading.bank.questions] == [
        (
            6,
            "1",
            "What is a /view/?",
            "It **shares** the `storage`, see [views](http://example.org/views).\n#### An example\n"
            "```python\n* = 1  # not a headline\nx.t()\n```",
        ),
        (16, "2", "How is it copied?", "> With `clone()`."),
        (21, "3", "Why is a copy slow?", "| what | cost |\n|------|------|\n| bytes | all |"),
    ]
    assert reading.bank.title == "Interview"


RST = """==========
Interview
==========

What is a view?
~~~~~~~~~~~~~~~

It shares the storage; :func:`torch.clone` does not. See `views <http://example.org/views>`_.

How is it copied?
~~~~~~~~~~~~~~~~~

.. code-block:: python
   :linenos:

   y = x.clone()

That is all.

Why is a copy slow?
~~~~~~~~~~~~~~~~~~~

All bytes move.
"""


def test_titles_in_restructured_text_are_headings() -> None:
    reading = read_bank(RST, name="interview.rst")
    assert [(one.place.line, one.prompt, one.answer) for one in reading.bank.questions] == [
        (
            5,
            "What is a view?",
            "It shares the storage; `torch.clone` does not. See [views](http://example.org/views).",
        ),
        (10, "How is it copied?", "    y = x.clone()\n\nThat is all."),
        (20, "Why is a copy slow?", "All bytes move."),
    ]
    assert reading.bank.title == "Interview"


@pytest.mark.parametrize("name", ["notes.org", "notes.rst"])
@pytest.mark.parametrize(
    "text", [ORG, RST, "", "* a\n:X:\nno end", "#+BEGIN_SRC\nopen", ".. code::", "===\n===\n\n===", "a\n---"]
)
def test_an_outline_keeps_its_number_of_lines(name: str, text: str) -> None:
    made = as_markdown(text, name)
    assert made is not None
    assert made.count("\n") == text.count("\n")


def test_study_text_in_an_outline_asks_nothing() -> None:
    text = "Tensors\n~~~~~~~\n\nA tensor has a shape.\n\nViews\n~~~~~\n\nIt shares.\n\nStrides\n~~~~~~~\n\nSteps.\n"
    for made, name in (
        (text, "notes.rst"),
        ("* Tensors\nA shape.\n* Views\nShared memory.\n* Strides\nSteps.", "a.org"),
    ):
        assert read_bank(made, name=name).bank.questions == ()


CLASSED = """<html><body><table>
<tr><td><div><p>Q 1 - Which copies?</p>
<p><a class="false" href="#"><span>A</span> - view</a></p>
<p><a class="true" href="#"><span>B</span> - clone</a></p></div></td></tr>
<tr><td><div><p>Q 2 - What shares memory?</p>
<p><a class="true" href="#"><span>A</span> - view</a></p>
<p><a class="false" href="#"><span>B</span> - clone</a></p></div><button>Send</button></td></tr>
</table></body></html>"""
LISTED = """<html><body>
<h3>1. Which copies?</h3><ul><li>view</li><li class="option correct">clone</li></ul>
<h3>2. What shares memory?</h3><ul><li class="correct">view</li><li>clone</li></ul>
</body></html>"""
PRESSED = """<html><body>
<p>1. Which copies?</p><div><button data-correct="false">view</button><button data-correct="true">clone</button></div>
<p>2. What shares memory?</p><div><button data-correct="true">view</button><button data-correct="false">clone</button>
</div><button>Send</button></body></html>"""


@pytest.mark.parametrize("page", [CLASSED, LISTED, PRESSED], ids=["links", "items", "buttons"])
def test_classes_and_attributes_of_a_page_mark_the_right_options(page: str) -> None:
    reading = read_bank(page, name="quiz.html")
    assert [keyed(question) for question in reading.bank.questions] == [
        "Which copies?, view, CLONE",
        "What shares memory?, VIEW, clone",
    ]


def test_a_class_on_all_items_marks_nothing() -> None:
    page = LISTED.replace("<li>", '<li class="correct">')
    reading = read_bank(page, name="quiz.html")
    assert not any(option.right for question in reading.bank.questions for option in question.options)
    assert "[x]" not in (as_markdown(page, "quiz.html") or "")


def test_a_place_in_an_attribute_of_a_question_marks_nothing() -> None:
    page = """<html><body>
<div class="q" data-answer="1"><p>1. Which copies?</p><p>A) view</p><p>B) clone</p></div>
<div class="q" data-answer="0"><p>2. What shares memory?</p><p>A) view</p><p>B) clone</p></div>
<ol><li data-correct="1">What is a leaf?<ul><li>a tensor</li></ul></li>
<li data-correct="0">What is a hook?<ul><li>a function</li></ul></li></ol></body></html>"""
    assert "[x]" not in (as_markdown(page, "quiz.html") or "")


def test_lines_with_bold_marks_that_a_page_shows_as_they_are_ask_like_the_others() -> None:
    asked = [
        "<strong>1. What is a view?</strong>",
        "**2. What is a leaf? **",
        "**3. What is a_hook?**",
        "<b>4. Is 2 ** 3 ** 2 a sum?</b>",
        "**5. What is a step? ** A stride.",
    ]
    page = "".join(f"<p>{text}</p><p>It is {n}, **maybe**, x ** 2 **.</p>" for n, text in enumerate(asked, 1))
    reading = read_bank(f"<html><body>{page}</body></html>", name="quiz.html")
    assert [one.prompt for one in reading.bank.questions] == [
        "What is a view?",
        "What is a leaf?",
        "What is a_hook?",
        "Is 2 \\*\\* 3 \\*\\* 2 a sum?",
        "What is a step?",
    ]
    assert reading.bank.questions[1].answer == "It is 2, \\*\\*maybe\\*\\*, x \\*\\* 2 \\*\\*."
    assert (reading.bank.questions[4].answer or "").startswith("A stride.\n\nIt is 5")
    # Powers are no marks, and a mark alone is none.
    shown = as_markdown(
        "<html><body><p>**2 ** x**</p><p>**3. 2 ** 3 ** x**</p><p>**a** b</p><p>****</p></body></html>", "quiz.html"
    )
    assert shown == "\\*\\*2 \\*\\* x\\*\\*\n\n\\*\\*3. 2 \\*\\* 3 \\*\\* x\\*\\*\n\n\\*\\*a\\*\\* b\n\n\\*\\*\\*\\*"


LINKS = "<ul><li><a href='a'>Views</a><nav><a href='b'>Strides</a></nav></li><li><a href='c'>Leaves</a></li></ul>"


@pytest.mark.parametrize("tag", ["nav", "header", "footer"])
def test_navigation_in_navigation_is_left_out(tag: str) -> None:
    links = LINKS.replace("nav>", f"{tag}>")
    page = f"<html><body><{tag}>{links}</{tag}><p>1. What is a view?</p></body></html>"
    assert as_markdown(page, "quiz.html") == "1. What is a view?"
    # Where one is never closed, the rest of the page stays.
    page = f"<html><body><{tag}><{tag}>{links}</{tag}><p>1. What is a view?</p></body></html>"
    assert "What is a view?" in (as_markdown(page, "quiz.html") or "")


def test_forms_with_a_legend_and_options_are_questions_without_keys() -> None:
    fields = "".join(
        f"<fieldset><legend>Question n°{n} - {asked} :</legend><div>"
        + "<br>".join(
            f'<input type="radio" name="q{n}" value="{one}"><label>{one}</label>' for one in ("view", "clone")
        )
        + "</div></fieldset><br>"
        for n, asked in enumerate(("Cet appel copie", "Cet appel partage la mémoire", "Cet appel est lent"), 1)
    )
    questions = read_bank(
        f"<!DOCTYPE html><html><body><h1>QCM</h1><form>{fields}</form></body></html>", name="qcm.html"
    ).bank.questions
    assert [(one.number, one.prompt) for one in questions] == [
        ("1", "Cet appel copie :"),
        ("2", "Cet appel partage la mémoire :"),
        ("3", "Cet appel est lent :"),
    ]
    assert all(
        [(option.text, option.right) for option in one.options] == [("view", False), ("clone", False)]
        for one in questions
    )
