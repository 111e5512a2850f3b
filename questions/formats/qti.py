"""Reads QTI tests: 1.2, as Canvas, Blackboard and text2qti write them, and items of QTI 2 and 3."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from questions.formats import qti2
from questions.formats.draft import (
    ImportDraft,
    Item,
    OptionDraft,
    add_choice,
    add_open,
    add_pairs,
    add_short,
    points_of,
    topic_of,
)
from questions.formats.markdown import markdown_converter
from questions.formats.xml import XmlElement, parse_or_refuse

if TYPE_CHECKING:
    from questions.source import Source

NAME = "qti"

_ROOT = re.compile(
    r"<(?:\w+:)?(?:questestinterop|packages|assessmentItem|assessmentTest|qti-assessment-(?:item|test))\b"
)
_STATEMENTS = ("text_only_question", "file_upload_question")


def sniff(source: Source) -> bool:
    """Returns whether the document is a QTI test."""
    return _ROOT.search("\n".join(source.lines[:20])) is not None


def read(source: Source) -> ImportDraft:
    """Reads all items of a test."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    root = parse_or_refuse(draft, "export the test again")
    if root is None:
        return draft
    newer = sorted((one for name in qti2.ITEMS for one in _named(root, name)), key=lambda one: one.first)
    if newer or any(True for name in qti2.TESTS for _ in _named(root, name)):
        return _read_newer(draft, root, newer)
    titles = [one.attributes.get("title", "") for one in root.walk("assessment")]
    draft.title = next((title for title in titles if title), draft.title)
    items = list(root.walk("item"))
    counts = Counter(_feedback(item, "general_fb") for item in items)
    for item in items:
        # What several items say in general answers none of them.
        _item(draft, item, may_answer=counts[_feedback(item, "general_fb")] == 1)
    if not draft.questions and not draft.findings:
        draft.unreadable("the test has no items", "export a test that contains questions")
    return draft


def _named(root: XmlElement, name: str) -> list[XmlElement]:
    """Returns the elements with a name: the root, or those inside."""
    return [root] if root.name.rpartition(":")[2] == name else [*root.walk(name)]


def _read_newer(draft: ImportDraft, root: XmlElement, items: list[XmlElement]) -> ImportDraft:
    """Reads the items of QTI 2 or 3."""
    titles = [one.attributes.get("title", "") for name in qti2.TESTS for one in _named(root, name)]
    draft.title = next((title for title in titles if title), draft.title)
    if not items:
        return draft.unreadable(
            "this test only refers to its items", "import the whole package (.zip), or the files of the items"
        )
    for item in items:
        qti2.add_item(draft, item)
    return draft


def _item(draft: ImportDraft, element: XmlElement, *, may_answer: bool) -> None:
    """Adds an item. `may_answer`: whether its general feedback is the answer, if it has no other."""
    lines = (element.first, element.last)
    if not draft.accepts(*lines, element.size):
        return
    kind = _kind(element)
    presentation = element.child("presentation") or element
    item = Item(*lines, _material(presentation))
    title = " ".join(element.attributes.get("title", "").split())
    item.title = "" if title.casefold() in ("question", "") else title
    item.topic = topic_of("")
    item.why = _feedback(element, "general_fb")
    if kind in _STATEMENTS:
        draft.add(
            "Q608",
            f"`{kind}` asks for no answer that can be checked",
            "ask a question",
            lines,
            severity="note",
            note="it was read as study text",
        )
        return
    groups = list(presentation.walk("response_lid"))
    if len(groups) == 1:
        _choice(draft, item, element, groups[0])
    elif groups:
        _several(draft, item, element, groups, kind)
    else:
        answers = _values(element)
        if answers:
            add_short(draft, item, answers)
        elif may_answer:
            answer, item.why = item.why, ""
            add_open(draft, item, answer)
        else:
            add_open(draft, item, "")


def _kind(element: XmlElement) -> str:
    for one in element.walk("qtimetadatafield"):
        if one.text_of("fieldlabel") == "question_type":
            return one.text_of("fieldentry")
    return ""


