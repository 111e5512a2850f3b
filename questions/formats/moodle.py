"""Reads Moodle XML. Refuses documents with declarations that expand or refer to files."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from questions.formats.cloze import add_gaps, has_gaps
from questions.formats.draft import (
    ImportDraft,
    Item,
    OptionDraft,
    add_choice,
    add_number,
    add_open,
    add_pairs,
    add_short,
    add_unanswered,
    topic_of,
)
from questions.formats.gift import true_false_options
from questions.formats.markdown import markdown_converter
from questions.formats.tables.option_cells import without_letters
from questions.formats.xml import XmlElement, parse_or_refuse

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from questions.source import Source


NAME = "moodle-xml"

_ROOT = re.compile(r"\s*(?:<\?xml[^>]*\?>\s*)?(?:<!--.*?-->\s*)*(?:<!DOCTYPE[^>]*>\s*)?<quiz[\s>]", re.DOTALL)
_OWN = re.compile(r"<questiontext\b|<question\b[^<>]*\btype\s*=\s*[\"']category")
_ELEMENT = re.compile(r"<(?!/?quiz\b)\w")
RE_EXPORT = "export the quiz from Moodle again, without manual changes"
"""Cure of a document that cannot be parsed."""
_ROOTS = re.compile(r"^(?:\$(?:course|system|cat1|module)\$/)?(?:top(?:/|$))?", re.IGNORECASE)
_PICTURE = re.compile(r"<img\b|@@PLUGINFILE@@", re.IGNORECASE)


def sniff(source: Source) -> bool:
    """Returns whether the outermost element is a quiz with texts of questions or categories as Moodle names them, or
    an empty one. Many programs call their outermost element a quiz."""
    text = "\n".join(source.lines)
    return _ROOT.match(text) is not None and (_OWN.search(text) is not None or _ELEMENT.search(text) is None)


def read(source: Source) -> ImportDraft:
    """Reads all questions of a quiz; findings name unsupported types."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    root = parse_or_refuse(draft, RE_EXPORT)
    if root is None:
        return draft
    if root.name != "quiz":
        return _without_questions(draft, root)
    category = ""
    for element in root.all("question"):
        kind = element.attributes.get("type", "")
        if kind == "category":
            category = _ROOTS.sub("", element.text_of("category"))
        else:
            add_question(draft, element, kind, category)
    if not draft.questions and not draft.findings:
        draft.unreadable("the quiz has no questions", "export a category that contains questions")
    return draft


def _without_questions(draft: ImportDraft, root: XmlElement) -> ImportDraft:
    """Adds an error that names the outermost element of a document in which nothing asks, and those within it."""
    names = list(dict.fromkeys(f"`{name[:40]}`" for name in _names_in(root)))
    shown = ", ".join(names[:_MOST_NAMED]) + (
        f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    )
    message = f"no questions recognized in this XML: its outermost element is `{root.name[:40]}`"
    cure = "call its elements `question`, `option` and `answer`, or export the questions as Moodle XML or QTI"
    note = f"the elements in it: {shown}" if names else "it has no elements"
    draft.add("Q601", message, cure, (root.first, root.first), severity="error", note=note)
    return draft


def _names_in(root: XmlElement) -> Iterator[str]:
    """Yields the names of all elements within one, the outer ones first."""
    level = root.children
    while level:
        yield from (child.name for child in level)
        level = [inner for child in level for inner in child.children]


_MOST_NAMED = 8
"""Most names of elements in a finding."""


def _words(element: XmlElement | None) -> str:
    """Returns an element's text as Markdown, converted from the format it declares."""
    if element is None:
        return ""
    return markdown_converter(element.attributes.get("format", "moodle_auto_format"))(element.markup_of())


