"""What admins read of imports, the audit log and the next question: the few that matter, and the counts of all."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from bot.core.cards import Code, Small, Table, Text
from bot.core.markup import escape
from bot.core.text import admin_pages, item_statistics, review_pages
from bot.core.text.admin import FEW, audit_facts, imported_card, log_card, round_card, undone_card
from service.wire import (
    AuditView,
    ImportChange,
    ImportView,
    ItemList,
    RoundView,
    Twin,
    UnusedPassage,
    WaitingAnswers,
)
from tests.bot.core.text.instants import read_aloud
from tests.bot.samples import CHOICE, IMPORTED, LOG, STATISTICS


def text_of(view: ImportView) -> str:
    return "\n".join(block.markdown for block in imported_card(view).blocks if isinstance(block, Text | Small))


def test_a_change_shows_its_line_fields_and_new_name() -> None:
    said = text_of(IMPORTED)
    assert "changed (reason and options): `views`, line 4; the document makes it `view-or-copy` now" in said
    assert "retired: `old-one`" in said
    assert "added: " not in said
    assert "1 exact duplicate and 1 near duplicate (65% alike or more)" in said
    assert "100%: `strides`, line 9, and `what-are-strides` of bank" in said
    assert "66%: `views`, line 4, and `strides`" in said


def test_of_many_a_few_are_listed() -> None:
    many = tuple(ImportChange(id=f"q{number}", what="added", prompt="Why?", line=number) for number in range(1, 31))
    twins = tuple(Twin(id=f"q{number}", line=number, other="q0", score=0.7) for number in range(20))
    view = ImportView(
        applied=True, name="big", added=30, changed=0, unchanged=0, unanswered=0, findings="", errors=0,
        changes=many, near=20, near_from=0.65, twins=twins,
    )  # fmt: skip
    said = text_of(view)
    assert said.count("added: `q") == FEW
    assert "- and more" in said
    assert f"- and {20 - FEW} more" in said


def test_an_applied_import_says_how_it_is_taken_back_and_a_check_does_not() -> None:
    assert f"`/quiz-admin bank undo tensors.md import:{IMPORTED.number}`" in text_of(IMPORTED)
    assert "bank undo" not in text_of(IMPORTED.model_copy(update={"applied": False}))
    assert "bank undo" not in text_of(IMPORTED.model_copy(update={"changes": ()}))


def test_a_document_with_an_error_lists_its_findings_alone() -> None:
    view = IMPORTED.model_copy(update={"applied": False, "errors": 1, "findings": "error: x", "twins": ()})
    assert [type(block) for block in imported_card(view).blocks] == [Text, Code]


def test_a_check_names_what_is_in_no_question() -> None:
    passages = (
        UnusedPassage(first=1, last=12, title="What *views* are"),
        UnusedPassage(first=80, last=80, title="MIT"),
    )
    view = IMPORTED.model_copy(update={"applied": False, "unused": passages, "more_unused": 3})
    named = escape('lines 1–12 ("What *views* are"), 80 ("MIT") and 3 more parts')
    assert f"**In no question:** {named}" in text_of(view) and "*" not in named
    one = view.model_copy(update={"unused": passages[1:], "more_unused": 0})
    assert "**In no question:** " + escape('line 80 ("MIT").') in text_of(one)
    assert "of the document" not in text_of(view)
    most = view.model_copy(update={"unused_share": 0.93})
    assert " This is 93% of the document. If questions are missing, import it with a recipe" in text_of(most)
    assert "In no question" not in text_of(view.model_copy(update={"unused": ()}))
    assert "In no question" not in text_of(view.model_copy(update={"applied": True}))


def test_one_is_not_counted_as_several() -> None:
    one = IMPORTED.model_copy(update={"applied": False, "generated": 1, "waiting": 1})
    assert "1 of them is a choice" in text_of(one) and "1 of those waits for" in text_of(one)
    assert admin_pages.awaiting_words(one) == " 1 of those waits for your approval."
    two = one.model_copy(update={"generated": 2, "waiting": 2})
    assert "2 of them are choices" in text_of(two) and "2 of those wait for" in text_of(two)
    assert item_statistics.more_words(ItemList(finding="hard", items=(), more=1)) == "1 more is like this."
    assert review_pages.more_answers(WaitingAnswers(answers=(), total=1)) == "1 more comes once these have a credit."


def test_each_list_of_the_item_statistics_is_named_once() -> None:
    card = item_statistics.bank_card(STATISTICS)
    shown = [block.markdown if isinstance(block, Text) else block.caption for block in card.blocks
             if isinstance(block, Text | Table)]  # fmt: skip
    for found in STATISTICS.lists:
        assert " ".join(shown).count(item_statistics.HEADS[found.finding]) == (1 if found.items else 0)


def test_an_undo_says_what_went_back_and_that_it_can_be_undone() -> None:
    card = undone_card(IMPORTED)
    assert f"import:{IMPORTED.number}` restores" in "".join(
        block.markdown for block in card.blocks if isinstance(block, Small)
    )


def test_the_record_is_a_table_with_what_each_import_came_to() -> None:
    (table,) = (block for block in log_card(LOG).blocks if isinstance(block, Table))
    assert [row[2:4] for row in table.rows] == [
        ("undo of 1", "1 changed, 3 retired, 1 back"),
        ("tensors.md", "3 added, 4 unchanged"),
    ]


def test_a_refused_import_is_marked_in_the_audit_log() -> None:
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    view = AuditView(at=at, by="Ann", action="bank import", facts={"name": "own.md", "errors": "1"})
    assert audit_facts(view) == "name own.md, refused: 1 error"
    facts = {"confidence": True, "kinds": ("choice", "code"), "month_days": ("1", "15"), "open_minutes": "450"}
    settings = AuditView(at=at, by="Ann", action="schedule add", facts=facts)
    assert audit_facts(settings) == (
        "confidence on, kinds choice and code, month days 1 and 15, open 7 hours 30 minutes"
    )
    facts = {"catch_up_minutes": "120", "every_days": "2", "memory_days": "0"}
    settings = AuditView(at=at, by="Ann", action="schedule edit", facts=facts)
    assert audit_facts(settings) == "catch up 2 hours, every 2 days, memory 0 days"


@pytest.mark.parametrize(
    ("days", "said"), [("0123456", "every day"), ("01234", "Monday to Friday"), ("03", "Monday and Thursday")]
)
def test_the_audit_log_names_days_and_times_as_the_schedule_does(days: str, said: str) -> None:
    facts = {"at": "09:30:00", "weekdays": tuple(days)}
    view = AuditView(at=datetime(2026, 3, 2, 9, tzinfo=UTC), by="Ann", action="schedule add", facts=facts)
    assert audit_facts(view) == f"at 09:30, weekdays {said}"


def test_the_preview_is_in_the_schedules_zone() -> None:
    at = datetime(2026, 3, 2, 22, tzinfo=UTC)
    closes = at + timedelta(hours=2)
    view = RoundView(
        id=0, day=at.date(), question=CHOICE, opens_at=at, closes_at=closes, answers=0, closed=False,
        zone="Asia/Tokyo",
    )  # fmt: skip
    said = read_aloud(
        "".join(block.markdown for block in round_card(view, "Next question").blocks if isinstance(block, Text))
    )
    assert "Question for Monday 2 March. Opens Tuesday 3 March, 07:00 (Asia/Tokyo), closes Tuesday 3 March, 09:" in said


def test_a_question_that_was_taken_back_has_no_reveal() -> None:
    at = datetime(2026, 3, 2, 9, tzinfo=UTC)
    view = RoundView(
        id=1, day=at.date(), question=CHOICE, opens_at=at, closes_at=at + timedelta(hours=8), answers=0, closed=False,
        withdrawn=True,
    )  # fmt: skip
    said = read_aloud(
        "".join(block.markdown for block in round_card(view, "Withdrawn").blocks if isinstance(block, Text))
    )
    assert "so it is not posted, and nothing is revealed." in said
    assert "Opens" not in said
