"""Runs every check that the environment configures: the service, links, and each chat that has a token."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from datetime import datetime

from bot.doctor.findings import Finding
from bot.doctor.reaching import examine_links, examine_service
from bot.settings import BotSettings, LinkSettings, settings_read
from bot.shell import chat_findings, service_client
from service.process import Refused

_GIVEN = {
    "discord": ("DISCORD_TOKEN",),
    "slack": ("SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_CLIENT_ID"),
}
"""Settings that mark a chat as configured, directly or by a `_FILE` variant."""


def is_bot() -> bool:
    """Returns whether the environment names a service to call."""
    return is_set("DAILYGRAD_SERVICE_URL")


def is_set(*names: str) -> bool:
    """Returns whether one of these settings, or its `_FILE` variant, is set."""
    return any(os.environ.get(f"{name}{end}") for name in names for end in ("", "_FILE"))


async def bot_findings(now: datetime) -> AsyncIterator[Finding]:
    """Runs every check that the environment configures; `now` is this machine's clock."""
    if is_bot():
        try:
            settings = settings_read(BotSettings)
        except Refused as refused:
            yield Finding(False, "settings: those of the bot are invalid", str(refused))
        else:
            async with service_client(settings) as client:
                async for found in examine_service(settings, client, now):
                    yield found
    if is_bot() or is_set("DAILYGRAD_LINK_URL", "DAILYGRAD_LINK_SECRET"):
        try:
            yield await examine_links(settings_read(LinkSettings))
        except (Refused, ValueError) as wrong:
            yield Finding(False, "links: invalid settings", str(wrong))
    for chat, names in _GIVEN.items():
        if is_set(*names):
            async for found in _chat(chat):
                yield found


async def _chat(chat: str) -> AsyncIterator[Finding]:
    try:
        found = await chat_findings(chat)
    except Refused as refused:
        found = [Finding(False, str(refused))]
    for one in found:
        yield Finding(one.good, f"{chat}: {one.said}", one.cure)
