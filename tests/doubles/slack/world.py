"""The state of the double: the app, workspaces, people, channels, tokens, messages and views. Plain data."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from tests.doubles.slack.clock import Clock
from tests.doubles.slack.log import Log
from tests.doubles.slack.surfaces import Body, Ephemeral, Message, View

BOT_SCOPES = (
    "app_mentions:read",
    "channels:history",
    "channels:join",
    "channels:read",
    "chat:write",
    "commands",
    "files:read",
    "files:write",
    "groups:history",
    "groups:read",
    "im:history",
    "im:read",
    "im:write",
    "users:read",
)
EVENTS = (
    "app_home_opened",
    "app_mention",
    "app_uninstalled",
    "member_joined_channel",
    "message.im",
    "tokens_revoked",
)
TOKEN_LIFE_S = 43_200
EVENT_SCOPES = {
    "app_mention": ("app_mentions:read",),
    "channel_rename": ("channels:read",),
    "channel_unarchive": ("channels:read",),
    "group_rename": ("groups:read",),
    "group_unarchive": ("groups:read",),
    "team_join": ("users:read",),
    "user_change": ("users:read",),
    "member_joined_channel": ("channels:read", "groups:read"),
    "message.channels": ("channels:history",),
    "message.groups": ("groups:history",),
    "message.im": ("im:history",),
}
"""Scopes an event needs, per type of channel if there are several. Slack sends no events without them (docs)."""


class ApiError(Exception):
    """An error of the Web API (`ok: false`)."""

    def __init__(self, code: str, **extra: Any) -> None:
        super().__init__(code)
        self.code = code
        self.extra = extra


@dataclass
class App:
    """The app, according to its manifest and settings."""

    id: str = "A0DOUBLE"
    client_id: str = "111.222"
    client_secret: str = "a-client-secret"
    signing_secret: str = "a-signing-secret"
    app_token: str = "xapp-1-A0DOUBLE-1-socket"
    verification: str = "old-verification-token"
    scopes: tuple[str, ...] = BOT_SCOPES
    events: tuple[str, ...] = EVENTS
    commands: tuple[str, ...] = ("/quiz", "/quiz-admin")
    shortcuts: tuple[tuple[str, str], ...] = ()
    """Name and callback id of each message shortcut."""
    rotation: bool = False
    organization: str = ""
    """Id of the organization (Enterprise Grid) for which the app is installed as a whole; empty for workspaces."""
    request_url: str = ""
    """URL for signed requests; empty in Socket Mode."""
    redirect_url: str = ""
    """URL that the consent page redirects to."""

    def read_manifest(self, manifest: Body) -> None:
        """Takes scopes, events, commands and token rotation from a manifest."""
        settings = manifest.get("settings", {})
        self.scopes = tuple(manifest["oauth_config"]["scopes"]["bot"])
        self.events = tuple(settings.get("event_subscriptions", {}).get("bot_events", ()))
        self.commands = tuple(one["command"] for one in manifest["features"].get("slash_commands", ()))
        shortcuts = manifest["features"].get("shortcuts", ())
        self.shortcuts = tuple((one["name"], one["callback_id"]) for one in shortcuts if one["type"] == "message")
        self.rotation = bool(settings.get("token_rotation_enabled", False))


@dataclass
class Token:
    """A bot token of a workspace."""

    value: str
    team: str
    scopes: tuple[str, ...]
    ends: float | None = None
    """Expiry, Slack seconds on the double's clock; None if it does not expire."""
    revoked: bool = False


@dataclass
class User:
    """A person, or the app's own user."""

    id: str
    team: str
    name: str
    admin: bool = False
    bot: bool = False
    zone: str = "Europe/Berlin"
    home: str = ""
    """Their own workspace, if they are a guest through Slack Connect."""

    def body(self) -> Body:
        profile = {"display_name": self.name, "real_name": self.name}
        flags = {"is_admin": self.admin, "is_owner": False, "is_bot": self.bot, "deleted": False}
        names = {"name": self.name.lower(), "real_name": self.name, "profile": profile, "tz": self.zone}
        return {"id": self.id, "team_id": self.home or self.team, "tz_offset": 3600, **names, **flags}


@dataclass
class Channel:
    """A channel; with `im`, a direct-message conversation."""

    id: str
    team: str
    name: str
    private: bool = False
    archived: bool = False
    im: str = ""
    members: set[str] = field(default_factory=set)
    messages: dict[str, Message] = field(default_factory=dict)

    @property
    def scope(self) -> str:
        return "im" if self.im else "groups" if self.private else "channels"

    def body(self, bot: str) -> Body:
        member = bot in self.members
        kind = {"is_channel": not (self.im or self.private), "is_group": self.private, "is_im": bool(self.im)}
        rest = {"is_private": self.private, "is_archived": self.archived, "is_member": member}
        return {"id": self.id, "name": self.name, **kind, **rest} | ({"user": self.im} if self.im else {})


