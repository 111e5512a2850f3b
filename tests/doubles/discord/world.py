"""Servers, channels, members, messages and interactions as the double keeps them. State alone: no sockets, no rules."""

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
BOT_NEEDS = VIEW | SEND | EMBED | ATTACH | HISTORY | MAKE_THREADS | SEND_IN_THREADS
EPHEMERAL, LOADING, HAS_THREAD, V2 = 1 << 6, 1 << 7, 1 << 5, 1 << 15
TEXT, DM, THREAD = 0, 1, 11

_numbers = count()


def snowflake(age_s: float = 0.0) -> int:
    """A new id that tells the present instant, or one `age_s` before."""
    millis = int((time() - age_s) * 1000) - EPOCH_MS
    return millis << 22 | next(_numbers) & 0x3FFFFF


def instant(identifier: int) -> str:
    """When an id was made, as Discord writes instants."""
    return datetime.fromtimestamp((((identifier >> 22) + EPOCH_MS) / 1000), UTC).isoformat()


@dataclass
class Member:
    """A person. `closed` refuses direct messages."""

    name: str
    id: int = field(default_factory=snowflake)
    permissions: int = VIEW | SEND | HISTORY
    closed: bool = False

    def user(self) -> Json:
        return {
            "id": str(self.id),
            "username": self.name.lower(),
            "discriminator": "0",
            "global_name": self.name,
            "avatar": None,
            "public_flags": 0,
        }


@dataclass
class Message:
    """A message; with `viewer` only that member sees it."""

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
        """Whether it still says "is thinking"."""
        return bool(self.flags & LOADING)

    @property
    def texts(self) -> list[str]:
        """All that is read in it, in order."""
        found = [str(self.body["content"])] if self.body.get("content") else []
        return found + [part["content"] for part in self.parts if part["type"] == 10]

    @property
    def text(self) -> str:
        return "\n".join(self.texts)

    @property
    def parts(self) -> list[Json]:
        """Its components, nested ones too."""
        return [part for component in self.body.get("components") or () for part in nested(component)]

    @property
    def buttons(self) -> dict[str, str]:
        """Label to custom_id of what can be pressed."""
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
    """A channel, a thread (`parent` set) or a direct channel (`recipient` set). `allows` is what the bot may do."""

    name: str
    id: int = field(default_factory=snowflake)
    guild: Guild | None = None
    type: int = TEXT
    allows: int = BOT_NEEDS
    parent: Channel | None = None
    recipient: Member | None = None
    messages: dict[int, Message] = field(default_factory=dict)

    def seen(self, member: Member | None = None) -> list[Message]:
        """What a member sees of it, oldest first; without a member, what everybody sees."""
        viewers = (None, member.id if member else None)
        return [message for message in self.messages.values() if message.viewer in viewers]


@dataclass
class Guild:
    """A server."""

    name: str
    id: int = field(default_factory=snowflake)
    channels: dict[int, Channel] = field(default_factory=dict)
    members: dict[int, Member] = field(default_factory=dict)
    admins: int = field(default_factory=snowflake)
    """The role of those who may manage the server."""
    owner: Member | None = None
    """Without one, the first admin owns it."""
    joined: str = ""
    """When the bot was added; empty for the instant the server was made."""
    added_by: Member | None = None
    """Who added the bot, as the audit log tells; without one the bot may not read that log."""

    @property
    def owner_id(self) -> int:
        admins = (member for member in self.members.values() if member.permissions & MANAGE_GUILD)
        owner = self.owner or next(admins, None)
        return owner.id if owner else 1

    @property
    def joined_at(self) -> str:
        return self.joined or instant(self.id)

    def channel(self, name: str, allows: int = BOT_NEEDS) -> Channel:
        """Make a channel."""
        made = Channel(name, guild=self, allows=allows)
        self.channels[made.id] = made
        return made

    def member(self, name: str, *, admin: bool = False) -> Member:
        """Let somebody join."""
        made = Member(name)
        if admin:
            made.permissions |= MANAGE_GUILD
        self.members[made.id] = made
        return made


@dataclass
class Interaction:
    """Something a member did, and what became of it. Times are monotonic."""

    type: int
    member: Member
    channel: Channel
    data: Json
    message: Message | None = None
    id: int = 0
    token: str = ""
    born: float = field(default_factory=monotonic)
    """When its three seconds began."""
    token_born: float = field(default_factory=monotonic)
    """When its fifteen minutes began."""
    answer: int | None = None
    """The type of its first response."""
    answered: float | None = None
    original: Message | None = None
    modal: Json | None = None
    choices: list[Json] | None = None
    told: bool = False
    """Whether something was said after the first response."""
    said: list[Message] = field(default_factory=list)
    """Every message made for it, the original included."""

    @property
    def delay(self) -> float:
        """Seconds from the event to its first response."""
        assert self.answered is not None, "it was not answered"
        return self.answered - self.born

    @property
    def settled(self) -> bool:
        """Whether the member got more than an acknowledgement: something to read, a form or choices."""
        return self.answer not in (None, 5, 6) or self.told


@dataclass
class World:
    """All of it."""

    application: int = field(default_factory=snowflake)
    token: str = "the-token-of-the-double"
    guilds: dict[int, Guild] = field(default_factory=dict)
    channels: dict[int, Channel] = field(default_factory=dict)
    """Threads and direct channels; those of servers are found there."""
    interactions: dict[str, Interaction] = field(default_factory=dict)
    commands: dict[int, list[Json]] = field(default_factory=dict)
    """By server; 0 for the global ones."""

    def guild(self, name: str) -> Guild:
        """Make a server with the bot in it."""
        made = Guild(name)
        self.guilds[made.id] = made
        return made

    def channel(self, identifier: int) -> Channel | None:
        """A channel, thread or direct channel."""
        if found := self.channels.get(identifier):
            return found
        return next(
            (guild.channels[identifier] for guild in self.guilds.values() if identifier in guild.channels), None
        )

    def member(self, identifier: int) -> Member | None:
        """Somebody of any server."""
        return next((guild.members[identifier] for guild in self.guilds.values() if identifier in guild.members), None)

    def threads(self, channel: Channel) -> list[Channel]:
        """The threads of a channel."""
        return [thread for thread in self.channels.values() if thread.parent is channel]

    def direct(self, member: Member) -> Channel:
        """The direct channel with a member, made where there is none."""
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
    """A component and those within it."""
    inner = [*(component.get("components") or ()), *([component["component"]] if "component" in component else ())]
    return [component, *(part for child in inner for part in nested(child))]
