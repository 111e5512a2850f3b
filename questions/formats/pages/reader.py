"""Reads pages as Markdown: notebooks, HTML, Org, reStructuredText, AsciiDoc and Typst.

Scripts, styles and navigation are left out.
"""

from __future__ import annotations

import re
import textwrap
from pathlib import PurePath

from questions.formats.markdown import from_html
from questions.formats.pages import asciidoc, outlines, typst
from questions.formats.pages.classes import QUESTION_CLASS
from questions.formats.pages.notebook_cells import markdown_of_notebook

SUFFIXES = (".ipynb", ".html", ".htm", *outlines.SUFFIXES, *asciidoc.SUFFIXES, *typst.SUFFIXES)

_LEFT_OUT = re.compile(
    r"<(?:(?P<tag>script|style|head|nav|header|footer|noscript|template|svg|button)\b|!--)", re.IGNORECASE
)
"""The start of what a page does not say: scripts, styles, navigation, comments."""

_SAYING_BUTTON = re.compile(
    rf"[^<>]{{0,300}}?(?:\bdata-(?:is-)?(?:correct|right|answer)[ ]?="
    rf"|\bclass[ ]?=[ ]?[\"'](?:[^\"'<>]{{0,200}}[ ])?(?:{QUESTION_CLASS})[ \"'])",
    re.IGNORECASE,
)
"""Attributes of a button that is an option or a question."""


def read_page(text: str, name: str) -> str | None:
    """Returns the Markdown of a notebook, a page or an outline; None for other documents."""
    suffix = PurePath(name).suffix.lower()
    if suffix == ".ipynb":
        return markdown_of_notebook(text, name)
    if suffix == ".org":
        return outlines.markdown_of_org(text)
    if suffix == ".rst":
        return outlines.markdown_of_rst(text)
    if suffix in typst.SUFFIXES:
        return typst.markdown_of_typst(text)
    if suffix in asciidoc.SUFFIXES or (suffix in ("", ".txt") and asciidoc.is_asciidoc(text)):
        return asciidoc.markdown_of_asciidoc(text)
    if suffix in (".html", ".htm") or _is_html(text):
        shown = _markdown_in(text)
        rest = _MARKDOWN.sub("", text) if shown else text
        rest = _without_scripts(rest)
        markdown = _with_lines(rest) if _has_only_lines(rest) else from_html(rest, page=True)
        return "\n\n".join((_with_bold_lines(markdown), *shown))
    return None


_BLOCK = re.compile(r"<(?:p|br|li|div|section|article|main|t[rdh]|d[dt]|pre|details|label|option)\b", re.IGNORECASE)
_FEWEST_LINES = 5


def _has_only_lines(html: str) -> bool:
    """Returns whether a page is a text with hardly an element, whose lines its author meant to be shown."""
    lines = [line for line in html.split("\n") if line.strip()]
    return len(lines) >= _FEWEST_LINES and len(_BLOCK.findall(html)) * 10 < len(lines)


def _with_lines(html: str) -> str:
    """Returns a page as Markdown, line by line."""
    return "\n".join(from_html(line, page=True) if "<" in line or "&" in line else line for line in html.split("\n"))


_DECLARED = re.compile(r"\s*(?:<!doctype html|<html)\b", re.IGNORECASE)
_ELEMENT = re.compile(r"[ \t]*</?(?:ol|ul|li|p|h[1-6]|div|br|hr|strong|b|em|blockquote)\b[^<>]*>", re.IGNORECASE)
_LISTS = re.compile(r"<li\b[^<>]*>", re.IGNORECASE)
_READ_IN_MARKDOWN = re.compile(r"<(?:details|table|xmp|textarea)\b", re.IGNORECASE)
"""Elements that are read where they are in a document in Markdown."""
_FEWEST_ITEMS = 3


