"""Sprints in which every member has a variant of their own: nobody can copy a neighbor's answer."""

from __future__ import annotations

import asyncio

import pytest

from questions.model import Question
from service.store.competition_tables import SprintAnswer, SprintVariant
from service.wire import AnswerInput, AskForm, Platform, SprintQuestionPost, SprintReveal, StillOpen
from tests.conftest import Clock
from tests.service.competitions.sprint_scene import SprintScene, one_of, pass_time
from tests.service.daily_channel import DAILY, DailyChannel
from tests.service.own_variants import bank, chosen_family, number_of, typed_family
from tests.service.refusals import refused
from tests.service.two_chats import GUILD, HERE, TwoChats

FAMILIES = [typed_family(), chosen_family()]


@pytest.fixture
def scene(daily: DailyChannel, clock: Clock) -> SprintScene:
    return SprintScene(daily, clock)


async def begun(scene: SprintScene, family: Question, count: int = 20) -> SprintQuestionPost:
    """Asks a family in a sprint of one question, with time enough for a slow machine."""
    await bank(scene.daily.service, family, count)
    await scene.starts(1, seconds=120)
    return await scene.asks()


async def seen(scene: SprintScene, post: SprintQuestionPost, name: str = "Ada") -> AskForm:
    """Returns the question as a member sees it."""
    return await scene.daily.client.ask(scene.daily.who(name), DAILY, post.ref)


def right(form: AskForm) -> AnswerInput:
    """Returns the right answer to the variant of a form."""
    return _answer(form, f"({number_of(form.question.id)}, 3)")


def wrong(form: AskForm) -> AnswerInput:
    return _answer(form, f"(3, {number_of(form.question.id)})")


def _answer(form: AskForm, text: str) -> AnswerInput:
    if form.question.kind == "value":
        return AnswerInput(text=text)
    return AnswerInput(options=tuple(one.id for one in form.question.options if one.text == f"`{text}`"))


@pytest.mark.parametrize("family", FAMILIES, ids=["typed", "chosen"])
async def test_each_answer_is_judged_and_explained_by_the_members_own_variant(
    scene: SprintScene, family: Question
) -> None:
    post = await begun(scene, family)
    ada, bob, cy = [await seen(scene, post, name) for name in ("Ada", "Bob", "Cy")]
    assert post.question.variant == "example"
    assert {form.question.variant for form in (ada, bob, cy)} == {"own"}
    assert len({post.question.id, ada.question.id, bob.question.id, cy.question.id}) == 4
    await scene.answers(post, right(ada), "Ada")
    await scene.answers(post, right(bob), "Bob")
    # What Ada typed, or the option that has the place of Ada's, if that is not right by chance.
    copied = right(ada) if right(ada) != right(cy) else wrong(cy)
    await scene.answers(post, copied, "Cy")
    for name in ("Ada", "Cy"):
        with refused(StillOpen()):
            await scene.daily.client.explain(scene.daily.who(name), family.id)

    reveal = await scene.reveals()
    assert (reveal.answers, reveal.right, reveal.family) == (3, 2, family.id)
    assert reveal.key.why == f"It has {number_of(post.question.id)} rows."
    assert not any(option.chosen_by for option in reveal.key.options), "different variants are not counted together"
    for name, form, given in (("Ada", ada, right(ada)), ("Bob", bob, right(bob)), ("Cy", cy, copied)):
        explained = await scene.daily.client.explain(scene.daily.who(name), reveal.family)
        assert explained.key.question.id == form.question.id
        assert explained.key.why == f"It has {number_of(form.question.id)} rows."
        assert explained.given == given
    # Who only watched gets the example explained.
    explained = await scene.daily.client.explain(scene.daily.who("Dee"), reveal.family)
    assert explained.key.question.id == post.question.id


async def test_a_variant_is_drawn_once_and_given_twice_only_when_none_is_left(scene: SprintScene) -> None:
    post = await begun(scene, typed_family(), 6)
    names = [f"member {number}" for number in range(5)]
    forms = await asyncio.gather(*(seen(scene, post, name) for name in names * 2))
    assert forms[:5] == forms[5:]
    drawn = {form.question.id for form in forms}
    assert len(drawn) == 5 and post.question.id not in drawn
    assert (await seen(scene, post, "one more")).question.id in drawn
    # An answer by somebody who has not looked is judged by a variant of their own too.
    await scene.answers(post, right(forms[0]), "hasty")
    assert len(await scene.daily.rows(SprintVariant)) == 7
    assert len(await scene.daily.rows(SprintAnswer)) == 1


async def test_a_family_with_too_few_variants_is_the_same_for_all(scene: SprintScene) -> None:
    post = await begun(scene, typed_family(), 2)
    forms = [await seen(scene, post, name) for name in ("Ada", "Bob")]
    assert {form.question.id for form in forms} == {post.question.id}
    assert post.question.variant is None and not await scene.daily.rows(SprintVariant)
    assert (await scene.reveals()).family == ""


async def test_forgetting_deletes_the_variant_and_not_the_numbers(scene: SprintScene) -> None:
    post = await begun(scene, typed_family())
    await scene.answers(post, right(await seen(scene, post)))
    await scene.reveals()
    await scene.daily.client.privacy(scene.daily.who(), "forget", "forget")
    assert not await scene.daily.rows(SprintVariant)
    (answer,) = await scene.daily.rows(SprintAnswer)
    assert answer.given == {} and answer.credit == 1


@pytest.mark.parametrize(
    ("answered", "stays"), [((), "discord"), (("slack",), "slack"), (("slack", "discord"), "slack")]
)
async def test_two_accounts_of_one_person_keep_the_variant_of_the_answer_that_stays(
    daily: DailyChannel, clock: Clock, answered: tuple[Platform, ...], stays: Platform
) -> None:
    chats = TwoChats(daily, clock)
    await bank(daily.service, typed_family())
    for platform in HERE:
        await daily.client.join(chats.who("Ada", platform), HERE[platform])
    await chats.join_chats()
    scene = SprintScene(daily, clock, GUILD)
    await daily.client.sprint_start(chats.boss("discord"), "sprint", GUILD, 1, 120)
    post = await _asked(chats)
    forms = {}
    for platform in HERE:
        forms[platform] = await daily.client.ask(chats.who("Ada", platform), HERE[platform], post.ref)
    assert forms["discord"].question.id != forms["slack"].question.id
    for platform in answered:
        who = chats.who("Ada", platform)
        await daily.client.answer(who, HERE[platform], chats.event(), post.ref, right(forms[platform]), clock.now)
        await pass_time(daily, 1)
    await chats.link("Ada")
    for platform in HERE:
        form = await daily.client.ask(chats.who("Ada", platform), HERE[platform], post.ref)
        assert form.question.id == forms[stays].question.id
    assert len(await daily.rows(SprintVariant)) == 1
    await scene.passes(120)
    await daily.service.tick()
    reveal = one_of(await chats.deliver(), SprintReveal)
    assert (reveal.answers, reveal.right) == (min(1, len(answered)),) * 2


async def _asked(chats: TwoChats) -> SprintQuestionPost:
    for _ in range(9):
        await chats.daily.service.tick()
        bodies = [each.body for each in await chats.deliver() if each.edits is None]
        if posts := [body for body in bodies if isinstance(body, SprintQuestionPost)]:
            await chats.daily.service.tick()
            return posts[0]
        await pass_time(chats.daily, 5)
    raise AssertionError("no question was posted")
