"""Word documents with Aiken in them, and keys of Aiken that are no Latin letters."""

from __future__ import annotations

import io
import zipfile

import pytest

from questions.formats.aiken import plain_word
from tests.questions.formats.readings import read_as
from tests.questions.formats.test_word import BOLD, item, paragraph, run

LETTERED = (
    '<w:abstractNum w:abstractNumId="7"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="upperLetter"/></w:lvl>'
    "</w:abstractNum>"
    + "".join(f'<w:num w:numId="{number}"><w:abstractNumId w:val="7"/></w:num>' for number in range(1, 9))
)


def package(*body: str) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as one:
        one.writestr("word/document.xml", f'<w:document xmlns:w="w"><w:body>{"".join(body)}</w:body></w:document>')
        one.writestr("word/numbering.xml", f'<w:numbering xmlns:w="w">{LETTERED}</w:numbering>')
    return stream.getvalue()


def asked(number: int, key: str, *, listed: bool = True) -> list[str]:
    texts = [f"view {number}", "&lt;b> clone"]
    options = (
        [item(text, str(number)) for text in texts]
        if listed
        else [paragraph(run(f"{letter}. {text}")) for letter, text in zip("AB", texts, strict=True)]
    )
    return [paragraph(run(f"Call {number} copies", BOLD)), *options, paragraph(run(f"ANSWER: {key}"))]


def test_options_in_lists_of_word_have_their_letters() -> None:
    body = [*asked(1, "B"), *asked(2, "A", listed=False), *asked(3, "A")]
    assert read_as("a.docx", package(*body)) == [
        "Call 1 copies | - view 1 | + \\<b> clone",
        "Call 2 copies | + view 2 | - \\<b> clone",
        "Call 3 copies | + view 3 | - \\<b> clone",
    ]


def test_two_keys_do_not_make_a_word_document_aiken() -> None:
    assert plain_word("Q\n\n- A) view\n- B) clone\n\nANSWER: B\n\nANSWER: A\n") is None


def test_a_word_document_that_only_mentions_keys_is_no_aiken() -> None:
    body = [paragraph(run("How is a key written?")), *(paragraph(run(f"ANSWER: {key}")) for key in "ABC")]
    assert not any("+ " in one for one in read_as("a.docx", package(*body)))


@pytest.mark.parametrize(
    ("key", "options"),
    [
        ("С", "- view | - clone | + slice"),  # Cyrillic
        ("А, В", "+ view | + clone | - slice"),
        ("Б", "- view\n- clone\n- slice"),  # looks like no Latin letter
        ("C or maybe A", "- view\n- clone\n- slice"),
    ],
)
def test_a_key_is_letters_that_look_like_those_of_options(key: str, options: str) -> None:
    text = f"Which copies?\nA. view\nB. clone\nC. slice\nANSWER: {key}\n\nWhich shares?\nA. view\nB. clone\nANSWER: A\n"
    found = read_as("a.aiken", text)
    assert len(found) == 2
    assert found[1] == "Which shares? | + view | - clone"
    assert ("+ " in found[0]) == ("+" in options)
    if "+" in options:
        assert found[0] == f"Which copies? | {options}"


def test_long_text_takes_linear_time() -> None:
    """In quadratic time it would not end before the limit of a test."""
    many = 1_000_000
    assert plain_word("ANSWER: B\n" * 3 + "**" * many + "- " * many + "\nANSWER: A" + ", A" * many) is not None
