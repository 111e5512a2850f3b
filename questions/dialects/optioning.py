"""Where options stand in some lines of Markdown: boxes, letters, letters in one line, bullets. Knows no key."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from questions.labels import label_of
from questions.source import trim

Kind = Literal["box", "letter", "bullet"]

_BOX = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[(?P<box>[ xX✓✔])\](?:[ \t]+(?P<rest>.*)|$)")
_LETTER = re.compile(
    r"[ \t]*(?:[-*+][ \t]+|\d{1,2}[.)][ \t]+)?(?P<open>[*_]{0,3})[(\[]?(?P<letter>[A-Ja-j])"
    r"(?:[)\].:][*_]{0,3}|[*_]{1,3}[ ]?[).:–-])(?:[ \t]+(?P<rest>.*)|$)"
)
_BULLET = re.compile(r"[ \t]*(?:[-*+])[ \t]+(?P<rest>\S.*)")
_INLINE = re.compile(r"(?:^|(?<=\s))\(?(?P<letter>[A-Ja-j])[).](?=\s+\S)")
_STOP = re.compile(r"[ \t]*(?:#{1,6}[ \t]|</?details\b|</?summary\b|(?:[-*_][ ]*){3,}$)", re.IGNORECASE)
_FENCE = re.compile(r"[ \t]*(?P<mark>```+|~~~+)")
_PREFIX = re.compile(r"[*_]{0,3}[(\[]?(?P<letter>[A-Ja-j])(?:[)\].:][*_]{0,3}(?:[ \t]+|$)|[ \t]*(?=\n|$))")
_RIGHT = re.compile(
    r"[ ]*(?:[✅✔✓☑]\ufe0f?|[*_]{0,3}[(\[](?:correct|right)(?: answer)?[)\]][*_]{0,3}"
    r"|(?:<-+|←)[ ]?(?:correct|right))[ ]*$",
    re.IGNORECASE,
)
_RIGHT_FIRST = re.compile(r"[✅✔✓☑]\ufe0f?[ ]*")
_WRONG = re.compile(r"^[❌✗✘☐⬜]\ufe0f?[ ]*|[ ]*[❌✗✘]\ufe0f?[ ]*$")
_BOLD = re.compile(r"(\*\*|__)(?P<text>[^*_\n]{1,400})\1")
_MAYBE = re.compile(r"\[[ xX✓✔]\]|(?<![^\W_])[Aa][)\].:*_]")
_FEWEST_INLINE = 3
_MOST = 20
"""More boxes than this are a list of things to do."""


class Found(NamedTuple):
    """An option as it stands."""

    id: str
    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class Run:
    """Options that stand together."""

    kind: Kind
    start: int
    """Index of the first line."""
    end: int
    """Index of the line after the last."""
    options: tuple[Found, ...]
    lead: str = ""
    """What stands in the first line before them."""
    by_bold: str = ""
    """The text of the one option in bold, where nothing else marks one."""


class _Line(NamedTuple):
    kind: Kind
    indent: int
    letter: str
    marked: bool
    text: str


@dataclass(slots=True)
class _Scan:
    """Reading on from the first option: where the last one ends so far."""

    lines: list[str]
    starts: list[tuple[int, _Line]]
    end: int
    fence: str = ""
    blank: bool = False
    outer: list[int] = field(default_factory=list)
    """Indices of options with a fence that is not indented."""
    before_outer: int = 0


def may_hold_options(text: str) -> bool:
    """Whether looking for options line by line is worth it."""
    return _MAYBE.search(text) is not None


def options_in(lines: list[str]) -> Run | None:
    """The first options in some lines, two at the least; none in a program."""
    fence = ""
    skipped = 0
    for index, line in enumerate(lines):
        if index < skipped:
            continue
        if found := _FENCE.match(line):
            fence = _after_fence(fence, found["mark"])
        elif not fence and (first := _option_line(line)) is not None and first.letter in ("", "a"):
            run = _inline(line, index) or _run(lines, index, first)
            if isinstance(run, Run):
                return run
            skipped = run
        elif not fence and "a" in line.lower() and (inline := _inline(line, index)):
            return inline
    return None


def bullets_in(lines: list[str]) -> Run | None:
    """The bullets some lines end with, two at the least, each of one line."""
    end = len(lines)
    start = end
    while start and (found := _BULLET.fullmatch(lines[start - 1])):
        start -= 1
    texts = [found["rest"] for line in lines[start:end] if (found := _BULLET.fullmatch(line))]
    if not 2 <= len(texts) <= 10:
        return None
    return Run("bullet", start, end, tuple(Found(_nth(i), text.strip(), False) for i, text in enumerate(texts)))


def _after_fence(fence: str, mark: str) -> str:
    if not fence:
        return mark
    return "" if mark.startswith(fence) else fence


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _option_line(line: str) -> _Line | None:
    indent = _indent(line)
    if found := _BOX.fullmatch(line):
        return _Line("box", indent, "", found["box"] != " ", found["rest"] or "")
    if found := _LETTER.fullmatch(line):
        rest = found["rest"] or ""
        if found["open"] and rest.endswith(found["open"]):
            rest = found["open"] + rest
        return _Line("letter", indent, found["letter"].lower(), False, rest)
    return None


def _inline(line: str, index: int) -> Run | None:
    """Options in one line: `What? a) one b) two c) three`."""
    found = list(_INLINE.finditer(line))
    letters = "".join(one["letter"].lower() for one in found)
    if len(found) < _FEWEST_INLINE or letters != "abcdefghij"[: len(found)]:
        return None
    ends = [one.start() for one in found[1:]] + [len(line)]
    texts = [line[one.end() : end].strip(" ,;|") for one, end in zip(found, ends, strict=True)]
    options = tuple(_found(_nth(i), text, False) for i, text in enumerate(texts))
    return Run("letter", index, index + 1, options, lead=line[: found[0].start()].strip(" *-"))


def _run(lines: list[str], start: int, first: _Line) -> Run | int:
    """The options from a line on; the index where to look again where they are none."""
    scan = _Scan(lines, [(start, first)], start + 1)
    for index in range(start + 1, len(lines)):
        if not _goes_on(scan, index):
            break
    if scan.outer == [len(scan.starts) - 1]:
        # Only the last has a program below it: that is no option's, it belongs to what follows.
        scan.end = scan.before_outer
    if not 2 <= len(scan.starts) <= _MOST:
        return max(scan.starts[-1][0], start + 1)
    return _gathered(scan)


def _goes_on(scan: _Scan, index: int) -> bool:
    """Take the line into the options; False where they end before it."""
    line, first = scan.lines[index], scan.starts[0][1]
    if scan.fence or _FENCE.match(line):
        return _fenced(scan, index, first.indent)
    if not line.strip():
        scan.blank = True
        return True
    this = _option_line(line)
    if this and this.kind == first.kind and abs(this.indent - first.indent) <= 1:
        expected = "abcdefghij"[len(scan.starts)] if first.kind == "letter" and len(scan.starts) < 10 else ""
        if this.letter != expected:
            return False
        scan.starts.append((index, this))
    elif _STOP.match(line) or label_of(line) is not None or (scan.blank and _indent(line) <= first.indent):
        return False
    scan.blank = False
    scan.end = index + 1
    return True


def _fenced(scan: _Scan, index: int, indent: int) -> bool:
    line = scan.lines[index]
    found = _FENCE.match(line)
    option = len(scan.starts) - 1
    if not scan.fence and found and found.start("mark") <= indent and option not in scan.outer:
        scan.outer.append(option)
        scan.before_outer = scan.end
    if found:
        scan.fence = _after_fence(scan.fence, found["mark"])
    scan.blank = False
    scan.end = index + 1
    return True


def _gathered(scan: _Scan) -> Run:
    ends = [index for index, _ in scan.starts[1:]] + [scan.end]
    options: list[Found] = []
    lettered = _all_lettered([line.text for _, line in scan.starts])
    for number, ((start, line), end) in enumerate(zip(scan.starts, ends, strict=True)):
        text = trim("\n".join((line.text, *(_less(one, line.indent) for one in scan.lines[start + 1 : end]))))
        if line.kind == "box" and lettered and (prefix := _PREFIX.match(text)):
            text = trim(text[prefix.end() :]).strip()
        options.append(_found(line.letter or _nth(number), text, line.marked))
    kind, start = scan.starts[0][1].kind, scan.starts[0][0]
    bold = _the_one_in_bold(options)
    if bold is None or kind == "box" or any(option.marked for option in options):
        return Run(kind, start, scan.end, tuple(options))
    text = options[bold].text
    options[bold] = options[bold]._replace(text=text.strip("*_"), marked=True)
    return Run(kind, start, scan.end, tuple(options), by_bold=text)


def _all_lettered(texts: list[str]) -> bool:
    letters = "".join(found["letter"].lower() for text in texts if (found := _PREFIX.match(text)))
    return len(letters) == len(texts) and letters == "abcdefghij"[: len(letters)]


def _the_one_in_bold(options: list[Found]) -> int | None:
    bold = [index for index, option in enumerate(options) if _BOLD.fullmatch(option.text)]
    return bold[0] if len(bold) == 1 and len(options) >= _FEWEST_INLINE else None


def _found(name: str, text: str, marked: bool) -> Found:
    """An option without the tick or the cross beside it."""
    less = _RIGHT_FIRST.sub("", _RIGHT.sub("", text), count=1) if len(text) < 2000 else text
    if _RIGHT_FIRST.match(text) or less != text:
        return Found(name, _RIGHT.sub("", _RIGHT_FIRST.sub("", text, count=1)).strip(" "), True)
    return Found(name, _WRONG.sub("", text) if len(text) < 2000 else text, marked)


def _less(line: str, indent: int) -> str:
    """A line below an option moved left, as far as the option's text stands in at the most."""
    spaces = len(line) - len(line.lstrip(" "))
    return line[min(spaces, indent + 2) :]


def _nth(index: int) -> str:
    return chr(ord("a") + index) if index < 26 else f"o{index + 1}"
