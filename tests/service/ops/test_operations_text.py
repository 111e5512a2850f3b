"""How the quiz runs, in words, and the operator's command that prints it."""

from __future__ import annotations

import json
from datetime import UTC, date, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

from service.cli import service_command
from service.ops.operations_text import clock_text, duration_text, sandbox_text, state_text, whole_text
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
def test_durations_are_said_as_people_say_them(seconds: float, said: str) -> None:
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


def test_each_state_is_told_in_words() -> None:
    states = {"posted": 2, "late": 840, "waiting": 3, "overdue": 90, "skipped": 0}
    assert [state_text(slot(state=state, late_s=late)) for state, late in states.items()] == [
        "posted on time",
        "posted 14 min late",
        "on its way",
        "overdue for 90 s",
        "not posted",
    ]


def test_an_instant_is_said_in_its_zone_and_the_date_where_it_is_another() -> None:
    assert clock_text(None, "UTC") == "–"
    assert clock_text(NOON, "Europe/Berlin") == "2026-03-02 13:00:00"
    assert clock_text(NOON, "Europe/Berlin", NOON - timedelta(hours=13)) == "13:00:00"
    assert clock_text(NOON, "Europe/Berlin", NOON - timedelta(hours=14)) == "2026-03-02 13:00:00"


def test_the_sandbox_is_told_in_a_sentence() -> None:
    assert sandbox_text(None) == "None is connected, so code answers wait."
    assert sandbox_text(SandboxView(up=False, trouble="gone")) == "None answers, so code answers wait: gone."
    said = sandbox_text(SandboxView(up=True, ready=2, running=1, waiting=5, wait_s=3, devices=("cpu",), trouble="low"))
    assert said == (
        "2 ready, 1 at work, 5 waiting; isolation full; computes on cpu; a run that comes now waits "
        "about 3 s. Trouble: low."
    )


def test_all_of_it_is_one_page_of_text() -> None:
    found = Operations(
        at=NOON,
        led=False,
        slots=(slot(taken_at=NOON, sent_at=NOON + timedelta(seconds=1)), slot(state="skipped", said="no question")),
        queues=(QueueView(name="messages for slack", count=2, oldest_at=NOON - timedelta(minutes=5)),),
        troubles=(TroubleView(what="a question is late", where="#quiz", said="away", since=NOON),),
        errors=(ErrorView(at=NOON, what="question, tried again (1 attempt)", where="#quiz, slack", said="no"),),
    )
    text = whole_text(found)
    for line in (
        "No worker leads: nothing is posted, closed or judged. Start one: `dailygrad work`.",
        "  messages for slack: 2, the oldest for 5 min",
        "  2026-03-02 12:00:00, not over  a question is late: #quiz: away",
        "  2026-03-02 12:00:00  question, tried again (1 attempt): #quiz, slack: no",
        "  2026-03-02 12:00:00 → 12:00:00 → 12:00:01  slack T1 #quiz: posted on time",
        "  2026-03-02 12:00:00 → – → –  slack T1 #quiz: not posted (no question)",
    ):
        assert line in text.splitlines()


def test_the_operator_prints_it(database_url: str) -> None:
    runner = CliRunner(env={"DATABASE_URL": database_url, "DAILYGRAD_SANDBOX_SOCKET": "", "DAILYGRAD_WORKER_URL": ""})
    printed = runner.invoke(service_command, ["ops"])
    assert printed.exit_code == 0, printed.output
    assert "No worker leads" in printed.stdout
    raw = json.loads(runner.invoke(service_command, ["ops", "--format", "json"]).stdout)
    assert (raw["slots"], raw["led"]) == ([], False)
    assert runner.invoke(service_command, ["ops", "--format", "xml"]).exit_code == 2
