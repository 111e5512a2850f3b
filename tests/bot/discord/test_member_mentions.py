"""A member who is named in prose is a mention on Discord, which shows who it is and notifies nobody."""

from __future__ import annotations

from sqlalchemy import select

from bot.console.render import card_text
from bot.core.text.reveals import outcome_card
from bot.slack import bodies
from service.store.tables import Outbox
from service.wire import OutcomePost
from tests.bot.discord.simulated import Simulated, labels, raw_text, said
from tests.bot.discord.test_role_ping import pings


async def stored(sim: Simulated) -> list[OutcomePost]:
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
    (outcome,) = await stored(sim)
    card = outcome_card(outcome)
    assert "First with the right answer: Ada." in card_text(card)
    assert "First with the right answer: Ada." in bodies(card)[0]["text"], "other chats show the name"
    who = sim.operator.model_copy(update={"member": str(sim.ada.id), "name": "Ada", "admin": False})
    await sim.client.privacy(who, "forget", "forget")
    (outcome,) = await stored(sim)
    assert outcome.first is not None and outcome.first.discord == "" and outcome.first.name != "Ada"
