"""Signed HTTP requests: only Slack's are accepted, each once."""

from __future__ import annotations

import json
import time

import pytest

from bot.slack.app import MAX_BODY_BYTES
from tests.doubles.slack.signed_http import signature
from tests.faults.slack_faults import SlackScene, scene

pytestmark = pytest.mark.slow

__all__ = ["scene"]


async def test_only_fresh_requests_signed_by_slack_are_accepted(scene: SlackScene) -> None:
    """A wrong signature, one from another secret, a missing one and one six minutes old get a 401."""
    await scene.start_http()
    assert (await scene.slack.slash(scene.bob, scene.daily, "/quiz", "help")).acked
    await scene.slack.until(lambda: scene.slack.private(scene.bob))
    body, headers = scene.slack.signed_http.sent[0]
    now = int(time.time())
    wrong = [
        headers | {"X-Slack-Signature": "v0=" + "0" * 64},
        headers | signature("another-secret", now, body),
        headers | signature(scene.slack.app.signing_secret, now - 360, body),
        {"Content-Type": headers["Content-Type"]},
    ]
    assert [(await scene.slack.signed_http.send(body, one))[0] for one in wrong] == [401] * 4
    assert (await scene.slack.signed_http.send(body + "&text=board", headers))[0] == 401
    assert len(scene.slack.private(scene.bob)) == 1


async def test_a_replayed_request_is_answered_once(scene: SlackScene) -> None:
    """Row 11: an attacker replays a signed request within five minutes: nothing happens twice."""
    await scene.start_http()
    assert (await scene.slack.slash(scene.bob, scene.daily, "/quiz", "help")).acked
    await scene.slack.until(lambda: scene.slack.private(scene.bob))
    body, headers = scene.slack.signed_http.sent[0]
    for _ in range(3):
        await scene.slack.signed_http.send(body, headers)
    assert (await scene.slack.slash(scene.ann, scene.daily, "/quiz", "help")).acked
    await scene.slack.until(lambda: scene.slack.private(scene.ann))
    assert len(scene.slack.private(scene.bob)) == 1


async def test_slacks_url_verification_is_answered(scene: SlackScene) -> None:
    """Slack's signed challenge is answered."""
    await scene.start_http()
    body = json.dumps({"type": "url_verification", "challenge": "c-1", "token": "t"})
    headers = {"Content-Type": "application/json"} | signature(scene.slack.app.signing_secret, int(time.time()), body)
    status, said, _, _ = await scene.slack.signed_http.send(body, headers)
    assert status == 200 and "c-1" in said


async def test_an_oversized_request_is_rejected(scene: SlackScene) -> None:
    """Four mebibytes are accepted and one more byte is rejected, even if signed."""
    await scene.start_http()
    for size, status in ((MAX_BODY_BYTES, 400), (MAX_BODY_BYTES + 1, 413)):
        body = "x" * size
        headers = {"Content-Type": "application/json"} | signature(
            scene.slack.app.signing_secret, int(time.time()), body
        )
        assert (await scene.slack.signed_http.send(body, headers))[0] == status


async def test_malformed_bodies_are_rejected(scene: SlackScene) -> None:
    """Unsigned, malformed bodies get a 4xx, never a 5xx."""
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
    statuses = [(await scene.slack.signed_http.send(body, {"Content-Type": kind}))[0] for kind, body in bodies]
    assert set(statuses) <= {400, 401}, statuses
