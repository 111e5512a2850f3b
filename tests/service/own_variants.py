"""Families whose variants are stored without a sandbox, and a channel whose members get variants of their own."""

from __future__ import annotations

import dataclasses
import re

from sqlalchemy import select

from questions.model import Option, Question
from service.app import Service
from service.banks.imports import import_bank
from service.store import variants
from service.store.tables import QuestionRow, QuestionVersion
from service.wire import QuestionPost
from tests.conftest import Clock
from tests.service.daily_channel import SPEC, DailyChannel, choice, value
from tests.service.scenes import reading

OWN = SPEC.model_copy(update={"variants": True})


def typed_family(id_: str = "shapes") -> Question:
    """Returns a family whose members type a value."""
    return dataclasses.replace(value(id_), answer="", draw="def draw(rng): ...")


def chosen_family(id_: str = "strides") -> Question:
    """Returns a family whose members choose an option."""
    return dataclasses.replace(choice(id_), answer="", options=(), draw="def draw(rng): ...")


def variant(family: Question, number: int) -> Question:
    """Returns one variant, whose key is `(number, 3)` and no other variant's."""
    made = dataclasses.replace(
        family,
        id=f"{family.id}-{number:010}",
        draw="",
        prompt=f"What is the shape of `zeros({number}, 3)`?",
        why=f"It has {number} rows.",
    )
    if family.kind == "value":
        return dataclasses.replace(made, answer=f"({number}, 3)")
    texts = [(f"`({number}, 3)`", True), (f"`(3, {number})`", False), (f"`({number},)`", False)]
    # The right option has another id from one variant to the next.
    turned = texts[number % 3 :] + texts[: number % 3]
    return dataclasses.replace(
        made,
        options=tuple(
            Option(id_, *text, "" if text[1] else "swapped") for id_, text in zip("abc", turned, strict=True)
        ),
    )


async def bank(service: Service, family: Question, count: int = 20) -> None:
    """Imports a family, as a shared bank of its own, with so many variants."""
    async with service.sessions.begin() as session:
        view = await import_bank(session, reading(family, name=family.id), None, service.clock(), True)
        assert view.applied, view.findings
        query = select(QuestionVersion).join(QuestionRow, QuestionRow.id == QuestionVersion.question_id)
        current = QuestionVersion.version == QuestionRow.current
        row = (
            await session.scalars(query.where(QuestionRow.key == family.id, current, QuestionVersion.drawing == 0))
        ).one()
        drawn = [variant(family, row.version * 100 + number) for number in range(count)]
        await variants.add(session, row, [(one, one.id) for one in drawn], service.clock())


async def opened(daily: DailyChannel, clock: Clock, family: Question, *, count: int = 20) -> QuestionPost:
    """Posts a family in a channel whose members get variants of their own."""
    await bank(daily.service, family, count)
    await daily.schedule(OWN)
    clock.advance(hours=1)
    return next(body for body in await daily.ticked() if isinstance(body, QuestionPost))


def number_of(question_id: str) -> int:
    """Returns the number of a variant by its id."""
    return int(question_id.rpartition("-")[2])


def variant_in(text: str) -> int:
    """Returns the number of the variant whose prompt is in a text."""
    found = re.search(r"shape of (?:`|<code>)?zeros\((\d+), 3\)", text)
    assert found, text
    return int(found[1])
