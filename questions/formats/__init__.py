"""Import formats other than Markdown: selects the reader of a document by suffix and content."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING, NamedTuple

from questions.formats import (
    aiken,
    amc_text,
    anki,
    blackboard,
    brightspace,
    directives,
    elements,
    gift,
    glossaries,
    h5p,
    json,
    line_blocks,
    moodle,
    moodle_backup,
    notebooks,
    packages,
    paired_texts,
    plus_minus,
    qti,
    questionforge,
    rexams,
    scripts,
    shortcodes,
    text2qti,
    trivia,
)
from questions.formats.constructor_data import LANGUAGES
from questions.formats.data import records
from questions.formats.draft import ImportDraft
from questions.formats.latex import reader as latex
from questions.formats.pages import reader as pages
from questions.formats.tables import table
from questions.formats.tables.named_columns import invalid_recipe, read_named
from questions.recipes import InvalidRecipe, Recipe
from questions.source import Source, open_source

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import ModuleType


__all__ = ["IMPORT_FORMATS", "SUFFIXES", "ImportDraft", "ImportFormat", "read_import", "text_of"]

UNKNOWN = "unknown"
"""Format of files that hold no text to read."""
MOST_BYTES = 16 * 2**20
"""Maximum size of a text document, bytes; packages have their own limits."""
_INSIDE = {".rst": directives, ".ipynb": notebooks, ".html": scripts, ".htm": scripts}
"""Formats that documents with a suffix may have in parts of them."""
MARKDOWN = (".md", ".markdown", ".mdx", ".rmd", ".qmd")


class ImportFormat(NamedTuple):
    """An import format."""

    name: str
    suffixes: tuple[str, ...]
    """Suffixes of this format, which other formats may share; never Markdown."""
    sniff: Callable[[Source], bool]
    """Returns whether a text is in this format, regardless of its name. Strict, so that Markdown is never mistaken for
    it."""
    read: Callable[[Source], ImportDraft]


IMPORT_FORMATS: tuple[ImportFormat, ...] = (
    ImportFormat(qti.NAME, (".xml", ".qti"), qti.sniff, qti.read),
    ImportFormat(elements.NAME, (".xml",), elements.sniff, elements.read),
    ImportFormat(moodle_backup.NAME, (".xml",), moodle_backup.sniff, moodle_backup.read),
    ImportFormat(moodle.NAME, (".xml",), moodle.sniff, moodle.read),
    ImportFormat(h5p.NAME, (".h5p", ".json"), h5p.sniff, h5p.read),
    ImportFormat(json.NAME, (".json",), json.sniff, json.read),
    ImportFormat(trivia.OPENTDB, (".json",), trivia.sniff_opentdb, trivia.read_opentdb),
    ImportFormat(records.NAME, (".json", ".jsonl", ".yaml", ".yml", ".toml"), records.sniff, records.read),
    ImportFormat(scripts.PROGRAM, (), scripts.sniff_program, scripts.read_program),
    ImportFormat(trivia.TRIVIA, (".yaml", ".yml"), trivia.sniff_trivia, trivia.read_trivia),
    ImportFormat(latex.NAME, (), latex.sniff, latex.read),
    ImportFormat(brightspace.NAME, (".csv",), brightspace.sniff, brightspace.read),
    ImportFormat(anki.ANKI_TEXT, (".csv", ".tsv"), anki.sniff_anki_text, anki.read_anki_text),
    ImportFormat(aiken.NAME, (".aiken",), aiken.sniff, aiken.read),
    ImportFormat(trivia.OPENTRIVIA, (), trivia.sniff_opentrivia, trivia.read_opentrivia),
    ImportFormat(text2qti.NAME, (), text2qti.sniff, text2qti.read),
    ImportFormat(directives.NAME, (), directives.sniff, directives.read),
    ImportFormat(shortcodes.NAME, (), shortcodes.sniff, shortcodes.read),
    ImportFormat(questionforge.NAME, (), questionforge.sniff, questionforge.read),
    ImportFormat(gift.NAME, (".gift",), gift.sniff, gift.read),
    ImportFormat(amc_text.NAME, (), amc_text.sniff, amc_text.read),
    ImportFormat(plus_minus.NAME, (), plus_minus.sniff, plus_minus.read),
    ImportFormat(blackboard.NAME, (), blackboard.sniff, blackboard.read),
    ImportFormat(table.NAME, (".csv", ".tsv"), table.sniff, table.read),
    ImportFormat(line_blocks.NAME, (), line_blocks.sniff, line_blocks.read),
    ImportFormat(rexams.NAME, (), rexams.sniff, rexams.read),
    ImportFormat(glossaries.NAME, (), glossaries.sniff, glossaries.read),
    ImportFormat(paired_texts.NAME, (), paired_texts.sniff, paired_texts.read),
)

_PACKAGES = (".xlsx", ".zip", ".docx")
_LATEX = ".tex"
"""Recognized by content: what is not an exam is read as Markdown, to name what looks like questions."""

SUFFIXES: tuple[str, ...] = (
    *dict.fromkeys(suffix for foreign in IMPORT_FORMATS for suffix in foreign.suffixes),
    *anki.SUFFIXES,
    *pages.SUFFIXES,
    *_PACKAGES,
    _LATEX,
    *MARKDOWN[3:],
)
"""Suffixes of all formats; `.txt` files are recognized by content."""

_DECLARED = 40
"""Characters within which the declaration of an XML document begins."""


def read_import(text: str | bytes, name: str, recipe: Recipe | None = None) -> ImportDraft | None:
    """Reads a document of another format, or refuses one that is too large. Never raises.

    Returns None for Markdown, and for what `text_of` turns into Markdown.
    """
    suffix = PurePath(name).suffix.lower()
    if isinstance(text, bytes) and len(text) <= MOST_BYTES and (what := _binary(text)):
        return _unknown(name, what)
    if suffix in MARKDOWN and text[:_DECLARED].lstrip()[:5] in ("<?xml", b"<?xml"):
        # Its content shows the format, not its name.
        suffix = ""
    elif suffix in MARKDOWN and len(text) <= MOST_BYTES and table.fills(open_source(text, name)[0]):
        suffix = ".csv"
    if suffix in MARKDOWN or suffix in pages.SUFFIXES:
        return _read_inside(text, name, suffix, recipe)
    if isinstance(text, bytes) and (suffix in anki.SUFFIXES or anki.sniff_anki_package(text)):
        if recipe is not None:
            return _no_recipe(ImportDraft(Source(name, ("",)), "anki"), recipe)
        return anki.read_anki_package(text, name)
    if isinstance(text, bytes) and packages.is_package(text):
        return _read_package(text, name, recipe)
    return _read_text(text, name, suffix, recipe)


def _read_inside(text: str | bytes, name: str, suffix: str, recipe: Recipe | None) -> ImportDraft | None:
    """Reads questions in the directives, programs or shortcodes of Markdown or a page; None if it has none."""
    if len(text) > MOST_BYTES:
        return _too_large(name, "markdown")
    inside = _INSIDE.get(suffix) or _in_markdown(text)
    return _within(inside, text, name) if inside and recipe is None else None


def _read_package(package: bytes, name: str, recipe: Recipe | None) -> ImportDraft | None:
    """Reads the document in a package: a spreadsheet, a Word document, or a content package of QTI."""
    try:
        text, suffix, unread = packages.open_package(package)
    except packages.UnreadablePackage as error:
        return _unknown(name, "", str(error))
    if suffix in MARKDOWN:
        return _plain_in_word(text, name) if recipe is None else None
    draft = _read_text(text, name, suffix, recipe)
    if draft is not None and recipe is None:
        for sheet in unread:
            draft.add(
                "Q603", f"{sheet} was left out", "save it as a file of its own", (1, 1), note="its columns differ"
            )
    return draft


def _read_text(text: str | bytes, name: str, suffix: str, recipe: Recipe | None) -> ImportDraft | None:
    """Reads a text in the format of its suffix, or in the first that fits its content; None if none does."""
    if suffix in LANGUAGES:
        # A program without questions is refused, and not read as prose; in a folder, programs are not documents.
        named = [foreign for foreign in IMPORT_FORMATS if foreign.name == scripts.PROGRAM]
    else:
        named = [foreign for foreign in IMPORT_FORMATS if suffix in foreign.suffixes]
    if len(text) > MOST_BYTES:
        return _too_large(name, named[-1].name if named else "markdown")
    source, encoding = open_source(text, name)
    fitting = [foreign for foreign in named or IMPORT_FORMATS if foreign.sniff(source)]
    if recipe is not None:
        return _read_by_recipe(source, recipe, named, fitting)
    if not fitting and not named:
        return None
    # If the content does not match the suffix, the reader of that format reports the error.
    draft = fitting[0].read(source) if fitting else named[-1].read(source)
    draft.findings[:0] = encoding
    return draft


def _plain_in_word(text: str, name: str) -> ImportDraft | None:
    """Reads Aiken or GIFT in the text of a Word document; returns None for any other document."""
    if braced := gift.plain_word(text):
        return gift.read(open_source(braced, name)[0])
    plain = aiken.plain_word(text)
    source = open_source(plain, name)[0] if plain else None
    return aiken.read(source) if source and aiken.sniff(source) else None


def _within(inside: ModuleType, text: str | bytes, name: str) -> ImportDraft | None:
    """Reads a document whose directives, programs or shortcodes ask; returns None for others, read as Markdown."""
    source, encoding = open_source(text, name)
    if not inside.sniff(source):
        return None
    draft: ImportDraft = inside.read(source)
    draft.findings[:0] = encoding
    return draft


def _in_markdown(text: str | bytes) -> ModuleType | None:
    """Returns the format that a document in Markdown may have in parts of it."""
    if b"extype:" in text if isinstance(text, bytes) else "extype:" in text:
        return rexams
    if questionforge.may_ask(text):
        return questionforge
    return shortcodes if shortcodes.may_ask(text) else None


def text_of(data: bytes) -> str | bytes:
    """Returns a Word document as Markdown, and other data as it is."""
    if not packages.is_package(data):
        return data
    text = packages.word_text(data)
    return data if text is None else text


def _read_by_recipe(
    source: Source, recipe: Recipe, named: list[ImportFormat], fitting: list[ImportFormat]
) -> ImportDraft | None:
    """Reads a table or data by a recipe, or refuses the recipe. Returns None for text."""
    ours = bool(fitting) and fitting[0].name == json.NAME
    sheet = any(one.name == table.NAME for one in named)
    if recipe.columns and not ours and (draft := read_named(source, recipe, sheet)) is not None:
        return draft
    if ours or named:
        known = fitting[0] if fitting else named[-1]
        return _no_recipe(ImportDraft(source, known.name), recipe)
    return None


def _no_recipe(draft: ImportDraft, recipe: Recipe) -> ImportDraft:
    """Refuses a recipe for a document whose format says where everything is."""
    draft.title = draft.stem
    if draft.dialect in (table.NAME, records.NAME) and recipe.question:
        cure = "name its columns: `prompt: name of the column`"
        return invalid_recipe(
            draft, InvalidRecipe("this document has columns, and the recipe has patterns of text", cure)
        )
    said = f"this document is in the format {draft.dialect}, which says itself where the questions are"
    return invalid_recipe(draft, InvalidRecipe(said, "leave out the recipe"))


_BINARIES: tuple[tuple[bytes, str], ...] = (
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"7z\xbc\xaf", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ\x90", "a program"),
    (b"\xd0\xcf\x11\xe0", "an old Office document"),
    (b"{\\rtf", "an RTF document"),
)
"""First bytes of files that hold no questions this can read, and what they are."""
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_SQLITE = b"SQLite format 3"


def _binary(data: bytes) -> str:
    """Returns what a binary file is; empty for text and for packages that can be read."""
    known = next((what for start, what in _BINARIES if data.startswith(start)), "")
    if known or data.startswith((*_UTF_16, _SQLITE)) or packages.is_package(data):
        return known
    return "a binary file" if b"\0" in data[:8192] else ""


def _unknown(name: str, what: str, message: str = "") -> ImportDraft:
    draft = ImportDraft(Source(name, ("",)), UNKNOWN)
    return draft.unreadable(
        message or f"this is {what}, not a document with questions", "export it as text: Markdown, CSV, JSON or QTI"
    )


def _too_large(name: str, dialect: str) -> ImportDraft:
    draft = ImportDraft(Source(name, ("",)), dialect)
    return draft.refused(f"the document is larger than {MOST_BYTES >> 20} MiB", "split it into several documents")
