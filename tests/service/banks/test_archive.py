"""The archive shows closed rounds only, of the member's own workspace, and nothing of a question that is asked now."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from datetime import timedelta

import pytest

from bot.core.text.archive import source
from questions.model import Question
from questions.proofs import gpu_fingerprint
from sandbox.client import SandboxClient
from service.app import build
from service.banks.archive import PAGE
from service.banks.proof_runs import run_proof
from service.client import ServiceRefused
from service.config import Settings
from service.errors import Refused
from service.store.tables import Member
from service.wire import AnswerInput, Archive, ArchiveSearch, Exited, QuestionGone, StillOpen, Where
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, DailyChannel, choice, code, daily_channel_of, prose, value
from tests.service.refusals import refused
from tests.service.statements import counted


async def asks(daily: DailyChannel, clock: Clock, *, close: bool = True, **given: str) -> str:
    """Asks the day's question, has these members answer it with an option, and closes it; returns its ref."""
    if clock.now.hour != 9:
        clock.now = (clock.now + timedelta(days=1)).replace(hour=9, minute=0)
    await daily.ticked()
    (form,) = (await daily.client.today(daily.who("Boss"), DAILY)).forms
    for name, option in given.items():
        await daily.answer(form.ref, option, name)
    if close:
        clock.advance(hours=8)
        await daily.ticked()
    return form.ref


async def looks(daily: DailyChannel, name: str = "Ada", **wanted: object) -> list[str]:
    """Returns the refs that a search finds."""
    found = await daily.client.archive(daily.who(name), ArchiveSearch.model_validate(wanted))
    return [one.ref for one in found.rounds]


async def test_an_open_round_is_nowhere_until_it_closes(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice("views"))
    await daily.schedule()
    clock.advance(hours=1)
    ref = await asks(daily, clock, close=False, Ada="a", Bob="b")
    for who in (daily.who(), daily.who("Boss", admin=True)):
        assert await daily.client.archive(who, ArchiveSearch()) == Archive()
        with pytest.raises(Exception, match="result-not-ready"):
            await daily.client.question_page(who, ref)
    clock.advance(hours=8)
    await daily.ticked()
    assert await looks(daily) == [ref]
    page = await daily.client.question_page(daily.who(), ref)
    assert (page.answers, page.right) == (2, 1)
    assert {one.id: one.chosen_by for one in page.result.key.options} == {"a": 1, "b": 1, "c": 0}
    assert page.result.given is not None and page.result.given.options == ("a",)


async def test_a_question_that_is_asked_again_is_nowhere_until_that_closes_too(
    daily: DailyChannel, clock: Clock
) -> None:
    await daily.bank(choice("views"))
    await daily.schedule()
    clock.advance(hours=1)
    first = await asks(daily, clock, Ada="a")
    boss = daily.who("Boss", admin=True)
    # Another channel of the workspace asks it the next day.
    await daily.schedule(where=Where(channel="aside", name="#aside"))
    clock.now = (clock.now + timedelta(days=1)).replace(hour=9)
    await daily.ticked()
    for who in (daily.who(), boss):
        assert await daily.client.archive(who, ArchiveSearch()) == Archive()
        with refused(StillOpen()):
            await daily.client.question_page(who, first)
    clock.advance(hours=8)
    await daily.ticked()
    assert len(await looks(daily)) == 2


