"""Splits the lines of a list item: what asks, what answers in the same line, and parts with numbers of their own."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

from questions.patterns.options.search import may_hold_options, options_in
from questions.wording.labels import is_answer_summary, label_of
from questions.wording.stems import asks_for_truth, demands, ends_asking, question_line, reads_as_question, unbold

if TYPE_CHECKING:
    from collections.abc import Iterator

    from questions.patterns.starts.start import Start

_ONE_LINE = re.compile(
    r"(?P<asks>[^?？]{3,400}[?？][\"'”’)*_`]{0,3})(?:\s+[-–—:→>]{1,2})?\s+(?P<says>\S.*)|"
    r"(?P<bold>(?:\*\*|__)[^*_\n]{3,300}(?:\*\*|__))[ ]*(?:[-–—:：→]{1,2}|::)[ ]*(?P<means>\S.*)",
    re.DOTALL,
)

_TERM = re.compile(r"(?P<mark>\*\*|__)[^*_\n]{1,40}[:：](?P=mark)[ ]+")
"""A topic before what asks: `**Views:** Explain …`."""
_FOLDED = re.compile(
    r"(?P<asks>[^\n<]*[^\n<\s])[ \t]*<details>[ \t]*<summary>(?P<summary>[^<\n]{1,80})</summary>[ \t]*"
    r"(?P<says>[^\n<]*[^\n<\s])[ \t]*</details>[ \t]*"
)
"""A question and its folded answer in one line."""
_VERDICTS = {
    sign: word
    for word, signs in (("True", ":heavy_check_mark: :white_check_mark: ✅ ✔ ✔️ ✓"), ("False", ":x: ❌ ✖ ✗ ✘"))
    for sign in signs.split()
}
"""Signs that say whether a statement is true."""


def parted(text: str) -> tuple[str, str]:
    """Returns the lines that ask and the text after the question in the same line."""
    first, _, below = text.partition("\n")
    folded = _FOLDED.fullmatch(text)
    if folded and is_answer_summary(folded["summary"]):
        return folded["asks"], _VERDICTS.get(folded["says"], folded["says"])
    if unbold(text) != text.strip():
        return text, ""
    run = options_in(text.split("\n")) if below and may_hold_options(below) else None
    if run is not None and run.start and not run.lead:
        return "\n".join(text.split("\n")[: run.start]), ""
    asks = below and (reads_as_question(first) or demands(_TERM.sub("", first)))
    if ends_asking(first) or (asks and first.rstrip().endswith((".", ":"))):
        return first, ""
    if below and (unbold(first) != first.strip() or label_of(below) is not None):
        return first, ""
    if below and (at := _first_answer(text.split("\n"))):
        return "\n".join(text.split("\n")[:at]), ""
    found = _ONE_LINE.fullmatch(text)
    if found and found["asks"] and asks_for_truth(found["asks"]):
        return text, ""
    if found and found["asks"] and reads_as_question(found["asks"]) and not _asks_more(found["says"]):
        return found["asks"], found["says"]
    return text, ""


def _first_answer(lines: list[str]) -> int:
    """Returns the index of the first line below the first that begins with an answer label; 0 if there is none."""
    labels = ((at, label_of(line)) for at, line in enumerate(lines) if at)
    return next((at for at, label in labels if label and label.role == "answer" and label.word != "a"), 0)


_MOST_ASKED = 12
"""Most words of a sentence that asks for more after a question, as `Give an example.` does."""


def _asks_more(text: str) -> bool:
    return "\n" not in text and len(text.split()) <= _MOST_ASKED and reads_as_question(text)


_PART_NUMBER = re.compile(r"[ \t]*(?P<of>\d{1,4})\.(?P<part>\d{1,2})[.)][ ]+(?=\S)")
"""The number of a part of a numbered item: `3.1)`."""


def with_numbered_parts(start: Start) -> Iterator[Start]:
    """Yields an item, and each line in its paragraph with a number of its own, such as `3.1)` in item 3."""
    own = start.block.children[0] if start.block else None
    lines = own.text.split("\n") if own and own.kind == "paragraph" and start.block and start.block.info else []
    found = [(at, one) for at, line in enumerate(lines) if at and (one := _PART_NUMBER.match(line))]
    parts = [
        (at, f"{one['of']}.{one['part']}", lines[at][one.end() :]) for at, one in found if one["of"] == start.number
    ]
    if own is None or not parts:
        yield start
        return
    begins = [at for at, _, _ in parts]
    for (at, number, text), end in zip([(0, "", lines[0]), *parts], [*begins, len(lines)], strict=True):
        asked, rest = parted("\n".join((text, *lines[at + 1 : end])))
        first = own.first + at
        is_last = end == len(lines)
        yield replace(
            start,
            first=first if at else start.first,
            last=first + asked.count("\n"),
            stem=question_line(asked)._replace(number=number) if number else question_line(asked),
            end=start.end if is_last else own.first + end - 1,
            body=start.body if is_last else (),
            said=rest,
            own_last=own.first + end - 1,
        )
