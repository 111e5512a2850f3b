"""Simulates members at their Discord clients: what they do and what they see.

Enforces the rules of the clients: members can only press buttons they see, type values that fit, and use registered
commands.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from secrets import token_urlsafe
from time import monotonic
from typing import Any, TypeVar

from tests.doubles.discord import checks
from tests.doubles.discord.interactions import AUTOCOMPLETE, COMMAND, COMPONENT, SUBMIT
from tests.doubles.discord.log import PATIENCE_S
from tests.doubles.discord.payloads import (
    channel_json,
    guild_json,
    interaction_json,
    member_json,
    message_json,
    role_json,
)
from tests.doubles.discord.server import Server
from tests.doubles.discord.world import (
    THREAD,
    Channel,
    Guild,
    Interaction,
    Json,
    Member,
    Message,
    Role,
    nested,
    snowflake,
)

T = TypeVar("T")
_OPTION_TYPES = {bool: 5, int: 4, float: 10, str: 3}
File = tuple[str, bytes]
"""Name and content of a file that a member uploads."""


class Impossible(AssertionError):
    """An action that no Discord client offers."""


class Discord(Server):
    """The complete double: the server and its members."""

    async def press(
        self, member: Member, message: Message, custom_id: str, *, values: tuple[str, ...] = (), age_s: float = 0.0
    ) -> Interaction:
        """Presses a button of a visible message or picks from a menu. `age_s` makes the event arrive late."""
        if message.viewer not in (None, member.id) or message.id not in message.channel.messages:
            raise Impossible(f"{member.name} does not see that message")
        part = next((part for part in message.parts if part.get("custom_id") == custom_id), None)
        if part is None or part.get("disabled"):
            raise Impossible(f"no {custom_id} to press in {message.buttons}")
        data: Json = {"custom_id": custom_id, "component_type": part["type"], "id": part.get("id", 1)}
        if part["type"] != 2:
            data["values"] = list(values)
        return await self._happens(Interaction(COMPONENT, member, message.channel, data, message), age_s)

    async def slash(
        self, member: Member, channel: Channel, /, *words: str, age_s: float = 0.0, **options: Any
    ) -> Interaction:
        """Uses a registered slash command: `slash(ann, daily, "quiz", "board", period="week")`."""
        if words[0] not in {command["name"] for command in self.offered(member, channel)}:
            raise Impossible(f"{member.name} is not offered /{words[0]}")
        given, uploaded = self._upload(options)
        people = {name: value for name, value in given.items() if isinstance(value, Member)}
        named = {name: str(value.id) if isinstance(value, Member) else value for name, value in given.items()}
        data = self._command_data(channel, words, named, uploaded, people=people)
        if uploaded:
            data["resolved"] = {"attachments": uploaded}
        if people:
            data["resolved"] = {**data.get("resolved", {}), **self._resolved(channel, people.values())}
        return await self._happens(Interaction(COMMAND, member, channel, data), age_s)

    async def autocomplete(
        self, member: Member, channel: Channel, /, *words: str, typing: str, **options: Any
    ) -> Interaction:
        """Types into the option `typing` of a slash command."""
        data = self._command_data(channel, words, options, partly=True)
        for option in _leaves(data):
            if option["name"] == typing:
                option["focused"] = True
        return await self._happens(Interaction(AUTOCOMPLETE, member, channel, data), 0.0)

    async def pick_command(self, member: Member, message: Message, name: str) -> Interaction:
        """Uses a command of a message's menu."""
        command = self._registered(message.channel, name, 3)
        data = {
            "id": command["id"],
            "name": name,
            "type": 3,
            "target_id": str(message.id),
            "resolved": {"messages": {str(message.id): message_json(message)}},
        }
        return await self._happens(Interaction(COMMAND, member, message.channel, data), 0.0)

    async def submit_modal(
        self, opened: Interaction, values: Mapping[str, str | Sequence[str] | File], *, age_s: float = 0.0
    ) -> Interaction:
        """Submits the modal of an interaction. Fields without a value keep their default."""
        if opened.modal is None:
            raise Impossible("no form was opened")
        given, uploaded = self._upload(values)
        filled = [_filled(component, given) for component in opened.modal["components"]]
        known = {part["custom_id"] for component in filled for part in nested(component) if "custom_id" in part}
        if set(values) - known:
            raise Impossible(f"no {set(values) - known} in the form: {known}")
        data = {"custom_id": opened.modal["custom_id"], "components": filled}
        if uploaded:
            data["resolved"] = {"attachments": uploaded}
        menus = [part for component in filled for part in nested(component) if part["type"] == 5]
        if guild := opened.channel.guild:
            chosen = [guild.members[int(value)] for menu in menus for value in menu["values"]]
            if chosen:
                data["resolved"] = {**data.get("resolved", {}), **self._resolved(opened.channel, chosen)}
        return await self._happens(Interaction(SUBMIT, opened.member, opened.channel, data, opened.message), age_s)

    async def says(self, member: Member, channel: Channel, content: str) -> Message:
        """Writes a message. Bots do not receive it without the message intent."""
        message = Message(channel, member.user(), {"content": content})
        channel.messages[message.id] = message
        return message

    async def joins(self, guild: Guild) -> None:
        """Adds the bot to a server. Only a server that was away says `unavailable`."""
        added = {name: value for name, value in guild_json(self.world, guild).items() if name != "unavailable"}
        await self.gateway.dispatch("GUILD_CREATE", added, guild.id)

    async def leaves(self, guild: Guild) -> None:
        """Removes the bot from a server."""
        await self.gateway.dispatch("GUILD_DELETE", {"id": str(guild.id)}, guild.id)

    async def permits(self, channel: Channel, allows: int) -> None:
        """Changes what the bot may do in a channel."""
        assert channel.guild
        channel.allows = allows
        await self.gateway.dispatch("CHANNEL_UPDATE", channel_json(channel), channel.guild.id)

    async def starts_thread(self, member: Member, channel: Channel, name: str) -> Channel:
        """Starts a thread without a message, or a post of a forum, and tells the bot."""
        assert channel.guild
        thread = Channel(name, guild=channel.guild, type=THREAD, parent=channel, owner=member.id)
        self.world.channels[thread.id] = thread
        await self.gateway.dispatch("THREAD_CREATE", {**channel_json(thread), "newly_created": True}, channel.guild.id)
        return thread

    async def changes_role(self, guild: Guild, role: Role) -> None:
        """Tells the bot of a role's new permissions or position."""
        await self.gateway.dispatch("GUILD_ROLE_UPDATE", {"guild_id": str(guild.id), "role": role_json(role)}, guild.id)

    async def opens(self, channel: Channel) -> None:
        """Tells the bot of a new channel."""
        assert channel.guild
        await self.gateway.dispatch("CHANNEL_CREATE", channel_json(channel), channel.guild.id)

    async def _happens(self, interaction: Interaction, age_s: float) -> Interaction:
        interaction.id, interaction.token = snowflake(age_s), token_urlsafe(48)
        interaction.born = interaction.token_born = monotonic() - age_s
        self.world.interactions[interaction.token] = interaction
        self.log.add(
            "interaction",
            interaction=interaction.id,
            type=interaction.type,
            member=interaction.member.id,
            custom_id=interaction.data.get("custom_id"),
        )
        await self.again(interaction)
        return interaction

    async def again(self, interaction: Interaction) -> None:
        """Delivers the interaction to every session, possibly again."""
        guild = interaction.channel.guild
        payload = interaction_json(self.world, interaction)
        await self.gateway.dispatch("INTERACTION_CREATE", payload, guild.id if guild else None)

    # Waiting

    async def until(self, condition: Callable[[], T | None], what: str, patience_s: float = PATIENCE_S) -> T:
        """Waits until the condition, checked after every log entry, returns something."""
        return await self.log.until(condition, what, patience_s)

    async def answered(self, interaction: Interaction) -> Interaction:
        """Waits for the first response."""
        await self.until(lambda: interaction.answer is not None, f"answered: {interaction.data}")
        return interaction

    async def settled(self, interaction: Interaction) -> Interaction:
        """Waits until the member has something to read or to fill in."""
        await self.until(lambda: interaction.settled, f"settled: {interaction.data}")
        return interaction

    async def connected(self, count: int = 1) -> None:
        """Waits until this many sessions are connected."""
        await self.until(lambda: self.gateway.listening >= count, f"{count} sessions listening")

    # Passing of time

    def age_tokens(self, seconds: float) -> None:
        """Makes every interaction token older."""
        for interaction in self.world.interactions.values():
            interaction.token_born -= seconds

    def forget_nonces(self) -> None:
        """Makes Discord forget nonces, as after a few minutes."""
        self.nonces.clear()

    # Commands

    def register(self, commands: list[Json]) -> None:
        """Registers commands, after checking them by Discord's rules."""
        route = "PUT /applications/{application_id}/commands"
        self.check([*checks.wrong_in_body(route, commands), *checks.wrong_in_commands(commands)])
        self.world.commands[0] = [{"id": str(snowflake()), "type": 1, **command} for command in commands]

    def _registered(self, channel: Channel, name: str, kind: int) -> Json:
        places = [0, channel.guild.id] if channel.guild else [0]
        for place in places:
            for command in self.world.commands.get(place, ()):
                if command["name"] == name and command.get("type", 1) == kind:
                    return command
        raise Impossible(f"/{name} is not registered")

    def offered(self, member: Member, channel: Channel, kind: int = 1) -> list[Json]:
        """Returns the commands that a member's client offers."""
        places = [0, channel.guild.id] if channel.guild else [0]
        commands = [command for place in places for command in self.world.commands.get(place, ())]
        return [
            command
            for command in commands
            if command.get("type", 1) == kind
            and (0 if channel.guild else 1) in command.get("contexts", (0, 1, 2))
            and not int(command.get("default_member_permissions") or 0) & ~member.permissions
        ]

    def _upload(self, given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Json]]:
        """Uploads files; returns the values with their ids instead, and the attachments by id."""
        kept, uploaded = dict(given), dict[str, Json]()
        for name, value in given.items():
            if isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], bytes):
                attachment = self.keep_file(*value)
                uploaded[attachment["id"]] = attachment
                kept[name] = attachment["id"]
        return kept, uploaded

    def _resolved(self, channel: Channel, people: Iterable[Member]) -> Json:
        """Returns the people whom the options of a command name, as Discord adds them: an option takes the id of any
        account, and those of strangers are no members."""
        found: Json = {"users": {}, "members": {}}
        assert channel.guild is not None, "commands are used in servers"
        for one in people:
            if one.id not in channel.guild.members:
                found["users"][str(one.id)] = one.user()
                continue
            member = member_json(channel.guild, one, permissions=True)
            found["users"][str(one.id)] = member.pop("user")
            found["members"][str(one.id)] = {k: v for k, v in member.items() if k not in ("deaf", "mute")}
        return found

    def _command_data(
        self,
        channel: Channel,
        words: tuple[str, ...],
        options: Mapping[str, Any],
        uploaded: Mapping[str, Json] | None = None,
        *,
        people: Collection[str] = (),
        partly: bool = False,
    ) -> Json:
        command = self._registered(channel, words[0], 1)
        level, chain = command, []
        for word in words[1:]:
            level = next((o for o in level.get("options", ()) if o["name"] == word and o["type"] in (1, 2)), {})
            if not level:
                raise Impossible(f"/{' '.join(words)} is not registered")
            chain.append((word, level["type"]))
        _fit(level, options, words, partly=partly)
        places = {one["name"]: one["type"] for one in level.get("options", ()) if one["type"] in (7, 8)}
        given = [
            {"name": name, "type": places.get(name, kind), "value": value}
            for name, value in options.items()
            for kind in [6 if name in people else 11 if value in (uploaded or {}) else _OPTION_TYPES[type(value)]]
        ]
        for word, kind in reversed(chain):
            given = [{"name": word, "type": kind, "options": given}]
        return {"id": command["id"], "name": words[0], "type": 1, "options": given}


