"""The console as a platform: makes messages in the terminal and remembers which were made. It answers no events."""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from bot.core.cards import Card
from bot.core.platform import Target
from bot.platforms.console.render import button_keys, card_text
from bot.platforms.console.store import ConsoleStore

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
