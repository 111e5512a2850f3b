"""Parses Markdown into blocks with their line numbers. The only module that uses markdown-it."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Literal, NamedTuple

from questions.source import WIDE, trim

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from markdown_it import MarkdownIt
    from markdown_it.rules_block import StateBlock
    from markdown_it.token import Token

    from questions.source import Source


BlockKind = Literal[
    "front_matter", "heading", "paragraph", "list", "item", "fence", "code", "table", "quote", "rule", "html"
]

_CONTAINERS: dict[str, BlockKind] = {
    "heading_open": "heading",
    "paragraph_open": "paragraph",
    "bullet_list_open": "list",
    "ordered_list_open": "list",
    "list_item_open": "item",
    "blockquote_open": "quote",
    "table_open": "table",
}
_LEAVES: dict[str, BlockKind] = {
    "front_matter": "front_matter",
    "fence": "fence",
    "code_block": "code",
    "hr": "rule",
    "html_block": "html",
}


class Block(NamedTuple):
    """A block of a document."""

    kind: BlockKind
    first: int
    """First line, from 1."""
    last: int
    """Last line that is not blank, inclusive."""
    text: str = ""
    """Markdown of a heading or paragraph, the program of a fence, the YAML of front matter."""
    level: int = 0
    """Depth of a heading, 1 to 6."""
    info: str = ""
    """Language of a fence in lower case, or the number of an ordered item."""
    closed: bool = True
    """Whether a fence has its closing marks."""
    children: tuple[Block, ...] = ()
    """Items of a list, or blocks of an item or quote."""

    def walk(self) -> Iterator[Block]:
        """Yields the block and all blocks inside it, in document order."""
        yield self
        waiting = [*reversed(self.children)]
        while waiting:
            block = waiting.pop()
            yield block
            if block.children:
                waiting += reversed(block.children)


_NESTING = 60
"""Maximum nesting of lists and quotes; deeper ones are kept as lines of the innermost."""
_MARKS = re.compile(r"[\\`*_\[\]<>&!\n]")
"""Matches text that Markdown does not read as plain words. It also changes spaces side by side or at the ends."""


# Imported at the first Markdown, in 30 ms: a service that reads none does without 2 MB.
@cache
def _parser() -> MarkdownIt:
    """Returns a parser for blocks only; `plain` parses inline markup where it is needed. A source has no line endings
    and no NUL that it would have to replace."""
    from markdown_it import MarkdownIt
    from mdit_py_plugins.front_matter import front_matter_plugin

    options = {"maxNesting": _NESTING}
    parser = MarkdownIt("commonmark", options).enable("table").use(front_matter_plugin)
    parser.disable(["normalize", "inline", "text_join"])
    parser.block.ruler.before("paragraph", "ends_paragraph", _ends_paragraph, {"alt": ["paragraph"]})
    return parser


def _ends_paragraph(state: StateBlock, line: int, last: int, silent: bool) -> bool:
    """Ends the paragraph of a list item before a line at the margin that Markdown would read as its continuation, and
    a paragraph of options or a key before the number of the next question, as in `2、…`."""
    if not silent:
        return False
    if (state.sCount[line] < state.blkIndent and line + 1 in state.env["ends"]) or line + 1 in state.env["starts"]:
        return True
    start = state.bMarks[line] + state.tShift[line]
    first = state.src[start : start + 1]
    if not (first.isdigit() or first == "第") or not _WIDE_NUMBER.match(state.src, start):
        return False
    above = state.bMarks[line - 1]
    return _LETTER.match(state.src, above) is not None or _KEY.match(state.src, above) is not None


_WIDE_NUMBER = re.compile(rf"第\d{{1,3}}[题題問问]|\d{{1,3}}(?:[、．]|\.(?=[{WIDE}]))")
_LETTER = re.compile(r"[ \t]{0,3}[(（]?[A-J][.、．)）]")
"""The letter of an option."""
_KEY = re.compile(
    r"[ \t]{0,3}[*_【\[]{0,2}(?:(?:参考|正确|標準|标准)?答案|解析|正解|答え?|정답|답)[*_】\]]{0,2}[ ]?[:：】]"
)
"""The label of a key."""


def front_matter_end(lines: Sequence[str]) -> int:
    """Returns the last line of the front matter, that of its closing dashes; 0 if a document has none.

    Dashes above text that is no YAML only separate it from other text.
    """
    if not lines or not lines[0].startswith("---") or not _DASHES.fullmatch(lines[0]):
        return 0
    filled = (line for line in lines[1:] if line.strip() and not line.startswith("#"))
    if not _FIELD.match(next(filled, "")):
        return 0
    return next((n for n, line in enumerate(lines[1:], 2) if line[:3] in ("---", "...") and _END.match(line)), 0)


_FIELD = re.compile(r"[\"']?[^\W\d][\w.$ -]{0,60}[\"']?[ ]?:(?:[ \t]|$)|-{3}[ \t]*$")
"""A name and its value in YAML, or the end of front matter without any."""
_END = re.compile(r"(?:-{3,}|\.{3})[ \t]*$")


@cache
def _inline_parser() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark")


def split_blocks(source: Source, ends: Container[int] = (), starts: Container[int] = ()) -> tuple[Block, ...]:
    """Returns the outermost blocks of a document, in order.

    `ends`: lines that end a list above them if they are at the margin, although no blank line is between. `starts`:
    lines that begin a paragraph, although no blank line is before them.
    """
    tokens = _parser().parse("\n".join(_repaired(source.lines)), {"ends": ends, "starts": starts})
    blocks, _ = _collect(tokens, 0, source)
    return blocks


_FENCE = re.compile(r"[ >\t]*(?P<marks>`{3,}|~{3,})(?P<rest>.*)")
_EMPTY_ITEM = re.compile(r"[ ]{0,3}-[ \t]+")
_DASHES = re.compile(r"-{3,}[ \t]*")
_TIGHT_HEADING = re.compile(r"(?P<marks>#{2,6})(?=[^\s#!])")
_STRAY = re.compile(r"[\"'”’)\].,;*_]{1,3}[ \t]*")
"""Marks behind the end of a fence, such as the quotation mark of `…```"`, which would keep it open."""