def _is_html(text: str) -> bool:
    """Returns whether a text without a suffix of HTML is a page: it is declared as one, or nearly all of its lines
    begin with elements, among them several items of lists, as an editor exports them to Markdown."""
    if _DECLARED.match(text[:500]):
        return True
    if not _LISTS.search(text) or _READ_IN_MARKDOWN.search(text):
        return False
    lines = [line for line in text.split("\n") if line.strip(" \t-")]
    begun = sum(_ELEMENT.match(line) is not None for line in lines)
    return begun * 10 >= len(lines) * 9 and len(_LISTS.findall(text)) >= _FEWEST_ITEMS


_BOLD_LINE = re.compile(
    r"^\\\*\\\*[ ]?(?P<text>(?P<number>\d{1,3}[.)][ ])?[^*\s\\][^*\n]*?)[ ]?\\\*\\\*"
    r"(?P<rest>$|(?(number)[ ](?=[^*\n]+$)|(?!)))",
    re.MULTILINE,
)
"""A line of a page, as Markdown, with the bold marks of Markdown around it as they are: `**3. Why? **`. Behind a number
an answer may follow."""

_BREAK_BEFORE = re.compile(r"(?<=\n\n)\\\n(?=[^\W_])")
"""A line break (`<br>`) before the first word of a paragraph."""


def _with_bold_lines(text: str) -> str:
    """Returns the Markdown of a page without line breaks at the start of its paragraphs; lines with bold marks that no
    program has converted are bold."""
    text = _BREAK_BEFORE.sub("", text)
    return _BOLD_LINE.sub(lambda found: f"**{found['text']}**" + ("\n\n" if found["rest"] else ""), text)


_MARKDOWN = re.compile(
    r"<(?P<tag>xmp|script[^<>]{0,200}type=[\"']?text/(?:x-)?(?:markdown|template)[^<>]{0,200}"
    r"|textarea[^<>]{0,300}(?:markdown|template)[^<>]{0,300})(?:\s[^<>]{0,300})?>"
    r"(?P<text>.*?)</(?:xmp|script|textarea)>",
    re.IGNORECASE | re.DOTALL,
)
"""Elements with Markdown that a program of the page converts."""


def _markdown_in(text: str) -> list[str]:
    """Returns the Markdown in the elements of a page that hold it as it is."""
    return [textwrap.dedent(found["text"]).strip("\n") for found in _MARKDOWN.finditer(text)]


def _without_scripts(html: str) -> str:
    low = html.lower()
    ends = _ends(low)
    kept: list[str] = []
    at = 0
    while found := _LEFT_OUT.search(html, at):
        if found["tag"] and found["tag"].lower() == "button" and _SAYING_BUTTON.match(html, found.end()):
            # A button that is an option or a question, not one that sends the answers.
            kept.append(html[at : found.end()])
            at = found.end()
            continue
        kept.append(html[at : found.start()])
        mark = f"</{found['tag'].lower()}" if found["tag"] else "--"
        end = ends.get(found.start(), low.find(mark, found.end()))
        close = low.find(">", end) if end >= 0 else -1
        if close < 0:
            # What is never closed was not meant to hide the rest of the page, unless it is a program.
            rest = "" if (found["tag"] or "").lower() in ("script", "style") else html[found.end() :]
            return "".join((*kept, rest))
        at = close + 1
    return "".join((*kept, html[at:]))


_NESTED = re.compile(r"<(?P<close>/?)(?P<tag>nav|header|footer)\b")
"""Elements that may be in others of their kind: lists of links in lists of links."""


def _ends(low: str) -> dict[int, int]:
    """Returns where navigation ends, by where it starts, for all that is closed behind what is in it."""
    ends: dict[int, int] = {}
    opened: dict[str, list[int]] = {}
    for found in _NESTED.finditer(low):
        starts = opened.setdefault(found["tag"], [])
        if not found["close"]:
            starts.append(found.start())
        elif starts:
            ends[starts.pop()] = found.start()
    return ends
