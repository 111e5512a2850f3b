"""Hints to questions: what a question has to offer, and taking it, which costs points in a round."""

from __future__ import annotations

from datetime import datetime

from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import Option, Question
from service.domain.scoring import ScoringPolicy
from service.domain.selection import shuffle_options
from service.errors import Refused
from service.rounds.submissions import find_question
from service.rounds.views import has_hint
from service.store import answers
from service.store.members import Caller
from service.wire import HintView, NoHint, OptionView, QuestionRef


async def view_hint(session: AsyncSession, caller: Caller, ref: str, take: bool, now: datetime) -> HintView:
    """Returns the hint to the question `ref`, or without `take` its price, unless the caller has taken it already.

    A round records who took the hint. Practice costs nothing. Refused if the question has no hint, or if the round is
    closed: its answer says more.
    """
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
