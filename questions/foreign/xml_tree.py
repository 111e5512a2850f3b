"""XML as a small tree with line numbers, on expat, with everything refused that could grow or reach out."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NoReturn
from xml.parsers import expat

_DEEPEST = 40
_MOST = 400_000
"""Elements of a document."""


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
class Element:
    """An element with the lines it stands on."""

    name: str
    attributes: dict[str, str]
    first: int
    last: int = 0
    pieces: list[str] = field(default_factory=list)
    children: list[Element] = field(default_factory=list)

    @property
    def size(self) -> int:
        """Characters of all text in it."""
        return sum(map(len, self.pieces)) + sum(child.size for child in self.children)

    def child(self, name: str) -> Element | None:
        """The first child of that name."""
        return next((child for child in self.children if child.name == name), None)

    def all(self, name: str) -> list[Element]:
        """The children of that name."""
        return [child for child in self.children if child.name == name]

    def text_of(self, name: str = "") -> str:
        """Its text, or that of a child; Moodle keeps it in an element `text`, older exports do not."""
        element = self.child(name) if name else self
        if element is None:
            return ""
        inner = element.child("text")
        return "".join((inner or element).pieces).strip()


def parse_xml(text: str) -> Element:
    """The outermost element. Raises RefusedXml or BrokenXml."""
    parser = expat.ParserCreate("utf-8")
    parser.buffer_text = True
    builder = _Builder(parser)
    parser.StartElementHandler = builder.start
    parser.EndElementHandler = builder.end
    parser.CharacterDataHandler = builder.text
    # A document without declarations of its own cannot name anything that grows or lies elsewhere.
    parser.StartDoctypeDeclHandler = builder.refuse
    parser.EntityDeclHandler = builder.refuse
    parser.UnparsedEntityDeclHandler = builder.refuse
    parser.ExternalEntityRefHandler = builder.refuse
    try:
        parser.Parse(text.encode("utf-8", "replace"), True)
    except expat.ExpatError as error:
        raise BrokenXml(expat.ErrorString(error.code), error.lineno) from None
    if builder.root is None:
        raise BrokenXml("it holds no element", 1)
    return builder.root


class _Builder:
    """Collects elements as expat names them."""

    def __init__(self, parser: expat.XMLParserType) -> None:
        self._parser = parser
        self._open: list[Element] = []
        self._count = 0
        self.root: Element | None = None

    def start(self, name: str, attributes: dict[str, str]) -> None:
        self._count += 1
        if len(self._open) >= _DEEPEST or self._count > _MOST:
            raise RefusedXml("the XML is nested too deeply or has too many elements", self._line)
        element = Element(name, attributes, self._line)
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = self.root or element
        self._open.append(element)

    def end(self, _name: str) -> None:
        self._open.pop().last = self._line

    def text(self, text: str) -> None:
        if self._open:
            self._open[-1].pieces.append(text)

    def refuse(self, *_declared: object) -> NoReturn:
        raise RefusedXml("the XML declares a document type or entities", self._line)

    @property
    def _line(self) -> int:
        return self._parser.CurrentLineNumber
