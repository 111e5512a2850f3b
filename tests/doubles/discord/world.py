"""The state of the double: servers, channels, members, messages and interactions. No sockets and no rules."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import count
from time import monotonic, time
from typing import Any

Json = dict[str, Any]

EPOCH_MS = 1420070400000
VIEW, SEND, EMBED, ATTACH, HISTORY = 1 << 10, 1 << 11, 1 << 14, 1 << 15, 1 << 16
MANAGE_GUILD, AUDIT_LOG, MAKE_THREADS, SEND_IN_THREADS = 1 << 5, 1 << 7, 1 << 35, 1 << 38
MANAGE_ROLES = 1 << 28
BOT_NEEDS = VIEW | SEND | EMBED | ATTACH | HISTORY | MAKE_THREADS | SEND_IN_THREADS
EPHEMERAL, LOADING, V2 = 1 << 6, 1 << 7, 1 << 15
TEXT, DM, THREAD, FORUM = 0, 1, 11, 15

_numbers = count()


def snowflake(age_s: float = 0.0) -> int:
    """Returns a new id whose time is now, or `age_s` ago."""
    millis = int((time() - age_s) * 1000) - EPOCH_MS
    return millis << 22 | next(_numbers) & 0x3FFFFF


def instant(identifier: int) -> str:
    """Returns the creation time of an id, in Discord's format."""
    return datetime.fromtimestamp((((identifier >> 22) + EPOCH_MS) / 1000), UTC).isoformat()


@dataclass
class Member:
    """A person. `closed` refuses direct messages."""

    name: str
    id: int = field(default_factory=snowflake)
    permissions: int = VIEW | SEND | HISTORY
    closed: bool = False
    bot: bool = False

    def user(self) -> Json:
        return {
            "id": str(self.id),
            "username": self.name.lower(),
            "discriminator": "0",
            "global_name": self.name,
            "avatar": None,
            "public_flags": 0,
            **({"bot": True} if self.bot else {}),
        }


@dataclass
class Message:
    """A message. With `viewer`, only that member sees it."""

    channel: Channel
    author: Json
    body: Json
    id: int = field(default_factory=snowflake)
    viewer: int | None = None
    nonce: str | None = None
    made: float = field(default_factory=monotonic)
    edited: bool = False
    interaction: int | None = None

    @property
    def flags(self) -> int:
        return int(self.body.get("flags") or 0)

    @property
    def loading(self) -> bool:
        """Whether it shows "is thinking"."""
        return bool(self.flags & LOADING)

    @property
    def texts(self) -> list[str]:
        """All its visible texts, in order."""
        found = [str(self.body["content"])] if self.body.get("content") else []
        return found + [part["content"] for part in self.parts if part["type"] == 10]

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def parts(self) -> list[Json]:
        """Its components, including nested ones."""
        return [part for component in self.body.get("components") or () for part in nested(component)]

    @property
    def buttons(self) -> dict[str, str]:
        """The custom_ids of its buttons, by label."""
        return {
            part.get("label", ""): part["custom_id"]
            for part in self.parts
            if part["type"] == 2 and "custom_id" in part and not part.get("disabled")
        }

    @property
    def ref(self) -> str:
        return f"{self.channel.id}/{self.id}"


@dataclass
class Channel:
    """A channel, a thread (with `parent`) or a direct-message channel (with `recipient`). `allows` is what the bot
    may do."""

    name: str
    id: int = field(default_factory=snowflake)
    guild: Guild | None = None
    type: int = TEXT
    allows: int = BOT_NEEDS
    parent: Channel | None = None
    owner: int = 0
    """Id of who started a thread."""
    locked: bool = False
    """Whether only moderators may write in the thread."""
    recipient: Member | None = None
    messages: dict[int, Message] = field(default_factory=dict)

    def seen(self, member: Member | None = None) -> list[Message]:
        """Returns the messages a member sees, oldest first; without a member, those everyone sees."""
        viewers = (None, member.id if member else None)
        return [message for message in self.messages.values() if message.viewer in viewers]


@dataclass
class Role:
    """A role of a server, and the ids of those who have it."""

    name: str
    position: int
    permissions: int = 0
    id: int = field(default_factory=snowflake)
    holders: set[int] = field(default_factory=set)


