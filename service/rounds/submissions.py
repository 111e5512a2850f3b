"""Shows questions and hints to a member and records their answers: kept until the close in a round, judged at once in
practice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import CodeTask, Option, Question
from service.domain.scoring import ScoringPolicy, compute_credit
from service.domain.selection import shuffle_options
from service.errors import Refused
from service.rounds import delivery, practice
from service.rounds.grading import grade_answer
from service.rounds.jobs import Jobs
from service.rounds.schedules import next_postings
from service.rounds.views import build_answer_key, build_question_view, has_hint
from service.store import answers, cards, questions, rounds, variants
from service.store import schedules as schedule_rows
from service.store.answers import Submission
from service.store.members import Caller, lock_caller
from service.store.questions import Version
from service.store.tables import AnswerRow, Round, Schedule
from service.tracing import add_fields
from service.wire import (
    CONFIDENCE_KINDS,
    AnswerInput,
    AnswerResult,
    AnswerUnreadable,
    AskForm,
    HintView,
    NoHint,
    OptionView,
    QuestionGone,
    QuestionRef,
    ScheduleSpec,
    StillOpen,
    TodayView,
    VariantRole,
    WrongKindOfAnswer,
)


@dataclass(frozen=True, slots=True)
class OpenedQuestion:
    """The question of a reference, with its round unless it is practice."""

    version: Version
    round: Round | None = None
    schedule: Schedule | None = None
    before: AnswerRow | None = None
    """The member's answer so far, if the round was opened to be answered."""

    @property
    def variant(self) -> VariantRole | None:
        """Whether the version is the member's own variant or the example in the channel."""
        if self.round is None or not self.round.own_variants:
            return None
        return "example" if self.version.id == self.round.version_id else "own"

    @property
    def zone(self) -> str:
        return ScheduleSpec.from_stored(self.schedule.spec).zone if self.schedule else "UTC"

    @property
    def asks_confidence(self) -> bool:
        """Whether members may say how sure they are of their answer."""
        if self.schedule is None or self.version.question.kind not in CONFIDENCE_KINDS:
            return False
        return ScheduleSpec.from_stored(self.schedule.spec).confidence


async def view_today(session: AsyncSession, caller: Caller, now: datetime) -> TodayView:
    """Returns the questions open in the channel, or without one in the workspace, and when the next one comes."""
    forms = []
    for round_, schedule in await _list_open(session, caller, now):
        version_id = await variants.get_for_member(session, round_, caller.member_id)
        opened = OpenedQuestion(await questions.get_version(session, version_id), round_, schedule)
        forms.append(await _build_form(session, caller, str(QuestionRef("round", round_.id)), opened))
    zone = await schedule_rows.get_zone(session, caller.workspace_id, caller.channel_id)
    return TodayView(forms=tuple(forms), next_at=await _next_posting_for(session, caller, now), zone=zone)


async def _list_open(session: AsyncSession, caller: Caller, now: datetime) -> Sequence[tuple[Round, Schedule]]:
    if caller.channel_id is None:
        return await rounds.list_open_in_workspace(session, caller.workspace_id, now)
    return await rounds.list_open_in_channel(session, caller.channel_id, now)


async def view_question(
    session: AsyncSession, caller: Caller, ref: str, now: datetime, *, due: int = 0
) -> tuple[AskForm, CodeTask | None]:
    """Returns the question `ref` for this caller, and its task if it asks for code.

    `due` is how many more practice cards are due.
    """
    opened = await find_question(session, caller, ref)
    form = (await _build_form(session, caller, ref, opened)).model_copy(update={"due": due})
    task = opened.version.question.task
    if task is not None and opened.round is None:
        form = form.model_copy(update={"given": await _failed_code(session, caller, opened.version, now)})
    return form, task


async def get_code_task(session: AsyncSession, caller: Caller, ref: str) -> CodeTask:
    """Returns the task of a code question. Refused for any other."""
    opened = await find_question(session, caller, ref)
    task = opened.version.question.task
    if task is None:
        raise Refused(WrongKindOfAnswer(question=opened.version.question.kind))
    return task


