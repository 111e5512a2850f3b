"""The outbox delivers every message once and in order with any interleaving of dispatchers, tested by a state
machine."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Coroutine
from datetime import timedelta
from typing import Any, TypeVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from pydantic import TypeAdapter
from sqlalchemy import delete, text

from service.app import build
from service.client import ServiceRefused
from service.config import Settings
from service.rounds import delivery as rounds_delivery
from service.store import claims, outbox
from service.store.change_signal import OUTBOX, ChangeSignal
from service.store.members import resolve_caller
from service.store.session import Sessions, make_engine, make_sessions
from service.store.tables import Identity, Outbox, Round
from service.wire import (
    READABLE_KINDS,
    AttemptOutcome,
    BankLow,
    Body,
    Delivery,
    Notice,
    NoticeFact,
    PostFailed,
    QuestionPost,
    SandboxRestored,
    Shards,
    Where,
    Who,
)
from tests.conftest import MONDAY, Clock
from tests.service.daily_channel import DailyChannel, choice

T = TypeVar("T")
NINE = MONDAY + timedelta(hours=1)
WHO = Who(platform="web", workspace="home", member="ada", name="Ada")


async def posted(daily: DailyChannel, clock: Clock) -> None:
    """Fills the outbox with a question and the notice that the bank runs low."""
    await daily.bank(choice())
    await daily.schedule()
    clock.now = NINE
    await daily.service.tick()


async def question_of(daily: DailyChannel) -> Delivery:
    """Claims all messages, delivers the notices and holds the question."""
    claimed = {each.body.kind: each for each in await daily.claim()}
    if notice := claimed.get("notice"):
        await daily.client.outbox_sent(notice.id, "notice")
    return claimed["question"]


async def states(daily: DailyChannel) -> dict[str, str]:
    return {row.key: row.state for row in await daily.rows(Outbox)}


async def test_a_message_is_leased_to_one_dispatcher(daily: DailyChannel, clock: Clock) -> None:
    await posted(daily, clock)
    claims = await asyncio.gather(*(daily.claim() for _ in range(6)))
    claimed = [delivery.key for claim in claims for delivery in claim]
    assert sorted(claimed) == ["low:1:1", "round:1:question"]


async def test_a_lease_that_ends_brings_the_message_back_as_uncertain(daily: DailyChannel, clock: Clock) -> None:
    await posted(daily, clock)
    first = await question_of(daily)
    clock.advance(seconds=29)
    assert await daily.claim() == ()
    clock.advance(seconds=1)
    again = await question_of(daily)
    assert (first.uncertain, again.uncertain, again.attempt, again.key) == (False, True, 2, first.key)


async def test_the_first_claim_is_the_one_that_is_measured(daily: DailyChannel, clock: Clock) -> None:
    await posted(daily, clock)
    first = await question_of(daily)
    claimed_at = clock.now
    clock.advance(seconds=31)
    again = await question_of(daily)
    await daily.client.outbox_sent(again.id, "m1")
    (row,) = [row for row in await daily.rows(Outbox) if row.id == first.id]
    assert row.taken_at == claimed_at


async def test_a_private_message_to_somebody_who_is_gone_goes_nowhere(daily: DailyChannel, clock: Clock) -> None:
    """Least of all to the channel that it names beside the member."""
    await posted(daily, clock)
    await daily.deliver()
    await daily.answer("r1", "a")
    clock.advance(hours=8)
    await daily.service.tick()
    async with daily.service.sessions.begin() as session:
        await session.execute(delete(Identity))
    assert [each.body.kind for each in await daily.deliver() if each.body.kind in ("result", "reveal")] == ["reveal"]
    assert [state for key, state in (await states(daily)).items() if ":result:" in key] == ["skipped"]


async def test_a_certain_failure_is_retried_without_looking(daily: DailyChannel, clock: Clock) -> None:
    await posted(daily, clock)
    delivery = await question_of(daily)
    await daily.client.outbox_failed(delivery.id, delivery.attempt, "connection refused", outcome="failed")
    assert (await states(daily))[delivery.key] == "due"
    clock.advance(seconds=2)
    again = await question_of(daily)
    assert not again.uncertain


async def test_a_dispatcher_with_an_expired_lease_does_not_affect_the_next_attempt(
    daily: DailyChannel, clock: Clock
) -> None:
    await posted(daily, clock)
    first = await question_of(daily)
    clock.advance(seconds=30)
    second = await question_of(daily)
    await daily.client.outbox_failed(first.id, first.attempt, "too slow", outcome="refused")
    assert (await states(daily))[first.key] == "sending"
    await daily.client.outbox_sent(second.id, "42")
    assert (await states(daily))[first.key] == "sent"


async def test_an_uncertain_message_is_looked_for(daily: DailyChannel, clock: Clock) -> None:
    await posted(daily, clock)
    delivery = await question_of(daily)
    await daily.client.outbox_failed(delivery.id, delivery.attempt, "timed out", outcome="uncertain")
    assert (await states(daily))[delivery.key] == "uncertain"
    clock.advance(seconds=2)
    assert (await question_of(daily)).uncertain


async def test_retry_delays_grow_and_a_platforms_delay_is_kept(daily: DailyChannel, clock: Clock) -> None:
    await posted(daily, clock)
    waits = []
    for _ in range(4):
        delivery = await question_of(daily)
        await daily.client.outbox_failed(delivery.id, delivery.attempt, "no", outcome="failed")
        row = next(row for row in await daily.rows(Outbox) if row.id == delivery.id)
        waits.append((row.not_before - clock.now).total_seconds())
        clock.now = row.not_before
    assert waits == [2, 4, 8, 16]
    delivery = await question_of(daily)
    await daily.client.outbox_failed(delivery.id, delivery.attempt, "slow down", outcome="failed", retry_s=77)
    clock.advance(seconds=76)
    assert [each for each in await daily.claim() if each.body.kind == "question"] == []
    clock.advance(seconds=1)
    assert (await question_of(daily)).attempt == 6


async def test_a_reveal_waits_for_its_question_and_goes_into_its_thread(daily: DailyChannel, clock: Clock) -> None:
    await posted(daily, clock)
    question = await question_of(daily)
    await daily.client.outbox_failed(question.id, question.attempt, "timed out", outcome="uncertain")
    async with daily.service.sessions.begin() as session:
        row = await session.get_one(Outbox, question.id)
        row.give_up_at = row.not_before = NINE + timedelta(hours=9)
    clock.advance(hours=8)
    await daily.service.tick()
    assert [each.body.kind for each in await daily.claim() if each.body.kind != "notice"] == []
    await daily.client.outbox_sent(question.id, "found-it")
    (reveal,) = [each for each in await daily.claim() if each.body.kind == "reveal"]
    assert reveal.reply_to == "found-it"


async def test_a_post_not_made_in_time_is_given_up_and_reported_once(daily: DailyChannel, clock: Clock) -> None:
    await posted(daily, clock)
    clock.advance(hours=2)
    await daily.service.tick()
    await daily.service.tick()
    assert (await states(daily))["round:1:question"] == "skipped"
    notices = [each.body for each in await daily.deliver()]
    facts = [body.fact for body in notices if isinstance(body, Notice)]
    (failure,) = [fact for fact in facts if isinstance(fact, PostFailed)]
    assert (failure.message, failure.attempts, failure.error) == ("question", 0, "")
    (round_,) = await daily.rows(Round)
    assert round_.skipped is not None and round_.version_id is None


async def test_a_round_that_was_answered_outlives_its_post(daily: DailyChannel, clock: Clock) -> None:
    await posted(daily, clock)
    await daily.answer("r1", "a")
    clock.advance(hours=2)
    await daily.service.tick()
    clock.advance(hours=6)
    await daily.service.tick()
    (reveal,) = [each for each in await daily.deliver() if each.body.kind == "reveal"]
    assert reveal.reply_to is None


async def test_a_final_failure_is_given_up_at_once(daily: DailyChannel, clock: Clock) -> None:
    await posted(daily, clock)
    delivery = await question_of(daily)
    await daily.client.outbox_failed(delivery.id, delivery.attempt, "missing permission to write", outcome="refused")
    (notice,) = [each.body for each in await daily.claim() if each.key.startswith("gave-up")]
    assert isinstance(notice, Notice) and isinstance(notice.fact, PostFailed)
    assert notice.fact.error == "missing permission to write"


async def test_a_notice_that_fails_makes_no_notice(daily: DailyChannel, clock: Clock) -> None:
    await daily.schedule()
    clock.now = NINE
    await daily.service.tick()
    (notice,) = await daily.claim()
    await daily.client.outbox_failed(notice.id, notice.attempt, "no", outcome="refused")
    assert await daily.claim() == ()
    assert await states(daily) == {"empty:1:0": "skipped"}


async def test_the_first_reference_stays(daily: DailyChannel, clock: Clock) -> None:
    await posted(daily, clock)
    delivery = await question_of(daily)
    for ref in ("first", "second"):
        await daily.client.outbox_sent(delivery.id, ref)
    await daily.client.outbox_failed(delivery.id, delivery.attempt, "too late to fail", outcome="failed")
    row = next(row for row in await daily.rows(Outbox) if row.id == delivery.id)
    assert (row.state, row.message_ref, row.error) == ("sent", "first", None)


async def test_an_unknown_delivery_is_not_found(daily: DailyChannel) -> None:
    with pytest.raises(ServiceRefused, match="no delivery 7"):
        await daily.client.outbox_sent(7, "m")


async def test_other_platforms_get_nothing(daily: DailyChannel, clock: Clock) -> None:
    await posted(daily, clock)
    assert await daily.client.outbox_claim("slack") == ()


async def test_a_process_gets_the_messages_of_its_own_shards(
    daily: DailyChannel, clock: Clock, sessions: Sessions
) -> None:
    servers = [str((1_300_000_000_000 + 7 * number << 22) + number) for number in range(12)] + ["9" * 20, "local"]
    async with sessions.begin() as session:
        for server in servers:
            who = WHO.model_copy(update={"platform": "discord", "workspace": server})
            caller = await resolve_caller(session, who, Where(channel="daily"), clock.now)
            message = outbox.NewMessage(
                server, Notice(fact=SandboxRestored(minutes=1)), caller.workspace_id, channel_id=caller.channel_id
            )
            assert await outbox.enqueue(session, message, clock.now)
    found: dict[str, str] = {}
    for first, last in ((0, 0), (1, 3), (4, 4)):
        shards = Shards(first=first, last=last, count=5)
        for delivery in await daily.client.outbox_claim("discord", shards=shards):
            assert found.setdefault(delivery.workspace, str(shards)) == str(shards)
    owners = {0: "0/5", 1: "1-3/5", 2: "1-3/5", 3: "1-3/5", 4: "4/5"}
    # discord.py's own rule; what is no server's id is the coordinator's.
    assert found == {one: owners[(int(one) >> 22) % 5 if len(one) == 19 else 0] for one in servers}


async def test_a_chat_with_many_channels_holds_up_no_other(
    daily: DailyChannel, clock: Clock, sessions: Sessions
) -> None:
    async with sessions.begin() as session:
        for workspace, channels in (("large", 5), ("small", 1)):
            who = WHO.model_copy(update={"workspace": workspace})
            for number in range(channels):
                caller = await resolve_caller(session, who, Where(channel=f"{workspace}-{number}"), clock.now)
                body = Notice(fact=SandboxRestored(minutes=1))
                message = outbox.NewMessage(
                    f"{workspace}:{number}", body, caller.workspace_id, channel_id=caller.channel_id
                )
                assert await outbox.enqueue(session, message, clock.now)
    first = await daily.client.outbox_claim("web", limit=2)
    rest = await daily.client.outbox_claim("web", limit=20)
    assert [each.channel for each in first] == ["large-0", "small-0"]
    assert [each.channel for each in rest] == [f"large-{number}" for number in range(1, 5)]


def test_the_kinds_that_a_bot_reads_are_those_of_the_wire_format() -> None:
    def mapped(union: Any) -> set[str]:
        return set(TypeAdapter(union).json_schema()["discriminator"]["mapping"])

    assert set(READABLE_KINDS) == {
        *(mapped(Body) - {"notice"}),
        *(f"notice:{kind}" for kind in mapped(NoticeFact)),
    }


async def test_a_bot_never_gets_a_kind_that_it_cannot_read(
    daily: DailyChannel, clock: Clock, sessions: Sessions
) -> None:
    await posted(daily, clock)
    async with sessions.begin() as session:
        # As a worker of the next version writes them: a new kind of message, with one behind it, and of notice.
        caller = await resolve_caller(session, WHO, Where(channel="other"), clock.now)
        for number in range(2):
            body = Notice(fact=SandboxRestored(minutes=1))
            message = outbox.NewMessage(f"m{number}", body, caller.workspace_id, channel_id=caller.channel_id)
            assert await outbox.enqueue(session, message, clock.now)
        for change in (
            """update outbox set kind = 'next', body = '{"kind": "next"}' where key = 'm0'""",
            """update outbox set kind = 'reminder' where key = 'm1'""",
            """update outbox set body = jsonb_set(body, '{fact,kind}', '"next"') where key = 'low:1:1'""",
        ):
            await session.execute(text(change))
    old = await daily.client.outbox_claim("web", kinds=READABLE_KINDS)
    assert [each.key for each in old] == ["round:1:question"], "what it can read, and nothing else"
    before = {row.key: (row.state, row.attempt) for row in await daily.rows(Outbox)}
    assert before["m0"] == before["m1"] == before["low:1:1"] == ("due", 0), "no attempt is spent, and the order is kept"
    # The next version's bot takes over.
    async with sessions.begin() as session:
        more = (*READABLE_KINDS, "next", "notice:next")
        new = await claims.lock_claimable(session, "web", "", clock.now, 20, kinds=more)
        assert {row.key for row in new} == {"m0", "low:1:1"}


async def test_a_waiting_dispatcher_is_notified(
    daily: DailyChannel, clock: Clock, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rounds_delivery, "POLL_SECONDS", 3600)
    signal = ChangeSignal(settings.database_url)
    await daily.bank(choice())
    await daily.schedule()
    clock.now = NINE
    waiting = asyncio.create_task(
        rounds_delivery.claim_or_wait(
            daily.service.sessions, signal, rounds_delivery.Claim("web"), clock, wait_s=36_000
        )
    )
    async with build(settings, clock).running() as other:
        await other.tick()
    async with asyncio.timeout(60), contextlib.aclosing(signal):
        assert {each.body.kind for each in await waiting} in ({"question"}, {"notice"}, {"question", "notice"})


async def test_nothing_is_leased_to_a_dispatcher_that_is_gone(daily: DailyChannel, clock: Clock) -> None:
    """It may die between its call and the lease: then no message waits for the end of that lease."""
    await posted(daily, clock)
    signal = ChangeSignal(daily.service.settings.database_url)
    gone = await rounds_delivery.claim_or_wait(
        daily.service.sessions, signal, rounds_delivery.Claim("web"), clock, wait_s=1, stopping=lambda: True
    )
    assert gone == ()
    assert [each.attempt for each in await daily.client.outbox_claim("web")] == [1, 1]


async def test_a_dispatcher_that_leaves_just_when_a_message_comes_is_gone(daily: DailyChannel, clock: Clock) -> None:
    """Python 3.11's `asyncio.wait_for` forgets a cancellation at the moment that what it waits for happens."""
    signal = ChangeSignal(daily.service.settings.database_url)
    async with contextlib.aclosing(signal):
        waiting = asyncio.create_task(
            rounds_delivery.claim_or_wait(
                daily.service.sessions, signal, rounds_delivery.Claim("web"), clock, wait_s=36_000
            )
        )
        added = signal.next_change(OUTBOX)
        while not added._waiters:  # until the dispatcher waits
            await asyncio.sleep(0)
            added = signal.next_change(OUTBOX)
        added.set()
        waiting.cancel()
        async with asyncio.timeout(60):
            await asyncio.gather(waiting, return_exceptions=True)
    assert waiting.cancelled()


