"""Parses interactions as quiz events: commands, buttons, modals, picked messages. Pure: downloads no files."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass, replace
from datetime import datetime
from typing import Any

from bot.core.actions import BadAction, Import, decode, encode
from bot.core.command_spec import Argument, Spec, specs_of
from bot.core.duel_commands import mention
from bot.core.events import Command, Event, Press, Sent, Submit
from bot.discord.modals import FILE
from bot.discord.render import ROLES, SELECT, USERS, CustomId, parse_custom_id
from service.wire import Where, Who

COMMAND, COMPONENT, AUTOCOMPLETE, MODAL = 2, 3, 4, 5
"""Interaction types. Docs: interactions/receiving-and-responding."""
_TYPED = 1
"""Type of a command that was typed; others are picked in the menu of a message."""
_SUBCOMMAND, _GROUP, _USER, _CHANNEL, _ROLE, _ATTACHMENT = 1, 2, 6, 7, 8, 11
LARGEST_CODE, LARGEST_DOCUMENT = 100_000, 5_000_000
"""Largest program and largest question document the service accepts, bytes."""


@dataclass(frozen=True, slots=True)
class RawInteraction:
    """An interaction as plain data. In a direct message, `guild` is empty."""

    id: str
    token: str
    application: str
    kind: int
    data: Mapping[str, Any]
    guild: str
    channel: str
    channel_name: str
    member: str
    name: str
    admin: bool
    thread: str = ""
    """Id of the thread in the channel, unless the bot started it."""
    thread_name: str = ""
    private: bool = False
    """Whether it came from a message only this member sees, which can be replaced."""


@dataclass(frozen=True, slots=True)
class WantedFile:
    """A file to download; `most` is its largest allowed size, bytes. `for_admins`: only if an admin sent it."""

    name: str
    url: str
    size: int
    most: int
    for_admins: bool = False


@dataclass(frozen=True, slots=True)
class ParsedInteraction:
    """An event parsed from an interaction. Download `files` and pass them to `with_files` before answering it."""

    event: Command | Press | Submit | Sent
    files: tuple[WantedFile, ...] = ()
    opens: bool = False
    """Whether to open the modal even if the question does not fit in it."""


def parse_interaction(raw: RawInteraction, at: datetime) -> ParsedInteraction | None:
    """Parses an interaction; None if it is unknown. In a direct message, the button names the workspace."""
    if raw.kind == COMMAND:
        return _command(raw, at) if raw.data.get("type", _TYPED) == _TYPED else _picked_message(raw, at)
    if raw.kind not in (COMPONENT, MODAL):
        return None
    custom_id = parse_custom_id(str(raw.data.get("custom_id", "")))
    if not raw.guild:
        raw = replace(raw, guild=custom_id.guild, channel=custom_id.channel, channel_name="", thread="")
    return _component(raw, custom_id, at) if raw.kind == COMPONENT else _modal(raw, custom_id, at)


def member_of(raw: RawInteraction) -> Who:
    """Returns the member who did it."""
    return Who(
        platform="discord",
        workspace=raw.guild,
        member=raw.member,
        name=raw.name.strip()[:80] or raw.member,
        admin=raw.admin,
    )


def _where(raw: RawInteraction) -> Where:
    return Where(channel=raw.channel, name=raw.channel_name[:200], thread=raw.thread, thread_name=raw.thread_name[:200])


def event_id(raw: RawInteraction) -> str:
    """Returns an id that a repeated delivery shares."""
    return f"discord:{raw.id}"


def path_of(data: Mapping[str, Any]) -> tuple[tuple[str, ...], Sequence[Mapping[str, Any]]]:
    """Returns the words after the command's name, and its options."""
    path: list[str] = []
    options: Sequence[Mapping[str, Any]] = data.get("options") or ()
    while options and options[0].get("type") in (_SUBCOMMAND, _GROUP):
        path.append(str(options[0]["name"]))
        options = options[0].get("options") or ()
    return tuple(path), options


