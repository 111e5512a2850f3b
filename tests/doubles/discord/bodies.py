"""Discord's request bodies as tables: messages, components, modals, responses and commands, with their limits.

Written from Discord's documentation (docs.discord.com/developers: components/reference, resources/message,
interactions). Lengths are UTF-16 code units. Rules that span a whole message are in `checks`.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from tests.doubles import shapes
from tests.doubles.shapes import (
    Check,
    Fields,
    array,
    flag,
    nullable,
    number,
    one_of,
    ordered,
    shape,
    typed,
    utf16,
)

string = partial(shapes.string, count=utf16)

ROW, BUTTON, SELECT, INPUT, USERS, ROLES, MENTIONABLES, CHANNELS = range(1, 9)
SECTION, TEXT, THUMBNAIL, GALLERY, FILE, SEPARATOR = range(9, 15)
CONTAINER, LABEL, UPLOAD, RADIO, CHECKS, CHECKBOX = 17, 18, 19, 21, 22, 23
LINK, PREMIUM = 5, 6

TEXTS = 4000
"""Limit of all text displays of a message together, characters."""
PARTS = 40
"""Limit of a message's components, including nested ones."""
CONTENT = 2000
EMBEDS = 6000
"""Limit of all embeds of a message together, characters."""


snowflake = string(20, 1, like=r"\d+")


def either_way(value: Any, path: str) -> Iterator[str]:
    """Checks an id or a set of permissions that may be a number: discord.py sends one, and Discord accepts it."""
    yield from number(0)(value, path) if isinstance(value, int) else snowflake(value, path)


def sometimes(**fields: Check) -> dict[str, Check]:
    """Marks fields as optional and nullable."""
    return {name: nullable(check) for name, check in fields.items()}


# Components


def component(required: Fields | None = None, optional: Fields | None = None, *rules: shapes.Rule) -> Check:
    return shape(required, {"id": number(0, 2**31 - 1), **(optional or {})}, *rules)


def _button(value: dict[str, Any], path: str) -> Iterator[str]:
    needs = {LINK: "url", PREMIUM: "sku_id"}.get(value["style"], "custom_id")
    for name in ("url", "sku_id", "custom_id"):
        if (name in value) != (name == needs):
            yield f"{path}: a button of style {value['style']} takes {needs} alone, not {name}"
    if value["style"] != PREMIUM and not (value.get("label") or value.get("emoji")):
        yield f"{path}: a button without a label"


def _row(value: dict[str, Any], path: str) -> Iterator[str]:
    kinds = [part["type"] for part in value["components"]]
    if len(kinds) > 1 and set(kinds) != {BUTTON}:
        yield f"{path}: a row of components {kinds}; it takes buttons or one menu"


def _options(value: dict[str, Any], path: str) -> Iterator[str]:
    values = [option["value"] for option in value["options"]]
    if len(values) != len(set(values)):
        yield f"{path}: an option's value twice: {values}"
    most = 1 if "max_values" not in value and "min_values" not in value else value.get("max_values", len(values))
    if sum(bool(option.get("default")) for option in value["options"]) > max(most, value.get("min_values", 0)):
        yield f"{path}: more options chosen by default than may be"


CUSTOM_ID = string(100, 1)
EMOJI = shape({"name": string(32, 1)}, {**sometimes(id=snowflake), "animated": flag})
MEDIA = shape({"url": string(2048, 1)})
PICTURE: Fields = sometimes(description=string(1024, 1), spoiler=flag)
ASKED: Fields = {"required": flag}
CHOICE: Fields = {"label": string(100, 1), "value": string(100, 1)}
CHOSEN: Fields = {**sometimes(description=string(100)), "default": flag}
RANGE: Fields = {"min_values": number(0, 25), "max_values": number(1, 25)}
FEW: Fields = {"min_values": number(0, 10), "max_values": number(1, 10)}
MENU: Fields = {**RANGE, **ASKED, **sometimes(placeholder=string(150)), "disabled": flag}
IN_ORDER = ordered("min_values", "max_values")


