"""Many rounds on Slack due in the same minute; `tests/bench/bench_slack.py` runs thousands."""

from __future__ import annotations

import pytest

from tests.bench.bench_slack import run
from tests.bench.many import Plan
from tests.doubles.slack.limits import Limits

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("kill", [False, True])
async def test_rounds_due_at_once_are_posted_once(database_url: str, kill: bool) -> None:
    """Rows 17, 18, 20: two workspaces with rounds due at once and clicks, with and without kill -9."""
    plan = Plan(rounds=80, chats=2, channels=40, kill=kill, seconds=120)
    report = await run(database_url, plan, apart=False)
    assert (report.posted, report.doubled, report.unordered) == (plan.rounds, 0, 0), str(report)
    # Half of a workspace's messages are its burst; the rest come at its pace, however fast we are.
    assert report.played.seconds >= (plan.rounds / plan.chats - Limits.team_burst) / Limits.team_rate - 1, str(report)
    assert report.broken == 0, str(report)
    assert report.refused == 0, str(report)
    assert report.delays, str(report)
