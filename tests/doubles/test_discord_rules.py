"""The double's tables accept what Discord documents and reject the rest, without the OpenAPI specification."""

from __future__ import annotations

from typing import Any

import pytest

from tests.doubles.discord import api_schema
from tests.doubles.discord.bodies import BODIES, COMPONENTS
from tests.doubles.discord.checks import wrong_in_body, wrong_in_commands, wrong_in_message, wrong_in_modal
from tests.doubles.discord.samples import (
    BODIES as SAMPLES,
)
from tests.doubles.discord.samples import (
    BUTTON,
    COMMAND,
    COMMANDS,
    DIRECT,
    EMBED,
    FIELDS,
    FILE,
    FOLLOW_UP,
    GALLERY,
    LABELS,
    LAYOUT,
    LINK,
    MEDIA,
    MESSAGE,
    OPTION,
    OPTIONS,
    RESPONSE,
    SECTION,
    SELECT,
    THREAD,
    THUMBNAIL,
    V2,
    WORDS,
    modal,
)
from tests.doubles.discord.server import ENDPOINTS
from tests.doubles.discord.world import nested
from tests.doubles.mutations import mutations_of
from tests.external import needs_schemas

Json = dict[str, Any]


def row(*parts: Json) -> Json:
    return {"type": 1, "components": list(parts)}


def numbered(count: int, part: Json = BUTTON) -> list[Json]:
    return [{**part, "id": place + 1, "custom_id": f"{place}"} for place in range(count)]


def v2(*parts: Json) -> Json:
    return {"flags": V2, "components": list(parts)}


def without(part: Json, *names: str) -> Json:
    return {name: value for name, value in part.items() if name not in names}


def field(part: Json, **changed: Any) -> Json:
    return modal({**LABELS[0], "component": {**part, **changed}})


def option(**changed: Any) -> list[Json]:
    return [{**COMMAND, "options": [{"type": 3, "name": "a", "description": "b", **changed}]}]


LONG_CHOICES = [{"name": f"{n:02}" + "x" * 98, "value": "y" * 100} for n in range(25)]
LONG = {
    **COMMAND,
    "options": [{"type": 3, "name": name, "description": "x", "choices": LONG_CHOICES} for name in ("a", "b")],
}


def refused(route: str, body: Any) -> bool:
    """Returns whether the double rejects a body by its own tables and rules."""
    if wrong_in_body(route, body, second=False):
        return True
    if route == RESPONSE and body["type"] == 9:
        return bool(wrong_in_modal(body["data"]))
    if route == COMMANDS:
        return bool(wrong_in_commands(body))
    return route == MESSAGE and bool(wrong_in_message(body, files={}))


