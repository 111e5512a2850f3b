"""Rendering for Slack. `test_rendering` covers what all chats share."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from bot.core.cards import (
    Bar,
    Bars,
    Button,
    Card,
    Code,
    Form,
    Lettered,
    Link,
    Options,
    PickField,
    Picture,
    Small,
    Table,
    Text,
    TextField,
)
from bot.core.markup import instant_markdown
from bot.slack import bodies, fits_view, view
from bot.slack.render import LINK, picture_numbers, with_uploads
from tests.bot.rendering import CARDS, FORMS, card_of
from tests.bot.samples import PNG
from tests.bot.slack.limits import wrong_in_message, wrong_in_view
from tests.doubles.slack.surfaces import walk


def test_members_text_is_plain_and_escaped() -> None:
    (body,) = bodies(card_of(Text("\\<!channel> \\<@U1> a & b *bold*")))
    assert {"type": "text", "text": "<!channel> <@U1> a & b "} in list(walk(body["blocks"]))
    assert "&lt;!channel&gt; &lt;@U1&gt; a &amp; b bold" in body["text"]


def test_the_fallback_text_contains_everything() -> None:
    (body,) = bodies(CARDS["ask choice"])
    assert body["text"].startswith(CARDS["ask choice"].summary)
    for words in ("Your answer", "B  It copies the data.", "[A]   [B]   [C]"):
        assert words in body["text"]


def test_a_long_text_says_that_it_is_cut() -> None:
    first = bodies(card_of(Text("word & " * 900)))[0]
    assert first["text"].endswith("The rest is in the message itself.")


def test_code_is_preformatted_with_its_language_and_split_between_lines() -> None:
    lines = [f"x{number} = {number}" for number in range(1200)]
    found = bodies(card_of(Code("\n".join(lines))))
    assert [wrong for body in found for wrong in wrong_in_message(body)] == []
    parts = [part for body in found for part in walk(body["blocks"]) if part.get("type") == "rich_text_preformatted"]
    assert {part["language"] for part in parts} == {"python"}
    assert "\n".join(part["elements"][0]["text"] for part in parts).split("\n") == lines


def test_messages_are_numbered_and_only_the_last_has_buttons() -> None:
    found = bodies(Card("Long", "Long.", (Text("word " * 6000),), CARDS["reveal"].buttons))
    assert len(found) > 2
    assert found[1]["blocks"][0]["elements"][0]["text"] == f"Long · 2 of {len(found)}"
    having = [any(block["type"] == "actions" for block in body["blocks"]) for body in found]
    assert having == [False] * (len(found) - 1) + [True]
    assert sum(json.dumps(body["blocks"]).count("word") for body in found) == 6000


def test_only_the_first_table_is_a_table_block() -> None:
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


def test_the_fallback_text_has_words_for_what_is_drawn() -> None:
    """A screen reader would spell out each character of a bar or of a table's borders."""
    table = Table(("Rank", "Name"), (("1", "Ann"),))
    bars = Bars((Bar("(3, 2)", 1, 0.5, "right"), Bar("(6,)", 1, 0.5, "wrong")))
    until = Text(f"Open until {instant_markdown('noon', 1_772_438_400, dated=False)}.\n\n---\n\nAnswer.")
    (body,) = bodies(card_of(table, table, bars, until))
    assert wrong_in_message(body) == []
    assert "█" in json.dumps(body["blocks"], ensure_ascii=False)
    assert not any("\u2500" <= letter <= "\u259f" for letter in body["text"])
    assert body["text"].count("Rank · Name\n1 · Ann") == 2
    assert "1 (50%) right: (3, 2)\n1 (50%) wrong: (6,)" in body["text"]
    assert "Open until noon." in body["text"]


