"""Choices made from questions answered in prose: which of these sentences belongs to the answer? Pure.

The right option is a sentence of the answer, the wrong ones are sentences that answer other questions of the bank.
Better none than a doubtful one: what may have a second right option, or gives its own away, is refused.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from questions.likeness import Print, nearness, print_of
from questions.model import Option, Question
from questions.offering import SYMBOL, Sentence, opening_of, sentences_of
from questions.subjects import Subject, compared_in, heart, subject_of, words_of

TAG = "generated"
"""What marks a question that nobody wrote as it is asked."""
ASKED = "Which of these belongs to the answer?"
SUFFIX = "-which"
"""What is added to the id of the question it is made from."""
_WRONG = 3
_ALIKE = 0.45
"""Questions at least this alike (see `likeness`) may have one answer."""
_OVERLAP = 0.30
"""Answers whose words overlap so much, by their rarity, may answer each other's questions."""
_COVERED = 0.55
"""The share of a sentence's words, by their rarity, that another answer may have before it is taken to say the same."""
_MOST_COMPARED = 100
"""In a larger bank a question is compared with so many that share its rarer words."""
_SAME = 0.45
"""Sentences so alike are not offered side by side."""
_AKIN = 2
"""Of wrong options that are whole sentences so many share a word with the question; else they are far-fetched."""
_LONG_PROMPT = 12
"""Of so many words of a question one may be in the right option alone, and tells nothing."""
_RATIO = 1.9
"""How much longer the longest of options may be than the shortest."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why no choice is made of a question."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class Forms:
    """What could be made of a bank's questions."""

    made: tuple[Question, ...]
    refused: tuple[Refusal, ...]


@dataclass(frozen=True)
class _Asked:
    """A question with all that is compared of it."""

    question: Question
    subjects: tuple[Subject, ...]
    """Two where it compares them; none where that cannot be told."""
    said: frozenset[str]
    """Stems of the prompt and the answer."""
    prompt: frozenset[str]
    sentences: tuple[Sentence, ...]

    @property
    def text(self) -> str:
        return f"{self.question.prompt}\n{self.question.answer}"

    @cached_property
    def print(self) -> Print:
        return print_of(self.question)


def choices_of(questions: Iterable[Question]) -> Forms:
    """A choice for each answered open question of a bank, or why there is none. Always the same for the same bank."""
    around = _Around([_asked(question) for question in questions if question.kind == "open" and question.answer])
    made: list[Question] = []
    refused: list[Refusal] = []
    for one in around.asked:
        found = _Making(one, around).choice()
        if isinstance(found, Question):
            made.append(found)
        else:
            refused.append(Refusal(one.question.id, found))
    return Forms(tuple(made), tuple(refused))


def _asked(question: Question) -> _Asked:
    assert question.answer is not None
    subjects = _subjects(question.prompt)
    prompt = frozenset((*words_of(f"{question.title} {question.prompt}"), *SYMBOL.findall(question.prompt)))
    return _Asked(
        question,
        subjects,
        prompt | frozenset(words_of(question.answer)),
        prompt,
        tuple(sentences_of(question.answer, subjects, prompt)),
    )


def _subjects(prompt: str) -> tuple[Subject, ...]:
    if pair := compared_in(prompt):
        return pair
    subject = subject_of(prompt)
    return () if subject.compared or not subject.name else (subject,)


