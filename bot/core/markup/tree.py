"""What a Markdown text becomes: plain values that every renderer reads; no parsing, no rendering."""

from dataclasses import dataclass
from enum import Enum


@dataclass(frozen=True, slots=True)
class TextNode:
    """Words to be shown literally; never holds a line break or a control character."""

    text: str


@dataclass(frozen=True, slots=True)
class CodeSpan:
    """A code span, shown literally."""

    text: str


@dataclass(frozen=True, slots=True)
class Math:
    """LaTeX source without its delimiters; may be broken. `display` asks for a line of its own."""

    source: str
    display: bool = False


@dataclass(frozen=True, slots=True)
class Break:
    """A line break the author asked for."""


@dataclass(frozen=True, slots=True)
class Strong:
    """Important words."""

    children: "Inlines"


@dataclass(frozen=True, slots=True)
class Emphasis:
    """Stressed words."""

    children: "Inlines"


@dataclass(frozen=True, slots=True)
class Strike:
    """Words struck out."""

    children: "Inlines"


@dataclass(frozen=True, slots=True)
class LinkNode:
    """A link; `url` is http, https or mailto and nothing else."""

    url: str
    children: "Inlines"


@dataclass(frozen=True, slots=True)
class Paragraph:
    """A paragraph; display math on its own is a paragraph that holds one `Math`."""

    children: "Inlines"


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading of level 1 to 6, as written."""

    level: int
    children: "Inlines"


@dataclass(frozen=True, slots=True)
class List:
    """A list of items, each a run of blocks. `start` is the first number, or None for bullets."""

    items: "tuple[Blocks, ...]"
    start: int | None = None
    tight: bool = True


@dataclass(frozen=True, slots=True)
class Quote:
    """Quoted blocks."""

    blocks: "Blocks"


@dataclass(frozen=True, slots=True)
class CodeBlockNode:
    """Lines of code without a closing line break; `language` is lower case, or empty when not named."""

    source: str
    language: str = ""


class Align(Enum):
    """How a table's column is set."""

    LEFT = "left"
    CENTER = "center"
    RIGHT = "right"


@dataclass(frozen=True, slots=True)
class TableNode:
    """A table; the header, the alignments and every row have the same length."""

    header: "tuple[Inlines, ...]"
    rows: "tuple[tuple[Inlines, ...], ...]"
    aligns: tuple[Align, ...]


@dataclass(frozen=True, slots=True)
class Rule:
    """A line between two parts."""


Span = Strong | Emphasis | Strike | LinkNode
Inline = TextNode | CodeSpan | Math | Break | Span
Inlines = tuple[Inline, ...]
Block = Paragraph | Heading | List | Quote | CodeBlockNode | TableNode | Rule
Blocks = tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class MarkdownDocument:
    """A parsed text."""

    blocks: Blocks
