"""The doctor's words: what was found, and how to fix what failed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from bot.core.cards import Table
from bot.core.text.doctor import check_words, doctor_card
from service.wire import (
    BankCheck,
    ClockCheck,
    MessagesCheck,
    NoScheduleCheck,
    QuestionsCheck,
    SandboxCheck,
    SchemaCheck,
    SlotsCheck,
    TroubleCheck,
    TroubleView,
    WorkspaceCheck,
)

NINE = datetime(2026, 3, 5, 4, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("check", "found"),
    [
        (SchemaCheck(ok=True, found="0001", needed="0001"), "the schema is at 0001"),
        (ClockCheck(ok=True, skew_s=0.04), "0.0 s between the service's clock and the database's"),
        (SandboxCheck(ok=True, ready=2, torch="2.13.0"), "2 ready, full isolation, torch 2.13.0"),
        (SandboxCheck(ok=True, ready=2, gpu="H100"), "2 ready, full isolation; GPU: H100"),
        (SandboxCheck(ok=False, isolation="weaker", lacks=("a", "b")), "0 ready, weaker isolation; a; b"),
        (SandboxCheck(ok=False, trouble="no torch"), "0 ready, full isolation; no torch"),
        (SandboxCheck(ok=False, problem="not connected"), "No sandbox is connected. Code answers are waiting."),
        (BankCheck(ok=True, questions=1, waiting_for_gpu=0), "1 question can be asked"),
        (
            BankCheck(ok=True, questions=1200, waiting_for_gpu=3),
            "1,200 questions can be asked; 3 more once a sandbox has a GPU",
        ),
        (QuestionsCheck(ok=False, schedule=1, channel="#a", left=1), "1 slot until one is repeated"),
        (
            SlotsCheck(ok=True, schedule=1, channel="#a", paused=False, next=(NINE,), zone="Asia/Kolkata"),
            "Thu 2026-03-05 09:30 Asia/Kolkata",
        ),
        (SlotsCheck(ok=False, schedule=1, channel="#a", paused=False, zone="UTC"), "no slot within a year"),
        (SlotsCheck(ok=True, schedule=1, channel="#a", paused=True, zone="UTC"), "paused"),
        (MessagesCheck(ok=True), "none are waiting"),
        (MessagesCheck(ok=False, waiting=2, age_s=600, error="x"), "2 messages waiting, the oldest for 600 s: x"),
        (
            TroubleCheck(ok=False, trouble=TroubleView(kind="refused", channel="#a", error="no entry", since=NINE)),
            "#a refuses messages: no entry",
        ),
    ],
)
def test_what_was_found(check: WorkspaceCheck, found: str) -> None:
    assert check_words(check).found == found


@pytest.mark.parametrize(
    ("check", "fix"),
    [
        (SchemaCheck(ok=False, found="0001", needed="0002"), "`dailygrad migrate`"),
        (ClockCheck(ok=False, skew_s=60), "NTP"),
        (SandboxCheck(ok=False, problem="not connected"), "`DAILYGRAD_SANDBOX_SOCKET`"),
        (BankCheck(ok=False, questions=0, waiting_for_gpu=0), "`/quiz-admin bank import`"),
        (NoScheduleCheck(ok=False), "`/quiz-admin schedule add`"),
        (MessagesCheck(ok=False, waiting=1, age_s=600), "may write in the channel"),
        (TroubleCheck(ok=False, trouble=TroubleView(kind="late", channel="#a", since=NINE)), "still being tried"),
        (TroubleCheck(ok=False, trouble=TroubleView(kind="refused", channel="#a", since=NINE)), "schedule post-now"),
        (TroubleCheck(ok=False, trouble=TroubleView(kind="sandbox", since=NINE)), "`dailygrad sandbox serve`"),
        (
            TroubleCheck(ok=False, trouble=TroubleView(kind="revoked", platform="slack", since=NINE)),
            "Add the app to Slack again.",
        ),
    ],
)
def test_a_failed_check_says_what_to_do(check: WorkspaceCheck, fix: str) -> None:
    assert fix in check_words(check).fix


def test_only_failed_checks_get_a_fix_on_the_card() -> None:
    good, bad = ClockCheck(ok=True, skew_s=0), NoScheduleCheck(ok=False)
    card = doctor_card((good, bad))
    assert card.summary == "1 check failed."
    (table,) = [block for block in card.blocks if isinstance(block, Table)]
    assert [row[:2] for row in table.rows] == [("clock", "ok"), ("schedules", "FAILED")]
    assert len(card.blocks) == 3
    assert doctor_card((good,)).summary == "Everything works."
