"""Brings lines of Chinese, Japanese and Korean exams to the form that other documents have: full-width letters, letters
of options without a mark, numbers in brackets or in words, and keys that are signs.

    【第一题】 …      第1题：…
    （7）…？          7. …？
    ア　…             ア. …
    답: ②번           답: ②
    答案：√           答案：正确
"""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise
from typing import TYPE_CHECKING

from questions.fences import lines_outside_programs
from questions.source import WIDE
from questions.wording.labels import label_of
from questions.wording.stems import ends_asking, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.source import Source

_WIDE = re.compile(f"[{WIDE}]")
_NARROW = {code + 0xFEE0: code for code in (*range(0x30, 0x3A), *range(0x41, 0x4B), *range(0x61, 0x6B))}
"""Full-width digits and letters of options."""
_FULL_WIDTH = re.compile(
    r"^[ \u3000]*[（(]?(?:[０-９]{1,3}|[Ａ-Ｊ])(?=[．、.：:）)])|(?<=[\s\u3000；;。])[（(]?[Ａ-Ｊ](?=[．、.）)])"
    r"|(?:答案?|正解|정답|답)[】\]]?[ ]?[:：]?[ ]?[Ａ-Ｊ]{1,6}[ \u3000]*$"
)
_NUMERALS = "一二三四五六七八九"
_IN_WORDS = rf"十[{_NUMERALS}]?|[{_NUMERALS}]十[{_NUMERALS}]?|[{_NUMERALS}]"
_TITLED = re.compile(
    rf"[ \u3000]*(?P<open>【)?[ ]?(?:第[ ]?(?P<number>\d{{1,3}}|{_IN_WORDS})[ ]?(?P<unit>[题題問问])"
    rf"|(?P<word>问题|問題|题目|題目|문제)[ ]?(?P<count>{_IN_WORDS}))[ ]?"
    r"(?:(?(open)】)[ \u3000]*[:：、．.][ \u3000]*|(?(open)】[ \u3000]*|[ \u3000]+)|$)"
)
"""A question by its number in brackets, or in words."""
_WORD_AND_NUMBER = re.compile(
    r"[ \u3000]*(?P<word>問題?|问题?|题目?|題目?|設問|質問|문제|문항|문)[ ]?(?P<number>\d{1,3})[ \u3000\t]+"
    rf"(?={_WIDE.pattern})"
)
"""A question by a word and its number, with nothing but a space behind both."""
_IN_BRACKETS = re.compile(r"[（(](?P<number>\d{1,3})[）)][ \u3000]*(?=[^\s\d])")
_NUMBER = re.compile(r"\d{1,3}[．、.)）]")
_TIGHT = re.compile(rf"(?P<number>\d{{1,3}})[.．、](?={_WIDE.pattern})")
_TIGHT_LETTER = re.compile(r"(?:^|(?<=[ \u3000\t]))(?P<letter>[A-J])\.(?=[^\s.])")
_FIRST = 10
"""Characters of a line within which the first of several options in it is."""
_CIRCLES = "①②③④⑤⑥⑦⑧⑨⑩"
_CIRCLED = re.compile(rf"(?:^|[ \u3000\t；;，,]{{1,4}})(?P<number>[{_CIRCLES}])[ \u3000]*(?=\S)")
_BEFORE = r"[ ]{0,3}[*\[【]{0,2}(?:参考|正确|標準|标准)?"
_BEHIND = r"[*\]】]{0,2}[ ]?[:：]?[*]{0,2}[ ]?"
_CIRCLED_KEY = re.compile(rf"{_BEFORE}(?:答案|正解|答え|答|정답|답){_BEHIND}[{_CIRCLES}]")
_RANGE_LABEL = re.compile(rf"{_BEFORE}(?:答案|正解|정답){_BEHIND}")
_RANGE = re.compile(
    r"(?P<first>\d{1,3})[ ]?[-~～—–－至][ ]?(?P<last>\d{1,3})(?:题)?[ \u3000]*[:：.、．]?[ \u3000]*"
    r"(?P<keys>[A-J](?:[ \u3000,，]{0,2}[A-J]){1,19})(?![A-Za-z])"
)
"""The keys of several questions in a row: `1-5 ABCCA`."""
_KEYS_OF_RANGE = re.compile(r"[ \u3000]*\d{1,3}[ ]?[-~～—–－至][ ]?\d{1,3}[题 \u3000:：.、．]{0,4}[A-J]")
_BLANK = re.compile(r"[（(][ \u3000]{0,12}[）)][。.]?[ ]*$|_{2,}|＿{2,}")
_OPTION = re.compile(r"[ \u3000]*[（(]?(?:[A-JＡ-Ｊ][．、.)）]|[①アＡ])")
_KANA = "アイウエオカキク"
_KANA_OPTION = re.compile(rf"[ \u3000]*(?P<letter>[{_KANA}])[ \u3000\t]+(?=\S)")
_COUNTER = re.compile(rf"(?P<label>{_BEFORE}(?:정답|답){_BEHIND})(?P<key>[①-⑩]|\d{{1,2}})번[.。]?[ ]*")
_SIGN = re.compile(
    rf"(?P<label>{_BEFORE}(?P<word>答案|正解|答え|答|정답|답){_BEHIND})[（(]?(?P<sign>[√✓✔○〇×✗✘╳])[）)]?[ ]*"
)
_RIGHT_SIGNS = "√✓✔○〇"
_TRUTHS = {"正解": ("正しい", "誤り"), "答え": ("正しい", "誤り"), "정답": ("맞음", "틀림"), "답": ("맞음", "틀림")}
_FEWEST = 2
"""Fewest questions that show how a document counts them, and fewest options."""
_FEWEST_KANA = 3
_FEWEST_TIGHT = 3


