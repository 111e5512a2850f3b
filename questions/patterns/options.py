"""Finds the options in the text of a question: check boxes, letters in any order, or a mark on the right one."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Literal, NamedTuple

from questions.labels import label_of
from questions.model import Option
from questions.patterns.keys import ALPHABETS, Key, key_below, key_of, latin_letter
from questions.patterns.stems import ends_asking, reads_as_question
from questions.source import trim

if TYPE_CHECKING:
    from collections.abc import Iterator


# Options in lines of Markdown: check boxes, letters, letters in one line, bullets

OptionMark = Literal["box", "letter", "bullet"]

_LETTERS = "A-Ja-jА-Ка-к①-⑩アイウエオカキクケコ가나다라마바사아자차Ａ-Ｊａ-ｊ"
_BOX = re.compile(
    r"[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+\[(?P<box>[ xX✓✔*])\](?:[ \t]+(?P<rest>.*)|$)"
    r"|\[(?P<bare_box>[ xX✓✔*]?)\](?![(\[:])[ \t]*(?P<bare_rest>\S.*))"
)
"""A check box in a list, or at the start of a line."""
_OPTION_LETTER = re.compile(
    rf"[ \t]*(?:[-*+][ \t]+|\d{{1,2}}[.)][ \t]+)?(?P<open>[*_]{{0,3}})"
    rf"(?:Option[ ]|(?:Answer|Choice):[ ](?=[A-J][.)]))?[(\[（]?(?P<letter>[{_LETTERS}])"
    r"(?:[)\].:][*_]{0,3}(?=[ \t]|$)|[）．、：][*_]{0,3}|[*_]{1,3}[ ]?[).:–-](?=[ \t]|$)|(?<=[①-⑩])(?=[ \t]"
    r"|\S)|(?<=[-*+][ ][A-J])(?=[ ]\S))(?:[ \t]*(?P<rest>.*)|$)"
)
_BULLET = re.compile(r"[ \t]*(?:[-*+])[ \t]+(?P<rest>\S.*)")
_INLINE = re.compile(r"(?:^|(?<=\s))[(（]?(?P<letter>[A-Ja-j])(?:[).](?=\s+\S)|[）．、](?=\s*\S))")
_STOP = re.compile(r"[ \t]*(?:#{1,6}[ \t]|</?details\b|</?summary\b|(?:[-*_][ ]*){3,}$)", re.IGNORECASE)
_FENCE = re.compile(r"[ \t]*(?P<mark>```+|~~~+)")
_PREFIX = re.compile(r"[*_]{0,3}[(\[]?(?P<letter>[A-Ja-j])(?:[)\].:][*_]{0,3}(?:[ \t]+|(?=\n)|$)|[ \t]*(?=\n|$))")
_LETTER_ALONE = re.compile(r"[*_`]{0,3}[A-Ja-j][.):]?[*_`]{0,3}[ ]*")
_COMMENT = re.compile(r"[ \t]*<!--(?:(?!-->).){0,200}-->[ \t]*")
_TRUTH_WORDS = (
    r"correct|right|true|answer|correct[ao]|verdader[ao]|richtig|wahr|exact|juste|vrai|giust[ao]|corrett[ao]"
    r"|vero|juist"
    r"|верно|правильно|правда|вірно|doğru|benar|đúng|正确|正確|对|正解|○|정답|맞음"
)
_RIGHT = re.compile(
    r"[ ]*(?:[✅✔✓☑]\ufe0f?"
    rf"|[*_]{{0,3}}[(\[（](?:{_TRUTH_WORDS})(?:[ ](?:answer|option|choice|respuesta|option))?[)\]）][*_]{{0,3}}"
    r"|(?:<-+|←|-{1,2}>?|–|—)[ ]?[*_]{0,3}(?:correct|right)(?:[ ]answer)?[*_]{0,3})[ ]*$",
    re.IGNORECASE,
)
_RIGHT_FIRST = re.compile(r"[✅✔✓☑]\ufe0f?[ ]*")
_WRONG = re.compile(r"^[❌✗✘☐⬜]\ufe0f?[ ]*|[ ]*[❌✗✘]\ufe0f?[ ]*$")
_WRONG_MARK = re.compile(r"^[❌✗✘]|[❌✗✘]\ufe0f?[ ]*$")
_TRUE_OR_FALSE = re.compile(
    r"(?:true|false|yes|no|correct|incorrect|right|wrong|wahr|falsch|richtig|vrai|faux|vero|falso|verdadero"
    r"|verdadeiro|sí|sim|não"
    r"|правда|ложь|верно|неверно|да|нет|doğru|yanlış|evet|hayır|正确|错误|对|错|正しい|誤り|はい|いいえ|맞음"
    r"|틀림|예|아니오)[.。]?",
    re.IGNORECASE,
)
_BOLD = re.compile(r"(\*\*|__)(?P<text>[^*_\n]{1,400})\1")
_MAYBE = re.compile(
    rf"(?m)\[[ xX✓✔*]\]|^\[\][ ]|^[ \t]*[-*+][ ][A-J][ ]\S|(?<![^\W_])[{_LETTERS}](?:[)\].:*_）．、：]|(?<=[①-⑩]))"
)
_FEWEST_INLINE = 3
_MOST_LINES = 8
"""Most plain lines that are options."""
_NO_OPTION = re.compile(r"#{1,6}[ ]|```|~~~|>|\||<[a-z!]|!\[", re.IGNORECASE)
_MOST = 20
"""Number of check boxes from which a list is a to-do list."""
_LONGEST = 400
"""Length from which a lettered text without a key is a part of an answer, not an option, characters."""


class FoundOption(NamedTuple):
    """An option as found."""

    id: str
    text: str
    marked: bool
    crossed: bool = False
    """Whether a cross marks it as wrong."""


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
    """Latin letter of the option; empty for check boxes."""
    marked: bool
    text: str
    bold: bool = False
    """Whether its letter alone is bold."""


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


def begins_with_box(line: str) -> bool:
    """Returns whether a line is an option with a check box."""
    return _BOX.fullmatch(line) is not None


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
        elif not fence and (first := _option_line(line)) is not None:
            run = _inline(lines, index) or _run(lines, index, first)
            if isinstance(run, OptionRun):
                return run
            skipped = run
        elif not fence and "a" in line.lower() and (inline := _inline(lines, index)):
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
    return OptionRun("bullet", start, end, tuple(_found(_nth(i), text.strip(), False) for i, text in enumerate(texts)))


_MARKED_BULLET = re.compile(r"(?P<mark>\*\*|__)(?P<text>.+)(?P=mark)[.;,]?[ ]*")
_MOST_BULLETS = 10


def bullet_options(text: str) -> tuple[OptionRun, str] | None:
    """Returns bullets at the left edge, those in bold marked, and the quotes between them; None if other text is there,
    or check boxes.

    Whether they are options is for the caller to say: only a document in which most questions have such bullets shows
    it. A program below a bullet belongs to it.
    """
    options: list[FoundOption] = []
    quotes: list[str] = []
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if (fence or found) and options:
            options[-1] = options[-1]._replace(text=f"{options[-1].text}\n{line}")
            fence = _after_fence(fence, found["mark"]) if found else fence
        elif _BOX.fullmatch(line):
            # Check boxes say themselves which is right.
            return None
        elif line.startswith(("- ", "* ", "+ ")):
            bold = _MARKED_BULLET.fullmatch(line[2:].strip())
            shown = bold["text"] if bold else line[2:].strip()
            options.append(FoundOption(_nth(len(options)), shown, bold is not None))
        elif line.startswith(">") and options:
            quotes.append(line)
        elif line.strip():
            return None
    if not 2 <= len(options) <= _MOST_BULLETS:
        return None
    run = OptionRun("bullet", 0, len(text.split("\n")), tuple(one._replace(text=one.text.strip()) for one in options))
    return run, "\n".join(quotes)


def _after_fence(fence: str, mark: str) -> str:
    if not fence:
        return mark
    return "" if mark.startswith(fence) else fence


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _option_line(line: str) -> _Line | None:
    indent = _indent(line)
    if found := _BOX.fullmatch(line):
        box = found["box"] or found["bare_box"] or " "
        return _Line("box", indent, "", box != " ", found["rest"] or found["bare_rest"] or "")
    if found := _OPTION_LETTER.fullmatch(line):
        rest = found["rest"] or ""
        starred = found["open"] == "*" and "*" not in line[found.end("open") :]
        whole = bool(found["open"]) and rest.endswith(found["open"])
        if whole:
            rest = found["open"] + rest
        bold = found["open"] in ("**", "__") and not whole
        return _Line("letter", indent, latin_letter(found["letter"]), starred, rest, bold)
    return None


def _inline(lines: list[str], index: int) -> OptionRun | None:
    """Returns options that share lines: `What? a) one b) two c) three`, or two by two."""
    found: list[tuple[int, re.Match[str]]] = []
    end = index
    while end < len(lines) and end < index + 5:
        here = list(_INLINE.finditer(lines[end]))
        letters = "".join(one["letter"].lower() for _, one in found) + "".join(one["letter"].lower() for one in here)
        if (
            len(here) < 2
            or letters != ALPHABETS[0][: len(letters)]
            or (end > index and here[0].start() > _indent(lines[end]))
        ):
            break
        found += [(end, one) for one in here]
        end += 1
    if len(found) < _FEWEST_INLINE:
        return None
    texts = []
    for (line, one), (next_line, following) in zip(found, [*found[1:], (-1, found[-1][1])], strict=True):
        stop = following.start() if next_line == line else len(lines[line])
        texts.append(lines[line][one.end() : stop].strip(" ,;|"))
    options = tuple(_found(_nth(i), text, False) for i, text in enumerate(texts))
    return OptionRun("letter", index, end, options, lead=lines[index][: found[0][1].start()].strip(" *-"))


def _run(lines: list[str], start: int, first: _Line) -> OptionRun | int:
    """Returns the options from a line on, or the index to continue at if there are none."""
    scan = _Scan(lines, [(start, first)], start + 1)
    for index in range(start + 1, len(lines)):
        if not _goes_on(scan, index):
            break
    if scan.outer == [len(scan.starts) - 1]:
        # If only the last option has a program below it, the program belongs to the text after it.
        scan.end = scan.before_outer
    if not 2 <= len(scan.starts) <= _MOST or not _are_labels([line.letter for _, line in scan.starts]):
        return max(scan.starts[-1][0], start + 1)
    return _gathered(scan)


def _are_labels(letters: list[str]) -> bool:
    """Returns whether letters label options: from `a` on in order, or the first letters in any order."""
    if not letters[0]:
        return True
    first = list(ALPHABETS[0][: len(letters)])
    if len(letters) == 2:
        return letters == first
    return (letters[0] == "a" and letters == sorted(letters)) or sorted(letters) == first


def _goes_on(scan: _Scan, index: int) -> bool:
    """Adds the line to the options; returns False if they end before it."""
    line, first = scan.lines[index], scan.starts[0][1]
    if scan.fence or _FENCE.match(line):
        return _fenced(scan, index, first.indent)
    if not line.strip() or _COMMENT.fullmatch(line):
        scan.blank = True
        return True
    this = _option_line(line)
    if this and this.kind == first.kind and abs(this.indent - first.indent) <= 1:
        if first.kind == "letter" and not _follows(scan, this.letter):
            return False
        scan.starts.append((index, this))
    elif (
        _STOP.match(line)
        or label_of(line) is not None
        or (scan.blank and _indent(line) <= first.indent and not _shown_below(scan))
    ):
        return False
    scan.blank = False
    scan.end = index + 1
    return True


def _shown_below(scan: _Scan) -> bool:
    """Returns whether the last option is a check box with a letter, and what the letter stands for is still to come."""
    start, last = scan.starts[-1]
    return last.kind == "box" and scan.end == start + 1 and _LETTER_ALONE.fullmatch(last.text) is not None


def _follows(scan: _Scan, letter: str) -> bool:
    """Returns whether a letter can label the next option; one that repeats the last is kept, to be named."""
    seen = [line.letter for _, line in scan.starts]
    return letter not in seen or (letter == seen[-1] and len(seen) > 1)


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
        below = [one for one in scan.lines[start + 1 : end] if not _COMMENT.fullmatch(one)]
        text = trim("\n".join((line.text, *_dedented(below, line.indent + 2))))
        if line.kind == "box" and lettered and (prefix := _PREFIX.match(text)):
            text = textwrap.dedent(text[prefix.end() :].lstrip("\n")).strip()
        options.append(_found(line.letter or _nth(number), text, line.marked))
    kind, start = scan.starts[0][1].kind, scan.starts[0][0]
    bold = _the_one_in_bold(options, [line.bold for _, line in scan.starts])
    if bold is None or kind == "box" or any(option.marked for option in options):
        return OptionRun(kind, start, scan.end, tuple(options))
    text = options[bold].text
    options[bold] = options[bold]._replace(text=text.strip("*_"), marked=True)
    return OptionRun(kind, start, scan.end, tuple(options), by_bold=text)


def _dedented(lines: list[str], columns: int) -> Iterator[str]:
    """Yields the lines below an option without its indentation; a program loses only that of its fence."""
    fence, less = "", columns
    for line in lines:
        found = _FENCE.match(line)
        if found and not fence:
            less = min(columns, found.start("mark"))
        spaces = len(line) - len(line.lstrip(" "))
        yield line[min(spaces, less) :]
        if found:
            fence = _after_fence(fence, found["mark"])
            less = less if fence else columns


def _all_lettered(texts: list[str]) -> bool:
    letters = "".join(found["letter"].lower() for text in texts if (found := _PREFIX.match(text)))
    return len(letters) == len(texts) and letters == ALPHABETS[0][: len(letters)]


def _the_one_in_bold(options: list[FoundOption], letters: list[bool]) -> int | None:
    """Returns the only option whose text or letter is bold."""
    bold = [i for i, option in enumerate(options) if _BOLD.fullmatch(option.text) or letters[i]]
    return bold[0] if len(bold) == 1 and len(options) >= _FEWEST_INLINE else None


def _found(name: str, text: str, marked: bool) -> FoundOption:
    """Returns an option without its check mark or cross."""
    if len(text) >= 2000:
        return FoundOption(name, text, marked or _RIGHT_FIRST.match(text) is not None)
    less = _RIGHT_FIRST.sub("", _RIGHT.sub("", text), count=1) if _RIGHT_FIRST.match(text) else _RIGHT.sub("", text)
    if less != text:
        return FoundOption(name, less.strip(" "), True)
    return FoundOption(name, _WRONG.sub("", text), marked, crossed=_WRONG_MARK.search(text) is not None)


def _nth(index: int) -> str:
    return chr(ord("a") + index) if index < 26 else f"o{index + 1}"


# Options with their key


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


def find_choice(
    prompt: str, answer: str, *, labeled: bool, keyless: bool = True, offering: bool = False
) -> ChoiceParts | None:
    """Returns the options of a question and its key; None if there are no options.

    Without a label, `answer` is all text below the question, including the options. `keyless`: whether lettered
    options need no key, because a list of answers may follow, or the question is homework. `offering`: whether the
    questions around it have options, so that lettered lines are options although nothing says which is right.
    """
    lines = prompt.split("\n")
    run = options_in(lines) if may_hold_options(prompt) else None
    if run is not None:
        before, between = "\n".join(lines[: run.start]), trim("\n".join(lines[run.end :]))
        key = key_of(answer, run.options) if labeled else None
        # An explanation may come before the line with the key.
        key = key or key_below(answer.split("\n"), run.options)
        if key is None and answer and not _is_marked(run):
            return _unkeyed(trim(f"{before}\n{run.lead}"), run, answer) if offering else None
        return _joined(trim(f"{before}\n{run.lead}"), between, run, key, answer if key is None else "", keyless)
    if labeled:
        return _of_numbers(lines, answer) or _of_bullets(lines, answer) or _of_lines(lines, answer)
    lines = answer.split("\n")
    run = options_in(lines) if may_hold_options(answer) else None
    if run is None:
        return None
    before = "\n".join((*lines[: run.start], run.lead)).strip()
    below = lines[run.end :]
    key = key_below(below, run.options)
    rest = "" if key else trim("\n".join(below))
    shown = trim("\n".join(lines[: run.start]))
    shows = not run.lead and _only_shows(shown)
    if key is None and rest and offering and shows and not _is_marked(run) and not _asks_inside(run):
        return _unkeyed(f"{prompt}\n\n{shown}".strip(), run, rest)
    offered = not rest and not before and (reads_as_question(prompt) or len(run.options) > 2)
    return _joined(f"{prompt}\n\n{before}".strip(), "", run, key, rest, keyless and offered)


def bulleted_choice(prompt: str, run: OptionRun, quotes: str) -> ChoiceParts:
    """Returns the question with bullets as options: right are those in bold, unless all or none are."""
    marked = {option.id for option in run.options if option.marked}
    right = marked if len(marked) < len(run.options) else set()
    options = tuple(Option(option.id, option.text, option.id in right) for option in run.options)
    return ChoiceParts(prompt, options, quotes, ())


def _only_shows(text: str) -> bool:
    """Returns whether a text is only programs and pictures, which belong to the question."""
    fence = ""
    for line in text.split("\n"):
        found = _FENCE.match(line)
        if found:
            fence = _after_fence(fence, found["mark"])
        elif not fence and line.strip() and not line.startswith(("    ", "\t", "![", "<!--", "<img")):
            return False
    return True


def _asks_inside(run: OptionRun) -> bool:
    """Returns whether the lettered lines are questions themselves: parts, not options."""
    return any(ends_asking(option.text) for option in run.options)


def _in_parts(answer: str) -> bool:
    return may_hold_options(answer) and options_in(answer.split("\n")) is not None


def _unkeyed(prompt: str, run: OptionRun, said: str) -> ChoiceParts | None:
    """Returns the options if the answer names none of them; None if they are parts of the question."""
    if _asks_inside(run) or any(len(option.text) >= _LONGEST for option in run.options) or _in_parts(said):
        return None
    options = tuple(Option(option.id, option.text, False) for option in run.options)
    line = said.partition("\n")[0]
    problem = KeyProblem("Q122", "the answer names none of the options", line, "write the letter first: `Answer: b`")
    return ChoiceParts(prompt, options, said, (problem,))


_NUMBERED = re.compile(r"(?P<number>\d)[:)][ \t]+(?P<text>\S.*)")
_NUMBER_KEY = re.compile(r"[*_`(\[]{0,4}(?P<number>\d)(?:[*_`)\]]{0,4}[.:)]?[ ]*$|[*_`)\]]{0,4}[:)][ ]+(?P<text>\S.*))")


def _of_numbers(lines: list[str], answer: str) -> ChoiceParts | None:
    """Returns bullets with the numbers 1, 2, … as options, if the answer begins with one of the numbers.

    A text behind the number must be that of the option.
    """
    while lines and not lines[-1].strip():
        lines = lines[:-1]
    run = bullets_in(lines) if answer else None
    first, _, below = answer.partition("\n")
    said = _NUMBER_KEY.match(first.strip())
    found = [_NUMBERED.fullmatch(option.text) for option in run.options] if run else []
    if run is None or said is None or [one and one["number"] for one in found] != [*map(str, range(1, len(found) + 1))]:
        return None
    texts = [one["text"] for one in found if one]
    place = int(said["number"]) - 1
    if not 0 <= place < len(texts) or (said["text"] and said["text"].strip(" *_`.") != texts[place].strip(" *_`.")):
        return None
    options = tuple(_found(_nth(index), text, False) for index, text in enumerate(texts))
    key = Key(frozenset((_nth(place),)), trim(below), first.strip())
    return _joined(trim("\n".join(lines[: run.start])), "", replace(run, options=options), key, "", keyless=False)


def _of_bullets(lines: list[str], answer: str) -> ChoiceParts | None:
    """Returns plain bullets as options, if the answer repeats one of them word for word."""
    run = bullets_in(lines) if answer else None
    key = key_of(answer, run.options, letters=False) if run else None
    if run is None or key is None or trim("\n".join(lines[run.end :])):
        return None
    return _joined(trim("\n".join(lines[: run.start])), "", run, key, "", keyless=False)


def _of_lines(lines: list[str], answer: str) -> ChoiceParts | None:
    """Returns the plain lines below the one that asks as options, if the answer is one of them word for word."""
    asks = max((i for i, line in enumerate(lines) if line.rstrip(" *_").endswith(("?", ":", "：", "？"))), default=0)
    below = [(index, line.strip()) for index, line in enumerate(lines) if index > asks and line.strip()]
    texts = [text for _, text in below]
    if not _FEWEST_INLINE <= len(texts) <= _MOST_LINES or any(map(_NO_OPTION.match, texts)):
        return None
    found = [_found(_nth(index), text, False) for index, text in enumerate(texts)]
    key = key_of(answer, found, letters=False)
    if key is None or len(key.ids) != 1 or any(len(text) >= _LONGEST for text in texts):
        return None
    run = OptionRun("bullet", below[0][0], len(lines), tuple(found))
    return _joined(trim("\n".join(lines[: run.start])), "", run, key, "", keyless=False)


def _is_marked(run: OptionRun) -> bool:
    return any(option.marked for option in run.options)


def _joined(
    prompt: str, between: str, run: OptionRun, key: Key | None, unread: str, keyless: bool
) -> ChoiceParts | None:
    if all(_TRUE_OR_FALSE.fullmatch(option.text) for option in run.options) and run.kind != "box":
        # `✅ True` and `❌ False` are pictures of the words, whichever is right.
        run = OptionRun(run.kind, run.start, run.end, tuple(o._replace(marked=False) for o in run.options), run.lead)
    marked = frozenset(option.id for option in run.options if option.marked)
    if key is None and not marked and not _stands_alone(run, f"{between}{unread}", keyless):
        return None
    right, problems = _judged(run, key, marked)
    why = "\n\n".join(part for part in (between, key.rest if key else unread) if part)
    options = tuple(Option(option.id, option.text, option.id in right) for option in run.options)
    return ChoiceParts(prompt, options, why, problems)


def _stands_alone(run: OptionRun, rest: str, keyless: bool) -> bool:
    """Returns whether these are options although nothing says which is right."""
    if rest:
        return False
    return run.kind == "box" or (keyless and all(len(option.text) < _LONGEST for option in run.options))


def _judged(run: OptionRun, key: Key | None, marked: frozenset[str]) -> tuple[frozenset[str], tuple[KeyProblem, ...]]:
    """Returns the right options, empty if the key is not reliable, and the problems."""
    none: frozenset[str] = frozenset()
    ids = [option.id for option in run.options]
    if len(set(ids)) != len(ids):
        return none, (KeyProblem("Q108", "two options have the same letter", "", "use the letters a, b, c, …"),)
    if key and (unknown := sorted(key.ids - set(ids))):
        message = f"the key names option {unknown[0]}, which does not exist"
        return none, (KeyProblem("Q105", message, key.at, "name an existing option, or add the missing one"),)
    if key and marked and marked != key.ids and not run.by_bold:
        message = f"the key says {_listed(key.ids)}, the mark says {_listed(marked)}"
        return none, (KeyProblem("Q106", message, key.at, "correct one of them"),)
    if not key and run.by_bold:
        message = "the bold option was read as the correct one"
        return marked, (KeyProblem("Q107", message, run.by_bold, "add the key below: `Answer: b`", assumed=True),)
    return (key.ids if key else marked), ()


def _listed(ids: frozenset[str]) -> str:
    return " and ".join(sorted(ids))