@dataclass
class Guild:
    """A server."""

    name: str
    id: int = field(default_factory=snowflake)
    channels: dict[int, Channel] = field(default_factory=dict)
    members: dict[int, Member] = field(default_factory=dict)
    admins: int = field(default_factory=snowflake)
    """The role of those who may manage the server."""
    roles: dict[int, Role] = field(default_factory=dict)
    """Roles besides those of everyone and of the admins."""
    owner: Member | None = None
    """The owner; if empty, the first admin."""
    installed: bool = True
    """Whether the bot is in it. In another one, people use the app who installed it for themselves."""
    joined: str = ""
    """When the bot was added; if empty, when the server was created."""
    added_by: Member | None = None
    """Who added the bot, according to the audit log; if empty, the bot may not read that log."""

    @property
    def owner_id(self) -> int:
        admins = (member for member in self.members.values() if member.permissions & MANAGE_GUILD)
        owner = self.owner or next(admins, None)
        return owner.id if owner else 1

    @property
    def joined_at(self) -> str:
        return self.joined or instant(self.id)

    def channel(self, name: str, allows: int = BOT_NEEDS) -> Channel:
        """Adds a channel."""
        made = Channel(name, guild=self, allows=allows)
        self.channels[made.id] = made
        return made

    def role(self, name: str, position: int, permissions: int = 0, *holders: int) -> Role:
        """Adds a role. A higher position is above a lower one."""
        made = Role(name, position, permissions, holders=set(holders))
        self.roles[made.id] = made
        return made

    def roles_of(self, holder: int) -> list[Role]:
        """Returns the roles of a member or of the bot."""
        return [role for role in self.roles.values() if holder in role.holders]

    def member(self, name: str, *, admin: bool = False) -> Member:
        """Adds a member."""
        made = Member(name)
        if admin:
            made.permissions |= MANAGE_GUILD
        self.members[made.id] = made
        return made


@dataclass
class Interaction:
    """Something a member did, with its responses. Times are monotonic."""

    type: int
    member: Member
    channel: Channel
    data: Json
    message: Message | None = None
    id: int = 0
    token: str = ""
    born: float = field(default_factory=monotonic)
    """Start of its three seconds."""
    token_born: float = field(default_factory=monotonic)
    """Start of its fifteen minutes."""
    answer: int | None = None
    """Type of its first response."""
    answered: float | None = None
    original: Message | None = None
    modal: Json | None = None
    choices: list[Json] | None = None
    followed_up: bool = False
    """Whether a follow-up was sent."""
    messages: list[Message] = field(default_factory=list)
    """All its messages, including the original."""
    shown: list[str] = field(default_factory=list)
    """What its responses showed, in order. A message may show something else by now: a later click on the same card
    replaces it."""

    @property
    def delay(self) -> float:
        """Seconds from the event to its first response."""
        assert self.answered is not None, "it was not answered"
        return self.answered - self.born

    @property
    def settled(self) -> bool:
        """Whether the member got more than an acknowledgement: a message, a modal or choices."""
        return self.answer not in (None, 5, 6) or self.followed_up


@dataclass
class World:
    """All state."""

    application: int = field(default_factory=snowflake)
    token: str = "the-token-of-the-double"
    guilds: dict[int, Guild] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    """Threads and direct-message channels; a server has its other channels."""
    interactions: dict[str, Interaction] = field(default_factory=dict)
    commands: dict[int, list[Json]] = field(default_factory=dict)
    """Commands by server; 0 for global ones."""

    def guild(self, name: str) -> Guild:
        """Adds a server with the bot in it."""
        made = Guild(name)
        self.guilds[made.id] = made
        return made

    def channel(self, identifier: int) -> Channel | None:
        """Returns a channel, thread or direct-message channel."""
        if found := self.channels.get(identifier):
            return found
        return next(
            (guild.channels[identifier] for guild in self.guilds.values() if identifier in guild.channels), None
        )

    def member(self, identifier: int) -> Member | None:
        """Returns a member of any server."""
        return next((guild.members[identifier] for guild in self.guilds.values() if identifier in guild.members), None)

    def threads(self, channel: Channel) -> list[Channel]:
        """Returns the threads of a channel."""
        return [thread for thread in self.channels.values() if thread.parent is channel]

    def direct(self, member: Member) -> Channel:
        """Returns the direct-message channel with a member, creating it if needed."""
        for channel in self.channels.values():
            if channel.recipient is member:
                return channel
        made = Channel(f"@{member.name}", type=DM, recipient=member)
        self.channels[made.id] = made
        return made

    def bot_user(self) -> Json:
        return {
            "id": str(self.application),
            "username": "dailygrad",
            "discriminator": "0000",
            "global_name": None,
            "avatar": None,
            "bot": True,
            "public_flags": 0,
            "flags": 0,
        }


def nested(component: Json) -> list[Json]:
    """Yields a component and its nested components."""
    inner = [*(component.get("components") or ()), *([component["component"]] if "component" in component else ())]
    return [component, *(part for child in inner for part in nested(child))]