def _fit(level: Json, options: Mapping[str, Any], words: tuple[str, ...], *, partly: bool) -> None:
    """Checks that the values fit the registered options and, once submitted, that required ones are present."""
    known = {option["name"]: option for option in level.get("options", ())}
    if any(option["type"] in (1, 2) for option in known.values()):
        raise Impossible(f"/{' '.join(words)} is a group: {sorted(known)}")
    if set(options) - set(known):
        raise Impossible(f"/{' '.join(words)} has no {set(options) - set(known)}")
    missing = {name for name, option in known.items() if option.get("required")} - set(options)
    if missing and not partly:
        raise Impossible(f"/{' '.join(words)} needs {missing}")
    for name, value in options.items():
        if not partly and not _suits(known[name], value):
            raise Impossible(f"/{' '.join(words)} does not take {value!r} as {name}")


def _suits(option: Json, value: Any) -> bool:
    kind = option["type"]
    if kind == 11 or kind in (6, 7, 8, 9):
        return isinstance(value, str)
    if _OPTION_TYPES[type(value)] != kind and not (kind == 10 and type(value) is int):
        return False
    if option.get("choices") and value not in [choice["value"] for choice in option["choices"]]:
        return False
    size = len(value) if kind == 3 else value
    least, most = ("min_length", "max_length") if kind == 3 else ("min_value", "max_value")
    return bool(kind == 5 or option.get(least, size) <= size <= option.get(most, size))


