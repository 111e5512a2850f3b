"""Reads questions in XML of any schema: elements and attributes as fields, with the usual names or close to them."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from questions.formats import moodle, records
from questions.formats.draft import ImportDraft
from questions.formats.markdown import markdown_converter
from questions.formats.xml import INLINE, BrokenXml, RefusedXml, XmlElement, parse_xml

if TYPE_CHECKING:
    from questions.source import Source

NAME = "xml"


def sniff(source: Source) -> bool:
    """Returns whether the document is XML in which elements ask and offer options or answers."""
    start = next((line.strip() for line in source.lines if line.strip()), "")
    if not start.startswith("<") or moodle.sniff(source):
        return False
    try:
        return records.holds_records(data_of(parse_xml("\n".join(source.lines))))
    except (BrokenXml, RefusedXml):
        return False


def read(source: Source) -> ImportDraft:
    """Reads all questions."""
    draft = ImportDraft(source, NAME)
    draft.title = draft.stem
    try:
        root = parse_xml("\n".join(source.lines))
    except BrokenXml as error:
        return draft.unreadable(f"invalid XML: {error}", "export the questions again", error.line)
    except RefusedXml as error:
        return draft.refused(str(error), "export the questions again", error.line)
    languages = sorted(_languages(root))
    if len(languages) > 1:
        cure = "import a file in each language for a bank in each"
        message = f"of texts in several languages, one was imported: {', '.join(languages[:10])}"
        draft.add("Q610", message, cure, (root.first, root.first), severity="note")
    return records.read_data(draft, data_of(root))


def _languages(element: XmlElement) -> set[str]:
    own = {element.attributes["xml:lang"]} if element.attributes.get("xml:lang") else set()
    return own.union(*map(_languages, element.children))


def data_of(element: XmlElement, language: str = "") -> Any:
    """Returns an element as data: its text, or a mapping of its attributes and children; children with the same name
    are a list. Of the same text in several languages, the first is kept, or the English one.

    `language`: the language of the element around it.
    """
    language = element.attributes.get("xml:lang", language)
    inline = any(child.name in INLINE for child in element.children) and "".join(element.pieces).strip()
    if inline or (element.children and all(child.name in INLINE for child in element.children)):
        text = _shown(element)
        element = replace(element, pieces=[], children=[])
    else:
        text = " ".join("".join(element.pieces).split("\n")).strip()
    attributes = {_local(name): value for name, value in element.attributes.items() if not name.startswith("xmlns")}
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
    for child in _in_one_language(element.children, language):
        groups.setdefault(_local(child.name), []).append(data_of(child, language))
    data: dict[str, Any] = {name: one[0] if len(one) == 1 else one for name, one in groups.items()}
    if text:
        data.setdefault("text", text)
    only = next(iter(data.values())) if len(data) == 1 else None
    if not attributes and isinstance(only, list) and all(isinstance(one, str | dict) for one in only):
        # What only holds a list, such as `<options>`, is that list.
        return only
    return {**attributes, **data}


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
