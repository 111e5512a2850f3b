"""Application commands: Discord's schema and limits, and the description of changes."""

from __future__ import annotations

import copy
import json
import re
from collections.abc import Iterator
from typing import Any

import pytest

from bot.core import argument_kinds
from bot.core.command_parser import read_command
from bot.core.command_spec import COMMANDS, specs_of
from bot.core.text.translations import LOCALES, SAME, translated, translations_of
from bot.discord.commands import application_commands, describe_changes, register_commands
from tests.bot.discord.simulated import Simulated
from tests.bot.rendering import discord_schema
from tests.doubles.discord.bodies import LANGUAGES
from tests.doubles.discord.checks import wrong_in_body, wrong_in_commands
from tests.doubles.discord.samples import COMMANDS as COMMANDS_ROUTE
from tests.external import needs_schemas

MOST_OPTIONS, MOST_CHARACTERS, NAME = 25, 8000, re.compile(r"[-_'\w]{1,32}")
"""Discord's limits: docs, interactions/application-commands. A name has no capitals."""
CHAT = [one for one in application_commands() if one["type"] == 1]


def options_of(command: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for option in command.get("options", ()):
        yield option
        yield from options_of(option)


def characters(command: dict[str, Any]) -> int:
    """Counts the characters limited to 8,000: names, descriptions and values of a command, its options and choices.
    Of a text and its translations, the longest counts."""
    own = sum(
        max(map(len, [str(command.get(key, "")), *command.get(f"{key}_localizations", {}).values()]))
        for key in ("name", "description", "value")
    )
    return own + sum(characters(part) for key in ("options", "choices") for part in command.get(key) or ())


def test_the_double_accepts_them() -> None:
    assert wrong_in_body(COMMANDS_ROUTE, application_commands(), second=False) == []
    assert wrong_in_commands(application_commands()) == []


@needs_schemas
def test_the_commands_match_discords_schema() -> None:
    for command in application_commands():
        discord_schema("ApplicationCommandUpdateRequest").validate(command)


@pytest.mark.parametrize("command", CHAT, ids=lambda one: one["name"])
def test_limits_beyond_the_schema_hold(command: dict[str, Any]) -> None:
    assert characters(command) <= MOST_CHARACTERS
    assert len(command["options"]) <= MOST_OPTIONS
    for part in (command, *options_of(command)):
        assert NAME.fullmatch(part["name"]) and part["name"] == part["name"].lower(), part["name"]
        assert 1 <= len(part["description"]) <= 100 and "`" not in part["description"], part
        inner = part.get("options", [])
        assert len(inner) <= MOST_OPTIONS
        assert len({one["name"] for one in inner}) == len(inner), part["name"]
        required = [bool(one.get("required")) for one in inner]
        assert required == sorted(required, reverse=True), f"{part['name']}: what is required comes first"
        assert not ("choices" in part and part.get("autocomplete")), part["name"]


def test_every_description_of_a_members_command_is_translated_within_discords_limits() -> None:
    quiz = next(one for one in CHAT if one["name"] == "quiz")
    shown = [quiz, *options_of(quiz)]
    assert {part["description"] for part in shown} == translated(), "no translation is missing or left over"
    for part in shown:
        texts = part["description_localizations"]
        assert set(texts) == {*LOCALES, *SAME} <= set(LANGUAGES)
        for locale, text in texts.items():
            assert 1 <= len(text) <= 100 and "`" not in text, (locale, text)
    assert characters(quiz) <= MOST_CHARACTERS


def test_words_to_type_are_not_translated() -> None:
    typed = [
        (word, text)
        for spec in specs_of("quiz")
        for argument in spec.arguments
        if argument.kind is not argument_kinds.SWITCH  # on Discord, it is true or false
        for word in argument.kind.choices
        if re.search(rf"\b{word}\b", argument.help)
        for text in translations_of(argument.help).values()
    ]
    assert len(typed) > 50
    assert [(word, text) for word, text in typed if word not in text] == []


def test_a_changed_translation_is_noticed() -> None:
    ours = application_commands()
    other = copy.deepcopy(as_discord_returns(ours))
    quiz = next(one for one in other if one["name"] == "quiz")
    quiz["options"][0]["description_localizations"]["ja"] = "…"
    assert describe_changes(other, ours) == ["changed /quiz"]


def test_every_command_is_registered_and_no_other() -> None:
    told: set[tuple[str, ...]] = set()
    for command in CHAT:
        for option in command["options"]:
            inner = option.get("options", []) if option["type"] == 2 else []
            told |= {(command["name"], option["name"], one["name"]) for one in inner} or {
                (command["name"], option["name"])
            }
    assert told == {(spec.name, *spec.path) for spec in COMMANDS}


def test_admin_commands_need_manage_server() -> None:
    by_name = {one["name"]: one for one in application_commands()}
    assert by_name["quiz-admin"]["default_member_permissions"] == 1 << 5
    assert "default_member_permissions" not in by_name["quiz"]
    assert {name: one["contexts"] for name, one in by_name.items()} == {
        "quiz": [0, 1, 2],
        "quiz-admin": [0],
        "Answer with this": [0],
    }


def test_required_options_match_required_arguments() -> None:
    adjust = next(spec for spec in COMMANDS if spec.path == ("member", "adjust"))
    admin = next(one for one in CHAT if one["name"] == "quiz-admin")
    option = next(one for part in admin["options"] for one in part.get("options", ()) if one["name"] == "adjust")
    assert [one["name"] for one in option["options"] if one.get("required")] == [
        argument.name for argument in adjust.arguments if argument.required
    ]
    assert read_command("quiz-admin", "member adjust name:Ada points:-5 reason").spec is adjust


def test_changes_are_described() -> None:
    ours = application_commands()
    assert describe_changes([], ours) == ["added /quiz", "added /quiz-admin", "added “Answer with this”"]
    assert describe_changes(as_discord_returns(ours), ours) == []
    other = copy.deepcopy(as_discord_returns(ours))
    other[0]["options"][0]["description"] = "Something else."
    del other[2]
    other.append({"type": 1, "name": "ping", "description": "Pong."})
    assert describe_changes(other, ours) == ["added “Answer with this”", "changed /quiz", "removed /ping"]


def as_discord_returns(commands: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Adds Discord's own fields, with numbers as strings."""
    returned: list[dict[str, Any]] = json.loads(json.dumps(commands))
    for number, command in enumerate(returned):
        command |= {
            "id": str(number),
            "version": "7",
            "nsfw": False,
            "dm_permission": False,
            "description": "",
        } | command
        permissions = command.get("default_member_permissions")
        command["default_member_permissions"] = None if permissions is None else str(permissions)
        for option in options_of(command):
            option.setdefault("required", False)
    return returned


async def test_registering_twice_changes_nothing(sim: Simulated) -> None:
    """The simulation has registered them once, and rejects unknown commands."""
    asked = len(sim.double.log.of("request"))
    assert await register_commands(sim.app.bot.http, str(sim.double.world.application)) == []
    routes = [entry["route"] for entry in sim.double.log.of("request")[asked:]]
    assert routes == ["GET /applications/{application_id}/commands"]
