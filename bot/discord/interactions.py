"""An interaction as an event: commands, presses, filled modals, picked messages. Pure; files are named, not fetched."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from bot.core.actions import BadAction, Import, decode, encode
from bot.core.command_spec import Argument, Spec, specs_of
from bot.core.events import Command, Event, Press, Sent, Submit
from bot.discord.modals import FILE
from bot.discord.render import SELECT, Pressed, read_custom_id
from service.wire import Where, Who

COMMAND, COMPONENT, COMPLETING, MODAL = 2, 3, 4, 5
"""The kinds of interaction: docs, interactions/receiving-and-responding."""
_TYPED, _ON_MESSAGE = 1, 3
_SUBCOMMAND, _GROUP, _ATTACHMENT = 1, 2, 11

LARGEST_CODE, LARGEST_DOCUMENT = 100_000, 5_000_000
"""Bytes of a program and of a document of questions that the service would take."""


@dataclass(frozen=True, slots=True)
class RawInteraction:
    """An interaction without the library. In a direct message `guild` is empty."""

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
    private: bool = False
    """Whether it came from a message of ours that this member alone sees, so that it can be replaced."""


@dataclass(frozen=True, slots=True)
class WantedFile:
    """A file to fetch, and the most bytes it may have."""

    name: str
    url: str
    size: int
    most: int


@dataclass(frozen=True, slots=True)
class Read:
    """What was done. `files` are to be fetched and handed to `with_files` before it is answered."""

    event: Command | Press | Submit | Sent
    files: tuple[WantedFile, ...] = ()
    opens: bool = False
    """Whether a form is to be opened however much of its question fits."""


def read_interaction(heard: RawInteraction, at: datetime) -> Read | None:
    """What was done; None for what is none of ours. In a direct message only a button of ours says the workspace."""
    if heard.kind == COMMAND:
        return _command(heard, at) if heard.data.get("type", _TYPED) == _TYPED else _picked_message(heard, at)
    if heard.kind not in (COMPONENT, MODAL):
        return None
    pressed = read_custom_id(str(heard.data.get("custom_id", "")))
    if not heard.guild:
        heard = replace(heard, guild=pressed.guild, channel=pressed.channel, channel_name="")
    return _component(heard, pressed, at) if heard.kind == COMPONENT else _modal(heard, pressed, at)


def member_of(heard: RawInteraction) -> Who:
    """Who did it, as the quiz knows them."""
    return Who(
        platform="discord",
        workspace=heard.guild,
        member=heard.member,
        name=heard.name.strip()[:80] or heard.member,
        admin=heard.admin,
    )


def _where(heard: RawInteraction) -> Where:
    return Where(channel=heard.channel, name=heard.channel_name[:200])


def event_id(heard: RawInteraction) -> str:
    """Discord's own id, which a second delivery bears too."""
    return f"discord:{heard.id}"


# Commands


def path_of(data: Mapping[str, Any]) -> tuple[tuple[str, ...], Sequence[Mapping[str, Any]]]:
    """The words that follow the command's name, and the options given to it."""
    path: list[str] = []
    options: Sequence[Mapping[str, Any]] = data.get("options") or ()
    while options and options[0].get("type") in (_SUBCOMMAND, _GROUP):
        path.append(str(options[0]["name"]))
        options = options[0].get("options") or ()
    return tuple(path), options


def spec_of(name: str, path: tuple[str, ...]) -> Spec | None:
    """The command of that path, unless it was withdrawn since Discord was told of it."""
    return next((spec for spec in specs_of(name) if spec.path == path), None)


def _command(heard: RawInteraction, at: datetime) -> Read:
    path, options = path_of(heard.data)
    name = str(heard.data.get("name", ""))
    spec = spec_of(name, path)
    given = {str(one["name"]): one.get("value") for one in options if one.get("type") != _ATTACHMENT}
    text = " ".join((*path, *(_arguments(spec, given) if spec else ())))
    files = _files(heard, [str(one.get("value")) for one in options if one.get("type") == _ATTACHMENT], path)
    command = Command(event_id(heard), at, member_of(heard), _where(heard), name, text)
    if not files:
        return Read(command)
    if path == ("answer",):
        return Read(Sent(command.id, at, command.who, command.where, ""), files)
    if path == ("bank", "import"):
        action = encode(Import("check" if given.get("check") else "apply"))
        return Read(Submit(command.id, at, command.who, command.where, action), files)
    return Read(command, files)


