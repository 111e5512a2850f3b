"""Application commands: their registration with Discord, from the definition all chats share, and autocompletion."""

from __future__ import annotations

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from functools import cache
from typing import Any, Final
from zoneinfo import available_timezones

from bot.core import argument_kinds
from bot.core.command_spec import Argument, Spec, specs_of
from bot.core.limits import DISCORD
from bot.core.rendering import short
from bot.core.text.translations import translations_of
from bot.discord.library import HTTPClient, Route
from bot.discord.render import POSTED_TO
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.process import Clock
from service.wire import Who

_LOG = logging.getLogger(__name__)
Body = dict[str, Any]
Suggestion = tuple[str, str]
"""A suggestion: the text shown and the value it stands for."""
CHAT, MESSAGE = 1, 3
SUBCOMMAND, GROUP = 1, 2
_STRING, _INTEGER, _BOOLEAN, _USER, _CHANNEL, _ROLE = 3, 4, 5, 6, 7, 8
_ATTACHMENT = 11
_GUILD_ONLY: Final[Body] = {"contexts": [0], "integration_types": [0]}
_ANYWHERE: Final[Body] = {"contexts": [0, 1, 2], "integration_types": [0, 1]}
"""In servers, direct messages and, for people who installed the app for themselves, everywhere else."""
MANAGE_SERVER: Final = 1 << 5
ANSWER_WITH_THIS: Final = "Answer with this"
_DESCRIPTIONS = {"quiz": "The team's daily quiz.", "quiz-admin": "Schedules, banks, seasons and more of the quiz."}
_GROUP_HELP = {
    "schedule": "When and where questions are posted.",
    "sprint": "Live quizzes in a channel.",
    "tournament": "Tournaments of teams.",
    "season": "Seasons and their boards.",
    "bank": "The question bank.",
    "review": "Reported questions.",
    "member": "A member's streak and points.",
}
_LISTED = (
    argument_kinds.LEVEL,
    argument_kinds.KIND,
    argument_kinds.PERIOD,
    argument_kinds.PRIVACY,
    argument_kinds.GENERATED,
)
"""Arguments with a fixed list of choices. The others that have known values are autocompleted."""
_YES_OR_NO = (argument_kinds.SWITCH, argument_kinds.EVERYONE, argument_kinds.MINE)
_NUMBERS = (argument_kinds.NUMBER, argument_kinds.DAYS_BEFORE)
_COMPLETED = ("topic", "command", "schedule")
"""Names of arguments that are autocompleted although their kind lists no values."""
_FILE: Final[Body] = {"type": _ATTACHMENT, "name": "file"}
_CHECK: Final[Body] = {"type": _BOOLEAN, "name": "check", "description": "Check only the document and change nothing."}
_FILES: Final[Mapping[tuple[str, ...], Sequence[Body]]] = {
    ("answer",): [{**_FILE, "description": "Your answer as a .py file."}],
    ("run",): [{**_FILE, "description": "The program as a .py file."}],
    ("bank", "import"): [{**_FILE, "description": "The document, for example Markdown."}, _CHECK],
}
WITH_TRANSLATIONS: Final[Mapping[str, str]] = {"with_localizations": "true"}
"""Query of a request for the registered commands, which otherwise come without translations."""
_COMPARED_KEYS = (
    *("type", "name", "description", "description_localizations", "required", "autocomplete", "value"),
    *("channel_types", "contexts", "integration_types"),
)
# Discord asks again at every letter, so do not wait for a slow service.
_TIMEOUT_S = 1.0
_CACHE_LIFETIME = timedelta(minutes=2)
"""Time for which the suggestions of a workspace are cached."""
_MAX_WORKSPACES = 256
"""Workspaces whose suggestions are cached."""


def application_commands() -> list[Body]:
    """Returns all commands, as the body of Discord's bulk overwrite."""
    return [
        {**_translated(_chat_command("quiz")), **_ANYWHERE},
        {**_chat_command("quiz-admin"), **_GUILD_ONLY, "default_member_permissions": MANAGE_SERVER},
        {"type": MESSAGE, "name": ANSWER_WITH_THIS, **_GUILD_ONLY},
    ]


def _translated(command: Body) -> Body:
    """Returns a command, or an option of one, with the translations of its descriptions."""
    found = translations_of(command["description"])
    more: Body = {"description_localizations": found} if found else {}
    if command.get("options"):
        more["options"] = [_translated(option) for option in command["options"]]
    return {**command, **more}


def _chat_command(name: str) -> Body:
    return {"type": CHAT, "name": name, "description": _DESCRIPTIONS[name], "options": list(_branches(specs_of(name)))}


def _branches(specs: Sequence[Spec]) -> Iterator[Body]:
    """Yields a subcommand for each one-word command, and a group for those that share their first word."""
    heads = dict.fromkeys(spec.path[0] for spec in specs)
    for head in heads:
        within = [spec for spec in specs if spec.path[0] == head]
        if len(within) == 1 and within[0].path == (head,):
            yield _subcommand(within[0])
        else:
            description = _GROUP_HELP.get(head, f"{head.capitalize()}.")
            yield {
                "type": GROUP,
                "name": head,
                "description": description,
                "options": [_subcommand(spec) for spec in within if len(spec.path) == 2],
            }


def _subcommand(spec: Spec) -> Body:
    # Discord requires the required options first.
    arguments = sorted(spec.arguments, key=lambda argument: not argument.required)
    options = [*map(_option, arguments), *_FILES.get(spec.path, ())]
    return {
        "type": SUBCOMMAND,
        "name": spec.path[-1],
        "description": short(spec.help, DISCORD.command_description),
        **({"options": options} if options else {}),
    }


