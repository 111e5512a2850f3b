"""The preview of a question: its scenes, the texts of four chats, and the page, which asks nothing of anybody."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path

import pytest

from bot import discord, slack
from bot.core.cards import Card, Form
from bot.core.text import outbox_card
from bot.preview.html import discord_message_html, modal_html, view_html
from bot.preview.html import slack_message_html as slack_message_html
from bot.preview.scenes import PLATFORMS, make_scenes, page_html, scene_data, scene_text, write_page
from service.wire import AnswerKey, QuestionView
from tests.bot.samples import (
    CHOICE,
    CHOICE_KEY,
    CODE,
    GALLERY,
    OPEN,
    OPEN_KEY,
    OUTPUT,
    QUESTION_POST,
    SEVERAL,
    VALUE,
    VALUE_KEY,
)

QUESTIONS: dict[str, tuple[QuestionView, AnswerKey]] = {
    "choice": (CHOICE, CHOICE_KEY),
    "several": (SEVERAL, CHOICE_KEY.model_copy(update={"question": SEVERAL})),
    "value": (VALUE, VALUE_KEY),
    "output": (OUTPUT, VALUE_KEY.model_copy(update={"question": OUTPUT, "answer": "1\n2"})),
    "code": (CODE, VALUE_KEY.model_copy(update={"question": CODE, "answer": "def softmax(x): ..."})),
    "open": (OPEN, OPEN_KEY),
}


class Page(HTMLParser):
    """The tags of a page, and whether each is closed."""

    VOID = ("meta", "input", "hr", "br", "img")

    def __init__(self, html: str) -> None:
        super().__init__()
        self.opened: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in self.VOID:
            self.opened.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in self.VOID:
            assert self.opened.pop() == tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        assert tag in self.VOID
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data


def whole(name: str) -> str:
    return page_html(name, [(name, make_scenes(*QUESTIONS[name]))])


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_post_and_the_form_tell_no_key_and_the_reveal_does(name: str) -> None:
    post, form, reveal = make_scenes(*QUESTIONS[name])
    why = QUESTIONS[name][1].why
    for platform in PLATFORMS:
        assert QUESTIONS[name][0].prompt[:4] in scene_text(post, platform)
        if why:
            assert why[:20] not in scene_text(post, platform) + scene_text(form, platform)
            assert why[:20] in scene_text(reveal, platform)
    assert [scene.private for scene in (post, form, reveal)] == [False, True, False]


def test_the_invented_answers_add_up() -> None:
    reveal = make_scenes(*QUESTIONS["choice"])[2]
    assert "3 of 5 answered right" in scene_text(reveal, "console")
    assert "`██████░░░░` 3 (60%) right: It raises" in scene_text(reveal, "discord")
    assert scene_text(reveal, "slack").count("1 (20%) wrong") == 2


def test_no_open_answer_is_called_right() -> None:
    said = scene_text(make_scenes(*QUESTIONS["open"])[2], "console")
    assert "5 members answered." in said and "First with" not in said


def test_a_modal_and_a_view_read_as_text() -> None:
    form = make_scenes(*QUESTIONS["code"])[1]
    for platform in ("discord", "slack"):
        said = scene_text(form, platform)
        assert said.startswith("[Your answer]\n")
        for words in ("Your code", "def softmax(x):", "Run the examples"):
            assert words in said
    assert "( ) A " in scene_text(make_scenes(*QUESTIONS["several"])[1], "slack")


def test_deadlines_look_as_the_chats_show_them() -> None:
    post = outbox_card(QUESTION_POST)
    (shown,) = map(discord_message_html, discord.bodies(post))
    assert "Thursday, 05 March 2026 16:00" in shown and "&lt;t:" not in shown
    (shown,) = map(slack_message_html, slack.bodies(post))
    assert "Open until Thursday 5 March, 17:00 (Europe/Berlin)." in shown


def test_the_data_is_what_is_sent() -> None:
    post, form, _ = make_scenes(*QUESTIONS["value"])
    assert isinstance(post.content, Card) and isinstance(form.content, Form)
    assert scene_data(post, "discord") == discord.bodies(post.content)
    assert scene_data(form, "slack") == [slack.view(form.content)]


@pytest.mark.parametrize("name", QUESTIONS)
def test_the_page_is_well_formed_and_fetches_nothing(name: str) -> None:
    page = Page(whole(name))
    assert page.opened == []
    assert not {"script", "link", "img", "iframe", "form"} & {tag for tag, _ in page.tags}
    assert not any(key in attrs for _, attrs in page.tags for key in ("src", "style", "onclick"))
    assert "url(" not in whole(name)
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("name", QUESTIONS)
def test_every_field_of_the_page_has_its_label(name: str) -> None:
    page = Page(whole(name))
    labeled = {attrs.get("for") for tag, attrs in page.tags if tag == "label"}
    for tag, attrs in page.tags:
        if tag == "textarea" or (tag == "input" and attrs.get("type") not in ("radio", "checkbox")):
            assert attrs["id"] in labeled
    assert [tag for tag, _ in page.tags if re.fullmatch("h[123]", tag)][:3] == ["h1", "h2", "h3"]


def test_the_page_shows_each_scene_in_three_chats() -> None:
    page = Page(whole("choice"))
    columns = [attrs["aria-label"] for _, attrs in page.tags if (attrs.get("class") or "").startswith("column ")]
    assert columns == [
        f"{scene.name}: {chat}" for scene in make_scenes(*QUESTIONS["choice"]) for chat in ("Web", "Discord", "Slack")
    ]


def test_a_page_of_several_drawings_keeps_their_ids_apart() -> None:
    page = Page(
        page_html("two", [("one", make_scenes(*QUESTIONS["value"])), ("two", make_scenes(*QUESTIONS["value"]))])
    )
    ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
    assert len(ids) == len(set(ids)) > 2


def test_what_an_author_writes_stays_text() -> None:
    evil = CHOICE.model_copy(
        update={"prompt": '<script>alert(1)</script> [x](javascript:alert(1)) <img src=x onerror="y">'}
    )
    page = Page(page_html("<u>", [("<object>", make_scenes(evil, CHOICE_KEY))]))
    assert not {"script", "img", "u", "object"} & {tag for tag, _ in page.tags}
    assert "<script>alert(1)</script>" in page.text
    assert not any((attrs.get("href") or "").startswith("javascript") for _, attrs in page.tags)


@pytest.mark.parametrize("name", GALLERY)
def test_every_card_and_form_has_a_picture(name: str) -> None:
    said = GALLERY[name]
    if isinstance(said, Form):
        found = [modal_html(discord.modal(said), "a"), view_html(slack.view(said), "b")]
    else:
        pngs = said.pictures
        found = [discord_message_html(body, pngs) for body in discord.bodies(said)]
        found += [slack_message_html(body, pngs) for body in slack.bodies(said)]
        assert sum(str(html).count("data:image/png;base64,") for html in found) == 2 * len(pngs)
    for html in found:
        assert Page(str(html)).opened == []


def test_the_page_is_written_to_the_chosen_folder(tmp_path: Path) -> None:
    file = write_page("a/b ..c", [("a", make_scenes(*QUESTIONS["open"]))], tmp_path / "new")
    assert file == tmp_path / "new" / "a-b-..c.preview.html"
    assert file.read_text("utf-8").startswith("<!doctype html>")
