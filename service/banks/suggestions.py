"""Questions that members suggest: checked like a document, decided by a moderator, credited to their author."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import TYPE_CHECKING

from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import Question
from service.banks.editing import CheckedText, put_question
from service.errors import Refused
from service.rounds.review import notify_member, notify_moderators
from service.rounds.views import preview_question
from service.store import banks, members, suggestions
from service.store import imports as import_rows
from service.store.members import Caller
from service.store.suggestions import Suggestion
from service.wire import (
    DecidedSuggestion,
    NotFound,
    QuestionSuggested,
    SuggestedQuestion,
    SuggestionDecided,
    SuggestionPreview,
    SuggestionProblem,
    SuggestionReceipt,
    SuggestionRefused,
    SuggestionView,
    TextNeeded,
    digest_of,
)

if TYPE_CHECKING:
    from questions.reader import Reading

BANK = "suggestions"
"""Name of the workspace's bank that accepted suggestions go to."""
MAX_WAITING = 5
"""Most suggestions of one member that wait at a time: moderators are notified of each."""
MAX_DAILY = 10
"""Most suggestions of one member in 24 hours, decided or not."""
_DAY = timedelta(days=1)


async def get_draft(session: AsyncSession, caller: Caller) -> str:
    """Returns what the caller wrote and could not submit yet; empty if there is nothing."""
    draft = await suggestions.find_draft(session, caller.member_id)
    return draft.text if draft is not None else ""


async def find_limit(session: AsyncSession, caller: Caller, now: datetime) -> SuggestionProblem:
    """Returns which limit keeps the caller from suggesting anything now; empty if none does."""
    if await suggestions.count_waiting(session, caller.member_id) >= MAX_WAITING:
        return "too many"
    if await suggestions.count_submitted_since(session, caller.member_id, now - _DAY) >= MAX_DAILY:
        return "too many today"
    return ""


async def list_own(session: AsyncSession, caller: Caller) -> tuple[SuggestionView, ...]:
    """Returns what the caller submitted, oldest first."""
    rows = await suggestions.list_by_member(session, caller.member_id)
    keys = await suggestions.list_question_keys(session, [row.question_id for row in rows if row.question_id])
    return tuple(
        _view(Suggestion(row, caller.name, keys.get(row.question_id or 0))) for row in rows if row.state != "draft"
    )


async def find_similar(session: AsyncSession, caller: Caller, checked: CheckedText) -> tuple[str, ...]:
    """Returns the ids of questions of the workspace that resemble the suggested one, most similar first."""
    question = checked.question
    if question is None:
        return ()
    others = [one async for one in import_rows.stream_other_questions(session, caller.workspace_id, "")]
    return await asyncio.to_thread(_similar_to, question, others)


def _similar_to(question: Question, others: Iterable[tuple[str, Question]]) -> tuple[str, ...]:
    mine = ("", "")
    from questions.similarity import Index, fingerprint_of

    prints = [((bank, one.id), fingerprint_of(one)) for bank, one in others]
    index = Index([(mine, fingerprint_of(question)), *prints])
    return tuple(like.key[1] for like in index.similar_to(mine))


async def suggest(session: AsyncSession, caller: Caller, checked: CheckedText, now: datetime) -> SuggestionReceipt:
    """Submits a question to the moderators. With a problem, keeps the text as the caller's draft instead."""
    if not checked.text.strip():
        raise Refused(TextNeeded(what="suggestion"))
    caller = await members.lock_caller(session, caller)
    problem = checked.problem or await find_limit(session, caller, now)
    row = await suggestions.find_draft(session, caller.member_id)
    row = row or suggestions.add_draft(session, caller, checked.text, now)
    row.text, row.at, row.workspace_id = checked.text, now, caller.workspace_id
    if problem:
        return SuggestionReceipt(id=0, problem=problem, findings=checked.findings)
    row.state = "waiting"
    await session.flush()
    fact = QuestionSuggested(suggestion=row.id)
    await notify_moderators(session, caller.workspace_id, suggestions.notice_key(row.id), fact, fact, now)
    return SuggestionReceipt(id=row.id, problem="", findings=checked.findings)


async def list_waiting(session: AsyncSession, caller: Caller) -> tuple[SuggestionView, ...]:
    """Returns the suggestions that wait for a moderator, oldest first."""
    return tuple(_view(found) for found in await suggestions.list_waiting(session, caller.workspace_id))


async def get_suggestion(session: AsyncSession, caller: Caller, suggestion_id: int) -> SuggestionView:
    """Returns one suggestion. Refused if the workspace has none of that number."""
    return _view(await _find(session, caller, suggestion_id))


