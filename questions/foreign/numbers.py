"""Numbers with a tolerance or a range, as GIFT and Moodle write them, as a `value`."""

from __future__ import annotations

import re
from decimal import Decimal, InvalidOperation
from typing import TYPE_CHECKING

from questions.foreign.making import Item, add_short, add_unanswered, literal_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from questions.foreign.sheet import Sheet

_RANGE = re.compile(r"(?P<low>[^.:\s]+(?:\.\d+)?)\s*\.\.\s*(?P<high>\S+)")


def add_number(sheet: Sheet, item: Item, answers: Sequence[str]) -> None:
    """A question answered with a number, written `5`, `5:0.1` (5 give or take 0.1) or `1..5`.

    What else than the number itself is accepted is told in the reason, and that it was not kept in a finding.
    """
    read = [found for answer in answers if (found := _number(answer)) is not None]
    if not read:
        if any(answer.strip() for answer in answers):
            note = f"it says `{'; '.join(answers)[:100]}`"
            sheet.say("Q606", "the answer is no number", "write `#5`, `#5:0.1` or `#1..5`", item.lines, note=note)
        add_unanswered(sheet, item)
        return
    shown, low, high = read[0]
    if low != high:
        accepted = f"Accepted: {_shown(low)} to {_shown(high)}."
        note = f"the key became {shown} alone"
        cure = "ask for a result that is exact"
        sheet.say("Q606", "a tolerance cannot be kept", cure, item.lines, note=f"{accepted} {note}")
        item.why = "\n\n".join(text for text in (accepted, item.why) if text)
    add_short(sheet, item, [one[0] for one in read])


def _number(text: str) -> tuple[str, Decimal, Decimal] | None:
    """The number as it is written, and the least and the greatest that are accepted."""
    if found := _RANGE.fullmatch(text.strip()):
        low, high = _decimal(found["low"]), _decimal(found["high"])
        if low is None or high is None or low > high:
            return None
        return _shown((low + high) / 2), low, high
    body, _, margin = text.partition(":")
    number = _decimal(body)
    spread = _decimal(margin) if margin.strip() else Decimal(0)
    if number is None or spread is None:
        return None
    # `4.0` and `4` are not the same answer to a question about a dtype.
    return literal_of(body) or "", number - abs(spread), number + abs(spread)


def _decimal(text: str) -> Decimal | None:
    literal = literal_of(text)
    try:
        return Decimal(literal) if literal is not None else None
    except InvalidOperation:
        return None


def _shown(number: Decimal) -> str:
    """The number as one would type it: no exponent where it is short without one."""
    if number == number.to_integral_value() and abs(number) < 10**15:
        return str(int(number))
    return format(number.normalize(), "f") if -15 < number.adjusted() < 15 else str(float(number))
