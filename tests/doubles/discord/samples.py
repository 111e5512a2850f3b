"""A valid component of every type and a valid body for every route, with all fields."""

from __future__ import annotations

from typing import Any

Json = dict[str, Any]

EMOJI = {"id": None, "name": "🔥", "animated": False}
MEDIA = {"url": "https://pictures.example/1.png"}
OPTION: Json = {"label": "One", "value": "1", "description": "The first", "default": True}
OPTIONS = [OPTION, {"label": "Two", "value": "2"}]
MENU: Json = {"custom_id": "m", "placeholder": "Choose", "min_values": 1, "max_values": 2, "disabled": False}
GIVEN = [{"id": "80351110224678912", "type": "user"}]
BUTTON: Json = {
    "type": 2,
    "id": 7,
    "style": 1,
    "label": "Answer",
    "emoji": EMOJI,
    "custom_id": "a:r1",
    "disabled": False,
}
LINK: Json = {"type": 2, "style": 5, "label": "Read", "url": "https://example.org"}
SELECT: Json = {"type": 3, "options": [{**OPTION, "emoji": EMOJI}, *OPTIONS[1:]], **MENU}
MENUS: tuple[Json, ...] = (
    SELECT,
    {"type": 5, "default_values": GIVEN, **MENU},
    {"type": 6, **MENU},
    {"type": 7, **MENU},
    {"type": 8, "channel_types": [0, 5], **MENU},
)
WORDS: Json = {"type": 10, "content": "Words"}
THUMBNAIL: Json = {"type": 11, "media": MEDIA, "description": "A picture", "spoiler": False}
SECTION: Json = {"type": 9, "components": [WORDS], "accessory": THUMBNAIL}
GALLERY: Json = {"type": 12, "items": [{"media": MEDIA, "description": "A picture", "spoiler": False}]}
FILE: Json = {"type": 13, "file": {"url": "attachment://answer.py"}, "spoiler": False}
SEPARATOR: Json = {"type": 14, "divider": True, "spacing": 2}
LAYOUT: tuple[Json, ...] = (
    {"type": 1, "components": [BUTTON, LINK]},
    *({"type": 1, "components": [menu]} for menu in MENUS),
    SECTION,
    {**SECTION, "accessory": BUTTON},
    WORDS,
    GALLERY,
    SEPARATOR,
    {"type": 17, "accent_color": 0x5865F2, "spoiler": False, "components": [WORDS, GALLERY, SEPARATOR]},
)
FIELDS: tuple[Json, ...] = (
    {"type": 4, "custom_id": "t", "style": 2, "min_length": 1, "max_length": 20, "value": "x", "placeholder": "Type"},
    {"type": 3, "custom_id": "s", "options": OPTIONS, "required": True, "max_values": 2},
    {"type": 8, "custom_id": "c", "channel_types": [0], "required": True},
    {"type": 19, "custom_id": "f", "min_values": 0, "max_values": 1, "required": False},
    {"type": 21, "custom_id": "r", "options": OPTIONS, "required": True},
    {"type": 22, "custom_id": "k", "options": OPTIONS, "min_values": 0, "max_values": 2, "required": False},
    {"type": 23, "custom_id": "b", "default": True},
)
LABELS: tuple[Json, ...] = tuple(
    {"type": 18, "label": "Answer", "description": "In short", "component": field} for field in FIELDS
)
EMBED: Json = {
    "type": "rich",
    "title": "Title",
    "description": "Words",
    "url": "https://example.org",
    "timestamp": "2026-11-22T12:00:00+00:00",
    "color": 0x5865F2,
    "footer": {"text": "Foot", "icon_url": "https://pictures.example/1.png"},
    "image": MEDIA,
    "thumbnail": MEDIA,
    "author": {"name": "Ada", "url": "https://example.org"},
    "fields": [{"name": "Name", "value": "Value", "inline": True}],
}
MENTIONS = {"parse": ["users"], "roles": ["80351110224678912"], "replied_user": False}
V2 = 1 << 15

MESSAGE = "POST /channels/{channel_id}/messages"
EDIT = "PATCH /channels/{channel_id}/messages/{message_id}"
THREAD = "POST /channels/{channel_id}/messages/{message_id}/threads"
DIRECT = "POST /users/@me/channels"
RESPONSE = "POST /interactions/{interaction_id}/{interaction_token}/callback"
FOLLOW_UP = "POST /webhooks/{webhook_id}/{webhook_token}"
COMMANDS = "PUT /applications/{application_id}/commands"

PLAIN: Json = {
    "content": "Words",
    "tts": False,
    "nonce": "abc",
    "enforce_nonce": True,
    "embeds": [EMBED],
    "allowed_mentions": MENTIONS,
    "attachments": [{"id": "0", "filename": "a.png", "description": "A picture"}],
}
CHOICES = [{"name": "Week", "value": "week"}]
COMMAND: Json = {
    "type": 1,
    "name": "quiz",
    "description": "The quiz",
    "default_member_permissions": 32,
    "contexts": [0, 1],
    "integration_types": [0],
    "nsfw": False,
    "options": [
        {
            "type": 1,
            "name": "board",
            "description": "The board",
            "options": [
                {"type": 3, "name": "period", "description": "Which", "required": True, "choices": CHOICES},
                {"type": 3, "name": "topic", "description": "Which", "autocomplete": True, "max_length": 20},
                {"type": 4, "name": "count", "description": "How many", "min_value": 1, "max_value": 9},
                {"type": 7, "name": "channel", "description": "Where", "channel_types": [0]},
            ],
        }
    ],
}


def modal(*components: Json) -> Json:
    return {"type": 9, "data": {"custom_id": "f", "title": "Form", "components": list(components)}}


BODIES: tuple[tuple[str, Any], ...] = (
    (MESSAGE, PLAIN),
    *((MESSAGE, {"flags": V2, "components": [part]}) for part in LAYOUT),
    (EDIT, {"content": None, "embeds": [], "components": [LAYOUT[0]], "attachments": []}),
    (THREAD, {"name": "Answer", "auto_archive_duration": 1440, "rate_limit_per_user": 0}),
    (DIRECT, {"recipient_id": "80351110224678912"}),
    (RESPONSE, {"type": 4, "data": {"content": "Words", "flags": 64}}),
    (RESPONSE, {"type": 5, "data": {"flags": 64}}),
    (RESPONSE, {"type": 6}),
    (RESPONSE, {"type": 7, "data": {"content": "Words", "components": []}}),
    (RESPONSE, {"type": 8, "data": {"choices": CHOICES}}),
    *((RESPONSE, modal(label)) for label in LABELS),
    (RESPONSE, modal(WORDS, LABELS[0])),
    (FOLLOW_UP, {"content": "Words", "username": "Quiz", "flags": 64}),
    (COMMANDS, [COMMAND]),
    (COMMANDS, [{"type": 3, "name": "Answer with this", "contexts": [0]}]),
)
