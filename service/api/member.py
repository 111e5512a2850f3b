"""Routes for members: questions and answers, code runs, practice, boards, their own data."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import Annotated

from fastapi import Body, Request
from pydantic import AwareDatetime, BaseModel, Field

from service.api.http import (
    Call,
    EventBody,
    RefBody,
    TheCall,
    TheCaller,
    WhereBody,
    while_connected,
)
from service.api.routes import CallRouter
from service.banks import archive, editing, moderation, proof_runs, suggestions
from service.banks.documents import DOCUMENTS
from service.competitions import sprints
from service.metrics import record_answer
from service.people import members
from service.people import privacy as people_privacy
from service.rounds import (
    grading,
    leaderboard,
    marking,
    mastery,
    notifications,
    practice,
    results,
    schedules,
    submissions,
)
from service.rounds.idempotency import EventCall, run_once
from service.rounds.sandbox_turns import add_wait_estimate
from service.store import privacy as store_privacy
from service.store.answers import Submission
from service.store.members import lock_caller, resolve_caller
from service.tracing import add_fields
from service.wire import (
    LONGEST_SUGGESTION,
    AnswerInput,
    AnswerResult,
    Archive,
    ArchiveSearch,
    AskForm,
    Board,
    Code,
    Contest,
    EventId,
    Explanation,
    HintView,
    History,
    MarkingView,
    Me,
    NotificationKind,
    NotificationView,
    PeerAnswer,
    Period,
    PracticeAttempt,
    PracticeSession,
    PrivacyAction,
    PrivacyView,
    ProofRun,
    QuestionPage,
    QuestionRef,
    Rating,
    Ref,
    ReportView,
    RoundResult,
    Rules,
    RunResult,
    SeasonView,
    Short,
    SuggestionPreview,
    SuggestionReceipt,
    SuggestionView,
    TodayView,
    TopicCount,
    TopicsKnown,
    VerdictView,
    Where,
    Who,
)

router = CallRouter()

CodeBody = Annotated[Code, Body(embed=True)]


@router.post("/join")
async def join(call: TheCall, who: TheCaller, where: WhereBody) -> None:
    async with call.transaction() as session:
        await resolve_caller(session, who, where, call.now)


@router.post("/today")
async def today(call: TheCall, who: TheCaller, where: WhereBody) -> TodayView:
    async with call.transaction() as session:
        # A home page or direct message belongs to no channel.
        caller = await resolve_caller(session, who, where if where.channel else None, call.now)
        return await submissions.view_today(session, caller, call.now)


@router.post("/ask")
async def ask(call: TheCall, who: TheCaller, where: WhereBody, ref: RefBody) -> AskForm:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, where, call.now)
        if _is_in_sprint(ref):
            return await sprints.view_question(session, caller, ref, call.now)
        form, task = await submissions.view_question(session, caller, ref, call.now)
    return form if task is None else await call.parts.examples.add_to(form, task)


class AnswerBody(BaseModel):
    """The body of a call that answers a question."""

    where: Where
    event_id: EventId
    ref: Ref
    given: AnswerInput
    at: AwareDatetime


async def answer(call: TheCall, who: TheCaller, body: AnswerBody) -> AnswerResult:
    submitted = Submission(body.event_id, body.ref, body.given, body.at)
    receipt = await call.parts.fast_path.record(who, body.where, submitted, call.now)
    if receipt is None:
        receipt = await answer_step_by_step(call, who, body.where, submitted)
    record_answer(who.platform, receipt.status, body.at, call.now)
    add_fields(status=receipt.status)
    if receipt.before and call.parts.sandbox is not None:
        return await add_wait_estimate(receipt, call.parts.sandbox)
    return receipt


router.post_directly("/answer", answer)


async def answer_step_by_step(call: Call, who: Who, where: Where, submitted: Submission) -> AnswerResult:
    """Records an answer that the fast path leaves to this."""
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, where, call.now)
        work: Awaitable[AnswerResult]
        if _is_in_sprint(submitted.ref):
            work = sprints.submit_answer(session, caller, submitted.ref, submitted.given, call.now)
        else:
            # Before the event, in the order of the fast path: otherwise two copies of an event could wait for each
            # other.
            caller = await lock_caller(session, caller)
            work = submissions.submit_answer(session, caller, submitted, call.now, call.parts.jobs)
        return await run_once(session, caller, EventCall(submitted.event_id, "answer", call.now), work, AnswerResult)


def _is_in_sprint(ref: str) -> bool:
    return QuestionRef.parse(ref).kind == "sprint"


@router.post("/try-code")
async def try_code(call: TheCall, who: TheCaller, ref: RefBody, code: CodeBody) -> VerdictView:
    sandbox = grading.require_sandbox(call.parts.sandbox)
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        task = await submissions.get_code_task(session, caller, ref)
    # Outside any transaction, so that a slow program does not hold a database connection.
    async with sandbox.turn(caller.member_id, "free") as turn:
        return await grading.try_examples(turn, task, code, sandbox.references)


@router.post("/run")
async def run(call: TheCall, who: TheCaller, code: CodeBody) -> RunResult:
    sandbox = grading.require_sandbox(call.parts.sandbox)
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
    async with sandbox.turn(caller.member_id, "free") as turn:
        return await grading.run_snippet(turn, code)


# The member's own data, topics, rules and reports.

QuestionBody = Annotated[Short, Body(embed=True, min_length=1)]


@router.post("/me")
async def me(call: TheCall, who: TheCaller) -> Me:
    async with call.transaction() as session:
        return await members.me(session, await resolve_caller(session, who, None, call.now), call.now)


@router.post("/history")
async def history(call: TheCall, who: TheCaller) -> History:
    async with call.transaction() as session:
        return await members.view_history(session, await resolve_caller(session, who, None, call.now), call.now)


@router.post("/archive")
async def search_archive(call: TheCall, who: TheCaller, wanted: Annotated[ArchiveSearch, Body(embed=True)]) -> Archive:
    async with call.transaction() as session:
        return await archive.search_archive(session, await resolve_caller(session, who, None, call.now), wanted)


@router.post("/question")
async def question_page(call: TheCall, who: TheCaller, ref: RefBody) -> QuestionPage:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        return await archive.view_question(session, caller, ref, call.now)


@router.post("/question/prove")
async def prove(call: TheCall, who: TheCaller, ref: RefBody) -> ProofRun:
    sandbox = grading.require_sandbox(call.parts.sandbox)
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        _, _, version = await results.find_closed(session, caller, ref)
    async with sandbox.turn(caller.member_id, "free") as turn:
        return await proof_runs.run_proof(version.question, turn)


@router.post("/topics")
async def topic_list(call: TheCall, who: TheCaller) -> tuple[TopicCount, ...]:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        return await schedules.list_topics(session, caller.workspace_id)


@router.post("/mastery")
async def mastery_view(call: TheCall, who: TheCaller) -> TopicsKnown:
    async with call.transaction() as session:
        return await mastery.view_topics(session, await resolve_caller(session, who, None, call.now), call.now)


@router.post("/rules")
async def rules(call: TheCall, who: TheCaller) -> Rules:
    return members.rules()


@router.post("/privacy")
async def privacy(
    call: TheCall, who: TheCaller, event_id: EventBody, action: Annotated[PrivacyAction, Body(embed=True)] = "see"
) -> PrivacyView:
    async with call.transaction() as session:
        # A repeated event must not recreate a forgotten member.
        if forgotten := await store_privacy.find_forget_reply(session, who, event_id):
            return PrivacyView.model_validate(forgotten)
        caller = await resolve_caller(session, who, None, call.now)
        work = people_privacy.apply_action(session, caller, action, call.now)
        if action in ("hide", "show", store_privacy.FORGET_CALL):
            return await run_once(session, caller, EventCall(event_id, action, call.now), work, PrivacyView)
        return await work


@router.post("/report")
async def report(
    call: TheCall,
    who: TheCaller,
    event_id: EventBody,
    question: QuestionBody,
    text: Annotated[str, Body(embed=True, max_length=2000)],
) -> ReportView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = moderation.report(session, caller, question, text, call.now)
        return await run_once(session, caller, EventCall(event_id, "report", call.now), work, ReportView)


SuggestionText = Annotated[str, Body(embed=True, max_length=LONGEST_SUGGESTION)]


async def _read_suggestion(request: Request, call: Call, who: Who, text: str) -> editing.CheckedText:
    """Reads a member's suggestion; beyond a limit on their suggestions, only says which one it is."""
    async with call.transaction() as session:
        limit = await suggestions.find_limit(session, await resolve_caller(session, who, None, call.now), call.now)
    if limit:
        return editing.CheckedText(text, limit)
    # Outside any transaction, so that a slow text does not hold a database connection.
    return await while_connected(request, editing.check(text, DOCUMENTS))


