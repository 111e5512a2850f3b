"""Reads questions in XML of any schema: elements and attributes as fields, with the usual names or close to them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from questions.formats import moodle
from questions.formats.android_resources import are_resources, data_of_resources
from questions.formats.data import records
from questions.formats.data.field_names import FLAGS, WRONG_FLAGS, spelled
from questions.formats.data.roles import role_of
from questions.formats.draft import ImportDraft
from questions.formats.markdown import markdown_converter
from questions.formats.xml import INLINE, BrokenXml, RefusedXml, XmlElement, parse_or_refuse, parse_xml

if TYPE_CHECKING:
    from questions.source import Source

NAME = "xml"
_MOST = 0.6
"""Share of the texts called questions in the resources of an app that must ask."""


def sniff(source: Source) -> bool:
    """Returns whether the document is XML in which elements ask and offer options or answers."""
    start = next((line.strip() for line in source.lines if line.strip()), "")
    if not start.startswith("<") or moodle.sniff(source):
        return False
    try:
        root = parse_xml("\n".join(source.lines))
        data = _data_of(root)
        return records.holds_records(data) or (are_resources(root) and records.only_asks(data, _MOST))
    except (BrokenXml, RefusedXml):
        return False


def read(source: Source) -> ImportDraft:
    """Reads all questions."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    root = parse_or_refuse(draft, "export the questions again")
    if root is None:
        return draft
    languages = sorted(_languages(root))
    if len(languages) > 1:
        cure = "import a file in each language for a bank in each"
        message = f"of texts in several languages, one was imported: {', '.join(languages[:10])}"
        draft.add("Q610", message, cure, (root.first, root.first), severity="note")
    return records.read_data(draft, _data_of(root))


def _data_of(root: XmlElement) -> Any:
    return data_of_resources(root) if are_resources(root) else data_of(root)


def _languages(element: XmlElement) -> set[str]:
    own = {element.attributes["xml:lang"]} if element.attributes.get("xml:lang") else set()
    return own.union(*map(_languages, element.children))


def data_of(element: XmlElement, language: str = "") -> Any:
    """Returns an element as data: its text, or a mapping of its attributes and children; children with the same name
    are a list. Of the same text in several languages, the first is kept, or the English one.

    `language`: the language of the element around it.
    """
    language = element.attributes.get("xml:lang", language)
    if _holds_html(element):
        text = _shown(element)
        element = replace(element, pieces=[], children=[])
    else:
        text = " ".join("".join(element.pieces).split("\n")).strip()
    attributes = {_local(name): value for name, value in element.attributes.items() if not name.startswith("xmlns")}
    if _local(element.name) == "statement" and attributes.get("correct") in _STATED:
        # What PreTeXt says of a statement; elsewhere, `no` may be the answer.
        attributes["correct"] = _STATED[attributes["correct"]]
    if not element.children:
        attributes.pop("lang", None)
        # The text may be an attribute, as in `<option text="a view"/>`.
        return {**attributes, **({"text": text} if text or "text" not in attributes else {})} if attributes else text
    languages = [child.attributes.get("xml:lang", "") for child in element.children]
    if all(languages) and len({child.name for child in element.children}) == 1:
        chosen = element.children[languages.index("en") if "en" in languages else 0]
        inner = data_of(chosen)
        return {**attributes, "text": inner} if attributes else inner
    groups: dict[str, list[Any]] = {}
    children = _in_one_language(element.children, language)
    first = _first_of_row(children)
    if first is not None:
        row = [data_of(one, language) for one in _in_rows(children[first:])]
        children = children[:first]
        groups["questions"] = [row]
    for child in children:
        groups.setdefault(_local(child.name), []).append(data_of(child, language))
    if len(groups.get("a", ())) > 1 and groups.keys().isdisjoint(("b", "option", "options", "choice", "choices")):
        groups = {"options" if name == "a" else name: one for name, one in groups.items()}
    data: dict[str, Any] = {name: one[0] if len(one) == 1 else one for name, one in groups.items()}
    if text:
        data.setdefault("text", text)
    only = next(iter(data.values())) if len(data) == 1 else None
    bare = not attributes or (role_of(element.name) == "options" and not any(map(role_of, attributes)))
    if bare and isinstance(only, list) and all(isinstance(one, str | dict) for one in only):
        # What only holds a list, such as `<options>`, is that list.
        return only
    return {**attributes, **data}


_STATED = {"yes": "true", "no": "false"}


def _holds_html(element: XmlElement) -> bool:
    """Returns whether the elements in an element are HTML in its text. Those with a mark of an option are fields,
    whatever their names, and so are `<a>` that are not links: `<q>…</q><a correct="true">…</a><a>…</a>`."""
    names = {child.name for child in element.children}
    if not names or any(map(_is_field, element.children)):
        return False
    return not names.isdisjoint((*INLINE, "q")) if "".join(element.pieces).strip() else names <= INLINE


def _is_field(child: XmlElement) -> bool:
    if any(spelled(name) in _MARKS for name in child.attributes):
        return True
    return child.name == "a" and "href" not in child.attributes and bool(child.all_text().strip())


_MARKS = {*FLAGS, *WRONG_FLAGS} - {"answer", "points", "score", "weight"}
"""Names of attributes that no element of HTML has."""


def _first_of_row(children: list[XmlElement]) -> int | None:
    """Returns the index of the first of several elements that ask and have what answers them beside them, up to the
    next: `<q>…</q><a>…</a><q>…</q><a>…</a>`. None if there are no such."""
    times = Counter(child.name for child in children)
    asks = next((name for name in times if times[name] > 1 and role_of(_local(name)) == "question"), "")
    asking = [at for at, one in enumerate(children) if asks and one.name == asks]
    alone = all(step > 1 for step in (two - one for one, two in pairwise([*asking, len(children)])))
    texts = not any(child.children and not _holds_html(child) for child in children)
    return asking[0] if asking and alone and texts else None


def _in_rows(children: list[XmlElement]) -> list[XmlElement]:
    """Returns an element for each question, with the elements from the one that asks up to the next."""
    starts = [at for at, one in enumerate(children) if one.name == children[0].name]
    return [
        XmlElement("", {}, children[start].first, children[end - 1].last, children=children[start:end])
        for start, end in pairwise([*starts, len(children)])
    ]


def _in_one_language(children: list[XmlElement], language: str) -> list[XmlElement]:
    """Returns the elements of one language, English or that around them, if there are as many in each."""
    spoken = [child.attributes.get("xml:lang", language) for child in children]
    known = {one for one in spoken if one}
    times: dict[str, Counter[str]] = {}
    for child, one in zip(children, spoken, strict=True):
        times.setdefault(child.name, Counter())[one] += 1
    alike = all(len(one) == len(known) and len(set(one.values())) == 1 for one in times.values())
    if len(known) < 2 or "" in spoken or not alike:
        return children
    chosen = "en" if "en" in known else language if language in known else spoken[0]
    return [child for child, one in zip(children, spoken, strict=True) if one == chosen]


def _shown(element: XmlElement) -> str:
    """Returns the text of an element with HTML as Markdown."""
    converted: str = markdown_converter("html")(element.as_html())
    return converted.strip()


def _local(name: str) -> str:
    return name.rpartition(":")[2]
