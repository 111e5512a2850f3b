"""A member who is named in prose is a mention on Discord, which shows who it is and notifies nobody."""

from __future__ import annotations

from sqlalchemy import select

from bot.console.render import card_text
from bot.core.cards import Card, Picture
from bot.core.text.boards import board_card
from bot.core.text.reveals import outcome_card
from bot.core.text.tournaments import tournament_card
from bot.discord.render import bodies as discord_bodies
from bot.pictures.illustration import drawings_of, with_pictures
from bot.slack import bodies
from service.store.tables import Outbox
from service.wire import Board, BoardRow, Named, OutcomePost
from tests.bot.discord.simulated import Simulated, labels, messages_of, raw_text, said
from tests.bot.discord.test_role_ping import pings
from tests.bot.tournament_samples import AT, RUNNING


async def stored_outcomes(sim: Simulated) -> list[OutcomePost]:
    async with sim.service.sessions() as session:
        rows = await session.scalars(select(Outbox).where(Outbox.kind == "outcome"))
        return [OutcomePost.model_validate(row.body) for row in rows]


async def test_who_was_first_is_mentioned_and_not_notified(sim: Simulated) -> None:
    post = await sim.opens("the-shape")
    await sim.ada.submit_modal(await sim.ada.click(post, "Answer"), {"text": "(3,)"})
    await sim.closes()
    closed = sim.last("Closed:")
    assert f"First with the right answer: <@{sim.ada.id}>" in raw_text(closed), raw_text(closed)
    assert "@Ada" in said(closed) and labels(closed)
    assert pings(sim) == []
    (outcome,) = await stored_outcomes(sim)
    card = outcome_card(outcome)
    assert "First with the right answer: Ada." in card_text(card)
    assert "First with the right answer: Ada." in bodies(card)[0]["text"], "other chats show the name"
    who = sim.operator.model_copy(update={"member": str(sim.ada.id), "name": "Ada", "admin": False})
    await sim.client.privacy(who, "forget", "forget")
    (outcome,) = await stored_outcomes(sim)
    assert outcome.first is not None and outcome.first.discord == "" and outcome.first.name != "Ada"


async def test_boards_mention_their_members_and_notify_nobody(sim: Simulated) -> None:
    post = await sim.opens("the-shape")
    bo = sim.joins("Bo")
    for person, given in ((sim.ada, "(3,)"), (bo, "(3,)"), (sim.boss, "(3,)")):
        await person.submit_modal(await person.click(post, "Answer"), {"text": given})
    who = sim.operator.model_copy(update={"member": str(sim.boss.id), "name": "Boss", "admin": False})
    await sim.client.privacy(who, "hide", "hide")
    await sim.closes()
    revealed = raw_text(sim.last("The answer", sim.threads[0]))
    points, _, top = revealed.partition("Points for this question")[2].partition("Top of the board")
    for part in (points, top):
        assert f"<@{sim.ada.id}>**" in part and f"<@{bo.id}>**" in part, revealed
        assert str(sim.boss.id) not in part and "Boss" not in part
    shown = await bo.slash(sim.channel, "quiz board")
    mine = [line for message in messages_of(shown) for line in raw_text(message).split("\n") if str(bo.id) in line]
    assert [line.partition(" · ")[0] for line in mine] == [f"**1. <@{bo.id}> (you)**"]
    assert "Boss" not in said(shown)
    assert pings(sim) == []


def test_a_board_that_is_drawn_mentions_its_members_below_the_picture() -> None:
    rows = tuple(
        BoardRow(rank=rank, name=name, discord=id_, points=9 - rank, answered=1, accuracy=1.0, streak=1)
        for rank, name, id_ in ((1, "A_da", "41"), (2, "<@43>", ""), (3, "Bo", "42"))
    )
    card = board_card(Board(title="This week", period="week", scope="channel", rows=rows, total=3))
    picture = with_pictures(card, dict.fromkeys(drawings_of(card), b"png"))
    assert [block.alt for block in picture.blocks if isinstance(block, Picture)] == [
        "Leaderboard: rank 1, A_da\u200e: 8 points, 100% right, streak 1; rank 2, <@43>\u200e: 7 points, 100% right, "
        "streak 1; rank 3, Bo\u200e: 6 points, 100% right, streak 1."
    ]
    for shown in (card, picture):
        (body,) = discord_bodies(shown)
        text = "\n".join(part["content"] for part in body["components"][0]["components"] if "content" in part)
        assert "<@41>" in text and "<@42>" in text and "<@43>" not in text, text
        assert body["allowed_mentions"] == {"parse": []}
        assert_names(card)


async def test_members_of_a_tournament_are_mentioned_and_not_notified(sim: Simulated) -> None:
    bo = sim.joins("Bo")
    await sim.opens("the-shape")
    planned = await sim.boss.slash(sim.channel, "quiz-admin tournament new", name="Cup", teams="captains")
    assert "Tournament planned" in said(planned)
    for person in (sim.ada, bo):
        await person.slash(sim.channel, "quiz tournament", action="join")
    await sim.boss.slash(sim.channel, "quiz-admin tournament captain", member=sim.ada.member)
    shown = await bo.slash(sim.channel, "quiz tournament")
    text = "\n".join(map(raw_text, messages_of(shown)))
    assert f"To be picked: <@{bo.id}>" in text and f": <@{sim.ada.id}>" in text, text
    assert pings(sim) == []


def test_members_of_a_tournament_are_names_elsewhere() -> None:
    people = (Named(name="A_da", discord="41"), Named(name="Bo", discord="42"))
    team = RUNNING.teams[0].model_copy(update={"named": people, "members": 2})
    card = tournament_card(RUNNING.model_copy(update={"teams": (team, *RUNNING.teams[1:])}), AT)
    assert "<@41> and <@42>" in str(discord_bodies(card))
    assert_names(card)


def assert_names(card: Card) -> None:
    """Checks that the terminal and Slack show names and no id."""
    for text in (card_text(card), str(bodies(card))):
        assert "A_da" in text and "Bo" in text and "41" not in text, text