def add_question(draft: ImportDraft, element: XmlElement, kind: str, category: str) -> None:
    """Adds a question as Moodle exports it. `category` is its path, without that of the course."""
    lines = (element.first, element.last)
    add = _KINDS.get(kind)
    if not draft.accepts(*lines, element.size):
        return
    if kind == "description":
        draft.add(
            "Q608",
            "descriptions are not questions",
            "nothing to do",
            lines,
            severity="note",
            note="it was read as study text",
        )
        return
    if add is None:
        draft.add_skipped(f"unsupported question type `{kind[:40]}`", _CURE, lines)
        return
    item = Item(*lines, _words(element.child("questiontext")), _words(element.child("generalfeedback")))
    item.title = " ".join(element.text_of("name").split())
    item.topic = topic_of(category)
    item.section = tuple(part.strip() for part in category.split("/") if part.strip())
    item.id = element.text_of("idnumber").strip()
    tags = element.child("tags")
    item.tag([tag.text_of() for tag in tags.all("tag")] if tags else [])
    asked = element.child("questiontext")
    if asked is not None and _PICTURE.search(asked.markup_of()):
        draft.add("Q609", "pictures and files are not imported", "describe the picture", lines)
    add(draft, item, element)


_CURE = "use a multiple-choice, numeric, short-answer or essay question"


def _fraction(answer: XmlElement) -> float:
    try:
        return float(answer.attributes.get("fraction", "0"))
    except ValueError:
        return 0.0


def _choice(draft: ImportDraft, item: Item, element: XmlElement) -> None:
    answers = element.all("answer")
    single = element.text_of("single").strip().lower() in ("", "true", "1")
    least = 99.0 if single else 0.01
    if single and any(0 < _fraction(answer) < least for answer in answers):
        note = "partial credit is not supported; these options count as wrong"
        draft.add("Q606", "some options give partial credit", "mark each as right or wrong", item.lines, note=note)
    texts = without_letters([_words(one) for one in answers])
    offers = [
        OptionDraft(text, _fraction(one) >= least, _words(one.child("feedback")))
        for text, one in zip(texts, answers, strict=True)
    ]
    add_choice(draft, item, offers)


def _several(draft: ImportDraft, item: Item, element: XmlElement) -> None:
    """Adds a choice in which each right option has all of the weight."""
    offers = [
        OptionDraft(_words(one), _fraction(one) > 0, _words(one.child("feedback"))) for one in element.all("answer")
    ]
    add_choice(draft, item, offers)


def _truth(draft: ImportDraft, item: Item, element: XmlElement) -> None:
    answers = {one.text_of().strip().lower(): one for one in element.all("answer")}
    right = [word for word, one in answers.items() if _fraction(one) >= 99]
    if set(answers) != {"true", "false"} or len(right) != 1:
        add_unanswered(draft, item, ["True", "False"])
        return
    wrong = "false" if right[0] == "true" else "true"
    feedbacks = (_words(answers[word].child("feedback")) for word in (wrong, right[0]))
    add_choice(draft, item, true_false_options(item, right[0] == "true", *feedbacks))


def _full(draft: ImportDraft, item: Item, element: XmlElement) -> list[XmlElement]:
    """Returns the answers with full weight; their feedback becomes the explanation."""
    answers = element.all("answer")
    full = [answer for answer in answers if _fraction(answer) >= 99]
    partial = [answer.text_of().strip() for answer in answers if 0 < _fraction(answer) < 99]
    if partial:
        note = f"not imported: {'; '.join(partial)[:200]}"
        draft.add("Q606", "some answers give partial credit", "remove them", item.lines, note=note)
    feedbacks = [_words(answer.child("feedback")) for answer in full]
    item.why = "\n\n".join(text for text in (*feedbacks, item.why) if text)
    return full


def _short(draft: ImportDraft, item: Item, element: XmlElement) -> None:
    full = _full(draft, item, element)
    if any("*" in answer.text_of() for answer in full):
        cure = "write out the accepted answers"
        draft.add("Q606", "`*` is a wildcard in Moodle", cure, item.lines, note="here it is a literal star")
    add_short(draft, item, [_words(answer) for answer in full])


def _number(draft: ImportDraft, item: Item, element: XmlElement) -> None:
    units = element.child("units")
    if units is not None and units.all("unit"):
        names = ", ".join(unit.text_of("unit_name") for unit in units.all("unit"))[:100]
        draft.add("Q606", "units are not imported", "name the unit in the question", item.lines, note=f"units: {names}")
    full = _full(draft, item, element)
    add_number(draft, item, [f"{one.text_of()}:{one.text_of('tolerance').strip() or '0'}" for one in full])


def _matching(draft: ImportDraft, item: Item, element: XmlElement) -> None:
    read: Callable[[XmlElement | None], str] = _words
    pairs = [(read(one), read(one.child("answer"))) for one in element.all("subquestion")]
    add_pairs(draft, item, pairs)


