"""Finds the options in the text of a question: check boxes, letters in any order, or a mark on the right one."""

from __future__ import annotations

import re
import textwrap
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from questions.blocks import dedent_all
from questions.fences import fence_after, fence_in
from questions.ids import nth_letter
from questions.patterns.options.keys import ALPHABETS, latin_letter
from questions.source import WIDE, trim
from questions.wording.labels import label_of

# Options in lines of Markdown: check boxes, letters, letters in one line, bullets

OptionMark = Literal["box", "letter", "bullet", "number", "sign"]

_LETTERS = "A-Ja-jА-Ка-к①-⑩アイウエオカキクケコ가나다라마바사아자차Ａ-Ｊａ-ｊ"
OPTION_WORD = (
    r"(?:(?:Option|Choice|Opci[oó]n|Opção|Alternativa|Opzione|Choix|Optie|Opcja|Вариант|Варіант|Seçenek|Pilihan"
    r"|Lựa chọn)[ ]|(?:选项|選項|選択肢|보기)[ ]?)"
)
"""A word before the letter of each option."""
_BOX = re.compile(
    r"[ \t]*(?:(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\\?\[(?P<box>[ xX✓✔*])\\?\]|\((?P<round>[ xX]?)\)(?=[ \t]|$))"
    r"(?:[ \t]+(?P<rest>.*)|$)"
    r"|\[(?P<bare_box>[ xX✓✔*]?)\](?![(\[:])[ \t]*(?P<bare_rest>\S.*))"
)
"""A check box in a list, or at the start of a line."""
_OPTION_LETTER = re.compile(
    rf"[ \t]*(?:[-*+•●◦▪‣][ \t]+|\d{{1,2}}[.)][ \t]+)?(?P<open>[*_]{{0,3}})"
    rf"(?:{OPTION_WORD}|(?:Answer|Choice):[ ](?=[A-J][.)]))?[(\[（]?(?P<letter>[{_LETTERS}])"
    rf"(?:[)\].:][*_]{{0,3}}(?=[ \t]|$)|[.:](?=[{WIDE}])"
    r"|[）．、：][*_]{0,3}|[*_]{1,3}[ ]?[).:–-](?=[ \t]|$)|(?<=[①-⑩])(?=[ \t]"
    r"|\S)|(?<=[-*+][ ][A-J])(?=[ ]\S))(?:[ \t]*(?P<rest>.*)|$)"
)
_BULLET = re.compile(r"[ \t]*(?:[-*+])[ \t]+(?P<rest>\S.*)")
_INLINE = re.compile(
    r"(?:^|(?<=\s)|(?<=[,，])(?=[A-J][;；]))(?P<open>[*_]{0,2})[(（]?(?P<letter>[A-Ja-j])"
    rf"(?:\.(?=\s+\S|[{WIDE}])|[)）．、;；](?=\s*\S))"
)
_STOP = re.compile(r"[ \t]*(?:#{1,6}[ \t]|</?details\b|</?summary\b|(?:[-*_][ ]*){3,}$)", re.IGNORECASE)
_PREFIX = re.compile(
    r"[*_]{0,3}[(\[]?(?P<letter>[A-Ja-j])(?:[)\].:][*_]{0,3}(?:[ \t]+|(?=\n)|$)|[ ][-–—][ ]|[ \t]*(?=\n|$))"
)
_LETTER_ALONE = re.compile(r"[*_`]{0,3}[A-Ja-j][.):]?[*_`]{0,3}[ ]*")
_COMMENT = re.compile(r"[ \t]*<!--(?:(?!-->).){0,200}-->[ \t]*")
_TRUTH_WORDS = (
    r"correct|right|true|answer|correct[ao]|verdader[ao]|richtig|wahr|exact|juste|vrai|giust[ao]|corrett[ao]"
    r"|vero|juist"
    r"|верно|правильно|правда|вірно|doğru|benar|đúng|正确|正確|对|正解|○|정답|맞음"
)
RIGHT_AFTER = re.compile(
    r"[ ]*(?:[✅✔✓☑]\ufe0f?"
    rf"|[*_]{{0,3}}[(\[（](?:{_TRUTH_WORDS})(?:[ ](?:answer|option|choice|respuesta|option))?[)\]）][*_]{{0,3}}"
    r"|(?:<-+|←|-{1,2}>?|–|—)[ ]?[*_]{0,3}(?:correct|right)(?:[ ]answer)?[*_]{0,3})[ ]*$",
    re.IGNORECASE,
)
"""A mark or a word behind the right option."""
RIGHT_FIRST = re.compile(r"[✅✔✓☑]\ufe0f?[ ]*")
_WRONG = re.compile(r"^[❌✗✘☐⬜]\ufe0f?[ ]*|[ ]*[❌✗✘]\ufe0f?[ ]*$")
_WRONG_MARK = re.compile(r"^[❌✗✘]|[❌✗✘]\ufe0f?[ ]*$")
_BOLD = re.compile(r"(\*\*|__)(?P<text>[^*_\n]{1,400})\1")
_MAYBE = re.compile(
    # By the sign, then what is around it: there are far more letters than signs.
    rf"[\[()\].:*_）．、：;；①-⑩选選보](?:(?<=\[)[ xX✓✔*]\\?\]|(?<=\()[ xX]\)"
    rf"|(?<=(?<![^\W_])[{_LETTERS}][)\].:*_）．、：;；])|(?<=(?<![^\W_])[①-⑩])"
    r"|(?<=[选選보])(?:项|項|択肢|기)[A-J])"
)
_MAYBE_FIRST = re.compile(r"\n(?:\[\][ ]|[ \t]*[-*+][ ][A-J][ ]\S|[ \t]{0,3}B(?!\w))")
"""An option by the first signs of its line."""
_FEWEST_INLINE = 3
_MOST = 20
"""Number of check boxes from which a list is a to-do list."""
LONGEST_OPTION = 400
"""Length from which a lettered text without a key is a part of an answer, not an option, characters."""


