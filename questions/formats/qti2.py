"""Reads items of QTI 2 and 3: choices, short texts, matching, and prose. Other interactions are named and left out.

Items stand alone in a file, or in a content package (`imsmanifest.xml` and a file for each item).
"""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

from questions.formats.draft import (
    Item,
    OptionDraft,
    add_choice,
    add_number,
    add_open,
    add_pairs,
    add_short,
    add_unanswered,
)
from questions.formats.markdown import markdown_converter
from questions.formats.xml import VOID

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.formats.draft import ImportDraft
    from questions.formats.xml import XmlElement

ITEMS = ("assessmentItem", "qti-assessment-item")
TESTS = ("assessmentTest", "qti-assessment-test")
_READ = ("choice", "text-entry", "inline-choice", "extended-text", "match", "associate")
_CHOICES = ("simple-choice", "inline-choice")
_NUMBERS = ("integer", "float")


def add_item(draft: ImportDraft, element: XmlElement) -> None:
    """Adds the question of an item, or a finding that names what cannot be expressed."""
    lines = (element.first, element.last)
    if not draft.accepts(*lines, element.size):
        return
    body = next((child for child in element.children if _name(child) == "item-body"), element)
    interactions = [*_interactions(body)]
    kinds = [_name(one).removesuffix("-interaction") for one in interactions]
    title = " ".join(element.attributes.get("title", "").split())
    item = Item(*lines, _asked(body, interactions))
    item.title = "" if title.casefold() in ("question", "item", item.prompt.casefold()) else title
    item.why = _feedback(element)
    if not interactions:
        draft.add("Q608", "the item asks for nothing", "nothing to do", lines, severity="note", note="it was left out")
    elif len(interactions) > 1 or kinds[0] not in _READ:
        what = ", ".join(dict.fromkeys(kinds)) if len(interactions) == 1 else f"{len(interactions)} interactions"
        cure = "ask one thing in each item: a choice, a short text, pairs or prose"
        draft.add_skipped(f"unsupported question type `{what[:60]}`", cure, lines)
    else:
        _add(draft, item, element, interactions[0], kinds[0])


def _add(draft: ImportDraft, item: Item, element: XmlElement, interaction: XmlElement, kind: str) -> None:
    if any(True for _ in _all(interaction, "img")) or "![" in item.prompt:
        draft.add("Q609", "pictures and files are not imported", "describe the picture", item.lines)
    declared = _declaration(element, interaction)
    right = _values(declared)
    mapped = _mapped(declared)
    if kind in ("choice", "inline-choice"):
        right = right or _best(mapped)
        if not right and (compared := _compared(element)):
            right = compared
        options = [one for name in _CHOICES for one in _all(interaction, name)]
        offers = [
            OptionDraft(_markdown(one, without=("feedback-inline",)), one.attributes.get("identifier", "") in right)
            for one in options
        ]
        offers = [
            offer if offer.right else OptionDraft(offer.text, False, _reason(one))
            for offer, one in zip(offers, options, strict=True)
        ]
        add_choice(draft, item, offers)
    elif kind in ("match", "associate"):
        texts = {
            one.attributes.get("identifier", ""): _markdown(one)
            for one in _all(interaction, "simple-associable-choice")
        }
        pairs = [tuple(value.split()) for value in right or [*mapped]]
        add_pairs(draft, item, [(texts.get(p[0], ""), texts.get(p[1], "")) for p in pairs if len(p) == 2])
    elif kind == "extended-text":
        model = _model_answer(element)
        add_open(draft, item, model) if model or right else add_unanswered(draft, item)
    else:
        accepted = [*dict.fromkeys([*right, *_best(mapped)])] or _compared(element)
        number = declared is not None and _declared(declared, "base-type") in _NUMBERS
        (add_number if number else add_short)(draft, item, accepted)


def _name(element: XmlElement) -> str:
    """Returns the name as in QTI 3, without its prefix: `choiceInteraction` is `choice-interaction`."""
    local = element.name.rpartition(":")[2].removeprefix("qti-")
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", local).lower()


def _all(element: XmlElement, name: str) -> Iterator[XmlElement]:
    for child in element.children:
        if _name(child) == name:
            yield child
        yield from _all(child, name)


def _interactions(element: XmlElement) -> Iterator[XmlElement]:
    for child in element.children:
        if _name(child).endswith("-interaction"):
            yield child
        else:
            yield from _interactions(child)


def _asked(body: XmlElement, interactions: list[XmlElement]) -> str:
    """Returns the text of the item with its prompt; a gap in a sentence stays visible."""
    prompts = [_markdown(one) for interaction in interactions for one in _all(interaction, "prompt")]
    return "\n\n".join(text for text in (_markdown(body, gaps=True), *prompts) if text)