def test_the_button_of_a_letter_is_read_aloud_with_its_option() -> None:
    rows = (Lettered("A", "It `copies`"), Lettered("B", "A *view* " * 20))
    buttons = (Button("A (your answer)", "a", pressed=True), Button("B", "b"), Button("Hint", "c"))
    card = Card("Your answer", "In short.", (Options(rows),), buttons)
    (body,) = bodies(card)
    assert wrong_in_message(body) == []
    spoken = [button.get("accessibility_label") for button in body["blocks"][-1]["elements"]]
    assert spoken[0] == "A (your answer): It copies" and spoken[2] is None
    assert spoken[1].startswith("B: A view A view") and len(spoken[1]) <= 75
    form = Form(card.title, "", (), card.blocks, extras=card.buttons)
    assert [button.get("accessibility_label") for button in view(form)["blocks"][-1]["elements"]] == spoken


def test_a_large_table_becomes_lines() -> None:
    found = bodies(card_of(Table(("n",), tuple((str(n),) for n in range(150)))))
    assert [wrong for body in found for wrong in wrong_in_message(body)] == []
    assert not any(block["type"] == "table" for body in found for block in body["blocks"])


def test_lists_keep_their_nesting_and_their_numbers() -> None:
    (body,) = bodies(card_of(Text("- a\n  - b\n\n3. c\n4. d")))
    lists = [part for part in walk(body["blocks"]) if part.get("type") == "rich_text_list"]
    assert [(part["style"], part["indent"]) for part in lists] == [("bullet", 0), ("bullet", 1)]
    assert "3. c\n4. d" in body["text"]


def test_small_print_with_an_instant_keeps_it() -> None:
    (body,) = bodies(card_of(Small(f"Open until {instant_markdown('17:00 (UTC)', 1772726400, dated=False)}.")))
    (part,) = [block for block in body["blocks"] if block["type"] == "rich_text"]
    assert [run["type"] for run in part["elements"][0]["elements"]] == ["text", "date", "text"]


def test_small_print_is_a_context_unless_it_has_a_link() -> None:
    (body,) = bodies(card_of(Small("quiet `x`"), Small("Further reading: <https://pytorch.org>")))
    assert [block["type"] for block in body["blocks"]] == ["header", "context", "rich_text"]
    assert {"type": "link", "url": "https://pytorch.org"} in list(walk(body["blocks"]))


def test_invisible_text_is_left_out() -> None:
    (body,) = bodies(card_of(Text("\u200b\u200d"), Text(""), Small("  "), Text("seen")))
    assert [block["type"] for block in body["blocks"]] == ["header", "rich_text"]


def test_uploaded_files_replace_the_numbers_of_pictures() -> None:
    first, second = bodies(card_of(Picture(PNG, "one"), Code("x = 1\n" * 1800), Picture(PNG, "two")))
    assert (picture_numbers(first), picture_numbers(second)) == ([0], [1])
    files = {0: "F0A", 1: "F0B"}
    shown = [
        block for body in (first, second) for block in with_uploads(body, files)["blocks"] if block["type"] == "image"
    ]
    assert [block["slack_file"] for block in shown] == [{"id": "F0A"}, {"id": "F0B"}]
    assert "[picture: one]" in first["text"]


def test_link_buttons_are_recognized_by_their_action_id() -> None:
    (body,) = bodies(Card("t", "s", (), (), (Link("Open", "https://quiz.example"),)))
    (button,) = [part for part in walk(body["blocks"]) if part.get("type") == "button"]
    assert button["action_id"].startswith(LINK)
    assert "[Open] (https://quiz.example)" in body["text"]


def test_options_follow_their_letters() -> None:
    rows = (Lettered("A", "plain"), Lettered("B", "```python\nx = 1\n```"), Lettered("C", ""))
    (body,) = bodies(card_of(Options(rows)))
    for words in ("A  plain", "B", "x = 1", "C  –"):
        assert words in [line.strip() for line in body["text"].split("\n")]


def test_many_options_become_menus() -> None:
    options = tuple((f"o{n}", f"**{n}** option") for n in range(130))
    found = view(Form("Pick", "f:r1", (PickField("options", "Which?", options, ("o129",), True),)))
    assert wrong_in_view(found) == []
    assert [block["block_id"] for block in found["blocks"]] == ["options", "options:2"]
    assert found["blocks"][1]["element"]["initial_options"][0]["value"] == "o129"


