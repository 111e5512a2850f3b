"""The largest pictures that cards can have: for the limits of their bytes and of the time they take."""

from __future__ import annotations

from bot.core.charts import (
    BoardChart,
    BoardPlace,
    ChoiceBar,
    DigestChart,
    DistributionChart,
    Drawing,
    HeatmapChart,
    HeatWeek,
    MeasuredChart,
    PodiumChart,
    PodiumPlace,
    RangeRow,
    RangesChart,
    Week,
    WeeksChart,
)

_NAME = "Katherine Джонсон 山田太郎 Wolfeschlegelsteinhausen"
_KNOWN = RangeRow(_NAME, 0.42, "you know 35–61%, 42% of 24 right", (0.35, 0.61))
_SURE = RangeRow("Sure", 0.9, "90% of 1,024 right", (0.85, 0.93), (0.8, 1.0))
_MEASURED = RangeRow(_NAME, 0.7, "you · place 11 · 1,512 ms (1,470–1,570)", (0.68, 0.73))
FULLEST: dict[str, Drawing] = {
    "leaderboard": BoardChart(tuple(BoardPlace(n, _NAME, 123_456 - n, "87%", 123, n == 3) for n in range(1, 11))),
    "distribution": DistributionChart(
        tuple(ChoiceBar(_NAME, 1234 + n, 0.3, "right" if n == 1 else "wrong") for n in range(10))
    ),
    "weeks": WeeksChart(tuple(Week("23 Mar", 12_345 + n, 123, "87%") for n in range(12))),
    "podium": PodiumChart(tuple(PodiumPlace(n, _NAME, "12,345 points") for n in (1, 2, 3))),
    "mastery": RangesChart("Topics, weakest first", (_KNOWN,) * 8, "What it means."),
    "calibration": RangesChart("How sure you were", (_SURE,) * 3, "What it means."),
    "heatmap": HeatmapChart(
        tuple(
            HeatWeek("23 Mar", ("right", "part", "missed", "answered", "blank", "right", "right")) for _ in range(17)
        ),
        ((1, "Mar"), (5, "Apr"), (9, "May"), (13, "Jun")),
    ),
    "digest": DigestChart(1200, 900, _KNOWN, (_KNOWN,) * 3),
    "speed board": MeasuredChart(
        "a-question-with-a-long-name, by CPU time",
        (_MEASURED,) * 10,
        ("0", "500 ms", "1,000 ms", "1,500 ms", "2,000 ms"),
        "What it means.",
    ),
}