async def test_members_search_by_words_topic_kind_and_their_own_result(daily: DailyChannel, clock: Clock) -> None:
    await daily.schedule()
    await daily.bank(choice("views", prompt="Which 100% shares _memory_?"))
    clock.advance(hours=1)
    views = await asks(daily, clock, Ada="a", Bob="b")
    await daily.bank(value("shape", topic="modules"))
    shape = await asks(daily, clock, close=False)
    await daily.answer(shape, AnswerInput(text="(9,)"), "Bob")
    clock.advance(hours=8)
    await daily.ticked()
    assert await looks(daily) == [shape, views], "newest first"
    assert await looks(daily, text="memory WHICH") == [views], "every word, whatever its case"
    assert await looks(daily, text="clone") == [views], "an option's text"
    assert await looks(daily, text="shape") == [shape]
    assert await looks(daily, text="100%") == [views] and await looks(daily, text="1_0%") == [], "no wildcards"
    assert await looks(daily, text="' or 1=1 --") == []
    assert await looks(daily, topic="tensors") == [views], "and topics below it"
    assert await looks(daily, kind="value") == [shape]
    assert await looks(daily, own="right") == [views] and await looks(daily, own="missed") == [shape]
    assert await looks(daily, "Bob", own="wrong") == [shape, views]
    assert await looks(daily, topic="nothing") == []
    page = await daily.client.question_page(daily.who(), shape)
    assert page.wrong_texts == (("(9,)", 1),)


async def test_discrimination_and_reports_are_for_moderators(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice("views"))
    await daily.schedule()
    clock.advance(hours=1)
    ref = await asks(daily, clock, Ada="a", Bob="b", Cy="b")
    await daily.client.report(daily.who(), "report", "views", "It is wrong.")
    member = (await daily.client.question_page(daily.who(), ref)).statistics
    admin = (await daily.client.question_page(daily.who("Boss", admin=True), ref)).statistics
    assert (member.reports, admin.reports) == (0, 1)
    assert (member.seconds, member.discrimination, member.finding) == (None, None, None)
    same = {"rounds", "answers", "judged", "right", "right_low", "right_high", "wrong", "wrong_beats_right"}
    assert member.model_dump(include=same) == admin.model_dump(include=same)
    assert member.wrong is not None and member.wrong.text == "`x.clone()`" and member.wrong_beats_right


async def test_the_page_of_a_question_for_a_gpu_says_until_when_none_has_proved_it(
    daily: DailyChannel, clock: Clock
) -> None:
    task = code().task
    assert task is not None
    both = replace(task, device="both")
    banks = {
        "CPU and GPU; not yet proved on a GPU": both,
        "CPU and GPU": replace(both, gpu_proof=gpu_fingerprint(both)),
        None: task,
    }
    for said, one in banks.items():
        await daily.bank(code(task=one))
        if not await looks(daily):
            await daily.schedule()
            clock.advance(hours=1)
            await asks(daily, clock)
        (ref,) = await looks(daily)
        page = await daily.client.question_page(daily.who(), ref)
        assert dict(source(page)).get("Judged on") == said


async def test_a_search_and_a_page_take_the_same_statements_for_one_round_as_for_many(
    daily: DailyChannel, clock: Clock
) -> None:
    await daily.bank(*(choice(f"views-{n}") for n in range(4)))
    await daily.schedule()
    clock.advance(hours=1)
    taken = []
    for _ in range(3):
        ref = await asks(daily, clock, Ada="a", Bob="b")
        with counted() as sent:
            await daily.client.archive(daily.who(), ArchiveSearch(own="right", text="views"))
            await daily.client.question_page(daily.who(), ref)
        taken.append(len(sent))
    assert len(set(taken)) == 1


async def test_pages_are_counted(daily: DailyChannel) -> None:
    found = await daily.client.archive(daily.who(), ArchiveSearch(page=3))
    assert (found.page, found.pages, found.total, PAGE) == (3, 1, 0, 20)


async def test_another_workspace_finds_nothing(daily: DailyChannel, clock: Clock) -> None:
    await daily.bank(choice("views"))
    await daily.schedule()
    clock.advance(hours=1)
    ref = await asks(daily, clock, Ada="a")
    stranger = daily.who("Eve", workspace="elsewhere", admin=True)
    assert await daily.client.archive(stranger, ArchiveSearch()) == Archive()
    with refused(QuestionGone(practice=False)):
        await daily.client.question_page(stranger, ref)
    with refused(QuestionGone(practice=True)):
        await daily.client.question_page(daily.who(), "p1")


