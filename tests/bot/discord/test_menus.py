"""Forms ask for a channel, a member or a role by Discord's own menus, and edits keep what others changed meanwhile."""

from __future__ import annotations

from typing import Any

from tests.bot.discord.simulated import Simulated, fields, said
from tests.bot.discord.test_duels import imports_duel_bank
from tests.doubles.discord.world import BOT_NEEDS, Interaction

CHANNELS, USERS, ROLES = 8, 5, 6


def menu(shown: Interaction, name: str) -> dict[str, Any]:
    """Returns an input of the open form."""
    assert shown.modal
    (found,) = [
        one["component"] for one in shown.modal["components"] if one.get("component", {}).get("custom_id") == name
    ]
    return dict(found)


async def test_the_setup_offers_a_menu_of_channels_and_any_time(sim: Simulated) -> None:
    other = await sim.opened_channel("other", BOT_NEEDS)
    shown = await sim.boss.slash(sim.channel, "quiz-admin setup")
    form = await sim.boss.click(shown, "Another channel or time")
    channel = menu(form, "channel")
    assert channel["type"] == CHANNELS and channel["channel_types"] == [0, 5, 10, 11, 12, 15]
    assert channel["default_values"] == [{"id": str(sim.channel.id), "type": "channel"}]
    begun = await sim.boss.submit_modal(form, {"channel": str(other.id), "at": "7:45am", "zone": "Europe/Berlin"})
    (view,) = await sim.client.schedule_list(sim.operator)
    assert (view.channel, view.channel_name, str(view.spec.at)) == (str(other.id), "#other", "07:45:00")
    assert "Schedule added" in said(begun)


async def test_a_schedule_is_edited_in_a_form_with_a_menu_of_roles(sim: Simulated) -> None:
    readers = sim.guild.role("Readers", 1)
    await sim.boss.slash(sim.channel, "quiz-admin schedule add", at="09:00", zone="Europe/Berlin")
    (view,) = await sim.client.schedule_list(sim.operator)
    form = await sim.boss.slash(sim.channel, "quiz-admin schedule edit", schedule=str(view.id))
    assert set(fields(form)) == {"at", "days", "zone", "ping"}
    assert menu(form, "ping")["type"] == ROLES and "default_values" not in menu(form, "ping")
    # Another admin changes the time while the form is open.
    await sim.boss.slash(sim.channel, "quiz-admin schedule edit", schedule=str(view.id), at="10:00")
    saved = await sim.boss.submit_modal(form, {"days": "mon,wed", "ping": str(readers.id)})
    (view,) = await sim.client.schedule_list(sim.operator)
    assert "Schedule changed" in said(saved)
    assert (str(view.spec.at), view.spec.weekdays, view.spec.ping) == ("10:00:00", (0, 2), str(readers.id))
    form = await sim.boss.slash(sim.channel, "quiz-admin schedule edit", schedule=str(view.id))
    assert menu(form, "ping")["default_values"] == [{"id": str(readers.id), "type": "role"}]
    assert "Nothing changed" in said(await sim.boss.submit_modal(form, {}))
    wrong = await sim.boss.submit_modal(form, {"zone": "Berlin/Europe"})
    assert "is not a time zone we know" in said(wrong)
    await sim.boss.submit_modal(form, {"ping": [], "at": "9:30"})
    (view,) = await sim.client.schedule_list(sim.operator)
    assert (str(view.spec.at), view.spec.ping) == ("09:30:00", "")
    unknown = await sim.boss.slash(sim.channel, "quiz-admin schedule edit", schedule="77")
    assert "There is no schedule 77. The only one is schedule" in said(unknown)


async def test_a_member_is_challenged_from_a_menu_of_members(sim: Simulated) -> None:
    await imports_duel_bank(sim)
    bo = sim.joins("Bo")
    form = await sim.ada.click(await sim.ada.slash(sim.channel, "quiz duel"), "Challenge a member")
    assert menu(form, "member")["type"] == USERS
    asked = await sim.ada.submit_modal(form, {"member": str(bo.id), "topic": "sums"})
    assert "You challenged Bo" in said(asked), "Bo has never used the quiz; Discord says who that is"
    await sim.carries()
    assert "Ada challenges you to a duel" in said(bo.alone[-1])
