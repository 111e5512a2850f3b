"""Socket Mode under faults: silent, cut, replaced and unavailable sockets."""

from __future__ import annotations

from typing import Literal

import pytest

from tests.doubles.slack import oracle
from tests.faults.slack_faults import QUICK_PING, SlackScene, scene

pytestmark = pytest.mark.slow

__all__ = ["scene"]


async def answers(scene: SlackScene) -> None:
    """Checks that a command is acknowledged and answered."""
    before = len(scene.slack.private(scene.bob))
    assert (await scene.slack.slash(scene.bob, scene.daily, "/quiz", "help")).acked
    await scene.slack.until(lambda: len(scene.slack.private(scene.bob)) > before)


@pytest.mark.parametrize("pongs", [False, True])
async def test_a_silent_socket_is_replaced(scene: SlackScene, pongs: bool) -> None:
    """Row 14: a silent socket is replaced: soon if it sends no pongs, otherwise when it has been silent for long."""
    quiet = {"DAILYGRAD_SLACK_QUIET_S": "1"} if pongs else {}
    await scene.start(**QUICK_PING, **quiet)
    await answers(scene)
    deaf = scene.slack.sockets.deafen(pongs=pongs)
    await scene.slack.until(lambda: not set(deaf) & set(scene.slack.sockets.open))
    await scene.slack.connected()
    await answers(scene)
    assert len(scene.slack.sockets.open) == 1


async def test_unavailable_sockets_cause_no_reconnect_storm(scene: SlackScene) -> None:
    """Row 15: Slack cuts the socket and refuses new ones: few are requested, then one works, and none is left over."""
    await scene.start(**QUICK_PING)
    scene.slack.sockets.refusing = True
    asked_before = oracle.calls(scene.slack.log, "apps.connections.open")
    began = scene.slack.log.clock.real()
    scene.slack.sockets.drop()
    await scene.slack.until(lambda: scene.slack.log.count("socket", what="refused") >= 5)
    took = scene.slack.log.clock.real() - began
    asked = oracle.calls(scene.slack.log, "apps.connections.open") - asked_before
    assert asked <= 6 + 4 * took, f"{asked} sockets asked for in {took:.1f} s"
    scene.slack.sockets.refusing = False
    await scene.slack.connected()
    await answers(scene)
    assert len(scene.slack.sockets.open) == 1


async def test_reconnecting_survives_a_failing_api(scene: SlackScene) -> None:
    """Row 15: after a cut, apps.connections.open fails three times: the bot retries and reconnects."""
    await scene.start(**QUICK_PING)
    scene.slack.fail("apps.connections.open", "500", times=3)
    scene.slack.sockets.drop()
    await scene.slack.until(lambda: scene.slack.sockets.made == 2)
    await scene.slack.connected()
    await answers(scene)


@pytest.mark.parametrize("reason", ["warning", "refresh_requested"])
async def test_a_socket_is_replaced_when_slack_asks(
    scene: SlackScene, reason: Literal["warning", "refresh_requested"]
) -> None:
    """Row 15: Slack asks for a new socket five times: each time it is replaced, and one remains."""
    await scene.start(**QUICK_PING)
    for _ in range(5):
        old = set(scene.slack.sockets.open)
        await scene.slack.sockets.disconnect(reason)
        await scene.slack.until(lambda old=old: set(scene.slack.sockets.open) - old)  # type: ignore[misc]
        await answers(scene)
    await scene.slack.until(lambda: len(scene.slack.sockets.open) == 1)
    assert scene.slack.sockets.made <= 8


async def test_a_cut_socket_is_replaced(scene: SlackScene) -> None:
    """Row 15: the connection is cut: the next command is answered."""
    await scene.start(**QUICK_PING)
    for _ in range(3):
        made = scene.slack.sockets.made
        scene.slack.sockets.drop()
        await scene.slack.until(lambda made=made: scene.slack.sockets.made > made)  # type: ignore[misc]
        await scene.slack.connected()
        await answers(scene)
    assert len(scene.slack.sockets.open) == 1
