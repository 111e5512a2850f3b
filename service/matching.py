"""Which key points an open answer mentions: pure and deterministic, never fuzzy on identifiers or numbers.

A key point counts as mentioned when all of its marked terms (**bold** or `code`) are; without marked terms, when
every identifier and number in it is, and three in five of its significant words; so too what follows a label, where
the label alone is marked (`**View**: shares the storage`). Identifiers and numbers are matched
whole: `float16` is not `bfloat16`, numbers compare by value. Words of prose are matched by their stem.
The rule cannot read: it does not see a negation, so what it finds is always provisional.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from decimal import Decimal

from service.smart_text import undo_smart_text as undo_smart_text

SHARE_OF_WORDS = 0.6
"""The share of an unmarked point's significant words that must be there."""

_MARKED = re.compile(r"(?P<ticks>`+)(?P<code>.+?)(?P=ticks)|\*\*(?P<bold>.+?)\*\*", re.DOTALL)
_LABEL = re.compile(r"(?:\*\*[^*]+\*\*|`[^`]+`)[^:]{0,40}:(?:\*\*)?\s+(?=\S)|\*\*[^*]+:\*\*\s+(?=\S)")
_TOKEN = re.compile(
    r"""(?P<number>(?:(?<![\w)\].-])-)?(?<![\w.])(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,6})?(?![\w]|\.\d))
      | (?P<name>\w+(?:\.\w+)*)""",
    re.VERBOSE,
)
_SENTENCE_END = re.compile(r"[.!?:\n]")
_LATIN = frozenset({"e.g", "i.e", "a.k.a", "w.r.t"})
_STOP_WORDS = """a about after all also am an and any are as at be because been before being but by can cannot could
did do does each for from had has have he her his how i if in into is it its just like may me more most much must my
no not of on only onto or other our out over own same shall she should so some such than that the their them then
there these they this those through to too under until up upon us very was we were what when where which while who
whose why will with would you your"""
_STOP = frozenset(_STOP_WORDS.split())
# Longest first; British and American spellings lose theirs alike.
_ENDINGS = """izations isations ization isation ations ating ation izing ising ators ates ated ator ized ised izes ises
ings edly ions ate ize ise ing ion ies ied ers ed er es ly s e y"""
_SUFFIXES = tuple(_ENDINGS.split())


@dataclass(frozen=True, slots=True)
class _Tokens:
    """What a text consists of, as far as matching goes."""

    names: set[str] = field(default_factory=set)
    """Every word and dotted name as written."""
    numbers: set[Decimal] = field(default_factory=set)
    stems: set[str] = field(default_factory=set)
    """Stems of the words of prose, short and common ones too."""
    significant: set[str] = field(default_factory=set)
    """Stems of the words that carry the meaning."""
    identifiers: set[str] = field(default_factory=set)
    """The names no one would write in prose: `no_grad`, `float16`, `x.grad`, `DataLoader`."""


def match(key_points: Sequence[str], text: str) -> list[bool]:
    """Whether `text` mentions each of `key_points` (Markdown), by the rule this module opens with."""
    said = undo_smart_text(text)
    tokens = _tokens(said)
    return [_mentions(undo_smart_text(point), tokens, said) for point in key_points]


def _mentions(point: str, said: _Tokens, text: str) -> bool:
    terms = list(_MARKED.finditer(point))
    if not terms:
        return _has_prose(_tokens(point), said)
    label = _LABEL.match(point)
    if label and terms[-1].end() <= label.end() and not _has_prose(_tokens(point[label.end() :]), said):
        return False
    return all(
        _has_term(term["code"], said, text) if term["code"] else _has_bold(term["bold"], said, text) for term in terms
    )


def _has_term(code: str, said: _Tokens, text: str) -> bool:
    """A term in backticks: every name and number of it, exactly; one of symbols alone, as it stands."""
    wanted = _tokens(code)
    if not wanted.names and not wanted.numbers:
        return code.strip() in text
    return wanted.numbers <= said.numbers and all(_has_name(name, said.names) for name in wanted.names)


def _has_bold(bold: str, said: _Tokens, text: str) -> bool:
    """A term in bold: up to three words all of them, by stem; what is in backticks within it exactly."""
    terms = [term["code"] for term in _MARKED.finditer(bold) if term["code"]]
    if not all(_has_term(term, said, text) for term in terms):
        return False
    words = _tokens(_MARKED.sub(" ", bold))
    if not words.names and not words.numbers:
        return bool(terms)
    few = len(words.significant) <= 3
    return _has_prose(words, said) and (not few or words.significant <= said.stems)


def _has_prose(wanted: _Tokens, said: _Tokens) -> bool:
    if not _has_exact(wanted, said):
        return False
    words = wanted.significant
    if not words:
        # Common words alone must be there in full: nothing among them can be left out.
        return wanted.stems <= said.stems and bool(wanted.names or wanted.numbers)
    return len(words & said.stems) >= math.ceil(SHARE_OF_WORDS * len(words))


def _has_exact(wanted: _Tokens, said: _Tokens) -> bool:
    return wanted.numbers <= said.numbers and all(_has_name(name, said.names) for name in wanted.identifiers)


def _has_name(wanted: str, names: set[str]) -> bool:
    """Whether `wanted` was written, with or without what qualifies it: `no_grad` and `torch.no_grad` are one."""
    return any(name == wanted or name.endswith("." + wanted) or wanted.endswith("." + name) for name in names)


def _tokens(text: str) -> _Tokens:
    found = _Tokens()
    end = 0
    for token in _TOKEN.finditer(text):
        if token["number"]:
            found.numbers.add(Decimal(token["number"]))
        else:
            opens_sentence = not end or bool(_SENTENCE_END.search(text, end, token.start()))
            _add_name(found, token["name"], opens_sentence)
        end = token.end()
    return found


def _add_name(found: _Tokens, name: str, opens_sentence: bool) -> None:
    if name.casefold() in _LATIN:
        return
    found.names.add(name)
    if opens_sentence and name.istitle() and name.isalpha():
        # Telephones capitalise the first word: "View returns ..." names `view`.
        found.names.add(name.lower())
    if any(c.isdigit() or c in "_." for c in name):
        found.identifiers.add(name)
    if any(c.isdigit() or c == "_" for c in name):
        return
    found.stems.update(map(_stem, name.split(".")))
    if "." not in name and name.casefold() not in _STOP:
        found.significant.add(_stem(name))


def _stem(word: str) -> str:
    """`word` without case and without its ending, so that allocate, allocates and allocation are one."""
    folded = word.casefold()
    for suffix in _SUFFIXES:
        if folded.endswith(suffix) and len(folded) - len(suffix) >= 3:
            return _undouble(folded.removesuffix(suffix))
    return _undouble(folded)


def _undouble(stem: str) -> str:
    """`stopp` of stopped as `stop`."""
    return stem[:-1] if len(stem) > 3 and stem[-1] == stem[-2] else stem
