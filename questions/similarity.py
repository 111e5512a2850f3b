"""How alike two questions are: the same by a digest, nearly the same by a lexical index. Pure; nothing is stored.

The case of plain words, punctuation and Markdown's marks tell no two questions apart; names, numbers and operators do.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from sys import intern
from typing import Generic, TypeVar

from questions.model import Question

NEAR = 0.65
"""Two questions at least this alike, of 1, are called near duplicates. Tuned on documents at hand: rewordings of one
question came to 0.67 and more, different questions about one subject to 0.66 and less, all but two to 0.64."""
MOST_NAMED = 5
"""So many others are named to which a question is like."""
MOST_COMPARED = 300
"""With so many of those that share its rarest words a question is compared, so that no document is quadratic."""

Key = TypeVar("Key", bound=Hashable)

_TELLING, _LIGHT = 1.5, 0.2
"""What a name or number, and a word that every question has, weigh against another word."""
_OPENING = 60
"""So many words of an answer are looked at."""
_PROMPT, _PROGRAM, _OPTIONS, _ANSWER = 0.8, 0.8, 0.5, 0.25
"""What the parts of a question weigh, each where it says enough: `What does this print?` alone says little."""
_ENOUGH = 1.5
"""The length from which a part weighs in full; one plain word is 1 long."""
_TOLD_APART = 0.5
"""What is left of a likeness where each question names something that the other does not."""
_ALMOST = 0.99
"""The most that questions come to which are not the same."""

_TOKEN = re.compile(r"c\+\+|c#|\w+(?:\.\w+)*|//|[=!<>+%@&|^-]=|[+%@<>&|^]", re.IGNORECASE)
_CODE_TOKEN = re.compile(r"^(?:import|from) [^\n]*|#[^\n]*|(\w+(?:\.\d+)?|[^\w\s])", re.MULTILINE)
_NUMBER = re.compile(r"\d[\d_]*(?:\.\d+)?(?:e\d+)?", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z][A-Z]")
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_ENDINGS = ("ing", "ed", "es", "s")
_SPEECH = (
    "a all an and answer any are as at be between by can compare concept correct define describe did "
    "differ difference differences discuss do does during each every example examples explain following for from "
    "give happens have how if in into is it its let line lines mean means must of on or pick prints python pytorch "
    "question role should so tensor tensors that the their then there these they this to torch true two use used "
    "using versus vs was we what when where which why will with work works would you your"
)
_EVERYWHERE = frozenset(_SPEECH.split())


@dataclass(frozen=True, slots=True)
class Print:
    """What is compared of a question."""

    same: bytes
    """Equal where two questions ask the same, whatever is said to be right."""
    weights: Mapping[str, float]
    """Of each feature, the heaviest first; their squares come to 1."""
    telling: frozenset[str]
    """Names and numbers of what is asked."""
    said: frozenset[str]
    """Every word of what is asked."""


@dataclass(frozen=True, slots=True)
class Like(Generic[Key]):
    """Another question, and how alike it is, 0 to 1."""

    key: Key
    score: float

    @property
    def exact(self) -> bool:
        """Whether it asks the very same."""
        return self.score == 1


def print_of(question: Question) -> Print:
    """What is compared of `question`."""
    prompt = list(_tokens(question.prompt))
    program = _code_tokens(question.program or question.draw or (question.task.starter if question.task else ""))
    options = sorted(" ".join(_tokens(option.text)) for option in question.options)
    offered = " ".join(options).split()
    answer = [] if options else list(islice(_tokens(question.answer or ""), _OPENING))
    same = "\n".join((" ".join(prompt), " ".join(program), *options))
    parts = (
        (_PROMPT, "", prompt),
        (_PROGRAM, "> ", list(_pairs(program))),
        (_OPTIONS, "", offered),
        (_ANSWER, "", answer),
    )
    said = (*prompt, *program, *offered)
    return Print(
        hashlib.sha256(same.encode("utf-8", "surrogatepass")).digest(),
        _unit(_joined(parts)),
        frozenset(map(intern, (*_telling(prompt), *_telling_of_code(program)))),
        frozenset(intern(part) for token in said for part in (token, token.rpartition(".")[2])),
    )


def similarity_of(one: Question, other: Question) -> float:
    """How alike two questions are, 0 to 1; 1 where they ask the very same."""
    return nearness(print_of(one), print_of(other))


def nearness(one: Print, other: Print) -> float:
    """As `similarity`, of questions whose prints are known."""
    if one.same == other.same:
        return 1.0
    score = math.fsum(weight * other.weights[name] for name, weight in one.weights.items() if name in other.weights)
    return min(score * (_TOLD_APART if _told_apart(one, other) else 1), _ALMOST)


def _told_apart(one: Print, other: Print) -> bool:
    """Whether each asks about something the other does not name."""
    return bool(one.telling - other.said and other.telling - one.said)


class Index(Generic[Key]):
    """Finds the questions like a given one among many, without comparing each with each.

    Two unit vectors whose product is at least NEAR share a feature among the rarest of both: those the rest
    weighs less than NEAR. Only such features are looked up.
    """

    def __init__(self, prints: Iterable[tuple[Key, Print]]) -> None:
        self._prints = dict(prints)
        self._spread: dict[str, int] = defaultdict(int)
        for one in self._prints.values():
            for feature in one.weights:
                self._spread[feature] += 1
        self._same: dict[bytes, list[Key]] = defaultdict(list)
        self._under: dict[str, list[Key]] = defaultdict(list)
        for key, one in self._prints.items():
            self._same[one.same].append(key)
            for feature in self._rarest(one):
                self._under[feature].append(key)

    def like(self, key: Key) -> list[Like[Key]]:
        """The others at least NEAR to the question of that key, the most alike first, at most MOST_NAMED."""
        mine = self._prints[key]
        found = [Like(other, 1.0) for other in self._same[mine.same][: MOST_NAMED + 1] if other != key]
        if len(found) < MOST_NAMED:
            found += self._near(key, mine)
        return sorted(found, key=lambda like: -like.score)[:MOST_NAMED]

    def _near(self, key: Key, mine: Print) -> Iterator[Like[Key]]:
        heaviest = list(_with_rest(mine.weights))
        for other in self._candidates(key, mine):
            theirs = self._prints[other]
            if theirs.same != mine.same and _may_be_near(heaviest, theirs.weights):
                score = nearness(mine, theirs)
                if score >= NEAR:
                    yield Like(other, score)

    def _candidates(self, key: Key, mine: Print) -> Iterator[Key]:
        seen = {key}
        for feature in self._rarest(mine):
            for other in self._under[feature]:
                if len(seen) > MOST_COMPARED:
                    return
                if other not in seen:
                    seen.add(other)
                    yield other

    def _rarest(self, one: Print) -> list[str]:
        ordered = sorted(one.weights, key=lambda feature: (self._spread[feature], feature))
        left = 1.0
        for count, feature in enumerate(ordered):
            if left < NEAR * NEAR:
                return ordered[:count]
            left -= one.weights[feature] ** 2
        return ordered


def _with_rest(weights: Mapping[str, float]) -> Iterator[tuple[str, float, float]]:
    """Each feature with its weight and the length of all that come it."""
    left = 1.0
    for feature, weight in weights.items():
        left -= weight * weight
        yield feature, weight, math.sqrt(max(left, 0.0))


def _may_be_near(heaviest: Iterable[tuple[str, float, float]], weights: Mapping[str, float]) -> bool:
    """Whether the product can come to NEAR, told from as few features as that takes."""
    score = 0.0
    for feature, weight, rest in heaviest:
        score += weight * weights.get(feature, 0.0)
        if score + rest < NEAR:
            return False
    return True


def _tokens(text: str) -> Iterator[str]:
    """Plain words in lower case; names with their case, and numbers and operators, as they are."""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if len(token) > 2 and token[0] == token[-1] == "_" != token[1]:
            token = token.strip("_")  # Markdown's emphasis
        if _IDEOGRAPHS.search(token):
            yield from (token[at : at + 2] for at in range(len(token) - 1))
        elif token:
            yield token if _is_name(token) else token.lower()


def _is_name(token: str) -> bool:
    return "." in token or "_" in token or any(char.isdigit() for char in token) or bool(_CAMEL.search(token))


def _code_tokens(program: str) -> list[str]:
    return [match[1] for match in _CODE_TOKEN.finditer(program) if match[1]]


def _pairs(tokens: list[str]) -> Iterator[str]:
    return (f"{one} {other}" for one, other in zip(tokens, [*tokens[1:], ""], strict=False))


def _telling(tokens: Iterable[str]) -> Iterator[str]:
    """The names, each by its last part, the numbers and the operators."""
    for token in tokens:
        if _NUMBER.fullmatch(token) or not any(char.isalnum() for char in token):
            yield token
        elif _is_name(token):
            yield token.rpartition(".")[2]


def _telling_of_code(tokens: list[str]) -> Iterator[str]:
    """The numbers, and what is taken of a module or called on a value."""
    for before, token in zip(["", *tokens], tokens, strict=False):
        if _NUMBER.fullmatch(token) or (before == "." and token[0].isalpha()):
            yield token


def _joined(parts: Iterable[tuple[float, str, list[str]]]) -> dict[str, float]:
    """The features of all parts, each part of the length its weight says."""
    weights: dict[str, float] = defaultdict(float)
    for share, mark, tokens in parts:
        features = _features(tokens)
        full = max(_ENOUGH, _length(features))
        for feature, weight in features.items():
            weights[mark + feature] += share * weight / full
    return weights


def _features(tokens: Iterable[str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for token in tokens:
        *path, last = token.split(".") if not _NUMBER.fullmatch(token) else [token]
        weights.update((_stem(part), _LIGHT) for part in path if _stem(part) not in weights)
        light = last.lower() in _EVERYWHERE
        weight = _LIGHT if light else _TELLING if _is_name(token) else 1.0
        feature = _stem(last)
        weights[feature] = max(weight, weights.get(feature, 0.0))
    return weights


def _unit(weights: Mapping[str, float]) -> dict[str, float]:
    length = _length(weights)
    ordered = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
    # Most words of a question weigh the same: one number and one text serve all, for there may be many questions.
    made: dict[float, float] = {}
    return {intern(feature): made.setdefault(weight, weight / length) for feature, weight in ordered}


def _length(weights: Mapping[str, float]) -> float:
    return math.sqrt(math.fsum(weight * weight for weight in weights.values()))


def _stem(word: str) -> str:
    """`Strides` and `stride`, `pinned` and `pin`: one feature."""
    word = word.lower()
    for ending in _ENDINGS:
        if len(word) > len(ending) + 2 and word.endswith(ending) and word.isalpha() and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 4 else word