_STRUCK_HEADING = re.compile(r"~~(?P<marks>#{1,6})[ ]{1,3}(?P<text>[^~\n]+?)[ ]*~~[ ]*")
"""A heading struck out with its marks: `~~#### Why?~~`."""


def _repaired(lines: Sequence[str]) -> Iterator[str]:
    """Yields the lines with what authors often leave out: the space in `##Heading`, and the end of a fence where a
    stray mark follows its closing marks. An item `- ` without text is not an underline of a heading, and dashes below
    several lines separate them from the next, a section of an exam such as `二、多选题` is a heading, and an indented
    heading whose number continues is not part of the list above it."""
    opened = ""
    counted: dict[tuple[str, str], int] = {}
    above = 0  # lines since the last blank one or the last dashes
    front = front_matter_end(lines)
    for number, line in enumerate(lines):
        found = _FENCE.match(line) if "```" in line or "~~~" in line else None
        if not opened and line.startswith("---") and _DASHES.fullmatch(line):
            if (above > 1 and number >= front) or (number == 0 and not front):
                line = "*" * len(line.rstrip())
            above = 0
        else:
            above = above + 1 if line.strip() else 0
        if found is None and not opened and line.endswith((" ", "\t")) and _EMPTY_ITEM.fullmatch(line):
            # Below a paragraph it would make a heading of it.
            yield line.replace("-", "*", 1)
        elif found is None and not opened and _is_section(lines, number):
            yield f"## {line}"
        elif found is None and not opened and (heading := _COUNTED.match(line)):
            form, count = (heading["marks"], heading["word"]), int(heading["number"])
            goes_on = not heading["indent"] or count == counted.get(form, -1) + 1
            if goes_on:
                counted[form] = count
            yield line.lstrip(" ") if goes_on else line
        elif found is None and not opened and line.startswith("~~#") and (struck := _STRUCK_HEADING.fullmatch(line)):
            yield f"{struck['marks']} ~~{struck['text']}~~"
        elif found is None:
            yield line if opened or not line.startswith("##") else _TIGHT_HEADING.sub(r"\g<marks> ", line, count=1)
        elif not opened:
            opened = found["marks"] if found["marks"][0] == "~" or "`" not in found["rest"] else ""
            yield line
        elif found["marks"].startswith(opened) and (not found["rest"].strip() or _STRAY.fullmatch(found["rest"])):
            opened = ""
            yield line[: found.end("marks")]
        else:
            yield line


