"""Slack: Socket Mode when sockets fall silent, are cut, are asked to make way, or cannot be had."""

from __future__ import annotations

from typing import Literal

import pytest

from tests.doubles.slack import oracle
from tests.faults.slack_faults import QUICK_PING, SlackScene, scene

__all__ = ["scene"]


async def answers(scene: SlackScene) -> None:
    """A command is acknowledged and answered."""
    before = len(scene.slack.private(scene.bob))
    assert (await scene.slack.slash(scene.bob, scene.daily, "/quiz", "help")).acked
    await scene.slack.until(lambda: len(scene.slack.private(scene.bob)) > before)


@pytest.mark.parametrize("pongs", [False, True])
async def test_a_socket_that_falls_silent_is_left(scene: SlackScene, pongs: bool) -> None:
    """Row 14: the socket stays open and delivers nothing, with pongs or without: a new one is made and serves."""
    await scene.start(**QUICK_PING, DAILYGRAD_SLACK_QUIET_S="1")
    await answers(scene)
    deaf = scene.slack.sockets.deafen(pongs=pongs)
    await scene.slack.until(lambda: not set(deaf) & set(scene.slack.sockets.open), 20)
    await scene.slack.connected()
    await answers(scene)
    assert len(scene.slack.sockets.open) == 1


async def test_sockets_that_cannot_be_had_cause_no_storm(scene: SlackScene) -> None:
    """Row 15: Slack cuts the socket and refuses new ones: few are asked for, then one serves, and none is left over."""
    await scene.start(**QUICK_PING)
    scene.slack.sockets.refusing = True
    asked_before = oracle.calls(scene.slack.log, "apps.connections.open")
    began = scene.slack.log.clock.real()
    scene.slack.sockets.drop()
    await scene.slack.until(lambda: scene.slack.log.count("socket", what="refused") >= 5, 60)
    took = scene.slack.log.clock.real() - began
    asked = oracle.calls(scene.slack.log, "apps.connections.open") - asked_before
    assert asked <= 6 + 4 * took, f"{asked} sockets asked for in {took:.1f} s"
    scene.slack.sockets.refusing = False
    await scene.slack.connected(timeout=60)
    await answers(scene)
    assert len(scene.slack.sockets.open) == 1


async def test_an_api_that_fails_on_the_way_back_is_asked_again(scene: SlackScene) -> None:
    """Row 15: after a cut, the call that opens a socket fails three times: the bot goes on and comes back."""
    await scene.start(**QUICK_PING)
    scene.slack.fail("apps.connections.open", "500", times=3)
    scene.slack.sockets.drop()
    await scene.slack.until(lambda: scene.slack.sockets.made == 2, 60)
    await scene.slack.connected()
    await answers(scene)


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_a_socket_asked_to_make_way_does(
    scene: SlackScene, reason: Literal["warning", "refresh_requested"]
) -> None:
    """Row 15: five times Slack asks for a fresh socket: each time one is made, and one is there in the end."""
    await scene.start(**QUICK_PING)
    for _ in range(5):
        old = set(scene.slack.sockets.open)
        await scene.slack.sockets.disconnect(reason)
        await scene.slack.until(lambda old=old: set(scene.slack.sockets.open) - old)  # type: ignore[misc]
        await answers(scene)
    await scene.slack.until(lambda: len(scene.slack.sockets.open) == 1)
    assert scene.slack.sockets.made <= 8


async def test_a_cut_socket_is_replaced(scene: SlackScene) -> None:
    """Row 15: the connection is cut without a word: the next command is answered."""
    await scene.start(**QUICK_PING)
    for _ in range(3):
        made = scene.slack.sockets.made
        scene.slack.sockets.drop()
        await scene.slack.until(lambda made=made: scene.slack.sockets.made > made)  # type: ignore[misc]
        await scene.slack.connected()
        await answers(scene)
    assert len(scene.slack.sockets.open) == 1
