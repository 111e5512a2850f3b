"""What holds of every card and form on Discord and on Slack alike: the limits, the schemas, nothing lost or doubled."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings

from bot.core.cards import Button, Card, Code, Form, Link, PickField, Picture, Small, Text
from bot.core.text.results import answer_blocks
from bot.discord import render as discord
from bot.discord.modals import fits_modal, modal
from bot.slack import render as slack
from bot.slack.views import fits_view, view
from service.wire import OptionKey
from tests.bot.discord import limits as discord_limits
from tests.bot.rendering import CARDS, FORMS, any_cards, any_forms, card_of, discord_schema
from tests.bot.samples import CHOICE_KEY, PNG
from tests.bot.slack import limits as slack_limits
from tests.doubles.discord import checks
from tests.doubles.discord.samples import MESSAGE, RESPONSE
from tests.doubles.slack import rules, types_schema
from tests.doubles.slack.surfaces import walk
from tests.external import needs_schemas

Body = dict[str, Any]


@dataclass(frozen=True)
class Chat:
    """A chat as its tests see it."""

    name: str
    bodies: Callable[[Card], list[Body]]
    form: Callable[[Form], Body]
    fits: Callable[[Form], bool]
    action: str
    wrong_in_message: Callable[[Body], list[str]]
    wrong_in_form: Callable[[Body], list[str]]
    parts: Callable[[Body], list[Body]]
    is_button: Callable[[Body], bool]
    pressed: str
    pictures: Callable[[Body], list[tuple[int, str]]]


def _in_discord(body: Body) -> list[tuple[int, str]]:
    items = [item for part in discord_limits.parts_of(body) if part["type"] == 12 for item in part["items"]]
    names = [one["filename"] for one in body.get("attachments", ())]
    assert [item["media"]["url"] for item in items] == [f"attachment://{name}" for name in names]
    return [(int(one["id"]), one["description"]) for one in body.get("attachments", ())]


def _in_slack(body: Body) -> list[tuple[int, str]]:
    images = [block for block in body["blocks"] if block["type"] == "image"]
    return list(zip(slack.picture_numbers(body), (image["alt_text"] for image in images), strict=True))


CHATS = (
    Chat(
        "discord", discord.bodies, modal, fits_modal, "custom_id", discord_limits.wrong_in_message,
        discord_limits.wrong_in_modal, discord_limits.parts_of, lambda part: part.get("type") == 2, "custom_id",
        _in_discord,
    ),
    Chat(
        "slack", slack.bodies, view, fits_view, "private_metadata", slack_limits.wrong_in_message,
        slack_limits.wrong_in_view, lambda body: list(walk(body["blocks"])),
        lambda part: part.get("type") == "button" or "accessibility_label" in part, "value", _in_slack,
    ),
)  # fmt: skip


@pytest.fixture(params=CHATS, ids=lambda chat: chat.name)
def chat(request: pytest.FixtureRequest) -> Chat:
    found: Chat = request.param
    return found


def wrong_in(chat: Chat, card: Card) -> list[str]:
    return [wrong for body in chat.bodies(card) for wrong in chat.wrong_in_message(body)]


@pytest.mark.parametrize("name", CARDS)
def test_every_card_keeps_the_limits_and_all_its_buttons(chat: Chat, name: str) -> None:
    card = CARDS[name]
    assert wrong_in(chat, card) == []
    found = [part for body in chat.bodies(card) for part in chat.parts(body) if chat.is_button(part)]
    assert [one[chat.pressed] for one in found if chat.pressed in one] == [button.action for button in card.all_buttons]
    assert [one["url"] for one in found if "url" in one] == [link.url for link in card.links]


@pytest.mark.parametrize("name", FORMS)
def test_every_form_keeps_the_limits_and_is_whole(chat: Chat, name: str) -> None:
    found = chat.form(FORMS[name])
    assert chat.wrong_in_form(found) == []
    assert found[chat.action] == FORMS[name].action
    assert chat.fits(FORMS[name])


def test_the_doubles_take_every_card() -> None:
    refused: dict[str, list[str]] = {name: [] for name in CARDS}
    for name, card in CARDS.items():
        for body in discord.bodies(card):
            files = {one["filename"]: b"" for one in body.get("attachments", ())}
            refused[name] += checks.wrong_in_body(MESSAGE, body, second=False)
            refused[name] += checks.wrong_in_message(body, files=files)
        for body in slack.bodies(card):
            refused[name] += rules.wrong_in_blocks(body["blocks"])
    assert {name: wrong for name, wrong in refused.items() if wrong} == {}


def test_the_doubles_take_every_form() -> None:
    for form in FORMS.values():
        opened = {"type": 9, "data": modal(form)}
        assert checks.wrong_in_body(RESPONSE, opened, second=False) == checks.wrong_in_modal(modal(form)) == []
        assert rules.wrong_in_view(view(form)) == ("", [])


@pytest.mark.slow
@needs_schemas
def test_every_card_is_valid_by_the_chats_own_schema() -> None:
    for name, card in CARDS.items():
        for body in discord.bodies(card):
            assert not [f"{name}: {e.message}" for e in discord_schema("MessageCreateRequest").iter_errors(body)]
        for body in slack.bodies(card):
            assert (name, types_schema.wrong("MessageBlocks", body["blocks"])) == (name, [])


@needs_schemas
def test_every_form_is_valid_by_the_chats_own_schema() -> None:
    for form in FORMS.values():
        discord_schema("ModalInteractionCallbackRequestData").validate(modal(form))
        assert types_schema.wrong("ModalView", view(form)) == []


@needs_schemas
def test_the_schemas_do_refuse_something() -> None:
    body = discord.bodies(CARDS["question"])[0]
    body["components"][0]["components"][-1]["components"][0]["label"] = "x" * 81
    assert not discord_schema("MessageCreateRequest").is_valid(body)
    blocks = slack.bodies(CARDS["question"])[0]["blocks"]
    assert types_schema.wrong("MessageBlocks", [*blocks, {"type": "rich_text", "elments": []}]) != []


def test_pictures_are_numbered_through_all_messages_and_go_with_the_body_that_shows_them(chat: Chat) -> None:
    alts = [f"number {place}" for place in range(9)]
    pngs = [PNG + bytes([place]) for place in range(9)]
    blocks = [part for png, alt in zip(pngs, alts, strict=True) for part in (Picture(png, alt), Code("x = 1\n" * 200))]
    card = card_of(*blocks)
    found = [chat.pictures(body) for body in chat.bodies(card)]
    assert len(found) > 1
    assert [shown for body in found for shown in body] == list(enumerate(alts))
    assert card.pictures == pngs
    assert wrong_in(chat, card) == []


def test_a_card_of_pictures_and_quiet_lines_alone_keeps_the_limits(chat: Chat) -> None:
    blocks = [part for _ in range(12) for part in (Picture(PNG, "a"), Small("quiet"), Text("loud"), Small("quiet"))]
    buttons = tuple(Button("b", f"t:{place}") for place in range(25))
    assert wrong_in(chat, Card("t", "s", tuple(blocks), buttons)) == []


def test_a_long_alt_is_cut_to_what_the_chat_takes(chat: Chat) -> None:
    (body,) = chat.bodies(card_of(Picture(PNG, "word " * 1000)))
    ((_, alt),) = chat.pictures(body)
    assert alt.startswith("word word")
    assert alt.endswith("…")
    assert chat.wrong_in_message(body) == []


def test_an_alt_of_nothing_is_still_something(chat: Chat) -> None:
    assert wrong_in(chat, card_of(Picture(PNG, "\u200b"))) == []


def test_a_link_opens_its_page_once_and_only_a_page_of_the_web(chat: Chat) -> None:
    urls = (
        "https://quiz.example/a",
        "javascript:alert(1)",
        "mailto:a@b.c",
        "https://quiz.example/a",
        "http://x.example",
    )
    card = Card("t", "s", (Text("x"),), (Button("Answer", "o:r1"),), tuple(Link("Open", url) for url in urls))
    found = [part for body in chat.bodies(card) for part in chat.parts(body) if chat.is_button(part)]
    assert [one.get("url") for one in found] == [None, "https://quiz.example/a", "http://x.example"]
    assert wrong_in(chat, card) == []


def test_a_forms_page_can_be_reached_from_it(chat: Chat) -> None:
    form = Form(
        "t", "f:r1", (PickField("p", "l", (("a", "A"), ("b", "B"))),), links=(Link("Edit", "https://q.example"),)
    )
    assert "https://q.example" in str(chat.form(form))
    assert chat.wrong_in_form(chat.form(form)) == []


def test_a_picture_in_a_form_becomes_text(chat: Chat) -> None:
    form = Form("t", "f:r1", (PickField("p", "l", (("a", "A"), ("b", "B"))),), (Picture(PNG, "a matrix of *ones*"),))
    assert "a matrix of" in str(chat.form(form))
    assert chat.wrong_in_form(chat.form(form)) == []


@settings(max_examples=150)
@given(any_cards())
def test_any_text_gives_messages_within_the_limits(card: Card) -> None:
    for chat in CHATS:
        assert wrong_in(chat, card) == []


@settings(max_examples=100)
@given(any_forms())
def test_any_text_gives_a_form_within_the_limits(form: Form) -> None:
    for chat in CHATS:
        assert chat.wrong_in_form(chat.form(form)) == []


@pytest.mark.parametrize(
    ("option", "reason", "shown"),
    [
        ("It copies.", "`view` never\ncopies.", "**Wrong:** It copies.\n`view` never copies.\n\n**Why:**"),
        ("It copies.", "First.\n\nSecond.", "**Wrong:** It copies.\nFirst.\n\nSecond.\n\n**Why:**"),
        ("It copies.", "===", "**Wrong:** It copies.\n\n===\n\n**Why:**"),
        ("It copies.", "- never", "**Wrong:** It copies.\n\n- never\n\n**Why:**"),
    ],
)
def test_the_reason_is_right_below_its_option(option: str, reason: str, shown: str) -> None:
    options = (OptionKey(id="copies", text=option, right=False, reason=reason),)
    key = CHOICE_KEY.model_copy(update={"options": options})
    said = json.dumps(discord.bodies(card_of(*answer_blocks(key))), ensure_ascii=False)
    assert json.dumps(shown, ensure_ascii=False)[1:-1] in said