class FoundOption(NamedTuple):
    """An option as found."""

    id: str
    text: str
    marked: bool
    crossed: bool = False
    """Whether a cross marks it as wrong."""
    signed: bool = False
    """Whether a sign comes before it."""
    told: bool = False
    """Whether a sign or a word such as `(correct)` behind it marks it as right."""


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


TRUTHS = (
    ("true", "false"),
    ("vrai", "faux"),
    ("verdadero", "falso"),
    ("verdadeiro", "falso"),
    ("vero", "falso"),
    ("wahr", "falsch"),
    ("richtig", "falsch"),
    ("waar", "onwaar"),
    ("prawda", "fałsz"),
    ("верно", "неверно"),
    ("правда", "ложь"),
    ("đúng", "sai"),
    ("对", "错"),
    ("對", "錯"),
    ("正确", "错误"),
    ("正確", "錯誤"),
)
"""Words for true and false by language."""
MARKED_STATEMENT = re.compile(
    r"(?P<says>[^\n]{4,400}?)[ \u3000]{0,9}"
    r"(?:[（(【\[][ \u3000]{0,9}(?P<mark>[√✓✔☑×✗✘╳❌对错對錯])\ufe0f?[ \u3000]{0,9}[)）】\]][。.]?"
    rf"|(?:→|➜|⇒|->|=>)[ ]?\**(?P<word>{'|'.join(word for pair in TRUTHS for word in pair)})\**[.。]?"
    r"(?:[ \n]{1,9}[(（](?P<why>[^()（）]{1,400})[)）])?)",
    re.IGNORECASE,
)
"""A statement with a mark, or a word behind an arrow, that says whether it is true, and maybe why."""

_TRUE_OR_FALSE = re.compile(
    r"(?:true|false|yes|no|correct|incorrect|right|wrong|wahr|falsch|richtig|vrai|faux|vero|falso|verdadero"
    r"|verdadeiro|sí|sim|não"
    r"|правда|ложь|верно|неверно|да|нет|doğru|yanlış|evet|hayır|正确|错误|对|错|正しい|誤り|はい|いいえ|맞음"
    r"|틀림|예|아니오)[.。]?",
    re.IGNORECASE,
)