def _option(argument: Argument) -> Body:
    option: Body = {
        "type": _STRING,
        "name": argument.name,
        "description": short(argument.help, DISCORD.command_description),
    }
    if argument.required:
        option["required"] = True
    if argument.kind in _NUMBERS and argument.name != "schedule":
        option["type"] = _INTEGER
    elif argument.kind is argument_kinds.MEMBER:
        option["type"] = _USER
    elif argument.kind is argument_kinds.CHANNEL:
        option |= {"type": _CHANNEL, "channel_types": list(POSTED_TO)}
    elif argument.kind is argument_kinds.ROLE:
        option["type"] = _ROLE
    elif argument.kind in _YES_OR_NO:
        option["type"] = _BOOLEAN
    elif argument.kind in _LISTED:
        option["choices"] = [{"name": word, "value": word} for word in argument.kind.choices]
    elif argument.kind.choices or argument.name in _COMPLETED:
        option["autocomplete"] = True
    return option


async def fetch_commands(http: HTTPClient, application: str) -> list[Body]:
    """Returns the registered commands, with their ids and translations."""
    # The library's own call does not ask for the translations.
    route = Route("GET", "/applications/{application_id}/commands", application_id=application)
    return [dict(one) for one in await http.request(route, params=WITH_TRANSLATIONS)]


async def register_commands(http: HTTPClient, application: str) -> list[str]:
    """Registers the commands in one request; returns a line for each one added, changed or removed."""
    commands = application_commands()
    changed = describe_changes(await fetch_commands(http, application), commands)
    if changed:
        await http.bulk_upsert_global_commands(application, payload=commands)
    return changed


def describe_changes(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[str]:
    """Describes the differences between the registered commands and the new ones."""
    old, new = ({(one.get("type", CHAT), one["name"]): one for one in known} for known in (before, after))
    made = [f"added {_command_name(key)}" for key in new if key not in old]
    altered = [
        f"changed {_command_name(key)}" for key in new if key in old and _comparable(old[key]) != _comparable(new[key])
    ]
    return [*made, *altered, *(f"removed {_command_name(key)}" for key in old if key not in new)]


def _command_name(key: tuple[int, str]) -> str:
    return f"/{key[1]}" if key[0] == CHAT else f"“{key[1]}”"


def _comparable(command: Mapping[str, Any]) -> Body:
    """Returns the part of a command that we define, without what Discord adds."""
    core = {key: command[key] for key in _COMPARED_KEYS if command.get(key)}
    if command.get("default_member_permissions") is not None:
        core["default_member_permissions"] = int(command["default_member_permissions"])
    for key in ("options", "choices"):
        if command.get(key):
            core[key] = [_comparable(part) for part in command[key]]
    return core


# Autocompletion


class Autocompleter:
    """Suggests values for options. Caches each workspace's values for two minutes."""

    def __init__(self, client: ServiceClient, clock: Clock) -> None:
        self._client = client
        self._clock = clock
        _zones()  # load them now: they are read from many files
        self._cache: OrderedDict[tuple[str, str], tuple[datetime, list[Suggestion]]] = OrderedDict()

    async def suggest(self, who: Who, spec: Spec, argument: Argument, typed: str) -> list[Suggestion]:
        """Returns as many values as Discord shows that match what was typed."""
        known = [(word, word) for word in _known_values(spec, argument)] or await self._of_workspace(
            who, spec, argument
        )
        prefix = typed.strip().lower()
        begin = [one for one in known if one[0].lower().startswith(prefix)]
        hold = [one for one in known if prefix in one[0].lower() and one not in begin]
        most = DISCORD.suggestion
        found = [(shown[:most], value) for shown, value in (*begin, *hold) if 0 < len(value) <= most]
        return found[: DISCORD.suggestions]

    async def _of_workspace(self, who: Who, spec: Spec, argument: Argument) -> list[Suggestion]:
        ask = self._asking(who, spec, argument)
        if ask is None or not who.workspace:
            return []
        key = (who.workspace, argument.name)
        at, suggest = self._cache.get(key, (None, []))
        if at is not None and self._clock() - at < _CACHE_LIFETIME:
            return suggest
        try:
            async with asyncio.timeout(_TIMEOUT_S):
                suggest = await ask()
        except (TimeoutError, ServiceRefused, ServiceUnavailable) as error:
            _LOG.info("no suggestions for %s: %s", argument.name, error)
            return suggest
        self._cache[key] = (self._clock(), suggest)
        self._cache.move_to_end(key)
        while len(self._cache) > _MAX_WORKSPACES:
            self._cache.popitem(last=False)
        return suggest

    def _asking(self, who: Who, spec: Spec, argument: Argument) -> Callable[[], Awaitable[list[Suggestion]]] | None:
        if argument.name == "topic":
            return lambda: self._topics(who)
        if argument.name == "schedule" and who.admin:
            return lambda: self._schedules(who)
        return None

    async def _topics(self, who: Who) -> list[Suggestion]:
        return [(one.topic, one.topic) for one in await self._client.topics(who)]

    async def _schedules(self, who: Who) -> list[Suggestion]:
        return [
            (f"{one.id}: {one.channel_name or one.channel} at {one.spec.at:%H:%M}", str(one.id))
            for one in await self._client.schedule_list(who)
        ]


@cache
def _zones() -> tuple[str, ...]:
    return (*argument_kinds.ZONE.choices, *sorted(available_timezones() - set(argument_kinds.ZONE.choices)))


def _known_values(spec: Spec, argument: Argument) -> Sequence[str]:
    """Returns the known values of an argument, the likeliest first."""
    if argument.kind is argument_kinds.ZONE:
        return _zones()
    if argument.name == "command":
        return [" ".join(one.path) for one in specs_of(spec.name)]
    return argument.kind.choices
