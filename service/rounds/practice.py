"""Practice by spaced repetition: chooses the next question or a session's questions, and schedules cards by FSRS.

Grading is in `submissions`. Nothing is revealed about a question that a round, a sprint or a duel of the member asks
now, beyond what they answered.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast

import fsrs
from sqlalchemy import Select, literal, select
from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import KINDS, LEVELS
from service.domain.selection import ScheduleFilter, choose_from_groups, matches_filter
from service.domain.topics import area_of
from service.errors import Refused
from service.rounds import mastery
from service.rounds.schedules import resolve_topics
from service.rounds.views import build_answer_key, build_question_view
from service.store import answers, candidates, cards, markings, members, questions, schedules, variants
from service.store.answers import JudgedPractice
from service.store.cards import CardRow
from service.store.members import Caller
from service.store.questions import Version
from service.store.tables import AnswerRow
from service.wire import (
    AnswerInput,
    NotFound,
    NotMet,
    PracticeAttempt,
    PracticedQuestion,
    PracticeSession,
    QuestionGone,
    QuestionRef,
    Rating,
    RatingChoice,
    RatingRefused,
    SessionProgress,
    StillOpen,
)

_DAY = timedelta(days=1)
# Fuzzing is random; the same reviews must always give the same dates. The shortest step is a day, because members
# practice for a minute a day: a card that came back in ten minutes would find nobody.
_SCHEDULER = fsrs.Scheduler(enable_fuzzing=False, learning_steps=(_DAY,), relearning_steps=(_DAY,))
WRONG_DUE = _DAY
"""When a question answered wrong in a round comes back: its reveal has just been read."""
SESSION_LENGTH = 10
"""Answers of one session of practice."""
SESSION_PAUSE = timedelta(minutes=10)
"""Time without an answer after which a new session begins."""
LONGEST_SESSION = timedelta(hours=3)
"""How far back the answers of sessions in a row are counted."""
MAX_PRACTICED = 200
"""Most answers of sessions in a row that are counted."""
MAX_LISTED_AGE = timedelta(days=1)
"""How far back the questions of a session are listed."""
MAX_LISTED = 50
"""Most questions of a session that are listed."""
_RATINGS: Final[dict[Rating, fsrs.Rating]] = {
    "again": fsrs.Rating.Again,
    "hard": fsrs.Rating.Hard,
    "good": fsrs.Rating.Good,
    "easy": fsrs.Rating.Easy,
}
_FOR_CREDIT: Final[dict[Rating, tuple[Rating, ...]]] = {
    "again": ("again",),
    "hard": ("again", "hard"),
    "good": ("again", "hard", "good", "easy"),
}
"""Ratings that a member may choose from, by the rating that the credit gives."""


async def pick_next(
    session: AsyncSession, caller: Caller, now: datetime, topic: str = "", level: str = "", kind: str = ""
) -> tuple[int, int] | None:
    """Returns the question version to practice now and how many more cards are due (at most `MANY_DUE`), or None if
    nothing is left.

    The card due longest comes first, then a question that the caller has not met, of a topic in which they are weak
    if there is one, of a difficulty that they get right in about 70%. Never returns one that is open in a round.
    Refused for an unknown topic, level or kind.
    """
    wanted = await _resolve_filter(session, caller, topic, level, kind)
    due = await cards.find_due(session, caller, now, topic, level, kind)
    if due is not None:
        return await variants.pick_for_practice(session, caller.member_id, due[0]), due[1]
    known = await candidates.load(session, [caller.workspace_id])
    known.leave_out(caller.workspace_id, await cards.list_met(session, caller))
    topics, abilities = await mastery.estimate_member(session, caller, now)
    new = [
        group
        for group in known.groups_for(caller.workspace_id, audience=abilities)
        if matches_filter(group.like, wanted)
    ]
    weak = {one.topic for one in topics if one.is_weak}
    chosen = choose_from_groups(
        [group for group in new if area_of(group.like.topic) in weak] or new,
        await cards.list_latest(session, caller.member_id),
        ScheduleFilter(memory_days=0),
        f"practice {caller.member_id}",
        now.date(),
    )
    return None if chosen is None else (await variants.pick_for_practice(session, caller.member_id, int(chosen.id)), 0)


async def record_review(
    session: AsyncSession, *, member_id: int, question_id: int, credit: float, now: datetime
) -> datetime:
    """Records an answer with `credit` on the question's card, creating it if needed. Returns the next due date."""
    return await _record_rating(session, member_id, question_id, rating_for(credit), now)