def _cloze(draft: ImportDraft, item: Item, element: XmlElement) -> None:
    """Adds a text with gaps whose answers are in it."""
    asked = element.child("questiontext")
    if asked is None or not has_gaps(asked.markup_of()):
        draft.add_skipped("the text has no gap with an answer", _CURE, item.lines)
        return
    add_gaps(draft, item, asked.markup_of(), markdown_converter(asked.attributes.get("format", "moodle_auto_format")))


def _ordering(draft: ImportDraft, item: Item, element: XmlElement) -> None:
    """Adds a question about an order as an open one: the answers are in the right one."""
    texts = [_words(one) for one in element.all("answer")]
    listed = "\n".join(f"- {text}" for text in sorted(texts, key=str.casefold))
    item.prompt = f"{item.prompt}\n\n{listed}".strip()
    add_open(draft, item, "\n".join(f"{place}. {text}" for place, text in enumerate(texts, 1)))


_GAP = re.compile(r"\[\[(?P<number>\d{1,3})\]\]")


def _gaps(draft: ImportDraft, item: Item, element: XmlElement) -> None:
    """Adds a text whose gaps `[[1]]` are filled with numbered words. One gap is a choice of the words in its group;
    several are an open question."""
    boxes = element.all("selectoption") or element.all("dragbox")
    words = [_words(one) for one in boxes]
    used = [int(found["number"]) for found in _GAP.finditer(item.prompt)]
    if not used or not all(1 <= number <= len(words) for number in used):
        draft.add_skipped("a gap of the text has no word that fills it", _CURE, item.lines)
        return
    item.prompt = _GAP.sub("\\\\_\\\\_\\\\_", item.prompt)
    if len(used) == 1:
        group = boxes[used[0] - 1].text_of("group")
        offers = [
            OptionDraft(word, at == used[0])
            for at, (word, box) in enumerate(zip(words, boxes, strict=True), 1)
            if box.text_of("group") == group
        ]
        add_choice(draft, item, offers)
        return
    add_open(draft, item, "\n".join(f"{place}. {words[number - 1]}" for place, number in enumerate(used, 1)))


def _statements(draft: ImportDraft, item: Item, element: XmlElement) -> None:
    """Adds statements that are true or false as questions of their own."""
    columns = {one.attributes.get("number", ""): one.text_of("responsetext") for one in element.all("column")}
    texts = {row.attributes.get("number", ""): _words(row.child("optiontext")) for row in element.all("row")}
    weights = {
        (one.attributes.get("rownumber", ""), one.attributes.get("columnnumber", "")): one.text_of("value")
        for one in element.all("weight")
    }
    pairs = []
    for number, text in texts.items():
        right = [name for at, name in columns.items() if weights.get((number, at), "").startswith("1")]
        if not text or len(right) != 1:
            draft.add_skipped("a statement has no single right answer", _CURE, item.lines)
            return
        pairs.append((text, right[0]))
    add_pairs(draft, item, [*pairs, *(("", name) for name in columns.values())])


def _program(draft: ImportDraft, item: Item, element: XmlElement) -> None:
    """Adds a task for programmers; the sample solution answers it."""
    if element.text_of("prototypetype") not in ("", "0"):
        draft.add_skipped("a prototype of other questions is none itself", "nothing to do", item.lines)
        return
    answer = element.text_of("answer").strip("\n")
    add_open(draft, item, f"```\n{answer}\n```" if answer.strip() else "")


def _essay(draft: ImportDraft, item: Item, element: XmlElement) -> None:
    answer = _words(element.child("graderinfo"))
    if not answer and item.why:
        cure = "add the answer as information for graders"
        draft.add("Q614", "the general feedback was used as the answer", cure, item.lines, severity="note")
        answer, item.why = item.why, ""
    add_open(draft, item, answer)


_KINDS: dict[str, Callable[[ImportDraft, Item, XmlElement], None]] = {
    "multichoice": _choice,
    "truefalse": _truth,
    "shortanswer": _short,
    "numerical": _number,
    "matching": _matching,
    "match": _matching,
    "essay": _essay,
    "oumultiresponse": _several,
    "cloze": _cloze,
    "ordering": _ordering,
    "gapselect": _gaps,
    "ddwtos": _gaps,
    "kprime": _statements,
    "mtf": _statements,
    "coderunner": _program,
}