def with_plain_lines(source: Source) -> Source:
    """Returns the document with such lines in the usual form. Lines keep their numbers."""
    if not any(not line.isascii() and _WIDE.search(line) for line in source.lines):
        return source
    lines = list(source.lines)
    outside = _outside_programs(lines)
    for at in outside:
        line = lines[at]
        if not line.isascii():
            narrow = _FULL_WIDTH.sub(lambda found: found[0].translate(_NARROW), line)
            lines[at] = _with_each_key(_with_sign(_with_title(narrow)))
        elif "A." in line[:_FIRST]:
            lines[at] = _with_spaced_letters(line)
        elif _KEYS_OF_RANGE.match(line):
            lines[at] = _with_each_key(line)
    _write_kana(lines, outside)
    _write_circled(lines, outside)
    _write_counted_words(lines, outside)
    _write_numbers(lines, outside)
    _write_tight(lines, outside)
    return source if tuple(lines) == source.lines else replace(source, lines=tuple(lines))


def _outside_programs(lines: Sequence[str]) -> list[int]:
    return [at for at, line in lines_outside_programs(lines) if line.strip()]


def _with_title(line: str) -> str:
    """Returns a line with the number of its question in digits, and without brackets around it."""
    found = _TITLED.match(line)
    if found is None or not (found["open"] or found["count"] or not (found["number"] or "1").isdecimal()):
        return line
    number = found["number"] or found["count"]
    count = number if number.isdecimal() else str(_value(number))
    name = f"第{count}{found['unit']}" if found["unit"] else f"{found['word']}{count}"
    rest = line[found.end() :]
    return f"{name}：{rest}" if rest else name


def _with_each_key(line: str) -> str:
    """Returns a line in which each key of a range has its number: `1.A 2.B 3.C` for `1-3 ABC`."""
    label = _RANGE_LABEL.match(line)
    begun = label.end() if label else 0
    if not _KEYS_OF_RANGE.match(line, begun):
        return line
    found = list(_RANGE.finditer(line, begun))
    counted = [(int(one["first"]), int(one["last"]), re.sub(r"\W", "", one["keys"])) for one in found]
    fitting = all(last - first + 1 == len(keys) for first, last, keys in counted)
    if not found or not fitting or _RANGE.sub("", line[begun:]).strip(" \u3000,，;；。."):
        return line
    pairs = (f"{first + at}.{key}" for first, _, keys in counted for at, key in enumerate(keys))
    return f"{line[:begun]}{' '.join(pairs)}"


def _with_spaced_letters(line: str) -> str:
    """Returns a line of options such as `A.SGD B.Adam C.ReLU` with a space behind each letter."""
    letters = "".join(found["letter"] for found in _TIGHT_LETTER.finditer(line))
    regular = len(letters) >= _FEWEST_TIGHT and "ABCDEFGHIJ".startswith(letters)
    return _TIGHT_LETTER.sub(r"\g<letter>. ", line) if regular and line.lstrip(" \u3000").startswith("A.") else line


def _value(words: str) -> int:
    """Returns the value of a Chinese number below one hundred."""
    tens, ten, ones = words.rpartition("十") if "十" in words else ("", "", words)
    one = _NUMERALS.index(ones) + 1 if ones else 0
    return (10 * (_NUMERALS.index(tens) + 1 if tens else 1) if ten else 0) + one