def test_options_too_long_for_a_label_are_listed_above() -> None:
    found = view(Form("Pick", "f:r1", (PickField("options", "Which?", (("a", "long " * 40), ("b", "short"))),)))
    assert json.dumps(found["blocks"][:-1]).count("long") == 40


def test_a_question_too_long_for_a_view_says_so() -> None:
    form = Form("Long", "f:r1", (TextField("text", "Answer"),), (Text("word " * 15_000),))
    assert wrong_in_view(view(form)) == []
    assert not fits_view(form)


def test_a_text_too_long_for_its_field_is_not_cut() -> None:
    block, upload = view(Form("Code", "f:r1", (TextField("code", "Code", "x" * 3001, code=True),)))["blocks"]
    assert "initial_value" not in block["element"]
    assert "too long for this window" in block["hint"]["text"]
    assert upload["element"]["type"] == "file_input"


def test_extra_buttons_of_a_form_are_buttons() -> None:
    form = FORMS["ask code"]
    assert [button["value"] for button in view(form)["blocks"][-1]["elements"]] == [b.action for b in form.extras]


def test_the_checker_finds_errors() -> None:
    (body,) = bodies(card_of(Text("x")))
    body["blocks"].append({"type": "header", "text": {"type": "plain_text", "text": "x" * 151}})
    body["blocks"].append({"type": "rich_text", "elements": []})
    body["text"] = "<!channel>"
    assert len(wrong_in_message(body)) == 3


VOTES = Bars(
    (Bar("`(3, 2)`", 3, 0.75, "right"), Bar("(2, 3)", 1, 0.25, "wrong"), Bar("(6,)", 0, 0.0, "wrong")), "Answers"
)


def charts_of(body: dict[str, Any]) -> list[dict[str, Any]]:
    return [block for block in body["blocks"] if block["type"] == "data_visualization"]


def test_a_distribution_with_short_labels_is_a_chart_with_its_numbers_beneath() -> None:
    (body,) = bodies(card_of(VOTES))
    assert wrong_in_message(body) == []
    (block,) = charts_of(body)
    series = {one["name"]: [point["value"] for point in one["data"]] for one in block["chart"]["series"]}
    assert (block["title"], series) == ("Answers", {"Right": [3, 0, 0], "Wrong": [0, 1, 0]})
    assert block["chart"]["axis_config"]["categories"] == ["(3, 2)", "(2, 3)", "(6,)"]
    assert "3 (75%) right: (3, 2)" in body["text"] and "█" not in json.dumps(body["blocks"], ensure_ascii=False)


@pytest.mark.parametrize(
    "bars",
    [
        Bars((Bar("x" * 21, 1, 1.0, "right"),), "Answers"),
        Bars((Bar("one", 1, 0.5, "right"), Bar("*one*", 1, 0.5, "wrong")), "Answers"),
        Bars((Bar("one", 0, 0.0, "right"),), "Answers"),
        Bars(tuple(Bar(f"{number}", 1, 0.1, "wrong") for number in range(21)), "Answers"),
        Bars(VOTES.rows),
    ],
    ids=["a long label", "a label twice", "nothing to draw", "too many", "no caption"],
)
def test_a_distribution_that_no_chart_can_show_is_drawn_in_characters(bars: Bars) -> None:
    (body,) = bodies(card_of(bars))
    assert wrong_in_message(body) == []
    assert not charts_of(body) and re.search("[█░]{10}", json.dumps(body["blocks"], ensure_ascii=False))


def test_a_message_has_two_charts_and_the_numbers_of_a_third() -> None:
    (body,) = bodies(card_of(VOTES, VOTES, VOTES))
    assert wrong_in_message(body) == []
    assert len(charts_of(body)) == 2 and body["text"].count("3 (75%) right: (3, 2)") == 3
