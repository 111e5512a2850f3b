"""A few days of a team, played the same way on each chat, and written down as a transcript that people can read."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol

from service.app import Service
from service.client import ServiceClient
from service.wire import Who
from tests.conftest import MONDAY, Clock

BANK = Path(__file__).parent / "fixtures" / "day.md"
RIGHT = {"transpose-shape": "`(3, 2)`", "eval-mode": "how dropout", "softmax-sums": "the classes of each row"}
WRONG = {"transpose-shape": "`(2, 3)`"}
MOST = 5
"""Options of a menu that are written down."""
PROGRAM = "def add_one(x):\n    return x + 1"
MISTAKE = "def add_one(x):\n    return x + 2"
SUGGESTION = (
    "### Q1. Why do we call `optimizer.zero_grad()` before `loss.backward()`?\n\n"
    "**Answer:** `backward` adds to the gradients that are there, so those of the last step would count again.\n"
)
Values = Mapping[str, str | tuple[str, ...]]
"""What is filled into a form: texts, and for options a part of the label or the value of each."""


@dataclass
class Transcript:
    """Markdown of what was done and shown. Times are those of the test's clock."""

    title: str
    clock: Clock
    parts: list[str] = field(default_factory=list)

    def section(self, title: str) -> None:
        self.parts.append(f"## {self.clock.now:%A %H:%M} UTC: {title}")

    def does(self, name: str, what: str) -> None:
        self.parts.append(f"**{name}** {what}")

    def types(self, name: str, command: str, options: Mapping[str, str | int | bool]) -> str:
        """Adds a command; returns its text."""
        line = line_of(command, options)
        self.does(name, f"types `{line}`")
        return line

    def fills(self, name: str, values: Values) -> None:
        """Adds what is filled into a form."""
        lines = [f"- {key}: {_line(given)}" for key, given in values.items()]
        self.does(name, "\n".join(["fills in the form and submits it:\n", *lines]))

    def shows(self, place: str, text: str) -> None:
        """Adds a message, as a quote under the name of its place."""
        lines = "\n".join(f"> {line}".rstrip() for line in paragraphs(readable(text)).splitlines())
        self.parts.append(f"*{place}*\n\n{lines}")

    def edits(self, place: str, before: str, after: str) -> None:
        """Adds the lines of a message that an edit changed."""
        old = readable(before).splitlines()
        new = [line for line in readable(after).splitlines() if line not in old]
        self.shows(f"{place} is edited", "\n".join(["…", *new]))

    def compare(self, path: Path, made: Path) -> None:
        """Fails if the transcript is not the committed one; the new one is then in the folder `made`."""
        parts = [
            part for part, after in zip(self.parts, [*self.parts[1:], "## "], strict=True) if not empty(part, after)
        ]
        text = "\n\n".join((f"# {self.title}", *parts)) + "\n"
        before = path.read_text(encoding="utf-8") if path.exists() else ""
        if text != before:
            new = made / path.name
            new.write_text(text, encoding="utf-8")
            lines, old = text.splitlines(), before.splitlines()
            place = next((at for at, pair in enumerate(zip(lines, old, strict=False)) if pair[0] != pair[1]), len(old))
            there = "\n".join(lines[max(0, place - 3) : place + 3])
            raise AssertionError(
                f"The transcript differs from {path} at line {place + 1}. If that is meant, review it and copy it: "
                f"cp {new} {path}\n{there}"
            )


def line_of(command: str, options: Mapping[str, str | int | bool]) -> str:
    """Returns a command as it is typed."""
    words = [f"{key}:{('off', 'on')[value] if isinstance(value, bool) else value}" for key, value in options.items()]
    return " ".join([f"/{command}", *words])


def empty(part: str, after: str) -> bool:
    """Returns whether a part is the heading of a section without anything in it."""
    return part.startswith("## ") and after.startswith("## ")


