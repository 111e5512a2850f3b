"""Endpoints about the bot: its user, application and commands, and its servers and their members."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.doubles.discord import checks
from tests.doubles.discord.endpoint import (
    NO_PERMISSION,
    UNKNOWN_GUILD,
    UNKNOWN_MEMBER,
    UNKNOWN_ROLE,
    UNKNOWN_USER,
    Call,
    Endpoint,
)
from tests.doubles.discord.payloads import bot_member_json, channel_json, guild_json, member_json
from tests.doubles.discord.world import MANAGE_ROLES, Guild, Json, Role, snowflake

if TYPE_CHECKING:
    from tests.doubles.discord.server import Server


async def me(server: Server, call: Call) -> Json:
    """Returns the bot's user."""
    return server.world.bot_user()


async def application(server: Server, call: Call) -> Json:
    """Returns the bot's application, which has no privileged intents."""
    return {
        "id": str(server.world.application),
        "name": "Dailygrad",
        "icon": None,
        "description": "",
        "bot_public": True,
        "bot_require_code_grant": False,
        "verify_key": "0" * 64,
        "flags": 0,
        "team": None,
        "owner": {"id": "1", "username": "owner", "discriminator": "0", "avatar": None, "public_flags": 0},
        "summary": "",
        "approximate_guild_count": len(server.world.guilds),
        "integration_types_config": {"0": {}},
        "install_params": {"scopes": ["bot", "applications.commands"], "permissions": "0"},
    }


async def gateway(server: Server, call: Call) -> Json:
    """Returns the gateway's URL and its limits."""
    limit = {"total": 1000, "remaining": 1000 - server.gateway.identified, "reset_after": 86_400_000}
    return {
        "url": server.gateway.url,
        "shards": server.gateway.shards,
        "session_start_limit": {**limit, "max_concurrency": 1},
    }


async def put_commands(server: Server, call: Call) -> list[Json]:
    """Replaces all commands."""
    server.check(checks.wrong_in_commands(call.body))
    place = int(call.match.get("guild_id", 0))
    about: Json = {"application_id": str(server.world.application), "version": str(snowflake())}
    if place:
        about["guild_id"] = str(place)
    server.world.commands[place] = [{"id": str(snowflake()), "type": 1, **command, **about} for command in call.body]
    server.log.add("commands", guild=place, names=[command["name"] for command in call.body])
    return server.world.commands[place]


async def get_commands(server: Server, call: Call) -> list[Json]:
    """Returns the application's commands, with their translations only on request."""
    known = server.world.commands.get(int(call.match.get("guild_id", 0)), [])
    return known if call.query.get("with_localizations") == "true" else [_untranslated(one) for one in known]


def _untranslated(command: Json) -> Json:
    kept = {key: part for key, part in command.items() if not key.endswith("_localizations")}
    return {**kept, **({"options": [_untranslated(one) for one in kept["options"]]} if "options" in kept else {})}


def _guild(server: Server, call: Call) -> Guild:
    guild = server.world.guilds.get(call.number("guild_id"))
    if guild is None:
        raise UNKNOWN_GUILD
    return guild


async def guild(server: Server, call: Call) -> Json:
    """Returns a server."""
    return guild_json(server.world, _guild(server, call))


async def guilds(server: Server, call: Call) -> list[Json]:
    """Returns the bot's servers."""
    return [
        {"id": str(each.id), "name": each.name, "icon": None, "owner": False, "permissions": "0", "features": []}
        for each in server.world.guilds.values()
    ]


async def channels(server: Server, call: Call) -> list[Json]:
    """Returns a server's channels."""
    return [channel_json(channel) for channel in _guild(server, call).channels.values()]


async def roles(server: Server, call: Call) -> list[Json]:
    """Returns a server's roles."""
    found: list[Json] = guild_json(server.world, _guild(server, call))["roles"]
    return found


async def user(server: Server, call: Call) -> Json:
    """Returns a user."""
    found = server.world.member(call.number("user_id"))
    if found is None:
        raise UNKNOWN_USER
    return found.user()


async def member(server: Server, call: Call) -> Json:
    """Returns a member of a server, which may be the bot."""
    guild, member_id = _guild(server, call), call.number("user_id")
    if member_id == server.world.application:
        return bot_member_json(server.world, guild)
    if member_id not in guild.members:
        raise UNKNOWN_MEMBER
    return member_json(guild, guild.members[member_id])


async def add_role(server: Server, call: Call) -> None:
    """Gives a member a role."""
    member_id, role = _role_to_change(server, call)
    role.holders.add(member_id)
    server.log.add("role", member=member_id, role=role.id, given=True)


async def remove_role(server: Server, call: Call) -> None:
    """Takes a role from a member."""
    member_id, role = _role_to_change(server, call)
    role.holders.discard(member_id)
    server.log.add("role", member=member_id, role=role.id, given=False)


def _role_to_change(server: Server, call: Call) -> tuple[int, Role]:
    """Returns the member and the role, which must be below one of the bot's, which must be allowed to manage roles."""
    guild, role = _guild(server, call), _guild(server, call).roles.get(call.number("role_id"))
    if role is None:
        raise UNKNOWN_ROLE
    mine = guild.roles_of(server.world.application)
    if not any(one.permissions & MANAGE_ROLES for one in mine) or max(one.position for one in mine) <= role.position:
        raise NO_PERMISSION
    if call.number("user_id") not in guild.members:
        raise UNKNOWN_MEMBER
    return call.number("user_id"), role


async def audit_log(server: Server, call: Call) -> Json:
    """Returns who added the bot, if that is known and the bot may read the audit log."""
    guild = _guild(server, call)
    if guild.added_by is None:
        raise NO_PERMISSION
    entry = {
        "id": str(snowflake()),
        "action_type": int(call.query.get("action_type", 28)),
        "target_id": str(server.world.application),
        "user_id": str(guild.added_by.id),
    }
    return {"audit_log_entries": [entry], "users": [], "webhooks": [], "threads": [], "integrations": []}


ENDPOINTS = (
    Endpoint("GET", "/users/@me", me),
    Endpoint("GET", "/users/@me/guilds", guilds),
    Endpoint("GET", "/users/{user_id}", user),
    Endpoint("GET", "/applications/@me", application),
    Endpoint("GET", "/oauth2/applications/@me", application),
    Endpoint("GET", "/gateway/bot", gateway),
    Endpoint("PUT", "/applications/{application_id}/commands", put_commands),
    Endpoint("GET", "/applications/{application_id}/commands", get_commands),
    Endpoint("PUT", "/applications/{application_id}/guilds/{guild_id}/commands", put_commands),
    Endpoint("GET", "/applications/{application_id}/guilds/{guild_id}/commands", get_commands),
    Endpoint("GET", "/guilds/{guild_id}", guild),
    Endpoint("GET", "/guilds/{guild_id}/channels", channels),
    Endpoint("GET", "/guilds/{guild_id}/roles", roles),
    Endpoint("GET", "/guilds/{guild_id}/members/{user_id}", member),
    Endpoint("PUT", "/guilds/{guild_id}/members/{user_id}/roles/{role_id}", add_role),
    Endpoint("DELETE", "/guilds/{guild_id}/members/{user_id}/roles/{role_id}", remove_role),
    Endpoint("GET", "/guilds/{guild_id}/audit-logs", audit_log),
)