REFUSED_MESSAGES: dict[str, Json] = {
    "2,001 characters": {"content": "x" * 2001},
    "2,001 characters outside the plane": {"content": "😀" * 1001},
    "a nonce of 26 characters": {"content": "x", "nonce": "x" * 26},
    "an unknown field": {"content": "x", "color": "red"},
    "a number as content": {"content": 5},
    "a row of six": {"components": [row(*numbered(6))]},
    "six rows": {"components": [row(part) for part in numbered(6)]},
    "an empty row": {"components": [row()]},
    "a button and a menu in a row": {"components": [row(BUTTON, SELECT)]},
    "a button outside a row": {"components": [BUTTON]},
    "a custom_id twice": {"components": [row(BUTTON), row(without(BUTTON, "id"))]},
    "an id twice": {"components": [row(BUTTON, {**BUTTON, "custom_id": "b"})]},
    "a label of 81 characters": {"components": [row({**BUTTON, "label": "x" * 81})]},
    "a button that says nothing": {"components": [row(without(BUTTON, "label", "emoji"))]},
    "a custom_id of 101 characters": {"components": [row({**BUTTON, "custom_id": "x" * 101})]},
    "a button without a custom_id": {"components": [row(without(BUTTON, "custom_id"))]},
    "a button with an address and a custom_id": {"components": [row({**LINK, "custom_id": "a"})]},
    "a link without an address": {"components": [row(without(LINK, "url"))]},
    "a style of 7": {"components": [row({**BUTTON, "style": 7})]},
    "26 options": {"components": [row({**SELECT, "options": [{**OPTION, "value": str(n)} for n in range(26)]})]},
    "a menu without options": {"components": [row({**SELECT, "options": []})]},
    "an option twice": {"components": [row({**SELECT, "options": [OPTIONS[1], OPTIONS[1]]})]},
    "an option of 101 characters": {"components": [row({**SELECT, "options": [{**OPTION, "label": "x" * 101}]})]},
    "a hint of 151 characters": {"components": [row({**SELECT, "placeholder": "x" * 151})]},
    "an unknown component": v2({"type": 99}),
    "a component that is not for messages": v2(LABELS[0]),
    "a text field": v2(row(FIELDS[0])),
    "V2 without its flag": {"components": [WORDS]},
    "content beside V2": {**v2(WORDS), "content": "x"},
    "embeds beside V2": {**v2(WORDS), "embeds": [EMBED]},
    "41 components": v2(*[WORDS] * 41),
    "41 components, nested": v2({"type": 17, "components": [WORDS] * 20}, {"type": 17, "components": [WORDS] * 19}),
    "an empty text": v2({**WORDS, "content": ""}),
    "4,001 characters": v2({**WORDS, "content": "x" * 4001}),
    "4,001 characters in two texts": v2({**WORDS, "content": "x" * 4000}, WORDS),
    "an empty container": v2({"type": 17, "components": []}),
    "a container within a container": v2({"type": 17, "components": [{"type": 17, "components": [WORDS]}]}),
    "four texts in a section": v2({**SECTION, "components": [WORDS] * 4}),
    "a section without its accessory": v2(without(SECTION, "accessory")),
    "a picture outside a gallery": v2(THUMBNAIL),
    "11 pictures": v2({**GALLERY, "items": [{"media": MEDIA}] * 11}),
    "a description of 1,025 characters": v2({**GALLERY, "items": [{"media": MEDIA, "description": "x" * 1025}]}),
    "a file from elsewhere": v2({**FILE, "file": MEDIA}),
    "a file that is not attached": v2(FILE),
    "11 embeds": {"embeds": [{"title": "x"}] * 11},
    "an embed's title of 257 characters": {"embeds": [{"title": "x" * 257}]},
    "an embed's 4,097 characters": {"embeds": [{"description": "x" * 4097}]},
    "26 fields": {"embeds": [{"fields": [{"name": "x", "value": "x"}] * 26}]},
    "6,001 characters of embeds": {"embeds": [{"description": "x" * 3000, "footer": {"text": "x" * 1}}] * 2},
    "a mention of everybody by another name": {"content": "x", "allowed_mentions": {"parse": ["all"]}},
    "101 mentions": {"content": "x", "allowed_mentions": {"users": [str(n) for n in range(101)]}},
    "11 attachments": {"content": "x", "attachments": [{"id": str(n)} for n in range(11)]},
    "a flag of another kind": {"content": "x", "flags": 1 << 4},
}