async def submit_answer(
    session: AsyncSession, caller: Caller, submitted: Submission, now: datetime, jobs: Jobs
) -> AnswerResult:
    """Records an answer: in an open round the newest one counts; otherwise it is practice and judged at once. Call with
    the caller's member row locked.

    It counts if it was submitted before the closing time and the round is not closed yet. Raises a Refused, changing
    nothing, if it does not fit this kind of question.
    """
    opened = await _open_to_answer(session, caller, submitted.ref)
    confidence = submitted.given.confidence if opened.asks_confidence else None
    practicing = submitted.given.practicing
    given = validate_answer(opened.version.question, submitted.given)
    submitted = replace(submitted, given=given.model_copy(update={"confidence": confidence}))
    round_ = opened.round
    if round_ is None:
        return await _record_practice(session, caller, opened, submitted, now, jobs, practicing)
    # A platform's clock may be ahead, and nobody answers before the question was posted.
    at = max(round_.opens_at, min(submitted.at, now))
    if round_.closed_at is not None or at >= round_.closes_at:
        asked = await questions.get_version(session, opened.version.id)
        opened = replace(opened, version=await questions.get_deciding_version(session, asked))
        receipt = await _record_practice(session, caller, opened, submitted, now, jobs, practicing)
        return receipt.model_copy(update={"status": "late", "closes_at": round_.closes_at, "zone": opened.zone})
    return await _record_in_round(session, caller, opened, replace(submitted, at=at), now, jobs)


async def _record_in_round(
    session: AsyncSession,
    caller: Caller,
    opened: OpenedQuestion,
    submitted: Submission,
    now: datetime,
    jobs: Jobs,
) -> AnswerResult:
    round_ = opened.round
    assert round_ is not None, "without a round it is practice"
    kind, ref = opened.version.question.kind, str(QuestionRef("round", round_.id))
    before = opened.before
    is_newest = before is None or await _latest_time(session, caller, before) <= submitted.at
    repeats = before is not None and is_newest and _repeats(before, opened, submitted)
    counts = is_newest
    # The answer itself was given earlier: pressing a button twice, or saying how sure one is, makes nobody later.
    if before is not None and repeats:
        counts = kind == "code" or _answer_input(before).confidence != submitted.given.confidence
        submitted = replace(submitted, at=before.at) if counts else submitted
    answer_id = await answers.append(session, caller, opened.version.id, submitted, round_.id, current=counts)
    add_fields(answer=answer_id, member=caller.member_id, ref=ref, question=kind)
    if before is None:
        await delivery.enqueue_answer_count(session, round_.id, now)
    waiting = 0
    if kind == "code":
        waiting = await jobs.defer_judging(session, answer_id, first=before is None, event_id=submitted.event_id)
    return AnswerResult(
        status="judging" if kind == "code" else "recorded" if before is None or repeats else "changed",
        ref=ref,
        given=submitted.given if is_newest or before is None else _answer_input(before),
        closes_at=round_.closes_at,
        zone=opened.zone,
        before=waiting,
        asks_confidence=opened.asks_confidence,
    )


async def _latest_time(session: AsyncSession, caller: Caller, before: AnswerRow) -> datetime:
    """Returns when the member last answered in the round of `before`, the answer that counts."""
    assert before.round_id is not None, "an answer that counts is one in a round"
    latest = await answers.find_latest_time(session, before.round_id, caller.member_id)
    return max(before.at, latest or before.at)  # an account that was merged may have given the one that counts


def _repeats(before: AnswerRow, opened: OpenedQuestion, submitted: Submission) -> bool:
    """Returns whether the answer is the same as the one before. How sure the member is of it does not count."""
    bare = {"confidence": None}
    same = _answer_input(before).model_copy(update=bare) == submitted.given.model_copy(update=bare)
    return same and before.version_id == opened.version.id


