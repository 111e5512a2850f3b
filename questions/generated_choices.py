"""Generates multiple-choice questions from questions with prose answers: "Which of these belongs to the answer?"

The right option is a sentence of the answer, the wrong options are sentences that answer other questions of the bank. A
question is refused if another option could also be right or if the right one would stand out.
"""

from __future__ import annotations

import dataclasses
import hashlib
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Literal

from questions.blocks import plain
from questions.keypoints import Statement, is_alone, statements
from questions.model import GENERATED_TAG, Option, Question
from questions.similarity import Fingerprint, fingerprint_of, fingerprint_similarity
from questions.subjects import (
    Predicate,
    Subject,
    compared_subjects,
    key_terms,
    predicate_of,
    pronoun_predicate,
    subject_of,
    words_of,
)

ASKED = "Which of these belongs to the answer?"
SUFFIX = "-which"
"""Suffix added to the id of the original question."""
_WRONG = 3
"""Wrong options of a generated question."""
_SAME_ANSWER_SIMILARITY = 0.45
"""Similarity of questions (see `similarity`) from which they may share an answer."""
_OVERLAP = 0.30
"""Weighted word overlap of answers from which they may answer each other's questions."""
_COVERED = 0.55
"""Weighted share of a sentence's words found in another answer from which both may say the same."""
_MAX_COMPARED = 100
"""Maximum number of questions one question is compared with, preferring those that share rare words."""
_SAME = 0.45
"""Word overlap from which two sentences are not offered together."""
_MIN_RELATED = 2
"""Minimum number of wrong whole-sentence options that share a word with the question, so that they are plausible."""
_LONG_PROMPT = 12
"""Number of words in a question from which one may appear in the right option only."""
_RATIO = 1.9
"""Maximum ratio of the lengths of the longest and shortest option."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """A question without a generated choice, and the reason."""

    id: str
    reason: str


@dataclass(frozen=True, slots=True)
class GeneratedChoices:
    """The choices generated from a bank, and the refusals."""

    choices: tuple[Question, ...]
    refused: tuple[Refusal, ...]


@dataclass(frozen=True)
class _ComparedQuestion:
    """A question with the data it is compared by."""

    question: Question
    subjects: tuple[Subject, ...]
    """Two if the question compares them; none if they cannot be determined."""
    words: frozenset[str]
    """Stems of the prompt and the answer."""
    prompt: frozenset[str]
    sentences: tuple[Candidate, ...]

    @property
    def text(self) -> str:
        return f"{self.question.prompt}\n{self.question.answer}"

    @cached_property
    def fingerprint(self) -> Fingerprint:
        return fingerprint_of(self.question)


def generate_choices(questions: Iterable[Question]) -> GeneratedChoices:
    """Returns a choice, or the reason for a refusal, for each answered open question. The result is deterministic."""
    around = _Corpus([_asked(question) for question in questions if question.kind == "open" and question.answer])
    made: list[Question] = []
    refused: list[Refusal] = []
    for one in around.asked:
        found = _ChoiceBuilder(one, around).choice()
        if isinstance(found, Question):
            made.append(found)
        else:
            refused.append(Refusal(one.question.id, found))
    return GeneratedChoices(tuple(made), tuple(refused))


def _asked(question: Question) -> _ComparedQuestion:
    assert question.answer is not None
    subjects = _subjects(question.prompt)
    prompt = frozenset((*words_of(f"{question.title} {question.prompt}"), *SYMBOL.findall(question.prompt)))
    return _ComparedQuestion(
        question,
        subjects,
        prompt | frozenset(words_of(question.answer)),
        prompt,
        tuple(candidates_in(question.answer, subjects, prompt)),
    )


def _subjects(prompt: str) -> tuple[Subject, ...]:
    if pair := compared_subjects(prompt):
        return pair
    subject = subject_of(prompt)
    return () if subject.compared or not subject.name else (subject,)


class _Corpus:
    """The questions of a bank, with word weights: rarer words weigh more."""

    def __init__(self, asked: Sequence[_ComparedQuestion]) -> None:
        self.asked = asked
        spread = Counter(word for one in asked for word in one.words)
        self._weights = {word: math.log((len(asked) + 1) / count) ** 2 for word, count in spread.items()}
        prompts = Counter(word for one in asked for word in one.prompt)
        self.common = {word for word, count in prompts.items() if count >= max(3, len(asked) / 10)}
        self._lengths = [self._length(one.words) for one in asked]
        self._under: dict[str, list[int]] = defaultdict(list)
        for number, one in enumerate(asked):
            for word in sorted(one.words):
                if spread[word] <= _MAX_COMPARED:
                    self._under[word].append(number)

    def neighbors(self, one: _ComparedQuestion) -> list[tuple[float, _ComparedQuestion]]:
        """Returns the other questions by word overlap, highest first; in large banks only those that share rare
        words."""
        numbers: Iterable[int] = range(len(self.asked))
        if len(self.asked) > _MAX_COMPARED:
            shared = Counter(number for word in sorted(one.words) for number in self._under.get(word, ()))
            numbers = [number for number, _ in shared.most_common(_MAX_COMPARED)]
        length = self._length(one.words)
        others = [
            (self._product(one.words, other.words, length * self._lengths[number]), other)
            for number in numbers
            if (other := self.asked[number]) is not one
        ]
        return sorted(others, key=lambda pair: (-pair[0], pair[1].question.id))

    def overlap(self, one: frozenset[str], other: frozenset[str]) -> float:
        """Returns the weighted word overlap of two texts, 0 to 1."""
        return self._product(one, other, self._length(one) * self._length(other))

    def covered(self, words: frozenset[str], text: frozenset[str]) -> float:
        """Returns the weighted share of `words` that `text` contains."""
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


class _ChoiceBuilder:
    """Generates the choice of one question."""

    def __init__(self, one: _ComparedQuestion, around: _Corpus) -> None:
        self._one = one
        self._around = around

    def choice(self) -> Question | str:
        """Returns the choice, or the reason for a refusal."""
        if not self._one.sentences:
            return "no sentence of its answer can be understood alone"
        others = [other for alike, other in self._around.neighbors(self._one) if not self._is_near(other, alike)]
        if len(others) < _WRONG:
            return "fewer than three questions are about something else"
        reason = ""
        for right in sorted(self._one.sentences, key=lambda sentence: -sentence.weight):
            if not self._is_central(right):
                reason = reason or "only minor sentences of its answer can be understood alone"
                continue
            wrong, reason = self._wrong(right, others)
            if wrong:
                return self._made(right, wrong)
        return reason

    def _is_central(self, right: Candidate) -> bool:
        """Returns whether the sentence appears to be what the question asks for."""
        explains = bool(_EXPLAINS.match(self._one.question.prompt))
        if right.form == "because":
            return bool(_WHY.search(self._one.question.prompt)) and right.weight > 2 and len(self._one.subjects) < 2
        if right.plural and len(self._one.subjects) > 1:
            return False
        if right.form == "plain":
            return explains and right.order < 3 and bool(not right.order or right.words & self._one.prompt)
        return True

    def _is_near(self, other: _ComparedQuestion, alike: float) -> bool:
        """Returns whether the other question's answer might also answer this question."""
        one = self._one
        return (
            alike >= _OVERLAP
            or self._names(one) <= other.words
            or self._names(other) <= one.words
            or bool(self._names(one) & self._names(other))
            or fingerprint_similarity(one.fingerprint, other.fingerprint) >= _SAME_ANSWER_SIMILARITY
        )

    def _names(self, one: _ComparedQuestion) -> frozenset[str]:
        """Returns the words that distinguish what the question is about."""
        named = (
            frozenset(word for subject in one.subjects for word in key_terms(subject) | subject.aliases) or one.prompt
        )
        return frozenset(word for word in named if word not in self._around.common) or named

    def _wrong(
        self, right: Candidate, others: Sequence[_ComparedQuestion]
    ) -> tuple[list[tuple[_ComparedQuestion, Candidate]], str]:
        """Returns the wrong options for a right option, or an empty list and the reason."""
        shared = right.words & self._one.prompt
        if (
            (self._one.subjects or right.form == "predicate")
            and right.form != "plain"
            and shared & self._names(self._one)
        ):
            return [], "its sentences name the subject of the question, which would give the right option away"
        found: list[tuple[_ComparedQuestion, Candidate]] = []
        for other in others:
            for sentence in sorted(other.sentences, key=lambda sentence: -sentence.weight):
                if self._fits(sentence, right, other, [known for _, known in found]):
                    found.append((other, sentence))
                    break
        chosen = self._covering(right, found, shared)
        if chosen:
            return chosen, ""
        if len(found) < _WRONG:
            return [], "too few other answers have a sentence of similar form and length that does not answer it too"
        return [], "only the right option would share words with the question"

    def _fits(
        self, sentence: Candidate, right: Candidate, other: _ComparedQuestion, chosen: Sequence[Candidate]
    ) -> bool:
        one = self._one
        if sentence.form != right.form or (sentence.plural and not right.plural):
            return False
        if _ratio(sentence.text, right.text) > _RATIO:
            return False
        if right.form == "predicate" and sentence.words & (self._names(other) | self._names(one)):
            return False
        if self._names(one) <= sentence.words:
            return False
        if sentence.form != "predicate" and any(name in one.text for name in _NAME.findall(sentence.text)):
            return False  # both answers mention this name
        if self._around.covered(sentence.words, one.words) >= _COVERED:
            return False
        return all(self._around.overlap(sentence.words, known.words) < _SAME for known in (right, *chosen))

    def _covering(
        self, right: Candidate, found: Sequence[tuple[_ComparedQuestion, Candidate]], shared: frozenset[str]
    ) -> list[tuple[_ComparedQuestion, Candidate]]:
        """Returns the nearest three wrong options that together contain each word the right option shares with the
        question."""
        near = sorted(found, key=lambda pair: -len(pair[1].words & shared))[:12]
        named = frozenset(words_of(" ".join(_NAME.findall(self._one.question.prompt))))
        spared = 1 if len(self._one.prompt) >= _LONG_PROMPT and right.form != "predicate" else 0
        for three in combinations(near, _WRONG):
            lengths = [len(sentence.text) for _, sentence in three]
            bare = shared.difference(*(sentence.words for _, sentence in three))
            if right.form == "plain" and sum(bool(one.words & self._one.prompt) for _, one in three) < _MIN_RELATED:
                continue
            if right.plural and not any(sentence.plural for _, sentence in three):
                continue
            if len(bare) <= spared and not bare & named and min(lengths) * 2.2 > max(lengths):
                return list(three)
        return []

    def _opened(self, sentence: Candidate) -> str:
        opening = opening_of(self._one.subjects, sentence.plural) if sentence.form == "predicate" else ""
        return opening + sentence.text

    def _made(self, right: Candidate, wrong: Sequence[tuple[_ComparedQuestion, Candidate]]) -> Question:
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
            tags=(*question.tags, GENERATED_TAG),
        )


