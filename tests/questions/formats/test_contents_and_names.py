"""Documents whose content is in another format than their names say."""

from __future__ import annotations

import pytest

from questions import Reading, read_bank

TOPICS = ("a view", "a leaf", "a hook", "a kernel", "a stride", "a graph")


def right(reading: Reading) -> list[str]:
    return ["".join(option.text for option in one.options if option.right) for one in reading.bank.questions]


SHEET = "Question,Answer\n" + "".join(f'"What is {topic}?","It is {topic}, with a comma"\n' for topic in TOPICS)


@pytest.mark.parametrize("name", ["a.md", "a.markdown"])
def test_a_table_is_read_in_a_file_named_as_markdown(name: str) -> None:
    reading = read_bank(SHEET, name=name)
    assert [(one.prompt, one.answer) for one in reading.bank.questions] == [
        (f"What is {topic}?", f"It is {topic}, with a comma") for topic in TOPICS
    ]
    assert reading.findings == ()


@pytest.mark.parametrize(
    "text",
    [
        f"{SHEET}\nThese questions were asked in 2024.\n",
        f"# Quiz\n\n{SHEET}",
        "Question, answer\n\nSome words, in prose.\n",
        "Question | Answer\n--- | ---\nWhat is a view? | A tensor\nWhat is a leaf? | A root\nWhat is a hook? | Code\n",
    ],
)
def test_text_in_markdown_is_no_table(text: str) -> None:
    assert "csv" not in read_bank(text, name="a.md").bank.dialects


KEYS = (1, 3, 2, 1, 3, 2)
COUNTS = ("one", "two", "three")


def rows(mark: str) -> str:
    cells = [
        ("Tensors" if key == 1 else "Graphs", f"What is {topic}?", *(f"{topic} {n}" for n in COUNTS), str(key))
        for topic, key in zip(TOPICS, KEYS, strict=True)
    ]
    return "".join(f"{mark.join(row)}\n" for row in cells)


@pytest.mark.parametrize("mark", [" | ", ";", "\t"])
@pytest.mark.parametrize("name", ["a.txt", "a"])
def test_lines_with_options_and_a_key_are_a_table_without_a_header(mark: str, name: str) -> None:
    reading = read_bank(rows(mark), name=name)
    assert right(reading) == [f"{topic} {COUNTS[key - 1]}" for topic, key in zip(TOPICS, KEYS, strict=True)]
    assert [one.message for one in reading.findings] == [
        "the table has no header: column 2 asks, 3 to 5 are options, 6 is the key, 1 is the topic"
    ]


@pytest.mark.parametrize(
    "text",
    [
        "".join(rows(" | ").splitlines(keepends=True)[:4]),  # few
        rows(" | ").replace(" | 1\n", " | 7\n").replace(" | 2\n", " | 8\n"),  # names no option
        rows(", "),
        f"{rows(' | ')}These questions were asked\nby several people\n",
    ],
)
def test_other_lines_are_text(text: str) -> None:
    assert "csv" not in read_bank(text, name="a.txt").bank.dialects


ITEMS = "".join(
    f"<li>\n<p><strong>What is {topic}?</strong></p>\n<ul>\n<li><strong>Answer:</strong> It is {topic}.</li>\n"
    "<li><strong>File:</strong> <code>core.py</code></li>\n</ul>\n</li>\n"
    for topic in TOPICS
)


@pytest.mark.parametrize("start", ["", "---\n\n\n---\n\n"])
def test_html_that_an_editor_saved_as_markdown_is_read_as_a_page(start: str) -> None:
    reading = read_bank(f"{start}<ol>\n{ITEMS}</ol>\n", name="a.md")
    assert [one.prompt for one in reading.bank.questions] == [f"What is {topic}?" for topic in TOPICS]
    assert reading.bank.questions[0].answer == "It is a view.\n- **File:** `core.py`"
    assert reading.findings == ()


def test_some_html_in_markdown_is_no_page() -> None:
    text = "".join(f"## What is {topic}?\n\nIt is {topic}.\n\n" for topic in TOPICS)
    reading = read_bank(f"{text}<ol>\n<li>one</li>\n<li>two</li>\n<li>three</li>\n</ol>\n", name="a.md")
    assert len(reading.bank.questions) == len(TOPICS)
    assert reading.source.line(1) == "## What is a view?"
