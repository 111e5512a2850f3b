"""Names and texts that are written from right to left have their own direction on every page."""

from __future__ import annotations

import re
from datetime import time
from html.parser import HTMLParser

import pytest

from bot.core.command_parser import suggest
from bot.core.markup import parse, to_html, to_html_inline
from bot.core.quiz import Quiz
from bot.core.text.questions import answer_form
from bot.web import WebChat, build
from bot.web.chat import WHERE
from bot.web.tournament import FIRST_STRONG_ISOLATE, POP_ISOLATE
from service.wire import PlannedSprint, TournamentPlan
from tests.bot.conftest import BANK, QUESTIONS, Room
from tests.bot.web.admin.test_in_a_browser import PAGES as ADMIN_PAGES
from tests.bot.web.admin.test_review import SUGGESTION
from tests.bot.web.http_browser import Browser, opened_browser
from tests.bot.web.quiz_chat import OPERATOR, called, plays, who_is
from tests.bot.web.writers import posted, says

HEBREW = re.compile(r"[\u05d0-\u05ea]")
ISOLATED = re.compile(f"{FIRST_STRONG_ISOLATE}[^{POP_ISOLATE}]*{POP_ISOLATE}")
NAME, OTHER, TEXT, TOPIC = "עדה", "בוב", "שלום לכולם", "טנזורים"
CONTAINERS = ("html", "body", "main", "section", "article", "form", "nav", "table", "tbody", "tr", "ul", "ol", "dl")
"""Elements whose texts are not all in one direction."""
UNSEEN = ("hidden", "checkbox", "radio")
"""Types of inputs whose value nobody sees."""
VOID = ("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr")
DRAWN = ("svg", "title", "script", "pre")
"""Elements whose texts have no direction of their own: code is shown as typed, and styles isolate a drawing's."""


class Reader(HTMLParser):
    """Finds texts from right to left whose direction no element around them has."""

    def __init__(self) -> None:
        super().__init__()
        self.around: list[tuple[str, bool]] = []
        self.lost: list[str] = []
        self.seen = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        own = tag == "bdi" or given.get("dir") == "auto"
        assert not own or tag not in CONTAINERS, f"<{tag}> has texts of several directions"
        if tag == "input" and given.get("type") not in UNSEEN and HEBREW.search(given.get("value") or ""):
            self._count(f"<input> {given['value']}", own)
        if tag not in VOID:
            self.around.append((tag, own))

    def handle_endtag(self, tag: str) -> None:
        while self.around and self.around.pop()[0] != tag:
            pass

    def handle_data(self, data: str) -> None:
        if not HEBREW.search(ISOLATED.sub("", data)) or any(tag in DRAWN for tag, _ in self.around):
            return
        self._count(f"<{self.around[-1][0]}> {data.strip()}", any(own for _, own in self.around))

    def _count(self, text: str, directed: bool) -> None:
        self.seen += 1
        if not directed:
            self.lost.append(text)


def read(page: str) -> Reader:
    reader = Reader()
    reader.feed(page)
    return reader


def hebrew_bank() -> str:
    """Returns the room's bank with every question in Hebrew."""
    text = BANK.read_text(encoding="utf-8").replace("# tensors", f"# {TOPIC}", 1)
    text = re.sub(r"^(What|Which|Write|Why)\b", r"מהו \1", text, flags=re.MULTILINE)
    return re.sub(r"^(- \[.\] `[^`]*`)", r"\1 כן", text, flags=re.MULTILINE)


async def fill(room: Room, chat: WebChat, ann: Browser) -> list[str]:
    """Has something from right to left for every page; returns their paths."""
    who = who_is(ann).model_copy(update={"name": NAME})
    client, event = room.client, room.event_id
    view = await client.bank_import(OPERATOR, event(), BANK.name, hebrew_bank(), True)
    assert view.applied, view.findings
    await plays(room, [called(OTHER)], [who])
    (past,) = (await client.history(who)).rounds
    room.moving.advance(days=1)
    for other in QUESTIONS:
        await client.bank_retire(OPERATOR, event(), other, False)
    await client.report(called(OTHER), event(), "one-right", TEXT)
    await client.suggest(
        called(OTHER), event(), SUGGESTION.replace("# tensors/views", f"# {TOPIC}").replace("What", "מהו")
    )
    await client.season_start(OPERATOR, event(), TEXT)
    await client.tournament_plan(OPERATOR, event(), WHERE, TournamentPlan(title=TEXT))
    for one in (who, called(OTHER)):
        await client.tournament_join(one, event())
    await client.sprint_plan(OPERATOR, event(), WHERE, PlannedSprint(questions=1, seconds=20, topic=TOPIC, at=time(18)))
    await says(chat, OTHER, TEXT, "e")
    code = await client.practice(who, WHERE, kind="code")
    assert code is not None
    editor = await posted(chat, answer_form(code, room.clock()), member=ann.member)
    own = (
        "today",
        "practice?kind=choice",
        "archive",
        f"archive?text={NAME}",
        f"question/{past.ref}",
        "",
        "board",
        "me",
    )
    more = ("sprint", "tournament", "sessions", f"form/{editor}", "practice?kind=open", f"board?topic={TOPIC}")
    return [*own, *more, *(f"admin{path}" for path, _ in ADMIN_PAGES), f"admin/bank?text={TEXT}", "admin/sprints"]


@pytest.mark.slow
async def test_every_page_isolates_what_is_written_from_right_to_left(room: Room, quiz_chat: WebChat) -> None:
    app = build(quiz_chat, Quiz(room.client).handle, suggest, client=room.client)
    async with opened_browser(app) as ann:
        await ann.join(NAME)
        paths = [f"/m/{ann.member}/{path}" for path in await fill(room, quiz_chat, ann)]
        pages = {}
        for path in ["/", *paths]:
            answer = await ann.http.get(path)
            assert answer.status_code == 200, path
            pages[path.removeprefix(f"/m/{ann.member}/")] = read(answer.text)
    lost = {path: page.lost for path, page in pages.items() if page.lost}
    assert lost == {}, "\n".join(map(str, lost.items()))
    assert sum(page.seen for page in pages.values()) > 100
    assert [path for path, page in pages.items() if not page.seen and not path.startswith("admin")] == []


@pytest.mark.parametrize(
    ("markdown", "shown"),
    [
        (f"{TEXT}.", f'<p dir="auto">{TEXT}.</p>'),
        (f"# {TEXT}", f'<h3 dir="auto">{TEXT}</h3>'),
        (f"- {TEXT}\n- two", f'<ul>\n<li dir="auto">{TEXT}</li>\n<li>two</li>\n</ul>'),
        ("مرحبا", '<p dir="auto">مرحبا</p>'),
        ("Łódź, 東京, Ω", "<p>Łódź, 東京, Ω</p>"),
    ],
)
def test_markdown_has_the_direction_of_each_paragraph(markdown: str, shown: str) -> None:
    assert to_html(parse(markdown)) == shown


def test_markdown_inside_a_sentence_is_isolated() -> None:
    assert to_html_inline(parse(f"**{TEXT}** 3")) == f"<bdi><strong>{TEXT}</strong> 3</bdi>"
    assert to_html_inline(parse("**one** 3")) == "<strong>one</strong> 3"