@router.post("/suggest")
async def suggest(
    request: Request,
    call: TheCall,
    who: TheCaller,
    event_id: EventBody,
    text: SuggestionText,
) -> SuggestionReceipt:
    checked = await _read_suggestion(request, call, who, text)
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = suggestions.suggest(session, caller, checked, call.now)
        return await run_once(session, caller, EventCall(event_id, "suggest", call.now), work, SuggestionReceipt)


@router.post("/suggest/preview")
async def suggestion_preview(
    request: Request, call: TheCall, who: TheCaller, text: SuggestionText
) -> SuggestionPreview:
    return suggestions.preview(await _read_suggestion(request, call, who, text))


@router.post("/suggest/draft")
async def suggestion_draft(call: TheCall, who: TheCaller) -> str:
    async with call.transaction() as session:
        return await suggestions.get_draft(session, await resolve_caller(session, who, None, call.now))


@router.post("/suggest/mine")
async def suggestions_of_member(call: TheCall, who: TheCaller) -> tuple[SuggestionView, ...]:
    async with call.transaction() as session:
        return await suggestions.list_own(session, await resolve_caller(session, who, None, call.now))


@router.post("/notifications")
async def notifications_view(call: TheCall, who: TheCaller) -> NotificationView:
    async with call.transaction() as session:
        return await notifications.view_settings(session, await resolve_caller(session, who, None, call.now))