_INLINE = ("text-entry-interaction", "inline-choice-interaction")
_LEFT_OUT = ("rubric-block", "feedback-block", "feedback-inline", "stylesheet", "template-block")


def _markdown(element: XmlElement, *, gaps: bool = False, without: tuple[str, ...] = ()) -> str:
    """Returns the content as Markdown, without interactions and feedback."""
    converted: str = markdown_converter("html")(_html(element, gaps=gaps, without=(*without, *_LEFT_OUT)))
    return converted.strip()


def _html(element: XmlElement, *, gaps: bool, without: tuple[str, ...]) -> str:
    parts: list[str] = []
    for text, child in element.content():
        parts.append(html.escape(text))
        if child is None:
            continue
        name = _name(child)
        if name in _INLINE:
            parts.append(" ____ " if gaps else "")
        elif not name.endswith("-interaction") and name not in without and name != "prompt":
            inner = _html(child, gaps=gaps, without=without)
            tag = child.name.rpartition(":")[2]
            source = f' src="{html.escape(child.attributes.get("src", ""))}"' if tag == "img" else ""
            end = "" if tag in VOID else f"</{tag}>"
            parts.append(f"<{tag}{source}>{inner}{end}" if name in _HTML else inner)
    return "".join(parts)


_HTML = frozenset(
    (
        *(
            "p",
            "div",
            "b",
            "strong",
            "i",
            "em",
            "code",
            "pre",
            "ul",
            "ol",
            "li",
            "blockquote",
            "br",
            "img",
            "sub",
            "sup",
        ),
        *("table", "thead", "tbody", "tr", "td", "th", "h1", "h2", "h3", "h4"),
    )
)
"""Elements with the meaning that they have in HTML."""


# Keys


def _declaration(element: XmlElement, interaction: XmlElement) -> XmlElement | None:
    """Returns the declaration of the response that an interaction gives."""
    wanted = _declared(interaction, "response-identifier")
    found = [child for child in element.children if _name(child) == "response-declaration"]
    return next((one for one in found if one.attributes.get("identifier", "") == wanted), found[0] if found else None)


def _declared(element: XmlElement, name: str) -> str:
    camel = re.sub(r"-(\w)", lambda found: found[1].upper(), name)
    return element.attributes.get(name, element.attributes.get(camel, ""))


def _values(declared: XmlElement | None) -> list[str]:
    """Returns the values of the correct response."""
    responses = [*_all(declared, "correct-response")] if declared else []
    return [value.all_text().strip() for one in responses for value in _all(one, "value")]


def _mapped(declared: XmlElement | None) -> dict[str, float]:
    """Returns the points that a response is mapped to."""
    points: dict[str, float] = {}
    for entry in _all(declared, "map-entry") if declared else ():
        try:
            points[_declared(entry, "map-key")] = float(_declared(entry, "mapped-value"))
        except ValueError:
            continue
    return points


def _best(points: dict[str, float]) -> list[str]:
    """Returns the responses with the most points; others are right in part only."""
    most = max(points.values(), default=0.0)
    return [key for key, value in points.items() if value == most > 0]


def _compared(element: XmlElement) -> list[str]:
    """Returns the values that the first condition of the processing compares the response with."""
    for condition in _all(element, "response-if"):
        compared = [*_all(condition, "match"), *_all(condition, "string-match"), *_all(condition, "equal")]
        values = [value.all_text().strip() for one in compared for value in _all(one, "base-value")]
        if len(compared) == 1 and values:
            return values
    return []


# Texts about the answer


def _feedback(element: XmlElement) -> str:
    """Returns the feedback on the item, if there is one text for all answers."""
    texts = [_markdown(one) for one in element.children if _name(one) == "modal-feedback"]
    distinct = [*dict.fromkeys(text for text in texts if text)]
    return distinct[0] if len(distinct) == 1 else ""


def _reason(option: XmlElement) -> str:
    texts = (_html(one, gaps=False, without=()) for one in _all(option, "feedback-inline"))
    converted: str = markdown_converter("html")(" ".join(texts))
    return converted.strip()


def _model_answer(element: XmlElement) -> str:
    """Returns the answer that a rubric for those who mark it gives."""
    rubrics = [one for one in _all(element, "rubric-block") if "scorer" in one.attributes.get("view", "")]
    texts = (_html(one, gaps=False, without=()) for one in rubrics)
    converted: str = markdown_converter("html")("".join(texts))
    return converted.strip()