async def record_marks(
    session: AsyncSession, *, member_id: int, question_id: int, marks: Sequence[bool], now: datetime
) -> datetime:
    """Records an open answer by the key points that its author marked: all is `good`, some `hard`, none `again`.
    Returns the next due date."""
    rating: Rating = "good" if all(marks) else "hard" if any(marks) else "again"
    return await _record_rating(session, member_id, question_id, rating, now)


async def record_attempt(
    session: AsyncSession, *, member_id: int, question_id: int, credit: float, now: datetime
) -> datetime:
    """Records an attempt at a code question, which members repeat until it passes. Returns the next due date.

    Only the first attempt is a review: how well the question was known shows before the verdict was read.
    """
    card = await cards.lock_card(session, member_id, question_id)
    if card is None or not is_retried(card, now):
        due = await record_review(session, member_id=member_id, question_id=question_id, credit=credit, now=now)
        card = await cards.lock_card(session, member_id, question_id)
        assert card is not None, "it was made in this transaction"
    else:
        due = card.due
    card.state = {**card.state, "failed": credit < 1}
    return due


async def view_progress(session: AsyncSession, caller: Caller, now: datetime) -> SessionProgress | None:
    """Returns the session of ten that the caller's latest practice answer belongs to. A pause ends a session."""
    run: list[JudgedPractice] = []
    for one in await answers.list_judged_practice(session, caller, now - LONGEST_SESSION, MAX_PRACTICED):
        if (run[-1].at if run else now) - one.at > SESSION_PAUSE:
            break
        run.append(one)
    if not run:
        return None
    latest = run[: (len(run) - 1) % SESSION_LENGTH + 1]
    missed = dict.fromkeys(one.topic for one in reversed(latest) if one.credit < 1)
    return SessionProgress(
        number=len(latest),
        of=SESSION_LENGTH,
        right=sum(one.credit >= 1 for one in latest),
        missed=tuple(topic for topic in missed if topic),
    )


def is_retried(card: CardRow, now: datetime) -> bool:
    """Returns whether the member's last attempt at the card's code question failed, and the card is not due again."""
    return bool(card.state.get("failed")) and card.due > now


def list_choices(card: CardRow, now: datetime) -> tuple[RatingChoice, ...]:
    """Returns the ratings that the member may give the card's latest review, with the date each leads to.

    Empty if it was not reviewed or is due again, and for a wrong answer, which is always `again`.
    """
    before, credited = card.state.get("before"), card.state.get("credited")
    if before is None or credited is None or card.due <= now:
        return ()
    allowed = _FOR_CREDIT[cast(Rating, credited)]
    reviewed_at = datetime.fromisoformat(card.state["reviewed_at"])
    found = [RatingChoice(rating=one, due=review_card(before, one, reviewed_at)[1]) for one in allowed]
    return tuple(found) if len(found) > 1 else ()


def rate_card(card: CardRow, rating: Rating, now: datetime) -> None:
    """Replaces the rating of the card's latest review by the member's own. Refused unless `list_choices` has it."""
    choices = list_choices(card, now)
    if rating not in [choice.rating for choice in choices]:
        reviewed = card.state.get("before") is not None
        raise Refused(RatingRefused(why="no review" if not reviewed else "due" if card.due <= now else "wrong"))
    after, card.due = review_card(card.state["before"], rating, datetime.fromisoformat(card.state["reviewed_at"]))
    card.state = {**card.state, "card": after, "rating": rating}


async def add_missed_cards(session: AsyncSession, member_ids: Select[int], question_id: int, now: datetime) -> None:
    """Creates a card, due at once, for each of the selected members."""
    await cards.create_cards(session, member_ids, question_id, _new_state(now), now)


async def add_wrong_cards(session: AsyncSession, member_ids: Select[int], question_id: int, now: datetime) -> None:
    """Creates a card, due the next day, for each of the selected members."""
    due = now + WRONG_DUE
    await cards.create_cards(session, member_ids, question_id, _new_state(due), due)


async def _resolve_filter(session: AsyncSession, caller: Caller, topic: str, level: str, kind: str) -> ScheduleFilter:
    if level and level not in LEVELS:
        raise Refused(NotFound(what="level", name=level, similar=LEVELS))
    if kind and kind not in KINDS:
        raise Refused(NotFound(what="kind", name=kind, similar=KINDS))
    return ScheduleFilter(
        topics=await resolve_topics(session, caller.workspace_id, [topic]) if topic else (),
        levels=(level,) if level else (),
        kinds=(kind,) if kind else (),
    )