_COUNTED = re.compile(
    r"(?P<indent>[ ]{0,3})(?P<marks>#{1,6})[ ]+(?P<word>[^\W\d_]{0,12}[ ]?)(?P<number>\d{1,4})(?=[.):：、 ]|$)"
)
"""A heading with a number."""
_SECTION = re.compile(r"[一二三四五六七八九十]{1,3}[、.．][ ]?\S.{0,60}")
_FIRST_NUMBER = re.compile(r"[ ]{0,3}[1１][、.．)）]")

_EXAM_SECTION = re.compile(
    r"[一二三四五六七八九十]{1,3}[、.．][ ]?(?:[单多]项?|不定项|单项|多项)?(?:选择?|判断|填空|简答"
    r"|问答|名词解释|计算|论述|综合|编程|分析|应用)题(?:[（(][^()（）]{1,50}[)）])?[:：。]?[ ]*"
)
"""A section by the kind of its questions."""
_ANY_NUMBER = re.compile(r"[ ]{0,3}[\d１-９]{1,3}[、.．)）]")


def _is_section(lines: Sequence[str], number: int) -> bool:
    """Returns whether a line names a section of questions with options: it has a Chinese number, the next line has the
    number 1, and lettered lines are above it or below that; or it names their kind above any number."""
    line = lines[number]
    if line[:1] not in _SECTION_FIRST or not _SECTION.fullmatch(line.rstrip()):
        return False
    if _EXAM_SECTION.fullmatch(line):
        following = next((one for one in lines[number + 1 : number + 3] if one.strip()), "")
        return _ANY_NUMBER.match(following) is not None
    above = next((one for one in lines[max(number - 3, 0) : number][::-1] if one.strip()), "")
    below = [one for one in lines[number + 1 : number + 6] if one.strip()]
    return bool(below) and _FIRST_NUMBER.match(below[0]) is not None and any(map(_LETTER.match, (above, *below[1:])))


_SECTION_FIRST = frozenset("一二三四五六七八九十")


@cache
def _renderer() -> MarkdownIt:
    from markdown_it import MarkdownIt

    return MarkdownIt("commonmark", {"html": False}).enable("table")


def html_of(markdown: str) -> str:
    """Returns Markdown as HTML. HTML in the text itself is escaped."""
    return str(_renderer().render(markdown))


def plain(markdown: str) -> str:
    """Returns inline Markdown as one line of plain text: markup is removed, words and code stay."""
    if _MARKS.search(markdown) or "  " in markdown or markdown != markdown.strip():
        return _plain(markdown)
    return markdown


@lru_cache(maxsize=4096)
def _plain(markdown: str) -> str:
    words: list[str] = []
    for token in _inline_parser().parseInline(markdown)[0].children or ():
        if token.type in ("softbreak", "hardbreak"):
            words.append(" ")
        elif token.type != "html_inline":
            words.append(token.content)
    return " ".join("".join(words).split())


def _collect(tokens: Sequence[Token], index: int, source: Source) -> tuple[tuple[Block, ...], int]:
    """Returns the blocks from `index` to the end of the enclosing container, and the index after it."""
    blocks: list[Block] = []
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token.nesting < 0:
            break
        if token.type in _LEAVES:
            blocks.append(_leaf(token, source))
        elif token.type == "table_open":
            index = _after(tokens, index, "table_close")
            blocks.append(_block("table", token, source))
        elif token.type in ("heading_open", "paragraph_open"):
            blocks.append(_worded(token, tokens[index], source))
            index += 2
        elif token.type in _CONTAINERS:
            children, index = _collect(tokens, index, source)
            blocks.append(_block(_CONTAINERS[token.type], token, source, children))
    return tuple(blocks), index