REFUSED: dict[str, tuple[str, Any]] = {
    **{name: (MESSAGE, body) for name, body in REFUSED_MESSAGES.items()},
    "a response of no kind": (RESPONSE, {"type": 3}),
    "26 suggestions": (RESPONSE, {"type": 8, "data": {"choices": [{"name": "x", "value": "x"}] * 26}}),
    "a response of 2,001 characters": (RESPONSE, {"type": 4, "data": {"content": "x" * 2001}}),
    "a follow-up of 2,001 characters": (FOLLOW_UP, {"content": "x" * 2001}),
    "a modal's title of 46 characters": (
        RESPONSE,
        {"type": 9, "data": {**modal(*LABELS[:1])["data"], "title": "x" * 46}},
    ),
    "an empty modal": (RESPONSE, modal()),
    "six components in a modal": (RESPONSE, modal(*[WORDS] * 6)),
    "a container in a modal": (RESPONSE, modal(LAYOUT[-1])),
    "a bare field in a modal": (RESPONSE, modal(FIELDS[0])),
    "a custom_id twice in a modal": (RESPONSE, modal(LABELS[0], LABELS[0])),
    "a field's label of 46 characters": (RESPONSE, modal({**LABELS[0], "label": "x" * 46})),
    "a field's description of 101 characters": (RESPONSE, modal({**LABELS[0], "description": "x" * 101})),
    "a field of 4,001 characters": (RESPONSE, field(FIELDS[0], max_length=4001)),
    "a field filled with 4,001 characters": (RESPONSE, field(FIELDS[0], value="x" * 4001)),
    "a field of less than nothing": (RESPONSE, field(FIELDS[0], min_length=9, max_length=8)),
    "a field with two labels": (RESPONSE, field(FIELDS[0], label="Again")),
    "a button as a field": (RESPONSE, field(BUTTON)),
    "one radio button": (RESPONSE, field(FIELDS[4], options=[OPTION])),
    "11 radio buttons": (RESPONSE, field(FIELDS[4], options=[{**OPTIONS[1], "value": str(n)} for n in range(11)])),
    "two radio buttons chosen": (RESPONSE, field(FIELDS[4], options=[OPTION, {**OPTION, "value": "2"}])),
    "11 boxes": (RESPONSE, field(FIELDS[5], options=[{**OPTIONS[1], "value": str(n)} for n in range(11)])),
    "11 files": (RESPONSE, field(FIELDS[3], max_values=11)),
    "a thread's name of 101 characters": (THREAD, {"name": "x" * 101}),
    "a thread for a day and an hour": (THREAD, {"name": "x", "auto_archive_duration": 1500}),
    "a direct message to nobody": (DIRECT, {}),
    "a capital in a command": (COMMANDS, [{**COMMAND, "name": "Quiz"}]),
    "a blank in a command": (COMMANDS, [{**COMMAND, "name": "a quiz"}]),
    "a command's description of 101 characters": (COMMANDS, [{**COMMAND, "description": "x" * 101}]),
    "a command twice": (COMMANDS, [COMMAND, COMMAND]),
    "101 commands": (COMMANDS, [{"type": 1, "name": f"c{n}", "description": "x"} for n in range(101)]),
    "26 options of a command": (COMMANDS, [{**COMMAND, "options": COMMAND["options"] * 26}]),
    "an option of a command twice": (COMMANDS, [{**COMMAND, "options": COMMAND["options"] * 2}]),
    "26 choices": (COMMANDS, option(choices=[{"name": f"{n}", "value": "x"} for n in range(26)])),
    "choices and autocomplete": (COMMANDS, option(choices=[{"name": "x", "value": "x"}], autocomplete=True)),
    "a number among words": (COMMANDS, option(choices=[{"name": "x", "value": 1}])),
    "an option of no type": (COMMANDS, option(type=12)),
    "a command of 8,001 characters": (COMMANDS, [LONG]),
    "a body where none belongs": ("DELETE /channels/{channel_id}/messages/{message_id}", {}),
}


@pytest.mark.parametrize("name", REFUSED)
def test_a_body_is_refused(name: str) -> None:
    assert refused(*REFUSED[name])


def test_what_is_documented_is_taken() -> None:
    for route, body in SAMPLES:
        assert wrong_in_body(route, body) == []
        if route == MESSAGE:
            assert wrong_in_message(body, files={"a.png": b""}) == []
    assert wrong_in_message(v2(FILE), files={"answer.py": b""}) == []
    assert wrong_in_commands([COMMAND]) == []
    shown = [part for part in (*LAYOUT, FILE, *LABELS) for part in nested(part)]
    shown += [part["accessory"] for part in shown if "accessory" in part]
    assert {part["type"] for part in shown} == set(COMPONENTS)


def test_every_route_that_takes_a_body_has_a_table() -> None:
    taking = {one.route for one in ENDPOINTS if one.method in ("POST", "PUT", "PATCH")}
    assert set(BODIES) == taking - {"PUT /guilds/{guild_id}/members/{user_id}/roles/{role_id}"}


@needs_schemas
def test_the_specification_has_every_route_of_the_double() -> None:
    assert [one.route for one in ENDPOINTS if not api_schema.documented(one.route)] == []


DOCUMENTED_AS_TEXT = f"{COMMANDS}: 0/default_member_permissions: text instead"


@pytest.mark.slow
@needs_schemas
def test_what_the_specification_refuses_the_tables_refuse() -> None:
    """Mutates a body of every route and component: the tables reject everything that the specification rejects."""
    missed = []
    for route, sample in SAMPLES:
        assert api_schema.wrong(route, sample) == []
        for what, body in mutations_of(sample, deep=7):
            if not refused(route, body) and api_schema.wrong(route, body):
                missed.append(f"{route}: {what}")
    assert missed == [DOCUMENTED_AS_TEXT]
