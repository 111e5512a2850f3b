"""An export as JSON and as CSV that a spreadsheet opens without computing anything."""

from __future__ import annotations

import csv
import io
import json
from typing import Any

from hypothesis import example, given
from hypothesis import strategies as st

from service.people.privacy import COLUMNS, FORMULA, apply_action, export_csv, export_json
from service.store.answers import save_verdict
from service.store.tables import AnswerRow
from service.wire import VerdictView
from tests.service.scenes import Stage, question


def kept(text: str) -> dict[str, Any]:
    return {
        "member": {"name": "Ada"},
        "answers": [
            {
                "question": "views",
                "given": {"options": ["a", "b"], "text": text, "code": None},
                "practice": True,
                "at": "2026-03-02T09:00:00+00:00",
                "verdict": "accepted",
                "credit": 1.0,
                "marks": [True, False],
                "shared": True,
            }
        ],
        "points": [{"points": -5, "credit": None, "reason": text, "at": "2026-03-02"}],
        "measurements": [
            {
                "question": "views",
                "at": "2026-03-02",
                "cpu_ms": [1.25, 2],
                "peak_mb": [3.5, 0.0],
                "steady": True,
                "shown": False,
            }
        ],
        "credits_given": [{"question": "views", "credit": 0.5, "by_peer": True, "at": "2026-03-02"}],
        "cards": [{"question": "views", "due": "2026-03-03", "reviews": 2, "state": {"card": 1}}],
        "sprints": [],
        "duels": [{"question": "views", "given": {"text": text}, "at": "2026-03-02", "verdict": "wrong"}],
        "reports": [{"text": text, "state": "open", "reason": "", "at": "2026-03-02"}],
        "suggestions": [{"text": text, "state": "waiting", "reason": "", "at": "2026-03-02"}],
        "feedback": [{"question": "views", "version": 1, "liked": False, "at": "2026-03-02"}],
        "web_messages": [{"text": text, "at": "2026-03-02"}],
        "hints": [{"question": "views", "day": "2026-03-02", "at": "2026-03-02"}],
        "reminders": [],
        "excused_rounds": [],
        "seasons": [{"name": text, "at": "2026-03-02", "rank": 1, "points": 7}],
        "admin_actions": [{"action": "member adjust", "detail": {"reason": text}, "at": "2026-03-02"}],
        "decisions": [{"what": "report", "state": "dismissed", "reason": text}],
        "web_sessions": [{"browser": text, "at": "2026-03-02", "used_at": "2026-03-02"}],
    }


def read(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text, newline="")))


@example("=1+1")
@example("+1")
@example("-1+1")
@example("@sum(1)")
@example("\t=1")
@example("\r=1")
@given(st.text(st.characters(codec="utf-8", exclude_characters="\x00")))
def test_any_text_survives_and_none_becomes_a_formula(text: str) -> None:
    rows = read(export_csv(kept(text)))
    assert [row["what"] for row in rows] == [
        *(
            "answer",
            "points",
            "measurement",
            "credit given",
            "card",
            "duel",
            "report",
            "suggestion",
            "feedback",
            "message",
            "hint",
            "season",
            "admin action",
            "decision on a report",
            "browser",
        )
    ]
    assert (rows[0]["marks"], rows[0]["shared"], rows[3]["credit"]) == ("covered; not covered", "True", "0.5")
    assert rows[2]["given"] == "1.25 ms, 3.5 MB; 2 ms, 0 MB"
    assert rows[5]["given"] == (f"'{text}" if text.startswith(FORMULA) else text)
    assert not any(row[name].startswith(("=", "+", "@", "\t", "\r")) for row in rows for name in COLUMNS)
    assert rows[1]["points"] == "-5"
    assert json.loads(export_json(kept(text))) == kept(text)


async def test_a_member_gets_theirs_in_either_form(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question())
    await stage.practiced(ada, "views")
    await stage.points(ada, 5)
    view = await apply_action(stage.session, ada, "csv", stage.now)
    assert view.format == "csv"
    rows = read(view.export)
    assert [(row["what"], row["question"], row["given"], row["points"]) for row in rows] == [
        ("answer", "views", "a", ""),
        ("points", "", "", "5"),
    ]
    assert (await apply_action(stage.session, ada, "export", stage.now)).format == "json"


async def test_a_verdict_is_exported_without_the_seed_of_its_hidden_cases(stage: Stage) -> None:
    ada = await stage.caller()
    await stage.bank(question())
    version = await stage.version("views")
    answer = AnswerRow(
        member_id=ada.member_id,
        version_id=version.id,
        number=0,
        event_id="e1",
        given={"code": "print(3)"},
        name="Ada",
        at=stage.now,
    )
    stage.session.add(answer)
    await stage.session.flush()
    view = VerdictView(verdict="wrong", credit=0.0, message="It printed 3.")
    assert await save_verdict(stage.session, answer.id, answer.version_id, view, stage.now, seed=4711)
    text = (await apply_action(stage.session, ada, "export", stage.now)).export
    assert "It printed 3." in text
    assert "4711" not in text