def _after(tokens: Sequence[Token], index: int, closing: str) -> int:
    while tokens[index].type != closing:
        index += 1
    return index + 1


def _lines(token: Token, source: Source) -> tuple[int, int]:
    first, end = token.map or (0, 1)
    return first + 1, source.last_filled(first + 1, end)


def _block(kind: BlockKind, token: Token, source: Source, children: tuple[Block, ...] = ()) -> Block:
    first, last = _lines(token, source)
    return Block(kind, first, last, info=token.info, children=children)


def _worded(token: Token, inline: Token, source: Source) -> Block:
    first, last = _lines(token, source)
    level = int(token.tag[1]) if token.type == "heading_open" else 0
    return Block(_CONTAINERS[token.type], first, last, text=inline.content, level=level)


def _leaf(token: Token, source: Source) -> Block:
    kind = _LEAVES[token.type]
    first, last = _lines(token, source)
    if kind == "front_matter":
        return Block(kind, first, last, text=token.content)
    if kind == "rule":
        return Block(kind, first, last, text=token.markup)
    if kind != "fence":
        return Block(kind, first, last, text=token.content.rstrip("\n"))
    end = token.map[1] if token.map else first
    mark = source.line(end).lstrip(" >\t")
    closed = end > first and mark.startswith(token.markup) and not mark.strip(token.markup[0] + " \t")
    language = token.info.split()[0].lower() if token.info.split() else ""
    return Block(kind, first, last, text=token.content.removesuffix("\n"), info=language, closed=closed)


# Folds: `<details>` elements and their text

