"""The doctor's report on a Slack app, from the Slack double."""

from __future__ import annotations

import copy
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest

from bot.doctor.checks import CheckResult
from bot.doctor.slack import examine_slack, manifest_differences, token_finding
from bot.slack.manifest import BOT_SCOPES, app_manifest
from bot.slack.settings import SlackSettings
from service.client import ServiceClient
from tests.bot.doctor.conftest import MakeSchedule
from tests.doubles.slack.double import SlackDouble, slack_double
from tests.doubles.slack.world import Team


@dataclass
class Clinic:
    slack: SlackDouble
    team: Team
    client: ServiceClient | None
    clock: Callable[[], datetime]

    async def findings(self, **settings: str) -> list[CheckResult]:
        given = SlackSettings.model_validate({**self.slack.environment(self.team), **settings})
        return [one async for one in examine_slack(given, self.client, self.clock)]

    async def broken(self, **settings: str) -> list[CheckResult]:
        return [one for one in await self.findings(**settings) if not one.good]


@pytest.fixture
async def clinic(client: ServiceClient, present: Callable[[], datetime]) -> AsyncIterator[Clinic]:
    """A healthy app in one workspace, in Socket Mode."""
    async with slack_double() as slack:
        yield Clinic(slack, slack.team("acme"), client, present)


async def test_a_healthy_app(clinic: Clinic, schedules: MakeSchedule) -> None:
    channel = clinic.slack.channel(clinic.team, "daily")
    await schedules("slack", clinic.team.id, channel.id, "daily")
    found = await clinic.findings()
    assert [one.text for one in found if not one.good] == []
    said = [one.text for one in found]
    assert said == [
        "token: valid, for dailygrad in acme",
        f"scopes: all {len(BOT_SCOPES)} granted in acme",
        "clock: within 60 s of the chat's clock",
        "events: Socket Mode; the app-level token is accepted",
        "manifest: not compared",
        "schedules: 1 channel",
        "#daily: the bot is a member",
    ]


async def test_the_doctor_neither_connects_nor_posts(clinic: Clinic) -> None:
    await clinic.findings()
    assert clinic.slack.sockets.open == []
    clinic.slack.must_be_well()


async def test_missing_scopes_are_named_with_their_purpose(clinic: Clinic) -> None:
    kept = tuple(scope for scope in BOT_SCOPES if scope not in ("files:write", "users:read"))
    clinic.slack.world.tokens[clinic.slack.bot_token(clinic.team)].scopes = kept
    found = await clinic.broken()
    assert [one.text for one in found] == [
        "scopes: files:write is missing in acme; needed for pictures of formulas",
        "scopes: users:read is missing in acme; needed for names on the boards, who is an admin, and the time "
        "zone that a schedule starts with",
    ]
    assert all("Reinstall to Workspace" in one.cure for one in found)


@pytest.mark.parametrize(
    ("error", "cure"),
    [
        ("invalid_auth", "copy the Bot User OAuth Token"),
        ("account_inactive", "the app was removed"),
        ("token_expired", "installed by OAuth"),
        ("something_new", "https://api.slack.com/apps"),
    ],
)
def test_token_errors_are_explained(error: str, cure: str) -> None:
    found = token_finding("", {"ok": False, "error": error})
    assert not found.good
    assert found.text == f"token: rejected by Slack with {error}"
    assert cure in found.cure


async def test_an_invalid_token(clinic: Clinic) -> None:
    said = [one.text for one in await clinic.broken(SLACK_BOT_TOKEN="xoxb-nobody")]
    assert said == ["token: rejected by Slack with invalid_auth"]


async def test_an_invalid_app_level_token(clinic: Clinic) -> None:
    (only,) = await clinic.broken(SLACK_APP_TOKEN="xapp-1-A0-nobody")
    assert only.text == "events: Slack rejects the app-level token with invalid_auth"
    assert "connections:write" in only.cure