def _menu(*kinds: str, **more: Check) -> Check:
    preset = shape({"id": snowflake, "type": one_of(*kinds)})
    return component({"custom_id": CUSTOM_ID}, {**MENU, "default_values": array(preset, 0, 25), **more}, IN_ORDER)


COMPONENTS: dict[int, Check] = {
    BUTTON: component(
        {"style": number(1, 6)},
        {
            "label": string(80),
            "emoji": EMOJI,
            "custom_id": CUSTOM_ID,
            "url": string(512, 1),
            "sku_id": snowflake,
            "disabled": flag,
        },
        _button,
    ),
    SELECT: component(
        {"custom_id": CUSTOM_ID, "options": array(shape(CHOICE, {**CHOSEN, **sometimes(emoji=EMOJI)}), 1, 25)},
        MENU,
        IN_ORDER,
        _options,
    ),
    INPUT: component(
        {"custom_id": CUSTOM_ID, "style": one_of(1, 2)},
        {
            **sometimes(label=string(45), value=string(4000), placeholder=string(100)),
            "min_length": number(0, 4000),
            "max_length": number(1, 4000),
            **ASKED,
        },
        ordered("min_length", "max_length"),
    ),
    USERS: _menu("user"),
    ROLES: _menu("role"),
    MENTIONABLES: _menu("user", "role"),
    CHANNELS: _menu("channel", channel_types=array(number(0, 16), distinct=True)),
    TEXT: component({"content": string(TEXTS, 1)}),
    THUMBNAIL: component({"media": MEDIA}, PICTURE),
    GALLERY: component({"items": array(shape({"media": MEDIA}, PICTURE), 1, 10)}),
    FILE: component({"file": shape({"url": string(2048, like="attachment://.+")})}, {"spoiler": flag}),
    SEPARATOR: component({}, {"divider": flag, "spacing": one_of(1, 2)}),
    UPLOAD: component({"custom_id": CUSTOM_ID}, {**FEW, **ASKED}, IN_ORDER),
    RADIO: component({"custom_id": CUSTOM_ID, "options": array(shape(CHOICE, CHOSEN), 2, 10)}, ASKED, _options),
    CHECKS: component(
        {"custom_id": CUSTOM_ID, "options": array(shape(CHOICE, CHOSEN), 1, 10)}, {**FEW, **ASKED}, IN_ORDER
    ),
    CHECKBOX: component({"custom_id": CUSTOM_ID}, {"default": flag}),
}
COMPONENTS[ROW] = component(
    {"components": array(typed(COMPONENTS, BUTTON, SELECT, USERS, ROLES, MENTIONABLES, CHANNELS), 1, 5)}, {}, _row
)
COMPONENTS[SECTION] = component(
    {"components": array(typed(COMPONENTS, TEXT), 1, 3), "accessory": typed(COMPONENTS, BUTTON, THUMBNAIL)}
)
COMPONENTS[CONTAINER] = component(
    {"components": array(typed(COMPONENTS, ROW, SECTION, TEXT, GALLERY, FILE, SEPARATOR), 1, PARTS)},
    {**sometimes(accent_color=number(0, 0xFFFFFF)), "spoiler": flag},
)


def _unlabeled(value: dict[str, Any], path: str) -> Iterator[str]:
    if value["component"].get("label"):
        yield f"{path}: a text input within a label has no label of its own"


COMPONENTS[LABEL] = component(
    {
        "label": string(45, 1),
        "component": typed(
            COMPONENTS, SELECT, INPUT, USERS, ROLES, MENTIONABLES, CHANNELS, UPLOAD, RADIO, CHECKS, CHECKBOX
        ),
    },
    sometimes(description=string(100, 1)),
    _unlabeled,
)
IN_MESSAGE = (ROW, SECTION, TEXT, GALLERY, FILE, SEPARATOR, CONTAINER)
IN_MODAL = (TEXT, LABEL)


# Messages