_TAG = re.compile(r"<(?P<end>/)?details\b[^<>\n]{0,200}>", re.IGNORECASE)
_SUMMARY = re.compile(r"(?:\s|<br[ ]?/?>){0,9}<summary\b[^<>]{0,200}>", re.IGNORECASE)
_SUMMARY_END = re.compile(r"</summary[ ]?>", re.IGNORECASE)
_LONGEST = 4000
"""Maximum length of a summary, characters; a longer one is ignored."""
_TAGS = re.compile(r"</?[a-z][a-z0-9]{0,9}\b[^<>]{0,200}>", re.IGNORECASE)
_BREAK = re.compile(r"<br[ ]?/?>", re.IGNORECASE)
_CODE = re.compile(r"<code>(?P<code>[^<>`]{1,200})</code>", re.IGNORECASE)
_OPENING = re.compile(r"\s*<(?:br|hr|p|div|blockquote|(?P<bold>b|strong|i|em))\b[^<>/]{0,200}/?>", re.IGNORECASE)
_CLOSING = re.compile(r"<(?:/(?:p|b|strong|i|em|div|blockquote)|br|hr)[ ]?/?>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Fold:
    """A `<details>` element with its closing tag."""

    first: int
    last: int
    summary: str
    """Text shown while it is closed, as Markdown without tags; may be empty."""
    body: tuple[int, int]
    """First and last line of the hidden text."""
    start: int
    """Column in the first line where the hidden text starts, from 0."""
    end: int
    """Column in the last line where it ends."""
    indent: int
    """Columns before `<details>`."""
    depth: int
    """Number of other folds around it."""


def find_folds(source: Source, blocks: Iterable[Block]) -> tuple[Fold, ...]:
    """Returns all closed folds of a document in line order, except inside programs."""
    text = "\n".join(source.lines)
    if _TAG.search(text) is None:
        return ()
    starts = [0]
    for line in source.lines:
        starts.append(starts[-1] + len(line) + 1)
    programs = [(b.first, b.last) for block in blocks for b in block.walk() if b.kind in ("fence", "code")]
    return tuple(sorted(_folds(text, starts, programs), key=lambda fold: (fold.first, fold.depth)))


def fold_text(source: Source, fold: Fold) -> str:
    """Returns the hidden text as Markdown, without the tags that enclose all of it."""
    first, last = fold.body
    lines = list(source.lines[first - 1 : last])
    lines[-1] = lines[-1][: fold.end]
    lines[0] = lines[0][fold.start :]
    kept = [lines[0], *(_less(line, fold.indent) for line in lines[1:])]
    return unwrapped("\n".join(kept))


def without_tags(html: str) -> str:
    """Returns one line of Markdown without HTML tags; code is kept."""
    spaced = _BREAK.sub(" ", _CODE.sub(r"`\g<code>`", html))
    return " ".join(_TAGS.sub("", spaced).split())


def unwrapped(text: str) -> str:
    """Returns the text without blank lines and layout tags at both ends."""
    start, end = 0, len(text)
    while found := _OPENING.match(text, start, end):
        if found["bold"] and not _around_all(text, found["bold"], end):
            break
        start = found.end()
    while start < end:
        end = start + len(text[start:end].rstrip()) if text[end - 1].isspace() else end
        at = text.rfind("<", max(end - 60, start), end)
        if at < 0 or _CLOSING.fullmatch(text, at, end) is None:
            break
        end = at
    return trim(text[start:end])


def _around_all(text: str, tag: str, end: int) -> bool:
    """Returns whether a bold tag is closed at the end of the text or not at all."""
    at = text.lower().find(f"</{tag.lower()}", 0, end)
    return at < 0 or not _TAGS.sub("", text[at:end]).strip()


def _less(line: str, columns: int) -> str:
    return line[min(columns, len(line) - len(line.lstrip(" "))) :]


def _folds(text: str, starts: list[int], programs: list[tuple[int, int]]) -> Iterator[Fold]:
    opened: list[re.Match[str]] = []
    for tag in _TAG.finditer(text):
        line = bisect_right(starts, tag.start())
        if _within(programs, line) or _quoted(text, starts[line - 1], tag.start()):
            continue
        if not tag["end"]:
            opened.append(tag)
        elif opened:
            yield _fold(text, starts, opened.pop(), tag, len(opened))


def _within(programs: list[tuple[int, int]], line: int) -> bool:
    at = bisect_right(programs, (line, line)) - 1
    return any(first <= line <= last for first, last in programs[max(at, 0) : at + 2])


def _quoted(text: str, start: int, at: int) -> bool:
    """Returns whether a tag is inside a code span, and therefore only text."""
    return text.count("`", max(start, at - _LONGEST), at) % 2 == 1


def _fold(text: str, starts: list[int], tag: re.Match[str], end: re.Match[str], depth: int) -> Fold:
    at, summary = tag.end(), ""
    found = _SUMMARY.match(text, at, end.start())
    closed = _SUMMARY_END.search(text, found.end(), min(found.end() + _LONGEST, end.start())) if found else None
    if found and closed:
        at, summary = closed.end(), without_tags(text[found.end() : closed.start()])
    first = bisect_right(starts, tag.start())
    body, last = bisect_right(starts, at), bisect_right(starts, end.start())
    indent = tag.start() - starts[first - 1]
    return Fold(
        first, last, summary, (body, last), at - starts[body - 1], end.start() - starts[last - 1], indent, depth
    )


# Columns

_MARKERS = re.compile(r"\s*(?:(?:[*+-]|\d{1,9}[.)])[ \t]+)*")


def content_column(line: str) -> int:
    """Returns the column where the text starts after indentation and list markers, from 0."""
    found = _MARKERS.match(line)
    return found.end() if found else 0


def dedent(line: str, columns: int) -> str:
    """Returns the line with up to `columns` columns of indentation removed."""
    if "\t" in line[:columns]:
        line = line.expandtabs(4)
    return line[min(columns, len(line) - len(line.lstrip(" "))) :]


_FENCE_MARKS = re.compile(r"[ \t]*(?P<mark>```+|~~~+)")


def dedent_all(lines: Iterable[str], columns: int) -> Iterator[str]:
    """Yields the lines with up to `columns` columns of indentation removed; those of a program lose only as many as
    come before its fence."""
    fence, less = "", columns
    for line in lines:
        found = _FENCE_MARKS.match(line)
        if found and not fence:
            less = min(columns, len(line) - len(line.lstrip(" \t")))
        yield dedent(line, less)
        if found and (not fence or found["mark"].startswith(fence)):
            fence = "" if fence else found["mark"]
            less = less if fence else columns
