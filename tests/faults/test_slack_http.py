"""Slack: signed requests; only Slack's own are heeded, and each of them once."""

from __future__ import annotations

import json
import time

from bot.slack.app import MAX_BODY_BYTES
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


async def test_a_request_larger_than_slack_sends_is_left_unread(scene: SlackScene) -> None:
    """Four mebibytes are taken and one byte more is refused, whoever signed it."""
    await scene.start_http()
    for size, status in ((MAX_BODY_BYTES, 400), (MAX_BODY_BYTES + 1, 413)):
        body = "x" * size
        headers = {"Content-Type": "application/json"} | signature(
            scene.slack.app.signing_secret, int(time.time()), body
        )
        assert (await scene.slack.posting.send(body, headers))[0] == status


async def test_no_body_of_a_stranger_makes_it_fail(scene: SlackScene) -> None:
    """Bodies that are not what they say they are, unsigned, are refused."""
    await scene.start_http()
    form, text = "application/x-www-form-urlencoded", "application/json"
    bodies = [
        (text, "{"),
        (text, "[1]"),
        (text, '"a"'),
        (text, "7"),
        (text, "[" * 100_000),
        (text, '{"authorizations": 5, "event": 7, "team": 1}'),
        (text, '{"authorizations": [5], "user": [], "channel": 4}'),
        (form, "payload={"),
        (form, "payload=[1]"),
        (form, "payload=7"),
        (form, "payload=" + "[" * 100_000),
        (form, 'payload={"team":7,"user":"x","channel":[]}'),
    ]
    statuses = [(await scene.slack.posting.send(body, {"Content-Type": kind}))[0] for kind, body in bodies]
    assert set(statuses) <= {400, 401}, statuses
