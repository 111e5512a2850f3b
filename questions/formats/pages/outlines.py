"""Rewrites Org and reStructuredText as Markdown, line by line, so that line numbers stay those of the document."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.wording.labels import answer_in_heading
from questions.wording.stems import ends_asking

if TYPE_CHECKING:
    from collections.abc import Iterator

SUFFIXES = (".org", ".rst")

_DEEPEST = 6
"""Deepest heading of Markdown."""


# Org

_HEADLINE = re.compile(r"(?P<stars>\*{1,20})[ \t]+(?:(?:TODO|DONE)[ ]+)?(?P<text>\S.*)")
_TAGS = re.compile(r"[ \t]:[\w@#%:]+:[ \t]*$")
_CARD = re.compile(r"[ \t](?::[\w@#%]+)*:drill:(?:[\w@#%]+:)*[ \t]*$")
"""The tag of a card of org-drill."""
_TITLE = re.compile(r"#\+title:[ \t]*(?P<text>\S.*)", re.IGNORECASE)
_BEGIN = re.compile(r"[ \t]*#\+begin_(?P<kind>\w+)[ \t]*(?P<language>[\w+-]*).*", re.IGNORECASE)
_END = re.compile(r"[ \t]*#\+end_\w+(?:[ \t].*)?", re.IGNORECASE)
_DRAWER = re.compile(r"[ \t]*:(?!END:)[\w-]+:[ \t]*", re.IGNORECASE)
_DRAWER_END = re.compile(r"[ \t]*:END:[ \t]*", re.IGNORECASE)
_MOST_DRAWER = 40
"""Lines within which a drawer ends."""
_NO_TEXT = re.compile(r"[ \t]*(?:#(?:[ \t].*)?|#\+\w+(?:\[[^\]]*\])?:.*|(?:SCHEDULED|DEADLINE|CLOSED):[ \t]*[<\[].*)")
"""Comments, keywords and dates."""
_LINK = re.compile(r"\[\[(?P<to>[^\[\]]+)\](?:\[(?P<text>[^\[\]]+)\])?\]")
_CODE = re.compile(r"(?<![\w=~`])(?P<mark>[=~])(?P<text>[^\s=~`](?:[^=~`\n]*[^\s=~`])?)(?P=mark)(?![\w=~`])")
_BOLD = re.compile(r"(?<![\w*])\*(?P<text>[^\s*](?:[^*\n]*[^\s*])?)\*(?![\w*])")
_RULE = re.compile(r"[ \t]*\|[-+|: ]+\|[ \t]*")
_TERM = re.compile(r"(?P<item>[ \t]*(?:[-+]|\d{1,3}[.)])[ \t]+\S.*?)[ \t]+::[ \t]*")
"""An item with a term whose description begins in the next line."""


def markdown_of_org(text: str) -> str:
    """Returns an Org document as Markdown with as many lines."""
    lines = text.split("\n")
    titled = any(_TITLE.fullmatch(line) for line in lines[:20])
    return "\n".join(_org_lines(_with_card_labels(lines) if ":drill:" in text else lines, int(titled)))


def _with_card_labels(lines: list[str]) -> list[str]:
    """Returns the lines with a label instead of the title of each card of org-drill whose text asks, as it does where
    the next headline is a deeper one for the answer."""
    found = list(lines)
    headlines = [(at, headline) for at, line in enumerate(lines) if (headline := _HEADLINE.fullmatch(line))]
    cards = 0
    for (at, card), (end, answer) in pairwise(headlines):
        deeper = len(answer["stars"]) > len(card["stars"])
        if not (deeper and _CARD.search(card["text"]) and answer_in_heading(answer["text"]) is not None):
            continue
        if any(map(_says, lines[at + 1 : end])) and not ends_asking(_TAGS.sub("", card["text"]).rstrip()):
            cards += 1
            found[at] = f"{card['stars']} Question {cards}"
    return found


def _says(line: str) -> bool:
    """Returns whether a line has text: it is not blank, nor one of a drawer, a comment or a date."""
    return bool(line.strip()) and not line.lstrip().startswith(":") and _NO_TEXT.fullmatch(line) is None


def _org_lines(lines: list[str], deeper: int) -> Iterator[str]:
    inside, drawer = "", 0
    ends = [number for number, line in enumerate(lines) if _DRAWER_END.fullmatch(line)]
    for number, line in enumerate(lines):
        if inside:
            ended = _END.fullmatch(line) is not None
            if inside == "quote":
                yield "" if ended else f"> {_inline_org(line)}"
            else:
                yield "```" if ended else line
            inside = "" if ended else inside
        elif number < drawer:
            yield ""
        elif found := _BEGIN.fullmatch(line):
            inside = found["kind"].lower()
            yield "" if inside == "quote" else f"```{found['language'] if inside == 'src' else ''}"
        elif _DRAWER.fullmatch(line) and (end := _drawer_end(ends, number)):
            drawer = end
            yield ""
        elif title := _TITLE.fullmatch(line):
            yield f"# {title['text']}"
        elif _NO_TEXT.fullmatch(line):
            yield ""
        elif headline := _HEADLINE.fullmatch(line):
            level = min(len(headline["stars"]) + deeper, _DEEPEST)
            yield f"{'#' * level} {_inline_org(_TAGS.sub('', headline['text']).rstrip())}"
        elif term := _TERM.fullmatch(line) if line.rstrip().endswith("::") else None:
            yield _inline_org(term["item"])
        else:
            yield line.replace("+", "|") if _RULE.fullmatch(line) else _inline_org(line)


def _drawer_end(ends: list[int], start: int) -> int:
    """Returns the index of the line after a drawer; 0 if it does not end soon."""
    at = bisect_right(ends, start)
    return ends[at] + 1 if at < len(ends) and ends[at] - start < _MOST_DRAWER else 0


def _inline_org(line: str) -> str:
    line = _BOLD.sub(r"**\g<text>**", _CODE.sub(r"`\g<text>`", line))
    return _LINK.sub(lambda found: f"[{found['text'] or found['to']}]({found['to']})", line)


# reStructuredText

_ADORNMENT = re.compile(r"(?P<mark>[=\-~^\"'`+#*.:_<>])(?P=mark){2,}[ \t]*")
_DIRECTIVE = re.compile(r"(?P<indent>[ \t]*)\.\.[ ](?:code-block|code|sourcecode)::.*")
_OPTION = re.compile(r"[ \t]+:[\w-]+:.*")
_ROLE = re.compile(r":[\w.+-]{1,40}:`(?P<text>[^`\n]+)`")
_REFERENCE = re.compile(r"`(?P<text>[^`<>\n]*[^`<>\n ])[ ]*<(?P<to>[^`<>\n]+)>`__?")


def markdown_of_rst(text: str) -> str:
    """Returns a document in reStructuredText as Markdown with as many lines: titles, programs, links."""
    lines = text.split("\n")
    levels: list[tuple[str, bool]] = []
    found = list(lines)
    counts: dict[int, int] = {}
    number = 0
    while number < len(lines):
        if program := _DIRECTIVE.fullmatch(lines[number]):
            number = _program(lines, found, number, len(program["indent"]))
            continue
        title = _titled(lines, number)
        if title is not None:
            line, over, mark = title
            if (mark, over) not in levels:
                levels.append((mark, over))
            level = min(levels.index((mark, over)) + 1, _DEEPEST)
            found[number : line + 2] = [""] * (line + 2 - number)
            found[line] = f"{'#' * level} {_inline_rst(lines[line].strip())}"
            number = line + 2
            counts.clear()
            continue
        found[number] = _inline_rst(_counted(lines[number], counts))
        number += 1
    return "\n".join(found)


def _titled(lines: list[str], number: int) -> tuple[int, bool, str] | None:
    """Returns the index of a title that begins here, whether it has a line above, and its mark; otherwise None."""
    for above in (1, 0):
        line = number + above
        if line + 1 >= len(lines) or (number and lines[number - 1].strip()):
            return None
        text, below = lines[line].strip(), _ADORNMENT.fullmatch(lines[line + 1])
        over = not above or lines[number].rstrip() == lines[line + 1].rstrip()
        alike = above == 0 or _ADORNMENT.fullmatch(lines[number]) is not None
        if below and over and alike and text and not _ADORNMENT.fullmatch(text) and _long_enough(text, below[0]):
            return line, above == 1, below["mark"]
    return None


def _long_enough(title: str, adornment: str) -> bool:
    """Returns whether a line of marks can underline a title; wide characters take two columns."""
    return len(adornment.rstrip()) >= min(len(title), 4) and len(title) <= 2 * len(adornment) + 4


def _program(lines: list[str], found: list[str], number: int, indent: int) -> int:
    """Rewrites a program below a directive as an indented block; returns the index of the line after it."""
    found[number] = ""
    number += 1
    while number < len(lines) and _OPTION.fullmatch(lines[number]):
        found[number] = ""
        number += 1
    end = number
    while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent):
        end += 1
    body = [line for line in lines[number:end] if line.strip()]
    margin = min((len(line) - len(line.lstrip()) for line in body), default=0)
    for at in range(number, end):
        found[at] = f"{' ' * (indent + 4)}{lines[at][margin:]}" if lines[at].strip() else ""
    return end


_AUTOMATIC = re.compile(r"(?P<indent>[ ]*)(?:#(?P<mark>[.)])|\(#\))(?P<space>[ ]+)(?=\S)")


def _counted(line: str, counts: dict[int, int]) -> str:
    """Returns an item that is numbered automatically, `#. …`, with its number in the list, and any other line as it is.
    `counts`: the last numbers of the lists that are open, by their indentation."""
    item = _AUTOMATIC.match(line)
    indent = len(line) - len(line.lstrip()) if line.strip() else None
    for inner in [one for one in counts if indent is not None and one >= indent + (item is not None)]:
        del counts[inner]
    if item is None:
        return line
    counts[len(item["indent"])] = counts.get(len(item["indent"]), 0) + 1
    number = f"{counts[len(item['indent'])]}{item['mark'] or ')'}"
    return f"{item['indent']}{number}{item['space']}{line[item.end() :]}"


def _inline_rst(line: str) -> str:
    return _REFERENCE.sub(r"[\g<text>](\g<to>)", _ROLE.sub(r"`\g<text>`", line)) if "`" in line else line
