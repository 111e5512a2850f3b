"""The tree of a parsed Markdown text: plain values for the renderers. No parsing and no rendering."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class TextNode:
    """Literal text, without line breaks and control characters."""

    text: str


@dataclass(frozen=True, slots=True)
class CodeSpan:
    """An inline code span."""

    text: str


@dataclass(frozen=True, slots=True)
class Math:
    """LaTeX source without its delimiters, possibly broken. `display` asks for a line of its own."""

    source: str
    display: bool = False


@dataclass(frozen=True, slots=True)
class Break:
    """A hard line break."""


@dataclass(frozen=True, slots=True)
class Strong:
    """Strong text."""

    children: "Inlines"


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Emphasized text."""

    children: "Inlines"


@dataclass(frozen=True, slots=True)
class Strike:
    """Struck-out text."""

    children: "Inlines"


@dataclass(frozen=True, slots=True)
class LinkNode:
    """A link. `url` is http, https or mailto."""

    url: str
    children: "Inlines"


@dataclass(frozen=True, slots=True)
class Mention:
    """A channel or member of a chat, which that chat shows as a link to it."""

    what: str
    """`channel` or `member`."""
    platform: str
    id: str
    text: str
    """What other chats show."""


@dataclass(frozen=True, slots=True)
class Instant:
    """A moment, which some chats show in each reader's own time zone."""

    seconds: int
    """Since 1970 in UTC."""
    dated: bool
    """Whether the date is shown too, not only the time of day."""
    text: str
    """What the other chats show; names its time zone."""
    precise: bool = False
    """Whether seconds are shown, and no date."""


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph. Display math on its own is a paragraph with one `Math`."""

    children: "Inlines"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 to 6, as written."""

    level: int
    children: "Inlines"


@dataclass(frozen=True, slots=True)
class List:
    """A list; each item is a sequence of blocks. `start` is the first number, or None for bullets."""

    items: "tuple[Blocks, ...]"
    start: int | None = None
    tight: bool = True


@dataclass(frozen=True, slots=True)
class Quote:
    """A block quote."""

    blocks: "Blocks"


@dataclass(frozen=True, slots=True)
class CodeBlockNode:
    """Code without a final line break. `language` is lower case, or empty if not given."""

    source: str
    language: str = ""


class Align(Enum):
    """Alignment of a table column."""

    LEFT = "left"
    CENTER = "center"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class TableNode:
    """A table. The header, the alignments and each row have the same length."""

    header: "tuple[Inlines, ...]"
    rows: "tuple[tuple[Inlines, ...], ...]"
    aligns: tuple[Align, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A horizontal rule."""


Span = Strong | Emphasis | Strike | LinkNode
Inline = TextNode | CodeSpan | Math | Break | Mention | Instant | Span
Inlines = tuple[Inline, ...]
Block = Paragraph | Heading | List | Quote | CodeBlockNode | TableNode | Rule
Blocks = tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class MarkdownDocument:
    """A parsed text."""

    blocks: Blocks
