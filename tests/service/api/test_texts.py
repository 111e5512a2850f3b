"""Strangers' texts: whatever a member writes is kept as written or refused in words, and never breaks a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from service.client import ServiceRefused
from service.wire import AnswerInput, Who
from tests.service.roads import DAILY, Road, choice, prose

Say = Callable[[Road, str], Awaitable[object]]

BOSS = Who(platform="web", workspace="home", member="boss", name="Boss", admin=True)
SAYINGS: dict[str, Say] = {
    "a report": lambda road, text: road.client.report(road.who(), "e1", "views", f"!{text}"),
    "a name": lambda road, text: road.client.me(road.who(f"!{text}"[:80])),
    "an event": lambda road, text: road.client.privacy(road.who(), f"!{text}"[:200], "show"),
    "a question's id": lambda road, text: road.client.explain(road.who(), f"!{text}"[:200]),
    "a topic": lambda road, text: road.client.board(road.who(), None, topic=text[:200]),
    "a practiced topic": lambda road, text: road.client.practice(road.who(), DAILY, text[:200], text[:200]),
    "a season": lambda road, text: road.client.season_start(BOSS, f"{len(text)}", f"!{text}"[:200]),
    "a reason": lambda road, text: road.client.member_adjust(BOSS, f"{len(text)}", "Boss", 1, f"!{text}"[:200]),
    "a document": lambda road, text: road.client.bank_import(BOSS, f"{len(text)}", f"!{text}"[:200], text, True),
    "an answer": lambda road, text: road.client.answer(road.who(), DAILY, "e2", "p2", AnswerInput(text=text), road.now),
}
# What crosses the wire as JSON is text without lone surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@pytest.mark.parametrize("saying", SAYINGS)
async def test_a_nul_character_is_refused_in_words_or_harmless(road: Road, saying: str) -> None:
    await road.bank(choice("views"), prose())
    await road.client.join(BOSS, DAILY)
    try:
        await SAYINGS[saying](road, "\0")
    except ServiceRefused as refusal:
        assert refusal.failure.message


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(saying=st.sampled_from(sorted(SAYINGS)), text=texts)
async def test_any_text_is_taken_or_refused(road: Road, saying: str, text: str) -> None:
    await road.bank(choice("views"), prose())
    await road.client.join(BOSS, DAILY)
    try:
        await SAYINGS[saying](road, text)
    except ServiceRefused as refusal:
        assert refusal.failure.message