def _with_sign(line: str) -> str:
    """Returns a line with a key in words for a sign, and without the counter behind a number."""
    if found := _COUNTER.fullmatch(line):
        return f"{found['label']}{found['key']}"
    found = _SIGN.fullmatch(line)
    if found is None:
        return line
    right, wrong = _TRUTHS.get(found["word"], ("正确", "错误"))
    return f"{found['label']}{right if found['sign'] in _RIGHT_SIGNS else wrong}"


def _write_kana(lines: list[str], outside: Sequence[int]) -> None:
    """Writes a mark behind the letters of options in neighboring lines: `ア　…`, `イ　…`, `ウ　…`."""
    run: list[tuple[int, re.Match[str]]] = []
    for at in (*outside, len(lines)):
        found = _KANA_OPTION.match(lines[at]) if at < len(lines) else None
        if found and found["letter"] == _KANA[len(run)] and (not run or at - run[-1][0] <= _FEWEST):
            run.append((at, found))
            continue
        if len(run) >= _FEWEST_KANA:
            for line, option in run:
                lines[line] = f"{option['letter']}. {lines[line][option.end() :]}"
        run = [(at, found)] if found and found["letter"] == _KANA[0] else []


def _write_circled(lines: list[str], outside: Sequence[int]) -> None:
    """Writes letters for circled numbers that share a line right above a key that is one: `①…；②…；③…`."""
    for at, below in pairwise(outside):
        found = list(_CIRCLED.finditer(lines[at])) if lines[at].lstrip(" \u3000").startswith("①") else []
        numbers = [one["number"] for one in found]
        if len(found) >= _FEWEST and numbers == [*_CIRCLES[: len(found)]] and _CIRCLED_KEY.match(lines[below]):
            lines[at] = _CIRCLED.sub(lambda one: f" {'ABCDEFGHIJ'[_CIRCLES.index(one['number'])]}) ", lines[at]).strip()


def _write_counted_words(lines: list[str], outside: Sequence[int]) -> None:
    """Writes `問1：…` for `問1 …` where these numbers continue."""
    found = [(at, number) for at in outside if (number := _WORD_AND_NUMBER.match(lines[at]))]
    steps = all(int(two["number"]) == int(one["number"]) + 1 for (_, one), (_, two) in pairwise(found))
    for at, number in found if len(found) >= _FEWEST and steps else ():
        lines[at] = f"{number['word']}{number['number']}：{lines[at][number.end() :]}"


def _write_tight(lines: list[str], outside: Sequence[int]) -> None:
    """Writes `7. …` for `7.…` below blank lines in a list of questions without options and labels, as the others are
    read without it."""
    found = [
        (at, number) for at in outside if (number := _TIGHT.match(lines[at])) and not (at and lines[at - 1].strip())
    ]
    if len(found) < _FEWEST_TIGHT or any(_OPTION.match(lines[at]) or label_of(lines[at]) for at in outside):
        return
    steps = all(int(two["number"]) == int(one["number"]) + 1 for (_, one), (_, two) in pairwise(found))
    asking = sum(reads_as_question(lines[at][number.end() :]) for at, number in found)
    for at, tight in found if steps and asking * 2 >= len(found) else ():
        lines[at] = f"{tight['number']}. {lines[at][tight.end() :]}"


def _write_numbers(lines: list[str], outside: Sequence[int]) -> None:
    """Writes `7、…` for `（7）…` where the numbers of questions are in brackets: nothing else counts at the margin,
    they continue, and most of these lines ask, or have options below them."""
    found = [(at, int(number["number"])) for at in outside if (number := _IN_BRACKETS.match(lines[at]))]
    if len(found) < _FEWEST or any(_NUMBER.match(lines[at]) for at in outside):
        return
    if any(two != one + 1 for (_, one), (_, two) in pairwise(found)):
        return
    asking = sum(_asks(lines, at) for at, _ in found)
    if asking * 3 >= len(found) * 2:
        for at, count in found:
            lines[at] = f"{count}、{_IN_BRACKETS.sub('', lines[at], count=1)}"


def _asks(lines: Sequence[str], at: int) -> bool:
    below = next((line for line in lines[at + 1 : at + 3] if line.strip()), "")
    return (
        ends_asking(lines[at]) or _BLANK.search(lines[at][-_LONGEST_BLANK:]) is not None or bool(_OPTION.match(below))
    )


_LONGEST_BLANK = 30
"""Characters at the end of a line within which a blank to be filled in is."""
