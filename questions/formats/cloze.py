"""Reads texts with gaps whose answers Moodle writes into them, `{1:MULTICHOICE:=views~copies}`, also in GIFT."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from questions.formats.draft import ImportDraft, Item, OptionDraft, add_choice, add_number, add_open, add_short

if TYPE_CHECKING:
    from collections.abc import Callable

_KINDS = (
    *("SHORTANSWER", "SA", "MW", "SHORTANSWER_C", "SAC", "MWC", "NUMERICAL", "NM", "MULTICHOICE", "MC"),
    *("MULTICHOICE_V", "MCV", "MULTICHOICE_H", "MCH", "MULTICHOICE_S", "MCS", "MULTICHOICE_VS", "MCVS"),
    *("MULTICHOICE_HS", "MCHS", "MULTIRESPONSE", "MR", "MULTIRESPONSE_H", "MRH", "MULTIRESPONSE_S", "MRS"),
    *("MULTIRESPONSE_HS", "MRHS"),
)
_GAP = re.compile(
    r"\{\d{0,4}:(?P<kind>" + "|".join(sorted(_KINDS, key=len, reverse=True)) + r"):(?P<answers>(?:[^{}\\]|\\.)*)\}",
    re.DOTALL,
)
_ANSWER = re.compile(
    r"(?P<mark>=|%(?P<weight>-?\d{1,3}(?:\.\d+)?)%)?(?P<text>(?:[^~#\\]|\\.)*)(?:#(?:[^~\\]|\\.)*)?", re.DOTALL
)
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_TAG = re.compile(r"<[^<>]{1,500}>")
_FULL = 99.0
_PLACE = "_____"


class _Gap(NamedTuple):
    kind: str
    right: list[str]
    offered: list[str]


def has_gaps(text: str) -> bool:
    """Returns whether a text has gaps with their answers in it."""
    return _GAP.search(text) is not None


def add_gaps(draft: ImportDraft, item: Item, text: str, read_words: Callable[[str], str]) -> None:
    """Adds a text with gaps: a choice or a short answer if it has one gap, otherwise an open question, whose answer
    fills all of them.

    `text`: the question as it is written; `read_words`: makes Markdown of it.
    """
    gaps = [_gap(found, read_words) for found in _GAP.finditer(text)]
    if any(not gap.right for gap in gaps):
        draft.add_skipped("a gap has no right answer", "write `=` before the right answer", item.lines)
        return
    if not re.search(r"[^\W\d_]", _TAG.sub("", _GAP.sub("", text))):
        draft.add_skipped("a text of nothing but gaps asks nothing", "write a sentence around the gap", item.lines)
        return
    alone = len(gaps) == 1
    places = iter(gaps)

    def shown(_found: re.Match[str]) -> str:
        gap = next(places)
        return _PLACE if alone or len(gap.offered) < 2 else f"{_PLACE} ({' / '.join(gap.offered)})"

    item.prompt = read_words(_GAP.sub(shown, text))
    if not alone:
        filled = (" / ".join(dict.fromkeys(gap.right)) for gap in gaps)
        add_open(draft, item, "\n".join(f"{place}. {one}" for place, one in enumerate(filled, 1)))
        return
    (gap,) = gaps
    if len(gap.offered) > 1:
        add_choice(draft, item, [OptionDraft(one, one in gap.right) for one in gap.offered])
    elif gap.kind in ("NUMERICAL", "NM"):
        add_number(draft, item, gap.right)
    else:
        add_short(draft, item, gap.right)


def _gap(found: re.Match[str], read_words: Callable[[str], str]) -> _Gap:
    """Returns the kind of a gap, its right answers, and the options of a choice."""
    kind = found["kind"]
    numeric, chosen = kind in ("NUMERICAL", "NM"), kind.startswith("M") and not kind.startswith("MW")
    right: list[str] = []
    offered: list[str] = []
    for answer in re.split(r"(?<!\\)~", found["answers"]):
        read = _ANSWER.match(answer.strip())
        written = _ESCAPE.sub(r"\1", read["text"].strip()) if read else ""
        if not read or not written:
            continue
        text = written if numeric else read_words(written)
        if read["mark"] == "=" or float(read["weight"] or 0) >= _FULL:
            right.append(text)
        if chosen:
            offered.append(text)
    return _Gap(kind, right, list(dict.fromkeys(offered)))
