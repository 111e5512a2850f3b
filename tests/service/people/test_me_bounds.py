"""The member's page costs the same statements however much the member has done."""

from __future__ import annotations

from datetime import date, timedelta

from service.people import members
from tests.service.scenes import Stage, question
from tests.service.statements import counted

MOST_STATEMENTS = 14
"""Of `me`, without looking up the caller."""


async def test_numbers_take_the_same_statements_after_one_round_as_after_twenty(stage: Stage) -> None:
    caller = await stage.caller()
    await stage.bank(*(question(f"q{n}") for n in range(20)))
    schedule = await stage.schedule(caller)
    taken = []
    for number in range(20):
        round_ = await stage.round(schedule, date(2026, 3, 2) - timedelta(days=number), f"q{number}")
        await stage.answer(caller, round_)
        if number not in (0, 19):
            continue
        await members.me(stage.session, caller, stage.now)  # the boards are opened once
        with counted() as sent:
            found = await members.me(stage.session, caller, stage.now)
        taken.append(len(sent))
        assert found.streak == number + 1
    assert taken[0] == taken[1]
    assert taken[0] <= MOST_STATEMENTS
