"""What an import does to each question of a bank, and which questions are duplicates. Writes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy.ext.asyncio import AsyncSession

from questions.blocks import plain
from questions.model import Bank, Question
from questions.overview import fields_changed
from questions.similarity import NEAR_DUPLICATE, Fingerprint, Index, fingerprint_of
from service.domain.import_plan import MatchedQuestions, StoredQuestion, digest_of, place_data
from service.store import imports
from service.store.statements import batches
from service.wire import ImportChange, ImportedQuestion, Twin

MAX_PROMPT_LENGTH = 100
"""Longest prompt in a list, characters."""
BATCH_SIZE = 500
"""Number of questions compared before progress is reported and other calls get a turn."""


@dataclass(frozen=True, slots=True)
class Item:
    """A question of the document, with its id in the bank."""

    question: Question
    digest: str
    given_id: str
    """Id that the document gives it."""
    old: StoredQuestion | None
    """Question of the bank that it continues, if any."""
    before: Question | None
    """Text of that question, if it differs."""

    @property
    def changed(self) -> bool:
        """Whether the content of the question changes."""
        return self.old is not None and self.old.digest != self.digest

    @property
    def moved(self) -> bool:
        """Whether it is under another heading, in another document, or has an unknown id."""
        if self.old is None:
            return False
        place = place_data(self.question)
        moved = bool(self.old.place) and any(self.old.place[name] != place[name] for name in ("source", "section"))
        return moved or self.given_id not in (self.old.key, *self.old.aliases)

    @property
    def returned(self) -> bool:
        """Whether an earlier document had dropped it."""
        return self.old is not None and self.old.retired


@dataclass(frozen=True, slots=True)
class Plan:
    """What an import does to the questions of a bank."""

    items: Sequence[Item]
    """Questions in the document's order."""
    vanished: Sequence[tuple[StoredQuestion, Question]]
    """Questions of the bank that the document no longer has, with their text. They are retired."""

    @classmethod
    def from_matches(
        cls, matched: MatchedQuestions, stored: Iterable[StoredQuestion], texts: Mapping[int, Question]
    ) -> Plan:
        """Returns the plan for questions matched with those of the bank."""
        items = [
            Item(question, digest_of(question), given_id, old, texts.get(old.id) if old else None)
            for (question, old), given_id in zip(matched.pairs, matched.document_ids, strict=True)
        ]
        kept = {item.old.id for item in items if item.old}
        gone = [(old, texts[old.id]) for old in stored if old.id not in kept and not old.retired]
        return cls(items, gone)

    @property
    def new_or_changed(self) -> list[Item]:
        """Questions that are added or changed."""
        return [item for item in self.items if item.old is None or item.changed]

    def counts(self) -> dict[str, int]:
        """Returns the number of questions by what happens to them."""
        old = [item for item in self.items if item.old]
        return {
            "added": len(self.items) - len(old),
            "changed": sum(item.changed for item in old),
            "unchanged": sum(not item.changed for item in old),
            "moved": sum(item.moved for item in old),
            "returned": sum(item.returned for item in old),
            "retired": len(self.vanished),
        }


def list_changes(plan: Plan) -> list[ImportChange]:
    """Returns every change in the document's order, and then the retired questions."""
    changes = [_change(item, what) for item in plan.items if (what := _what(item))]
    return changes + [
        ImportChange(id=old.key, what="retired", prompt=shorten_prompt(question.prompt))
        for old, question in plan.vanished
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
        prompt=shorten_prompt(item.question.prompt),
        line=item.question.place.line,
        fields=fields_changed(item.before, item.question) if item.before and item.changed else (),
        made=item.given_id if item.given_id != item.question.id else "",
    )


def shorten_prompt(prompt: str) -> str:
    """Returns the start of a prompt as plain text."""
    text = plain(prompt)
    return text if len(text) <= MAX_PROMPT_LENGTH else text[: MAX_PROMPT_LENGTH - 1].rstrip() + "…"


MAX_SUMMARIZED = 8
"""Questions in a view as they were read."""


def summarize_questions(bank: Bank) -> tuple[ImportedQuestion, ...]:
    """Returns the first questions of a document as they were read."""
    return tuple(
        ImportedQuestion(
            line=question.place.line,
            kind=question.kind,
            prompt=shorten_prompt(question.prompt),
            key=shorten_prompt(
                "; ".join(option.text for option in question.options if option.right) or question.answer or ""
            ),
            license=question.license or bank.license,
        )
        for question in bank.questions[:MAX_SUMMARIZED]
    )


@dataclass(frozen=True, slots=True)
class Duplicates:
    """Questions that are asked twice."""

    pairs: Sequence[Twin]
    """Pairs, most similar first."""

    def view_fields(self, limit: int | None) -> dict[str, Any]:
        """Returns fields of ImportView that list at most `limit` pairs."""
        exact = sum(twin.score == 1 for twin in self.pairs)
        return {
            "exact": exact,
            "near": len(self.pairs) - exact,
            "near_from": NEAR_DUPLICATE,
            "twins": tuple(self.pairs[:limit]),
        }


async def find_duplicates(
    session: AsyncSession, plan: Plan, workspace_id: int | None, name: str, report: Callable[[int, int], None]
) -> Duplicates:
    """Finds new or changed questions that resemble others in the document or in other banks of the workspace."""
    # A choice generated from a question asks the same by design.
    news = [item for item in plan.new_or_changed if not item.question.generated]
    if not news:
        return Duplicates(())
    prints: list[tuple[tuple[str, str], Fingerprint]] = []
    for batch in batches(plan.items, BATCH_SIZE):
        prints += await asyncio.to_thread(
            _prints, [("", item.question) for item in batch if not item.question.generated]
        )
        report(len(prints) // 2, len(plan.items))
    batch_of_others: list[tuple[str, Question]] = []
    async for one in imports.stream_other_questions(session, workspace_id, name):
        if not one[1].generated:
            batch_of_others.append(one)
        if len(batch_of_others) == BATCH_SIZE:
            prints += await asyncio.to_thread(_prints, batch_of_others)
            batch_of_others = []
    prints += await asyncio.to_thread(_prints, batch_of_others)
    index = await asyncio.to_thread(Index, prints)
    search = _DuplicateSearch(plan, index)
    for number, batch in enumerate(batches(news, BATCH_SIZE), 1):
        await asyncio.to_thread(search.add, batch)
        report(len(plan.items) // 2 + min(number * BATCH_SIZE, len(news)) // 2, len(plan.items))
    return Duplicates(sorted(search.pairs, key=lambda twin: -twin.score))


def _prints(questions: Iterable[tuple[str, Question]]) -> list[tuple[tuple[str, str], Fingerprint]]:
    return [((bank, question.id), fingerprint_of(question)) for bank, question in questions]


class _DuplicateSearch:
    """Collects pairs. A pair of two new questions is listed once, with the later one first."""

    def __init__(self, plan: Plan, index: Index[tuple[str, str]]) -> None:
        self.pairs: list[Twin] = []
        self._index = index
        self._order = {item.question.id: number for number, item in enumerate(plan.new_or_changed)}

    def add(self, items: Iterable[Item]) -> None:
        for item in items:
            id_ = item.question.id
            for like in self._index.similar_to(("", id_)):
                bank, other = like.key
                if bank or self._order.get(other, -1) < self._order[id_]:
                    line = item.question.place.line
                    self.pairs.append(Twin(id=id_, line=line, other=other, bank=bank, score=round(like.score, 3)))
