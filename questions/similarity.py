"""Similarity of questions: finds duplicates by a digest and near duplicates by a lexical index.

Letter case, punctuation and Markdown do not distinguish questions; names, numbers and operators do.
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

NEAR_DUPLICATE = 0.65
"""Similarity from which two questions count as near duplicates. Tuned on sample banks: rewordings of a question scored
0.67 and more; different questions about one subject 0.66 and less, all but two of them 0.64."""
MAX_MATCHES = 5
"""Maximum number of similar questions reported for a question."""
MAX_COMPARED = 300
"""Maximum number of candidates a question is compared with, so that comparing takes linear time."""

Key = TypeVar("Key", bound=Hashable)

_NAME_WEIGHT, _COMMON_WEIGHT = 1.5, 0.2
"""Weight of a name or number, and of a word that most questions contain; other words weigh 1."""
_ANSWER_WORDS = 60
"""Number of words of an answer that are compared."""
_PROMPT, _PROGRAM, _OPTIONS, _ANSWER = 0.8, 0.8, 0.5, 0.25
"""Weights of a question's parts. A short part weighs less: `What does this print?` says little."""
_FULL_LENGTH = 1.5
"""Vector length from which a part has its full weight; a plain word has length 1."""
_DISTINCT_FACTOR = 0.5
"""Factor for questions that each name something the other does not."""
_MAX_SCORE = 0.99
"""Maximum similarity of questions that are not identical."""

