"""Messages as data: a Card, or a Form to fill in. Texts are Markdown unless their field says plain.

No platform objects and no wording: `core.text` creates cards, the `render` module of each chat draws them.
"""

from __future__ import annotations

import base64
import dataclasses
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from bot.core.charts import PARTS, Chart

Style = Literal["plain", "primary", "danger"]


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph or more of Markdown."""

    markdown: str
    authored: bool = field(default=False, kw_only=True)
    """Whether a question's author wrote some of it: what looks like a command there is no link."""


@dataclass(frozen=True, slots=True)
class Charted(Text):
    """A text that a chat may draw as well."""

    chart: Chart | None = None


@dataclass(frozen=True, slots=True)
class Code:
    """A program or its output, in a monospaced block."""

    text: str
    language: str = "python"


@dataclass(frozen=True, slots=True)
class Lettered:
    """An option with its letter, so that its button can be short."""

    letter: str
    markdown: str


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a choice question."""

    rows: tuple[Lettered, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """A line of a distribution. `mark` says right or wrong in words, because color alone is not accessible."""

    label: str
    count: int
    share: float
    mark: str = ""


@dataclass(frozen=True, slots=True)
class Bars:
    """A distribution. Every platform shows its numbers."""

    rows: tuple[Bar, ...]
    caption: str = ""
    """Plain title of a chart, where a chat draws one."""


COMMAND_COLUMN: Final = "Command"
"""First column of tables that list commands."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table of plain texts. `mine` is the reader's own row, which is also marked in words."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    caption: str = ""
    numeric: tuple[int, ...] = ()
    """Columns aligned as numbers."""
    mine: int | None = None
    chart: Chart | None = None
    """What a chat may draw instead."""
    members: tuple[str, ...] = ()
    """A mention of the member of each row, as Markdown, for a chat that shows it in place of the first text column.
    Empty where no id is known."""
    name_columns: tuple[int, ...] = ()
    """Columns of members' names, which a page for admins links to the members."""


@dataclass(frozen=True, slots=True)
class Small:
    """A line in small print."""

    markdown: str


@dataclass(frozen=True, slots=True)
class Picture:
    """A PNG. Platforms without pictures show `alt`, which contains the same information."""

    png: bytes
    alt: str


Block = Text | Code | Options | Bars | Table | Small | Picture


@dataclass(frozen=True, slots=True)
class Button:
    """A button. `label` is plain, see `limits.BUTTON_LABEL`, and `action` is encoded by `core.actions`."""

    label: str
    action: str
    style: Style = "plain"
    pressed: bool = False
    """Whether this is the member's current answer; the label says so too."""


@dataclass(frozen=True, slots=True)
class Link:
    """A button that opens a page. `label` is plain, see `limits.BUTTON_LABEL`."""

    label: str
    url: str


@dataclass(frozen=True, slots=True)
class Feedback:
    """A question about what a card shows, with two answers as small buttons beneath the others. `question` is plain."""

    question: str
    good: Button
    poor: Button


@dataclass(frozen=True, slots=True)
class Award:
    """A role that members are given, and others lose, before a message is posted. Ids are those of the chat."""

    role: str
    winners: tuple[str, ...]
    former: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Card:
    """One message. `title` is plain; `summary` is a plain sentence for notifications and screen readers."""

    title: str
    summary: str
    blocks: tuple[Block, ...] = ()
    buttons: tuple[Button, ...] = ()
    links: tuple[Link, ...] = ()
    ping: str = ""
    """Id of a role (Discord) or user group (Slack) that the message notifies."""
    award: Award | None = None
    """A role to give first, where the chat has roles. The message names it and notifies nobody."""
    feedback: Feedback | None = None

    @property
    def all_buttons(self) -> tuple[Button, ...]:
        """The buttons, with those for feedback at the end."""
        return (*self.buttons, *((self.feedback.good, self.feedback.poor) if self.feedback else ()))

    @property
    def pictures(self) -> list[bytes]:
        """The PNGs of its pictures, in order."""
        return [block.png for block in self.blocks if isinstance(block, Picture)]


