"""The five real documents, read completely: each against a plain reading of its own lines."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from questions import Question, Reading, read_path
from tests.external import SEEDS, needs_seeds

pytestmark = needs_seeds.or_skip_module()


class Expected(NamedTuple):
    """What must be read of one question."""

    line: int
    end_line: int
    number: str
    prompt: str
    answer: str
    section: tuple[str, ...]


def read(prefix: str) -> Reading:
    """Reads the document whose name starts like this."""
    (file,) = SEEDS.glob(f"{prefix}_*.txt")
    (reading,) = read_path(file)
    return reading


def lines_of(reading: Reading) -> tuple[str, ...]:
    return ("", *reading.source.lines)


def facts(question: Question) -> Expected:
    place = question.place
    return Expected(
        place.line, place.end_line, question.number, question.prompt, question.answer or "", question.section
    )


def stretches(lines: tuple[str, ...], pattern: str) -> Iterator[tuple[re.Match[str], int, int]]:
    """Yields every matching line, with its number and the last non-empty line before the next match."""
    starts = [(found, n) for n, line in enumerate(lines) if (found := re.fullmatch(pattern, line))]
    for (found, first), (_, following) in zip(starts, [*starts[1:], (None, len(lines))], strict=True):
        last = following - 1
        while not lines[last].strip() or re.fullmatch(r"---|# .*", lines[last]):
            last -= 1
        yield found, first, last


def joined(lines: tuple[str, ...], first: int, last: int) -> str:
    return "\n".join(lines[first : last + 1]).strip("\n")


def test_000_numbered_headings_with_a_label() -> None:
    reading = read("000")
    lines = lines_of(reading)
    expected = [
        Expected(first, last, found[1], found[2], joined(lines, first + 2, last), (lines[1].removeprefix("# "),))
        for found, first, last in stretches(lines, r"### (\d+)\. (.*)")
    ]
    assert [facts(question) for question in reading.bank.questions] == expected
    assert len(expected) == 20
    assert {lines[one.line + 1] for one in expected} == {"**Answer:**"}
    assert reading.study == ((1, 5),)
    assert reading.findings == ()


def test_001_numbered_headings_and_prose() -> None:
    reading = read("001")
    lines = lines_of(reading)
    section = (lines[1].removeprefix("# "), "Exhaustive Q&A")
    expected = [
        Expected(first, last, found[1], found[2], joined(lines, first + 1, last), section)
        for found, first, last in stretches(lines, r"### (\d+)\. (.*)")
    ]
    assert [facts(question) for question in reading.bank.questions] == expected
    assert [one.number for one in expected] == [str(number) for number in range(1, 61)]
    assert reading.study == ((1, 12),)
    assert reading.findings == ()


def test_002_question_headings_with_headings_of_one_depth_inside() -> None:
    reading = read("002")
    lines = lines_of(reading)
    expected = []
    for found, first, last in stretches(lines, r"## Question (\d+)"):
        prompt = lines[first + 2]
        assert prompt.startswith("**") and prompt.endswith("**") and lines[first + 4] == "### Answer"
        answer = joined(lines, first + 5, last)
        expected.append(Expected(first, last, found[1], prompt[2:-2], answer, (lines[1].removeprefix("# "),)))
    assert [facts(question) for question in reading.bank.questions] == expected
    assert len(expected) == 10
    assert all(first == last and lines[first] == "---" for first, last in reading.study[1:])


def test_002_keeps_every_program_exactly() -> None:
    reading = read("002")
    lines = lines_of(reading)
    for question in reading.bank.questions:
        (block,) = question.code_blocks
        end = next(n for n in range(block.line, len(lines)) if lines[n] == "```")
        assert (block.language, lines[block.line - 1]) == ("python", "```python")
        assert block.text == "\n".join(lines[block.line : end])
    assert lines.count("```python") == len(reading.bank.questions)


def test_002_names_the_garbled_mark_and_keeps_the_text() -> None:
    reading = read("002")
    (finding,) = reading.findings
    assert (finding.code, finding.span.line, finding.label) == ("Q002", 207, "this was probably `✅`")
    assert "âœ… Preferred" in (reading.bank.questions[4].answer or "")


def test_003_levels_and_numbers_that_restart() -> None:
    reading = read("003")
    lines = lines_of(reading)
    answered = [question for question in reading.bank.questions if question.answered]
    expected = []
    for found, first, last in stretches(lines[:102], r"(\d)\.  \*\*(.*)\*\*"):
        answer = re.sub(r"^ {4}\*   \*(?:Answer|Discussion)\*: ", "", lines[first + 1])
        level = next(lines[n] for n in range(first, 0, -1) if lines[n].startswith("### "))[4:]
        section = ("PyTorch Fundamentals", "Interview Questions", level)
        expected.append(Expected(first, min(last, first + 1), found[1], found[2], answer, section))
    assert [facts(question) for question in answered] == expected
    assert [question.number for question in answered] == ["1", "2", "3"] * 3
    assert [question.level for question in answered] == ["mid"] * 3 + ["senior"] * 3 + ["principal"] * 3


def test_003_front_matter_asks_nine_questions_without_answers() -> None:
    reading = read("003")
    asked = [question for question in reading.bank.questions if not question.answered]
    assert [(q.place.line, q.level, q.prompt) for q in asked] == [
        (7, "mid", "What is Autograd and how does it work?"),
        (7, "mid", "Difference between `nn.Module` and `nn.Sequential`."),
        (7, "mid", "How to move tensors between CPU and GPU?"),
        (8, "senior", "Implement a custom Autograd function."),
        (8, "senior", "Explain DistributedDataParallel (DDP) vs DataParallel (DP)."),
        (8, "senior", "How does PyTorch handle dynamic computation graphs?"),
        (9, "principal", "Optimize a PyTorch model for inference using TorchScript/ONNX."),
        (9, "principal", "Discuss memory management in PyTorch (caching allocator)."),
        (9, "principal", "Design a custom DataSampler for imbalanced datasets."),
    ]
    assert {question.answer for question in asked} == {None}


def test_003_does_not_read_study_text_as_questions() -> None:
    reading = read("003")
    assert (10, 79) in reading.study
    assert reading.findings == ()
    assert reading.bank.title == "PyTorch Fundamentals"


def test_004_titled_numbers_with_question_and_answer_labels() -> None:
    reading = read("004")
    lines = lines_of(reading)
    expected = []
    for found, first, last in stretches(lines, r"### (\d+)\. (.*)"):
        section = next(lines[n] for n in range(first, 0, -1) if lines[n].startswith("# "))[2:]
        prompt = lines[first + 2].removeprefix("**Q:** ")
        answer = joined(lines, first + 4, last).removeprefix("**A:**").strip()
        expected.append((found[2], Expected(first, last, found[1], prompt, answer, (section,))))
    assert [(question.title, facts(question)) for question in reading.bank.questions] == expected
    assert [one.number for _, one in expected] == [str(number) for number in range(1, 16)]
    assert {section for _, one in expected for section in one.section} == {
        "1. Tensors and Device Management",
        "2. Autograd and Backpropagation",
        "3. nn.Module and Optimization",
        "4. Dataset and DataLoader",
        "5. Integration and Debugging",
    }


def test_004_names_the_marks_that_are_never_closed() -> None:
    assert [(finding.code, finding.span.line) for finding in read("004").findings] == [("Q008", 34), ("Q004", 100)]


def test_the_folder_holds_114_answered_and_9_unanswered_questions() -> None:
    readings = read_path(SEEDS)
    counts = {Path(reading.source.name).name[:3]: (reading.answered, reading.unanswered) for reading in readings}
    assert counts == {
        "000": (20, 0),
        "001": (60, 0),
        "002": (10, 0),
        "003": (9, 9),
        "004": (15, 0),
        "err": (0, 0),
        "ite": (0, 0),
    }


@pytest.mark.parametrize("name", ["errata.md", "items.md"])
def test_documents_about_the_questions_hold_none(name: str) -> None:
    (reading,) = read_path(SEEDS / name)
    assert [finding.code for finding in reading.findings] == ["Q005"]
    assert len(reading.study) == 1


def test_every_line_is_accounted_for_once() -> None:
    for reading in read_path(SEEDS):
        assert reading.unaccounted() == ()
        asked = {n for q in reading.bank.questions for n in range(q.place.line, q.place.end_line + 1)}
        studied = {n for first, last in reading.study for n in range(first, last + 1)}
        assert asked.isdisjoint(studied)


def test_every_line_of_a_question_is_in_its_text() -> None:
    for reading in read_path(SEEDS):
        for question in (one for one in reading.bank.questions if one.answered):
            known = "\n".join((question.prompt, question.answer or "", question.title, question.number))
            for number in range(question.place.line, question.place.end_line + 1):
                bare = re.sub(r"^\W*(?:\d+\.|Question|Answer|Discussion|Q|A)\W*", "", reading.source.line(number))
                assert bare.strip("* ") in known, (question.id, number)


def test_ids_are_unique_and_say_what_is_asked() -> None:
    ids = [question.id for reading in read_path(SEEDS) for question in reading.bank.questions]
    assert all(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", one) for one in ids)
    assert read("000").bank.questions[1].id == "why-does-x-view-sometimes-fail-with-a-runtime-error"
    for reading in read_path(SEEDS):
        own = [question.id for question in reading.bank.questions]
        assert len(set(own)) == len(own)


def test_an_answer_in_prose_gives_its_own_words_as_key_points() -> None:
    first = read("000").bank.questions[9]
    assert first.key_points == (
        "`cat`: Concatenates along an *existing* dimension.",
        "`stack`: Concatenates along a *new* dimension.",
    )