# Proofs


async def proved(question: Question, sandbox: SandboxClient) -> tuple[bool, str]:
    run = await run_proof(question, sandbox)
    return run.holds, run.ran


@pytest.mark.sandbox
async def test_a_proof_says_what_it_computed_and_whether_the_key_is_that(sandbox: SandboxClient) -> None:
    shape = value("shape", proof="answer = (2, 3)")
    run = await run_proof(shape, sandbox)
    assert (run.ran, run.holds, run.computed, run.problem) == ("proof", True, "(2, 3)", "")
    assert not (await run_proof(value("shape", proof="answer = (3, 2)"), sandbox)).holds
    views = choice("views", proof="def holds(option):\n    return option == 'x.view(-1)'")
    run = await run_proof(views, sandbox)
    assert run.holds and [(fact.holds, fact.key) for fact in run.facts] == [
        (True, True),
        (False, False),
        (False, False),
    ]
    wrong = await run_proof(choice("views", proof="def holds(option):\n    return True"), sandbox)
    assert not wrong.holds and [fact.holds for fact in wrong.facts] == [True] * 3
    failing = await run_proof(value("shape", proof="answer = 1 / 0"), sandbox)
    assert not failing.holds and failing.failed and "ZeroDivisionError" in failing.problem
    assert failing.cause is None


@pytest.mark.sandbox
async def test_a_proof_that_ends_early_or_states_no_facts_is_a_fact_without_words_of_ours(
    sandbox: SandboxClient,
) -> None:
    run = await run_proof(value("shape", proof="import os\nos._exit(3)\nanswer = 1"), sandbox)
    assert (run.failed, run.problem, run.cause) == (True, "", Exited(3, None))
    run = await run_proof(value("shape", proof="answer = 'x' * 2_000_000"), sandbox)
    assert (run.failed, run.problem, run.cause) == (True, "", None)


@pytest.mark.sandbox
async def test_a_program_and_a_solution_are_run_too(sandbox: SandboxClient) -> None:
    printing = Question(
        id="prints", kind="output", prompt="What?", program="print(1 + 1)", answer="2", place=choice().place
    )
    run = await run_proof(printing, sandbox)
    assert (run.ran, run.holds, run.computed) == ("program", True, "2\n")
    run = await run_proof(code(), sandbox)
    assert (run.ran, run.holds, run.passed) == ("reference", True, run.cases) and run.cases > 3
    with pytest.raises(Refused, match="nothing-to-prove"):
        await run_proof(prose(), sandbox)


@pytest.mark.sandbox
async def test_a_member_runs_a_closed_proof_only_and_waits_their_turn(
    settings: Settings, clock: Clock, sandbox: SandboxClient
) -> None:
    async with build(settings, clock, sandbox).running() as service:
        daily = daily_channel_of(service)
        await daily.bank(value("shape", proof="answer = (2, 3)"))
        await daily.schedule()
        clock.advance(hours=1)
        ref = await asks(daily, clock, close=False)
        with pytest.raises(Exception, match="result-not-ready"):
            await daily.client.question_prove(daily.who(), ref)
        clock.advance(hours=8)
        await daily.ticked()
        # While one run of a member is under way, one waits, and a third is refused.
        await daily.client.join(daily.who(), DAILY)
        (member,) = [row for row in await daily.rows(Member) if row.name == daily.who().name]
        assert service.sandbox is not None
        async with service.sandbox.turn(member.id, "free"):
            calls = [asyncio.create_task(daily.client.question_prove(daily.who(), ref)) for _ in range(2)]
            (refused,), (waiting,) = await asyncio.wait(calls, return_when=asyncio.FIRST_COMPLETED)
            assert isinstance(refused.exception(), ServiceRefused)
        assert (await waiting).holds
