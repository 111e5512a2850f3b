"""The card of answers that agree, for moderators. It states numbers and accuses nobody."""

from __future__ import annotations

from bot.core.cards import Block, Card, Small, Table, Text
from bot.core.text.words import plural
from service.wire import SimilarAnswers


def similarity_card(found: SimilarAnswers) -> Card:
    """Returns the pairs whose wrong answers agree, and who answers very fast, with what the numbers mean."""
    blocks: list[Block] = [Text(_pairs_words(found))]
    if found.pairs:
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
        blocks.append(Table(columns, rows, "The most striking pairs", (2, 3, 4)))
    if found.fits:
        fitting = tuple(
            (one.member, one.other, f"{one.fitting} of {one.wrong}", f"{one.expected:.1f}", _odds(one.chance))
            for one in found.fits
        )
        heads = ("Member", "Other member", "Right for the other's variant", "By chance", "Odds")
        blocks.append(Text(_fits_words(found)))
        blocks.append(Table(heads, fitting, "Wrong answers that are right for another's variant", (2, 3)))
    if found.quick:
        cells = tuple((one.name, str(one.quick), str(one.right)) for one in found.quick)
        caption = f"Right answers within {found.within_s:.0f} seconds"
        blocks.append(Table(("Member", "Within", "All right answers"), cells, caption, (1, 2)))
    blocks += [Text(_MEANING), Small(_method(found))]
    stand_out, compared = found.found + found.fits_found, found.compared + found.fits_compared
    summary = f"{plural(stand_out, 'pair')} of {compared:,} stand out."
    return Card("Answers that agree", summary, tuple(blocks))


_MEANING = (
    "This proves nothing about anybody: who learns together makes the same mistakes, and a question may have been "
    "known. Talk to the members before you decide anything. Only quiz admins see this, and it is not stored."
)


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
        f"Where everyone has a variant of their own, {many} wrong answers that are right for the variant of another "
        "member more often than chance explains."
    )


def _odds(chance: float) -> str:
    return f"1 in {1 / chance:,.0f}" if chance > 1e-9 else "1 in over a billion"


def _method(found: SimilarAnswers) -> str:
    return (
        f"Choice questions of the last {found.days} days. Compared are members with {found.least_shared} questions in "
        f"common, {found.least_wrong} of which both answered wrongly; chance is how often two wrong answers of the "
        f"others are the same. If everybody answers on their own, a table lists any pair at all in at most "
        f"{found.level:.0%} of looks."
    )
