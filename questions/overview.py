"""What is in a bank, and what two editions of it differ in, as data. Renders nothing."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from questions.model import KINDS, LEVELS, as_data

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from questions.model import Question

UNTOLD = "(none)"
"""Stands for a level or a topic that a question does not name."""
PLACED = ("place", "number", "section")
"""Fields that tell where a question stands, not what it asks."""


@dataclass(frozen=True, slots=True)
class Wish:
    """Which questions are asked for; an empty field asks for all."""

    kind: str = ""
    level: str = ""
    topic: str = ""
    """A path of the topic tree; what lies below it belongs to it."""
    words: str = ""
    """Found in id, prompt, title or tags, whatever the case."""

    def fits(self, question: Question) -> bool:
        """Whether `question` is one of them."""
        within = question.topic == self.topic or question.topic.startswith(f"{self.topic}/")
        said = " ".join((question.id, question.prompt, question.title, *question.tags)).casefold()
        return (
            (not self.kind or question.kind == self.kind)
            and (not self.level or question.level == self.level)
            and (not self.topic or within)
            and self.words.casefold() in said
        )


@dataclass(frozen=True, slots=True)
class Overview:
    """How many questions of each sort there are."""

    questions: int
    unanswered: int
    families: int
    proved: int
    """With a program that fails when the key is false, a challenge's own cases and a family's drawings included."""
    kinds: tuple[tuple[str, int], ...]
    levels: tuple[tuple[str, int], ...]
    topics: tuple[tuple[str, int], ...]
    """By name."""


def overview_of(questions: Sequence[Question]) -> Overview:
    """The counts of these questions."""
    return Overview(
        questions=len(questions),
        unanswered=sum(not question.answered for question in questions),
        families=sum(bool(question.draw) for question in questions),
        proved=sum(_is_proved(question) for question in questions),
        kinds=_counts(questions, lambda question: question.kind, KINDS),
        levels=_counts(questions, lambda question: question.level or UNTOLD, (*LEVELS, UNTOLD)),
        topics=_counts(questions, lambda question: question.topic or UNTOLD),
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
    """A question that is in two editions and not the same."""

    id: str
    fields: tuple[str, ...]
    """Names of the fields of `Question` that differ, in their order; never where it stands."""


@dataclass(frozen=True, slots=True)
class Differences:
    """What became of the questions of one edition in another."""

    added: tuple[str, ...]
    removed: tuple[str, ...]
    changed: tuple[Difference, ...]
    same: int

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.changed)


def differences(before: Sequence[Question], after: Sequence[Question]) -> Differences:
    """What became of the questions `before`, told apart by id. Where a question stands is no difference."""
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
    """The names of what differs, as the model calls them, but for the id and where a question stands."""
    old, new = _unplaced(before), _unplaced(after)
    return tuple(name for name in new if old[name] != new[name])


def _unplaced(question: Question) -> dict[str, Any]:
    data = {name: value for name, value in as_data(question).items() if name not in (*PLACED, "id")}
    return {**data, "code_blocks": [{**block, "line": 0} for block in data["code_blocks"]]}
