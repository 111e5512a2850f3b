"""Rendering for Discord. `test_rendering` covers what all chats share."""

from __future__ import annotations

from typing import Any

from bot.core import cards
from bot.core.cards import Card, Code, Form, Lettered, Link, Options, PickField, Small, Table, Text, TextField
from bot.discord import bodies, fits_modal, modal
from tests.bot.discord.limits import parts_of, raw_mentions, texts_of, wrong_in_message, wrong_in_modal
from tests.bot.rendering import CARDS, FORMS, card_of, units


def said_in(found: list[dict[str, Any]]) -> str:
    return "\n".join(text for body in found for text in texts_of(body))


def test_a_private_message_is_ephemeral() -> None:
    assert bodies(card_of(Text("x")), private=True)[0]["flags"] & 64
    assert not bodies(card_of(Text("x")))[0]["flags"] & 64


def test_members_text_neither_mentions_nor_formats() -> None:
    text = said_in(bodies(card_of(Text("@everyone <@123> <#5> <t:1:R> \\*bold\\* x[a:b:c] https://evil.example"))))
    assert raw_mentions(text) == []
    assert "@\u200beveryone" in text
    assert r"\*bold\*" in text
    assert r"a\:b:c" in text
    assert "https://" not in text


def test_long_code_is_split_between_lines_with_closed_fences() -> None:
    lines = [f"x{number} = {number}" for number in range(1200)]
    found = bodies(card_of(Code("\n".join(lines))))
    assert len(found) > 2
    assert [wrong for body in found for wrong in wrong_in_message(body)] == []
    assert [line for line in said_in(found).split("\n") if line.startswith("x")] == lines


def test_messages_are_numbered_and_only_the_last_has_buttons() -> None:
    card = Card("Long", "Long.", (Text("word " * 2000),), CARDS["reveal"].buttons)
    found = bodies(card)
    assert [texts_of(body)[0] for body in found] == [
        "## Long",
        *(f"-# Long · {place} of {len(found)}" for place in range(2, len(found) + 1)),
    ]
    assert [any(part["type"] == 2 for part in parts_of(body)) for body in found] == [False] * (len(found) - 1) + [True]
    assert said_in(found).count("word") == 2000


def test_fences_in_code_and_backticks_in_a_span_are_escaped() -> None:
    found = bodies(card_of(Code("```\n@everyone\n```", ""), Text("`` a`b `` and ````x``y````")))
    assert [wrong for body in found for wrong in wrong_in_message(body)] == []


def test_a_table_is_fenced_with_the_readers_row_marked() -> None:
    table = Table(("Rank", "Name"), (("1", "Ann"), ("2", "Bob")), "Board", (0,), 1)
    text = said_in(bodies(card_of(table)))
    assert "**Board**\n```\nRank │ Name" in text
    assert "Bob (you)" in text


def test_a_table_wider_than_a_phone_becomes_lines() -> None:
    columns = ("Rank", "Name", "Points", "Answers", "Right", "Streak")
    rows = (("1", "Ann *x*", "80", "5", "100%", "1"), ("2", "Bob", "9", "5", "", "0"))
    text = said_in(bodies(card_of(Table(columns, rows, "Board", (0, 2, 3, 4, 5), 1))))
    assert text == (
        "## Title\n**Board**\n\n"
        "**1. Ann \\*x\\*** · Points: 80 · Answers: 5 · Right: 100% · Streak: 1\n"
        "**2. Bob (you)** · Points: 9 · Answers: 5 · Streak: 0"
    )


def test_a_table_of_hundreds_of_rows_becomes_lines_of_several_messages() -> None:
    rows = tuple((str(number), "x" * 40, "9") for number in range(400))
    found = bodies(card_of(Table(("Rank", "Name", "Points"), rows, "", (0, 2))))
    assert len(found) > 1 and [wrong for body in found for wrong in wrong_in_message(body)] == []
    assert all(f"**{number}. " in said_in(found) for number in range(400))