@router.post("/notify")
async def notify(
    call: TheCall,
    who: TheCaller,
    event_id: EventBody,
    what: Annotated[NotificationKind, Body(embed=True)],
    on: Annotated[bool, Body(embed=True)],
) -> NotificationView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = notifications.change_setting(session, caller, what, on)
        return await run_once(session, caller, EventCall(event_id, "notify", call.now), work, NotificationView)


# Practice.


@router.post("/practice")
async def practice_next(
    call: TheCall,
    who: TheCaller,
    where: WhereBody,
    topic: Annotated[Short, Body(embed=True)] = "",
    level: Annotated[Short, Body(embed=True)] = "",
    kind: Annotated[Short, Body(embed=True)] = "",
) -> AskForm | None:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, where, call.now)
        found = await practice.pick_next(session, caller, call.now, topic, level, kind)
        if found is None:
            return None
        version_id, more = found
        ref = str(QuestionRef("practice", version_id))
        form, task = await submissions.view_question(session, caller, ref, call.now, due=more)
    return form if task is None else await call.parts.examples.add_to(form, task)


@router.post("/practice/attempt")
async def practice_attempt(call: TheCall, who: TheCaller, ref: RefBody) -> PracticeAttempt:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        return await practice.view_attempt(session, caller, ref, call.now)


@router.post("/practice/rate")
async def practice_rate(
    call: TheCall, who: TheCaller, event_id: EventBody, ref: RefBody, rating: Annotated[Rating, Body(embed=True)]
) -> PracticeAttempt:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = practice.rate_attempt(session, caller, ref, rating, call.now)
        return await run_once(session, caller, EventCall(event_id, "rate", call.now), work, PracticeAttempt)


