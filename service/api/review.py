"""Routes for moderators: reports, suggestions, edits of questions, open answers and who is notified of them."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from fastapi import Body, Request
from sqlalchemy.ext.asyncio import AsyncSession

from service.api.admin import FlagBody, Id, NameBody, TheChange, channel_of, looking
from service.api.http import Call, TheCall, TheCaller, WhereBody, while_connected
from service.api.routes import CallRouter
from service.banks import editing, moderation, suggestions
from service.banks.documents import DOCUMENTS
from service.banks.editing import CheckedText
from service.rounds import marking
from service.store.members import Caller
from service.wire import (
    LONGEST_SUGGESTION,
    AnswerCredit,
    DecidedSuggestion,
    EditView,
    QuestionSource,
    ReportedQuestion,
    ReportView,
    Settled,
    SettledReport,
    SuggestedQuestion,
    SuggestionView,
    WaitingAnswers,
    Who,
)

router = CallRouter("/admin")

SuggestionRead = tuple[SuggestionView, CheckedText]

LONGEST_EDIT = 50_000
"""Longest text of one question, characters."""

LONGEST_REASON = 1000
"""Longest answer to a report or a suggestion, characters."""


@router.post("/reports")
async def report_list(call: TheCall, who: TheCaller) -> tuple[ReportView, ...]:
    async with looking(call, who) as (session, caller):
        return await moderation.list_reports(session, caller)


@router.post("/report")
async def report_view(call: TheCall, who: TheCaller, report: Id) -> ReportedQuestion:
    async with looking(call, who) as (session, caller):
        return await moderation.view_report(session, caller, report)


@router.post("/report/settle")
async def report_settle(
    change: TheChange,
    report: Id,
    state: Annotated[Settled, Body(embed=True)],
    reason: Annotated[str, Body(embed=True, max_length=LONGEST_REASON)],
) -> SettledReport:
    work = partial(moderation.settle, report_id=report, state=state, reason=reason, now=change.now)
    return await change.run("report settle", work, SettledReport, {"report": report, "state": state})


@router.post("/suggestions")
async def suggestion_list(call: TheCall, who: TheCaller) -> tuple[SuggestionView, ...]:
    async with looking(call, who) as (session, caller):
        return await suggestions.list_waiting(session, caller)


async def _read_suggestion(request: Request, call: Call, who: Who, suggestion: int) -> SuggestionRead:
    async with looking(call, who) as (session, caller):
        view = await suggestions.get_suggestion(session, caller, suggestion)
    # Outside any transaction, as documents are read.
    return view, await while_connected(request, editing.check(view.text, DOCUMENTS))


@router.post("/suggestion")
async def suggestion_view(request: Request, call: TheCall, who: TheCaller, suggestion: Id) -> SuggestedQuestion:
    view, checked = await _read_suggestion(request, call, who, suggestion)
    async with looking(call, who) as (session, caller):
        similar = await suggestions.find_similar(session, caller, checked) if view.state == "waiting" else ()
    return suggestions.build_view(view, checked, similar)


@router.post("/suggestion/edit")
async def suggestion_edit(
    change: TheChange,
    suggestion: Id,
    text: Annotated[str, Body(embed=True, max_length=LONGEST_SUGGESTION)],
) -> int:
    work = partial(suggestions.edit, suggestion_id=suggestion, text=text)
    return await change.run("suggestion edit", work, int, {"suggestion": suggestion})


@router.post("/suggestion/accept")
async def suggestion_accept(
    request: Request,
    change: TheChange,
    suggestion: Id,
    seen: Annotated[str, Body(embed=True, max_length=64)],
) -> DecidedSuggestion:
    _, checked = await _read_suggestion(request, change.call, change.who, suggestion)
    work = partial(suggestions.accept, suggestion_id=suggestion, checked=checked, seen=seen, now=change.now)
    return await change.run("suggestion accept", work, DecidedSuggestion, {"suggestion": suggestion})


@router.post("/suggestion/decline")
async def suggestion_decline(
    change: TheChange,
    suggestion: Id,
    reason: Annotated[str, Body(embed=True, max_length=LONGEST_REASON)],
) -> DecidedSuggestion:
    work = partial(suggestions.decline, suggestion_id=suggestion, reason=reason, now=change.now)
    return await change.run("suggestion decline", work, DecidedSuggestion, {"suggestion": suggestion})


@router.post("/question/source")
async def question_source(call: TheCall, who: TheCaller, question: NameBody) -> QuestionSource:
    async with looking(call, who) as (session, caller):
        return await editing.view_source(session, caller, question)


@router.post("/question/edit")
async def question_edit(
    request: Request,
    change: TheChange,
    question: NameBody,
    text: Annotated[str, Body(embed=True, max_length=LONGEST_EDIT)],
    apply: FlagBody,
    seen: Annotated[str, Body(embed=True, max_length=64)] = "",
) -> EditView:
    # Outside any transaction, as documents are read.
    checked = await while_connected(request, editing.check(text, DOCUMENTS))
    work = partial(editing.edit, question=question, checked=checked, now=change.now, apply=apply, seen=seen)
    if not apply:
        async with looking(change.call, change.who) as (session, caller):
            return await work(session, caller)
    return await change.run("question edit", work, EditView, {"question": question})


@router.post("/review/here")
async def review_here(change: TheChange, where: WhereBody) -> None:
    async def work(session: AsyncSession, caller: Caller) -> None:
        channel_of(caller)
        await moderation.notify_here(session, caller)

    await change.run("review here", work, type(None), {"channel": where.channel}, where)


@router.post("/review/me")
async def review_me(change: TheChange) -> None:
    await change.run("review me", moderation.notify_me, type(None))


# Open answers


@router.post("/open-answers")
async def open_answers(call: TheCall, who: TheCaller) -> WaitingAnswers:
    async with looking(call, who) as (session, caller):
        return await marking.list_waiting(session, caller)


@router.post("/open-answers/credit")
async def open_answer_credit(
    change: TheChange,
    number: Id,
    percent: Annotated[int, Body(embed=True, ge=0, le=100)],
) -> AnswerCredit:
    work = partial(marking.set_credit, answer_id=number, percent=percent, now=change.now)
    detail = {"answer": number, "percent": percent}
    return await change.run("answer credit", work, AnswerCredit, detail)