class _Around:
    """The questions of a bank, and how telling each word is among them: the rarer, the more."""

    def __init__(self, asked: Sequence[_Asked]) -> None:
        self.asked = asked
        spread = Counter(word for one in asked for word in one.said)
        self._weights = {word: math.log((len(asked) + 1) / count) ** 2 for word, count in spread.items()}
        prompts = Counter(word for one in asked for word in one.prompt)
        self.common = {word for word, count in prompts.items() if count >= max(3, len(asked) / 10)}
        self._lengths = [self._length(one.said) for one in asked]
        self._under: dict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(asked):
            for word in sorted(one.said):
                if spread[word] <= _MOST_COMPARED:
                    self._under[word].append(number)

    def neighbours(self, one: _Asked) -> list[tuple[float, _Asked]]:
        """The others by how much their words overlap, the most first; of many only those that share rare words."""
        numbers: Iterable[int] = range(len(self.asked))
        if len(self.asked) > _MOST_COMPARED:
            shared = Counter(number for word in sorted(one.said) for number in self._under.get(word, ()))
            numbers = [number for number, _ in shared.most_common(_MOST_COMPARED)]
        length = self._length(one.said)
        others = [
            (self._product(one.said, other.said, length * self._lengths[number]), other)
            for number in numbers
            if (other := self.asked[number]) is not one
        ]
        return sorted(others, key=lambda pair: (-pair[0], pair[1].question.id))

    def overlap(self, one: frozenset[str], other: frozenset[str]) -> float:
        """How much the words of two texts overlap, by their rarity, 0 to 1."""
        return self._product(one, other, self._length(one) * self._length(other))

    def covered(self, words: frozenset[str], text: frozenset[str]) -> float:
        """The share of `words`, by their rarity, that is in `text`."""
        whole = math.fsum(math.sqrt(self._weights.get(word, 1.0)) for word in words)
        return math.fsum(math.sqrt(self._weights.get(word, 1.0)) for word in words & text) / whole if whole else 1.0

    def _product(self, one: frozenset[str], other: frozenset[str], lengths: float) -> float:
        return self._length(one & other) / math.sqrt(lengths) if lengths else 0.0

    def _length(self, words: Iterable[str]) -> float:
        return math.fsum(self._weights.get(word, 1.0) for word in words)


_NAME = re.compile(r"[A-Z][a-z]+[A-Z]\w*|\w+_\w+|\w+\.\w+")
_WHY = re.compile(r"\bwhy\b", re.IGNORECASE)
_EXPLAINS = re.compile(
    r"(?!(?:what (?:is|are)|explain|describe|discuss|compare|name|list|define|reflect)\b)", re.IGNORECASE
)


