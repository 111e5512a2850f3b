"""Reads `questions.xml` of a Moodle course backup, by making of each question what Moodle would export of it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.formats.draft import ImportDraft, points_of
from questions.formats.moodle import RE_EXPORT, add_question
from questions.formats.xml import XmlElement, parse_or_refuse

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.source import Source

NAME = "moodle-backup"

_ROOT = re.compile(r"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*<question_categories[\s>]", re.DOTALL)
_FORMATS = {"1": "html", "2": "plain_text", "4": "markdown"}
"""Moodle's numbers of text formats."""
_NULL = "$@NULL@$"
"""Moodle's word for what a field of the database does not have."""
_DEEPEST = 20
"""Maximum number of categories within each other; further ones around them are left out."""
_SUPPORTED = frozenset(("multichoice", "truefalse", "shortanswer", "numerical", "match", "essay", "description"))


def sniff(source: Source) -> bool:
    """Returns whether the outermost element has the categories of a backup."""
    return _ROOT.match("\n".join(source.lines)) is not None


def read(source: Source) -> ImportDraft:
    """Reads the newest version of each question; findings name unsupported types and hidden questions."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    root = parse_or_refuse(draft, RE_EXPORT)
    if root is None:
        return draft
    categories = {one.attributes.get("id", ""): one for one in root.all("question_category")}
    for category in categories.values():
        path = _path(category, categories)
        for question in _questions(category):
            _add(draft, question, path)
    if not draft.questions and not draft.findings:
        draft.unreadable("the backup has no questions", "include the question bank in the backup")
    return draft


def _path(category: XmlElement, categories: dict[str, XmlElement]) -> str:
    """Returns the names of a category and of those around it, as an export has them."""
    names: list[str] = []
    around: XmlElement | None = category
    while around is not None and len(names) < _DEEPEST:
        names.append(around.text_of("name").replace("/", "//"))
        around = categories.get(around.text_of("parent"))
    return "/".join(name for name in reversed(names) if name != "top")


def _questions(category: XmlElement) -> Iterator[XmlElement]:
    """Yields the category's questions: since Moodle 4, the newest version of each."""
    yield from (one for part in category.all("questions") for one in part.all("question"))
    for entry in category.walk("question_bank_entry"):
        versions = sorted(entry.walk("question_versions"), key=lambda one: int(_digits(one.text_of("version"))))
        yield from (one for version in versions[-1:] for one in version.walk("question"))


def _digits(text: str) -> str:
    return text if text.isascii() and text.isdigit() and len(text) < 10 else "0"


def _add(draft: ImportDraft, question: XmlElement, path: str) -> None:
    kind = question.text_of("qtype")
    # Neither is a question by itself: a draw from a category, and a part of a question with gaps.
    if kind == "random" or question.text_of("parent") not in ("", "0"):
        return
    lines = (question.first, question.last)
    if question.text_of("hidden") == "1":
        draft.add_skipped("the question is hidden in Moodle", "show it again before the backup", lines)
    elif kind not in _SUPPORTED:
        cure = "export the questions as Moodle XML: more types of it are read"
        draft.add_skipped(f"unsupported question type `{kind[:40]}` in a backup", cure, lines)
    else:
        add_question(draft, _as_exported(question, kind), kind, path)


def _as_exported(question: XmlElement, kind: str) -> XmlElement:
    """Returns the element that Moodle exports for a question of a backup."""
    made = XmlElement("question", {"type": kind}, question.first, question.last)
    names = ("name", "idnumber", "questiontext", "generalfeedback")
    made.children += [_text(name, question, name, f"{name}format") for name in names]
    tags = XmlElement("tags", {}, question.first, question.last)
    tags.children += [_text("tag", one, "rawname", "") for one in question.walk("tag")]
    made.children.append(tags)
    own = question.child(f"plugin_qtype_{kind}_question")
    if own is not None:
        made.children += list(own.walk("single"))
        made.children += [_text("graderinfo", one, "graderinfo", "graderinfoformat") for one in own.walk("essay")]
        made.children += _answers(own)
        made.children += [_pair(one) for one in own.walk("match") if one.child("answertext") is not None]
    return made


def _answers(own: XmlElement) -> Iterator[XmlElement]:
    """Yields the answers with their weights in percent and, for numbers, their tolerances."""
    tolerances = {record.text_of("answer"): record for record in own.walk("numerical_record")}
    true = {one.text_of("trueanswer") for one in own.walk("truefalse")}
    for answer in own.walk("answer"):
        if answer.child("answertext") is None:
            continue
        made = _text("answer", answer, "answertext", "answerformat")
        number = answer.attributes.get("id", "")
        if true:
            # The words are those of the author's language.
            made.pieces = ["true" if number in true else "false"]
        made.attributes["fraction"] = str(100 * points_of(answer.text_of("fraction")))
        made.children.append(_text("feedback", answer, "feedback", "feedbackformat"))
        if record := tolerances.get(number):
            made.children.append(_text("tolerance", record, "tolerance", ""))
        yield made


def _pair(match: XmlElement) -> XmlElement:
    made = _text("subquestion", match, "questiontext", "questiontextformat")
    made.children.append(_text("answer", match, "answertext", ""))
    return made


def _text(name: str, around: XmlElement, child: str, format_child: str) -> XmlElement:
    """Returns an element with a child's text and the format that the element around it states."""
    found = around.child(child) or XmlElement(child, {}, around.first, around.last)
    text_format = _FORMATS.get(around.text_of(format_child) if format_child else "", "moodle_auto_format")
    pieces = [] if found.text_of() == _NULL else list(found.pieces)
    return XmlElement(name, {"format": text_format}, found.first, found.last, pieces)
