"""Finds the options in the text of a question, and its key: check boxes, letters or a mark."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, NamedTuple

from questions.blocks import answer_in_heading, label_of, plain
from questions.model import Option
from questions.source import trim

if TYPE_CHECKING:
    from collections.abc import Sequence


# Options in lines of Markdown: check boxes, letters, letters in one line, bullets

OptionMark = Literal["box", "letter", "bullet"]

_BOX = re.compile(r"[ \t]*(?:[-*+]|\d{1,3}[.)])[ \t]+\[(?P<box>[ xX✓✔])\](?:[ \t]+(?P<rest>.*)|$)")
_OPTION_LETTER = re.compile(
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
"""Number of check boxes from which a list is a to-do list."""


class FoundOption(NamedTuple):
    """An option as found."""

    id: str
    text: str
    marked: bool


@dataclass(frozen=True, slots=True)
class OptionRun:
    """Consecutive options."""

    kind: OptionMark
    start: int
    """Index of the first line."""
    end: int
    """Index of the line after the last."""
    options: tuple[FoundOption, ...]
    lead: str = ""
    """Text before them in the first line."""
    by_bold: str = ""
    """Text of the only bold option, if no other mark exists."""


class _Line(NamedTuple):
    kind: OptionMark
    indent: int
    letter: str
    marked: bool
    text: str


@dataclass(slots=True)
class _Scan:
    """State while reading options: the end of the last one so far."""

    lines: list[str]
    starts: list[tuple[int, _Line]]
    end: int
    fence: str = ""
    blank: bool = False
    outer: list[int] = field(default_factory=list)
    """Indices of options with a fence that is not indented."""
    before_outer: int = 0


def may_hold_options(text: str) -> bool:
    """Returns whether a search for options is worthwhile."""
    return _MAYBE.search(text) is not None


def options_in(lines: list[str]) -> OptionRun | None:
    """Returns the first two or more options in the lines, outside programs."""
    fence = ""
    skipped = 0
    for index, line in enumerate(lines):
        if index < skipped:
            continue
        if found := _FENCE.match(line):
            fence = _after_fence(fence, found["mark"])
        elif not fence and (first := _option_line(line)) is not None and first.letter in ("", "a"):
            run = _inline(line, index) or _run(lines, index, first)
            if isinstance(run, OptionRun):
                return run
            skipped = run
        elif not fence and "a" in line.lower() and (inline := _inline(line, index)):
            return inline
    return None


def bullets_in(lines: list[str]) -> OptionRun | None:
    """Returns two or more bullets of one line each at the end of the lines."""
    end = len(lines)
    start = end
    while start and (found := _BULLET.fullmatch(lines[start - 1])):
        start -= 1
    texts = [found["rest"] for line in lines[start:end] if (found := _BULLET.fullmatch(line))]
    if not 2 <= len(texts) <= 10:
        return None
    return OptionRun(
        "bullet", start, end, tuple(FoundOption(_nth(i), text.strip(), False) for i, text in enumerate(texts))
    )


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
    if found := _OPTION_LETTER.fullmatch(line):
        rest = found["rest"] or ""
        if found["open"] and rest.endswith(found["open"]):
            rest = found["open"] + rest
        return _Line("letter", indent, found["letter"].lower(), False, rest)
    return None


def _inline(line: str, index: int) -> OptionRun | None:
    """Returns options in one line: `What? a) one b) two c) three`."""
    found = list(_INLINE.finditer(line))
    letters = "".join(one["letter"].lower() for one in found)
    if len(found) < _FEWEST_INLINE or letters != "abcdefghij"[: len(found)]:
        return None
    ends = [one.start() for one in found[1:]] + [len(line)]
    texts = [line[one.end() : end].strip(" ,;|") for one, end in zip(found, ends, strict=True)]
    options = tuple(_found(_nth(i), text, False) for i, text in enumerate(texts))
    return OptionRun("letter", index, index + 1, options, lead=line[: found[0].start()].strip(" *-"))


def _run(lines: list[str], start: int, first: _Line) -> OptionRun | int:
    """Returns the options from a line on, or the index to continue at if there are none."""
    scan = _Scan(lines, [(start, first)], start + 1)
    for index in range(start + 1, len(lines)):
        if not _goes_on(scan, index):
            break
    if scan.outer == [len(scan.starts) - 1]:
        # If only the last option has a program below it, the program belongs to the text after it.
        scan.end = scan.before_outer
    if not 2 <= len(scan.starts) <= _MOST:
        return max(scan.starts[-1][0], start + 1)
    return _gathered(scan)


def _goes_on(scan: _Scan, index: int) -> bool:
    """Adds the line to the options; returns False if they end before it."""
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


def _gathered(scan: _Scan) -> OptionRun:
    ends = [index for index, _ in scan.starts[1:]] + [scan.end]
    options: list[FoundOption] = []
    lettered = _all_lettered([line.text for _, line in scan.starts])
    for number, ((start, line), end) in enumerate(zip(scan.starts, ends, strict=True)):
        text = trim("\n".join((line.text, *(_less(one, line.indent) for one in scan.lines[start + 1 : end]))))
        if line.kind == "box" and lettered and (prefix := _PREFIX.match(text)):
            text = trim(text[prefix.end() :]).strip()
        options.append(_found(line.letter or _nth(number), text, line.marked))
    kind, start = scan.starts[0][1].kind, scan.starts[0][0]
    bold = _the_one_in_bold(options)
    if bold is None or kind == "box" or any(option.marked for option in options):
        return OptionRun(kind, start, scan.end, tuple(options))
    text = options[bold].text
    options[bold] = options[bold]._replace(text=text.strip("*_"), marked=True)
    return OptionRun(kind, start, scan.end, tuple(options), by_bold=text)


def _all_lettered(texts: list[str]) -> bool:
    letters = "".join(found["letter"].lower() for text in texts if (found := _PREFIX.match(text)))
    return len(letters) == len(texts) and letters == "abcdefghij"[: len(letters)]


def _the_one_in_bold(options: list[FoundOption]) -> int | None:
    bold = [index for index, option in enumerate(options) if _BOLD.fullmatch(option.text)]
    return bold[0] if len(bold) == 1 and len(options) >= _FEWEST_INLINE else None


def _found(name: str, text: str, marked: bool) -> FoundOption:
    """Returns an option without its check mark or cross."""
    less = _RIGHT_FIRST.sub("", _RIGHT.sub("", text), count=1) if len(text) < 2000 else text
    if _RIGHT_FIRST.match(text) or less != text:
        return FoundOption(name, _RIGHT.sub("", _RIGHT_FIRST.sub("", text, count=1)).strip(" "), True)
    return FoundOption(name, _WRONG.sub("", text) if len(text) < 2000 else text, marked)


def _less(line: str, indent: int) -> str:
    """Returns a line below an option, dedented by at most the option's indentation."""
    spaces = len(line) - len(line.lstrip(" "))
    return line[min(spaces, indent + 2) :]