@dataclass(frozen=True, slots=True)
class TextField:
    """A text input. `code` asks for a code editor, `lines` above 1 for a text area."""

    name: str
    label: str
    value: str = ""
    hint: str = ""
    lines: int = 1
    code: bool = False
    max_length: int = 4000
    required: bool = True
    upload: bool = False
    """Whether a file may replace the typed text."""
    known: tuple[str, ...] = ()
    """The values that there are, for a chat that offers them in a menu."""


@dataclass(frozen=True, slots=True)
class PickField:
    """Options to pick: exactly one, or with `several` any number."""

    name: str
    label: str
    options: tuple[tuple[str, str], ...]
    """Value and Markdown label."""
    picked: tuple[str, ...] = ()
    several: bool = False


@dataclass(frozen=True, slots=True)
class TimeField:
    """A time of day, as `HH:MM`."""

    name: str
    label: str
    value: str


@dataclass(frozen=True, slots=True)
class ChannelField:
    """A channel of the chat, by its id."""

    name: str
    label: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class MemberField:
    """A member of the chat, as a command names one."""

    name: str
    label: str
    value: str = ""


@dataclass(frozen=True, slots=True)
class RoleField:
    """A role or user group of the chat, by its id; empty for none."""

    name: str
    label: str
    value: str = ""


Field = TextField | PickField | TimeField | ChannelField | MemberField | RoleField


@dataclass(frozen=True, slots=True)
class Form:
    """A private form. Submitting it is a `Submit` event with `action`."""

    title: str
    action: str
    fields: tuple[Field, ...]
    blocks: tuple[Block, ...] = ()
    submit: str = "Send"
    extras: tuple[Button, ...] = ()
    """Further buttons that submit the same values with another action, such as running the examples."""
    links: tuple[Link, ...] = ()
    """Pages with more room for the same input."""


Content = Card | Form
"""What a reply shows."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The reply to an event, visible only to the member who caused it."""

    content: Content
    replaces: bool = False
    """Whether it replaces the private card whose button was pressed."""
    droppable: bool = False
    """Whether it may be dropped: a repeated report that the bot was added gets no second greeting."""


# Cards as JSON-compatible data, for platforms that store their messages themselves

KNOWN: dict[str, type] = {
    kind.__name__: kind
    for kind in (
        *PARTS,
        Award,
        Bar,
        Bars,
        Button,
        Card,
        ChannelField,
        Charted,
        Code,
        Feedback,
        Form,
        Lettered,
        Link,
        MemberField,
        Options,
        PickField,
        Picture,
        RoleField,
        Small,
        Table,
        Text,
        TextField,
        TimeField,
    )
}


def as_data(value: object) -> Any:
    """Converts a card, or any part of one, to data. The key `is` holds the name of each part's class."""
    if dataclasses.is_dataclass(value):
        parts = {field.name: as_data(getattr(value, field.name)) for field in dataclasses.fields(value)}
        return {"is": type(value).__name__, **parts}
    if isinstance(value, bytes):
        return {"is": "bytes", "base64": base64.b64encode(value).decode()}
    return [as_data(item) for item in value] if isinstance(value, tuple) else value


def from_data(data: Any) -> Any:
    """Converts data from `as_data` back. Raises KeyError for an unknown class.

    Leaves out fields that another version of the bot has written.
    """
    if isinstance(data, dict):
        if data["is"] == "bytes":
            return base64.b64decode(data["base64"])
        kind = KNOWN[data["is"]]
        names = {field.name for field in dataclasses.fields(kind)}
        return kind(**{name: from_data(part) for name, part in data.items() if name in names})
    return tuple(from_data(item) for item in data) if isinstance(data, list) else data