_TOKEN = re.compile(r"c\+\+|c#|\w+(?:\.\w+)*|//|[=!<>+%@&|^-]=|[+%@<>&|^]", re.IGNORECASE)
_CODE_TOKEN = re.compile(r"^(?:import|from) [^\n]*|#[^\n]*|(\w+(?:\.\d+)?|[^\w\s])", re.MULTILINE)
_NUMBER = re.compile(r"\d[\d_]*(?:\.\d+)?(?:e\d+)?", re.IGNORECASE)
_CAMEL = re.compile(r"[a-z][A-Z]")
_IDEOGRAPHS = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]{2,}")
_ENDINGS = ("ing", "ed", "es", "s")
_COMMON_WORD_LIST = (
    "a all an and answer any are as at be between by can compare concept correct define describe did "
    "differ difference differences discuss do does during each every example examples explain following for from "
    "give happens have how if in into is it its let line lines mean means must of on or pick prints python pytorch "
    "question role should so tensor tensors that the their then there these they this to torch true two use used "
    "using versus vs was we what when where which why will with work works would you your"
)
_COMMON_WORDS = frozenset(_COMMON_WORD_LIST.split())


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The features of a question that are compared."""

    digest: bytes
    """Digest of the question without its key; equal for identical questions."""
    weights: Mapping[str, float]
    """Weight of each feature, heaviest first; a unit vector."""
    names: frozenset[str]
    """Names and numbers in the question."""
    words: frozenset[str]
    """All words of the question."""


@dataclass(frozen=True, slots=True)
class SimilarQuestion(Generic[Key]):
    """A similar question and its similarity, 0 to 1."""

    key: Key
    score: float

    @property
    def exact(self) -> bool:
        """Whether the question is identical."""
        return self.score == 1


def fingerprint_of(question: Question) -> Fingerprint:
    """Returns the fingerprint of a question."""
    prompt = list(_tokens(question.prompt))
    program = _code_tokens(question.program or question.draw or (question.task.starter if question.task else ""))
    options = sorted(" ".join(_tokens(option.text)) for option in question.options)
    offered = " ".join(options).split()
    answer = [] if options else list(islice(_tokens(question.answer or ""), _ANSWER_WORDS))
    same = "\n".join((" ".join(prompt), " ".join(program), *options))
    parts = (
        (_PROMPT, "", prompt),
        (_PROGRAM, "> ", list(_pairs(program))),
        (_OPTIONS, "", offered),
        (_ANSWER, "", answer),
    )
    words = (*prompt, *program, *offered)
    return Fingerprint(
        hashlib.sha256(same.encode("utf-8", "surrogatepass")).digest(),
        _unit(_combined(parts)),
        frozenset(map(intern, (*_names(prompt), *_names_in_code(program)))),
        frozenset(intern(part) for token in words for part in (token, token.rpartition(".")[2])),
    )


def similarity_of(one: Question, other: Question) -> float:
    """Returns the similarity of two questions, 0 to 1; 1 if they are identical."""
    return fingerprint_similarity(fingerprint_of(one), fingerprint_of(other))


def fingerprint_similarity(one: Fingerprint, other: Fingerprint) -> float:
    """Returns the same as `similarity_of`, for fingerprints."""
    if one.digest == other.digest:
        return 1.0
    score = math.fsum(weight * other.weights[name] for name, weight in one.weights.items() if name in other.weights)
    return min(score * (_DISTINCT_FACTOR if _are_distinct(one, other) else 1), _MAX_SCORE)


def _are_distinct(one: Fingerprint, other: Fingerprint) -> bool:
    """Returns whether each question is about something the other does not name."""
    return bool(one.names - other.words and other.names - one.words)


class Index(Generic[Key]):
    """Finds similar questions among many without comparing every pair.

    If the product of two unit vectors is at least NEAR_DUPLICATE, they share one of
    their rarest features: those whose complement has a length below NEAR_DUPLICATE. Only these are looked up.
    """

    def __init__(self, prints: Iterable[tuple[Key, Fingerprint]]) -> None:
        self._prints = dict(prints)
        self._spread: dict[str, int] = defaultdict(int)
        for one in self._prints.values():
            for feature in one.weights:
                self._spread[feature] += 1
        self._same: dict[bytes, list[Key]] = defaultdict(list)
        self._under: dict[str, list[Key]] = defaultdict(list)
        for key, one in self._prints.items():
            self._same[one.digest].append(key)
            for feature in self._rarest(one):
                self._under[feature].append(key)

    def similar_to(self, key: Key) -> list[SimilarQuestion[Key]]:
        """Returns the most similar other questions, highest similarity first: at most MAX_MATCHES, each at least
        NEAR_DUPLICATE."""
        mine = self._prints[key]
        found = [SimilarQuestion(other, 1.0) for other in self._same[mine.digest][: MAX_MATCHES + 1] if other != key]
        if len(found) < MAX_MATCHES:
            found += self._near(key, mine)
        return sorted(found, key=lambda like: -like.score)[:MAX_MATCHES]

    def _near(self, key: Key, mine: Fingerprint) -> Iterator[SimilarQuestion[Key]]:
        heaviest = list(_with_remainder(mine.weights))
        for other in self._candidates(key, mine):
            theirs = self._prints[other]
            if theirs.digest != mine.digest and _can_be_near(heaviest, theirs.weights):
                score = fingerprint_similarity(mine, theirs)
                if score >= NEAR_DUPLICATE:
                    yield SimilarQuestion(other, score)

    def _candidates(self, key: Key, mine: Fingerprint) -> Iterator[Key]:
        seen = {key}
        for feature in self._rarest(mine):
            for other in self._under[feature]:
                if len(seen) > MAX_COMPARED:
                    return
                if other not in seen:
                    seen.add(other)
                    yield other

    def _rarest(self, one: Fingerprint) -> list[str]:
        ordered = sorted(one.weights, key=lambda feature: (self._spread[feature], feature))
        left = 1.0
        for count, feature in enumerate(ordered):
            if left < NEAR_DUPLICATE * NEAR_DUPLICATE:
                return ordered[:count]
            left -= one.weights[feature] ** 2
        return ordered


def _with_remainder(weights: Mapping[str, float]) -> Iterator[tuple[str, float, float]]:
    """Yields each feature with its weight and the length of the vector after it."""
    left = 1.0
    for feature, weight in weights.items():
        left -= weight * weight
        yield feature, weight, math.sqrt(max(left, 0.0))


def _can_be_near(heaviest: Iterable[tuple[str, float, float]], weights: Mapping[str, float]) -> bool:
    """Returns whether the product can reach NEAR_DUPLICATE, reading as few features as possible."""
    score = 0.0
    for feature, weight, rest in heaviest:
        score += weight * weights.get(feature, 0.0)
        if score + rest < NEAR_DUPLICATE:
            return False
    return True


def _tokens(text: str) -> Iterator[str]:
    """Yields plain words in lower case; names, numbers and operators unchanged."""
    for match in _TOKEN.finditer(text):
        token = match[0]
        if len(token) > 2 and token[0] == token[-1] == "_" != token[1]:
            token = token.strip("_")  # Markdown emphasis
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


def _names(tokens: Iterable[str]) -> Iterator[str]:
    """Yields names (their last part), numbers and operators."""
    for token in tokens:
        if _NUMBER.fullmatch(token) or not any(char.isalnum() for char in token):
            yield token
        elif _is_name(token):
            yield token.rpartition(".")[2]


def _names_in_code(tokens: list[str]) -> Iterator[str]:
    """Yields numbers, attributes and method names."""
    for before, token in zip(["", *tokens], tokens, strict=False):
        if _NUMBER.fullmatch(token) or (before == "." and token[0].isalpha()):
            yield token


def _combined(parts: Iterable[tuple[float, str, list[str]]]) -> dict[str, float]:
    """Returns the features of all parts, each part scaled to its weight."""
    weights: dict[str, float] = defaultdict(float)
    for share, mark, tokens in parts:
        features = _features(tokens)
        full = max(_FULL_LENGTH, _length(features))
        for feature, weight in features.items():
            weights[mark + feature] += share * weight / full
    return weights


def _features(tokens: Iterable[str]) -> dict[str, float]:
    weights: dict[str, float] = {}
    for token in tokens:
        *path, last = token.split(".") if not _NUMBER.fullmatch(token) else [token]
        weights.update((_stem(part), _COMMON_WEIGHT) for part in path if _stem(part) not in weights)
        light = last.lower() in _COMMON_WORDS
        weight = _COMMON_WEIGHT if light else _NAME_WEIGHT if _is_name(token) else 1.0
        feature = _stem(last)
        weights[feature] = max(weight, weights.get(feature, 0.0))
    return weights


def _unit(weights: Mapping[str, float]) -> dict[str, float]:
    length = _length(weights)
    ordered = sorted(weights.items(), key=lambda pair: (-pair[1], pair[0]))
    # Most words of a question have the same weight: share one float, because there may be many questions.
    made: dict[float, float] = {}
    return {intern(feature): made.setdefault(weight, weight / length) for feature, weight in ordered}


def _length(weights: Mapping[str, float]) -> float:
    return math.sqrt(math.fsum(weight * weight for weight in weights.values()))


def _stem(word: str) -> str:
    """Returns the stem of a word: `Strides` and `stride`, `pinned` and `pin` are the same."""
    word = word.lower()
    for ending in _ENDINGS:
        if len(word) > len(ending) + 2 and word.endswith(ending) and word.isalpha() and not word.endswith("ss"):
            word = word.removesuffix(ending)
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "ls":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 4 else word