AUTHOR = shape({"name": string(256, 1)}, sometimes(url=string(2048), icon_url=string(2048)))
IMAGE = shape({"url": string(2048, 1)})
EMBED_FIELD = shape({"name": string(256, 1), "value": string(1024, 1)}, {"inline": flag})
EMBED = shape(
    {},
    sometimes(
        type=one_of("rich"),
        title=string(256),
        description=string(4096),
        url=string(2048),
        timestamp=string(64),
        color=number(0, 0xFFFFFF),
        footer=shape({"text": string(2048, 1)}, sometimes(icon_url=string(2048))),
        image=IMAGE,
        thumbnail=IMAGE,
        author=AUTHOR,
        fields=array(EMBED_FIELD, 0, 25),
    ),
)
MENTIONS = shape(
    {},
    {
        "parse": array(one_of("users", "roles", "everyone"), 0, 3, distinct=True),
        "users": array(snowflake, 0, 100, distinct=True),
        "roles": array(snowflake, 0, 100, distinct=True),
        "replied_user": flag,
    },
)
ATTACHMENT = shape(
    {"id": either_way},
    sometimes(filename=string(1024, 1), description=string(1024), title=string(1024), is_spoiler=flag),
)
ANSWER = shape({"poll_media": shape({"text": string(55, 1)}, sometimes(emoji=EMOJI))})
POLL = shape(
    {"question": shape({"text": string(300, 1)}), "answers": array(ANSWER, 1, 10)},
    {"duration": number(1, 768), "allow_multiselect": flag, "layout_type": one_of(1)},
)


def _nonce(value: Any, path: str) -> Iterator[str]:
    yield from string(25)(value, path) if isinstance(value, str) else number(0, 2**63 - 1)(value, path)


SHOWN: Fields = sometimes(
    content=string(CONTENT),
    embeds=array(EMBED, 0, 10),
    allowed_mentions=MENTIONS,
    components=array(typed(COMPONENTS, *IN_MESSAGE), 0, PARTS),
    attachments=array(ATTACHMENT, 0, 10),
    flags=number(0, 2**31 - 1),
    tts=flag,  # sent by discord.py with every edit
)
SENT: Fields = {**SHOWN, **sometimes(poll=POLL)}
REFERENCE = shape(
    {"message_id": snowflake},
    {"type": one_of(0, 1), "channel_id": snowflake, "guild_id": snowflake, "fail_if_not_exists": flag},
)
MESSAGE = shape(
    {},
    {
        **SENT,
        **sometimes(nonce=_nonce, enforce_nonce=flag, message_reference=REFERENCE, sticker_ids=array(snowflake, 0, 3)),
    },
)
EDIT = shape({}, SHOWN)
FOLLOW_UP = shape({}, {**SENT, **sometimes(username=string(80), avatar_url=string(2048), thread_name=string(100))})
MODAL = shape(
    {
        "custom_id": CUSTOM_ID,
        "title": string(45, 1),
        "components": array(typed(COMPONENTS, *IN_MODAL), 1, 5),
    }
)


# Commands

LANGUAGES = (
    *("ar", "bg", "cs", "da", "de", "el", "en-GB", "en-US", "es-419", "es-ES", "fi", "fr", "he", "hi", "hr", "hu"),
    *("id", "it", "ja", "ko", "lt", "nl", "no", "pl", "pt-BR", "ro", "ru", "sv-SE", "th", "tr", "uk", "vi"),
    *("zh-CN", "zh-TW"),
)
"""Docs: reference, locales."""
WORDS = nullable(shape({}, dict.fromkeys(LANGUAGES, string(100, 1))))
NAMED: Fields = {"name_localizations": WORDS, "description_localizations": WORDS}


def _choices(value: Check) -> Check:
    return array(shape({"name": string(100, 1), "value": value}, {"name_localizations": WORDS}), 0, 25)


OPTIONS: dict[int, Check] = {}
"""Options of a command by type. Types 1 and 2 are subcommands and groups."""


def _in_order(value: dict[str, Any], path: str) -> Iterator[str]:
    required = [bool(option.get("required")) for option in value.get("options") or ()]
    if required != sorted(required, reverse=True):
        yield f"{path}: an option that is required after one that is not"
    names = [option["name"] for option in value.get("options") or ()]
    if len(names) != len(set(names)):
        yield f"{path}: an option twice: {names}"


