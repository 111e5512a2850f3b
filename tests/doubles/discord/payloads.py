"""Converts the double's state to the JSON that Discord sends. Pure."""

from __future__ import annotations

from typing import Any

from tests.doubles.discord.world import (
    AUDIT_LOG,
    BOT_NEEDS,
    DM,
    EPHEMERAL,
    FORUM,
    MANAGE_GUILD,
    THREAD,
    Channel,
    Guild,
    Interaction,
    Json,
    Member,
    Message,
    Role,
    World,
    instant,
)


def message_json(message: Message) -> Json:
    """Returns a message as all endpoints do."""
    body = message.body
    found: Json = {
        "id": str(message.id),
        "channel_id": str(message.channel.id),
        "type": 0,
        "author": message.author,
        "content": body.get("content") or "",
        "timestamp": instant(message.id),
        "edited_timestamp": instant(message.id) if message.edited else None,
        "tts": False,
        "mention_everyone": False,
        "mentions": [],
        "mention_roles": [],
        "attachments": body.get("attachments") or [],
        "embeds": body.get("embeds") or [],
        "pinned": False,
        "flags": message.flags | (EPHEMERAL if message.viewer else 0),
        "components": body.get("components") or [],
    }
    if message.nonce is not None:
        found["nonce"] = message.nonce
    return found


def channel_json(channel: Channel) -> Json:
    """Returns a channel, a thread or a direct-message channel."""
    found: Json = {"id": str(channel.id), "type": channel.type, "last_message_id": None, "flags": 0}
    if channel.type == DM:
        assert channel.recipient
        return {**found, "recipients": [channel.recipient.user()]}
    assert channel.guild
    found |= {"guild_id": str(channel.guild.id), "name": channel.name, "rate_limit_per_user": 0, "nsfw": False}
    if channel.type == THREAD:
        return {**found, **_thread(channel)}
    if channel.type == FORUM:
        found |= {"available_tags": [], "default_reaction_emoji": None, "default_forum_layout": 0}
    denied = BOT_NEEDS & ~channel.allows
    overwrite = {"id": str(channel.guild.id), "type": 0, "allow": "0", "deny": str(denied)}
    return {
        **found,
        "position": 0,
        "parent_id": None,
        "topic": None,
        "permission_overwrites": [overwrite] if denied else [],
    }


def _thread(channel: Channel) -> Json:
    assert channel.parent
    return {
        "parent_id": str(channel.parent.id),
        "owner_id": str(channel.owner),
        "message_count": len(channel.messages),
        "member_count": 1,
        "total_message_sent": len(channel.messages),
        "thread_metadata": {
            "archived": False,
            "auto_archive_duration": 1440,
            "archive_timestamp": instant(channel.id),
            "locked": channel.locked,
            "create_timestamp": instant(channel.id),
        },
    }


def member_json(guild: Guild, member: Member, *, permissions: bool = False) -> Json:
    """Returns a member of a server; `permissions` as interactions have them."""
    found: Json = {
        "user": member.user(),
        "nick": None,
        "avatar": None,
        "roles": [str(guild.admins)] if member.permissions & MANAGE_GUILD else [],
        "joined_at": instant(member.id),
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "pending": False,
        "flags": 0,
        "communication_disabled_until": None,
    }
    return {**found, "permissions": str(member.permissions)} if permissions else found


def bot_member_json(world: World, guild: Guild) -> Json:
    """Returns the bot as a member of a server."""
    return {
        "user": world.bot_user(),
        "nick": None,
        "avatar": None,
        "roles": [str(role.id) for role in guild.roles_of(world.application)],
        "joined_at": guild.joined_at,
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "pending": False,
        "flags": 0,
        "communication_disabled_until": None,
    }


def role_json(role: Role) -> Json:
    """Returns a role of a server."""
    return _role(role.id, role.name, role.permissions, role.position)


def _role(identifier: int, name: str, permissions: int, position: int = 0) -> Json:
    return {
        "id": str(identifier),
        "name": name,
        "color": 0,
        "colors": {"primary_color": 0, "secondary_color": None, "tertiary_color": None},
        "hoist": False,
        "icon": None,
        "unicode_emoji": None,
        "position": position,
        "permissions": str(permissions),
        "managed": False,
        "mentionable": False,
        "flags": 0,
    }


def guild_json(world: World, guild: Guild) -> Json:
    """Returns a server as in GUILD_CREATE."""
    everyone = _role(guild.id, "@everyone", BOT_NEEDS | (AUDIT_LOG if guild.added_by else 0))
    admins = _role(guild.admins, "Admins", MANAGE_GUILD)
    nothing = ("icon", "splash", "discovery_splash", "banner", "description", "vanity_url_code", "afk_channel_id")
    return {
        **dict.fromkeys(nothing),
        "id": str(guild.id),
        "name": guild.name,
        "owner_id": str(guild.owner_id),
        "unavailable": False,
        "large": False,
        "member_count": len(guild.members) + 1,
        "roles": [everyone, admins, *map(role_json, guild.roles.values())],
        "emojis": [],
        "stickers": [],
        "features": [],
        "channels": [channel_json(channel) for channel in guild.channels.values()],
        "threads": [channel_json(each) for each in world.channels.values() if each.parent and each.guild is guild],
        "members": [bot_member_json(world, guild)],
        "presences": [],
        "voice_states": [],
        "stage_instances": [],
        "guild_scheduled_events": [],
        "soundboard_sounds": [],
        "afk_timeout": 300,
        "verification_level": 0,
        "default_message_notifications": 0,
        "explicit_content_filter": 0,
        "mfa_level": 0,
        "nsfw_level": 0,
        "premium_tier": 0,
        "premium_subscription_count": 0,
        "premium_progress_bar_enabled": False,
        "preferred_locale": "en-US",
        "system_channel_flags": 0,
        "joined_at": guild.joined_at,
    }


def interaction_json(world: World, interaction: Interaction) -> Json:
    """Returns the data of INTERACTION_CREATE."""
    guild = interaction.channel.guild
    found: dict[str, Any] = {
        "id": str(interaction.id),
        "application_id": str(world.application),
        "type": interaction.type,
        "token": interaction.token,
        "version": 1,
        "data": interaction.data,
        "channel_id": str(interaction.channel.id),
        "channel": {**channel_json(interaction.channel), "permissions": str(interaction.member.permissions)},
        "locale": "en-GB",
        "app_permissions": str(interaction.channel.allows),
        "entitlements": [],
        "attachment_size_limit": 10 * 1024 * 1024,
        "context": 0 if guild else 1,
    }
    if guild:
        found |= {
            "guild_id": str(guild.id),
            "guild": {"id": str(guild.id), "locale": "en-US", "features": []},
            "guild_locale": "en-US",
            "member": member_json(guild, interaction.member, permissions=True),
            "authorizing_integration_owners": (
                {"0": str(guild.id)} if guild.installed else {"1": str(interaction.member.id)}
            ),
        }
    else:
        found |= {"user": interaction.member.user(), "authorizing_integration_owners": {"0": "0"}}
    if interaction.message is not None:
        found["message"] = message_json(interaction.message)
    return found
