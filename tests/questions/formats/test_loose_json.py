"""JSON with slips: those with only one meaning are read and named, and everything else is refused with its line."""

from __future__ import annotations

import json

import pytest

from questions import read_bank
from questions.formats.data.loose_json import load_loose

VIEW = '{"question": "What is a view of a tensor?", "answer": "No copy, // [1,]"}'
LEAF = '{"question": "What is a leaf of a graph?", "answer": "/* yours */ {,}"}'
STEP = '{"question": "What is a stride of a tensor?", "answer": "A step"}'
COMMAS, COMMENTS = "commas before a closing bracket", "comments"
BRACKETS, DOCUMENTS = "a missing bracket around the whole", "documents after one another"
MISSING, ASSIGNED = "missing commas", "an assignment before the data"


@pytest.mark.parametrize(
    ("text", "slips"),
    [
        (f"[{VIEW}, {LEAF},\n]", [COMMAS]),
        (f'[{VIEW}, {LEAF[:-1]},}}, {{"tags": ["a", ], "n": 1}}]', [COMMAS]),
        (f"// all\n[{VIEW}, /* the * next */\n{LEAF} // last\n]", [COMMENTS]),
        (f"{VIEW},\n{LEAF}", [BRACKETS]),
        (f"{VIEW},\n{LEAF},\n", [BRACKETS, COMMAS]),
        (f"{VIEW},\n{LEAF}\n]", [BRACKETS]),
        (f'"questions": [{VIEW}, {LEAF}]\n}}', [BRACKETS]),
        (f'"questions": [{VIEW}, {LEAF}]', [BRACKETS]),
        (f"[\n{VIEW}]\n[{LEAF}]", [DOCUMENTS]),
        (f'{{"one": [\n{VIEW}]}}\n\n{{"two": [{LEAF}]}}', [DOCUMENTS]),
        (f'"one": [{VIEW}],\n{{"two": [{LEAF}]}}', [BRACKETS, COMMAS, DOCUMENTS]),
        (f"[{VIEW}\n{LEAF}]", [MISSING]),
        (f'{{"a": [{VIEW}]\n"b": [{LEAF}]}}', [MISSING]),
        (f"quiz = [{VIEW}, {LEAF}]", [ASSIGNED]),
        (f"export const quiz =\n[{VIEW}, {LEAF}];\n", [ASSIGNED]),
    ],
)
def test_slips_with_one_meaning_are_read_and_named(text: str, slips: list[str]) -> None:
    reading = read_bank(text, name="a.json")
    asked = {question.prompt: question.answer for question in reading.bank.questions}
    assert asked == {json.loads(one)["question"]: json.loads(one)["answer"] for one in (VIEW, LEAF)}
    (found,) = [finding for finding in reading.findings if finding.code == "Q616"]
    known = (COMMAS, COMMENTS, BRACKETS, DOCUMENTS, MISSING, ASSIGNED)
    assert sorted(one for one in known if one in found.message) == sorted(slips)


def test_line_breaks_and_tabs_in_texts_are_read_and_named() -> None:
    reading = read_bank('[{"question": "What is\n a\tview?", "answer": "No copy"}]', name="a.json")
    assert [(one.prompt, one.answer) for one in reading.bank.questions] == [("What is\n a\tview?", "No copy")]
    assert any("line breaks or tabs in texts (line 1)" in one.message for one in reading.findings)