class _Making:
    """Makes the choice of one question."""

    def __init__(self, one: _Asked, around: _Around) -> None:
        self._one = one
        self._around = around

    def choice(self) -> Question | str:
        """The choice, or why there is none."""
        if not self._one.sentences:
            return "no sentence of its answer can stand alone"
        others = [other for alike, other in self._around.neighbours(self._one) if not self._is_near(other, alike)]
        if len(others) < _WRONG:
            return "fewer than three other questions are about something else"
        reason = ""
        for right in sorted(self._one.sentences, key=lambda sentence: -sentence.weight):
            if not self._is_central(right):
                reason = reason or "only sentences beside the point can stand alone"
                continue
            wrong, reason = self._wrong(right, others)
            if wrong:
                return self._made(right, wrong)
        return reason

    def _is_central(self, right: Sentence) -> bool:
        """Whether the sentence is what the question asks for, as far as that can be told."""
        explains = bool(_EXPLAINS.match(self._one.question.prompt))
        if right.form == "because":
            return bool(_WHY.search(self._one.question.prompt)) and right.weight > 2 and len(self._one.subjects) < 2
        if right.plural and len(self._one.subjects) > 1:
            return False
        if right.form == "plain":
            return explains and right.order < 3 and bool(not right.order or right.words & self._one.prompt)
        return True

    def _is_near(self, other: _Asked, alike: float) -> bool:
        """Whether the other's answer may answer this question too."""
        one = self._one
        return (
            alike >= _OVERLAP
            or self._names(one) <= other.said
            or self._names(other) <= one.said
            or bool(self._names(one) & self._names(other))
            or nearness(one.print, other.print) >= _ALIKE
        )

    def _names(self, one: _Asked) -> frozenset[str]:
        """What the question is about, as far as that tells it from others."""
        named = frozenset(word for subject in one.subjects for word in heart(subject) | subject.aliases) or one.prompt
        return frozenset(word for word in named if word not in self._around.common) or named

    def _wrong(self, right: Sentence, others: Sequence[_Asked]) -> tuple[list[tuple[_Asked, Sentence]], str]:
        """The wrong options for that right one, or none of them and why."""
        shared = right.words & self._one.prompt
        if (self._one.subjects or right.form == "said") and right.form != "plain" and shared & self._names(self._one):
            return [], "its sentences name what the question asks about, which would give the right one away"
        found: list[tuple[_Asked, Sentence]] = []
        for other in others:
            for sentence in sorted(other.sentences, key=lambda sentence: -sentence.weight):
                if self._fits(sentence, right, other, [known for _, known in found]):
                    found.append((other, sentence))
                    break
        chosen = self._covering(right, found, shared)
        if chosen:
            return chosen, ""
        if len(found) < _WRONG:
            return [], "too few other answers have a sentence of the same form and length that cannot answer it too"
        return [], "only its right option would share words with the question"

    def _fits(self, sentence: Sentence, right: Sentence, other: _Asked, chosen: Sequence[Sentence]) -> bool:
        one = self._one
        if sentence.form != right.form or (sentence.plural and not right.plural):
            return False
        if _ratio(sentence.text, right.text) > _RATIO:
            return False
        if right.form == "said" and sentence.words & (self._names(other) | self._names(one)):
            return False
        if self._names(one) <= sentence.words:
            return False
        if sentence.form != "said" and any(name in one.text for name in _NAME.findall(sentence.text)):
            return False  # it speaks of something that this answer speaks of too
        if self._around.covered(sentence.words, one.said) >= _COVERED:
            return False
        return all(self._around.overlap(sentence.words, known.words) < _SAME for known in (right, *chosen))

    def _covering(
        self, right: Sentence, found: Sequence[tuple[_Asked, Sentence]], shared: frozenset[str]
    ) -> list[tuple[_Asked, Sentence]]:
        """The nearest three among which each word is that the right option shares with the question."""
        near = sorted(found, key=lambda pair: -len(pair[1].words & shared))[:12]
        named = frozenset(words_of(" ".join(_NAME.findall(self._one.question.prompt))))
        spared = 1 if len(self._one.prompt) >= _LONG_PROMPT and right.form != "said" else 0
        for three in combinations(near, _WRONG):
            lengths = [len(sentence.text) for _, sentence in three]
            bare = shared.difference(*(sentence.words for _, sentence in three))
            if right.form == "plain" and sum(bool(one.words & self._one.prompt) for _, one in three) < _AKIN:
                continue
            if right.plural and not any(sentence.plural for _, sentence in three):
                continue
            if len(bare) <= spared and not bare & named and min(lengths) * 2.2 > max(lengths):
                return list(three)
        return []

    def _opened(self, sentence: Sentence) -> str:
        opening = opening_of(self._one.subjects, sentence.plural) if sentence.form == "said" else ""
        return opening + sentence.text

    def _made(self, right: Sentence, wrong: Sequence[tuple[_Asked, Sentence]]) -> Question:
        question = self._one.question
        options = [
            _option(self._opened(right)),
            *(_option(self._opened(sentence), f"This answers: {_asks(other.question)}") for other, sentence in wrong),
        ]
        return dataclasses.replace(
            question,
            id=question.id + SUFFIX,
            kind="choice",
            prompt=f"{question.prompt}\n\n**{ASKED}**",
            why=question.answer or "",
            answer=None,
            key_points=(),
            options=tuple(sorted(options, key=lambda option: option.id)),
            tags=(*question.tags, TAG),
        )


def _option(text: str, reason: str = "") -> Option:
    id_ = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return Option(id_, text, right=not reason, reason=reason)


def _asks(question: Question) -> str:
    return " ".join(question.prompt.split())


def _ratio(one: str, other: str) -> float:
    return max(len(one), len(other)) / min(len(one), len(other))
