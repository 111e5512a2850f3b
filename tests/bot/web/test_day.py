"""A team's days on the web, over HTTP: the transcript is committed, so that people can read it."""

from __future__ import annotations

import re
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from html import escape
from pathlib import Path

import pytest
from bs4 import BeautifulSoup, Tag
from markdownify import markdownify

from bot.core.command_parser import suggest
from bot.core.dispatcher import Dispatcher
from bot.core.quiz import Quiz
from bot.web import WebChat, build
from bot.web import app as web_app
from bot.web.chat import WHERE
from bot.web.store import ChatStore
from sandbox.client import SandboxClient
from service.app import Service
from service.app import build as build_service
from service.client import ServiceClient
from service.config import Settings
from service.wire import Who
from tests.bot import day
from tests.bot.day import Transcript, Values
from tests.bot.web.http_browser import Browser, opened_browser
from tests.bot.web.quiz_chat import OPERATOR, called
from tests.bot.web.writers import latest_version
from tests.conftest import TOKEN, Clock

pytestmark = [pytest.mark.slow, pytest.mark.sandbox]
_ARTICLE = re.compile(r"<article .*?</article>", re.DOTALL)
COMMITTED = Path(__file__).parent / "day.md"


@dataclass
class WebDay:
    """The day's chat in browsers without scripts, one for each member."""

    service: Service
    client: ServiceClient
    chat: WebChat
    transcript: Transcript
    people: dict[str, Browser]
    seen: dict[str, str] = field(default_factory=dict)
    versions: list[list[str]] = field(default_factory=list)
    version: int = 0
    operator: Who = OPERATOR

    async def types(self, name: str, command: str, **options: str | int | bool) -> None:
        text = self.transcript.types(name, command, options)
        await self._articles(name)
        browser = self.people[name]
        hidden = {"token": browser.hidden("token"), "event": browser.hidden("event")}
        await self._posts(name, "say", hidden, {"text": text})

    async def presses(self, name: str, label: str, *, card: str = "") -> None:
        path = ""
        while True:
            articles = await self._articles(name, path)
            likely = (_parsed(one) for one in articles if f">{escape(label)}</button>" in one)
            found = [one for one in likely if _title(one).startswith(card) and _button(one, label)]
            earlier = re.search(r'id="earlier" href="[^"]*/(\?before=[^"]+)"', self.people[name].page)
            if found or not earlier:
                break
            path = earlier[1]
        assert found, f"no {label!r} on {card!r}"
        button = _button(found[-1], label)
        assert button is not None
        self.transcript.does(name, f"presses **{label}** on “{_title(found[-1])}”")
        form = button.find_parent("form")
        assert isinstance(form, Tag)
        await self._posts(name, "press", _hidden(form), {"action": str(button["value"])})

    async def chooses(self, name: str, *options: str) -> None:
        own = await self._own(name)
        wanted = [option.replace("`", "") for option in options]
        rows = own.select("ul.options li")
        letter = next(row.select(".letter")[0].text for row in rows for text in wanted if text in row.text)
        labels = [button.text.strip() for button in own.select("button")]
        await self.presses(name, next(label for label in labels if label.partition(" ")[0] == letter))

    async def fills(self, name: str, values: Values, *, submit: str = "") -> None:
        self.transcript.fills(name, values)
        own = await self._own(name)
        if link := own.select_one("a[href*='/form/']"):
            page = (await self.people[name].opens(str(link["href"]))).text
            own = BeautifulSoup(page, "html.parser").select("section.work")[0]
        form = own.select("form[action$=submit]")[0]
        button = _button(form, submit) if submit else form.select_one("button.primary")
        assert button is not None
        filled = {f"v:{key}": _value(form, key, given) for key, given in values.items()}
        left = {str(one["name"]): str(one.get("value") or "") for one in form.select("input[name^='v:']:not([type])")}
        await self._posts(name, "submit", _hidden(form), {"action": str(button["value"])} | left | filled)

    async def comes(self) -> None:
        delivering = Dispatcher(self.client, self.chat)
        while await delivering.once():
            pass
        if await latest_version(self.chat) != self.version:
            for name in self.people:
                await self._notes(name)
        self.version = await latest_version(self.chat)

    async def _articles(self, name: str, path: str = "") -> list[str]:
        """Returns the messages on the member's page of the channel, oldest first."""
        browser = self.people[name]
        return _ARTICLE.findall((await browser.opens(f"/m/{browser.member}/{path}")).text)

    async def _own(self, name: str) -> Tag:
        """Returns the member's newest private message."""
        return _parsed([one for one in await self._articles(name) if 'class="message private"' in one][-1])

    async def _posts(self, name: str, kind: str, hidden: dict[str, str], fields: Mapping[str, str | list[str]]) -> None:
        browser = self.people[name]
        answer = await browser.http.post(f"/m/{browser.member}/{kind}", data={**hidden, **fields})
        assert answer.status_code in (200, 303), answer.text
        await self._notes(name)

    async def _notes(self, name: str) -> None:
        """Writes down the messages that are new or edited on the member's page."""
        for html in await self._articles(name):
            version = re.findall(r'id="m\d+"|data-version="\d+"', html)[:2]
            if version in self.versions:
                continue
            self.versions.append(version)
            article = _parsed(html)
            key, text = str(article["id"]), _markdown(article)
            before = self.seen.get(key)
            self.seen[key] = text
            thread = ", in reply to the question" if article.select("a.thread") else ""
            place = f"only {name} sees this" if "private" in article["class"] else f"#daily{thread}"
            if before is None or _heading(before) != _heading(text):
                self.transcript.shows(place, text)
            elif before != text:
                self.transcript.edits(f"{place}: “{_title(article)}”", before, text)


