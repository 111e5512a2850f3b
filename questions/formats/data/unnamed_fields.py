"""Describes records whose fields have no known names, and the recipe that reads them; and finds the fields that ask and
answer where the texts show it beyond doubt."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any, NamedTuple

from questions.formats.data.field_names import spelled
from questions.formats.data.loading import MOST_VALUES
from questions.formats.data.options import are_plain
from questions.recipes import Recipe
from questions.wording.stems import demands, ends_asking, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

_FEWEST = 3
"""Fewest records that show what their fields hold."""
_MOST_NAMED = 10
"""Most fields that are named."""
_LONGEST_EXAMPLE = 40
_LONGEST_NAME = 60
_KEYED = ("question", "correct", "options", "index", "wrong", "answer")
"""Roles of the fields without which nothing is read."""
_NO_TEXT = ("id", "level", "topic", "tags")
"""Roles of fields that neither ask nor answer."""


class UnnamedFields(NamedTuple):
    """Records without known names, in words."""

    message: str
    note: str
    cure: str


def describe_fields(data: Any, roles: Mapping[str, str]) -> UnnamedFields | None:
    """Returns what the fields of the most records with the same names hold, and the recipe that reads them; None if
    there are too few records. `roles`: the role of a field by its name."""
    records = _records(data)
    texts = _texts(records, roles)
    if not records or not texts:
        return None
    named = [name for name in records[0] if isinstance(name, str)][:_MOST_NAMED]
    note = "; ".join(f"`{name[:_LONGEST_NAME]}`: `{_example(records[0][name])}`" for name in named)
    asks, answers = _guessed(texts)
    if any(roles.get(spelled(name)) in _KEYED for name in named):
        # What answers is known already.
        answers = ""
    lines = [Recipe(columns=((part, (name,)),)).text for part, name in (("prompt", asks), ("answer", answers)) if name]
    recipe = " and ".join(f"`{line}`" for line in lines)
    message = f"no field of these {len(records)} records is known to hold questions"
    cure = f"if they are questions, state a recipe that names the right fields, with a line for each: {recipe}"
    return UnnamedFields(message, note, cure)


def _example(value: Any) -> str:
    shown = " ".join(str(value).replace("`", "'").split())
    return shown if len(shown) <= _LONGEST_EXAMPLE else f"{shown[:_LONGEST_EXAMPLE]}…"


class InferredFields(NamedTuple):
    """What the fields of records are, although their names are not known."""

    names: dict[str, str]
    """The name that each field should have."""
    message: str
    note: str
    explained: bool = False
    """Whether an explanation is all that answers."""


def infer_fields(data: Any, roles: Mapping[str, str]) -> InferredFields | None:
    """Returns what the fields of records are in which none is known to ask or answer, by what is in them; None if that
    does not show it beyond doubt. `roles`: the role of a field by its name."""
    records = _records(data)
    known = {
        name: roles[role] for name in (records[0] if records else ()) if roles.get(role := spelled(name)) in _KEYED
    }
    if name := _only_asking(records, known):
        message = f"the field `{name[:40]}` was read as the question, without an answer"
        return InferredFields({name: "question"}, message, "most of its texts ask, and no field answers")
    if known and (name := _asking_beside_answers(records, roles, known)):
        message = f"the field `{name[:40]}` was read as the question"
        return InferredFields({name: "question"}, message, "most of its texts ask, and another field answers")
    if not records or known:
        return None
    if name := _alone_asking(records, roles):
        message = f"the field `{name[:40]}` was read as the question, without an answer"
        return InferredFields({name: "question"}, message, "nearly all of its texts ask, and there is no other text")
    if pair := _asking_pair(records, roles):
        message = f"the field `{pair[0][:40]}` was read as the question, and `{pair[1][:40]}` as its answer"
        note = "the first ends with a question mark in each record, and the second never does"
        return InferredFields({pair[0]: "question", pair[1]: "answer"}, message, note)
    if names := _asking_choice(records, roles):
        asks, offers, key = (name[:40] for name in names)
        message = f"the field `{asks}` was read as the question, `{offers}` as its options, and `{key}` as the key"
        return InferredFields(names, message, "in each record, they are the only ones that can be")
    if name := _explained_field(records, roles):
        message = f"the field `{name[:40]}` was read as the question, and the explanation as its answer"
        return InferredFields({name: "question"}, message, "no other field has texts of its own", explained=True)
    return None


def _only_asking(records: list[dict[Any, Any]], known: Mapping[str, str]) -> str:
    """Returns the name of the field that asks in records without answers, although its name, such as `q`, may mean
    something else. `known`: the roles of the fields with known names."""
    (name, role), *others = [*known.items()] or [("", "")]
    texts = [text for record in records if isinstance(text := record.get(name), str)]
    share = _MAY_ASK.get(spelled(name), 1)
    asking = len(texts) == len(records) > 0 and sum(map(reads_as_question, texts)) > share * len(texts)
    return name if role == "question" and not others and asking else ""


def _asking_beside_answers(records: list[dict[Any, Any]], roles: Mapping[str, str], known: Mapping[str, str]) -> str:
    """Returns the name of the only text field with an unknown name, if most of its texts ask and another field
    answers."""
    if "question" in known.values() or not {"answer", "correct", "index"} & set(known.values()):
        return ""
    texts = {name: values for name, values in _texts(records, roles).items() if not roles.get(spelled(name))}
    asks = [name for name, values in texts.items() if sum(map(reads_as_question, values)) * 2 > len(values)]
    return asks[0] if len(asks) == 1 == len(texts) else ""


def _alone_asking(records: list[dict[Any, Any]], roles: Mapping[str, str]) -> str:
    """Returns the name of the field that asks in nearly all records, where there is no other text and no list."""
    names = [name for name in records[0] if not all(isinstance(one.get(name), int | float | None) for one in records)]
    texts = _texts(records, roles)
    if len(names) != 1 or list(texts) != names:
        return ""
    asking = sum(reads_as_question(text) or demands(text) for text in texts[names[0]])
    return names[0] if asking >= _DIFFERENT * len(records) else ""


_MAY_ASK = {"q": 0.5, "query": 0.5, "prompt": 0.5, "stem": 0.5, "text": 0.8}
"""Names that are not only given to questions, and the share of texts that must ask."""


def _asking_pair(records: list[dict[Any, Any]], roles: Mapping[str, str]) -> tuple[str, str] | None:
    """Returns the names of the fields that ask and answer: the texts of one end with a question mark in each record,
    and only one other has a text of its own in each, which never does."""
    texts = _texts(records, roles)
    asking = [name for name, values in texts.items() if all(map(ends_asking, values))]
    others = [name for name, values in texts.items() if not any(map(ends_asking, values))]
    return (asking[0], others[0]) if len(asking) == len(others) == 1 and len(texts) == 2 else None


def _asking_choice(records: list[dict[Any, Any]], roles: Mapping[str, str]) -> dict[str, str]:
    """Returns the name of the only text that asks, of the only list, which has the options, and of the only other value
    that names one of them in each record: by its text, or by its place if the name can be short for a key."""
    lists = [name for name in records[0] if all(are_plain(record.get(name)) for record in records)]
    asks = [name for name, values in _texts(records, roles).items() if sum(map(ends_asking, values)) * 2 > len(values)]
    if len(lists) != 1 or len(asks) != 1:
        return {}
    others = [name for name in records[0] if name not in (*lists, *asks) and roles.get(spelled(name)) not in _NO_TEXT]
    keys = [name for name in others if all(_names_one(name, record.get(name), record[lists[0]]) for record in records)]
    return {asks[0]: "question", lists[0]: "options", keys[0]: "correct"} if len(keys) == 1 else {}


_SHORT_FOR_KEY = ("a", "c", "k", "r")
"""Names of a place that can be short for answer, correct, key and right. Another number may count points or stars."""


def _names_one(name: str, value: Any, options: list[Any]) -> bool:
    """Returns whether a value is the text of an option, or by its field's name may be its place."""
    if isinstance(value, int) and not isinstance(value, bool):
        return spelled(name) in _SHORT_FOR_KEY and 0 <= value <= len(options)
    return isinstance(value, str) and value in options


