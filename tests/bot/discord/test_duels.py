"""A duel on Discord: challenged by the native member option, answered in modals and by buttons, and again."""

from __future__ import annotations

from tests.bot.discord.simulated import Person, Shown, Simulated, labels, messages_of, raw_text, said
from tests.bot.duel_bank import DUEL_BANK, letter_in, sum_in


async def imports_duel_bank(sim: Simulated) -> None:
    view = await sim.client.bank_import(sim.operator, "duel bank", DUEL_BANK.name, DUEL_BANK.read_text(), True)
    assert view.applied, view.findings


async def plays(who: Person, begin: Shown, *, right: int) -> Shown:
    """Answers the five questions from the card that offers the first; returns the last card."""
    shown = begin
    for number in range(1, 6):
        opened = await who.click(shown, f"{'Start' if number == 1 else 'Next question'} ({number} of 5)")
        asked = str(opened.modal) if opened.modal else said(opened)
        shown_until = asked if opened.modal else "".join(map(raw_text, messages_of(opened)))
        assert ":T> (<t:" in shown_until, shown_until
        answer = sum_in(asked) if number <= right else "0"
        if opened.modal:
            shown = await who.submit_modal(opened, {"text": answer})
        else:
            shown = await who.click(opened, letter_in(said(opened), right=number <= right))
    return shown


async def test_a_duel(sim: Simulated) -> None:
    await imports_duel_bank(sim)
    bo, cy = sim.joins("Bo"), sim.joins("Cy")
    asked = await sim.ada.slash(sim.channel, "quiz duel", member=bo.member, topic="sums")
    assert "You challenged Bo" in said(asked)
    await sim.carries()
    # Bo, who has never used the quiz, is asked in private; in the channel nobody else can respond.
    line = sim.last("Ada challenges Bo to a duel")
    assert "Only the member who is challenged can respond" in said(await cy.click(line, "Accept"))
    assert "Ada challenges you to a duel" in said(bo.alone[-1])
    accepted = await bo.click(bo.alone[-1], "Accept")
    await sim.carries()
    assert labels(sim.last("Ada and Bo play a duel")) == ["Ladder"]
    assert labels(bo.alone[-1]) == ["Start (1 of 5)"]
    waits = await plays(bo, accepted, right=5)
    assert "You are done." in said(waits)
    assert "Bo accepted your duel" in said(sim.ada.alone[-1])
    over = await plays(sim.ada, sim.ada.alone[-1], right=3)
    assert "Bo won the duel against Ada" in said(over)
    await sim.carries()
    assert "Bo won the duel against Ada" in said(bo.alone[-1])
    assert labels(sim.last("Bo won the duel against Ada")) == ["Ladder"]
    answers = await sim.ada.click(over, "See the answers")
    assert said(answers).count("Wrong:") == 2
    again = await bo.click(bo.alone[-1], "Rematch")
    assert "You challenged Ada" in said(again)
    ladder = await sim.ada.slash(sim.channel, "quiz board", contest="ladder")
    assert "Ladder of duels" in said(ladder)
    assert said(ladder).index("Bo") < said(ladder).index("Ada")
    shown = "".join(map(raw_text, messages_of(ladder)))
    assert f"<@{bo.id}>" in shown and f"<@{sim.ada.id}>" in shown


async def test_a_bot_is_no_opponent(sim: Simulated) -> None:
    await imports_duel_bank(sim)
    robot = sim.joins("Robot")
    robot.member.bot = True
    refused = await sim.ada.slash(sim.channel, "quiz duel", member=robot.member)
    assert "There is no member" in said(refused)
