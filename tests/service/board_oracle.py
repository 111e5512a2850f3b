"""Boards as plain sums over the whole ledger: what the boards that are kept must equal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from sqlalchemy import text
from sqlalchemy.ext.asyncio import AsyncSession

from service.store.boards import BoardKey
from service.wire import Contest

LEAST_ANSWERED = 3
"""Answers that the most improved have in both periods."""
LEDGER = """
select l.member_id, l.round_id, l.points, l.credit, l.seconds, l.at, l.workspace_id, m.name,
    not m.hidden and m.merged_into is null as shown, lower(v.topic) as topic,
    array(select s.channel_id from schedule s where s.id = r.schedule_id
        union select c.channel_id from schedule_channel c where c.schedule_id = r.schedule_id) as channels
from ledger l join member m on m.id = l.member_id left join round r on r.id = l.round_id
left join question_version v on v.id = r.version_id
"""


@dataclass
class Sums:
    """One member's sums over some entries."""

    member_id: int
    name: str
    shown: bool
    points: int = 0
    credit: int = 0
    ms: int = 0
    rounds: set[int] = field(default_factory=set)
    credited: set[int] = field(default_factory=set)

    @property
    def accuracy(self) -> int:
        """Mean credit in units of 1e-9, half units up, from none to all."""
        if not self.credited:
            return 0
        mean = (2 * self.credit + 1000 * len(self.credited)) // (2000 * len(self.credited))
        return min(10**9, max(0, mean))


@dataclass(frozen=True)
class Line:
    """A member on a board."""

    rank: int
    member_id: int
    name: str
    points: int
    answered: int
    accuracy: float
    gain: float | None = None


Booked = Sequence[Any]
"""The rows of the ledger."""


async def load_ledger(session: AsyncSession) -> Booked:
    """Returns the whole ledger, with what boards need to know of each entry."""
    return (await session.execute(text(LEDGER))).all()


def sum_board(ledger: Booked, key: BoardKey, contest: Contest, previous: BoardKey | None = None) -> list[Line]:
    """Returns the whole board of a contest."""
    here = [row for row in ledger if row.workspace_id == key.workspace_id]
    sums = _visible(here, key)
    if contest == "improved":
        assert previous is not None
        return _improved(sums, {each.member_id: each for each in _visible(here, previous)})
    if contest == "rookies":
        first = {row.member_id: row.at for row in sorted(here, key=lambda row: row.at, reverse=True) if row.round_id}
        assert key.since is not None
        sums = [each for each in sums if each.member_id in first and first[each.member_id] >= key.since]
    order = [((-each.points, -each.accuracy, each.ms), each) for each in sums if each.points > 0]
    return [Line(rank, *_line(each)) for rank, each in _rank(order)]


def _visible(rows: Iterable[Any], key: BoardKey) -> list[Sums]:
    found: dict[int, Sums] = {}
    for row in rows:
        if not _is_within(row.at, key) or not _is_about(row, key):
            continue
        sums = found.setdefault(row.member_id, Sums(row.member_id, row.name, row.shown))
        sums.points += row.points
        sums.credit += round((row.credit or 0) * 1e12)
        sums.ms += round((row.seconds or 0) * 1e3)
        if row.round_id is not None:
            sums.rounds.add(row.round_id)
            if row.credit is not None:
                sums.credited.add(row.round_id)
    return [each for each in found.values() if each.shown and (key.channel_id is None or each.rounds)]


def _is_within(at: datetime, key: BoardKey) -> bool:
    return (key.since is None or at >= key.since) and (key.until is None or at < key.until)


def _is_about(row: Any, key: BoardKey) -> bool:
    if key.channel_id is not None and row.round_id is not None and key.channel_id not in row.channels:
        return False
    return not key.topic or (row.topic is not None and f"{row.topic}/".startswith(f"{key.topic}/"))


def _improved(after: list[Sums], before: dict[int, Sums]) -> list[Line]:
    gains = {
        each.member_id: each.accuracy - before[each.member_id].accuracy
        for each in after
        if each.member_id in before and min(len(each.credited), len(before[each.member_id].credited)) >= LEAST_ANSWERED
    }
    order = [((-gains[each.member_id],), each) for each in after if gains.get(each.member_id, 0) > 0]
    return [Line(rank, *_line(each), gain=gains[each.member_id] / 10**9) for rank, each in _rank(order)]


def _rank(order: Sequence[tuple[tuple[int, ...], Sums]]) -> list[tuple[int, Sums]]:
    """Returns rank and sums: equal members share a rank, listed in the order they joined."""
    groups: dict[tuple[int, ...], list[Sums]] = defaultdict(list)
    for merit, each in sorted(order, key=lambda pair: (pair[0], pair[1].member_id)):
        groups[merit].append(each)
    ranked: list[tuple[int, Sums]] = []
    for tied in groups.values():
        place = len(ranked) + 1
        ranked += [(place, each) for each in tied]
    return ranked


def _line(each: Sums) -> tuple[int, str, int, int, float]:
    return each.member_id, each.name, each.points, len(each.credited), each.accuracy / 10**9
