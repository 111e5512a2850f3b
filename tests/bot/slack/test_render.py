"""Cards and forms as Slack's bodies: what is its own. What holds of every chat is in `test_rendering`."""

from __future__ import annotations

import json

from bot.core.cards import Card, Code, Form, Lettered, Link, Options, PickField, Picture, Small, Table, Text, TextField
from bot.slack import bodies, fits_view, view
from bot.slack.render import LINK, picture_numbers, with_uploads
from tests.bot.rendering import CARDS, FORMS, card_of
from tests.bot.samples import PNG
from tests.bot.slack.limits import walk, wrong_in_message, wrong_in_view


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
    assert first["text"].endswith("The rest is in the message itself.")


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
    (body,) = bodies(card_of(Small("quiet `x`"), Small("Further reading: <https://pytorch.org>")))
    assert [block["type"] for block in body["blocks"]] == ["header", "context", "rich_text"]
    assert {"type": "link", "url": "https://pytorch.org"} in list(walk(body["blocks"]))


def test_what_cannot_be_seen_is_left_out() -> None:
    (body,) = bodies(card_of(Text("\u200b\u200d"), Text(""), Small("  "), Text("seen")))
    assert [block["type"] for block in body["blocks"]] == ["header", "rich_text"]


def test_uploaded_files_take_the_place_of_the_pictures_numbers() -> None:
    first, second = bodies(card_of(Picture(PNG, "one"), Code("x = 1\n" * 1800), Picture(PNG, "two")))
    assert (picture_numbers(first), picture_numbers(second)) == ([0], [1])
    files = {0: "F0A", 1: "F0B"}
    shown = [
        block for body in (first, second) for block in with_uploads(body, files)["blocks"] if block["type"] == "image"
    ]
    assert [block["slack_file"] for block in shown] == [{"id": "F0A"}, {"id": "F0B"}]
    assert "[picture: one]" in first["text"]


def test_a_press_that_only_opens_a_page_is_known_by_its_action() -> None:
    (body,) = bodies(Card("t", "s", (), (), (Link("Open", "https://quiz.example"),)))
    (button,) = [part for part in walk(body["blocks"]) if part.get("type") == "button"]
    assert button["action_id"].startswith(LINK)
    assert "[Open] (https://quiz.example)" in body["text"]


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


def test_the_checker_sees_what_is_wrong() -> None:
    (body,) = bodies(card_of(Text("x")))
    body["blocks"].append({"type": "header", "text": {"type": "plain_text", "text": "x" * 151}})
    body["blocks"].append({"type": "rich_text", "elements": []})
    body["text"] = "<!channel>"
    assert len(wrong_in_message(body)) == 3
