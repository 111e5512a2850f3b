"""Where replies go: a thread belongs to its channel, a direct message to its server."""

from __future__ import annotations

from dataclasses import replace

from sqlalchemy import select

from bot.core.actions import Open, PostNow, encode
from bot.core.cards import Button, Card, Text
from bot.core.dispatcher import Target
from bot.discord.commands import MANAGE_SERVER
from bot.discord.render import parse_custom_id
from service.store.tables import Chat
from service.wire import ScheduleSpec
from tests.bot.discord.simulated import Person, Simulated, alone, labels, messages_of, said
from tests.doubles.discord.faults import Status

HEAD = "---\nbank: long\nlicense: MIT\n---\n\n# long\n\n"


async def test_a_command_in_a_thread_counts_for_its_channel(sim: Simulated) -> None:
    await sim.opens("one-right")
    await sim.closes()
    (thread,) = sim.threads
    sim.moving.advance(days=1)
    sim.moving.now = sim.moving.now.replace(hour=9)
    await sim.service.tick()
    await sim.carries()
    asked = await sim.ada.slash(thread, "quiz today")
    assert "one-right" in said(asked)


async def test_a_question_too_long_for_a_modal_is_shown_in_a_message(sim: Simulated) -> None:
    lines = "\n".join(f"Line {number} of a long question about tensors and their views." for number in range(90))
    text = f"{HEAD}## so-long · value · mid\n\n{lines}\n\n### Answer\n\n`2`\n"
    view = await sim.client.bank_import(sim.operator, "import-long", "long.md", text, True)
    assert view.applied, view.findings
    shown = await sim.ada.slash(sim.channel, "quiz practice", topic="long")
    assert shown.modal is None and "Line 89 of" in said(shown) and labels(shown) == ["Write the answer"]
    window = await sim.ada.click(shown, "Write the answer")
    assert "is in its message" in said(window)
    done = await sim.ada.submit_modal(window, {"text": "2"})
    assert "so-long" in said(done) or "Right" in said(done)
    # The window was opened from the last message of the question, so the verdict takes that one's place.
    assert messages_of(done)[0].id == messages_of(shown)[-1].id


async def test_buttons_in_a_direct_message_work_for_members_of_the_server(sim: Simulated) -> None:
    """Somebody who has left the server is refused."""
    await sim.opens("one-right")
    note = Card(
        "Your verdict", "A verdict.", (Text("It is right."),), (Button("Change my answer", encode(Open("r1"))),)
    )
    await sim.app.platform.post(Target(sim.workspace, str(sim.channel.id), str(sim.ada.id)), note, "verdict:1")
    alone = sim.ada.alone[-1]
    asked = await sim.ada.click(alone, label="Change my answer")
    assert "Your answer" in said(asked) and "`one-right`" in said(asked)
    there = [parse_custom_id(part["custom_id"]) for part in messages_of(asked)[-1].parts if "custom_id" in part]
    assert {one.guild for one in there} == {sim.workspace} and {one.channel for one in there} == {str(sim.channel.id)}
    del sim.guild.members[sim.ada.id]
    refused = await sim.ada.click(alone, label="Change my answer")
    assert "no longer in that server" in said(refused)


async def test_a_command_in_a_direct_message_is_about_the_server_where_one_plays(sim: Simulated) -> None:
    post = await sim.opens("one-right")
    direct = sim.double.world.direct(sim.ada.member)
    stranger = await sim.ada.slash(direct, "quiz today")
    assert "The quiz runs in a server" in said(stranger), "nobody has seen her yet"
    await sim.ada.click(post, label="Answer")
    today = await sim.ada.slash(direct, "quiz today")
    asked = await sim.ada.click(messages_of(today)[-1], label="Answer")
    assert "`one-right`" in said(asked)
    assert "Streak" in said(await sim.ada.slash(direct, "quiz me"))
    offered = {command["name"] for command in sim.double.offered(sim.boss.member, direct)}
    assert offered == {"quiz"}, "admins work in the server"
    del sim.guild.members[sim.ada.id]
    assert "no longer in that server" in said(await sim.ada.slash(direct, "quiz today"))