async def _record_practice(
    session: AsyncSession,
    caller: Caller,
    opened: OpenedQuestion,
    submitted: Submission,
    now: datetime,
    jobs: Jobs,
    practicing: str | None,
) -> AnswerResult:
    version, given = opened.version, submitted.given
    if version.question.kind == "code":
        given = given.model_copy(update={"practicing": practicing or None})
        submitted = replace(submitted, given=given)
    ref = str(QuestionRef("practice", version.id))
    answer_id = await answers.append(session, caller, version.id, replace(submitted, at=now))
    add_fields(answer=answer_id, member=caller.member_id, ref=ref, question=version.question.kind)
    if version.question.kind == "code":
        waiting = await jobs.defer_judging(session, answer_id, event_id=submitted.event_id)
        return AnswerResult(status="judging", ref=ref, given=given, before=waiting)
    verdict = grade_answer(version.question, given)
    await answers.save_verdict(session, answer_id, version.id, verdict, now)
    next_due = None
    # An open answer reviews its card when its author marks it.
    if verdict.credit is not None:
        next_due = await practice.record_review(
            session, member_id=caller.member_id, question_id=version.question_id, credit=verdict.credit, now=now
        )
    if await questions.is_secret(session, caller, version.question_id):
        # Late for a round that is not closed yet, or whose question a duel of theirs asks now: the key waits for its
        # end. So does the date of the card, which would say how good the answer is.
        return AnswerResult(status="judged", ref=ref, given=given)
    return AnswerResult(
        status="judged",
        ref=ref,
        given=given,
        verdict=verdict,
        key=build_answer_key(version, ref),
        next_due=next_due,
        progress=await practice.view_progress(session, caller, now),
    )


async def _open_to_answer(session: AsyncSession, caller: Caller, ref: str) -> OpenedQuestion:
    """Returns the question of `ref` as `find_question` does, and in a round the answer so far. The round cannot close
    meanwhile."""
    reference = QuestionRef.parse(ref)
    if reference.kind != "round":
        return await find_question(session, caller, ref)
    found = await rounds.lock_to_answer(session, caller, reference.id)
    if found is None:
        raise Refused(QuestionGone(practice=False))
    version_id = await variants.get_for_member(session, found.round, caller.member_id)
    if version_id == found.round.version_id:
        version = await questions.get_asked(session, version_id, found.digest)
    else:
        version = await questions.get_version(session, version_id)
    return OpenedQuestion(version, found.round, found.schedule, found.before)


async def find_question(session: AsyncSession, caller: Caller, ref: str, *, lock: bool = False) -> OpenedQuestion:
    """Returns the question of `ref` in the caller's workspace: in a round, the one that it asks the caller. With `lock`
    the round cannot close meanwhile."""
    reference = QuestionRef.parse(ref)
    if reference.kind == "round":
        found = await rounds.find_in_workspace(session, caller.workspace_id, reference.id, lock=lock)
        if found is None:
            raise Refused(QuestionGone(practice=False))
        version_id = await variants.get_for_member(session, found[0], caller.member_id)
        return OpenedQuestion(await questions.get_version(session, version_id), *found)
    if reference.kind != "practice":
        raise Refused(QuestionGone(practice=False))
    version = await questions.find_version(session, caller.workspace_id, reference.id)
    if version is None or not version.question.answered:
        raise Refused(QuestionGone(practice=True))
    if await questions.is_secret(session, caller, version.question_id):
        raise Refused(StillOpen())
    # The question of an old message may have been corrected since.
    return OpenedQuestion(await questions.get_deciding_version(session, version))


async def _build_form(session: AsyncSession, caller: Caller, ref: str, opened: OpenedQuestion) -> AskForm:
    before = await answers.get_current(session, opened.round.id, caller.member_id) if opened.round else None
    return AskForm(
        ref=ref,
        question=build_question_view(opened.version, ref, caller.member_id, variant=opened.variant),
        given=None if before is None else _answer_input(before),
        opens_at=opened.round.opens_at if opened.round else None,
        closes_at=opened.round.closes_at if opened.round else None,
        asks_confidence=opened.asks_confidence,
        zone=opened.zone,
    )


