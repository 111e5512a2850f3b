"""Reads the key of a question with options: letters of its options, or the text of one, never a guess."""

from __future__ import annotations

import re
from itertools import pairwise, takewhile
from typing import TYPE_CHECKING, NamedTuple

from questions.blocks import plain
from questions.source import trim
from questions.wording.labels import answer_in_heading, label_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.patterns.options.search import FoundOption

ALPHABETS = ("abcdefghij", "абвгдежзик", "①②③④⑤⑥⑦⑧⑨⑩", "アイウエオカキクケコ", "가나다라마바사아자차")
"""Letters that label options, in order. An option's id is the Latin letter at the same place."""
_LETTERS = "A-JА-К①-⑩アイウエオカキクケコ가나다라마바사아자차Ａ-Ｊ"
_AND = r"(?:,|，|、|;|&|/|\+|and|or|y|e|et|und|и|та|ve|và|和|と|및)"
_KEY = re.compile(
    r"[*_`(\[\"（【]{0,4}"
    r"(?:(?:the[ ])?(?:correct|right)[ ](?:answer|option|choice)s?[ ]?(?:is|are)?[ ]?[:：]?[ ]*"
    r"|(?:option|choice|letra|letter|opci[oó]n|opç[ãa]o|alternativa|inciso|вариант|antwort|seçenek|şık|pilihan"
    r"|选项|選項|选|選)s?[ ]?)?"
    rf"[*_`(\[（]{{0,4}}(?P<letters>[{_LETTERS}]"
    rf"(?:[*_`)\]）]{{0,3}}[ ]?{_AND}[ ]?[*_`(\[（]{{0,3}}[{_LETTERS}](?!\w))*)(?![\w'’])"
    r"(?P<end>[*_`)\].:,;）。．：，]{0,6})(?P<rest>.*)",
    re.IGNORECASE,
)
_GLUED = re.compile(
    r"[*_`(\[（]{0,4}(?P<letters>[A-J]{2,10})(?P<end>[*_`)\].:,;）。]{0,6})(?P<rest>[ ]*(?:[-–—(（].*)?)$"
)
"""Several letters without a separator, such as `BD`."""
_SPACED = re.compile(r"^[ ]*`[ ]*(?P<letter>[A-J])[ ]*`")
_MARKED = re.compile(r"^[✅✔☑]\ufe0f?[ ]?(?=\(?[A-J][).])")
"""A check mark before the letter."""
_LETTER = re.compile(rf"(?<![^\W_])[{_LETTERS}](?![^\W_])", re.IGNORECASE)
_AND_WORD = re.compile(
    r"\b(?:and|or|y|e|et|und|и|та|ve|và)\b"
    rf"(?=[ ][*_`(\[（]{{0,3}}[{_LETTERS}a-jа-к](?!\w))"
)
"""A word between two letters. Behind a comma, `e` is a letter: `a, c, e`."""
_PART = re.compile(r"(?:^|\s)(?P<open>\(?)[b-j]\)\s", re.IGNORECASE)
"""A second part of an answer in parts."""
_TAGS = re.compile(r"\s*(?:</?[a-z][^<>]{0,200}>\s*)+", re.IGNORECASE)
_BOUNDARY = re.compile(r"[ ]*(?:$|[(（–—:：;；.。,，\n]|-[ ])")


class Key(NamedTuple):
    """What an answer says of the options."""

    ids: frozenset[str]
    rest: str
    """The text after it: the explanation."""
    at: str
    """Its line, as written."""


def key_of(answer: str, options: Sequence[FoundOption], *, letters: bool = True) -> Key | None:
    """Returns the key an answer begins with: one or several letters, or the text of an option.

    A single letter is always the letter of an option, never the text of one. `letters`: whether the options have any.
    """
    text = _TAGS.sub("", answer, count=1) if answer.startswith("<") else answer
    if listed := _listed(text, options):
        return listed
    first, _, below = text.partition("\n")
    first = _SPACED.sub(r"`\g<letter>`", _MARKED.sub("", first))
    glued = _GLUED.match(first)
    if letters and glued and _names_several(glued["letters"], text, options):
        named = frozenset(glued["letters"].lower())
        return Key(named, trim(f"{glued['rest'].strip(' -–—')}\n{below}"), first.strip())
    found = _KEY.match(first)
    if found is None or not (found["end"] or not found["rest"].strip() or found["rest"].lstrip()[0] in "-–—(（"):
        return _by_text(text, options)
    if not letters:
        return None if len(first.strip(" *_`().")) == 1 else _by_text(text, options)
    ids = frozenset(latin_letter(letter) for letter in _LETTER.findall(_AND_WORD.sub(" ", found["letters"])))
    rest = _SEPARATOR.sub("", found["rest"], count=1).strip()
    below_it = next((line for line in below.split("\n") if line.strip()), "")
    if len(ids) == 1 and (several := _lettered_texts(first, options)):
        return Key(several, trim(below), first.strip())
    if len(ids) == 1 and (_in_parts(first, found) or _PART.match(below_it.lstrip(" -*"))):
        return None
    right = [option.text for option in options if option.id in ids]
    if right and _same(rest.strip("*_ ()（）"), right[0]):
        rest = ""
    return Key(ids, trim(f"{rest}\n{below}"), first.strip())