def _option(text: str, reason: str = "") -> Option:
    id_ = hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:6]
    return Option(id_, text, right=not reason, reason=reason)


def _asks(question: Question) -> str:
    return " ".join(question.prompt.split())


def _ratio(one: str, other: str) -> float:
    return max(len(one), len(other)) / min(len(one), len(other))


# Candidate sentences: the sentences of an answer that can be understood alone

SHORTEST, LONGEST = 40, 240
"""Minimum and maximum length of an option, characters."""

CandidateForm = Literal["predicate", "because", "plain"]
"""`predicate`: a predicate of the question's subject. `because`: a reason alone. `plain`: a whole sentence."""

_FEWEST = 3
"""Minimum number of meaningful words in an option."""

_ASIDE = re.compile(r"\s*\((?:e\.g\.|like|such as|i\.e\.|usually|for example)[^()]*\)", re.IGNORECASE)
_DANGLING = re.compile(
    r"\b(?:this|these|those|above|below|following|former|latter|here|thus|however|therefore|furthermore|such an?"
    r"|for example|example|instead|step \d|rule \d|they|them|their|she|he|we|us|our|question|so that it|otherwise|why"
    r"|in fact|both functions|both methods|(?:first|second) run)\b",
    re.IGNORECASE,
)
_LOOSE_IT = re.compile(r"^(?:\W*\w+){0,3}\W+\b(?:it|its)\b", re.IGNORECASE)
_EMPTY = re.compile(
    r"\b(?:more than|vital|crucial|important|powerful|key to|handy|mandatory|an art|essential|intentional|matters?"
    r"|trap|hack|fix|distinction|understanding|standard practice|more flexible|faster, stricter|the solution is"
    r"|recommended practice)\b",
    re.IGNORECASE,
)
_CUT = re.compile(r"\.\.\.|…|\b(\w+) \1\b|[\[{(\"“'`*]$|[:,;]$|\?$|(?<!\\)text\{|->|\bO\(")
SYMBOL = re.compile(r"(?<=`)[A-Za-z](?=[` =.+*-])")
"""A name of one letter, which `words_of` leaves out."""
_LABELED = re.compile(r"(?:\*\*[^*]{2,60}\*\*|`[^`]+`|[A-Z][\w /&()-]{1,45})\s*(?:\([^)]*\))?:|\*\*[^*]{2,60}:\*\*")
_INSTRUCTION = re.compile(
    r"(?:Use|Check|Call|Set|Divide|Repeat|Compute|Always|Never|Remember|Reduce|Add|Align|Expand|Cut|Run|Pass|Update|Need|Write"
    r"|Load|Loading|Modifying|Setting|Training|Good|Global|Similar|Zero-copy|Used|Saved|Returned|Updated|Introduced)\b",
    re.IGNORECASE,
)
"""Starts of steps, advice and fragments."""
_CASE = re.compile(
    r"(?:If|When|While|Calling|By default|For (?:an?|large|critical)|Unlike|You|A standard|Engineers|Users)\b"
)
"""Starts of sentences about a special case."""
_SPECIAL_CASE = re.compile(r"(?:If|When|While|Users|Suppose|Calling|For example|Imagine)\b")
"""Starts of sentences after which the text is about that case only."""
_FINITE = re.compile(
    r"\b(?:is|are|was|were|has|have|can|cannot|can't|could|will|would|must|may|might|should|does|do|requires?|allows?|provides?"
    r"|uses?|stores?|frees?|builds?|returns?|prevents?|acts?|happens?|accumulates?|changes?|process(?:es)?|flows?|means|implies"
    r"|supports?|maintains?|works?|becomes?|starts?|runs?|creates?|makes?|takes?|needs?|drops?|tends?|shows?|calculates?"
    r"|performs?|replaces?|converts?|produces?|involves?|limits?|overwrites?)\b"
)
_REASON = re.compile(
    r"\b(?:because|since|due to|so that|in order to|causing|leading to|rather than|prevents?|instead of)\b"
)
_INNER = re.compile(r"\s*\([^()]*\)")
_ANY_VERB = re.compile(r"[A-Z][a-z]{2,}(?<!s)s (?!of\b|for\b|and\b|or\b)")
_HEADLESS_VERB = re.compile(
    r"(Allocates|Shares|Captures|Replicates|Shards|Generates|Performs|Creates|Returns|Moves|Converts|Computes|Stores|Tracks"
    r"|Disables|Enables|Wraps|Handles|Combines|Applies|Scales|Splits|Holds|Keeps|Reads|Runs|Removes|Maps|Turns|Loads|Sends)\b"
)


