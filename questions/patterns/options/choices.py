"""Puts the options of a question and its key together: what is right, why, and what is wrong with the key."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import plain
from questions.fences import fence_after, fence_in
from questions.ids import nth_letter
from questions.model import Option
from questions.patterns.options.announced import begins_explanation, explained_options, options_in_gap, part_at_number
from questions.patterns.options.keys import Key, key_below, key_of, letter_below
from questions.patterns.options.marks import numbered_options
from questions.patterns.options.search import (
    LONGEST_OPTION,
    MARKED_STATEMENT,
    OPTION_WORD,
    TRUTHS,
    OptionRun,
    are_truths,
    bullets_in,
    found_option,
    may_hold_options,
    options_in,
)
from questions.source import WIDE, trim
from questions.wording.imperatives import sets_task
from questions.wording.labels import only_announces_answer
from questions.wording.stems import TRUE_OR_FALSE, asks_to_choose, demands, ends_asking, reads_as_question

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.patterns.options.search import FoundOption

_NO_OPTION = re.compile(r"#{1,6}[ ]|```|~~~|>|\||<[a-z!]|!\[", re.IGNORECASE)
_SHORT_LEAD = 100
"""Length up to which one line above options belongs to the question, where other questions have options, characters."""
_MOST_LINES = 8
"""Most plain lines that are options."""
_FEWEST_LINES = 3


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
    prompt: str, answer: str, *, labeled: bool, offering: bool = False, counted: bool = False
) -> ChoiceParts | None:
    """Returns the options of a question and its key; None if there are no options.

    Without a label, `answer` is all text below the question, including the options. Lettered options need no key: a
    list of answers may follow, or the question is homework. `offering`: whether the questions around it have options,
    so that lettered lines are options although nothing says which is right. `counted`: whether the answers of the
    questions around it are numbers of the options above.
    """
    run = _options_of(prompt)
    if run is not None:
        return _in_prompt(prompt, answer, run, labeled=labeled, offering=offering)
    if labeled:
        return _named_by_answer(prompt, answer, counted=counted)
    if listed := _of_list(prompt, answer, "") or _announced(prompt, answer, offering=offering):
        return listed
    run = _options_of(answer)
    if run is None:
        return None if answer else _of_statement(prompt)
    return _below_prompt(prompt, answer, run, offering=offering)


def _announced(prompt: str, answer: str, *, offering: bool) -> ChoiceParts | None:
    """Returns the options below a word such as `Options:` whose number is the key in bold; where the questions around
    have options, including those named `Option A`, each with an explanation, which tell no key."""
    if keyed := part_at_number(answer):
        return _of_numbered(f"{prompt}\n\n{keyed.asked}".strip(), keyed.answer, counted=False)
    if offering and (found := explained_options(answer)):
        run, why = found
        lines = answer.split("\n")
        shown = trim("\n".join(lines[: run.start]))
        options = tuple(Option(option.id, option.text, False) for option in run.options)
        return ChoiceParts(f"{prompt}\n\n{shown}".strip(), options, why, (_names_none(lines[run.start]),))
    return None


def _options_of(text: str) -> OptionRun | None:
    return options_in(text.split("\n")) if may_hold_options(text) else None


def _in_prompt(prompt: str, answer: str, run: OptionRun, *, labeled: bool, offering: bool) -> ChoiceParts | None:
    """Returns the options that stand in the prompt, with the key from the answer or from below them."""
    lines = prompt.split("\n")
    own = _before_another(lines[run.end :])
    asked, between = trim("\n".join((*lines[: run.start], run.lead))), trim("\n".join(own))
    if len(own) < len(lines) - run.end:
        # The answer belongs to the last of the questions.
        alone = _joined(asked, "", run, None, "", keyless=True)
        return alone and alone._replace(why=between)
    key = key_of(answer, run.options) if labeled else None
    # An explanation may come before the line with the key.
    key = key or key_below(answer.split("\n"), run.options)
    if not answer and (letter := letter_below(lines[run.end :], run.options)):
        key, between = letter, ""
    if key is None and answer and not _is_marked(run):
        return _unkeyed(asked, run, answer) if offering else None
    if key is None and offering and not _is_marked(run) and begins_explanation(between):
        return _unkeyed(asked, run, between)
    return _joined(asked, between, run, key, answer if key is None else "", keyless=True)


def _named_by_answer(prompt: str, answer: str, *, counted: bool) -> ChoiceParts | None:
    """Returns what only an answer with a label shows to be options: it names them, or they stand in it."""
    lines = prompt.split("\n")
    if (gap := options_in_gap(prompt)) and (key := key_of(answer, gap[1].options)):
        return _joined(gap[0], "", gap[1], key, "", keyless=False)
    found = _of_numbered(prompt, answer, counted=counted) or _of_numbers(lines, answer) or _of_letters(lines, answer)
    found = found or _of_bullets(lines, answer) or _of_lines(lines, answer)
    return found or _of_list(prompt, "", answer) or _of_list_below(prompt, answer) or _of_answer(prompt, answer)


def _below_prompt(prompt: str, text: str, run: OptionRun, *, offering: bool) -> ChoiceParts | None:
    """Returns the options in the text below a question; None if they are a part of the answer."""
    lines = text.split("\n")
    below = _before_another(lines[run.end :])
    key = key_below(below, run.options)
    rest = "" if key else trim("\n".join(below))
    shown = trim("\n".join(lines[: run.start]))
    shows = not run.lead and (only_shows(shown) or (not ends_asking(prompt) and _ends_in_question(shown)))
    if key is None and rest and offering and shows and not _is_marked(run) and not _asks_inside(run):
        return _unkeyed(f"{prompt}\n\n{shown}".strip(), run, rest)
    before = "\n".join((*lines[: run.start], run.lead)).strip()
    goes_on = not before or shows or (not run.lead and _asks_on(shown, offering=offering))
    offered = not rest and goes_on and (reads_as_question(prompt) or len(run.options) > 2 or are_truths(run))
    return _joined(f"{prompt}\n\n{before}".strip(), "", run, key, rest, keyless=offered)


def _ends_in_question(shown: str) -> bool:
    """Returns whether the last line of a text asks, so that all of it belongs to the question."""
    last = shown.rpartition("\n")[2]
    return ends_asking(last) or (asks_to_choose(last) and last.rstrip().endswith((":", "：")))


def _asks_on(shown: str, *, offering: bool) -> bool:
    """Returns whether a text above options keeps asking: it asks to choose, or, where other questions have options,
    it is one short line or has a program."""
    short = len(shown) <= _SHORT_LEAD and "\n" not in shown
    return asks_to_choose(shown) or (offering and (short or any(map(fence_in, shown.split("\n")))))


def _before_another(lines: list[str]) -> list[str]:
    """Returns the lines below options up to a line that asks right above further options: another question."""
    text = "\n".join(lines)
    run = options_in(lines) if may_hold_options(text) else None
    above = run.start if run and len(run.options) > 2 else 0
    while above and not lines[above - 1].strip():
        above -= 1
    if not above or not ends_asking(lines[above - 1]):
        return lines
    while above > 1 and lines[above - 2].strip():
        above -= 1
    return lines[: above - 1]


def bulleted_choice(prompt: str, run: OptionRun, quotes: str) -> ChoiceParts:
    """Returns the question with bullets as options: right are those in bold, unless all or none are."""
    marked = {option.id for option in run.options if option.marked}
    right = marked if len(marked) < len(run.options) else set()
    options = tuple(Option(option.id, option.text, option.id in right) for option in run.options)
    return ChoiceParts("\n\n".join(part for part in (prompt, run.lead) if part), options, quotes, ())


def only_shows(text: str) -> bool:
    """Returns whether a text is only programs and pictures, which belong to the question."""
    fence = ""
    for line in text.split("\n"):
        found = fence_in(line)
        if found:
            fence = fence_after(fence, found["mark"])
        elif not fence and line.strip() and not line.startswith(("    ", "\t", "![", "<!--", "<img")):
            return False
    return True


def _asks_inside(run: OptionRun) -> bool:
    """Returns whether the lettered lines are questions themselves: parts, not options."""
    return any(ends_asking(option.text) for option in run.options)


def _in_parts(answer: str) -> bool:
    return may_hold_options(answer) and options_in(answer.split("\n")) is not None


def _unkeyed(prompt: str, run: OptionRun, why: str) -> ChoiceParts | None:
    """Returns the options if the answer names none of them; None if they are parts of the question."""
    if _asks_inside(run) or any(len(option.text) >= LONGEST_OPTION for option in run.options) or _in_parts(why):
        return None
    options = tuple(Option(option.id, option.text, False) for option in run.options)
    return ChoiceParts(prompt, options, why, (_names_none(why.partition("\n")[0]),))


def _names_none(line: str) -> KeyProblem:
    return KeyProblem("Q122", "the answer names none of the options", line, "write the letter first: `Answer: b`")


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
    named = _NUMBER_KEY.match(first.strip())
    found = [_NUMBERED.fullmatch(option.text) for option in run.options] if run else []
    if (
        run is None
        or named is None
        or [one and one["number"] for one in found] != [*map(str, range(1, len(found) + 1))]
    ):
        return None
    texts = [one["text"] for one in found if one]
    place = int(named["number"]) - 1
    if not 0 <= place < len(texts) or (named["text"] and named["text"].strip(" *_`.") != texts[place].strip(" *_`.")):
        return None
    options = tuple(found_option(nth_letter(index), text, False) for index, text in enumerate(texts))
    key = Key(frozenset((nth_letter(place),)), trim(below), first.strip())
    return _joined(trim("\n".join(lines[: run.start])), "", replace(run, options=options), key, "", keyless=False)


_NAMED_NUMBER = re.compile(
    rf"(?P<word>{OPTION_WORD})?[(\[]?(?P<number>\d{{1,2}})[)\]]?(?:[.:)]?[ ]*|(?:[.:)]?|[ ][-–—])[ ]+(?P<text>\S.*))",
    re.IGNORECASE,
)
"""The number of an option, alone or with its text: `Option 2: a view`."""


def _of_numbered(prompt: str, answer: str, *, counted: bool) -> ChoiceParts | None:
    """Returns the numbered list at the end of a prompt as options, if the answer is the number of one with its text or
    after a word such as `Option`; below a word such as `Options:`, the number or the text alone, and where all keys are
    numbers (`counted`), the number."""
    run = numbered_options(prompt) if answer else None
    if run is None:
        return None
    asked, _, above = run.lead.rpartition("\n")
    announced = only_announces_answer(above)
    asked = trim(asked) if announced else run.lead
    first, _, below = answer.partition("\n")
    named = _NAMED_NUMBER.fullmatch(first.strip(" *_`"))
    key = key_of(answer, run.options, letters=False) if announced and (named is None or named["text"]) else None
    if named and key is None:
        place = int(named["number"]) - 1
        text = run.options[place].text if 0 <= place < len(run.options) else ""
        sure = (
            named["text"].strip(" *_`.") == text.strip(" *_`.")
            if named["text"]
            else announced or counted or named["word"]
        )
        key = Key(frozenset((nth_letter(place),)), trim(below), first.strip()) if text and sure else None
    return key and _joined(asked, "", replace(run, lead=""), key, "", keyless=False)


_COUNTS = re.compile(r"\b(?:how (?:many|much)|number of|count|sum)\b|多少|几个|сколько", re.IGNORECASE)
_COMPUTES = re.compile(r"\b(?:value|output|print|returns?)\b", re.IGNORECASE)
"""Words of a question whose answer may be a number; it is that of an option where few questions have such a word."""
_FEWEST_COUNTED = 3


def keys_are_numbers(read: Sequence[tuple[str, str]]) -> bool:
    """Returns whether the answers with a label are numbers of options: nearly all questions end in a numbered list, and
    the number of an item is all that answers them. `read`: prompts and answers with a label.

    Where one asks how many, or an item is a number itself, an answer such as `2` may be that number.
    """
    found = [(run, answer) for prompt, answer in read if (run := numbered_options(prompt))]
    if len(found) < _FEWEST_COUNTED or len(found) * 10 < len(read) * 9:
        return False
    for run, answer in found:
        named = _NAMED_NUMBER.fullmatch(answer.partition("\n")[0].strip(" *_`"))
        if named is None or named["text"] or not 1 <= int(named["number"]) <= len(run.options):
            return False
        if _COUNTS.search(run.lead) or any(option.text.strip(" .").isdecimal() for option in run.options):
            return False
    others = sum(_COMPUTES.search(run.lead) is None for run, _ in found)
    return others >= _FEWEST_COUNTED and others * 2 > len(found)


_BARE_LETTER = re.compile(r"[ \t]{0,3}(?P<letter>[A-Ja-j])[ \t]+(?P<text>\S.*)")


def _of_letters(lines: list[str], answer: str) -> ChoiceParts | None:
    """Returns the last lines of a prompt as options if they begin with `a`, `b`, … alone, and the answer with one or
    several of these letters."""
    end = len(lines)
    while end and not lines[end - 1].strip():
        end -= 1
    start = end
    while start and (found := _BARE_LETTER.fullmatch(lines[start - 1])):
        start -= 1
        if found["letter"] in "Aa":
            break
    texts = [(one["letter"].lower(), one["text"]) for line in lines[start:end] if (one := _BARE_LETTER.fullmatch(line))]
    if not start or len(texts) < 2 or [letter for letter, _ in texts] != [nth_letter(i) for i in range(len(texts))]:
        return None
    options = tuple(found_option(letter, text.strip(), False) for letter, text in texts)
    key = key_of(answer, options)
    run = OptionRun("letter", start, end, options)
    return key and _joined(trim("\n".join(lines[:start])), "", run, key, "", keyless=False)


_ONE_BULLET = re.compile(r"[-*+][ \t]+(?=\S[^\n]*(?:\n(?![-*+][ \t])|$))")
"""The bullet before the first line of an answer, where the next line has none."""


def _of_bullets(lines: list[str], answer: str) -> ChoiceParts | None:
    """Returns plain bullets as options, if the answer repeats one of them word for word."""
    run = bullets_in(lines) if answer else None
    key = key_of(answer, run.options, letters=False) if run else None
    if run and key is None and (bullet := _ONE_BULLET.match(answer)):
        key = key_of(answer[bullet.end() :], run.options, letters=False)
    if run is None or key is None or trim("\n".join(lines[run.end :])) or _follows_outline(answer, run.options):
        return None
    return _joined(trim("\n".join(lines[: run.start])), "", run, key, "", keyless=False)


def _follows_outline(answer: str, options: Sequence[FoundOption]) -> bool:
    """Returns whether lines of an answer begin with several of the texts, which then say what it is to cover. A first
    line that is one text, above a reason, is a key: reasons may go through all of them."""
    first, *below = [line for line in answer.split("\n") if line.strip()] or [""]
    texts = {_start(option.text) for option in options}
    if plain(first).strip(" *_.").casefold() in texts and below and _start(below[0]) not in texts:
        return False
    begun = {_start(line) for line in (first, *below)}
    return len(texts & begun) > 1


def _start(line: str) -> str:
    """Returns the words of a line before the first colon, without its list marker and emphasis."""
    return plain(line.strip().lstrip("-*+• ")).partition(":")[0].strip(" *_.").casefold()


def _of_lines(lines: list[str], answer: str) -> ChoiceParts | None:
    """Returns the plain lines below the one that asks as options, if the answer is one of them word for word."""
    asks = max((i for i, line in enumerate(lines) if line.rstrip(" *_").endswith(("?", ":", "：", "？"))), default=0)
    below = [(index, line.strip()) for index, line in enumerate(lines) if index > asks and line.strip()]
    texts = [text for _, text in below]
    if not _FEWEST_LINES <= len(texts) <= _MOST_LINES or any(map(_NO_OPTION.match, texts)):
        return None
    found = [found_option(nth_letter(index), text, False) for index, text in enumerate(texts)]
    key = key_of(answer, found, letters=False)
    if key is None or len(key.ids) != 1 or any(len(text) >= LONGEST_OPTION for text in texts):
        return None
    if _follows_outline(answer, found):
        return None
    run = OptionRun("bullet", below[0][0], len(lines), tuple(found))
    return _joined(trim("\n".join(lines[: run.start])), "", run, key, "", keyless=False)


_LISTED = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?(?:(?:answer[ ])?(?:choices|options)|opciones|opções|alternativas|optionen"
    r"|antwortmöglichkeiten|opzioni|możliwości|варианты(?:[ ]ответов?)?|şıklar|seçenekler|pilihan"
    r"|选项|選項|選択肢|보기)"
    r"[ ]?(?:[:：](?:\*\*|__)?|(?:\*\*|__)[:：])[ ]*(?P<list>\S.*)",
    re.IGNORECASE,
)
"""All options in one line, after a word for them."""
_TYPE = re.compile(
    r"[ \t]*(?:[-*+][ \t]+)?(?:\*\*|__)?(?:question[ ])?(?:type|kind|tipo|typ|тип|题型|類型|유형)[ ]?(?:\*\*)?[:：].*",
    re.IGNORECASE,
)
"""A line that only says what kind of question it is."""


def only_says_type(text: str) -> bool:
    """Returns whether a text says no more than what kind of question is above it."""
    lines = [line for line in text.split("\n") if line.strip()]
    return bool(lines) and all(map(_TYPE.fullmatch, lines))


def _of_list(prompt: str, below: str, answer: str) -> ChoiceParts | None:
    """Returns the options that one line lists after a word such as `Choices:`, with semicolons or commas between them.

    `below`: the text below the prompt, without a label; `answer`: the text after a label.
    """
    lines = [*prompt.split("\n"), *(("", *below.split("\n")) if below else ())]
    at = next((index for index, line in enumerate(lines) if _LISTED.fullmatch(line)), None)
    if not at:
        return None
    listed = _LISTED.fullmatch(lines[at])
    texts = _parts_of(listed["list"]) if listed else []
    rest = [line for index, line in enumerate(lines) if index > at and not _TYPE.fullmatch(line)]
    if not 2 <= len(texts) <= _MOST_LINES or any(len(text) >= LONGEST_OPTION for text in texts):
        return None
    run = OptionRun(
        "bullet", at, at + 1, tuple(found_option(nth_letter(index), text, False) for index, text in enumerate(texts))
    )
    shown = trim("\n".join(line for line in lines[:at] if not _TYPE.fullmatch(line)))
    key = key_of(answer, run.options) if answer else key_below(rest, run.options)
    after = "" if answer or key else trim("\n".join(rest))
    if key is None and not answer and after:
        return None
    return _joined(shown, "", run, key, answer if key is None else "", keyless=not answer)


def _of_list_below(prompt: str, answer: str) -> ChoiceParts | None:
    """Returns the options that a line such as `Choices:` lists below the answer, if the answer is one of them."""
    lines = answer.split("\n")
    at = next((index for index, line in enumerate(lines) if _LISTED.fullmatch(line)), None)
    above = trim("\n".join(lines[:at])) if at else ""
    found = _of_list(f"{prompt}\n\n{lines[at]}", "", above) if at and above else None
    if found is None or not at or not any(option.right for option in found.options):
        return None
    rest = trim("\n".join(line for line in lines[at + 1 :] if not _TYPE.fullmatch(line)))
    return found._replace(why="\n\n".join(part for part in (found.why, rest) if part))


def _parts_of(text: str) -> list[str]:
    mark = next((mark for mark in (";", "；", "|", ",", "，", "、") if mark in text.strip(" ;；|,，、.")), "\n")
    return [part for one in text.split(mark) if (part := one.strip(" ;；|,，、"))]


_RIGHT_MARKS = "√✓✔☑对對"
_STATEMENT = re.compile(
    rf"(?:\*\*|__)?{TRUE_OR_FALSE}"
    r"[ ]?[?:：.–-]?(?:\*\*|__)?[ ]?[:：]?[ ]+"
    r"(?P<says>\S.{8,}?)"
    r"(?:(?<=[.!?…:;)»”\"–—-])[ ]+[*_]{0,3}(?P<key>\w+)[.*_]{0,4}"
    r"|(?<![ ])[ ]+[*_]{0,3}[(\[](?P<given>\w+)[)\]][*_]{0,3})?",
    re.IGNORECASE | re.DOTALL,
)
"""A statement, and after its end, or in brackets, whether it is true."""


def _of_statement(prompt: str) -> ChoiceParts | None:
    """Returns a statement after `True or false:` with these two as options; a word after its end is the key. So is a
    mark in brackets behind any statement, and a word behind an arrow: `视图共享内存。（√）`, `Views copy. → False`."""
    prompt = prompt.strip()
    if marked := MARKED_STATEMENT.fullmatch(prompt):
        word = (marked["word"] or "").lower()
        usual = ("对", "错") if _WIDE.search(marked["says"]) else ("true", "false")
        pair = next((pair for pair in TRUTHS if word in pair), usual)
        right = word == pair[0] if word else marked["mark"] in _RIGHT_MARKS
        options = tuple(
            Option(name, one.capitalize(), (one == pair[0]) == right) for name, one in zip("ab", pair, strict=True)
        )
        says = _BEGINS_WITH_TRUTH.sub("", marked["says"], count=1).lstrip(" :：.–-").strip()
        return ChoiceParts(says, options, (marked["why"] or "").strip(), ())
    found = _STATEMENT.fullmatch(prompt)
    if found is None:
        return None
    words = [found["yes"].capitalize(), found["no"].capitalize()]
    key = (found["key"] or found["given"] or "").capitalize()
    asked = prompt[: found.end("says")].rstrip() if key in words else prompt
    options = tuple(Option(name, word, word == key) for name, word in zip("ab", words, strict=True))
    return ChoiceParts(asked, options, "", ())


_TRUE_FALSE = rf"(?:{TRUE_OR_FALSE}|T[ ]?/[ ]?F|{'|'.join(f'{yes}[ ]?/[ ]?{no}' for yes, no in TRUTHS)})"
_BEGINS_WITH_TRUTH = re.compile(rf"[^\w\n]{{0,4}}{_TRUE_FALSE}(?!\w)", re.IGNORECASE)
_ENDS_IN_TRUTH = re.compile(rf"(?<!\w){_TRUE_FALSE}\W{{0,6}}$", re.IGNORECASE)
_SAYS_TRUTH = re.compile(
    r"[*_`]{0,3}(?P<word>[^\W\d_]+)[*_`]{0,3}(?:(?:[.:,;!]|[ ]?[–—-])[*_`]{0,3}(?:\s+|$)|\n+|$"
    r"|[ ]+(?=\(|(?:because|since|weil|denn|porque|parce|perché|omdat|потому)\b))(?P<why>.*)",
    re.IGNORECASE | re.DOTALL,
)


def _states(prompt: str) -> bool:
    """Returns whether a prompt is one sentence that states something."""
    text = prompt.strip(' *_"“”')
    words = len(text.split()) if text.isascii() else max(len(text.split()), len(_WIDE.findall(text)) * 2 // 3)
    states = "\n" not in text and words >= _FEWEST_STATED and text.endswith((".", "。"))
    return states and not (sets_task(text) or demands(text))


_FEWEST_STATED = 4
"""Fewest words of a statement."""
_WIDE = re.compile(f"[{WIDE}]")


def truth_choice(titles: Sequence[str], prompt: str, answer: str) -> ChoiceParts | None:
    """Returns true and false as options of a statement, if the words `True or false` are a title above it, or its start
    or end, or it is a sentence that asks nothing; and an answer with a label begins with one of the two, not as a part
    of a sentence."""
    truth = _SAYS_TRUTH.match(answer)
    if truth is None:
        return None
    asks = any(map(_BEGINS_WITH_TRUTH.match, (*titles, prompt))) or _ENDS_IN_TRUTH.search(prompt)
    if not asks and not _states(prompt):
        return None
    word = {"t": "true", "f": "false"}.get(truth["word"].lower(), truth["word"].lower())
    pair = next((pair for pair in TRUTHS if word in pair), None)
    if pair is None:
        return None
    options = tuple(Option(name, one.capitalize(), one == word) for name, one in zip("ab", pair, strict=True))
    return ChoiceParts(prompt, options, trim(truth["why"]), ())


_PICTURE = re.compile(r"[ ]*!\[[^\[\]]{0,200}\]\([^()\s]{1,500}\)[ ]*")


def _of_answer(prompt: str, answer: str) -> ChoiceParts | None:
    """Returns the options at the start of a text with a label, if a key is right below them, or if the text is
    nothing but three check boxes or more: two may be what remains to do, unless the question asks to choose."""
    lines = answer.split("\n")
    run = options_in(lines) if may_hold_options(answer) else None
    shown = trim("\n".join(lines[: run.start])) if run else ""
    if run is None or not all(_PICTURE.fullmatch(line) for line in shown.split("\n") if line.strip()):
        return None
    prompt = f"{prompt}\n\n{shown}".strip()
    many = len(run.options) > 2 or asks_to_choose(prompt)
    if run.kind == "box" and many and not trim("\n".join(lines[run.end :])):
        return _joined(prompt, "", run, None, "", keyless=False)
    if run.kind != "letter":
        return None
    key = letter_below(lines[run.end :], run.options)
    return key and _joined(prompt, "", run, key, "", keyless=False)


def _is_marked(run: OptionRun) -> bool:
    return any(option.marked for option in run.options)


def _joined(
    prompt: str, between: str, run: OptionRun, key: Key | None, unread: str, *, keyless: bool
) -> ChoiceParts | None:
    crossed = any(option.crossed for option in run.options)
    if crossed and are_truths(run) and run.kind != "box":
        # `✅ True` and `❌ False` are pictures of the words, whichever is right.
        run = OptionRun(run.kind, run.start, run.end, tuple(o._replace(marked=False) for o in run.options), run.lead)
    marked = frozenset(option.id for option in run.options if option.marked)
    if key is None and not marked and not _stands_alone(run, f"{between}{unread}", keyless=keyless):
        return None
    right, problems = _judged(run, key, marked)
    why = "\n\n".join(part for part in (between, key.rest if key else unread) if part)
    options = tuple(Option(option.id, option.text, option.id in right) for option in run.options)
    return ChoiceParts(prompt, options, why, problems)


def _stands_alone(run: OptionRun, rest: str, *, keyless: bool) -> bool:
    """Returns whether these are options although nothing says which is right."""
    if rest:
        return False
    return run.kind == "box" or (keyless and all(len(option.text) < LONGEST_OPTION for option in run.options))


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
