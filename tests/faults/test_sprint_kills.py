"""A sprint on Discord while the service, the worker and the bot are killed: a small version of the benchmark, which
also plays it on Slack. The bell rings once everybody has answered."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.bench.bench_sprint import on_discord
from tests.bench.live_sprint import Counted, Diary, SprintPlan, find_errors
from tests.faults.backend import Backend

PLAN = SprintPlan(members=40, questions=2, seconds=60, by_hand=True)


@pytest.mark.slow
@pytest.mark.timeout(600)
async def test_a_sprint_goes_on_and_counts_every_answer_once(backend: Backend, tmp_path: Path) -> None:
    report = await on_discord(backend, tmp_path, PLAN)
    assert report.wrong == [], report
    assert report.kills == 3
    assert report.counted == report.told == 72 and report.late, report
    assert report.refused == 0, "the bot stays within the chat's limits"


def test_the_check_would_see_a_lost_a_doubled_and_a_late_answer() -> None:
    """The check can fail: it sees an answer that is lost, counted twice, late, or graded wrongly."""
    diary = Diary(told={(1, 1): "counted", (2, 1): "unknown"}, tried={(1, 1), (2, 1)})
    good = Counted(member=1, question=1, right=True, points=80, in_time=True)
    assert find_errors(PLAN, diary, [good]) == []
    assert find_errors(PLAN, diary, [good, Counted(2, 1, False, 0, True)]) == []
    for counted, said in (
        ([], "lost"),
        ([good, good], "2 times"),
        ([good, Counted(3, 1, True, 80, True)], "was not pressed before the bell"),
        ([Counted(1, 1, True, 80, False)], "came after the bell"),
        ([Counted(1, 1, False, 0, True)], "graded wrongly"),
        ([Counted(1, 1, True, 160, True)], "wrong points"),
    ):
        assert [said in error for error in find_errors(PLAN, diary, counted)].count(True) == 1, said
