"""Rounds in which every member has a variant of their own: nobody can copy a neighbor's answer."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from datetime import timedelta

import pytest

from questions.model import Question
from service.app import build
from service.config import Settings
from service.store.tables import AnswerRow, Ledger, QuestionVersion, Round
from service.store.variants import MemberVariant
from service.wire import (
    AnswerInput,
    ArchiveSearch,
    AskForm,
    ExtraRound,
    OutcomePost,
    Platform,
    QuestionGone,
    QuestionPost,
    RevealPost,
    ScheduleChanges,
    ScheduleSpec,
    StillOpen,
)
from tests.conftest import Clock
from tests.service.daily_channel import DAILY, SPEC, DailyChannel, choice, daily_channel_of, value
from tests.service.own_variants import OWN, bank, chosen_family, number_of, opened, typed_family
from tests.service.refusals import refused
from tests.service.two_chats import GUILD, HERE, TEAM, TwoChats

FAMILIES = [typed_family(), chosen_family()]


async def asked(daily: DailyChannel, ref: str, name: str = "Ada") -> AskForm:
    """Returns the question as a member sees it."""
    return await daily.client.ask(daily.who(name), DAILY, ref)


def right(form: AskForm) -> AnswerInput:
    """Returns the right answer to the variant of a form."""
    return by_text(form, f"({number_of(form.question.id)}, 3)")


def by_text(form: AskForm, text: str) -> AnswerInput:
    """Returns the answer with this text: typed, or the option that has it."""
    if form.question.kind == "value":
        return AnswerInput(text=text)
    return AnswerInput(options=tuple(one.id for one in form.question.options if one.text == f"`{text}`"))


def wrong(form: AskForm) -> AnswerInput:
    return by_text(form, f"(3, {number_of(form.question.id)})")


async def closed(daily: DailyChannel, clock: Clock) -> RevealPost:
    clock.advance(hours=8)
    return next(body for body in await daily.ticked() if isinstance(body, RevealPost))


async def credits(daily: DailyChannel, ref: str, *names: str) -> list[float | None]:
    """Returns what the answers of these members are worth."""
    found = [(await daily.client.result(daily.who(name), ref)).verdict for name in names]
    return [verdict.credit if verdict else None for verdict in found]


@pytest.mark.parametrize("family", FAMILIES, ids=["typed", "chosen"])
async def test_nobody_can_copy_a_neighbors_answer(daily: DailyChannel, clock: Clock, family: Question) -> None:
    ref = (await opened(daily, clock, family)).ref
    ada, bob = await asked(daily, ref, "Ada"), await asked(daily, ref, "Bob")
    assert ada.question.id != bob.question.id and ada.question.prompt != bob.question.prompt

    await daily.answer(ref, right(ada), "Ada")
    await daily.answer(ref, right(bob), "Bob")
    # What Ada typed, or the option that Ada chose: Cy's form does not have its text, only perhaps its id.
    copied = right(ada) if family.kind == "value" else AnswerInput(options=right(ada).options)
    neighbor = await asked(daily, ref, "Cy")
    if family.kind == "choice":
        assert by_text(neighbor, f"({number_of(ada.question.id)}, 3)").options == ()
        copied = copied if copied != right(neighbor) else wrong(neighbor)
    await daily.answer(ref, copied, "Cy")

    reveal = await closed(daily, clock)
    assert await credits(daily, ref, "Ada", "Bob", "Cy") == [1.0, 1.0, 0.0]
    assert (reveal.answers, reveal.right) == (3, 2)
    assert sorted(row.points for row in await daily.rows(Ledger)) == [0, 10, 10], "every variant earns the same"


async def test_a_skipped_day_that_is_posted_after_all_has_them_too(daily: DailyChannel, clock: Clock) -> None:
    await daily.schedule(OWN)
    clock.advance(hours=1)
    await daily.ticked()
    (skipped,) = await daily.rows(Round)
    assert skipped.skipped and not skipped.own_variants
    await bank(daily.service, typed_family())
    await daily.client.post_now(daily.who("Boss", admin=True), "now", 1)
    assert [(row.id, row.own_variants) for row in await daily.rows(Round)] == [(skipped.id, True)]
    ada, bob = await asked(daily, "r1", "Ada"), await asked(daily, "r1", "Bob")
    assert ada.question.id != bob.question.id


async def test_the_channel_sees_an_example_that_is_nobodys_own(daily: DailyChannel, clock: Clock) -> None:
    post = await opened(daily, clock, typed_family(), count=6)
    forms = [await asked(daily, post.ref, f"member {number}") for number in range(7)]
    drawn = [form.question.id for form in forms]
    assert post.question.variant == "example" and {form.question.variant for form in forms} == {"own"}
    assert post.question.id not in drawn
    assert len(set(drawn[:5])) == 5, "a variant is given twice only when none is left"


async def test_members_who_come_at_once_get_different_variants(daily: DailyChannel, clock: Clock) -> None:
    ref = (await opened(daily, clock, typed_family())).ref
    names = [f"member {number}" for number in range(12)]
    forms = await asyncio.gather(*(asked(daily, ref, name) for name in names))
    assert len({form.question.id for form in forms}) == 12


async def test_a_member_meets_no_variant_again_while_others_are_left(daily: DailyChannel, clock: Clock) -> None:
    await bank(daily.service, typed_family(), 8)
    practiced = await daily.client.practice(daily.who(), DAILY)
    assert practiced is not None
    await daily.answer(practiced.ref, AnswerInput(text="0"))
    await daily.schedule(OWN.model_copy(update={"memory_days": 0}))
    met = [practiced.question.id]
    clock.advance(hours=1)
    for _ in range(3):
        post = next(body for body in await daily.ticked() if isinstance(body, QuestionPost))
        form = await asked(daily, post.ref)
        assert not {post.question.id, form.question.id} & set(met)
        met += [post.question.id, form.question.id]
        clock.advance(days=1)


async def test_a_members_variant_never_changes(settings: Settings, clock: Clock) -> None:
    async with build(settings, clock).running() as service, build(settings, clock).running() as other:
        daily, beside = daily_channel_of(service), daily_channel_of(other)
        ref = (await opened(daily, clock, chosen_family())).ref
        # Two processes at once, twice each.
        forms = await asyncio.gather(*(asked(place, ref) for place in (daily, beside) * 2))
        first = forms[0]
        assert forms == [first] * 4
        await beside.answer(ref, wrong(first), event="beside")
        await daily.answer(ref, right(first))
        again = await asked(beside, ref)
        assert (again.question, again.given) == (first.question, right(first))
        # Nor with a family that has changed meanwhile, nor with a schedule that wants it no longer.
        await bank(daily.service, replace(chosen_family(), why="Another reason."))
        await daily.client.schedule_edit(daily.who("Boss", admin=True), "edit", 1, ScheduleChanges(variants=False))
        assert (await asked(daily, ref)).question == first.question
    async with build(settings, clock).running() as restarted:
        daily = daily_channel_of(restarted)
        assert (await asked(daily, ref)).question == first.question
        (today,) = (await daily.client.today(daily.who(), DAILY)).forms
        assert today.question == first.question
        assert len(await daily.rows(MemberVariant)) == 1
        await closed(daily, clock)
        result = await daily.client.result(daily.who(), ref)
        assert result.key.question == first.question and result.verdict is not None and result.verdict.credit == 1


@pytest.mark.parametrize(
    ("seen", "answered", "stays"),
    [
        (("discord", "slack"), (), "discord"),
        (("slack",), (), "slack"),
        (("discord", "slack"), ("discord",), "discord"),
        (("discord", "slack"), ("slack",), "slack"),
        (("discord", "slack"), ("slack", "discord"), "discord"),
        (("discord", "slack"), ("discord", "slack"), "slack"),
    ],
)
async def test_two_accounts_of_one_person_keep_the_variant_of_the_answer_that_counts(
    daily: DailyChannel, clock: Clock, seen: tuple[Platform, ...], answered: tuple[Platform, ...], stays: Platform
) -> None:
    chats = TwoChats(daily, clock)
    await bank(daily.service, typed_family())
    await daily.client.schedule_add(chats.boss("discord"), "schedule", GUILD, OWN)
    await chats.join_chats()
    await daily.client.schedule_share(chats.boss("slack"), "share", TEAM, 1)
    ref = await chats.asked()

    async def form_on(platform: Platform) -> AskForm:
        return await daily.client.ask(chats.who("Ada", platform), HERE[platform], ref)

    async def answer_on(platform: Platform) -> None:
        given, clock.now = right(forms[platform]), clock.now + timedelta(minutes=1)
        who = chats.who("Ada", platform)
        await daily.client.answer(who, HERE[platform], chats.event(), ref, given, clock.now)

    forms = {platform: await form_on(platform) for platform in seen}
    for platform in answered:
        await answer_on(platform)
    await chats.link("Ada")
    for platform in HERE:
        form = await form_on(platform)
        assert form.question.id == forms[stays].question.id
        assert form.given == (right(form) if answered else None)
    assert len(await daily.rows(MemberVariant)) == 1
    forms["slack"] = forms[stays]
    if not answered:
        await answer_on("slack")
    await chats.closed()
    for platform in HERE:
        verdict = (await daily.client.result(chats.who("Ada", platform), ref)).verdict
        assert verdict is not None and verdict.credit == 1


async def test_no_call_tells_of_another_variant_before_the_close(daily: DailyChannel, clock: Clock) -> None:
    post = await opened(daily, clock, typed_family())
    ada, bob = await asked(daily, post.ref, "Ada"), await asked(daily, post.ref, "Bob")
    await daily.answer(post.ref, right(ada), "Ada")
    bob_, client = daily.who("Bob"), daily.client
    replies = [
        await client.today(bob_, DAILY),
        await client.ask(bob_, DAILY, post.ref),
        await daily.answer(post.ref, wrong(bob), "Bob"),
        await client.history(bob_),
        await client.me(bob_),
        await client.archive(bob_, ArchiveSearch()),
        await client.privacy(bob_, "export", "export"),
        await client.board(bob_, DAILY),
    ]
    said = json.dumps([reply.model_dump(mode="json") for reply in replies])
    assert ada.question.prompt not in said and f"({number_of(ada.question.id)}, 3)" not in said
    rows = {row.body["id"]: row.id for row in await daily.rows(QuestionVersion)}
    for form in (ada, bob):
        for question in ("shapes", form.question.id):
            with refused(StillOpen()):
                await client.explain(bob_, question)
        with refused(StillOpen()):
            await client.ask(bob_, DAILY, f"p{rows[form.question.id]}")
    # Nor does what is on its way to the chats.
    bodies = [body.model_dump_json() for body in await daily.ticked()]
    assert not any(form.question.prompt in body for body in bodies for form in (ada, bob))


async def test_after_the_close_everyone_sees_their_own_key(daily: DailyChannel, clock: Clock) -> None:
    post = await opened(daily, clock, chosen_family())
    ref, example = post.ref, number_of(post.question.id)
    ada, bob = await asked(daily, ref, "Ada"), await asked(daily, ref, "Bob")
    await daily.answer(ref, wrong(ada), "Ada")
    clock.advance(hours=8)
    bodies = await daily.ticked()
    reveal = next(body for body in bodies if isinstance(body, RevealPost))
    outcome = next(body for body in bodies if isinstance(body, OutcomePost))
    assert reveal.key.why == outcome.key.why == f"It has {example} rows."
    assert reveal.key.question.variant == "example" and not any(one.chosen_by for one in reveal.key.options)
    assert reveal.wrong_texts == ()

    # Ada answered, Bob only looked, and Cy never opened it.
    seen = (("Ada", ada.question.id, "own"), ("Bob", bob.question.id, "own"), ("Cy", post.question.id, "example"))
    for name, id_, variant in seen:
        result = await daily.client.result(daily.who(name), ref)
        assert (result.key.question.id, result.key.question.variant) == (id_, variant)
        assert result.key.why == f"It has {number_of(id_)} rows." and result.key.answer == f"`({number_of(id_)}, 3)`"
        page = await daily.client.question_page(daily.who(name), ref)
        assert page.result == result and not page.wrong_texts and not any(o.chosen_by for o in page.result.key.options)
        (row,) = (await daily.client.archive(daily.who(name), ArchiveSearch())).rounds
        assert row.question.id == id_
        assert (await daily.client.explain(daily.who(name), "strides")).key.question.id == id_
        # The example is in the channel, so its id can be asked for too.
        explained = await daily.client.explain(daily.who(name), post.question.id)
        assert explained.key.why == f"It has {example} rows."
    (past,) = (await daily.client.history(daily.who("Ada"))).rounds
    assert past.question.id == ada.question.id
    assert (await daily.client.explain(daily.who("Ada"), "strides")).given == wrong(ada)


async def test_a_late_answer_practices_the_members_own_variant(daily: DailyChannel, clock: Clock) -> None:
    ref = (await opened(daily, clock, typed_family())).ref
    ada = await asked(daily, ref, "Ada")
    await closed(daily, clock)
    receipt = await daily.answer(ref, right(ada), "Ada")
    assert receipt.status == "late" and receipt.verdict is not None and receipt.verdict.credit == 1
    assert receipt.key is not None and receipt.key.question.id == ada.question.id
    assert len(await daily.rows(MemberVariant)) == 1, "nobody gets a variant after the close"


async def test_a_hint_is_about_the_members_own_variant(daily: DailyChannel, clock: Clock) -> None:
    ref = (await opened(daily, clock, chosen_family())).ref
    for name in ("Ada", "Bob"):
        form = await asked(daily, ref, name)
        found = (await daily.client.hint(daily.who(name), DAILY, ref, True)).wrong
        assert found in form.question.options and found is not None
        assert found.text != f"`({number_of(form.question.id)}, 3)`"


async def test_a_plain_question_that_replaces_a_family_judges_no_variant(daily: DailyChannel, clock: Clock) -> None:
    ref = (await opened(daily, clock, typed_family())).ref
    await daily.answer(ref, right(await asked(daily, ref)))
    await closed(daily, clock)
    before = [(row.points, row.credit) for row in await daily.rows(Ledger)]
    await daily.bank(value("shapes"), name="shapes")
    assert [(row.points, row.credit) for row in await daily.rows(Ledger)] == before
    assert await credits(daily, ref, "Ada") == [1.0]


async def test_the_measured_difficulty_is_that_of_the_family(daily: DailyChannel, clock: Clock) -> None:
    await bank(daily.service, typed_family())
    await daily.schedule(OWN.model_copy(update={"memory_days": 0}))
    clock.advance(hours=1)
    for share in (None, 0.5):
        post = next(body for body in await daily.ticked() if isinstance(body, QuestionPost))
        await daily.answer(post.ref, right(await asked(daily, post.ref, "Ada")), "Ada")
        await daily.answer(post.ref, wrong(await asked(daily, post.ref, "Bob")), "Bob")
        await closed(daily, clock)
        points = (await daily.client.result(daily.who("Ada"), post.ref)).points
        assert points is not None and points.share_right == share
        clock.advance(hours=16)
    item = await daily.client.question_statistics(daily.who("Boss", admin=True), "shapes")
    assert (item.rounds, item.answers, item.right) == (2, 4, 0.5)


@pytest.mark.parametrize(
    ("question", "count", "spec"),
    [(typed_family(), 20, SPEC), (typed_family(), 2, OWN), (choice(), 0, OWN)],
    ids=["not wanted", "too few variants", "no family"],
)
async def test_everyone_has_the_same_question_otherwise(
    daily: DailyChannel, clock: Clock, question: Question, count: int, spec: ScheduleSpec
) -> None:
    await (bank(daily.service, question, count) if count else daily.bank(question))
    await daily.schedule(spec)
    clock.advance(hours=1)
    post = next(body for body in await daily.ticked() if isinstance(body, QuestionPost))
    forms = [await asked(daily, post.ref, name) for name in ("Ada", "Bob")]
    assert {form.question.id for form in forms} == {post.question.id}
    assert {form.question.variant for form in forms} == {post.question.variant} == {None}
    assert not await daily.rows(MemberVariant)


async def test_posting_now_and_extra_rounds_give_variants_too(daily: DailyChannel, clock: Clock) -> None:
    boss = daily.who("Boss", admin=True)
    await bank(daily.service, typed_family())
    await bank(daily.service, chosen_family())
    schedule = await daily.schedule(OWN)
    now = await daily.client.post_now(boss, "now", schedule)
    extra = await daily.client.ask_extra(boss, "extra", DAILY, ExtraRound())
    assert [row.own_variants for row in await daily.rows(Round)] == [True, True]
    assert now.question.variant == extra.question.variant == "example"


async def test_forgetting_deletes_the_variant_and_not_the_numbers(daily: DailyChannel, clock: Clock) -> None:
    ref = (await opened(daily, clock, typed_family())).ref
    ada = await asked(daily, ref)
    await daily.answer(ref, right(ada))
    await closed(daily, clock)
    await daily.client.privacy(daily.who(), "forget", "forget")
    assert not await daily.rows(MemberVariant)
    (answer,) = await daily.rows(AnswerRow)
    assert answer.given == {} and sum(row.points for row in await daily.rows(Ledger)) == 10


async def test_another_team_gets_no_variant(daily: DailyChannel, clock: Clock) -> None:
    ref = (await opened(daily, clock, typed_family())).ref
    with refused(QuestionGone(practice=False)):
        await daily.client.ask(daily.who("Mallory", workspace="elsewhere"), DAILY, ref)
    assert not await daily.rows(MemberVariant)