@dataclass
class Team:
    """A workspace and the app's user in it."""

    id: str
    name: str
    bot: User
    bot_id: str
    users: dict[str, User] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    installed: bool = False


@dataclass
class Trigger:
    """A trigger, which allows to open a view."""

    user: User
    ends: float
    from_view: str = ""
    used: bool = False


@dataclass
class ReplyUrl:
    """A response_url; `origin` is the message it may replace."""

    user: User
    channel: Channel
    ends: float
    origin: Message | Ephemeral | None = None
    uses: int = 0


@dataclass
class World:
    """All state."""

    app: App
    clock: Clock
    log: Log
    teams: dict[str, Team] = field(default_factory=dict)
    tokens: dict[str, Token] = field(default_factory=dict)
    refresh: dict[str, Token] = field(default_factory=dict)
    codes: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    triggers: dict[str, Trigger] = field(default_factory=dict)
    reply_urls: dict[str, ReplyUrl] = field(default_factory=dict)
    views: dict[str, View] = field(default_factory=dict)
    homes: dict[str, View] = field(default_factory=dict)
    ephemerals: list[Ephemeral] = field(default_factory=list)
    files: dict[str, Body] = field(default_factory=dict)
    contents: dict[str, bytes] = field(default_factory=dict)
    check_every: int = 1
    """Share of messages checked against Slack's types, which takes milliseconds: one in this many."""
    bodies: int = 0
    deadline_s: float = 3.0
    """Time to acknowledge a delivery, and to open a view with a trigger, seconds. Slack's own is three."""
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def new_id(self, letter: str) -> str:
        """Returns an id that looks like Slack's."""
        return f"{letter}0{next(self._numbers):06d}X"

    def new_ts(self) -> str:
        """Returns a new timestamp; timestamps always increase."""
        return f"{int(self.clock.stamp())}.{next(self._numbers):06d}"

    def add_team(self, name: str) -> Team:
        """Adds a workspace without the app."""
        id_ = self.new_id("T")
        bot = User(self.new_id("U"), id_, "Dailygrad", bot=True)
        team = Team(id_, name, bot, self.new_id("B"), {bot.id: bot})
        self.teams[id_] = team
        return team

    def issue(self, team: Team, scopes: tuple[str, ...]) -> tuple[Token, str]:
        """Issues a bot token; with rotation, also its refresh token."""
        rotating = self.app.rotation
        ends = self.clock.slack() + TOKEN_LIFE_S if rotating else None
        value = f"{'xoxe.' if rotating else ''}xoxb-{team.id}-{secrets.token_hex(8)}"
        token = self.tokens[value] = Token(value, team.id, scopes, ends)
        again = f"xoxe-1-{secrets.token_hex(8)}" if rotating else ""
        if again:
            self.refresh[again] = token
        team.installed = True
        self.log.add("token", what="issued", team=team.id, token=value)
        return token, again

    def revoke(self, team: Team) -> list[str]:
        """Revokes all tokens of a workspace; returns them."""
        gone = [token for token in self.tokens.values() if token.team == team.id and not token.revoked]
        for token in gone:
            token.revoked = True
        self.refresh = {again: token for again, token in self.refresh.items() if token.team != team.id}
        self.log.add("token", what="revoked", team=team.id)
        return [token.value for token in gone]

    def hears(self, team: str, event: str, private: bool = False) -> bool:
        """Returns whether the app listens to an event and has the scope for it in the workspace."""
        needed = EVENT_SCOPES.get(event, ())
        one = needed[-1] if private else needed[0] if needed else ""
        granted = [token.scopes for token in self.tokens.values() if token.team == team and not token.revoked]
        return event in self.app.events and (not one or any(one in scopes for scopes in granted))

    def im(self, user: User) -> Channel:
        """Returns the direct-message conversation of a person with the app."""
        team = self.teams[user.team]
        for channel in team.channels.values():
            if channel.im == user.id:
                return channel
        channel = Channel(self.new_id("D"), team.id, "directmessage", im=user.id, members={user.id, team.bot.id})
        team.channels[channel.id] = channel
        return channel

    def channel_of(self, team: Team, id_: str) -> Channel:
        """Returns a channel that the app can see. Raises the API's error."""
        channel = team.channels.get(id_)
        if channel is None or ((channel.private or channel.im) and team.bot.id not in channel.members):
            raise ApiError("channel_not_found")
        return channel

    def user_of(self, id_: str) -> User:
        """Returns a person of any workspace."""
        return next(team.users[id_] for team in self.teams.values() if id_ in team.users)

    def messages(self, channel: Channel | None = None) -> list[Message]:
        """Returns the messages of a channel, or of all channels, oldest first."""
        channels = [channel] if channel else [one for team in self.teams.values() for one in team.channels.values()]
        found = [message for one in channels for message in one.messages.values() if not message.deleted]
        return sorted(found, key=lambda message: message.ts.partition(".")[2])

    def stack(self, user: User) -> list[View]:
        """Returns a person's open modals, the top one last."""
        return [view for view in self.views.values() if view.user == user.id and view.open]
