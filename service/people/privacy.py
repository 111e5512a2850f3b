"""What is kept of a member: shown, exported, hidden or deleted as they wish."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from service.store import (
    duels,
    markings,
    measurements,
    members,
    notifications,
    personal_records,
    questions,
    reports,
    sprints,
    suggestions,
    tournaments,
    web_messages,
)
from service.store import privacy as store_privacy
from service.store.members import Caller, list_identities
from service.store.tables import Member, VerdictRow
from service.wire import (
    PrivacyAction,
    PrivacyView,
)


async def apply_action(session: AsyncSession, caller: Caller, action: PrivacyAction, now: datetime) -> PrivacyView:
    """Shows, exports, hides or deletes the caller's data, as `action` says."""
    if action in ("hide", "show", "forget"):
        caller = await members.lock_caller(session, caller)
    if action in ("hide", "show"):
        await store_privacy.set_hidden(session, caller.member_id, action == "hide")
    answers, bookings, held = await store_privacy.count_records(session, caller.member_id)
    if action == "forget":
        await store_privacy.forget_member(session, caller, now)
        return PrivacyView(
            name=store_privacy.FORGOTTEN_NAME,
            hidden=True,
            answers=answers,
            ledger_rows=bookings,
            cards=0,
            forgotten=True,
        )
    member = await members.get_member(session, caller.member_id)
    return PrivacyView(
        name=member.name,
        hidden=member.hidden,
        answers=answers,
        ledger_rows=bookings,
        cards=held,
        export=EXPORTS[action](await _collect(session, member)) if action in EXPORTS else "",
        format="csv" if action == "csv" else "json",
    )


async def _collect(session: AsyncSession, member: Member) -> dict[str, Any]:
    """Returns what is stored about a member, for an export. `personal_data` says what of it is left out, and why.

    How good an answer is stays out while its question is asked: others, or the member in a duel, may still answer it.
    """
    secret = await questions.list_secret(session, member.workspace_id, member.id)
    return {
        "member": {
            "name": member.name,
            "hidden": member.hidden,
            "joined_at": member.joined_at.isoformat(),
            "identities": [
                {
                    "platform": chat.platform,
                    "workspace": chat.external_id,
                    "id": identity.external_id,
                    "name": identity.name,
                }
                for identity, chat in await list_identities(session, member.id)
            ],
        },
        **await _web_chat(session, member.id),
        **await _rounds(session, member.id),
        **await _deeds(session, member.id),
        "answers": await _answers(session, member.id, secret),
        "points": await _points(session, member.id),
        "sprints": await _sprints(session, member.id, secret),
        "measurements": await _measurements(session, member.id),
        "credits_given": [
            {"question": key, "credit": row.credit, "by_peer": row.by_peer, "at": row.at.isoformat()}
            for row, key in await markings.list_given(session, member.id)
        ],
        "cards": [
            {"question": key, "due": card.due.isoformat(), "reviews": card.reviews, "state": card.state}
            for card, key in await store_privacy.list_cards(session, member.id)
            if key not in secret
        ],
        "notifications": await _notifications(session, member.id),
        "duels": await _duels(session, member.id, secret),
        "duel_list": await _duel_list(session, member.id),
        "tournaments": await _tournaments(session, member.id),
        "ratings": [
            {"duel": row.duel_id, "mu": row.mu, "sigma": row.sigma, "at": row.at.isoformat()}
            for row in await duels.list_own_ratings(session, member.id)
        ],
        "reports": [
            {"text": row.text, "state": row.state, "reason": row.reason, "at": row.at.isoformat()}
            for row in await reports.list_by_member(session, member.id)
        ],
        "suggestions": [
            {"text": row.text, "state": row.state, "reason": row.reason, "at": row.at.isoformat()}
            for row in await suggestions.list_by_member(session, member.id)
        ],
        "feedback": [
            {"question": key, "version": row.version, "liked": row.liked, "at": row.at.isoformat()}
            for row, key in await reports.list_feedback_by_member(session, member.id)
        ],
        "web_messages": [
            {"text": json.loads(content), "at": at.isoformat()}
            for content, at in await web_messages.list_written(session, member.id)
        ],
    }


async def _points(session: AsyncSession, member_id: int) -> list[dict[str, Any]]:
    return [
        {"points": row.points, "credit": row.credit, "reason": row.reason, "at": row.at.isoformat()}
        for row in await store_privacy.list_ledger(session, member_id)
    ]


async def _sprints(session: AsyncSession, member_id: int, secret: frozenset[str]) -> list[dict[str, Any]]:
    return [
        {
            "question": key,
            "given": row.given,
            "at": row.at.isoformat(),
            "credit": None if key in secret else row.credit,
            "points": None if key in secret else row.points,
        }
        for row, key in await sprints.list_member_answers(session, member_id)
    ]