@dataclass(frozen=True, slots=True)
class Candidate:
    """A sentence of an answer that may be offered as an option."""

    text: str
    """Markdown; for a predicate everything except the subject."""
    form: CandidateForm
    words: frozenset[str]
    """Stems of its words."""
    weight: float
    """Score: how well it represents its answer."""
    order: int
    """Number of statements before it in the answer."""
    plural: bool = False
    """Whether the predicate is plural: `are`, not `is`."""


def candidates_in(answer: str, subjects: tuple[Subject, ...], prompt: frozenset[str]) -> Iterator[Candidate]:
    """Yields the candidate sentences of an answer. `subjects` are what is asked about, `prompt` the words of the
    question."""
    known = False
    for order, statement in enumerate(statements(answer)):
        if statement.kind == "row":
            continue
        label = _LABELED.match(statement.text)
        named = bool(label and _is_named(label[0], subjects))
        if statement.first:
            known = named or (len(subjects) == 1 and (not order or statement.kind == "item") and not label)
        text = statement.text[label.end() :].strip() if label and named else statement.text
        found = None if _SPECIAL_CASE.match(statement.lead) else _predicate(text, subjects, known, named)
        known = found is not None or named
        for sentence in (
            _statement_candidate(statement, found, order, subjects),
            _reason_candidate(statement, order, prompt),
        ):
            if sentence:
                yield sentence