def _nth(index: int) -> str:
    return chr(ord("a") + index) if index < 26 else f"o{index + 1}"


# Options with their key

_KEY = re.compile(
    r"[*_`(\[\"]{0,4}"
    r"(?:(?:the[ ])?(?:correct|right)[ ](?:answer|option|choice)s?[ ]?(?:is|are)?[ ]?:?[ ]*|option[ ]|choice[ ])?"
    r"[*_`(\[]{0,4}(?P<letters>[A-J](?:[*_`)\]]{0,3}[ ]?(?:,|&|/|\+|and)[ ]?[*_`(\[]{0,3}[A-J]\b)*)(?![\w'’])"
    r"(?P<end>[*_`)\].:,;]{0,6})(?P<rest>.*)",
    re.IGNORECASE,
)
_LETTER = re.compile(r"\b[A-J]\b", re.IGNORECASE)
_LABEL_WORD = re.compile(r"\b(?:and)\b", re.IGNORECASE)
_PART = re.compile(r"(?:^|\s)\(?[b-j]\)\s", re.IGNORECASE | re.MULTILINE)
_TAGS = re.compile(r"\s*(?:</?[a-z][^<>]{0,200}>\s*)+", re.IGNORECASE)


class KeyProblem(NamedTuple):
    """Why a key cannot be used, or what was assumed about it."""

    code: str
    message: str
    at: str
    """Text on the line it is about."""
    cure: str
    assumed: bool = False


class ChoiceParts(NamedTuple):
    """A question with options, split into parts."""

    prompt: str
    options: tuple[Option, ...]
    why: str
    problems: tuple[KeyProblem, ...]


class _Key(NamedTuple):
    ids: frozenset[str]
    rest: str
    at: str


def find_choice(prompt: str, answer: str, *, labelled: bool) -> ChoiceParts | None:
    """Returns the options of a question and its key; None if there are no options or no key shows that they are
    options.

    Without a label, `answer` is all text below the question, including the options.
    """
    lines = prompt.split("\n")
    run = options_in(lines) if may_hold_options(prompt) else None
    if run is not None:
        before, between = "\n".join(lines[: run.start]), trim("\n".join(lines[run.end :]))
        key = _key_of(answer, run.options) if labelled else _key_below(answer.split("\n"), run.options)
        return _joined(trim(f"{before}\n{run.lead}"), between, run, key, answer if key is None else "")
    if labelled:
        return _of_bullets(lines, answer)
    lines = answer.split("\n")
    run = options_in(lines) if may_hold_options(answer) else None
    if run is None:
        return None
    before = "\n".join((*lines[: run.start], run.lead)).strip()
    below = lines[run.end :]
    key = _key_below(below, run.options)
    return _joined(f"{prompt}\n\n{before}".strip(), "", run, key, "" if key else trim("\n".join(below)))


