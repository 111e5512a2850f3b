"""What the terminal chat says about itself: its commands, its forms and their fields."""

from __future__ import annotations

from typing import Final

WELCOME: Final = (
    "Type /as NAME to choose a name (the first person here is the admin), then /quiz help. "
    "A letter or number presses a button; /quit ends the chat."
)
COMMANDS: Final = "The commands are /quiz, /quiz-admin, /as NAME and /quit."
NO_NAME: Final = "Choose a name first: /as NAME."
NO_COMPLETION: Final = "Nothing can follow that."

LEAVING: Final = "/cancel closes the form; /quiz, /quiz-admin, /as and /quit leave it, too."
FORM_CLOSED: Final = "The form is closed; nothing was sent."
FORM_LEFT: Final = "You left the form. What you typed is there when you open it again."

REQUIRED: Final = "This field cannot be empty. /cancel closes the form."
LINES: Final = "Type the text, then a line with a single dot."
ONE_LINE: Final = "Type one line."
LINE_OR_NONE: Final = "Type one line, or leave it empty."
SEVERAL_LETTERS: Final = "Type the letters, such as A C."
ONE_LETTER: Final = "Type one letter."
EMPTY_KEEPS: Final = " An empty line keeps the current text."
EMPTY_KEEPS_PICKED: Final = " An empty line keeps what is picked."
DOT_KEEPS: Final = " A dot alone keeps the current text."


def named(name: str, *, admin: bool) -> str:
    """Confirms the member's name."""
    return f"You are {name}{', an admin' if admin else ''}."


def not_joined(problem: str) -> str:
    """Says that the service did not accept the member."""
    return f"You could not join the quiz: {problem}"


def no_button(key: str) -> str:
    """Says that a typed key belongs to no button."""
    return f"There is no button {key!r} here. Commands begin with a slash, such as /quiz help."


def current_text(indented: str) -> str:
    """Shows the text of a field that is being filled in again."""
    return f"Current text:\n{indented}"


def too_long(length: int, most: int) -> str:
    """Refuses a text because of its length, in characters."""
    return f"That is {length:,} characters; the limit is {most:,}."


def bad_choice(actions: int) -> str:
    """Refuses a number that names no action of the form."""
    return f"Type a number from 1 to {actions}, or 0 to close the form."


def bad_letters(last: str, *, several: bool) -> str:
    """Refuses letters that name no option."""
    return f"Type {'letters' if several else 'one letter'} from A to {last}."
