"""The answers that agree, for moderators: a card, and the parts that the page shows. Numbers that accuse nobody."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from bot.core.cards import Block, Card, Small, Table, Text
from bot.core.text.words import percent, plural
from service.wire import SimilarAnswers

TITLE: Final = "Answers that agree"
MEANING: Final = (
    "This proves nothing about anybody: members who learn together make the same mistakes, and some may have seen a "
    "question before. Talk to them before you decide anything. Only quiz admins see this, and it is not stored."
)


@dataclass(frozen=True, slots=True)
class Comparison:
    """What one way of comparing answers found. At least one of its parts is not empty."""

    words: str
    table: Table | None
    members: tuple[tuple[int, ...], ...] = ()
    """Ids of the members in each row of the table, in the order of its columns of names."""


def similarity_card(found: SimilarAnswers) -> Card:
    """Returns the pairs whose wrong answers agree, and who answers very fast, with what the numbers mean."""
    blocks: list[Block] = []
    for one in comparisons(found):
        blocks += [Text(one.words)] if one.words else []
        blocks += [one.table] if one.table else []
    blocks += [Text(MEANING), Small(method(found))]
    stand_out, compared = found.found + found.fits_found, found.compared + found.fits_compared
    summary = f"Of {plural(compared, 'pair')}, {stand_out:,} {'stands' if stand_out == 1 else 'stand'} out."
    return Card(TITLE, summary, tuple(blocks))


def comparisons(found: SimilarAnswers) -> tuple[Comparison, ...]:
    """Returns what was found by wrong options, by members' own variants, and by time. The first always says something;
    the others are left out if they found nothing."""
    pairs = tuple((one.first_id, one.second_id) for one in found.pairs)
    parts = [Comparison(_pairs_words(found), _pairs_table(found) if found.pairs else None, pairs)]
    if found.fits:
        fits = tuple((one.member_id, one.other_id) for one in found.fits)
        parts.append(Comparison(_fits_words(found), _fits_table(found), fits))
    if found.quick:
        parts.append(Comparison("", _quick_table(found), tuple((one.member_id,) for one in found.quick)))
    return tuple(parts)


def _pairs_table(found: SimilarAnswers) -> Table:
    rows = tuple(
        (
            one.first,
            one.second,
            str(one.shared),
            f"{one.same} of {one.wrong}",
            f"{one.expected:.1f}",
            _odds(one.chance),
        )
        for one in found.pairs
    )
    columns = ("Member", "Member", "Shared", "Same when both wrong", "By chance", "Odds")
    return Table(columns, rows, "The most striking pairs", (2, 3, 4, 5), name_columns=(0, 1))


def _fits_table(found: SimilarAnswers) -> Table:
    rows = tuple(
        (one.member, one.other, f"{one.fitting} of {one.wrong}", f"{one.expected:.1f}", _odds(one.chance))
        for one in found.fits
    )
    columns = ("Member", "Other member", "Right for the other's variant", "By chance", "Odds")
    return Table(columns, rows, "Wrong answers that are right for another's variant", (2, 3, 4), name_columns=(0, 1))


def _quick_table(found: SimilarAnswers) -> Table:
    rows = tuple((one.name, str(one.quick), str(one.right)) for one in found.quick)
    caption = f"Right answers within {found.within_s:.0f} seconds"
    return Table(("Member", "Within", "All right answers"), rows, caption, (1, 2), name_columns=(0,))


def _pairs_words(found: SimilarAnswers) -> str:
    if not found.compared:
        return (
            f"No two members have enough in common yet: {found.least_shared} choice questions that both answered, "
            f"{found.least_wrong} of them wrongly."
        )
    if not found.found:
        return (
            f"Of {plural(found.compared, 'pair')} of members, none agrees on wrong options more than chance explains."
        )
    return (
        f"Of {plural(found.compared, 'pair')} of members, {found.found} "
        f"{'agrees' if found.found == 1 else 'agree'} on wrong options more often than chance explains."
    )


def _fits_words(found: SimilarAnswers) -> str:
    many = plural(found.fits_found, "member gives", "members give")
    return (
        f"Where everyone has their own variant, {many} wrong answers that are right for the variant of another "
        "member more often than chance explains."
    )


def _odds(chance: float) -> str:
    return f"1 in {1 / chance:,.0f}" if chance > 1e-9 else "1 in over a billion"


def method(found: SimilarAnswers) -> str:
    """Says what was compared and how, in small print."""
    return (
        f"Choice questions of the last {found.days} days. A pair is compared if both members answered "
        f"{found.least_shared} of the same questions, and both were wrong on {found.least_wrong} of them. Chance is "
        "how often two wrong answers of all others are the same. If everybody answers on their own, a table lists any "
        f"pair in at most {percent(found.level)} of looks."
    )
