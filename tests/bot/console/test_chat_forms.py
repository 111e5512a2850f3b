"""A form filled in line by line."""

from __future__ import annotations

import pytest

from bot.console.chat import FormSession, InvalidInput
from bot.core.cards import Button, Form, PickField, TextField

TWO_LINES = Form("Report", "e:q", (TextField("text", "What?", lines=4),))
CODE = Form(
    "Code", "f:r1", (TextField("code", "Code", "start", code=True, lines=9),), extras=(Button("Run it", "x:r1"),)
)
PICK = Form("Pick", "f:r1", (PickField("options", "Which?", (("x", "**A** one"), ("y", "**B** two")), several=True),))


def fill(
    form: Form, *lines: str, drafts: dict[str, tuple[str, ...]] | None = None
) -> tuple[str | None, dict[str, object]]:
    form_session = FormSession(form, drafts or {})
    action = None
    for line in lines:
        action = form_session.take(line)
    return action, dict(form_session.values)


def test_lines_go_on_until_a_dot() -> None:
    assert fill(TWO_LINES, "one", "", "two", ".") == ("e:q", {"text": ("one\n\ntwo",)})


def test_a_dot_alone_keeps_what_was_there() -> None:
    assert fill(CODE, ".", "1") == ("f:r1", {"code": ("start",)})
    assert fill(CODE, ".", "2", drafts={"code": ("my draft",)}) == ("x:r1", {"code": ("my draft",)})


def test_a_form_with_more_buttons_asks_which() -> None:
    form_session = FormSession(CODE)
    assert form_session.take("x = 1") is None
    assert form_session.take(".") is None
    assert form_session.question(80) == "[1] Send   [2] Run it   [0] Cancel"
    with pytest.raises(InvalidInput, match="from 1 to 2"):
        form_session.take("7")
    assert form_session.take("2") == "x:r1"


@pytest.mark.parametrize(
    ("line", "picked"), [("a", ("x",)), ("B A", ("y", "x")), ("a,b", ("x", "y")), ("aab", ("x", "y"))]
)
def test_options_are_picked_by_letter(line: str, picked: tuple[str, ...]) -> None:
    assert fill(PICK, line) == ("f:r1", {"options": picked})


@pytest.mark.parametrize("line", ["", "C", "A!", "1"])
def test_other_letters_are_refused(line: str) -> None:
    with pytest.raises(InvalidInput, match="from A to B"):
        fill(PICK, line)


def test_one_option_means_one_letter() -> None:
    one = Form("Pick", "f:r1", (PickField("options", "Which?", (("x", "one"), ("y", "two"))),))
    with pytest.raises(InvalidInput, match="Type one letter from A to B"):
        fill(one, "A B")


def test_an_empty_answer_is_asked_for_again() -> None:
    form_session = FormSession(TWO_LINES)
    with pytest.raises(InvalidInput, match="cannot be empty"):
        form_session.take(".")
    assert form_session.take("now") is None
    assert form_session.take(".") == "e:q"


def test_what_is_too_long_is_refused() -> None:
    with pytest.raises(InvalidInput, match="the limit is 3"):
        fill(Form("Short", "u", (TextField("text", "?", max_length=3),)), "long")


def test_a_question_shows_what_a_field_holds() -> None:
    assert FormSession(CODE).question(80) == (
        "Code\nCurrent text:\n    start\n"
        "Type the text, then a line with a single dot. A dot alone keeps the current text."
    )
    assert FormSession(PICK, {"options": ("y",)}).question(80) == (
        "Which?\n  A  one\n  B  two (picked)\nType the letters, such as A C. An empty line keeps what is picked."
    )


def test_an_empty_line_keeps_what_is_picked_and_leaves_out_what_is_optional() -> None:
    days = PickField("days", "Days", (("mon", "Monday"), ("tue", "Tuesday")), picked=("tue",))
    form = Form("Every question", "s:add", (days, TextField("zone", "Another time zone", required=False)))
    form_session = FormSession(form)
    assert form_session.question(80).endswith("Type one letter. An empty line keeps what is picked.")
    assert form_session.take("") is None
    assert form_session.question(80).endswith("Type one line, or leave it empty.")
    assert form_session.take("") == "s:add"
    assert form_session.values == {"days": ("tue",), "zone": ("",)}


TWO_FIELDS = Form("Import", "i:apply", (TextField("name", "Name"), TextField("text", "Text", lines=9)))


@pytest.mark.parametrize(
    ("lines", "draft"),
    [
        ((), {"text": ("old",)}),
        (("a.md",), {"name": ("a.md",), "text": ("old",)}),
        (("a.md", "one", "", "two"), {"name": ("a.md",), "text": ("one\n\ntwo",)}),
        (("a.md", "", " "), {"name": ("a.md",), "text": ("old",)}),
        (("a.md", "new", "."), {"name": ("a.md",), "text": ("new",)}),
    ],
)
def test_a_draft_is_all_that_was_typed_so_far(lines: tuple[str, ...], draft: dict[str, tuple[str, ...]]) -> None:
    form_session = FormSession(TWO_FIELDS, {"text": ("old",)})
    for line in lines:
        form_session.take(line)
    assert form_session.draft == draft