def _of_bullets(lines: list[str], answer: str) -> ChoiceParts | None:
    """Returns plain bullets as options, if the answer repeats one of them word for word."""
    run = bullets_in(lines) if answer else None
    key = _by_text(answer, run.options) if run else None
    if run is None or key is None or trim("\n".join(lines[run.end :])):
        return None
    return _joined(trim("\n".join(lines[: run.start])), "", run, key, "")


def _joined(prompt: str, between: str, run: OptionRun, key: _Key | None, unread: str) -> ChoiceParts | None:
    marked = frozenset(option.id for option in run.options if option.marked)
    if key is None and not marked and (run.kind != "box" or between or unread):
        return None
    right, problems = _judged(run, key, marked)
    why = "\n\n".join(part for part in (between, key.rest if key else unread) if part)
    options = tuple(Option(option.id, option.text, option.id in right) for option in run.options)
    return ChoiceParts(prompt, options, why, problems)


def _judged(run: OptionRun, key: _Key | None, marked: frozenset[str]) -> tuple[frozenset[str], tuple[KeyProblem, ...]]:
    """Returns the right options, empty if the key is not reliable, and the problems."""
    none: frozenset[str] = frozenset()
    ids = [option.id for option in run.options]
    if len(set(ids)) != len(ids):
        return none, (KeyProblem("Q108", "two options have the same letter", "", "use the letters a, b, c, …"),)
    if key and (unknown := sorted(key.ids - set(ids))):
        message = f"the key names option {unknown[0]}, which does not exist"
        return none, (KeyProblem("Q105", message, key.at, "name an existing option, or add the missing one"),)
    if key and marked and marked != key.ids:
        message = f"the key says {_listed(key.ids)}, the mark says {_listed(marked)}"
        return none, (KeyProblem("Q106", message, key.at, "correct one of them"),)
    if not key and run.by_bold:
        message = "the bold option was read as the correct one"
        return marked, (KeyProblem("Q107", message, run.by_bold, "add the key below: `Answer: b`", assumed=True),)
    return (key.ids if key else marked), ()


def _listed(ids: frozenset[str]) -> str:
    return " and ".join(sorted(ids))


def _key_of(answer: str, options: Sequence[FoundOption]) -> _Key | None:
    """Returns the key an answer begins with: one or several letters, or the text of an option."""
    text = _TAGS.sub("", answer, count=1) if answer.startswith("<") else answer
    first, _, below = text.partition("\n")
    found = _KEY.match(first)
    if found is None or not (found["end"] or not found["rest"].strip() or found["rest"].lstrip()[0] in "-–—"):
        return _by_text(answer, options)
    letters = frozenset(letter.lower() for letter in _LETTER.findall(_LABEL_WORD.sub(" ", found["letters"])))
    rest = found["rest"].lstrip(" -–—*_`").strip()
    if len(letters) == 1 and _PART.search(text[found.start("end") :]):
        return None
    right = [option.text for option in options if option.id in letters]
    if right and _same(rest.strip("*_ "), right[0]):
        rest = ""
    return _Key(letters, trim(f"{rest}\n{below}"), first.strip())


def _by_text(answer: str, options: Sequence[FoundOption]) -> _Key | None:
    first, _, below = answer.partition("\n")
    same = [option.id for option in options if _same(first, option.text)]
    return _Key(frozenset(same), trim(below), first.strip()) if len(same) == 1 else None


def _same(one: str, two: str) -> bool:
    return _words(one) == _words(two) != ""


def _words(text: str) -> str:
    return plain(text).casefold().strip(" .`*_")


def _key_below(lines: list[str], options: Sequence[FoundOption]) -> _Key | None:
    """Returns the key after the first answer label or answer heading."""
    fence = ""
    for index, line in enumerate(lines):
        mark = line.lstrip(" >")[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        label = None if fence else label_of(line)
        rest: str | None = None
        if label and label.role == "answer":
            rest = line[label.end :].rstrip().removesuffix(label.closing)
        elif not fence and line.lstrip().startswith("#"):
            rest = answer_in_heading(line.strip(" #"))
        if rest is not None:
            key = _key_of(trim("\n".join((rest, *lines[index + 1 :]))), options)
            above = trim("\n".join(lines[:index]))
            return key and key._replace(rest="\n\n".join(part for part in (above, key.rest) if part))
    return None
