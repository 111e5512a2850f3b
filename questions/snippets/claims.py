"""Which comments claim a result, and what they claim. A comment that is prose claims nothing."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal

from questions.snippets.shown import DEVICES, DTYPES, Items, Number, Shown, Word, read_shown

SaidKind = Literal["value", "words", "raises", "rank"]


@dataclass(frozen=True, slots=True)
class Said:
    """What a comment claims."""

    kind: SaidKind
    """`words`: free text behind a mark such as `Output:`. `rank`: `2D`."""
    text: str
    """What is claimed, as it is written."""
    start: int
    """Where it stands in the comment."""
    shown: Shown | None = None
    """For `value`."""
    rough: bool = False
    """`~3.2`."""
    marked: bool = False
    """Whether a mark says that this is output: `Output:`, `→`, `prints`."""
    label: str = ""
    """`shape`, `dtype`, … where the comment says what it speaks of."""
    name: str = ""
    """`x.grad` in `x.grad = 4.0`: what the claim is about, where it says so."""
    error: str = ""
    """For `raises`: the exception's name, empty for any."""


_NOT_OURS = re.compile(r"\s*(?:type:|noqa|pylint|mypy|pragma|fmt:|isort|todo|fixme|!|%)", re.IGNORECASE)
_LEAD = re.compile(r"[\s#]*(?:[✅✓✔☑👉⚠️]\s*)*")
_MARK = re.compile(
    r"(?:(?:expected\s+)?output|out(?:\s*\[\d*\])?|prints?|printed|returns?|results?|gives?|yields?|"
    r"evaluates to|value)\b\s*(?P<strict>is\b|:|=+>|-+>|→|=)?\s*",
    re.IGNORECASE,
)
_ARROW = re.compile(r"(?:-+>|=+>|→|⇒|➜|⟶|⟹|==?)\s*")
_ROUGH = re.compile(r"(?:~|≈|≃|≅|about\b|approx(?:imately\b|\.)?|around\b|roughly\b|ca\.)\s*", re.IGNORECASE)
_LABEL = re.compile(
    r"(?:(?:new|final|resulting|the|tensor|result)\s+)*"
    r"(?P<label>shape|size|dtype|device|ndim|numel|strides?)\b\s*(?:is\b|:|=|->|→)?\s*",
    re.IGNORECASE,
)
_NAMED = re.compile(
    r"(?P<name>[A-Za-z_]\w*(?:\.[A-Za-z_]\w*|\[-?\d+\])*"
    r"(?:\.(?:size|stride|numel|dim|item|tolist|is_contiguous|element_size)\(\))?)"
    r"\s*(?:==?|:|\bis\b|→|->)\s*(?=\S)"
)
_NUMBER = r"-?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])"
_CUT_NUMBER = re.compile(r"-?\d+\.\d+(?:\.\.\.|…)|" + _NUMBER + r"j?")
_SERIES = re.compile(rf"{_NUMBER}(?:\s*,\s*{_NUMBER}|\s+{_NUMBER})+$")
_OPENING = re.compile(
    r"(?:Parameter containing:\s*)?(?:(?:torch|np|numpy)\.)?(?P<call>tensor|array|Size|device|Tensor)?\(|[\[{]"
)
_QUOTED = re.compile(r"'[^'\n]*'|\"[^\"\n]*\"")
_ANGLE = re.compile(r"<class '[^']*'>")
_WORD = re.compile(r"-inf\b|[A-Za-z][\w.]*(?::\d+)?")
_RANK = re.compile(r"(?P<rank>\d)-?[dD](?:\s+tensor)?\.?$")
_EQUATION = re.compile(rf"[^=<>!]*[\d+*/^²][^=<>!]*=\s*(?P<right>{_NUMBER})$")
_REASON = re.compile(r"(?:because|since|as|now|too|again|instead|i\.e\.|not)\b", re.IGNORECASE)
_CONDITION = re.compile(r"\W*(?:if|when|unless|or|for|on|with|until|in|while|before|only|by default)\b", re.IGNORECASE)


