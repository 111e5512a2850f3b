"""Cards and forms survive a round trip through JSON."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.cards import Bar, Bars, Button, Card, Form, PickField, Table, Text, TextField, as_data, from_data


@given(st.from_type(Card) | st.from_type(Form))
def test_stored_data_is_read_back_unchanged(said: Card | Form) -> None:
    kept = from_data(json.loads(json.dumps(as_data(said), ensure_ascii=False)))

    assert type(kept) is type(said)
    assert repr(kept) == repr(said)  # a NaN among the shares equals no other


@given(st.text())
def test_plain_words_stay_plain_words(text: str) -> None:
    assert from_data(json.loads(json.dumps(as_data(text)))) == text


def test_the_data_of_a_card_names_every_part() -> None:
    card = Card("T", "S", (Text("a"), Bars((Bar("b", 1, 0.5, "right"),))), (Button("Go", "a:r1", "primary", True),))

    assert as_data(card) == {
        "is": "Card",
        "title": "T",
        "summary": "S",
        "blocks": [
            {"is": "Text", "markdown": "a", "authored": False},
            {
                "is": "Bars",
                "rows": [{"is": "Bar", "label": "b", "count": 1, "share": 0.5, "mark": "right"}],
                "caption": "",
            },
        ],
        "buttons": [{"is": "Button", "label": "Go", "action": "a:r1", "style": "primary", "pressed": True}],
        "links": [],
        "ping": "",
        "award": None,
        "feedback": None,
    }


def test_nested_tuples_and_absent_values_keep_their_kind() -> None:
    table = Table(("A",), (("1",), ("2",)), numeric=(0,), mine=None)
    form = Form("T", "f:r1", (TextField("text", "L"), PickField("options", "P", (("a", "A"), ("b", "B")), ("a",))))

    assert from_data(json.loads(json.dumps(as_data(table)))) == table
    assert from_data(json.loads(json.dumps(as_data(form)))) == form


def test_a_card_kept_before_a_field_was_added_gets_its_default() -> None:
    assert from_data({"is": "Button", "label": "Go", "action": "a:r1"}) == Button("Go", "a:r1")


@pytest.mark.parametrize("unknown", ["Nothing", "object", "dict"])
def test_a_kind_nobody_knows_is_an_error(unknown: str) -> None:
    with pytest.raises(KeyError, match=unknown):
        from_data({"is": unknown})
