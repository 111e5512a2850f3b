"""A round in which every member has a variant of their own, as the channel and the members see it."""

from __future__ import annotations

from datetime import time

from bot.console.render import card_text
from bot.core.cards import Bars, Card
from service.wire import ScheduleSpec
from tests.bot.conftest import Room
from tests.conftest import MONDAY, MakeWho
from tests.service.competitions.sprint_scene import pass_time
from tests.service.daily_channel import DailyChannel
from tests.service.own_variants import bank, chosen_family, typed_family, variant_in

SPEC = ScheduleSpec(at=time(10), zone="Europe/Berlin", open_minutes=7 * 60, variants=True)


def words_of(card: Card) -> str:
    """Returns a card as text, on one line."""
    return " ".join(card_text(card).split())


async def posted(room: Room) -> Card:
    """Posts the family; returns the post."""
    await room.only("")
    await room.client.schedule_add(room.boss, room.event_id(), room.where, SPEC)
    room.moving.now = MONDAY.replace(hour=9)
    await room.service.tick()
    await room.carries()
    return room.wall.last("Question for ")


async def test_the_channel_sees_an_example_and_everyone_their_own(room: Room, who: MakeWho) -> None:
    ann, bob, cy = who("Ann"), who("Bob", member="bob"), who("Cy", member="cy")
    await bank(room.service, chosen_family())
    post = await posted(room)
    shown = words_of(post)
    assert "This is an example. Everyone gets their own variant: Answer shows you yours." in shown
    forms = {}
    for member in (ann, bob):
        room.sees(member, post)
        forms[member.member] = await room.presses(member, "Answer")
        assert "your own variant" in forms[member.member]
    example, own, other = (variant_in(text) for text in (shown, *forms.values()))
    assert len({example, own, other}) == 3

    assert "Your answer is recorded" in await room.chooses(ann, f"`({own}, 3)`")
    assert f"zeros({own}, 3)" in await room.types(ann, "/quiz today")
    await room.chooses(bob, f"`(3, {other})`")

    reveal = await room.closes()
    said = words_of(reveal)
    assert said.index("Everyone had their own variant.") < said.index(f"Right: ({example}, 3)")
    assert "1 of 2 answered right" in said and not any(isinstance(block, Bars) for block in reveal.blocks)
    outcome = words_of(room.wall.last("Closed:"))
    assert f"The answer to the example: ({example}, 3)." in outcome
    (_, closed) = room.wall.edits[-1]
    assert "Everyone had their own variant; this was an example." in words_of(closed)
    assert "Answer shows you yours" not in words_of(closed)

    for member, number in ((ann, own), (bob, other), (cy, example)):
        room.sees(member, reveal)
        result = await room.presses(member, "My result")
        assert f"Right{' (your choice)' if member is ann else ''}: ({number}, 3)" in result
        assert f"Why: It has {number} rows." in result
        assert ("your own variant" in result) == (member is not cy)
    explained = await room.types(bob, "/quiz explain strides")
    assert f"zeros({other}, 3)" in explained and f"You chose: (3, {other})" in explained


async def test_typed_answers_are_not_counted_together(room: Room, who: MakeWho) -> None:
    await bank(room.service, typed_family())
    post = await posted(room)
    for name in ("Ann", "Bob"):
        member = who(name, member=name.lower())
        room.sees(member, post)
        assert "your own variant" in await room.presses(member, "Answer")
        await room.fills(member, text="0")
    reveal = await room.closes()
    assert "0 of 2 answered right" in words_of(reveal)
    assert not any(isinstance(block, Bars) for block in reveal.blocks)


async def test_a_sprint_shows_an_example_and_explains_everyone_their_own(room: Room, who: MakeWho) -> None:
    ann, bob = who("Ann"), who("Bob", member="bob")
    await bank(room.service, typed_family())
    await room.only("")
    daily = DailyChannel(room.service, room.client)

    async def passes(seconds: float) -> None:
        room.moving.advance(seconds=seconds)
        await pass_time(daily, seconds)
        await room.service.tick()
        await room.carries()

    await room.client.sprint_start(room.boss, room.event_id(), room.where, 1, 120)
    for seconds in (1, 1, 15, 1):
        await passes(seconds)
    post = room.wall.last("Sprint · question 1 of 1")
    shown = words_of(post)
    assert "This is an example. Everyone gets their own variant: Answer shows you yours." in shown
    numbers = {}
    for member in (ann, bob):
        room.sees(member, post)
        form = await room.presses(member, "Answer")
        assert "your own variant" in form
        numbers[member.member] = variant_in(form)
        await room.fills(member, text=f"({numbers[member.member]}, 3)")
    example = variant_in(shown)
    assert len({example, *numbers.values()}) == 3

    await passes(120)
    (_, closed) = room.wall.edits[-1]
    assert "Everyone had their own variant; this was an example." in words_of(closed)
    reveal = room.wall.last("Answer · question 1 of 1")
    said = words_of(reveal)
    assert "2 of 2 answered right" in said and f"({example}, 3)" in said
    assert not any(isinstance(block, Bars) for block in reveal.blocks)
    for member in (ann, bob):
        room.sees(member, reveal)
        explained = await room.presses(member, "Explain mine")
        number = numbers[member.member]
        assert f"zeros({number}, 3)" in explained and f"It has {number} rows." in explained


async def test_an_admin_turns_it_on_and_off(room: Room) -> None:
    said = await room.types(room.boss, "/quiz-admin schedule add 10:00 mon-fri Europe/Berlin variants:on")
    assert "a different variant for each member" in said
    assert "a variant" not in await room.types(room.boss, "/quiz-admin schedule edit 1 variants:off")