async def test_a_command_in_a_server_without_the_bot_is_about_the_server_where_one_plays(sim: Simulated) -> None:
    """Whoever installed the app for themselves uses it there, and no workspace of that server comes to be."""
    post = await sim.opens("one-right")
    await sim.ada.click(post, label="Answer")
    elsewhere = sim.double.world.guild("Elsewhere")
    elsewhere.installed = False
    elsewhere.members[sim.ada.id] = replace(sim.ada.member, permissions=MANAGE_SERVER)
    lounge, ada = elsewhere.channel("lounge"), Person(sim, elsewhere.members[sim.ada.id])
    assert "Streak" in said(await ada.slash(lounge, "quiz me"))
    today = await ada.slash(lounge, "quiz today")
    window = await ada.click(messages_of(today)[-1], label="Answer")
    assert "`one-right`" in said(window) and alone(today)
    assert "Your answer" in said(await ada.click(window, "A"))
    async with sim.service.sessions() as session:
        assert list(await session.scalars(select(Chat.external_id))) == [sim.workspace]


async def test_rights_in_another_server_press_no_button_of_admins(sim: Simulated) -> None:
    """A client can be changed to send the id of any button."""
    post = await sim.opens("one-right")
    await sim.ada.click(post, label="Answer")
    elsewhere = sim.double.world.guild("Elsewhere")
    elsewhere.installed = False
    elsewhere.members[sim.ada.id] = replace(sim.ada.member, permissions=MANAGE_SERVER)
    ada = Person(sim, elsewhere.members[sim.ada.id])
    shown = messages_of(await ada.slash(elsewhere.channel("lounge"), "quiz today"))[-1]
    forged = next(part for part in shown.parts if part.get("custom_id") == shown.buttons["Answer"])
    forged["custom_id"] = f"{forged['custom_id'].partition('|')[0]}|{encode(PostNow('1'))}"
    refused = said(await ada.click(shown, label="Answer"))
    assert "Only quiz admins can do that" in refused, refused


async def test_a_button_without_a_server_explains_where_the_quiz_runs(sim: Simulated) -> None:
    note = Card("Old", "An old note.", (Text("It says no server."),), (Button("Today", "t"),))
    await sim.app.platform.post(Target("", "", str(sim.ada.id)), note, "old:1")
    alone = sim.ada.alone[-1]
    assert "The quiz runs in a server" in said(await sim.ada.click(alone, label="Today"))


async def test_admin_rights_are_looked_up_in_a_direct_message(sim: Simulated) -> None:
    who = sim.operator.model_copy(update={"member": str(sim.boss.id), "admin": False})
    there = await sim.app.bot.fetch_member(who)
    assert there is not None and there.admin and there.name == "Boss"
    plain = await sim.app.bot.fetch_member(who.model_copy(update={"member": str(sim.ada.id)}))
    assert plain is not None and not plain.admin
    assert await sim.app.bot.fetch_member(who.model_copy(update={"member": "999"})) is None


async def test_rights_elsewhere_count_for_nothing_while_discord_does_not_answer(sim: Simulated) -> None:
    """Who uses the app in a server of their own manages that one."""
    sim.double.faults.next("GET /guilds/{guild_id}/members/{user_id}", Status(503))
    ada = sim.operator.model_copy(update={"member": str(sim.ada.id), "admin": True})
    assert await sim.app.bot.fetch_member(ada) == ada.model_copy(update={"admin": False})


async def test_several_messages_of_one_reply_are_all_private(sim: Simulated) -> None:
    for number in range(40):
        spec = ScheduleSpec.model_validate({"at": "10:00", "zone": "America/Argentina/Buenos_Aires"})
        await sim.client.schedule_add(sim.operator, f"schedule-{number}", sim.where, spec)
    listed = await sim.boss.slash(sim.channel, "quiz-admin schedule list")
    assert len(messages_of(listed)) > 1
    assert alone(listed)
    assert "**40. " in said(listed)
