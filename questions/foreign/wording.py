"""Plain text and HTML as Markdown that reads the same. Knows nothing of questions."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

_CODE = re.compile(r"(`[^`\n]+`)")
_MARKS = re.compile(
    r"\\(?=[!-/:-@\[-`{-~\n]|$)"  # a backslash that Markdown would eat
    r"|[*`]"
    r"|(?<![^\W_])_|_(?![^\W_])"  # within a word it marks nothing
    r"|\](?=[(\[:])|(?<=!)\["
    r"|<(?=[A-Za-z/!?])|&(?=#?\w+;)|~(?=~)"
)
_OPENING = re.compile(r"(?P<lead>[ \t]*)(?:(?P<number>\d{1,9})(?=[.)](?:\s|$))|(?=[#>|]|[+=-](?:\s|$|[=-])))")
_TAG = re.compile(
    r"<!--|<(?P<close>/?)(?P<name>[A-Za-z][A-Za-z0-9]*)(?P<attributes>(?:[^<>\"']|\"[^\"<]*\"|'[^'<]*')*)>"
)
_KNOWN_TAG = re.compile(
    r"</?(?:p|br|div|span|b|i|u|em|strong|code|pre|tt|ul|ol|li|img|a|sub|sup|table|tr|td|th|h[1-6]|font|hr|blockquote)"
    r"(?:\s[^<>]*)?/?>",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(r"([A-Za-z-]+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'>]+))")
_LONGEST_ATTRIBUTES = 2_000
_DEEPEST = 8
"""Emphasis within emphasis; what is deeper loses its marks."""
_EMPHASIS, _BREAK, _PROGRAM = "\0", "\1", "\2"
"""Stand for marks until the whole text is known; a text's own are taken out of it first."""
_SILENT = frozenset({"script", "style", "head", "title"})
_MARK_OF = {"b": "**", "strong": "**", "i": "*", "em": "*"}
_BREAKS = frozenset({"p", "div", "table", "blockquote", "hr", "section"})
_HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6"})
_MARKER = re.compile(r"\n(?:-|\d+\.) ")
_LANGUAGE = re.compile(r"\blanguage-([A-Za-z0-9+#-]+)")
_CODE_TAGS = frozenset({"code", "tt", "kbd", "samp"})


def from_plain(text: str) -> str:
    """Markdown that shows `text` as it stands, save that `code` between backticks stays code."""
    lines = [line.rstrip() for line in text.expandtabs(4).strip("\n").split("\n")]
    shown = [_plain_line(line) for line in lines]
    result = ""
    for index, line in enumerate(shown):
        follows = index + 1 < len(shown)
        hard = follows and line and shown[index + 1]
        result += line + ("\\\n" if hard else "\n" if follows else "")
    return result.strip()


def _plain_line(line: str) -> str:
    indent = len(line) - len(line.lstrip(" "))
    pieces = _CODE.split(line[indent:])
    body = "".join(piece if index % 2 else _MARKS.sub(_backslash, piece) for index, piece in enumerate(pieces))
    found = _OPENING.match(body)
    if found and found["number"]:
        body = f"{found['number']}\\{body[found.end() :]}"
    elif found:
        body = "\\" + body
    # Markdown drops an indentation, or takes it for a program's.
    return "\N{NO-BREAK SPACE}" * indent + body


def _backslash(found: re.Match[str]) -> str:
    return "\\" + found[0]


def from_loose(text: str) -> str:
    """Text that may or may not be HTML: it is where a common tag stands in it."""
    if _KNOWN_TAG.search(text):
        return from_html(text)
    return from_plain(html.unescape(text))


def from_html(text: str) -> str:
    """The words of an HTML text with its emphasis, code, lists, links and pictures, as Markdown."""
    writer = _Writer()
    text = re.sub(r"[\0-\2]", "", text)
    position = 0
    while position < len(text):
        found = _TAG.search(text, position)
        end = found.start() if found else len(text)
        writer.text(html.unescape(text[position:end]))
        if found is None:
            break
        position = found.end()
        if found["name"] is None:
            closed = text.find("-->", position)
            position = len(text) if closed < 0 else closed + 3
        else:
            writer.tag(found["name"].lower(), bool(found["close"]), found["attributes"])
    return writer.result()


