"""Runs the terminal chat: converts typed lines to events and shows the replies."""

from __future__ import annotations

import asyncio
import secrets
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Literal

from bot.console.render import button_keys, card_text, field_text, form_text
from bot.console.store import ConsoleStore
from bot.core.cards import Card, Field, Form, PickField, TextField
from bot.core.command_parser import complete
from bot.core.dispatcher import Dispatcher, Target
from bot.core.events import Command, Event, Press, Submit
from bot.core.quiz import Quiz
from bot.core.rendering import as_typed
from bot.core.text import console as words
from bot.core.text.words import LETTERS
from service.client import ServiceClient, ServiceRefused, ServiceUnavailable
from service.process import Clock
from service.wire import Where, Who

# The console as a platform

_CARDS_KEPT = 8
"""Number of recent cards whose buttons can be chosen by a typed letter or number."""


class ConsolePlatform:
    """Shows cards through `write`, and remembers the buttons of recent ones."""

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
        """Shows a card; one for a member only is marked as private."""
        # Record it first: showing it twice would be worse than not at all, and only the terminal can fail in between.
        ref = self._store.keep(key, card.summary)
        self.show(card, target.member, thread=target.reply_to is not None and not target.broadcast)
        return ref

    async def edit(self, target: Target, card: Card, ref: str, key: str) -> None:
        """Does nothing: a terminal cannot change what it has shown."""

    async def find(self, target: Target, key: str) -> str | None:
        return self._store.find(key)

    def show(self, card: Card, member: str | None, *, thread: bool = False) -> None:
        """Shows a card and remembers its buttons."""
        private = f"only you, {self.names.get(member, member)}" if member else ""
        self.say(private or ("#daily, in the thread" if thread else "#daily"), card_text(card, self._width))
        keys, buttons = button_keys(card.all_buttons), card.all_buttons
        self._choices.append((member, {key: button.action for key, button in zip(keys, buttons, strict=True)}))
        del self._choices[:-_CARDS_KEPT]

    def say(self, place: str, text: str) -> None:
        """Writes a text under a line that names its place."""
        self._write(f"── ({place}) ──\n{text}\n\n")

    def choice(self, member: str, typed: str) -> str | None:
        """Returns the action of a typed button, from the newest card visible to the member that has it."""
        for owner, offered in reversed(self._choices):
            if owner in (None, member) and typed.upper() in offered:
                return offered[typed.upper()]
        return None


# Terminal input and output; pipes work too


async def stdin_lines() -> AsyncIterator[str]:
    """Yields input lines without line breaks until the input ends."""
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[str | None] = asyncio.Queue()

    def give(line: str | None) -> None:
        # The loop may have closed while the thread waited for input.
        if not loop.is_closed():
            loop.call_soon_threadsafe(queue.put_nowait, line)

    def read() -> None:
        for line in sys.stdin:
            give(line.rstrip("\r\n"))
        give(None)

    # A daemon thread: a blocking read cannot be interrupted, and must not keep the process alive.
    threading.Thread(target=read, name="stdin", daemon=True).start()
    while (line := await queue.get()) is not None:
        yield line


def stdout_write(text: str) -> None:
    """Writes and flushes, so that pipes see it at once."""
    sys.stdout.write(text)
    sys.stdout.flush()


# Forms, filled in line by line


class InvalidInput(Exception):
    """A line that is invalid for its field. The message says what is accepted."""


