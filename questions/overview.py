"""Bank statistics and differences between two versions of a bank, as data."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from questions.model import KINDS, LEVELS, as_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from questions.model import Question


NONE_GIVEN = "(none)"
"""Stands for a missing level or topic."""
POSITION_FIELDS = ("place", "number", "section")
"""Fields about the position of a question, not its content."""


@dataclass(frozen=True, slots=True)
class QuestionFilter:
    """A filter for questions; an empty field matches all."""

    kind: str = ""
    level: str = ""
    topic: str = ""
    """A path in the topic tree; includes the topics below it."""
    words: str = ""
    """Searched in id, prompt, title and tags, ignoring case."""

    def matches(self, question: Question) -> bool:
        """Returns whether the question matches."""
        within = question.topic == self.topic or question.topic.startswith(f"{self.topic}/")
        text = " ".join((question.id, question.prompt, question.title, *question.tags)).casefold()
        return (
            (not self.kind or question.kind == self.kind)
            and (not self.level or question.level == self.level)
            and (not self.topic or within)
            and self.words.casefold() in text
        )


@dataclass(frozen=True, slots=True)
class Overview:
    """Counts of questions by kind, level and topic."""

    questions: int
    unanswered: int
    families: int
    proved: int
    """Questions with a program that fails if the key is false, including the cases of code tasks and families."""
    kinds: tuple[tuple[str, int], ...]
    levels: tuple[tuple[str, int], ...]
    topics: tuple[tuple[str, int], ...]
    """Sorted by name."""


def overview_of(questions: Sequence[Question]) -> Overview:
    """Returns the counts of these questions."""
    return Overview(
        questions=len(questions),
        unanswered=sum(not question.answered for question in questions),
        families=sum(bool(question.draw) for question in questions),
        proved=sum(_is_proved(question) for question in questions),
        kinds=_counts(questions, lambda question: question.kind, KINDS),
        levels=_counts(questions, lambda question: question.level or NONE_GIVEN, (*LEVELS, NONE_GIVEN)),
        topics=_counts(questions, lambda question: question.topic or NONE_GIVEN),
    )


def _is_proved(question: Question) -> bool:
    return bool(question.proof or question.draw or question.task or (question.kind == "output" and question.program))


def _counts(
    questions: Iterable[Question], of: Callable[[Question], str], order: Sequence[str] = ()
) -> tuple[tuple[str, int], ...]:
    counts = Counter(of(question) for question in questions)
    names = [name for name in order if name in counts] or sorted(counts)
    return tuple((name, counts[name]) for name in names)


@dataclass(frozen=True, slots=True)
class Difference:
    """A question that differs between two versions of a bank."""

    id: str
    fields: tuple[str, ...]
    """Names of the differing fields of `Question`, in the model's order; never its position."""


@dataclass(frozen=True, slots=True)
class Differences:
    """The differences between two versions of a bank."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Difference, ...]
    same: int

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def differences(before: Sequence[Question], after: Sequence[Question]) -> Differences:
    """Returns how the questions changed, matched by id. Their position is ignored."""
    old, new = ({question.id: question for question in edition} for edition in (before, after))
    changed = [
        Difference(id, fields)
        for id, question in new.items()
        if id in old and (fields := fields_changed(old[id], question))
    ]
    return Differences(
        added=tuple(id for id in new if id not in old),
        removed=tuple(id for id in old if id not in new),
        changed=tuple(changed),
        same=sum(id in old for id in new) - len(changed),
    )


def fields_changed(before: Question, after: Question) -> tuple[str, ...]:
    """Returns the names of the fields that differ, except the id and the position."""
    old, new = _content(before), _content(after)
    return tuple(name for name in new if old[name] != new[name])


def _content(question: Question) -> dict[str, Any]:
    data = {name: value for name, value in as_data(question).items() if name not in (*POSITION_FIELDS, "id")}
    return {**data, "code_blocks": [{**block, "line": 0} for block in data["code_blocks"]]}