@dataclass(slots=True)
class _Writer:
    """Collects Markdown; nothing is nested but lists, which are written flat."""

    out: list[str] = field(default_factory=list)
    pre: list[str] | None = None
    language: str = ""
    code: list[str] | None = None
    silent: str = ""
    ordered: int = 0
    """The number of the next item of an ordered list; 0 in any other."""
    links: list[str] = field(default_factory=list)
    programs: list[str] = field(default_factory=list)

    def text(self, text: str) -> None:
        if self.silent or not text:
            return
        if self.pre is not None:
            self.pre.append(text)
        elif self.code is not None:
            self.code.append(text)
        else:
            pieces = _CODE.split(re.sub(r"\s+", " ", text.replace("\N{NO-BREAK SPACE}", " ")))
            self.out += [piece if i % 2 else _MARKS.sub(_backslash, piece) for i, piece in enumerate(pieces)]

    def tag(self, name: str, closes: bool, attributes: str) -> None:
        if self.silent:
            self.silent = "" if closes and name == self.silent else self.silent
        elif name in _SILENT:
            self.silent = "" if closes or attributes.endswith("/") else name
        elif name == "pre":
            self._pre(closes)
        elif self.pre is not None:
            self._within_pre(name, closes, attributes)
        elif name in _CODE_TAGS:
            self._code(closes)
        else:
            self._inline(name, closes, attributes)

    def _within_pre(self, name: str, closes: bool, attributes: str) -> None:
        found = _LANGUAGE.search(attributes[:_LONGEST_ATTRIBUTES])
        if name == "code" and found:
            self.language = found[1]
        elif name in ("br", "div", "p") and not closes and self.pre:
            self.pre.append("\n")

    def _inline(self, name: str, closes: bool, attributes: str) -> None:
        if name in _MARK_OF:
            self.out.append(f"{_EMPHASIS}{'/' if closes else ''}{_MARK_OF[name]}")
        elif name == "br":
            self.out.append(_BREAK)
        elif name in ("ul", "ol"):
            self.ordered = int(name == "ol" and not closes)
            self.out.append("\n\n")
        elif name == "li":
            self._item(closes)
        elif name in _HEADINGS:
            self.out += ["\n\n", f"{_EMPHASIS}**"] if not closes else [f"{_EMPHASIS}/**", "\n\n"]
        elif name in _BREAKS:
            # A paragraph that opens an item stands beside its marker.
            opens_item = self.out and _MARKER.fullmatch(self.out[-1]) and not closes
            self.out.append("" if opens_item else "\n\n")
        elif name in ("tr", "td", "th"):
            self.out.append("\n" if name == "tr" else " ")
        elif name == "a":
            self._link(closes, attributes)
        elif name == "img":
            found = dict(_attributes(attributes))
            self.out.append(f"![{_MARKS.sub(_backslash, found.get('alt', ''))}]({_address(found.get('src', ''))})")

    def _item(self, closes: bool) -> None:
        if closes:
            return
        self.out.append(f"\n{self.ordered}. " if self.ordered else "\n- ")
        self.ordered += bool(self.ordered)

    def _link(self, closes: bool, attributes: str) -> None:
        if closes and self.links:
            self.out.append(f"]({self.links.pop()})")
        elif not closes:
            address = _address(dict(_attributes(attributes)).get("href", ""))
            if address:
                self.links.append(address)
                self.out.append("[")

    def _pre(self, closes: bool) -> None:
        if not closes:
            self.pre = []
        elif self.pre is not None:
            self.out.append(f"\n\n{_PROGRAM}{len(self.programs)}{_PROGRAM}\n\n")
            self.programs.append(fence("".join(self.pre).strip("\n"), self.language))
            self.pre, self.language = None, ""

    def _code(self, closes: bool) -> None:
        if not closes:
            self.code = []
        elif self.code is not None:
            self.out.append(code_span("".join(self.code)))
            self.code = None

    def result(self) -> str:
        """All that was written, blank lines between blocks."""
        self._pre(closes=True)
        self._code(closes=True)
        while self.links:
            self.out.append(f"]({self.links.pop()})")
        return _tidy("".join(_emphasised(self.out)), self.programs)


