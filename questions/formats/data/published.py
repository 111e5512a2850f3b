"""Brings records of data sets that are published for language models to the fields that other data has: an input with
its target or ideal answer, options with a score each or beside labels, and sentences to be completed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from questions.formats.data.field_names import ROLE_OF, spelled
from questions.formats.data.premises import of_premise
from questions.formats.tables.column_names import DEFINITIONS, TERMS

if TYPE_CHECKING:
    from collections.abc import Mapping

_ASKED = "input"
_ANSWERED = ("ideal", "target", "targets")
_SCORED = "target scores"
_KEYS = ("correct", "index", "answer", "options")
_RIGHT, _WRONG = 1, 0
"""What a score or a label says of an option."""


def of_published(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the fields of a question; those of other records are left as they are."""
    named = dict(fields)
    if isinstance(fields.get("exp"), str) and " " in fields["exp"]:
        named["explanation"] = named.pop("exp")  # a number is experience that a game gives
    return _with_options(_with_question(_with_label(of_premise(_with_reference(named)))))


_REFERENCES = (
    *("reference", "ground truth", "ground truths", "ground truth answer", "ground truth answers"),
    *("gold answer", "gold answers", "golden answer", "reference response", "expected response"),
)
_GENERATED = ("response", "answer", "prediction", "generated answer", "model answer")
"""What a model answered, beside a reference."""


def _with_reference(fields: dict[str, Any]) -> dict[str, Any]:
    """Reads the reference as the answer where a model's answer is beside it: `{user_input, response, reference}`."""
    found = [name for name in _REFERENCES if fields.get(name)]
    asked = "question" if "question" in fields else "user input"
    if len(found) != 1 or not isinstance(fields.get(asked), str) or any(ROLE_OF.get(n) == "options" for n in fields):
        return fields
    reference = fields[found[0]]
    texts = reference if isinstance(reference, list) else [reference]
    if not all(isinstance(text, str) for text in texts) or str(texts[0]).startswith(("http://", "https://")):
        return fields
    rest = {name: value for name, value in fields.items() if name not in (asked, found[0], *_GENERATED)}
    return {"question": fields[asked], "answer": texts[0] if len(texts) == 1 else texts, **rest}


_BEGUN = ("ctx", "goal", "sentence")
"""Fields with what an option completes or answers."""
_COMPLETED = {"endings": "options", "sol1": "option 1", "sol2": "option 2"}


def _with_label(fields: dict[str, Any]) -> dict[str, Any]:
    """Reads what is to be completed by one of the options as the question, and a label as the place of the right one,
    from 0. Beside no options, a label is a class of a text."""
    begun = [name for name in _BEGUN if isinstance(fields.get(name), str)]
    if len(begun) != 1 or any(ROLE_OF.get(name) == "question" for name in fields):
        return fields
    called = {begun[0]: "question", **_COMPLETED}
    found = {called.get(name, name): value for name, value in fields.items()}
    keyed = "label" in fields or any(ROLE_OF.get(name) in ("correct", "index", "answer") for name in fields)
    if not keyed or not found.keys() & {"options", "option 1", "option1"}:
        return fields
    label = str(found.get("label", "")).strip()
    return {**found, "correct index": int(label)} if label.isdecimal() else found


def _with_question(fields: dict[str, Any]) -> dict[str, Any]:
    """Reads an input as the question where a field says what is right, and a term as the front of a card."""
    if any(ROLE_OF.get(name) == "question" for name in fields):
        return fields
    terms, definitions = TERMS & fields.keys(), DEFINITIONS & fields.keys()
    if len(terms) == len(definitions) == 1 and not any(ROLE_OF.get(name) in _KEYS for name in fields):
        called = {next(iter(terms)): "question", next(iter(definitions)): "answer"}
        return {called.get(name, name): value for name, value in fields.items()}
    asked = _last_message(fields.get(_ASKED))
    rest = {name: value for name, value in fields.items() if name not in (_ASKED, _SCORED, *_ANSWERED)}
    scores = fields.get(_SCORED)
    if asked and isinstance(scores, dict) and len(scores) > 1:
        return {"question": asked, "options": _marked(scores), **rest}
    answer = next((fields[name] for name in _ANSWERED if fields.get(name) not in (None, "")), None)
    return {"question": asked, "answer": answer, **rest} if asked and answer is not None else fields


def _last_message(value: Any) -> str:
    """Returns the only text of the user in a list of messages, or the text itself; empty for other values."""
    if isinstance(value, list) and all(isinstance(one, dict) for one in value):
        contents = [one.get("content") for one in value if one.get("role") == "user"]
        value = contents[0] if len(contents) == 1 else ""
    return value if isinstance(value, str) else ""


def _marked(scores: Mapping[Any, Any]) -> list[Any]:
    """Returns the options, each with whether it is right if every score says so."""
    if not all(score in (_RIGHT, _WRONG) for score in scores.values()):
        return [str(text) for text in scores]
    return [{"text": str(text), "correct": score == _RIGHT} for text, score in scores.items()]


def _with_options(fields: dict[str, Any]) -> dict[str, Any]:
    """Reads options beside labels, `{choices: […], labels: [1, 0]}`, in the first field of that form, by any name."""
    if any(ROLE_OF.get(name) == "options" for name in fields):
        return fields
    for name, value in fields.items():
        inner = {spelled(key): one for key, one in value.items()} if isinstance(value, dict) else {}
        texts, labels = inner.get("choices"), inner.get("labels")
        if isinstance(texts, list) and isinstance(labels, list) and len(texts) == len(labels) > 1:
            rest = {key: one for key, one in fields.items() if key != name}
            return {**rest, "options": _marked(dict(zip(map(str, texts), labels, strict=True)))}
    return fields
