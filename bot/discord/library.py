"""The parts of discord.py that its documentation does not promise. They are checked when the bot is imported.

The documented API has no request by route, no response to an interaction without the gateway's own object, and no way
to name another address of the API. So a new version of the library may move these; the bot then says at once which
one is missing, instead of failing at the first message.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Any, Final

import discord
import discord.gateway
import discord.http
import discord.webhook.async_

from service.process import CommandFailed

TESTED: Final = "2.7.1"
"""The version of discord.py that the tests run with, as in the lock file."""
USED: Final[Mapping[str, tuple[str, ...]]] = {
    "discord.gateway:DiscordWebSocket.DEFAULT_GATEWAY": (),
    "discord.http:Route.BASE": (),
    "discord.http:Route.__init__": ("method", "path"),
    "discord.http:MultipartParameters": (),
    "discord.http:HTTPClient.request": ("route", "files", "form", "params", "json"),
    "discord.http:HTTPClient.bulk_upsert_global_commands": ("application_id", "payload"),
    "discord.http:HTTPClient.get_bot_gateway": (),
    "discord.http:HTTPClient.get_from_cdn": ("url",),
    "discord.http:HTTPClient.get_member": ("guild_id", "member_id"),
    "discord.http:HTTPClient.get_user": ("user_id",),
    "discord.http:HTTPClient.start_private_message": ("user_id",),
    "discord.webhook.async_:async_context": (),
    "discord.webhook.async_:AsyncWebhookAdapter.create_interaction_response": (
        "interaction_id",
        "token",
        "session",
        "params",
    ),
    "discord.webhook.async_:AsyncWebhookAdapter.edit_original_interaction_response": (
        "application_id",
        "token",
        "session",
        "payload",
        "multipart",
        "files",
    ),
    "discord.webhook.async_:AsyncWebhookAdapter.execute_webhook": (
        "webhook_id",
        "token",
        "session",
        "payload",
        "multipart",
        "files",
        "wait",
        "with_components",
    ),
}
"""What the bot uses, with the parameters that it passes."""


def check_library(used: Mapping[str, tuple[str, ...]], version: str) -> None:
    """Raises CommandFailed if this version of discord.py lacks something that the bot uses."""
    missing = list(_missing(used))
    if missing:
        raise CommandFailed(
            f"discord.py {version} has no {', no '.join(missing)}, which this bot uses. Install the version it is "
            f"tested with: pip install discord.py=={TESTED}"
        )


def _missing(used: Mapping[str, tuple[str, ...]]) -> Iterator[str]:
    for name, parameters in used.items():
        module, _, path = name.partition(":")
        found: Any = import_module(module)
        for part in path.split("."):
            found = getattr(found, part, None)
        if found is None:
            yield name.replace(":", ".")
            continue
        known = inspect.signature(found).parameters if parameters else {}
        if not any(one.kind is one.VAR_KEYWORD for one in known.values()):
            yield from (f"{name.replace(':', '.')}({one}=…)" for one in parameters if one not in known)


check_library(USED, discord.__version__)

DiscordWebSocket = discord.gateway.DiscordWebSocket
HTTPClient = discord.http.HTTPClient
MultipartParameters = discord.http.MultipartParameters
Route = discord.http.Route
async_context = discord.webhook.async_.async_context