async def _measurements(session: AsyncSession, member_id: int) -> list[dict[str, Any]]:
    return [
        {
            "question": key,
            "at": at.isoformat(),
            "cpu_ms": row.cpu_ms,
            "peak_mb": row.peak_mb,
            "steady": row.steady,
            "shown": row.shown,
        }
        for row, key, at in await measurements.list_of_member(session, member_id)
    ]


async def _tournaments(session: AsyncSession, member_id: int) -> list[dict[str, Any]]:
    return [
        {
            "title": title,
            "team": team,
            "joined_at": row.joined_at.isoformat(),
            "from": row.from_day and row.from_day.isoformat(),
            "until": row.until_day and row.until_day.isoformat(),
            "captain": captain,
        }
        for row, title, team, captain in await tournaments.list_of_member(session, member_id)
    ]


async def _web_chat(session: AsyncSession, member_id: int) -> dict[str, Any]:
    """Returns who the member is in web chats, and the browsers that are signed in as them."""
    return {
        "web_people": [
            {
                "name": person.name,
                "admin": person.admin,
                "signs_in_with_account": has_account,
                "at": person.joined_at.isoformat(),
            }
            for person, has_account in await personal_records.list_web_people(session, member_id)
        ],
        "web_sessions": [
            {"browser": row.agent, "at": row.began_at.isoformat(), "used_at": row.used_at.isoformat()}
            for row in await personal_records.list_web_sessions(session, member_id)
        ],
    }


async def _rounds(session: AsyncSession, member_id: int) -> dict[str, Any]:
    """Returns what rounds have about the member beside the answers."""
    read = {
        "hints": personal_records.list_hints,
        "reminders": personal_records.list_reminders,
        "excused_rounds": personal_records.list_excused_rounds,
    }
    found: dict[str, Any] = {
        name: [
            {"question": row.question, "day": row.day.isoformat(), "at": row.at.isoformat()}
            for row in await list_rounds(session, member_id)
        ]
        for name, list_rounds in read.items()
    }
    found["ranks"] = [
        {"question": row.question, "at": row.at.isoformat(), "before": row.rank_before, "after": row.rank_after}
        for row in await personal_records.list_ranks(session, member_id)
    ]
    found["seasons"] = [
        {"name": name, "at": ends_at and ends_at.isoformat(), "rank": row["rank"], "points": row["points"]}
        for name, ends_at, row in await personal_records.list_season_places(session, member_id)
    ]
    return found


async def _deeds(session: AsyncSession, member_id: int) -> dict[str, Any]:
    """Returns what the member did as an admin or moderator."""
    return {
        "admin_actions": [
            {"action": row.action, "detail": row.detail, "at": row.at.isoformat()}
            for row in await personal_records.list_actions(session, member_id)
        ],
        "decisions": [
            {"what": each.what, "state": each.state, "reason": each.reason}
            for each in await personal_records.list_decisions(session, member_id)
        ],
    }


async def _notifications(session: AsyncSession, member_id: int) -> dict[str, bool]:
    setting = await notifications.get_setting(session, member_id)
    return {"reminders": setting.reminders, "results": setting.results} if setting else {}


async def _duels(session: AsyncSession, member_id: int, secret: frozenset[str]) -> list[dict[str, Any]]:
    return [
        {
            "duel": duel.id,
            "question": key,
            "given": turn.given or {},
            "at": turn.shown_at.isoformat(),
            "seconds": (turn.answered_at - turn.shown_at).total_seconds() if turn.answered_at else None,
            # What is right stays secret until the end.
            "verdict": ("accepted" if turn.correct else "wrong")
            if duel.state == "over" and key not in secret
            else None,
        }
        for duel, turn, key in await duels.list_own_turns(session, member_id)
    ]


async def _duel_list(session: AsyncSession, member_id: int) -> list[dict[str, Any]]:
    return [
        {
            "duel": duel.id,
            "challenger": challenged,
            "topic": duel.topic,
            "state": duel.state,
            "won": None if duel.winner is None else duel.winner == ("challenger" if challenged else "opponent"),
            "at": duel.asked_at.isoformat(),
        }
        for duel, challenged in await personal_records.list_duels(session, member_id)
    ]


async def _answers(session: AsyncSession, member_id: int, secret: frozenset[str]) -> list[dict[str, Any]]:
    found = await store_privacy.list_answers(session, member_id)
    written = {answer.id for answer, _, _ in found}
    marks, shared = await markings.list_marks(session, written), await markings.list_shared(session, written)
    confirmed = await markings.list_credits(session, written)
    return [
        {
            "question": key,
            "given": answer.given,
            "practice": answer.round_id is None,
            "at": answer.at.isoformat(),
            **_verdict(None if key in secret and not answer.given.get("code") else verdict, confirmed.get(answer.id)),
            "marks": marks.get(answer.id),
            "shared": answer.id in shared,
        }
        for answer, key, verdict in found
    ]


