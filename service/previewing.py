"""What an import does, question by question, and what is asked twice: said before anything is written, and after."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from questions.blocks import plain
from questions.likeness import NEAR, Index, Print, print_of
from questions.model import Question
from questions.overview import fields_changed
from service.aligning import Aligned, Stored, digest_of, place_of
from service.generating import is_generated
from service.store import imports
from service.wire import ImportChange, Twin

MOST_LISTED = 100
"""Of changes and of duplicates, in a view that goes to a chat."""
BRIEF = 100
"""Characters of a prompt in a list."""
AT_A_TIME = 500
"""Questions compared before the progress is told and other calls get their turn."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question of the document, with the id it has in the bank."""

    question: Question
    digest: str
    made: str
    """The id the document gives it."""
    old: Stored | None
    """The bank's question it is."""
    before: Question | None
    """What that one says, where it says something else."""

    @property
    def changed(self) -> bool:
        """Whether what is asked changes."""
        return self.old is not None and self.old.digest != self.digest

    @property
    def moved(self) -> bool:
        """Whether it stands under another heading or in another document, or under an id that was not known."""
        if self.old is None:
            return False
        place = place_of(self.question)
        elsewhere = bool(self.old.place) and any(self.old.place[name] != place[name] for name in ("source", "section"))
        return elsewhere or self.made not in (self.old.key, *self.old.aliases)

    @property
    def returned(self) -> bool:
        """Whether a document had dropped it."""
        return self.old is not None and self.old.retired


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import will do to the questions of a bank."""

    items: Sequence[Item]
    """In the document's order."""
    vanished: Sequence[tuple[Stored, Question]]
    """In the bank and no longer in the document, with what they say; each is retired."""

    @classmethod
    def of(cls, aligned: Aligned, stored: Iterable[Stored], texts: Mapping[int, Question]) -> Plan:
        """The plan that follows from which question is which."""
        items = [
            Item(question, digest_of(question), made, old, texts.get(old.id) if old else None)
            for (question, old), made in zip(aligned.pairs, aligned.given, strict=True)
        ]
        kept = {item.old.id for item in items if item.old}
        gone = [(old, texts[old.id]) for old in stored if old.id not in kept and not old.retired]
        return cls(items, gone)

    @property
    def news(self) -> list[Item]:
        """What is added or changed."""
        return [item for item in self.items if item.old is None or item.changed]

    def counts(self) -> dict[str, int]:
        """How many questions are dealt with how."""
        old = [item for item in self.items if item.old]
        return {
            "added": len(self.items) - len(old),
            "changed": sum(item.changed for item in old),
            "unchanged": sum(not item.changed for item in old),
            "moved": sum(item.moved for item in old),
            "returned": sum(item.returned for item in old),
            "retired": len(self.vanished),
        }


def changes_of(plan: Plan) -> list[ImportChange]:
    """Every question that is not simply kept, in the document's order; what it no longer holds comes last."""
    made = [_change(item, what) for item in plan.items if (what := _what(item))]
    return made + [
        ImportChange(id=old.key, what="retired", prompt=in_brief(question.prompt)) for old, question in plan.vanished
    ]


def _what(item: Item) -> Literal["added", "changed", "moved", "returned"] | None:
    if item.old is None:
        return "added"
    if item.changed:
        return "changed"
    return "returned" if item.returned else "moved" if item.moved else None


def _change(item: Item, what: Literal["added", "changed", "moved", "returned"]) -> ImportChange:
    return ImportChange(
        id=item.question.id,
        what=what,
        prompt=in_brief(item.question.prompt),
        line=item.question.place.line,
        fields=fields_changed(item.before, item.question) if item.before and item.changed else (),
        made=item.made if item.made != item.question.id else "",
    )


def in_brief(prompt: str) -> str:
    """The first words of a prompt, plain."""
    said = plain(prompt)
    return said if len(said) <= BRIEF else said[: BRIEF - 1].rstrip() + "…"


@dataclass(frozen=True, slots=True)
class Twins:
    """What is asked twice."""

    pairs: Sequence[Twin]
    """The most alike first."""

    def said(self, most: int | None) -> dict[str, Any]:
        """As fields of a view that lists at most so many."""
        exact = sum(twin.score == 1 for twin in self.pairs)
        return {
            "exact": exact,
            "near": len(self.pairs) - exact,
            "near_from": NEAR,
            "twins": tuple(self.pairs[:most]),
        }


async def twins_of(
    session: AsyncSession, plan: Plan, workspace_id: int | None, name: str, tell: Callable[[int, int], None]
) -> Twins:
    """Which new or changed questions are like others of the document, or of other banks the workspace is asked from."""
    # A choice made of a question asks the same by design.
    news = [item for item in plan.news if not is_generated(item.question)]
    if not news:
        return Twins(())
    prints: list[tuple[tuple[str, str], Print]] = []
    for batch in imports.batches(plan.items, AT_A_TIME):
        prints += await asyncio.to_thread(
            _prints, [("", item.question) for item in batch if not is_generated(item.question)]
        )
        tell(len(prints) // 2, len(plan.items))
    waiting: list[tuple[str, Question]] = []
    async for one in imports.beside(session, workspace_id, name):
        if not is_generated(one[1]):
            waiting.append(one)
        if len(waiting) == AT_A_TIME:
            prints += await asyncio.to_thread(_prints, waiting)
            waiting = []
    prints += await asyncio.to_thread(_prints, waiting)
    index = await asyncio.to_thread(Index, prints)
    found = _Found(plan, index)
    for number, batch in enumerate(imports.batches(news, AT_A_TIME), 1):
        await asyncio.to_thread(found.look, batch)
        tell(len(plan.items) // 2 + min(number * AT_A_TIME, len(news)) // 2, len(plan.items))
    return Twins(sorted(found.pairs, key=lambda twin: -twin.score))


def _prints(questions: Iterable[tuple[str, Question]]) -> list[tuple[tuple[str, str], Print]]:
    return [((bank, question.id), print_of(question)) for bank, question in questions]


class _Found:
    """Gathers pairs; one of two new questions of the document is named once, by the later of them."""

    def __init__(self, plan: Plan, index: Index[tuple[str, str]]) -> None:
        self.pairs: list[Twin] = []
        self._index = index
        self._order = {item.question.id: number for number, item in enumerate(plan.news)}

    def look(self, items: Iterable[Item]) -> None:
        for item in items:
            id_ = item.question.id
            for like in self._index.like(("", id_)):
                bank, other = like.key
                if bank or self._order.get(other, -1) < self._order[id_]:
                    line = item.question.place.line
                    self.pairs.append(Twin(id=id_, line=line, other=other, bank=bank, score=round(like.score, 3)))