def readable(text: str) -> str:
    """Replaces what differs from run to run, and timestamps that a chat shows in the reader's zone."""
    text = re.sub(r"<t:(\d+):R>", "*the time left*", text)
    text = re.sub(r"<t:(\d+):\w>", lambda found: f"{_instant(int(found[1])):%A %d %B %Y %H:%M} UTC", text)
    text = re.sub(r"https?://\S+?(?=[)\s>]|$)", lambda found: re.sub(r"\d{6,}", "…", found[0]), text)
    text = re.sub(r"Finished in [\d.,]+ m?s", "Finished in … ms", text)
    text = re.sub(r"<#\d+>", "*the channel*", text)
    return re.sub(r"(<@&?)\d+>", r"\1…>", text)


def paragraphs(text: str) -> str:
    """Puts an empty line where a chat breaks a line and Markdown would not, except in lists and code."""
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= line.startswith("```")
        apart = lines and not fenced and lines[-1] and line and not line.startswith(("- ", "```", "|", "  "))
        lines += ["", line] if apart else [line]
    return "\n".join(lines)


def _line(given: str | tuple[str, ...]) -> str:
    text = ", ".join(given) if isinstance(given, tuple) else given
    return f"`{text}`" if "\n" not in text else f"\n\n```\n{text.rstrip()}\n```"


def _instant(seconds: int) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


class Chat(Protocol):
    """A chat as its members use it. Every method writes what was done, and what came, into the transcript."""

    @property
    def transcript(self) -> Transcript: ...

    @property
    def service(self) -> Service: ...

    @property
    def client(self) -> ServiceClient: ...

    @property
    def operator(self) -> Who: ...

    async def types(self, name: str, command: str, **options: str | int | bool) -> None:
        """Types a command; options that are shown in the transcript as `name:value`."""

    async def presses(self, name: str, label: str, *, card: str = "") -> None:
        """Presses a button of the newest card that the member sees, or of the newest with this title."""

    async def chooses(self, name: str, *options: str) -> None:
        """Presses the letter of the option with one of these texts on the member's own card."""

    async def fills(self, name: str, values: Values, *, submit: str = "") -> None:
        """Fills in the form that was opened, and submits it."""

    async def comes(self) -> None:
        """Delivers what waits, and writes down what is new or was edited for anybody."""


async def passes(chat: Chat, until: datetime, title: str) -> None:
    """Lets time pass, and shows what comes by itself. What members do follows in the middle of the minute."""
    chat.transcript.clock.now = until
    chat.transcript.section(title)
    await settle(chat)
    chat.transcript.clock.advance(seconds=30)


async def settle(chat: Chat) -> None:
    """Runs what is due at this time, and delivers it."""
    await chat.service.tick()
    await chat.service.jobs.run_pending()
    await chat.service.tick()
    await chat.comes()


def at(day: int, hour: int, minute: int = 0) -> datetime:
    """Returns an instant of the first week, in UTC; day 0 is the first Monday."""
    return MONDAY.replace(hour=hour, minute=minute) + timedelta(days=day)


async def imports(chat: Chat) -> None:
    view = await chat.client.bank_import(chat.operator, "import", BANK.name, BANK.read_text(encoding="utf-8"), True)
    assert view.applied, view.findings
    await chat.service.jobs.run_pending()


async def play(chat: Chat) -> None:
    """Plays the days: Boss leads, Ada is right, Bob is wrong at first, Cleo is absent."""
    chat.transcript.section("Setup")
    chat.transcript.clock.advance(seconds=30)
    await chat.types("Boss", "quiz-admin setup")
    await chat.presses("Boss", "10:00")
    await chat.fills("Boss", {"days": "Monday to Friday", "zone": "Europe/Berlin"})
    await chat.types("Boss", "quiz-admin review me")
    await _answers_of_every_kind(chat)
    await _close_and_results(chat)
    await _second_day(chat)
    await _reminder_and_suggestion(chat)
    await passes(chat, at(7, 8), "The digest of the week comes to the lead")


