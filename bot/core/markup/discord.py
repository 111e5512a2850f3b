"""Renders a tree as Discord Markdown, split into parts; no mention, markup or link appears that the tree does not
contain.

Discord has no tables, no formulas and no blocks inside quotes or list items. So tables become monospaced blocks,
formulas become Unicode, and code is placed between list items.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from bot.core.limits import DISCORD
from bot.core.markup import tree
from bot.core.markup.parser import clean
from bot.core.markup.plain import Style
from bot.core.markup.runs import StyledRun, code_parts, runs_of, split_runs, table_parts, units, visible, words

ROOM = DISCORD.message_text - 500
"""Length of a part, characters: with a title and a footer it fits a message."""

_SPACE = "\u200b"
_SIGNS = {"channel": "#", "member": "@"}
"""Sign of each kind of mention. Nobody is notified: messages allow no mentions."""
_FENCE = "```"
_QUIET = "-# "
_MAX_INDENT = 5
"""Depth from which lists are indented no further."""
_MARKS = ((Style.BOLD, "**"), (Style.ITALIC, "*"), (Style.STRIKE, "~~"))
_SPECIAL = re.compile(
    r"(?P<mention>@(?=everyone|here)|(?<=<)[@#])"
    r"|[\\`*_~|\[\]<]"
    r"|:(?=[\w+~-]+:)"  # an emoji's name, or a slice such as a:b:c
    r"|(?<=:)/(?=/)"  # a URL that is not a link in the tree
)
_LINE_START = re.compile(r"^(\s*(?:\d{1,9}(?=[.)]\s))?)(#{1,3}(?=\s)|-#|>|[-+*](?=\s)|[.)](?=\s))", re.MULTILINE)
_LANGUAGE = re.compile(r"[\w+#.-]{1,30}")
_IN_URL = str.maketrans({"(": "%28", ")": "%29", "[": "%5B", "]": "%5D", "\\": "%5C", "`": "%60", "|": "%7C"})


def to_discord(document: tree.MarkdownDocument, room: int = ROOM) -> list[str]:
    """Returns parts of at most `room` characters, each valid on its own. `join_parts` joins them."""
    return _blocks(document.blocks, room)


def join_parts(parts: Iterable[str]) -> str:
    """Joins parts with blank lines, except next to code blocks and small print, which need none."""
    text = ""
    for part in parts:
        quiet = part.startswith(_QUIET) and text.rpartition("\n")[2].startswith(_QUIET)
        close = quiet or text.endswith(_FENCE) or part.startswith(_FENCE)
        text += ("\n" if close else "\n\n") * bool(text) + part
    return text


def escaped(plain: str) -> str:
    """Escapes plain text, on one line."""
    return _starts(_escaped(" ".join(clean(plain).split())))


def linked(label: str, url: str) -> str:
    """Returns a link with a plain label. The caller has checked `url`."""
    return _link(url, [StyledRun(" ".join(clean(label).split()))])


def fenced(source: str, language: str = "", room: int = ROOM) -> list[str]:
    """Returns code in one or more closed fences of at most `room` characters each."""
    named = language if _LANGUAGE.fullmatch(language) else ""
    text = re.sub("`{3,}", lambda found: _SPACE.join(found[0]), clean(source).rstrip("\n").expandtabs(4))
    parts = code_parts(text, units, room - len(named) - 2 * len(_FENCE) - 2)
    # Discord shows an empty fence as six backticks.
    return [f"{_FENCE}{named}\n{part if part.strip() else _SPACE}\n{_FENCE}" for part in parts]


def framed(rows: Sequence[Sequence[str]], aligns: Sequence[tree.Align], room: int = ROOM) -> list[str]:
    """Returns a table of plain texts, header first, in monospaced blocks."""
    texts = table_parts([[" ".join(clean(cell).split()) for cell in row] for row in rows], aligns, units, room - 100)
    return [fence for text in texts for fence in fenced(text, "", room)]


def _blocks(blocks: tree.Blocks, room: int, quoted: bool = False) -> list[str]:
    return [part for block in blocks for part in _block(block, room, quoted)]


def _block(block: tree.Block, room: int, quoted: bool) -> list[str]:
    match block:
        case tree.Paragraph(children):
            return _paragraph(children, room)
        case tree.Heading(level, children):
            return _heading(level, children, room)
        case tree.List():
            return list(_together(_items(block, 0, room, quoted), room))
        case tree.Quote(blocks):
            # Quotes do not nest. Each line gets a mark, which may double the length of a very short one.
            return (
                _blocks(blocks, room, True) if quoted else [_quoted(part) for part in _blocks(blocks, room // 2, True)]
            )
        case tree.CodeBlockNode(source, language):
            return fenced(source, language, room)
        case tree.TableNode(header, rows, aligns):
            return framed([[words(runs_of(cell)) for cell in row] for row in (header, *rows)], aligns, room)
        case tree.Rule():
            return ["───────────────"]


def _paragraph(children: tree.Inlines, room: int) -> list[str]:
    return [_text(part) for part in split_runs(runs_of(children), _cost, room)]


def _heading(level: int, children: tree.Inlines, room: int) -> list[str]:
    flat = [run._replace(text=run.text.replace("\n", " ")) for run in runs_of(children)]
    if level > 2:
        flat = [run._replace(style=run.style | Style.BOLD) for run in flat]
    parts = [_text(part) for part in split_runs(flat, _cost, room - 4)]
    return [f"### {part}" if level <= 2 and not place else part for place, part in enumerate(parts)]


def _quoted(part: str) -> str:
    if part.startswith(_FENCE):
        return part
    return "\n".join(f"> {line}" for line in part.split("\n"))


def _items(block: tree.List, depth: int, room: int, quoted: bool) -> Iterator[str]:
    """Returns the lines of the items and the fences between them."""
    indent = "  " * min(depth, _MAX_INDENT)
    for place, item in enumerate(block.items):
        mark = "- " if block.start is None else f"{block.start + place}. "
        first = True
        for inner in item:
            if isinstance(inner, tree.List):
                if first:
                    yield f"{indent}{mark}{_SPACE}"
                yield from _items(inner, depth + 1, room, quoted)
            elif isinstance(inner, tree.Paragraph | tree.Heading):
                for part in _paragraph(inner.children, room - 32):
                    lines = part.replace("\n", f"\n{indent}  ")
                    yield f"{indent}{mark if first else '  '}{lines}"
                    first = False
            else:
                if first:
                    yield f"{indent}{mark}{_SPACE}"
                yield from _block(inner, room, quoted)
            first = False


def _together(lines: Iterable[str], room: int) -> Iterator[str]:
    """Packs the lines of a list into parts; fences stay separate."""
    held = ""
    for line in lines:
        if held and (line.startswith(_FENCE) or units(held) + units(line) + 1 > room):
            yield held
            held = ""
        if line.startswith(_FENCE):
            yield line
        else:
            held += ("\n" if held else "") + line
    if held:
        yield held


def _text(runs: Sequence[StyledRun]) -> str:
    """Renders runs as Markdown. Marks are properly nested and never next to a space."""
    found = ""
    for (url, instant, mention), group in groupby(runs, key=lambda run: (run.url, run.instant, run.mention)):
        inner = list(group)
        if mention is not None and mention.platform == "discord":
            found += f"<{_SIGNS[mention.what]}{mention.id}>"
        else:
            found += _instant(instant) if instant else _link(url, inner) if url else _marked(inner)
    return _starts("\n".join(line.strip() for line in found.split("\n")))


def _starts(text: str) -> str:
    return _LINE_START.sub(r"\1\\\2", text)


def _instant(instant: tree.Instant) -> str:
    """Returns a timestamp, which Discord shows in the reader's time zone and language, and how long until then."""
    form = "F" if instant.dated else "T" if instant.precise else "t"
    return f"<t:{instant.seconds}:{form}> (<t:{instant.seconds}:R>)"


