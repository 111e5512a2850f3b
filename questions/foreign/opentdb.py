"""Open Trivia Database JSON, in each of the encodings its API gives: HTML entities, URL, base64."""

from __future__ import annotations

import base64
import binascii
import html
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote, unquote_plus

from questions.foreign.json_items import Element, line_of, outline
from questions.foreign.making import Item, Offer, add_choice, topic_of
from questions.foreign.sheet import Sheet
from questions.foreign.wording import from_plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from questions.source import Source

NAME = "opentdb"

_KEY = re.compile(r'"(?:correct_answer|response_code)"\s*:')
_BASE64_TYPES = ("bXVsdGlwbGU=", "Ym9vbGVhbg==")
_FIELDS = frozenset({"category", "type", "difficulty", "question", "correct_answer", "incorrect_answers"})


def sniff(source: Source) -> bool:
    """Whether the text is JSON that speaks of correct answers."""
    text = "\n".join(source.lines).lstrip()
    return text[:1] in ("{", "[") and bool(_KEY.search(text))


def read(source: Source) -> Sheet:
    """All questions of an API response, or of a list of its results."""
    sheet = Sheet(source, NAME)
    sheet.title = sheet.stem
    # The API's terms; the answer itself does not state them.
    sheet.licence = "CC-BY-SA-4.0" if sniff(source) else ""
    try:
        found = outline("\n".join(source.lines), "results")
    except ValueError as error:
        said = str(error).partition(": line ")[0]
        return sheet.unreadable(f"this JSON cannot be read: {said}", "save the response again, whole", line_of(error))
    code = found.values.get("response_code", 0)
    if code != 0:
        sheet.unreadable(f"the API answered with code {str(code)[:20]} instead of questions", "ask it again")
    elif found.elements is None:
        sheet.unreadable("this JSON holds no list `results`", "save an OpenTDB response, or a bank exported as JSON")
    decode = _decoder(found.elements or [])
    for element in found.elements or ():
        _question(sheet, element, decode)
    return sheet


def _strings(value: Any) -> list[str]:
    """The texts of an entry and of its lists."""
    inner = value.values() if isinstance(value, dict) else ()
    parts = [part for one in inner for part in (one if isinstance(one, list) else [one])]
    return [part for part in parts if isinstance(part, str)]


def _decoder(elements: list[Element]) -> Callable[[str], str]:
    """How the texts of a response are encoded; all of them are, in one way."""
    texts = [text for element in elements for text in _strings(element.value)]
    if any(text in _BASE64_TYPES for text in texts):
        return _unbase64
    if any(" " in text for text in texts) or not any(re.search(r"%[0-9A-Fa-f]{2}", text) for text in texts):
        return html.unescape
    return unquote if any("%20" in text for text in texts) else unquote_plus


def _unbase64(text: str) -> str:
    try:
        return base64.b64decode(text, validate=True).decode("utf-8", "replace")
    except (binascii.Error, ValueError):
        return text


def _question(sheet: Sheet, element: Element, decode: Callable[[str], str]) -> None:
    lines = (element.first, element.last)
    data = element.value
    if not sheet.takes(*lines, sum(map(len, _strings(data)))):
        return
    if not isinstance(data, dict) or not isinstance(data.get("question"), str):
        sheet.left_out("this entry is no question", 'give it a text under "question"', lines)
        return
    texts = {key: " ".join(decode(value).split()) for key, value in data.items() if isinstance(value, str)}
    item = Item(*lines, from_plain(texts["question"]))
    category = texts.get("category", "")
    item.section, item.topic = ((category,) if category else ()), topic_of(category)
    item.tag([texts.get("difficulty", "")])
    unknown = sorted(str(key)[:40] for key in data.keys() - _FIELDS)
    if unknown:
        sheet.say("Q610", f"{', '.join(unknown)} was not kept", "remove it", lines, severity="note")
    add_choice(sheet, item, _offers(data, texts, decode))


def _offers(data: dict[str, Any], texts: dict[str, str], decode: Callable[[str], str]) -> list[Offer]:
    """The options in an order that says nothing: True before False, all others by their letters."""
    wrong = data.get("incorrect_answers")
    words = [decode(one) for one in wrong if isinstance(one, str)] if isinstance(wrong, list) else []
    offers = [Offer(from_plain(" ".join(word.split())), right=False) for word in words]
    if "correct_answer" in texts:
        offers.append(Offer(from_plain(texts["correct_answer"]), right=True))
    if {offer.text for offer in offers} == {"True", "False"}:
        return sorted(offers, key=lambda offer: offer.text, reverse=True)
    return sorted(offers, key=lambda offer: (offer.text.casefold(), offer.text))