async def _answers_of_every_kind(chat: Chat) -> None:
    await passes(chat, at(0, 9), "The daily question")
    await chat.presses("Ada", "Answer", card="Question for")
    await chat.chooses("Ada", WRONG["transpose-shape"])
    # A minute apart, because an answer counts from the time at which the chat says it was given.
    chat.transcript.clock.advance(minutes=1)
    await chat.chooses("Ada", RIGHT["transpose-shape"])
    await chat.presses("Bob", "Answer", card="Question for")
    await chat.chooses("Bob", WRONG["transpose-shape"])
    await passes(chat, at(0, 9, 2), "The question shows how many have answered")

    extras: Sequence[tuple[dict[str, str], Values]] = (
        ({"kind": "choice", "level": "principal"}, {"options": ("x[1:]", "x.t()")}),
        ({"kind": "value"}, {"text": "(3,)"}),
        ({"kind": "output"}, {"text": "3"}),
        ({"kind": "open"}, {"text": "Small gradients vanish in float16, so we scale them up and back."}),
    )
    for minute, (options, values) in enumerate(extras, start=3):
        await passes(chat, at(0, 9, minute), f"An extra question: {options['kind']}")
        await chat.types("Boss", "quiz-admin ask", **options, **{"closes-in": "5h"})
        await settle(chat)
        await chat.presses("Ada", "Answer", card="Extra question")
        await chat.fills("Ada", values)
    await passes(chat, at(0, 9, 10), "An extra question: code, judged in the sandbox")
    await chat.types("Boss", "quiz-admin ask", kind="code", **{"closes-in": "5h"})
    await settle(chat)
    for program in (MISTAKE, PROGRAM):
        chat.transcript.clock.advance(minutes=1)
        if program is MISTAKE:
            await chat.presses("Ada", "Answer", card="Extra question")
        else:
            await chat.presses("Ada", "Change my answer")
        await chat.fills("Ada", {"code": program}, submit="Submit")
        await settle(chat)


async def _close_and_results(chat: Chat) -> None:
    await passes(chat, at(0, 15), "The extra questions close")
    await passes(chat, at(0, 17), "The daily question closes")
    for name, who in (("Ada", "right"), ("Bob", "wrong"), ("Cleo", "absent")):
        chat.transcript.section(f"My result, {who}")
        await chat.presses(name, "My result", card="Question for Monday")
        if who != "absent":
            await chat.presses(name, "Good question")
    chat.transcript.section("The board")
    await chat.types("Cleo", "quiz board", period="day")


async def _second_day(chat: Chat) -> None:
    await passes(chat, at(1, 9), "The second daily question")
    await chat.presses("Ada", "Answer", card="Question for Tuesday")
    await chat.chooses("Ada", *RIGHT.values())
    await chat.types("Ada", "quiz notify", what="reminders", switch=True)
    await passes(chat, at(1, 17), "It closes")
    await passes(chat, at(1, 17, 1), "The missed question comes back")
    for name in ("Bob", "Cleo"):
        await chat.types(name, "quiz practice", kind="choice", level="mid")
        await chat.chooses(name, RIGHT["transpose-shape"])


async def _reminder_and_suggestion(chat: Chat) -> None:
    await passes(chat, at(2, 9), "The third daily question")
    await chat.types("Ada", "quiz suggest")
    await chat.fills("Ada", {"text": SUGGESTION})
    await settle(chat)
    await chat.presses("Boss", "Review", card="A question was suggested")
    await chat.presses("Boss", "Accept")
    await settle(chat)
    await passes(chat, at(2, 16), "A reminder, an hour before the close")
    await chat.presses("Ada", "Answer", card="Your streak is at risk")
    await chat.chooses("Ada", *RIGHT.values())
    await passes(chat, at(2, 17), "It closes too")
