"""Practicing code on Discord: examples first, verdicts in three blocks, retries until it passes. The real sandbox."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from sandbox.client import SandboxClient
from service.app import Service, build
from service.config import Settings
from tests.bot.discord.simulated import Simulated, fields, said
from tests.conftest import Clock
from tests.doubles.discord.world import Message

pytestmark = pytest.mark.sandbox


@pytest.fixture
async def service(settings: Settings, clock: Clock, sandbox: SandboxClient) -> AsyncIterator[Service]:
    async with build(settings, clock, sandbox).running() as running:
        yield running


def newest(sim: Simulated, title: str) -> Message:
    """Returns the newest private message whose title starts like this."""
    shown = [*sim.channel.seen(sim.ada.member), *sim.ada.alone]
    found = [one for one in shown if said(one).startswith(f"## {title}")]
    assert found, [said(one).partition("\n")[0] for one in shown]
    return max(found, key=lambda one: one.id)


async def test_code_is_practiced_until_it_passes(sim: Simulated) -> None:
    window = await sim.ada.slash(sim.channel, "quiz practice", kind="code")
    assert ">>> add_one(1)\n2\n>>> add_one(2)\n3" in said(window)
    await sim.ada.submit_modal(window, {"code": "def add_one(x):\n    return x"})
    await sim.carries()
    failed = newest(sim, "Your code: wrong")
    assert "Call:" in said(failed) and "Expected:" in said(failed) and "Got:" in said(failed)
    assert "The answer" not in said(failed)

    again = await sim.ada.click(failed, "Try again")
    assert fields(again)["code"]["value"] == "def add_one(x):\n    return x"
    await sim.ada.submit_modal(again, {"code": "def add_one(x):\n    return x + 1"})
    await sim.carries()
    passed = newest(sim, "Your code: accepted")
    assert "The answer:" in said(passed) and "Try again" not in passed.buttons

    # Both verdicts go on with what is practiced, though they came on their own.
    for verdict in (failed, passed):
        nothing = await sim.ada.click(verdict, "Next card")
        assert "for code questions" in said(nothing)

    solution = await sim.ada.click(failed, "Show the solution")
    assert "return x + 1" in said(solution)
