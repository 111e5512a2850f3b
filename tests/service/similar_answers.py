"""Rounds whose answers agree: two members who share theirs, among others who do not."""

from __future__ import annotations

from datetime import date, timedelta
from random import Random

from sqlalchemy import select

from questions.model import Question
from service.store import variants
from service.store.members import Caller
from service.store.tables import QuestionVersion
from service.wire import Where
from tests.service.own_variants import variant
from tests.service.scenes import HOME, Stage, question

FIRST = date(2026, 1, 5)
ROUNDS = 24


async def play_alike(stage: Stage, workspace: str = "home", where: Where = HOME) -> Caller:
    """Plays rounds in which Ada and Bob choose the same wrong options, ten others their own, and Bob is fast in six.
    Returns the admin."""
    boss = await stage.caller("Boss", workspace=workspace, where=where, admin=True)
    await stage.bank(question())
    schedule = await stage.schedule(boss)
    names = ("Ada", "Bob", *(f"Member {n}" for n in range(10)))
    people = [await stage.caller(name, workspace=workspace, where=where) for name in names]
    random = Random(5)
    for number in range(ROUNDS):
        round_ = await stage.round(schedule, FIRST + timedelta(days=number))
        for place, who in enumerate(people):
            option = "xyz"[number % 3] if place < 2 else random.choice("xyz")
            await stage.answer(who, round_, credit=0.0, option=option)
            await stage.points(who, 10, round_=round_, seconds=4.0 if who.name == "Bob" and number < 6 else 60.0)
    return boss


async def play_variants_alike(stage: Stage, family: Question, workspace: str = "home", where: Where = HOME) -> Caller:
    """Plays rounds in which every member has their own variant and is wrong; what Ada types is right for Bob's.
    Returns the admin."""
    boss = await stage.caller("Boss", workspace=workspace, where=where, admin=True)
    await stage.bank(family, name="families")
    row = await stage.version(family.id)
    drawn = [variant(family, number) for number in range(30)]
    await variants.add(stage.session, row, [(one, one.id) for one in drawn], stage.now)
    query = select(QuestionVersion).where(QuestionVersion.drawing > 0).order_by(QuestionVersion.drawing)
    versions = (await stage.session.scalars(query)).all()
    schedule = await stage.schedule(boss)
    names = ("Ada", "Bob", *(f"Member {n}" for n in range(8)))
    people = [await stage.caller(name, workspace=workspace, where=where) for name in names]
    random = Random(5)
    for number in range(ROUNDS):
        round_ = await stage.round(schedule, FIRST + timedelta(days=number), family.id)
        round_.version_id, round_.own_variants = versions[-1].id, True
        given = random.sample(range(29), len(people))
        for who, own in zip(people, given, strict=True):
            text = f"({given[1]},3)" if who.name == "Ada" else f"(3, {own})"
            wrong = next((one["id"] for one in versions[own].body["options"] if not one["right"]), "")
            await stage.answer(who, round_, credit=0.0, text=text, option=wrong, variant=versions[own].id)
    return boss
