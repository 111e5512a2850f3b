"""Members whose answer has to wait learn how many are before it and how long that takes; others do not."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.text.questions import recorded_card
from bot.core.text.words import seconds_words
from sandbox.client import Health, SandboxUnreachable
from sandbox.wire import Outcome, Run
from service.app import build
from service.config import Settings
from service.rounds.sandbox_turns import estimate_wait
from service.wire import AnswerInput, AnswerResult
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import daily_channel_of, post_code_question

CODE = AnswerInput(code="def double(x):\n    return 2 * x\n")
FREE = Health(ready=2, running=0, waiting=0, isolation="full", lacks=())
BUSY = replace(FREE, ready=0, running=2, waiting=3, wait_s=2.0)


@dataclass
class Machine:
    """A sandbox that counts how often its health is requested."""

    says: Health | None = FREE
    asked: int = field(default=0)

    async def run(self, run: Run) -> Outcome:
        raise NotImplementedError

    async def health(self) -> Health:
        self.asked += 1
        if self.says is None:
            raise SandboxUnreachable("gone")
        return self.says


@given(st.integers(1, 500), st.integers(0, 64), st.floats(0.001, 60))
def test_the_wait_grows_with_what_is_before_and_never_without(before: int, waiting: int, wait_s: float) -> None:
    health = replace(BUSY, waiting=waiting, wait_s=wait_s)
    seconds, longer = estimate_wait(before, health), estimate_wait(before + 1, health)
    assert seconds is not None and longer is not None
    assert 0 < seconds < longer
    assert estimate_wait(before, replace(health, wait_s=0.0)) is None


async def test_each_learns_their_place_and_first_answers_go_before_others(settings: Settings, clock: Clock) -> None:
    machine = Machine()
    async with build(settings, clock, machine).running() as service:
        daily = daily_channel_of(service)
        ref = await post_code_question(daily, clock)
        assert (await daily.answer(ref, CODE, "Ada")).before == 0
        # With nobody before it there is no need to ask the sandbox.
        assert machine.asked == 0
        machine.says = BUSY
        bob = await daily.answer(ref, CODE, "Bob")
        assert (bob.status, bob.before) == ("judging", 1)
        assert bob.wait_s == pytest.approx(1.5)
        # Ada's second answer goes behind all first ones, Cid's before it.
        again = await daily.answer(ref, CODE, "Ada", event="second")
        assert again.before == 2
        assert again.wait_s == pytest.approx(3.0)
        assert (await daily.answer(ref, CODE, "Cid")).before == 2
        # A duplicate of the event gets the same reply and takes no place.
        assert (await daily.answer(ref, CODE, "Ada", event="second")).before == 2
        assert (await daily.answer(ref, CODE, "Dan")).before == 3
        # If a run starts at once, there is no wait.
        machine.says = FREE
        assert (await daily.answer(ref, CODE, "Eve")).before == 0
        # Without an estimate, only the number is reported.
        machine.says = None
        fay = await daily.answer(ref, CODE, "Fay")
        assert (fay.before, fay.wait_s) == (5, 0.0)


def test_every_chats_card_shows_the_wait_only_if_there_is_one() -> None:
    def told(before: int = 0, wait_s: float = 0.0) -> str:
        receipt = AnswerResult(status="judging", ref="r1", given=CODE, before=before, wait_s=wait_s)
        return recorded_card(receipt, None, MONDAY).summary

    assert told() == "Your code is being judged… You get the verdict in a private message, usually within seconds."
    assert told(before=1, wait_s=0.4).endswith(
        "… 1 answer is judged before yours; you get the verdict in a private message."
    )
    assert told(before=12, wait_s=21.9).endswith(
        "… 12 answers are judged before yours, which takes about 20 seconds; you get the verdict in a private message."
    )


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0.2, "1 second"),
        (1.4, "1 second"),
        (7.4, "7 seconds"),
        (8, "10 seconds"),
        (89, "90 seconds"),
        (90, "2 minutes"),
    ],
)
def test_an_estimate_is_rounded_to_its_precision(seconds: float, words: str) -> None:
    assert seconds_words(seconds) == words