def _in_parts(line: str, key: re.Match[str]) -> bool:
    """Returns whether a line answers in parts, `a) … b) …`. In the reason behind a key, `**D.** Copies, as (B) does`,
    the letter of another option has other marks."""
    opened = "(" in line[: key.start("letters")]
    return ")" in key["end"] and any(bool(part["open"]) == opened for part in _PART.finditer(line, key.start("end")))


_SEPARATOR = re.compile(r"^[*_`]{0,3}[ ]{0,9}(?:[-–—]{1,2}[ ]{0,9})?")
"""What is between a letter and the text behind it: the end of its emphasis, and a dash."""
_BULLET = re.compile(r"[ ]{0,3}[-*+•][ ]+(?P<text>\S.*)")
_TOLD_RIGHT = re.compile(
    r"[ ]*(?:[-–—:][ ]*(?:correct|right)|[(\[](?:correct|right)[)\]]|[✅✔✓]\ufe0f?)[ ]*$", re.IGNORECASE
)
_ITEM_LETTER = re.compile(r"[*_`(]{0,3}(?P<letter>[A-J])[).:]?[*_`]{0,3}(?:[ ]+(?P<text>\S.*)|$)")


def _listed(answer: str, options: Sequence[FoundOption]) -> Key | None:
    """Returns the options that an answer lists as bullets, by their letters or their texts, or those of them that it
    calls correct: `- B - Correct`; None unless each of several bullets names another one."""
    lines = answer.strip("\n").split("\n")
    bullets = [found["text"].rstrip() for found in takewhile(bool, map(_BULLET.fullmatch, lines)) if found]
    named = [_named(_TOLD_RIGHT.sub("", bullet), options) for bullet in bullets]
    ids = frozenset(filter(None, named))
    if len(named) < 2 or len(ids) != len(named):
        return None
    marked = frozenset(name for name, bullet in zip(named, bullets, strict=True) if _TOLD_RIGHT.search(bullet))
    return Key(marked or ids, trim("\n".join(lines[len(bullets) :])), lines[0].strip())


def _named(bullet: str, options: Sequence[FoundOption]) -> str:
    """Returns the option whose text or letter a bullet is; empty if there is not exactly one."""
    same = [option.id for option in options if _same(bullet, option.text)]
    if same:
        return same[0] if len(same) == 1 else ""
    found = _ITEM_LETTER.fullmatch(bullet)
    texts = {option.id: option.text for option in options}
    letter = found["letter"].lower() if found else ""
    text = (found["text"] or "") if found else ""
    return letter if letter in texts and (not text or _same(text, texts[letter])) else ""


def key_below(lines: list[str], options: Sequence[FoundOption]) -> Key | None:
    """Returns the key after the first answer label or answer heading."""
    fence = ""
    for index, line in enumerate(lines):
        mark = line.lstrip(" >")[:3]
        if mark in ("```", "~~~") and fence in ("", mark):
            fence = "" if fence else mark
        bare = line.lstrip("> ")
        label = None if fence else label_of(bare)
        rest: str | None = None
        if label and label.role == "answer":
            rest = bare[label.end :].rstrip().removesuffix(label.closing)
        elif not fence and bare.startswith("#"):
            rest = answer_in_heading(bare.strip(" #"))
        if rest is not None:
            key = key_of(trim("\n".join((rest, *lines[index + 1 :]))), options)
            if key is None and label and label.word == "a":
                # `A: …` explains an option.
                continue
            above = trim("\n".join(lines[:index]))
            return key and key._replace(rest="\n\n".join(part for part in (above, key.rest) if part))
    return letter_below(lines, options) or _stated(lines, options) or _folded(lines, options)


