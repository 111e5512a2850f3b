"""The terminal chat: lines typed become events, replies are shown. The quiz itself is in `core`."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime

from bot.core.cards import Form
from bot.core.commands import complete
from bot.core.courier import Courier
from bot.core.events import Command, Event, Press, Submit
from bot.core.quiz import Quiz
from bot.platforms.console.adapter import ConsolePlatform
from bot.platforms.console.filling import Filling, NotThat
from bot.platforms.console.render import form_text
from bot.platforms.console.store import ConsoleStore
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import Where, Who

WORKSPACE = "local"
CHANNEL = Where(channel="daily", name="daily")

_WELCOME = (
    "Type /as NAME to say who you are (the first one here is admin), then /quiz help. "
    "A letter or number presses a button; /quit leaves."
)
_HOW_TO_LEAVE = "/cancel drops this form; /quiz, /quiz-admin, /as or /quit leaves it and is obeyed."


async def run_console(
    client: ServiceClient,
    *,
    clock: Callable[[], datetime],
    lines: AsyncIterator[str],
    write: Callable[[str], None],
    store: ConsoleStore,
    width: int = 80,
    echo: bool = False,
    live: bool = True,
) -> None:
    """Chat until the lines end or `/quit`.

    With `echo` the lines are written too, so that a pipe's output is a transcript. With `live` messages appear while
    nothing is typed; without, only before each line, so that a script always has the same transcript.
    """
    screen = _Screen(write)
    platform = ConsolePlatform(store, screen.show, width)
    courier = Courier(client, platform)
    chat = _Chat(Quiz(client), client, platform, clock, store, width)
    async with AsyncExitStack() as stack:
        if live:
            carrying = asyncio.create_task(courier.run())
            stack.push_async_callback(_end, carrying)
        screen.show(_WELCOME + "\n\n")
        screen.ask(chat.prompt)
        async for line in lines:
            screen.asked(line if echo else None)
            await _deliver(courier)
            if not await chat.take(line):
                break
            await _deliver(courier)
            screen.ask(chat.prompt)


class _Screen:
    """Writes to the terminal; what comes while a line is awaited is set above a fresh prompt."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._prompt = ""

    def show(self, text: str) -> None:
        self._write(f"\n{text}{self._prompt}" if self._prompt else text)

    def ask(self, prompt: str) -> None:
        self._write(prompt)
        self._prompt = prompt

    def asked(self, line: str | None) -> None:
        """The line came; with `line` it is written, as a pipe shows nothing of what is typed."""
        self._prompt = ""
        if line is not None:
            self._write(f"{line}\n")


async def _deliver(courier: Courier) -> None:
    """Show what waits, so that it stands before what is typed next; a service away says so when something is asked."""
    with suppress(ServiceUnavailable, ServiceRefused):
        while await courier.once():
            pass


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@dataclass
class _Chat:
    """Who is speaking, and the form they are filling."""

    quiz: Quiz
    client: ServiceClient
    platform: ConsolePlatform
    clock: Callable[[], datetime]
    store: ConsoleStore
    width: int
    who: Who | None = None
    filling: Filling | None = None
    drafts: dict[tuple[str, str], dict[str, tuple[str, ...]]] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        return f"{self.who.name if self.who else 'nobody'}{' …' if self.filling else ''}> "

    async def take(self, line: str) -> bool:
        """Answer one line; False when it says to leave."""
        typed = line.strip()
        if self.filling is not None:
            if not _leaves_form(line):
                await self._fill(self.filling, line)
                return True
            self._leave(self.filling, typed)
        if typed == "/quit":
            return False
        if typed.startswith("/as "):
            await self._become(typed[4:].strip())
        elif self.who is None:
            self._aside("Say who you are first: /as NAME.")
        elif typed:
            await self._act(self.who, typed)
        return True

    async def _become(self, name: str) -> None:
        name = name[:80]
        admin = self.store.is_first(name)
        self.platform.names[name.lower()] = name
        self.who = Who(platform="console", workspace=WORKSPACE, member=name.lower(), name=name, admin=admin)
        try:
            await self.client.join(self.who, CHANNEL)
        except (ServiceUnavailable, ServiceRefused) as error:
            self._aside(f"The quiz could not be joined just now: {error}")
        self._aside(f"You are {name}{', an admin' if admin else ''}.")

    async def _act(self, who: Who, typed: str) -> None:
        if typed.startswith("/"):
            await self._command(who, typed)
            return
        action = self.platform.choice(who.member, typed)
        if action is None:
            self._aside(f"No button here is called {typed!r}. Commands begin with a slash: /quiz help.")
            return
        await self._send(Press(self._id(), self.clock(), who, CHANNEL, action))

    async def _command(self, who: Who, typed: str) -> None:
        name, _, text = typed[1:].partition(" ")
        if name not in ("quiz", "quiz-admin"):
            self._aside("The commands are /quiz, /quiz-admin, /as NAME and /quit.")
        elif text.endswith("?"):
            self._aside("\n".join(f"/{name} {offer}" for offer in complete(name, text[:-1])) or "Nothing goes on so.")
        else:
            # What was typed on one line may stand for several: `\n` parts the lines of a snippet.
            await self._send(Command(self._id(), self.clock(), who, CHANNEL, name, text.replace("\\n", "\n")))

    def _leave(self, filling: Filling, typed: str) -> None:
        assert self.who is not None
        self.filling = None
        self.drafts[self.who.member, filling.form.action] = filling.draft
        # Drafts live as long as the chat, so `/quit` is promised nothing.
        if filling.draft and typed != "/quit":
            self._aside("The form is left; what you typed stands in it when you open it again.")

    async def _fill(self, filling: Filling, line: str) -> None:
        if line.strip() == "/cancel" or (filling.current is None and line.strip() == "0"):
            self.filling = None
            self._aside("The form is closed; nothing was sent.")
            return
        before = set(filling.values)
        try:
            action = filling.take(line)
        except NotThat as error:
            self._aside(str(error))
            return
        if action is not None:
            await self._submit(filling, action)
        elif set(filling.values) != before:
            self._aside(filling.question(self.width))

    async def _submit(self, filling: Filling, action: str) -> None:
        assert self.who is not None
        self.filling = None
        self.drafts[self.who.member, filling.form.action] = dict(filling.values)
        await self._send(Submit(self._id(), self.clock(), self.who, CHANNEL, action, filling.values))

    async def _send(self, event: Event) -> None:
        reply = await self.quiz.handle(event)
        if isinstance(reply.said, Form):
            drafts = self.drafts.get((event.who.member, reply.said.action), {})
            self.filling = Filling(reply.said, drafts)
            parts = (form_text(reply.said, self.width), _HOW_TO_LEAVE, self.filling.question(self.width))
            self.platform.say(f"only you, {event.who.name}", "\n\n".join(parts))
        else:
            self.platform.show(reply.said, event.who.member)

    def _aside(self, text: str) -> None:
        self.platform.say("console", text)

    def _id(self) -> str:
        return f"console-{secrets.token_hex(8)}"


def _leaves_form(line: str) -> bool:
    """Whether a line is a command and no answer; an indented one belongs to a text or a program."""
    word, _, rest = line.rstrip().partition(" ")
    return word in ("/quiz", "/quiz-admin") or (word == "/as" and bool(rest)) or (word == "/quit" and not rest)