def _link(url: str, runs: list[StyledRun]) -> str:
    shown = "".join(run.text for run in runs)
    # `@here` in a URL is not a mention, but bots that read messages may take it for one.
    safe = re.sub("@(?=everyone|here)", "%40", url.translate(_IN_URL))
    if url.startswith("mailto:"):
        return _marked(runs) if url == f"mailto:{shown}" else f"{_marked(runs)} ({_escaped(url[7:])})"
    if not visible(shown) or shown.strip() == url:
        return f"<{safe}>"
    return f"[{_marked(runs)}](<{safe}>)"


def _marked(runs: Iterable[StyledRun]) -> str:
    found, held = "", ""
    opened: list[tuple[Style, str]] = []
    for run in runs:
        core = run.text if Style.CODE in run.style else run.text.strip()
        if not core.strip():
            held += run.text
            continue
        before = run.text[: run.text.index(core)]
        closed = ""
        while any(style not in run.style for style, _ in opened):
            closed += opened.pop()[1]
        new = [mark for mark in _MARKS if mark[0] in run.style and mark not in opened]
        gap = held + before
        # Discord would merge two adjacent marks.
        found += closed + (gap or (_SPACE if closed and new else "")) + "".join(mark for _, mark in new)
        found += _code(core) if Style.CODE in run.style else _escaped(core)
        opened += new
        held = run.text[len(before) + len(core) :]
    return found + "".join(mark for _, mark in reversed(opened)) + held


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: found[0] + _SPACE if found["mention"] else "\\" + found[0], text)


def _code(text: str) -> str:
    if "`" not in text:
        return f"`{text}`"
    # Two backticks inside would need a delimiter of three, which is a fence.
    inner = re.sub("`{2,}", lambda found: _SPACE.join(found[0]), text)
    return f"`` {inner} ``"


def _cost(run: StyledRun) -> int:
    if run.text == "\n":
        return 2 * _MAX_INDENT + 4
    if run.instant is not None:
        return len(_instant(run.instant))
    if run.mention is not None and run.mention.platform == "discord":
        return len(run.mention.id) + 3
    marks = 2 * sum(len(mark) for style, mark in _MARKS if style in run.style) + 4
    shown = units(_code(run.text) if Style.CODE in run.style else _escaped(run.text))
    return shown + marks + (3 * len(run.url) + 8 if run.url else 0)
