"""The operations page in words, and the operator's command that prints it."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from bot.core.text.operations import (
    clock_text,
    duration_text,
    error_text,
    place_text,
    queue_name,
    reason_text,
    sandbox_text,
    state_text,
    trouble_text,
    whole_text,
)
from bot.operations import operations_command
from service.wire import ErrorView, Operations, QueueView, SandboxView, SlotView, TroubleView

NOON = datetime(2026, 3, 2, 12, tzinfo=UTC)


def slot(**more: object) -> SlotView:
    facts = {
        "platform": "slack",
        "workspace": "T1",
        "channel": "#quiz",
        "day": date(2026, 3, 2),
        "zone": "Europe/Berlin",
        "due_at": NOON,
        "late_s": 0.0,
        "state": "posted",
    }
    return SlotView.model_validate({**facts, **more})


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(0, "0 s"), (119.9, "119 s"), (120, "2 min"), (7199, "119 min"), (7500, "2 h 05 min"), (200_000, "2 d 7 h")],
)
def test_durations_are_readable(seconds: float, said: str) -> None:
    assert duration_text(seconds) == said


@given(st.floats(0, 10**9), st.floats(0, 10**9))
def test_a_longer_time_never_reads_shorter(one: float, other: float) -> None:
    def whole(text: str) -> float:
        parts = text.split()
        return sum(
            float(n) * {"s": 1, "min": 60, "h": 3600, "d": 86400}[unit]
            for n, unit in zip(parts[::2], parts[1::2], strict=True)
        )

    short, long = sorted((one, other))
    assert whole(duration_text(short)) <= whole(duration_text(long)) <= long


def test_each_state_has_a_text() -> None:
    states = {"posted": 2, "late": 840, "waiting": 3, "overdue": 90, "skipped": 0}
    assert [state_text(slot(state=state, late_s=late)) for state, late in states.items()] == [
        "posted on time",
        "posted 14 min late",
        "on its way",
        "overdue for 90 s",
        "not posted",
    ]


def test_an_instant_shows_its_zone_and_the_date_if_it_differs() -> None:
    assert clock_text(None, "UTC") == "–"
    assert clock_text(NOON, "Europe/Berlin") == "2026-03-02 13:00:00"
    assert clock_text(NOON, "Europe/Berlin", NOON - timedelta(hours=13)) == "13:00:00"
    assert clock_text(NOON, "Europe/Berlin", NOON - timedelta(hours=14)) == "2026-03-02 13:00:00"


def test_the_sandbox_is_described_in_a_sentence() -> None:
    assert sandbox_text(None) == "No sandbox is connected. Code answers are waiting."
    gone = SandboxView(problem="unreachable", trouble="no socket")
    assert sandbox_text(gone) == "The sandbox cannot be reached: no socket. Code answers are waiting."
    said = sandbox_text(SandboxView(ready=2, running=1, waiting=5, wait_s=3, devices=("cpu",), trouble="low memory"))
    assert said == (
        "2 ready, 1 running, 5 waiting; full isolation; devices: cpu; a new run waits about 3 s. "
        "The sandbox has a problem: low memory."
    )


@pytest.mark.parametrize(
    ("facts", "said"),
    [
        ({"skipped": "missed"}, "Dailygrad was not running when it was due"),
        ({"skipped": "no question"}, "no question fits the schedule"),
        ({"skipped": "needs gpu"}, "every question that fits needs a GPU, and no sandbox has one"),
        ({"skipped": "not posted", "error": "Missing Access"}, "Missing Access"),
        ({"skipped": "not posted"}, "no bot fetched it in time"),
        ({"state": "overdue", "error": "503"}, "503"),
        ({"state": "posted"}, ""),
    ],
)
def test_a_slot_shows_why_it_was_skipped_or_is_late(facts: dict[str, str], said: str) -> None:
    assert reason_text(slot(**{"state": "skipped", **facts})) == said


@pytest.mark.parametrize(
    ("queue", "said"),
    [
        (QueueView(kind="messages", platform="slack", count=2), "messages for Slack"),
        (QueueView(kind="answers", count=2), "code answers"),
        (QueueView(kind="jobs", task="judge_answer", status="todo", count=2), "jobs todo: judge_answer"),
    ],
)
def test_a_queue_has_a_name(queue: QueueView, said: str) -> None:
    assert queue_name(queue) == said


@pytest.mark.parametrize(
    ("error", "what", "where"),
    [
        (
            ErrorView(at=NOON, kind="message", name="question", attempts=1, channel="#quiz", platform="slack"),
            "question: 1 attempt, will be retried",
            "#quiz, Slack",
        ),
        (
            ErrorView(at=NOON, kind="verdict", private=True, platform="web", workspace="local"),
            "a code answer could not be judged: the sandbox failed, and the member lost nothing",
            "a private message, the web chat, local",
        ),
        (
            ErrorView(at=NOON, kind="job", name="judge_answer", attempts=8, given_up=True),
            "job judge_answer: 8 attempts, given up",
            "",
        ),
    ],
)
def test_an_error_tells_what_failed_and_where(error: ErrorView, what: str, where: str) -> None:
    assert (error_text(error), place_text(error)) == (what, where)


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        (TroubleView(kind="late", channel="#quiz", error="503", since=NOON), "a question is late in #quiz: 503"),
        (TroubleView(kind="refused", channel="#b", since=NOON), "#b refuses messages"),
        (TroubleView(kind="sandbox", since=NOON), "code answers are waiting for a sandbox"),
        (TroubleView(kind="revoked", platform="slack", since=NOON), "the app was removed from Slack"),
    ],
)
def test_a_trouble_tells_what_is_wrong(trouble: TroubleView, said: str) -> None:
    assert trouble_text(trouble) == said


def test_all_of_it_is_one_page_of_text() -> None:
    found = Operations(
        at=NOON,
        led=False,
        slots=(slot(taken_at=NOON, sent_at=NOON + timedelta(seconds=1)), slot(state="skipped", skipped="no question")),
        queues=(QueueView(kind="messages", platform="slack", count=2, oldest_at=NOON - timedelta(minutes=5)),),
        troubles=(TroubleView(kind="late", channel="#quiz", error="away", since=NOON),),
        errors=(
            ErrorView(
                at=NOON, kind="message", name="question", attempts=1, channel="#quiz", platform="slack", error="no"
            ),
        ),
    )
    text = whole_text(found)
    for line in (
        "No worker is running: nothing is posted, closed or judged. Start one: `dailygrad work`.",
        "  messages for Slack: 2, the oldest for 5 min",
        "  2026-03-02 12:00:00, open  a question is late in #quiz: away",
        "  2026-03-02 12:00:00  question: 1 attempt, will be retried: #quiz, Slack: no",
        "  2026-03-02 12:00:00 → 12:00:00 → 12:00:01  slack T1 #quiz: posted on time",
        "  2026-03-02 12:00:00 → – → –  slack T1 #quiz: not posted (no question fits the schedule)",
    ):
        assert line in text.splitlines()


def test_the_operator_prints_it(database_url: str) -> None:
    runner = CliRunner(env={"DATABASE_URL": database_url, "DAILYGRAD_SANDBOX_SOCKET": "", "DAILYGRAD_WORKER_URL": ""})
    printed = runner.invoke(operations_command, [])
    assert printed.exit_code == 0, printed.output
    assert "No worker is running" in printed.stdout
    raw = json.loads(runner.invoke(operations_command, ["--format", "json"]).stdout)
    assert (raw["slots"], raw["led"]) == ([], False)
    assert runner.invoke(operations_command, ["--format", "xml"]).exit_code == 2