@router.post("/practice/session")
async def practice_progress(
    call: TheCall, who: TheCaller, since: Annotated[AwareDatetime | None, Body(embed=True)] = None
) -> PracticeSession:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        return await practice.view_session(session, caller, since, call.now)


@router.post("/explain")
async def explain(call: TheCall, who: TheCaller, question: QuestionBody) -> Explanation:
    async with call.transaction() as session:
        return await moderation.explain(session, await resolve_caller(session, who, None, call.now), question)


@router.post("/result")
async def result(call: TheCall, who: TheCaller, ref: RefBody) -> RoundResult:
    async with call.transaction() as session:
        return await results.view_result(session, await resolve_caller(session, who, None, call.now), ref)


@router.post("/feedback")
async def feedback(
    call: TheCall, who: TheCaller, event_id: EventBody, ref: RefBody, liked: Annotated[bool, Body(embed=True)]
) -> RoundResult:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = results.save_feedback(session, caller, ref, call.now, liked=liked)
        await run_once(session, caller, EventCall(event_id, "feedback", call.now), work, type(None))
        return await results.view_result(session, caller, ref)


# Marking of open answers.

AnswerId = Annotated[int, Body(embed=True, ge=1, lt=2**63)]


@router.post("/marking")
async def marking_view(call: TheCall, who: TheCaller, ref: RefBody) -> MarkingView:
    async with call.transaction() as session:
        return await marking.view_marking(session, await resolve_caller(session, who, None, call.now), ref)


@router.post("/mark")
async def mark(
    call: TheCall,
    who: TheCaller,
    event_id: EventBody,
    ref: RefBody,
    covered: Annotated[tuple[Annotated[int, Field(ge=0, lt=100)], ...], Body(embed=True, max_length=100)],
) -> MarkingView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = marking.mark_answer(session, caller, ref, covered, call.now)
        return await run_once(session, caller, EventCall(event_id, "mark", call.now), work, MarkingView)


@router.post("/hint")
async def hint(
    call: TheCall, who: TheCaller, where: WhereBody, ref: RefBody, take: Annotated[bool, Body(embed=True)]
) -> HintView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, where, call.now)
        return await submissions.view_hint(session, caller, ref, take, call.now)


@router.post("/share-answer")
async def share_answer(call: TheCall, who: TheCaller, event_id: EventBody, ref: RefBody) -> MarkingView:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = marking.share_answer(session, caller, ref, call.now)
        return await run_once(session, caller, EventCall(event_id, "share answer", call.now), work, MarkingView)


@router.post("/peer-answer")
async def peer_answer(
    call: TheCall, who: TheCaller, ref: RefBody, after: Annotated[int, Body(embed=True, ge=0, lt=2**63)] = 0
) -> PeerAnswer | None:
    async with call.transaction() as session:
        return await marking.next_for_peer(session, await resolve_caller(session, who, None, call.now), ref, after)


@router.post("/confirm-answer")
async def confirm_answer(call: TheCall, who: TheCaller, event_id: EventBody, number: AnswerId) -> None:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, None, call.now)
        work = marking.confirm_marks(session, caller, number, call.now)
        await run_once(session, caller, EventCall(event_id, "confirm answer", call.now), work, type(None))


# Boards and seasons.


@router.post("/board")
async def board(
    call: TheCall,
    who: TheCaller,
    where: Annotated[Where | None, Body(embed=True)] = None,
    period: Annotated[Period, Body(embed=True)] = "week",
    topic: Annotated[Short, Body(embed=True)] = "",
    limit: Annotated[int, Body(embed=True, ge=1, le=100)] = 10,
    contest: Annotated[Contest, Body(embed=True)] = "points",
) -> Board:
    async with call.transaction() as session:
        caller = await resolve_caller(session, who, where, call.now)
        query = leaderboard.BoardQuery(period, topic, contest, limit)
        return await leaderboard.get_board(session, caller, call.now, query)


@router.post("/seasons")
async def season_list(call: TheCall, who: TheCaller) -> tuple[SeasonView, ...]:
    async with call.transaction() as session:
        return await leaderboard.list_seasons(session, await resolve_caller(session, who, None, call.now))
