"""The terminal chat: lines typed become events, replies are shown. The quiz itself is in `core`."""

from __future__ import annotations

import asyncio
import secrets
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

from bot.console.render import LETTERS, button_keys, card_text, field_text, form_text
from bot.console.store import ConsoleStore
from bot.core.cards import Card, Form, PickField, TextField
from bot.core.command_parser import complete
from bot.core.dispatcher import Dispatcher, Target
from bot.core.events import Command, Event, Press, Submit
from bot.core.quiz import Quiz
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.wire import Where, Who

# The console as a platform.

# How many cards back a typed letter or number is looked for.
_REACH = 8


class ConsolePlatform:
    """Shows cards through `write` and knows the choices still on the screen."""

    def __init__(self, store: ConsoleStore, write: Callable[[str], None], width: int = 80) -> None:
        self._store = store
        self._write = write
        self._width = width
        self.names: dict[str, str] = {}
        """Of the members who spoke here."""
        self._choices: list[tuple[str | None, dict[str, str]]] = []

    @property
    def name(self) -> Literal["console"]:
        return "console"

    async def post(self, target: Target, card: Card, key: str) -> str:
        """Show the card; to a member, marked as theirs alone."""
        # Kept first: shown twice would be worse than not shown, and nothing can fail between the two but the terminal.
        ref = self._store.keep(key, card.summary)
        self.show(card, target.member, thread=target.reply_to is not None)
        return ref

    async def find(self, target: Target, key: str) -> str | None:
        return self._store.find(key)

    def show(self, card: Card, member: str | None, *, thread: bool = False) -> None:
        """Write a card and remember its choices."""
        private = f"only you, {self.names.get(member, member)}" if member else ""
        self.say(private or ("#daily, in the thread" if thread else "#daily"), card_text(card, self._width))
        keys = button_keys(card.buttons)
        self._choices.append((member, {key: button.action for key, button in zip(keys, card.buttons, strict=True)}))
        del self._choices[:-_REACH]

    def say(self, place: str, text: str) -> None:
        """Write a text under the name of where it stands."""
        self._write(f"── ({place}) ──\n{text}\n\n")

    def choice(self, member: str, typed: str) -> str | None:
        """The action of what `member` typed, on the newest card they see that offers it."""
        for owner, offered in reversed(self._choices):
            if owner in (None, member) and typed.upper() in offered:
                return offered[typed.upper()]
        return None


# Terminal input and output; works with pipes too.


async def stdin_lines() -> AsyncIterator[str]:
    """Lines typed, without their ends, until the input ends."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[str | None] = asyncio.Queue()

    def give(line: str | None) -> None:
        # The loop may have closed while the thread waited for a line; then nobody wants it.
        if not loop.is_closed():
            loop.call_soon_threadsafe(queue.put_nowait, line)

    def read() -> None:
        for line in sys.stdin:
            give(line.rstrip("\r\n"))
        give(None)

    # A daemon, as a blocking read cannot be interrupted and must not keep the process alive.
    threading.Thread(target=read, name="stdin", daemon=True).start()
    while (line := await queue.get()) is not None:
        yield line


def stdout_write(text: str) -> None:
    """Write at once, so that a pipe sees it too."""
    sys.stdout.write(text)
    sys.stdout.flush()


# Forms, filled in line by line.


class NotThat(Exception):
    """The line does not answer the field; the message says what would."""


@dataclass
class Filling:
    """One form on its way. `drafts` are values typed into the same form before."""

    form: Form
    drafts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _lines: list[str] = field(default_factory=list)

    @property
    def current(self) -> TextField | PickField | None:
        """The field that is asked now; None when all are filled."""
        return next((self._drafted(one) for one in self.form.fields if one.name not in self.values), None)

    @property
    def draft(self) -> dict[str, tuple[str, ...]]:
        """All that was typed so far, lines without their dot included, over what was typed before."""
        current = self.current
        begun = {current.name: ("\n".join(self._lines),)} if current and any(map(str.strip, self._lines)) else {}
        return {**self.drafts, **self.values, **begun}

    def question(self, width: int) -> str:
        """What to ask next."""
        current = self.current
        if current is not None:
            return field_text(current, width)
        offers = [f"[1] {self.form.submit}", *(f"[{n}] {b.label}" for n, b in enumerate(self.form.extras, start=2))]
        return "   ".join([*offers, "[0] Cancel"])

    def take(self, line: str) -> str | None:
        """Take a typed line; the action to submit once all is there. Raises NotThat."""
        current = self.current
        if current is None:
            return self._chosen(line.strip())
        match current:
            case PickField():
                self.values[current.name] = _picked(current, line)
            case TextField():
                self._typed(current, line)
        return self.form.action if self.current is None and not self.form.extras else None

    def _typed(self, current: TextField, line: str) -> None:
        if current.lines == 1 and not current.code:
            self._set(current, line.strip() or current.value)
        elif line.strip() == ".":
            self._set(current, "\n".join(self._lines) if any(map(str.strip, self._lines)) else current.value)
            self._lines.clear()
        else:
            self._lines.append(line)

    def _set(self, current: TextField, text: str) -> None:
        if current.required and not text.strip():
            raise NotThat("Something has to be typed here; `/cancel` leaves the form.")
        if len(text) > current.max_length:
            raise NotThat(f"That is {len(text):,} characters; at most {current.max_length:,} fit.")
        self.values[current.name] = (text,)

    def _drafted(self, one: TextField | PickField) -> TextField | PickField:
        draft = self.drafts.get(one.name)
        if draft is None:
            return one
        if isinstance(one, PickField):
            return PickField(one.name, one.label, one.options, draft, one.several)
        return TextField(one.name, one.label, draft[0], one.hint, one.lines, one.code, one.max_length, one.required)

    def _chosen(self, line: str) -> str:
        actions = [self.form.action, *(button.action for button in self.form.extras)]
        if line.isdecimal() and 1 <= int(line) <= len(actions):
            return actions[int(line) - 1]
        raise NotThat(f"Type a number from 1 to {len(actions)}, or 0 to leave the form.")


def _picked(current: PickField, line: str) -> tuple[str, ...]:
    typed = list(line.upper().replace(",", " ").replace(" ", ""))
    offered = dict(zip(LETTERS, (value for value, _ in current.options), strict=False))
    unknown = [letter for letter in typed if letter not in offered]
    if not typed or unknown or (len(typed) > 1 and not current.several):
        most = "letters" if current.several else "one letter"
        raise NotThat(f"Type {most} from A to {LETTERS[len(offered) - 1]}.")
    return tuple(dict.fromkeys(offered[letter] for letter in typed))


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
    courier = Dispatcher(client, platform)
    chat = _ConsoleSession(Quiz(client), client, platform, clock, store, width)
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


async def _deliver(courier: Dispatcher) -> None:
    """Show what waits, so that it stands before what is typed next; a service away says so when something is asked."""
    with suppress(ServiceUnavailable, ServiceRefused):
        while await courier.once():
            pass


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@dataclass
class _ConsoleSession:
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
            self._aside(f"The quiz could not be joined right now: {error}")
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