def _leaves(data: Json) -> list[Json]:
    found: list[Json] = []
    for option in data.get("options") or ():
        found += _leaves(option) if "options" in option else [option]
    return found


def _filled(component: Json, values: Mapping[str, Any]) -> Json:
    """Returns a component of a submitted modal."""
    found: Json = {"type": component["type"], "id": component.get("id", 1)}
    if "component" in component:
        return {**found, "component": _filled(component["component"], values)}
    if "components" in component:
        return {**found, "components": [_filled(child, values) for child in component["components"]]}
    if "custom_id" not in component:
        return found
    name = component["custom_id"]
    found["custom_id"] = name
    if component["type"] == 4:
        return {**found, "value": _typed(component, values.get(name, component.get("value", "")))}
    if component["type"] == 19:
        return {**found, "values": [value for value in (values.get(name),) if value]}
    picked = _picked(component, values.get(name))
    return {**found, "value": picked[0] if picked else None} if component["type"] == 21 else {**found, "values": picked}


def _typed(component: Json, value: object) -> str:
    if not isinstance(value, str) or len(value) > component.get("max_length", 4000):
        raise Impossible(f"{component['custom_id']} does not take {value!r}")
    if component.get("required", True) and not value:
        raise Impossible(f"{component['custom_id']} is required")
    return value


def _picked(component: Json, choice: str | Sequence[str] | None) -> list[str]:
    options = component.get("options") or []
    if component["type"] in (5, 6, 7, 8):
        preset = [one["id"] for one in component.get("default_values") or ()]
        return preset if choice is None else [choice] if isinstance(choice, str) else list(choice)
    if choice is None:
        return [option["value"] for option in options if option.get("default")]
    picked = [choice] if isinstance(choice, str) else list(choice)
    if set(picked) - {option["value"] for option in options}:
        raise Impossible(f"{component['custom_id']} does not offer {picked}")
    return picked
