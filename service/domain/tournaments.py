"""Rules of tournaments: how teams are made, which results count, which teams meet and who is ahead. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from service.domain.selection import stable_hash
from service.wire import PairWinner

WIN = 2
"""Table points for each team that a team beats on a day."""
DRAW = 1
"""Table points for each team that a team ties with on a day."""
RECENT_DAYS = 28
"""Days whose points tell how strong a member is when teams are balanced."""


@dataclass(frozen=True, slots=True)
class MemberDay:
    """What one member earned on a day, over all rounds that count."""

    points: int
    credit: float
    """Sum of the shares that were right."""
    seconds: float | None = None
    """Total time to the answers; None if nothing that they answered is timed."""


@dataclass(frozen=True, slots=True)
class TeamDay:
    """What a team earned on a day: the sum over its best members."""

    points: int = 0
    credit: float = 0.0
    counted: int = 0
    """Members whose results were added up."""
    seconds: float | None = None
    """Their mean time; None if nothing is timed."""

    @property
    def accuracy(self) -> float:
        """Share that was right, of the answers that count."""
        return self.credit / self.counted if self.counted else 0.0

    @property
    def merit(self) -> tuple[int, float, float]:
        """Orders days, best first: points, then accuracy, then time. Equal ones are a tie."""
        seconds = float("inf") if self.seconds is None else round(self.seconds, 3)
        return -self.points, -round(self.accuracy, 9), seconds


def sum_best(results: Iterable[MemberDay], best: int) -> TeamDay:
    """Returns a team's day: the sum over its `best` members. A negative result counts as 0, so that answering never
    harms a team."""
    ranked = sorted(results, key=lambda one: (-one.points, -one.credit, one.seconds or 0.0))[:best]
    timed = [one.seconds for one in ranked if one.seconds is not None]
    return TeamDay(
        points=sum(max(0, one.points) for one in ranked),
        credit=sum(one.credit for one in ranked),
        counted=len(ranked),
        seconds=sum(timed) / len(timed) if timed else None,
    )


# Teams


def balance_teams(
    strengths: Mapping[int, float], teams: Sequence[Sequence[int]], seed: str, known: Mapping[int, float] | None = None
) -> list[list[int]]:
    """Adds members to teams, so that sizes differ by at most one where the teams allow it, and strength is balanced.

    `strengths` are those of the members to add, `known` of the members that `teams` have already. The strongest member
    left goes to the weakest of the smallest teams. Equal members are ordered at random, by the seed.
    """
    made = [list(team) for team in teams]
    worth = {**(known or {}), **strengths}
    sums = [sum(worth.get(member, 0.0) for member in team) for team in made]
    for member in sorted(strengths, key=lambda one: (-strengths[one], stable_hash(seed, str(one)), one)):
        place = min(range(len(made)), key=lambda one: (len(made[one]), sums[one], one))
        made[place].append(member)
        sums[place] += strengths[member]
    return made


def smallest_team(sizes: Mapping[int, int]) -> int:
    """Returns the smallest team; of several, the one with the lowest number."""
    return min(sizes, key=lambda team: (sizes[team], team))


def may_pick(team: int, sizes: Mapping[int, int]) -> bool:
    """Returns whether the captain of a team may pick a member now: no team is smaller. So nobody waits for a captain
    who is away, and no team gets ahead."""
    return sizes[team] == min(sizes.values())


# Brackets


def count_stages(teams: int) -> int:
    """Returns how many days a bracket takes if no pair ties."""
    return (teams - 1).bit_length()


def pair_teams(teams: Sequence[int]) -> list[tuple[int, int | None]]:
    """Returns the pairs of a stage, for teams in the order of their seeds, best first.

    If their number is not a power of two, the best seeds have no opponent and advance. The others meet best against
    worst.
    """
    byes = 2 ** count_stages(len(teams)) - len(teams)
    playing = teams[byes:]
    pairs: list[tuple[int, int | None]] = [(team, None) for team in teams[:byes]]
    half = len(playing) // 2
    return pairs + [(playing[place], playing[-1 - place]) for place in range(half)]


def decide_pair(first: TeamDay, second: TeamDay) -> PairWinner:
    """Returns which team advances: more points, then accuracy, then time. Equal teams both do."""
    if first.merit == second.merit:
        return "both"
    return "first" if first.merit < second.merit else "second"


# Tables


@dataclass(frozen=True, slots=True)
class Standing:
    """A team's place in a tournament."""

    team: int
    rank: int
    table: int
    """Table points."""
    points: int
    """Sum of the days' points."""


def rank_table(teams: Sequence[int], days: Sequence[Mapping[int, TeamDay]]) -> list[Standing]:
    """Returns the table: every day each team meets each other, by the points of the day.

    Equal table points are ordered by the sum of points, then accuracy, then time; otherwise the place is shared.
    """
    table: Counter[int] = Counter()
    for day in days:
        for team in teams:
            for other in teams:
                if team != other:
                    mine, theirs = day.get(team, TeamDay()).merit, day.get(other, TeamDay()).merit
                    table[team] += WIN if mine < theirs else DRAW if mine == theirs else 0
    sums = {team: _sum_days([day.get(team, TeamDay()) for day in days]) for team in teams}
    return _rank(teams, {team: (-table[team], *sums[team].merit) for team in teams}, table, sums)


def rank_bracket(
    teams: Sequence[int], lasted: Mapping[int, int], days: Sequence[Mapping[int, TeamDay]]
) -> list[Standing]:
    """Returns the places in a bracket, by the stage that each team reached. `lasted` is higher for those who are still
    in it; teams that left in the same stage share a place."""
    sums = {team: _sum_days([day.get(team, TeamDay()) for day in days]) for team in teams}
    return _rank(teams, {team: (-lasted[team],) for team in teams}, Counter(), sums)


def _sum_days(days: Sequence[TeamDay]) -> TeamDay:
    timed = [(day.seconds, day.counted) for day in days if day.seconds is not None]
    weight = sum(counted for _, counted in timed)
    return TeamDay(
        points=sum(day.points for day in days),
        credit=sum(day.credit for day in days),
        counted=sum(day.counted for day in days),
        seconds=sum(seconds * counted for seconds, counted in timed) / weight if weight else None,
    )


def _rank(
    teams: Sequence[int],
    merits: Mapping[int, tuple[float, ...]],
    table: Mapping[int, int],
    sums: Mapping[int, TeamDay],
) -> list[Standing]:
    ordered = sorted(teams, key=lambda team: (merits[team], team))
    ranks: dict[int, int] = {}
    for place, team in enumerate(ordered, 1):
        before = ordered[place - 2] if place > 1 else None
        ranks[team] = ranks[before] if before is not None and merits[before] == merits[team] else place
    return [Standing(team, ranks[team], table[team], sums[team].points) for team in ordered]