async def test_a_channel_the_bot_is_not_in(clinic: Clinic, schedules: MakeSchedule) -> None:
    public = clinic.slack.channel(clinic.team, "open", bot=False)
    private = clinic.slack.channel(clinic.team, "closed", bot=False, private=True)
    for place in (public, private):
        await schedules("slack", clinic.team.id, place.id, place.name)
    await schedules("slack", "T0ELSEWHERE", "C1", "far")
    assert [(one.text, one.cure) for one in await clinic.broken()][:2] == [
        ("#open: the bot is not a member", "type /invite @Dailygrad there"),
        (
            "#closed: it is private and the bot is not a member, or it was deleted",
            "type /invite @Dailygrad there; if the channel was deleted, remove its schedule",
        ),
    ]
    assert "#far: no token for its workspace T0ELSEWHERE" in [one.text for one in await clinic.broken()]


async def test_an_unreachable_or_rate_limited_slack(clinic: Clinic) -> None:
    (only,) = await clinic.broken(SLACK_API_URL="http://127.0.0.1:9/api/")
    assert only.text.startswith("connection: http://127.0.0.1:9/api/ does not answer")
    assert "SLACK_API_URL" in only.cure


async def test_a_wrong_clock(clinic: Clinic, present: Callable[[], datetime]) -> None:
    clinic.clock = lambda: present() + timedelta(hours=1)
    (only,) = await clinic.broken()
    assert "ahead of the chat" in only.text


async def test_http_delivery_cannot_be_checked(clinic: Clinic) -> None:
    found = await clinic.findings(SLACK_SIGNING_SECRET="s", SLACK_APP_TOKEN="")
    events = next(one for one in found if one.text.startswith("events: "))
    assert events.good
    assert "/slack/events on this bot's port 3000" in events.cure


# The manifest: what Slack has against what we describe


def test_the_current_manifest_has_no_differences() -> None:
    assert list(manifest_differences(app_manifest(), socket=True)) == []
    assert list(manifest_differences(app_manifest("https://quiz.example.com"), socket=False)) == []


def test_differences_of_an_older_app_are_named() -> None:
    theirs = copy.deepcopy(app_manifest())
    theirs["features"]["slash_commands"].pop()
    theirs["oauth_config"]["scopes"]["bot"].remove("files:read")
    theirs["settings"]["event_subscriptions"]["bot_events"].remove("app_home_opened")
    theirs["settings"]["interactivity"]["is_enabled"] = False
    theirs["settings"]["socket_mode_enabled"] = False
    theirs["features"]["app_home"] = {"home_tab_enabled": False, "messages_tab_enabled": False}
    assert list(manifest_differences(theirs, socket=True)) == [
        "the command /quiz-admin is missing",
        "the scope files:read is missing",
        "the event app_home_opened is not subscribed",
        "interactivity is off, so buttons do not work",
        "the home tab is off",
        "the messages tab is off or read-only, so nobody can message the bot",
        "Socket Mode is off, but the bot is configured to use it",
    ]
    assert len(list(manifest_differences({}, socket=False))) > 20


async def test_the_manifest_is_compared_with_a_config_token(present: Callable[[], datetime]) -> None:
    asked: list[tuple[str, str]] = []

    def answer(request: httpx.Request) -> httpx.Response:
        method = request.url.path.rpartition("/")[2]
        asked.append((method, request.content.decode()))
        said: dict[str, Any] = {"ok": True, "user": "dailygrad", "team": "acme", "team_id": "T1"}
        if method == "apps.manifest.export":
            theirs = app_manifest()
            theirs["oauth_config"]["scopes"]["bot"] = [scope for scope in BOT_SCOPES if scope != "commands"]
            said = {"ok": True, "manifest": theirs}
        return httpx.Response(200, json=said, headers={"x-oauth-scopes": ",".join(BOT_SCOPES)})

    settings = SlackSettings.model_validate({"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1-A0123-9-f"})
    examined = examine_slack(settings, None, present, config_token="xoxe.xoxp-1", transport=httpx.MockTransport(answer))
    broken = [one.text async for one in examined if not one.good]
    assert "manifest: the scope commands is missing" in broken
    assert ("apps.manifest.export", "app_id=A0123") in asked