def _parsed(html: str) -> Tag:
    article = BeautifulSoup(html, "html.parser").article
    assert article is not None
    return article


def _title(article: Tag) -> str:
    heading = article.select_one("h2")
    return heading.text.strip() if heading else ""


def _heading(text: str) -> str:
    return text.partition("\n")[0]


def _button(within: Tag, label: str) -> Tag | None:
    return next((one for one in within.select("button[name=action]") if one.text.strip() == label), None)


def _hidden(form: Tag) -> dict[str, str]:
    return {str(one["name"]): str(one["value"]) for one in form.select("input[type=hidden]")}


def _value(form: Tag, name: str, given: str | tuple[str, ...]) -> list[str] | str:
    """Returns what the form sends: a text, or the values of the options whose label has the text."""
    labels = [label for label in form.select("label.pick") if label.select(f"input[name='v:{name}']")]
    if not labels:
        return str(given)
    wanted = (given,) if isinstance(given, str) else given
    return [str(next(one.select("input")[0]["value"] for one in labels if text in one.text)) for text in wanted]


def _markdown(article: Tag) -> str:
    """Returns a message as Markdown: its texts, and its fields and buttons in brackets."""
    shown = BeautifulSoup(str(article), "html.parser")
    for option in shown.select("fieldset > label.pick")[day.MOST :]:
        option.decompose()
    for by in shown.select("p.by, progress, .hidden, pre[aria-hidden], input[type=hidden], input[type=file]"):
        by.decompose()
    for button in shown.select("button, a.button"):
        button.replace_with(f"[{button.text.strip()}] ")
    for letter in shown.select(".letter"):
        letter.replace_with("" if letter.text == "•" else f"{letter.text}: ")
    for option in shown.select("label.pick"):
        option.replace_with(f"- {option.text.strip()}\n")
    text = markdownify(str(shown), heading_style="ATX", bullets="-")
    text = re.sub(r"\n\s*\n+", "\n\n", text.strip())
    text = re.sub(r"^- *(.*)\n\n +(?=\S)", lambda found: f"- {found[1]} ".replace("  ", " "), text, flags=re.M)
    return re.sub(r"(?<=\])\s*\n+\s*(?=\[)", "  ", text)


async def test_a_few_days_read_as_they_should(
    settings: Settings, clock: Clock, sandbox: SandboxClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Nobody in it scrolls: a page holds the whole of what is looked at.
    monkeypatch.setattr(web_app, "LONGEST_PAGE", 100_000)
    async with (
        build_service(settings, clock, sandbox).running() as service,
        ServiceClient.inside(service.api, TOKEN) as client,
        AsyncExitStack() as stack,
    ):
        chat = WebChat(ChatStore(client), clock)
        app = build(chat, Quiz(client).handle, suggest, client=client)
        people: dict[str, Browser] = {}
        for name in ("Boss", "Ada", "Bob", "Cleo"):
            people[name] = browser = await stack.enter_async_context(opened_browser(app))
            await browser.opens("/")
            joined = await browser.http.post("/join", data={"token": browser.hidden("token"), "name": name})
            browser.home = str(joined.headers["location"])
            # The order of options depends on the number of the member, so each gets it in turn.
            await client.join(called(name, browser.member), WHERE)
        played = WebDay(service, client, chat, Transcript("A few days on the web", clock), people)
        await day.imports(played)
        await day.play(played)
        chat.close()
    played.transcript.compare(COMMITTED, tmp_path)
