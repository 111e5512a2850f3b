"""Untrusted texts are stored as written or rejected with a reason, and never break a call."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from service.client import ServiceRefused
from service.wire import AnswerInput, CallRejected, Who
from tests.service.daily_channel import DAILY, DailyChannel, choice, prose

Say = Callable[[DailyChannel, str], Awaitable[object]]

BOSS = Who(platform="web", workspace="home", member="boss", name="Boss", admin=True)
SAYINGS: dict[str, Say] = {
    "a report": lambda daily, text: daily.client.report(daily.who(), "e1", "views", f"!{text}"),
    "a name": lambda daily, text: daily.client.me(daily.who(f"!{text}"[:80])),
    "an event": lambda daily, text: daily.client.privacy(daily.who(), f"!{text}"[:200], "show"),
    "a question's id": lambda daily, text: daily.client.explain(daily.who(), f"!{text}"[:200]),
    "a topic": lambda daily, text: daily.client.board(daily.who(), None, topic=text[:200]),
    "a practiced topic": lambda daily, text: daily.client.practice(daily.who(), DAILY, text[:200], text[:200]),
    "a season": lambda daily, text: daily.client.season_start(BOSS, f"{len(text)}", f"!{text}"[:200]),
    "a reason": lambda daily, text: daily.client.member_adjust(BOSS, f"{len(text)}", "Boss", 1, f"!{text}"[:200]),
    "a document": lambda daily, text: daily.client.bank_import(BOSS, f"{len(text)}", f"!{text}"[:200], text, True),
    "an answer": lambda daily, text: daily.client.answer(
        daily.who(), DAILY, "e2", "p2", AnswerInput(text=text), daily.now
    ),
}
# What crosses the wire as JSON is text without lone surrogates.
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=300)


@pytest.mark.parametrize("saying", SAYINGS)
async def test_a_nul_character_is_refused_or_harmless(daily: DailyChannel, saying: str) -> None:
    await daily.bank(choice("views"), prose())
    await daily.client.join(BOSS, DAILY)
    try:
        await SAYINGS[saying](daily, "\0")
    except ServiceRefused as refusal:
        assert not isinstance(refusal.refusal, CallRejected)


@settings(max_examples=20)
@given(saying=st.sampled_from(sorted(SAYINGS)), text=texts)
async def test_any_text_is_taken_or_refused(daily: DailyChannel, saying: str, text: str) -> None:
    await daily.bank(choice("views"), prose())
    await daily.client.join(BOSS, DAILY)
    try:
        await SAYINGS[saying](daily, text)
    except ServiceRefused as refusal:
        assert not isinstance(refusal.refusal, CallRejected)
