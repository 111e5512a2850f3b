"""How the questions did in a workspace's rounds: lists of those that need work, and one question's figures.

Only closed rounds count, and no member is named.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from service.banks.moderation import find_named
from service.deferred import load_module
from service.domain.difficulty import Difficulty
from service.domain.item_statistics import (
    Z_95,
    Expected,
    Interval,
    Item,
    Picks,
    find_problem,
    known_discrimination,
    sum_picks,
    wilson_interval,
)
from service.errors import Refused
from service.store import calibrations
from service.store import item_statistics as rows
from service.store.item_statistics import ItemSums, OptionPicks
from service.store.members import Caller
from service.store.questions import is_secret
from service.wire import BankStatistics, ItemFinding, ItemList, ItemStatistics, StillOpen, WrongOption

PERIOD = timedelta(days=365)
"""How long ago a round may have closed to count."""
MOST_LISTED = 10
"""Most questions in one list."""
_FINDINGS: tuple[ItemFinding, ...] = ("broken", "ambiguous", "disliked", "hard", "easy")


async def view_bank(session: AsyncSession, caller: Caller, now: datetime) -> BankStatistics:
    """Returns the questions that need work, each in the list of what is most serious."""
    since = now - PERIOD
    found = await rows.list_items(session, caller.workspace_id, since)
    options = await rows.list_options(session, caller.workspace_id, since)
    expected = await _list_expected(session, caller.workspace_id)
    items = [_view(sums, options.get(sums.question_id, ()), expected.get(sums.question_id)) for sums in found]
    never, never_in_all = await rows.list_never_asked(session, caller.workspace_id, MOST_LISTED)
    return BankStatistics(
        days=PERIOD.days,
        asked=len(items),
        answers=sum(item.answers for item in items),
        lists=tuple(_list(finding, items) for finding in _FINDINGS),
        never_asked=tuple(never),
        more_never_asked=never_in_all - len(never),
    )


async def view_item(session: AsyncSession, caller: Caller, question: str, now: datetime) -> ItemStatistics:
    """Returns the figures of one question. Refused while a round, a sprint or a duel of the caller asks it."""
    row, _ = (await find_named(session, caller, question))[0]
    if await is_secret(session, caller, row.id):
        raise Refused(StillOpen())
    return await sum_item(session, caller.workspace_id, row.id, row.key, now)


async def sum_item(
    session: AsyncSession, workspace_id: int, question_id: int, key: str, now: datetime
) -> ItemStatistics:
    """Returns the figures of one question, whose key must not be secret."""
    since = now - PERIOD
    for sums in await rows.list_items(session, workspace_id, since, question_id):
        options = await rows.list_options(session, workspace_id, since, question_id)
        expected = await _list_expected(session, workspace_id)
        return _view(sums, options.get(question_id, ()), expected.get(question_id), with_option=True)
    return ItemStatistics(question=key, days=PERIOD.days)


def _list(finding: ItemFinding, items: Sequence[ItemStatistics]) -> ItemList:
    """Returns the list of one finding: those still asked first, then the most extreme."""
    found = [item for item in items if item.finding == finding]
    found.sort(key=lambda item: (item.retired, _extremity(finding, item), -item.judged, item.question))
    return ItemList(finding=finding, items=tuple(found[:MOST_LISTED]), more=max(0, len(found) - MOST_LISTED))


def _extremity(finding: ItemFinding, item: ItemStatistics) -> float:
    """Returns what a list is sorted by, lowest first."""
    if finding == "disliked":
        return item.liked / item.rated
    return -(item.right or 0.0) if finding == "easy" else item.right or 0.0


async def _list_expected(session: AsyncSession, workspace_id: int) -> dict[int, Expected]:
    """Returns the share right to expect of all members, by question, for the current versions that are calibrated."""
    found = await calibrations.find(session, workspace_id)
    if found is None:
        return {}
    items = await calibrations.list_current_difficulties(session, workspace_id)
    await load_module("service.domain.calibration")
    from service.domain.calibration import expected_shares

    everybody = found.audience(None)
    bounds = [[Difficulty(one.value + z * one.error, 0.0) for one in items.values()] for z in (Z_95, -Z_95)]
    shares = expected_shares(everybody, list(items.values()))
    lows, highs = (expected_shares(everybody, each) for each in bounds)
    each = zip(items, shares, lows, highs, strict=True)
    return {question_id: Expected(share, Interval(low, high)) for question_id, share, low, high in each}


def _view(
    sums: ItemSums, options: Sequence[OptionPicks], expected: Expected | None, *, with_option: bool = False
) -> ItemStatistics:
    """Returns a question's figures; the wrong option chosen most often only `with_option`."""
    wrong = next((option for option in options if not option.right), None)
    right = next((option for option in options if option.right), None)
    item = Item(
        answers=sums.judged,
        right=sums.right or 0.0,
        discrimination=sums.discrimination,
        compared=sums.compared,
        # A right option that nobody chose is one too.
        best_right=None if wrong is None else right.picks if right else Picks(0),
        top_wrong=wrong.picks if wrong else None,
        rest=sum_picks(option.picks for option in options if option is not wrong),
        expected=expected,
        rated=sums.rated,
        liked=sums.liked,
    )
    interval = wilson_interval(item.right, item.answers)
    shown = wrong if with_option else None
    return ItemStatistics(
        question=sums.key,
        bank=sums.bank,
        days=PERIOD.days,
        retired=sums.retired,
        rounds=sums.rounds,
        answers=sums.answers,
        judged=sums.judged,
        right=sums.right,
        right_low=interval.low,
        right_high=interval.high,
        expected=expected and expected.share,
        expected_low=expected.interval.low if expected else 0.0,
        expected_high=expected.interval.high if expected else 1.0,
        discrimination=known_discrimination(item),
        compared=sums.compared,
        wrong=shown and WrongOption(text=shown.text, share=shown.picks.count / max(1, sums.answers)),
        wrong_beats_right=bool(wrong and wrong.picks.count > (right.picks.count if right else 0)),
        seconds=sums.seconds,
        reports=sums.reports,
        rated=sums.rated,
        liked=sums.liked,
        finding=find_problem(item),
    )
