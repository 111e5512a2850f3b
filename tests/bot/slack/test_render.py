"""Cards and forms as Slack's bodies: within its limits, valid by its own types, and never more than was said."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft7Validator

from bot.core import cards
from bot.core.cards import Card, Code, Form, Lettered, Options, PickField, Small, Table, Text, TextField
from bot.platforms.slack import bodies, fits_view, view
from tests.bot.hostile import ANY_MARKDOWN, MARKDOWN
from tests.bot.samples import GALLERY
from tests.bot.slack.limits import walk, wrong_in_message, wrong_in_view

SPEC = Path(__file__).parents[4] / "shared" / "specs" / "slack_types_schema.json"
CARDS = {name: said for name, said in GALLERY.items() if isinstance(said, Card)}
FORMS = {name: said for name, said in GALLERY.items() if isinstance(said, Form)}
with_schema = pytest.mark.skipif(not SPEC.is_file(), reason="Slack's types are not beside this repository (../shared)")


@cache
def validator(schema: str) -> Draft7Validator:
    definitions = json.loads(SPEC.read_text(encoding="utf-8"))["definitions"]
    # Documented on Slack's page of the element, and not yet in its types.
    definitions["RichTextPreformatted"]["properties"]["language"] = {"type": "string"}
    return Draft7Validator({"$ref": f"#/definitions/{schema}", "definitions": definitions})


def card_of(*blocks: cards.Block, title: str = "Title") -> Card:
    return Card(title, "In short.", blocks)


@pytest.mark.parametrize("name", CARDS)
def test_every_card_keeps_the_limits(name: str) -> None:
    found = bodies(CARDS[name])
    assert [wrong for body in found for wrong in wrong_in_message(body)] == []
    pressed = [part for body in found for part in walk(body["blocks"]) if part.get("type") == "button"]
    assert [button["value"] for button in pressed] == [button.action for button in CARDS[name].buttons]
    assert [button["action_id"] for button in pressed] == [button.action for button in CARDS[name].buttons]


@pytest.mark.parametrize("name", FORMS)
def test_every_form_keeps_the_limits_and_is_whole(name: str) -> None:
    found = view(FORMS[name])
    assert wrong_in_view(found) == []
    assert found["private_metadata"] == FORMS[name].action
    assert fits_view(FORMS[name])


@with_schema
@pytest.mark.parametrize("name", CARDS)
def test_every_card_is_valid_by_slacks_types(name: str) -> None:
    for body in bodies(CARDS[name]):
        validator("MessageBlocks").validate(body["blocks"])


@with_schema
@pytest.mark.parametrize("name", FORMS)
def test_every_form_is_valid_by_slacks_types(name: str) -> None:
    validator("ModalView").validate(view(FORMS[name]))


@with_schema
def test_the_schema_does_refuse_something() -> None:
    blocks = bodies(CARDS["question"])[0]["blocks"]
    assert not validator("MessageBlocks").is_valid([*blocks, {"type": "rich_text", "elments": []}])


def test_a_members_words_are_plain_elements_and_escaped_in_the_text() -> None:
    (body,) = bodies(card_of(Text("\\<!channel> \\<@U1> a & b *bold*")))
    assert {"type": "text", "text": "<!channel> <@U1> a & b "} in list(walk(body["blocks"]))
    assert "&lt;!channel&gt; &lt;@U1&gt; a &amp; b bold" in body["text"]


def test_a_reader_of_the_text_alone_gets_all_of_it() -> None:
    (body,) = bodies(CARDS["ask choice"])
    assert body["text"].startswith(CARDS["ask choice"].summary)
    for words in ("Your answer", "B  It copies the data.", "[A]   [B]   [C]"):
        assert words in body["text"]


def test_a_long_text_says_that_it_is_cut() -> None:
    first = bodies(card_of(Text("word & " * 900)))[0]
    assert first["text"].endswith("The rest stands in the message itself.")


def test_code_is_preformatted_with_its_language_and_split_between_lines() -> None:
    lines = [f"x{number} = {number}" for number in range(1200)]
    found = bodies(card_of(Code("\n".join(lines))))
    assert [wrong for body in found for wrong in wrong_in_message(body)] == []
    parts = [part for body in found for part in walk(body["blocks"]) if part.get("type") == "rich_text_preformatted"]
    assert {part["language"] for part in parts} == {"python"}
    assert "\n".join(part["elements"][0]["text"] for part in parts).split("\n") == lines


def test_pieces_say_which_they_are_and_only_the_last_has_buttons() -> None:
    found = bodies(Card("Long", "Long.", (Text("word " * 6000),), CARDS["reveal"].buttons))
    assert len(found) > 2
    assert found[1]["blocks"][0]["elements"][0]["text"] == f"Long · 2 of {len(found)}"
    having = [any(block["type"] == "actions" for block in body["blocks"]) for body in found]
    assert having == [False] * (len(found) - 1) + [True]
    assert sum(json.dumps(body["blocks"]).count("word") for body in found) == 6000


def test_the_first_table_is_slacks_own_and_the_second_in_lines() -> None:
    table = Table(("Rank", "Name"), (("1", "Ann"), ("", "Bob")), "Board", (0,), 1)
    (body,) = bodies(card_of(table, table))
    (own,) = [block for block in body["blocks"] if block["type"] == "table"]
    assert [[cell["text"] for cell in row] for row in own["rows"]] == [
        ["Rank", "Name"],
        ["1", "Ann"],
        ["–", "Bob (you)"],
    ]
    assert own["column_settings"][0]["align"] == "right"
    assert sum(part.get("type") == "rich_text_preformatted" for part in walk(body["blocks"])) == 1


def test_a_table_too_large_for_slack_is_set_in_lines() -> None:
    found = bodies(card_of(Table(("n",), tuple((str(n),) for n in range(150)))))
    assert [wrong for body in found for wrong in wrong_in_message(body)] == []
    assert not any(block["type"] == "table" for body in found for block in body["blocks"])


def test_lists_keep_their_nesting_and_their_numbers() -> None:
    (body,) = bodies(card_of(Text("- a\n  - b\n\n3. c\n4. d")))
    lists = [part for part in walk(body["blocks"]) if part.get("type") == "rich_text_list"]
    assert [(part["style"], part["indent"]) for part in lists] == [("bullet", 0), ("bullet", 1)]
    assert "3. c\n4. d" in body["text"]


def test_a_quiet_line_is_a_context_and_one_with_a_link_can_be_followed() -> None:
    (body,) = bodies(card_of(Small("quiet `x`"), Small("Read on: <https://pytorch.org>")))
    assert [block["type"] for block in body["blocks"]] == ["header", "context", "rich_text"]
    assert {"type": "link", "url": "https://pytorch.org"} in list(walk(body["blocks"]))


def test_what_cannot_be_seen_is_left_out() -> None:
    (body,) = bodies(card_of(Text("\u200b\u200d"), Text(""), Small("  "), Text("seen")))
    assert [block["type"] for block in body["blocks"]] == ["header", "rich_text"]


def test_options_stand_beside_their_letters() -> None:
    rows = (Lettered("A", "plain"), Lettered("B", "```python\nx = 1\n```"), Lettered("C", ""))
    (body,) = bodies(card_of(Options(rows)))
    for words in ("A  plain", "B", "x = 1", "C  –"):
        assert words in [line.strip() for line in body["text"].split("\n")]


def test_a_form_with_many_options_asks_by_menus() -> None:
    options = tuple((f"o{n}", f"**{n}** option") for n in range(130))
    found = view(Form("Pick", "f:r1", (PickField("options", "Which?", options, ("o129",), True),)))
    assert wrong_in_view(found) == []
    assert [block["block_id"] for block in found["blocks"]] == ["options", "options:2"]
    assert found["blocks"][1]["element"]["initial_options"][0]["value"] == "o129"


def test_options_too_long_for_a_label_are_read_above() -> None:
    found = view(Form("Pick", "f:r1", (PickField("options", "Which?", (("a", "long " * 40), ("b", "short"))),)))
    assert json.dumps(found["blocks"][:-1]).count("long") == 40


def test_a_question_too_long_for_a_view_says_so() -> None:
    form = Form("Long", "f:r1", (TextField("text", "Answer"),), (Text("word " * 15_000),))
    assert wrong_in_view(view(form)) == []
    assert not fits_view(form)


def test_a_text_too_long_to_type_over_is_not_cut() -> None:
    (block,) = view(Form("Code", "f:r1", (TextField("code", "Code", "x" * 3001, code=True),)))["blocks"]
    assert "initial_value" not in block["element"]
    assert "longer than this window" in block["hint"]["text"]


def test_a_forms_other_buttons_are_buttons() -> None:
    form = FORMS["ask code"]
    assert [button["value"] for button in view(form)["blocks"][-1]["elements"]] == [b.action for b in form.extras]


@settings(max_examples=150, deadline=None)
@given(ANY_MARKDOWN, MARKDOWN, st.text(max_size=60))
def test_any_text_gives_messages_within_the_limits(text: str, other: str, plain: str) -> None:
    table = Table(("a", plain), ((plain, plain), ("1", other)), plain)
    option = Options((Lettered("A", other),))
    card = Card(plain, plain, (Text(text), Small(other), Code(text), option, table, Text(other)))
    assert [wrong for body in bodies(card) for wrong in wrong_in_message(body)] == []


@settings(max_examples=100, deadline=None)
@given(ANY_MARKDOWN, MARKDOWN, st.text(max_size=200), st.integers(1, 12), st.booleans())
def test_any_text_gives_a_view_within_the_limits(text: str, other: str, plain: str, count: int, several: bool) -> None:
    options = tuple((f"o{n}", f"**{n}** {other}") for n in range(count))
    fields = (PickField("options", other, options, ("o0",), several), TextField("t", other, plain, text))
    assert wrong_in_view(view(Form(plain, "f:r1", fields, (Text(text),), other))) == []


def test_the_checker_sees_what_is_wrong() -> None:
    (body,) = bodies(card_of(Text("x")))
    body["blocks"].append({"type": "header", "text": {"type": "plain_text", "text": "x" * 151}})
    body["blocks"].append({"type": "rich_text", "elements": []})
    body["text"] = "<!channel>"
    assert len(wrong_in_message(body)) == 3
