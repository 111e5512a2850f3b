"""Which reader a document gets, by its name and its content, and what is said about files without questions."""

from __future__ import annotations

import gzip

import pytest

from questions import read_bank
from questions.formats import SUFFIXES, read_import
from tests.questions.formats.readings import found

HELP = "export it as text: Markdown, CSV, JSON or QTI"
GIFT = "What copies? {=clone ~view}\n"
QUIZ = "<quiz><question type='essay'><questiontext><text>What?</text></questiontext></question></quiz>"


@pytest.mark.parametrize(
    ("data", "what"),
    [
        (b"%PDF-1.7", "a PDF"),
        (b"\x89PNG\r\n", "a PNG picture"),
        (b"\xff\xd8\xff\xe0", "a JPEG picture"),
        (b"GIF89a", "a GIF picture"),
        (gzip.compress(b"x", mtime=0), "a gzip archive"),
        (b"BZh9", "a bzip2 archive"),
        (b"7z\xbc\xaf\x27", "a 7-Zip archive"),
        (b"Rar!\x1a", "a RAR archive"),
        (b"\x7fELF\x02", "a program"),
        (b"MZ\x90\x00", "a program"),
        (b"\xd0\xcf\x11\xe0\xa1", "an old Office document"),
        (b"{\\rtf1 text}", "an RTF document"),
        (b"text\0more", "a binary file"),
        (b"x" * 8191 + b"\0", "a binary file"),
    ],
)
@pytest.mark.parametrize("name", ["a.md", "a.csv", "a"])
def test_a_file_without_text_is_named(data: bytes, what: str, name: str) -> None:
    reading = read_bank(data, name=name)
    assert found(reading) == [f"1-1 Q601 this is {what}, not a document with questions |  | {HELP}"]
    assert reading.findings[0].severity == "error"
    assert reading.bank.dialects == ("unknown",)


@pytest.mark.parametrize(
    "data", [b"x" * 8192 + b"\0", "\ufeffWhat?".encode("utf-16-le"), "\ufeffWhat?".encode("utf-16-be")]
)
def test_text_is_no_binary_file(data: bytes) -> None:
    assert "Q601" not in {finding.code for finding in read_bank(data, name="a.md").findings}


@pytest.mark.parametrize(
    ("name", "text", "format"),
    [
        ("a.gift", GIFT, "gift"),
        ("a.GIFT", GIFT, "gift"),
        ("a.txt", GIFT, "gift"),
        ("a", GIFT, "gift"),
        ("a.xml", QUIZ, "moodle-xml"),
        ("a.txt", QUIZ, "moodle-xml"),
        ("a.md", f'<?xml version="1.0"?>\n{QUIZ}', "moodle-xml"),
        ("a.qti", "<questestinterop/>", "qti"),
        ("a.csv", "question,answer\nWhat?,a\n", "csv"),
        ("a.tsv", "question\tanswer\nWhat?\ta\n", "csv"),
        ("a.txt", "question,answer\nWhat?,a\n", "csv"),
        ("a.aiken", "What?\nA. a\nB. b\nANSWER: A\n", "aiken"),
        ("a.json", '[{"question": "What?", "answer": "a"}]', "records"),
        ("a.jsonl", '{"question": "What?", "answer": "a"}\n{"question": "Who?", "answer": "b"}', "records"),
        ("a.yaml", "- question: What?\n  answer: a\n", "records"),
        ("a.yml", "What?:\n  - a\n", "trivia"),
        ("a.toml", '[[questions]]\nquestion = "What?"\nanswer = "a"\n', "records"),
    ],
)
def test_a_format_is_known_by_suffix_or_content(name: str, text: str, format: str) -> None:
    draft = read_import(text, name)
    assert draft is not None and draft.dialect == format
    assert not any(finding.code == "Q601" for finding in draft.findings) or not draft.questions


@pytest.mark.parametrize("name", ["a.md", "a.markdown", "a.MD", "a.html", "a.ipynb", "a.org", "a.rst"])
def test_markdown_and_pages_are_never_another_format(name: str) -> None:
    assert read_import(GIFT, name) is None


@pytest.mark.parametrize(
    ("name", "format"),
    [("a.gift", "gift"), ("a.xml", "moodle-xml"), ("a.json", "records"), ("a.csv", "csv"), ("a.yaml", "trivia")],
)
def test_the_reader_of_the_suffix_reports_a_text_that_does_not_match(name: str, format: str) -> None:
    draft = read_import("Some prose about tensors", name)
    assert draft is not None and draft.dialect == format
    assert draft.questions == [] and draft.findings


def test_all_suffixes_are_listed() -> None:
    assert {".apkg", ".colpkg", ".csv", ".docx", ".gift", ".html", ".ipynb", ".json", ".org", ".rst", ".toml"} < set(
        SUFFIXES
    )
    assert {".tsv", ".xlsx", ".xml", ".yaml", ".zip", ".aiken"} < set(SUFFIXES)
    assert len(set(SUFFIXES)) == len(SUFFIXES)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.csv", b"question,answer\nWhat?,caf\xe9\nWho,x,y\n"),
        ("a.rst", b".. mchoice:: a\n   :answer_a: caf\xe9\n   :correct: b\n\n   What?\n"),
    ],
)
def test_findings_about_the_encoding_come_first(name: str, text: bytes) -> None:
    draft = read_import(text, name)
    assert draft is not None
    codes = [finding.code for finding in draft.findings]
    assert codes[0] == "Q001" and len(codes) > 1 and codes.count("Q001") == 1


RECIPE_HELP = "leave out the recipe"


@pytest.mark.parametrize(
    ("name", "text", "format"), [("a.gift", GIFT, "gift"), ("a.xml", QUIZ, "moodle-xml"), ("a.aiken", "x", "aiken")]
)
def test_a_format_with_fixed_places_takes_no_recipe(name: str, text: str, format: str) -> None:
    reading = read_bank(text, name=name, recipe="prompt: a\nanswer: b")
    assert found(reading) == [
        f"1-1 Q009 the recipe cannot be used: this document is in the format {format}, "
        f"which says itself where the questions are |  | {RECIPE_HELP}"
    ]
    assert reading.bank.questions == ()
    assert (reading.bank.title, reading.findings[0].severity) == ("a", "error")


def test_a_table_takes_no_patterns_of_text() -> None:
    reading = read_bank("question,answer\nWhat?,a\n", name="a.csv", recipe='question: "{prompt}"\nanswer: "= {answer}"')
    assert found(reading) == [
        "1-1 Q009 the recipe cannot be used: this document has columns, and the recipe has patterns of text |  "
        "| name its columns: `prompt: name of the column`"
    ]


def test_latex_is_no_gift() -> None:
    exam = (
        "\\documentclass{article}\n\\newcommand{\\pts}[1]{#1}\n\\begin{document}\n\n"
        "\\item What is {= a view ~ a copy}\n\n\\end{document}\n"
    )
    assert read_bank(exam, name="exam.tex").bank.questions == ()
    assert read_bank("What is a view? {=x ~y}\n", name="exam.txt").bank.dialects == ("gift",)