def are_truths(run: OptionRun) -> bool:
    """Returns whether all options are words such as `True` and `No`."""
    return all(_TRUE_OR_FALSE.fullmatch(option.text.strip()) for option in run.options)


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
    return _MAYBE.search(text) is not None or _MAYBE_FIRST.search(f"\n{text}") is not None


def options_in(lines: list[str]) -> OptionRun | None:
    """Returns the first two or more options in the lines, outside programs."""
    run = _first_run(lines)
    return run and _past_statements(lines, run)


def _first_run(lines: list[str]) -> OptionRun | None:
    fence = ""
    skipped = 0
    for index, line in enumerate(lines):
        if index < skipped:
            continue
        if found := fence_in(line):
            if not fence and (bare := _bare_letters(lines, index + 1, found["mark"])):
                return bare
            fence = fence_after(fence, found["mark"])
        elif not fence and (bare := _bare_letters(lines, index)):
            return bare
        elif not fence and (first := _option_line(line)) is not None:
            run = (_may_share(line) and _inline(lines, index)) or _run(lines, index, first)
            if isinstance(run, OptionRun):
                return run
            skipped = run
        elif not fence and _may_share(line) and (inline := _inline(lines, index)):
            return inline
    return None


_CIRCLED = re.compile(r"[ \t\u3000]*[①-⑩]")
_OF_STATEMENTS = re.compile(
    r"[①-⑩\s\u3000、,，和与及]{1,30}|[以均都全]{1,2}[上下]?(?:都|均)?(?:不?是|不?对|正确|错误)?"
)
"""An option that names statements: `①③`, or all or none of them."""


def _past_statements(lines: list[str], run: OptionRun) -> OptionRun:
    """Returns the options that name statements with circled numbers above them, `A. ①②`, where these are what was
    found; else what was found."""
    if run.kind != "letter" or not _CIRCLED.match(lines[run.start]):
        return run
    # The last statement holds what continues below it.
    below = next((at for at in range(run.start + 1, len(lines)) if _AFTER_STATEMENTS.match(lines[at])), None)
    later = _first_run(lines[below:]) if below is not None else None
    if below is None or later is None or later.start:
        return run
    named = sum(_OF_STATEMENTS.fullmatch(option.text.strip(" .。;；")) is not None for option in later.options)
    if named * 3 < len(later.options) * 2:
        return run
    return replace(later, start=below + later.start, end=below + later.end)


_AFTER_STATEMENTS = re.compile(r"[ \t\u3000]*(?:[-*+][ ])?[(（]?[AaＡ][)）.．、:：]")
"""The first option below statements."""


def _may_share(line: str) -> bool:
    """Returns whether a line has the first two letters with the same mark, as options that share a line do."""
    low = line.lower()
    return any(f"a{mark}" in low and f"b{mark}" in low for mark in ").）．、;；")


_BARE_LETTER = re.compile(r"[ \t]{0,3}(?P<letter>[A-J])(?:[ \t]+|(?=[^\w\s.):,;=\-．、：）；]))(?P<rest>\S.*)")
"""An option whose letter stands alone before its text."""
_NAMED = ("=", ":", "<", "|", ">", "--", "->")
"""What follows a letter that is a name in a program, a graph or a table."""


def _bare_letters(lines: list[str], first: int, fence: str = "") -> OptionRun | None:
    """Returns three or more lines that begin with the letters `A`, `B`, `C`, …, and nothing else: all lines up to a
    blank one, or all of a fence whose first line is `first`."""
    found: list[FoundOption] = []
    end = first
    for line in map(lines.__getitem__, range(first, len(lines))):
        if line.strip() == "" and not (fence and not found):
            if not fence:
                break
        elif fence and (mark := fence_in(line)) and mark["mark"].startswith(fence):
            break
        else:
            option = _BARE_LETTER.match(line)
            if option is None or option["letter"].lower() != nth_letter(len(found)):
                return None
            found.append(found_option(nth_letter(len(found)), option["rest"].rstrip(" \\"), False))
        end += 1
    if len(found) < _FEWEST_INLINE or sum(one.text.startswith(_NAMED) for one in found) * 2 > len(found):
        return None
    return (
        OptionRun("letter", first - 1, end + 1, tuple(found))
        if fence
        else OptionRun("letter", first, end, tuple(found))
    )


