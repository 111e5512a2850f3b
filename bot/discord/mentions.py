"""Clickable mentions of the bot's own commands, whose ids are known once they are registered."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Final

from bot.core.markup.discord import ROOM
from bot.core.markup.runs import units
from bot.discord.commands import CHAT, GROUP, SUBCOMMAND, application_commands

_FENCE: Final = "```"
_COMMAND: Final = re.compile(r"(?<![`*\\])(`|\*\*)/(?P<path>[a-z-]+(?: [a-z-]+)*)\1(?![`*])")
"""A command as text writes it, in a code span of its own, or as lists do, in bold."""


class CommandMentions:
    """The ids of the registered commands. Until they are known, texts keep the names."""

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}
        self._paths = frozenset(_paths(application_commands()))

    def learn(self, registered: Iterable[Mapping[str, Any]]) -> None:
        """Takes the ids from the registered commands, as Discord returns them."""
        self._ids = {str(one["name"]): str(one["id"]) for one in registered if one.get("type", CHAT) == CHAT}

    def apply(self, text: str) -> str:
        """Returns a rendered text with mentions in place of commands without further words.

        A text with a code block stays as it is, and so does one that would become too long.
        """
        if not self._ids or _FENCE in text:
            return text
        found = _COMMAND.sub(self._mention, text)
        return found if units(found) <= ROOM else text

    def _mention(self, found: re.Match[str]) -> str:
        path = found["path"]
        id_ = self._ids.get(path.partition(" ")[0])
        return f"</{path}:{id_}>" if id_ and path in self._paths else found[0]


def _paths(commands: Iterable[Mapping[str, Any]], before: str = "") -> Iterator[str]:
    """Yields what can be mentioned: commands, and the subcommands of those that have some."""
    for command in commands:
        if not before and command.get("type", CHAT) != CHAT:
            continue
        path = f"{before}{command['name']}"
        inner = [one for one in command.get("options", ()) if one["type"] in (SUBCOMMAND, GROUP)]
        if inner:
            yield from _paths(inner, f"{path} ")
        else:
            yield path