def _completed(value: dict[str, Any], path: str) -> Iterator[str]:
    if value.get("autocomplete") and value.get("choices"):
        yield f"{path}: choices and autocomplete exclude each other"


def _option(*rules: shapes.Rule, **more: Check) -> Check:
    known: Fields = {**NAMED, **sometimes(required=flag), **sometimes(**more)}
    return shape({"name": string(32, 1), "description": string(100, 1)}, known, *rules)


OPTIONS |= {
    1: _option(_in_order, options=array(typed(OPTIONS, *range(3, 12)), 0, 25)),
    2: _option(_in_order, options=array(typed(OPTIONS, 1), 0, 25)),
    3: _option(
        _completed,
        choices=_choices(string(100)),
        autocomplete=flag,
        min_length=number(0, 6000),
        max_length=number(1, 6000),
    ),
    4: _option(_completed, choices=_choices(number()), autocomplete=flag, min_value=number(), max_value=number()),
    **dict.fromkeys((5, 6, 8, 9, 11), _option()),
    7: _option(channel_types=array(number(0, 16), distinct=True)),
    10: _option(
        _completed,
        choices=_choices(number(whole=False)),
        autocomplete=flag,
        min_value=number(whole=False),
        max_value=number(whole=False),
    ),
}
PLACED: Fields = {
    **NAMED,
    **sometimes(
        default_member_permissions=either_way,
        dm_permission=flag,
        contexts=array(one_of(0, 1, 2), 1, 3, distinct=True),
        integration_types=array(one_of(0, 1), 1, 2, distinct=True),
        nsfw=flag,
    ),
}
COMMANDS: dict[int, Check] = {
    1: shape(
        {"name": string(32, 1), "description": string(100, 1)},
        {**PLACED, **sometimes(options=array(typed(OPTIONS), 0, 25))},
        _in_order,
    ),
    **dict.fromkeys((2, 3), shape({"name": string(32, 1)}, PLACED)),
}


def command(value: Any, path: str) -> Iterator[str]:
    """Checks a command. Without a type, it is a slash command."""
    yield from typed(COMMANDS)({"type": 1, **value} if isinstance(value, dict) else value, path)


# Responses to interactions

FLAGGED = nullable(shape({}, sometimes(flags=number(0, 2**31 - 1))))
SUGGESTED = shape({"choices": _choices(lambda value, path: iter(()))})
RESPONSES: dict[int, Check] = {
    4: shape({"data": shape({}, SENT)}),
    5: shape({}, {"data": FLAGGED}),
    6: shape({}, {"data": FLAGGED}),
    7: shape({}, {"data": nullable(EDIT)}),
    8: shape({"data": SUGGESTED}),
    9: shape({"data": MODAL}),
}
THREAD = shape(
    {"name": string(100, 1)},
    sometimes(auto_archive_duration=one_of(60, 1440, 4320, 10080), rate_limit_per_user=number(0, 21600)),
)
POST = shape(
    {"name": string(100, 1), "message": MESSAGE},
    sometimes(auto_archive_duration=one_of(60, 1440, 4320, 10080), applied_tags=array(snowflake, 0, 5)),
)
DIRECT = shape({"recipient_id": either_way})

_HOOK = "/webhooks/{webhook_id}/{webhook_token}"
BODIES: dict[str, Check] = {
    "POST /channels/{channel_id}/messages": MESSAGE,
    "PATCH /channels/{channel_id}/messages/{message_id}": EDIT,
    "POST /channels/{channel_id}/messages/{message_id}/threads": THREAD,
    "POST /channels/{channel_id}/threads": POST,
    "POST /users/@me/channels": DIRECT,
    "POST /interactions/{interaction_id}/{interaction_token}/callback": typed(RESPONSES),
    f"POST {_HOOK}": FOLLOW_UP,
    f"PATCH {_HOOK}/messages/@original": EDIT,
    f"PATCH {_HOOK}/messages/{{message_id}}": EDIT,
    "PUT /applications/{application_id}/commands": array(command, 0, 130),
    "PUT /applications/{application_id}/guilds/{guild_id}/commands": array(command, 0, 130),
}
"""The check of each route's body; a body for any other route is rejected."""