@dataclass
class FormSession:
    """A form being filled in. `drafts` are values typed earlier into the same form."""

    form: Form
    drafts: dict[str, tuple[str, ...]] = field(default_factory=dict)
    values: dict[str, tuple[str, ...]] = field(default_factory=dict)
    _lines: list[str] = field(default_factory=list)

    @property
    def current(self) -> TextField | PickField | None:
        """The field to fill in next; None if all are filled."""
        return next((self._drafted(one) for one in self.form.fields if one.name not in self.values), None)

    @property
    def draft(self) -> dict[str, tuple[str, ...]]:
        """All values typed so far: drafts, filled fields, and the lines of the current field."""
        current = self.current
        begun = {current.name: ("\n".join(self._lines),)} if current and any(map(str.strip, self._lines)) else {}
        return {**self.drafts, **self.values, **begun}

    def question(self, width: int) -> str:
        """Returns the prompt for the current field, or for submitting."""
        current = self.current
        if current is not None:
            return field_text(current, width)
        offers = [f"[1] {self.form.submit}", *(f"[{n}] {b.label}" for n, b in enumerate(self.form.extras, start=2))]
        return "   ".join([*offers, "[0] Cancel"])

    def take(self, line: str) -> str | None:
        """Accepts a typed line; returns the action to submit once the form is complete. Raises InvalidInput."""
        current = self.current
        if current is None:
            return self._chosen_action(line.strip())
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
            raise InvalidInput(words.REQUIRED)
        if len(text) > current.max_length:
            raise InvalidInput(words.too_long(len(text), current.max_length))
        self.values[current.name] = (text,)

    def _drafted(self, field: Field) -> TextField | PickField:
        one = as_typed(field)
        draft = self.drafts.get(one.name)
        if draft is None:
            return one
        if isinstance(one, PickField):
            return PickField(one.name, one.label, one.options, draft, one.several)
        return TextField(one.name, one.label, draft[0], one.hint, one.lines, one.code, one.max_length, one.required)

    def _chosen_action(self, line: str) -> str:
        actions = [self.form.action, *(button.action for button in self.form.extras)]
        if line.isdecimal() and 1 <= int(line) <= len(actions):
            return actions[int(line) - 1]
        raise InvalidInput(words.bad_choice(len(actions)))


def _picked(current: PickField, line: str) -> tuple[str, ...]:
    typed = list(line.upper().replace(",", " ").replace(" ", ""))
    if not typed and current.picked:
        return current.picked
    offered = dict(zip(LETTERS, (value for value, _ in current.options), strict=False))
    unknown = [letter for letter in typed if letter not in offered]
    if not typed or unknown or (len(typed) > 1 and not current.several):
        raise InvalidInput(words.bad_letters(LETTERS[len(offered) - 1], several=current.several))
    return tuple(dict.fromkeys(offered[letter] for letter in typed))


WORKSPACE = "local"
CHANNEL = Where(channel="daily", name="daily")


async def run_console(
    client: ServiceClient,
    *,
    clock: Clock,
    lines: AsyncIterator[str],
    write: Callable[[str], None],
    store: ConsoleStore,
    width: int = 80,
    echo: bool = False,
    live: bool = True,
) -> None:
    """Runs the chat until the input ends or `/quit`.

    With `echo`, input is written too, so that the output of a pipe is a transcript. With `live`, messages appear at any
    time; otherwise only before each line, so that a script always has the same transcript.
    """
    screen = _Screen(write)
    platform = ConsolePlatform(store, screen.show, width)
    dispatcher = Dispatcher(client, platform)
    chat = _ConsoleSession(Quiz(client), client, platform, clock, store, width)
    async with AsyncExitStack() as stack:
        if live:
            delivering = asyncio.create_task(dispatcher.run())
            stack.push_async_callback(_end, delivering)
        screen.show(words.WELCOME + "\n\n")
        screen.ask(chat.prompt)
        async for line in lines:
            screen.echo_line(line if echo else None)
            await _deliver(dispatcher)
            if not await chat.take(line):
                break
            await _deliver(dispatcher)
            screen.ask(chat.prompt)


class _Screen:
    """Writes to the terminal. Repeats the prompt after messages that appear while it waits for input."""

    def __init__(self, write: Callable[[str], None]) -> None:
        self._write = write
        self._prompt = ""

    def show(self, text: str) -> None:
        self._write(f"\n{text}{self._prompt}" if self._prompt else text)

    def ask(self, prompt: str) -> None:
        self._write(prompt)
        self._prompt = prompt

    def echo_line(self, line: str | None) -> None:
        """Ends the prompt. With `line`, echoes the input, which a pipe does not show."""
        self._prompt = ""
        if line is not None:
            self._write(f"{line}\n")


async def _deliver(dispatcher: Dispatcher) -> None:
    """Shows pending messages before the next line. An unavailable service is reported when a command needs it."""
    with suppress(ServiceUnavailable, ServiceRefused):
        while await dispatcher.once():
            pass


