"""The application commands Discord is told of, made of the one definition all chats share. Pure, but for `sync`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from discord.http import HTTPClient

from bot.core.commands import Argument, Spec, kinds, specs_of
from bot.core.looks import short

Body = dict[str, Any]

CHAT, MESSAGE = 1, 3
_SUBCOMMAND, _GROUP, _STRING, _INTEGER, _BOOLEAN, _ATTACHMENT = 1, 2, 3, 4, 5, 11
_GUILD_ONLY: Final[Body] = {"contexts": [0], "integration_types": [0]}
MANAGE_SERVER: Final = 1 << 5
ANSWER_WITH_THIS: Final = "Answer with this"

_DESCRIPTIONS = {"quiz": "The team's daily quiz.", "quiz-admin": "Schedules, banks, seasons and more of the quiz."}
_GROUP_HELP = {
    "schedule": "When and where questions are posted.",
    "season": "Seasons and their boards.",
    "bank": "The questions there are.",
    "review": "Questions that were reported.",
    "member": "One member's streak and points.",
}
# Few words of which one is meant: chosen from a list. What may be several, or more than the list, is completed.
_LISTED = (kinds.LEVEL, kinds.KIND, kinds.PERIOD, kinds.PRIVACY, kinds.GENERATED)
_YES_OR_NO = (kinds.SWITCH, kinds.EVERYONE)
_NUMBERS = (kinds.NUMBER, kinds.DAYS_BEFORE)
_COMPLETED = ("topic", "command", "schedule")
"""Arguments whose words are known, though their kind names none."""

_FILE: Final[Body] = {"type": _ATTACHMENT, "name": "file"}
_CHECK: Final[Body] = {"type": _BOOLEAN, "name": "check", "description": "Only check the document and change nothing."}
_FILES: Final[Mapping[tuple[str, ...], Sequence[Body]]] = {
    ("answer",): [{**_FILE, "description": "Your answer as a .py file."}],
    ("run",): [{**_FILE, "description": "The program as a .py file."}],
    ("bank", "import"): [{**_FILE, "description": "The document, for example Markdown."}, _CHECK],
}


def application_commands() -> list[Body]:
    """Every command, as the body of Discord's bulk overwrite."""
    return [
        {**_chat_command("quiz"), **_GUILD_ONLY},
        {**_chat_command("quiz-admin"), **_GUILD_ONLY, "default_member_permissions": MANAGE_SERVER},
        {"type": MESSAGE, "name": ANSWER_WITH_THIS, **_GUILD_ONLY},
    ]


def _chat_command(name: str) -> Body:
    return {"type": CHAT, "name": name, "description": _DESCRIPTIONS[name], "options": list(_branches(specs_of(name)))}


def _branches(specs: Sequence[Spec]) -> Iterator[Body]:
    """A subcommand for each command of one word, a group for those that share their first."""
    heads = dict.fromkeys(spec.path[0] for spec in specs)
    for head in heads:
        within = [spec for spec in specs if spec.path[0] == head]
        if len(within) == 1 and within[0].path == (head,):
            yield _subcommand(within[0])
        else:
            said = _GROUP_HELP.get(head, f"{head.capitalize()}.")
            yield {
                "type": _GROUP,
                "name": head,
                "description": said,
                "options": [_subcommand(spec) for spec in within if len(spec.path) == 2],
            }


def _subcommand(spec: Spec) -> Body:
    # Discord wants what is required first.
    arguments = sorted(spec.arguments, key=lambda argument: not argument.required)
    options = [*map(_option, arguments), *_FILES.get(spec.path, ())]
    return {
        "type": _SUBCOMMAND,
        "name": spec.path[-1],
        "description": short(spec.help, 100),
        **({"options": options} if options else {}),
    }


def _option(argument: Argument) -> Body:
    option: Body = {"type": _STRING, "name": argument.name, "description": short(argument.help, 100)}
    if argument.required:
        option["required"] = True
    if argument.kind in _NUMBERS and argument.name != "schedule":
        option["type"] = _INTEGER
    elif argument.kind in _YES_OR_NO:
        option["type"] = _BOOLEAN
    elif argument.kind in _LISTED:
        option["choices"] = [{"name": word, "value": word} for word in argument.kind.choices]
    elif argument.kind.choices or argument.name in _COMPLETED:
        option["autocomplete"] = True
    return option


async def sync(http: HTTPClient, application: str) -> list[str]:
    """Tell Discord of the commands, in one request; returns a line for each that is new, changed or gone."""
    before = await http.get_global_commands(application)
    commands = application_commands()
    changed = changes([dict(one) for one in before], commands)
    if changed:
        await http.bulk_upsert_global_commands(application, payload=commands)
    return changed


def changes(before: Sequence[Mapping[str, Any]], after: Sequence[Mapping[str, Any]]) -> list[str]:
    """What telling `after` changes where Discord knows `before`."""
    old, new = ({(one.get("type", CHAT), one["name"]): one for one in known} for known in (before, after))
    made = [f"added {_shown(key)}" for key in new if key not in old]
    altered = [f"changed {_shown(key)}" for key in new if key in old and _core(old[key]) != _core(new[key])]
    return [*made, *altered, *(f"removed {_shown(key)}" for key in old if key not in new)]


def _shown(key: tuple[int, str]) -> str:
    return f"/{key[1]}" if key[0] == CHAT else f"“{key[1]}”"


_CORE = ("type", "name", "description", "required", "autocomplete", "value", "contexts", "integration_types")


def _core(command: Mapping[str, Any]) -> Body:
    """What we say of a command, without what Discord adds to it."""
    core = {key: command[key] for key in _CORE if command.get(key)}
    if command.get("default_member_permissions") is not None:
        core["default_member_permissions"] = int(command["default_member_permissions"])
    for key in ("options", "choices"):
        if command.get(key):
            core[key] = [_core(part) for part in command[key]]
    return core
