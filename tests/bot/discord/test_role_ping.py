"""The role that a daily notifies: exactly that role, by the question's post alone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from tests.bot.discord.simulated import Simulated, said
from tests.doubles.discord.world import Json, nested

ROLE = "80351110224678912"
EVIL = (
    "---\nbank: evil\n---\n\n## evil · value · mid\n\nWhom does @everyone, @here, <@&{other}> and <@{member}> call?\n"
)
ANSWER = "\n### Answer\n\n`3`\n"


def pinged(body: Json) -> Iterator[str]:
    """Yields whom a message notifies, by Discord's rules. Docs: resources/message, allowed mentions."""
    allowed = body.get("allowed_mentions") or {"parse": ["everyone", "roles", "users"]}
    parts = [part for component in body.get("components") or () for part in nested(component)]
    text = "\n".join([str(body.get("content") or ""), *(part["content"] for part in parts if part["type"] == 10)])
    patterns = {"roles": r"<@&(\d+)>", "users": r"<@!?(\d+)>", "everyone": r"@(everyone|here)"}
    for kind, pattern in patterns.items():
        named = set(re.findall(pattern, text))
        yield from named if kind in allowed["parse"] else named & set(allowed.get(kind) or ())


def pings(sim: Simulated) -> list[tuple[str, str]]:
    """Returns what was notified so far, each with the kind of request that did it."""
    sent = [(route, body.get("data", body)) for route, body in sim.double.bodies if isinstance(body, dict)]
    return [(route.partition(" ")[0], one) for route, body in sent if isinstance(body, dict) for one in pinged(body)]


async def test_a_question_notifies_its_role_once_and_nothing_else_does(sim: Simulated) -> None:
    text = EVIL.format(other=sim.guild.admins, member=sim.boss.id) + ANSWER
    view = await sim.client.bank_import(sim.operator, "import-evil", "evil.md", text, True)
    assert view.applied, view.findings
    added = await sim.boss.slash(
        sim.channel, "quiz-admin schedule add", at="10:00", zone="Europe/Berlin", open="7h", kind="value", ping=ROLE
    )
    assert "Schedule added" in said(added)
    for question in ("the-shape",):
        await sim.client.bank_retire(sim.operator, f"retire-{question}", question, True)
    sim.moving.advance(hours=1)
    await sim.service.tick()
    await sim.carries()
    post = sim.last("Question for ")
    assert f"<@&{ROLE}>" in said(post) and "everyone" in said(post)
    assert pings(sim) == [("POST", ROLE)]

    # The number of answers, the answer, its line in the channel and every reply notify nobody.
    await sim.ada.submit_modal(await sim.ada.click(post, "Answer"), {"text": "3"})
    sim.moving.advance(minutes=1)
    await sim.service.tick()
    await sim.carries()
    await sim.closes()
    assert "The answer" in said(sim.last("The answer", sim.threads[0])) and post.edited
    again = [ping for ping in pings(sim) if ping[0] != "PATCH"]
    assert again == [("POST", ROLE)], "an edit may name the role, which notifies nobody"


async def test_a_schedule_without_a_role_and_the_role_of_everybody_notify_nobody(sim: Simulated) -> None:
    await sim.starts("one-right")
    assert pings(sim) == []
    edited = await sim.boss.slash(sim.channel, "quiz-admin schedule edit", schedule="1", ping=str(sim.guild.id))
    assert "Schedule" in said(edited)
    await sim.closes()
    sim.moving.advance(hours=17)
    await sim.service.tick()
    await sim.carries()
    assert len([one for one in sim.channel.seen() if said(one).startswith("## Question for")]) == 2
    assert pings(sim) == []