async def test_waiting_for_nothing_ends(daily: DailyChannel) -> None:
    assert await daily.client.outbox_claim("web", wait_s=0.1) == ()


class Couriers(RuleBasedStateMachine):
    """Dispatchers that crash, fail, succeed or never report, for messages of several channels, while the clock
    advances."""

    url = ""
    """URL of the test's database."""

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()
        self.now = MONDAY
        self.made: dict[str, list[str]] = {}
        """Messages in each channel, in order."""
        self.held: list[Delivery] = []
        self.left = 0
        self.engine = make_engine(self.url)
        self.sessions: Sessions = make_sessions(self.engine)

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.loop.run_until_complete(work)

    @initialize()
    def begin(self) -> None:
        self.run(self._forget())

    async def _forget(self) -> None:
        async with self.sessions.begin() as session:
            await session.execute(delete(Outbox))

    @rule(channel=st.sampled_from(["one", "two"]))
    def leave(self, channel: str) -> None:
        self.left += 1
        self.run(self._leave(channel, self.left))

    async def _leave(self, channel: str, number: int) -> None:
        async with self.sessions.begin() as session:
            caller = await resolve_caller(session, WHO, Where(channel=channel), self.now)
            key = f"{id(self)}:{number}"
            await outbox.enqueue(
                session,
                outbox.NewMessage(
                    key=key,
                    body=Notice(fact=BankLow(left=number)),
                    workspace_id=caller.workspace_id,
                    channel_id=caller.channel_id,
                ),
                self.now,
            )

    @precondition(lambda self: self.left)
    @rule(limit=st.integers(1, 3))
    def claim(self, limit: int) -> None:
        claimed = self.run(self._claim(limit))
        for delivery in claimed:
            assert delivery.channel not in {held.channel for held in claimed if held is not delivery}
            on_the_way = [held for held in self.held if held.id == delivery.id]
            assert delivery.uncertain or not on_the_way, "only what may have been lost is handed out twice"
        self.held += claimed

    async def _claim(self, limit: int) -> tuple[Delivery, ...]:
        async with self.sessions.begin() as session:
            return await rounds_delivery.claim_messages(session, rounds_delivery.Claim("web", limit=limit), self.now)

    @precondition(lambda self: self.held)
    @rule(data=st.data(), reports=st.booleans())
    def post(self, data: st.DataObject, reports: bool) -> None:
        """Posts a message, unless it is uncertain and found. The dispatcher may crash before it reports."""
        delivery = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        if not self._in_time(delivery):
            return
        stands = self.made.setdefault(delivery.channel, [])
        if not (delivery.uncertain and delivery.key in stands):
            stands.append(delivery.key)
        if reports:
            self.run(self._sent(delivery))

    async def _sent(self, delivery: Delivery) -> None:
        async with self.sessions.begin() as session:
            await rounds_delivery.mark_sent(session, delivery.id, f"ref of {delivery.key}", self.now)

    @precondition(lambda self: self.held)
    @rule(data=st.data())
    def fail(self, data: st.DataObject) -> None:
        delivery = self.held.pop(data.draw(st.integers(0, len(self.held) - 1)))
        if self._in_time(delivery):
            # A dispatcher that looked and did not find the message knows it is absent; one that found it reports it as
            # sent.
            self.run(self._failed(delivery, delivery.key in self.made.get(delivery.channel, [])))

    async def _failed(self, delivery: Delivery, uncertain: bool) -> None:
        async with self.sessions.begin() as session:
            outcome: AttemptOutcome = "uncertain" if uncertain else "failed"
            failure = rounds_delivery.FailedAttempt(delivery.attempt, "no", outcome)
            await rounds_delivery.mark_failed(session, delivery.id, failure, self.now)

    @rule(seconds=st.sampled_from([3, 31, 400]))
    def wait(self, seconds: int) -> None:
        self.now += timedelta(seconds=seconds)
        if seconds > rounds_delivery.LEASE.total_seconds():
            # Dispatchers give up sooner than the lease, so their messages are lost.
            self.held = []

    def _in_time(self, delivery: Delivery) -> bool:
        newest = max((held.attempt for held in self.held if held.id == delivery.id), default=0)
        return delivery.attempt >= newest

    @invariant()
    def everything_stands_once_and_in_order(self) -> None:
        for stands in self.made.values():
            numbers = [int(key.rpartition(":")[2]) for key in stands]
            assert numbers == sorted(set(numbers))

    def teardown(self) -> None:
        self.run(self.engine.dispose())
        self.loop.close()


@pytest.mark.slow
def test_crashing_and_failing_dispatchers_post_every_message_once_and_in_order(
    database_url: str,
) -> None:
    machine: type[Couriers] = type("CouriersHere", (Couriers,), {"url": database_url})
    run_state_machine_as_test(
        machine,
        settings=settings(max_examples=40, stateful_step_count=30),
    )


async def test_a_question_given_up_is_not_posted_by_a_late_dispatcher(daily: DailyChannel, clock: Clock) -> None:
    await posted(daily, clock)
    clock.advance(hours=3)
    assert [each for each in await daily.claim() if isinstance(each.body, QuestionPost)] == []
