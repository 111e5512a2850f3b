"""The database refuses a row that would join two workspaces, whatever code writes it."""

from __future__ import annotations

import re
from datetime import timedelta

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from tests.conftest import MONDAY
from tests.service.scenes import NOON, Stage, question

ROWS = {
    "round": """
        insert into round (schedule_id, day, version_id, opens_at, closes_at)
        values (:away_schedule, '2026-04-01', :own, :now, :later)""",
    "round, later": "update round set version_id = :own where id = :away_round",
    "answer": """
        insert into answer (member_id, round_id, version_id, number, event_id, given, name, at)
        values (:home, :away_round, :shared, 1, 'e', '{}', 'Ada', :now)""",
    "standing": "insert into standing (round_id, member_id, answer_id) values (:away_round, :home, :away_answer)",
    "verdict": """
        insert into verdict (answer_id, version_id, verdict, credit, detail, at)
        values (:away_answer, :own, 'accepted', 1, '{}', :now)""",
    "card": "insert into card (member_id, question_id, state, due) values (:away, :own_question, '{}', :now)",
    "question_feedback": """
        insert into question_feedback (member_id, question_id, version, liked, at)
        values (:away, :own_question, 1, true, :now)""",
    "outbox": """
        insert into outbox (key, workspace_id, chat_id, channel_id, round_id, kind, body, due_at, not_before)
        values ('k', 1, 1, 1, :away_round, 'question', '{}', :now, :now)""",
    "outbox, to a channel": """
        insert into outbox (key, workspace_id, chat_id, channel_id, kind, body, due_at, not_before)
        values ('k', 1, 1, 2, 'notice', '{}', :now, :now)""",
    "outbox, to a member": """
        insert into outbox (key, workspace_id, chat_id, member_id, kind, body, due_at, not_before)
        values ('k', 1, 1, :away, 'notice', '{}', :now, :now)""",
}


@pytest.mark.parametrize("row", ROWS.values(), ids=ROWS)
async def test_no_row_joins_two_workspaces(stage: Stage, row: str) -> None:
    home, away = await stage.caller(), await stage.caller("Eve", workspace="away")
    await stage.bank(question("shared"))
    await stage.bank(question("own"), workspace_id=home.workspace_id, name="ours")
    schedule = await stage.schedule(away)
    round_ = await stage.round(schedule, MONDAY, "shared", closed=False)
    answer = await stage.answer(away, round_)
    own, shared = await stage.version("own"), await stage.version("shared")
    values = {
        "home": home.member_id,
        "away": away.member_id,
        "away_schedule": schedule.id,
        "away_round": round_.id,
        "away_answer": answer.id,
        "own": own.id,
        "own_question": own.question_id,
        "shared": shared.id,
        "now": NOON,
        "later": NOON + timedelta(hours=1),
    }
    names = {name: found for name, found in values.items() if re.search(rf":{name}\b", row)}
    with pytest.raises(IntegrityError, match=r"join two workspaces|violates foreign key"):
        await stage.session.execute(text(row), names)