def test_a_quote_that_is_never_closed_is_no_text_over_several_lines() -> None:
    text = f'[{VIEW},\n{{"question": "What is it?, "answer": "x"}},\n{LEAF}]'
    assert not read_bank(text, name="a.json").bank.questions


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (f"[{VIEW},\n{LEAF}", 2),  # cut off
        (f"[{VIEW},\n,{LEAF}]", 2),  # an entry is missing
        (f'[{VIEW},\n{{"question": "What is it?", "answer": "x", "tags": [,]}}]', 2),
        (f"[{VIEW},\n{LEAF[:-1]}]", 2),  # another bracket
        (f"[{VIEW},\n{LEAF}}}", 2),
        (f'[{VIEW},\n{{"question": "What is "grad"?", "answer": "A tensor"}}]', 2),  # quotes in a text
        (f"[{VIEW},\n{{question: What is grad?, answer: 'A tensor'}}]", 2),  # no JSON
        (f"[{VIEW},\n{{question: 'What's grad?', answer: 'A tensor'}}]", 2),  # quotes in a text
        (f"[{VIEW}, {LEAF}\n/* never closed ]", 2),
        (f'[{VIEW}]\n"and": 1', 2),  # neither a name nor a document may follow
    ],
)
def test_other_mistakes_are_refused_with_their_line(text: str, line: int) -> None:
    reading = read_bank(text, name="a.json")
    assert reading.bank.questions == ()
    assert [(one.code, one.span.line) for one in reading.findings] == [("Q601", line)]


def test_the_finding_counts_and_names_the_first_line() -> None:
    reading = read_bank(f"[\n{VIEW[:-1]},}},\n{LEAF[:-1]},}}, // the end\n]\n", name="a.json")
    assert [(one.span.line, one.severity, one.message) for one in reading.findings] == [
        (
            2,
            "note",
            "invalid JSON was read, because it has only one meaning: comments (line 3), "
            "commas before a closing bracket (line 2 and 2 more)",
        )
    ]


def test_broken_lines_of_json_lines_are_named_and_the_others_read() -> None:
    lines = [VIEW, LEAF[:-1], STEP, VIEW.replace("view", "copy"), "nothing"]
    reading = read_bank("\n".join(lines), name="a.jsonl")
    assert [question.place.line for question in reading.bank.questions] == [1, 3, 4]
    skipped = [(one.span.line, one.message) for one in reading.findings if one.skipped]
    assert [line for line, _ in skipped] == [2, 5]
    assert all(said.startswith("this line is invalid JSON: ") for _, said in skipped)


def test_mostly_broken_lines_are_no_json_lines() -> None:
    assert read_bank("\n".join([VIEW, LEAF, *[VIEW[:-1]] * 3]), name="a.jsonl").bank.questions == ()
    assert read_bank("\n".join([VIEW, LEAF, VIEW[:-1]]), name="a.jsonl").bank.questions == ()


@pytest.mark.parametrize(
    "part",
    [
        "[",
        "{",
        "]",
        "}",
        ",",
        ":",
        '"',
        '""',
        "/*",
        "/**",
        "//",
        "1",
        "[],",
        "{},",
        '"a":',
        '"\\',
        "9" * 5000,
        "\n",
        "[,",
    ],
)
def test_hostile_documents_take_linear_time(part: str) -> None:
    """In quadratic time it would not end before the limit of a test."""
    for before in ("", "[", '"a": '):
        load_loose(before + part * (2**17 // len(part)))


def test_deep_and_endless_documents_are_not_read() -> None:
    deep = "[" * 60 + "1," + "]" * 60
    assert load_loose(deep) is None
    assert load_loose("[" * 40 + "1," + "]" * 40) is not None


def test_names_without_quotes_and_texts_in_single_ones_are_read() -> None:
    text = (
        "[\n  {\n    question: 'What is \\'grad\\'?',\n    choices: ['a \"leaf\"', 'a tensor', \"it's a view\"],\n"
        "    correct: 'a tensor',\n  },\n  {question: 'What is a stride?', answer: 'a step: 1', $n: 2},\n]\n"
    )
    reading = read_bank(text, name="a.json")
    grad, stride = reading.bank.questions
    assert grad.prompt == "What is 'grad'?"
    assert [(one.text, one.right) for one in grad.options] == [
        ('a "leaf"', False),
        ("a tensor", True),
        ("it's a view", False),
    ]
    assert (stride.prompt, stride.answer) == ("What is a stride?", "a step: 1")
    (found,) = [finding for finding in reading.findings if finding.code == "Q616"]
    assert "names without quotes" in found.message
    assert "texts in single quotes" in found.message
