"""Foreign formats: a table of name, suffixes, sniff and read. Chooses a reader; reads no question itself."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from questions.foreign import (
    aiken,
    anki_package,
    anki_text,
    gift,
    json_bank,
    moodle_xml,
    opentdb,
    table,
    trivia,
)
from questions.foreign.sheet import Sheet
from questions.source import Source, open_source

if TYPE_CHECKING:
    from collections.abc import Callable

__all__ = ["FOREIGN", "SUFFIXES", "Foreign", "Sheet", "read_foreign"]

MOST_BYTES = 16 * 2**20
"""Of a document of text; a package has limits of its own."""
_MARKDOWN = (".md", ".markdown")


class Foreign(NamedTuple):
    """A format that is not Markdown."""

    name: str
    suffixes: tuple[str, ...]
    """Files named so are of this format or of another that shares the suffix, and never Markdown."""
    sniff: Callable[[Source], bool]
    """Whether a text is written so, whatever its file is called. Strict: Markdown must not be taken for it."""
    read: Callable[[Source], Sheet]


FOREIGN: tuple[Foreign, ...] = (
    Foreign(moodle_xml.NAME, (".xml",), moodle_xml.sniff, moodle_xml.read),
    Foreign(json_bank.NAME, (".json",), json_bank.sniff, json_bank.read),
    Foreign(opentdb.NAME, (".json",), opentdb.sniff, opentdb.read),
    Foreign(trivia.NAME, (".yaml", ".yml"), trivia.sniff, trivia.read),
    Foreign(anki_text.NAME, (), anki_text.sniff, anki_text.read),
    Foreign(aiken.NAME, (".aiken",), aiken.sniff, aiken.read),
    Foreign(gift.NAME, (".gift",), gift.sniff, gift.read),
    Foreign(table.NAME, (".csv", ".tsv"), table.sniff, table.read),
)

SUFFIXES: tuple[str, ...] = (
    *dict.fromkeys(suffix for foreign in FOREIGN for suffix in foreign.suffixes),
    *anki_package.SUFFIXES,
)
"""Names of foreign documents end so; `.txt` may hold some too."""


def read_foreign(text: str | bytes, name: str) -> Sheet | None:
    """Read a document of a foreign format, or refuse one of any that is too large; None where it is taken to be
    Markdown. Never raises."""
    suffix = PurePath(name).suffix.lower()
    if suffix in _MARKDOWN:
        return _too_large(name, "markdown") if len(text) > MOST_BYTES else None
    if isinstance(text, bytes) and (suffix in anki_package.SUFFIXES or anki_package.sniff(text)):
        return anki_package.read(text, name)
    named = [foreign for foreign in FOREIGN if suffix in foreign.suffixes]
    if len(text) > MOST_BYTES:
        return _too_large(name, named[0].name if named else "markdown")
    source, encoding = open_source(text, name)
    fitting = [foreign for foreign in named or FOREIGN if foreign.sniff(source)]
    if not fitting and not named:
        return None
    # A file named for a format it does not hold is told so by the reader of that format.
    sheet = fitting[0].read(source) if fitting else named[-1].read(source)
    sheet.findings[:0] = encoding
    return sheet


def _too_large(name: str, dialect: str) -> Sheet:
    sheet = Sheet(Source(name, ("",)), dialect)
    return sheet.refused(f"the document is larger than {MOST_BYTES >> 20} MiB", "split it into several documents")
