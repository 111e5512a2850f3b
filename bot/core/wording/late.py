"""What is said where a form could not be opened in time, or a file not be taken: a chat's own troubles."""

from __future__ import annotations

from bot.core.cards import Button, Card, Form, Text
from bot.core.markup import escape
from bot.core.wording.words import in_brief


def reopen_card(form: Form) -> Card:
    """The form by a button: its action, pressed, shows it."""
    said = "It took a moment too long to open by itself. Press the button to open it."
    return Card(form.title, said, (Text(said),), (Button("Open", form.action, "primary"),))


def file_too_long_card(name: str, most: int) -> Card:
    """A file beyond what is judged."""
    said = f"The file `{escape(name)}` is longer than {most // 1000} kB, which is all that is read. Send a shorter one."
    return Card("That file is too long", in_brief(said), (Text(said),))


def file_unread_card(name: str, why: str) -> Card:
    """A file that could not be fetched. `why` is a sentence of ours."""
    said = f"The file `{escape(name)}` could not be read. {why}"
    return Card("The file could not be read", in_brief(said), (Text(said),))
