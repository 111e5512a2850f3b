"""Word documents with GIFT in them: numbered paragraphs with answers in braces."""

from __future__ import annotations

import io
import zipfile

from questions import read_bank
from questions.formats.gift import plain_word
from tests.questions.formats.test_word import BOLD, item, paragraph, run

COUNTED = (
    '<w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/></w:lvl>'
    '</w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="7"/></w:num>'
)


def package(*body: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as one:
        one.writestr("word/document.xml", f'<w:document xmlns:w="w"><w:body>{"".join(body)}</w:body></w:document>')
        one.writestr("word/numbering.xml", f'<w:numbering xmlns:w="w">{COUNTED}</w:numbering>')
    return stream.getvalue()


def typed(number: int, *answers: str) -> list[str]:
    """Returns a question with a number that its author typed, and each answer in a paragraph of its own."""
    lines = [f"{number}. Which tensor {number} shares memory?", *answers]
    return [paragraph(run(line, BOLD if at == 0 else "")) for at, line in enumerate(lines)]


ANSWERS = ("{~%0% a copy  ", "~%100% a view  ", "~%0% &lt;none>}")


def test_numbered_questions_with_answers_in_braces() -> None:
    half = item("Which two copy? {~%50% clone ~%50% to ~%0% view}", "1")
    thirds = item("Which three are dtypes? {~%33,333% int8 ~%33,333% int16 ~%33,333% half ~%0% view}", "1")
    body = [paragraph(run("Tensors")), *typed(1, *ANSWERS), *typed(2, *ANSWERS), half, thirds]
    draft = read_bank(package(*body), name="quiz.docx")
    assert [one.prompt for one in draft.bank.questions] == [
        "Which tensor 1 shares memory?",
        "Which tensor 2 shares memory?",
        "Which two copy?",
        "Which three are dtypes?",
    ]
    right = [[option.text for option in one.options if option.right] for one in draft.bank.questions]
    assert right == [["a view"], ["a view"], ["clone", "to"], ["int8", "int16", "half"]]
    assert [option.text for option in draft.bank.questions[0].options] == ["a copy", "a view", "\\<none>"]


def test_a_brace_that_is_never_closed_takes_no_other_question() -> None:
    body = [*typed(1, *ANSWERS), *typed(2, "{~%0% a copy", "~%100% a view"), *typed(3, *ANSWERS), *typed(4, *ANSWERS)]
    draft = read_bank(package(*body), name="quiz.docx")
    assert [one.prompt[13:14] for one in draft.bank.questions] == ["1", "3", "4"]
    assert [one.message for one in draft.findings if one.code == "Q603"] == ["the brace of the answer is never closed"]


def test_few_braces_among_other_numbered_paragraphs_are_no_gift() -> None:
    shown = "\n\n".join(f"{n}. What is `{{=n}}`?" if n < 4 else f"{n}. What is view {n}?" for n in range(1, 9))
    assert plain_word(shown) is None