def _arguments(spec: Spec, given: Mapping[str, Any]) -> Iterator[str]:
    """The options as they would be typed, named; what takes the rest of the line comes last."""
    rest: list[str] = []
    for argument in spec.arguments:
        word = _word(argument, given.get(argument.name))
        if word and argument.kind.rest:
            # Where nothing before it is left out, all that is typed is its, a name and a colon too.
            first = all(one.name in given or one.named or one.kind.rest for one in spec.arguments)
            rest.append(word if first else f"{argument.name}:{word}")
        elif word:
            yield f"{argument.name}:{_quoted(word)}"
    yield from rest


def _word(argument: Argument, value: Any) -> str:
    """An option's value as a word: a yes or no as the argument says them."""
    if isinstance(value, bool):
        choices = argument.kind.choices
        return choices[0] if value else (choices[1] if len(choices) > 1 else "")
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value).strip() if value is not None else ""


def _quoted(word: str) -> str:
    bare = word.translate({ord(mark): "'" for mark in '"“”'})
    return f'"{bare}"' if any(character.isspace() for character in bare) or not bare.isprintable() else bare


# Messages


def _picked_message(heard: RawInteraction, at: datetime) -> Read | None:
    messages = (heard.data.get("resolved") or {}).get("messages") or {}
    message = messages.get(str(heard.data.get("target_id")))
    if message is None:
        return None
    programs = [one for one in message.get("attachments") or () if str(one.get("filename", "")).lower().endswith(".py")]
    event = Sent(event_id(heard), at, member_of(heard), _where(heard), str(message.get("content") or ""))
    return Read(event, tuple(_wanted(one, LARGEST_CODE) for one in programs))


# Buttons, menus and modals


def _component(heard: RawInteraction, pressed: Pressed, at: datetime) -> Read:
    who, where = member_of(heard), _where(heard)
    if heard.data.get("component_type") == SELECT:
        values = {"options": tuple(str(value) for value in heard.data.get("values") or ())}
        return Read(Submit(event_id(heard), at, who, where, pressed.action, values))
    return Read(Press(event_id(heard), at, who, where, pressed.action), opens=pressed.opens)


def _modal(heard: RawInteraction, pressed: Pressed, at: datetime) -> Read:
    filled: dict[str, tuple[str, ...]] = {}
    uploaded: dict[str, tuple[str, ...]] = {}
    for name, values in _leaves(heard.data.get("components") or ()):
        if name.endswith(FILE):
            uploaded[name] = values
        else:
            # Menus that share a field bear its name and a number.
            field_name = name.partition(":")[0]
            filled[field_name] = filled.get(field_name, ()) + values
    action = next(iter(filled.pop("action", ())), "") or pressed.action
    files = _files(heard, [one for values in uploaded.values() for one in values], _path_of_form(action))
    return Read(Submit(event_id(heard), at, member_of(heard), _where(heard), action, filled), files)


def _path_of_form(action: str) -> tuple[str, ...]:
    """The command that takes the same file."""
    try:
        return ("bank", "import") if isinstance(decode(action), Import) else ("answer",)
    except BadAction:
        return ("answer",)


def _leaves(components: Sequence[Mapping[str, Any]]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Name and values of every field, whatever it stands in."""
    for component in components:
        inner = [
            *(component.get("components") or ()),
            *([component["component"]] if component.get("component") else ()),
        ]
        yield from _leaves(inner)
        if "custom_id" in component:
            yield str(component["custom_id"]), _values(component)


def _values(component: Mapping[str, Any]) -> tuple[str, ...]:
    if "values" in component:
        return tuple(str(value) for value in component["values"] or ())
    value = component.get("value")
    return () if value is None else (str(value),)


# Files


def _files(heard: RawInteraction, ids: Sequence[str], path: tuple[str, ...]) -> tuple[WantedFile, ...]:
    attachments = (heard.data.get("resolved") or {}).get("attachments") or {}
    most = LARGEST_DOCUMENT if path == ("bank", "import") else LARGEST_CODE
    return tuple(_wanted(attachments[one], most) for one in ids if one in attachments)


def _wanted(attachment: Mapping[str, Any], most: int) -> WantedFile:
    name, url = str(attachment.get("filename") or "file"), str(attachment.get("url") or "")
    return WantedFile(name[:200], url, int(attachment.get("size") or 0), most)


def dumped(files: Sequence[WantedFile]) -> str:
    """Files as a text that can be kept."""
    return json.dumps([[one.name, one.url, one.size, one.most] for one in files])


def loaded(text: str) -> tuple[WantedFile, ...]:
    """The inverse of `dumped`."""
    return tuple(WantedFile(*one) for one in json.loads(text))


def with_files(event: Event, contents: Sequence[tuple[str, str]]) -> Event:
    """The event with name and text of each file that came with it, in the place where it is looked for."""
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
    """What was typed, without the fields that were left empty."""
    return {name: given for name, given in values.items() if any(part.strip() for part in given)}