def bullets_in(lines: list[str]) -> OptionRun | None:
    """Returns two or more bullets of one line each at the end of the lines, also with blank lines between them."""
    end = len(lines)
    start = at = end
    while at and (not lines[at - 1].strip() or _BULLET.fullmatch(lines[at - 1])):
        at -= 1
        start = at if lines[at].strip() else start
    texts = [found["rest"] for line in lines[start:end] if (found := _BULLET.fullmatch(line))]
    if not 2 <= len(texts) <= 10:
        return None
    return OptionRun(
        "bullet", start, end, tuple(found_option(nth_letter(i), text.strip(), False) for i, text in enumerate(texts))
    )


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


_MARKED = re.compile(
    r"<(?P<tag>mark|b|strong)>(?P<tagged>[^<>\n]{1,400})</?(?P=tag)>"
    r"|(?<![=!<>])==(?P<shown>[^\s=](?:[^=\n]{0,398}[^\s=])?)==(?!=)",
    re.IGNORECASE,
)
"""What is highlighted, or bold in HTML."""
_BREAK = re.compile(r"(?<!\\)\\[ ]*$")
"""The mark of a line break at the end of a line."""


def _option_line(line: str) -> _Line | None:
    indent = _indent(line)
    line = _BREAK.sub("", line) if line.endswith(("\\", "\\ ")) else line
    if "<" in line or "==" in line:
        line = _MARKED.sub(lambda found: f"**{found['tagged'] or found['shown']}**", line)
    if found := _BOX.fullmatch(line):
        box = found["box"] or found["round"] or found["bare_box"] or " "
        return _Line("box", indent, "", box != " ", found["rest"] or found["bare_rest"] or "")
    if found := _OPTION_LETTER.fullmatch(line):
        rest = found["rest"] or ""
        starred = found["open"] == "*" and "*" not in line[found.end("open") :]
        if found["open"] and rest.rstrip().endswith(found["open"]):
            rest = found["open"] + rest.rstrip()
        bold = found["open"] in ("**", "__")
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
        texts.append(lines[line][one.end() : stop].strip(" ,;；|\u3000"))
    texts = [_closed(one["open"], text) for (_, one), text in zip(found, texts, strict=True)]
    options = [found_option(nth_letter(i), text, False) for i, text in enumerate(texts)]
    bold = _the_one_in_bold(options, [False] * len(options))
    by_bold = options[bold].text if bold is not None and not any(option.marked for option in options) else ""
    if by_bold and bold is not None:
        options[bold] = options[bold]._replace(text=by_bold.strip("*_"), marked=True)
    lead = lines[index][: found[0][1].start()].strip(" *-")
    return OptionRun("letter", index, end, tuple(options), lead=lead, by_bold=by_bold)


def _closed(opening: str, text: str) -> str:
    """Returns the text of an option in one line with others, with the marks before its letter if they end behind it."""
    return opening + text if opening and text.endswith(opening) else text


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
    if scan.fence or fence_in(line):
        return _fenced(scan, index, first.indent)
    if not line.strip() or _COMMENT.fullmatch(line):
        scan.blank = True
        return True
    this = _option_line(line) or _without_mark(scan, line)
    if this and this.kind == first.kind and abs(this.indent - first.indent) <= 1:
        if first.kind == "letter" and not _follows(scan, this.letter):
            return False
        scan.starts.append((index, this))
    elif (
        _STOP.match(line)
        or label_of(line) is not None
        or (scan.blank and _indent(line) <= first.indent and not _shown_below(scan) and not _is_wrapped(scan, line))
    ):
        return False
    scan.blank = False
    scan.end = index + 1
    return True