_FOLDED = re.compile(
    r"<details>\s*<summary>[^<>]{1,60}</summary>(?P<said>[^<]{1,4000})</details>(?:\s*<br[ ]?/?>)?", re.IGNORECASE
)
_OPTION_AGAIN = re.compile(r"\s*(?:[-*+][ \t]+)?[*_]{0,3}(?P<letter>[A-Ja-j])[).:][ \t]+(?P<text>\S.*)")


def _folded(lines: list[str], options: Sequence[FoundOption]) -> Key | None:
    """Returns the key in a fold, whatever the word above it, that is all there is below the options: the letters and
    texts of one or several of them, one in a line."""
    text = trim("\n".join(lines))
    fold = _FOLDED.fullmatch(text) if text.startswith("<details>") else None
    hidden = fold["said"].strip("\n ").split("\n") if fold else []
    found = [*takewhile(bool, map(_OPTION_AGAIN.fullmatch, hidden))]
    named = [(one["letter"].lower(), one["text"]) for one in found if one]
    known = {option.id: option.text for option in options}
    if not named or not all(letter in known and _same(known[letter], text) for letter, text in named):
        return None
    below = "\n".join(hidden[len(found) :])
    return Key(frozenset(letter for letter, _ in named), trim(below), hidden[0].strip())


_LETTER_ALONE = re.compile(
    r"[ ]{0,3}(?:[*_`]{1,3}|<(?:b|strong)>)?[ ]?(?P<letter>[A-J])[ ]?[.)]?(?:[*_`]{1,3}|</(?:b|strong)>)?[ ]*"
)


def letter_below(lines: list[str], options: Sequence[FoundOption]) -> Key | None:
    """Returns the key that stands alone below the options: the letter of one in a line, or in a fence, of its own."""
    filled = [index for index, line in enumerate(lines) if line.strip()]
    fenced = len(filled) > 2 and lines[filled[0]].lstrip()[:3] in ("```", "~~~")
    at = filled[int(fenced)] if filled else -1
    if fenced and lines[filled[2]].strip() != lines[filled[0]].lstrip()[:3]:
        return None
    if filled and (stated := _in_sentence(lines, at, options)):
        return stated
    found = _LETTER_ALONE.fullmatch(lines[at]) if filled else None
    if found is None or found["letter"].lower() not in {one.id for one in options} or len(options) < _FEWEST_ALONE:
        return None
    below = lines[filled[2] + 1 :] if fenced else lines[at + 1 :]
    return Key(frozenset(found["letter"].lower()), trim("\n".join(below)), lines[at].strip())


_SAID = re.compile(
    r"[ ]{0,3}[*_]{0,3}(?:(?:so|thus|hence|therefore),?[ ])?(?:(?:my|our|the|correct|right|best)[ ]){0,3}"
    r"(?:answer|option|choice)s?[ ](?:is|are)[ :]{1,2}(?:options?[ ])?[*_]{0,3}"
    r"(?P<letters>(?-i:[A-J])(?:(?:,[ ]?|[ ]?&[ ]?|,?[ ]and[ ])(?-i:[A-J])){0,9})[*_.!]{0,5}[ ]*",
    re.IGNORECASE,
)
"""A sentence that only names the letters of the right options: `The answer is B`."""


def _in_sentence(lines: list[str], at: int, options: Sequence[FoundOption]) -> Key | None:
    """Returns the key in a sentence such as `The answer is B` at a line below the options."""
    found = _SAID.fullmatch(lines[at])
    letters = frozenset(re.findall(r"[A-J]", found["letters"])) if found else frozenset()
    ids = frozenset(letter.lower() for letter in letters)
    if not ids or not ids <= {one.id for one in options}:
        return None
    return Key(ids, trim("\n".join(lines[at + 1 :])), lines[at].strip())


_FEWEST_ALONE = 3
"""Fewest options for a letter alone to name one."""
_STATED = re.compile(
    r"[ ]{0,3}(?:[-*+][ ]+)?[*_`]{0,3}(?:(?:option|answer|choice)[ ])?(?P<letter>[A-J])[).]?[*_`]{0,3}[ ]is[ ]"
    r"(?P<not>not[ ]|in)?(?:the[ ])?correct\b",
    re.IGNORECASE,
)