def read_claim(comment: str) -> Said | None:
    """What a comment claims; None for prose. `comment` may have its `#` and may be of several lines."""
    if _NOT_OURS.match(comment.lstrip("# ")):
        return None
    start = _LEAD.match(comment)
    at = start.end() if start else 0
    raised = _raised(comment[at:], at)
    if raised is not None:
        return raised
    marked, strict, at = _marks(comment, at)
    said = _value(comment, at, marked, strict)
    if said is None and strict and comment[at:].strip():
        return _words(comment, at)
    return said


def _marks(comment: str, at: int) -> tuple[bool, bool, int]:
    """Whether a mark stands there, whether it is one that only output follows, and what is behind it."""
    marked = strict = False
    if found := _MARK.match(comment, at):
        marked, strict, at = True, bool(found["strict"]), found.end()
    if found := _ARROW.match(comment, at):
        marked, at = True, found.end()
    return marked, strict, at


def _words(comment: str, at: int) -> Said | None:
    text = comment[at:].strip().strip("`")
    prose = re.match(r"(?:an?|the|this|some|same|no|as|it|one|each|all|only|from|of|to|with)\b", text, re.IGNORECASE)
    return None if prose or not text else Said("words", text, at, marked=True)


def _value(comment: str, at: int, marked: bool, strict: bool) -> Said | None:
    label = name = ""
    rough = False
    if found := _LABEL.match(comment, at):
        label, at = found["label"].lower(), found.end()
    elif not strict and (found := _NAMED.match(comment, at)) and found["name"] not in _VALUE_WORDS:
        name, at = found["name"], found.end()
    if found := _ROUGH.match(comment, at):
        rough, at = True, found.end()
    tick = comment[at : at + 1] == "`"
    text = comment[at + tick :]
    said = _head(text, marked or bool(label) or bool(name) or rough, tick)
    if said is None:
        return _equation(comment, at) if not label and not rough else None
    known = replace(said, start=said.start + at + tick, rough=rough, marked=marked, label=label, name=name)
    return None if name and known.kind != "value" else known


_VALUE_WORDS = frozenset((*DTYPES, *DEVICES, "True", "False", "None", "Note", "NOTE", "Step", "step"))


def _equation(comment: str, at: int) -> Said | None:
    """`2 * 3 = 6`: what stands behind the equals sign."""
    found = _EQUATION.match(comment.rstrip(), at)
    if found is None:
        return None
    return Said("value", found["right"], found.start("right"), read_shown(found["right"]))


def _head(text: str, sure: bool, tick: bool) -> Said | None:
    """The value a text begins with, where what follows is the end or a gloss."""
    if found := _RANK.match(text):
        return Said("rank", found["rank"], 0)
    if found := _SERIES.match(text.rstrip(" .!")):
        return Said("value", found[0], 0, read_shown(re.sub(r"(?<=[\d.])\s+(?=[-.\d])", ", ", found[0])))
    for read, follows in _HEADS:
        length = read(text)
        if not length:
            continue
        tail = text[length:].removeprefix("`") if tick else text[length:]
        onward = (
            re.match(r"\s*[-+*/@×x]?[^-=→⇒]*(?:-+>|=+>|→|⇒)\s*", tail) if not tail.lstrip().startswith("<-") else None
        )
        if onward and follows is not _after_number:
            further = _head(tail[onward.end() :], sure, False)
            return further and replace(further, start=further.start + len(text) - len(tail) + onward.end())
        shown = read_shown(text[:length])
        if shown is not None and follows(tail, shown, sure):
            return Said("value", text[:length], 0, shown)
        return None
    return None


def _bracket(text: str) -> int:
    """The length of a call or a bracket that the text begins with, to its closing mark."""
    found = _OPENING.match(text)
    if found is None:
        return 0
    depth, quote = 0, ""
    for index, mark in enumerate(text):
        if quote or mark in "'\"":
            quote = "" if mark == quote else quote or mark
            continue
        depth += (mark in "([{") - (mark in ")]}")
        if depth == 0 and mark in ")]}":
            return index + 1
    return 0


