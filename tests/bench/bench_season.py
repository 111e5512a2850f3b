"""Benchmark: simulated seasons of 200 members, 300 questions and 120 days, with questions chosen in four ways, and how
well their difficulties are found; FSRS practice against random review. Prints the tables of docs/benchmarks.md."""

from __future__ import annotations

import argparse
from statistics import fmean
from time import perf_counter

from service.domain.calibration import calibrate
from tests.simulated_season import (
    Choose,
    Season,
    choose_at_random,
    choose_by_calibration,
    choose_by_level,
    choose_by_truth,
    distance,
    practice_together,
)

WAYS: tuple[tuple[str, Choose], ...] = (
    ("at random", choose_at_random),
    ("by level only", choose_by_level),
    ("by calibrated difficulty", choose_by_calibration),
    ("by the true difficulty", choose_by_truth),
)
TEAMS = (("weak", -0.2), ("average", 0.4), ("strong", 1.4))
SETTLED = 14
"""Days after which the share right is taken."""


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--members", type=int, default=200)
    options.add_argument("--days", type=int, default=120)
    options.add_argument("--seed", type=int, default=1)
    given = options.parse_args()
    print("| Team | Chosen | Right | Off 70% in a week | Correlation | Error | Intervals right |")
    print("|---|---|---|---|---|---|---|")
    for team, strength in TEAMS:
        for way, choose in WAYS:
            _print_season(team, way, Season(given.seed, given.members, days=given.days, strength=strength), choose)
    lucky = Season(given.seed, given.members, days=given.days, guess=0.2)
    _print_season("average, 20% guessed", "by calibrated difficulty", lucky, choose_by_calibration)
    alone = Season(given.seed, given.members, days=given.days, practice=False)
    _print_season("average, no practice", "by calibrated difficulty", alone, choose_by_calibration)
    small = Season(given.seed, 12, days=given.days)
    _print_season("12 members", "by calibrated difficulty", small, choose_by_calibration)
    before = perf_counter()
    calibrate(alone.about, alone.answers)
    print(f"\nOne calibration of {len(alone.answers):,} answers: {(perf_counter() - before) * 1000:.0f} ms\n")
    print("| Reviews a day | Cards | Remembered after 60 days | 30 days later | Reviews |")
    print("|---|---|---|---|---|")
    for reviews in (3, 6, 12):
        for name, by_fsrs in (("due by FSRS", True), ("at random", False)):
            got = practice_together(100, reviews, by_fsrs=by_fsrs)
            print(f"| {reviews} | {name} | {got.now:.1%} | {got.later:.1%} | {got.reviews:.0f} |")


def _print_season(team: str, way: str, season: Season, choose: Choose) -> None:
    # Other ways to choose need a calibration at the end only.
    season.every = 3 if choose is choose_by_calibration else season.days
    season.play(choose)
    shares = season.shares[SETTLED:]
    found = season.recovered(season.asked)
    print(
        f"| {team} | {way} | {fmean(shares):.1%} | {100 * distance(shares):.1f} points | {found.correlation:.2f} "
        f"| {found.error:.2f} | {found.covered:.0%} |",
        flush=True,
    )


if __name__ == "__main__":
    main()
