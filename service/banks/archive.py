"""The archive of a workspace: closed rounds by search, and the page of a question with its statistics.

Everything here is of rounds that have closed. A question that is asked again now is left out, because its key is
secret until that round closes.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import Question
from questions.proofs import lacks_gpu_proof
from service.banks.item_statistics import PERIOD, sum_item
from service.domain.item_statistics import wilson_interval
from service.rounds.results import build_results, find_closed
from service.rounds.tally import MAX_WRONG_LENGTH, MAX_WRONG_TEXTS
from service.rounds.views import build_question_view
from service.store import answers, archive, markings, questions, suggestions, variants
from service.store.archive import ClosedRound
from service.store.members import Caller
from service.store.questions import Version
from service.store.tables import AnswerRow
from service.wire import (
    AnswerInput,
    AnswerKey,
    Archive,
    ArchivedRound,
    ArchiveSearch,
    ItemStatistics,
    QuestionPage,
    QuestionRef,
    ScheduleSpec,
    VersionView,
    WrongOption,
)

PAGE = 20
"""Rounds on a page."""
MOST_VERSIONS = 20
"""Versions of a question that are listed."""


async def search_archive(session: AsyncSession, caller: Caller, wanted: ArchiveSearch) -> Archive:
    """Returns a page of closed rounds with how the caller did."""
    found, total = await archive.list_closed(session, caller, wanted, PAGE)
    return Archive(
        rounds=await _view_rounds(session, caller, found),
        total=total,
        page=wanted.page,
        pages=max(1, -(-total // PAGE)),
        topics=tuple(await archive.list_topics(session, caller)),
    )


async def _view_rounds(session: AsyncSession, caller: Caller, found: list[ClosedRound]) -> tuple[ArchivedRound, ...]:
    answer_ids = [one.answer_id for one in found if one.answer_id is not None]
    given = await answers.list_by_id(session, answer_ids)
    verdicts = await answers.latest_verdicts(session, answer_ids)
    credits = await markings.list_credits(session, answer_ids)
    drawn = await variants.list_of_member(session, caller.member_id, [one.id for one in found])
    asked = {one.id: _asked_version(one, given, drawn) for one in found}
    versions = await questions.list_versions(session, set(asked.values()))
    counts = await archive.count_answers(session, [one.id for one in found])
    views = []
    for one in found:
        ref, version = str(QuestionRef("round", one.id)), versions[asked[one.id]]
        row = verdicts.get(one.answer_id) if one.answer_id is not None else None
        verdict = answers.read_verdict(row, credits.get(row.answer_id)) if row else None
        answered, right = counts.get(one.id, (0, 0))
        own = given[one.answer_id].given if one.answer_id is not None else None
        views.append(
            ArchivedRound(
                ref=ref,
                day=one.day,
                question=build_question_view(version, ref, caller.member_id),
                answers=answered,
                right=None if version.question.kind == "open" else right,
                given=None if own is None else AnswerInput.from_stored(own).model_copy(update={"code": None}),
                verdict=verdict.verdict if verdict else None,
                credit=verdict.credit if verdict else None,
            )
        )
    return tuple(views)


def _asked_version(one: ClosedRound, given: Mapping[int, AnswerRow], drawn: Mapping[int, int]) -> int:
    """Returns the version that the round asked the member."""
    if one.answer_id is not None:
        return given[one.answer_id].version_id
    return drawn.get(one.id, one.version_id)


async def view_question(session: AsyncSession, caller: Caller, ref: str, now: datetime) -> QuestionPage:
    """Returns the page of a closed round's question. Refused as in `find_closed`."""
    round_, schedule, version = await find_closed(session, caller, ref)
    question = version.question
    result = (await build_results(session, round_, schedule, [caller.member_id]))[caller.member_id]
    # Options and texts of different variants cannot be counted together.
    alike = not round_.own_variants
    chosen = await archive.count_options(session, round_.id) if alike and question.kind == "choice" else {}
    answered, right = (await archive.count_answers(session, [round_.id])).get(round_.id, (0, 0))
    typed = alike and question.kind in ("value", "output")
    assert round_.version_id is not None, "a closed round asked a question"
    asked = await questions.get_version(session, round_.version_id)
    return QuestionPage(
        result=result.model_copy(update={"key": _with_counts(result.key, chosen)}),
        answers=answered,
        right=None if question.kind == "open" else right,
        wrong_texts=await archive.count_wrong_texts(session, round_.id, MAX_WRONG_TEXTS, MAX_WRONG_LENGTH)
        if typed
        else (),
        statistics=await _statistics(session, caller, version, now),
        versions=tuple(
            VersionView(version=number, since=since, asked=number == asked.number)
            for number, since in await archive.list_versions(session, version.question_id, MOST_VERSIONS)
        ),
        suggested_by=await suggestions.find_credit(session, version.question_id),
        provable=is_provable(question),
        device=question.task.device if question.task else "cpu",
        gpu_proof=not lacks_gpu_proof(question.task),
        zone=ScheduleSpec.from_stored(schedule.spec).zone,
    )


def is_provable(question: Question) -> bool:
    """Returns whether there is something to run that shows the key."""
    return bool(question.proof) or question.kind == "output" or question.task is not None


async def _statistics(session: AsyncSession, caller: Caller, version: Version, now: datetime) -> ItemStatistics:
    """Returns the question's figures: for moderators all of them, for members without what says how good it is."""
    if caller.admin:
        return await sum_item(session, caller.workspace_id, version.question_id, version.question.id, now)
    since = now - PERIOD
    sums = await archive.sum_question(session, caller.workspace_id, since, version.question_id)
    picks = await archive.count_picks(session, caller.workspace_id, since, version.question_id)
    interval = wilson_interval(sums.right or 0.0, sums.judged)
    wrong = max((one for one in picks if not one.right), key=lambda one: one.count, default=None)
    return ItemStatistics(
        question=version.question.id,
        bank=version.bank,
        days=PERIOD.days,
        rounds=sums.rounds,
        answers=sums.answers,
        judged=sums.judged,
        right=sums.right,
        right_low=interval.low,
        right_high=interval.high,
        wrong=wrong and WrongOption(text=wrong.text, share=wrong.count / max(1, sums.answers)),
        wrong_beats_right=bool(wrong) and wrong == max(picks, key=lambda one: (one.count, one.right)),
    )


def _with_counts(key: AnswerKey, chosen: dict[str, int]) -> AnswerKey:
    options = [one.model_copy(update={"chosen_by": chosen.get(one.id, 0)}) for one in key.options]
    return key.model_copy(update={"options": tuple(options)})
