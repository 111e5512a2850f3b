"""Draws the questions of a family in the sandbox: torch computes every key. What a drawing becomes is `questions`'."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession, async_sessionmaker

from questions import Question
from questions.families import ENTRY, DrawingWrong, drawing_program, drawn_questions
from sandbox.challenge import Runs
from sandbox.values import Caps, decode, encode, split
from sandbox.wire import Limits, Run
from service.aligning import digest_of
from service.store import drawings, questions
from service.store.tables import QuestionVersion

STOCK = 128
"""Drawings made of a family when it is imported; those that repeat one another are left out."""
LIMITS = Limits(wall_ms=30_000, cpu_ms=30_000, memory_mb=1024)
CAPS = Caps(total=16 * 1024 * 1024, items=10**6)


class SandboxFailed(Exception):
    """The sandbox could not draw; the family is not to blame."""


async def draw_family(
    sessions: async_sessionmaker[AsyncSession], sandbox: Runs | None, version_id: int, now: datetime
) -> None:
    """Store what is drawn from the family of that version's id.

    Raises SandboxFailed, to be tried again, and DrawingWrong where the family is at fault: it is never asked.
    """
    if sandbox is None:
        raise SandboxFailed("no sandbox is connected")
    async with sessions() as session:
        family = (await questions.version(session, version_id)).question
    drawn = await draw_questions(family, sandbox, seed=version_id, count=STOCK)
    if not drawn:
        raise DrawingWrong(f"no drawing of {family.id} has a key and enough wrong options that differ from it")
    async with sessions.begin() as session:
        row = await session.get_one(QuestionVersion, version_id)
        await drawings.add(session, row, [(question, digest_of(question)) for question in drawn], now)


async def draw_questions(
    family: Question, sandbox: Runs, *, seed: int, first: int = 0, count: int = 100, limits: Limits = LIMITS
) -> tuple[Question, ...]:
    """The different questions of `count` drawings from number `first`; always the same for the same seed.

    Raises DrawingWrong where the family is at fault, SandboxFailed where we are.
    """
    run = Run(
        id=f"draw/{family.id}/{first}",
        code=drawing_program(family),
        entry=ENTRY,
        cases=encode([(seed, first, count)]),
        limits=limits,
    )
    outcome = await sandbox.run(run)
    if outcome.status == "internal":
        raise SandboxFailed(outcome.detail)
    if outcome.status != "ok":
        raise DrawingWrong(f"drawing ended with {outcome.status}: {outcome.stderr[-1000:].strip()}")
    return tuple(drawn_questions(family, _drawings(outcome.results)))


def _drawings(results: bytes) -> list[dict[str, Any]]:
    try:
        (piece,) = split(results)
        entry = decode(piece, CAPS)
    except ValueError as problem:
        raise DrawingWrong(f"the drawings cannot be read: {problem}") from None
    match entry:
        case ("ok", list(drawings)) if all(isinstance(drawing, dict) for drawing in drawings):
            return [drawing for drawing in drawings if isinstance(drawing, dict)]
        case ("raised", str(name), str(message)):
            raise DrawingWrong(f"draw(rng) raised {name}: {message}")
        case (_, _, str(message)):
            raise DrawingWrong(f"draw(rng) gave what cannot leave the sandbox: {message}")
    raise DrawingWrong("draw(rng) must return a dict")