def _length(pattern: re.Pattern[str]) -> Callable[[str], int]:
    def length(text: str) -> int:
        found = pattern.match(text)
        return found.end() if found else 0

    return length


def _after_bracket(tail: str, shown: Shown, sure: bool) -> bool:
    if isinstance(shown, Items) and shown.form != "size":
        # `[1] says so` cites, `[0, 1) uniform` is an interval, `(optional)` is no value at all.
        return _glossed(tail) and (sure or len(shown.items) > 1 or not tail.strip())
    if isinstance(shown, Number | Word):
        return _after_number(tail, shown, sure) if isinstance(shown, Number) else _glossed(tail)
    return not _CONDITION.match(tail)


def _after_number(tail: str, shown: Shown, sure: bool) -> bool:
    tail = tail.strip()
    if not tail or re.fullmatch(r"[.!✅✓✔]+|\([^()]*(?:\([^()]*\)[^()]*)*\)\.?", tail):
        return True
    whole = isinstance(shown, Number) and shown.whole
    return (sure or not whole) and bool(re.match(r"(?:[,;—–]|-\s|<-)\s*[^\d\s]", tail)) and not _CONDITION.match(tail)


def _after_word(tail: str, shown: Shown, sure: bool) -> bool:
    return _glossed(tail)


def _glossed(tail: str) -> bool:
    """Whether what follows a value only comments on it."""
    tail = tail.strip()
    if not tail:
        return True
    if _CONDITION.match(tail):
        return False
    return bool(re.match(r"[(,;.!#✅✓✔❌:—–]|-\s|<-|\W*" + _REASON.pattern, tail, re.IGNORECASE))


_HEADS = (
    (_bracket, _after_bracket),
    (_length(_QUOTED), _after_word),
    (_length(_ANGLE), _after_word),
    (_length(_CUT_NUMBER), _after_number),
    (_length(_WORD), _after_word),
)

_RAISES = re.compile(
    r"(?:[❌✗✘🚫💥!]\s*|-+>\s*|→\s*|=+>\s*|this\s+|it\s+|will\s+|always\s+)*"
    r"(?:"
    r"(?:(?:raises?|throws?|gives?|causes?|triggers?)\s*:?\s+(?:an?\s+)?)?`?(?:[a-z]\w*\.)*(?P<name>[A-Z]\w*(?:Error|Exception))\b`?"
    r"|(?:raises?|throws?|gives?|causes?)\s+an?\s+(?:error|exception)\b"
    r"|(?:runtime\s+)?error\b(?=\s*(?:$|[!:.,;(—–]|-\s))"
    r"|(?:fails|crashes|errors|will fail|errors out)\b(?=\s*(?:$|[!:.,;(—–]|-\s|because|since|as))"
    r")",
    re.IGNORECASE,
)
_HEDGE = re.compile(
    r"\b(?:if|when|unless|would|may|might|can|could|avoids?|prevents?|no|without|never|until|otherwise|"
    r"handles?|handling|fix(?:es|ed)?|catch(?:es)?|on (?:gpu|cuda)|older?|before|except|some)\b",
    re.IGNORECASE,
)
_MENTIONS = re.compile(
    r"\w+Error\b|\berror|\bfail|\bcrash|\brais|\bthrow|\bexception|\bnot allowed|\billegal|"
    r"won't|can't|doesn't work|❌|✗|💥|🚫",
    re.IGNORECASE,
)


def _raised(text: str, at: int) -> Said | None:
    found = _RAISES.match(text)
    if found is None:
        return None
    name = found["name"] or ""
    tail = text[found.end() :]
    if _HEDGE.search(found[0]) or (not tail.lstrip().startswith(":") and _HEDGE.search(tail[:80])):
        return None
    return Said("raises", text.strip(), at, marked=True, error=name)


def speaks_of_failing(comment: str) -> bool:
    """Whether a comment says in any way that what it stands beside may fail."""
    return bool(_MENTIONS.search(comment))