def _explained_field(records: list[dict[Any, Any]], roles: Mapping[str, str]) -> str:
    """Returns the name of the only field with texts of its own, nearly each a different one, beside a field that
    explains."""
    found = []
    for name in records[0] if "why" in {roles.get(spelled(name)) for name in records[0]} else ():
        values = [value.strip() for record in records if isinstance(value := record.get(name), str) and value.strip()]
        different = len(set(values)) >= _DIFFERENT * len(records)
        if not roles.get(spelled(name)) and len(values) == len(records) and different and _are_words(values):
            found.append(name)
    return found[0] if len(found) == 1 else ""


_DIFFERENT = 0.9
"""Share of the texts that differ, from which they are the records' own."""


def _records(data: Any) -> list[dict[Any, Any]]:
    """Returns the entries of lists that have the most common set of names, and maybe others; none if they are few."""
    entries = list(entries_of(data))
    counts = Counter(frozenset(entry) for entry in entries)
    texts = Counter(frozenset(entry) for entry in entries for value in entry.values() if isinstance(value, str))
    # Of lists in lists, those with the texts count.
    common = max(counts, key=lambda names: (counts[names], texts[names]), default=None)
    found = [entry for entry in entries if common <= entry.keys()] if common is not None else []
    return found if len(found) >= _FEWEST else []


def entries_of(data: Any) -> Iterator[dict[Any, Any]]:
    """Yields the mappings that are entries of lists."""
    waiting, left = [data], MOST_VALUES
    while waiting and left > 0:
        one = waiting.pop()
        left -= 1
        if isinstance(one, dict):
            waiting += reversed(one.values())
        elif isinstance(one, list):
            yield from (entry for entry in one if isinstance(entry, dict))
            waiting += reversed(one)


def _texts(records: list[dict[Any, Any]], roles: Mapping[str, str]) -> dict[str, list[str]]:
    """Returns the texts of each field that has one of its own in each record."""
    found: dict[str, list[str]] = {}
    for name in records[0] if records else ():
        values = [value.strip() for record in records if isinstance(value := record.get(name), str)]
        own = len(values) == len(records) == len(set(values)) and all(values)
        if own and isinstance(name, str) and roles.get(spelled(name)) not in _NO_TEXT and _are_words(values):
            found[name] = values
    return found


def _are_words(texts: list[str]) -> bool:
    """Returns whether texts are not ids and addresses: most have several words, or are no longer than a word is."""
    return sum(" " in text or (not text.isascii()) or len(text) <= _LONGEST_WORD for text in texts) * 2 > len(texts)


_LONGEST_WORD = 20


def _guessed(texts: Mapping[str, list[str]]) -> tuple[str, str]:
    """Returns the names of the fields that seem to ask and to answer: the one with the most question marks, or the
    first, and the one with the longest other texts; the second is empty if there is none."""
    asks = max(texts, key=lambda name: sum(map(ends_asking, texts[name])))
    others = [name for name in texts if name != asks]
    return asks, max(others, key=lambda name: sum(map(len, texts[name])), default="")