def _attributes(text: str) -> list[tuple[str, str]]:
    return [
        (found[1].lower(), html.unescape(found[2] or found[3] or found[4] or ""))
        for found in _ATTRIBUTE.finditer(text[:_LONGEST_ATTRIBUTES])
    ]


def _address(text: str) -> str:
    return re.sub(r"[\s<>()\\]", lambda found: f"%{ord(found[0]) & 255:02X}", text)


def _emphasised(pieces: list[str]) -> list[str]:
    """The pieces with the marks of emphasis that are opened, hold words and are closed; the others vanish."""
    out: list[str] = []
    opened: list[tuple[str, int]] = []
    for piece in pieces:
        if not piece.startswith(_EMPHASIS):
            out.append(piece)
        elif not piece.startswith(f"{_EMPHASIS}/"):
            if len(opened) < _DEEPEST:
                opened.append((piece[1:], len(out)))
        elif opened and opened[-1][0] == piece[2:]:
            mark, at = opened.pop()
            _mark(out, at, mark)
    return out


def _mark(out: list[str], at: int, mark: str) -> None:
    """Put a mark around what was written since `at`, blanks outside it, where it is one line."""
    inner = "".join(out[at:])
    if not inner.strip() or "\n" in inner.strip() or "*" in inner.replace("\\*", ""):
        return
    lead = inner[: len(inner) - len(inner.lstrip())]
    tail = inner[len(inner.rstrip()) :]
    out[at:] = [f"{lead}{mark}{inner.strip()}{mark}{tail}"]


def _tidy(text: str, programs: list[str]) -> str:
    """Breaks as Markdown writes them, no blanks at the ends of lines, no runs of blank lines, programs in place."""
    text = re.sub(rf"(?: ?{_BREAK})+ ?", lambda found: "\n\n" if found[0].count(_BREAK) > 1 else _BREAK, text)
    # A break at the beginning or the end of a block breaks nothing.
    text = re.sub(rf"{_BREAK}(?= ?(?:\n|$))|(?:(?<=\n)|^){_BREAK}", "", text)
    lines = [_block_safe(line.strip()) for line in text.replace(_BREAK, "\\\n").split("\n")]
    joined = re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()
    return re.sub(rf"{_PROGRAM}(\d+){_PROGRAM}", lambda found: programs[int(found[1])], joined)


def _block_safe(line: str) -> str:
    """The line, unless it would open a block that is no list item of ours."""
    found = re.match(r"[#>|]|=+$", line)
    return f"\\{line}" if found else line


def fence(text: str, language: str = "") -> str:
    """The text as a fenced block, whatever backticks it holds."""
    marks = "`" * max(3, _longest_run(text) + 1)
    return f"{marks}{language}\n{text}\n{marks}"


def code_span(text: str) -> str:
    """The text as inline code; empty where it holds nothing."""
    shown = " ".join(text.split())
    if not shown:
        return ""
    marks = "`" * (_longest_run(shown) + 1)
    pad = " " if shown[0] == "`" or shown[-1] == "`" else ""
    return f"{marks}{pad}{shown}{pad}{marks}"


def _longest_run(text: str) -> int:
    return max((len(run) for run in re.findall(r"`+", text)), default=0)


_WORDINGS: dict[str, Callable[[str], str]] = {
    "html": from_html,
    "markdown": lambda text: text.strip(),
    "plain": from_plain,
    "plain_text": from_plain,
}


def words_reader(name: str) -> Callable[[str], str]:
    """The reader of a text by the name a format gives it: html, markdown, plain; anything else may be HTML."""
    return _WORDINGS.get(name, from_loose)
