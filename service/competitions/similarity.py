"""Statistics that help moderators see who may have shared answers. Computed on request, and never stored.

They prove nothing: members who learn together make the same mistakes. So they name numbers and accuse nobody.
"""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy.ext.asyncio import AsyncSession

from questions.model import Question
from service.domain import similarity as rules
from service.domain.scoring import ScoringPolicy
from service.store import questions as question_rows
from service.store import similarity as rows
from service.store.members import Caller
from service.wire import FittingAnswers, QuickAnswers, SimilarAnswers, SimilarPair

PERIOD = timedelta(days=180)
"""How far back rounds are compared."""
SHOWN = 20
"""Pairs and members that are listed at most."""
LEAST_QUICK = 5
"""Right answers within the thinking time that a member must have to be listed."""


async def view_similarity(session: AsyncSession, caller: Caller, now: datetime) -> SimilarAnswers:
    """Returns the pairs of the workspace's members whose wrong answers agree, or are right for the variants of the
    other, and members who answer very fast."""
    since = now - PERIOD
    questions, names = await rows.list_choices(session, caller.workspace_id, since)
    within_s = ScoringPolicy().thinking_s
    quick = await rows.list_quick(session, caller.workspace_id, since, within_s, LEAST_QUICK)
    found = await asyncio.to_thread(rules.find_similar_pairs, questions)
    variant_rounds, more_names = await _list_variant_rounds(session, caller.workspace_id, since)
    fits = await asyncio.to_thread(rules.find_fits, variant_rounds)
    names |= more_names
    return SimilarAnswers(
        days=PERIOD.days,
        compared=found.compared,
        level=rules.LEVEL,
        least_shared=rules.LEAST_SHARED,
        least_wrong=rules.LEAST_WRONG,
        found=len(found.pairs),
        pairs=tuple(
            SimilarPair(
                first=names[pair.first],
                first_id=pair.first,
                second=names[pair.second],
                second_id=pair.second,
                shared=pair.shared,
                wrong=pair.wrong,
                same=pair.same,
                expected=pair.expected,
                chance=pair.chance,
            )
            for pair in found.pairs[:SHOWN]
        ),
        fits_compared=fits.compared,
        fits_found=len(fits.fits),
        fits=tuple(
            FittingAnswers(
                member=names[fit.member],
                member_id=fit.member,
                other=names[fit.other],
                other_id=fit.other,
                wrong=fit.wrong,
                fitting=fit.fitting,
                expected=fit.expected,
                chance=fit.chance,
            )
            for fit in fits.fits[:SHOWN]
        ),
        within_s=within_s,
        quick=tuple(
            QuickAnswers(name=one.name, member_id=one.member_id, right=one.right, quick=one.quick)
            for one in quick[:SHOWN]
        ),
    )


async def _list_variant_rounds(
    session: AsyncSession, workspace_id: int, since: datetime
) -> tuple[list[dict[int, rules.VariantAnswer]], dict[int, str]]:
    """Returns the answers of each round in which every member had their own variant, and the members' names."""
    found = await rows.list_own_variants(session, workspace_id, since)
    versions = await question_rows.list_versions(session, {one.version_id for one in found})
    rounds: dict[int, dict[int, rules.VariantAnswer]] = defaultdict(dict)
    for one in found:
        question = versions[one.version_id].question
        key = _bare(question.answer or "; ".join(option.text for option in question.options if option.right))
        wrong = None if one.credit == 1 else _given_text(question, one.given)
        rounds[one.round_id][one.member_id] = rules.VariantAnswer(key, wrong)
    return list(rounds.values()), {one.member_id: one.name for one in found}


def _given_text(question: Question, given: Mapping[str, Any]) -> str:
    if question.kind == "choice":
        chosen = set(given.get("options") or ())
        return _bare("; ".join(option.text for option in question.options if option.id in chosen))
    return _bare(given.get("text") or "")


def _bare(text: str) -> str:
    """Returns a literal or an option without spaces, in which two answers may differ."""
    return "".join(text.split())
