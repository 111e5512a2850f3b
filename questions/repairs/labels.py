"""Labels of questions and answers: gives titles, signs and letters that stand for them the form of labels."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.blocks import dedent
from questions.fences import fence_after, fence_in
from questions.wording.imperatives import asks_or_demands
from questions.wording.labels import ANSWER_WORDS, QUESTION_WORDS, label_of

if TYPE_CHECKING:
    from questions.source import Source


# Gives headings such as `#### Answer` below lines such as `Q1:` the form of a label: `**Answer:**`.

_WORD_AND_NUMBER = re.compile(
    rf"[*_]{{0,3}}(?:{QUESTION_WORDS})[ ]?#?\d{{1,4}}[*_]{{0,3}}[ ]?[.:：)]?[*_]{{0,3}}(?:[ ].*)?", re.IGNORECASE
)
_TITLE = re.compile(rf"#{{2,6}}[ ]+[*_]{{0,3}}(?P<word>{ANSWER_WORDS})[ ]?[:：]?[*_]{{0,3}}[ \t]*", re.IGNORECASE)
_FEWEST_TITLES = 3
"""Fewest headings above answers."""
_LONGEST_QUESTION = 400
"""Length of a line with a question, characters."""


def with_answer_labels(source: Source) -> Source:
    """Returns the document with labels instead of headings above answers, if each stands below a question that begins
    with a word and a number and has no heading. Programs stay as they are."""
    titles: dict[int, str] = {}
    asked = False
    for at, line in source.lines_outside_programs:
        if not line.strip() or len(line) > _LONGEST_QUESTION:
            continue
        if title := _TITLE.fullmatch(line):
            if not asked:
                return source
            titles[at], asked = title["word"], False
        elif line.startswith("#"):
            asked = False
        elif _WORD_AND_NUMBER.fullmatch(line):
            asked = True
    if len(titles) < _FEWEST_TITLES:
        return source
    return source.with_lines({at: f"**{title}:**" for at, title in titles.items()})


# Takes remarks from between the word of a label and its colon: `**Question (easy):**` becomes `**Question:**`.

_REMARK = re.compile(
    rf"(?P<label>[ ]{{0,3}}(?:[-*+][ ]+)?[*_]{{0,3}}(?:{QUESTION_WORDS})[*_]{{0,3}})"
    r"[ ]?\((?!(?:[\d ]{1,9}|[^\W\d_]{1,2}|[ivx]{1,5})\))[^()]{1,40}\)(?=[*_]{0,3}[ ]?[:：][*_ ])",
    re.IGNORECASE,
)
_FEWEST_REMARKS = 2


def with_bare_labels(source: Source) -> Source:
    """Returns the document without the remarks in labels of questions that have no number, if several have one. A
    number or a letter in brackets is the name of a part."""
    found = {
        at: one["label"] + line[one.end() :]
        for at, line in source.lines_outside_programs
        if "(" in line[:_LONGEST_REMARK] and (one := _REMARK.match(line))
    }
    return source.with_lines(found) if len(found) >= _FEWEST_REMARKS else source


_LONGEST_REMARK = 40
"""Length of what is before a remark, characters."""


# Gives lines in emphasis that repeat above each question and its answer, such as `__Practice Question__`, the form of
# labels.

_PRACTICE_QUESTION = re.compile(
    r"(?P<mark>\*\*|__)(?:practice|sample|quiz|review|exam|test|mock)[ ]question(?P<number>[ ]\d{1,3})?[:.]?"
    r"(?P=mark)[ ]*",
    re.IGNORECASE,
)
_PRACTICE_ANSWER = re.compile(
    r"(?P<mark>\*\*|__)(?:suggested|correct|sample|model|expected|accepted)[ ]answers?[:.]?(?P=mark)[ ]*", re.IGNORECASE
)
_FEWEST_PRACTICE = 2


def with_question_labels(source: Source) -> Source:
    """Returns the document with `**Question:**` and `**Answer:**` for these lines, if the first comes twice or more."""
    changed: dict[int, str] = {}
    questions = 0
    for at, line in source.lines_outside_programs:
        if not line.startswith(("**", "__")):
            continue
        if found := _PRACTICE_QUESTION.fullmatch(line):
            changed[at] = f"**Question{found['number'] or ''}:**"
            questions += 1
        elif _PRACTICE_ANSWER.fullmatch(line):
            changed[at] = "**Answer:**"
    return source.with_lines(changed) if questions >= _FEWEST_PRACTICE else source


# Gives answers with the number of their question the form of a label: `A1. It shares memory.` below `Q1. What …`.

_COUNTED_QUESTION = re.compile(r"[*_]{0,3}Q[ ]?(?P<number>\d{1,4})[.:)]")
_COUNTED_ANSWER = re.compile(r"(?P<mark>\*{0,3})A[ ]?(?P<number>\d{1,4})[.)](?P=mark)(?:[ ]+|$)")
_FEWEST_COUNTED = 3
_SLIPS = 10
"""One answer in this many may have another number than its question."""


def with_answers_labeled(source: Source) -> Source:
    """Returns the document with `**Answer 1:**` for `A1.`, if nearly each of these follows the question with its
    number."""
    found: dict[int, str] = {}
    asked, slips = "", 0
    for at, line in source.lines_outside_programs:
        if line[:8].lstrip("*_").startswith("Q") and (question := _COUNTED_QUESTION.match(line)):
            asked = question["number"]
        elif line[:4].lstrip("*").startswith("A") and (answer := _COUNTED_ANSWER.match(line)):
            slips += answer["number"] != asked
            if asked:
                found[at] = f"**Answer {asked}:** {line[answer.end() :]}".rstrip()
            asked = ""
    return source.with_lines(found) if len(found) >= _FEWEST_COUNTED and slips * _SLIPS <= len(found) else source


# Gives answers below questions a label where a sign or an unusual label stands before nearly each of them.
#
# `💡 It copies.`, `=> It copies.`, `||It copies.||`, `Answer - It copies.`, `A. It copies.` below `Q. …` and
# `**Answer: It copies** because …` become `**Answer:** It copies.`, and so on.

_SIGNED = re.compile(
    r"(?P<lead>[ \t]*)(?:(?P<sign>(?:[✅💡👉➡🔑📌]\ufe0f?|=>|->|→|➜|⇒))[ ]?(?=[^\s\d(])(?P<text>.+)"
    r"|(?P<bars>\|\|)(?P<hidden>[^|\n]+)\|\||(?P<letter>A)\d{0,3}[.)][ ]+(?P<after>\S.*)"
    rf"|(?P<word>(?:{ANSWER_WORDS}|response))[ ]?(?:[-–—][ ]+|[:：][ ]+)(?P<said>\S.*)"
    rf"|(?P<open>\*\*|__)(?P<label>(?:{ANSWER_WORDS})[ ]?[:：])[ ]*(?P<bold>[^*_\n]{{1,300}})(?P=open)"
    r"(?P<rest>[^\w*_].*))",
    re.IGNORECASE,
)
_LETTER_Q = re.compile(r"\W{0,4}Q(?:uestion)?[ ]?\d{0,3}[*_]{0,2}[.):]", re.IGNORECASE)
_OPTION_B = re.compile(r"[ \t]*(?:[-*+][ ])?[*_(]{0,3}B[*_]{0,2}[.):]", re.IGNORECASE)
_CROSS = re.compile(r"[ \t]*(?:[-*+][ ])?[❌✗✘✖❎]")
"""A sign of wrong options, beside which others mark right ones."""
_FIRST_OF_SIGNED = "✅💡👉➡🔑📌=-→➜⇒|"
_FEWEST_SIGNED = 3
"""Fewest answers in one form."""
_REGULAR_SIGNED = 0.9
"""Share of the lines with a sign that must be below a line that asks."""


def with_signed_answers(source: Source) -> Source:
    """Returns the document with labels before answers in one of these forms, each right below a line that ends with a
    question mark. Programs stay as they are."""
    found: dict[int, tuple[str, re.Match[str]]] = {}
    total: Counter[str] = Counter()
    fence, asks, asked = "", False, ""
    for at, line in enumerate(source.lines):
        if mark := fence_in(line):
            fence, asks = fence_after(fence, mark["mark"]), False
        elif not fence and line.strip():
            one = _SIGNED.fullmatch(line) if asks or line.lstrip()[:1] in _FIRST_OF_SIGNED else None
            if one and label_of(line) is None and not (one["letter"] and not _LETTER_Q.match(asked)):
                form = (one["sign"] or one["bars"] or one["letter"] or one["word"] or one["label"]).casefold()
                total[form] += 1
                found |= {at: (form, one)} if asks else {}
            asked = line
            asks = line.rstrip(" *_")[-1:] in ("?", "？", "؟")
    if len(found) < _FEWEST_SIGNED:
        return source
    lettered, crossed = (any(map(pattern.match, source.lines)) for pattern in (_OPTION_B, _CROSS))
    found = {
        at: (form, one)
        for at, (form, one) in found.items()
        if not ((one["letter"] and lettered) or (one["sign"] and crossed))
    }
    below = Counter(form for form, _ in found.values())
    regular = {form for form, count in below.items() if count >= max(_FEWEST_SIGNED, _REGULAR_SIGNED * total[form])}
    lines = {at: _labeled(one) for at, (form, one) in found.items() if form in regular}
    return source.with_lines(lines) if lines else source


def _labeled(found: re.Match[str]) -> str:
    text = found["text"] or found["hidden"] or found["after"] or found["said"] or f"{found['bold']}{found['rest']}"
    return f"{found['lead']}**Answer:** {text}"


# Takes the bullets from questions and answers that are two items of one list: `- **Question:** …` above
# `- **Answer:** …`.

_BULLET = re.compile(r"(?P<indent>[ ]{0,6})[-*+][ ]+(?=\S)")
_FEWEST_BULLETS = 2
"""Fewest questions that have their answer in the next item."""


def with_plain_labels(source: Source) -> Source:
    """Returns the document with the labels at the margin and what is below them indented less, if an answer follows
    each of several questions in the next bullet. Lines keep their numbers."""
    if not any(":**" in line or "**:" in line or "：**" in line for line in source.lines):
        return source
    changed: dict[int, str] = {}
    pairs = 0
    pending: dict[int, str] = {}  # the lines of a question that waits for its answer
    width = indent = 0  # columns of the item that is open, and of its bullet; 0 if none is
    answered = False
    fence = ""
    for at, line in enumerate(source.lines):
        mark = fence_in(line)
        inside = bool(fence)
        fence = fence_after(fence, mark["mark"]) if mark else fence
        bullet = None if inside else _BULLET.match(line)
        own = bullet is not None and (not width or len(bullet["indent"]) == indent)
        role = _role(line[bullet.end() :]) if bullet and own else ""
        if bullet and role == "question":
            pending, answered = {at: line[bullet.end() :]}, False
            width, indent = bullet.end(), len(bullet["indent"])
        elif bullet and width and role in ("answer", "explanation") and (pending or answered):
            pairs += role == "answer" and not answered
            changed |= pending | {at: line[bullet.end() :]}
            pending, answered = {}, True
        elif width and line.strip() and ((bullet is not None and own) or not line.startswith(" " * (indent + 1))):
            pending, answered, width = {}, False, 0
        elif width and (pending or answered):
            lines = pending if pending else changed
            lines[at] = dedent(line, width)
    return source.with_lines(changed) if pairs >= _FEWEST_BULLETS else source


def _role(text: str) -> str:
    label = label_of(text) if text.startswith(("**", "__")) else None
    return label.role if label and label.start == 0 else ""


# Gives the two sides of cards the labels of a question and its answer: `Front: …` above `Back: …`, `P: …` above `S: …`
# for a problem and its solution.

_SIDES = {
    "front": "back",
    "front side": "back side",
    "vorderseite": "rückseite",
    "recto": "verso",
    "anverso": "reverso",
    "frente": "verso",
    "fronte": "retro",
    "voorkant": "achterkant",
    "przód": "tył",
    "p": "s",
}
_BACKS = frozenset(_SIDES.values())
_SIDE = re.compile(
    r"(?P<lead>[ \t]*(?:[-*+][ ]+)?)(?P<open>\*\*|__)?(?P<word>[^\W\d_]{4,12}(?:[ ]side)?|[PS](?=[:：*_]))"
    r"(?(open)(?:[:：][ ]?(?P=open)|(?P=open)[:：])|[:：])[ ]*"
)
_SIDE_TITLE = re.compile(r"(?P<lead>)#{1,6}[ ]+(?P<word>[^\W\d_]{4,12}(?:[ ]side)?)[ ]?[:：]?[ \t]*")
"""A heading that only names the side of a card, which is below it."""
_FEWEST_SIDES = 2
"""Fewest pairs; headings above the sides need one."""
_FIRST_OF_SIDE = 30
"""Characters of a line within which the colon is."""


def with_labeled_sides(source: Source) -> Source:
    """Returns the document with `**Question:**` and `**Answer:**` for the sides of its cards, if each front has its
    back next. Lines keep their numbers."""
    found: list[tuple[int, re.Match[str], str]] = []
    for at, line in source.lines_outside_programs:
        side = _SIDE.match(line) if ":" in line[:_FIRST_OF_SIDE] or "：" in line[:_FIRST_OF_SIDE] else None
        side = side or (_SIDE_TITLE.fullmatch(line) if line.startswith("#") else None)
        word = side["word"].casefold() if side else ""
        if side and (word in _SIDES or word in _BACKS):
            found.append((at, side, word))
    fronts, backs = found[::2], found[1::2]
    pairs = [_SIDES.get(front) == back for (_, _, front), (_, _, back) in zip(fronts, backs, strict=False)]
    titled = all(side.re is _SIDE_TITLE for _, side, _ in found)
    fewest = 1 if titled or _has_cards(source) else _FEWEST_SIDES
    if len(fronts) != len(backs) or len(pairs) < fewest or not all(pairs):
        return source
    words = {id(side): word for sides, word in ((fronts, "Question"), (backs, "Answer")) for _, side, _ in sides}
    lines = source.lines
    return source.with_lines(
        {at: f"{side['lead']}**{words[id(side)]}:** {lines[at][side.end() :]}".rstrip() for at, side, _ in found}
    )


def _has_cards(source: Source) -> bool:
    """Returns whether the document also has a question and an answer with one letter: `Q: …` above `A: …`."""
    return {"Q:", "A:"} <= {line[:2] for line in source.lines}


# Gives fields such as `@question …` above `@option …` and `@answer …` the form of labels and lettered options.

_FIELD = re.compile(
    rf"@(?:(?P<asks>{QUESTION_WORDS})|(?P<offers>options?|choices?)|(?P<says>a|{ANSWER_WORDS}|correct)"
    r"|(?P<why>explanation|explain|rationale|hint)|(?P<tells>tags?|difficulty|level|topic)|(?P<ends>end|e))"
    r"(?:[ ]?[:=](?=\s|$)[ ]*|[ \t]+|$)(?P<text>.*)",
    re.IGNORECASE,
)
_FEWEST_FIELDS = 2
"""Fewest questions with an answer in such fields."""
_OPTION_LETTERS = "ABCDEFGHIJ"


def with_field_labels(source: Source) -> Source:
    """Returns the document with labels instead of the names of fields, if several questions have their answers in
    them. An answer that is a number becomes a letter where the numbers show whether they count from 0 or 1."""
    found = {at: field for at, line in enumerate(source.lines) if line[:1] == "@" and (field := _FIELD.fullmatch(line))}
    asking = sum(bool(field["asks"]) for field in found.values())
    saying = {at: field for at, field in found.items() if field["says"]}
    if asking < _FEWEST_FIELDS or len(saying) < _FEWEST_FIELDS:
        return source
    changed: dict[int, str] = {}
    numbers: list[tuple[int, int, int]] = []  # line, number and how many options are above
    options = 0
    for at, field in found.items():
        options = 0 if field["asks"] else options + bool(field["offers"])
        text = field["text"].strip()
        if field["offers"] and text and options <= len(_OPTION_LETTERS):
            changed[at] = f"{_OPTION_LETTERS[options - 1]}) {text}"
        elif field["tells"]:
            changed[at] = f"**{field['tells'].capitalize()}:** {text}" if text else ""
        elif not field["offers"]:
            word = "Question" if field["asks"] else "Answer" if field["says"] else "Explanation"
            changed[at] = "" if field["ends"] else f"**{word}:** {text}".rstrip()
            numbers += [(at, int(text), options)] if field["says"] and text.isdecimal() and len(text) == 1 else []
    base = 0 if any(not number for _, number, _ in numbers) else 1
    if not base or any(number == count for _, number, count in numbers):
        for at, number, count in numbers:
            if base <= number < count + base:
                changed[at] = f"**Answer:** {_OPTION_LETTERS[number - base]}"
    return source.with_lines(changed)


# Recognizes labels of one letter that only a language explains: `S: …` and `C: …` for *soru* and *cevap*.
#
# One such letter says nothing; that a document has many of them, each with the other in the next line, does.

_PAIRS = (
    # Turkish, Spanish and Portuguese, French, Italian, German, Dutch, Polish, Russian, Ukrainian, Vietnamese, Korean
    ("s", "c"),
    ("p", "r"),
    ("q", "r"),
    ("d", "r"),
    ("f", "a"),
    ("v", "a"),
    ("p", "o"),
    ("в", "о"),
    ("п", "в"),
    ("h", "đ"),
    ("문", "답"),
)
_LETTER_LABEL = re.compile(
    r"(?P<lead>[ \t]*(?:[-*+][ ]+)?)(?P<open>\*\*|__)?(?P<letter>[^\W\d_])(?P<number>[ ]?\d{1,3})?[ ]?(?P<colon>[:：])"
)
_FEWEST_LETTERS = 3
_REGULAR_LETTERS = 0.9
"""Share of the first letters with the second in the next line with text."""


def with_label_letters(source: Source) -> Source:
    """Returns the document with `Q:` and `Answer:` for the letters of such a pair. Lines keep their numbers."""
    found: dict[int, re.Match[str]] = {}
    for at, line in source.lines_outside_programs:
        if (":" in line[:_FIRST_OF_LETTER] or "：" in line[:_FIRST_OF_LETTER]) and (label := _LETTER_LABEL.match(line)):
            found[at] = label
    if len(found) < 2 * _FEWEST_LETTERS:
        return source
    pair = next((pair for pair in _PAIRS if _are_pairs(source, found, *pair)), None)
    if pair is None:
        letter = next((two for _, two in _PAIRS if _are_below_numbers(source, found, two)), None)
        texts = {at: source.lines[at][one.end() :] for at, one in found.items() if one["letter"].casefold() == letter}
        return source.with_lines({at: f"Answer: {text.strip()}" for at, text in texts.items()})
    words = dict(zip(pair, ("Q", "Answer"), strict=True))
    lines = list(source.lines)
    for at, label in found.items():
        if word := words.get(label["letter"].casefold()):
            text = f"{label['open'] or ''}{word}{label['number'] or ''}:{lines[at][label.end() :]}"
            lines[at] = (
                f"**{word.replace('Q', 'Question')}:** {text.partition(':')[2].strip()}" if label["lead"] else text
            )
    letters = {at: str(label["letter"]).casefold() for at, label in found.items()}
    for at in (at for at, letter in letters.items() if letter == pair[1]):
        # A question without its letter, between others with one.
        above = _filled_above(source, at)
        if above >= 0 and above not in found and asks_or_demands(lines[above].strip(" *_")):
            lines[above] = f"Q: {lines[above].lstrip()}"
    for at in _only_named(lines, frozenset(found)):
        lines[at] = ""
    return replace(source, lines=tuple(lines))


_NUMBERED = re.compile(r"[ \t]*\d{1,3}[.)]")
_MOSTLY = 2 / 3
"""Share of numbers with a letter below them from which it is the label of their answers."""


def _are_below_numbers(source: Source, found: dict[int, re.Match[str]], letter: str) -> bool:
    """Returns whether a letter that stands for answers is right below most numbered lines, and nowhere else."""
    places = [at for at, one in found.items() if one["letter"].casefold() == letter]
    above = [source.lines[line] for at in places if (line := _filled_above(source, at)) >= 0]
    below = sum(_NUMBERED.match(line) is not None for line in above)
    if below < _FEWEST_BELOW_NUMBERS or below < len(places):
        return False
    return below >= _MOSTLY * sum(_NUMBERED.match(line) is not None for _, line in source.lines_outside_programs)


_FEWEST_BELOW_NUMBERS = 5


def _only_named(lines: list[str], labeled: frozenset[int]) -> list[int]:
    """Returns the bullets of one word right above a labeled line that was indented below them: they name nothing."""
    return [
        at - 1
        for at in labeled
        if at and lines[at - 1].startswith(("- ", "* ", "+ ")) and len(lines[at - 1].split()) == _BULLET_AND_WORD
    ]


_BULLET_AND_WORD = 2

_FIRST_OF_LETTER = 14
"""Characters of a line within which the colon is."""


def _filled_above(source: Source, at: int) -> int:
    """Returns the nearest line with text above a line; -1 if there is none."""
    return next((above for above in range(at - 1, -1, -1) if source.lines[above].strip()), -1)


def _ask_above(source: Source, letters: dict[int, str], saying: list[int], asks: str) -> bool:
    """Returns whether the text right above each line with the second letter, where that is not the first, asks."""
    for at in saying:
        above = _filled_above(source, at)
        if above < 0 or not (letters.get(above) == asks or asks_or_demands(source.lines[above].strip(" *_"))):
            return False
    return True


def _are_pairs(source: Source, found: dict[int, re.Match[str]], asks: str, says: str) -> bool:
    """Returns whether nearly each line with the first letter is followed by one with the second, and the second
    stands nowhere else."""
    letters = {at: str(label["letter"]).casefold() for at, label in found.items()}
    asking = [at for at, letter in letters.items() if letter == asks]
    saying = [at for at, letter in letters.items() if letter == says]
    if len(asking) < _FEWEST_LETTERS:
        return False
    if len(saying) > len(asking) and not _ask_above(source, letters, saying, asks):
        return False
    followed = sum(letters.get(source.next_filled(at + 2) - 1) == says for at in asking)
    return followed >= _FEWEST_LETTERS and followed >= _REGULAR_LETTERS * len(asking)
