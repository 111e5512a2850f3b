"""Routes for admins about banks, questions, reports, suggestions and open answers."""

from __future__ import annotations

from functools import partial
from typing import Annotated, Any, Literal

from fastapi import Body, Request
from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import LONGEST_RECIPE
from service.api.admin import FlagBody, Id, NameBody, TheChange, channel_of, looking
from service.api.http import Call, TheCall, TheCaller, WhereBody, call_router, while_connected
from service.banks import browser, editing, import_history, imports, item_statistics, moderation, suggestions
from service.banks.documents import DOCUMENTS
from service.banks.editing import CheckedText
from service.rounds import marking, planning
from service.store import banks
from service.store.members import Caller
from service.wire import (
    LONGEST_SUGGESTION,
    AnswerCredit,
    BankLog,
    BankPage,
    BankStatistics,
    BankView,
    DecidedSuggestion,
    EditView,
    Generated,
    ImportView,
    ItemStatistics,
    LowView,
    QuestionDetails,
    QuestionFilter,
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

router = call_router("/admin")

SuggestionRead = tuple[SuggestionView, CheckedText]

LARGEST = 5_000_000
"""Longest document, characters."""

LONGEST_EDIT = 50_000
"""Longest text of one question, characters."""

LONGEST_REASON = 1000
"""Longest answer to a report or a suggestion, characters."""


@router.post("/bank/list")
async def bank_list(call: TheCall, who: TheCaller) -> tuple[BankView, ...]:
    async with looking(call, who) as (session, caller):
        return tuple(await banks.list_banks(session, caller.workspace_id))


@router.post("/bank/import")
async def bank_import(
    request: Request,
    change: TheChange,
    name: NameBody,
    text: Annotated[str, Body(embed=True, max_length=LARGEST)],
    apply: FlagBody,
    recipe: Annotated[str, Body(embed=True, max_length=LONGEST_RECIPE)] = "",
) -> ImportView:
    # Outside any transaction, so that a slow document does not hold a database connection.
    forgets = recipe.strip() == imports.FORGET
    reading = await while_connected(request, DOCUMENTS.read(text, name, "" if forgets else recipe))
    how: Literal["", "saved", "forgotten"] = "forgotten" if forgets else ""
    if not recipe.strip():
        async with looking(change.call, change.who) as (session, caller):
            saved = await imports.saved_recipe(session, caller.workspace_id, reading)
        if saved:
            how = "saved"
            reading = await while_connected(request, DOCUMENTS.read(text, name, saved))

    async def work(session: AsyncSession, caller: Caller) -> ImportView:
        policy = await banks.get_generated_policy(session, caller.workspace_id)
        options = imports.ImportOptions(policy, recipe=how)
        return await imports.import_bank(session, reading, caller.workspace_id, change.now, apply, options)

    if not apply:
        async with looking(change.call, change.who) as (session, caller):
            return await work(session, caller)

    def outcome(done: ImportView) -> dict[str, Any]:
        return {"name": name} if done.applied else {"name": name, "errors": done.errors}

    return await change.run("bank import", work, ImportView, outcome)


@router.post("/bank/log")
async def bank_log(call: TheCall, who: TheCaller, name: NameBody) -> BankLog:
    async with looking(call, who) as (session, caller):
        return await import_history.import_log(session, caller.workspace_id, name)


@router.post("/bank/undo")
async def bank_undo(change: TheChange, name: NameBody) -> ImportView:
    async def work(session: AsyncSession, caller: Caller) -> ImportView:
        return await import_history.undo_import(session, caller.workspace_id, name, change.now)

    return await change.run("bank undo", work, ImportView, {"name": name})


@router.post("/bank/retire")
async def bank_retire(change: TheChange, question: NameBody, retired: FlagBody) -> None:
    work = partial(moderation.set_retired, question=question, retired=retired, now=change.now)
    action = "bank retire" if retired else "bank put back"
    await change.run(action, work, type(None), {"question": question})


@router.post("/bank/approve")
async def bank_approve(change: TheChange, question: NameBody) -> int:
    async def work(session: AsyncSession, caller: Caller) -> int:
        return await moderation.approve(session, caller.workspace_id, question)

    return await change.run("bank approve", work, int, {"question": question})


@router.post("/bank/generated")
async def bank_generated(change: TheChange, generated: Annotated[Generated, Body(embed=True)]) -> None:
    work = partial(moderation.set_generated, generated=generated)
    await change.run("bank generated", work, type(None), {"generated": generated})


@router.post("/bank/low")
async def bank_low(call: TheCall, who: TheCaller) -> tuple[LowView, ...]:
    async with looking(call, who) as (session, caller):
        return await planning.list_low(session, caller, call.now)


@router.post("/bank/questions")
async def bank_questions(
    call: TheCall, who: TheCaller, wanted: Annotated[QuestionFilter, Body(embed=True)]
) -> BankPage:
    async with looking(call, who) as (session, caller):
        return await browser.search(session, caller, wanted)


@router.post("/bank/question")
async def bank_question(call: TheCall, who: TheCaller, question: NameBody) -> QuestionDetails:
    async with looking(call, who) as (session, caller):
        return await browser.view(session, caller, question, call.now)


@router.post("/bank/stats")
async def bank_statistics(call: TheCall, who: TheCaller) -> BankStatistics:
    async with looking(call, who) as (session, caller):
        return await item_statistics.view_bank(session, caller, call.now)


@router.post("/bank/stats/question")
async def question_statistics(call: TheCall, who: TheCaller, question: NameBody) -> ItemStatistics:
    async with looking(call, who) as (session, caller):
        return await item_statistics.view_item(session, caller, question, call.now)


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
) -> EditView:
    # Outside any transaction, as documents are read.
    checked = await while_connected(request, editing.check(text, DOCUMENTS))
    work = partial(editing.edit, question=question, checked=checked, now=change.now, apply=apply)
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
