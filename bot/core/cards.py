"""What is said in a chat, as data: a Card, or a Form to fill. Every text is Markdown unless it says plain.

No platform objects and no wording of its own; `core.wording` fills them, a platform's `render` draws them.
"""

from __future__ import annotations

import base64
import dataclasses
from dataclasses import dataclass
from typing import Any, Literal

Style = Literal["plain", "primary", "danger"]
Shown = Literal["", "board", "weeks"]
"""`board`: rank, name, points, answers, share right, streak. `weeks`: week, points, answers, share right."""


@dataclass(frozen=True, slots=True)
class Text:
    """A piece of Markdown."""

    markdown: str


@dataclass(frozen=True, slots=True)
class Code:
    """A program or its output, in a monospaced block."""

    text: str
    language: str = "python"


@dataclass(frozen=True, slots=True)
class Lettered:
    """One option beside its letter, so that a button can be short."""

    letter: str
    markdown: str


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a choice."""

    rows: tuple[Lettered, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One line of a distribution. Right and wrong are said in words (`mark`), never by colour alone."""

    label: str
    count: int
    share: float
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """A distribution; every platform shows the numbers, whatever it draws."""

    rows: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Table:
    """A table of plain texts. `mine` is the row of the reader, said so in words."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    numeric: tuple[int, ...] = ()
    """Columns aligned as numbers."""
    mine: int | None = None
    shows: Shown = ""
    """What a chat that has pictures may draw it as."""


@dataclass(frozen=True, slots=True)
class Small:
    """A quiet line under the rest."""

    markdown: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG. `alt` says in words all that it shows; a platform without pictures shows that."""

    png: bytes
    alt: str


Block = Text | Code | Options | Bars | Table | Small | Picture


@dataclass(frozen=True, slots=True)
class Button:
    """`label` is plain and at most 75 characters; `action` at most 100, see `core.actions`."""

    label: str
    action: str
    style: Style = "plain"
    pressed: bool = False
    """The member's present answer, said so in words as well."""


@dataclass(frozen=True, slots=True)
class Link:
    """A button that opens a page. `label` is plain and at most 75 characters."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Card:
    """One message. `title` is plain; `summary` is the plain sentence a notification or a screen reader gets."""

    title: str
    summary: str
    blocks: tuple[Block, ...] = ()
    buttons: tuple[Button, ...] = ()
    links: tuple[Link, ...] = ()


@dataclass(frozen=True, slots=True)
class TextField:
    """Text to type. `code` asks for an editor; `lines` above 1 for a text area."""

    name: str
    label: str
    value: str = ""
    hint: str = ""
    lines: int = 1
    code: bool = False
    max_length: int = 4000
    required: bool = True


@dataclass(frozen=True, slots=True)
class PickField:
    """Options to pick: one of them, or with `several` any number."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    """Value and Markdown label."""
    picked: tuple[str, ...] = ()
    several: bool = False


Field = TextField | PickField


@dataclass(frozen=True, slots=True)
class Form:
    """Something to fill in privately; submitting it is a `Submit` with `action`."""

    title: str
    action: str
    fields: tuple[Field, ...]
    blocks: tuple[Block, ...] = ()
    submit: str = "Send"
    extras: tuple[Button, ...] = ()
    """Further buttons that submit the same values under their own action, such as running the examples."""
    links: tuple[Link, ...] = ()
    """Pages on which the same can be done with more room."""


@dataclass(frozen=True, slots=True)
class Reply:
    """What an event is answered with, always to the one who caused it and seen by them alone."""

    said: Card | Form
    replaces: bool = False
    """Whether it takes the place of the private card the press came from."""
    needless: bool = False
    """Whether it was said before and nobody waits for it: a chat that tells again that we were added gets no second
    hello. It need not be shown."""


# Cards as JSON-ready data and back, for platforms that store their own messages.

KNOWN: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        Bar,
        Bars,
        Button,
        Card,
        Code,
        Form,
        Lettered,
        Link,
        Options,
        PickField,
        Picture,
        Small,
        Table,
        Text,
        TextField,
    )
}


def as_data(value: object) -> Any:
    """`value`, a card or any part of one, with each part's kind named under `is`."""
    if dataclasses.is_dataclass(value):
        parts = {field.name: as_data(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"is": type(value).__name__, **parts}
    if isinstance(value, bytes):
        return {"is": "bytes", "base64": base64.b64encode(value).decode()}
    return [as_data(item) for item in value] if isinstance(value, tuple) else value


def from_data(data: Any) -> Any:
    """The inverse of `as_data`. Raises KeyError for a kind it does not know."""
    if isinstance(data, dict):
        if data["is"] == "bytes":
            return base64.b64decode(data["base64"])
        return KNOWN[data["is"]](**{name: from_data(part) for name, part in data.items() if name != "is"})
    return tuple(from_data(item) for item in data) if isinstance(data, list) else data