async def _failed_code(session: AsyncSession, caller: Caller, version: Version, now: datetime) -> AnswerInput | None:
    """Returns the member's last code in practice if it failed and they are still trying."""
    card = await cards.find_card(session, caller.member_id, version.question_id)
    if card is None or not practice.is_retried(card, now):
        return None
    row = await answers.find_latest(session, caller.member_id, version.question_id, version.id)
    # The code of a member who was forgotten is erased.
    return _answer_input(row) if row is not None and row.given.get("code") else None


async def _next_posting_for(session: AsyncSession, caller: Caller, now: datetime) -> datetime | None:
    here = await schedule_rows.list_schedules(session, caller.workspace_id, caller.channel_id)
    coming = await next_postings(session, [schedule for schedule, _ in here], now)
    return min((slot.instant for slot in coming.values()), default=None)


def _answer_input(row: AnswerRow) -> AnswerInput:
    return AnswerInput.from_stored(row.given)


def validate_answer(question: Question, given: AnswerInput) -> AnswerInput:
    """Returns `given` without fields that this kind of question does not use. Refused if it cannot be
    graded."""
    if question.kind == "choice":
        kept = AnswerInput(options=None if given.options is None else tuple(sorted(set(given.options))))
    elif question.kind == "code":
        kept = AnswerInput(code=given.code if given.code and given.code.strip() else None)
    else:
        kept = AnswerInput(text=given.text)
    if kept == AnswerInput():
        raise Refused(WrongKindOfAnswer(question=question.kind))
    if kept.options and len(kept.options) > 1 and sum(option.right for option in question.options) == 1:
        raise Refused(AnswerUnreadable(problem="several options"))
    if question.kind != "code" and (problem := compute_credit(question, kept).problem) is not None:
        raise Refused(problem)
    return kept


async def view_hint(session: AsyncSession, caller: Caller, ref: str, take: bool, now: datetime) -> HintView:
    """Returns the hint to the question `ref`, or without `take` its price, unless the caller has taken it already.

    A round records who took the hint. Practice costs nothing. Refused if the question has no hint, or if the round is
    closed: its answer says more.
    """
    if take:
        # The member first, as in every transaction that locks both.
        caller = await lock_caller(session, caller)
    # The lock makes a close wait, so that it counts every hint that was shown.
    opened = await find_question(session, caller, ref, lock=True)
    question = opened.version.question
    round_ = opened.round
    if not has_hint(question) or (round_ is not None and (round_.closed_at is not None or now >= round_.closes_at)):
        raise Refused(NoHint(closed=has_hint(question)))
    taken = True
    if round_ is not None:
        taken = take or await answers.is_hint_taken(session, round_.id, caller.member_id)
        if take:
            await answers.take_hint(session, round_.id, caller.member_id)
    before = await answers.get_current(session, round_.id, caller.member_id) if round_ is not None else None
    wrong = None if question.hint or not taken else _wrong_option(question, ref, caller.member_id)
    return HintView(
        ref=ref,
        cost=0 if round_ is None else ScoringPolicy().hint_cost,
        taken=taken,
        text=question.hint if taken else "",
        wrong=OptionView(id=wrong.id, text=wrong.text) if wrong else None,
        kind=question.kind,
        several=sum(option.right for option in question.options) > 1,
        answered=before is not None,
    )


def _wrong_option(question: Question, ref: str, member_id: int) -> Option:
    """Returns the wrong option that the hint names, the same whenever this member asks."""
    wrong = {option.id: option for option in question.options if not option.right}
    return wrong[shuffle_options(wrong, f"hint for {member_id}", str(QuestionRef.parse(ref)))[0]]
