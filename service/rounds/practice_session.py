"""Shows a member their practice: the latest attempt at a card with its result, and a session of several cards.

Nothing is told of a question that a round, a sprint or a duel of the member asks now, beyond what they answered.
"""

from __future__ import annotations

from datetime import datetime, timedelta

from sqlalchemy.ext.asyncio import AsyncSession

from service.errors import Refused
from service.rounds import practice
from service.rounds.views import build_answer_key, build_question_view
from service.store import answers, cards, duels, markings, members, questions, schedules
from service.store.cards import CardRow
from service.store.members import Caller
from service.store.questions import Version
from service.store.tables import AnswerRow
from service.wire import (
    AnswerInput,
    NotMet,
    PracticeAttempt,
    PracticedQuestion,
    PracticeSession,
    QuestionGone,
    QuestionRef,
    Rating,
    RatingRefused,
    StillOpen,
    VerdictView,
)

LONGEST = timedelta(days=1)
"""How far back a session can begin."""
MOST = 50
"""Most questions of a session."""


async def view_attempt(session: AsyncSession, caller: Caller, ref: str, now: datetime) -> PracticeAttempt:
    """Returns the caller's latest practice answer to the question `ref`. Refused if there is none."""
    version, answer = await _find_attempt(session, caller, ref)
    secret = await _is_secret(session, caller, version)
    row = None if secret else (await answers.latest_verdicts(session, [answer.id])).get(answer.id)
    verdict = answers.read_verdict(row) if row else None
    card = None if secret else await cards.find_card(session, caller.member_id, version.question_id)
    return _build_attempt(
        caller,
        (version, answer),
        verdict,
        card,
        marks=await markings.get_marks(session, answer.id) if version.question.kind == "open" else None,
        secret=secret,
        zone=await schedules.get_zone(session, caller.workspace_id),
        now=now,
    )


async def rate_attempt(
    session: AsyncSession, caller: Caller, ref: str, rating: Rating, now: datetime
) -> PracticeAttempt:
    """Rates the caller's latest review of the question's card. Refused as in `practice.rate_card`."""
    caller = await members.lock_caller(session, caller)
    version, _ = await _find_attempt(session, caller, ref)
    card = await cards.lock_card(session, caller.member_id, version.question_id)
    if await _is_secret(session, caller, version):
        raise Refused(StillOpen())
    if card is None:
        raise Refused(RatingRefused(why="no review"))
    practice.rate_card(card, rating, now)
    await session.flush()
    return await view_attempt(session, caller, ref, now)


async def view_session(session: AsyncSession, caller: Caller, since: datetime | None, now: datetime) -> PracticeSession:
    """Returns what the caller has practiced since then, at most a day ago; nothing if None, which begins a session."""
    begin = now if since is None else max(since, now - LONGEST)
    _, due = await cards.count_cards(session, caller.member_id, now)
    return PracticeSession(
        since=begin,
        cards_due=due,
        practiced=() if since is None else await _list_practiced(session, caller, begin),
        zone=await schedules.get_zone(session, caller.workspace_id),
    )


async def _list_practiced(session: AsyncSession, caller: Caller, begin: datetime) -> tuple[PracticedQuestion, ...]:
    found = await cards.list_practiced(session, caller, begin, MOST)
    verdicts = await answers.latest_verdicts(session, [one.answer_id for one in found if not one.secret])
    versions = await questions.list_versions(session, {one.version_id for one in found})
    practiced = []
    for one in found:
        ref, row = str(QuestionRef("practice", one.version_id)), verdicts.get(one.answer_id)
        practiced.append(
            PracticedQuestion(
                ref=ref,
                question=build_question_view(versions[one.version_id], ref, caller.member_id),
                judged=row is not None,
                credit=row.credit if row else None,
                next_due=None if one.secret else one.due,
            )
        )
    return tuple(practiced)


async def _find_attempt(session: AsyncSession, caller: Caller, ref: str) -> tuple[Version, AnswerRow]:
    reference = QuestionRef.parse(ref)
    version = None
    if reference.kind == "practice":
        version = await questions.find_version(session, caller.workspace_id, reference.id)
    if version is None:
        raise Refused(QuestionGone(practice=True))
    answer = await markings.find_practice_answer(session, caller.member_id, version.id)
    if answer is None:
        raise Refused(NotMet(question=version.question.id))
    return version, answer


async def _is_secret(session: AsyncSession, caller: Caller, version: Version) -> bool:
    return await questions.is_asked_now(
        session, caller.workspace_id, version.question_id
    ) or await duels.is_question_in_duel(session, caller.member_id, version.question_id)


def _build_attempt(
    caller: Caller,
    attempt: tuple[Version, AnswerRow],
    verdict: VerdictView | None,
    card: CardRow | None,
    *,
    marks: tuple[bool, ...] | None,
    secret: bool,
    zone: str,
    now: datetime,
) -> PracticeAttempt:
    version, answer = attempt
    ref = str(QuestionRef("practice", version.id))
    # Code is tried until it passes, and the solution comes sooner only on request.
    shown = verdict is not None and (version.question.kind != "code" or verdict.verdict == "accepted")
    return PracticeAttempt(
        ref=ref,
        question=build_question_view(version, ref, caller.member_id),
        given=AnswerInput.from_stored(answer.given),
        verdict=verdict,
        key=build_answer_key(version, ref) if shown else None,
        secret=secret,
        marks=marks,
        next_due=card.due if card else None,
        rating=card.state.get("rating") if card else None,
        choices=practice.list_choices(card, now) if card and verdict else (),
        zone=zone,
    )