async def _record_rating(
    session: AsyncSession, member_id: int, question_id: int, rating: Rating, now: datetime
) -> datetime:
    card = await cards.lock_card(session, member_id, question_id)
    if card is None:
        await cards.create_cards(session, select(literal(member_id)), question_id, _new_state(now), now)
        card = await cards.lock_card(session, member_id, question_id)
        assert card is not None, "it was made in this transaction"
    before = card.state["card"]
    after, due = review_card(before, rating, now)
    # What came before is kept, so that the member can rate the review differently.
    card.state = {"card": after, "before": before, "credited": rating, "rating": rating, "reviewed_at": now.isoformat()}
    card.due = due
    card.reviews += 1
    return card.due


def _new_state(now: datetime) -> dict[str, Any]:
    return {"card": new_card(now), "reviewed_at": None}


def new_card(now: datetime) -> dict[str, Any]:
    """Creates a card without reviews, due at once. `now` is aware."""
    moment = now.astimezone(UTC)
    return dict(fsrs.Card(card_id=int(moment.timestamp() * 1000), due=moment).to_dict())


def review_card(card: dict[str, Any], rating: Rating, now: datetime) -> tuple[dict[str, Any], datetime]:
    """Returns a copy of the card after a review at `now` (aware), and its next due date in UTC.

    Raises ValueError for a dict that neither `new_card` nor `review_card` returned.
    """
    after, _ = _SCHEDULER.review_card(_parse_card(card), _RATINGS[rating], now.astimezone(UTC))
    return dict(after.to_dict()), after.due


def rating_for(credit_share: float) -> Rating:
    """Returns the rating of an answer: `again` below half right, `hard` below fully right, `good` otherwise.

    Raises ValueError for a share that is not 0 to 1.
    """
    if math.isnan(credit_share) or not 0 <= credit_share <= 1:
        raise ValueError(f"rating of a share of {credit_share}: a share lies between 0 and 1")
    if credit_share < 0.5:
        return "again"
    if credit_share < 1:
        return "hard"
    return "good"


def _parse_card(card: dict[str, Any]) -> fsrs.Card:
    try:
        return fsrs.Card.from_dict(cast(Any, card))
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(
            f"practice card {card!r}: not written by this module ({error!r}); start it again with new_card"
        ) from None


async def view_attempt(session: AsyncSession, caller: Caller, ref: str, now: datetime) -> PracticeAttempt:
    """Returns the caller's latest practice answer to the question `ref`. Refused if there is none."""
    version, answer = await _find_attempt(session, caller, ref)
    secret = await questions.is_secret(session, caller, version.question_id)
    row = None if secret else (await answers.latest_verdicts(session, [answer.id])).get(answer.id)
    verdict = answers.read_verdict(row) if row else None
    card = None if secret else await cards.find_card(session, caller.member_id, version.question_id)
    # Code is tried until it passes, and the solution comes sooner only on request.
    shown = verdict is not None and (version.question.kind != "code" or verdict.verdict == "accepted")
    return PracticeAttempt(
        ref=ref,
        question=build_question_view(version, ref, caller.member_id),
        given=AnswerInput.from_stored(answer.given),
        verdict=verdict,
        key=build_answer_key(version, ref) if shown else None,
        secret=secret,
        marks=await markings.get_marks(session, answer.id) if version.question.kind == "open" else None,
        next_due=card.due if card else None,
        rating=card.state.get("rating") if card else None,
        choices=list_choices(card, now) if card and verdict else (),
        zone=await schedules.get_zone(session, caller.workspace_id),
    )


async def rate_attempt(
    session: AsyncSession, caller: Caller, ref: str, rating: Rating, now: datetime
) -> PracticeAttempt:
    """Rates the caller's latest review of the question's card. Refused as in `rate_card`."""
    caller = await members.lock_caller(session, caller)
    version, _ = await _find_attempt(session, caller, ref)
    card = await cards.lock_card(session, caller.member_id, version.question_id)
    if await questions.is_secret(session, caller, version.question_id):
        raise Refused(StillOpen())
    if card is None:
        raise Refused(RatingRefused(why="no review"))
    rate_card(card, rating, now)
    await session.flush()
    return await view_attempt(session, caller, ref, now)


async def view_session(session: AsyncSession, caller: Caller, since: datetime | None, now: datetime) -> PracticeSession:
    """Returns what the caller has practiced since then, at most a day ago; nothing if None, which begins a session."""
    begin = now if since is None else max(since, now - MAX_LISTED_AGE)
    _, due = await cards.count_cards(session, caller, now)
    return PracticeSession(
        since=begin,
        cards_due=due,
        practiced=() if since is None else await _list_practiced(session, caller, begin),
        zone=await schedules.get_zone(session, caller.workspace_id),
    )


async def _list_practiced(session: AsyncSession, caller: Caller, begin: datetime) -> tuple[PracticedQuestion, ...]:
    found = await cards.list_practiced(session, caller, begin, MAX_LISTED)
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
