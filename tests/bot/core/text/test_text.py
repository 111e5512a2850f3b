"""The small words: plurals, times in a zone, shares; each compared as it is read."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.core.cards import Code, Small, TextField
from bot.core.markup import parse, to_plain
from bot.core.text import members, questions, results, words
from bot.core.text.admin import rhythm_words
from service.wire import AnswerInput, AnswerResult, OptionKey, RunResult, ScheduleSpec, TopicMastery, VerdictView
from tests.bot.core.text.instants import read_aloud
from tests.bot.samples import CHOICE, CHOICE_KEY, ME

NOON = datetime(2026, 3, 5, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize("topic", ["__init__", "[y](https://evil.example)", "<@1> @everyone", "`a` *b*", "1. C++ | C"])
def test_a_topic_is_shown_as_it_is_written(topic: str) -> None:
    question = CHOICE.model_copy(update={"topic": topic})
    assert to_plain(parse(questions.about(question)), 200) == f"senior · {topic} · question stride-view"


def test_plurals() -> None:
    assert [words.plural(n, "answer") for n in (0, 1, 2, 1200)] == [
        "0 answers",
        "1 answer",
        "2 answers",
        "1,200 answers",
    ]
    assert words.plural(2, "entry of points", "entries of points") == "2 entries of points"


@pytest.mark.parametrize(
    ("markdown", "said"),
    [
        ("*because*", "**Why:** *because*"),
        ("because\n\n- a", "**Why:** because\n\n- a"),
        ("- a\n- b", "**Why:**\n\n- a\n- b"),
        ("| a |\n|---|\n| b |", "**Why:**\n\n| a |\n|---|\n| b |"),
        ("```python\nx\n```", "**Why:**\n\n```python\nx\n```"),
        ("", "**Why:**\n\n"),
    ],
)
def test_a_text_follows_its_label_on_the_same_line_or_below(markdown: str, said: str) -> None:
    assert words.led("**Why:**", markdown) == said


@pytest.mark.parametrize(
    ("parts", "said"), [([], ""), (["a"], "a"), (["a", "b"], "a and b"), (["a", "b", "c"], "a, b and c")]
)
def test_lists(parts: list[str], said: str) -> None:
    assert words.and_list(parts) == said


@pytest.mark.parametrize(
    ("share", "said"), [(0, "0%"), (0.001, "1%"), (0.5, "50%"), (2 / 3, "67%"), (0.999, "99%"), (1, "100%")]
)
def test_shares_are_never_rounded_to_all_or_nothing(share: float, said: str) -> None:
    assert words.percent(share) == said


def test_times_are_local_and_name_their_zone() -> None:
    assert words.time_words(NOON, "Europe/Berlin") == "13:00 (Europe/Berlin)"
    assert words.instant_words(NOON, "Pacific/Auckland") == "Friday 6 March, 01:00 (Pacific/Auckland)"
    assert words.time_words(NOON, "Nowhere/Land") == "12:00 (UTC)"


def test_a_time_today_needs_no_day() -> None:
    close = NOON + timedelta(hours=4)
    assert read_aloud(words.until_markdown(close, "Europe/Berlin", NOON)) == "17:00 (Europe/Berlin)"
    assert read_aloud(words.until_markdown(close, "Pacific/Auckland", NOON)) == "05:00 (Pacific/Auckland)"
    assert read_aloud(words.until_markdown(close, "Asia/Tokyo", NOON)) == "Friday 6 March, 01:00 (Asia/Tokyo)"
    assert read_aloud(words.until_markdown(close, "Europe/Berlin", None)) == "Thursday 5 March, 17:00 (Europe/Berlin)"


def test_days_are_written_out() -> None:
    assert words.day_words(date(2026, 1, 1)) == "Thursday 1 January"
    assert words.weekdays_words((0, 1, 2, 3, 4)) == "Monday to Friday"
    assert words.weekdays_words((0, 2, 4)) == "Monday, Wednesday and Friday"
    assert words.weekdays_words((5, 6)) == "Saturday and Sunday"
    assert words.weekdays_words(range(7)) == "every day"


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ({}, "Monday to Friday"),
        ({"weekdays": tuple(range(7))}, "every day"),
        (
            {"weekdays": tuple(range(7)), "every_days": 3, "first_day": date(2026, 3, 2)},
            "every 3 days from Monday 2 March",
        ),
        ({"weekdays": tuple(range(7)), "month_days": (1, 15, 31)}, "on days 1 and 15 and the last day of the month"),
        ({"month_days": (1,)}, "on day 1 of the month, only Monday to Friday"),
        ({"weekdays": tuple(range(7)), "month_days": (31,)}, "on the last day of the month"),
        (
            {"weekdays": tuple(range(7)), "month_days": (30,)},
            "on day 30 of the month (the last day where a month is shorter)",
        ),
    ],
)
def test_the_days_of_a_schedule_are_said_in_words(spec: dict[str, Any], said: str) -> None:
    assert rhythm_words(ScheduleSpec.model_validate(spec)) == said


@pytest.mark.parametrize(
    ("minutes", "said"),
    [
        (0, "0 minutes"),
        (1, "1 minute"),
        (90, "1 hour 30 minutes"),
        (480, "8 hours"),
        (2880, "2 days"),
        (1501, "1 day 1 hour 1 minute"),
    ],
)
def test_lengths_of_time(minutes: int, said: str) -> None:
    assert words.minutes_words(minutes) == said


@pytest.mark.parametrize(
    ("wait", "said"),
    [
        (timedelta(seconds=-5), "now"),
        (timedelta(seconds=30), "now"),
        (timedelta(minutes=10), "in 10 minutes"),
        (timedelta(minutes=59), "in 1 hour"),
        (timedelta(hours=23, minutes=50), "in 1 day"),
        (timedelta(days=3), "in 3 days"),
    ],
)
def test_waits(wait: timedelta, said: str) -> None:
    assert words.wait_words(NOON, NOON + wait) == said


@given(st.timedeltas(min_value=timedelta(minutes=2), max_value=timedelta(days=3000)))
def test_a_wait_is_shown_in_its_own_unit(wait: timedelta) -> None:
    said = words.wait_words(NOON, NOON + wait)
    count, unit = int(said.split()[1].replace(",", "")), said.split()[2].rstrip("s")
    size = {"day": 86400, "hour": 3600, "minute": 60}[unit]
    assert abs(count * size - wait.total_seconds()) <= size / 2 + 1


def test_sentences_end_once() -> None:
    assert words.sentence("the round is closed") == "The round is closed."
    assert words.sentence("Really? ") == "Really?"
    assert words.sentence(" a duel takes two") == "A duel takes two."
    assert words.sentence("") == ""
    assert words.joined("a", "", "b") == "a · b"


def test_what_was_typed_of_a_report_waits_in_its_form() -> None:
    fields = [field for field in questions.report_form("", "unfair").fields if isinstance(field, TextField)]
    assert [(field.name, field.value) for field in fields] == [("question", ""), ("text", "unfair")]


def test_a_traceback_keeps_its_columns_and_a_failed_start_is_reported() -> None:
    message = 'File "<answer>", line 1\n    def f(:\n          ^\nSyntaxError: invalid syntax'
    card = results.tried_card(VerdictView(verdict="invalid", credit=0, message=message), "p1")
    assert Code(message, "") in card.blocks
    assert (card.title, card.summary) == ("Examples: could not be run", "Your code could not be run.")


def test_a_member_sees_no_inactive_season_and_no_unnamed_topic() -> None:
    shown = str(
        members.me_card(
            ME.model_copy(
                update={"season_points": 0, "rank": None, "topics": (TopicMastery(topic="", answers=1, right=0.5),)}
            )
        )
    )
    assert "season" not in shown
    assert "('without a topic', '1', '50%', 'too few answers')" in shown
    # The rank is that of all time.
    assert "1,240 in all, rank 2; 40 this season" in str(
        members.me_card(ME.model_copy(update={"season_points": 40, "rank": 2}))
    )


@pytest.mark.parametrize(
    ("queue_ms", "before", "said"),
    [
        (999, 3, ""),
        (1000, 0, "It waited 1 s for its turn."),
        (1200, 1, "It waited 1 s for its turn: 1 run was before it."),
        (61_400, 2, "It waited 61 s for its turn: 2 runs were before it."),
    ],
)
def test_a_long_wait_is_shown_with_the_runs_before(queue_ms: float, before: int, said: str) -> None:
    card = members.run_card(RunResult(status="ok", stdout="1", queue_ms=queue_ms, before=before))
    _, *small = [block.markdown for block in card.blocks if isinstance(block, Small)]
    assert small == ([said] if said else [])


@pytest.mark.parametrize(
    ("result", "said"),
    [
        (RunResult(status="ok", cpu_ms=1234.4), "1,234 ms of CPU time · on the CPU"),
        (RunResult(status="error", exit_code=3), "Exit code 3 · 0 ms of CPU time · on the CPU"),
        (RunResult(status="ok", exit_code=0, device="cuda"), "0 ms of CPU time · on the GPU"),
        (RunResult(status="crash", signal=11), "Signal 11 · 0 ms of CPU time · on the CPU"),
    ],
)
def test_a_run_reports_its_end_resources_and_place(result: RunResult, said: str) -> None:
    card = members.run_card(result)
    assert [block.markdown for block in card.blocks if isinstance(block, Small)] == [said]


def test_a_verdict_shows_its_note() -> None:
    verdict = VerdictView(verdict="accepted", credit=1.0, note="no gpu")
    assert Small("Judged on the CPU: this sandbox has no GPU.") in results.verdict_blocks(verdict)


def test_the_answer_in_brief_keeps_the_case_of_code() -> None:
    key = CHOICE_KEY.model_copy(
        update={"options": tuple(OptionKey(id=text, text=text, right=True) for text in ("`x[1:]`", "`x.t()`"))}
    )
    assert results.answer_in_brief(key) == "The answer: x[1:] and x.t()."


@pytest.mark.parametrize(("answer", "promised"), [(AnswerInput(code="x"), True), (AnswerInput(options=("a",)), False)])
def test_a_late_answer_promises_a_verdict_of_code_only(answer: AnswerInput, promised: bool) -> None:
    """Others are judged at once, and the reveal says how."""
    card = results.practiced_card(AnswerResult(status="late", ref="p1", given=answer), NOON)
    assert ("private message" in str(card.blocks)) is promised
    assert ("until the answer is revealed" in str(card.blocks)) is not promised