async def _end(task: asyncio.Task[None]) -> None:
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@dataclass
class _ConsoleSession:
    """The current member, and the form they are filling in."""

    quiz: Quiz
    client: ServiceClient
    platform: ConsolePlatform
    clock: Clock
    store: ConsoleStore
    width: int
    who: Who | None = None
    form_session: FormSession | None = None
    drafts: dict[tuple[str, str], dict[str, tuple[str, ...]]] = field(default_factory=dict)

    @property
    def prompt(self) -> str:
        return f"{self.who.name if self.who else 'nobody'}{' …' if self.form_session else ''}> "

    async def take(self, line: str) -> bool:
        """Handles a line; returns False to quit."""
        typed = line.strip()
        if self.form_session is not None:
            if not _leaves_form(line):
                await self._fill_form(self.form_session, line)
                return True
            self._leave_form(self.form_session, typed)
        if typed == "/quit":
            return False
        if typed.startswith("/as "):
            await self._set_member(typed[4:].strip())
        elif self.who is None:
            self._print(words.NO_NAME)
        elif typed:
            await self._act(self.who, typed)
        return True

    async def _set_member(self, name: str) -> None:
        name = name[:80]
        admin = self.store.is_first(name)
        who = Who(platform="console", workspace=WORKSPACE, member=name.lower(), name=name, admin=admin)
        try:
            await self.client.join(who, CHANNEL)
        except (ServiceUnavailable, ServiceRefused) as error:
            self._print(words.not_joined(str(error)))
            return
        self.platform.names[name.lower()] = name
        self.who = who
        self._print(words.named(name, admin=admin))

    async def _act(self, who: Who, typed: str) -> None:
        if typed.startswith("/"):
            await self._command(who, typed)
            return
        action = self.platform.choice(who.member, typed)
        if action is None:
            self._print(words.no_button(typed))
            return
        await self._send(Press(self._id(), self.clock(), who, CHANNEL, action))

    async def _command(self, who: Who, typed: str) -> None:
        name, _, text = typed[1:].partition(" ")
        if name not in ("quiz", "quiz-admin"):
            self._print(words.COMMANDS)
        elif text.endswith("?"):
            self._print("\n".join(f"/{name} {offer}" for offer in complete(name, text[:-1])) or words.NO_COMPLETION)
        else:
            # `\n` stands for a line break, so that a snippet can be typed on one line.
            await self._send(Command(self._id(), self.clock(), who, CHANNEL, name, text.replace("\\n", "\n")))

    def _leave_form(self, form_session: FormSession, typed: str) -> None:
        assert self.who is not None
        self.form_session = None
        self.drafts[self.who.member, form_session.form.action] = form_session.draft
        # Drafts are lost when the chat ends, so do not mention them on `/quit`.
        if form_session.draft and typed != "/quit":
            self._print(words.FORM_LEFT)

    async def _fill_form(self, form_session: FormSession, line: str) -> None:
        if line.strip() == "/cancel" or (form_session.current is None and line.strip() == "0"):
            self.form_session = None
            self._print(words.FORM_CLOSED)
            return
        before = set(form_session.values)
        try:
            action = form_session.take(line)
        except InvalidInput as error:
            self._print(str(error))
            return
        if action is not None:
            await self._submit(form_session, action)
        elif set(form_session.values) != before:
            self._print(form_session.question(self.width))

    async def _submit(self, form_session: FormSession, action: str) -> None:
        assert self.who is not None
        self.form_session = None
        self.drafts[self.who.member, form_session.form.action] = dict(form_session.values)
        await self._send(Submit(self._id(), self.clock(), self.who, CHANNEL, action, form_session.values))

    async def _send(self, event: Event) -> None:
        reply = await self.quiz.handle(event)
        if isinstance(reply.content, Form):
            drafts = self.drafts.get((event.who.member, reply.content.action), {})
            self.form_session = FormSession(reply.content, drafts)
            parts = (form_text(reply.content, self.width), words.LEAVING, self.form_session.question(self.width))
            self.platform.say(f"only you, {event.who.name}", "\n\n".join(parts))
        else:
            self.platform.show(reply.content, event.who.member)

    def _print(self, text: str) -> None:
        self.platform.say("console", text)

    def _id(self) -> str:
        return f"console-{secrets.token_hex(8)}"


def _leaves_form(line: str) -> bool:
    """Returns whether a line is a command rather than input for the form. Indented lines are input."""
    word, _, rest = line.rstrip().partition(" ")
    return word in ("/quiz", "/quiz-admin") or (word == "/as" and bool(rest)) or (word == "/quit" and not rest)