def _verdict(verdict: VerdictRow | None, confirmed: float | None) -> dict[str, Any]:
    return {
        "verdict": verdict and verdict.verdict,
        # Its seed draws the hidden cases, which others may still have to pass.
        "detail": verdict and {name: value for name, value in verdict.detail.items() if name != "seed"},
        "credit": confirmed if verdict is None or verdict.credit is None else verdict.credit,
    }


# Export of a member's data: JSON, or CSV for a spreadsheet.

COLUMNS = (
    "what", "at", "question", "given", "practice", "verdict", "credit", "marks", "shared",
    "points", "reason", "reviews",
)  # fmt: skip
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""First characters that make a spreadsheet read a text as a formula."""


def export_json(data: dict[str, Any]) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2)


def export_csv(data: dict[str, Any]) -> str:
    """Returns a line for each record that has a time, kind by kind, oldest first.

    Settings, ratings, ranks, tournaments, and the details of cards and verdicts are only in the JSON.
    """
    written = io.StringIO()
    lines = csv.DictWriter(written, COLUMNS, restval="", extrasaction="ignore", lineterminator="\r\n")
    lines.writeheader()
    lines.writerows({name: _cell(value) for name, value in line.items()} for line in _lines(data))
    return written.getvalue()


def _lines(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    for answer in data["answers"]:
        marks = "; ".join("covered" if covered else "not covered" for covered in answer["marks"] or ())
        yield {**answer, "what": "answer", "given": _given(answer), "marks": marks}
    for answer in data["sprints"]:
        yield {**answer, "what": "sprint answer", "given": _given(answer)}
    for booking in data["points"]:
        yield {**booking, "what": "points"}
    for measured in data["measurements"]:
        runs = (f"{cpu:g} ms, {peak:g} MB" for cpu, peak in zip(measured["cpu_ms"], measured["peak_mb"], strict=True))
        yield {**measured, "what": "measurement", "given": "; ".join(runs)}
    for given in data["credits_given"]:
        yield {**given, "what": "credit given"}
    for card in data["cards"]:
        yield {**card, "what": "card", "at": card["due"]}
    for turn in data["duels"]:
        yield {**turn, "what": "duel", "given": _given(turn)}
    for report in data["reports"]:
        fields = {"given": report["text"], "verdict": report["state"], "reason": report["reason"]}
        yield {"what": "report", "at": report["at"], **fields}
    for suggestion in data["suggestions"]:
        fields = {"given": suggestion["text"], "verdict": suggestion["state"], "reason": suggestion["reason"]}
        yield {"what": "suggestion", "at": suggestion["at"], **fields}
    for fields in data["feedback"]:
        yield {**fields, "what": "feedback", "given": "a good question" if fields["liked"] else "not a good question"}
    for message in data["web_messages"]:
        yield {"what": "message", "at": message["at"], "given": message["text"]}
    yield from _record_lines(data)


def _record_lines(data: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """Yields what is stored besides what the member gave."""
    for what, name in (("hint", "hints"), ("reminder", "reminders"), ("excused", "excused_rounds")):
        yield from ({**row, "what": what} for row in data[name])
    for row in data["seasons"]:
        yield {"what": "season", "at": row["at"], "given": row["name"], "points": row["points"]}
    for row in data["admin_actions"]:
        detail = json.dumps(row["detail"], ensure_ascii=False)
        yield {"what": "admin action", "at": row["at"], "given": row["action"], "reason": detail}
    for row in data["decisions"]:
        yield {"what": f"decision on a {row['what']}", "verdict": row["state"], "reason": row["reason"]}
    for row in data["web_sessions"]:
        yield {"what": "browser", "at": row["at"], "given": row["browser"]}


def _given(answer: dict[str, Any]) -> str:
    kept = {name: value for name, value in answer["given"].items() if name not in ("practicing", "cleared")}
    text = "; ".join(_text(value) for value in kept.values() if value is not None)
    return "(deleted after the time for which it is kept)" if answer["given"].get("cleared") else text


def _text(value: Any) -> str:
    return " ".join(value) if isinstance(value, list) else str(value)


def _cell(value: Any) -> Any:
    """Returns the value quoted if a spreadsheet would compute it."""
    return f"'{value}" if isinstance(value, str) and value.startswith(FORMULA) else value


EXPORTS = {"export": export_json, "csv": export_csv}
