"""Slack: signed requests; only Slack's own are heeded, and each of them once."""

from __future__ import annotations

import json
import time

from tests.doubles.slack.posting import signature
from tests.faults.slack_faults import SlackScene, scene

__all__ = ["scene"]


async def test_only_fresh_requests_that_slack_signed_are_heeded(scene: SlackScene) -> None:
    """A wrong signature, one of another secret, none, and one six minutes old are refused with 401."""
    await scene.start_http()
    assert (await scene.slack.slash(scene.bob, scene.daily, "/quiz", "help")).acked
    await scene.slack.until(lambda: scene.slack.private(scene.bob))
    body, headers = scene.slack.posting.sent[0]
    now = int(time.time())
    wrong = [
        headers | {"X-Slack-Signature": "v0=" + "0" * 64},
        headers | signature("another-secret", now, body),
        headers | signature(scene.slack.app.signing_secret, now - 360, body),
        {"Content-Type": headers["Content-Type"]},
    ]
    assert [(await scene.slack.posting.send(body, one))[0] for one in wrong] == [401] * 4
    assert (await scene.slack.posting.send(body + "&text=board", headers))[0] == 401
    assert len(scene.slack.private(scene.bob)) == 1


async def test_a_replayed_request_is_answered_once(scene: SlackScene) -> None:
    """Row 11: somebody who listened in sends a signed request again within its five minutes: nothing is done twice."""
    await scene.start_http()
    assert (await scene.slack.slash(scene.bob, scene.daily, "/quiz", "help")).acked
    await scene.slack.until(lambda: scene.slack.private(scene.bob))
    body, headers = scene.slack.posting.sent[0]
    for _ in range(3):
        await scene.slack.posting.send(body, headers)
    assert (await scene.slack.slash(scene.ann, scene.daily, "/quiz", "help")).acked
    await scene.slack.until(lambda: scene.slack.private(scene.ann))
    assert len(scene.slack.private(scene.bob)) == 1


async def test_the_address_is_proved_to_slack(scene: SlackScene) -> None:
    """Slack's challenge at setup is answered, signed like everything."""
    await scene.start_http()
    body = json.dumps({"type": "url_verification", "challenge": "c-1", "token": "t"})
    headers = {"Content-Type": "application/json"} | signature(scene.slack.app.signing_secret, int(time.time()), body)
    status, said, _, _ = await scene.slack.posting.send(body, headers)
    assert status == 200 and "c-1" in said