def test_a_two_column_text_table_becomes_lines() -> None:
    table = Table(("Command", "What it does"), (("/quiz *me*", "Your points."), ("", "More.")), "Commands")
    assert said_in(bodies(card_of(table))) == "## Title\n**Commands**\n\n**/quiz \\*me\\*** Your points.\nMore."


def test_a_long_two_column_table_is_split() -> None:
    found = bodies(card_of(Table(("a", "b"), tuple((str(n), "word " * 30) for n in range(60)))))
    assert [wrong for body in found for wrong in wrong_in_message(body)] == []
    assert said_in(found).count("word") == 1800


def test_options_follow_their_letters_and_code_goes_below() -> None:
    rows = (Lettered("A", "plain"), Lettered("B", "```python\nx = 1\n```"), Lettered("C", ""))
    text = said_in(bodies(card_of(Options(rows))))
    assert "**A** plain" in text
    assert "**B**\n```python\nx = 1\n```" in text
    assert "**C** –" in text


def test_invisible_text_is_left_out() -> None:
    (body,) = bodies(card_of(Text("\u200b\u200d"), Text(""), Small("  "), Text("seen")))
    assert texts_of(body) == ["## Title", "seen"]


def test_a_url_too_long_for_a_button_becomes_a_link() -> None:
    url = "https://quiz.example/" + "x" * 600
    (body,) = bodies(Card("t", "s", (Text("x"),), (), (Link("The editor", url),)))
    assert f"[The editor](<{url}>)" in said_in([body])
    assert not any(part["type"] == 2 for part in parts_of(body))


def test_right_to_left_labels_follow_the_numbers_of_a_bar() -> None:
    bars = cards.Bars((cards.Bar("נכון מאוד", 2, 0.5, "right"),))
    assert "`█████░░░░░` 2 (50%) right: נכון מאוד" in said_in(bodies(card_of(bars)))


def test_many_options_become_menus() -> None:
    options = tuple((f"o{n}", f"**{n}** option") for n in range(30))
    found = modal(Form("Pick", "f:r1", (PickField("options", "Which?", options, ("o29",), True),)))
    assert wrong_in_modal(found) == []
    menus = [part for part in parts_of(found) if part["type"] == 3]
    assert [menu["custom_id"] for menu in menus] == ["options", "options:2"]
    assert [option["value"] for menu in menus for option in menu["options"]] == [value for value, _ in options]
    assert menus[1]["options"][-1]["default"]


def test_options_too_long_for_a_label_are_listed_above() -> None:
    options = (("a", "**A** " + "long " * 40), ("b", "**B** short"))
    found = modal(Form("Pick", "f:r1", (PickField("options", "Which?", options),)))
    assert wrong_in_modal(found) == []
    assert texts_of(found)[0].count("long") == 40


def test_a_question_too_long_for_a_modal_says_so() -> None:
    form = Form("Long", "f:r1", (TextField("text", "Answer"),), (Text("word " * 2000),))
    assert wrong_in_modal(modal(form)) == []
    assert not fits_modal(form)
    assert "is in its message" in texts_of(modal(form))[0]


def test_a_text_too_long_for_its_field_is_not_cut() -> None:
    field = modal(Form("Code", "f:r1", (TextField("code", "Code", "x" * 5000, code=True),)))["components"][0]
    assert "value" not in field["component"]
    assert "too long for this window" in field["description"]


def test_extra_buttons_of_a_form_become_a_choice() -> None:
    form = FORMS["ask code"]
    (group,) = [part for part in parts_of(modal(form)) if part.get("custom_id") == "action"]
    assert [option["value"] for option in group["options"]] == [form.action, *(b.action for b in form.extras)]


def test_the_checker_finds_errors() -> None:
    (body,) = bodies(card_of(Text("x")))
    body["components"][0]["components"].append({"type": 10, "content": "```\n@everyone " + "x" * 4000})
    wrong = wrong_in_message(body)
    assert len(wrong) == 3
    assert units("👩") == 2