def spec_of(name: str, path: tuple[str, ...]) -> Spec | None:
    """Returns the command at that path; None if it no longer exists."""
    return next((spec for spec in specs_of(name) if spec.path == path), None)


def _command(raw: RawInteraction, at: datetime) -> ParsedInteraction:
    path, options = path_of(raw.data)
    name = str(raw.data.get("name", ""))
    spec = spec_of(name, path)
    given = {str(one["name"]): _given(raw, one) for one in options if one.get("type") != _ATTACHMENT}
    text = " ".join((*path, *(_arguments(spec, given) if spec else ())))
    files = _files(raw, [str(one.get("value")) for one in options if one.get("type") == _ATTACHMENT], path)
    command = Command(event_id(raw), at, member_of(raw), _where(raw), name, text)
    if not files:
        return ParsedInteraction(command)
    if path == ("answer",):
        return ParsedInteraction(Sent(command.id, at, command.who, command.where, ""), files)
    if path == ("bank", "import"):
        action = encode(Import("check" if given.get("check") else "apply"))
        return ParsedInteraction(Submit(command.id, at, command.who, command.where, action), files)
    return ParsedInteraction(command, files)


def _given(raw: RawInteraction, option: Mapping[str, Any]) -> Any:
    """Returns an option's value; a member or channel as typed text, and the role `@everyone` as none."""
    value = option.get("value")
    if option.get("type") == _USER:
        return _mentioned(raw, str(value))
    if option.get("type") == _CHANNEL:
        return f"<#{value}>"
    return "none" if option.get("type") == _ROLE and value == raw.guild else value


def _mentioned(raw: RawInteraction, member: str) -> str:
    """Returns the member whom an option names, as typed text. A bot is named only, so it is not found in the quiz.

    Discord accepts the id of any account. Only that of a member gets a name, by which the quiz knows that it is one.
    """
    resolved = raw.data.get("resolved") or {}
    user = (resolved.get("users") or {}).get(member) or {}
    here = (resolved.get("members") or {}).get(member)
    nick = (here or {}).get("nick")
    name = str(nick or user.get("global_name") or user.get("username") or member).strip()[:80] or member
    return name if user.get("bot") else mention(member, "" if here is None else name)


def _arguments(spec: Spec, given: Mapping[str, Any]) -> Iterator[str]:
    """Yields the options as they would be typed, by name; the one that takes the rest of the line comes last."""
    rest: list[str] = []
    for argument in spec.arguments:
        word = _word(argument, given.get(argument.name))
        if word and argument.kind.rest:
            # If no option before it is missing, it needs no name: everything typed belongs to it.
            first = all(one.name in given or one.named or one.kind.rest for one in spec.arguments)
            rest.append(word if first else f"{argument.name}:{word}")
        elif word:
            yield f"{argument.name}:{_quoted(word)}"
    yield from rest


def _word(argument: Argument, value: Any) -> str:
    """Returns an option's value as typed text; booleans as the argument's own words."""
    if isinstance(value, bool):
        choices = argument.kind.choices
        return choices[0] if value else (choices[1] if len(choices) > 1 else "")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip() if value is not None else ""


def _quoted(word: str) -> str:
    bare = word.translate({ord(mark): "'" for mark in '"“”'})
    return f'"{bare}"' if any(character.isspace() for character in bare) or not bare.isprintable() else bare


def _picked_message(raw: RawInteraction, at: datetime) -> ParsedInteraction | None:
    messages = (raw.data.get("resolved") or {}).get("messages") or {}
    message = messages.get(str(raw.data.get("target_id")))
    if message is None:
        return None
    programs = [one for one in message.get("attachments") or () if str(one.get("filename", "")).lower().endswith(".py")]
    event = Sent(event_id(raw), at, member_of(raw), _where(raw), str(message.get("content") or ""))
    return ParsedInteraction(event, tuple(_wanted_file(one, LARGEST_CODE) for one in programs))