def _is_named(label: str, subjects: Iterable[Subject]) -> bool:
    return any(key_terms(subject) and key_terms(subject) <= set(words_of(label)) for subject in subjects)


def _predicate(text: str, subjects: Iterable[Subject], known: bool, named: bool) -> Predicate | None:
    """Returns what the text says about a subject. `known`: whether `it` means one; `named`: whether the label names
    one."""
    for subject in subjects:
        if found := predicate_of(text, subject):
            return found
    if (known and _HEADLESS_VERB.match(text)) or (named and _ANY_VERB.match(text)):
        return Predicate(text[0].lower() + text[1:], plural=False)
    return pronoun_predicate(text) if known else None


def _statement_candidate(
    statement: Statement, found: Predicate | None, order: int, subjects: Sequence[Subject]
) -> Candidate | None:
    text = _ASIDE.sub("", found.text if found else statement.text).strip()
    if not found and not _is_plain(statement, text):
        return None
    names = {word for subject in subjects for word in key_terms(subject)}
    text = _INNER.sub(lambda inner: "" if names & set(words_of(inner[0])) else inner[0], text) if found else text
    weight = ("**" in statement.text) + (order == 0) + bool(_REASON.search(text)) - order / 5
    if not found:
        return _candidate(text, "plain", weight, order)
    made = _candidate(text, "predicate", weight + 2, order, len(opening_of(subjects, found.plural)))
    return made and dataclasses.replace(made, plural=found.plural)