_LETTER_ONLY = re.compile(r"[ \t]*(?P<letter>[A-Ja-j])[ \t]{2,}(?P<rest>\S.*)")
_ENDS = re.compile(r"[.!?:;)\]`*_][ \t]*$")


def _without_mark(scan: _Scan, line: str) -> _Line | None:
    """Returns the next option in order where the mark behind its letter is missing: `b   text` below `a.  text`."""
    found = _LETTER_ONLY.fullmatch(line)
    if found is None or found["letter"].lower() != nth_letter(len(scan.starts)):
        return None
    return _Line("letter", _indent(line), found["letter"].lower(), False, found["rest"])


def _is_wrapped(scan: _Scan, line: str) -> bool:
    """Returns whether a line below a blank one continues in the middle of the last option's sentence."""
    text = line.strip()
    return scan.starts[0][1].kind == "letter" and text[0].islower() and not _ENDS.search(scan.lines[scan.end - 1])


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
    found = fence_in(line)
    option = len(scan.starts) - 1
    if not scan.fence and found and found.start("mark") <= indent and option not in scan.outer:
        scan.outer.append(option)
        scan.before_outer = scan.end
    if found:
        scan.fence = fence_after(scan.fence, found["mark"])
    scan.blank = False
    scan.end = index + 1
    return True


def _gathered(scan: _Scan) -> OptionRun:
    ends = [index for index, _ in scan.starts[1:]] + [scan.end]
    options: list[FoundOption] = []
    lettered = _all_lettered([line.text for _, line in scan.starts])
    for number, ((start, line), end) in enumerate(zip(scan.starts, ends, strict=True)):
        below = [one for one in scan.lines[start + 1 : end] if not _COMMENT.fullmatch(one)]
        text = trim("\n".join((line.text, *dedent_all(below, line.indent + 2))))
        if line.kind == "box" and lettered and (prefix := _PREFIX.match(text)):
            text = textwrap.dedent(text[prefix.end() :].lstrip("\n")).strip()
        options.append(found_option(line.letter or nth_letter(number), text, line.marked))
    kind, start = scan.starts[0][1].kind, scan.starts[0][0]
    bold = _the_one_in_bold(options, [line.bold for _, line in scan.starts])
    if bold is None or kind == "box" or any(option.marked for option in options):
        return OptionRun(kind, start, scan.end, tuple(options))
    text = options[bold].text
    options[bold] = options[bold]._replace(text=text.strip("*_"), marked=True)
    return OptionRun(kind, start, scan.end, tuple(options), by_bold=text)


def _all_lettered(texts: list[str]) -> bool:
    letters = "".join(found["letter"].lower() for text in texts if (found := _PREFIX.match(text)))
    return len(letters) == len(texts) and letters == ALPHABETS[0][: len(letters)]


def _the_one_in_bold(options: list[FoundOption], letters: list[bool]) -> int | None:
    """Returns the only option whose text or letter is bold."""
    bold = [i for i, option in enumerate(options) if _BOLD.fullmatch(option.text) or letters[i]]
    return bold[0] if len(bold) == 1 and len(options) >= _FEWEST_INLINE else None


_HTML_BREAK = re.compile(r"(?:[ ]{0,8}</?br[ ]?/?>){1,3}$", re.IGNORECASE)


def found_option(name: str, text: str, marked: bool) -> FoundOption:
    """Returns an option without its check mark or cross, and without line breaks in HTML behind it."""
    if text.endswith(">"):
        text = _HTML_BREAK.sub("", text)
    if len(text) >= 2000:
        return FoundOption(name, text, marked or RIGHT_FIRST.match(text) is not None)
    less = (
        RIGHT_FIRST.sub("", RIGHT_AFTER.sub("", text), count=1)
        if RIGHT_FIRST.match(text)
        else RIGHT_AFTER.sub("", text)
    )
    if less != text:
        return FoundOption(name, less.strip(" "), True)
    return FoundOption(name, _WRONG.sub("", text), marked, crossed=_WRONG_MARK.search(text) is not None)