def _material(element: XmlElement) -> str:
    """Returns the texts of the direct materials, in order; those of the responses are left out."""
    texts: list[str] = []
    for child in element.children:
        if child.name == "material":
            texts += [_mattext(one) for one in child.walk("mattext")]
        elif child.name in ("flow", "flow_mat"):
            texts.append(_material(child))
    return "\n\n".join(text for text in texts if text)


def _mattext(element: XmlElement) -> str:
    html = element.attributes.get("texttype", "text/plain") == "text/html"
    text = element.all_text().strip()
    converted: str = markdown_converter("html" if html else "")(text)
    return converted.strip()


def _choice(draft: ImportDraft, item: Item, element: XmlElement, group: XmlElement) -> None:
    right, wrong = _keys(element)
    offers = []
    for label in group.walk("response_label"):
        name = label.attributes.get("ident", "")
        text = "\n\n".join(_mattext(one) for one in label.walk("mattext"))
        is_right = name in right and name not in wrong
        offers.append(OptionDraft(text, is_right, "" if is_right else _feedback(element, f"{name}_fb")))
    add_choice(draft, item, offers)


def _several(draft: ImportDraft, item: Item, element: XmlElement, groups: list[XmlElement], kind: str) -> None:
    """Adds an item with several responses: pairs, or a text with gaps that have names (`Views share [what].`)."""
    pairs: list[tuple[str, str]] = []
    others: dict[str, None] = {}
    wanted = _wanted(element)
    for group in groups:
        texts = {
            label.attributes.get("ident", ""): " ".join(map(_mattext, label.walk("mattext")))
            for label in group.walk("response_label")
        }
        others |= dict.fromkeys(texts.values())
        right = [texts[name] for name in wanted.get(group.attributes.get("ident", ""), []) if name in texts]
        left = _material(group)
        # Several words may fill a gap; a pair has one right side.
        if not left or not right or (len(set(right)) > 1 and f"[{left}]" not in item.prompt.replace("\\", "")):
            cure = "write a question for each response"
            draft.add_skipped(f"unsupported question type `{kind or 'several responses'}`", cure, item.lines)
            return
        pairs.append((left, " / ".join(dict.fromkeys(right))))
    if all(f"[{left}]" in item.prompt.replace("\\", "") for left, _ in pairs):
        add_open(draft, item, "\n".join(f"- {left}: {right}" for left, right in pairs))
    else:
        add_pairs(draft, item, [*pairs, *(("", text) for text in others)])


def _wanted(element: XmlElement) -> dict[str, list[str]]:
    """Returns what the conditions that give points want as each response."""
    wanted: dict[str, list[str]] = {}
    for condition in element.walk("respcondition"):
        if any(points_of(score.text_of()) > 0 for score in condition.walk("setvar")):
            for variables in condition.all("conditionvar"):
                for one in variables.walk("varequal"):
                    wanted.setdefault(one.attributes.get("respident", ""), []).append(one.text_of())
    return wanted


def _keys(element: XmlElement) -> tuple[set[str], set[str]]:
    """Returns the options that give points, and those that must not be chosen."""
    right: set[str] = set()
    wrong: set[str] = set()
    for condition in element.walk("respcondition"):
        scores = [one.text_of() for one in condition.walk("setvar")]
        if not any(points_of(score) > 0 for score in scores):
            continue
        for variables in condition.all("conditionvar"):
            denied = {one.text_of() for inner in variables.walk("not") for one in inner.walk("varequal")}
            wrong |= denied
            right |= {one.text_of() for one in variables.walk("varequal")} - denied
    return right, wrong


def _values(element: XmlElement) -> list[str]:
    """Returns the accepted answers of a short answer or number."""
    found: list[str] = []
    for condition in element.walk("respcondition"):
        if any(points_of(one.text_of()) > 0 for one in condition.walk("setvar")):
            found += [one.text_of() for one in condition.walk("varequal")]
    return found


def _feedback(element: XmlElement, name: str) -> str:
    for one in element.all("itemfeedback"):
        if one.attributes.get("ident") == name:
            return "\n\n".join(_mattext(text) for text in one.walk("mattext"))
    return ""