def preview(checked: CheckedText) -> SuggestionPreview:
    """Returns the question as it was read, with its key and what the checks found."""
    question, reading = checked.question, checked.reading
    key = preview_question(question, reading.bank)[1] if question is not None and reading is not None else None
    return SuggestionPreview(problem=checked.problem, findings=checked.findings, key=key)


def build_view(view: SuggestionView, checked: CheckedText, similar: tuple[str, ...] = ()) -> SuggestedQuestion:
    """Returns a suggestion with its question as it was read, and the key."""
    return SuggestedQuestion(suggestion=view, similar=similar, **dict(preview(checked)))


async def edit(session: AsyncSession, caller: Caller, suggestion_id: int, text: str) -> int:
    """Replaces the text of a waiting suggestion, even with one that cannot be accepted yet. Returns its number."""
    if not text.strip():
        raise Refused(TextNeeded(what="suggestion"))
    found = await _lock_waiting(session, caller, suggestion_id)
    found.row.text = text
    return found.row.id


async def accept(
    session: AsyncSession, caller: Caller, suggestion_id: int, checked: CheckedText, seen: str, now: datetime
) -> DecidedSuggestion:
    """Adds the question to the workspace's bank of suggestions and tells its author. Refused unless it waits with the
    text that was checked and that the moderator has `seen` (its digest), and the checks found nothing to fix."""
    found = await _lock_waiting(session, caller, suggestion_id)
    row, question = found.row, checked.question
    if row.text != checked.text or digest_of(row.text) != seen:
        raise Refused(SuggestionRefused(suggestion=row.id, why="changed"))
    if checked.problem or question is None or checked.reading is None:
        raise Refused(SuggestionRefused(suggestion=row.id, why="unsound"))
    key = f"suggestion-{row.id}"
    row.question_id = await _add_to_bank(session, caller, checked.reading, _with_id(question, key), now)
    await _decide(session, caller, found, SuggestionDecided(suggestion=row.id, state="accepted", question=key), now)
    return DecidedSuggestion(id=row.id, state="accepted", question=key)


async def decline(
    session: AsyncSession, caller: Caller, suggestion_id: int, reason: str, now: datetime
) -> DecidedSuggestion:
    """Declines a waiting suggestion and tells its author why. Refused without a reason."""
    reason = reason.strip()
    if not reason:
        raise Refused(TextNeeded(what="reason of a decline"))
    # What they write is erased when they are forgotten.
    caller = await members.lock_caller(session, caller)
    found = await _lock_waiting(session, caller, suggestion_id)
    found.row.reason = reason
    fact = SuggestionDecided(suggestion=found.row.id, state="declined", reason=reason)
    await _decide(session, caller, found, fact, now)
    return DecidedSuggestion(id=found.row.id, state="declined")


async def _decide(
    session: AsyncSession, caller: Caller, found: Suggestion, fact: SuggestionDecided, now: datetime
) -> None:
    row = found.row
    row.state, row.decided_by, row.decided_at = fact.state, caller.member_id, now
    await notify_member(session, caller.workspace_id, row.member_id, suggestions.decided_key(row.id), fact, now)


def _with_id(question: Question, key: str) -> Question:
    return dataclasses.replace(question, id=key, place=dataclasses.replace(question.place, source=f"{key}.md"))


async def _add_to_bank(
    session: AsyncSession, caller: Caller, reading: Reading, question: Question, now: datetime
) -> int:
    """Imports the bank of suggestions again, with one question more. Returns the question's id in the database."""
    await put_question(session, caller, BANK, reading, question, now, title="Suggested questions")
    return await banks.get_question_id(session, caller.workspace_id, BANK, question.id)


async def _find(session: AsyncSession, caller: Caller, suggestion_id: int, *, lock: bool = False) -> Suggestion:
    found = await suggestions.find_suggestion(session, caller.workspace_id, suggestion_id, lock=lock)
    if found is None:
        raise Refused(NotFound(what="suggestion", name=str(suggestion_id)))
    return found


async def _lock_waiting(session: AsyncSession, caller: Caller, suggestion_id: int) -> Suggestion:
    """Returns a waiting suggestion, locked. Refused once it is decided."""
    found = await _find(session, caller, suggestion_id, lock=True)
    if found.row.state != "waiting":
        raise Refused(SuggestionRefused(suggestion=suggestion_id, why="decided"))
    return found


def _view(found: Suggestion) -> SuggestionView:
    row = found.row
    return SuggestionView.model_validate(
        {
            "id": row.id,
            "by": found.by,
            "text": row.text,
            "at": row.at,
            "state": row.state,
            "reason": row.reason,
            "question": found.question or "",
        }
    )
