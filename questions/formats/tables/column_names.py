"""Reads the names in the header of a table: the role of each column."""

from __future__ import annotations

import re
from string import ascii_lowercase
from typing import TYPE_CHECKING, NamedTuple

from questions.formats.data.field_names import (
    FIELD_NAMES,
    flag_place,
    names_index,
    names_wrong,
    option_name,
    option_places,
    spelled,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

_OWN_NAMES: dict[str, str] = {
    "answer": "answers",
    "correct": "|".join(FIELD_NAMES["index"]),
    "kind": "kind|type|question type",
    "license": "license|licence",
    "links": "links|link|url|source|sources|reference",
    "program": "program|code",
    "key_points": "key points|keypoints",
    "reasons": "reasons",
    "title": "title|name",
}
"""Names that only tables have, or that mean something else there than in data."""
_SHARED = ("question", "context", "answer", "correct", "options", "why", "topic", "level", "tags", "id")
_ROLE_OF = {
    **dict.fromkeys(FIELD_NAMES["wrong"], "wrong_options"),
    **{word: role for role in _SHARED for word in FIELD_NAMES[role]},
    **{word: role for role, words in _OWN_NAMES.items() for word in words.split("|")},
}
_WORDS = (*FIELD_NAMES["question"], *FIELD_NAMES["answer"])
_ADVICE = re.compile(
    r"^(?:html|text|wording)[ ]of[ ](?:the[ ])?|[ ]{0,99}(?:[-–—,][ ]|[(（\[]|:[ ]{0,99}$).*$", re.DOTALL | re.I
)
"""What templates add to the name of a column: `Question - max 120 characters`, `HTML of the question`."""


def _names(words: str) -> frozenset[str]:
    return frozenset(map(spelled, words.split("|")))


TERMS = _names(
    "term|terms|concept|begriff|fachbegriff|término|concepto|termo|conceito|terme|termine|concetto|begrip|begreb|begrepp"
    "|termin|pojęcie|pojem|термин|понятие|термін|поняття|terim|kavram|istilah|thuật ngữ|术语|概念|術語|用語|용어|개념"
)
DEFINITIONS = _names(
    "definition|meaning|explanation|description|definitionen|bedeutung|erklärung|definición|significado|definição"
    "|définition|signification|definizione|significato|definitie|betekenis|betydning|forklaring|förklaring|definicja"
    "|znaczenie|definice|význam|определение|значение|визначення|tanım|anlam|definisi|arti|định nghĩa|nghĩa|定义|定義"
    "|解释|意味|説明|정의|뜻|설명"
)
"""Names of the two columns of a table of terms, either of which may be the front of a card."""


class Column(NamedTuple):
    """The role of a column."""

    role: str
    """A field of a question, `option`, `reason`, `flag` (whether an option is right); empty if the name is unknown."""
    place: int = 0
    """Index of an option or reason, from 0."""


def columns(names: Sequence[str]) -> list[Column]:
    """Returns the roles of a header's columns, by names in any order and spelling."""
    shown = [_shown(name) for name in names]
    if {"q", "a"} <= set(shown) and not {"b", "answer", "correct"} & set(shown):
        shown = ["answer" if name == "a" else name for name in shown]
    letters = {"a", "b"} <= set(shown)
    found = [_column(name, letters) for name in shown]
    found = _with_repeated_options(shown, found)
    for at, place in option_places(shown).items():
        if not found[at].role:
            found[at] = Column("wrong" if names_wrong(shown[at]) else "option", place)
    found = _with_weights(shown, found)
    flags = {at: flag for at, name in enumerate(shown) if (flag := flag_place(name)) is not None and not found[at].role}
    if len(flags) > 1 and set(flags.values()) <= {column.place for column in found if column.role == "option"}:
        found = [Column("flag", flags[at]) if at in flags else column for at, column in enumerate(found)]
    # Where `question` and `Frage` are side by side, or `answer` and `sample answer`, the first of the words counts.
    best = {
        role: min((name for name, one in zip(shown, found, strict=True) if one.role == role), key=_place, default="")
        for role in ("question", "answer")
    }
    roles = [
        Column("") if name != best.get(column.role, name) else column for name, column in zip(shown, found, strict=True)
    ]
    return _of_terms(shown, _beside_letters(shown, roles) if letters else roles)


def _with_repeated_options(names: list[str], roles: list[Column]) -> list[Column]:
    """Returns the roles; columns of the same name for options or answers are options, where another has the key."""
    if not any(column.role == "correct" for column in roles):
        return roles
    same = [
        at for at, column in enumerate(roles) if column.role in ("options", "answer") and names.count(names[at]) > 1
    ]
    if len({names[at] for at in same}) != 1:
        return roles
    return [Column("option", same.index(at)) if at in same else column for at, column in enumerate(roles)]


_WEIGHTS = ("fraction", "weight", "points", "score", "grade", "percent", "correct", "is correct", "right", "true")


def _with_weights(names: list[str], roles: list[Column]) -> list[Column]:
    """Returns the roles; where a column of the same name, such as `fraction`, stands right behind each column of an
    option, it says which are right."""
    behind = {at + 1: one.place for at, one in enumerate(roles) if one.role == "option"}
    called = {names[at] for at in behind if at < len(names)}
    if len(behind) < _FEWEST_WEIGHED or len(called) != 1 or not called <= {*_WEIGHTS}:
        return roles
    return [Column("flag", behind[at]) if at in behind else one for at, one in enumerate(roles)]


_FEWEST_WEIGHED = 2


def _place(name: str) -> int:
    return _WORDS.index(name) if name in _WORDS else len(_WORDS)


def _of_terms(names: list[str], roles: list[Column]) -> list[Column]:
    """Returns the roles; in a table of terms and definitions, the first of the two asks, the other answers."""
    terms = [at for at, name in enumerate(names) if name in TERMS]
    definitions = [at for at, name in enumerate(names) if name in DEFINITIONS]
    if (
        len(terms) != 1
        or len(definitions) != 1
        or {one.role for one in roles} & {"question", "answer", "correct", "option"}
    ):
        return roles
    front, back = sorted((*terms, *definitions))
    placed = {front: Column("question"), back: Column("answer")}
    return [placed.get(at, one) for at, one in enumerate(roles)]


def _beside_letters(names: list[str], roles: list[Column]) -> list[Column]:
    """Returns the roles; in a language whose words are unknown, the question comes before the columns `A`, `B`, … and
    the key behind them."""
    first = names.index("a")
    after = next((i for i in range(first, len(roles)) if roles[i].role != "option"), len(roles))
    known = {column.role for column in roles}
    if "question" not in known and first > 0 and names[first - 1] and not roles[first - 1].role:
        roles[first - 1] = Column("question")
    if not known & {"correct", "answer"} and after < len(roles) and names[after] and not roles[after].role:
        roles[after] = Column("correct")
    return roles


def _shown(name: str) -> str:
    """Returns the name of a column in lower case, as words: `correctAnswer` as `correct answer`."""
    return spelled(_ADVICE.sub("", name))


def _column(name: str, letters: bool) -> Column:
    if letters and len(name) == 1 and name in ascii_lowercase and name not in _ROLE_OF:
        return Column("option", ascii_lowercase.index(name))
    if name in _ROLE_OF:
        return Column(_ROLE_OF[name])
    if found := option_name(name):
        return Column(*found)
    return Column("correct" if names_index(name) else "")


_INDEX = re.compile(r"in(?:dex|dice)\b")


def base_of_names(names: Sequence[str]) -> int | None:
    """Returns 1 if the columns of options have numbers, to which a number then refers; otherwise None."""
    shown = [name.casefold() for name in names]
    roles = columns(names)
    numbered = sum(
        column.role == "option" and _ADVICE.sub("", name).strip()[-1:].isdecimal()
        for name, column in zip(names, roles, strict=True)
    )
    return 1 if numbered > 1 and not any(map(_INDEX.search, shown)) else None
