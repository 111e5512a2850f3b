"""The sentences of an answer that can be offered as options of a choice: each a statement to be understood alone."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from questions.blocks import plain
from questions.keypoints import is_alone
from questions.prose import Statement, statements
from questions.subjects import Predicate, Subject, heart, predicate_of, pronoun_predicate, words_of

SHORTEST, LONGEST = 40, 240
"""Characters of an option."""

Form = Literal["said", "because", "plain"]
"""Whether a text is what a sentence says of its question's subject, a reason alone, or a sentence as it stands."""

_FEWEST = 3
"""Words that carry meaning, of an option."""

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
"""A name of one letter, which words leave out."""
_LABELLED = re.compile(r"(?:\*\*[^*]{2,60}\*\*|`[^`]+`|[A-Z][\w /&()-]{1,45})\s*(?:\([^)]*\))?:|\*\*[^*]{2,60}:\*\*")
_TOLD = re.compile(
    r"(?:Use|Check|Call|Set|Divide|Repeat|Compute|Always|Never|Remember|Reduce|Add|Align|Expand|Cut|Run|Pass|Update|Need|Write"
    r"|Load|Loading|Modifying|Setting|Training|Good|Global|Similar|Zero-copy|Used|Saved|Returned|Updated|Introduced)\b",
    re.IGNORECASE,
)
"""How a step, an advice or a fragment begins."""
_CASE = re.compile(
    r"(?:If|When|While|Calling|By default|For (?:an?|large|critical)|Unlike|You|A standard|Engineers|Users)\b"
)
"""How a sentence about one case begins."""
_SUPPOSED = re.compile(r"(?:If|When|While|Users|Suppose|Calling|For example|Imagine)\b")
"""What comes after such a sentence is said of that case alone."""
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
class Sentence:
    """A sentence of an answer as it may be offered."""

    text: str
    """Markdown; of what is said of the subject all but the subject."""
    form: Form
    words: frozenset[str]
    """The stems of its words."""
    weight: float
    """How well it stands for its answer."""
    order: int
    """How many statements of the answer come before it."""
    plural: bool = False
    """Whether what is said is said of several: `are`, not `is`."""


def sentences_of(answer: str, subjects: tuple[Subject, ...], prompt: frozenset[str]) -> Iterator[Sentence]:
    """What of an answer can be offered. `subjects` are what is asked about, `prompt` the words it is asked in."""
    known = False
    for order, statement in enumerate(statements(answer)):
        if statement.kind == "row":
            continue
        label = _LABELLED.match(statement.text)
        named = bool(label and _is_named(label[0], subjects))
        if statement.first:
            known = named or (len(subjects) == 1 and (not order or statement.kind == "item") and not label)
        text = statement.text[label.end() :].strip() if label and named else statement.text
        found = None if _SUPPOSED.match(statement.lead) else _predicate(text, subjects, known, named)
        known = found is not None or named
        for sentence in (_sentence(statement, found, order, subjects), _reason(statement, order, prompt)):
            if sentence:
                yield sentence


def _is_named(label: str, subjects: Iterable[Subject]) -> bool:
    return any(heart(subject) and heart(subject) <= set(words_of(label)) for subject in subjects)


def _predicate(text: str, subjects: Iterable[Subject], known: bool, named: bool) -> Predicate | None:
    """What the text says of a subject; `known`: whether `it` means one here; `named`: whether its label does."""
    for subject in subjects:
        if found := predicate_of(text, subject):
            return found
    if (known and _HEADLESS_VERB.match(text)) or (named and _ANY_VERB.match(text)):
        return Predicate(text[0].lower() + text[1:], plural=False)
    return pronoun_predicate(text) if known else None


def _sentence(
    statement: Statement, found: Predicate | None, order: int, subjects: Sequence[Subject]
) -> Sentence | None:
    text = _ASIDE.sub("", found.text if found else statement.text).strip()
    if not found and not _is_plain(statement, text):
        return None
    names = {word for subject in subjects for word in heart(subject)}
    text = _INNER.sub(lambda inner: "" if names & set(words_of(inner[0])) else inner[0], text) if found else text
    weight = ("**" in statement.text) + (order == 0) + bool(_REASON.search(text)) - order / 5
    if not found:
        return _offered(text, "plain", weight, order)
    made = _offered(text, "said", weight + 2, order, len(opening_of(subjects, found.plural)))
    return made and dataclasses.replace(made, plural=found.plural)


def opening_of(subjects: Sequence[Subject], plural: bool) -> str:
    """What stands for the subject in every option."""
    return "They " if plural else "One of them " if len(subjects) > 1 else "It "


def _reason(statement: Statement, order: int, prompt: frozenset[str]) -> Sentence | None:
    """The reason alone, of a sentence that gives one."""
    main, because, clause = _ASIDE.sub("", statement.text).partition(" because ")
    if not because or clause.startswith("of "):
        return None
    asked = bool(prompt & set(words_of(main))) or not order
    return _offered(f"Because {clause}", "because", 4 * asked - order / 5, order)


def _offered(text: str, form: Form, weight: float, order: int, opening: int = 0) -> Sentence | None:
    if not _is_offered(text, form, opening):
        return None
    text = _unstressed(text if text.endswith((".", "!")) else text + ".")
    weight -= 2 * bool(_CASE.match(text))
    return Sentence(text, form, frozenset((*words_of(text), *SYMBOL.findall(text))), weight, order)


def _is_plain(statement: Statement, text: str) -> bool:
    """Whether it is a sentence with a subject of its own, and no step, advice or label."""
    return (
        is_alone(statement)
        and not _LABELLED.match(text)
        and not _TOLD.match(text)
        and bool(_FINITE.search(text))
        and text.endswith((".", '."'))
    )


def _unstressed(text: str) -> str:
    """Without bold and italics, which only some options would have."""
    parts = re.split(r"(`[^`]*`|\$[^$]*\$)", text.replace("**", ""))
    return "".join(
        part if at % 2 else re.sub(r"(?<![\w*])([*_])(?=\S)([^*_]+)(?<=\S)\1(?![\w*])", r"\2", part)
        for at, part in enumerate(parts)
    )


def _is_offered(text: str, form: Form, opening: int) -> bool:
    """Whether the text is a statement of the right length that can be understood alone."""
    if not SHORTEST <= len(plain(text)) + opening <= LONGEST or len(set(words_of(text))) < _FEWEST:
        return False
    if _DANGLING.search(text) or _CUT.search(text) or _EMPTY.search(text):
        return False
    return form != "plain" or not _LOOSE_IT.search(text)