def _stated(lines: list[str], options: Sequence[FoundOption]) -> Key | None:
    """Returns the key that lines such as `B is correct because …` state, one for each option."""
    found = [(match["letter"].lower(), not match["not"], line) for line in lines if (match := _STATED.match(line))]
    letters = [letter for letter, _, _ in found]
    right = frozenset(letter for letter, holds, _ in found if holds)
    if not right or len(set(letters)) != len(letters) or set(letters) - {one.id for one in options}:
        return None
    if len(found) < min(len(options), 2):
        return None
    return Key(right, trim("\n".join(lines)), next(line for _, holds, line in found if holds).strip())


def latin_letter(letter: str) -> str:
    """Returns the Latin letter at the place of a letter in its alphabet."""
    if "Ａ" <= letter <= "ｊ":
        letter = chr(ord(letter) - 0xFEE0)
    low = letter.lower()
    return next((ALPHABETS[0][alphabet.index(low)] for alphabet in ALPHABETS if low in alphabet), low)


def _names_several(letters: str, answer: str, options: Sequence[FoundOption]) -> bool:
    """Returns whether letters without a separator name options: in order, or in any order if each is the letter of an
    option and together they are not the text of one."""
    if all(one < two for one, two in pairwise(letters)):
        return True
    each = len(set(letters)) == len(letters) and set(letters.lower()) <= {option.id for option in options}
    return each and _by_text(answer, options) is None


def _by_text(answer: str, options: Sequence[FoundOption]) -> Key | None:
    first, _, below = answer.partition("\n")
    same = [option.id for option in options if _same(first, option.text)]
    if len(same) == 1:
        return Key(frozenset(same), trim(below), first.strip())
    shown = plain(first).strip(" `*_")
    begun = [
        (option.id, len(text))
        for option in options
        if "\n" not in option.text
        and len(text := plain(option.text).strip(" .`*_")) > 1
        and shown.casefold().startswith(text.casefold())
        and _BOUNDARY.match(shown, len(text))
    ]
    several = _several_texts(shown, options) or _lettered_texts(first, options)
    if several:
        return Key(several, trim(below), first.strip())
    if same or len(begun) != 1:
        return None
    id, length = begun[0]
    return Key(frozenset((id,)), trim(f"{shown[length:].strip(' .:–—-')}\n{below}"), first.strip())


_WORDS_BETWEEN = r"(?:and|or|y|e|et|und|и|та|ve|và|和|と|및)(?!\w)"
_BETWEEN = re.compile(rf"[ ]*(?:[,，、;&/+][ ]*)?(?:{_WORDS_BETWEEN}[ ]*)?", re.IGNORECASE)

_WITH_LETTER = re.compile(r"(?:^|[,;，、]?[ ]|[,;，、])(?:[✅✔☑]\ufe0f?[ ]?)?[*_(]{0,3}(?P<letter>[A-J])[).][ ]*")


def _lettered_texts(line: str, options: Sequence[FoundOption]) -> frozenset[str]:
    """Returns the options that a line lists with their letters and texts, `A) one, C) three`; empty unless each letter
    comes before the text of its option."""
    found = list(_WITH_LETTER.finditer(line))
    if len(found) < 2 or found[0].start():
        return frozenset()
    ends = [one.start() for one in found[1:]] + [len(line)]
    parts = [(one["letter"].lower(), line[one.end() : end]) for one, end in zip(found, ends, strict=True)]
    texts = {option.id: _bare(option.text) for option in options}
    same = all(_bare(text) == texts.get(letter) for letter, text in parts)
    return frozenset(letter for letter, _ in parts) if same else frozenset()


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, plain(text).casefold()))


def _several_texts(shown: str, options: Sequence[FoundOption]) -> frozenset[str]:
    """Returns the options whose texts a line lists, `one, two and three`, and nothing else; empty for one."""
    texts = sorted(((plain(one.text).strip(" .`*_"), one.id) for one in options), key=lambda one: -len(one[0]))
    rest, found = shown.rstrip(" .;"), set[str]()
    while rest:
        hit = next(((text, id) for text, id in texts if text and rest.casefold().startswith(text.casefold())), None)
        if hit is None or hit[1] in found:
            return frozenset()
        found.add(hit[1])
        rest = rest[len(hit[0]) :].lstrip(" .`*_")
        between = _BETWEEN.match(rest)
        if rest and (between is None or not between[0].strip()):
            return frozenset()
        rest = rest[between.end() :] if between else ""
    return frozenset(found) if len(found) > 1 else frozenset()


def _same(one: str, two: str) -> bool:
    return _words(one) == _words(two) != ""


def _words(text: str) -> str:
    return plain(text).casefold().strip(" .`*_")
