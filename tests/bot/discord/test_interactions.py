"""Parsing of interactions: every option of every command arrives as it was given."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core import actions, argument_kinds
from bot.core.actions import Import, encode
from bot.core.command_parser import read_command
from bot.core.command_spec import COMMANDS, Spec
from bot.core.events import Command, Press, Sent, Submit
from bot.discord.interactions import (
    LARGEST_CODE,
    LARGEST_DOCUMENT,
    ParsedInteraction,
    RawInteraction,
    dump_files,
    load_files,
    parse_interaction,
    with_files,
)
from bot.discord.render import id_in_server, opening_id

NOW = datetime(2026, 3, 2, 8, tzinfo=UTC)
FILE = {"filename": "a.py", "url": "https://cdn.example/a.py", "size": 7}


def heard(kind: int, data: dict[str, Any], **more: Any) -> RawInteraction:
    known: dict[str, Any] = {
        "id": "900",
        "token": "t",
        "application": "1",
        "guild": "77",
        "channel": "5",
        "channel_name": "#daily",
        "member": "8",
        "name": "Ada",
        "admin": False,
    }
    return RawInteraction(kind=kind, data=data, **{**known, **more})


def read(kind: int, data: dict[str, Any], **more: Any) -> ParsedInteraction:
    found = parse_interaction(heard(kind, data, **more), NOW)
    assert found is not None
    return found


def typed(spec: Spec, options: dict[str, Any]) -> Command:
    """Returns the parsed slash command with these options."""
    given = [{"name": name, "type": 3, "value": value} for name, value in options.items()]
    inner: list[dict[str, Any]] = given
    for word in reversed(spec.path):
        inner = [{"name": word, "type": 1, "options": inner}]
    event = read(2, {"name": spec.name, "type": 1, "options": inner}).event
    assert isinstance(event, Command)
    return event


@pytest.mark.parametrize("spec", COMMANDS, ids=lambda spec: spec.words[1:])
def test_every_option_is_parsed(spec: Spec) -> None:
    given: dict[str, Any] = {}
    wanted: dict[str, Any] = {}
    for argument in spec.arguments:
        if argument.kind in (argument_kinds.SWITCH, argument_kinds.EVERYONE):
            given[argument.name] = True
        elif argument.kind in (argument_kinds.NUMBER, argument_kinds.DAYS_BEFORE):
            given[argument.name] = -7
        elif argument.kind.rest:
            given[argument.name] = "the “rest”: all of it"
        else:
            given[argument.name] = argument.kind.example
        wanted[argument.name] = (
            argument.kind.read("all" if given[argument.name] is True else str(given[argument.name]))
            if (argument.kind is not argument_kinds.SWITCH)
            else True
        )
    event = typed(spec, given)
    said = read_command(event.name, event.text)
    assert said.spec is spec
    assert dict(said.values) == wanted


WORDS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=80).filter(
    lambda text: text.strip() == text and not set(text) & set('"“”') and bool(text)
)


@given(WORDS, WORDS)
def test_any_text_is_preserved(topic: str, text: str) -> None:
    report = next(spec for spec in COMMANDS if spec.path == ("report",))
    said = read_command("quiz", typed(report, {"id": topic, "text": text}).text)
    assert dict(said.values) == {"id": topic, "text": text}
    alone = read_command("quiz", typed(report, {"text": text}).text)
    assert dict(alone.values) == {"text": text}


def test_the_member_and_the_channel_are_parsed() -> None:
    event = read(3, {"custom_id": "a:r1", "component_type": 2}, admin=True).event
    assert event == Press("discord:900", NOW, event.who, event.where, "a:r1")
    assert (event.who.platform, event.who.workspace, event.who.member, event.who.admin) == ("discord", "77", "8", True)
    assert (event.where.channel, event.where.name) == ("5", "#daily")


def test_a_name_is_never_empty() -> None:
    assert read(3, {"custom_id": "a:r1", "component_type": 2}, name="  ").event.who.name == "8"
    assert len(read(3, {"custom_id": "a:r1", "component_type": 2}, name="x" * 300).event.who.name) == 80


def test_a_button_in_a_direct_message_names_its_server() -> None:
    there = read(
        3, {"custom_id": id_in_server("a:r1", "123456789012345678", "42"), "component_type": 2}, guild="", channel=""
    )
    assert isinstance(there.event, Press)
    assert (there.event.who.workspace, there.event.where.channel) == ("123456789012345678", "42")
    assert there.event.action == "a:r1"
    nowhere = read(3, {"custom_id": "a:r1", "component_type": 2}, guild="", channel="")
    assert nowhere.event.who.workspace == ""
    # In a server a button cannot say that it is of another.
    forged = read(3, {"custom_id": id_in_server("a:r1", "9"), "component_type": 2})
    assert forged.event.who.workspace == "77"


def test_a_button_may_force_the_modal() -> None:
    found = read(3, {"custom_id": opening_id("f:r1"), "component_type": 2})
    assert found.opens and isinstance(found.event, Press) and found.event.action == "f:r1"


def test_a_select_menu_submits_a_form() -> None:
    event = read(3, {"custom_id": "f:r1", "component_type": 3, "values": ["a", "b"]}).event
    assert isinstance(event, Submit) and event.values == {"options": ("a", "b")}


def modal(*fields: dict[str, Any], custom_id: str = "f:r1", **resolved: Any) -> dict[str, Any]:
    components = [{"type": 18, "id": number, "component": field} for number, field in enumerate(fields)]
    return {"custom_id": custom_id, "components": [{"type": 10, "id": 99}, *components], "resolved": resolved}


def test_all_kinds_of_fields_are_parsed() -> None:
    data = modal(
        {"type": 4, "custom_id": "text", "value": "x\n\ty"},
        {"type": 22, "custom_id": "options", "values": ["a"]},
        {"type": 3, "custom_id": "options:2", "values": ["k", "l"]},
        {"type": 21, "custom_id": "one", "value": None},
    )
    event = read(5, data).event
    assert isinstance(event, Submit)
    assert event.values == {"text": ("x\n\ty",), "options": ("a", "k", "l"), "one": ()}
    assert event.action == "f:r1"


def test_the_action_field_is_the_action() -> None:
    event = read(
        5, modal({"type": 4, "custom_id": "code", "value": "x"}, {"type": 21, "custom_id": "action", "value": "x:r1"})
    )
    assert isinstance(event.event, Submit)
    assert event.event.action == "x:r1" and "action" not in event.event.values


def test_an_uploaded_file_fills_its_field() -> None:
    data = modal(
        {"type": 4, "custom_id": "code", "value": ""},
        {"type": 19, "custom_id": "code:file", "values": ["1"]},
        attachments={"1": FILE},
    )
    found = read(5, data)
    assert [(one.name, one.most) for one in found.files] == [("a.py", LARGEST_CODE)]
    filled = with_files(found.event, [("a.py", "x = 1")])
    assert isinstance(filled, Submit) and filled.values == {"code": ("x = 1",)}


def test_an_uploaded_document_is_imported() -> None:
    options = [
        {
            "name": "bank",
            "type": 2,
            "options": [{"name": "import", "type": 1, "options": [{"name": "file", "type": 11, "value": "1"}]}],
        }
    ]
    data = {
        "name": "quiz-admin",
        "type": 1,
        "options": options,
        "resolved": {"attachments": {"1": {**FILE, "filename": "b.md"}}},
    }
    found = read(2, data)
    assert [one.most for one in found.files] == [LARGEST_DOCUMENT]
    event = with_files(found.event, [("b.md", "# b")])
    assert isinstance(event, Submit)
    assert event.action == encode(Import("apply")) and event.values == {"name": ("b.md",), "text": ("# b",)}
    options[0]["options"][0]["options"].append({"name": "check", "type": 5, "value": True})  # type: ignore[index]
    checked = read(2, data).event
    assert isinstance(checked, Submit) and actions.decode(checked.action) == Import("check")


def test_an_import_modal_keeps_the_typed_name() -> None:
    action = encode(Import("apply"))
    data = modal(
        {"type": 4, "custom_id": "name", "value": "mine.md"},
        {"type": 4, "custom_id": "text", "value": " "},
        {"type": 19, "custom_id": "text:file", "values": ["1"]},
        custom_id=action,
        attachments={"1": {**FILE, "filename": "b.md"}},
    )
    event = with_files(read(5, data).event, [("b.md", "# b")])
    assert isinstance(event, Submit) and event.values == {"name": ("mine.md",), "text": ("# b",)}


def test_a_picked_message_is_parsed() -> None:
    message = {"content": "```py\nx\n```", "attachments": [FILE, {**FILE, "filename": "a.png"}]}
    found = read(2, {"type": 3, "name": "Answer with this", "target_id": "4", "resolved": {"messages": {"4": message}}})
    assert isinstance(found.event, Sent) and found.event.text == "```py\nx\n```"
    assert [one.name for one in found.files] == ["a.py"]
    assert parse_interaction(heard(2, {"type": 3, "name": "Answer with this", "target_id": "4"}), NOW) is None


def test_an_uploaded_program_is_run() -> None:
    options = [{"name": "run", "type": 1, "options": [{"name": "file", "type": 11, "value": "1"}]}]
    found = read(2, {"name": "quiz", "type": 1, "options": options, "resolved": {"attachments": {"1": FILE}}})
    event = with_files(found.event, [("a.py", "x: int = 1\nprint(x)\n")])
    assert isinstance(event, Command)
    assert read_command("quiz", event.text).values == {"code": "x: int = 1\nprint(x)"}


def test_files_survive_the_journal() -> None:
    data = modal({"type": 19, "custom_id": "code:file", "values": ["1"]}, attachments={"1": FILE})
    files = read(5, data).files
    assert load_files(dump_files(files)) == files


def test_unknown_interactions_are_ignored() -> None:
    assert parse_interaction(heard(1, {}), NOW) is None