def _component(raw: RawInteraction, custom_id: CustomId, at: datetime) -> ParsedInteraction:
    who, where = member_of(raw), _where(raw)
    if raw.data.get("component_type") == SELECT:
        values = {"options": tuple(str(value) for value in raw.data.get("values") or ())}
        return ParsedInteraction(Submit(event_id(raw), at, who, where, custom_id.action, values))
    return ParsedInteraction(Press(event_id(raw), at, who, where, custom_id.action), opens=custom_id.opens)


def _modal(raw: RawInteraction, custom_id: CustomId, at: datetime) -> ParsedInteraction:
    filled: dict[str, tuple[str, ...]] = {}
    uploaded: dict[str, tuple[str, ...]] = {}
    for name, values in _field_values(raw, raw.data.get("components") or ()):
        if name.endswith(FILE):
            uploaded[name] = values
        else:
            # Menus that share a field have its name and a number.
            field_name = name.partition(":")[0]
            filled[field_name] = filled.get(field_name, ()) + values
    action = next(iter(filled.pop("action", ())), "") or custom_id.action
    files = _files(raw, [one for values in uploaded.values() for one in values], _path_of_form(action))
    return ParsedInteraction(Submit(event_id(raw), at, member_of(raw), _where(raw), action, filled), files)


def _path_of_form(action: str) -> tuple[str, ...]:
    """Returns the command that accepts the same file."""
    try:
        return ("bank", "import") if isinstance(decode(action), Import) else ("answer",)
    except BadAction:
        return ("answer",)


def _field_values(
    raw: RawInteraction, components: Sequence[Mapping[str, Any]]
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yields the name and values of every field, at any depth."""
    for component in components:
        inner = [
            *(component.get("components") or ()),
            *([component["component"]] if component.get("component") else ()),
        ]
        yield from _field_values(raw, inner)
        if "custom_id" in component:
            yield str(component["custom_id"]), _values(raw, component)


def _values(raw: RawInteraction, component: Mapping[str, Any]) -> tuple[str, ...]:
    if "values" in component:
        values = tuple(str(value) for value in component["values"] or ())
        if component.get("type") == USERS:
            return tuple(_mentioned(raw, value) for value in values)
        # The role @everyone counts as no role.
        return tuple(value for value in values if component.get("type") != ROLES or value != raw.guild)
    value = component.get("value")
    return () if value is None else (str(value),)


def _files(raw: RawInteraction, ids: Sequence[str], path: tuple[str, ...]) -> tuple[WantedFile, ...]:
    attachments = (raw.data.get("resolved") or {}).get("attachments") or {}
    imported = path == ("bank", "import")
    most = LARGEST_DOCUMENT if imported else LARGEST_CODE
    return tuple(_wanted_file(attachments[one], most, imported) for one in ids if one in attachments)


def _wanted_file(attachment: Mapping[str, Any], most: int, for_admins: bool = False) -> WantedFile:
    name, url = str(attachment.get("filename") or "file"), str(attachment.get("url") or "")
    return WantedFile(name[:200], url, int(attachment.get("size") or 0), most, for_admins)


def dump_files(files: Sequence[WantedFile]) -> str:
    """Serializes files for the journal."""
    return json.dumps([astuple(one) for one in files])


def load_files(text: str) -> tuple[WantedFile, ...]:
    """Restores files from the journal."""
    return tuple(WantedFile(*one) for one in json.loads(text))


def with_files(event: Event, contents: Sequence[tuple[str, str]]) -> Event:
    """Returns the event with the names and texts of its files filled in."""
    if not contents:
        return event
    name, text = contents[0]
    match event:
        case Sent():
            return replace(event, files=tuple(contents))
        case Command():
            return replace(event, text=f"{event.text.partition(' ')[0]} {text}")
        case Submit() if _path_of_form(event.action) == ("bank", "import"):
            return replace(event, values={"name": (name,), **_named(event.values), "text": (text,)})
        case Submit():
            return replace(event, values={**event.values, "code": (text,)})
        case _:
            return event


def _named(values: Mapping[str, tuple[str, ...]]) -> dict[str, tuple[str, ...]]:
    """Returns the fields that are not empty."""
    return {name: given for name, given in values.items() if any(part.strip() for part in given)}
