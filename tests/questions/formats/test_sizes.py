"""How large a question and a document may be, in each format: both limits count what a reader of the chat would see."""

from __future__ import annotations

import pytest

from questions import read_bank
from questions.formats import draft
from tests.questions.formats.readings import found

SIZES: dict[str, tuple[str, str, int, str]] = {
    "gift": ("a.gift", "What copies? {=ab ~cd}\n", 22, "1-1"),
    "aiken": ("a.aiken", "What copies?\nA. abc\nB. defg\nANSWER: A\n", 19, "1-4"),
    "opentrivia": ("a.txt", "#Q What copies?\n^ ab\nA ab\nB cde\n", 17, "1-4"),
    "trivia": ("a.yaml", "What copies?:\n  - abc\n  - defg\n", 19, "1-3"),
    "opentdb": (
        "a.json",
        '{"response_code": 0, "results": [\n'
        '{"question": "What copies?", "correct_answer": "ab", "incorrect_answers": ["cde"]}]}',
        17,
        "2-2",
    ),
    "text2qti": ("a.txt", "1. What copies?\n*a) ab\nb) cde\n", 17, "1-3"),
    "directive": (
        "a.rst",
        ".. mchoice:: x\n   :answer_a: ab\n   :answer_b: cde\n   :correct: a\n\n   What copies?\n",
        18,
        "1-6",
    ),
    "short answer": (
        "a.rst",
        ".. mchoice:: x\n   :answer_a: a\n   :answer_b: b\n   :correct: a\n\n   A?\n\n"
        ".. shortanswer:: y\n\n   What is copied?\n",
        15,
        "8-10",
    ),
    "plus-minus": ("a.txt", "What copies?\n+ ab\n- cde\n\nA?\n+ b\n- c\n\nB?\n+ c\n- d\n", 17, "1-3"),
    "amc": ("a.txt", "* What copies?\n+ ab\n- cde\n\n* A?\n+ b\n- c\n\n* B?\n+ c\n- d\n", 17, "1-3"),
    "table": ("a.csv", "question,option a,option b,reason a,answer\nWhat copies?,ab,cde,efgh,A\n", 22, "2-2"),
    "line blocks": (
        "a.txt",
        "Which call copies the memory?\nview\nclone\n2\n\nWhich call shares?\nview\nclone\n1\n\n"
        "Which call adds?\nadd\nsub\n1\n\nWhich call sorts?\nsort\nadd\n1\n",
        39,
        "1-4",
    ),
    "moodle": (
        "a.xml",
        "<quiz>\n<question type='shortanswer'><questiontext><text>What copies?</text></questiontext>"
        "<answer fraction='100'><text>abc</text></answer></question></quiz>",
        15,
        "2-2",
    ),
    "qti": (
        "a.xml",
        "<questestinterop>\n<item><presentation><material><mattext>What copies?</mattext></material></presentation>"
        "<itemfeedback ident='general_fb'><mattext>abc</mattext></itemfeedback></item></questestinterop>",
        15,
        "2-2",
    ),
    "qti 2": (
        "a.xml",
        "<a>\n<assessmentItem><responseDeclaration><correctResponse><value>abc</value></correctResponse>"
        "</responseDeclaration><itemBody><p>What copies?</p><textEntryInteraction/></itemBody></assessmentItem></a>",
        15,
        "2-2",
    ),
    "anki text": ("a.txt", "#separator:tab\nWhat copies?\tabc\n", 15, "2-2"),
}
"""Name and text of a document, the characters of its longest question, and the lines of that question."""


@pytest.mark.parametrize("name", SIZES)
def test_a_question_is_left_out_if_it_has_one_character_too_many(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file, text, size, lines = SIZES[name]
    monkeypatch.setattr(draft, "LONGEST", size)
    whole = read_bank(text, name=file)
    assert not any("longer" in one for one in found(whole))
    monkeypatch.setattr(draft, "LONGEST", size - 1)
    cut = read_bank(text, name=file)
    message = f"{lines} Q603 the question is longer than {size - 1} characters | it was left out | shorten it"
    assert found(cut) == [message]
    assert len(cut.bank.questions) == len(whole.bank.questions) - 1


@pytest.mark.parametrize("name", SIZES)
def test_one_finding_names_the_questions_beyond_the_limit(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file, text, _, _ = SIZES[name]
    monkeypatch.setattr(draft, "MOST_QUESTIONS", 0)
    reading = read_bank(text, name=file)
    assert reading.bank.questions == ()
    (finding,) = reading.findings
    assert finding.message == "the document has more than 0 questions"
    assert (finding.code, finding.note) == ("Q603", "it was left out")
    assert finding.help == "split it into several documents"
    assert reading.source.lines[finding.span.end_line :] in ((), ("",))


def test_the_questions_within_the_limit_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(draft, "MOST_QUESTIONS", 2)
    reading = read_bank("question,answer\nA?,a\nB?,b\nC?,c\nD?,d\n", name="a.csv")
    assert [question.prompt for question in reading.bank.questions] == ["A?", "B?"]
    assert found(reading) == [
        "4-5 Q603 the document has more than 2 questions | it was left out | split it into several documents"
    ]


def test_a_row_with_a_cell_too_large_to_be_read_is_left_out_and_those_after_it_keep_their_lines() -> None:
    rows = ("question,answer", "What is one?,1", f"{'a' * 140_000},2", "What is three?,3")
    reading = read_bank("\n".join(rows), name="a.csv")
    assert [one.split(" | ")[0] for one in found(reading)] == [
        "3-3 Q603 this row cannot be read: field larger than field limit (131072)"
    ]
    assert [(one.prompt, one.place.line) for one in reading.bank.questions] == [
        ("What is one?", 2),
        ("What is three?", 4),
    ]


def test_the_limits_are_those_of_the_documentation() -> None:
    assert (draft.LONGEST, draft.MOST_QUESTIONS) == (200_000, 20_000)


@pytest.mark.parametrize("field", ["question", "answer", "explanation"])
def test_a_text_is_at_most_20000_characters_long(field: str) -> None:
    row = {"question": "What?", "answer": "b", "explanation": "c"}
    for length, skipped in ((20_000, []), (20_001, ["Q603 a text is longer than 20,000 characters"])):
        cells = {**row, field: "x" * length}
        reading = read_bank(f"{','.join(cells)}\n{','.join(cells.values())}\n", name="a.csv")
        assert [f"{one.code} {one.message}" for one in reading.findings if one.code == "Q603"] == skipped
        assert len(reading.bank.questions) == (not skipped)