def opening_of(subjects: Sequence[Subject], plural: bool) -> str:
    """Returns the words that replace the subject in every option."""
    return "They " if plural else "One of them " if len(subjects) > 1 else "It "


def _reason_candidate(statement: Statement, order: int, prompt: frozenset[str]) -> Candidate | None:
    """Returns the reason alone, for a sentence that gives one."""
    main, because, clause = _ASIDE.sub("", statement.text).partition(" because ")
    if not because or clause.startswith("of "):
        return None
    asked = bool(prompt & set(words_of(main))) or not order
    return _candidate(f"Because {clause}", "because", 4 * asked - order / 5, order)


def _candidate(text: str, form: CandidateForm, weight: float, order: int, opening: int = 0) -> Candidate | None:
    if not _is_understandable(text, form, opening):
        return None
    text = _unstressed(text if text.endswith((".", "!")) else text + ".")
    weight -= 2 * bool(_CASE.match(text))
    return Candidate(text, form, frozenset((*words_of(text), *SYMBOL.findall(text))), weight, order)


def _is_plain(statement: Statement, text: str) -> bool:
    """Returns whether it is a sentence with its own subject, and not a step, advice or label."""
    return (
        is_alone(statement)
        and not _LABELED.match(text)
        and not _INSTRUCTION.match(text)
        and bool(_FINITE.search(text))
        and text.endswith((".", '."'))
    )


def _unstressed(text: str) -> str:
    """Returns the text without bold and italics, which only some options would have."""
    parts = re.split(r"(`[^`]*`|\$[^$]*\$)", text.replace("**", ""))
    return "".join(
        part if at % 2 else re.sub(r"(?<![\w*])([*_])(?=\S)([^*_]+)(?<=\S)\1(?![\w*])", r"\2", part)
        for at, part in enumerate(parts)
    )


def _is_understandable(text: str, form: CandidateForm, opening: int) -> bool:
    """Returns whether the text is a statement of the right length that can be understood alone."""
    if not SHORTEST <= len(plain(text)) + opening <= LONGEST or len(set(words_of(text))) < _FEWEST:
        return False
    if _DANGLING.search(text) or _CUT.search(text) or _EMPTY.search(text):
        return False
    return form != "plain" or not _LOOSE_IT.search(text)
