"""Parses XML into a small tree with line numbers. Declarations that expand or refer to files are refused."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from html.entities import html5
from typing import TYPE_CHECKING, NoReturn
from xml.parsers import expat

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.formats.draft import ImportDraft

_DEEPEST = 40
_MOST = 400_000
"""Maximum number of elements in a document."""

INLINE = frozenset(
    (
        *("b", "i", "u", "em", "strong", "code", "tt", "sub", "sup", "br", "span", "a", "img", "mark", "font", "small"),
        *("p", "div", "pre", "ul", "ol", "li", "table", "thead", "tbody", "tr", "td", "th", "h1", "h2", "h3", "h4"),
        "hr",
    )
)
"""Elements of HTML in a text."""
VOID = ("br", "hr", "img")
"""Elements of HTML that have no end tag."""
_ADDRESS = {"img": "src", "a": "href"}
"""Attributes of elements of HTML that are kept."""


class RefusedXml(Exception):
    """The document declares or nests what no quiz needs."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


class BrokenXml(Exception):
    """The document is not XML."""

    def __init__(self, message: str, line: int) -> None:
        super().__init__(message)
        self.line = line


@dataclass(slots=True)
class XmlElement:
    """An element with its line numbers."""

    name: str
    attributes: dict[str, str]
    first: int
    last: int = 0
    pieces: list[str] = field(default_factory=list)
    children: list[XmlElement] = field(default_factory=list)
    at: int = 0
    """Number of pieces of text before it in the element around it."""

    @property
    def size(self) -> int:
        """Number of characters of all text in it."""
        return sum(map(len, self.pieces)) + sum(child.size for child in self.children)

    def child(self, name: str) -> XmlElement | None:
        """Returns the first child of that name."""
        return next((child for child in self.children if child.name == name), None)

    def all(self, name: str) -> list[XmlElement]:
        """Returns the children of that name."""
        return [child for child in self.children if child.name == name]

    def walk(self, name: str) -> Iterator[XmlElement]:
        """Yields all elements of that name inside, in document order, but none within another of that name."""
        for child in self.children:
            if child.name == name:
                yield child
            else:
                yield from child.walk(name)

    def all_text(self) -> str:
        """Returns all text in it."""
        return "".join(text + (child.all_text() if child else "") for text, child in self.content())

    def content(self) -> Iterator[tuple[str, XmlElement | None]]:
        """Yields text and the child after it, in document order; the last text has none."""
        done = 0
        for child in self.children:
            yield "".join(self.pieces[done : child.at]), child
            done = child.at
        yield "".join(self.pieces[done:]), None

    def text_of(self, name: str = "") -> str:
        """Returns its text, or a child's; Moodle uses a `text` element, older exports do not."""
        element = self.child(name) if name else self
        if element is None:
            return ""
        inner = element.child("text")
        return "".join((inner or element).pieces).strip()

    def markup_of(self) -> str:
        """Returns its text, or that of its `text` element; as HTML, if there are elements of HTML in it."""
        element = self.child("text") or self
        inline = element.children and all(child.name.lower() in INLINE for child in element.children)
        return element.as_html().strip() if inline else self.text_of()

    def as_html(self) -> str:
        """Returns the text and the elements in it as HTML."""
        parts: list[str] = []
        for text, child in self.content():
            parts.append(html.escape(text, quote=False))
            if child is not None:
                kept = _ADDRESS.get(child.name, "")
                address = f' {kept}="{html.escape(child.attributes[kept])}"' if kept in child.attributes else ""
                end = "" if child.name in VOID else f"</{child.name}>"
                parts.append(f"<{child.name}{address}>{child.as_html()}{end}")
        return "".join(parts)


def parse_xml(text: str) -> XmlElement:
    """Returns the outermost element. Raises RefusedXml or BrokenXml."""
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    builder = _Builder(parser)
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    # Without declarations, a document cannot define entities that expand or refer to files: a document type may only
    # be named.
    parser.StartDoctypeDeclHandler = builder.document_type
    parser.EntityDeclHandler = builder.refuse
    parser.UnparsedEntityDeclHandler = builder.refuse
    parser.ExternalEntityRefHandler = builder.refuse
    try:
        parser.Parse(_numbered(text).encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise BrokenXml(expat.ErrorString(error.code), error.lineno) from None
    if builder.root is None:
        raise BrokenXml("it has no elements", 1)
    return builder.root


def parse_or_refuse(draft: ImportDraft, cure: str) -> XmlElement | None:
    """Returns the outermost element of a draft's document; None, with a finding, if it cannot be parsed."""
    try:
        return parse_xml("\n".join(draft.source.lines))
    except RefusedXml as error:
        draft.refused(str(error), cure, error.line)
    except BrokenXml as error:
        draft.unreadable(f"invalid XML: {error}", cure, error.line)
    return None


_NAMED = re.compile(r"<!\[CDATA\[.*?(?:\]\]>|$)|&(?P<name>[A-Za-z][A-Za-z0-9]{1,30};)", re.DOTALL)
_OF_XML = ("lt;", "gt;", "amp;", "quot;", "apos;")


def _numbered(text: str) -> str:
    """Returns the text with the entities of HTML as numbers: programs write `&nbsp;` into XML, which lacks it."""

    def number(found: re.Match[str]) -> str:
        name = found["name"]
        if name is None or name in _OF_XML or name not in html5:
            return found[0]
        return "".join(f"&#{ord(character)};" for character in html5[name])

    return _NAMED.sub(number, text) if "&" in text else text


class _Builder:
    """Collects elements from expat events."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self._parser = parser
        self._open: list[XmlElement] = []
        self._count = 0
        self.root: XmlElement | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if len(self._open) >= _DEEPEST or self._count > _MOST:
            raise RefusedXml("the XML is nested too deeply or has too many elements", self._line)
        element = XmlElement(name, attributes, self._line)
        if self._open:
            element.at = len(self._open[-1].pieces)
            self._open[-1].children.append(element)
        else:
            self.root = self.root or element
        self._open.append(element)

    def end(self, _name: str) -> None:
        self._open.pop().last = self._line

    def text(self, text: str) -> None:
        if self._open:
            self._open[-1].pieces.append(text)

    def document_type(self, _name: str, system: str | None, public: str | None, declares: int) -> None:
        if declares or system or public:
            self.refuse()

    def refuse(self, *_declared: object) -> NoReturn:
        raise RefusedXml("the XML declares a document type or entities", self._line)

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber
