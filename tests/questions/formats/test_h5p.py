"""H5P: questions of each type of content, in packages and within other content."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest

from questions import read_bank
from tests.questions.formats.readings import all_asked, messages


def package(library: str, params: Any) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as zipped:
        zipped.writestr("h5p.json", json.dumps({"title": "Tensors", "mainLibrary": library}))
        zipped.writestr("content/content.json", json.dumps(params))
    return stream.getvalue()


CHOICE = {
    "question": "<p>Which call <em>copies</em>?</p>",
    "answers": [
        {"text": "<div>view</div>", "correct": False, "tipsAndFeedback": {"chosenFeedback": "<div>It shares.</div>"}},
        {"text": "<div>clone</div>", "correct": True, "tipsAndFeedback": {"tip": ""}},
    ],
}


@pytest.mark.parametrize(
    ("library", "params", "wanted"),
    [
        ("MultiChoice", CHOICE, ["Which call *copies*? | - view (It shares.) | + clone"]),
        (
            "TrueFalse",
            {"question": "<p>A view shares memory.</p>", "correct": "true"},
            ["A view shares memory. | + True | - False"],
        ),
        (
            "SingleChoiceSet",
            {"choices": [{"question": "<p>What adds?</p>", "answers": ["<p>add</p>", "<p>cat</p>"]}]},
            ["What adds? | + add | - cat"],
        ),
        (
            "Summary",
            {"intro": "<p>Choose.</p>", "summaries": [{"summary": ["<p>A view shares.</p>", "<p>A view copies.</p>"]}]},
            ["Choose. | + A view shares. | - A view copies."],
        ),
        (
            "Blanks",
            {"text": "<p>Fill in.</p>", "questions": ["<p>A *view/alias:no copy* shares.</p>"]},
            ["Fill in.\n\nA \\_\\_\\_\\_\\_ shares. | = view\n\nAlso accepted: alias"],
        ),
        (
            "Blanks",
            {"text": "<p>A *view* shares, a *clone* copies.</p>"},
            ["A \\_\\_\\_\\_\\_ shares, a \\_\\_\\_\\_\\_ copies. | = 1. view\n2. clone"],
        ),
        (
            "DragText",
            {"taskDescription": "Drag.", "textField": "A *view* shares.", "distractors": "*clone*"},
            ["Drag.\n\nA \\_\\_\\_\\_\\_ shares. | + view | - clone"],
        ),
        (
            "DragText",
            {"taskDescription": "Do.", "textField": "A *view* shares, a *clone* copies."},
            ["Do.\n\nA \\_\\_\\_\\_\\_ shares, a \\_\\_\\_\\_\\_ copies.\n\nWords: clone, view | = 1. view\n2. clone"],
        ),
        (
            "MarkTheWords",
            {"taskDescription": "Mark what copies.", "textField": "A view or a *clone*."},
            ["Mark what copies.\n\nA view or a clone. | = - clone"],
        ),
        (
            "Essay",
            {"taskDescription": "<p>Explain views.</p>", "solution": {"sample": "<p>They share memory.</p>"}},
            ["Explain views. | = They share memory."],
        ),
        (
            "Flashcards",
            {"cards": [{"text": "What shares memory?", "answer": "a view"}]},
            ["What shares memory? | = a view"],
        ),
        (
            "Dialogcards",
            {"dialogs": [{"text": "<p>view</p>", "answer": "<p>shares memory</p>"}]},
            ["view | = shares memory"],
        ),
        (
            "SortParagraphs",
            {"taskDescription": "Sort.", "paragraphs": ["<p>loss</p>", "<p>backward</p>"]},
            ["Sort.\n\n- backward\n- loss | = 1. loss\n2. backward"],
        ),
    ],
)
def test_a_type_of_content_is_read(library: str, params: Any, wanted: list[str]) -> None:
    reading = read_bank(package(f"H5P.{library}", params), name="quiz.h5p")
    assert all_asked(reading) == wanted and reading.bank.dialects == ("h5p",)
    assert messages(reading) == []


def test_content_within_a_video_is_read_and_pictures_are_named() -> None:
    actions = [
        {"action": {"library": "H5P.MultiChoice 1.16", "params": CHOICE}},
        {"action": {"library": "H5P.DragQuestion 1.14", "params": {"question": {"settings": {}}}}},
    ]
    video = {"interactiveVideo": {"assets": {"interactions": actions}}}
    reading = read_bank(package("H5P.InteractiveVideo", video), name="quiz.h5p")
    assert all_asked(reading) == ["Which call *copies*? | - view (It shares.) | + clone"]
    assert messages(reading) == ["Q603 unsupported type of content `DragQuestion`"]


def test_the_content_alone_is_read_by_the_types_within_it() -> None:
    parts = [{"library": "H5P.TrueFalse 1.8", "params": {"question": "<p>It shares.</p>", "correct": "false"}}]
    reading = read_bank(json.dumps({"questions": parts}), name="content.json")
    assert all_asked(reading) == ["It shares. | - True | + False"]


@pytest.mark.parametrize(
    ("library", "params", "said"),
    [
        ("Accordion", {"panels": [{"title": "Views"}]}, "Q601 the content has no questions"),
        ("TrueFalse", {"question": "It shares."}, "Q604 the question has no answer"),
        ("Blanks", {"text": "Fill in.", "questions": ["No gap."]}, "Q603 the text has no gap"),
        ("Flashcards", {"cards": [{"answer": "x"}]}, "Q603 this card has a picture or a sound on one side"),
        ("OpenEndedQuestion", {"question": "What do you like?"}, "Q604 the question has no answer"),
    ],
)
def test_what_has_no_answer_in_words_is_named(library: str, params: Any, said: str) -> None:
    reading = read_bank(package(f"H5P.{library}", params), name="quiz.h5p")
    assert messages(reading) == [said] and not any(one.options for one in reading.bank.questions)


def test_broken_packages_are_refused() -> None:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as zipped:
        zipped.writestr("h5p.json", "{}")
        zipped.writestr("content/content.json", "{")
    assert [one.code for one in read_bank(stream.getvalue(), name="quiz.h5p").findings] == ["Q601"]
    assert [one.code for one in read_bank("text", name="quiz.h5p").findings] == ["Q601"]
