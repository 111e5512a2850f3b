"""Signed links: what they allow comes back, nothing else opens, and only code questions get one."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.actions import Fill, Open, Snippet, Try, encode
from bot.core.cards import Button, Card, Form, TextField
from bot.core.events import Press, Submit
from bot.core.links import EditorAccess, ExpiredLink, InvalidLink, Links, hosts_of
from service.wire import Platform, Where, Who

NOW = datetime(2026, 3, 2, 8, 0, tzinfo=UTC)
LINKS = Links("https://quiz.example/", "a-secret-of-the-tests")
ANN = Who(platform="discord", workspace="1", member="2", name="Ann")
HERE = Where(channel="3", name="general")
CODE = Form("Your answer", encode(Fill("r12")), (TextField("code", "Your code", code=True),))

words = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=80)
members = st.builds(
    Who, platform=st.sampled_from(get_args(Platform)), workspace=words, member=words, name=words, admin=st.booleans()
)


def token_of(url: str) -> str:
    assert url.startswith("https://quiz.example/e/")
    return url.removeprefix("https://quiz.example/e/")


@given(members, words, st.sampled_from(["r1", "p999999999999999999"]))
def test_a_link_opens_as_what_it_was_made_for_and_makes_no_admin(who: Who, channel: str, ref: str) -> None:
    token = token_of(LINKS.editor(who, Where(channel=channel, name="x"), ref, NOW).url)
    assert LINKS.verify(token, NOW) == EditorAccess(
        who.model_copy(update={"admin": False}), Where(channel=channel), ref
    )


def test_a_link_fits_a_button_of_every_chat() -> None:
    snowflake = "1234567890123456789"
    who = Who(platform="discord", workspace=snowflake, member=snowflake, name="Ångström, Dr. " * 2)
    assert len(LINKS.editor(who, Where(channel=snowflake, name="c" * 100), "r123456", NOW).url) <= 300


def test_a_link_lives_a_day() -> None:
    token = token_of(LINKS.editor(ANN, HERE, "r1", NOW).url)
    assert LINKS.verify(token, NOW + timedelta(hours=23, minutes=59)).ref == "r1"
    with pytest.raises(ExpiredLink):
        LINKS.verify(token, NOW + timedelta(hours=24))


@given(st.data())
def test_a_changed_link_opens_nothing(data: st.DataObject) -> None:
    token = token_of(LINKS.editor(ANN, HERE, "r1", NOW).url)
    place = data.draw(st.integers(0, len(token) - 1))
    other = data.draw(st.sampled_from("abcXYZ019-_."))
    changed = token[:place] + other + token[place + 1 :]
    if changed != token:
        with pytest.raises(InvalidLink):
            LINKS.verify(changed, NOW)


def test_a_link_has_one_spelling() -> None:
    token = token_of(LINKS.editor(ANN, HERE, "r1", NOW).url)
    letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    for place, old in enumerate(token):
        for letter in letters:
            if letter != old:
                with pytest.raises(InvalidLink):
                    LINKS.verify(token[:place] + letter + token[place + 1 :], NOW)


@given(st.text(max_size=60))
def test_no_other_text_opens_anything(text: str) -> None:
    with pytest.raises(InvalidLink):
        LINKS.verify(text, NOW)


def test_another_secret_another_purpose_and_another_place_sign_nothing_here() -> None:
    token = token_of(LINKS.editor(ANN, HERE, "r1", NOW).url)
    with pytest.raises(InvalidLink):
        Links("https://quiz.example", "another-secret-of-tests").verify(token, NOW)
    with pytest.raises(InvalidLink):
        LINKS.verify(LINKS.post_token(token), NOW)
    assert LINKS.post_token(token) != LINKS.post_token(token + "x")


def test_a_form_for_code_gets_a_link_and_no_other_does() -> None:
    event = Press("e", NOW, ANN, HERE, encode(Open("r12")))
    linked = LINKS.with_editor_link(CODE, event)
    assert isinstance(linked, Form)
    assert [link.label for link in linked.links] == ["Open the editor"]
    assert LINKS.verify(token_of(linked.links[0].url), NOW).ref == "r12"
    snippet = Form("Run", encode(Snippet()), CODE.fields)
    words = Form("Your answer", encode(Fill("r12")), (TextField("text", "Your answer"),))
    card = Card("Your answer", "", (), (Button("A", "o:r12:a"),))
    assert [LINKS.with_editor_link(said, event) for said in (snippet, words, card)] == [snippet, words, card]


def test_what_is_practised_keeps_its_question() -> None:
    form = Form("Practice", encode(Fill("p5,code,,tensors")), CODE.fields)
    linked = LINKS.with_editor_link(form, Press("e", NOW, ANN, HERE, "n::"))
    assert LINKS.verify(token_of(linked.links[0].url), NOW).ref == "p5"


def test_what_came_of_code_leads_back_to_the_editor() -> None:
    card = Card("Examples: 0 of 2 passed", "")
    for action in (Fill("r12"), Try("r12")):
        event = Submit("e", NOW, ANN, HERE, encode(action), {"code": ("x",)})
        assert len(LINKS.with_editor_link(card, event).links) == 1
    for event in (
        Submit("e", NOW, ANN, HERE, encode(Fill("r12")), {"text": ("x",)}),
        Submit("e", NOW, ANN, HERE, encode(Snippet()), {"code": ("x",)}),
        Submit("e", NOW, ANN, HERE, "zz", {"code": ("x",)}),
    ):
        assert LINKS.with_editor_link(card, event) == card


def test_the_web_chat_uses_its_own_editor() -> None:
    ann = ANN.model_copy(update={"platform": "web"})
    assert LINKS.with_editor_link(CODE, Press("e", NOW, ann, HERE, "a:r12")) == CODE


@pytest.mark.parametrize(
    ("url", "hosts"),
    [
        ("https://quiz.example.com", ("quiz.example.com",)),
        ("http://[::1]:8765/", ("[::1]",)),
        ("https://Quiz.example:8443/", ("Quiz.example",)),
        ("", ()),
    ],
)
def test_the_name_in_an_address(url: str, hosts: tuple[str, ...]) -> None:
    assert hosts_of(url) == hosts
